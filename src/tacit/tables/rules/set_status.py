"""Decisions by hand: cells that are safe, unsafe, to be published, or expensive to hide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.claims.gate import FREED, RULE
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.fields import Secret
from tacit.registry import register
from tacit.spec import Method, Where


@register
class SetStatus(Method[Table]):
    """Set the status, levels or cost of listed cells by hand.

    What is known beforehand: cells that others publish must be published, cells that were hidden last
    year are cheap to hide again, a respondent's complaint makes a cell unsafe, a waiver makes it safe.
    A cell called unsafe gets levels of ``range`` per cent of its value, at least 1, or those that are
    given. Which cells these are stays out of public plans and statements, as do their levels and costs.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346, section 2.3.3.
    """

    kind: Literal["set_status"] = "set_status"
    family: ClassVar[str] = "rules"
    runs_on: ClassVar[Where] = "cells"
    prepares: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = (RULE,)
    example: ClassVar[Mapping[str, Any]] = {"cells": [[0, 1]], "status": "safe"}

    cells: tuple[tuple[str | int, ...] | dict[str, str], ...] = Secret(
        description="the cells: their codes in the order of the dimensions, or dimension to code"
    )
    status: Literal["safe", "unsafe", "protect", "keep"] = Field(
        default="keep",
        description="safe: no rule applies; unsafe; protect: must be published; keep: as it is",
    )
    range: Annotated[float, Field(ge=0)] = Field(
        default=20.0, description="levels of an unsafe cell in per cent of its value"
    )
    lower: Annotated[float, Field(ge=0)] | None = Secret(
        default=None, description="the lower protection level, in units of the table"
    )
    upper: Annotated[float, Field(ge=0)] | None = Secret(
        default=None, description="the upper protection level, in units of the table"
    )
    cost: Annotated[float, Field(gt=0)] | None = Secret(
        default=None, description="the cost of hiding each of the cells"
    )

    def _apply(self, table: Table, ctx: Context) -> Table:
        at = table.positions([self._named(c, table) for c in self.cells])
        ctx.note(cells=len(at))
        if self.cost is not None:
            costs = np.array(table.costs())
            costs[at] = self.cost
            table = table.with_weight(costs)
        if self.status == "safe":
            ctx.note(**{FREED: int(table.primary[at].sum())})
            # Empty cells stay so; of the others nothing is asked any more.
            own = at[~table.empty[at]]
            safe = table.with_status(own, Status.SAFE_MANUAL)
            return set_levels(safe, own, lower_level=0.0, upper_level=0.0, sliding_level=0.0)
        if self.status == "protect":
            return table.freeze(at)
        if self.status == "unsafe":
            level = np.maximum(self.range / 100 * np.abs(table.value[at]), 1.0)
            lower, upper = (level if given is None else given for given in (self.lower, self.upper))
            return table.with_protection(at, lower, upper)
        if self.lower is not None or self.upper is not None:
            return replace_levels(table, at, self.lower, self.upper)
        return table

    def _named(self, cell: Any, table: Table) -> Any:
        """Return the name of a cell; a bare list of equations has numbers only."""
        if not table.dimensions:
            if not isinstance(cell, tuple) or len(cell) != 1:
                raise InputError(
                    "set_status: a table of bare equations has its cells numbered: [7]"
                )
            return int(cell[0])
        return cell


def set_levels(table: Table, at: Any, **levels: float | None) -> Table:
    """Return the table with other levels for some cells, where they are given."""
    changed = {}
    for name, level in levels.items():
        changed[name] = np.array(getattr(table, name), dtype=np.float64)
        if level is not None:
            changed[name][at] = level
    return table.with_(**changed)


def replace_levels(table: Table, at: Any, lower: float | None, upper: float | None) -> Table:
    """Return the table with other levels for unsafe cells."""
    other = at[~table.primary[at]]
    if len(other):
        raise InputError(
            f"set_status: {table.describe_cell(int(other[0]))} is not unsafe, so it has no protection "
            "levels; say status: unsafe"
        )
    return set_levels(table, at, lower_level=lower, upper_level=upper)
