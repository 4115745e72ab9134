"""Publication of intervals around adjusted values."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from tacit.arrays import Floats
from tacit.claims import Claim
from tacit.claims.outsiders import describe_outsiders, has_whole_counts, outsider_bounds
from tacit.claims.tables.protected_with_intervals import leaves_room_within_intervals
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import Infeasible, SdcWarning
from tacit.numerics.elementary import ten_to
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.adjust.adjust import Adjust
from tacit.tables.adjust.claims import claim_on
from tacit.tables.adjust.cta import scale_steps
from tacit.tables.suppress.problem import problem_of
from tacit.tables.suppress.whole_numbers import widen_in_whole_numbers

#: Changes below this share of the value are rounding errors of the arithmetic.
NOTHING = 1e-9


@register
class PublishIntervals(Method[Table]):
    """Publish an interval of round numbers for every cell that an adjustment has changed.

    With D the distance between true and adjusted value and base = 10^floor(log10 D), the smaller of the
    two is rounded down and the larger up to a multiple of the base. With probability ``widen_prob`` one
    base more is added on the side of the true value, so that a reader cannot conclude from the distance
    between the adjusted value and the far end how near the truth lies to it. With ``protect`` intervals are then widened
    to the other side of the truth, and beyond the adjusted value, until unsafe cells reach their levels; of counts, some that
    were not changed get an interval too where no other way is left. All other cells are published as they are. A table that has not been adjusted is first adjusted (:class:`Adjust`).

    References
    ----------
    Giessing and Dittrich (2006), Harmonizing table protection: results of a study, PSD 2006,
    LNCS 4302, 35-47, section 4.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["publish_intervals"] = "publish_intervals"
    widen_prob: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.5,
        description="chance that an interval gets one base more on the side of the true value",
    )
    protect: bool = Field(
        default=True,
        description="widen the intervals until the levels of unsafe cells are reached on both sides, with all relations; "
        "else only as in the reference, and a table is refused where that is too narrow",
    )
    show_adjusted: bool = Field(
        default=True,
        description="adjusted values are published beside their intervals, else the intervals alone",
    )

    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("interval publication",)

    def _apply(self, table: Table, ctx: Context) -> Table:
        if table.changed is None:
            adjusted = Adjust.model_validate({}).apply(table, context=ctx)
            table = table.with_changed(adjusted.published)
        widen = ctx.rng.random(len(table)) < self.widen_prob
        low, high = published_interval(table.value, table.published, widen)
        if self.protect:
            low, high = reach_other_side(table, low, high, ctx.rng)
        low, high = np.maximum(low, table.lower), np.minimum(high, table.upper)
        if self.protect and has_whole_counts(table):
            low, high = widen_counts(table, low, high, ctx)
        has = ~np.isnan(low)
        ctx.note(intervals=int(has.sum()), widened=int((widen & has).sum()))
        shown = table.published if self.show_adjusted else np.where(has, np.nan, table.published)
        return table.with_changed(shown).with_(interval=np.stack([low, high], axis=1))

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        del table
        yield from claim_protection(result)
        yield claim_on(
            result,
            "intervals-hold-the-truth",
            cells="all cells with an interval",
            assumptions=("outsiders do not know which intervals have been widened",),
        )


def reach_other_side(
    table: Table, low: Floats, high: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return intervals that hold the truth moved against the adjustment as well, by as much as levels ask for.

    With deviations z of the adjusted values, M z = 0, and truth + z lies in all intervals. So does truth - t z after
    this, with t such that each unsafe cell reaches its level on the side to which it was not moved: two tables that
    outsiders cannot rule out. The ends lie up to as far again beyond, at random, so that the middle does not tell the truth.
    """
    z = table.published - table.value
    has, unsafe = ~np.isnan(low), table.primary & ~np.isnan(low)
    if not unsafe.any():
        return low, high
    room = table.value - outsider_bounds(table)[0]
    ask = np.where(z > 0, np.minimum(table.lower_level, room), table.upper_level)
    ask = np.maximum(ask, table.sliding_level - np.abs(z))
    t = float(np.max(ask[unsafe] / np.abs(z[unsafe]), initial=0.0))
    # Whole steps keep counts whole.
    t = np.ceil(t - 1e-9) if table.frequency else t
    more = 1 + rng.random((2, len(table)))
    size = np.where(has, np.abs(z), 1.0)
    exponent = np.floor(np.log10(size) + 1e-12)
    back, on = size * t * more[0], size * more[1]
    ends = np.where(z > 0, table.value - back, table.value - on)
    tops = np.where(z > 0, table.value + on, table.value + back)
    base = ten_to(exponent)
    outer_low = scale_steps(np.floor(ends / base + 1e-9), exponent)
    outer_high = scale_steps(np.ceil(tops / base - 1e-9), exponent)
    return np.where(has, np.minimum(low, outer_low), low), np.where(
        has, np.maximum(high, outer_high), high
    )


def widen_counts(table: Table, low: Floats, high: Floats, ctx: Context) -> tuple[Floats, Floats]:
    """Return the intervals of counts with further cells in them, until each unsafe count has movements that reach its levels.

    A hidden count is no 0, so that the truth moved against the adjustment is often no table that outsiders think possible.
    What else must move is found by programs in whole numbers; such cells get an interval though they were not changed,
    which goes on by a step or none at random on either side.
    """
    problem = problem_of(table, singletons=False)
    has = ~np.isnan(low)
    down = np.where(has, np.clip(table.value - low, 0.0, problem.down), 0.0)
    up = np.where(has, np.clip(high - table.value, 0.0, problem.up), 0.0)
    try:
        wide_down, wide_up = widen_in_whole_numbers(problem, down, up, ctx)
    except Infeasible:
        return low, high
    more = (wide_down > down) | (wide_up > up)
    step = ctx.rng.integers(0, 2, (2, len(table)))
    least, most = outsider_bounds(table)
    bottom = np.maximum(table.value - wide_down - step[0], least)
    top = np.minimum(table.value + wide_up + step[1], most)
    return np.where(more, np.fmin(low, bottom), low), np.where(more, np.fmax(high, top), high)


def claim_protection(result: Table) -> Iterable[Claim]:
    """Yield the claim that the intervals protect every unsafe cell, where they do."""
    claim = claim_on(
        result,
        "protected-with-intervals",
        {"singletons": False},
        "all unsafe cells",
        (
            *describe_outsiders(result),
            "outsiders know the cells without an interval, and that others lie in their interval",
            "the ends of intervals and adjusted values carry no information beyond that",
            "single respondents do not use their own values",
        ),
    )
    if leaves_room_within_intervals(result, claim):
        yield claim
    else:
        warnings.warn(
            "the intervals are too narrow for some unsafe cells, and the table will be refused: adjust with fewer cells "
            "kept, or hide these cells",
            SdcWarning,
            stacklevel=2,
        )


def published_interval(
    original: npt.ArrayLike, adjusted: npt.ArrayLike, widen: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Return the ends of the intervals, NaN where nothing was changed or the cell is hidden.

    Parameters
    ----------
    original, adjusted
        True and adjusted values.
    widen
        Which intervals get one base more on the side of the true value.
    """
    a, o = np.atleast_1d(np.asarray(adjusted, float)), np.atleast_1d(np.asarray(original, float))
    distance = np.abs(a - o)
    changed = distance > NOTHING * np.maximum(1.0, np.abs(o))
    exponent = np.floor(np.log10(np.where(changed, distance, 1.0)) + 1e-12)
    base = ten_to(exponent)
    low = np.floor(np.minimum(a, o) / base + 1e-9)
    high = np.ceil(np.maximum(a, o) / base - 1e-9)
    more = np.asarray(widen, dtype=bool)
    low, high = low - (more & (o < a)), high + (more & (o > a))
    return np.where(changed, scale_steps(low, exponent), np.nan), np.where(
        changed, scale_steps(high, exponent), np.nan
    )
