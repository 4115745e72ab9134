"""The searches: branch and bound on boxes of the lattice, local search, and every node one by one.

A box holds all nodes between a low and a high one. Two facts bound every node v of it:

* the records that fail, at the high node, a condition that climbing preserves fail at v too, and are
  suppressed there;
* the others are charged at least what they are charged at the low node.

So nothing in the box costs less than the low node would if exactly the first were suppressed. Conditions that
climbing does not preserve (entropy diversity, t-closeness and the like) play no part in the bound, which
then is weaker and as true. Boxes are split, cheapest bound first, until no open box can beat what was found.

For lattices too large for boxes alone the keys are parted in two. Take a node of the whole lattice, and for each half the
node of the same levels with all other keys at their highest. A record that is kept at the first is kept at the second,
where classes are unions of classes, and its loss is the sum of the losses of both halves. A suppressed one loses
everything, which is at least the sum of what the halves may charge. So the optimum costs at least as much as the optima
of the halves together, each with the other half free of charge. Halves have far smaller lattices, and are searched by
the same boxes.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tacit.arrays import Floats
from tacit.records.classes.anonymise.evaluate import Node, Task
from tacit.records.classes.anonymise.objectives import Additive
from tacit.records.classes.anonymise.problem import Levels, Problem, State
from tacit.time_limits import is_past

Tick = Callable[[float], None]
#: Rows merged in the local search, and nodes up to which it is left out.
HEURISTIC_WORK, SMALL = 60_000_000, 3_000
#: Lattices up to this size are judged node by node where no bound holds.
WHOLE = 200_000


def search_lattice(task: Task, limits: Limits, top: int, tick: Tick) -> Found:
    """Return the best nodes of a lattice that the limits allow to find, and a bound on all others."""
    problem = task.problem
    found, states = Found(top), States(problem)
    if task.objective.by_record:
        if problem.n_nodes > SMALL:
            half = limits.part(1 / 2)
            soon = Limits(min(HEURISTIC_WORK, half.work), half.seconds)
            LocalSearch(task, states, found, np.random.default_rng(0), tick).run(soon)
        search_boxes(task, states, found, limits, tick)
    elif problem.n_nodes <= WHOLE:
        for node in walk(task, tick):
            found.note(node)
        found.bound = math.inf
    else:
        LocalSearch(task, states, found, np.random.default_rng(0), tick).run(limits)
    return found


def search_boxes(task: Task, states: States, found: Found, limits: Limits, tick: Tick) -> None:
    """Search boxes; where half the work leaves them open, bound the rest by halves of the keys too."""
    boxes = BoxSearch(task, states, found, tick)
    if task.problem.n_nodes <= WHOLE or not can_part(task):
        boxes.run(limits)
        return
    sixth = limits.part(1 / 6)
    boxes.run(limits.part(1 / 2))
    if math.isinf(found.bound):
        return
    least, work = bound_by_halves(task, sixth, tick)
    boxes.run(Limits(limits.work - work, sixth.seconds))
    if least > found.threshold + TIE:
        found.bound = math.inf
    found.bound = max(found.bound, least)


def search_soon(task: Task, limits: Limits, tick: Tick) -> Found:
    """Return good nodes of a lattice, without proof where it is large."""
    if task.problem.n_nodes <= SMALL:
        return search_lattice(task, limits, 1, tick)
    found = Found(1)
    LocalSearch(task, States(task.problem), found, np.random.default_rng(0), tick).run(limits)
    return found


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

    def part(self, share: float) -> Limits:
        """Return a share of both."""
        return Limits(self.work * share, None if self.seconds is None else self.seconds * share)


class BoxSearch:
    """Branch and bound over boxes of nodes, for objectives that charge by record."""

    def __init__(self, task: Task, states: States, found: Found, tick: Tick) -> None:
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
        passing = task.keep(top, keeping=True).alive
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


def can_part(task: Task) -> bool:
    """Return whether the argument holds: charges add up by key, and suppression is the worst fate."""
    objective = task.objective
    worst = objective.suppress >= objective.generalise
    return type(objective) is Additive and worst and bool(task.keeping)


def bound_by_halves(task: Task, limits: Limits, tick: Tick) -> tuple[float, int]:
    """Return a cost below which no node lies, and the work that it took."""
    low, high = task.problem.low, task.problem.high
    # Keys of many levels are dealt out first, so that both halves have lattices of about the same size.
    order = sorted(range(len(low)), key=lambda j: (low[j] - high[j], j))
    total, work = 0.0, 0
    for half in (order[::2], order[1::2]):
        part = charge_only(task, half)
        states, found = States(part.problem), Found(1)
        BoxSearch(part, states, found, tick).run(limits)
        best = math.inf if found.incumbent is None else found.incumbent.value
        total += max(min(found.bound, best), 0.0)
        work += states.work
    return total, work


def charge_only(task: Task, keys: Sequence[int]) -> Task:
    """Return the task in which all keys but some stand at their highest, free of charge.

    Conditions that climbing does not preserve are left out.
    """
    problem, objective = task.problem, task.objective
    assert isinstance(objective, Additive)
    low = tuple(problem.low[j] if j in keys else problem.high[j] for j in range(len(problem.low)))
    base, _ = problem.raise_state(problem.base, low)
    prices = objective.prices.copy()
    same = list(objective.same)
    ends = [*(s[0] for s in objective.starts[1:]), len(prices)]
    share = 0.0
    for j, (starts, end) in enumerate(zip(objective.starts, ends, strict=True)):
        if j in keys:
            # The price of the single value at the top is the whole share of its key.
            share += float(np.max(prices[starts[0] : end], initial=0.0))
        else:
            prices[starts[0] : end] = 0.0
            same[j] = tuple(0.0 for _ in starts)
    return replace(
        task,
        problem=replace(problem, low=low, base=base),
        objective=replace(objective, prices=prices, same=tuple(same), top=share),
        conditions=task.keeping,
    )


#: Rounds without a better node after which the search ends.
PATIENCE = 12


class LocalSearch:
    """Steps of one level in one key, exchanges between two keys, and kicks, from the top down."""

    def __init__(
        self, task: Task, states: States, found: Found, rng: np.random.Generator, tick: Tick
    ) -> None:
        self.task, self.states, self.found, self.rng, self.tick = task, states, found, rng, tick
        self.low, self.high = task.problem.low, task.problem.high

    def run(self, limits: Limits) -> None:
        """Search until nothing better is found for a while, or a limit is reached."""
        end = None if limits.seconds is None else time.monotonic() + limits.seconds

        def stop() -> bool:
            return self.states.work > limits.work or is_past(end)

        best = self.descend(self.judge(self.high), stop)
        idle = 0
        while idle < PATIENCE and not stop():
            self.tick(0.0)
            kicked = self.kick(best.levels, 2 + idle % 3)
            node = self.descend(self.judge(kicked), stop)
            idle = 0 if rank(node) < rank(best) else idle + 1
            best = min(best, node, key=rank)

    def descend(self, node: Node, stop: Callable[[], bool]) -> Node:
        """Take better neighbours until there is none."""
        while not stop():
            better = self.first_better(node)
            if better is None:
                return node
            node = better
        return node

    def first_better(self, node: Node) -> Node | None:
        """Return a better neighbour: one key a level down or up, or both in two keys."""
        keys = len(self.low)
        down = [(j, -1) for j in range(keys) if node.levels[j] > self.low[j]]
        up = [(j, 1) for j in range(keys) if node.levels[j] < self.high[j]]
        steps: list[tuple[tuple[int, int], ...]] = [(s,) for s in (*down, *up)]
        pairs = [(d, u) for d in down for u in up if d[0] != u[0]]
        self.rng.shuffle(steps)
        self.rng.shuffle(pairs)
        for moves in (*steps, *pairs):
            levels = list(node.levels)
            for key, step in moves:
                levels[key] += step
            other = self.judge(tuple(levels))
            if rank(other) < rank(node):
                return other
        return None

    def kick(self, levels: Levels, moves: int) -> Levels:
        """Return a node a few random steps away."""
        moved = list(levels)
        for key in self.rng.integers(0, len(levels), size=moves):
            moved[key] = int(self.rng.integers(self.low[key], self.high[key] + 1))
        return tuple(moved)

    def judge(self, levels: Levels) -> Node:
        """Judge a node once."""
        if levels not in self.found.nodes:
            self.found.note(self.task.judge(self.states.at(levels)))
        return self.found.nodes[levels]


def rank(node: Node) -> tuple[bool, float, float]:
    """Return what makes a node better: safe first, then its value; among unsafe ones the fewest suppressed."""
    return (False, node.value, 0.0) if node.safe else (True, node.share, node.value)


def gap_of(value: float, bound: float) -> float:
    """Return by what share of its value a node may exceed the optimum."""
    if math.isinf(bound) and bound > 0:
        return 0.0
    return 0.0 if value <= 0 else max(0.0, (value - max(bound, 0.0)) / value)


def walk(task: Task, tick: Tick) -> Iterator[Node]:
    """Yield every node once.

    A node is made from the one with its last raised key a level lower, so that most are made from few classes:
    keys with many values climb first.
    """
    problem = task.problem
    order = climbing_order(task)
    total, done = problem.n_nodes, 0
    stack = [(problem.base, 0)]
    while stack:
        state, first = stack.pop()
        done += 1
        if done % 256 == 0:
            tick(done / total)
        yield task.judge(state)
        for place in range(first, len(order)):
            key = order[place]
            if state.levels[key] < problem.high[key]:
                levels = list(state.levels)
                levels[key] += 1
                stack.append((problem.raise_state(state, tuple(levels))[0], place))


def climbing_order(task: Task) -> list[int]:
    """Return the keys, those whose first step merges most classes first."""
    problem = task.problem
    left = {}
    for key in range(len(problem.keys)):
        if problem.low[key] < problem.high[key]:
            levels = list(problem.low)
            levels[key] += 1
            left[key] = len(problem.raise_state(problem.base, tuple(levels))[0])
    return sorted(left, key=lambda key: (left[key], key))


#: How many integers all kept states may hold together.
ROOM = 60_000_000


class States:
    """The states of a problem, made on request."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.kept: dict[Levels, int] = {}
        self.slots: list[State] = []
        self.levels = np.full((16, len(problem.keys)), 1 << 14, dtype=np.int16)
        self.sizes = np.zeros(16, dtype=np.int64)
        self.held = 0
        #: Rows that were climbed and merged so far: the work done.
        self.work = 0
        self.keep(problem.base)

    def at(self, levels: Levels) -> State:
        """Return the state at a node."""
        if levels in self.kept:
            return self.slots[self.kept[levels]]
        below = self.nearest(levels)
        state, _ = self.problem.raise_state(below, levels)
        self.note_work(below)
        self.keep(state)
        return state

    def note_work(self, state: State) -> None:
        """Add the rows of a state to the work: once for each set of keys on which its classes are judged."""
        self.work += len(state) * len(self.problem.groups)

    def nearest(self, levels: Levels) -> State:
        """Return the smallest state at hand at or below a node."""
        used = len(self.slots)
        under = (self.levels[:used] <= np.asarray(levels, dtype=np.int16)).all(axis=1)
        places = np.flatnonzero(under)
        return self.slots[int(places[np.argmin(self.sizes[places])])]

    def keep(self, state: State) -> None:
        """Keep a state, giving up the largest ones first; the base stays."""
        size = state.codes.size + 4 * len(state)
        if self.held + size > ROOM:
            self.give_up(size)
        if (self.held + size > ROOM or 8 * size > ROOM) and self.slots:
            return
        used = len(self.slots)
        if used == len(self.sizes):
            more = np.full_like(self.levels, 1 << 14)
            self.levels = np.concatenate([self.levels, more])
            self.sizes = np.concatenate([self.sizes, np.zeros_like(self.sizes)])
        self.slots.append(state)
        self.levels[used] = state.levels
        self.sizes[used] = len(state)
        self.kept[state.levels] = used
        self.held += size

    def give_up(self, wanted: int) -> None:
        """Forget large states until there is room, and number the others anew."""
        base, *others = self.slots
        others.sort(key=len)
        room = ROOM // 2 - wanted - base.codes.size - 4 * len(base)
        kept = []
        for state in others:
            room -= state.codes.size + 4 * len(state)
            if room < 0:
                break
            kept.append(state)
        self.kept, self.slots, self.held = {}, [], 0
        self.levels[:] = 1 << 14
        for state in (base, *kept):
            self.keep(state)
