"""The modular approach: small tables without structure, one after the other from the top down."""

from __future__ import annotations

import functools
import heapq
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.cells.dimension import Dimension, Sum
from tacit.data.cells.relations import components, product_equations, subtables
from tacit.data.table import Table
from tacit.errors import Infeasible, InputError, SolverError
from tacit.tables.suppress.problem import Problem, tiny_range
from tacit.time_limits import limit_reached

#: The steps that a distance cost tells apart.
STEPS = 5
#: Blocks with more cells to choose from are tried in other ways so often.
LARGE, TRIES = 200, 100


@dataclass(frozen=True, eq=False)
class Block:
    """Cells and the relations among them that are solved together.

    Attributes
    ----------
    cells
        Positions in the table.
    equations
        Relations over those cells.
    rank
        Distance from the grand total; lower ones come first.
    part
        -1 for a block that comes before all parts, else the number of its part.
    """

    cells: Ints
    equations: sparse.csr_array
    rank: int
    part: int = -1


# -- blocks ----------------------------------------------------------------------------------------


def blocks_of(table: Table, partition: str | None = None) -> list[Block]:
    """Cut a table into blocks, in the order in which they are solved.

    A full product gives its subtables; a table made of linked tables those of each of them; listed
    cells the subtables as far as their cells are there. Bare equations give their connected parts.

    Raises
    ------
    InputError
        When ``partition`` names no dimension of a full product that is a tree.
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
        signs = tuple(
            d.sums[i].signs if i >= 0 else None for d, i in zip(dimensions, sub.sums, strict=True)
        )
        part = -1 if axis < 0 else parts[sub.sums[axis]]
        yield Block(
            cells[sub.cells.ravel()], plain_equations(sub.cells.shape, signs), sub.rank, part
        )


@functools.lru_cache(maxsize=4096)
def plain_equations(
    shape: tuple[int, ...], signs: tuple[tuple[int, ...] | None, ...]
) -> sparse.csr_array:
    """Return the relations of a subtable whose parents stand first; None: an axis without a sum."""
    dimensions = []
    for n, sign in zip(shape, signs, strict=True):
        codes = tuple(map(str, range(n)))
        sums = () if sign is None else (Sum(0, tuple(range(1, n)), sign),)
        dimensions.append(Dimension("", codes, sums))
    return product_equations(dimensions)


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
    own = [restrict_dimension(d, u) for d, u in zip(table.dimensions, used, strict=True)]
    local = tuple(np.searchsorted(u, places[:, a]) for a, u in enumerate(used))
    cells = np.empty(len(part), dtype=np.int64)
    cells[np.ravel_multi_index(local, sizes)] = part
    return list(product_blocks(own, cells))


def restrict_dimension(dimension: Dimension, used: Ints) -> Dimension:
    """Return a dimension of some of its codes, with the sums that hold only those."""
    place = {int(c): i for i, c in enumerate(used)}
    sums = tuple(
        Sum(place[s.parent], tuple(place[c] for c in s.children), s.signs)
        for s in dimension.sums
        if s.parent in place and all(c in place for c in s.children)
    )
    return Dimension(dimension.name, tuple(dimension.codes[c] for c in used), sums)


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
        m = sparse.csr_array(by_cell[:, cells])
        m = m[np.flatnonzero((np.diff(m.indptr) == lengths) & (lengths > 0))]
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


@dataclass(frozen=True)
class Options:
    """How blocks are solved.

    Attributes
    ----------
    exact_cells
        Blocks of at most this many cells that may be hidden are solved to the optimum.
    block_seconds, exact_seconds
        Time for one of them, and for all of them together.
    max_backtracks
        How often published margins may be hidden after all.
    together
        Two unsafe cells alone in a sum need a third when they have fewer respondents together.
    distance
        Costs by the number of steps from the nearest cell to protect, if any.
    """

    exact_cells: int = 200
    block_seconds: float = 5.0
    exact_seconds: float = 60.0
    max_backtracks: int = 1000
    together: int = 0
    distance: tuple[float, ...] = ()


@dataclass
class Outcome:
    """What was done, block by block."""

    hidden: Flags
    solved: int = 0
    optimal: int = 0
    backtracks: int = 0
    given_up: int = 0
    bound: float = 0.0
    seconds: float = 0.0
    bounded: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))


class Modular:
    """The state of a run: what is hidden, which blocks are done, which wait."""

    def __init__(self, problem: Problem, blocks: Sequence[Block], options: Options) -> None:
        self.problem = problem
        self.blocks = blocks
        self.options = options
        self.out = Outcome(problem.start.copy(), bounded=np.zeros(problem.n, dtype=bool))
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

    def run(self, ctx: Context) -> Outcome:
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
            if self.out.hidden[self.blocks[i].cells].any():
                self.visit(i, ctx)
            self.done[i] = True
        return self.out

    def queue_block(self, i: int) -> None:
        """Put a block in the queue."""
        if not self.waiting[i]:
            self.waiting[i] = True
            heapq.heappush(self.queue, i)

    def visit(self, i: int, ctx: Context) -> None:
        """Make one block safe, hiding published margins only where there is no other way."""
        block, out = self.blocks[i], self.out
        cells = block.cells
        before = self.first[cells]
        decided = ~out.hidden[cells] & (before != i) & self.done[before]
        try:
            pattern = self.solved(block, decided, np.zeros(len(cells), dtype=bool), ctx)
        except Infeasible:
            if not decided.any() or out.backtracks >= self.options.max_backtracks:
                out.given_up += 1
                return
            firm = decided & self.held[cells] & (block.part >= 0)
            try:
                pattern = self.solved(block, firm, decided & ~firm, ctx)
            except Infeasible:
                out.given_up += 1
                return
            out.backtracks += 1
        new = cells[pattern & ~out.hidden[cells]]
        out.hidden[new] = True
        for cell in new.tolist():
            for other in self.holders[self.starts[cell] : self.starts[cell + 1]].tolist():
                if other != i and self.done[other]:
                    self.queue_block(other)

    def solved(self, block: Block, frozen: Flags, costly: Flags, ctx: Context) -> Flags:
        """Return a safe pattern of a block; ``frozen`` cells stay published, ``costly`` ones if they can."""
        local = self.stated(block, frozen, costly)
        pattern = self.propose_cheap_pattern(local, ctx)
        price = local.price(pattern)
        self.out.solved += 1
        fresh = not frozen.any() and not costly.any() and not self.options.distance
        proven, bound = price == 0, 0.0
        free = int(local.suppressible.sum())
        left = self.options.exact_seconds - self.out.seconds
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
            self.out.seconds += time.perf_counter() - begun
        self.out.optimal += proven
        if fresh and bound > 0:
            self.count_bound(block, bound)
        return pattern[: len(block.cells)]

    def propose_cheap_pattern(self, local: Problem, ctx: Context) -> Flags:
        """Return a pattern by cheapest movements."""
        from tacit.tables.suppress.repair import suppress

        quiet = ctx.quiet()
        large = int(local.suppressible.sum()) > max(self.options.exact_cells, LARGE)
        seconds = self.options.block_seconds
        pattern, _ = suppress(local, quiet, tries=TRIES if large else 0, limit_seconds=seconds)
        return pattern

    def count_bound(self, block: Block, bound: float) -> None:
        """Add a block's bound to the table's, when no block that counts already shares a cell."""
        if self.out.hidden[block.cells][~self.problem.start[block.cells]].any():
            return  # solved for the sake of more than the unsafe cells
        if not self.out.bounded[block.cells].any():
            self.out.bounded[block.cells] = True
            self.out.bound += bound

    def stated(self, block: Block, frozen: Flags, costly: Flags) -> Problem:
        """State the problem of a block: hidden margins need a small range, decided ones are frozen."""
        p, cells = self.problem, block.cells
        hidden = self.out.hidden[cells]
        primary = p.primary[cells]
        margin = hidden & ~primary
        need_width = np.where(margin, self.tiny[cells], p.need_width[cells])
        cost = p.cost[cells].copy()
        if self.options.distance:
            cost = distance_cost(block.equations, hidden, self.options.distance)
        cost[costly] += float(cost.sum())
        local = Problem(
            table=plain_table(p, cells, block.equations),
            equations=block.equations,
            down=p.down[cells],
            up=p.up[cells],
            need_down=p.need_down[cells],
            need_up=p.need_up[cells],
            need_width=need_width,
            cost=cost,
            primary=hidden,
            forced=np.zeros(len(cells), dtype=bool),
            fixed=(p.fixed[cells] | frozen) & ~hidden,
            pairs=self.pairs_in(block),
        )
        return self.joined(local, primary) if self.options.together else local

    def pairs_in(self, block: Block) -> Ints:
        """Return the pairs of singletons that share a relation of the block, by local position."""
        cells = block.cells
        counts = self.pair_start[cells + 1] - self.pair_start[cells]
        if not counts.any():
            return np.zeros((0, 2), dtype=np.int64)
        rows = np.concatenate(
            [np.arange(self.pair_start[c], self.pair_start[c + 1]) for c in cells[counts > 0]]
        )
        order = np.argsort(cells, kind="stable")
        pairs = self.problem.pairs[rows]
        at = np.searchsorted(cells[order], pairs).clip(max=len(cells) - 1)
        local = order[at]
        found = local[(cells[local] == pairs).all(axis=1)]
        m = block.equations
        met = sparse.csc_array(
            sparse.csr_array((np.ones(m.nnz), m.indices, m.indptr), shape=m.shape)
        )
        shared = met[:, found[:, 0]].multiply(met[:, found[:, 1]]).sum(axis=0)
        return np.asarray(found[np.asarray(shared).ravel() > 0], dtype=np.int64)

    def joined(self, local: Problem, primary: Flags) -> Problem:
        """Add a virtual cell, the sum of both, for unsafe cells alone in a sum with few respondents."""
        count = self.problem.table.count
        m = local.equations
        own = local_counts(local.table, count)
        pairs = set()
        for a, b in itertools.pairwise(m.indptr.tolist()):
            inside = m.indices[a:b]
            unsafe = inside[primary[inside]]
            few = len(unsafe) == 2 and (own[unsafe] > 0).all()
            if few and own[unsafe].sum() < self.options.together:
                pairs.add((int(min(unsafe)), int(max(unsafe))))
        return with_virtual(local, sorted(pairs)) if pairs else local


def local_counts(table: Table, count: Ints) -> Ints:
    """Return the respondents of a block's cells."""
    return np.asarray(count[table.extra["cells"]], dtype=np.int64)


def plain_table(problem: Problem, cells: Ints, equations: sparse.csr_array) -> Table:
    """Return the little that a problem asks of its table: values, kind and names of cells."""
    t = problem.table
    n = len(cells)
    zero = np.broadcast_to(np.float64(0.0), (n,))
    return Table(
        dimensions=(),
        value=t.value[cells],
        count=t.count[cells],
        status=t.status[cells],
        lower=zero,
        upper=zero,
        lower_level=zero,
        upper_level=zero,
        sliding_level=zero,
        given=equations,
        frequency=t.frequency,
        extra={"cells": cells},
    )


def with_virtual(local: Problem, pairs: Sequence[tuple[int, int]]) -> Problem:
    """Add cells that are sums of two unsafe ones and must not be deducible."""
    k, n = len(pairs), local.n
    both = np.array(pairs, dtype=np.int64)
    extra = sparse.csr_array(
        (
            np.concatenate([np.ones(2 * k), -np.ones(k)]),
            (np.tile(np.arange(k), 3), np.concatenate([both[:, 0], both[:, 1], n + np.arange(k)])),
        ),
        shape=(k, n + k),
    )
    wide = sparse.hstack([local.equations, sparse.csr_array((local.equations.shape[0], k))])
    equations = sparse.csr_array(sparse.vstack([wide, extra], format="csr"))
    tiny = local.tiny(both.ravel()).reshape(k, 2).min(axis=1)

    def longer(array: npt.NDArray[np.generic], more: npt.ArrayLike) -> npt.NDArray[np.generic]:
        return np.concatenate([array, np.broadcast_to(np.asarray(more, dtype=array.dtype), (k,))])

    sums = local.table.value[both].sum(axis=1)
    table = local.table.with_(
        value=longer(local.table.value, sums), count=longer(local.table.count, -1), given=equations
    )
    return Problem(
        table=table,
        equations=equations,
        down=np.asarray(longer(local.down, local.down[both].sum(axis=1)), dtype=np.float64),
        up=np.asarray(longer(local.up, local.up[both].sum(axis=1)), dtype=np.float64),
        need_down=np.asarray(longer(local.need_down, 0.0), dtype=np.float64),
        need_up=np.asarray(longer(local.need_up, 0.0), dtype=np.float64),
        need_width=np.asarray(longer(local.need_width, tiny), dtype=np.float64),
        cost=np.asarray(longer(local.cost, 1.0), dtype=np.float64),
        primary=np.asarray(longer(local.primary, True), dtype=bool),
        forced=np.asarray(longer(local.forced, False), dtype=bool),
        fixed=np.asarray(longer(local.fixed, False), dtype=bool),
        pairs=local.pairs,
    )


def distance_cost(equations: sparse.csr_array, hidden: Flags, costs: Sequence[float]) -> Floats:
    """Return the cost of each cell by its steps from the nearest hidden one; a relation is a step."""
    met = sparse.csr_array(
        (np.ones(equations.nnz), equations.indices, equations.indptr), shape=equations.shape
    )
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
    from tacit.tables.suppress.propose_exact import solve_exact

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
    from tacit.tables.suppress.clean_up import clean
    from tacit.tables.suppress.repair import repair

    safe = repair(problem, hidden, ctx)
    ctx.note(mended=int((safe & ~hidden).sum()), proposed_price=problem.price(hidden))
    if seconds == 0 or work == 0:
        return safe
    pattern = clean(problem, safe, ctx, limit_seconds=seconds, work=work)
    ctx.note(released=int((safe & ~pattern).sum()))
    return pattern
