"""The minimum frequency rule: a cell needs enough contributors."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.context import Context
from tacit.data.status import Status
from tacit.data.table import Table
from tacit.errors import InputError, SdcError
from tacit.registry import register
from tacit.tables._rule import Rule, Verdict


@register
class MinimumFrequency(Rule):
    """A cell with fewer than n contributors is unsafe.

    A cell is unsafe when 0 < contributors < n. Its protection levels are a percentage of its value,
    and at least the smallest unit of a table of counts.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346.
    """

    kind: Literal["minimum_frequency"] = "minimum_frequency"
    n: Annotated[int, Field(ge=1)] = Field(3, description="contributors that a cell must have")
    range: Annotated[float, Field(ge=0)] = Field(
        30.0, description="protection levels in per cent of the cell's value"
    )
    level: Literal["auto", "record", "holding"] = Field(
        "auto", description="count records or holdings; auto takes holdings where they are known"
    )

    mark: ClassVar[Status] = Status.UNSAFE_FREQUENCY

    def faults(self, data: object) -> list[SdcError]:
        """Return what is wrong: the contributors must be known."""
        found = super().faults(data)
        if isinstance(data, Table):
            if self.level == "holding" and data.holdings is None:
                found.append(InputError(f"{self.kind}: the table knows of no holdings"))
            elif data.holdings is None and (data.count < 0).all():
                found.append(InputError(f"{self.kind} needs the contributors of each cell"))
        return found

    def _judge(self, table: Table, ctx: Context) -> Verdict:
        del ctx
        holdings = table.holdings if self.level != "record" else None
        count = table.count if holdings is None else holdings.count
        smallest = 1.0 if table.frequency else 0.0
        level = np.maximum(self.range / 100 * np.abs(table.value), smallest)
        return Verdict((count > 0) & (count < self.n), level, level)
