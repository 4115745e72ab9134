"""TextRisk: what a scrubbed text may still give away."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
from pydantic import Field

from tacit.context import Context
from tacit.data.base import Data
from tacit.data.corpus import Corpus, Findings
from tacit.data.in_blocks import fold_records, ticker
from tacit.data.microdata import Microdata
from tacit.errors import SdcError
from tacit.fields import ClassSize, ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.text.evaluate import EvaluationResult, evaluate_texts
from tacit.text.reading import marks
from tacit.text.reading.page import Lexicon, load_lexicon
from tacit.text.reading.words import cues, words_of
from tacit.text.scrub import SCRUBBED, Scrub, text_faults, warn_without_voter
from tacit.text.work import (
    Here,
    Item,
    Scrubber,
    Task,
    at_risk,
    items_of,
    look_at,
    look_in,
    record_scrubbers,
)

CUES = cues("attributes")
#: What a text tells of a person besides names. Patterns take time in proportion to the text.
Attribute = Literal["age", "sex", "place", "role", "month"]
AGE = re.compile(
    r"\b(\d{1,3})[- ](?:and \d/\d{1,2} )?(?:year|yr)s?[- ]old\b|\baged? (\d{1,3})\b|\b(\d{1,3}) ?y/?o\b"
    r"|\b(\d{1,3})[- ]?jährige?[rsn]?\b",
    re.IGNORECASE,
)
#: A month and its year, of a full date too.
MONTH = re.compile(
    r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez)[a-zäöü]{0,7}\.?"
    r"(?: \d{1,2}(?:st|nd|rd|th)?)?,? (?:of )?((?:19|20)\d\d)\b|"
    r"\b0?([1-9]|1[0-2])/(?:\d{1,2}/)?((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
STATE = re.compile(r"\b([A-Z]{2}) (\d{3})00\b")
SEXES = dict.fromkeys(CUES.man, "m") | dict.fromkeys(CUES.woman, "f")
#: Attributes of which a value that one document alone tells is counted as rare.
RARE = ("month", "place", "role")
ALONE = "texts alone on told attributes, share"


@register
class TextRisk(Measure[Corpus | Microdata]):
    """Measure what texts may still give away of the people they are about.

    Three sorts of residual risk. *Words left*: each word below the threshold that stayed in a text identifies somebody
    with its certainty c; a text has something left with probability 1 - (1 - c1)(1 - c2)..., and the value of the
    measure is the mean of these over the texts. *Attributes told*: age, sex, places, roles and months that the released
    text still tells are a quasi-identifier; how many texts share the same ones is their class size. *Narratives*:
    texts that tell dated events of a life, a public office or a role that few have.

    Of texts that nothing has scrubbed everything found counts as left. Where people have marked the texts (gold spans),
    the spans missed are counted as well, with a Wilson interval.

    References
    ----------
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 5.1, Figure 25.
    Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22.
    """

    kind: Literal["text_risk"] = "text_risk"
    k: ClassSize = Field(
        default=2, description="texts whose told attributes fewer than k share count as alone"
    )
    attributes: tuple[Attribute, ...] = Field(
        default=("age", "sex", "place", "role"),
        description="attributes that an intruder puts together",
    )
    language: str = Field(default="en", min_length=2, description="language pack: en, de")
    columns: tuple[ColumnName, ...] = Field(
        default=(), description="text columns of records; without any the data are texts themselves"
    )

    on_other_kind: ClassVar[str] = (
        "Records: name their text columns with columns=. Texts have no columns: leave it out."
    )
    axis: ClassVar[str] = "share of texts with something left,"

    def acts_on(self) -> type[Data]:
        """Return Microdata where text columns are named, else Corpus."""
        return Microdata if self.columns else Corpus

    def _faults(self, data: Any) -> list[SdcError]:
        """Add: columns that hold no text."""
        return [*super()._faults(data), *text_faults(self.kind, data, self.columns)]

    def _measure(self, data: Any, other: Companions[Any], ctx: Context) -> TextRiskResult:
        del other
        told = self._of_columns(data, ctx) if self.columns else self._of_corpus(data, ctx)
        n = told.texts
        classes = told.signatures
        alone = sum(size for size in classes.values() if size < self.k)
        numbers: dict[str, Any] = {
            "texts": n,
            "words left, expected": round(told.expected, 2),
            "texts with something left, expected share": told.risk / n if n else 0.0,
            ALONE: alone / n if n else 0.0,
            "smallest class of told attributes": min(classes.values(), default=0),
            **{f"{a}s that one text alone tells": told.rare.get(a, 0) for a in RARE},
            "narratives that may identify": told.narratives,
            **({} if self.columns else gold_numbers(data)),
        }
        value = told.risk / n if n else 0.0
        attributes = sorted(told.values)
        columns = {
            "attribute": pa.array(attributes, pa.string()),
            "texts that tell it": [sum(told.values[a].values()) for a in attributes],
            "different values": [len(told.values[a]) for a in attributes],
            "values in one text alone": [told.rare.get(a, 0) for a in attributes],
        }
        frame = nw.from_native(pa.table(columns), eager_only=True)
        title = "Residual risk of texts"
        return TextRiskResult(self.kind, title, value, numbers, frame, EXPLANATION)

    def _of_corpus(self, data: Corpus, ctx: Context) -> Told:
        told = Told()
        unseen = [Item(d.text, d.record) for d in data if d.done is None and d.found is None]
        if unseen:
            warn_without_voter()
        found = look_in(Scrub(language=self.language).task(), unseen, ticker(ctx))
        for document in data:
            ctx.tick("measuring what texts tell")
            done = document.done
            if done is not None:
                left = Findings((), done.uncertain, done.warnings)
            else:
                left = everything(next(found) if document.found is None else document.found)
            told.add(document.text, left, self)
        return told

    def _of_columns(self, data: Microdata, ctx: Context) -> Told:
        done = [a for a in data.history if set(self.columns) <= set(a.details.get(SCRUBBED, ()))]
        task = Scrub(language=self.language).task()

        def tell(tellers: Scrubber[Told]) -> Callable[[int, pa.Table], Mapping[str, Any]]:
            def tell_block(_block: int, table: pa.Table) -> Mapping[str, Any]:
                whole = Told()
                for column in self.columns:
                    for told in tellers(items_of(table, column, ())[1]):
                        whole.merge(vars(told))
                return whole.to_dict()

            return tell_block

        if done:
            here = Here(task, partial(tell_batch, self, False))
            parts = fold_records(data, self.columns, tell(here), ctx)
        else:
            warn_without_voter()
            work = partial(tell_batch, self, True)
            with record_scrubbers(task, data, self.columns, work, ctx) as tellers:
                parts = fold_records(data, self.columns, tell(tellers), ctx)
        whole = Told()
        for part in parts:
            whole.merge(part)
        for action in done[-1:]:
            # What was left is known from the step itself: in the released text made-up names look like real ones.
            whole.expected = float(action.details["expected_left"])
            whole.risk = float(action.details["at_risk"])
            whole.narratives = int(action.details["narratives"])
        return whole


EXPLANATION = (
    "The expected share of texts in which at least one word that identifies somebody was left, by the certainties of the "
    "words below the threshold; certainties of a tagger that is not calibrated are only an order. Attributes that "
    "texts still tell are a quasi-identifier: texts alone on them may be recognised by somebody who knows the person. "
    "De-identified texts are not anonymous."
)


class Told:
    """What some texts tell and leave, added up."""

    def __init__(self) -> None:
        self.texts = 0
        self.expected = 0.0
        self.risk = 0.0
        self.narratives = 0
        self.signatures: Counter[str] = Counter()
        self.values: dict[str, Counter[str]] = {}

    def add(self, text: str, left: Findings, measure: TextRisk) -> None:
        """Count one text."""
        found = attributes_of(text, measure.language)
        self.texts += 1
        certainties = [s.certainty for s in left.uncertain]
        self.expected += sum(certainties)
        self.risk += at_risk(certainties)
        self.narratives += bool(left.warnings)
        told = "|".join(",".join(sorted(found.get(a, ()))) for a in measure.attributes)
        self.signatures[told] += 1
        for attribute, values in found.items():
            self.values.setdefault(attribute, Counter()).update(values)

    @property
    def rare(self) -> dict[str, int]:
        """Return how many values of each attribute one text alone tells."""
        return {a: sum(n == 1 for n in values.values()) for a, values in self.values.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON can hold them."""
        return {**vars(self), "values": {a: dict(v) for a, v in self.values.items()}}

    def merge(self, part: Mapping[str, Any]) -> None:
        """Add the counts of other texts."""
        for name in ("texts", "expected", "risk", "narratives"):
            setattr(self, name, getattr(self, name) + part[name])
        self.signatures.update(part["signatures"])
        for attribute, values in part["values"].items():
            self.values.setdefault(attribute, Counter()).update(values)


def tell_batch(measure: TextRisk, look: bool, task: Task, items: Sequence[Item]) -> Told:
    """Return what some texts tell, and what is found in them where that is asked for."""
    told = Told()
    for item in items:
        found = look_at(task, item) if look else Findings(())
        told.add(item.text, everything(found), measure)
    return told


def everything(found: Findings) -> Findings:
    """Return findings of a text in which nothing was replaced: all of them are left."""
    return Findings((), (*found.spans, *found.uncertain), found.warnings)


def score_marked(data: Corpus) -> EvaluationResult | None:
    """Return how what was replaced agrees with what people marked in the originals; None where they did not."""
    marked = [(d.origin, d.done.spans) for d in data if d.done is not None and d.origin is not None]
    if not marked or len(marked) < len(data) or any(o.gold is None for o, _ in marked):
        return None
    return evaluate_texts([o for o, _ in marked], [spans for _, spans in marked])


def gold_numbers(data: Corpus) -> dict[str, Any]:
    """Return recall with its interval where people have marked the originals; nothing otherwise."""
    score = score_marked(data)
    if score is None:
        return {}
    told = score.numbers
    return {
        "spans marked by people": told["spans"],
        "found of them": told["recall"],
        "found, 95 % interval": f"{told['recall_low']:.3f} to {told['recall_high']:.3f}",
        "texts without a miss": told["share_without_miss"],
    }


@dataclass(frozen=True, repr=False)
class TextRiskResult(Result):
    """The residual risk, with its shares as bars."""

    def plot(self) -> Chart:
        """Return the shares of texts at risk, by cause."""
        n = max(1, int(self.numbers["texts"]))
        shares = [
            ("something left (expected)", float(self.value)),
            ("alone on told attributes", float(self.numbers[ALONE])),
            ("a narrative that may identify", self.numbers["narratives that may identify"] / n),
        ]
        return bars(shares, title=self.title, y="share of texts")


def attributes_of(text: str, language: str = "en") -> dict[str, frozenset[str]]:
    """Return what a text tells, by attribute; what it does not tell is left out."""
    told: dict[str, set[str]] = {}
    for attribute, value in told_by(text, load_lexicon(language)):
        told.setdefault(attribute, set()).add(value)
    return {attribute: frozenset(values) for attribute, values in told.items()}


def told_by(text: str, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Yield each attribute that a text tells, with its value."""
    for match in AGE.finditer(text):
        yield "age", next(g for g in match.groups() if g)
    for match in MONTH.finditer(text):
        name, year, number, other = match.groups()
        yield "month", f"{name.lower()} {year}" if name else f"{number} {other}"
    for match in STATE.finditer(text):
        yield "place", f"{match[1]} {match[2]}"
    sexes = {"m": 0, "f": 0}
    for token in words_of(text):
        if not token[0].isalpha():
            continue
        low = token.lower()
        if low in SEXES:
            sexes[SEXES[low]] += 1
        elif low in CUES.roles:
            yield "role", low
        elif token[0].isupper():
            word = lexicon(token)
            if word.marks & marks.PLACE and not word.marks & marks.COMMON:
                yield "place", low
    if sexes["m"] != sexes["f"]:
        yield "sex", max(sexes, key=lambda s: sexes[s])
