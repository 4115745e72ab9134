"""A linear or integer program as plain arrays, what a solver returns, and what every solver can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats
from tacit.errors import SolverError

Ints = npt.NDArray[np.int32]
State = Literal["optimal", "infeasible", "unbounded", "limit", "stopped"]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """minimise (or maximise) c x subject to row_lower <= A x <= row_upper, lower <= x <= upper; infinities are allowed."""

    cost: Floats
    #: The entries of A by columns: those of column j are ``start[j]`` to ``start[j + 1]``.
    start: Ints
    index: Ints
    value: Floats
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    #: Which columns are whole numbers, if any.
    integer: Flags | None = None
    maximise: bool = False

    @classmethod
    def of(
        cls,
        cost: npt.ArrayLike,
        matrix: sparse.sparray,
        row_lower: npt.ArrayLike,
        row_upper: npt.ArrayLike,
        lower: npt.ArrayLike = 0.0,
        upper: npt.ArrayLike = np.inf,
        *,
        integer: Flags | None = None,
        maximise: bool = False,
    ) -> LinearModel:
        """Return a model over a sparse matrix (rows x columns); single numbers hold for all."""
        rows, columns = matrix.shape
        by_column = sparse.csc_array(matrix)
        return cls(
            broadcast_number(cost, columns),
            by_column.indptr.astype(np.int32),
            by_column.indices.astype(np.int32),
            by_column.data.astype(np.float64),
            broadcast_number(row_lower, rows),
            broadcast_number(row_upper, rows),
            broadcast_number(lower, columns),
            broadcast_number(upper, columns),
            integer if integer is not None and bool(np.any(integer)) else None,
            maximise,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""
        return len(self.row_lower), len(self.cost)

    @property
    def matrix(self) -> sparse.csc_array:
        """Return A."""
        return sparse.csc_array((self.value, self.index, self.start), shape=self.shape)


@dataclass(frozen=True, eq=False)
class Solution:
    """What the solver returned."""

    #: ``optimal``; ``infeasible``; ``unbounded``; ``limit`` or ``stopped`` (then ``x`` is the best
    #: point found, or None).
    state: State
    #: The objective at ``x``, and the best bound on the optimum.
    value: float
    bound: float
    #: The point.
    x: Floats | None
    #: Reduced costs of the columns (linear programs).
    reduced: Floats | None = None
    #: Duals of the rows (linear programs).
    duals: Floats | None = None
    #: Nodes of the search tree (integer programs).
    nodes: int = 0

    @property
    def point(self) -> Floats:
        """Return the point of a solution that has one."""
        if self.x is None:
            raise SolverError(f"the program ended without a point ({self.state})")
        return self.x

    @property
    def gap(self) -> float:
        """Return the relative distance of the value from its bound."""
        if self.x is None:
            return float("inf")
        return abs(self.value - self.bound) / max(1e-12, abs(self.value))


class Solver(Protocol):
    """A program that a solver holds."""

    def start_from(self, x: Floats) -> None:
        """Give an integer program a first point."""

    def solve(
        self,
        *,
        time_limit: float | None = None,
        gap: float | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> Solution:
        """Solve it, within so many seconds.

        An integer program may stop at a relative gap. ``should_stop`` is asked now and then; when it returns True the best
        point so far comes back.
        """
        ...


def broadcast_number(value: npt.ArrayLike, n: int) -> Floats:
    """Return one number per place."""
    return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype=np.float64), (n,)))
