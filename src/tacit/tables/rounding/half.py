"""Random controlled rounding: walks inside the polytope of additive tables, and coin flips on it."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import Infeasible
from tacit.numerics.algebra import eigh
from tacit.numerics.kernels import Kernels
from tacit.solve import Highs, LinearModel

#: A scaled value this close to a whole number is one.
NEAR = 1e-9


def scale_to_bases(values: Floats, base: float) -> tuple[Floats, Floats, Floats]:
    """Return values in bases with the whole numbers around them."""
    t = values / base
    near = np.rint(t)
    t = np.where(np.abs(t - near) < NEAR * np.maximum(1.0, np.abs(t)), near, t)
    return t, np.floor(t), np.ceil(t)


def walk(
    table: Table, point: Floats, low: Floats, high: Floats, rng: np.random.Generator
) -> Floats:
    """Round a point of the polytope at random, so that the expectation of every cell is the point.

    Repeatedly a direction in the kernel of the relations, over the cells that are not whole yet, is
    followed one way or the other to the next whole number, with the probabilities that keep the
    expectation (Cox 1987). In a two-way table with at most one hierarchy the end is whole in every cell.
    """
    t = point.copy()
    if is_two_way(table):
        return two_way_walk(table, t, rng)
    m = sparse.csc_array(table.equations)
    for _ in range(len(t) + 1):
        open_cells = np.flatnonzero(np.abs(t - np.rint(t)) > NEAR)
        if not len(open_cells):
            return np.rint(t)
        direction = kernel_vector(m[:, open_cells])
        if direction is None:
            raise Infeasible("the walk ended at a table that is not whole; use controlled_rounding")
        up = steps(t[open_cells], direction, np.floor(t[open_cells]), np.ceil(t[open_cells]))
        down = steps(t[open_cells], -direction, np.floor(t[open_cells]), np.ceil(t[open_cells]))
        go = up if rng.random() < down / (up + down) else -down
        t[open_cells] += go * direction
    del low, high
    raise Infeasible("the walk did not end; use controlled_rounding")


def steps(t: Floats, direction: Floats, low: Floats, high: Floats) -> float:
    """Return how far one can go before a cell reaches a whole number."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(direction > 0, (high - t) / direction, (low - t) / direction)
    return float(room[np.abs(direction) > 1e-12].min())


def kernel_vector(matrix: sparse.csc_array) -> Floats | None:
    """Return a vector of the kernel with few entries, or None when there is none."""
    dense = matrix.toarray()
    values, vectors = eigh(dense.T @ dense)  # entries are whole numbers: the product is exact
    if not values.size or values[0] > 1e-9 * max(1.0, values[-1]):
        return None
    return vectors[:, 0]


def is_two_way(table: Table) -> bool:
    """Return True for a flat two-way table with its totals."""
    return (
        table.is_product
        and len(table.shape) == 2
        and all(d.is_flat and len(d.sums) == 1 for d in table.dimensions)
    )


def two_way_walk(table: Table, t: Floats, rng: np.random.Generator) -> Floats:
    """Walk along cycles of a two-way table; every cell, totals too, is an edge from row to column.

    With the sign of a total turned, the cells of every row and of every column add up to 0, so any
    node with one open edge has a second one, and a path that never turns back closes a cycle.
    """
    rows, columns = table.dimensions
    sign = np.ones(table.shape)
    sign[rows.total] *= -1
    sign[:, columns.total] *= -1
    y = (t.reshape(table.shape) * sign).copy()
    cancel_cycles(y, rng)
    return np.rint(y * sign).ravel()


def cancel_cycles(y: Floats, rng: np.random.Generator) -> None:
    """Make every entry whole by random shifts along alternating cycles, in place."""
    m, n = y.shape
    draws = rng.random(m * n)
    KERNELS.pick(2 * m * m * n)["cancel_along"](y, draws, NEAR)


def cancel_along(y: Floats, draws: Floats, near: float) -> None:
    """Shift along rectangles of two rows first, then along longer cycles."""
    m, n = y.shape
    used = 0
    # Rectangles of two rows first: they are short, and leave little for longer cycles.
    for one in range(m - 1):
        for two in range(one + 1, m):
            last = -1
            left = 0
            for j in range(n):
                if abs(y[one, j] - np.rint(y[one, j])) <= near:
                    continue
                left += 1
                if abs(y[two, j] - np.rint(y[two, j])) <= near:
                    continue
                if last < 0:
                    last = j
                    continue
                a, b, c, d = y[one, last], y[one, j], y[two, last], y[two, j]
                forth = min(np.ceil(a) - a, b - np.floor(b), c - np.floor(c), np.ceil(d) - d)
                back = min(a - np.floor(a), np.ceil(b) - b, np.ceil(c) - c, d - np.floor(d))
                go = forth if draws[used % len(draws)] < back / (forth + back) else -back
                used += 1
                y[one, last] += go
                y[one, j] -= go
                y[two, last] -= go
                y[two, j] += go
                for i in (one, two):
                    for k in (last, j):
                        if abs(y[i, k] - np.rint(y[i, k])) <= near:
                            y[i, k] = np.rint(y[i, k])
                open_last = (
                    abs(y[one, last] - np.rint(y[one, last])) > near
                    and abs(y[two, last] - np.rint(y[two, last])) > near
                )
                open_here = (
                    abs(y[one, j] - np.rint(y[one, j])) > near
                    and abs(y[two, j] - np.rint(y[two, j])) > near
                )
                if not open_last:
                    last = j if open_here else -1
            if left == 0:
                break
    first_in_row = np.zeros(m, dtype=np.int64)
    first_in_column = np.zeros(n, dtype=np.int64)
    path = np.empty(m + n + 2, dtype=np.int64)
    place = np.full(m + n, -1, dtype=np.int64)
    start = 0
    while start < m:
        # A path of nodes: rows are 0 .. m-1, columns m .. m+n-1.
        length = 1
        path[0] = start
        place[start] = 0
        while length > 0:
            node = path[length - 1]
            came = path[length - 2] if length > 1 else -1
            following = -1
            if node < m:
                j = first_in_row[node]
                while j < n and abs(y[node, j] - np.rint(y[node, j])) <= near:
                    j += 1
                first_in_row[node] = j
                while j < n and (j + m == came or abs(y[node, j] - np.rint(y[node, j])) <= near):
                    j += 1
                if j < n:
                    following = j + m
            else:
                c = node - m
                i = first_in_column[c]
                while i < m and abs(y[i, c] - np.rint(y[i, c])) <= near:
                    i += 1
                first_in_column[c] = i
                while i < m and (i == came or abs(y[i, c] - np.rint(y[i, c])) <= near):
                    i += 1
                if i < m:
                    following = i
            if following < 0:
                place[node] = -1
                length -= 1
                continue
            if place[following] < 0:
                path[length] = following
                place[following] = length
                length += 1
                continue
            # The path closes: nodes from place[following] to the end, and back.
            begin = place[following]
            size = length - begin
            forth, back = np.inf, np.inf
            for k in range(size):
                a = path[begin + k]
                b = path[begin + (k + 1) % size]
                i, j = (a, b - m) if a < m else (b, a - m)
                low, high = np.floor(y[i, j]), np.ceil(y[i, j])
                rise, fall = high - y[i, j], y[i, j] - low
                if k % 2 == 0:
                    forth, back = min(forth, rise), min(back, fall)
                else:
                    forth, back = min(forth, fall), min(back, rise)
            go = forth if draws[used % len(draws)] < back / (forth + back) else -back
            used += 1
            for k in range(size):
                a = path[begin + k]
                b = path[begin + (k + 1) % size]
                i, j = (a, b - m) if a < m else (b, a - m)
                y[i, j] += go if k % 2 == 0 else -go
                if abs(y[i, j] - np.rint(y[i, j])) <= near:
                    y[i, j] = np.rint(y[i, j])
            for k in range(begin + 1, length):
                place[path[k]] = -1
            length = begin + 1
        start += 1


KERNELS = Kernels(globals(), cancel_along)


def sequential_halves(table: Table, base: float, rng: np.random.Generator, ctx: Context) -> Floats:
    """Send open cells up or down with probability 1/2, one after the other, in random order.

    A cell that the earlier ones have decided is not free any more: its probability is not 1/2, which
    is why the theorem of Cox and Kim (2006) does not hold for every table.
    """
    t, low, high = scale_to_bases(table.value, base)
    lp = Highs(LinearModel.of(0.0, sparse.csc_array(table.equations), 0.0, 0.0, low, high))
    cells = np.flatnonzero(low < high)
    rng.shuffle(cells)
    for k, cell in enumerate(cells):
        ctx.tick("rounding", k / len(cells))
        ends = []
        for maximise in (False, True):
            lp.set_sense(maximise=maximise)
            lp.set_costs([cell], 1.0)
            found = lp.solve()
            if found.x is None:
                raise Infeasible(
                    "there is no controlled rounding to adjacent multiples of this table"
                )
            ends.append(float(found.x[cell]))
        lp.set_costs([cell], 0.0)
        least, most = ends
        choice = high[cell] if rng.random() < 0.5 else low[cell]
        fixed = min(max(choice, np.rint(least)), np.rint(most))
        lp.set_bounds([cell], fixed, fixed)
    last = lp.solve()
    del t
    if last.x is None or (np.abs(last.x - np.rint(last.x)) > 1e-6).any():
        raise Infeasible("there is no controlled rounding to adjacent multiples of this table")
    return np.rint(last.x)


def closest_halves(table: Table, base: float) -> Floats:
    """Return the point of the polytope that is closest, in sum, to one half above the floor.

    The sum runs over the ground cells that are not multiples; totals follow from them.
    """
    t, low, high = scale_to_bases(table.value, base)
    n = len(t)
    counted = (low < high) & table.ground
    m = sparse.csc_array(table.equations)
    k = int(counted.sum())
    # |t - middle| <= e for the counted cells.
    pick = sparse.eye_array(n, format="csr")[np.flatnonzero(counted)]
    one = sparse.eye_array(k, format="csr")
    blocks = sparse.block_array([[m, None], [pick, one], [-pick, one]], format="csc")
    middle = low[counted] + 0.5
    rows_low = np.concatenate([np.zeros(m.shape[0]), middle, -middle])
    rows_high = np.concatenate([np.zeros(m.shape[0]), np.full(2 * k, np.inf)])
    cost = np.concatenate([np.zeros(n), np.ones(k)])
    lp = Highs(
        LinearModel.of(
            cost,
            blocks,
            rows_low,
            rows_high,
            np.concatenate([low, np.zeros(k)]),
            np.concatenate([high, np.full(k, 0.5)]),
        )
    )
    found = lp.solve()
    if found.x is None:
        raise Infeasible("there is no controlled rounding to adjacent multiples of this table")
    return np.asarray(found.x[:n])


def halves_possible(table: Table, base: float) -> bool:
    """Return True when every ground cell that is no multiple can go up with probability exactly 1/2.

    A mixture of controlled roundings with these probabilities exists, in a network table, exactly when
    the point of halves is in the polytope of additive tables between the adjacent multiples.
    """
    _, low, high = scale_to_bases(table.value, base)
    half = closest_halves(table, base)
    counted = (low < high) & table.ground
    return bool((np.abs(half[counted] - low[counted] - 0.5) < 1e-9).all())
