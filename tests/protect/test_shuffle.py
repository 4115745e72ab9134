"""Data shuffling: values kept, correlations kept, nothing told beyond the given columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import (
    Approximate,
    DisclosureRefused,
    InputError,
    InvalidParameter,
    WeakProtection,
)
from tacit.records.swapping.shuffle import compute_target_correlations, conditional, scores_of
from tacit.stats.dummies import cross
from tacit.stats.ranks import pearson, spearman


def survey(n=2000, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    sex = np.array(["f", "m"])[rng.integers(0, 2, n)]
    income = np.exp(10 + 0.02 * age + 0.5 * (sex == "m") + rng.normal(0, 0.6, n))
    wealth = income * rng.lognormal(0, 1, n)
    benefit = np.where(rng.random(n) < 0.4, 0.0, 1e5 / income * rng.lognormal(0, 0.3, n))
    return tacit.read(
        {"age": age, "sex": sex, "income": income, "wealth": wealth, "benefit": benefit}
    )


def numbers(data):
    table = data.to_arrow()
    male = np.array(table.column("sex").to_pylist()) == "m"
    names = ("age", "income", "wealth", "benefit")
    return np.column_stack([*(table.column(c).to_numpy() for c in names), male]).astype(float)


def test_the_line_of_the_manual():
    data = survey()
    released = tacit.Shuffle(columns=["income"], given=["age", "sex"]).apply(data, seed=1)
    rest = [c for c in data.columns if c != "income"]
    assert released.to_arrow(rest) == data.to_arrow(rest)
    assert sorted(released.column("income").to_pylist()) == sorted(
        data.column("income").to_pylist()
    )
    before, after = spearman(numbers(data)), spearman(numbers(released))
    assert abs(after[0, 1] - before[0, 1]) < 0.02
    assert abs(after[1, 4] - before[1, 4]) < 0.02
    told = tacit.ValueDisclosure(given=["age", "sex"]).measure(released, original=data)
    assert told.parts["income"].given > 0.2
    assert told.parts["income"].added < 0.01


@pytest.mark.parametrize("way", ["conditional", "lhs"])
def test_rank_correlations_of_several_columns(way):
    data = survey()
    columns = ["income", "wealth", "benefit"]
    spec = tacit.Shuffle(columns=columns, given=["age", "sex"], engine=way)
    released = spec.apply(data, seed=2)
    change = spearman(numbers(released)) - spearman(numbers(data))
    noted = released.history[-1].details["largest_change_of_a_rank_correlation"]
    assert noted == pytest.approx(np.abs(change).max(), abs=1e-9)
    assert noted < (0.002 if way == "lhs" else 0.05)
    linked = tacit.ConditionalLinkage(columns=columns).measure(released, original=data)
    assert linked.rate < 0.004


@settings(deadline=None, max_examples=25)
@given(
    st.integers(1, 3),
    st.integers(0, 2),
    st.booleans(),
    st.booleans(),
    st.integers(0, 999),
)
def test_exact_moments(q, r, category, normal, seed):
    rng = np.random.default_rng(seed)
    n = 60
    base = rng.normal(size=(n, 1))
    x, u = base + rng.normal(size=(n, q)), base + rng.normal(size=(n, r))
    codes = [rng.integers(0, 3, n)] if category else []
    scores = scores_of(np.exp(x), u, codes, normal=normal, rng=rng)
    target, repair = compute_target_correlations(scores, normal=normal)
    found = conditional(scores, target, rng, exact=True)
    assert repair == 0
    assert found.mean(axis=0) == pytest.approx(0, abs=1e-9)
    got = cross(scores.design, found)
    width = scores.design.width
    assert got[width:] == pytest.approx(target[width:], abs=1e-9)
    # No covariance with the original scores beyond what the given columns explain.
    rows = scores.design.rows(0, n)
    fit = np.linalg.lstsq(rows, scores.v, rcond=None)[0] if width else np.zeros((0, q))
    rest = scores.v - rows @ fit
    assert rest.T @ found / n == pytest.approx(0, abs=1e-9)


def test_pearson_targets_are_those_of_the_sample():
    rng = np.random.default_rng(4)
    x = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 500)
    scores = scores_of(x, x[:, :0], (), normal=False, rng=rng)
    assert compute_target_correlations(scores, normal=False)[0] == pytest.approx(pearson(x))


def test_independent_draws_keep_moments_in_expectation_only():
    data = survey(400)
    columns = ["income", "wealth"]
    exact = tacit.Shuffle(columns=columns).apply(data, seed=1)
    loose = tacit.Shuffle(columns=columns, exact=False).apply(data, seed=1)
    before = spearman(numbers(data))[1, 2]
    gaps = [abs(spearman(numbers(d))[1, 2] - before) for d in (exact, loose)]
    assert gaps[0] < 0.05
    assert gaps[1] < 0.2


def test_nothing_is_told_without_given_columns():
    """R^2 of a column on its shuffled self is below chance from 100 records on: at most 0.002."""
    rng = np.random.default_rng(1)
    for n in (100, 500):
        data = tacit.read({"x": rng.normal(size=n), "y": rng.normal(size=n)})
        spec = tacit.Shuffle(correlation="pearson")
        told = [
            tacit.ValueDisclosure().measure(spec.apply(data, seed=s), original=data).parts["x"].own
            for s in range(20)
        ]
        assert np.mean(told) < 0.002


def test_ties_and_types_survive():
    rng = np.random.default_rng(1)
    data = tacit.read({"kids": rng.integers(0, 4, 300), "age": rng.integers(18, 60, 300)})
    released = tacit.Shuffle(columns=["kids"], given=["age"]).apply(data, seed=1)
    assert released.column("kids").type == data.column("kids").type
    assert np.array_equal(
        np.bincount(released.column("kids").to_numpy()), np.bincount(data.column("kids").to_numpy())
    )
    other = tacit.Shuffle(columns=["kids"], given=["age"]).apply(data, seed=2)
    assert other.column("kids") != released.column("kids")


def test_missing_values():
    data = tacit.read(
        {
            "x": [1.0, None, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.5],
            "s": ["a", "b", None, "a", "b", "a", "b", "b", "a"],
        }
    )
    with pytest.raises(InputError, match="'x' has missing values"):
        tacit.Shuffle(columns=["x"], given=["s"]).apply(data, seed=1)
    with pytest.raises(InputError, match="'s' has missing values"):
        tacit.Shuffle(columns=["x"], given=["s"]).apply(
            tacit.read({"x": [1.0, 2, 3], "s": ["a", None, "b"]}), seed=1
        )
    released = tacit.Shuffle(columns=["x"], given=["s"], missing="keep").apply(data, seed=1)
    new = released.column("x").to_pylist()
    assert new[1:3] == [None, 3.0]
    assert sorted(v for v in new if v is not None) == sorted(
        v for v in data.column("x").to_pylist() if v is not None
    )


def test_impossible_rank_correlations_are_repaired_with_a_warning():
    """Three columns of ranks whose sum is constant correlate by -1/2; 2 sin(-pi/12) is beyond that."""
    m = 60
    a = np.arange(2 * m + 1)
    b = np.where(a % 2 == 0, m - a // 2, 2 * m - a // 2)
    data = tacit.read({"a": a, "b": b, "c": 3 * m - a - b})
    before = spearman(np.column_stack([data.column(c).to_numpy() for c in "abc"]).astype(float))
    assert before[0, 1] == pytest.approx(-0.5)
    with pytest.warns(Approximate, match="belong to no normal variables"):
        released = tacit.Shuffle().apply(data, seed=1)
    after = spearman(np.column_stack([released.column(c).to_numpy() for c in "abc"]).astype(float))
    assert after == pytest.approx(before, abs=0.15)


def test_a_column_told_by_the_given_ones_is_warned_of():
    age = np.arange(100.0)
    data = tacit.read({"age": age, "pension": age**2})
    with (
        pytest.warns(WeakProtection, match="tell 'pension' nearly exactly"),
        pytest.raises(DisclosureRefused, match="shuffle changed nothing"),
    ):
        tacit.Shuffle(columns=["pension"], given=["age"]).apply(data, seed=1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"columns": ["a"], "given": ["a"]}, "must not hold a column that is shuffled"),
        ({"columns": ["a", "a"]}, "each column once"),
        ({"correlation": "kendall"}, "correlation must be one of"),
        ({"engine": "lhs", "correlation": "pearson"}, "keeps rank correlations"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        tacit.Shuffle(**parameters)


def test_bad_data():
    few = tacit.read({"x": [1.0, 2, 3], "y": [2.0, 1, 5]})
    with pytest.raises(InputError, match="too few complete records for exact moments"):
        tacit.Shuffle().apply(few, seed=1)
    assert len(tacit.Shuffle(exact=False).apply(few, seed=1)) == 3
    flat = tacit.read({"x": [1.0] * 9, "y": np.arange(9.0)})
    with pytest.raises(InputError, match="'x' is constant"):
        tacit.Shuffle(columns=["y"], given=["x"]).apply(flat, seed=1)
    ids = tacit.read({"x": np.arange(400.0), "s": [f"s{i}" for i in range(400)]})
    with pytest.raises(InputError, match="more than 300 categories"):
        tacit.Shuffle(columns=["x"], given=["s"]).apply(ids, seed=1)
    with pytest.raises(InputError, match="does not hold numbers"):
        tacit.Shuffle(columns=["s"]).apply(ids, seed=1)
    with pytest.raises(InputError, match="no numeric column to shuffle"):
        tacit.Shuffle(given=["x"]).apply(ids, seed=1)
