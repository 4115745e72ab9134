"""Two-way tables as networks: cells are arcs, and a movement of hidden cells is a circulation.

With one hierarchy at most, the relations of a two-way table are those of a network as a whole. Take
the sums of the tree in each column and the sums of the ground rows; all other relations follow. After
turning the signs of the ground rows and of the column of totals, each cell stands once with +1 and
once with -1: (r, c) leads from the sum in which r is a child to the sum of which r is the parent (for
a ground row: to the row's own node), the other way round in the column of totals; a last node takes
the ends of the grand total's row. So no hierarchy needs to be cut into pieces.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.cells.dimension import Dimension
from tacit.data.table import Table
from tacit.tables.suppress.moves.paths import KERNELS, Net, hide
from tacit.tables.suppress.moves.routes import needs_of
from tacit.tables.suppress.problem import Problem

#: Amounts below this share of a need are nothing.
NOISE = 1e-9
#: Length of a hidden arc, as a share of the least cost: of ways that cost nothing, take the shortest.
HOP = 1e-7
#: Paths that one need may be sent along.
MOST_PATHS = 60
#: Paths that one need may be sent along when a single one will do as well.
FEW_PATHS = 6
#: Cells up to which several paths are tried although one will do.
BOTH_WAYS = 50_000
#: Ways of looking for paths.
WITHIN, ONE_PATH, SEVERAL = 0, 1, 2
#: Arcs that the paths of one need may hold together.
MOST_ARCS = 100_000


@dataclass(eq=False)
class Circulation:
    """A movement that meets one need: the proof that the need is met."""

    cell: int
    amount: float  # how far the unsafe cell moves (down: negative)
    known: int  # a cell that must not move, -1: none
    arcs: Ints  # the cells that move (the unsafe one not among them)
    flow: Floats  # by how much


def not_a_network(table: Table) -> str:
    """Return why a table is not a network; empty when it is."""
    if not table.is_product or len(table.dimensions) != 2:
        return "works on two-way tables that are a full product of their dimensions"
    if any(not d.sums for d in table.dimensions):
        return "needs a total in both dimensions"
    if any(not d.is_tree or len(d.roots) != 1 for d in table.dimensions):
        return "takes dimensions with one grouping only"
    if any(s.signs for d in table.dimensions for s in d.sums):
        return "takes sums without subtraction only"
    if not any(d.is_flat for d in table.dimensions):
        return (
            "takes tables with one hierarchical dimension at most; with two the table is no network"
        )
    return ""


def find_arc_ends(dimensions: tuple[Dimension, ...]) -> tuple[Ints, Ints, int]:
    """Return tail and head of every cell's arc, and the number of nodes."""
    turned = dimensions[0].is_flat and not dimensions[1].is_flat
    tree, flat = (dimensions[1], dimensions[0]) if turned else dimensions
    rows, columns = len(tree), len(flat)
    inside = np.full(rows, -1, dtype=np.int64)
    own = np.full(rows, -1, dtype=np.int64)
    for i, s in enumerate(tree.sums):
        inside[list(s.children)] = i
        own[s.parent] = i
    n_sums = len(tree.sums)
    ground = n_sums * columns + len(tree.leaves)
    leaf = np.full(rows, -1, dtype=np.int64)
    leaf[tree.leaves] = np.arange(len(tree.leaves))
    column = np.arange(columns)
    above = np.where(inside[:, None] >= 0, inside[:, None] * columns + column, ground)
    below = np.where(
        own[:, None] >= 0, own[:, None] * columns + column, n_sums * columns + leaf[:, None]
    )
    total = column == flat.total
    tail, head = np.where(total, below, above), np.where(total, above, below)
    if turned:
        tail, head = tail.T, head.T
    return np.ascontiguousarray(tail).ravel(), np.ascontiguousarray(head).ravel(), ground + 1


def network_of(problem: Problem) -> Net:
    """Return the network of a problem, with the cells hidden that must be."""
    tail, head, n = find_arc_ends(problem.table.dimensions)
    usable = np.flatnonzero(problem.suppressible)
    by_cost = usable[np.argsort(problem.cost[usable], kind="stable")]
    nodes = np.concatenate([tail[by_cost], head[by_cost]])
    others = np.concatenate([head[by_cost], tail[by_cost]])
    free = np.concatenate([problem.up[by_cost], problem.down[by_cost]])
    # Both ends of the cheapest arc first: a stable sort by node then keeps the order of costs.
    order = np.argsort(np.concatenate([np.arange(len(by_cost))] * 2), kind="stable")
    order = order[np.argsort(nodes[order], kind="stable")]
    net = Net(
        tail=tail,
        head=head,
        start=np.searchsorted(nodes[order], np.arange(n + 1)).astype(np.int64),
        arc=np.concatenate([by_cost, by_cost])[order],
        other=others[order],
        price=np.concatenate([problem.cost[by_cost]] * 2)[order],
        free=free[order],
        cost=problem.cost,
        up=problem.up,
        down=problem.down,
        hidden=np.zeros(problem.n, dtype=np.int8),
        listed=np.zeros(problem.n, dtype=np.int8),
        first=np.full(n, -1, dtype=np.int64),
        following=np.full(2 * problem.n, -1, dtype=np.int64),
        moved=np.zeros(problem.n),
        distance=np.full(n, np.inf),
        before=np.full(n, -1, dtype=np.int64),
        heap=np.zeros(n, dtype=np.int64),
        place=np.full(n, -1, dtype=np.int64),
        seen=np.zeros(n, dtype=np.int64),
        path=np.zeros(MOST_ARCS, dtype=np.int64),
        counter=np.zeros(4, dtype=np.int64),
        budget=np.array([np.inf, HOP * problem.cost.min(initial=1.0)]),
    )
    for cell in np.flatnonzero(problem.start).tolist():
        hide(net, cell, 1)
    return net


class Circulations:
    """Finds a circulation for every need, and hides the cells that they use.

    The pattern is what the circulations use, so it is safe at every moment.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.net = network_of(problem)
        run = KERNELS.pick(100 * problem.n * 4)
        self.send, self.hide = run["send"], run["hide"]
        self.used = np.where(problem.start, 1, 0).astype(np.int64)
        self.found: dict[int, Circulation] = {}
        self.users: dict[int, set[int]] = {}
        self.unmet: list[tuple[int, float, int]] = []

    @property
    def pattern(self) -> Flags:
        """Return the hidden cells."""
        return np.asarray(self.net.hidden > 0)

    # -- one need ------------------------------------------------------------------------------

    def route(
        self, cell: int, amount: float, known: int = -1, barred: int = -1
    ) -> tuple[Circulation, float] | None:
        """Return a cheap circulation for a need and what it costs in new cells, hiding nothing.

        What hidden cells carry by themselves is sent first. The rest goes along the one cheapest
        path that can carry it all, or along several, whichever costs less.
        """
        net, size = self.net, abs(amount)
        limit = net.up[cell] if amount > 0 else net.down[cell]
        if size > limit * (1 + NOISE):
            return None
        source, sink = int(net.head[cell]), int(net.tail[cell])
        if amount < 0:
            source, sink = sink, source
        net.counter[2] = 0
        net.budget[0] = np.inf
        net.counter[3] = MOST_PATHS
        left = float(self.send(net, source, sink, size, size * NOISE, WITHIN, cell, known, barred))
        if left <= size * NOISE:
            return self._take_circulation(cell, amount, known), 0.0
        within = self._arcs
        carried = net.moved[within]
        options: list[tuple[float, Circulation]] = []
        for way in (ONE_PATH, SEVERAL):
            if options and self.problem.n > BOTH_WAYS:
                break
            net.budget[0] = options[0][0] if options else np.inf
            net.counter[3] = FEW_PATHS if options else MOST_PATHS
            rest = float(self.send(net, source, sink, left, size * NOISE, way, cell, known, barred))
            if rest <= size * NOISE:
                arcs = self._arcs
                new = arcs[(net.hidden[arcs] == 2) & (np.abs(net.moved[arcs]) > 0)]
                way_found = self._take_circulation(cell, amount, known, clear=False)
                options.append((float(net.cost[new].sum()), way_found))
            self._return_to(within, carried)
        self._clear()
        if not options:
            return None
        price, best = min(options, key=lambda option: option[0])
        return best, price

    @property
    def _arcs(self) -> Ints:
        return np.unique(self.net.path[: self.net.counter[2]])

    def _return_to(self, kept: Ints, flow: Floats) -> None:
        net, arcs = self.net, self._arcs
        net.moved[arcs] = 0.0
        net.hidden[arcs[net.hidden[arcs] == 2]] = 0
        net.moved[kept] = flow
        net.path[: len(kept)] = kept
        net.counter[2] = len(kept)

    def _clear(self) -> None:
        self._return_to(np.zeros(0, dtype=np.int64), np.zeros(0))

    def _take_circulation(
        self, cell: int, amount: float, known: int, *, clear: bool = True
    ) -> Circulation:
        arcs = self._arcs
        flow = self.net.moved[arcs]
        real = np.abs(flow) > abs(amount) * NOISE
        found = Circulation(cell, amount, known, arcs[real], flow[real])
        if clear:
            self._clear()
        return found

    # -- keeping -------------------------------------------------------------------------------

    def take(self, number: int, one: Circulation) -> None:
        """Keep a circulation and hide its cells."""
        self.found[number] = one
        for arc in one.arcs.tolist():
            self.users.setdefault(arc, set()).add(number)
            self.used[arc] += 1
            if self.net.hidden[arc] == 0:
                self.hide(self.net, arc, 1)

    def drop(self, number: int) -> Circulation:
        """Forget a circulation and publish the cells that no other one uses."""
        one = self.found.pop(number)
        for arc in one.arcs.tolist():
            self.users[arc].discard(number)
            self.used[arc] -= 1
            if self.used[arc] == 0:
                self.net.hidden[arc] = 0
        return one

    def meet(self, cell: int, options: Iterable[float], known: int = -1) -> bool:
        """Meet a need in the cheapest of several ways; return False when none is possible."""
        best: tuple[Circulation, float] | None = None
        for amount in options:
            way = self.route(cell, amount, known)
            if way is not None and (best is None or way[1] < best[1]):
                best = way
        if best is None:
            return False
        self.take(len(self.found), best[0])
        return True

    # -- all needs -----------------------------------------------------------------------------

    def meet_all(self, ctx: Context) -> None:
        """Meet every need of the problem, the largest first; note those that cannot be met."""
        needs = needs_of(self.problem)
        for i, need in enumerate(needs):
            if i % 50 == 0:
                ctx.tick("cheapest paths", i / len(needs))
            amounts = [option[0] for option in need.options if len(option) == 1]
            if not self.meet(need.cell, amounts, need.known):
                self.unmet.append((need.cell, amounts[0], need.known))

    def improve(self, ctx: Context) -> None:
        """Route all needs of a cell again, given all others, cell by cell."""
        groups: dict[int, list[int]] = {}
        for number, one in self.found.items():
            groups.setdefault(one.cell, []).append(number)
        for i, numbers in enumerate(groups.values()):
            if i % 50 == 0:
                ctx.tick("looking for cheaper paths", i / len(groups))
            self._again(numbers)

    def _again(self, numbers: list[int], barred: int = -1) -> float:
        """Drop some circulations and route them again; return what that saves, never less than 0."""
        cost, net = self.problem.cost, self.net
        old = [self.drop(number) for number in numbers]
        arcs = np.unique(np.concatenate([one.arcs for one in old]))
        price = float(cost[arcs[net.hidden[arcs] == 0]].sum())
        now, taken = 0.0, []
        if price > 0:
            for number, one in zip(numbers, old, strict=True):
                way = self.route(one.cell, one.amount, one.known, barred)
                now += np.inf if way is None else way[1]
                if way is None or now >= price:
                    break
                self.take(number, way[0])
                taken.append(number)
            if now < price * (1 - 1e-9):
                return price - now
        for number in taken:
            self.drop(number)
        for number, one in zip(numbers, old, strict=True):
            self.take(number, one)
        return 0.0

    def publish_secondary(self, ctx: Context, *, exchange: bool) -> int:
        """Publish secondary cells, most expensive first; return how many.

        A cell goes when its circulations find another way within the hidden cells or (``exchange``)
        a way over new cells that cost less.
        """
        p = self.problem
        cells = np.flatnonzero(self.pattern & ~p.start)
        cells = cells[np.argsort(-p.cost[cells], kind="stable")]
        spared = 0
        for i, cell in enumerate(cells.tolist()):
            if i % 50 == 0:
                ctx.tick("publishing what is not needed", i / len(cells))
            if self.net.hidden[cell] == 0 or self._publish_without(cell):
                spared += 1
            elif exchange:
                spared += self._again(sorted(self.users[cell]), barred=cell) > 0
        return spared

    def _publish_without(self, cell: int) -> bool:
        """Publish one cell if every circulation through it finds another way."""
        other = []
        for number in sorted(self.users.get(cell, ())):
            found = self._reroute_around(self.found[number], cell)
            if found is None:
                return False
            other.append((number, found))
        for number, found in other:
            self.drop(number)
            self.take(number, found)
        return True

    def _reroute_around(self, one: Circulation, cell: int) -> Circulation | None:
        """Return a circulation led around a cell, within the hidden cells; None: there is no way."""
        net = self.net
        net.moved[one.arcs] = one.flow
        net.path[: len(one.arcs)] = one.arcs
        net.counter[2] = len(one.arcs)
        flow = float(net.moved[cell])
        net.moved[cell] = 0.0
        source, sink = int(net.tail[cell]), int(net.head[cell])
        if flow < 0:
            source, sink = sink, source
        least = abs(one.amount) * NOISE
        net.budget[0] = np.inf
        net.counter[3] = MOST_PATHS
        left = float(
            self.send(net, source, sink, abs(flow), least, WITHIN, one.cell, one.known, cell)
        )
        found = self._take_circulation(one.cell, one.amount, one.known)
        return found if left <= least else None

    def faults(self) -> int:
        """Return how many circulations break a relation or a bound: none, or the code is wrong."""
        p = self.problem
        rows: list[Any] = []
        columns: list[Any] = []
        flows: list[Any] = []
        for i, one in enumerate(self.found.values()):
            rows += [one.arcs, [one.cell]]
            columns.append(np.full(len(one.arcs) + 1, i))
            flows += [one.flow, [one.amount]]
        if not rows:
            return 0
        at: Ints = np.concatenate(rows).astype(np.int64)
        flow: Floats = np.concatenate(flows)
        number = np.concatenate(columns)
        moves = sparse.csc_array((flow, (at, number)), shape=(p.n, len(self.found)))
        size = np.array([abs(one.amount) for one in self.found.values()])
        gap = abs(p.equations @ moves).max(axis=0).toarray().ravel()
        slack = 1e-6 * size[number]
        out = (flow > p.up[at] + slack) | (flow < -p.down[at] - slack) | ~self.pattern[at]
        bad = gap > 1e-6 * size
        bad[number[out]] = True
        return int(bad.sum())
