"""SCIP through PySCIPOpt (an extra): integer programs, and branch and cut with cuts made on the way."""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from tacit.arrays import Floats
from tacit.events import never_interrupted, stop_for
from tacit.solve.model import LinearModel, Solution, State
from tacit.time_limits import limit_reached

_STATES: dict[str, State] = {
    "optimal": "optimal",
    "infeasible": "infeasible",
    "inforunbd": "infeasible",
    "unbounded": "unbounded",
    "userinterrupt": "stopped",
}
#: SCIP's infinity, and more.
_INFINITE = 1e19


@functools.cache
def has_scip() -> bool:
    """Return True when PySCIPOpt is installed."""
    return importlib.util.find_spec("pyscipopt") is not None


class Judge(Protocol):
    """What decides about points of a program whose rows are made on the way."""

    def accepts(self, x: Floats) -> bool:
        """Return True when a whole point meets the rows that are not there yet."""

    def cut_whole(self, x: Floats) -> Sequence[Any]:
        """Return cuts (``columns``, ``values``) against the whole point of a node; none if it is good."""

    def cut_fractional(self, x: Floats) -> Sequence[Any]:
        """Return cuts against the fractional point of a node."""

    def wants_to_stop(self) -> bool:
        """Return True to end the search."""

    def suggest(self) -> Floats | None:
        """Return a good point that the solver may not know, once."""


class Scip:
    """A program held by SCIP; options are its parameters."""

    def __init__(self, model: LinearModel, *, options: Mapping[str, Any] | None = None) -> None:
        import pyscipopt

        self.n = len(model.cost)
        self.scip = pyscipopt.Model()
        self.scip.hideOutput()
        self.scip.setParam("misc/catchctrlc", False)
        self.scip.setParam("timing/clocktype", 2)
        for name, value in (options or {}).items():
            self.scip.setParam(name, value)
        whole = np.zeros(self.n, dtype=bool) if model.integer is None else model.integer
        ends = zip(finite(model.lower), finite(model.upper), strict=True)
        kinds = np.where(whole, np.where((model.lower >= 0) & (model.upper <= 1), "B", "I"), "C")
        self.x = [
            self.scip.addVar(f"x{j}", str(kinds[j]), lb=low, ub=high, obj=cost)
            for j, ((low, high), cost) in enumerate(zip(ends, model.cost.tolist(), strict=True))
        ]
        if model.maximise:
            self.scip.setMaximize()
        if whole.all() and (model.cost == np.round(model.cost)).all():
            self.scip.setObjIntegral()
        self._add_rows(model)

    def _add_rows(self, model: LinearModel) -> None:
        import pyscipopt

        rows = model.matrix.tocsr()
        limits = zip(finite(model.row_lower), finite(model.row_upper), strict=True)
        for i, (low, high) in enumerate(limits):
            at = slice(rows.indptr[i], rows.indptr[i + 1])
            terms = zip(rows.indices[at].tolist(), rows.data[at].tolist(), strict=True)
            total = pyscipopt.quicksum(v * self.x[j] for j, v in terms)
            if low is not None and low == high:
                self.scip.addCons(total == low)
                continue
            if low is not None:
                self.scip.addCons(total >= low)
            if high is not None:
                self.scip.addCons(total <= high)

    def start_from(self, x: Floats) -> None:
        """Give the program a first point."""
        self.scip.addSol(self.point(x))

    def point(self, x: Floats) -> Any:
        """Return a point in SCIP's form."""
        made = self.scip.createSol()
        for v, value in zip(self.x, x.tolist(), strict=True):
            self.scip.setSolVal(made, v, value)
        return made

    def values(self, solution: Any = None) -> Floats:
        """Return the values of a point; of the present one by default."""
        return np.array([self.scip.getSolVal(solution, v) for v in self.x])

    @never_interrupted
    def solve(
        self,
        *,
        time_limit: float | None = None,
        gap: float | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> Solution:
        """Solve it; see :class:`~tacit.solve.model.Solver`."""
        if time_limit is not None:
            self.scip.setParam("limits/time", max(0.1, time_limit))
        if gap is not None:
            self.scip.setParam("limits/gap", gap)
        if (asked := stop_for(should_stop)) is not None:
            self._listen(asked)
        self.scip.optimize()
        if self.scip.getStatus() == "timelimit":
            limit_reached()
        state = _STATES.get(self.scip.getStatus(), "limit")
        bound = float(self.scip.getDualbound())
        bound = bound if abs(bound) < _INFINITE else math.copysign(math.inf, bound)
        nodes = int(self.scip.getNTotalNodes())
        if state in ("infeasible", "unbounded") or not self.scip.getNSols():
            return Solution(state, math.inf, bound, None, nodes=nodes)
        value = float(self.scip.getObjVal())
        return Solution(state, value, bound, self.values(self.scip.getBestSol()), nodes=nodes)

    def _listen(self, should_stop: Callable[[], bool]) -> None:
        import pyscipopt
        from pyscipopt.scip import PY_SCIP_EVENTTYPE as EVENTS

        scip = self.scip

        class Ask(pyscipopt.Eventhdlr):
            """Asks at every node."""

            def eventinit(self) -> None:
                scip.catchEvent(EVENTS.NODEFOCUSED, self)

            def eventexit(self) -> None:
                scip.dropEvent(EVENTS.NODEFOCUSED, self)

            def eventexec(self, _event: Any) -> None:
                if should_stop():
                    scip.interruptSolve()

        scip.includeEventhdlr(Ask(), "ask", "asks whether to stop")


class LazyScip(Scip):
    """A program with rows that are made when a point breaks them.

    Presolving and symmetry are off: they would act on the rows that are known so far only.
    """

    def __init__(self, model: LinearModel, judge: Judge) -> None:
        off = {
            "presolving/maxrounds": 0,
            "presolving/maxrestarts": 0,
            "estimation/restarts/restartpolicy": "n",
            "misc/usesymmetry": 0,
        }
        super().__init__(model, options=off)
        self.judge = judge
        self._include()

    def add_cuts(self, cuts: Sequence[Any]) -> bool:
        """Add cuts for the whole tree; return True when they close the node."""
        for cut in cuts:
            row = self.scip.createEmptyRowUnspec("cut", 1.0, None, local=False, removable=False)
            self.scip.cacheRowExtensions(row)
            for i, v in zip(cut.columns.tolist(), cut.values.tolist(), strict=True):
                self.scip.addVarToRow(row, self.x[i], v)
            self.scip.flushRowExtensions(row)
            closed = self.scip.addCut(row, forcecut=True)
            self.scip.releaseRow(row)
            if closed:
                return True
        return False

    def whole_cuts(self) -> Sequence[Any]:
        """Return cuts against the whole point of a node, and hand over what the judge suggests."""
        if self.judge.wants_to_stop():
            self.scip.interruptSolve()
        cuts = self.judge.cut_whole(np.round(self.values()))
        better = self.judge.suggest()
        if better is not None:
            self.scip.trySol(self.point(better))
        return cuts

    def fractional_cuts(self) -> Sequence[Any]:
        """Return cuts against the fractional point of a node."""
        if self.judge.wants_to_stop():
            self.scip.interruptSolve()
            return []
        return self.judge.cut_fractional(self.values())

    def _include(self) -> None:
        import pyscipopt
        from pyscipopt.scip import PY_SCIP_RESULT as RESULT

        lazy = self

        def answer(cuts: Sequence[Any], otherwise: Any) -> dict[str, Any]:
            if not cuts:
                return {"result": otherwise}
            return {"result": RESULT.CUTOFF if lazy.add_cuts(cuts) else RESULT.SEPARATED}

        class Missing(pyscipopt.Conshdlr):
            """The rows that are not there yet."""

            def conscheck(self, _constraints: Any, solution: Any, *_: Any) -> dict[str, Any]:
                good = lazy.judge.accepts(np.round(lazy.values(solution)))
                return {"result": RESULT.FEASIBLE if good else RESULT.INFEASIBLE}

            def consenfolp(self, *_: Any) -> dict[str, Any]:
                return answer(lazy.whole_cuts(), RESULT.FEASIBLE)

            def consenfops(self, *_: Any) -> dict[str, Any]:
                return {"result": RESULT.SOLVELP}

            def conssepalp(self, *_: Any) -> dict[str, Any]:
                return answer(lazy.fractional_cuts(), RESULT.DIDNOTFIND)

            def conslock(self, _constraint: Any, kind: Any, positive: int, negative: int) -> None:
                # Rounding down may break a missing row; rounding up never does.
                for v in lazy.x:
                    lazy.scip.addVarLocksType(v, kind, positive, negative)

        self.scip.includeConshdlr(
            Missing(),
            "missing",
            "rows made on the way",
            sepapriority=1,
            enfopriority=-10,
            chckpriority=-10,
            # Fractional points are cut at the root only: below it, branching is cheaper.
            sepafreq=0,
            eagerfreq=-1,
            needscons=False,
        )


def finite(limits: Floats) -> list[float | None]:
    """Return limits with None for infinite ones."""
    return [v if math.isfinite(v) else None for v in limits.tolist()]
