"""The minimum frequency rule: a cell needs enough contributors."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats
from tacit.claims.gate import LEAST
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import InputError, SdcError
from tacit.registry import register
from tacit.tables.rules.concentration import Level, MissingSafe, missing_cells
from tacit.tables.rules.nesting import free_empty_cells
from tacit.tables.rules.rule import Rule, Verdict


@register
class MinimumFrequency(Rule):
    """A cell with fewer than n contributors is unsafe.

    A cell is unsafe when 0 < contributors < n. Its protection levels are a percentage of its value,
    and at least the smallest unit of a table of counts. In a weighted table a record of weight w counts
    as w contributors. The levels keep outsiders from knowing a count closely, not from knowing that it is small: an
    interval of 1 to 2 is enough for a 1 with n = 3, unless ``could_be_safe`` is set.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346.
    """

    kind: Literal["minimum_frequency"] = "minimum_frequency"
    n: Annotated[int, Field(ge=1)] = Field(
        default=LEAST, description="contributors that a cell must have"
    )
    range: Annotated[float, Field(ge=0)] = Field(
        default=30.0, description="protection levels in per cent of the cell's value"
    )
    level: Level = Field(
        default="auto",
        description="count records or holdings; auto takes holdings where they are known",
    )
    weighted: bool = Field(
        default=True,
        description="in a weighted table, count a record of weight w as w contributors",
    )
    missing_safe: MissingSafe = False
    keep_levels: bool = Field(
        default=False,
        description="a cell that another rule calls unsafe keeps that rule's levels, as in tau-ARGUS; "
        "by default it gets the larger ones",
    )

    singletons: Literal["none", "guard", "sums"] = Field(
        default="guard",
        description="what suppression methods do about those who know their own cell. none: cells that only this rule "
        "calls unsafe are not kept from the only respondent of another; guard: they are; sums: and the sum of all "
        "unsafe parts of a total does not follow where it has fewer than n contributors",
    )

    zeros: bool = Field(
        default=False,
        description="empty cells may be hidden, so that a hidden count may be 0; else outsiders know that every hidden "
        "count is at least 1, and suppression methods protect from that",
    )
    could_be_safe: bool = Field(
        default=False,
        description="outsiders must think that an unsafe count could be n or more, so that nobody is sure that it is "
        "small; tables of counts only",
    )

    mark: ClassVar[Status] = Status.UNSAFE_FREQUENCY

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: the contributors must be known."""
        found = super()._faults(data)
        if self.level == "holding" and data.holdings is None:
            found.append(InputError(f"{self.kind}: the table knows of no holdings"))
        elif data.holdings is None and not data.frequency and (data.count < 0).all():
            found.append(InputError(f"{self.kind} needs the contributors of each cell"))
        if self.could_be_safe and not data.frequency:
            found.append(
                InputError(
                    f"{self.kind}: could_be_safe is about counts, and this is a table of magnitudes"
                )
            )
        return found

    def _apply(self, table: Table, ctx: Context) -> Table:
        return super()._apply(free_empty_cells(table) if self.zeros else table, ctx)

    def _judge(self, table: Table, ctx: Context) -> Verdict:
        del ctx
        count = contributors_of(table, self.level, self.weighted)
        smallest = 1.0 if table.frequency else 0.0
        level = np.maximum(self.range / 100 * np.abs(table.value), smallest)
        # A rule that fires without a level asks for one unit at least.
        level = np.where(level > 0, level, 1.0)
        unsafe = (count > 0) & (count < self.n)
        if self.missing_safe:
            unsafe &= ~missing_cells(table)
        if self.keep_levels:
            level = np.where(table.primary, 0.0, level)
        upper = np.maximum(level, self.n - table.value) if self.could_be_safe else level
        return Verdict(unsafe, level, upper)


def contributors_of(table: Table, level: Level, weighted: bool) -> Floats:
    """Return the number of contributors of each cell; the value of a table of counts without any."""
    if level != "record" and table.holdings is not None:
        return table.holdings.count.astype(np.float64)
    if weighted and "weighted_count" in table.extra:
        return np.asarray(table.extra["weighted_count"], dtype=np.float64)
    count = table.count.astype(np.float64)
    return np.where(count < 0, table.value, count) if table.frequency else count
