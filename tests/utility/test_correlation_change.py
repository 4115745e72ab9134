"""Correlation change: matrices, columns with the same values, the heat map."""

import numpy as np
import pytest
from scipy import stats

import tacit
from tacit.errors import ColumnNotFound, InputError


def data_of(x):
    return tacit.read({f"v{i}": column for i, column in enumerate(x.T)})


def test_matrices_agree_with_scipy():
    rng = np.random.default_rng(1)
    x = np.exp(rng.normal(size=(80, 3)))
    y = x + rng.normal(size=(80, 3))
    y[:, 0] = rng.permutation(x[:, 0])
    found = tacit.CorrelationChange().measure(data_of(y), original=data_of(x))
    for name, function in (
        ("spearman", lambda a: stats.spearmanr(a).statistic),
        ("pearson", lambda a: np.corrcoef(a.T)),
    ):
        assert found.before[name] == pytest.approx(function(x))
        assert found.after[name] == pytest.approx(function(y))
        assert found.change[name] == pytest.approx(function(y) - function(x))
    above = np.triu_indices(3, 1)
    assert found.value == pytest.approx(np.abs(found.change["spearman"][above]).mean())
    assert found.identical == ("v0",)
    assert len(found.frame) == 6
    linear = tacit.CorrelationChange(correlation="pearson").measure(data_of(y), original=data_of(x))
    assert linear.value == pytest.approx(np.abs(found.change["pearson"][above]).mean())


def test_files_of_other_records_and_missing_values():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 2))
    y = rng.normal(size=(90, 2))
    y[4, 1] = np.nan
    found = tacit.CorrelationChange().measure(data_of(y), original=data_of(x))
    known = np.delete(y, 4, axis=0)
    assert found.after["spearman"][0, 1] == pytest.approx(stats.spearmanr(known).statistic)
    assert found.identical == ()


@pytest.mark.parametrize("columns", [3, 14])
def test_heat_maps(columns):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, columns))
    found = tacit.CorrelationChange().measure(data_of(x[::-1] + x), original=data_of(x))
    charts = list(found.charts())
    assert len(charts) == 2
    assert len(charts[0].spec["data"]["values"]) == columns * (columns - 1) // 2
    assert len(charts[0].spec["layer"]) == (2 if columns <= 12 else 1)
    assert "The largest is" in charts[0].alt
    assert found.plot().svg().startswith("<svg")


def test_constant_columns_have_no_correlation():
    x = np.random.default_rng(1).normal(size=(20, 3))
    y = x.copy()
    y[:, 2] = 1.0
    found = tacit.CorrelationChange().measure(data_of(y), original=data_of(x))
    assert np.isnan(found.change["spearman"][0, 2])
    assert found.value == 0
    assert len(found.plot().spec["data"]["values"]) == 1


def test_bad_input():
    x = np.ones((5, 2))
    with pytest.raises(InputError, match="no two columns vary"):
        tacit.CorrelationChange().measure(data_of(x), original=data_of(x))
    with pytest.raises(InputError, match="at least two numeric columns"):
        tacit.CorrelationChange().measure(data_of(x[:, :1]), original=data_of(x))
    with pytest.raises(ColumnNotFound):
        tacit.CorrelationChange(columns=["v0", "v1"]).measure(
            data_of(x), original=data_of(x[:, :1])
        )
