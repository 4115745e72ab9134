"""The modular approach: small tables without structure, one after the other from the top down."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.cells.dimension import Dimension, keep_codes
from tacit.data.cells.relations import components, subtables
from tacit.data.table import Table
from tacit.errors import Infeasible, InputError, SolverError
from tacit.tables.suppress.problem import (
    NO_PAIRS,
    Problem,
    find_entries,
    incidence,
    inner_rows,
    subtable_equations,
    table_of_problem,
    tiny_range,
)
from tacit.tables.suppress.propose_exact import solve_exact
from tacit.tables.suppress.repair import clean, repair, suppress
from tacit.time_limits import limit_reached

if TYPE_CHECKING:
    from tacit.tables.suppress.suppress_modular import SuppressModular

#: The steps that a distance cost tells apart.
STEPS = 5
#: Blocks with more cells to choose from are tried in other ways so often.
LARGE, TRIES = 200, 100


@dataclass(frozen=True, eq=False)
class Block:
    """Cells and the relations among them that are solved together."""

    cells: Ints  # positions in the table
    equations: sparse.csr_array  # relations over those cells
    rank: int  # distance from the grand total; lower ones come first
    part: int = -1  # -1 for a block that comes before all parts, else the number of its part


# -- blocks ----------------------------------------------------------------------------------------


def blocks_of(table: Table, partition: str | None = None) -> list[Block]:
    """Cut a table into blocks, in the order in which they are solved.

    A full product gives its subtables; a table made of linked tables those of each of them; listed
    cells the subtables as far as their cells are there. Bare equations give their connected parts.
    A ``partition`` must name a dimension of a full product that is a tree.
    """
    if table.is_product:
        found = list(product_blocks(table.dimensions, np.arange(len(table)), partition))
    elif partition is not None:
        raise InputError(
            "a partitioned run needs a table that is the full product of its dimensions"
        )
    else:
        found = linked_blocks(table)
    return sorted(found, key=lambda b: (b.part, b.rank))


def product_blocks(
    dimensions: Sequence[Dimension], cells: Ints, partition: str | None = None
) -> Iterator[Block]:
    """Yield the subtables of a full product whose cells stand at the given positions."""
    axis, parts = partition_of(dimensions, partition)
    for sub in subtables(dimensions):
        part = -1 if axis < 0 else parts[sub.sums[axis]]
        equations = subtable_equations(dimensions, sub)
        yield Block(cells[sub.cells.ravel()], equations, sub.rank, part)


def partition_of(dimensions: Sequence[Dimension], name: str | None) -> tuple[int, list[int]]:
    """Return the axis of a partition and the part of each of its sums; the top sum has part -1."""
    if name is None:
        return -1, []
    names = [d.name for d in dimensions]
    if name not in names:
        raise InputError(f"there is no dimension {name!r} to partition by; there are {names}")
    d = dimensions[names.index(name)]
    if not d.is_tree:
        raise InputError(f"the dimension {name!r} has several groupings; partition by a tree")
    above = {c: s.parent for s in d.sums for c in s.children}
    parts = []
    for s in d.sums:
        code = s.parent
        while code in above and above[code] in above:
            code = above[code]
        parts.append(-1 if s.parent not in above else code)
    return names.index(name), parts


def linked_blocks(table: Table) -> list[Block]:
    """Return the blocks of a table that is not a full product."""
    found: list[Block] = []
    if table.dimensions:
        for part in table.extra.get("parts", ()):
            found += member_blocks(table, np.asarray(part, dtype=np.int64))
        if not found and table.given is None:
            found = listed_blocks(table)
    rest = find_uncovered_relations(table.equations, found)
    if rest.shape[0]:
        found += connected_blocks(rest)
    return found


def member_blocks(table: Table, part: Ints) -> list[Block]:
    """Return the subtables of one of several linked tables; none when it is no full product."""
    places = table.places[part]
    used = [np.unique(places[:, a]).astype(np.int64) for a in range(places.shape[1])]
    sizes = [len(u) for u in used]
    if int(np.prod(sizes)) != len(part):
        return []
    own = [
        keep_codes(d, np.isin(np.arange(len(d)), u))
        for d, u in zip(table.dimensions, used, strict=True)
    ]
    local = tuple(np.searchsorted(u, places[:, a]) for a, u in enumerate(used))
    cells = np.empty(len(part), dtype=np.int64)
    cells[np.ravel_multi_index(local, sizes)] = part
    return list(product_blocks(own, cells))


def listed_blocks(table: Table) -> list[Block]:
    """Return the subtables of listed cells, with what is there of them."""
    sizes = [len(d) for d in table.dimensions]
    ids = np.ravel_multi_index(tuple(table.places.T.astype(np.int64)), sizes)
    order = np.argsort(ids, kind="stable")
    lengths = np.diff(table.equations.indptr)
    by_cell = sparse.csc_array(table.equations)
    found = []
    for sub in subtables(table.dimensions):
        at = np.searchsorted(ids[order], sub.cells.ravel()).clip(max=len(ids) - 1)
        cells = np.sort(order[at][ids[order[at]] == sub.cells.ravel()])
        if len(cells) < 2:
            continue
        m = inner_rows(by_cell, lengths, cells)
        if m.shape[0]:
            found.append(Block(cells, m, sub.rank))
    return found


def find_uncovered_relations(
    equations: sparse.csr_array, blocks: Sequence[Block]
) -> sparse.csr_array:
    """Return the relations that stand in no block."""
    if not blocks:
        return equations
    seen = {key for b in blocks for key in row_keys(b.equations, b.cells)}
    every = np.arange(equations.shape[1])
    keep = [i for i, key in enumerate(row_keys(equations, every)) if key not in seen]
    return equations[keep]


def row_keys(matrix: sparse.csr_array, cells: Ints) -> Iterator[frozenset[tuple[int, float]]]:
    """Yield each relation as a set of cells with their signs."""
    for a, b in itertools.pairwise(matrix.indptr.tolist()):
        at = cells[matrix.indices[a:b]].tolist()
        yield frozenset(zip(at, matrix.data[a:b].tolist(), strict=True))


def connected_blocks(equations: sparse.csr_array) -> list[Block]:
    """Return the connected parts of a list of equations, each a block of the last rank."""
    used = np.flatnonzero(np.diff(sparse.csc_array(equations).indptr))
    m = sparse.csr_array(equations[:, used])
    _, own = components(m)
    row_part = own[m.indices[m.indptr[:-1]]]
    found = []
    for label in np.unique(own):
        cells = np.flatnonzero(own == label)
        part = m[np.flatnonzero(row_part == label)][:, cells]
        found.append(Block(used[cells], sparse.csr_array(part), 1 << 30))
    return found


# -- one block -------------------------------------------------------------------------------------


class Modular:
    """A run: what is hidden, what was done block by block, which blocks are done, which wait."""

    def __init__(self, problem: Problem, blocks: Sequence[Block], options: SuppressModular) -> None:
        self.problem = problem
        self.blocks = blocks
        self.options = options
        self.hidden = problem.start.copy()
        self.solved = self.optimal = self.backtracks = self.given_up = 0
        #: The bound on the table's price, the cells of the blocks that count in it, and seconds of exact solves.
        self.bound, self.bounded = 0.0, np.zeros(problem.n, dtype=bool)
        self.seconds = 0.0
        sizes = [len(b.cells) for b in blocks]
        cells = np.concatenate([b.cells for b in blocks]) if blocks else np.zeros(0, dtype=np.int64)
        at = np.repeat(np.arange(len(blocks)), sizes)
        order = np.argsort(cells, kind="stable")
        self.holders = at[order]
        self.starts = np.searchsorted(cells[order], np.arange(problem.n + 1))
        inside = self.starts[:-1] < self.starts[1:]
        self.first = np.full(problem.n, -1, dtype=np.int64)
        self.first[inside] = self.holders[self.starts[:-1][inside]]
        self.done = np.zeros(len(blocks), dtype=bool)
        self.waiting = np.zeros(len(blocks), dtype=bool)
        self.queue: list[int] = []
        self.pair_start = np.searchsorted(problem.pairs[:, 0], np.arange(problem.n + 1))
        self.tiny = tiny_range(problem.table, np.arange(problem.n))
        # Decisions on cells above all parts stand.
        self.held = np.zeros(problem.n, dtype=bool)
        if any(b.part >= 0 for b in blocks):
            for b in blocks:
                if b.part < 0:
                    self.held[b.cells] = True

    def run(self, ctx: Context) -> Modular:
        """Solve all blocks, and those again that a later one has upset."""
        for i in range(len(self.blocks)):
            self.queue_block(i)
        count = 0
        while self.queue:
            i = heapq.heappop(self.queue)
            self.waiting[i] = False
            if count % 16 == 0:
                share = float(self.done.mean())
                ctx.tick("solving subtables", share)
            count += 1
            if self.hidden[self.blocks[i].cells].any():
                self.visit(i, ctx)
            self.done[i] = True
        return self

    def queue_block(self, i: int) -> None:
        """Put a block in the queue."""
        if not self.waiting[i]:
            self.waiting[i] = True
            heapq.heappush(self.queue, i)

    def visit(self, i: int, ctx: Context) -> None:
        """Make one block safe, hiding published margins only where there is no other way."""
        block = self.blocks[i]
        cells = block.cells
        before = self.first[cells]
        decided = ~self.hidden[cells] & (before != i) & self.done[before]
        try:
            pattern = self.solve_block(block, decided, np.zeros(len(cells), dtype=bool), ctx)
        except Infeasible:
            if not decided.any() or self.backtracks >= self.options.max_backtracks:
                self.given_up += 1
                return
            firm = decided & self.held[cells] & (block.part >= 0)
            try:
                pattern = self.solve_block(block, firm, decided & ~firm, ctx)
            except Infeasible:
                self.given_up += 1
                return
            self.backtracks += 1
        new = cells[pattern & ~self.hidden[cells]]
        self.hidden[new] = True
        for cell in new.tolist():
            for other in self.holders[self.starts[cell] : self.starts[cell + 1]].tolist():
                if other != i and self.done[other]:
                    self.queue_block(other)

    def solve_block(self, block: Block, frozen: Flags, costly: Flags, ctx: Context) -> Flags:
        """Return a safe pattern of a block; ``frozen`` cells stay published, ``costly`` ones if they can."""
        local = self.stated(block, frozen, costly)
        pattern = self.propose_cheap_pattern(local, ctx)
        price = local.price(pattern)
        self.solved += 1
        fresh = not frozen.any() and not costly.any() and not self.options.distance
        proven, bound = price == 0, 0.0
        free = int(local.suppressible.sum())
        left = self.options.exact_seconds - self.seconds
        if (
            price > 0
            and free <= self.options.exact_cells
            and left <= 0 < self.options.exact_seconds
        ):
            limit_reached()
        elif price > 0 and free <= self.options.exact_cells and left > 0:
            begun = time.perf_counter()
            pattern, bound, proven = solve_block_exactly(
                local, pattern, min(left, self.options.block_seconds), ctx
            )
            self.seconds += time.perf_counter() - begun
        self.optimal += proven
        if fresh and bound > 0:
            self.count_bound(block, bound)
        return pattern[: len(block.cells)]

    def propose_cheap_pattern(self, local: Problem, ctx: Context) -> Flags:
        """Return a pattern by cheapest movements."""
        quiet = ctx.quiet()
        large = int(local.suppressible.sum()) > max(self.options.exact_cells, LARGE)
        seconds = self.options.block_seconds
        pattern, _ = suppress(local, quiet, tries=TRIES if large else 0, limit_seconds=seconds)
        return pattern

    def count_bound(self, block: Block, bound: float) -> None:
        """Add a block's bound to the table's, when no block that counts already shares a cell."""
        if self.hidden[block.cells][~self.problem.start[block.cells]].any():
            return  # solved for the sake of more than the unsafe cells
        if not self.bounded[block.cells].any():
            self.bounded[block.cells] = True
            self.bound += bound

    def stated(self, block: Block, frozen: Flags, costly: Flags) -> Problem:
        """State the problem of a block: hidden margins need a small range, decided ones are frozen."""
        p, cells = self.problem, block.cells
        hidden = self.hidden[cells]
        primary = p.primary[cells]
        margin = hidden & ~primary
        need_width = np.where(margin, self.tiny[cells], p.need_width[cells])
        cost = p.cost[cells].copy()
        if self.options.distance:
            cost = distance_cost(block.equations, hidden, self.options.distance)
        cost[costly] += float(cost.sum())
        t = p.table
        local = p.of_cells(
            cells,
            block.equations,
            table=table_of_problem(t.value[cells], t.count[cells], block.equations, t.frequency),
            need_width=need_width,
            cost=cost,
            primary=hidden,
            forced=np.zeros(len(cells), dtype=bool),
            fixed=(p.fixed[cells] | frozen) & ~hidden,
            pairs=self.pairs_in(block),
            guards_singletons=False,
            spared=None,
            whole=False,
        )
        return self.joined(local, primary) if self.options.together else local

    def pairs_in(self, block: Block) -> Ints:
        """Return the pairs of singletons that share a relation of the block, by local position."""
        cells = block.cells
        rows, _ = find_entries(self.pair_start, cells)
        if not len(rows):
            return NO_PAIRS
        order = np.argsort(cells, kind="stable")
        pairs = self.problem.pairs[rows]
        at = np.searchsorted(cells[order], pairs).clip(max=len(cells) - 1)
        local = order[at]
        found = local[(cells[local] == pairs).all(axis=1)]
        met = sparse.csc_array(incidence(block.equations))
        shared = met[:, found[:, 0]].multiply(met[:, found[:, 1]]).sum(axis=0)
        return np.asarray(found[np.asarray(shared).ravel() > 0], dtype=np.int64)

    def joined(self, local: Problem, primary: Flags) -> Problem:
        """Add a virtual cell, the sum of both, for unsafe cells alone in a sum with few respondents."""
        m, own = local.equations, local.table.count
        pairs = set()
        for a, b in itertools.pairwise(m.indptr.tolist()):
            inside = m.indices[a:b]
            unsafe = inside[primary[inside]]
            few = len(unsafe) == 2 and (own[unsafe] > 0).all()
            if few and own[unsafe].sum() < self.options.together:
                pairs.add((int(min(unsafe)), int(max(unsafe))))
        if not pairs:
            return local
        both, k = np.array(sorted(pairs), dtype=np.int64), len(pairs)
        sums = sparse.csr_array(
            (
                np.concatenate([np.ones(2 * k), -np.ones(k)]),
                (np.tile(np.arange(k), 3), np.append(both.T, local.n + np.arange(k))),
            ),
            shape=(k, local.n + k),
        )
        return local.with_virtual_cells(
            sums,
            local.table.value[both].sum(axis=1),
            down=local.down[both].sum(axis=1),
            up=local.up[both].sum(axis=1),
            need_width=local.tiny(both.ravel()).reshape(k, 2).min(axis=1),
            cost=1.0,
        )


def distance_cost(equations: sparse.csr_array, hidden: Flags, costs: Sequence[float]) -> Floats:
    """Return the cost of each cell by its steps from the nearest hidden one; a relation is a step."""
    met = incidence(equations)
    cost = np.full(len(hidden), float(costs[-1]))
    reached = hidden.copy()
    for price in costs:
        near = (met.T @ (met @ reached.astype(np.float64))) > 0
        cost[near & ~reached] = price
        reached |= near
    return cost


def solve_block_exactly(
    local: Problem, pattern: Flags, seconds: float, ctx: Context
) -> tuple[Flags, float, bool]:
    """Return the cheapest pattern of a block (or the best found), its bound, and whether proven."""
    try:
        found = solve_exact(local, time_limit=seconds, start=pattern, should_stop=ctx.should_stop)
    except SolverError:
        return pattern, 0.0, False
    if found.price > local.price(pattern):
        return pattern, found.bound, False
    return found.pattern, found.bound, found.proven


def repair_proposal(
    problem: Problem,
    hidden: Flags,
    ctx: Context,
    *,
    seconds: float | None = None,
    work: float = 1.0,
) -> Flags:
    """Make a proposal safe on the whole table and publish again what is not needed then.

    ``seconds`` or ``work`` limit the second part; 0 leaves it out.
    """
    safe = repair(problem, hidden, ctx)
    ctx.note(mended=int((safe & ~hidden).sum()), proposed_price=problem.price(hidden))
    if seconds == 0 or work == 0:
        return safe
    pattern = clean(problem, safe, ctx, limit_seconds=seconds, work=work)
    ctx.note(released=int((safe & ~pattern).sum()))
    return pattern
