import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import Approximate, InputError


def read(n, seed=0):
    x = np.random.default_rng(seed).multivariate_normal(
        [5, 50, -1], [[1, 3, 0.2], [3, 16, 0], [0.2, 0, 1]], n
    )
    return tacit.read(dict(zip("abc", x.T, strict=True)))


def array(data):
    return np.column_stack([data.column(c).to_numpy() for c in "abc"])


@given(st.integers(0, 9999), st.integers(20, 120))
@settings(max_examples=8, deadline=None)
def test_exact_noise_restores_mean_and_covariance(seed, n):
    data = read(n, seed)
    x, y = array(data), array(tacit.RestoringNoise().apply(data, seed=seed))
    assert y.mean(axis=0) == pytest.approx(x.mean(axis=0))
    assert np.cov(y.T) == pytest.approx(np.cov(x.T), abs=1e-8)
    assert (np.abs(x - y).max(axis=1) > 0).all()


def test_random_noise_restores_them_on_average():
    data = read(50_000)
    y = array(tacit.RestoringNoise(exact=False).apply(data, seed=1))
    assert np.cov(y.T) == pytest.approx(np.cov(array(data).T), abs=0.3)


def test_takes_any_first_masking():
    data = read(200)
    first = {"kind": "individual_ranking", "k": 10}
    with pytest.warns(Approximate, match="raised some variances"):  # the loss is no covariance here
        masked = tacit.RestoringNoise(first=first, columns=["a", "b"]).apply(data, seed=1)
    assert np.cov(array(masked)[:, :2].T) == pytest.approx(np.cov(array(data)[:, :2].T), abs=0.2)
    assert masked.column("c").equals(data.column("c"))
    assert masked.history[-1].details["stages"][0]["kind"] == "individual_ranking"


def test_says_when_there_is_nothing_to_restore():
    noise = {"kind": "add_noise", "columns": ["a", "b", "c"], "relative": 1.0}
    with pytest.warns(Approximate, match="raised some variances"):
        tacit.RestoringNoise(first=noise).apply(read(300), seed=1)


def test_too_few_records_for_exact_moments():
    with pytest.raises(InputError, match="too few records for exact moments"):
        tacit.RestoringNoise().apply(read(7), seed=1)
