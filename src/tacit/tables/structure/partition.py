"""Multilevel partition of a hypergraph: few nets cut, blocks of nearly equal weight.

A coarse hypergraph is made by matching vertices that share many nets, cut in two there, and the cut is
taken back level by level and refined on each (Fiduccia and Mattheyses 1982). Then coarser hypergraphs are
made that keep the best cut, and refined again. All of this is heuristic but :func:`best_bipartition`, which
tries everything.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.data.cells.relations import components
from tacit.errors import InputError
from tacit.tables.structure.hypergraph import KERNELS, Hypergraph, build_hypergraph

Way = Literal["multilevel", "single_level", "exact", "mtkahypar"]
Tick = Callable[[], None]

#: Turns of loops a vertex, about.
TURNS = 80.0
#: Vertices up to which every bipartition can be tried.
EXACT = 20
#: Nets with more pins say little about which vertices belong together.
WIDE = 400
#: Least share of vertices that a round of matching must do away with.
REDUCTION = 0.03
#: Starts on the coarsest level of one descent.
STARTS = 8
#: Passes of refinement a level at most, and moves without gain after which a pass ends.
PASSES, PATIENCE = 12, 4000
#: Descents that start from the best partition found.
CYCLES = 3
#: Vertices up to which starts on the whole hypergraph are tried as often as descents.
PLAIN = 20_000
#: Blocks up to which pairs of them are refined once more.
PAIRED = 16


# -- two blocks -------------------------------------------------------------------------------------


class Step(NamedTuple):
    """What one stage of a partition came to."""

    split: int
    stage: str
    vertices: int
    cut: int


@dataclass
class Options:
    """How to partition, and what was seen on the way."""

    rng: np.random.Generator
    way: Way = "multilevel"
    coarsest: int = 80
    runs: int = 4
    refinement: bool = True
    tick: Tick = lambda: None
    history: list[Step] = field(default_factory=list)
    split: int = 0

    def note(self, stage: str, vertices: int, cut: int) -> None:
        """Add to the history."""
        self.history.append(Step(self.split, stage, vertices, int(cut)))


def bisect(h: Hypergraph, cap: Ints, options: Options, places: Sequence[Floats] = ()) -> Ints:
    """Return the side of each vertex; no side weighs more than its cap, where that can be had.

    ``places`` are orders of the vertices that may be worth cutting (along a dimension of a table).
    Connected components are kept whole where they fit, which cuts nothing.
    """
    label = component_labels(h)
    sizes = np.bincount(label, weights=h.weight).astype(np.int64)
    whole = pack_components(sizes, cap)
    if whole is not None:
        options.note("components", h.n, 0)
        return whole[label]
    if options.way == "exact":
        return best_bipartition(h, cap)
    if len(sizes) > 1:
        apart = largest_first(h, label, sizes, cap, options, places)
        if apart is not None:
            return apart
    return bisect_connected(h, cap, options, places)


def bisect_connected(h: Hypergraph, cap: Ints, options: Options, places: Sequence[Floats]) -> Ints:
    """Cut a hypergraph in two by the way that was asked for."""
    if options.way == "mtkahypar":
        return by_mtkahypar(h, cap, options)
    found = candidates(h, cap, options, places)
    best = min(found, key=lambda side: rate_bipartition(h, side, cap))
    if options.way == "multilevel":
        best = repeat_descent(h, best, cap, options)
    return best


def candidates(
    h: Hypergraph, cap: Ints, options: Options, places: Sequence[Floats]
) -> Iterator[Ints]:
    """Yield bipartitions of one hypergraph, each refined."""
    for run in range(options.runs):
        if options.way == "single_level":
            side = random_start(h, cap, options.rng)
            options.note("whole", h.n, refine_bipartition(h, side, cap))
        else:
            side = descent(h, cap, options, scaled=run % 2 == 0)
        options.tick()
        yield side
    if options.way != "multilevel":
        return
    # Where levels help little, as between cells of several groupings, plain starts now and then win.
    for _ in range(options.runs if h.n <= PLAIN else 1):
        side = random_start(h, cap, options.rng)
        options.note("whole", h.n, refine_bipartition(h, side, cap))
        options.tick()
        yield side
    for place in places:
        swept = sweep(h, place, cap)
        if swept is not None:
            options.note("along a dimension", h.n, refine_bipartition(h, swept, cap))
            options.tick()
            yield swept


def refine_bipartition(h: Hypergraph, side: Ints, cap: Ints) -> int:
    """Refine a bipartition in place; return its cut."""
    run = KERNELS.pick(TURNS * h.n)["refine"]
    return int(run(h, side, cap, PASSES, PATIENCE))


def rate_bipartition(h: Hypergraph, side: Ints, cap: Ints) -> tuple[int, int]:
    """Return how far a bipartition is overweight, and its cut: lower is better."""
    total = np.bincount(side, weights=h.weight, minlength=2).astype(np.int64)
    return int(np.maximum(total - cap, 0).sum()), many_cut(h, side)


def random_start(h: Hypergraph, cap: Ints, rng: np.random.Generator) -> Ints:
    """Fill side 0 with random vertices up to its share."""
    order = rng.permutation(h.n)
    goal = h.weight.sum() * cap[0] / cap.sum()
    side = np.ones(h.n, dtype=np.int64)
    side[order[np.cumsum(h.weight[order]) <= goal]] = 0
    return side


class Level(NamedTuple):
    """A hypergraph, and the vertex of the next coarser one that each of its own goes into."""

    graph: Hypergraph
    up: Ints


def coarsen_hypergraph(
    h: Hypergraph, options: Options, *, scaled: bool, side: Ints | None = None
) -> tuple[list[Level], Hypergraph]:
    """Match and contract until few vertices are left; with ``side``, only within the sides."""
    levels: list[Level] = []
    heaviest = max(1, int(1.5 * h.weight.sum() / options.coarsest))
    own = np.zeros(h.n, dtype=np.int64) if side is None else side
    while h.n > options.coarsest:
        order = options.rng.permutation(h.n)
        run = KERNELS.pick(TURNS * h.n)["match"]
        up = run(h, order, own, heaviest, WIDE, scaled)
        n = int(up.max()) + 1
        if n > (1 - REDUCTION) * h.n:
            break
        levels.append(Level(h, up))
        settled = np.empty(n, dtype=np.int64)
        settled[up] = own
        own = settled
        weight = np.bincount(up, weights=h.weight, minlength=n).astype(np.int64)
        h = build_hypergraph(up[h.pins], nets_of_pins(h), weight, h.cost)
    return levels, h


def descent(h: Hypergraph, cap: Ints, options: Options, *, scaled: bool) -> Ints:
    """Coarsen, cut the coarsest hypergraph from many starts, and take the best back up."""
    levels, coarse = coarsen_hypergraph(h, options, scaled=scaled)

    def start(i: int) -> Ints:
        if i % 2:
            side = random_start(coarse, cap, options.rng)
        else:
            # From a single vertex on side 0 refinement, which must lighten side 1, grows a region.
            side = np.ones(coarse.n, dtype=np.int64)
            side[options.rng.integers(coarse.n)] = 0
        refine_bipartition(coarse, side, cap)
        return side

    best = min(map(start, range(STARTS)), key=lambda side: rate_bipartition(coarse, side, cap))
    options.note("coarsest", coarse.n, many_cut(coarse, best))
    return project_to_finest(levels, best, cap, options)


def project_to_finest(levels: list[Level], side: Ints, cap: Ints, options: Options) -> Ints:
    """Take a partition of the coarsest level back to the finest, refined on each."""
    for level in reversed(levels):
        side = np.ascontiguousarray(side[level.up])
        last = level is levels[0]
        if options.refinement or last:
            # The finest level is always refined: blocks must obey their caps.
            options.note("level", level.graph.n, refine_bipartition(level.graph, side, cap))
    return side


def repeat_descent(h: Hypergraph, side: Ints, cap: Ints, options: Options) -> Ints:
    """Descend again from the best partition, merging only what lies on one side of it."""
    for i in range(CYCLES if options.refinement else 0):
        options.tick()
        levels, coarse = coarsen_hypergraph(h, options, scaled=i % 2 == 0, side=side)
        now = side
        for level in levels:
            small = np.empty(int(level.up.max()) + 1, dtype=np.int64)
            small[level.up] = now
            now = small
        now = now.copy()
        refine_bipartition(coarse, now, cap)
        again = project_to_finest(levels, now, cap, options)
        if rate_bipartition(h, again, cap) < rate_bipartition(h, side, cap):
            side = again
    return side


def sweep(h: Hypergraph, place: Floats, cap: Ints) -> Ints | None:
    """Return the cheapest cut of an order of the vertices that both caps allow; None without one."""
    values, rank = np.unique(place, return_inverse=True)
    if len(values) < 2:
        return None
    # A net is cut by every gap between its first and its last vertex.
    begun, ended = (np.bincount(end, h.cost, len(values)) for end in ends_of_nets(h, rank))
    change = begun - ended
    cut = np.cumsum(change)[:-1]
    left = np.cumsum(np.bincount(rank, weights=h.weight))[:-1]
    allowed = (left <= cap[0]) & (h.weight.sum() - left <= cap[1])
    if not allowed.any():
        middle = int(np.argmin(np.abs(left * cap.sum() - h.weight.sum() * cap[0])))
        return (rank > middle).astype(np.int64)
    return (rank > int(np.argmin(np.where(allowed, cut, np.inf)))).astype(np.int64)


# -- components ----------------------------------------------------------------------------------------


def component_labels(h: Hypergraph) -> Ints:
    """Return the connected component of each vertex, numbered by their first vertices."""
    by_net = sparse.csr_array((np.ones(len(h.pins)), h.pins, h.begin), (len(h.cost), h.n))
    _, label = components(by_net)
    _, first = np.unique(label, return_index=True)
    return np.argsort(np.argsort(first))[label].astype(np.int64)


def pack_components(sizes: Ints, cap: Ints) -> Ints | None:
    """Return the side of each component when all fit whole into the caps; None otherwise.

    Sums of sizes that can be had are the bits of one long number, one row per component.
    """
    if len(sizes) < 2:
        return None
    total = int(sizes.sum())
    least, most = max(0, total - int(cap[1])), min(total, int(cap[0]))
    if least > most or len(sizes) * total > 200_000_000:
        return None
    order = np.argsort(-sizes, kind="stable")
    reach = [1]
    for c in order:
        reach.append(reach[-1] | (reach[-1] << int(sizes[c])))
    goal = nearest_sum(reach[-1], least, most, round(total * int(cap[0]) / int(cap.sum())))
    if goal is None:
        return None
    side = np.ones(len(sizes), dtype=np.int64)
    for i in range(len(order), 0, -1):
        if not reach[i - 1] >> goal & 1:
            side[order[i - 1]] = 0
            goal -= int(sizes[order[i - 1]])
    return side


def nearest_sum(reach: int, least: int, most: int, middle: int) -> int | None:
    """Return the sum nearest to the middle that can be had within limits."""
    for step in range(max(middle - least, most - middle, 0) + 1):
        for goal in (middle - step, middle + step):
            if least <= goal <= most and reach >> goal & 1:
                return goal
    return None


def largest_first(
    h: Hypergraph, label: Ints, sizes: Ints, cap: Ints, options: Options, places: Sequence[Floats]
) -> Ints | None:
    """Cut only the largest component, and fill up with the others; None when that does not fit."""
    big = int(np.argmax(sizes))
    if 2 * sizes[big] < sizes.sum() and len(sizes) <= 3:
        return None
    inside = np.flatnonzero(label == big)
    part = induce_subhypergraph(h, inside)
    own = bisect_connected(part, np.minimum(cap, sizes[big]), options, [p[inside] for p in places])
    total = np.bincount(own, weights=part.weight, minlength=2).astype(np.int64)
    side = np.empty(h.n, dtype=np.int64)
    side[inside] = own
    others = np.flatnonzero(np.arange(len(sizes)) != big)
    goes = np.zeros(len(sizes), dtype=np.int64)
    for c in others[np.argsort(-sizes[others], kind="stable")]:
        goes[c] = int(np.argmax((cap - total) / cap))
        total[goes[c]] += sizes[c]
    if (total > cap).any():
        return None
    rest = label != big
    side[rest] = goes[label[rest]]
    return side


def induce_subhypergraph(h: Hypergraph, vertices: Ints) -> Hypergraph:
    """Return the hypergraph on some vertices with the nets that lie wholly among them.

    Nets that reach outside are cut already whatever is done inside.
    """
    number = np.full(h.n, -1, dtype=np.int64)
    number[vertices] = np.arange(len(vertices))
    own = number[h.pins]
    whole = ends_of_nets(h, number)[0] >= 0
    nets = nets_of_pins(h)
    keep = whole[nets]
    return build_hypergraph(own[keep], nets[keep], h.weight[vertices], h.cost)


# -- other ways ----------------------------------------------------------------------------------------


def best_bipartition(h: Hypergraph, cap: Ints) -> Ints:
    """Return the cheapest bipartition of all in which no side is empty; at most 20 vertices with nets.

    Vertices of no net that weigh 1 or nothing fill up whichever side has room.
    """
    filler = (np.bincount(h.pins, minlength=h.n) == 0) & (h.weight <= 1)
    tried = np.flatnonzero(~filler)
    n = len(tried)
    if n > EXACT:
        raise InputError(
            f"method 'exact' tries every bipartition and takes at most {EXACT} vertices; "
            f"here are {n:,}. Use method='multilevel'."
        )
    sides = np.arange(2**n, dtype=np.int64)
    heavy = np.zeros(len(sides), dtype=np.int64)
    bit = np.zeros(h.n, dtype=np.int64)
    for place, v in enumerate(tried.tolist()):
        bit[v] = 1 << place
        heavy += (sides >> place & 1) * h.weight[v]
    cut = np.zeros(len(sides), dtype=np.int64)
    for e in range(len(h.cost)):
        mask = int(bit[h.pins[h.begin[e] : h.begin[e + 1]]].sum())
        touched = sides & mask
        cut += h.cost[e] * ((touched != 0) & (touched != mask))
    total = int(h.weight[tried].sum())
    bare = ((sides == 0) | (sides == len(sides) - 1)) & (not filler.any())
    excess = np.maximum(heavy - cap[1], 0) + np.maximum(total - heavy - cap[0], 0)
    order = np.lexsort((np.abs(heavy * cap.sum() - total * cap[1]), cut, excess, bare))
    side = np.zeros(h.n, dtype=np.int64)
    side[tried] = int(sides[order[0]]) >> np.arange(n) & 1
    fill_up(side, np.flatnonzero(filler), h.weight, cap)
    return side


def fill_up(side: Ints, fillers: Ints, weight: Ints, cap: Ints) -> None:
    """Give light vertices to the side that has most room, an empty one first (changes ``side``)."""
    rest = np.ones(len(side), dtype=bool)
    rest[fillers] = False
    held = np.bincount(side[rest], weights=weight[rest], minlength=2)
    number = np.bincount(side[rest], minlength=2)
    for v in fillers.tolist():
        goes = int(np.argmin(number)) if number.min() == 0 else int(np.argmax(cap - held))
        side[v] = goes
        held[goes] += weight[v]
        number[goes] += 1


def by_mtkahypar(h: Hypergraph, cap: Ints, options: Options) -> Ints:
    """Cut with Mt-KaHyPar (Gottesbüren, Heuer, Maas, Sanders and Schlag 2024), where it is installed."""
    if importlib.util.find_spec("mtkahypar") is None:
        raise InputError("method 'mtkahypar' needs the package mtkahypar; use method='multilevel'")
    mtkahypar = importlib.import_module("mtkahypar")
    engine = mtkahypar_engine()
    context = engine.context_from_preset(mtkahypar.PresetType.DEFAULT)
    context.logging = False
    context.set_partitioning_parameters(2, 0.0, mtkahypar.Objective.CUT)
    context.set_individual_target_block_weights([int(c) for c in cap])
    mtkahypar.set_seed(int(options.rng.integers(2**31)))
    edges = [h.pins[a:b].tolist() for a, b in zip(h.begin[:-1], h.begin[1:], strict=True)]
    graph = engine.create_hypergraph(
        context, h.n, len(edges), edges, h.weight.tolist(), h.cost.tolist()
    )
    found = np.array(graph.partition(context).get_partition(), dtype=np.int64)
    options.note("mtkahypar", h.n, rate_bipartition(h, found, cap)[1])
    return found


@functools.cache
def mtkahypar_engine() -> Any:
    """Return the engine, started once with one thread."""
    return importlib.import_module("mtkahypar").initialize(1)


# -- many blocks ----------------------------------------------------------------------------------------


def partition(
    h: Hypergraph,
    k: int,
    eps: float,
    options: Options,
    *,
    splits: Sequence[int] | None = None,
    places: Sequence[Floats] = (),
) -> Ints:
    """Return the block of each vertex, by recursive bisection or by a plan of splits.

    Each block weighs at most ceil((1 + eps) weight / k). A plan names, one after the other, the block to
    cut in two; its halves take its number and the next, and later blocks move up by one.
    """
    if splits is not None:
        return follow_split_plan(h, splits, eps, options, places)
    part = np.zeros(h.n, dtype=np.int64)
    limit = upper_limit(int(h.weight.sum()), k, eps)

    def divide(vertices: Ints, k: int, first: int) -> None:
        """Give some vertices the blocks first, ..., first + k - 1."""
        part[vertices] = first
        if k == 1 or not len(vertices):
            return
        cap = caps(int(h.weight[vertices].sum()), k, limit)
        side = cut_vertices(h, vertices, cap, options, places)
        left = (k + 1) // 2
        divide(vertices[side == 0], left, first)
        divide(vertices[side == 1], k - left, first + left)

    divide(np.arange(h.n), k, 0)
    if 2 < k <= PAIRED and options.way in ("multilevel", "single_level"):
        part = refine_block_pairs(h, part, k, limit, options)
    return part


def upper_limit(weight: int, k: int, eps: float) -> int:
    """Return the weight that a block may have."""
    return int(np.ceil((1 + eps) * weight / k - 1e-9))


def cut_vertices(
    h: Hypergraph, vertices: Ints, cap: Ints, options: Options, places: Sequence[Floats]
) -> Ints:
    """Return the sides of some vertices, of which one more split is made."""
    sub = induce_subhypergraph(h, vertices)
    side = bisect(sub, cap, options, [p[vertices] for p in places])
    options.split += 1
    return side


def caps(weight: int, k: int, limit: int) -> Ints:
    """Return what the sides of a bisection may weigh when they become (k+1)/2 and k/2 blocks.

    The room that the limit leaves is spread evenly over the bisections still to come.
    """
    left = (k + 1) // 2
    depth = int(np.ceil(np.log2(k)))
    room = max(1.0, limit * k / max(1, weight)) ** (1 / depth)
    shares = (left, k - left)
    return np.array(
        [max(1, min(limit * s, int(np.ceil(room * weight * s / k - 1e-9)))) for s in shares],
        dtype=np.int64,
    )


def follow_split_plan(
    h: Hypergraph,
    splits: Sequence[int],
    eps: float,
    options: Options,
    places: Sequence[Floats],
) -> Ints:
    """Follow a plan of splits, each into halves."""
    part = np.zeros(h.n, dtype=np.int64)
    for count, block in enumerate(splits, 1):
        if not 0 <= block < count:
            raise InputError(
                f"split {count} names block {block}, and there are only the blocks 0 to {count - 1}"
            )
        vertices = np.flatnonzero(part == block)
        limit = upper_limit(int(h.weight[vertices].sum()), 2, eps)
        cap = np.full(2, limit, dtype=np.int64)
        side = cut_vertices(h, vertices, cap, options, places)
        part[part > block] += 1
        part[vertices] = block + side
    return part


def refine_block_pairs(h: Hypergraph, part: Ints, k: int, limit: int, options: Options) -> Ints:
    """Refine pairs of blocks: only nets that lie in two of them can still be won."""
    part = part.copy()
    cap = np.full(2, limit, dtype=np.int64)
    for _ in range(3):
        gained = False
        for a in range(k):
            for b in range(a + 1, k):
                vertices = np.flatnonzero((part == a) | (part == b))
                sub = induce_subhypergraph(h, vertices)
                if not len(sub.cost):
                    continue
                options.tick()
                side = (part[vertices] == b).astype(np.int64)
                was = rate_bipartition(sub, side, cap)
                refine_bipartition(sub, side, cap)
                if rate_bipartition(sub, side, cap) < was:
                    part[vertices] = np.where(side == 1, b, a)
                    gained = True
        if not gained:
            break
    options.note("pairs of blocks", h.n, many_cut(h, part))
    return part


def many_cut(h: Hypergraph, part: Ints) -> int:
    """Return the cost of the nets that lie in more than one block."""
    low, high = ends_of_nets(h, part)
    return int(h.cost[high > low].sum())


def nets_of_pins(h: Hypergraph) -> Ints:
    """Return the net of each entry of ``pins``."""
    return np.repeat(np.arange(len(h.cost), dtype=np.int64), np.diff(h.begin))


def ends_of_nets(h: Hypergraph, values: Ints) -> tuple[Ints, Ints]:
    """Return the least and the largest value of the vertices of each net."""
    if not len(h.cost):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    own, first = values[h.pins], h.begin[:-1]
    return np.minimum.reduceat(own, first), np.maximum.reduceat(own, first)
