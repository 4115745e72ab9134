"""TextUtility: what of the texts is kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
from pydantic import Field

from tacit.context import Context
from tacit.data.corpus import Corpus
from tacit.errors import InputError
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.text import marks
from tacit.text.evaluate import EvaluationResult, wilson
from tacit.text.lexicon import load_lexicon
from tacit.text.text_risk import score_marked
from tacit.text.tokens import tokenise


@register
class TextUtility(Measure[Corpus]):
    """Measure what of the texts is kept: their words, and the medicine in them.

    *Words kept*: the share of the words of the original that stand in the released text, each as often as it does.
    *Medical terms kept*: the same of words that the medical lists know, diseases, drugs, eponyms; it is the value of
    the measure. Where people have marked what must stay (keep spans), those touched are counted, and where they
    have marked what must go (gold spans), the share of changed letters that lie in one (precision), recall and
    their mean F, and recall by kind with Wilson intervals.

    References
    ----------
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 5.1.
    Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22.
    """

    kind: Literal["text_utility"] = "text_utility"
    language: str = Field(default="en", min_length=2, description="language pack: en, de")

    family: ClassVar[str] = "utility"
    compares: ClassVar[bool] = True
    axis: ClassVar[str] = "share of medical terms kept,"

    def _measure(self, data: Corpus, other: Companions[Corpus], ctx: Context) -> Result:
        before = {d.name: d for d in other.original}
        if any(d.name not in before for d in data):
            raise InputError(
                "text_utility: the texts are not those of the original; pass the corpus they were made from"
            )
        lexicon = load_lexicon(self.language)
        words = kept = terms = terms_kept = 0
        for document in data:
            ctx.tick("comparing texts")
            old, new = count_words(before[document.name].text), count_words(document.text)
            same = old & new
            words, kept = words + old.total(), kept + same.total()
            medical = [
                w for w in old if lexicon(w).marks & (marks.MEDICAL | marks.DRUG | marks.EPONYM)
            ]
            terms += sum(old[w] for w in medical)
            terms_kept += sum(same[w] for w in medical)
        value = terms_kept / terms if terms else 1.0
        score = score_marked(data)
        numbers: dict[str, Any] = {
            "words": words,
            "words kept, share": kept / words if words else 1.0,
            "medical terms": terms,
            "medical terms kept, share": value,
            **marked_numbers(score),
        }
        return TextUtilityResult(
            self.kind,
            "What of the texts is kept",
            value,
            numbers,
            kinds_frame(data, score),
            EXPLANATION,
        )


EXPLANATION = (
    "The share of medical terms of the original that stand in the released texts. Names, dates and addresses are meant "
    "to go, so that the share of all words kept is below one even when nothing of the medicine was lost."
)


def count_words(text: str) -> Counter[str]:
    """Return how often each word stands in a text."""
    return Counter(w for w in tokenise(text).words if w[0].isalnum())


def marked_numbers(score: EvaluationResult | None) -> dict[str, Any]:
    """Return precision and keep spans touched, where people have marked the originals."""
    if score is None:
        return {}
    told, found = score.numbers, dict[str, Any]()
    if told["keep_spans"]:
        found |= {
            "spans to keep": told["keep_spans"],
            "touched of them": told["keep_violated"] / told["keep_spans"],
        }
    recall, precision = told["recall"], told["precision"]
    f = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
    return found | {"rightly replaced (precision)": precision, "found (recall)": recall, "F": f}


def kinds_frame(data: Corpus, score: EvaluationResult | None) -> Any:
    """Return what was replaced by kind and, where people marked, how much of each kind was found."""
    replaced = Counter(s.kind for d in data if d.done is not None for s in d.done.spans)
    by_kind = {} if score is None else score.by_kind
    kinds = sorted({*replaced, *by_kind})
    bounds = {k: wilson(*by_kind[k]) for k in by_kind}
    return nw.from_native(
        pa.table(
            {
                "kind": pa.array(kinds, pa.string()),
                "replaced": [replaced[k] for k in kinds],
                "marked by people": [by_kind.get(k, (0, 0))[1] for k in kinds],
                "found of them": [
                    by_kind[k][0] / by_kind[k][1] if k in by_kind else None for k in kinds
                ],
                "low": [bounds[k][0] if k in bounds else None for k in kinds],
                "high": [bounds[k][1] if k in bounds else None for k in kinds],
            }
        ),
        eager_only=True,
    )


@dataclass(frozen=True, repr=False)
class TextUtilityResult(Result):
    """What is kept, as bars."""

    def plot(self) -> Chart:
        """Return the shares of words and medical terms kept."""
        names = ("words kept, share", "medical terms kept, share")
        shares = [(n.removesuffix(", share"), float(self.numbers[n])) for n in names]
        return bars(shares, title=self.title, y="share")
