"""2-microaggregation within twice the optimum: minimum-weight [1,2]-factors.

A [1,2]-factor of a graph is a set of edges that meets every vertex once or twice. With squared distances as
weights its cheapest one, F, consists of pairs and of paths of three, and these are the groups:

    SSE(groups of F) <= w(F) <= 2 SSE(optimal groups),

so that w(F) / 2 is a lower bound on the SSE of any groups of at least two. Both inequalities are consequences
of 1/2 <= SSE / w <= 1 in every group of two or three records, w its one or two cheapest edges.
"""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field, field_validator
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.context import ignore_progress
from tacit.errors import (
    Approximate,
    Infeasible,
    InputError,
    InvalidParameter,
    LimitReached,
    WeakProtection,
    require,
)
from tacit.fields import PositiveInt
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick, group_sizes
from tacit.records.microaggregation.grouping.near import Space, connected_parts
from tacit.records.microaggregation.grouping.pairs import find_cheapest_pairing
from tacit.registry import register
from tacit.solve import Highs, LinearModel

#: Records solved as a whole, and records in each block of larger files.
WHOLE = 20_000
BLOCK = 10_000
#: A group that many times wider than the median group holds an outlier.
OUTLIER = 10.0
#: Edge weights are scaled to whole numbers of this size for the matching.
SCALE = 2.0**40


@register
class TwoApproximation(GroupingMethod):
    """Replace numbers by the means of pairs and triples whose loss is at most twice the least possible.

    Records are joined by edges of weight squared distance. The cheapest set F of edges that gives every
    record one or two consists of pairs and paths of three, which are the groups, and

        SSE(groups) <= weight of F <= 2 SSE(optimum).

    Files of more than 20,000 records are solved in blocks; a warning then says which bound is left.

    References
    ----------
    Domingo-Ferrer, Sebé (2006), Optimal multivariate 2-microaggregation for microdata protection: a
    2-approximation, PSD 2006, LNCS 4302, 129-138.
    """

    kind: Literal["two_approximation"] = "two_approximation"
    k: int = Field(
        default=2, ge=2, description="smallest number of records in a group: 2, no other"
    )
    neighbours: PositiveInt | None = Field(
        default=None, description="nearest neighbours joined to a record; by default all"
    )

    @field_validator("k")
    @classmethod
    def _two(cls, k: int) -> int:
        if k != 2:
            raise ValueError(
                "two_approximation works for k = 2 only; use mdav, v_mdav or mu_approximation"
            )
        return k

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        del rng
        found = two_microaggregation(x, neighbours=self.neighbours, tick=tick)
        if not found.proven:
            warnings.warn(
                f"two_approximation: the factor is not proven the minimum over all pairs of records; the SSE is at most {found.ratio:.2f} times the optimum",
                Approximate,
                stacklevel=2,
            )
        if found.outlying > OUTLIER:
            warnings.warn(
                f"two_approximation: a group is more than {OUTLIER:.0f} times as wide as the median group, so that its mean gives an outlier away; remove or top-code outliers, or use a larger k",
                WeakProtection,
                stacklevel=2,
            )
        return found.labels


# -- groups ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TwoMicroaggregation:
    """Groups of two and three records, and how far they are from the optimum.

    Attributes
    ----------
    labels
        The group of each record.
    edges
        The edges of the factor, one row each.
    weight
        Its weight w(F): the sum of squared distances.
    sse, total
        SSE of the groups, and SST.
    bound
        No groups of at least two records have a smaller SSE; w(F) / 2 when F is proven the minimum over
        all pairs of records. With ``fixed_size_2`` it holds for groups of exactly two.
    proven
        True when F is proven the minimum.
    lemma
        SSE / w of each group, between 1/2 and 1.
    outlying
        The width of the widest group in median widths; widths of 0 are left out.
    """

    labels: Ints
    edges: Ints
    weight: float
    sse: float
    total: float
    bound: float
    proven: bool
    lemma: Floats
    outlying: float

    @property
    def percent(self) -> float:
        """Return 100 SSE / SST; 0 when all records are alike."""
        return 100.0 * self.sse / self.total if self.total > 0 else 0.0

    @property
    def ratio(self) -> float:
        """Return SSE / bound: at most this many times the optimum; at most 2 when F is the minimum."""
        if self.sse <= 0:
            return 1.0
        return self.sse / self.bound if self.bound > 0 else np.inf


def two_microaggregation(
    x: Floats | None = None,
    *,
    distances: Floats | None = None,
    neighbours: int | None = None,
    fixed_size_2: Literal["optimal"] | None = None,
    tick: Tick = ignore_progress,
) -> TwoMicroaggregation:
    """Return groups of two and three records whose SSE is at most twice the optimum.

    The minimum-weight [1,2]-factor over all pairs of records is found, and proven, as the cheapest partition
    into pairs and triples (see ``_pairs``), which takes seconds for 1,000 records where general matching
    on the complete graph takes minutes. Records beyond 20,000 are first split at medians into blocks of at
    most 10,000, each solved to its minimum.

    Parameters
    ----------
    x
        Records, n x p, standardised if that is wanted.
    distances
        Instead of x: a symmetric matrix of distances, of any metric, also on categories. The SSE of a pair
        is then d^2 / 2 and that of a triple the sum of its squared distances over 3.
    neighbours
        Look only at edges between records of which one is among this many nearest of the other.
    fixed_size_2
        ``"optimal"``: groups of exactly two, which a perfect matching makes optimal among such groups.
    tick
        Told about progress.
    """
    if x is not None and distances is None:
        space = Space.of_records(x)
    elif distances is not None and x is None:
        space = Space.of_distances(distances)
    else:
        raise InputError("give the records or their distances, one of them")
    if fixed_size_2 is not None and space.n % 2:
        raise InputError("groups of exactly two need an even number of records")
    if fixed_size_2 is not None and neighbours is not None:
        raise InputError("give neighbours or fixed_size_2, not both")
    if neighbours is not None:
        factor = minimum_factor(space.n, *near_edges(space, neighbours))
        return describe_groups(space, connected_parts(space.n, factor.edges))
    cost: Literal["factor", "pairs"] = "factor" if fixed_size_2 is None else "pairs"
    if space.n > WHOLE:
        if not space.euclidean:
            raise LimitReached(
                f"distances are taken as a whole for up to {WHOLE:,} records; give neighbours"
            )
        return describe_groups(space, by_blocks(space.x, cost, tick))
    found = find_cheapest_pairing(space, cost, tick)
    return describe_groups(space, found.labels, found.bound, proven=found.proven, cost=cost)


def by_blocks(x: Floats, cost: Literal["factor", "pairs"], tick: Tick) -> Ints:
    """Return the groups of blocks solved one by one."""
    labels = np.empty(len(x), dtype=np.int64)
    groups = done = 0
    for block in median_blocks(x, BLOCK):
        tick("blocks of records", done / len(x))
        found = find_cheapest_pairing(Space.of_records(x[block]), cost, tick).labels
        labels[block] = found + groups
        groups += int(found.max()) + 1
        done += len(block)
    return labels


def median_blocks(x: Floats, most: int) -> list[Ints]:
    """Return blocks of near records, split at the median of the column that varies most.

    All blocks but one have an even number of records.
    """
    waiting, done = [np.arange(len(x))], []
    while waiting:
        block = waiting.pop()
        if len(block) <= most:
            done.append(block)
            continue
        values = x[block, x[block].var(axis=0).argmax()]
        half = len(block) // 4 * 2
        order = block[np.argsort(values, kind="stable")]
        waiting += [order[half:], order[:half]]
    return done


# -- what was found ----------------------------------------------------------------------------


def describe_groups(
    space: Space,
    labels: Ints,
    least: float | None = None,
    *,
    proven: bool = False,
    cost: Literal["factor", "pairs"] = "factor",
) -> TwoMicroaggregation:
    """Return groups with all that is known of them, checked: sizes, the lemma and the bound.

    ``least`` is a lower bound on the weight; without it the bound is that of nearest neighbours.
    """
    sizes, sides, ends = triangles(space, labels)
    three = sizes == 3
    edge, all_sides = sides[:, 0], sides.sum(axis=1)
    sse = np.where(three, all_sides / 3.0, edge / 2.0)
    weight = np.where(three, all_sides - sides.max(axis=1), edge)
    lemma = np.divide(sse, weight, out=np.full(len(sse), 0.5), where=weight > 0)
    if lemma.min() < 0.5 - 1e-9 or lemma.max() > 1.0 + 1e-9:
        raise InputError(
            "the distances break the triangle inequality, so that nothing is known of the optimum; give distances of a metric"
        )
    kept = np.arange(3) != sides.argmax(axis=1)[:, None]
    kept[~three] = (True, False, False)
    widths = np.sqrt(sides.max(axis=1))
    widths = widths[widths > 0]
    if least is None:
        least = float(space.between(np.arange(space.n), space.near(1)[:, 0]).sum()) / 2.0
    found = TwoMicroaggregation(
        labels,
        edges=np.sort(ends[kept], axis=1),
        weight=float(weight.sum()),
        sse=float(sse.sum()),
        total=space.total(),
        bound=min(least / 2.0, float(sse.sum())),
        proven=proven,
        lemma=lemma,
        outlying=float(widths.max() / np.median(widths)) if len(widths) else 1.0,
    )
    # The guarantee, recomputed on every run.
    most = 1.0 if cost == "pairs" else 2.0
    assert not proven or found.ratio <= most + 1e-6, "the factor is not the minimum"
    return found


def triangles(space: Space, labels: Ints) -> tuple[Ints, Floats, Ints]:
    """Return the size of each group, its three squared sides, and their ends; a pair repeats a record."""
    order = np.argsort(labels, kind="stable")
    sizes = group_sizes(labels)
    assert set(sizes.tolist()) <= {2, 3}, "a group has neither two nor three records"
    first = np.cumsum(sizes) - sizes
    a, b, c = order[first], order[first + 1], order[first + sizes - 1]
    ends = np.stack([np.column_stack(two) for two in ((a, b), (a, c), (b, c))], axis=1)
    sides = np.column_stack([space.between(two[:, 0], two[:, 1]) for two in ends.swapaxes(0, 1)])
    return sizes, sides, ends


# -- factors of any graph ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Factor:
    """A [1,2]-factor."""

    #: Its edges, one row each.
    edges: Ints
    #: The sum of their weights.
    weight: float


def minimum_factor(
    n: int,
    edges: Ints,
    weights: Floats,
    *,
    solver: Literal["auto", "matching", "programme"] = "auto",
) -> Factor:
    """Return the set of edges of least weight that meets each of n vertices once or twice.

    ``matching`` reduces it to a matching: every vertex v has a copy v' that must be matched and a copy v''
    that may be, and an edge uv of weight w becomes u'v', u'v'' and v'u''. A maximum-weight matching with
    weights 2B - w and B - w, B above the sum of all w used, covers all v' if that is possible at all. It needs the package
    rustworkx. ``programme`` solves the integer program. ``auto`` takes the first if its package is there.
    """
    if len(weights) != len(edges) or not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("a factor needs one finite weight, not negative, for each edge")
    if len(edges) and (edges.min() < 0 or edges.max() >= n or (edges[:, 0] == edges[:, 1]).any()):
        raise InputError("edges must join two different vertices of 0 to n - 1")
    if solver == "auto":
        solver = "matching" if importlib.util.find_spec("rustworkx") else "programme"
    pairs, price = keep_lightest_edges(edges, weights)
    solve = by_matching if solver == "matching" else by_programme
    used = solve(n, pairs, price) if len(pairs) else None
    if used is None:
        raise Infeasible(
            "the graph has no set of edges that meets every vertex once or twice; add edges, or raise neighbours"
        )
    used = trim_inner_edges(n, pairs, price, used)
    return Factor(pairs[used], float(price[used].sum()))


def keep_lightest_edges(edges: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """Return each edge once, with its least weight."""
    pairs = np.sort(edges, axis=1)
    order = np.lexsort((weights, pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    first = np.ones(len(pairs), dtype=np.bool_)
    first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    return pairs[first], weights[order][first]


def by_matching(n: int, edges: Ints, weights: Floats) -> Ints | None:
    """Return the edges of the factor through a maximum-weight matching, or None."""
    try:
        import rustworkx
    except ImportError:
        raise require("rustworkx", "models", "A factor by matching") from None
    whole = np.rint(weights / (float(weights.max()) or 1.0) * SCALE).astype(np.int64)
    # Covering one vertex more is worth more than all edges together.
    big = (2 * n + 1) * int(whole.max()) + 1
    u, v = edges.T
    a, b = np.concatenate([u, u, v]), np.concatenate([v, v + n, u + n])
    value = np.concatenate([2 * big - whole, big - whole, big - whole])
    graph = rustworkx.PyGraph(multigraph=True)
    graph.add_nodes_from(range(2 * n))
    graph.add_edges_from(list(zip(a.tolist(), b.tolist(), value.tolist(), strict=True)))
    matched = np.array(list(rustworkx.max_weight_matching(graph, weight_fn=int)), dtype=np.int64)
    if len(np.unique(matched[matched < n])) < n:
        return None
    ends = np.sort(matched % n, axis=1)
    return np.unique(np.searchsorted(u * n + v, ends[:, 0] * n + ends[:, 1]))


def by_programme(n: int, edges: Ints, weights: Floats) -> Ints | None:
    """Return the edges of the factor by integer programming, or None."""
    m = len(edges)
    lp = Highs(
        LinearModel.of(
            weights / (float(weights.mean()) or 1.0),
            sparse.csc_array(
                (np.ones(2 * m), (edges.ravel(), np.repeat(np.arange(m), 2))), shape=(n, m)
            ),
            1.0,
            2.0,
            0.0,
            1.0,
            integer=np.ones(m, dtype=np.bool_),
        ),
        options={"mip_abs_gap": 0.0, "random_seed": 0},
    )
    solution = lp.solve(gap=0.0)
    return None if solution.x is None else np.flatnonzero(solution.x > 0.5)


def trim_inner_edges(n: int, edges: Ints, weights: Floats, used: Ints) -> Ints:
    """Return the edges without inner ones, which ties may leave: components are pairs and paths of three."""
    degree = np.bincount(edges[used].ravel(), minlength=n)
    kept = np.ones(len(used), dtype=np.bool_)
    inner = np.flatnonzero((degree[edges[used]] == 2).all(axis=1))
    for i in inner[np.argsort(-weights[used[inner]], kind="stable")]:
        if (degree[edges[used[i]]] == 2).all():
            degree[edges[used[i]]] -= 1
            kept[i] = False
    return used[kept]


def near_edges(space: Space, count: int) -> tuple[Ints, Floats]:
    """Return the edges between records of which one is among the nearest of the other, and weights."""
    if count < 1:
        raise InvalidParameter("neighbours must be at least 1")
    near = space.near(count)
    here = np.repeat(np.arange(space.n), near.shape[1])
    edges = np.unique(np.sort(np.column_stack([here, near.ravel()]), axis=1), axis=0)
    return edges, space.between(edges[:, 0], edges[:, 1])
