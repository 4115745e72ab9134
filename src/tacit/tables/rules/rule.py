"""What the sensitivity rules share: they add unsafe cells and never take one away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags
from tacit.claims.gate import RULE
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.spec import Method, Where


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a rule says of every cell.

    ``lower``, ``upper`` and ``sliding`` are the protection levels where ``unsafe``; elsewhere ignored.
    """

    unsafe: Flags
    lower: npt.ArrayLike
    upper: npt.ArrayLike
    sliding: npt.ArrayLike = 0.0


class Rule(Method[Table]):
    """Base of the sensitivity rules: ``_judge`` says which cells are unsafe, and how wide they need it.

    Rules combine by being applied one after the other: a cell is unsafe when any rule says so, with
    the largest levels. Cells called safe by hand, and empty cells, keep their status.
    """

    family: ClassVar[str] = "rules"
    runs_on: ClassVar[Where] = "cells"
    prepares: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = (RULE,)
    #: The status that a newly unsafe cell gets.
    mark: ClassVar[Status] = Status.UNSAFE
    #: Empty cells are judged as well.
    judges_empty: ClassVar[bool] = False

    def _judge(self, table: Table, ctx: Context) -> Verdict:
        raise NotImplementedError

    def _apply(self, table: Table, ctx: Context) -> Table:
        verdict = self._judge(table, ctx)
        return add_verdict(table, verdict, self.mark, judges_empty=self.judges_empty, ctx=ctx)


def add_verdict(
    table: Table, verdict: Verdict, mark: Status, *, judges_empty: bool = False, ctx: Context
) -> Table:
    """Return the table with a verdict added: unsafe cells united, levels the largest."""
    open_to_it = table.status != Status.SAFE_MANUAL
    if not judges_empty:
        open_to_it &= ~table.empty
    unsafe = np.asarray(verdict.unsafe, dtype=bool) & open_to_it
    frozen = np.flatnonzero(unsafe & (table.status == Status.PROTECTED))
    if len(frozen):
        raise InputError(
            f"{table.describe_cell(int(frozen[0]))} must be published, and a rule calls it unsafe "
            f"({len(frozen):,} such cells). Take them from the cells to publish, or call them safe."
        )
    new = unsafe & ~table.primary
    status = table.status.copy()
    status[new] = mark
    if mark != Status.UNSAFE_FREQUENCY:
        # What a frequency rule says of the cells that it alone calls unsafe holds for no others.
        status[unsafe & (table.status == Status.UNSAFE_FREQUENCY)] = mark
    levels = {}
    for name, given in (
        ("lower_level", verdict.lower),
        ("upper_level", verdict.upper),
        ("sliding_level", verdict.sliding),
    ):
        before = np.asarray(getattr(table, name))
        asked = np.broadcast_to(np.asarray(given, dtype=np.float64), (len(table),))
        levels[name] = np.where(unsafe, np.maximum(np.where(new, 0.0, before), asked), before)
    ctx.note(unsafe=int(unsafe.sum()), new=int(new.sum()), cells=len(table))
    return table.with_(status=status, changed=None, interval=None, **levels)
