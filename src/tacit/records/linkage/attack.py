"""Attacks by distance: whose nearest record is their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError
from tacit.records.linkage.assignment import Pairing, all_distances, check_size, pair_files
from tacit.records.linkage.metrics import (
    Metric,
    Polynomial,
    Quadratic,
    Radial,
    Side,
    Standardised,
    covariance,
    find_identity_basis,
    known_scale,
)
from tacit.records.linkage.nearest import (
    Links,
    Tick,
    compute_squared_distances,
    find_nearest_rows,
    ignore_progress,
    match_probability,
    tie_limit,
)
from tacit.records.linkage.rows import distinct_rows

Direction = Literal["original_to_released", "released_to_original"]
Ties = Literal["first", "unique", "expected", "any"]
TieRule = Annotated[
    Ties,
    Field(
        description="how a record counts that ties with others: first in the file, only when alone, by its chance, or always"
    ),
]

TIE_RULES: tuple[Ties, ...] = ("first", "unique", "expected", "any")
#: A reading of the covariance is taken for real when what contradicts it is this small a share.
CONTRADICTION = 0.01
#: Residual variance, as a share of the total, that counts as none.
NOTHING = 1e-9
#: A chance this close to 1 is certain.
SURE = 1e-9
#: Records with which an intruder trains; more do not change a covariance of a few columns.
TRAINING = 5000


@dataclass(frozen=True)
class Files:
    """An original and a released file on the columns that the intruder knows, one row per record, NaN where missing.

    ``old`` and ``new`` are the positions of the records that are in both. Released numbers that were left alone (``kept``) help to
    guess how the others were masked. The ``direction`` says whose nearest record is looked for; links stay within a
    ``block``, given by number for original and released records.
    """

    original: Floats
    released: Floats
    old: Ints
    new: Ints
    kept: Floats | None = None
    direction: Direction = "original_to_released"
    block: tuple[Ints, Ints] | None = None

    @property
    def sides(self) -> tuple[Side, Side]:
        """Return which file asks and which is searched."""
        if self.direction == "original_to_released":
            return "original", "released"
        return "released", "original"

    @property
    def queries(self) -> Floats:
        """Return the records whose nearest one is looked for."""
        return self.original if self.sides[0] == "original" else self.released

    @property
    def targets(self) -> Floats:
        """Return the records among which it is looked for."""
        return self.released if self.sides[0] == "original" else self.original

    @property
    def truth(self) -> Ints:
        """Return the position of each query's own record among the targets; -1 where there is none."""
        found = np.full(len(self.queries), -1, dtype=np.int64)
        if self.sides[0] == "original":
            found[self.old] = self.new
        else:
            found[self.new] = self.old
        return found

    def columns(self, at: Ints) -> Files:
        """Return the files on some of the columns."""
        return replace(self, original=self.original[:, at], released=self.released[:, at])

    def sorted(self) -> Files:
        """Return the files with their records in the order of the values."""
        left, right = (np.lexsort(x.T[::-1]) for x in (self.original, self.released))
        to_left, to_right = np.argsort(left), np.argsort(right)
        block = None if self.block is None else (self.block[0][left], self.block[1][right])
        return replace(
            self,
            original=self.original[left],
            released=self.released[right],
            old=to_left[self.old],
            new=to_right[self.new],
            kept=None if self.kept is None else self.kept[right],
            block=block,
        )

    def some(self, rows: Ints) -> Files:
        """Return the files with some of the queries only."""
        own = self.truth[rows]
        here, there = np.flatnonzero(own >= 0), own[own >= 0]
        if self.sides[0] == "original":
            block = None if self.block is None else (self.block[0][rows], self.block[1])
            return replace(self, original=self.original[rows], old=here, new=there, block=block)
        block = None if self.block is None else (self.block[0], self.block[1][rows])
        return replace(self, released=self.released[rows], old=there, new=here, block=block)


@dataclass(frozen=True)
class Attack:
    """What an attack found, under the ``name`` of how the intruder measured.

    ``links`` has the nearest record of each one, ``truth`` its own record, or -1, and ``hit`` whether that is the nearest one, or
    tied with it. ``parent`` is the chance that the link has the same released values as its own record: a member of its group.
    Where they were asked for, ``probability`` is the chance that the link is right as the intruder sees it, and ``pairing``
    says how one-to-one links were found.
    """

    name: str
    links: Links
    truth: Ints
    hit: Flags
    parent: Floats
    probability: Floats | None = None
    pairing: Pairing | None = None

    def correct(self, rule: Ties) -> Floats:
        """Return, by record, whether its link is correct; a chance under the rule ``expected``."""
        if self.pairing is not None and rule == "expected":
            return self.pairing.chance
        if self.pairing is not None and rule == "unique":
            return np.asarray(self.pairing.chance > 1 - SURE, dtype=np.float64)
        return _correct_links(self.links, self.truth, self.hit, rule)

    def count(self, rule: Ties) -> float:
        """Return the number of correct links."""
        return float(self.correct(rule).sum())


def _correct_links(links: Any, truth: Ints, hit: Flags, rule: Ties) -> Floats:
    """Return, by record, whether its own link is correct; a chance under the rule ``expected``."""
    if rule == "expected":
        return share_ties(hit, links)
    found = {
        "first": (links.nearest == truth) & (truth >= 0),
        "unique": hit & (links.ties == 1),
        "any": hit,
    }
    return np.asarray(found[rule], dtype=np.float64)


# -- metrics -----------------------------------------------------------------------------------------


def make_standardised_metric(files: Files) -> Standardised:
    """Return the metric that standardises each file by itself (DBRL1)."""
    return Standardised(known_scale(files.original), known_scale(files.released))


def polynomial(files: Files, *, degree: int, gamma: float, coef0: float) -> Polynomial:
    """Return the polynomial kernel's metric."""
    own = make_standardised_metric(files)
    return Polynomial(own.original, own.released, degree, gamma, coef0)


def radial(files: Files, *, gamma: float) -> Radial:
    """Return the radial kernel's metric."""
    own = make_standardised_metric(files)
    return Radial(own.original, own.released, gamma)


def distance_standardised(files: Files, pairing: Literal["all", "true"]) -> Quadratic:
    """Return DBRL2: differences over their standard deviation, over all pairs or over true ones."""
    a, b = known_scale(files.original).spread ** 2, known_scale(files.released).spread ** 2
    if pairing == "all":
        return Quadratic(np.diag(a + b), np.diag(a + b))
    gap = files.original[files.old] - files.released[files.new]
    return Quadratic(np.diag(known_scale(gap).spread ** 2), np.diag(a + b))


def make_pooled_metric(files: Files) -> Floats:
    """Return Var A + Var B."""
    return covariance(files.original) + covariance(files.released)


def zero_covariance(files: Files) -> Quadratic:
    """Return Mahalanobis distance with Cov(A, B) = 0."""
    base = make_pooled_metric(files)
    return Quadratic(base, base)


def true_covariance(files: Files) -> Quadratic:
    """Return Mahalanobis distance with S = Var(a - b) over the true pairs: the worst case."""
    gap = files.original[files.old] - files.released[files.new]
    return Quadratic(covariance(gap), make_pooled_metric(files))


def given_covariance(files: Files, cross: Floats) -> Quadratic:
    """Return Mahalanobis distance with a cross-covariance of the user's; Cov(A, B) is symmetrised."""
    p = files.original.shape[1]
    if cross.shape != (p, p):
        raise InputError(
            f"the cross-covariance must have one row and column a column compared: {p} x {p}"
        )
    base = make_pooled_metric(files)
    s = base - cross - cross.T
    values = np.linalg.eigvalsh(find_identity_basis(base).T @ s @ find_identity_basis(base))
    if values[0] < -NOTHING:
        raise InputError(
            "Var A + Var B - C - C' is not a covariance matrix with that cross-covariance C"
        )
    return Quadratic(s, base)


def projections(files: Files) -> dict[str, Quadratic]:
    """Return what an intruder can make of Cov(A, B) without a single known link.

    Means of groups and fitted values have Cov(A, B) = Var B, hence S = Var A - Var B; added noise has
    Cov(A, B) = Var A, hence S = Var B - Var A; a synthesis with the residuals redrawn has S in
    proportion to the residual covariance of the released columns given those left alone. Each reading
    is kept when the files do not contradict it.
    """
    base = make_pooled_metric(files)
    shrunk = covariance(files.original) - covariance(files.released)
    found = {}
    for name, s in (("shrinkage", shrunk), ("added noise", -shrunk)):
        values = np.linalg.eigvalsh(find_identity_basis(base).T @ s @ find_identity_basis(base))
        gain, loss = values[values > 0].sum(), -values[values < 0].sum()
        if gain > NOTHING and loss <= CONTRADICTION * gain:
            found[name] = Quadratic(s, base)
    left = residual_covariance(files)
    if left is not None:
        values = np.linalg.eigvalsh(find_identity_basis(base).T @ left @ find_identity_basis(base))
        if values[-1] > NOTHING:
            found["residuals"] = Quadratic(left, base)
    return found


def residual_covariance(files: Files) -> Floats | None:
    """Return the covariance of the released columns given those left alone, or None."""
    if files.kept is None or files.kept.shape[1] == 0:
        return None
    both = np.column_stack([files.kept, files.released])
    both = both[np.isfinite(both).all(axis=1)]
    q = files.kept.shape[1]
    if len(both) <= q + 1:
        return None
    scale = known_scale(both)
    z = scale.there(both)
    fit, *_ = np.linalg.lstsq(z[:, :q], z[:, q:], rcond=1e-10)
    left = z[:, q:] - z[:, :q] @ fit
    return covariance(left * scale.spread[q:])


def self_trained(
    files: Files, rounds: int, tick: Tick = ignore_progress
) -> tuple[Quadratic, list[float]]:
    """Return S learnt from one's own links, and the correct links of each round (of those trained on).

    Start with Cov(A, B) = 0; link; take S = Cov(a - b linked); link again, until links stay the same.
    """
    # Neither the records trained on nor ties may depend on the order of the rows.
    files = files.sorted()
    n = len(files.queries)
    some = files.some(np.unique(np.linspace(0, n - 1, min(n, TRAINING)).astype(np.int64)))
    metric, before, counts = zero_covariance(files), np.empty(0, dtype=np.int64), []
    for turn in range(rounds + 1):
        tick("training on one's own links", turn / (rounds + 1))
        found = attack(some, metric)
        link = found.links.nearest
        counts.append(found.count("expected"))
        if turn == rounds or np.array_equal(link, before) or (link >= 0).sum() < 2:
            break
        before = link
        gaps = some.queries[link >= 0] - some.targets[link[link >= 0]]
        metric = Quadratic(covariance(gaps), metric.base)
    return metric, counts


# -- attacking ---------------------------------------------------------------------------------------


def attack(
    files: Files,
    metric: Metric,
    name: str = "",
    *,
    one_to_one: bool = False,
    probability: bool = False,
    tick: Tick = ignore_progress,
) -> Attack:
    """Link every query to its nearest target and say which links are right.

    Pairs that both miss a value are compared on the columns known in both, and their squared distance is
    multiplied by the number of columns over the number compared.
    """
    truth = files.truth
    if one_to_one:
        check_size(len(files.queries), len(files.targets))
        links, pairing = assign_links(files, metric, truth)
        same = parents(files, links, truth, pairing.chance)
        return Attack(name, links, truth, pairing.chance > 0, same, pairing=pairing)
    found = Merge.start(len(files.queries))
    chance = np.zeros(len(files.queries)) if probability else None
    if probability and not (np.isfinite(files.queries).all() and np.isfinite(files.targets).all()):
        raise InputError("match probabilities need files without missing values")
    for part in parts(files, metric):
        links = find_nearest_rows(part.a, part.b, tick)
        found.add(part, links, truth)
        if chance is not None:
            chance[part.rows] = match_probability(part.a, part.b, links, tick)
    links, hit = found.links(metric), found.hit(truth)
    return Attack(
        name, links, truth, hit, parents(files, links, truth, share_ties(hit, links)), chance
    )


@dataclass(frozen=True)
class Part:
    """Queries and targets of a block, known on the same columns, in the metric's coordinates."""

    rows: Ints
    columns: Ints
    a: Floats
    b: Floats
    factor: float


def parts(files: Files, metric: Metric) -> Iterator[Part]:
    """Yield the files by block and by which columns are known in both; one part when there is neither."""
    p = files.original.shape[1]
    q_side, t_side = files.sides
    for queries, targets in blocks(files):
        for asked, rows in patterns(files.queries, queries):
            for there, columns in patterns(files.targets, targets):
                at = np.flatnonzero(asked & there)
                if len(at):
                    yield Part(
                        rows,
                        columns,
                        metric.coordinates(files.queries[rows], q_side, at),
                        metric.coordinates(files.targets[columns], t_side, at),
                        p / len(at),
                    )


def blocks(files: Files) -> Iterator[tuple[Ints, Ints]]:
    """Yield the queries and the targets of each block that has both."""
    if files.block is None:
        yield np.arange(len(files.queries)), np.arange(len(files.targets))
        return
    ours, theirs = files.block if files.sides[0] == "original" else files.block[::-1]
    there = members(theirs)
    for block, rows in members(ours).items():
        if block in there:
            yield rows, there[block]


def members(block: Ints) -> dict[int, Ints]:
    """Return the records of each block."""
    order = np.argsort(block, kind="stable")
    numbers, starts = np.unique(block[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True))


def patterns(x: Floats, rows: Ints) -> list[tuple[Flags, Ints]]:
    """Return each pattern of known columns among some records, with those that have it."""
    known = np.isfinite(x[rows])
    if known.all():
        return [(np.ones(x.shape[1], dtype=bool), rows)]
    kinds, of = np.unique(known, axis=0, return_inverse=True)
    return [(kind, rows[of.ravel() == i]) for i, kind in enumerate(kinds)]


@dataclass
class Merge:
    """Links put together from parts: the nearest over all of them."""

    nearest: Ints
    distance: Floats
    second: Floats
    ties: Ints
    limit: Floats
    own: Floats

    @classmethod
    def start(cls, n: int) -> Merge:
        """Start without links."""
        return cls(
            np.full(n, -1, dtype=np.int64),
            np.full(n, np.inf),
            np.full(n, np.inf),
            np.zeros(n, dtype=np.int64),
            np.full(n, -np.inf),
            np.full(n, np.inf),
        )

    def add(self, part: Part, found: Links, truth: Ints) -> None:
        """Add the links of a part."""
        rows, factor = part.rows, part.factor
        link, distance = part.columns[found.nearest], found.distance * factor
        limit = tie_limit(found.distance, part.a) * factor
        closer = limit < self.distance[rows]
        level = ~closer & (distance <= self.limit[rows])
        second = np.minimum(
            np.maximum(distance, self.distance[rows]),
            np.minimum(found.second * factor, self.second[rows]),
        )
        old = self.nearest[rows]
        self.nearest[rows] = np.where(closer, link, np.where(level, np.minimum(old, link), old))
        self.ties[rows] = np.where(closer, found.ties, self.ties[rows] + level * found.ties)
        self.limit[rows] = np.where(closer, limit, self.limit[rows])
        self.distance[rows] = np.minimum(distance, self.distance[rows])
        self.second[rows] = second
        order = np.argsort(part.columns)
        at = np.searchsorted(part.columns, truth[rows], sorter=order)
        mine = order[np.minimum(at, len(order) - 1)]
        has = part.columns[mine] == truth[rows]
        self.own[rows[has]] = compute_squared_distances(part.a[has], part.b[mine[has]]) * factor

    def links(self, metric: Metric) -> Links:
        """Return the links, with the metric's own distances."""
        return Links(
            self.nearest, metric.reported(self.distance), metric.reported(self.second), self.ties
        )

    def hit(self, truth: Ints) -> Flags:
        """Return where the own record is nearest or tied."""
        return np.asarray((truth >= 0) & (self.own <= self.limit), dtype=bool)


def assign_links(files: Files, metric: Metric, truth: Ints) -> tuple[Links, Pairing]:
    """Return one-to-one links of least total distance, and how they were found."""
    asked, found = distinct_rows(with_block(files, 0)), distinct_rows(with_block(files, 1))
    cost = np.full((len(asked), len(found)), np.inf)
    for part in parts(files, metric):
        # Of equal records one is enough.
        rows = np.flatnonzero(asked.first[asked.of[part.rows]] == part.rows)
        columns = np.flatnonzero(found.first[found.of[part.columns]] == part.columns)
        here, there = asked.of[part.rows[rows]], found.of[part.columns[columns]]
        cost[np.ix_(here, there)] = all_distances(part.a[rows], part.b[columns]) * part.factor
    pairing = pair_files(cost, asked, found, truth)
    link, full = pairing.link, cost[asked.of]
    linked = np.flatnonzero(link >= 0)
    distance = np.full(len(link), np.inf)
    distance[linked] = full[linked, found.of[link[linked]]]
    twice = found.count[full.argmin(axis=1)] > 1
    ranked = np.partition(full, min(1, len(found) - 1), axis=1)
    next_best = np.where(
        twice | (len(found) < 2), ranked[:, 0], ranked[:, -1 if len(found) < 2 else 1]
    )
    second = np.where(distance > ranked[:, 0], ranked[:, 0], next_best)
    ties = np.where(link >= 0, found.count[found.of[link]], 0)
    return Links(link, metric.reported(distance), metric.reported(second), ties), pairing


def with_block(files: Files, side: Literal[0, 1]) -> Floats:
    """Return the queries (0) or targets (1) with the number of their block, -1 where it is one file's only."""
    x = files.targets if side else files.queries
    if files.block is None:
        return x
    ours, theirs = files.block if files.sides[0] == "original" else files.block[::-1]
    own, other = (theirs, ours) if side else (ours, theirs)
    return np.column_stack([x, np.where(np.isin(own, other), own, -1)])


def share_ties(hit: Flags, links: Links) -> Floats:
    """Return the chance of one's own record among those that tie."""
    return np.where(hit, 1.0 / np.maximum(links.ties, 1), 0.0)


def parents(files: Files, links: Links, truth: Ints, chance: Floats) -> Floats:
    """Return the chance that a link has the released values of the own record, whose chance is ``chance``.

    The released records of one's group are as near as one's own, so that each has the same chance. Where the
    nearest original is looked for, equal originals may have different releases: their average counts.
    """
    linked = links.nearest >= 0
    if files.sides[0] == "original":
        same = distinct_rows(with_block(files, 1))
        group = np.where(truth >= 0, same.count[same.of[truth]], 0)
        return np.minimum(chance * group, 1.0)
    released, target = distinct_rows(files.released).of, distinct_rows(with_block(files, 1))
    home = np.full(len(files.original), -1, dtype=np.int64)
    home[files.old] = files.new
    known = np.flatnonzero(home >= 0)
    # Of each class of equal originals, how many were released with which values.
    width = int(released.max(initial=0)) + 1
    kinds, amount = np.unique(target.of[known] * width + released[home[known]], return_counts=True)
    there = target.of[links.nearest]
    wanted = there * width + released
    at = np.minimum(np.searchsorted(kinds, wanted), max(len(kinds) - 1, 0))
    share = (
        np.where(kinds[at] == wanted, amount[at] / target.count[there], 0.0) if len(kinds) else 0.0
    )
    return np.where(linked, share, 0.0)


def best_of(attacks: Sequence[Attack], rule: Ties) -> Attack:
    """Return the attack with the most correct links, the first of equals."""
    return max(attacks, key=lambda found: found.count(rule))


def counts(attacks: Sequence[Attack], rule: Ties) -> Mapping[str, float]:
    """Return the correct links of several attacks by name."""
    return {found.name: found.count(rule) for found in attacks}
