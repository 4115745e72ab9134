"""What the sensitivity rules share: they add unsafe cells and never take one away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.claims.gate import RULE
from tacit.context import Context
from tacit.data.base import Action
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import InputError, UnknownMethod
from tacit.registry import lookup
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

    def _judges_empty(self) -> bool:
        """Return True when empty cells are judged as well."""
        return False

    def _judge(self, table: Table, ctx: Context) -> Verdict:
        raise NotImplementedError

    def _apply(self, table: Table, ctx: Context) -> Table:
        verdict = self._judge(table, ctx)
        return add_verdict(table, verdict, self.mark, judges_empty=self._judges_empty(), ctx=ctx)


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


def cells_to_judge(value: Floats, count: Ints, like: Table, **more: Any) -> Table:
    """Return cells that no table has, to be judged by a rule; what they are is as in another table."""
    zero = np.zeros(len(value))
    return Table(
        dimensions=(),
        value=value,
        count=count,
        status=np.ones(len(value), dtype=np.int8),
        lower=np.minimum(value, 0.0),
        upper=np.full(len(value), np.inf),
        lower_level=zero,
        upper_level=zero,
        sliding_level=zero,
        response=like.response,
        frequency=like.frequency,
        **more,
    )


R = TypeVar("R", bound=Rule)


def applied_rules(history: Iterable[Action], sort: type[R]) -> list[R]:
    """Return the rules of one sort that were applied, with their parameters."""
    found = []
    for action in history:
        try:
            made = lookup(action.kind)
        except UnknownMethod:
            continue
        if issubclass(made, sort):
            given = action.private or action.parameters
            found.append(made(**{k: v for k, v in given.items() if k != "kind"}))
    return found
