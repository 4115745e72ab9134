"""The object migrating automaton of Fayyoumi and Oommen."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import Approximate, InputError
from tacit.fields import PositiveFloat, PositiveInt
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick, group_means, group_sizes, loss
from tacit.records.microaggregation.grouping.mdav_groups import (
    compute_squared_distances,
    form_mdav_groups,
)
from tacit.records.microaggregation.grouping.tree import neighbours as nearest_of
from tacit.registry import register
from tacit.stats.ranks import rank_within

Order = Literal["row", "distance", "random"]

#: Records up to which all pairs are looked at by default; beyond, pairs of near records are.
ALL_PAIRS = 6000
#: Nearest records of a record that form pairs with it in larger files.
NEIGHBOURS = 50
#: Pairs visited between two ticks.
BATCH = 2_000_000
#: An exchange must lower SSE by more than this.
TOLERANCE = 1e-12
#: Pairs whose distances are held at a time.
CHUNK = 4_000_000


@register
class LearningAutomaton(GroupingMethod):
    """Replace numbers by the means of groups that pairs of similar records rearrange (learning automaton).

    Pairs of records closer than ``theta`` are visited again and again. A pair in one group makes both
    records surer of it, up to ``memory`` states deep; a pair in two groups makes them less sure, and at the
    border one moves to the other's group in exchange for that group's least sure record, if that lowers the
    loss. The best of several random starts is kept; the loss is never above that of its start.

    References
    ----------
    Fayyoumi, Oommen (2006), A fixed structure learning automaton micro-aggregation technique for secure
    statistical databases, PSD 2006, LNCS 4302, 114-128.
    """

    kind: Literal["learning_automaton"] = "learning_automaton"
    memory: PositiveInt = Field(
        default=3, description="states of certainty that a record passes through"
    )
    theta: PositiveFloat | None = Field(
        default=None,
        description="largest distance of a pair that is visited; by default half the range of distances",
    )
    restarts: PositiveInt = Field(default=10, description="random starts; the best result is kept")
    start: Literal["random", "mdav"] = Field(default="random", description="the first partition")
    neighbours: PositiveInt | None = Field(
        default=None,
        description="nearest neighbours paired with a record; by default all in small files",
    )

    draws: ClassVar[bool] = True

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        return best_run(x, self.k, rng=rng, tick=tick, **self.own_parameters()).labels


@dataclass(frozen=True)
class Omma:
    """What a run of the automaton led to."""

    #: The group of each record.
    labels: Ints
    #: Loss (100 SSE / SST) of the first partition.
    start: float
    #: Loss after each cycle; it never rises.
    losses: tuple[float, ...]
    #: Exchanges made: cycle (from 1), record that moved to its partner, record that made room for
    #: it.
    swaps: Ints
    #: Largest distance of a pair, or None where nearest records were paired.
    theta: float | None
    #: Pairs visited, and those still active in the end.
    tuples: int
    active: int

    @property
    def cycles(self) -> int:
        """Return how often the pairs were gone through."""
        return len(self.losses)

    @property
    def percent(self) -> float:
        """Return the loss, 100 SSE / SST."""
        return self.losses[-1] if self.losses else self.start


def best_run(
    x: Floats,
    k: int,
    *,
    rng: np.random.Generator,
    tick: Tick = lambda _message, _share: None,
    memory: int = 3,
    theta: float | None = None,
    restarts: int = 10,
    start: Literal["random", "mdav"] = "random",
    neighbours: int | None = None,
) -> Omma:
    """Return the run of :func:`omma` with the lowest loss.

    ``start="mdav"`` begins the first run with the groups of MDAV with one seed, the others at random.
    """
    check(x, k, strict_size=False)
    pairs = similar_pairs(x, theta=theta, neighbours=neighbours, rng=rng)
    best: Omma | None = None
    for run in range(restarts):
        tick("learning automaton", run / restarts)
        first: Literal["random", "mdav"] = start if run == 0 else "random"
        found = omma(x, k, rng=rng, tick=tick, memory=memory, start=first, pairs=pairs)
        if best is None or found.percent < best.percent:
            best = found
    assert best is not None
    return best


@dataclass(frozen=True)
class Pairs:
    """Pairs of similar records, i before j, in the order of visits; see :func:`similar_pairs`."""

    i: Ints
    j: Ints
    theta: float | None


def omma(
    x: Floats,
    k: int,
    *,
    rng: np.random.Generator,
    tick: Tick = lambda _message, _share: None,
    memory: int = 3,
    theta: float | None = None,
    neighbours: int | None = None,
    start: Literal["random", "mdav"] | Ints = "random",
    order: Order = "row",
    max_cycles: int = 100,
    accept_ties: bool = False,
    strict_size: bool = False,
    pairs: Pairs | None = None,
) -> Omma:
    """Run the object migrating microaggregated automaton once.

    Every record has a state from 1 (certain of its group) to ``memory`` (at the boundary, where all start).
    The pairs of similar records are visited in order, again and again. A pair within one group is rewarded:
    both records move a state towards 1. A pair across groups is punished: both move a state towards the
    boundary. Who is there already, is moved to the partner's group in exchange for one of its other
    records, the one that lowers SSE most; when no exchange lowers it, a pair with one record at the
    boundary is not visited again. When both are at the boundary, exchanges on both sides are tried, and
    the pair stays active. The run ends with a cycle that leaves the loss unchanged.

    Known errata of the paper: the pairs are those at a distance of *at most* theta; Case 2 has the
    boundary state of the second record's own group; Figure 3 shows the case with both at the boundary.
    The paper has n a multiple of k; otherwise some groups hold one record more (``strict_size`` refuses).

    Beyond the parameters of the Spec, ``start`` may hold labels, ``order`` takes the pairs by record number, by
    distance or shuffled, ``accept_ties`` makes exchanges that leave SSE as it is, too, and ``pairs`` are those
    found before with :func:`similar_pairs`, for several runs.
    """
    check(x, k, strict_size)
    x = np.ascontiguousarray(x, dtype=np.float64)
    labels = first_labels(x, k, start, rng, tick)
    if pairs is None:
        pairs = similar_pairs(x, theta=theta, neighbours=neighbours, order=order, rng=rng)
    if len(pairs.i) < len(x):
        warnings.warn(
            "learning_automaton: fewer pairs than records are close enough to be visited, so the groups hardly "
            "change from the first ones. Give neighbours, or a larger theta.",
            Approximate,
            stacklevel=2,
        )
    return run(x, labels, pairs, memory, max_cycles, accept_ties, tick)


def check(x: Floats, k: int, strict_size: bool) -> None:
    """Refuse what cannot be grouped."""
    if k < 2:
        raise InputError("learning_automaton: k must be at least 2")
    if len(x) < k:
        raise InputError(f"learning_automaton: groups of {k} need at least {k} records")
    if not np.isfinite(x).all():
        raise InputError("learning_automaton: missing and infinite values cannot be grouped")
    if strict_size and len(x) % k:
        raise InputError(f"learning_automaton: the number of records is not a multiple of {k}")


# -- the first partition ----------------------------------------------------------------------------


def first_labels(
    x: Floats,
    k: int,
    start: Literal["random", "mdav"] | Ints,
    rng: np.random.Generator,
    tick: Tick,
) -> Ints:
    """Return the partition to begin with."""
    if isinstance(start, str) and start == "mdav":
        return mdav_start(x, k, tick)
    if isinstance(start, str):
        # Groups of k drawn at random; of a remainder, one record each joins as many groups as it takes.
        labels = np.empty(len(x), dtype=np.int64)
        labels[rng.permutation(len(x))] = np.arange(len(x)) % (len(x) // k)
        return labels
    labels = np.unique(start, return_inverse=True)[1].astype(np.int64)
    if len(labels) != len(x) or group_sizes(labels).min() < k:
        raise InputError(
            f"learning_automaton: start must put every record into a group of at least {k}"
        )
    return labels


def mdav_start(x: Floats, k: int, tick: Tick) -> Ints:
    """Return the groups of MDAV with one seed; of a remainder, one record each joins the nearest group of k."""
    labels = form_mdav_groups(x, k, 1, tick)
    sizes = group_sizes(labels)
    last = int(sizes.argmax())
    while sizes[last] > k + 1 and (sizes == k).any():
        means = group_means(x, labels).T
        members = np.flatnonzero(labels == last)
        record = members[compute_squared_distances(x[members].T, means[:, last]).argmax()]
        distances = np.where(sizes == k, compute_squared_distances(means, x[record]), np.inf)
        labels[record] = distances.argmin()
        sizes = group_sizes(labels)
    return labels


# -- pairs ------------------------------------------------------------------------------------------


def similar_pairs(
    x: Floats,
    *,
    rng: np.random.Generator,
    theta: float | None = None,
    neighbours: int | None = None,
    order: Order = "row",
) -> Pairs:
    """Return the pairs of records at a distance of at most theta, or those of nearest records.

    When neither is given, theta is half the range of distances up to 6,000 records, and pairs are made of
    the 50 nearest records beyond.
    """
    n = len(x)
    if neighbours is None and theta is None and n > ALL_PAIRS:
        neighbours = NEIGHBOURS
    if neighbours is None:
        if theta is None:
            least, most = distance_range(x)
            theta = (most - least) / 2.0
        i, j = pairs_within(x, theta)
    else:
        near = nearest_of(x, min(neighbours, n - 1))
        a, b = np.repeat(np.arange(n), near.shape[1]), near.ravel()
        code = np.unique(np.minimum(a, b) * n + np.maximum(a, b))
        i, j = code // n, code % n
        if theta is not None:
            close = pair_distances(x, i, j) <= theta
            i, j = i[close], j[close]
    if order == "random":
        at = rng.permutation(len(i))
        i, j = i[at], j[at]
    elif order == "distance":
        at = np.argsort(pair_distances(x, i, j), kind="stable")
        i, j = i[at], j[at]
    return Pairs(i, j, theta)


def pair_distances(x: Floats, i: Ints, j: Ints) -> Floats:
    """Return the distance of each pair."""
    total = np.zeros(len(i))
    for column in x.T:
        total += (column[i] - column[j]) ** 2
    return np.sqrt(total)


def chunks(n: int) -> list[slice]:
    """Return runs of records whose distances to all others fit in memory."""
    step = max(1, CHUNK // n)
    return [slice(a, min(a + step, n)) for a in range(0, n, step)]


def later_distances(x: Floats, part: slice) -> Floats:
    """Return the distances of some records to all later ones; NaN to the others."""
    n = len(x)
    total = np.zeros((part.stop - part.start, n))
    for column in x.T:
        total += (column[part, None] - column) ** 2
    total[np.arange(part.start, part.stop)[:, None] >= np.arange(n)] = np.nan
    return np.sqrt(total)


def distance_range(x: Floats) -> tuple[float, float]:
    """Return the smallest and largest distance of two records."""
    ends = [
        (np.nanmin(d), np.nanmax(d))
        for d in (later_distances(x, part) for part in chunks(len(x)))
        if not np.isnan(d).all()
    ]
    return float(min(a for a, _ in ends)), float(max(b for _, b in ends))


def pairs_within(x: Floats, theta: float) -> tuple[Ints, Ints]:
    """Return the pairs at a distance of at most theta, by record number."""
    found = []
    for part in chunks(len(x)):
        a, b = np.nonzero(later_distances(x, part) <= theta)
        found.append((a + part.start, b))
    return tuple(np.concatenate(column) for column in zip(*found, strict=True))  # type: ignore[return-value]


# -- the automaton ----------------------------------------------------------------------------------


def run(
    x: Floats,
    labels: Ints,
    pairs: Pairs,
    memory: int,
    max_cycles: int,
    accept_ties: bool,
    tick: Tick,
) -> Omma:
    """Go through the pairs until a cycle leaves the loss unchanged."""
    labels = labels.copy()
    sizes = group_sizes(labels)
    centred = x - x.mean(axis=0)
    sums = np.zeros((len(sizes), x.shape[1]))
    np.add.at(sums, labels, centred)
    # The records of each group, ascending; -1 where a group has fewer than the largest.
    member = np.full((len(sizes), int(sizes.max())), -1, dtype=np.int64)
    member[labels, rank_within(labels)] = np.arange(len(labels))
    groups = Groups(centred, labels, member, sizes, sums)
    state = np.full(len(x), memory, dtype=np.int64)
    active = np.ones(len(pairs.i), dtype=np.bool_)
    visit = KERNELS.pick(20.0 * len(active) * x.shape[1])["visit"]
    made: list[Ints] = []
    losses: list[float] = []
    before = start = loss(x, labels).percent
    while len(losses) < max_cycles:
        for first in range(0, len(active), BATCH):
            tick("learning automaton", None)
            at = slice(first, first + BATCH)
            limit = 0.0 if accept_ties else -TOLERANCE
            swaps = visit(groups, pairs.i[at], pairs.j[at], active[at], state, memory, limit)
            made.append(np.column_stack([np.full(len(swaps), len(losses) + 1), swaps]))
        losses.append(loss(x, labels).percent)
        if losses[-1] == before:
            break
        before = losses[-1]
    swaps = np.concatenate(made) if made else np.empty((0, 3), dtype=np.int64)
    return Omma(labels, start, tuple(losses), swaps, pairs.theta, len(active), int(active.sum()))


class Groups(NamedTuple):
    """A partition as it changes: records (centred), their labels, and each group's records, size and sums."""

    x: Floats
    labels: Ints
    member: Ints
    sizes: Ints
    sums: Floats


def exchange_change(g: Groups, one: int, other: int) -> float:
    """Return the change of SSE when two records of different groups change places."""
    v, u = g.labels[one], g.labels[other]
    square = to_u = to_v = 0.0
    for t in range(g.x.shape[1]):
        e = g.x[one, t] - g.x[other, t]
        square += e * e
        to_u += g.sums[u, t] * e
        to_v += g.sums[v, t] * e
    return -(2.0 * to_u + square) / g.sizes[u] - (square - 2.0 * to_v) / g.sizes[v]


def best_exchange(g: Groups, one: int, partner: int) -> tuple[float, int]:
    """Return the lowest change of SSE when a record joins its partner, and who makes room."""
    best, who = np.inf, -1
    u = g.labels[partner]
    for t in range(g.sizes[u]):
        other = g.member[u, t]
        if other != partner:
            change = exchange_change(g, one, other)
            if change < best:
                best, who = change, other
    return best, who


def exchange(g: Groups, one: int, other: int) -> None:
    """Let two records change places."""
    v, u = g.labels[one], g.labels[other]
    for t in range(g.sizes[v]):
        if g.member[v, t] == one:
            g.member[v, t] = other
    for t in range(g.sizes[u]):
        if g.member[u, t] == other:
            g.member[u, t] = one
    for t in range(g.x.shape[1]):
        e = g.x[one, t] - g.x[other, t]
        g.sums[u, t] += e
        g.sums[v, t] -= e
    g.labels[one] = u
    g.labels[other] = v


def visit(
    g: Groups, first: Ints, second: Ints, active: Flags, state: Ints, memory: int, limit: float
) -> Ints:
    """Visit pairs once; return the exchanges made, who came and who made room."""
    made = np.empty((16, 2), dtype=np.int64)
    n_made = 0
    for t in range(len(first)):
        if not active[t]:
            continue
        i, j = first[t], second[t]
        if g.labels[i] == g.labels[j]:
            state[i] = max(state[i] - 1, 1)
            state[j] = max(state[j] - 1, 1)
            continue
        i_moves, j_moves = state[i] == memory, state[j] == memory
        if not i_moves and not j_moves:
            state[i] += 1
            state[j] += 1
            continue
        change, comes, goes = np.inf, -1, -1
        if j_moves:
            change, goes = best_exchange(g, j, i)
            comes = j
        if i_moves:
            other_change, other_goes = best_exchange(g, i, j)
            if other_change < change - TOLERANCE:
                change, comes, goes = other_change, i, other_goes
        if change <= limit:
            exchange(g, comes, goes)
            state[comes] = memory
            state[goes] = memory
            if n_made == len(made):
                larger = np.empty((2 * n_made, 2), dtype=np.int64)
                larger[:n_made] = made
                made = larger
            made[n_made, 0] = comes
            made[n_made, 1] = goes
            n_made += 1
        elif i_moves != j_moves:
            active[t] = False
    return made[:n_made].copy()


KERNELS = Kernels(globals(), exchange_change, best_exchange, exchange, visit)
