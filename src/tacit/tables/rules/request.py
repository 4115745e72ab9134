"""The request rule: those who asked for protection get it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import InputError, SdcError
from tacit.registry import register
from tacit.tables.rules.concentration import (
    JudgedLevel,
    MissingSafe,
    judged_at_level,
    level_faults,
    list_judged_contributions,
    missing_cells,
)
from tacit.tables.rules.rule import Rule, Verdict


@register
class Request(Rule):
    r"""A cell is unsafe when a respondent in it asked for protection and stands out.

    It is unsafe when its largest contributor asked for protection and has more than ``share`` per cent
    of it, or when any contributor asked and there are fewer than ``minimum``. Respondents whose request
    has the code 2 are judged by ``second_share``. Its levels are ``range`` per cent of its value. Foreign
    trade statistics use it: all cells are published except those that somebody objects to.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346, section 2.3.2.
    """

    kind: Literal["request"] = "request"
    share: Annotated[float, Field(gt=0, lt=100)] = Field(
        default=70.0,
        description="share of the cell, in per cent, above which a requester is protected",
    )
    second_share: Annotated[float, Field(gt=0, lt=100)] | None = Field(
        default=None, description="the share for requests with code 2; by default the same"
    )
    minimum: Annotated[int, Field(ge=0)] = Field(
        default=0,
        description="with fewer contributors than this any requester is protected; 0: never",
    )
    range: Annotated[float, Field(gt=0)] = Field(
        default=20.0, description="protection levels in per cent of the cell's value"
    )
    level: JudgedLevel = "auto"
    missing_safe: MissingSafe = False

    mark: ClassVar[Status] = Status.UNSAFE_REQUEST

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: requests must be known, and as many contributions as are judged."""
        found = super()._faults(data)
        lacking = level_faults(self.kind, data, self.level)
        if lacking:
            return [*found, *lacking]
        given = judged_at_level(data, self.level)
        if given.asked is None:
            found.append(
                InputError(f"{self.kind}: the table knows of no requests; tabulate with request=")
            )
        if self.minimum - 1 > given.t:
            found.append(
                InputError(
                    f"{self.kind} with minimum={self.minimum} needs the {self.minimum - 1} largest "
                    f"contributions of each cell, and the table keeps {given.t}"
                )
            )
        return found

    def _judge(self, table: Table, ctx: Context) -> Verdict:
        del ctx
        given = judged_at_level(table, self.level)
        assert given.asked is not None
        cells = list_judged_contributions(table, self.level, expand=True)
        asked = np.asarray(given.asked).astype(np.int8)
        second = self.share if self.second_share is None else self.second_share
        share = np.where(asked[:, 0] >= 2, second, self.share)
        dominant = (asked[:, 0] > 0) & (cells.top[:, 0] > share / 100 * cells.total)
        few = (given.count > 0) & (given.count < self.minimum) & (asked > 0).any(axis=1)
        unsafe = dominant | few
        if self.missing_safe:
            unsafe &= ~missing_cells(table)
        level = self.range / 100 * np.abs(table.value)
        level = np.where(level > 0, level, 1.0)
        return Verdict(unsafe, level, level)
