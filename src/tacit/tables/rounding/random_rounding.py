"""Rounding cell by cell: random, conventional, up, down or semi-controlled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.adjust.additive import additive_claim
from tacit.tables.rounding.counts import semi_controlled_rounding
from tacit.tables.rounding.model import basis, multiples

Rule = Literal["random", "conventional", "up", "down", "semi_controlled"]


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
    free, expansion, extra = basis(table)
    if rule == "semi_controlled":
        if not base.is_integer():
            raise InputError("semi-controlled rounding needs a whole base")
        counts = semi_controlled_rounding(table.value[free], int(base), rng)
        steps[free] = np.rint(counts.ravel() / base).astype(np.int64)
    if summed:
        if extra.shape[0]:
            raise InputError(
                "totals='sum' is not possible where a total has several definitions: "
                "controlled_rounding keeps them equal"
            )
        steps = expand_free_values(table, steps[free], expansion)
    return base * steps.astype(np.float64)


def expand_free_values(table: Table, ground: Ints, expansion: object) -> Ints:
    """Return all cells from the free ones."""
    from tacit.tables.rounding.model import roll_up_ground

    if expansion is None:
        return roll_up_ground(table, ground)
    return np.rint(expansion @ ground).astype(np.int64)  # type: ignore[operator]


# -- what is claimed ----------------------------------------------------------------------------------


def deviations(table: Table, rounded: Floats, base: float) -> dict[str, float | int]:
    """Return how far totals leave their adjacent multiples, in bases, and how far all cells moved."""
    outside = beyond_adjacent(table, rounded, base)
    total = np.ones(len(table), dtype=bool)
    total[basis(table)[0]] = False
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
    return Claim("rounded", parameters, "all cells", table.names or ("equations",))
