"""Anonymise: the best generalisation of whole columns for any list of protection models."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from tacit.arrays import Flags
from tacit.context import Context
from tacit.data.fingerprint import fingerprint
from tacit.data.microdata import Microdata
from tacit.engine.relational import drop_matching
from tacit.errors import Infeasible, InputError
from tacit.records.classes.anonymise.base import LatticeMethod, Weights
from tacit.records.classes.anonymise.evaluate import Task
from tacit.records.classes.anonymise.lattice import Lattice
from tacit.records.classes.anonymise.objectives import COUNTED, WORDS
from tacit.records.classes.anonymise.problem import Levels, Problem
from tacit.records.classes.anonymise.search import TIE, Found, Limits, gap_of, search_lattice
from tacit.registry import register
from tacit.treatment import OnHousehold


@register
class Anonymise(LatticeMethod):
    """Find the levels of all keys that lose least while every model holds, and release the records there.

    Each key is generalised as a whole to one level of its hierarchy (full-domain generalisation); records in
    classes that fail a model are suppressed, at most the share that is allowed. Among all choices of levels the
    one of least cost is searched for by branch and bound. Where the bound settles every node the optimum is
    *proven*; where the work is limited the gap to the bound is stated. Limits on the mean risk or on the share of records at
    risk are met with the fewest records suppressed; for other models that look at all released records together classes
    are suppressed step by step, and where others might do, the result is not said to be proven. Records that fail k-anonymity, k-map, a
    threshold on individual risk or distinct diversity at a node fail at all nodes below it, which the bound uses; other
    models do not have this property once records are suppressed, and take no part in it.

    Iyengar's loss of a cell is (leaves below its value - 1) / (leaves of its key - 1), 1 in a suppressed record,
    averaged over records and keys.

    References
    ----------
    Samarati (2001), Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 1010-1027.
    Iyengar (2002), Transforming data to satisfy privacy constraints, KDD, 279-288.
    Kohlmayer, Prasser, Eckert, Kemper, Kuhn (2012), Flash: efficient, stable and optimal k-anonymity,
    PASSAT, 708-717.
    """

    kind: Literal["anonymise"] = "anonymise"
    on_household = "by_value"
    takes_register: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    techniques: ClassVar[tuple[str, ...]] = ("generalise values", "suppression (tuple)")

    def treats_household(self, data: Microdata) -> OnHousehold:
        """Return that members of different classes get different values where keys are microaggregated."""
        return "apart" if self.microaggregate else super().treats_household(data)

    def search(
        self,
        data: Microdata,
        *,
        context: Context | None = None,
        top: int = 10,
        register: Microdata | None = None,
    ) -> Lattice:
        """Search the lattice without changing the data.

        Parameters
        ----------
        data
            The data, with keys and their hierarchies.
        context
            Progress and cancellation, given by a plan run.
        top
            How many of the best nodes are proven to be the best, not the first alone.
        register
            A population register, for models that count its members (k-map, delta-presence).

        Raises
        ------
        Infeasible
            When no node is safe.
        """
        self.check(data)
        ctx = context or Context.start(None)
        people = ctx.register if register is None else register
        task = self.pose(data, people)
        problem = task.problem
        if not problem.records:
            raise InputError("anonymise: there are no records.")

        def tick(share: float) -> None:
            ctx.tick("searching the lattice", share)

        found = search_lattice(task, Limits(self.effort * 1e6, self.seconds), top, tick)
        return self.report(task, found)

    def report(self, task: Task, found: Found) -> Lattice:
        """Return what was found, or say that nothing is safe."""
        best = found.incumbent
        least = found.least
        proven = math.isinf(least) and least > 0
        if best is None:
            judged = math.isinf(found.bound) and found.bound > 0
            how = "within the work allowed"
            if proven:
                how = "at any choice of levels"
            elif judged:
                how = "by the suppression that was tried"
            raise Infeasible(
                f"anonymise: no node of the lattice is safe {how} with suppression = {self.suppression:g}. "
                "Allow more suppression, or ask for less."
            )
        # Of the best nodes that are asked for, the first may be settled while others are open.
        proven = proven or least >= best.value - TIE
        gap = gap_of(best.value, least)
        names = [" ".join(m.kind.split("_")) for m in self.models]
        return Lattice(
            kind=self.kind,
            title=f"Best generalisation for {', '.join(names)}",
            value=best.value,
            numbers={
                "nodes": task.problem.n_nodes,
                "nodes judged": len(found.nodes),
                f"best {self.utility}": best.value,
                **{
                    f"level of {k}": f"{level} of {climb.height}"
                    for k, level, climb in zip(
                        task.problem.keys, best.levels, task.problem.climbs, strict=True
                    )
                },
                "records suppressed": best.suppressed,
                "share suppressed": best.share,
                "classes": best.classes,
                "proven": "yes" if proven else f"no, gap {gap:.1%}",
            },
            explanation=explain(self.utility, self.weights, tell_proof(task, found, proven, gap)),
            task=task,
            judged=found.nodes,
            proven=proven,
            gap=gap,
            bound=best.value if proven else max(least, 0.0),
            utility=self.utility,
            weights=self.weights,
        )

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        data = self.without_identifiers(data)
        lattice = self.search(data, context=ctx, top=1)
        task = lattice.task
        chosen = tuple(lattice.best.levels.values())
        state, ids = task.problem.raise_state(task.problem.base, chosen)
        alive = task.survivors(state)
        result = data
        for key, level in lattice.best.levels.items():
            result = result.generalise(key, level)
        if not alive.all():
            gone = released_tuples(data, task.problem, chosen, ids, ~alive)
            frame = drop_matching(result.frame, task.problem.keys, gone, data.engine)
            result = result.keep_rows(frame)
        result = self.aggregate(result)
        ctx.note(
            levels=dict(lattice.best.levels),
            heights={k: c.height for k, c in zip(lattice.keys, task.problem.climbs, strict=True)},
            dropped=lattice.best.suppressed,
            value=lattice.best.value,
            utility=self.utility,
            weights=self.weights,
            nodes=lattice.n_nodes,
            judged=len(lattice.judged),
            proven=lattice.proven,
            gap=lattice.gap,
        )
        if self.asks_register:
            ctx.note(register=fingerprint(ctx.register))
        return result.materialise()


def released_tuples(
    data: Microdata, problem: Problem, levels: Levels, ids: Any, gone: Flags
) -> pa.Table:
    """Return the released key tuples of the classes that are suppressed."""
    # A class is told by any of its cells: all of them climb to the same labels.
    cell_class = ids[problem.base_class]
    member = np.empty(len(gone), dtype=np.int64)
    member[cell_class] = np.arange(len(cell_class))
    picked = member[np.flatnonzero(gone)]
    columns = {}
    for j, key in enumerate(problem.keys):
        column = problem.cells.keys[key]
        ground = column.decode(column.codes[picked])
        lifted = data.hierarchy(key).raise_values(ground, levels[j])
        columns[key] = ground if levels[j] == 0 else lifted
    return pa.table(columns)


def explain(utility: str, weights: Weights, sure: str) -> str:
    """Return what the numbers mean."""
    return f"Value: {WORDS[utility]}. {COUNTED[weights]} {sure}"


def tell_proof(task: Task, found: Found, proven: bool, gap: float) -> str:
    """Return what is known of other choices."""
    if proven:
        overall = any(c.overall for c in task.conditions)
        fewest = ", with the fewest records suppressed that its models allow" if overall else ""
        return f"No other choice of levels is better{fewest}: every one was judged or ruled out by a bound."
    if math.isinf(found.bound) and found.bound > 0:
        return (
            "Every choice of levels was judged or ruled out by a bound, but for models that compare with the whole file not every "
            f"choice of records to suppress was: the best may be {gap:.1%} lower."
        )
    return (
        f"The search was ended before all choices were ruled out: the best may be {gap:.1%} lower."
    )
