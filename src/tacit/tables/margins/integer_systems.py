"""Systems of equations over whole numbers: propagation of bounds, and their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.data.cells.relations import components
from tacit.errors import Infeasible
from tacit.tables.attack.systems import tighten_bounds

Tick = Callable[[float], None]


#: Solver values are trusted this far before they are rounded; bounds are rounded outwards by it.
NEAR = 1e-5
#: Rounds of bound propagation; every round is valid by itself.
ROUNDS = 60


def portion_of(tick: Tick, start: float, size: float) -> Tick:
    """Return what reports the progress of one part, as a share of the whole."""
    return lambda share: tick(start + share * size)


def no_counts() -> dict[str, int]:
    """Return the counters of work, at zero."""
    return {"linear programs": 0, "integer programs": 0, "tables": 0}


@dataclass(frozen=True, eq=False)
class System:
    """matrix @ x = right, lower <= x <= upper, x whole."""

    matrix: sparse.csr_array  # equations with whole coefficients; rows may be redundant
    right: Floats
    lower: Floats
    upper: Floats  # may be infinite
    start: Floats | None = None  # one solution, if one is known

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


def propagate(system: System) -> tuple[Floats, Floats]:
    """Tighten bounds row by row until nothing moves; rows with coefficients of 1 and -1 only.

    The bounds stay valid for the linear relaxation. A row that cannot be met raises Infeasible.
    """
    m = system.matrix
    plain = np.ones(m.shape[0], dtype=bool)
    plain[m.tocoo().coords[0][np.abs(m.data) != 1]] = False
    lower, upper = tighten_bounds(
        m[plain], system.right[plain], system.lower, system.upper, ROUNDS, NEAR
    )
    if (lower > upper + NEAR).any():
        raise Infeasible("no table of whole numbers has these margins")
    return lower, upper


def require_fixed_rows(system: System, base: Floats, fixed: Flags) -> None:
    """Refuse a system of which a row without unknowns does not hold."""
    m = system.matrix
    loose = np.asarray(m.astype(bool) @ (~fixed).astype(np.int64)) == 0
    if not np.array_equal((m @ base)[loose], system.right[loose]):
        raise Infeasible("no table of whole numbers has these margins")


def split_system(matrix: sparse.csr_array, free: Flags) -> Iterator[tuple[Ints, Ints]]:
    """Yield the rows and columns of each part of the system that hangs together."""
    columns = np.flatnonzero(free)
    part = sparse.csr_array(sparse.csc_array(matrix)[:, columns])
    rows = np.flatnonzero(np.diff(part.indptr))
    part = part[rows]
    n, of_columns = components(part)
    of_rows = of_columns[part.indices[part.indptr[:-1]]]

    def grouped(labels: Ints) -> list[Ints]:
        order = np.argsort(labels, kind="stable")
        return np.split(order, np.searchsorted(labels[order], np.arange(1, n)))

    if n:
        for a, b in zip(grouped(of_rows), grouped(of_columns), strict=True):
            yield rows[a], columns[b]
