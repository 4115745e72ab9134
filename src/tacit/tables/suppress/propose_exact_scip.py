"""Exact suppression by branch and cut with lazy cuts, on SCIP through PySCIPOpt (an extra)."""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tacit.data.cells.status import Flags
    from tacit.tables.suppress.propose_exact import Cut, Search

Floats = npt.NDArray[np.float64]


@functools.cache
def available() -> bool:
    """Return True when PySCIPOpt is installed."""
    return importlib.util.find_spec("pyscipopt") is not None


def branch_and_cut(search: Search) -> None:
    """Finish a search whose root phase is done; bound and best pattern are kept in it."""
    model, x = master(search)
    desk = Desk(search, model, x)
    include(desk)
    model.addSol(desk.solution(search.best))
    model.optimize()
    status = model.getStatus()
    if status in ("optimal", "infeasible"):
        # With cells fixed by reduced costs, infeasible means that nothing is cheaper than the best.
        search.bound = search.price
        return
    bound = float(model.getDualbound())
    if math.isfinite(bound) and abs(bound) < 1e19:
        search.bound = max(search.bound, min(bound, search.price))


def master(search: Search) -> tuple[Any, list[Any]]:
    """Return the master problem with the cuts of the root phase, and its variables.

    Presolving and symmetry are off: they would act on the cuts that are known so far only.
    """
    import pyscipopt

    sep = search.separator
    model = pyscipopt.Model()
    model.hideOutput()
    options = {
        "presolving/maxrounds": 0,
        "presolving/maxrestarts": 0,
        "estimation/restarts/restartpolicy": "n",
        "misc/usesymmetry": 0,
        "misc/catchctrlc": False,
        "timing/clocktype": 2,
        "limits/time": max(0.1, search.left),
        "limits/gap": search.gap,
    }
    for name, value in options.items():
        model.setParam(name, value)
    least, most = search.into.astype(float), 1.0 - search.out
    x = [
        model.addVar(f"x{i}", "B", lb=float(least[i]), ub=float(most[i]), obj=float(cost))
        for i, cost in enumerate(sep.cost)
    ]
    if (sep.cost == np.round(sep.cost)).all():
        model.setObjIntegral()
    for cut in search.cuts:
        terms = zip(cut.columns.tolist(), cut.values.tolist(), strict=True)
        model.addCons(pyscipopt.quicksum(v * x[i] for i, v in terms) >= 1)
    for cell, others in search.bridges:
        model.addCons(pyscipopt.quicksum(x[i] for i in others.tolist()) - x[cell] >= 0)
    return model, x


class Desk:
    """Where the solver's candidates are judged."""

    def __init__(self, search: Search, model: Any, x: Sequence[Any]) -> None:
        self.search, self.model, self.x = search, model, x
        self.turns = 0

    def values(self, solution: Any = None) -> Floats:
        """Return the solver's point."""
        return np.array([self.model.getSolVal(solution, v) for v in self.x])

    def solution(self, pattern: Flags) -> Any:
        """Return a pattern as a solution of the solver."""
        made = self.model.createSol()
        for v, value in zip(self.x, self.search.separator.point(pattern).tolist(), strict=True):
            self.model.setSolVal(made, v, value)
        return made

    def add(self, cuts: Sequence[Cut]) -> bool:
        """Add cuts for the whole tree; return True when they close the node."""
        for cut in cuts:
            row = self.model.createEmptyRowUnspec("cut", 1.0, None, local=False, removable=False)
            self.model.cacheRowExtensions(row)
            for i, v in zip(cut.columns.tolist(), cut.values.tolist(), strict=True):
                self.model.addVarToRow(row, self.x[i], v)
            self.model.flushRowExtensions(row)
            closed = self.model.addCut(row, forcecut=True)
            self.model.releaseRow(row)
            if closed:
                return True
        return False

    def is_safe(self, solution: Any) -> bool:
        """Return True when a candidate of the solver's heuristics is safe."""
        point = np.round(self.values(solution))
        if self.search.separator.integral(point, most=1):
            return False
        self.search.offer(self.search.separator.pattern(point))
        return True

    def judge(self) -> list[Cut]:
        """Return cuts against the point of a node that is whole; none when it is safe."""
        point = np.round(self.values())
        cuts = self.search.separator.integral(point)
        if not cuts:
            self.search.offer(self.search.separator.pattern(point))
        else:
            self.mend(point)
        return cuts

    def mend(self, point: Floats) -> None:
        """Make some of the unsafe candidates safe and hand them back."""
        self.turns += 1
        often = self.turns & (self.turns - 1) == 0 or self.turns % 16 == 0
        if often and self.search.mend(point):
            self.model.trySol(self.solution(self.search.best))

    def sharpen(self) -> list[Cut]:
        """Return cuts against the fractional point of a node."""
        if self.search.asked():
            self.model.interruptSolve()
            return []
        return self.search.separator.fractional(self.values(), stop=self.search.stop)


def include(desk: Desk) -> None:
    """Make the solver ask the desk."""
    import pyscipopt
    from pyscipopt.scip import PY_SCIP_RESULT as RESULT

    def answer(cuts: Sequence[Cut], otherwise: Any) -> dict[str, Any]:
        if not cuts:
            return {"result": otherwise}
        return {"result": RESULT.CUTOFF if desk.add(cuts) else RESULT.SEPARATED}

    class Safe(pyscipopt.Conshdlr):
        """The requirement that every need is met."""

        def conscheck(self, _constraints: Any, solution: Any, *_: Any) -> dict[str, Any]:
            return {"result": RESULT.FEASIBLE if desk.is_safe(solution) else RESULT.INFEASIBLE}

        def consenfolp(self, *_: Any) -> dict[str, Any]:
            if desk.search.asked():
                desk.model.interruptSolve()
            return answer(desk.judge(), RESULT.FEASIBLE)

        def consenfops(self, *_: Any) -> dict[str, Any]:
            return {"result": RESULT.SOLVELP}

        def conssepalp(self, *_: Any) -> dict[str, Any]:
            return answer(desk.sharpen(), RESULT.DIDNOTFIND)

        def conslock(self, _constraint: Any, kind: Any, positive: int, negative: int) -> None:
            # Publishing a cell (rounding down) may break the requirement; hiding one never does.
            for v in desk.x:
                desk.model.addVarLocksType(v, kind, positive, negative)

    desk.model.includeConshdlr(
        Safe(),
        "safe",
        "every need is met",
        sepapriority=1,
        enfopriority=-10,
        chckpriority=-10,
        # Fractional points are cut at the root only: below it, branching is cheaper.
        sepafreq=0,
        eagerfreq=-1,
        needscons=False,
    )
