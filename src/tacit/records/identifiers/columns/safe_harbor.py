"""HIPAA Safe Harbor: columns that look like one of the eighteen identifiers, by name and by values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.relational import fetch_distinct
from tacit.fields import ColumnNames
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.identifiers.columns.safe_harbor_rules import (
    DATE_WORDS,
    IDENTIFIERS,
    NAME_WORDS,
    OLDEST,
    PATTERNS,
    SMALL_ZIPS,
    ZIP_WORDS,
    name_words,
)
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

UNSEEN = (
    "The check sees names of columns and forms of values. It cannot see names of people or places in free text, numbers "
    "without a form of their own, years of birth that tell an age over 89, photographs, or what else identifies a person; nor "
    "whether the publisher knows that somebody can be identified, which the rule asks as well. It is no legal advice."
)


@register
class SafeHarbor(Measure):
    """Columns that look like one of the eighteen identifiers of the HIPAA Safe Harbor rule.

    The rule lists what must be removed before health data count as de-identified: (A) names, (B) places smaller than a
    state except three digits of a ZIP code with more than 20,000 people, (C) dates finer than years and ages over 89, (D) to
    (R) numbers and other marks. A column is reported for its name (words such as "street" or "ssn"), for values in
    a form of their own (addresses of mail, telephone numbers, dates), for the identifier role, or because every record has
    another value. A column whose name says ZIP code, date or age is judged by its values: three digits, years and ages up to 89 are
    allowed.

    References
    ----------
    US Code of Federal Regulations, 45 CFR 164.514(b)(2). US Department of Health and Human Services (2012), Guidance regarding
    methods for de-identification of protected health information; its list of 17 three-digit ZIP codes with at most
    20,000 people in 2000.
    """

    kind: Literal["safe_harbor"] = "safe_harbor"
    columns: ColumnNames | None = Field(default=None, description="the columns; by default all")
    small_zips: tuple[str, ...] = Field(
        default=SMALL_ZIPS,
        description="three-digit ZIP codes with at most 20,000 people, which must be 000; by default those of 2000",
    )

    axis: ClassVar[str] = "share of columns reported"

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> SafeHarborResult:
        del other
        names = tuple(dict.fromkeys(self.columns or data.columns))
        records = len(data)
        findings: list[Finding] = []
        for column in names:
            ctx.tick(f"values of {column}")
            values = fetch_distinct(data.frame, column)
            findings += self.look(column, values, records, column in data.identifiers)
        reported = dict.fromkeys(f.column for f in findings)
        title = "HIPAA Safe Harbor: columns that look like identifiers"
        return SafeHarborResult(
            kind=self.kind,
            title=title,
            value=len(reported) / len(names) if names else 0.0,
            numbers={
                "columns": len(names),
                "columns reported": len(reported),
                "they are": ", ".join(reported) or "none",
                "identifiers of the rule that occur": len({f.letter for f in findings}),
            },
            frame=list_findings(findings),
            explanation=UNSEEN,
            shortfall=(
                f"{title}: {len(reported)} of {len(names)} columns, {', '.join(reported)}"
                if reported
                else ""
            ),
            findings=tuple(findings),
        )

    def look(
        self, column: str, values: pa.Array, records: int, is_identifier: bool
    ) -> Iterator[Finding]:
        """Yield what one column looks like, each identifier of the rule once."""
        if not len(values):
            return
        found: dict[str, Finding] = {}
        for letter, evidence, count in self.evidence(column, values, records, is_identifier):
            found.setdefault(letter, Finding(column, letter, evidence, count))
        yield from found.values()

    def evidence(
        self, column: str, values: pa.Array, records: int, is_identifier: bool
    ) -> Iterator[tuple[str, str, int | None]]:
        """Yield letter, evidence and the number of different values behind it, strongest first."""
        words = name_words(column)
        is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
        if is_identifier:
            yield "R", "declared as identifier", None
        if pa.types.is_temporal(values.type):
            yield "C", "dates", len(values)
        texts = values.cast(pa.string()) if not pa.types.is_temporal(values.type) else None
        if texts is not None and not is_number:
            for letter, evidence, pattern in PATTERNS:
                count = int(pc.sum(pc.match_substring_regex(texts, pattern)).as_py() or 0)
                if count:
                    yield letter, evidence, count
        for letter, listed in NAME_WORDS:
            if any(group <= words for group in listed):
                yield letter, "name of the column", None
        if words & ZIP_WORDS and texts is not None:
            yield from self.zip_evidence(texts)
        if words & DATE_WORDS and texts is not None:
            years = pc.match_substring_regex(texts, r"^(1[89]|20)[0-9]{2}(\.0)?$")
            other = len(texts) - int(pc.sum(years).as_py() or 0)
            if other:
                yield "C", "name of the column, and values that are no years", other
        if "age" in words and is_number:
            old = int(pc.sum(pc.greater(values, OLDEST)).as_py() or 0)
            if old:
                yield "C", "ages over 89", old
        countable = not pa.types.is_floating(values.type)
        if countable and len(values) == records and records > 1:
            yield "R", "every record has another value", len(values)

    def zip_evidence(self, texts: pa.Array) -> Iterator[tuple[str, str, int]]:
        """Yield what is wrong with ZIP codes: more than three digits, or three of a small area."""
        fine = pc.match_substring_regex(texts, r"^[0-9]{4,}|^[0-9]{3}[^0-9]+[0-9]")
        count = int(pc.sum(fine).as_py() or 0)
        if count:
            yield "B", "ZIP codes with more than three digits", count
        small = pc.is_in(
            pc.utf8_slice_codeunits(texts, 0, 3), pa.array(self.small_zips, pa.string())
        )
        count = int(pc.sum(small).as_py() or 0)
        if count:
            yield "B", "ZIP codes of areas with at most 20,000 people", count


@dataclass(frozen=True)
class Finding:
    """One column that looks like one identifier of the rule; ``values`` counts different values."""

    column: str
    letter: str
    evidence: str
    values: int | None

    @property
    def identifier(self) -> str:
        """Return the identifier in words."""
        return IDENTIFIERS[self.letter]


@dataclass(frozen=True, repr=False)
class SafeHarborResult(Result):
    """What was found, by column."""

    findings: tuple[Finding, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that were reported."""
        return tuple(dict.fromkeys(f.column for f in self.findings))

    def plot(self) -> Chart:
        """Return how many columns look like each identifier."""
        items = [
            (f"({letter}) {text}", float(sum(f.letter == letter for f in self.findings)))
            for letter, text in IDENTIFIERS.items()
        ]
        return bars(items, title="Columns by identifier of the Safe Harbor rule", y="columns")


def list_findings(findings: Sequence[Finding]) -> nw.DataFrame[Any]:
    """Return one row per finding."""
    columns = {
        "column": pa.array([f.column for f in findings], pa.string()),
        "letter": pa.array([f.letter for f in findings], pa.string()),
        "identifier": pa.array([f.identifier for f in findings], pa.string()),
        "evidence": pa.array([f.evidence for f in findings], pa.string()),
        "values": pa.array([f.values for f in findings], pa.int64()),
    }
    return as_frame(columns)
