import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import tacit
from tacit.errors import InputError

FIXTURE = Path(__file__).parents[1] / "fixtures/psd10-method-combinations"
SMALL = json.loads((FIXTURE / "projection_microaggregation.json").read_text())
X = np.array(SMALL["X"])


def read(x):
    return tacit.read(dict(zip("abc", x.T, strict=False)))


def test_variance_that_group_means_lose():
    data = read(X)
    masked = tacit.SortByZscores(k=3).apply(data, seed=1)
    found = tacit.MomentChange().measure(masked, original=data)
    expected = SMALL["expected"]
    assert found.parts.original == pytest.approx(np.array(expected["cov_original_divN"]))
    assert found.parts.released == pytest.approx(np.array(expected["cov_masked_divN"]))
    assert found.parts.difference == pytest.approx(np.array(expected["within_cov_divN"]))
    assert found.parts.cross == pytest.approx(np.zeros((2, 2)), abs=1e-12)
    assert found.parts.lost.sum() == pytest.approx(expected["variance_decrease_total"])


def test_moments_before_and_after():
    rng = np.random.default_rng(0)
    x, y = rng.gamma(2, size=(300, 2)), rng.normal(size=(300, 2))
    found = tacit.MomentChange().measure(
        read(x).replace({"a": y[:, 0], "b": y[:, 1]}), original=read(x)
    )
    row = found.frame.rows(named=True)[1]
    assert row["mean_before"] == pytest.approx(x[:, 1].mean())
    assert row["variance_after"] == pytest.approx(y[:, 1].var())
    assert row["skewness_before"] == pytest.approx(stats.skew(x[:, 1]))
    assert row["kurtosis_after"] == pytest.approx(stats.kurtosis(y[:, 1], fisher=False))
    assert row["variance_before"] == pytest.approx(
        row["variance_after"]
        + row["variance_of_difference"]
        + row["twice_covariance_with_difference"]
    )
    sd = x.std(axis=0)
    change = np.abs(np.cov(y.T, bias=True) - np.cov(x.T, bias=True)) / np.outer(sd, sd)
    assert found.value == pytest.approx(change[np.tril_indices(2)].mean())
    assert len(list(found.charts())) == 3


def test_nothing_changed_and_everything_lost():
    data = read(X)
    assert tacit.MomentChange().measure(data, original=data).value == 0
    flat = data.replace({"a": np.full(12, X[:, 0].mean()), "b": np.full(12, X[:, 1].mean())})
    found = tacit.MomentChange().measure(flat, original=data)
    assert found.numbers["share of the total variance lost"] == pytest.approx(1)
    assert "a: variance, after / before" in found.numbers


def test_compares_records_that_are_in_both_and_complete():
    data = tacit.read({"a": [1.0, 2.0, None, 4.0, 8.0]})
    some = data.take(np.array([0, 2, 3, 4]))
    found = tacit.MomentChange().measure(some, original=data)
    assert found.frame["mean_before"].to_list() == pytest.approx([13 / 3])
    with pytest.raises(InputError, match="at least two records"):
        tacit.MomentChange().measure(data.take(np.array([0])), original=data)
    words = tacit.read({"a": ["u", "v"]})
    with pytest.raises(InputError, match="needs a numeric column"):
        tacit.MomentChange().measure(words, original=words)
