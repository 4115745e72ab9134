"""TextUtility: what of the texts is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
from pydantic import Field

from tacit.context import Context
from tacit.data.base import Data
from tacit.data.corpus import Corpus
from tacit.data.in_blocks import ticker
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.engine.blocks import Done
from tacit.errors import InputError, SdcError, require_columns
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.text.evaluate import EvaluationResult, wilson
from tacit.text.reading import marks
from tacit.text.reading.page import Lexicon, load_lexicon
from tacit.text.reading.words import tokenise, words_of
from tacit.text.scrub import SCRUBBED, text_faults
from tacit.text.text_risk import score_marked

#: Marks of words that are medicine.
MEDICINE = marks.MEDICAL | marks.DRUG | marks.EPONYM


@register
class TextUtility(Measure[Corpus | Microdata]):
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
    columns: tuple[ColumnName, ...] = Field(
        default=(), description="text columns of records; without any the data are texts themselves"
    )

    family: ClassVar[str] = "utility"
    compares: ClassVar[bool] = True
    axis: ClassVar[str] = "share of medical terms kept,"
    on_other_kind: ClassVar[str] = (
        "Records: name their text columns with columns=. Texts have no columns: leave it out."
    )

    def acts_on(self) -> type[Data]:
        """Return Microdata where text columns are named, else Corpus."""
        return Microdata if self.columns else Corpus

    def _faults(self, data: Any) -> list[SdcError]:
        """Add: columns that hold no text."""
        return [*super()._faults(data), *text_faults(self.kind, data, self.columns)]

    def _measure(self, data: Any, other: Companions[Any], ctx: Context) -> TextUtilityResult:
        texts = not self.columns
        compare = self._of_corpus if texts else self._of_columns
        kept = compare(data, other.original, ctx)
        value = kept["terms kept"] / kept["terms"] if kept["terms"] else 1.0
        score = score_marked(data) if texts else None
        numbers: dict[str, Any] = {
            "words": kept["words"],
            "words kept, share": kept["kept"] / kept["words"] if kept["words"] else 1.0,
            "medical terms": kept["terms"],
            "medical terms kept, share": value,
            **marked_numbers(score),
        }
        frame = kinds_frame(replaced_in(data, self.columns), score)
        title = "What of the texts is kept"
        return TextUtilityResult(self.kind, title, value, numbers, frame, EXPLANATION)

    def _of_corpus(self, data: Corpus, original: Corpus, ctx: Context) -> Counter[str]:
        before = {d.name: d.text for d in original}
        if any(d.name not in before for d in data):
            raise InputError(
                "text_utility: the texts are not those of the original; pass the corpus they were made from"
            )
        total: Counter[str] = Counter()
        for document in data:
            ctx.tick("comparing texts")
            total += compare_words(before[document.name], document.text, self.language)
        return total

    def _of_columns(self, data: Microdata, original: Microdata, ctx: Context) -> Counter[str]:
        require_columns(self.columns, original.columns, "the original")
        old = {c: f"__old{i}__" for i, c in enumerate(self.columns)}
        before = original.frame.select(ROW, *[nw.col(c).alias(n) for c, n in old.items()])
        both = data.frame.select(ROW, *self.columns).join(before, on=ROW, how="inner")
        language = self.language

        def tell(_block: int, table: pa.Table) -> Done:
            total: Counter[str] = Counter()
            for new, was in old.items():
                columns = (table.column(c).to_pylist() for c in (was, new))
                pairs = zip(*columns, strict=True)
                for one, two in pairs:
                    total += compare_words(one or "", two or "", language)
            return Done(None, dict(total))

        mapped = data.engine.map_blocks(both, tell, None, ticker(ctx))
        return sum((Counter(t) for t in mapped.tallies), Counter[str]())


EXPLANATION = (
    "The share of medical terms of the original that stand in the released texts. Names, dates and addresses are meant "
    "to go, so that the share of all words kept is below one even when nothing of the medicine was lost."
)


def compare_words(before: str, after: str, language: str) -> Counter[str]:
    """Return how many words and medical terms a text had, and how many of them stand in the other."""
    old, new = count_words(before), count_words(after)
    terms = Counter(medical_terms(before, load_lexicon(language)))
    counts = {"words": old, "kept": old & new, "terms": terms, "terms kept": terms & new}
    return Counter({name: counted.total() for name, counted in counts.items()})


def medical_terms(text: str, lexicon: Lexicon) -> Iterator[str]:
    """Yield the words of medicine; one that is a name as well counts where a word such as disease follows."""
    words = tokenise(text).words
    for i, word in enumerate(words):
        known = lexicon(word).marks
        if not known & MEDICINE:
            continue
        named = word[0].isupper() and known & (marks.FIRST | marks.LAST)
        if not named or any(lexicon(w).marks & marks.HEAD for w in words[i + 1 : i + 4]):
            yield word


def count_words(text: str) -> Counter[str]:
    """Return how often each word stands in a text."""
    return Counter(w for w in words_of(text) if w[0].isalnum())


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


def replaced_in(data: Any, columns: tuple[str, ...]) -> Counter[str]:
    """Return how many places of each kind were replaced."""
    if not columns:
        return Counter(s.kind for d in data if d.done is not None for s in d.done.spans)
    steps = [a.details for a in data.history if set(columns) & set(a.details.get(SCRUBBED, ()))]
    return sum((Counter(details["found"]) for details in steps), Counter[str]())


def kinds_frame(replaced: Counter[str], score: EvaluationResult | None) -> Any:
    """Return what was replaced by kind and, where people marked, how much of each kind was found."""
    by_kind = {} if score is None else score.by_kind
    kinds = sorted({*replaced, *by_kind})
    bounds = {k: wilson(*by_kind[k]) for k in by_kind}
    shares = {k: found / n for k, (found, n) in by_kind.items()}
    none = (None, None)
    columns = {
        "kind": pa.array(kinds, pa.string()),
        "replaced": [replaced[k] for k in kinds],
        "marked by people": [by_kind.get(k, (0, 0))[1] for k in kinds],
        "found of them": [shares.get(k) for k in kinds],
        "low": [bounds.get(k, none)[0] for k in kinds],
        "high": [bounds.get(k, none)[1] for k in kinds],
    }
    return nw.from_native(pa.table(columns), eager_only=True)


@dataclass(frozen=True, repr=False)
class TextUtilityResult(Result):
    """What is kept, as bars."""

    def plot(self) -> Chart:
        """Return the shares of words and medical terms kept."""
        names = ("words kept, share", "medical terms kept, share")
        shares = [(n.removesuffix(", share"), float(self.numbers[n])) for n in names]
        return bars(shares, title=self.title, y="share")
