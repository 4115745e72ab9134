"""The lattice as a result: the best node, its ties, and a table and chart of the nodes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.errors import InputError
from tacit.plot.chart import Chart
from tacit.plot.lattice import draw_lattice
from tacit.records.classes.anonymise.evaluate import Node, Task
from tacit.records.classes.anonymise.problem import Levels
from tacit.records.classes.anonymise.search import walk
from tacit.result import Result

#: Lattices up to this size are judged node by node when the whole table is asked for.
WHOLE = 200_000
TIE = 1e-12


@dataclass(frozen=True)
class LatticeNode:
    """One choice of levels.

    Attributes
    ----------
    levels
        The level of each key.
    value
        What the choice costs in the utility that was asked for; lower is better.
    safe
        Whether every model holds with at most the allowed records suppressed.
    suppressed, share
        Records that are suppressed there, and their share (of records, or of weights).
    classes
        Classes that are released.
    """

    levels: Mapping[str, int]
    value: float
    safe: bool
    suppressed: int
    share: float
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

    @functools.cached_property
    def best(self) -> LatticeNode:
        """Return the best safe node; among equals the one with the lowest levels."""
        return self.ties[0]

    @functools.cached_property
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

    @functools.cached_property
    def every(self) -> tuple[Node, ...]:
        """Return every node, or those that were judged where there are too many."""
        if self.n_nodes > WHOLE:
            return tuple(self.judged.values())
        return tuple(walk(self.task, lambda _: None))

    @functools.cached_property
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
        return LatticeNode(
            dict(zip(self.keys, node.levels, strict=True)),
            node.value,
            node.safe,
            node.suppressed,
            node.share,
            node.classes,
        )


def node_table(lattice: Lattice) -> nw.DataFrame[Any]:
    """Return one row per node, best first: levels, whether it is safe, value, suppressed records, classes.

    Where there are too many nodes to ask each, the rows are those that the search judged.
    """
    nodes = sorted(lattice.every, key=lambda n: (not n.safe, n.value, n.levels))
    levels = np.array([n.levels for n in nodes]).reshape(len(nodes), len(lattice.keys))
    table: dict[str, Any] = {k: levels[:, j] for j, k in enumerate(lattice.keys)}
    for name in ("safe", "value", "suppressed", "share", "classes"):
        table[free_name(name, table)] = [getattr(n, name) for n in nodes]
    return nw.from_native(pa.table(table), eager_only=True)


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with underscores added while a key bears it."""
    while name in taken:
        name += "_"
    return name


# The table is made when it is first asked for: most searches need only the best node.
Lattice.frame = functools.cached_property(node_table)
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
