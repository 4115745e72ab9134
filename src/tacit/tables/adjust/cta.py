"""Controlled tabular adjustment: safe values, and the search for signs.

With deviations z = published - value, every unsafe cell has z >= upper level or z <= - lower level, the
relations hold (A z = 0), and a norm of z is least. For given signs this is a linear program (absolute
deviations) or a quadratic one (squares). Prices r = A' pi of the relations bound what any reversal could
bring: by weak duality

    value after reversing s  >=  value - c_s(now) + c_s(reversed),   c_s(side) = min f_s(z) - r_s z on it,

so most reversals need not be tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim
from tacit.data.table import Table
from tacit.errors import Infeasible, LimitReached
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import ten_to
from tacit.solve import Highs, LinearModel
from tacit.tables.adjust.claims import additive_claim, claim_on
from tacit.tables.adjust.programs import (
    Absolute,
    Adjustment,
    Clock,
    Point,
    Program,
    Relaxation,
    Squares,
)
from tacit.tables.suppress.problem import tiny_range

#: A reversal must bring more than this share of the value.
GAIN = 1e-9
#: Open signs in a neighbourhood that is searched again.
NEIGHBOURS = 40


# -- safe values and claims ----------------------------------------------------------------------------


def needs(table: Table) -> tuple[Floats, Floats]:
    """Return how far each unsafe cell must move down or up; 0: not that way.

    A cell without levels needs its sliding level, or as little as counts as not deducible.
    """
    unsafe = table.primary
    down = np.where(unsafe, table.lower_level, 0.0)
    up = np.where(unsafe, table.upper_level, 0.0)
    bare = unsafe & (down <= 0) & (up <= 0)
    least = np.maximum(table.sliding_level, tiny_range(table, np.arange(len(table))))
    return np.where(bare, least, down), np.where(bare, least, up)


def safe_values(table: Table) -> tuple[Floats, Floats, Flags, Flags]:
    """Return the safe values below and above, and which of them respect the bounds.

    Infeasible names the unsafe cells that have none within theirs.
    """
    down, up = needs(table)
    low, high = table.value - down, table.value + up
    slack = 1e-9 * np.maximum(1.0, np.abs(table.value))
    can_fall = (down > 0) & (low >= table.lower - slack)
    can_rise = (up > 0) & (high <= table.upper + slack)
    stuck = np.flatnonzero(table.primary & ~can_fall & ~can_rise)
    if len(stuck):
        names = "; ".join(table.describe_cell(int(c)) for c in stuck[:10])
        raise Infeasible(
            f"{len(stuck):,} unsafe cells have no safe value within the bounds that outsiders know: {names}"
        )
    return np.maximum(low, table.lower), np.minimum(high, table.upper), can_fall, can_rise


def adjusted_claims(result: Table) -> Iterable[Claim]:
    """Return what an adjustment guarantees."""
    yield additive_claim(result)
    yield claim_on(
        result,
        "moved-far-enough",
        cells="all unsafe cells",
        assumptions=("outsiders do not know which cells were moved to which side",),
    )


def side_costs(a: Adjustment, prices: Floats, up: Flags, *, square: bool) -> Floats:
    """Return min f(z) - r z of the unsafe cells on the given side."""
    s = a.unsafe
    low, high = a.ranges(up)
    w, r = a.weight[s], prices[s]
    if square:
        z = np.clip(r / (2 * w), low, high)
        return np.asarray(w * z * z - r * z)
    near = np.where(up, low, high)
    far = np.where(up, high, low)
    slope = np.where(up, w - r, -(w + r))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(slope * np.sign(near) >= 0, slope * near, slope * far))


def search_nearby_signs(
    a: Adjustment, clock: Clock, best: Point, relaxation: Relaxation, program: Absolute
) -> Point:
    """Open the signs around one cell after another and dive again, as long as that helps."""
    own = abs(a.matrix[:, a.unsafe])
    tie = sparse.csr_array(dot(own.T, own))
    every = a.open
    relaxation.set_signs(every, best.up)
    tried = np.zeros(len(a.unsafe), dtype=bool)
    size = a.weight[a.unsafe] * np.maximum(a.up, a.down)
    while not clock.over() and not tried[every].all():
        left = every[~tried[every]]
        centre = left[np.argmax(size[left])]
        free = find_nearest_open(tie, int(centre), every)
        tried[centre] = True
        relaxation.open_signs(free)
        up, _ = relaxation.dive(free, best.up, clock, best.value * (1 - GAIN))
        point = None if up is None else program.solve(up, best.value * (1 - GAIN))
        if point is not None and point.value < best.value * (1 - GAIN):
            best = point
            tried[:] = False
            tried[centre] = True
        relaxation.set_signs(free, best.up)
    return best


def find_nearest_open(tie: sparse.csr_array, centre: int, every: Ints) -> Ints:
    """Return the open cells nearest to one, by steps from relation to relation."""
    seen = np.zeros(tie.shape[0])
    seen[centre] = 1.0
    ranked = np.array([centre])
    while len(ranked) < NEIGHBOURS:
        reach = np.asarray(dot(tie, seen))
        new = np.flatnonzero((reach > 0) & (seen == 0))
        if not len(new):
            break
        new = new[np.argsort(-reach[new], kind="stable")]
        ranked = np.concatenate([ranked, new])
        seen[new] = 1.0
    ranked = ranked[np.isin(ranked, every)]
    return np.asarray(ranked[:NEIGHBOURS])


# -- search ----------------------------------------------------------------------------------------------


def improve(program: Program, a: Adjustment, best: Point, clock: Clock) -> tuple[Point, int]:
    """Reverse single cells, most promising first, while that helps; return the point and the count."""
    flips = 0
    refused = np.zeros(len(a.unsafe), dtype=bool)
    while not clock.over():
        now = side_costs(a, best.prices, best.up, square=program.square)
        then = side_costs(a, best.prices, ~best.up, square=program.square)
        gain = np.full(len(now), -np.inf)
        gain[a.open] = (now - then)[a.open]
        gain[refused] = -np.inf
        cell = int(np.argmax(gain)) if len(gain) else -1
        if cell < 0 or not gain[cell] > GAIN * max(1.0, best.value):
            break
        up = best.up.copy()
        up[cell] = not up[cell]
        limit = best.value - GAIN * max(1.0, best.value)
        trial = program.solve(up, limit)
        if trial.value < limit:
            best, flips = trial, flips + 1
            refused[:] = False
        refused[cell] = True
    return best, flips


@dataclass(frozen=True, eq=False)
class Adjusted:
    """What was found: deviations of the columns, their norm, a bound on it, and how."""

    point: Point
    bound: float
    status: str
    facts: dict[str, Any]

    @classmethod
    def of(cls, best: Point, bound: float, gap: float, **facts: Any) -> Adjusted:
        """Return the best point with whether it is proven."""
        bound = min(bound, best.value)
        proven = best.value - bound <= max(gap * abs(best.value), 1e-9) * 1.01
        return cls(best, bound, "optimal" if proven else "feasible", facts)


def adjust_absolute(a: Adjustment, exact: bool, clock: Clock, gap: float) -> Adjusted | None:
    """Dive in the relaxation, reverse signs, dive again around single cells, then branch and bound."""
    relaxation, program = Relaxation(a), Absolute(a)
    start = np.where(a.can_fall & a.can_rise, a.up <= a.down, a.can_rise)
    up, bound = relaxation.dive(a.open, start, clock.part(0.5))
    if not np.isfinite(bound):
        return None
    best = program.solve(start if up is None else up)
    first, flips = best.value, 0
    if np.isfinite(first) and first > bound * (1 + gap):
        best, flips = improve(program, a, best, clock.part(0.2))
        best = search_nearby_signs(a, clock.part(0.2), best, relaxation, program)
    searched = best.value
    if not np.isfinite(searched) or (exact and searched > bound * (1 + gap)):
        up, proven, impossible = Relaxation(a, searched).branch(best, clock, gap)
        if impossible and not np.isfinite(searched):
            return None
        bound = max(bound, proven)
        if up is not None:
            found = program.solve(np.where(a.can_fall & a.can_rise, up, a.can_rise))
            if found.value < best.value:
                best, more = improve(program, a, found, clock)
                flips += more
    if not np.isfinite(best.value):
        return Adjusted(best, bound, "unknown", {})
    return Adjusted.of(best, bound, gap, first=first, after_flips=searched, flips=flips)


def adjust_squares(a: Adjustment, exact: bool, clock: Clock, gap: float) -> Adjusted | None:
    """Signs of the relaxation, reversals, then branch and bound with that relaxation."""
    program = Squares(a)
    k = len(a.unsafe)
    fixed = ~(a.can_fall & a.can_rise)
    up = np.where(fixed, a.can_rise, a.up <= a.down)
    bound, z, _, pi = program.relaxed(up, fixed, np.inf, program.pi)
    if not np.isfinite(bound):
        return fallback(a, program, clock)
    guess = np.where(fixed, up, z[a.unsafe] > (a.up - a.down) / 2)
    program.pi = pi
    best = program.solve(guess)
    first = best.value
    if not np.isfinite(first):
        other = fallback(a, program, clock.part(0.5))
        if other is None:
            return None
        best = other.point
    best, flips = improve(program, a, best, clock.part(0.5))
    searched = best.value
    if exact and k:
        found, bound = program.branch(best, clock, gap)
        if found is not None and found.value <= best.value:
            best = found
    return Adjusted.of(best, bound, gap, first=first, after_flips=searched, flips=flips)


def fallback(a: Adjustment, program: Squares, clock: Clock) -> Adjusted | None:
    """Take the signs of the least absolute deviations where the relaxation gives none."""
    linear = adjust_absolute(a, True, clock, 0.5)
    if linear is None:
        return None
    up, z = linear.point.up, linear.point.z
    point = program.solve(up)
    if not np.isfinite(point.value):
        point = Point(up, a.norm(z, square=True), z, np.zeros(a.n))
    return Adjusted(point, 0.0, "feasible", {})


def find_blocking_levels(a: Adjustment, seconds: float) -> Ints:
    """Return the places in ``unsafe`` of cells whose levels stand in the way, by an elastic program."""
    n, k, s = a.n, len(a.unsafe), a.unsafe
    m, reach = a.matrix.shape[0], a.far
    high, low = np.minimum(a.high, reach), np.maximum(a.low, -reach)
    # Columns: z, b, shortfall; low (1 - b) + up b - short <= z <= - down (1 - b) + high b + short.
    own, eye = a.picked, sparse.eye_array(k, format="csr")
    rows = sparse.block_array(
        [
            [a.matrix, None, None],
            [own, sparse.diags_array(low[s] - a.up), eye],
            [own, sparse.diags_array(-a.down - high[s]), -eye],
        ],
        format="csc",
    )
    found = Highs(
        LinearModel.of(
            np.r_[np.zeros(n + k), np.ones(k)],
            rows,
            np.r_[np.zeros(m), low[s], np.full(k, -np.inf)],
            np.r_[np.zeros(m), np.full(k, np.inf), -a.down],
            np.r_[low, np.where(a.can_fall, 0.0, 1.0), np.zeros(k)],
            np.r_[high, np.where(a.can_rise, 1.0, 0.0), np.full(k, np.inf)],
            integer=np.repeat([False, True, False], [n, k, k]),
        )
    ).solve(time_limit=seconds, gap=0.01)
    if found.x is None:
        return np.arange(k)
    return np.flatnonzero(found.x[n + k :] > 1e-6)


# -- deviations on the grid of a table's own values: others would mark the cells that were changed ---


#: Levels that are whole but for rounding errors are not rounded up once more.
ROUNDING = 1e-9
#: Decimals up to which values are taken to be rounded, and zeros at their end.
MOST_DECIMALS, MOST_ZEROS = 6, 6
#: Share of a value below which differences are those of floating-point sums.
LAST_BITS = 1e-13
#: Cells move by no more than this many times all levels together.
FAR = 100.0
#: Steps beyond which floats no longer tell them apart.
LARGEST = 2.0**52
#: The least time that is left for whole numbers, where the search has used up its own.
LEAST_SECONDS = 5.0


def find_decimals(table: Table) -> int | None:
    """Return the decimals of a table's values, negative where all end in zeros; None: more than can be told."""
    values = table.value[np.isfinite(table.value) & (table.value != 0)]
    if not len(values):
        return 0
    for decimals in range(-MOST_ZEROS, MOST_DECIMALS + 1):
        if (np.abs(values) * 10.0**decimals >= LARGEST).any():
            return None
        steps = np.rint(scale_steps(values, decimals))
        # Sums of decimals differ from them in the last bits.
        if (np.abs(scale_steps(steps, -decimals) - values) <= LAST_BITS * np.abs(values)).all():
            return decimals
    return None


def scale_steps(steps: Floats, exponent: Floats | int) -> Floats:
    """Return steps times powers of ten, without the errors of multiplying by 0.1."""
    power = ten_to(np.abs(exponent))
    return np.where(np.asarray(exponent) >= 0, steps * power, steps / power)


def whole_deviations(
    problem: Adjustment, point: Point, scale: float, cells: int, *, square: bool, clock: Clock
) -> Floats:
    """Return whole deviations of the first ``cells`` columns; ``scale`` is the unit of the problem in steps of the table.

    Levels are rounded up. Unsafe cells keep the directions of the point, and only where that is impossible are directions
    chosen anew. The norm is minimised anew, for squares the distance from the point. Where the problem is a network (two
    dimensions) this costs next to nothing.
    """
    z = np.where(np.isfinite(point.z), point.z, 0.0) * scale
    if np.abs(z[:cells] - np.rint(z[:cells])).max(initial=0.0) < 1e-7:
        return np.rint(z[:cells])
    centre = z if square else np.zeros(problem.n)
    for fixed in (point.up, None):
        found = solve_in_steps(problem, scale, cells, centre, fixed, clock)
        if found is not None:
            return found
    raise LimitReached(
        "no adjustment with the decimals of the table's own values was found, and others would mark the cells that were "
        "changed: keep fewer totals, widen bounds and capacities, raise time_limit, or set decimals='any'"
    )


def solve_in_steps(
    problem: Adjustment,
    scale: float,
    cells: int,
    centre: Floats,
    up: Flags | None,
    clock: Clock,
) -> Floats | None:
    """Return the whole deviations nearest to a centre, with given directions of unsafe cells or any."""
    n, m, s = problem.n, problem.matrix.shape[0], problem.unsafe
    k = len(s)
    rise, fall = round_up(problem.up * scale), round_up(problem.down * scale)
    is_cell = np.arange(n) < cells
    far = FAR * max(1.0, float(rise.sum() + fall.sum()))
    low, high = np.maximum(problem.low * scale, -far), np.minimum(problem.high * scale, far)
    low = np.where(is_cell, round_up(low), low)
    high = np.where(is_cell, -round_up(-high), high)
    can_rise, can_fall = problem.can_rise & (rise <= high[s]), problem.can_fall & (-fall >= low[s])
    if up is not None:
        can_rise, can_fall = can_rise & up, can_fall & ~up
    if (low > high).any() or not (can_rise | can_fall).all():
        return None
    eye, pick = sparse.eye_array(n), problem.picked
    rows = sparse.block_array(
        [
            [problem.matrix, None, None],
            [eye, -eye, None],
            [eye, eye, None],
            # A cell that goes up (1) has moved by its level, and one that goes down (0) as well.
            [pick, None, sparse.diags_array(low[s] - rise)],
            [pick, None, sparse.diags_array(-fall - high[s])],
        ],
        format="csr",
    )
    endless = np.full(n, np.inf)
    program = LinearModel.of(
        np.r_[np.zeros(n), problem.weight, np.zeros(k)],
        rows,
        np.r_[np.zeros(m), -endless, centre, low[s], np.full(k, -np.inf)],
        np.r_[np.zeros(m), centre, endless, np.full(k, np.inf), -fall],
        np.r_[low, np.zeros(n), ~can_fall],
        np.r_[high, endless, can_rise],
        integer=np.r_[is_cell, np.zeros(n, dtype=bool), np.ones(k, dtype=bool)],
    )
    found = Highs(program).solve(
        time_limit=max(LEAST_SECONDS, clock.left()), gap=1e-6, should_stop=clock.should_stop
    )
    return None if found.x is None else np.rint(found.x[:cells])


def round_up(steps: Floats) -> Floats:
    """Return steps rounded up, but for rounding errors."""
    return np.ceil(steps - ROUNDING * np.maximum(1, np.abs(steps)))
