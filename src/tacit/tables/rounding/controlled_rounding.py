"""Controlled rounding: every cell a multiple of the base, and every relation still holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from tacit.arrays import Floats
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import Infeasible, InputError, LimitReached
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.adjust.claims import additive_claim
from tacit.tables.rounding.flow import draw_unbiased_steps
from tacit.tables.rounding.model import (
    Secondary,
    basis,
    levels_within_bounds,
    model_of,
    multiples,
    network_of,
)
from tacit.tables.rounding.random_rounding import (
    Rule,
    base_of,
    beyond_adjacent,
    deviations,
    require_roundable,
    round_cells,
    rounded_claim,
)
from tacit.tables.rounding.solve import Clock, RoundingOutcome, Strategy, solve_rounding

Mode = Literal[
    "near_feasible",
    "zero_restricted",
    "random",
    "conventional",
    "unbiased_2d",
    "deterministic_flow",
]


@register
class ControlledRounding(Method[Table]):
    """Round a table to multiples of a base so that all sums still hold.

    Ground cells move to an adjacent multiple of the base, multiples stay. Among all such tables the one
    with the least y is taken, y being the most bases by which a total leaves its own adjacent multiples,
    and among those the one nearest to the table::

        minimise  |I| b y + sum_i w_i x_i,    w_i = ceiling_i + floor_i - 2 a_i
        floor(a'_j) - y <= sum_{i in S_j} x_i <= ceiling(a'_j) + y,    x_i in {0, 1}

    One- and two-way tables with subtotals in at most one dimension have y = 0 and are solved to the
    optimum as flows. Others are searched by annealing, a heuristic, and small ones then proven by integer
    programming; ``history[-1].details`` has the status, y and its lower bound. In mode
    ``zero_restricted`` y must be 0, which from 2 x 2 x 2 tables on may be impossible.

    References
    ----------
    Salazar-Gonzalez (2006), A new approach to round tabular data, PSD 2006, LNCS 4302, 25-34.
    Causey, Cox, Ernst (1985), Applications of transportation theory to statistical problems, Journal of
    the American Statistical Association 80, 903-909.
    Cox (1987), A constructive procedure for unbiased controlled rounding, Journal of the American
    Statistical Association 82, 520-524.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["controlled_rounding"] = "controlled_rounding"
    base: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="the rounding base; by default 3 for counts and 5 otherwise"
    )
    mode: Mode = Field(
        default="near_feasible",
        description="near_feasible; zero_restricted (totals adjacent too); unbiased_2d (random, keeps "
        "expectations); deterministic_flow (exact, one- and two-way); random, conventional (not additive)",
    )
    free_zeros: bool = Field(
        default=False, description="multiples of the base may go up one base as well"
    )
    secondary: Secondary = Field(
        default="nearest",
        description="which table among those of least y: the nearest, any (none), near a random "
        "rounding, or nearest with distances times the table's weights",
    )
    count_totals: bool = Field(
        default=False, description="totals count in the secondary objective as ground cells do"
    )
    protection: bool = Field(
        default=False,
        description="existence intervals of unsafe cells must reach their protection levels",
    )
    max_shift: Annotated[int, Field(ge=1)] = Field(
        default=1,
        description="bases within which ground cells must stay; more may help linked tables",
    )
    time_limit: Annotated[float, Field(gt=0)] = Field(
        default=60.0, description="seconds for the search"
    )
    strategy: Strategy = Field(
        default="auto", description="auto, flow (one- and two-way tables), mip, local_search"
    )
    allow_negative: bool = Field(default=False, description="round negative values as well")

    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("controlled rounding",)

    def _apply(self, table: Table, ctx: Context) -> Table:
        base = base_of(table, self.base)
        require_roundable(table, allow_negative=self.allow_negative)
        shift = self.max_shift
        if self.mode in ("random", "conventional"):
            rule: Rule = "random" if self.mode == "random" else "conventional"
            rounded = round_cells(table, base, rule, ctx.rng, summed=False)
        elif self.mode == "unbiased_2d":
            rounded = round_unbiased(table, base, ctx.rng)
        else:
            outcome = self._solved(table, base, ctx)
            assert outcome.values is not None
            rounded, shift = outcome.values, outcome.max_shift
            ctx.note(**summary(outcome))
        ctx.note(
            base=base,
            max_shift=shift,
            **deviations(table, rounded, base),
            naive=round_ground_naively(table, base),
            **count_protected_cells(table, rounded, base, shift),
        )
        return table.with_changed(rounded)

    def _solved(self, table: Table, base: float, ctx: Context) -> RoundingOutcome:
        """Return the outcome, or raise when there is no such rounding."""
        clock = Clock(self.time_limit, lambda share: ctx.tick(self.title(), share), ctx.should_stop)
        strict = self.mode == "zero_restricted"
        outcome = solve_rounding(
            table,
            base,
            strict=strict,
            secondary=self.secondary,
            count_totals=self.count_totals,
            free_zeros=self.free_zeros,
            max_shift=self.max_shift,
            protection=self.protection,
            strategy="flow" if self.mode == "deterministic_flow" else self.strategy,
            rng=ctx.rng,
            clock=clock,
        )
        if outcome.status == "infeasible":
            raise Infeasible(
                f"no zero-restricted controlled rounding of this table to base {base:g} exists; "
                "mode='near_feasible' lets totals leave their adjacent multiples"
                if strict
                else f"no additive rounding to base {base:g} exists within {outcome.max_shift} bases "
                "of the ground cells: raise max_shift"
            )
        if outcome.values is None:
            raise LimitReached(
                f"no rounding was found in {self.time_limit:g} s and none is proven impossible: raise "
                "time_limit" + (", or take mode='near_feasible'" if strict else "")
            )
        return outcome

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        base = base_of(table, self.base)
        additive = self.mode not in ("random", "conventional")
        shift = self.max_shift
        if additive:
            yield additive_claim(result, base)
            shift = max(shift, shift_of(table, result.published, base, free_zeros=self.free_zeros))
        y = int(deviations(table, result.published, base)["y"]) if additive else 0
        yield rounded_claim(result, base, y, shift, free_zeros=self.free_zeros)


def shift_of(table: Table, rounded: Floats, base: float, *, free_zeros: bool) -> int:
    """Return the bases within which ground cells stayed.

    Several definitions of a total may have forced them further away than was asked for.
    """
    free = basis(table).free
    outside = beyond_adjacent(table, rounded, base)[free]
    multiple = multiples(table.value[free], base)[2] == 0
    return int((outside + 1 - (multiple & free_zeros)).max(initial=1))


def round_unbiased(table: Table, base: float, rng: np.random.Generator) -> Floats:
    """Return a zero-restricted rounding whose expectation is the table, of a one- or two-way table."""
    network = network_of(table)
    if network is None:
        raise InputError(
            "mode='unbiased_2d' needs a one- or two-way table with subtotals in at most one dimension"
        )
    model = model_of(table, base, secondary="none")
    return model.values(draw_unbiased_steps(model, network, rng))


def round_ground_naively(table: Table, base: float) -> dict[str, int]:
    """Return y of the tables whose ground cells are all rounded down, up, or to the nearest."""
    model = model_of(table, base, secondary="nearest")
    residual = model.residual[model.free]
    ways = {
        "down": np.zeros(len(residual), dtype=np.int64),
        "up": (residual > 0).astype(np.int64),
        "nearest": ((residual > 0) & (2 * residual >= base)).astype(np.int64),
    }
    return {name: model.furthest(model.spread(steps)) for name, steps in ways.items()}


def existence_interval(
    rounded: npt.ArrayLike,
    base: float,
    extra: int = 0,
    *,
    whole: bool = True,
    lower: npt.ArrayLike = 0.0,
) -> tuple[Floats, Floats]:
    """Return the values that a reader of a rounded cell cannot rule out.

    A cell that may move ``extra`` bases beyond its adjacent multiples lies less than (extra + 1) bases
    from the rounded value; for whole numbers that is at most (extra + 1) base - 1.
    """
    reach = (extra + 1) * base - (1.0 if whole else 0.0)
    z = np.asarray(rounded, dtype=np.float64)
    return np.maximum(z - reach, lower), z + reach


def count_protected_cells(table: Table, rounded: Floats, base: float, shift: int) -> dict[str, Any]:
    """Return how many unsafe cells have an existence interval that reaches their levels."""
    at = np.flatnonzero(table.primary)
    if not len(at):
        return {}
    whole = multiples(table.value, base)[3]
    low, high = existence_interval(rounded[at], base, shift - 1, whole=whole, lower=table.lower[at])
    value = table.value[at]
    down, up = levels_within_bounds(table, at)
    met = (low <= value - down + 1e-9 * base) & (high >= value + up - 1e-9 * base)
    return {"unsafe": len(at), "unsafe_with_wide_interval": int(met.sum())}


def summary(outcome: RoundingOutcome) -> dict[str, Any]:
    """Return what goes into the ledger about a solve."""
    finite = np.isfinite(outcome.objective_bound)
    return {
        "status": outcome.status,
        "y_bound": outcome.y_bound,
        "objective": outcome.objective,
        "objective_bound": outcome.objective_bound if finite else None,
        "strategy": outcome.strategy,
        "nodes": outcome.nodes,
        "moves": outcome.moves,
    }
