"""Deviations on the grid of a table's own values: a value between its points would mark every cell that was changed."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats
from tacit.data.table import Table
from tacit.errors import LimitReached
from tacit.solve.highs import Highs
from tacit.solve.model import LinearModel
from tacit.tables.adjust.programs import Adjustment, Clock, Point

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
        steps = np.rint(in_steps(values, decimals))
        # Sums of decimals differ from them in the last bits.
        if (np.abs(from_steps(steps, decimals) - values) <= LAST_BITS * np.abs(values)).all():
            return decimals
    return None


def in_steps(values: Floats, decimals: int) -> Floats:
    """Return values in units of their last decimal."""
    power = 10.0 ** abs(decimals)
    return np.asarray(values * power if decimals >= 0 else values / power)


def from_steps(steps: Floats, decimals: int) -> Floats:
    """Return the numbers nearest to steps of the last decimal."""
    power = 10.0 ** abs(decimals)
    return np.asarray(steps / power if decimals >= 0 else steps * power)


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
