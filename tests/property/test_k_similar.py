"""k-Similar on generated data: bounds, brute force, and the order of its methods."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tacit
from tacit.context import Context
from tacit.data.hierarchy import Hierarchy
from tacit.records.generalisation import clusters_exact as _clusters_exact
from tacit.records.generalisation import clusters_greedy as _clusters_greedy
from tacit.records.generalisation import clusters_local as _clusters_local
from tacit.records.generalisation import k_similar
from tacit.records.generalisation.clusters_space import (
    Partition,
    build,
    cluster_levels,
    level_vectors,
    price,
    record_bounds,
)

SLOWLY = settings(max_examples=40, deadline=None)


@st.composite
def spaces(draw, max_cells=6, max_records=8, profile=False):
    """Draw random trees of equal depth and a few distinct tuples with counts."""
    lifts = []
    for _ in range(draw(st.integers(1, 3))):
        size, lift = draw(st.integers(1, 5)), []
        lift.append(np.arange(size))
        for _ in range(draw(st.integers(0, 2))):
            parent = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
            lower = lift[-1]
            # The parent of a label is the one of the first value that carries it.
            lift.append(np.array([parent[np.flatnonzero(lower == v)[0]] for v in lower]))
        lift.append(np.zeros(size, dtype=int))
        lifts.append([np.append(level, level.max() + 1) for level in lift])
    n_attributes = len(lifts)
    rows = draw(
        st.lists(
            st.tuples(*[st.integers(0, len(lift[0]) - 1) for lift in lifts]),
            min_size=1,
            max_size=max_records,
        )
    )
    distinct, counts = np.unique(
        np.array(rows).reshape(-1, n_attributes), axis=0, return_counts=True
    )
    distinct, counts = distinct[:max_cells], counts[:max_cells]
    tolerance = (
        draw(st.lists(st.integers(0, 3), min_size=n_attributes, max_size=n_attributes))
        if profile
        else []
    )
    return build(lifts, list(distinct.T), counts, tolerance)


def set_partitions(items):
    """Yield every partition of a list."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for smaller in set_partitions(rest):
        yield [[first], *smaller]
        for i, group in enumerate(smaller):
            yield [*smaller[:i], [first, *group], *smaller[i + 1 :]]


def brute_force(space, k, unit):
    """Return the least cost over all partitions of the records, from the definition alone."""
    cells = np.repeat(np.arange(len(space)), space.n)

    def cost(group):
        paths = space.paths[cells[group]]
        each = 0
        for a, height in enumerate(space.heights):
            part = paths[:, space.starts[a] : space.starts[a + 1]]
            level = next((x for x in range(height) if len(set(part[:, x].tolist())) == 1), height)
            each += level * int(unit[a])
        return len(group) * each

    return min(
        sum(cost(g) for g in groups)
        for groups in set_partitions(list(range(len(cells))))
        if all(len(g) >= k for g in groups)
    )


def is_valid(space, k, partition):
    placed = np.bincount(partition.cell, weights=partition.n, minlength=len(space))
    return partition.sizes().min() >= k and np.array_equal(placed, space.n)


def run(space, k, method, first=None):
    order = np.arange(len(space)) if first is None else first
    return k_similar.search(space, k, method, 60, order, Context.start(1))


@SLOWLY
@given(spaces(), st.integers(2, 4))
def test_methods_in_order_and_exact_equals_brute_force(space, k):
    if space.total < k:
        return
    costs = {}
    for method in ("exact", "local", "greedy"):
        found = run(space, k, method)
        assert is_valid(space, k, found.partition)
        costs[method] = price(space, found.partition)
        assert found.bound <= costs[method]
    best = brute_force(space, k, space.plain)
    assert costs["exact"] == best
    assert best <= costs["local"] <= costs["greedy"]
    assert (record_bounds(space, k) * space.n).sum() <= best


@SLOWLY
@given(spaces(max_cells=8, max_records=9), st.integers(2, 3), st.integers(0, 300))
def test_programme_equals_subsets_and_truncated_bounds_hold(space, k, work):
    if space.total < k:
        return
    start, _ = _clusters_greedy.greedy(space, k)
    programme, bound = _clusters_exact.by_programme(space, k, start, 10)
    optimum = price(space, _clusters_exact.by_subsets(space, k))
    assert is_valid(space, k, programme)
    assert price(space, programme) == optimum == bound
    assert (record_bounds(space, k, work=work) * space.n).sum() <= optimum


@SLOWLY
@given(spaces(profile=True), st.integers(2, 3))
def test_profile_decides_ties_only(space, k):
    if space.total < k:
        return
    plain = space.without_profile()
    for method in ("exact", "local", "greedy"):
        assert price(space, run(space, k, method).partition) <= price(
            space, run(plain, k, method).partition
        )
    best = brute_force(space, k, space.unit)
    assert price(space, run(space, k, "exact").partition, space.unit) == best
    start, _ = _clusters_greedy.greedy(space, k)
    programme, _ = _clusters_exact.by_programme(space, k, start, 10)
    assert price(space, programme, space.unit) == best


@SLOWLY
@given(spaces(max_cells=30, max_records=40), st.integers(2, 5))
def test_local_search_keeps_its_books(space, k):
    if space.total < k:
        return
    start, _ = _clusters_greedy.greedy(space, k)
    state = _clusters_local.make_state(space, k, start)
    state_cost = price(space, start, space.unit)
    for _ in range(5):
        _clusters_local.look_at(state, k, 8, 0, len(space))
        now = _clusters_local.read_partition(state)
        assert is_valid(space, k, now.tidy())
        for c in np.unique(now.cluster):
            mine = now.cluster == c
            alone = Partition(now.cell[mine], np.zeros(mine.sum(), dtype=np.int64), now.n[mine])
            assert np.array_equal(cluster_levels(space, alone)[0], state.levels[c])
            assert state.size[c] == now.n[mine].sum()
        assert price(space, now, space.unit) <= state_cost
        state_cost = price(space, now, space.unit)
    polished, _ = _clusters_exact.polish(space, k, now.tidy(), seconds=5)
    assert is_valid(space, k, polished)
    assert price(space, polished) <= state_cost


@SLOWLY
@given(spaces(max_cells=30, max_records=40), st.integers(2, 4), st.integers(2, 8))
def test_blocks_cover_and_hold_k(space, k, limit):
    if space.total < k:
        return
    found = _clusters_greedy.blocks(space, k, limit)
    assert sorted(np.concatenate(found).tolist()) == list(range(len(space)))
    assert all(space.n[b].sum() >= k for b in found)


@SLOWLY
@given(spaces(max_cells=12, max_records=14), st.integers(2, 3), st.randoms(use_true_random=False))
def test_greedy_equals_its_definition(space, k, random):
    """The cached, shrinking arrays take the same steps as comparing all pairs every time."""
    if space.total < k:
        return
    order = np.array(random.sample(range(len(space)), len(space)))
    found, steps = _clusters_greedy.greedy(space, k, order, trace=True)

    def cost(group):
        return price(
            space,
            Partition(np.array(group), np.zeros(len(group), dtype=np.int64), space.n[group]),
            space.unit,
        )

    groups = [[i] for i in np.argsort(order).tolist()]
    expected = []
    while any(space.n[g].sum() < k for g in groups):
        pairs = []
        for i, a in enumerate(groups):
            for b in groups[:i]:
                if min(space.n[a].sum(), space.n[b].sum()) < k:
                    lows = sorted([min(order[a]), min(order[b])])
                    pairs.append((cost(a + b) - cost(a) - cost(b), *lows, a, b))
        increase, _, _, a, b = min(pairs, key=lambda p: p[:3])
        expected.append((increase, sorted(a + b)))
        groups = [g for g in groups if g not in (a, b)] + [a + b]
    assert [(s.increase, sorted(s.a + s.b)) for s in steps] == expected
    assert price(space, found, space.unit) == sum(cost(g) for g in groups)


def test_level_vectors_come_cheapest_first_and_once():
    lift = [[np.zeros(1, dtype=int)] * (h + 1) for h in (2, 3, 1)]
    space = build(lift, [np.zeros(1, dtype=int)] * 3, np.ones(1, dtype=np.int64))
    found = list(level_vectors(space))
    assert [c for c, _ in found] == sorted(c for c, _ in found)
    assert len({v for _, v in found}) == len(found) == 3 * 4 * 2
    assert all(c == sum(x * int(u) for x, u in zip(v, space.plain, strict=True)) for c, v in found)


GRID = {
    "a": Hierarchy.from_paths([[str(i), f"{i // 2}x", f"{i // 4}y", "*"] for i in range(8)]),
    "b": Hierarchy.from_paths([["u", "*"], ["v", "*"], ["w", "*"]]),
}


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.sampled_from(["u", "v", "w", None])),
        min_size=4,
        max_size=12,
    ),
    st.integers(2, 3),
    st.sampled_from(["local", "greedy", "exact"]),
)
def test_release_is_k_anonymous_and_no_dearer_than_datafly(rows, k, method):
    import pyarrow as pa

    assume(any(r[1] is not None for r in rows))  # a key without any value is refused on reading

    table = pa.table(
        {
            "a": [r[0] for r in rows],
            "b": pa.array([r[1] for r in rows], pa.string()),
            "w": [1.5] * len(rows),
        }
    )
    data = tacit.read(table, keys=["a", "b"], weight="w", hierarchies=GRID)
    released = tacit.KSimilar(k=k, method=method).apply(data)
    assert tacit.KAnonymity().measure(released).k >= k
    assert released.column("w").to_pylist() == [1.5] * len(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            datafly = tacit.Datafly(k=k, max_drop=0).apply(data)
        except tacit.errors.Infeasible:
            return
    levels = datafly.history[-1].details["levels"]
    cost = len(rows) * levels["a"] / 3 + len(rows) * levels["b"]
    best = tacit.KSimilar(k=k, method="exact").apply(data).history[-1].details["total_distance"]
    assert best <= cost + 1e-9


@pytest.mark.parametrize("method", ["local", "exact"])
def test_row_order_does_not_change_the_total(method):
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 3, size=(24, 3))
    lifts = [[np.arange(4), np.array([0, 0, 1, 2]), np.zeros(4, dtype=int)]] * 3
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    space = build(lifts, list(distinct.T), counts)
    totals = {
        price(space, run(space, 3, method, rng.permutation(len(space))).partition) for _ in range(3)
    }
    assert len(totals) == 1
