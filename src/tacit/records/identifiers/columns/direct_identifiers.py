"""Removal check: columns that name people or their homes, before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
from pydantic import Field

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.identifiers.columns.safe_harbor import SafeHarbor
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

#: Identifiers of the Safe Harbor list that name or reach a person, or place a home; dates and ages are not among them.
LETTERS = frozenset("ABDEFGHIJKLMNOP")


@register
class DirectIdentifiers(Measure):
    """Columns that still name people, their addresses or fine places.

    A column counts when it is declared an identifier, when it is among those that must be gone (``gone``), when its
    name speaks of names, addresses, telephone or other numbers of a person, or its values have such forms, or when it is text and
    every record has another value. Geography that may be shown is ``allowed``. In a plan, ``require`` with at_most 0
    refuses to write a release in which one is left.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), PSD 2006, LNCS 4302, 375-382, section 5.
    US Code of Federal Regulations, 45 CFR 164.514(b)(2), for the words and forms.
    """

    kind: Literal["direct_identifiers"] = "direct_identifiers"
    gone: tuple[ColumnName, ...] = Field(
        default=(), description="columns that must not be in the release, such as fine geography"
    )
    allowed: tuple[ColumnName, ...] = Field(
        default=(),
        description="columns that may be shown whatever their names say, such as protected geography",
    )

    axis: ClassVar[str] = "columns that name people or homes"
    example: ClassVar[Mapping[str, Any]] = {"allowed": ["zip"]}

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> DirectIdentifiersResult:
        del other
        found: dict[str, str] = dict.fromkeys(data.identifiers, "declared as identifier")
        found |= {c: "must be gone" for c in self.gone if c in data.columns}
        quiet = {*self.allowed, data.household, data.weight, data.stratum, *found}
        left = tuple(c for c in data.columns if c not in quiet)
        if left:
            schema = data.frame.collect_schema()
            told = SafeHarbor(columns=left).measure(data, context=ctx)
            for f in told.findings:
                unique = f.letter == "R" and f.values is not None and schema[f.column] == nw.String
                if f.letter in LETTERS or unique:
                    found.setdefault(f.column, f.evidence)
        title = "Columns that name people or homes"
        return DirectIdentifiersResult(
            kind=self.kind,
            title=title,
            value=float(len(found)),
            numbers={"columns found": len(found), "they are": ", ".join(found) or "none"},
            frame=as_frame(
                {
                    "column": pa.array(list(found), pa.string()),
                    "evidence": pa.array(list(found.values()), pa.string()),
                }
            ),
            explanation=(
                "The check goes by roles, names of columns and forms of values; it cannot read free text or know local words."
            ),
            shortfall=f"{title}: {', '.join(found)}" if found else "",
            found=found,
        )


@dataclass(frozen=True, repr=False)
class DirectIdentifiersResult(Result):
    """What was found, with its evidence."""

    found: Any = None

    def plot(self) -> Chart:
        """Return the columns found by evidence."""
        evidence = list(self.found.values())
        items = [(e, float(evidence.count(e))) for e in dict.fromkeys(evidence)]
        return bars(
            items or [("none", 0.0)], title="Columns that name people or homes", y="columns"
        )
