"""k-Similar: roles, types, nulls, profiles, limits and engines."""

import datetime as dt
import importlib.util

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.context import Context
from tacit.data.hierarchy import Hierarchy
from tacit.errors import (
    Approximate,
    Cancelled,
    HierarchyError,
    Infeasible,
    InputError,
    LimitReached,
    RoleMissing,
    WeakProtection,
)
from tacit.records.generalisation import clusters_exact as _clusters_exact
from tacit.records.generalisation import clusters_greedy as _clusters_greedy
from tacit.records.generalisation import clusters_local as _clusters_local
from tacit.records.generalisation import k_similar
from tacit.records.generalisation.clusters_space import build, find_nearest_cells, price

AGES = Hierarchy.from_paths(
    [[str(a), f"{a // 5 * 5}-{a // 5 * 5 + 4}", "*"] for a in range(20, 40)]
)
PLACES = Hierarchy.from_paths(
    [["Zürich", "CH", "*"], ["Genève", "CH", "*"], ["Graz", "AT", "*"], ["Wien", "AT", "*"]]
)


def read(columns, **options):
    return tacit.read(pa.table(columns), hierarchies={"age": AGES, "place": PLACES}, **options)


def small(**options):
    columns = {
        "age": [21, 22, 31, 33, 21],
        "place": ["Zürich", "Genève", "Graz", "Wien", "Zürich"],
        "w": [1.0, 2.0, 3.0, 4.0, 5.0],
    }
    return read(columns, keys=["age", "place"], weight="w", **options)


def random_space(n, k_dup, seed, heights=(3, 2, 1)):
    rng = np.random.default_rng(seed)
    lifts = [[np.arange(4**h) // 4**level for level in range(h + 1)] for h in heights]
    rows = np.stack([rng.integers(0, 4**h, n) for h in heights], axis=1)
    rows = rows[rng.integers(0, max(1, n // k_dup), n)]
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    return build(lifts, list(distinct.T), counts)


@pytest.mark.parametrize("method", ["local", "greedy", "exact"])
def test_a_case_by_hand(method, rows):
    released = tacit.KSimilar(k=2, method=method).apply(small())
    # 1 and 5 are equal; 3 and 4 meet at 30-34 and AT; 2 joins 1 and 5, or one of them does.
    assert rows(released, ["age", "place"])[2:4] == [["30-34", "AT"], ["30-34", "AT"]]
    assert rows(released, ["age", "place"])[1] == ["20-24", "CH"]
    assert released.column("w").to_pylist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert released.history[-1].details["total_distance"] == pytest.approx(5.0)


def test_a_large_cell_lends_a_record_instead_of_joining(rows):
    data = read({"age": [21] * 4 + [22], "place": ["Graz"] * 5}, keys=["age", "place"])
    greedy = tacit.KSimilar(k=2, method="greedy").apply(data).history[-1].details
    assert greedy["total_distance"] == pytest.approx(2.5)
    for method in ("local", "exact"):
        released = tacit.KSimilar(k=2, method=method).apply(data)
        assert released.history[-1].details["total_distance"] == pytest.approx(1.0)
        assert sorted(r[0] for r in rows(released, ["age"])) == ["20-24"] * 2 + ["21"] * 3


def test_columns_keep_their_type_until_a_cell_is_generalised():
    data = read(
        {"age": [21, 21, 30, 30], "place": ["Graz", "Wien", "Graz", "Graz"]}, keys=["age", "place"]
    )
    released = tacit.KSimilar(k=2).apply(data).to_arrow()
    assert released.schema.field("age").type == pa.int64()
    assert released.column("place").to_pylist() == ["AT", "AT", "Graz", "Graz"]


def test_dates_and_floats_become_text_once_generalised():
    born = [
        dt.date(1990, 1, 3),
        dt.date(1990, 1, 9),
        dt.date(1991, 5, 5),
        dt.date(1991, 5, 5),
    ]
    length = [1.0, 2.0, 2.5, 2.5]
    days = Hierarchy.from_paths(
        [[d.isoformat(), d.isoformat()[:4], "*"] for d in sorted(set(born))]
    )
    flat = Hierarchy.from_paths([["1", "*"], ["2", "*"], ["2.5", "*"]])
    data = tacit.read(
        pa.table({"born": born, "length": length}),
        keys=["born", "length"],
        hierarchies={"born": days, "length": flat},
    )
    released = tacit.KSimilar(k=2).apply(data).to_arrow().to_pydict()
    assert released == {
        "born": ["1990", "1990", "1991-05-05", "1991-05-05"],
        "length": ["*", "*", "2.5", "2.5"],
    }


def test_null_is_a_value_whose_only_ancestor_is_the_top(rows):
    data = read(
        {"age": [21, 21, 21, 22], "place": [None, None, None, "Graz"]}, keys=["age", "place"]
    )
    together = tacit.KSimilar(k=3).apply(data)
    assert rows(together, ["place"]) == [["*"]] * 4
    columns = {"age": [21, 22, 31, 31], "place": [None, None, "Graz", "Graz"]}
    apart = tacit.KSimilar(k=2).apply(read(columns, keys=["age", "place"]))
    assert rows(apart, ["age", "place"])[:2] == [["20-24", None]] * 2


def test_generalised_values_climb_on(rows):
    data = small().generalise("age", 1)
    released = tacit.KSimilar(k=3).apply(data)
    assert tacit.KAnonymity().measure(released).k >= 3
    assert {r[0] for r in rows(released, ["age"])} <= {"20-24", "30-34", "*"}
    with pytest.raises(HierarchyError):
        tacit.KSimilar(k=2).apply(small().replace({"age": np.array([99, 1, 2, 3, 4])}))


def test_profile_decides_between_equals(rows):
    flat = tacit.hierarchy.flat()
    columns = {"a": ["x", "x", "y", "y"], "b": ["p", "q", "p", "q"]}
    data = tacit.read(pa.table(columns), keys=["a", "b"], hierarchies={"a": flat, "b": flat})
    for method in ("local", "greedy", "exact"):
        one = tacit.KSimilar(method=method, profile={"a": 2}).apply(data)
        two = tacit.KSimilar(method=method, profile={"b": 2}).apply(data)
        assert rows(one, ["a", "b"]) == [["*", "p"], ["*", "q"]] * 2
        assert rows(two, ["a", "b"]) == [["x", "*"]] * 2 + [["y", "*"]] * 2
        assert (
            one.history[-1].details["total_distance"]
            == two.history[-1].details["total_distance"]
            == 4
        )


def test_several_quasi_identifiers_are_met_at_once_or_one_by_name():
    columns = {"age": [21, 22, 31, 33], "place": ["Graz", "Wien", "Genève", "Zürich"]}
    data = read(columns, keys={"one": ["age"], "two": ["place"]})
    released = tacit.KSimilar(k=2).apply(data)
    assert [c.quasi_identifier for c in released.history[-1].claims] == ["one", "two"]
    alone = tacit.KSimilar(k=2, quasi="two").apply(data)
    assert alone.column("age").to_pylist() == columns["age"]
    with pytest.raises(InputError, match="quasi-identifiers"):
        tacit.KSimilar(k=2, quasi="three").apply(data)


def test_no_rows_one_class_and_too_few():
    empty = pa.table({"age": pa.array([], pa.int64()), "place": pa.array([], pa.string())})
    data = tacit.read(empty, keys=["age", "place"], hierarchies={"age": AGES, "place": PLACES})
    assert len(tacit.KSimilar(k=5).apply(data)) == 0
    same = read({"age": [21] * 3, "place": ["Graz"] * 3}, keys=["age", "place"])
    assert tacit.KSimilar(k=3).apply(same).column("age").to_pylist() == [21] * 3
    with pytest.raises(Infeasible):
        tacit.KSimilar(k=4).apply(same)
    with pytest.warns(WeakProtection):
        assert tacit.KSimilar(k=1).apply(small()).column("age").to_pylist() == [21, 22, 31, 33, 21]


def test_faults_are_found_before_work():
    with pytest.raises(RoleMissing, match="no hierarchy"):
        tacit.KSimilar().apply(tacit.read(pa.table({"x": [1, 2]}), keys=["x"]))
    with pytest.raises(RoleMissing, match="keys"):
        tacit.KSimilar().apply(tacit.read(pa.table({"x": [1, 2]})))
    with pytest.raises(InputError, match="tolerances"):
        tacit.KSimilar(profile={"age": -1}).apply(small())
    with pytest.raises(InputError, match="no column 'agee'"):
        tacit.KSimilar(profile={"agee": 1}).apply(small())


def test_engines_agree(engine):
    ours = tacit.KSimilar(k=2).apply(small())
    theirs = tacit.KSimilar(k=2).apply(small(engine=engine))
    assert ours.to_arrow().to_pydict() == theirs.to_arrow().to_pydict()


def test_exact_refuses_what_is_too_large(monkeypatch):
    monkeypatch.setattr(_clusters_exact, "SUBSETS_UP_TO", 0)
    monkeypatch.setattr(_clusters_exact, "CELLS_UP_TO", 2)
    with pytest.raises(LimitReached, match="method='local'"):
        tacit.KSimilar(method="exact").apply(small())
    monkeypatch.setattr(_clusters_exact, "CELLS_UP_TO", 100)
    monkeypatch.setattr(_clusters_exact, "PAIRS_UP_TO", 0)
    with pytest.raises(LimitReached, match="method='local'"):
        tacit.KSimilar(k=3, method="exact").apply(small())


def test_exact_says_the_gap_when_time_is_up(monkeypatch, fig28):
    monkeypatch.setattr(_clusters_exact, "SUBSETS_UP_TO", 0)
    monkeypatch.setattr(_clusters_exact, "solve", lambda *_a, **_k: (None, 0))
    monkeypatch.setattr(k_similar, "POLISH_UP_TO", 0)
    with pytest.warns(Approximate, match="time limit"):
        released = tacit.KSimilar(k=2, method="exact").apply(fig28)
    details = released.history[-1].details
    assert details["heuristic"]
    assert details["lower_bound"] <= 8.2667 <= details["total_distance"] + 1e-4
    assert tacit.KAnonymity().measure(released).k >= 2


def test_blocks_are_used_above_the_limit(monkeypatch):
    monkeypatch.setattr(_clusters_greedy, "ONE_BLOCK", 100)
    monkeypatch.setattr(_clusters_greedy, "BLOCK", 40)
    monkeypatch.setattr(k_similar, "POLISH_UP_TO", 0)
    space = random_space(300, 1, 4)
    found = k_similar.search(space, 3, "greedy", 5, np.arange(len(space)), Context.start(1))
    assert found.algorithm == "greedy in blocks"
    assert found.partition.sizes().min() >= 3
    better = k_similar.search(space, 3, "local", 5, np.arange(len(space)), Context.start(1))
    assert found.bound <= price(space, better.partition) <= price(space, found.partition)


def test_nearest_finds_what_all_pairs_find(monkeypatch):
    space = random_space(400, 1, 5)
    everyone = find_nearest_cells(space, 6)
    monkeypatch.setattr("tacit.records.generalisation.clusters_space.CHUNK", 1000)
    some = find_nearest_cells(space, 6)
    assert np.array_equal(some[:, 0], np.arange(len(space)))
    from tacit.records.generalisation.clusters_space import common_levels

    own = np.arange(len(space))[:, None]
    near = common_levels(space, own, everyone) @ space.unit
    found = common_levels(space, own, np.where(some < 0, own, some)) @ space.unit
    assert found[:, 1:].mean() <= 1.25 * near[:, 1:].mean()


def test_time_limit_and_cancellation():
    space = random_space(300, 1, 6)
    found = k_similar.search(space, 3, "local", 0.001, np.arange(len(space)), Context.start(1))
    assert "time limit" in found.algorithm
    assert found.partition.sizes().min() >= 3
    context = Context.start(1, should_stop=lambda: True)
    with pytest.raises(Cancelled):
        k_similar.search(space, 3, "local", 5, np.arange(len(space)), context)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="needs numba")
def test_compiled_kernels_do_what_the_plain_ones_do():
    space = random_space(400, 2, 7)
    start, _ = _clusters_greedy.greedy(space, 3)
    plain, fast = (_clusters_local.make_state(space, 3, start) for _ in range(2))
    look = _clusters_local.KERNELS.compiled()["look_at"]
    for _ in range(3):
        changes = _clusters_local.look_at(plain, 3, 8, 0, len(space))
        assert changes == look(fast, 3, 8, 0, len(space))
    for one, two in zip(
        _clusters_local.read_partition(plain).__dict__.values(),
        _clusters_local.read_partition(fast).__dict__.values(),
        strict=True,
    ):
        assert np.array_equal(one, two)
