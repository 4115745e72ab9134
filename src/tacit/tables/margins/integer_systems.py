"""Systems of equations over whole numbers: propagation of bounds, and their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import Infeasible

Tick = Callable[[float], None]


def ignore_share(_share: float) -> None:
    """Ignore progress."""


#: Solver values are trusted this far before they are rounded; bounds are rounded outwards by it.
NEAR = 1e-5
#: Rounds of bound propagation; every round is valid by itself.
ROUNDS = 60


@dataclass(frozen=True)
class Portion:
    """Progress of one part, as a share of the whole."""

    tick: Tick
    start: float
    size: float

    def __call__(self, share: float) -> None:
        """Report the share done of the part."""
        self.tick(self.start + share * self.size)


def no_counts() -> dict[str, int]:
    """Return the counters of work, at zero."""
    return {"linear programs": 0, "integer programs": 0, "tables": 0}


@dataclass(frozen=True, eq=False)
class System:
    """matrix @ x = right, lower <= x <= upper, x whole.

    Attributes
    ----------
    matrix, right
        Equations with whole coefficients; rows may be redundant.
    lower, upper
        Bounds; ``upper`` may be infinite.
    start
        One solution, if one is known.
    """

    matrix: sparse.csr_array
    right: Floats
    lower: Floats
    upper: Floats
    start: Floats | None = None

    @classmethod
    def of(
        cls,
        matrix: sparse.csr_array,
        right: npt.ArrayLike,
        *,
        lower: npt.ArrayLike = 0.0,
        upper: npt.ArrayLike = np.inf,
        start: npt.ArrayLike | None = None,
    ) -> System:
        """Make a system; single numbers hold for every unknown."""
        n = matrix.shape[1]

        def full(value: npt.ArrayLike) -> Floats:
            return np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), (n,)))

        x = None if start is None else np.asarray(start, dtype=np.float64).ravel()
        return cls(
            sparse.csr_array(matrix),
            np.asarray(right, dtype=np.float64),
            full(lower),
            full(upper),
            x,
        )

    def has(self, x: Floats) -> bool:
        """Return True when x solves the system exactly."""
        inside = (x >= self.lower).all() and (x <= self.upper).all()
        return bool(inside and np.array_equal(self.matrix @ x, self.right))


def propagate(system: System, rounds: int = ROUNDS) -> tuple[Floats, Floats]:
    """Tighten bounds row by row until nothing moves; rows with coefficients of 1 and -1 only.

    The bounds stay valid for the linear relaxation. A row that cannot be met raises Infeasible.
    """
    lower, upper = system.lower.copy(), system.upper.copy()
    m = system.matrix.tocsr()
    odd = np.zeros(m.shape[0], dtype=bool)
    coo = m.tocoo()
    rows, columns, signs = coo.coords[0], coo.coords[1], coo.data
    odd[rows[np.abs(signs) != 1]] = True
    keep = ~odd[rows]
    rows, columns, positive = rows[keep], columns[keep], signs[keep] > 0
    right = system.right
    n_rows = m.shape[0]
    for _ in range(rounds):
        low_part = np.where(positive, lower[columns], -upper[columns])
        high_part = np.where(positive, upper[columns], -lower[columns])
        least = sum_other_terms(rows, low_part, n_rows)
        most = sum_other_terms(rows, high_part, n_rows)
        at_most, at_least = right[rows] - least, right[rows] - most
        new_upper = np.where(positive, at_most, -at_least)
        new_lower = np.where(positive, at_least, -at_most)
        up, low = upper.copy(), lower.copy()
        np.minimum.at(up, columns, new_upper)
        np.maximum.at(low, columns, new_lower)
        if (low > up + NEAR).any():
            raise Infeasible("no table of whole numbers has these margins")
        if np.array_equal(up, upper) and np.array_equal(low, lower):
            break
        lower, upper = low, up
    return lower, upper


def sum_other_terms(rows: Ints, parts: Floats, n_rows: int) -> Floats:
    """Return, for each term of a row, the sum of the row's other terms; infinite parts allowed."""
    finite = np.isfinite(parts)
    if finite.all():
        return np.bincount(rows, parts, n_rows)[rows] - parts
    sums = np.bincount(rows, np.where(finite, parts, 0.0), n_rows)
    endless = np.bincount(rows, ~finite, n_rows)
    sign = np.sign(parts[~finite][0])
    open_others = endless[rows] - ~finite
    return np.where(open_others > 0, sign * np.inf, sums[rows] - np.where(finite, parts, 0.0))


def require_fixed_rows(system: System, base: Floats, fixed: Flags) -> None:
    """Refuse a system of which a row without unknowns does not hold."""
    m = system.matrix
    loose = np.asarray(m.astype(bool) @ (~fixed).astype(np.int64)) == 0
    if not np.array_equal((m @ base)[loose], system.right[loose]):
        raise Infeasible("no table of whole numbers has these margins")


def components(matrix: sparse.csr_array, free: Flags) -> Iterator[tuple[Ints, Ints]]:
    """Yield the rows and columns of each part of the system that hangs together."""
    columns = np.flatnonzero(free)
    if not len(columns):
        return
    part = sparse.csr_array(sparse.csc_array(matrix)[:, columns])
    rows = np.flatnonzero(np.diff(part.indptr))
    part = part[rows]
    m, n = part.shape
    graph = sparse.block_array([[None, part], [part.T, None]], format="csr") if m else None
    labels = np.arange(n) if graph is None else connected_components(graph, directed=False)[1]
    of_rows, of_columns = (labels[:m], labels[m:]) if m else (labels[:0], labels)
    by_column = np.argsort(of_columns, kind="stable")
    by_row = np.argsort(of_rows, kind="stable")
    for label in np.unique(of_columns):
        a, b = np.searchsorted(of_columns[by_column], [label, label + 1])
        c, d = np.searchsorted(of_rows[by_row], [label, label + 1])
        yield rows[np.sort(by_row[c:d])], columns[np.sort(by_column[a:b])]
