"""k-Similar: clusters of at least k tuples with the least total climb in the hierarchies."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.hierarchy import ground_label
from tacit.data.microdata import Microdata
from tacit.engine.codes import encode
from tacit.errors import (
    Approximate,
    ColumnNotFound,
    Infeasible,
    InputError,
    LimitReached,
    RoleMissing,
    SdcError,
    WeakProtection,
)
from tacit.fields import ClassSize, PositiveFloat
from tacit.records.classes.class_values import class_starts
from tacit.records.generalisation import clusters_exact as _clusters_exact
from tacit.records.generalisation import clusters_greedy as _clusters_greedy
from tacit.records.generalisation import clusters_local as _clusters_local
from tacit.records.generalisation.clusters_space import (
    Partition,
    Space,
    build,
    cluster_levels,
    price,
    profile_used,
    record_bounds,
)
from tacit.registry import register
from tacit.spec import Method, Role
from tacit.time_limits import seconds_left

#: Distinct tuples up to which local search ends with solving parts exactly.
POLISH_UP_TO = 2_000
#: Records up to which the mergers are kept, by tuple numbers.
TRACE_UP_TO = 200


@register
class KSimilar(Method):
    """Group similar records in clusters of at least k and release their common ancestors.

    For each attribute a cluster releases the lowest common ancestor of its values, and every member pays
    that ancestor's level over the height of the hierarchy. The partition with the least total is sought:

        minimise  sum over clusters C of |C| * sum over attributes a of level_a(C) / height_a,  all |C| >= k.

    ``greedy`` repeatedly merges the two clusters, one of them smaller than k, whose union costs least more,
    ties by lowest tuple number: it reproduces Sweeney's Figure 33, which is not the optimum. ``local``
    improves it by moving and exchanging records and by founding and dissolving clusters, and is never worse.
    ``exact`` proves the optimum for up to a few hundred distinct tuples. Every answer comes with a lower
    bound. Records with equal tuples may go to different clusters. A null is a value of its own whose only
    ancestor is the top. Values that an earlier step has generalised climb on from where they stand. Several quasi-identifiers are treated as one that holds all their columns.
    The key columns are gathered in memory on one machine.

    References
    ----------
    Sweeney (2001), Computational disclosure control: a primer on data privacy protection, PhD thesis, MIT.
    Sweeney (2000), Foundations of privacy protection from a computer science perspective, Figures 31 to 34.
    """

    kind: Literal["k_similar"] = "k_similar"
    k: ClassSize = Field(default=2, description="smallest class size allowed")
    method: Literal["local", "greedy", "exact"] = Field(
        default="local",
        description="greedy merging; local search from there; or a proven optimum for few records",
    )
    profile: Mapping[str, float] = Field(
        default_factory=dict,
        description="how much distortion of a column the recipient tolerates, 0 or more (default 1); "
        "decides between equally distorting choices",
    )
    time_limit: PositiveFloat = Field(
        default=60, description="seconds that local search or the exact solver may take"
    )
    quasi: str | None = Field(
        default=None, description="name of the quasi-identifier to protect; by default all of them"
    )

    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("generalise values (cell)", "suppression (cell)")

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of the profile."""
        return tuple(self.profile)

    def groups(self, data: Microdata) -> dict[str, tuple[str, ...]]:
        """Return the quasi-identifiers that must reach k."""
        return dict(data.quasi_identifiers(self.quasi))

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: unknown quasi-identifier, keys without hierarchy, tolerances below 0, too few records."""
        found = super().faults(data)
        if not data.quasi:
            return found
        if self.quasi is not None and self.quasi not in data.quasi:
            return [*found, ColumnNotFound([self.quasi], list(data.quasi), "the quasi-identifiers")]
        found += [
            RoleMissing(
                f"k_similar: key {key!r} has no hierarchy. Give one, or tacit.hierarchy.flat() to allow suppression only."
            )
            for key in all_columns(self.groups(data))
            if key not in data.hierarchies
        ]
        if any(t < 0 for t in self.profile.values()):
            found.append(InputError("k_similar: tolerances in the profile must be 0 or more"))
        if 0 < len(data) < self.k:
            found.append(
                Infeasible(
                    f"k_similar: k = {self.k} cannot be met: there are not that many records. Choose a smaller k."
                )
            )
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if self.k == 1:
            warnings.warn("k_similar: k = 1 asks for no protection", WeakProtection, stacklevel=3)
        keys = all_columns(self.groups(data))
        tuples = Tuples(data, keys, self.profile)
        outcome = search(tuples.space, self.k, self.method, self.time_limit, tuples.first, ctx)
        ctx.note(**describe(tuples, outcome, self.method, self.k))
        if outcome.limited:
            gap = ctx.details["gap"]
            warnings.warn(
                f"k_similar: the time limit of {self.time_limit:g} s struck before the optimum was proven; the total distance is at most {gap:.1%} above it. "
                "Allow more time, or accept the result.",
                Approximate,
                stacklevel=3,
            )
        return data.replace(generalise_columns(tuples, outcome.partition))

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        known = "The quasi-identifier holds every column that an intruder can find in other files."
        for name, columns in self.groups(data).items():
            yield Claim("k-anonymity", {"k": self.k}, name, columns, (known,))


def all_columns(groups: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the columns of all quasi-identifiers, each once."""
    return tuple(dict.fromkeys(c for group in groups.values() for c in group))


# -- from records to cells and back ----------------------------------------------------------------


class Tuples:
    """The key tuples of records: distinct ones as cells of a space, and the cell of each record."""

    def __init__(self, data: Microdata, keys: Sequence[str], profile: Mapping[str, float]) -> None:
        table = data.to_arrow(keys)
        self.keys = {key: encode(table.column(key)) for key in keys}
        self.hierarchies = {key: data.hierarchy(key) for key in keys}
        self.lifts = {k: self.hierarchies[k].lift(c.values) for k, c in self.keys.items()}
        columns = [coded.codes for coded in self.keys.values()]
        codes, first, self.cell_of, n = find_distinct_tuples(columns, table.num_rows)
        #: Rank of each cell by first appearance.
        self.first: Ints = np.argsort(np.argsort(first, kind="stable"), kind="stable")
        tolerance = [profile.get(key, 1.0) for key in keys] if profile else []
        self.space = build(list(self.lifts.values()), codes, n, tolerance)


def find_distinct_tuples(
    columns: Sequence[npt.NDArray[np.int32]], n_rows: int
) -> tuple[list[npt.NDArray[np.int32]], Ints, Ints, Ints]:
    """Return the distinct tuples in ascending order, their first rows, each row's tuple, and counts."""
    order = np.lexsort(columns[::-1]) if n_rows else np.zeros(0, dtype=np.int64)
    new = class_starts([c[order] for c in columns], n_rows)
    begins = np.flatnonzero(new)
    cell_of = np.empty(n_rows, dtype=np.int64)
    cell_of[order] = np.cumsum(new) - 1
    first = order[begins]  # lexsort is stable: the first of equal rows comes first
    n = np.diff(begins, append=n_rows).astype(np.int64)
    return [c[first] for c in columns], first, cell_of, n


def generalise_columns(tuples: Tuples, partition: Partition) -> dict[str, pa.Array]:
    """Return the columns that change: each record's common ancestors, as text."""
    levels = cluster_levels(tuples.space, partition)
    # Records of a divided cell are dealt out in their order.
    by_cell = np.lexsort((partition.cluster, partition.cell))
    dealt = np.repeat(partition.cluster[by_cell], partition.n[by_cell])
    cluster = np.empty_like(dealt)
    cluster[np.argsort(tuples.cell_of, kind="stable")] = dealt
    result = {}
    for a, key in enumerate(tuples.keys):
        if levels[:, a].any():
            result[key] = ancestors(tuples, key, levels[cluster, a])
    return result


def ancestors(tuples: Tuples, key: str, level: Ints) -> pa.Array:
    """Return the label of each record's value at a level; a null at the ground stays null."""
    coded, hierarchy, lift = tuples.keys[key], tuples.hierarchies[key], tuples.lifts[key]
    texts = [ground_label(v) for v in coded.values.to_pylist()]
    place = np.where(level == 0, coded.codes, 0).astype(np.int64)
    for up in range(1, hierarchy.height + 1):
        here = level == up
        label = lift[up][coded.codes[here]] if up < hierarchy.height else 0
        place[here] = len(texts) + label
        texts.extend(hierarchy.labels[up])
    return pa.array(texts, type=pa.string()).take(
        pa.array(place, mask=(level == 0) & (coded.codes == coded.null))
    )


# -- search ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """A partition, a lower bound on every partition's cost, and how it was found."""

    partition: Partition
    bound: int
    heuristic: bool
    algorithm: str
    limited: bool = False
    trace: list[_clusters_greedy.Merge] = field(default_factory=list)


def search(space: Space, k: int, method: str, seconds: float, first: Ints, ctx: Context) -> Outcome:
    """Look for the partition of least cost by a method.

    A profile steers merging to other choices among equals, from which later steps may differ; the
    result is taken only when it costs no more than without the profile.
    """
    if len(space) == 0 or k == 1:
        cells = np.arange(len(space))
        apart = Partition(cells, cells.copy(), space.n.copy())
        return Outcome(apart, 0, heuristic=False, algorithm="nothing to do")
    if method == "exact":
        return prove_optimum(space, k, seconds, first, ctx)
    run = by_greedy if method == "greedy" else by_local
    outcome = run(space, k, seconds, first, ctx)
    if profile_used(space):
        plain = run(space.without_profile(), k, seconds, first, ctx)
        if price(space, plain.partition) < price(space, outcome.partition):
            return plain
    return outcome


def floor_of(space: Space, k: int) -> int:
    """Return a lower bound on the total cost."""
    return int((record_bounds(space, k) * space.n).sum())


def by_greedy(space: Space, k: int, seconds: float, first: Ints, ctx: Context) -> Outcome:
    """Agglomerate greedily: as one block while that is possible."""
    del seconds
    partition, trace = build_greedy_partition(space, k, first, ctx)
    algorithm = "greedy" if len(space) <= _clusters_greedy.ONE_BLOCK else "greedy in blocks"
    return Outcome(partition, floor_of(space, k), heuristic=True, algorithm=algorithm, trace=trace)


def build_greedy_partition(
    space: Space, k: int, order: Ints | None, ctx: Context
) -> tuple[Partition, list[_clusters_greedy.Merge]]:
    """Return the greedy partition; ties by ``order``, or by the sorted tuples."""

    def tick(share: float) -> None:
        ctx.tick("merging", 0.5 * share)

    if len(space) > _clusters_greedy.ONE_BLOCK:
        return _clusters_greedy.greedy_in_blocks(space, k, tick=tick), []
    return _clusters_greedy.greedy(space, k, order, tick=tick, trace=space.total <= TRACE_UP_TO)


def by_local(space: Space, k: int, seconds: float, first: Ints, ctx: Context) -> Outcome:
    """Search locally from the greedy partition.

    The start breaks ties by the sorted tuples, so that the order of records does not matter. Should
    greedy with ties by tuple number be cheaper than what comes out, the search goes on from there.
    """
    begun, _ = build_greedy_partition(space, k, None, ctx)
    end = time.monotonic() + seconds
    best, done = improve(space, k, begun, end, ctx)
    if len(space) <= _clusters_greedy.ONE_BLOCK:
        other, _ = build_greedy_partition(space, k, first, ctx)
        if price(space, other, space.unit) < price(space, best, space.unit):
            best, done = improve(space, k, other, end, ctx)
    algorithm = "local search" if done else "local search, stopped by the time limit"
    return Outcome(best, floor_of(space, k), heuristic=True, algorithm=algorithm)


def improve(
    space: Space, k: int, begun: Partition, end: float, ctx: Context
) -> tuple[Partition, bool]:
    """Improve a partition until a moment; the result never costs more."""

    def tick(share: float | None) -> None:
        ctx.tick("improving", share)

    left = seconds_left(end)
    found, done = _clusters_local.improve(space, k, begun, seconds=left, tick=tick)
    if done and len(space) <= POLISH_UP_TO:
        left = seconds_left(end)
        found, done = _clusters_exact.polish(space, k, found, seconds=left, tick=tick)
    assert price(space, found, space.unit) <= price(space, begun, space.unit)
    return found, done


def prove_optimum(space: Space, k: int, seconds: float, first: Ints, ctx: Context) -> Outcome:
    """Prove the optimum, or return the best found in time with its bound."""
    if space.total <= _clusters_exact.SUBSETS_UP_TO:
        best = _clusters_exact.by_subsets(space, k)
        return Outcome(
            best, price(space, best), heuristic=False, algorithm="dynamic programming over subsets"
        )
    refusal = (
        "k_similar: method='exact' is for up to a few hundred distinct tuples under hierarchies of moderate height, and these data are larger. "
        "Use method='local', which reports its distance from a lower bound."
    )
    if len(space) > _clusters_exact.CELLS_UP_TO:
        raise LimitReached(refusal)
    begun = by_local(space, k, min(seconds / 4, 10), first, ctx)
    ctx.tick("solving", 0.5)
    try:
        best, bound = _clusters_exact.by_programme(space, k, begun.partition, seconds)
    except _clusters_exact.TooLarge:
        raise LimitReached(refusal) from None
    proven = bound >= price(space, best)
    return Outcome(
        best, bound, heuristic=not proven, algorithm="integer programme", limited=not proven
    )


# -- what is said about it -----------------------------------------------------------------------------


def describe(tuples: Tuples, outcome: Outcome, method: str, k: int) -> dict[str, Any]:
    """Return the facts for the ledger; aggregates and tuple numbers, no values."""
    space, partition = tuples.space, outcome.partition
    total, bound = price(space, partition) / space.scale, outcome.bound / space.scale
    entries = space.total * len(tuples.keys)
    levels, sizes = cluster_levels(space, partition), partition.sizes()
    facts: dict[str, Any] = {
        "k": k,
        "method": method,
        "algorithm": outcome.algorithm,
        "heuristic": outcome.heuristic,
        "distinct_tuples": len(space),
        "clusters": len(partition),
        "total_distance": total,
        "lower_bound": bound,
        "gap": total / bound - 1 if bound else 0.0,
        "precision": 1 - total / entries if entries else 1.0,
        "levels": {
            key: {level: int(n) for level, n in enumerate(np.bincount(own, sizes)) if n}
            for key, own in zip(tuples.keys, levels.T, strict=True)
        },
    }
    if outcome.trace or (method == "greedy" and space.total <= TRACE_UP_TO):
        facts["trace"] = [merge_row(tuples, step) for step in outcome.trace]
    return facts


def merge_row(tuples: Tuples, step: _clusters_greedy.Merge) -> dict[str, Any]:
    """Return one merger by tuple numbers, counted from 1 in the order of the records."""
    space = tuples.space
    a, b = (
        sorted((np.flatnonzero(np.isin(tuples.cell_of, side)) + 1).tolist())
        for side in (step.a, step.b)
    )
    room = int((space.unit // space.plain).min()) if len(space.plain) else 1
    return {"a": a, "b": b, "increase": step.increase // room / space.scale}
