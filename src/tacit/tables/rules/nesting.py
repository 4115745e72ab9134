"""Groups that fall (nearly) whole into one category: a total and a part of it that differ by few units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import InputError, SdcError
from tacit.fields import NaturalInt, PositiveInt
from tacit.tables.rules.rule import Rule

DisclosingDimensions = Annotated[
    tuple[str, ...],
    Field(description="the dimensions whose categories disclose something; by default all"),
]


@dataclass(frozen=True, eq=False)
class Nested:
    """Pairs of cells, a total and one of its parts, and how many units of the total lie elsewhere."""

    total: Ints
    part: Ints
    rest: Floats


def find_nearly_whole_parts(
    table: Table, k: int, dimensions: Sequence[str], up_to: int | None
) -> Nested:
    """Return the pairs of a relation in which at most k units of the total lie outside the part.

    Pairs that several relations in a row join need no look of their own: where at most k units lie
    outside of the part of a part, at most k lie outside at each step, and a step that could have more
    lets the whole have more.
    """
    m = table.equations
    row = np.repeat(np.arange(m.shape[0]), np.diff(m.indptr))
    minus = np.bincount(row[m.data < 0], minlength=m.shape[0])
    # A relation with one total; differences of cells have no parts.
    plain = (minus == 1) & (np.bincount(row[np.abs(m.data) != 1], minlength=m.shape[0]) == 0)
    whole = np.zeros(m.shape[0], dtype=np.int64)
    whole[row[m.data < 0]] = m.indices[m.data < 0]
    keep = plain[row] & (m.data > 0)
    total, part = whole[row[keep]], m.indices[keep].astype(np.int64)
    rest = table.value[total] - table.value[part]
    near = (table.value[part] > 0) & (rest <= k)
    # A total with a single part says nothing that the part does not.
    near &= (np.diff(m.indptr) > 2)[row[keep]]
    if up_to is not None:
        near &= table.value[part] <= up_to
    if dimensions:
        axes = [table.names.index(d) for d in dimensions]
        near &= (table.places[total] != table.places[part])[:, axes].any(axis=1)
    pairs = np.unique(np.stack([total[near], part[near]], axis=1), axis=0)
    total, part = pairs[:, 0], pairs[:, 1]
    return Nested(total, part, table.value[total] - table.value[part])


def dimension_faults(kind: str, table: Table, names: Sequence[str]) -> list[SdcError]:
    """Return that a table lacks a dimension that is named, if it does."""
    unknown = [d for d in names if d not in table.names]
    if not unknown:
        return []
    return [InputError(f"{kind}: no dimension {unknown[0]!r}; there are {table.names}")]


def free_empty_cells(table: Table) -> Table:
    """Return the table with empty cells that may be hidden: nobody is sure that they are empty."""
    status = np.where(table.empty, np.int8(Status.SAFE), table.status)
    return table.with_(status=status)


class Nesting(Rule):
    """Base of the rules about groups that fall (nearly) whole into one category."""

    k: NaturalInt = Field(description="units elsewhere, at most")
    dimensions: DisclosingDimensions = ()
    up_to: PositiveInt | None = Field(
        default=None, description="larger groups are no secret; by default none is too large"
    )
    zeros: bool = Field(
        default=True,
        description="empty cells may be hidden: nobody knows beforehand that they are empty",
    )

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: units must be counted, and the dimensions exist."""
        found = super()._faults(data)
        if not data.frequency:
            found.append(
                InputError(
                    f"{self.kind} judges counts, and this is a table of magnitudes; see p_percent"
                )
            )
        elif "weighted_count" in data.extra:
            found.append(
                InputError(
                    f"{self.kind} judges counts of units, and this table counts their weights"
                )
            )
        return found + dimension_faults(self.kind, data, self.dimensions)

    def _apply(self, table: Table, ctx: Context) -> Table:
        return super()._apply(free_empty_cells(table) if self.zeros else table, ctx)

    def pairs(self, table: Table) -> Nested:
        """Return the pairs of cells that the rule is about."""
        return find_nearly_whole_parts(table, self.k, self.dimensions, self.up_to)
