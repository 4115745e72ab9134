"""Anonymise: the best generalisation of whole columns for any list of protection models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np

from tacit.context import Context
from tacit.data.fingerprint import fingerprint
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame, tuples_at
from tacit.engine.relational import drop_matching
from tacit.errors import Infeasible, InputError
from tacit.plot.chart import Chart
from tacit.plot.lattice import draw_lattice
from tacit.records.classes.anonymise.base import LatticeMethod
from tacit.records.classes.anonymise.evaluate import Node, Task
from tacit.records.classes.anonymise.objectives import COUNTED, WORDS
from tacit.records.classes.anonymise.problem import Levels
from tacit.records.classes.anonymise.search import (
    TIE,
    WHOLE,
    Found,
    Limits,
    gap_of,
    search_lattice,
    walk,
)
from tacit.records.classes.class_values import free_name
from tacit.registry import register
from tacit.result import Result
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
        if not task.problem.records:
            raise InputError("anonymise: there are no records.")
        tick = partial(ctx.tick, "searching the lattice")
        limits = Limits(self.effort * 1e6, self.seconds)
        return self.report(task, search_lattice(task, limits, top, tick))

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
        sure = tell_proof(task, found, proven, gap)
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
            explanation=f"Value: {WORDS[self.utility]}. {COUNTED[self.weights]} {sure}",
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
        alive = task.keep(state).alive
        result = data
        for key, level in lattice.best.levels.items():
            result = result.generalise(key, level)
        if not alive.all():
            # A class is told by any of its cells: all of them climb to the same labels.
            cell_class = ids[task.problem.base_class]
            member = np.empty(len(alive), dtype=np.int64)
            member[cell_class] = np.arange(len(cell_class))
            gone = tuples_at(data, task.problem.cells, member[~alive], lattice.best.levels)
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


def tell_proof(task: Task, found: Found, proven: bool, gap: float) -> str:
    """Return what is known of other choices."""
    if proven:
        overall = any(c.overall for c, _ in task.conditions)
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


@dataclass(frozen=True)
class LatticeNode:
    """One choice of levels."""

    #: The level of each key.
    levels: Mapping[str, int]
    #: What the choice costs in the utility that was asked for; lower is better.
    value: float
    #: Whether every model holds with at most the allowed records suppressed.
    safe: bool
    #: Records that are suppressed there, and their share (of records, or of weights).
    suppressed: int
    share: float
    #: Classes that are released.
    classes: int


@dataclass(frozen=True, repr=False)
class Lattice(Result):
    """What a search found, and the way to look at any other node.

    ``best`` is the best safe node, ``ties`` all nodes as good as it, itself included; ``proven`` says whether
    no node can be better, ``gap`` by what share of its value one may be, ``bound`` the value below which none lies.
    """

    task: Task = None  # type: ignore[assignment]
    judged: Mapping[Levels, Node] = None  # type: ignore[assignment]
    proven: bool = False
    gap: float = 0.0
    bound: float = 0.0
    utility: str = "loss"
    weights: str = "records"
    frame: Any = field(init=False, repr=False, default=None)

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys, in the order of the lattice's axes."""
        return self.task.problem.keys

    @property
    def n_nodes(self) -> int:
        """Return the number of nodes."""
        return self.task.problem.n_nodes

    @cached_property
    def best(self) -> LatticeNode:
        """Return the best safe node; among equals the one with the lowest levels."""
        return self.ties[0]

    @cached_property
    def ties(self) -> tuple[LatticeNode, ...]:
        """Return the safe nodes that are as good as the best, itself included."""
        safe = [n for n in self.judged.values() if n.safe]
        least = min(n.value for n in safe)
        equal = [n for n in safe if n.value <= least + TIE]
        equal.sort(key=lambda n: (sum(n.levels), n.levels))
        return tuple(self.named(n) for n in equal)

    def top(self, n: int = 10) -> tuple[LatticeNode, ...]:
        """Return the best safe nodes that were judged, best first."""
        safe = [node for node in self.judged.values() if node.safe]
        safe.sort(key=lambda node: (node.value, sum(node.levels), node.levels))
        return tuple(self.named(node) for node in safe[:n])

    def at(self, levels: Mapping[str, int] | Sequence[int]) -> LatticeNode:
        """Return any node, judged now if it was not before."""
        problem = self.task.problem
        chosen = place_levels(levels, self.keys, problem.low, problem.high)
        if chosen not in self.judged:
            return self.named(self.task.judge(problem.raise_state(problem.base, chosen)[0]))
        return self.named(self.judged[chosen])

    @cached_property
    def every(self) -> tuple[Node, ...]:
        """Return every node, or those that were judged where there are too many."""
        if self.n_nodes > WHOLE:
            return tuple(self.judged.values())
        return tuple(walk(self.task, lambda _: None))

    @cached_property
    def n_safe(self) -> int | None:
        """Return how many nodes are safe; None where there are too many nodes to ask each."""
        return None if self.n_nodes > WHOLE else sum(node.safe for node in self.every)

    def plot(self) -> Chart:
        """Return the lattice: nodes by height and value, the safe region apart, the best marked."""
        rows = [
            (sum(n.levels), n.value, n.safe, n.levels == tuple(self.best.levels.values()))
            for n in self.every
        ]
        value = f"{self.utility.replace('_', ' ')} (lower is better)"
        return draw_lattice(rows, keys=self.keys, value=value, nodes=self.n_nodes)

    def charts(self) -> Iterable[Chart]:
        """Return the chart of the lattice."""
        return (self.plot(),)

    def named(self, node: Node) -> LatticeNode:
        """Return a node with its levels by key."""
        levels = dict(zip(self.keys, node.levels, strict=True))
        told = (node.value, node.safe, node.suppressed, node.share, node.classes)
        return LatticeNode(levels, *told)


def node_table(lattice: Lattice) -> nw.DataFrame[Any]:
    """Return one row per node, best first: levels, whether it is safe, value, suppressed records, classes.

    Where there are too many nodes to ask each, the rows are those that the search judged.
    """
    nodes = sorted(lattice.every, key=lambda n: (not n.safe, n.value, n.levels))
    levels = np.array([n.levels for n in nodes]).reshape(len(nodes), len(lattice.keys))
    table: dict[str, Any] = {k: levels[:, j] for j, k in enumerate(lattice.keys)}
    for name in ("safe", "value", "suppressed", "share", "classes"):
        table[free_name(name, table)] = [getattr(n, name) for n in nodes]
    return as_frame(table)


# The table is made when it is first asked for: most searches need only the best node.
Lattice.frame = cached_property(node_table)
Lattice.frame.__set_name__(Lattice, "frame")


def place_levels(
    levels: Mapping[str, int] | Sequence[int], keys: Sequence[str], low: Levels, high: Levels
) -> Levels:
    """Return levels in the order of the keys, or say what is wrong with them."""
    if isinstance(levels, Mapping):
        strange = [k for k in levels if k not in keys]
        if strange:
            raise InputError(
                f"the lattice has no key {strange[0]!r}; its keys are {', '.join(keys)}"
            )
        given = [int(levels.get(k, low[j])) for j, k in enumerate(keys)]
    else:
        given = [int(level) for level in levels]
    if len(given) != len(keys):
        raise InputError(f"give one level for each of the {len(keys)} keys (got {len(given)})")
    for key, level, least, most in zip(keys, given, low, high, strict=True):
        if not least <= level <= most:
            raise InputError(f"key {key!r} has levels {least} to {most} here (got {level})")
    return tuple(given)
