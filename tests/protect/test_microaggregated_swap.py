"""Microaggregated swapping: the worked example, every permutation, invariants, the stand-in for Table 2."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from conftest import FIXTURES
from tacit.errors import WeakProtection
from tacit.records.swapping.microaggregated_swap import microaggregated_swap

PAPER = FIXTURES / "psd27-household-expenditure-survey"


def case(name):
    return json.loads((PAPER / f"{name}.json").read_text())


def swapped(given, permutation):
    y, w = (np.array(given[name], dtype=float) for name in ("y", "w"))
    return microaggregated_swap(y, w, np.array(permutation) - 1)


@pytest.mark.parametrize("name", ["ms_appendix_example", "ms_fractional_weights", "equal_weights"])
def test_worked_examples(name):
    found = swapped(case(name)["input"], case(name)["input"]["permutation_1based"])
    assert found == pytest.approx(case(name)["expected"]["y_masked"], abs=1e-8)


def test_every_permutation():
    all_of = case("ms_all_permutations")
    for one in all_of["expected"]:
        found = swapped(all_of["input"], one["p"])
        assert found == pytest.approx(one["y_masked"], abs=1e-9)
        assert found @ np.array(all_of["input"]["w"]) == pytest.approx(299)


def by_replication(y, w, permutation):
    """The same from whole weights, by writing every value out as often as it weighs."""
    order = np.argsort(y, kind="stable")
    ws = w[order]
    moved = np.empty_like(ws)
    moved[permutation] = ws
    groups = np.split(np.repeat(y[order], ws), np.cumsum(moved)[:-1])
    out = np.empty(len(y))
    out[order] = np.array([g.mean() for g in groups])[permutation]
    return out


cells = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-50, 50), min_size=n, max_size=n),
        st.lists(st.integers(1, 9), min_size=n, max_size=n),
        st.permutations(range(n)),
    )
)


@given(cells)
@settings(max_examples=100, deadline=None)
def test_against_replication_and_the_invariants(cell):
    y, w, p = (np.array(part) for part in cell)
    found = microaggregated_swap(y.astype(float), w.astype(float), p)
    assert found == pytest.approx(by_replication(y, w, p), abs=1e-9)
    assert w @ found == pytest.approx(w @ y, abs=1e-9 * (1 + np.abs(w * y).sum()))
    assert y.min() <= found.min()
    assert found.max() <= y.max()
    assert (
        w @ (found - np.average(y, weights=w)) ** 2
        <= w @ (y - np.average(y, weights=w)) ** 2 * (1 + 1e-9) + 1e-9
    )
    same = microaggregated_swap(y.astype(float), w.astype(float), np.arange(len(y)))
    assert same == pytest.approx(y)


def survey(seed, sizes=((30, 99), (100, 249), (250, 349), (350, 899)), per_class=30):
    rng = np.random.default_rng(seed)
    cell, y = [], []
    for low, high in sizes:
        for _ in range(per_class):
            n = int(rng.integers(low, high + 1))
            rent = np.exp(rng.normal(rng.normal(6, 0.25), 0.45, n))
            y.append(np.clip(np.round(rent / 50) * 50, 50, 1500))
            cell.append(np.full(n, len(cell)))
    y, cell = np.concatenate(y), np.concatenate(cell)
    w = np.exp(rng.normal(6.5, 0.5, len(y)))
    return tacit.read({"rent": y, "cell": cell.astype(str), "w": w}, weight="w")


def test_the_deciles_of_small_cells_move_most():
    bounds = case("simulation_table2")["acceptance"]["class_mean_bounds"]
    data = survey(5)
    made = tacit.MicroaggregatedSwap(columns=["rent"], by=["cell"]).apply(data, seed=5)
    change = tacit.DecileChange(columns=["rent"], by=["cell"]).measure(made, original=data)
    means = [row["mean"] for row in change.table.values()]
    assert all(low <= m <= high for m, (low, high) in zip(means, bounds, strict=True))
    assert means == sorted(means, reverse=True)


def test_small_cells_are_told_or_refused():
    data = tacit.read({"x": [1.0, 2.0, 3.0, 9.0], "c": ["a", "a", "a", "b"]})
    with pytest.warns(WeakProtection, match="1 cells have fewer than 3"):
        made = tacit.MicroaggregatedSwap(columns=["x"], by=["c"]).apply(data, seed=1)
    assert made.column("x").to_pylist()[3] == 9.0
    assert made.history[-1].details["unprotected_records"] == 1
    with pytest.raises(tacit.SdcError, match="coarser columns"):
        tacit.MicroaggregatedSwap(columns=["x"], by=["c"], strict=True).apply(data, seed=1)


def test_missing_values_stay_and_each_column_moves_by_itself():
    rng = np.random.default_rng(1)
    x = rng.permutation(np.arange(50.0))
    data = tacit.read({"x": [None, *x], "y": [*x, 1.0], "c": ["a"] * 51})
    with pytest.raises(tacit.SdcError, match="missing='keep'"):
        tacit.MicroaggregatedSwap(columns=["x"], by=["c"]).apply(data)
    spec = tacit.MicroaggregatedSwap(columns=["x", "y"], by=["c"], missing="keep")
    made = spec.apply(data, seed=2)
    assert made.column("x").to_pylist()[0] is None
    # With equal weights values are permuted, each column in its own way.
    assert sorted(made.column("x").to_pylist()[1:]) == sorted(x)
    assert made.column("x").to_pylist()[1:] != made.column("y").to_pylist()[:-1]


def test_refusals():
    data = tacit.read({"x": [1.0, 2.0], "c": ["a", "b"], "w": [1, 2]}, weight="w")
    with pytest.raises(tacit.SdcError, match="alone in its cell"):
        tacit.MicroaggregatedSwap(columns=["x"], by=["c"]).apply(data)
    with pytest.raises(tacit.SdcError, match="cannot be masked"):
        tacit.MicroaggregatedSwap(columns=["w"], by=["c"]).apply(data)


# -- permutations by hand, and the audit -----------------------------------------------------------------


def printed(**more):
    given = case("ms_appendix_example")["input"]
    n = len(given["y"])
    data = tacit.read(
        {
            "y": [*given["y"], 7.0],
            "c": ["a"] * n + ["b"],
            "d": [1] * (n + 1),
            "w": [*given["w"], 1],
        },
        weight="w",
    )
    options = {"columns": ["y"], "by": ["c", "d"], **more}
    return data, tacit.MicroaggregatedSwap(**options)


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
def test_the_printed_example_with_its_permutation():
    order = case("ms_appendix_example")["input"]["permutation_1based"]
    data, method = printed(permutation={"y": {"a x 1": order}})
    made = method.apply(data)
    expected = [*case("ms_appendix_example")["expected"]["y_masked"], 7.0]
    assert made.column("y").to_pylist() == pytest.approx(expected, abs=1e-8)
    assert "permutation" not in made.history[-1].parameters  # confidential
    audit = tacit.SwapAudit(columns=["y"], by=["c", "d"], means=True).measure(made, original=data)
    rows = {r["cell"]: r for r in audit.frame.rows(named=True)}
    assert rows["a x 1"]["mean before"] == pytest.approx(299 / 9)
    assert rows["a x 1"]["mean after"] == pytest.approx(299 / 9)
    assert rows["b x 1"]["share unchanged"] == 1
    assert audit.numbers["cells of one record"] == 1
    assert audit.value == 0
    assert not audit.shortfall


@pytest.mark.parametrize(
    ("permutation", "message"),
    [
        ({"z": {}}, "has none for column 'y'"),
        ({"y": {"q": [1]}}, "names the cell 'q'"),
        ({"y": {}}, "leaves out 1 cells"),
        ({"y": {"a x 1": [1, 2, 2]}}, "exactly once"),
        ({"y": {"a x 1": [0, 1, 2]}}, "exactly once"),
        ({"y": {"a x 1": [1, 2]}}, "exactly once"),
    ],
)
def test_permutations_that_do_not_fit_are_refused(permutation, message):
    data, method = printed(permutation=permutation)
    with pytest.raises(tacit.SdcError, match=message):
        method.apply(data)


@given(cells)
@settings(max_examples=60, deadline=None)
def test_shares_of_groups_by_replication(cell):
    from tacit.records.swapping.microaggregated_swap import largest_shares

    y, w, p = (np.array(part) for part in cell)
    order = np.argsort(y, kind="stable")
    ws = w[order]
    moved = np.empty_like(ws)
    moved[p] = ws
    groups = np.split(np.repeat(np.arange(len(y)), ws), np.cumsum(moved)[:-1])
    expected = [np.bincount(g).max() / len(g) for g in groups]
    found = largest_shares(y.astype(float), w.astype(float), p)
    assert found == pytest.approx(expected, abs=1e-9)


def test_the_audit_finds_what_other_methods_break():
    data = survey(3, per_class=1)
    other = tacit.AddNoise(columns=["rent"], relative=0.1).apply(data, seed=1)
    audit = tacit.SwapAudit(columns=["rent"], by=["cell"], means=True).measure(other, original=data)
    assert "4 cells" in audit.shortfall
    assert audit.numbers["cells with values outside their range"] > 0
    same = tacit.SwapAudit(columns=["rent"], by=["cell"]).measure(data, original=data)
    assert same.value == 1
