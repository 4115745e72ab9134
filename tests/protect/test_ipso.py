"""IPSO as a method: what each variant keeps, categories, missing values, bad input."""

import numpy as np
import pytest

import tacit
from conftest import FIXTURES
from tacit.errors import DisclosureRefused, Infeasible, InputError, InvalidParameter, WeakProtection

Y = ["income", "tax"]


def people(n=200, seed=1, **more):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    sex = rng.choice(["f", "m"], n)
    income = 1000.0 * age + 5000 * (sex == "m") + rng.normal(0, 8000, n)
    columns = {
        "age": age,
        "sex": sex,
        "income": income,
        "tax": 0.3 * income + rng.normal(0, 900, n),
    }
    return tacit.read(columns | more)


def regression(data, given=("age",)):
    x = np.column_stack([np.ones(len(data)), *(data.column(c).to_numpy() for c in given)])
    y = np.column_stack([data.column(c).to_numpy() for c in Y])
    b = np.linalg.lstsq(x, y, rcond=None)[0]
    left = y - x @ b
    return b, left.T @ left / len(x), y


@pytest.fixture(scope="module")
def data():
    return people()


def test_a_releases_fitted_values(data):
    released = tacit.Ipso(columns=Y, variant="A").apply(data, seed=1)
    b, _, _ = regression(data)
    _, sigma, y = regression(released)
    np.testing.assert_allclose(
        y, np.column_stack([np.ones(200), data.column("age").to_numpy()]) @ b
    )
    assert np.abs(sigma).max() < 1e-10
    noisy = tacit.Ipso(columns=Y, variant="A", noise=True).apply(data, seed=1)
    assert regression(noisy)[1][0, 0] == pytest.approx(regression(data)[1][0, 0], rel=0.4)


def test_b_keeps_the_coefficients(data):
    released = tacit.Ipso(columns=Y, variant="B").apply(data, seed=1)
    np.testing.assert_allclose(regression(released)[0], regression(data)[0], rtol=1e-8)
    assert not np.allclose(regression(released)[1], regression(data)[1], rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_c_keeps_coefficients_and_covariance(data, seed):
    released = tacit.Ipso(columns=Y).apply(data, seed=seed)
    b, sigma, y = regression(released)
    b0, sigma0, y0 = regression(data)
    np.testing.assert_allclose(b, b0, rtol=1e-8)
    np.testing.assert_allclose(sigma, sigma0, rtol=1e-8)
    np.testing.assert_allclose(np.cov(y.T), np.cov(y0.T), rtol=1e-8)
    assert np.abs(y - y0).min() > 0
    assert released.column("age") == data.column("age")


def test_categories_are_kept_apart(data):
    released = tacit.Ipso(columns=Y, given=["sex"]).apply(data, seed=1)
    sex = np.array(data.column("sex").to_pylist())
    for s in ("f", "m"):
        for c in Y:
            ours, real = (
                released.column(c).to_numpy()[sex == s],
                data.column(c).to_numpy()[sex == s],
            )
            assert ours.mean() == pytest.approx(real.mean())
    assert released.history[-1].details["explained"]["income"] < 0.5


def test_records_with_missing_values_stay_as_they_are():
    income = people().column("income").to_numpy().copy()
    income[:5] = np.nan
    data = people(income=income)
    with pytest.raises(InputError, match="'income' has missing values"):
        tacit.Ipso(columns=Y).apply(data, seed=1)
    released = tacit.Ipso(columns=Y, missing="keep").apply(data, seed=1)
    assert released.column("income").to_pylist()[:5] == [None] * 5
    assert released.column("tax").to_pylist()[:5] == data.column("tax").to_pylist()[:5]
    assert released.column("tax").to_pylist()[5:] != data.column("tax").to_pylist()[5:]


def test_whole_numbers_get_decimals():
    data = people(income=np.arange(200), tax=np.arange(200)[::-1] ** 2)
    released = tacit.Ipso(columns=Y).apply(data, seed=1)
    np.testing.assert_allclose(regression(released)[0], regression(data)[0], rtol=1e-8, atol=1e-6)


def test_columns_that_are_determined_bring_a_warning():
    age = people().column("age").to_numpy()
    with pytest.warns(WeakProtection, match="determine 'tax' almost exactly"):
        tacit.Ipso(columns=Y).apply(people(tax=2.0 * age + 1), seed=1)


def test_the_reference_files_keep_their_regressions():
    for name, columns in (("census", [1, 3, 6]), ("eia", [4, 5, 10, 11, 12])):
        data = tacit.read(FIXTURES / "casc" / f"{name}.csv")
        replaced = [list(data.columns)[i] for i in columns]
        for variant in "ABC":
            tacit.Ipso(columns=replaced, variant=variant).apply(data, seed=2)


def test_a_release_that_does_not_keep_its_promise_is_refused(data, monkeypatch):
    from tacit.records.synthesis import ipso

    monkeypatch.setattr(ipso, "ipso_c", lambda fit, z: fit.fitted + 1000 * z)
    with pytest.raises(DisclosureRefused, match="is not that of the original"):
        tacit.Ipso(columns=Y).apply(data, seed=1)


def test_faults(data):
    with pytest.raises(InvalidParameter, match="given must not name a column that is replaced"):
        tacit.Ipso(columns=Y, given=["tax"])
    with pytest.raises(InvalidParameter, match="columns must name each column once"):
        tacit.Ipso(columns=["tax", "tax"])
    with pytest.raises(InvalidParameter, match="noise is for variant A"):
        tacit.Ipso(columns=Y, variant="B", noise=True)
    with pytest.raises(InputError, match="'sex' does not hold numbers"):
        tacit.Ipso(columns=["sex"]).apply(data, seed=1)
    with pytest.raises(InputError, match="no numeric column is left to regress on"):
        tacit.Ipso(columns=[*Y, "age"]).apply(data, seed=1)
    with pytest.raises(Infeasible, match="at least three complete records"):
        tacit.Ipso(columns=Y).apply(data.take(np.arange(2)), seed=1)
    many = people(2500).replace({"sex": np.array([f"s{i}" for i in range(2500)])})
    with pytest.raises(InputError, match="has more than 1,000 categories"):
        tacit.Ipso(columns=Y, given=["sex"]).apply(many, seed=1)
