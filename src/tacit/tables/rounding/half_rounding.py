"""Controlled rounding at random: as near to fair coins as additivity allows, or unbiased."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import sparse

from tacit.arrays import Floats
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import Infeasible
from tacit.numerics.algebra import eigh
from tacit.numerics.kernels import Kernels
from tacit.registry import register
from tacit.solve import Highs, LinearModel
from tacit.spec import Method, Where
from tacit.tables.adjust.claims import additive_claim, claim_on

#: A scaled value this close to a whole number is one.
NEAR = 1e-9


@register
class HalfRounding(Method[Table]):
    """Additive random rounding: fair coins where the totals allow them, or unbiased in every cell.

    Every cell goes to an adjacent multiple of the base, multiples stay, and all relations hold. With
    ``target="closest"`` the probabilities of going up are those nearest to 1/2 that any mixture of
    controlled roundings can have (a linear program), reached exactly; with ``target="sequential"`` cells
    are sent up or down one after the other as Cox and Kim (2006) describe; with ``target="unbiased"`` the
    expectation of every cell is its value.

    The theorem of the paper, that every cell can have probability 1/2, holds only when the point of
    halves is additive: in a row 1, 1, 3 with total 5 and base 5, exactly one cell goes up, so the three
    probabilities add up to 1 and not to 1.5. ``history[-1].details`` says whether halves were possible.

    References
    ----------
    Cox and Kim (2006), Effects of rounding on the quality and confidentiality of statistical data,
    PSD 2006, LNCS 4302, 48-56. Cox (1987), A constructive procedure for unbiased controlled rounding,
    JASA 82, 520-524.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["half_rounding"] = "half_rounding"
    base: Annotated[float, Field(gt=0)] = Field(default=5, description="the base")
    target: Literal["closest", "sequential", "unbiased"] = Field(
        default="closest", description="what the probabilities of going up are to be"
    )

    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("rounding",)

    def _apply(self, table: Table, ctx: Context) -> Table:
        t, low, high = scale_to_bases(table.value, self.base)
        if self.target == "sequential":
            rounded = sequential_halves(table, self.base, ctx)
        else:
            point = closest_halves(table, self.base) if self.target == "closest" else t
            rounded = walk(table, point, ctx.rng)
        open_cells = low < high
        ctx.note(
            cells_moved=int(open_cells.sum()),
            up=int((rounded > t)[open_cells].sum()),
            halves_possible=halves_possible(table, self.base),
        )
        return table.with_changed(rounded * self.base)

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        del table
        yield additive_claim(result)
        yield claim_on(result, "adjacent-multiples", {"base": self.base})


def scale_to_bases(values: Floats, base: float) -> tuple[Floats, Floats, Floats]:
    """Return values in bases with the whole numbers around them."""
    t = values / base
    near = np.rint(t)
    t = np.where(np.abs(t - near) < NEAR * np.maximum(1.0, np.abs(t)), near, t)
    return t, np.floor(t), np.ceil(t)


def walk(table: Table, point: Floats, rng: np.random.Generator) -> Floats:
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
        up, down = steps(t[open_cells], direction), steps(t[open_cells], -direction)
        go = up if rng.random() < down / (up + down) else -down
        t[open_cells] += go * direction
    raise Infeasible("the walk did not end; use controlled_rounding")


def steps(t: Floats, direction: Floats) -> float:
    """Return how far one can go before a cell reaches a whole number."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(direction > 0, (np.ceil(t) - t) / direction, (np.floor(t) - t) / direction)
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
    KERNELS.pick(2 * len(y) * y.size)["cancel_along"](y, rng.random(y.size), NEAR)
    return np.rint(y * sign).ravel()


def is_open(value: float, near: float) -> bool:
    """Return True for an entry that is not whole yet."""
    return abs(value - np.rint(value)) > near


def shift(y: Floats, i: int, j: int, by: float, near: float) -> None:
    """Add to an entry; one that is nearly whole becomes so."""
    y[i, j] += by
    if not is_open(y[i, j], near):
        y[i, j] = np.rint(y[i, j])


def cancel_rectangles(y: Floats, draws: Floats, near: float) -> int:
    """Shift along rectangles of two rows; return how many draws were used."""
    m, n = y.shape
    used = 0
    for one in range(m - 1):
        for two in range(one + 1, m):
            last = -1
            left = 0
            for j in range(n):
                if not is_open(y[one, j], near):
                    continue
                left += 1
                if not is_open(y[two, j], near):
                    continue
                if last < 0:
                    last = j
                    continue
                a, b, c, d = y[one, last], y[one, j], y[two, last], y[two, j]
                forth = min(np.ceil(a) - a, b - np.floor(b), c - np.floor(c), np.ceil(d) - d)
                back = min(a - np.floor(a), np.ceil(b) - b, np.ceil(c) - c, d - np.floor(d))
                go = forth if draws[used % len(draws)] < back / (forth + back) else -back
                used += 1
                shift(y, one, last, go, near)
                shift(y, one, j, -go, near)
                shift(y, two, last, -go, near)
                shift(y, two, j, go, near)
                if not (is_open(y[one, last], near) and is_open(y[two, last], near)):
                    both = is_open(y[one, j], near) and is_open(y[two, j], near)
                    last = j if both else -1
            if left == 0:
                break
    return used


def cancel_along(y: Floats, draws: Floats, near: float) -> None:
    """Shift along rectangles of two rows first, which are short and leave little, then along longer cycles."""
    m, n = y.shape
    used = cancel_rectangles(y, draws, near)
    # Nodes: rows are 0 .. m-1, columns m .. m+n-1; of each, its first open entry.
    first = np.zeros(m + n, dtype=np.int64)
    path = np.empty(m + n + 2, dtype=np.int64)
    place = np.full(m + n, -1, dtype=np.int64)
    for start in range(m):
        length = 1
        path[0] = start
        place[start] = 0
        while length > 0:
            node = path[length - 1]
            came = path[length - 2] if length > 1 else -1
            is_row = node < m
            size = n if is_row else m
            base = m if is_row else 0
            k = first[node]
            while k < size and not is_open(y[node, k] if is_row else y[k, node - m], near):
                k += 1
            first[node] = k
            while k < size and (
                base + k == came or not is_open(y[node, k] if is_row else y[k, node - m], near)
            ):
                k += 1
            if k == size:
                place[node] = -1
                length -= 1
                continue
            following = base + k
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
                rise, fall = np.ceil(y[i, j]) - y[i, j], y[i, j] - np.floor(y[i, j])
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
                shift(y, i, j, go if k % 2 == 0 else -go, near)
            for k in range(begin + 1, length):
                place[path[k]] = -1
            length = begin + 1


KERNELS = Kernels(globals(), is_open, shift, cancel_rectangles, cancel_along)


def sequential_halves(table: Table, base: float, ctx: Context) -> Floats:
    """Send open cells up or down with probability 1/2, one after the other, in random order.

    A cell that the earlier ones have decided is not free any more: its probability is not 1/2, which
    is why the theorem of Cox and Kim (2006) does not hold for every table.
    """
    _, low, high = scale_to_bases(table.value, base)
    lp = Highs(LinearModel.of(0.0, sparse.csc_array(table.equations), 0.0, 0.0, low, high))
    cells = np.flatnonzero(low < high)
    ctx.rng.shuffle(cells)
    for k, cell in enumerate(cells):
        ctx.tick("rounding", k / len(cells))
        ends = []
        for maximise in (False, True):
            lp.set_sense(maximise=maximise)
            lp.set_costs([cell], 1.0)
            found = lp.solve()
            if found.x is None:
                raise make_infeasible_error()
            ends.append(float(found.x[cell]))
        lp.set_costs([cell], 0.0)
        least, most = ends
        choice = high[cell] if ctx.rng.random() < 0.5 else low[cell]
        fixed = min(max(choice, np.rint(least)), np.rint(most))
        lp.set_bounds([cell], fixed, fixed)
    last = lp.solve()
    if last.x is None or (np.abs(last.x - np.rint(last.x)) > 1e-6).any():
        raise make_infeasible_error()
    return np.rint(last.x)


def closest_halves(table: Table, base: float) -> Floats:
    """Return the point of the polytope that is closest, in sum, to one half above the floor.

    The sum runs over the ground cells that are not multiples; totals follow from them.
    """
    _, low, high = scale_to_bases(table.value, base)
    n = len(low)
    counted = (low < high) & table.ground
    m = sparse.csc_array(table.equations)
    k = int(counted.sum())
    # |t - middle| <= e for the counted cells.
    pick = sparse.eye_array(n, format="csr")[np.flatnonzero(counted)]
    one = sparse.eye_array(k, format="csr")
    blocks = sparse.block_array([[m, None], [pick, one], [-pick, one]], format="csc")
    middle = low[counted] + 0.5
    lp = Highs(
        LinearModel.of(
            np.r_[np.zeros(n), np.ones(k)],
            blocks,
            np.r_[np.zeros(m.shape[0]), middle, -middle],
            np.r_[np.zeros(m.shape[0]), np.full(2 * k, np.inf)],
            np.r_[low, np.zeros(k)],
            np.r_[high, np.full(k, 0.5)],
        )
    )
    found = lp.solve()
    if found.x is None:
        raise make_infeasible_error()
    return np.asarray(found.x[:n])


def make_infeasible_error() -> Infeasible:
    """Return the error for a table that no controlled rounding leaves near its values."""
    return Infeasible("there is no controlled rounding to adjacent multiples of this table")


def halves_possible(table: Table, base: float) -> bool:
    """Return True when every ground cell that is no multiple can go up with probability exactly 1/2.

    A mixture of controlled roundings with these probabilities exists, in a network table, exactly when
    the point of halves is in the polytope of additive tables between the adjacent multiples.
    """
    _, low, high = scale_to_bases(table.value, base)
    half = closest_halves(table, base)
    counted = (low < high) & table.ground
    return bool((np.abs(half[counted] - low[counted] - 0.5) < 1e-9).all())
