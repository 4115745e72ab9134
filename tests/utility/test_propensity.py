"""Propensity scores: fixture, null distributions, refusals."""

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import Approximate, ColumnNotFound, InputError
from tacit.stats.regression import fit

CASE = json.loads(
    (
        Path(__file__).parents[1] / "fixtures/psd10-method-combinations/propensity_score.json"
    ).read_text()
)
OLD, NEW = np.array(CASE["original"]), np.array(CASE["masked"])


def read(x):
    return tacit.read({f"v{j}": column for j, column in enumerate(np.asarray(x).T)})


@pytest.mark.parametrize(("degree", "name"), [(1, "main_effects"), (2, "second_order")])
def test_sums_of_squares(degree, name):
    found = tacit.Propensity(degree=degree).measure(read(NEW), original=read(OLD))
    expected = CASE["expected"][name]
    assert found.u == pytest.approx(expected["sum_sq"], abs=1e-8)
    assert found.value == found.pmse == pytest.approx(expected["pMSE"], abs=1e-8)
    assert found.null_mean == pytest.approx((2 if degree == 1 else 5) / 4)
    assert found.u <= 20 / 4


def test_coefficients_of_the_plain_designs():
    x = np.concatenate([OLD, NEW])
    r = np.repeat([1.0, 0.0], 10)
    main = fit(x, r, "logit").coefficients
    assert main == pytest.approx(CASE["expected"]["main_effects"]["coef"], abs=1e-6)
    second = np.column_stack([x, x**2, x[:, :1] * x[:, 1:]])
    found = fit(second, r, "logit").coefficients
    assert found == pytest.approx(CASE["expected"]["second_order"]["coef"], abs=1e-5)


def test_equal_files_cannot_be_told_apart():
    data = tacit.read({"a": np.arange(50.0), "s": list("fm") * 25})
    for model in ("logistic", "tree"):
        found = tacit.Propensity(model=model, leaf=2).measure(data, original=data, seed=1)
        assert found.u == pytest.approx(0, abs=1e-12)


def test_null_distribution_of_two_samples():
    rng = np.random.default_rng(0)
    measure = tacit.Propensity(degree=2)
    found = [
        measure.measure(read(rng.normal(size=(300, 2))), original=read(rng.normal(size=(300, 2))))
        for _ in range(60)
    ]
    assert np.mean([f.ratio for f in found]) == pytest.approx(1, abs=0.2)
    assert np.mean([f.z for f in found]) == pytest.approx(0, abs=0.4)
    assert np.mean([f.p_value < 0.1 for f in found]) == pytest.approx(0.1, abs=0.12)


def test_permutations_agree_with_theory():
    rng = np.random.default_rng(1)
    old, new = read(rng.normal(size=(400, 2))), read(rng.normal(size=(400, 2)) * 1.2)
    theory = tacit.Propensity().measure(new, original=old)
    drawn = tacit.Propensity(n_permutations=100).measure(new, original=old, seed=1)
    assert drawn.u == theory.u
    assert drawn.null_mean == pytest.approx(theory.null_mean, rel=0.2)
    assert drawn.null_sd == pytest.approx(theory.null_sd, rel=0.4)
    assert drawn.p_value == pytest.approx(1 / 101)
    assert theory.p_value < 0.01


@pytest.mark.parametrize("model", ["tree", "boosted"])
def test_trees_see_what_polynomials_do_not(model):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(600, 2))
    y = x.copy()
    y[:, 0] = np.round(4 * y[:, 0]) / 4 + 0.6 * (np.round(4 * y[:, 0]) % 2)
    measure = tacit.Propensity(model=model, n_permutations=9)
    found = measure.measure(read(y), original=read(x), seed=3)
    assert found.ratio > 1.5
    assert found.p_value == pytest.approx(0.1)
    again = tacit.Propensity(model=model, n_permutations=0)
    assert again.measure(read(y), original=read(x), seed=3).u == found.u


def test_heavier_noise_is_told_apart_more_easily():
    rng = np.random.default_rng(3)
    data = read(rng.gamma(2, size=(1000, 3)))
    values = [
        tacit.Propensity(degree=3)
        .measure(
            tacit.CorrelatedNoise(columns=["v0", "v1", "v2"], lambda_squared=lam).apply(
                data, seed=1
            ),
            original=data,
        )
        .value
        for lam in (0.01, 0.1, 0.5)
    ]
    assert values == sorted(values)


def test_files_of_different_length_use_their_share():
    rng = np.random.default_rng(4)
    old, new = read(rng.normal(size=(300, 2))), read(rng.normal(size=(100, 2)))
    found = tacit.Propensity(degree=1).measure(new, original=old)
    assert found.share == 0.75
    assert found.null_mean == pytest.approx(0.75 * 0.25 * 2)
    assert "c is not one half" in found.explanation


def test_separation_is_reported():
    x = np.arange(40.0)[:, None]
    found = tacit.Propensity(degree=1).measure(read(x + 100), original=read(x))
    assert found.separated
    assert found.value == pytest.approx(0.25, abs=1e-6)
    assert "certainty" in found.explanation


def test_categories_codes_and_missing_numbers():
    rng = np.random.default_rng(5)
    job = rng.choice(["a", "b", "c"], 400)
    code = rng.integers(1, 4, 400)
    number = [None if i % 7 == 0 else float(v) for i, v in enumerate(rng.normal(size=400))]
    data = tacit.read({"job": job, "code": code, "x": number})
    changed = data.replace({"job": np.where(rng.random(400) < 0.5, "a", job)})
    found = tacit.Propensity(degree=1, categorical=["code"]).measure(changed, original=data)
    assert found.terms == 2 + 2 + 2
    by_column = {r["column"]: r["ratio"] for r in found.frame.rows(named=True)}
    assert max(by_column, key=by_column.get) == "job"
    holes = data.replace({"x": [None] * 200 + number[200:]})
    assert tacit.Propensity(degree=1).measure(holes, original=data).ratio > 5


def test_rare_categories_share_a_dummy():
    names = [f"c{i}" for i in range(200)]
    data = tacit.read({"id_like": names, "x": np.arange(200.0)})
    found = tacit.Propensity(degree=1).measure(data, original=data)
    assert found.terms <= 21


def test_too_many_terms_fall_back_to_a_lower_degree():
    rng = np.random.default_rng(6)
    data = read(rng.normal(size=(60, 16)))
    with pytest.warns(Approximate, match="degree 2 is used"):
        found = tacit.Propensity(degree=3).measure(data, original=data)
    assert found.degree == 2


def test_large_files_are_drawn_from():
    rng = np.random.default_rng(7)
    data = read(rng.normal(size=(500, 2)))
    found = tacit.Propensity(max_records=100).measure(data, original=data, seed=1)
    assert found.numbers["records used"] == 200
    assert "random draw" in found.explanation


def test_refusals():
    data = tacit.read({"a": [1.0, 2.0, 3.0]})
    other = tacit.read({"b": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="needs a column that is in original and release"):
        tacit.Propensity().measure(other, original=data)
    with pytest.raises(ColumnNotFound):
        tacit.Propensity(columns=["a"]).measure(other, original=data)
    flat = tacit.read({"a": [1.0, 1.0]})
    with pytest.raises(InputError, match="no column varies"):
        tacit.Propensity().measure(flat, original=flat)
    endless = tacit.read({"a": [1.0, np.inf]})
    with pytest.raises(InputError, match="infinite"):
        tacit.Propensity().measure(endless, original=endless)


def test_without_trees(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    data = tacit.read({"a": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(tacit.SdcError, match=r"tacit\[models\]"):
        tacit.Propensity(model="tree").measure(data, original=data)
