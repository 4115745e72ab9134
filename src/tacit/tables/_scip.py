"""Exact suppression by branch and cut with lazy cuts, on SCIP through PySCIPOpt (an extra)."""

from __future__ import annotations

import functools
import importlib.util
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tacit.tables._benders import Search


@functools.cache
def available() -> bool:
    """Return True when PySCIPOpt is installed."""
    return importlib.util.find_spec("pyscipopt") is not None


def branch_and_cut(search: Search) -> None:
    """Finish a search whose root phase is done; bound and best pattern are kept in it."""
    import pyscipopt
    from pyscipopt import SCIP_PARAMSETTING, SCIP_RESULT

    sep = search.separator
    n = len(sep.free)
    model = pyscipopt.Model()
    model.hideOutput()
    model.setPresolve(SCIP_PARAMSETTING.OFF)
    for name, value in {
        "misc/usesymmetry": 0,
        "limits/time": max(0.1, search.left),
        "limits/gap": search.gap,
        "timing/clocktype": 2,
        "estimation/restarts/restartpolicy": "n",
        "presolving/maxrestarts": 0,
    }.items():
        model.setParam(name, value)
    x = [
        model.addVar(f"x{i}", "B", lb=float(search.into[i]), ub=float(not search.out[i]), obj=sep.cost[i])
        for i in range(n)
    ]
    if (sep.cost == np.round(sep.cost)).all():
        model.setObjIntegral()
    for cut in search.cuts:
        model.addCons(pyscipopt.quicksum(v * x[i] for i, v in zip(cut.columns, cut.values)) >= 1)
    for cell, others in search.bridges:
        model.addCons(pyscipopt.quicksum(x[i] for i in others) - x[cell] >= 0)

    def solution_of(pattern: Any) -> Any:
        made = model.createSol()
        for i, v in enumerate(sep.point(pattern)):
            model.setSolVal(made, x[i], v)
        return made

    class Safe(pyscipopt.Conshdlr):
        """Asks the attacker for every candidate."""

        turns = 0

        def values(self, solution: Any = None) -> Any:
            return np.array([self.model.getSolVal(solution, v) for v in x])

        def add(self, cuts: Any) -> bool:
            for cut in cuts:
                row = self.model.createEmptyRowUnspec("cut", 1.0, None, local=False, removable=False)
                self.model.cacheRowExtensions(row)
                for i, v in zip(cut.columns.tolist(), cut.values.tolist(), strict=True):
                    self.model.addVarToRow(row, x[i], v)
                self.model.flushRowExtensions(row)
                wrong = self.model.addCut(row, forcecut=True)
                self.model.releaseRow(row)
                if wrong:
                    return True
            return False

        def stopping(self) -> bool:
            if search.asked():
                self.model.interruptSolve()
                return True
            return False

        def conscheck(self, constraints: Any, solution: Any, *rest: Any, **more: Any) -> Any:
            point = np.round(self.values(solution))
            if sep.integral(point, most=1):
                return {"result": SCIP_RESULT.INFEASIBLE}
            search.offer(sep.pattern(point))
            return {"result": SCIP_RESULT.FEASIBLE}

        def enforce(self) -> Any:
            point = np.round(self.values())
            cuts = sep.integral(point)
            if not cuts:
                search.offer(sep.pattern(point))
                return {"result": SCIP_RESULT.FEASIBLE}
            self.mend(point)
            if self.add(cuts):
                return {"result": SCIP_RESULT.CUTOFF}
            return {"result": SCIP_RESULT.SEPARATED}

        def mend(self, point: Any) -> None:
            """Make some of the unsafe candidates safe and hand them back."""
            self.turns += 1
            if self.turns & (self.turns - 1) and self.turns % 16:
                return
            if search.mend(point):
                self.model.trySol(solution_of(search.best))

        def consenfolp(self, *rest: Any, **more: Any) -> Any:
            return self.enforce()

        def consenfops(self, *rest: Any, **more: Any) -> Any:
            return {"result": SCIP_RESULT.SOLVELP}

        def conssepalp(self, *rest: Any, **more: Any) -> Any:
            if self.stopping():
                return {"result": SCIP_RESULT.DIDNOTRUN}
            cuts = sep.fractional(self.values(), stop=search.stop)
            if not cuts:
                return {"result": SCIP_RESULT.DIDNOTFIND}
            if self.add(cuts):
                return {"result": SCIP_RESULT.CUTOFF}
            return {"result": SCIP_RESULT.SEPARATED}

        def conslock(self, constraint: Any, locktype: Any, nlockspos: int, nlocksneg: int) -> None:
            for v in x:
                self.model.addVarLocksType(v, locktype, nlockspos, nlocksneg)

    handler = Safe()
    model.includeConshdlr(
        handler,
        "safe",
        "every need is met",
        sepapriority=1,
        enfopriority=-10,
        chckpriority=-10,
        sepafreq=0,
        eagerfreq=-1,
        needscons=False,
    )
    model.addSol(solution_of(search.best))
    model.optimize()
    status = model.getStatus()
    if status in ("optimal", "infeasible", "gaplimit"):
        # With cells fixed by reduced costs, infeasible means that nothing is cheaper than the best.
        bound = search.price if status != "gaplimit" else model.getDualbound()
        search.bound = max(search.bound, min(bound, search.price))
    else:
        bound = model.getDualbound()
        if math.isfinite(bound) and abs(bound) < 1e19:
            search.bound = max(search.bound, min(bound, search.price))
