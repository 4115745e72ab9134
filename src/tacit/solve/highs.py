"""HiGHS: a program that is changed and solved again from where it stood.

One thread per program, set before the first solve: changing HiGHS' ``threads`` later makes runs fail
without a word. Several programs may be solved in several processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.errors import SolverError
from tacit.events import Stop, never, never_interrupted, stop_for
from tacit.solve.model import LinearModel, Solution, State, broadcast_number
from tacit.time_limits import limit_reached

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


class Highs:
    """A program held by HiGHS; presolving is off for linear ones, so that each solve starts from the last basis."""

    def __init__(
        self,
        model: LinearModel | None = None,
        *,
        presolve: bool | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.highs = highspy.Highs()  # type: ignore[no-untyped-call]
        self._should_stop: Stop | None = None
        self.is_integer = model is not None and model.integer is not None
        self.option("output_flag", False)
        self.option("threads", 1)
        use = self.is_integer if presolve is None else presolve
        self.option("presolve", "on" if use else "off")
        for name, value in (options or {}).items():
            self.option(name, value)
        if model is not None:
            self.load(model)

    def load(self, model: LinearModel) -> None:
        """Hold another program; the options stay."""
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = model.shape
        lp.col_cost_ = model.cost
        lp.col_lower_, lp.col_upper_ = model.lower, model.upper
        lp.row_lower_, lp.row_upper_ = model.row_lower, model.row_upper
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = model.start
        lp.a_matrix_.index_ = model.index
        lp.a_matrix_.value_ = model.value
        self.is_integer = model.integer is not None
        if model.integer is not None:
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            lp.integrality_ = [kinds[flag] for flag in model.integer.tolist()]
        if model.maximise:
            lp.sense_ = highspy.ObjSense.kMaximize
        self._must(self.highs.passModel(lp), "the model was not accepted")

    # -- changing ------------------------------------------------------------------------------

    def option(self, name: str, value: Any) -> None:
        """Set an option of HiGHS."""
        self._must(self.highs.setOptionValue(name, value), f"no option {name!r}")

    def set_sense(self, *, maximise: bool) -> None:
        """Turn to minimising or maximising."""
        sense = highspy.ObjSense.kMaximize if maximise else highspy.ObjSense.kMinimize
        self.highs.changeObjectiveSense(sense)

    def set_costs(self, columns: npt.ArrayLike, costs: npt.ArrayLike) -> None:
        """Change the costs of some columns."""
        at = np.atleast_1d(np.asarray(columns, dtype=np.int32))
        self.highs.changeColsCost(len(at), at, broadcast_number(costs, len(at)))

    def set_bounds(
        self, columns: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
    ) -> None:
        """Change the bounds of some columns."""
        at = np.atleast_1d(np.asarray(columns, dtype=np.int32))
        self.highs.changeColsBounds(
            len(at), at, broadcast_number(lower, len(at)), broadcast_number(upper, len(at))
        )

    def add_row(
        self, columns: npt.ArrayLike, values: npt.ArrayLike, lower: float, upper: float = np.inf
    ) -> None:
        """Add one row."""
        at = np.asarray(columns, dtype=np.int32)
        self.highs.addRow(lower, upper, len(at), at, np.asarray(values, dtype=np.float64))

    def add_columns(
        self, costs: Floats, start: npt.ArrayLike, index: npt.ArrayLike, value: npt.ArrayLike
    ) -> None:
        """Add columns from 0 upwards; the entries of column j begin at ``start[j]``."""
        n, entries = len(costs), np.asarray(value, dtype=np.float64).reshape(-1)
        at, rows = (np.asarray(v, dtype=np.int32).reshape(-1) for v in (start, index))
        lower, upper = np.zeros(n), np.full(n, highspy.kHighsInf)
        self.highs.addCols(n, costs, lower, upper, len(entries), at, rows, entries)

    # -- where a solve begins ------------------------------------------------------------------

    def start_from(self, x: Floats) -> None:
        """Give an integer program a first point."""
        solution = highspy.HighsSolution()
        solution.col_value = list(map(float, x))
        self.highs.setSolution(solution)

    def basis(self) -> Any:
        """Return the basis of the last solve."""
        return self.highs.getBasis()

    def restore(self, basis: Any) -> None:
        """Begin the next solve with a basis."""
        self.highs.setBasis(basis)

    def forget(self) -> None:
        """Begin the next solve with nothing."""
        self.highs.clearSolver()

    # -- solving -------------------------------------------------------------------------------

    @never_interrupted
    def solve(
        self,
        *,
        time_limit: float | None = None,
        gap: float | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> Solution:
        """Solve from the last basis or the given start; see :class:`~tacit.solve.model.Solver`."""
        # HiGHS counts time over all runs of one program.
        spent = self.highs.getRunTime()
        self.option(
            "time_limit", float("inf") if time_limit is None else spent + max(0.05, time_limit)
        )
        if gap is not None:
            self.option("mip_rel_gap", gap)
        self._listen(stop_for(should_stop))
        if self.highs.run() == highspy.HighsStatus.kError:
            raise SolverError("the solver failed on the model")
        return self.solution()

    @never_interrupted
    def attempt(self) -> bool:
        """Solve once; return whether that ended in an optimum, whatever else may have come of it."""
        self._listen(stop_for(None))
        self.highs.run()
        return bool(self.highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    def values(self) -> Floats:
        """Return the last point as it stands."""
        return np.array(self.highs.getSolution().col_value, dtype=np.float64)

    def duals(self) -> Floats | None:
        """Return the last duals of the rows as they stand, if any."""
        found = self.highs.getSolution()
        return np.array(found.row_dual, dtype=np.float64) if found.dual_valid else None

    def objective(self) -> float:
        """Return the objective at the last point."""
        return float(self.highs.getObjectiveValue())

    def solution(self) -> Solution:
        """Return the last answer."""
        highs = self.highs
        status = highs.getModelStatus()
        if status not in _STATES:
            raise SolverError(f"the solver ended with status {highs.modelStatusToString(status)!r}")
        if status == highspy.HighsModelStatus.kTimeLimit:
            limit_reached()
        state, info = _STATES[status], highs.getInfo()
        bound = float(info.mip_dual_bound) if self.is_integer else -float("inf")
        nodes = max(0, int(info.mip_node_count)) if self.is_integer else 0
        if state in ("infeasible", "unbounded") or info.primal_solution_status != 2:
            return Solution(state, float("inf"), bound, None, nodes=nodes)
        found = highs.getSolution()
        x = np.asarray(found.col_value, dtype=np.float64)
        value = float(info.objective_function_value)
        if self.is_integer:
            return Solution(state, value, bound, x, nodes=nodes)
        return Solution(
            state,
            value,
            value if state == "optimal" else bound,
            x,
            np.asarray(found.col_dual, dtype=np.float64),
            np.asarray(found.row_dual, dtype=np.float64),
        )

    def _listen(self, should_stop: Stop | None) -> None:
        """Have the solver ask from now on; what it calls must not be interrupted otherwise."""
        listens = self._should_stop is not None
        self._should_stop = should_stop or (never if listens else None)
        if listens or should_stop is None:
            return
        last = [time.monotonic()]

        def ask(event: Any) -> None:
            if time.monotonic() - last[0] > 0.1:
                last[0] = time.monotonic()
                if self._should_stop is not None and self._should_stop():
                    event.interrupt()

        self.highs.cbMipInterrupt.subscribe(ask)
        self.highs.cbSimplexInterrupt.subscribe(ask)

    def _must(self, status: Any, message: str) -> None:
        if status == highspy.HighsStatus.kError:
            raise SolverError(message)
