"""Randomising columns: what is kept, what is forbidden, what is published, what is refused."""

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import (
    ColumnNotFound,
    DisclosureRefused,
    Infeasible,
    InputError,
    InvalidParameter,
    WeakProtection,
)
from tacit.records.pram import cell_risk, drift, from_history, read_matrices, write_matrices
from tacit.records.pram import matrices as home
from tacit.records.pram import randomised as coding

REGIONS = ["north", "east", "south", "west", "centre"]
SHARES = [0.4, 0.3, 0.15, 0.1, 0.05]


def people(n=4000, seed=1, **more):
    rng = np.random.default_rng(seed)
    return tacit.read(
        {
            "region": rng.choice(REGIONS, n, p=SHARES),
            "status": rng.choice([1, 2, 3, 4], n, p=[0.5, 0.3, 0.15, 0.05]),
            "age": rng.integers(0, 90, n),
            "sex": rng.choice(["f", "m"], n),
            **more,
        }
    )


def matrices(released):
    return from_history(released.history)


def counts(data, column, levels):
    values = data.column(column).to_pylist()
    return np.array([values.count(v) for v in levels], dtype=float)


def test_the_line_of_the_manual():
    data = people()
    released = tacit.Pram(column="region", matrix="invariant", stay=0.8).apply(data, seed=1)
    (variable,) = matrices(released)
    t = counts(data, "region", variable.levels[0])
    assert drift(variable.parts[0].matrix, t) < 1e-12
    assert variable.parts[0].matrix.diagonal.min() == pytest.approx(0.8)
    details = released.history[-1].details
    assert details["smallest_stay_probability"] == pytest.approx(0.8)
    assert details["epsilon"] == pytest.approx(variable.parts[0].matrix.epsilon)
    assert 0 < details["changed_share"]["region"] < 0.2
    assert released.column("age") == data.column("age")


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
@pytest.mark.parametrize(
    "kind", ["invariant", "one_parameter", "even", "optimal", "sdcmicro", "4B(0.7;2)"]
)
def test_invariant_matrices_keep_expected_frequencies(kind):
    data = people()
    more = {"invariant": True} if kind[0] == "4" else {}
    released = tacit.Pram(column="status", matrix=kind, tau=400, **more).apply(data, seed=2)
    (variable,) = matrices(released)
    t = counts(data, "status", variable.levels[0])
    matrix = variable.parts[0].matrix
    assert matrix.forward(t) == pytest.approx(t, abs=1e-6)
    seen = counts(released, "status", variable.levels[0])
    assert np.abs(seen - t).max() < 5 * np.sqrt(t.sum() / 4)


def test_optimal_matrices_leave_nothing_unsafe():
    data = people()
    spec = tacit.Pram(column="status", matrix="optimal", tau=90, combination=["region"], stay=0.01)
    released = spec.apply(data, seed=2)
    risk = tacit.PramRisk(combinations=[("status", "region")], tau=90)
    found = risk.measure(released, original=data)
    assert found.before[("status", "region")] > 0
    assert found.value == 0
    with pytest.raises(Infeasible, match="no transition matrix leaves"):
        tacit.Pram(column="status", matrix="optimal", tau=390, stay=0.9).apply(data)


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
def test_optimal_matrices_count_records_with_a_missing_value():
    data = people(2000, more=[None, "a", "b", "b"] * 500)
    spec = tacit.Pram(column="status", matrix="optimal", tau=60, combination=["more"], stay=0.01)
    (variable,) = matrices(spec.apply(data, seed=1))
    assert drift(variable.parts[0].matrix, counts(data, "status", variable.levels[0])) < 1e-9


def test_rows_mappings_shorthand_and_families_agree():
    data = people()
    rows = [[0.7 if i == j else 0.1 for j in range(4)] for i in range(4)]
    mapping = {i + 1: {j + 1: p for j, p in enumerate(row)} for i, row in enumerate(rows)}
    specs = [
        {"matrix": rows},
        {"matrix": mapping},
        {"matrix": "4E(0.7)"},
        {"matrix": "equal", "stay": 0.7},
        {"matrix": "equal", "stay": dict.fromkeys([1, 2, 3, 4], 0.7)},
        {"matrix": "4B(0.7;4)"},
        {"matrix": "band", "stay": 0.7, "reach": 3},
    ]
    found = [tacit.Pram(column="status", **s).apply(data, seed=3) for s in specs]
    for other in found:
        assert matrices(other)[0].parts[0].matrix.dense() == pytest.approx(np.array(rows))
        assert other.column("status") == found[0].column("status")


def test_categories_left_out_of_a_mapping_stay():
    data = people()
    released = tacit.Pram(column="status", matrix={"1": {"1": 0.5, "4": 0.5}}).apply(data, seed=3)
    before, after = (np.array(d.column("status").to_pylist()) for d in (data, released))
    assert set(after[before != after]) == {4}
    assert set(before[before != after]) == {1}


def test_half_band_and_order_of_levels():
    data = people()
    order = ["centre", "north", "east", "south", "west"]
    released = tacit.Pram(column="region", matrix="half_band", stay=0.6, levels=order).apply(
        data, seed=4
    )
    place = {v: i for i, v in enumerate(order)}
    before, after = (
        np.array([place[v] for v in d.column("region").to_pylist()]) for d in (data, released)
    )
    steps = after - before
    assert set(steps[before < 4]) == {0, 1}
    assert set(steps[before == 4]) == {0, -1}


def test_several_columns_and_jointly():
    data = people()
    apart = tacit.Pram(columns=["region", "sex"]).apply(data, seed=5)
    assert [v.columns for v in matrices(apart)] == [("region",), ("sex",)]
    both = tacit.Pram(columns=["region", "sex"], joint=True, matrix="even").apply(data, seed=5)
    (variable,) = matrices(both)
    assert variable.size == 10
    pairs = list(zip(*(data.column(c).to_pylist() for c in ("region", "sex")), strict=True))
    t = np.array([pairs.count(k) for k in zip(*variable.levels, strict=True)], dtype=float)
    assert variable.parts[0].matrix.forward(t) == pytest.approx(t, abs=1e-8)
    assert variable.parts[0].matrix.diagonal == pytest.approx(np.full(10, 0.8))


def test_joint_categories_beyond_a_dense_table_are_the_same(monkeypatch):
    data = people(300)
    spec = tacit.Pram(columns=["region", "age"], joint=True)
    one = spec.apply(data, seed=5)
    monkeypatch.setattr(coding, "DENSE", 1)
    assert spec.apply(data, seed=5).to_arrow() == one.to_arrow()


def test_strata_have_their_own_invariant_matrices():
    data = people()
    released = tacit.Pram(column="region", by=["sex"]).apply(data, seed=6)
    (variable,) = matrices(released)
    assert sorted(p.stratum for p in variable.parts) == [("f",), ("m",)]
    sex = np.array(data.column("sex").to_pylist())
    region = np.array(data.column("region").to_pylist())
    for part in variable.parts:
        t = np.array([(region[sex == part.stratum[0]] == v).sum() for v in variable.levels[0]])
        assert part.matrix.forward(t.astype(float)) == pytest.approx(t, abs=1e-8)


def test_a_matrix_that_needs_no_frequencies_is_one_for_all_strata():
    released = tacit.Pram(column="region", by=["age"], matrix="equal").apply(people(), seed=6)
    assert len(matrices(released)[0].parts) == 1


@pytest.mark.parametrize("kind", ["equal", "invariant", "even", "one_parameter", "4F(0.7)"])
def test_forbidden_moves_never_happen(kind):
    data = people()
    rules = [{"from": [1], "to": [2]}, {"to": [4], "when": "age < 16"}]
    released = tacit.Pram(column="status", matrix=kind, forbidden=rules).apply(data, seed=7)
    before, after = (np.array(d.column("status").to_pylist()) for d in (data, released))
    age = np.array(data.column("age").to_pylist())
    moved = before != after
    assert moved.any()
    assert not (moved & (before == 1) & (after == 2)).any()
    assert not (moved & (after == 4) & (age < 16)).any()
    assert (moved & (after == 4) & (age >= 16)).any()
    (variable,) = matrices(released)
    for part in variable.parts:
        young = part.holds == (True,)
        t = np.array([(before[(age < 16) == young] == v).sum() for v in (1, 2, 3, 4)], dtype=float)
        p = part.matrix.dense()
        assert p[0, 1] == 0
        if young:
            assert (p[:3, 3] == 0).all()
        if kind in ("invariant", "even", "one_parameter"):
            assert part.matrix.forward(t) == pytest.approx(t, abs=1e-8)


def test_fixed_categories_are_neither_left_nor_entered():
    data = people()
    released = tacit.Pram(column="status", fixed=[4]).apply(data, seed=8)
    before, after = (np.array(d.column("status").to_pylist()) for d in (data, released))
    assert ((before == 4) == (after == 4)).all()
    assert (before != after).any()


def test_given_frequencies_replace_those_of_the_file():
    data = people()
    public = {"1": 500, "2": 300, "3": 150, "4": 50}
    released = tacit.Pram(column="status", frequencies=public).apply(data, seed=8)
    matrix = matrices(released)[0].parts[0].matrix
    t = np.array(list(public.values()), dtype=float)
    assert matrix.forward(t) == pytest.approx(t)
    assert drift(matrix, counts(data, "status", [1, 2, 3, 4])) > 1e-6


def test_missing_values_stay_or_are_refused():
    data = tacit.read({"x": ["a", None, "b", "a", None] * 40})
    released = tacit.Pram(column="x", stay=0.5).apply(data, seed=1)
    nulls = [v is None for v in data.column("x").to_pylist()]
    assert [v is None for v in released.column("x").to_pylist()] == nulls
    assert released.column("x") != data.column("x")
    with pytest.raises(InputError, match="missing values"):
        tacit.Pram(column="x", missing="refuse").apply(data)


@pytest.mark.parametrize(
    "values",
    [
        [dt.date(2020, 1, 1), dt.date(2021, 1, 1), dt.date(2022, 5, 1)],
        [True, False, True],
        [1.5, 2.5, 3.5],
        ["x", "y", "z"],
    ],
)
def test_types_survive(values, tmp_path):
    table = pa.table({"x": values * 60})
    data = tacit.read(table)
    released = tacit.Pram(column="x", stay=0.5).apply(data, seed=1)
    assert released.column("x").type == data.column("x").type
    assert set(released.column("x").to_pylist()) == set(values)
    path = write_matrices(tmp_path / "m.json", released)
    (variable,) = read_matrices(path)
    assert variable.size == len(set(values))
    estimate = tacit.PramEstimate(matrices=str(path)).measure(released)
    assert estimate.tables[("x",)].values.sum() == pytest.approx(180)


def test_many_categories_stay_compact():
    rng = np.random.default_rng(1)
    data = tacit.read({"x": rng.integers(0, 3000, 20_000)})
    for kind in ("invariant", "even", "one_parameter", "equal"):
        released = tacit.Pram(column="x", matrix=kind).apply(data, seed=1)
        (variable,) = matrices(released)
        assert isinstance(variable.parts[0].matrix, home.Mixture)
        assert len(json.dumps(released.history[-1].details["randomised"])) < 1_000_000


@given(
    st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=40),
    st.sampled_from(["invariant", "even", "one_parameter", "equal", "frequency", "sdcmicro"]),
    st.integers(0, 10**6),
)
@settings(max_examples=40, deadline=None)
def test_any_column_comes_out_with_its_own_categories(values, kind, seed):
    data = tacit.read(pa.table({"x": pa.array(values, pa.string())}))
    released = tacit.Pram(column="x", matrix=kind, stay=0.6).apply(data, seed=seed)
    after = released.column("x").to_pylist()
    assert len(after) == len(values)
    assert set(after) <= set(values)
    assert [v is None for v in after] == [v is None for v in values]


def test_draws_follow_the_matrix():
    data = people(40_000)
    released = tacit.Pram(column="region", matrix="frequency", stay=0.6).apply(data, seed=9)
    (variable,) = matrices(released)
    p, levels = variable.parts[0].matrix.dense(), variable.levels[0]
    before, after = (np.array(d.column("region").to_pylist()) for d in (data, released))
    for k, level in enumerate(levels):
        mine = after[before == level]
        seen = np.array([(mine == v).mean() for v in levels])
        assert np.abs(seen - p[k]).max() < 5 * np.sqrt(0.25 / len(mine))


def test_stay_of_one_is_said_to_protect_nothing():
    with (
        pytest.warns(WeakProtection, match="no value changes"),
        pytest.raises(DisclosureRefused, match="pram changed nothing"),
    ):
        tacit.Pram(column="sex", stay=1).apply(people(50))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"column": "status", "stay": 0}, "stay must be greater than 0"),
        ({"column": "status", "stay": 1.2}, "at most 1"),
        ({"column": "status", "matrix": "4Q(0.5)"}, "cannot be read"),
        ({"column": "status", "matrix": "4B(0.6;1)"}, "bandwidth"),
        ({"column": "status", "matrix": "4B(0.6;5)"}, "bandwidth"),
        ({"column": "status", "matrix": "4E(1.5)"}, "greater than 0 and at most 1"),
        ({"column": "status", "matrix": [[1, 0], [1, 0]]}, "diagonal"),
        ({"column": "status", "matrix": [[1.1, -0.1], [0, 1]]}, "negative"),
        ({"column": "status", "matrix": [[0.9, 0.2], [0, 1]]}, "sum to 1"),
        ({"column": "status", "matrix": "4E(0.5)", "stay": 0.5}, "in itself"),
        ({"column": "status", "stay": {"1": 0.5}}, "stay by category"),
        ({"column": "status", "tau": 0}, "tau must be greater than 0"),
        ({"column": "status", "combination": ["sex"]}, "optimal matrix"),
        (
            {"column": "status", "matrix": "optimal", "combination": ["sex"], "by": ["age"]},
            "neither by",
        ),
        ({"column": "status", "matrix": {"1": {"1": 1}}, "fixed": [1]}, "fixed is for"),
        ({"column": "status", "columns": ["sex"]}, "not both"),
        ({}, "give column, or columns"),
        ({"columns": ["sex", "sex"]}, "each column once"),
        ({"column": "sex", "joint": True}, "at least two columns"),
        ({"columns": ["sex", "age"], "levels": ["a"]}, "one step per column"),
        ({"column": "sex", "by": ["sex"]}, "must not name a column that is randomised"),
        (
            {"column": "age", "forbidden": [{"to": [1], "when": "age < 5"}]},
            "must not name a column that is randomised",
        ),
        ({"column": "age", "forbidden": [{"to": [1], "when": "age <"}]}, "rule"),
    ],
)
def test_bad_parameters_are_refused_before_any_data(parameters, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        tacit.Pram(**parameters)


@pytest.mark.parametrize(
    ("parameters", "error", "sentence"),
    [
        ({"column": "town"}, ColumnNotFound, "no column 'town'"),
        ({"column": "status", "matrix": "3E(0.5)"}, InvalidParameter, "variable has 4"),
        ({"column": "status", "matrix": [[1.0, 0], [0, 1]]}, InvalidParameter, "column has 4"),
        ({"column": "status", "levels": [1, 2, 3]}, InputError, "does not know"),
        ({"column": "status", "levels": [1, 2, 3, 4, 4]}, InvalidParameter, "each category once"),
        ({"column": "status", "levels": ["a"]}, InputError, "not of the column's type"),
        ({"column": "status", "fixed": [9]}, InvalidParameter, "fixed names a category"),
        (
            {"column": "status", "forbidden": [{"to": [9]}]},
            InvalidParameter,
            "forbidden names a category",
        ),
        (
            {"column": "status", "frequencies": {"1": 5}},
            InvalidParameter,
            "for every category",
        ),
        (
            {"column": "status", "frequencies": {"1": -5, "2": 1, "3": 1, "4": 1}},
            InvalidParameter,
            "at least 0",
        ),
        (
            {"column": "status", "matrix": "equal", "stay": {"1": 0.5}},
            InvalidParameter,
            "stay must be given for every",
        ),
    ],
)
def test_what_does_not_fit_the_data_is_refused(parameters, error, sentence):
    with pytest.raises(error, match=sentence):
        tacit.Pram(**parameters).apply(people(200))


def test_identifiers_and_weights_are_no_categories():
    data = tacit.read({"id": [1, 2], "w": [1.0, 2.0]}, identifiers=["id"], weight="w")
    for column in ("id", "w"):
        with pytest.raises(InputError, match="not a category"):
            tacit.Pram(column=column).apply(data)


def test_columns_that_tell_the_matrix_stay_as_they_are():
    first = tacit.Pram(column="region", by=["sex"]).apply(people(300), seed=1)
    ruled = tacit.Pram(column="region", forbidden=[{"to": ["west"], "when": "age < 16"}])
    for done, spec, sentence in [
        (first, {"column": "region"}, "was randomised before"),
        (first, {"column": "sex"}, "tells which matrix another column gets"),
        (first, {"column": "status", "by": ["region"]}, "tells which matrix"),
        (ruled.apply(people(300), seed=1), {"column": "age"}, "tells which matrix"),
    ]:
        with pytest.raises(InputError, match=sentence):
            tacit.Pram(**spec).apply(done, seed=2)


def test_the_release_is_protected_as_the_matrix_says():
    data = people()
    released = tacit.Pram(column="region", matrix="5F(0.6)").apply(data, seed=1)
    (variable,) = matrices(released)
    t = counts(data, "region", variable.levels[0])
    want = cell_risk(t, [variable.parts[0].matrix], 1000)
    found = tacit.PramRisk(combinations=[("region",)], tau=1000).measure(released, original=data)
    assert found.after[("region",)] == int(want.unsafe.sum())
