import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import tacit
from tacit.errors import InputError


def read(n=400, p=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.multivariate_normal(np.arange(p) * 5.0, 0.5 * np.eye(p) + 0.5, n)
    return tacit.read(dict(zip("abc", x.T, strict=False)))


def array(data):
    return np.column_stack([data.column(c).to_numpy() for c in data.columns])


@given(st.integers(0, 9999), st.floats(0.01, 2), st.integers(1, 3))
@settings(max_examples=8, deadline=None)
def test_counts_are_those_of_the_definition(seed, share, p):
    data = read(60, p, seed)
    names = list(data.columns)
    masked = tacit.CorrelatedNoise(columns=names, lambda_squared=share).apply(data, seed=seed)
    found = tacit.NoiseEllipsoid(columns=names, share=share, alpha=0.1).measure(
        masked, original=data
    )
    x, y = array(data), array(masked)
    precision = np.linalg.inv(share * np.atleast_2d(np.cov(x.T)))
    gaps = y[:, None, :] - x[None, :, :]
    squared = np.einsum("ijk,kl,ijl->ij", gaps, precision, gaps)
    inside = squared <= stats.chi2.ppf(0.9, p)
    assert found.inside.tolist() == inside.sum(axis=1).tolist()
    assert found.own.tolist() == inside.diagonal().tolist()
    assert found.value == pytest.approx(
        np.mean(np.where(inside.diagonal(), 1 / np.maximum(inside.sum(axis=1), 1), 0))
    )


@pytest.mark.parametrize("keep", [False, True])
def test_the_own_record_is_inside_as_often_as_stated(keep):
    data = read(4000)
    masked = tacit.CorrelatedNoise(
        columns=["a", "b"], lambda_squared=0.2, keep_variance=keep
    ).apply(data, seed=1)
    found = tacit.NoiseEllipsoid(share=0.2, keep_variance=keep).measure(masked, original=data)
    assert found.own.mean() == pytest.approx(0.95, abs=0.015)
    assert found.numbers["columns"] == "a, b"


def test_less_noise_leaves_fewer_candidates():
    data = read(1000)
    values = [
        tacit.NoiseEllipsoid(share=s)
        .measure(
            tacit.CorrelatedNoise(columns=["a", "b"], lambda_squared=s).apply(data, seed=1),
            original=data,
        )
        .value
        for s in (0.001, 0.05, 1.0)
    ]
    assert values == sorted(values, reverse=True)


def test_large_files_are_sampled_and_dropped_records_do_not_matter():
    data = read(500)
    masked = tacit.CorrelatedNoise(columns=["a", "b"], lambda_squared=0.2).apply(data, seed=1)
    some = masked.take(np.arange(0, 500, 2))
    found = tacit.NoiseEllipsoid(share=0.2).measure(some, original=data)
    assert len(found.inside) == 250
    assert found.own.mean() > 0.85
    sampled = tacit.NoiseEllipsoid(share=0.2, most=100).measure(masked, original=data, seed=2)
    assert sampled.numbers["records looked at"] == 100


def test_bad_input():
    flat = tacit.read({"a": [1.0, 2.0, 3.0, 4.0], "b": [2.0, 4.0, 6.0, 8.0]})
    with pytest.raises(InputError, match="made up of the others"):
        tacit.NoiseEllipsoid(columns=["a", "b"]).measure(flat, original=flat)
    few = tacit.read({"a": [1.0, 2.0]})
    with pytest.raises(InputError, match="at least three complete original records"):
        tacit.NoiseEllipsoid().measure(few, original=few)
    words = tacit.read({"a": ["u", "v"]})
    with pytest.raises(InputError, match="needs a numeric column"):
        tacit.NoiseEllipsoid().measure(words, original=words)
