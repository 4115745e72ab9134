"""The zero rule: a published zero reveals that every contributor reported zero."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.registry import register
from tacit.tables.rules.concentration import MissingSafe, missing_cells
from tacit.tables.rules.rule import Rule, Verdict


@register
class ZeroCells(Rule):
    """A cell with contributors and the value 0 is unsafe.

    When contributions cannot be negative, a published 0 says that each contributor reported 0. Such a
    cell is unsafe and an attacker must think that it could be as large as ``range``; nothing can be
    asked below. Cells without contributors are empty and safe, unless ``empty`` is set.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346, section 2.3.2.
    """

    kind: Literal["zero_cells"] = "zero_cells"
    range: Annotated[float, Field(gt=0)] = Field(
        default=10.0,
        description="how large, in units of the table, outsiders must think it could be",
    )
    empty: bool = Field(
        default=False, description="judge empty cells as well, as in a ready table without counts"
    )
    missing_safe: MissingSafe = False

    mark: ClassVar[Status] = Status.UNSAFE_ZERO

    def _judge(self, table: Table, ctx: Context) -> Verdict:
        del ctx
        unsafe = (table.value == 0) & (self.empty | (table.count > 0))
        if table.contributors is not None:
            unsafe &= ~(table.contributors.top != 0).any(axis=1)
        if self.missing_safe:
            unsafe &= ~missing_cells(table)
        return Verdict(unsafe, 0.0, np.full(len(table), self.range))

    def _judges_empty(self) -> bool:
        return self.empty
