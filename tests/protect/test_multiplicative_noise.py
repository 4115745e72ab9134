import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError, InvalidParameter
from tacit.records.noise.multiplicative_noise import corrected_moments


def read(n=20_000, seed=0):
    x = np.exp(np.random.default_rng(seed).multivariate_normal([1, 2], [[0.5, 0.4], [0.4, 0.6]], n))
    return tacit.read({"a": x[:, 0], "b": x[:, 1]})


def array(data):
    return np.column_stack([data.column(c).to_numpy() for c in "ab"])


@pytest.mark.parametrize("distribution", ["lognormal", "truncated", "two_sided"])
def test_unbiased_and_correctable_from_what_is_stated(distribution):
    data = read(200_000)
    method = tacit.MultiplicativeNoise(columns=["a", "b"], distribution=distribution, sd=0.25)
    released = method.apply(data, seed=1)
    x, y = array(data), array(released)
    v = released.history[-1].details["factor_variance"]
    mean, covariance = corrected_moments(y, v * np.eye(2))
    assert mean == pytest.approx(x.mean(axis=0), rel=0.01)
    assert covariance == pytest.approx(np.cov(x.T), rel=0.03)
    assert np.var(y / x, axis=0) == pytest.approx(v, rel=0.03)


@given(st.integers(0, 9999), st.floats(0.01, 0.5), st.floats(0.51, 0.9))
@settings(max_examples=15, deadline=None)
def test_two_sided_factors_leave_no_value_nearly_as_it_is(seed, gap, limit):
    data = read(200, seed)
    method = tacit.MultiplicativeNoise(
        columns=["a"], distribution="two_sided", gap=gap, limit=limit
    )
    away = np.abs(array(method.apply(data, seed=seed))[:, 0] / array(data)[:, 0] - 1)
    assert away.min() >= gap - 1e-9
    assert away.max() <= limit + 1e-9


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
def test_zeros_signs_and_missing_values_stay():
    data = tacit.read({"a": [0.0, -5.0, None, 7.0] * 20})
    y = tacit.MultiplicativeNoise(columns=["a"]).apply(data, seed=3).column("a").to_pylist()
    assert y[0] == 0
    assert y[1] < 0 < y[3]
    assert y[2] is None


def test_a_shared_factor_keeps_ratios():
    data = read()
    y = array(tacit.MultiplicativeNoise(columns=["a", "b"], shared=True).apply(data, seed=1))
    x = array(data)
    assert y[:, 0] / y[:, 1] == pytest.approx(x[:, 0] / x[:, 1])


def test_correlated_factors_have_the_correlation_of_the_logs():
    data = read(100_000)
    x = array(data)
    y = array(tacit.MultiplicativeNoise(columns=["a", "b"], correlated=True).apply(data, seed=1))
    wanted = np.corrcoef(np.log(x).T)[0, 1]
    assert np.corrcoef(np.log(y / x).T)[0, 1] == pytest.approx(wanted, abs=0.01)
    method = tacit.MultiplicativeNoise(columns=["a"], correlated=True)
    with pytest.raises(InputError, match="values above 0"):
        method.apply(tacit.read({"a": [0.0, 1.0, 2.0]}), seed=1)
    with pytest.raises(InputError, match="columns that vary"):
        method.apply(tacit.read({"a": [3.0] * 4}), seed=1)


def test_whole_numbers_stay_whole():
    data = tacit.read({"a": np.arange(1000, 2000)})
    method = tacit.MultiplicativeNoise(columns=["a"])
    assert method.apply(data, seed=1).column("a").type == pa.int64()
    loose = tacit.MultiplicativeNoise(columns=["a"], whole=False)
    assert loose.apply(data, seed=1).column("a").type == pa.float64()


def test_bounds_of_the_factors_are_secret():
    method = tacit.MultiplicativeNoise(
        columns=["a"], distribution="two_sided", gap=0.0321, limit=0.4
    )
    assert "0.0321" not in str(method.to_dict(public=True)) + repr(method)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sd": 0}, "sd must be greater than 0"),
        ({"distribution": "two_sided", "gap": 0.3}, "gap must be less than limit"),
        ({"shared": True, "correlated": True}, "not shared"),
        ({"distribution": "truncated", "correlated": True}, "lognormal"),
        ({"limit": 1}, "limit must be less than 1"),
        ({"columns": ["a", "a"]}, "each column once"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        tacit.MultiplicativeNoise(**{"columns": ["a"], **parameters})
