"""Rounding cell by cell: random, conventional, up, down or semi-controlled; and of plain arrays of counts.

A count n = q base + s goes up to (q + 1) base with probability s/base and down to q base otherwise, which
keeps its expectation. Semi-controlled rounding fixes how many counts of each residual go up at their
expected number and draws only which ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.adjust.claims import additive_claim, claim_on
from tacit.tables.rounding.model import basis, multiples

Rule = Literal["random", "conventional", "up", "down", "semi_controlled"]
Control = Literal["table", "rows", "none"]


@register
class RandomRounding(Method[Table]):
    """Round every cell by itself to a multiple of the base.

    A value a = q b + r goes up to (q + 1) b with probability r/b and down to q b otherwise, so that its
    expectation stays. Conventional rounding takes the nearest multiple (halves go up); ``up`` and
    ``down`` are what they say. Semi-controlled rounding sends the expected number of ground cells of
    each residual up and draws only which ones. Totals rounded by themselves do not add up; with
    ``totals="sum"`` they are summed from the rounded ground cells and may lie far from their values.

    References
    ----------
    Willenborg and de Waal (2001), Elements of statistical disclosure control, Lecture Notes in
    Statistics 155, chapter 9.
    Shlomo and Young (2006), Statistical disclosure control methods through a risk-utility framework,
    PSD 2006, LNCS 4302, section 4.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["random_rounding"] = "random_rounding"
    base: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="the rounding base; by default 3 for counts and 5 otherwise"
    )
    rule: Rule = Field(
        default="random",
        description="random (unbiased), conventional (nearest), up, down, semi_controlled",
    )
    totals: Literal["own", "sum"] = Field(
        default="own",
        description="own: totals are rounded by themselves; sum: from rounded ground cells",
    )
    allow_negative: bool = Field(default=False, description="round negative values as well")

    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("rounding",)

    def _apply(self, table: Table, ctx: Context) -> Table:
        base = base_of(table, self.base)
        require_roundable(table, allow_negative=self.allow_negative)
        rounded = round_cells(table, base, self.rule, ctx.rng, summed=self.totals == "sum")
        ctx.note(base=base, **deviations(table, rounded, base))
        return table.with_changed(rounded)

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        base = base_of(table, self.base)
        y = 0
        if self.totals == "sum":
            y = int(deviations(table, result.published, base)["y"])
            yield additive_claim(result, base)
        yield rounded_claim(result, base, y)


def base_of(table: Table, base: float | None) -> float:
    """Return the base: 3 for counts and 5 otherwise, where none is given."""
    return float(base if base is not None else 3 if table.frequency else 5)


def require_roundable(table: Table, *, allow_negative: bool) -> None:
    """Refuse negative values unless they are allowed."""
    if not allow_negative and (table.value < 0).any():
        first = int(np.flatnonzero(table.value < 0)[0])
        raise InputError(
            f"the table has negative values, the first at {table.describe_cell(first)}: "
            "set allow_negative=True to round them as well"
        )


def round_cells(
    table: Table, base: float, rule: Rule, rng: np.random.Generator, *, summed: bool
) -> Floats:
    """Return every cell rounded by a rule; totals by themselves or summed from the ground cells."""
    floors, ceilings, residual, _ = multiples(table.value, base)
    if rule in ("random", "semi_controlled"):
        up = rng.random(len(table)) * base < residual
    elif rule == "conventional":
        up = (residual > 0) & (2 * residual >= base)
    else:
        up = np.full(len(table), rule == "up")
    steps = np.where(up, ceilings, floors)
    cells = basis(table)
    free = cells.free
    if rule == "semi_controlled":
        if not base.is_integer():
            raise InputError("semi-controlled rounding needs a whole base")
        counts = semi_controlled_rounding(table.value[free], int(base), rng)
        steps[free] = np.rint(counts.ravel() / base).astype(np.int64)
    if summed:
        if cells.extra.shape[0]:
            raise InputError(
                "totals='sum' is not possible where a total has several definitions: "
                "controlled_rounding keeps them equal"
            )
        steps = cells.spread(steps[free])
    return base * steps.astype(np.float64)


# -- what is claimed ----------------------------------------------------------------------------------


def deviations(table: Table, rounded: Floats, base: float) -> dict[str, float | int]:
    """Return how far totals leave their adjacent multiples, in bases, and how far all cells moved."""
    outside = beyond_adjacent(table, rounded, base)
    total = np.ones(len(table), dtype=bool)
    total[basis(table).free] = False
    away = np.abs(rounded - table.value)
    some = total.any()
    return {
        "y": int(outside[total].max(initial=0)),
        "totals": int(total.sum()),
        "totals_outside": int((outside[total] > 0).sum()),
        "mean_outside": float(outside[total].mean()) if some else 0.0,
        "largest_change": float(away.max(initial=0.0)),
        "mean_change": float(away.mean()) if len(away) else 0.0,
        "sum_of_changes": float(away.sum()),
    }


def beyond_adjacent(table: Table, rounded: Floats, base: float) -> Ints:
    """Return by how many bases each published cell lies outside its adjacent multiples."""
    floors, ceilings, _, _ = multiples(table.value, base)
    steps = np.rint(rounded / base).astype(np.int64)
    return np.maximum(np.maximum(floors - steps, steps - ceilings), 0)


def rounded_claim(
    table: Table, base: float, y: int, max_shift: int = 1, *, free_zeros: bool = False
) -> Claim:
    """Return the claim that every published value is a multiple of the base near the true one."""
    parameters = {"base": base, "y": y, "max_shift": max_shift, "free_zeros": free_zeros}
    return claim_on(table, "rounded", parameters, "all cells")


# -- arrays of counts ---------------------------------------------------------------------------------------


def random_rounding(cells: npt.ArrayLike, base: int, rng: np.random.Generator) -> Floats:
    """Return counts rounded to multiples of the base, each by its own draw."""
    values, down, residual = split(cells, base)
    up = rng.random(values.shape) * base < residual
    return down + base * up


def semi_controlled_rounding(
    cells: npt.ArrayLike,
    base: int,
    rng: np.random.Generator,
    *,
    within: Literal["table", "rows"] = "table",
) -> Floats:
    """Return counts rounded to multiples of the base, the expected number of each residual up.

    Of m counts with residual s, m s/base go up, drawn without replacement. When that is no whole number
    one more goes up with the probability that keeps the expectation; one draw decides this for all
    residuals together (systematic sampling), so that the total over ``within`` (the table, or each row)
    differs from the original by less than the base.
    """
    values, down, residual = split(cells, base)
    moved = residual > 0
    block = np.zeros(values.shape, dtype=np.int64)
    if within == "rows":
        block += np.arange(len(values))[:, None]
    up = np.zeros(values.shape, dtype=bool)
    up[moved] = expected_number(block[moved], residual[moved].astype(np.int64), base, rng)
    return down + base * up


def small_cell_adjustment(
    cells: npt.ArrayLike, base: int, rng: np.random.Generator, *, control: Control = "none"
) -> Floats:
    """Return counts with those below the base set to 0 or to the base; others stay as they are."""
    values, _, _ = split(cells, base)
    if control == "none":
        rounded = random_rounding(values, base, rng)
    else:
        rounded = semi_controlled_rounding(
            np.where(values < base, values, 0.0), base, rng, within=control
        )
    return np.where(values < base, rounded, values)


def added_variance(base: int) -> tuple[float, ...]:
    """Return the variance that random rounding adds to a count, by residual 0 .. base-1.

    It is s (base - s): for base 3, 2 for every count that is not a multiple of 3. Users who see only the
    rounded table may add it to the variance of their estimates; it tells nothing about single counts.
    """
    if base < 2:
        raise InputError("a rounding base must be at least 2")
    return tuple(float(s * (base - s)) for s in range(base))


def split(cells: npt.ArrayLike, base: int) -> tuple[Floats, Floats, Floats]:
    """Return counts as a matrix, the multiples of the base below them, and their residuals."""
    if base < 2:
        raise InputError("a rounding base must be at least 2")
    values = np.atleast_2d(np.asarray(cells, dtype=np.float64))
    if values.size and (np.isnan(values).any() or values.min() < 0 or np.any(values % 1)):
        raise InputError(
            "only counts can be rounded: whole numbers, none negative, none suppressed"
        )
    residual = values % base
    return values, values - residual, residual


def expected_number(block: Ints, residual: Ints, base: int, rng: np.random.Generator) -> Flags:
    """Return a random choice of members: of each residual s in a block, the share s/base."""
    if not len(block):
        return np.zeros(0, dtype=bool)
    group = block * base + residual
    order = np.argsort(group + rng.random(len(group)), kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    sizes = np.diff(np.r_[starts, len(group)])
    of_block, s = np.divmod(group[order][starts], base)
    summed = np.cumsum(sizes * s)
    fresh = np.r_[True, np.diff(of_block) > 0]
    before = summed - sizes * s
    before -= np.repeat(before[fresh], np.diff(np.r_[np.flatnonzero(fresh), len(fresh)]))
    draw = rng.integers(base, size=int(of_block.max()) + 1)[of_block]
    wanted = (before + sizes * s + draw) // base - (before + draw) // base
    place = np.arange(len(group)) - np.repeat(starts, sizes)
    chosen = np.empty(len(group), dtype=bool)
    chosen[order] = place < np.repeat(wanted, sizes)
    return chosen
