"""Branch and bound on boxes of the lattice: the best nodes, proven, or with a gap that is stated.

A box holds all nodes between a low and a high one. Two facts bound every node v of it:

* the records that fail, at the high node, a condition that climbing preserves fail at v too, and are
  suppressed there;
* the others are charged at least what they are charged at the low node.

So nothing in the box costs less than the low node would if exactly the first were suppressed. Conditions that
climbing does not preserve (entropy diversity, t-closeness and the like) play no part in the bound, which
then is weaker and as true. Boxes are split, cheapest bound first, until no open box can beat what was found.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tacit.arrays import Floats
from tacit.records.classes.anonymise.evaluate import Node, Task
from tacit.records.classes.anonymise.problem import Levels
from tacit.records.classes.anonymise.search.states import States
from tacit.time_limits import is_past

#: Values closer than this are ties.
TIE = 1e-12


@dataclass
class Found:
    """What a search knows: the nodes that were judged, the best of them, and a bound on all others."""

    top: int
    nodes: dict[Levels, Node] = field(default_factory=dict)
    best: list[float] = field(default_factory=list)
    #: No node that was not judged costs less; infinite when none can be among the best.
    bound: float = -math.inf

    def note(self, node: Node) -> None:
        """Take in a judged node."""
        if node.levels in self.nodes:
            return
        self.nodes[node.levels] = node
        if node.safe:
            heapq.heappush(self.best, -node.value)
            if len(self.best) > self.top:
                heapq.heappop(self.best)

    @property
    def threshold(self) -> float:
        """Return the value that a node must reach to be among the best."""
        return -self.best[0] if len(self.best) >= self.top else math.inf

    @property
    def incumbent(self) -> Node | None:
        """Return the best safe node."""
        safe = [n for n in self.nodes.values() if n.safe]
        return min(safe, key=lambda n: (n.value, n.levels), default=None)

    @property
    def least(self) -> float:
        """Return what no choice costs less than: a node not judged, or one where fewer records might do."""
        worst = -self.best[0] if self.best else math.inf
        open_nodes = [n.least for n in self.nodes.values() if not n.exact and n.least < worst - TIE]
        return min([self.bound, *open_nodes])


@dataclass(frozen=True)
class Limits:
    """When to stop: rows merged, and seconds if any were given."""

    work: float = math.inf
    seconds: float | None = None


class BoxSearch:
    """Branch and bound over boxes of nodes, for objectives that charge by record."""

    def __init__(
        self, task: Task, states: States, found: Found, tick: Callable[[float], None]
    ) -> None:
        self.task, self.states, self.found, self.tick = task, states, found, tick
        self.monotone = task.is_monotone
        self.spread = level_spread(task)
        self.order = itertools.count()
        low, high = task.problem.low, task.problem.high
        first = self.examine(low, high, -math.inf)
        #: Open boxes, the one with the least bound first.
        self.heap = [] if first is None else [(first, next(self.order), low, high)]

    def run(self, limits: Limits) -> None:
        """Split boxes until nothing open can be among the best, or a limit is reached; go on from there if asked again."""
        found, heap = self.found, self.heap
        end = None if limits.seconds is None else time.monotonic() + limits.seconds
        while heap:
            bound, turn, low, high = heapq.heappop(heap)
            if bound > found.threshold + TIE:
                break
            if self.states.work > limits.work or is_past(end):
                heapq.heappush(heap, (bound, turn, low, high))
                found.bound = bound
                return
            if turn % 32 == 0:
                self.tick(min(self.states.work / limits.work, 1.0))
            for part in self.halves(low, high):
                least = self.examine(*part, bound)
                if least is not None and least <= found.threshold + TIE:
                    heapq.heappush(heap, (least, next(self.order), *part))
        found.bound = math.inf

    def examine(self, low: Levels, high: Levels, inherited: float) -> float | None:
        """Judge the high node of a box; return a bound for the box, or None when nothing is left to look at."""
        task, found = self.task, self.found
        # Where the charges of a key's lowest level are all the same, its codes are not needed there.
        needed = self.task.objective.needs_level
        at = tuple(
            lo if needed(j, lo) else hi for j, (lo, hi) in enumerate(zip(low, high, strict=True))
        )
        bottom = self.states.at(at)
        top, climbed = task.problem.raise_state(bottom, high)
        self.states.note_work(bottom)
        if high not in found.nodes:
            found.note(task.judge(top))
        if low == high or (self.monotone and not found.nodes[high].safe):
            return None
        passing = task.survivors(top, keeping=True)
        if float(top.amounts(task.weighted)[~passing].sum()) > task.limit:
            return None
        return max(inherited, task.objective.bound(task.problem, bottom, low, passing[climbed]))

    def halves(self, low: Levels, high: Levels) -> Iterator[tuple[Levels, Levels]]:
        """Yield the two halves of a box, cut where the charges of the key differ most."""
        gains = [self.spread[j][high[j]] - self.spread[j][low[j]] for j in range(len(low))]
        open_keys = [j for j in range(len(low)) if low[j] < high[j]]
        key = max(open_keys, key=lambda j: (gains[j], high[j] - low[j], -j))
        costs = self.spread[key][low[key] : high[key] + 1]
        middle = low[key] + int(np.argmax(np.diff(costs)))
        yield low, (*high[:key], middle, *high[key + 1 :])
        yield (*low[:key], middle + 1, *low[key + 1 :]), high


def level_spread(task: Task) -> list[Floats]:
    """Return, for each key, the mean charge at each level with all other keys at their lowest."""
    problem = task.problem
    spread = []
    amounts = problem.base.n.astype(np.float64)
    for j, climb in enumerate(problem.climbs):
        costs = np.zeros(climb.height + 1)
        codes = problem.base.codes[:, j]
        for level in range(problem.low[j], climb.height + 1):
            leaves = climb.leaves[level][climb.lift(codes, problem.low[j], level)]
            costs[level] = float((amounts * (leaves - 1)).sum()) / max(climb.domain - 1, 1)
        spread.append(costs / max(amounts.sum(), 1.0))
    return spread
