"""n-fold integer programming for long tables: Graver bases, uniqueness and optimisation layer by layer.

A table of m1 x ... x n with a long last side is a row of n layers x^1, ..., x^n. Margins that sum over
the long side say A1 (x^1 + ... + x^n) = b0; the others say A2 x^k = b^k for each layer. Every minimal
change (Graver element) of such a table is made of at most g elements of the Graver basis of A2, where
the *Graver complexity* g does not depend on n. Partial sums of such a change, taken layer after layer,
never stray more than g/2 elements from zero, so that a walk over few states finds all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError, LimitReached
from tacit.tables.margins.margins import Axis, Support, margin_rows

#: Changes of one layer that are listed before the method gives up.
MOST_MOVES = 10_000
#: States of the walk before the method gives up.
MOST_STATES = 400_000
#: Elements in the completion of a Graver basis before it gives up.
MOST_ELEMENTS = 20_000


def nfold_matrix(a1: npt.ArrayLike, a2: npt.ArrayLike, n: int) -> sparse.csr_array:
    """Return the n-fold matrix: A1 repeated in the top row of blocks, A2 along the diagonal."""
    one, two = np.atleast_2d(np.asarray(a1)), np.atleast_2d(np.asarray(a2))
    if one.shape[1] != two.shape[1]:
        raise InputError("A1 and A2 must have equally many columns, one a cell of a layer")
    top = sparse.kron(np.ones((1, n), dtype=np.int64), sparse.csr_array(one))
    side = sparse.kron(sparse.eye_array(n, dtype=np.int64), sparse.csr_array(two))
    return sparse.csr_array(sparse.vstack([top, side], format="csr"))


# -- Graver bases --------------------------------------------------------------------------------------


def kernel_lattice(matrix: npt.ArrayLike) -> Ints:
    """Return a basis of all whole-number vectors that a whole-number matrix sends to zero, as rows."""
    a = [[int(v) for v in row] for row in np.atleast_2d(np.asarray(matrix))]
    n = len(a[0])
    columns = [[row[j] for row in a] for j in range(n)]
    units = [[int(i == j) for i in range(n)] for j in range(n)]
    start = 0
    for r in range(len(a)):
        # Euclid on the r-th entries of the remaining columns.
        while True:
            live = [j for j in range(start, n) if columns[j][r]]
            if len(live) <= 1:
                break
            pivot = min(live, key=lambda j: abs(columns[j][r]))
            for j in live:
                if j != pivot:
                    q = columns[j][r] // columns[pivot][r]
                    columns[j] = [
                        u - q * v for u, v in zip(columns[j], columns[pivot], strict=True)
                    ]
                    units[j] = [u - q * v for u, v in zip(units[j], units[pivot], strict=True)]
        if live:
            columns[start], columns[live[0]] = columns[live[0]], columns[start]
            units[start], units[live[0]] = units[live[0]], units[start]
            start += 1
    return np.array(units[start:], dtype=np.int64).reshape(-1, n)


def graver_basis(matrix: npt.ArrayLike, *, most: int = MOST_ELEMENTS) -> Ints:
    """Return the Graver basis of a whole-number matrix by Pottier's completion, both signs, as rows.

    These are the kernel vectors that are no sign-compatible sum of two others. Only for small
    matrices: the basis grows very fast.

    Raises
    ------
    LimitReached
        When more than ``most`` vectors turn up.
    """
    basis = kernel_lattice(matrix)
    n = np.atleast_2d(np.asarray(matrix)).shape[1]
    found = Shelf(n)
    for v in basis:
        found.put(v)
    i = 0
    while i < len(found):
        f = found.rows[i]
        # Sums with every earlier vector, and with its negative.
        for j in range(i):
            for g in (found.rows[j], -found.rows[j]):
                rest = found.reduce(f + g)
                if rest.any():
                    found.put(rest)
                    if len(found) > most:
                        raise LimitReached(
                            f"the Graver basis has more than {most:,} vectors; use engine='mip'"
                        )
        i += 1
    return found.minimal()


class Shelf:
    """Vectors up to sign, with reduction by sign-compatible smaller ones."""

    def __init__(self, n: int) -> None:
        self._rows = np.zeros((64, n), dtype=np.int64)
        self._size = 0
        self._plus = np.zeros((128, 2 * n), dtype=np.int64)

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> Ints:
        """Return the vectors, one of each pair of signs."""
        return self._rows[: self._size]

    def put(self, v: Ints) -> None:
        """Add a vector."""
        if self._size == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._plus = np.concatenate([self._plus, np.zeros_like(self._plus)])
        k = self._size
        self._rows[k] = v
        for i, w in ((2 * k, v), (2 * k + 1, -v)):
            self._plus[i] = np.concatenate([np.maximum(w, 0), np.maximum(-w, 0)])
        self._size += 1

    def reduce(self, v: Ints) -> Ints:
        """Subtract vectors that fit into v with its signs until none does."""
        n = len(v)
        rest = v.copy()
        while rest.any():
            parts = np.concatenate([np.maximum(rest, 0), np.maximum(-rest, 0)])
            fits = (self._plus[: 2 * self._size] <= parts).all(axis=1)
            if not fits.any():
                break
            w = self._plus[int(np.argmax(fits))]
            rest = rest - (w[:n] - w[n:])
        return rest

    def minimal(self) -> Ints:
        """Return the vectors, both signs, that no other one fits into."""
        plus = self._plus[: 2 * self._size]
        n = plus.shape[1] // 2
        keep = [i for i in range(len(plus)) if (plus <= plus[i]).all(axis=1).sum() == 1]
        signed = plus[keep, :n] - plus[keep, n:]
        return signed[np.lexsort(signed.T[::-1])] if len(signed) else signed.reshape(0, n)


def graver_complexity(a1: npt.ArrayLike, a2: npt.ArrayLike, *, most: int = 600) -> int | None:
    """Return the Graver complexity of a pair of matrices, or None when it is out of reach.

    The largest 1-norm in the Graver basis of A1 G, where the columns of G are the Graver basis of A2.
    For the line sums of 3 x 3 x n tables the value 9 is that of Santos and Sturmfels (2003); other
    values are computed, which is possible for very small layers only.
    """
    one = np.atleast_2d(np.asarray(a1, dtype=np.int64))
    try:
        both = graver_basis(a2, most=200)
    except LimitReached:
        return None
    half = both[[i for i, v in enumerate(both) if tuple(v) > tuple(-v)]]
    if not len(half):
        return 2
    if is_three_by_three(one, np.atleast_2d(np.asarray(a2, dtype=np.int64))):
        return 9
    images = one @ half.T
    if images.shape[1] - np.linalg.matrix_rank(images) > 6:
        return None
    try:
        circuits = graver_basis(images, most=most)
    except LimitReached:
        return None
    return max(2, int(np.abs(circuits).sum(axis=1).max(initial=0)))


def is_three_by_three(a1: Ints, a2: Ints) -> bool:
    """Return True for the matrices of the line sums of 3 x 3 x n tables."""
    rows = np.kron(np.eye(3, dtype=np.int64), np.ones((1, 3), dtype=np.int64))
    columns = np.kron(np.ones((1, 3), dtype=np.int64), np.eye(3, dtype=np.int64))
    wanted = np.vstack([rows, columns])
    return np.array_equal(a1, np.eye(9, dtype=np.int64)) and np.array_equal(
        np.unique(a2, axis=0), np.unique(wanted, axis=0)
    )


# -- long tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Long:
    """A long table: its layers and the two matrices."""

    a1: Ints  # of sums over the layers
    a2: Ints  # of sums within one
    layers: Ints  # layers x cells of a layer
    lower: Floats  # bounds in the same shape
    upper: Floats

    @classmethod
    def of(
        cls,
        table: npt.ArrayLike,
        a1: npt.ArrayLike,
        a2: npt.ArrayLike,
        *,
        lower: npt.ArrayLike = 0.0,
        upper: npt.ArrayLike = np.inf,
    ) -> Long:
        """Make one from layers (layers x cells)."""
        x = np.asarray(table, dtype=np.int64)
        one, two = np.atleast_2d(np.asarray(a1)), np.atleast_2d(np.asarray(a2))
        if x.ndim != 2 or not x.shape[1] == one.shape[1] == two.shape[1]:
            raise InputError("the layers, A1 and A2 must have equally many columns")
        return cls(
            one.astype(np.int64),
            two.astype(np.int64),
            x,
            np.broadcast_to(np.asarray(lower, dtype=np.float64), x.shape),
            np.broadcast_to(np.asarray(upper, dtype=np.float64), x.shape),
        )


def layer_matrices(
    axes: Sequence[Axis], families: Sequence[Support], long_axis: int
) -> tuple[Ints, Ints]:
    """Return A1 and A2 of a family of margins for layers along one axis."""
    if not axes[long_axis].is_flat:
        raise InputError(
            f"the groups of {axes[long_axis].name!r} are published: it cannot be the long axis of an "
            "n-fold program; use engine='mip'"
        )
    short = [a for i, a in enumerate(axes) if i != long_axis]

    def rows(supports: Sequence[Support]) -> Ints:
        blocks = [
            margin_rows(short, tuple(i - (i > long_axis) for i in f if i != long_axis)).toarray()
            for f in supports
        ]
        cells = int(np.prod([a.size for a in short]))
        stacked = np.vstack([np.zeros((0, cells)), *blocks]).astype(np.int64)
        # With no sums at all every vector is allowed.
        return stacked if len(stacked) else np.zeros((1, cells), dtype=np.int64)

    across = rows([f for f in families if long_axis not in f])
    return across, rows([f for f in families if long_axis in f])


class Walk:
    """The walk over the layers of a long table: which sums can be reached, and which undone.

    ``complexity`` is the Graver complexity of its matrices, or an upper bound of it; ``graver`` the Graver basis of A2, computed
    if it is not given.
    """

    def __init__(self, table: Long, complexity: int, graver: Ints | None = None) -> None:
        self.table, self.complexity = table, complexity
        #: Changes are taken this many times at once.
        self.scale = 1
        self.graver = graver_basis(table.a2) if graver is None else graver
        self.states, self.index = ball(self.graver @ table.a1.T, complexity // 2)
        self._shifts: dict[bytes, tuple[Ints, Ints]] = {}
        self._moves: dict[bytes, Ints] = {}
        self.zero = self.index[bytes_of(np.zeros(table.a1.shape[0], dtype=np.int64))]
        self.negative = np.array([self.index[bytes_of(-s)] for s in self.states])

    def moves(self, k: int) -> Ints:
        """Return the changes of layer k: sums of Graver elements of equal signs within its bounds."""
        x = self.table.layers[k]
        reach = float(np.abs(self.graver).max(initial=0) * self.complexity * self.scale)
        down = np.minimum(x - self.table.lower[k], reach).astype(np.int64) // self.scale
        up = np.minimum(self.table.upper[k] - x, reach).astype(np.int64) // self.scale
        key = bytes_of(np.concatenate([down, up]))
        if key not in self._moves:
            self._moves[key] = layer_moves(self.graver, down, up, self.complexity - 1)
        return self._moves[key]

    def shift(self, v: Ints) -> tuple[Ints, Ints]:
        """Return the states from which the sum v leads to a state, and where it leads."""
        key = bytes_of(v)
        if key not in self._shifts:
            ends = [self.index.get(bytes_of(s), -1) for s in self.states + v]
            to = np.array(ends, dtype=np.int64)
            source = np.flatnonzero(to >= 0)
            self._shifts[key] = (source, to[source])
        return self._shifts[key]

    def images(self, k: int) -> Ints:
        """Return A1 times the changes of layer k."""
        return self.moves(k) @ self.table.a1.T

    def sweep(self, order: Sequence[int]) -> list[Flags]:
        """Return which states the layers before each place in the order can reach."""
        now = np.zeros(len(self.states), dtype=bool)
        now[self.zero] = True
        reached = [now]
        for k in order:
            after = now.copy()
            for v in self.images(k):
                source, to = self.shift(v)
                after[to] |= now[source]
            reached.append(after)
            now = after
        return reached

    # -- uniqueness ------------------------------------------------------------------------------

    def possible_changes(self) -> list[Ints]:
        """Return, for each layer, the changes that the other layers can undo."""
        n = len(self.table.layers)
        live = [k for k in range(n) if len(self.moves(k))]
        forward = self.sweep(live)
        backward = self.sweep(live[::-1])[::-1]
        found = [np.zeros((0, self.table.layers.shape[1]), dtype=np.int64)] * n
        for i, k in enumerate(live):
            moves = self.moves(k)
            back = backward[i + 1][self.negative]
            keep = np.zeros(len(moves), dtype=bool)
            for m, v in enumerate(self.images(k)):
                source, to = self.shift(v)
                keep[m] = bool((forward[i][source] & back[to]).any())
            found[k] = moves[keep]
        return found

    def unique(self) -> Flags:
        """Return which entries (layers x cells) take one value in all tables with the same margins."""
        changed = [m.any(axis=0) for m in self.possible_changes()]
        return ~np.array(changed, dtype=bool).reshape(self.table.layers.shape)

    # -- optimisation ----------------------------------------------------------------------------

    def best_change(self, cost: Floats) -> Ints | None:
        """Return the change of the whole table that lowers a linear cost most, None if none does."""
        n, t = self.table.layers.shape
        live = [k for k in range(n) if len(self.moves(k))]
        value = np.full(len(self.states), np.inf)
        value[self.zero] = 0.0
        choices = []
        for k in live:
            after, choice = value.copy(), np.full(len(value), -1, dtype=np.int64)
            prices = self.moves(k) @ cost[k]
            for m, v in enumerate(self.images(k)):
                source, to = self.shift(v)
                price = value[source] + prices[m]
                better = price < after[to] - 1e-9
                after[to[better]] = price[better]
                choice[to[better]] = m
            choices.append(choice)
            value = after
        if not value[self.zero] < -1e-9:
            return None
        change = np.zeros((n, t), dtype=np.int64)
        state = self.states[self.zero]
        for k, choice in zip(live[::-1], choices[::-1], strict=True):
            m = choice[self.index[bytes_of(state)]]
            if m >= 0:
                change[k] = self.moves(k)[m]
                state = state - self.images(k)[m]
        return change


def nfold_optimise(
    table: Long,
    cost: npt.ArrayLike,
    complexity: int,
    *,
    maximise: bool = False,
    walk: Walk | None = None,
) -> Ints:
    """Return a table with the same margins of least (or largest) linear cost, by Graver augmentation.

    From the given table, the best change is added, taken a power of two times where that fits, until
    no change improves; with the true complexity the result is a proven optimum.

    Parameters
    ----------
    table
        The table to start from.
    cost
        Layers x cells.
    complexity
        The Graver complexity, or an upper bound of it.
    walk
        A walk over a table with the same matrices and bounds, whose lists are used again.
    """
    walk = Walk(table, complexity) if walk is None else walk
    price = np.asarray(cost, dtype=np.float64).reshape(table.layers.shape)
    price = -price if maximise else price
    scale = 1 << max(0, int(table.layers.max(initial=1)).bit_length() - 1)
    while scale:
        walk.table, walk.scale = table, scale
        change = walk.best_change(price)
        while change is not None:
            table = replace(table, layers=table.layers + scale * change)
            walk.table = table
            change = walk.best_change(price)
        scale //= 2
    return table.layers


def layer_moves(graver: Ints, down: Ints, up: Ints, parts: int) -> Ints:
    """Return the sums of at most this many Graver elements of equal signs within -down and up."""
    inside = graver[((graver >= -down) & (graver <= up)).all(axis=1)]
    seen: dict[bytes, Ints] = {}
    front = list(inside)
    for v in front:
        seen[bytes_of(v)] = v
    for _ in range(parts - 1):
        following = []
        for z in front:
            fits = inside[
                (inside * z >= 0).all(axis=1)
                & (inside + z >= -down).all(axis=1)
                & (inside + z <= up).all(axis=1)
            ]
            for w in fits + z:
                key = bytes_of(w)
                if key not in seen:
                    seen[key] = w
                    following.append(w)
            if len(seen) > MOST_MOVES:
                raise LimitReached(
                    f"a layer of the table has more than {MOST_MOVES:,} changes; use engine='mip'"
                )
        front = following
        if not front:
            break
    return np.array(list(seen.values()), dtype=np.int64).reshape(-1, graver.shape[1])


def ball(images: Ints, radius: int) -> tuple[Ints, dict[bytes, int]]:
    """Return all sums of at most this many images, and the place of each."""
    steps = np.unique(images, axis=0)
    index = {bytes_of(np.zeros(images.shape[1], dtype=np.int64)): 0}
    points = [np.zeros(images.shape[1], dtype=np.int64)]
    front = list(points)
    for _ in range(radius):
        following = []
        for s, v in itertools.product(front, steps):
            w = s + v
            key = bytes_of(w)
            if key not in index:
                index[key] = len(points)
                points.append(w)
                following.append(w)
        if len(points) > MOST_STATES:
            raise LimitReached(
                f"the walk over the layers has more than {MOST_STATES:,} states; use engine='mip'"
            )
        front = following
    return np.array(points), index


def bytes_of(v: Ints) -> bytes:
    """Return a vector as a key."""
    return np.ascontiguousarray(v, dtype=np.int64).tobytes()
