"""Lp: a sparse linear or integer program that is changed and solved again from where it stood.

One thread a model, set before the first solve: changing HiGHS' ``threads`` later makes runs fail
without a word. Several models may be solved in several processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import highspy
import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.errors import SolverError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
State = Literal["optimal", "infeasible", "unbounded", "limit", "stopped"]

_STATES: dict[Any, State] = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnbounded: "unbounded",
    highspy.HighsModelStatus.kUnboundedOrInfeasible: "infeasible",
    highspy.HighsModelStatus.kTimeLimit: "limit",
    highspy.HighsModelStatus.kIterationLimit: "limit",
    highspy.HighsModelStatus.kSolutionLimit: "limit",
    highspy.HighsModelStatus.kObjectiveBound: "limit",
    highspy.HighsModelStatus.kObjectiveTarget: "limit",
    highspy.HighsModelStatus.kInterrupt: "stopped",
}


@dataclass(frozen=True, eq=False)
class Solution:
    """What the solver returned.

    Attributes
    ----------
    state
        ``optimal``; ``infeasible``; ``unbounded``; ``limit`` or ``stopped`` (then ``x`` is the best
        point found, or None).
    value, bound
        The objective at ``x``, and the best bound on the optimum.
    x
        The point.
    reduced
        Reduced costs of the columns (linear programs).
    duals
        Duals of the rows (linear programs).
    """

    state: State
    value: float
    bound: float
    x: Floats | None
    reduced: Floats | None = None
    duals: Floats | None = None

    @property
    def gap(self) -> float:
        """Return the relative distance of the value from its bound."""
        if self.x is None:
            return float("inf")
        return abs(self.value - self.bound) / max(1e-12, abs(self.value))


class Lp:
    """minimise c x subject to row_lower <= A x <= row_upper, lower <= x <= upper.

    Parameters
    ----------
    cost
        One number a column.
    matrix
        Rows x columns, sparse.
    row_lower, row_upper, lower, upper
        Bounds; single numbers hold for all; infinities are allowed.
    integer
        Which columns are whole numbers (a mask), if any.
    maximise
        Maximise instead.
    presolve
        Off by default for linear programs, so that each solve starts from the last basis.
    """

    def __init__(
        self,
        cost: npt.ArrayLike,
        matrix: sparse.sparray,
        row_lower: npt.ArrayLike,
        row_upper: npt.ArrayLike,
        lower: npt.ArrayLike = 0.0,
        upper: npt.ArrayLike = np.inf,
        *,
        integer: npt.NDArray[np.bool_] | None = None,
        maximise: bool = False,
        presolve: bool | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        rows, columns = matrix.shape
        self.n = columns
        self.is_integer = integer is not None and bool(np.any(integer))
        self.highs = highspy.Highs()  # type: ignore[no-untyped-call]
        self.option("output_flag", False)
        self.option("threads", 1)
        use = self.is_integer if presolve is None else presolve
        self.option("presolve", "on" if use else "off")
        for name, value in (options or {}).items():
            self.option(name, value)
        csc = sparse.csc_array(matrix)
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = columns, rows
        model.col_cost_ = full(cost, columns)
        model.col_lower_, model.col_upper_ = full(lower, columns), full(upper, columns)
        model.row_lower_, model.row_upper_ = full(row_lower, rows), full(row_upper, rows)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = csc.indptr.astype(np.int32)
        model.a_matrix_.index_ = csc.indices.astype(np.int32)
        model.a_matrix_.value_ = csc.data.astype(np.float64)
        if self.is_integer:
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            model.integrality_ = [kinds[int(flag)] for flag in np.asarray(integer)]
        if maximise:
            model.sense_ = highspy.ObjSense.kMaximize
        self.must(self.highs.passModel(model), "the model was not accepted")

    # -- changing ------------------------------------------------------------------------------

    def option(self, name: str, value: Any) -> None:
        """Set an option of HiGHS."""
        self.must(self.highs.setOptionValue(name, value), f"no option {name!r}")

    def set_sense(self, *, maximise: bool) -> None:
        """Turn to minimising or maximising."""
        sense = highspy.ObjSense.kMaximize if maximise else highspy.ObjSense.kMinimize
        self.highs.changeObjectiveSense(sense)

    def set_costs(self, columns: npt.ArrayLike, costs: npt.ArrayLike) -> None:
        """Change the costs of some columns."""
        at = np.atleast_1d(np.asarray(columns, dtype=np.int32))
        self.highs.changeColsCost(len(at), at, full(costs, len(at)))

    def set_bounds(
        self, columns: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
    ) -> None:
        """Change the bounds of some columns."""
        at = np.atleast_1d(np.asarray(columns, dtype=np.int32))
        self.highs.changeColsBounds(len(at), at, full(lower, len(at)), full(upper, len(at)))

    def set_row_bounds(self, row: int, lower: float, upper: float) -> None:
        """Change the bounds of one row."""
        self.highs.changeRowBounds(row, lower, upper)

    def add_row(
        self, columns: npt.ArrayLike, values: npt.ArrayLike, lower: float, upper: float = np.inf
    ) -> None:
        """Add one row."""
        at = np.asarray(columns, dtype=np.int32)
        self.highs.addRow(lower, upper, len(at), at, np.asarray(values, dtype=np.float64))

    def set_integer(self, columns: npt.ArrayLike, *, integer: bool = True) -> None:
        """Make columns whole numbers, or free them again."""
        at = np.atleast_1d(np.asarray(columns, dtype=np.int32))
        kind = highspy.HighsVarType.kInteger if integer else highspy.HighsVarType.kContinuous
        self.highs.changeColsIntegrality(
            len(at),
            at,
            np.full(len(at), kind.value if hasattr(kind, "value") else int(kind), dtype=np.uint8),
        )
        self.is_integer = integer
        self.option("presolve", "on" if integer else "off")

    def start_from(self, x: Floats) -> None:
        """Give an integer program a first point."""
        solution = highspy.HighsSolution()
        solution.col_value = list(map(float, x))
        self.highs.setSolution(solution)

    # -- solving -------------------------------------------------------------------------------

    def solve(
        self,
        *,
        time_limit: float | None = None,
        gap: float | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> Solution:
        """Solve from the last basis or the given start.

        Parameters
        ----------
        time_limit
            Seconds for this solve.
        gap
            Relative gap at which an integer program may stop.
        should_stop
            Asked now and then; when it returns True the best point so far comes back.
        """
        highs = self.highs
        # HiGHS counts time over all runs of one model.
        spent = highs.getRunTime()
        self.option(
            "time_limit", float("inf") if time_limit is None else spent + max(0.05, time_limit)
        )
        if gap is not None:
            self.option("mip_rel_gap", gap)
        if should_stop is not None:
            self._listen(should_stop)
        if highs.run() == highspy.HighsStatus.kError:
            raise SolverError("the solver failed on the model")
        return self.solution()

    def solution(self) -> Solution:
        """Return the last answer."""
        highs = self.highs
        status = highs.getModelStatus()
        if status not in _STATES:
            raise SolverError(f"the solver ended with status {highs.modelStatusToString(status)!r}")
        state = _STATES[status]
        info = highs.getInfo()
        feasible = info.primal_solution_status == 2
        if state in ("infeasible", "unbounded") or not feasible:
            inf = float("inf")
            bound = float(info.mip_dual_bound) if self.is_integer else -inf
            return Solution(state, inf, bound, None)
        found = highs.getSolution()
        x = np.asarray(found.col_value, dtype=np.float64)
        value = float(info.objective_function_value)
        if self.is_integer:
            return Solution(state, value, float(info.mip_dual_bound), x)
        bound = value if state == "optimal" else -float("inf")
        return Solution(
            state,
            value,
            bound,
            x,
            np.asarray(found.col_dual, dtype=np.float64),
            np.asarray(found.row_dual, dtype=np.float64),
        )

    def _listen(self, should_stop: Callable[[], bool]) -> None:
        last = [time.monotonic()]

        def ask(event: Any) -> None:
            if time.monotonic() - last[0] > 0.1:
                last[0] = time.monotonic()
                if should_stop():
                    event.interrupt()

        self.highs.cbMipInterrupt.subscribe(ask)
        self.highs.cbSimplexInterrupt.subscribe(ask)

    def must(self, status: Any, message: str) -> None:
        """Raise when HiGHS refused a call."""
        if status == highspy.HighsStatus.kError:
            raise SolverError(message)


def full(value: npt.ArrayLike, n: int) -> Floats:
    """Return one number a place."""
    return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype=np.float64), (n,)))
