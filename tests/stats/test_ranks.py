"""Ranks, scores, rank correlations, reverse mapping, and the repair of correlation matrices."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from tacit.stats.ranks import (
    nearest_correlation,
    normal_scores,
    pearson,
    rank,
    reverse_map,
    spearman,
    spearman_to_pearson,
)

EXAMPLES = json.loads(
    (
        Path(__file__).parents[1]
        / "fixtures"
        / "psd15-swap-vs-shuffle"
        / "deterministic_examples.json"
    ).read_text()
)

tied = hnp.arrays(np.float64, st.integers(1, 40), elements=st.integers(0, 8).map(float))


def test_reverse_mapping_of_the_worked_example():
    example = EXAMPLES["reverse_map"]
    values, scores = np.array(example["X"]), np.array(example["perturbed_scores"])
    assert reverse_map(values, scores).tolist() == example["expected_shuffled"]


def test_reverse_mapping_refuses_another_shape():
    with pytest.raises(ValueError, match="one score for each value"):
        reverse_map(np.zeros(3), np.zeros(4))


def test_conversion_of_the_worked_example():
    example = EXAMPLES["spearman_to_pearson"]
    assert spearman_to_pearson(example["r"]) == pytest.approx(example["expected"], abs=1e-15)


@settings(deadline=None, max_examples=60)
@given(tied, st.integers(0, 99))
def test_ranks_agree_with_their_definition(x, seed):
    ranking = rank(x, np.random.default_rng(seed))
    assert sorted(ranking.ranks()) == list(range(len(x)))
    assert (np.diff(x[ranking.order]) >= 0).all()
    assert ranking.mean_ranks() == pytest.approx(stats.rankdata(x))
    assert ranking.mean_ranks() == pytest.approx(rank(x).mean_ranks())
    if len(x) > 1:
        _, counts = np.unique(x, return_counts=True)
        lost = (counts**3 - counts).sum() / (len(x) ** 3 - len(x))
        assert ranking.kept == pytest.approx(1 - lost)


def test_ties_are_broken_at_random_and_evenly():
    x = np.array([1.0, 1.0, 0.0, 1.0])
    found = {tuple(rank(x, np.random.default_rng(s)).order.tolist()) for s in range(200)}
    assert len(found) == 6
    assert all(order[0] == 2 for order in found)
    assert rank(x).order.tolist() == [2, 0, 1, 3]


def test_ties_do_not_depend_on_how_equal_values_were_sorted():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 5, 1000)
    whole, real = rank(x, np.random.default_rng(1)), rank(x * 1.0, np.random.default_rng(1))
    assert np.array_equal(whole.order, real.order)


def test_normal_scores():
    assert normal_scores(3) == pytest.approx(stats.norm.ppf([1 / 6, 1 / 2, 5 / 6]))
    x = np.array([30.0, 10.0, 20.0, 20.0])
    assert sorted(rank(x).scores()) == pytest.approx(normal_scores(4))
    assert rank(x).mean_scores() == pytest.approx(stats.norm.ppf([0.875, 0.125, 0.5, 0.5]))


def test_correlations_agree_with_scipy():
    rng = np.random.default_rng(1)
    x = np.column_stack(
        [rng.integers(0, 6, 80), rng.normal(size=80), rng.exponential(size=80)]
    ).astype(float)
    assert spearman(x) == pytest.approx(stats.spearmanr(x).statistic)
    assert pearson(x) == pytest.approx(np.corrcoef(x.T))
    x[:, 1] = 7.0
    assert np.isnan(pearson(x)[1]).all()
    assert np.isnan(spearman(np.empty((0, 2)))).all()


def test_nearest_correlation_of_higham():
    """Higham (2002), section 4: the nearest correlation matrix to a tridiagonal one."""
    given_matrix = np.array([[2.0, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 2]])
    expected = np.array(
        [
            [1.0, -0.8084, 0.1916, 0.1068],
            [-0.8084, 1.0, -0.6562, 0.1916],
            [0.1916, -0.6562, 1.0, -0.8084],
            [0.1068, 0.1916, -0.8084, 1.0],
        ]
    )
    assert nearest_correlation(given_matrix) == pytest.approx(expected, abs=1e-4)


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 6), st.integers(0, 999))
def test_repair_gives_a_correlation_matrix_and_leaves_one_alone(p, seed):
    rng = np.random.default_rng(seed)
    rough = np.clip(rng.normal(size=(p, p)), -1, 1)
    rough = (rough + rough.T) / 2
    np.fill_diagonal(rough, 1.0)
    found = nearest_correlation(rough)
    assert np.linalg.eigvalsh(found)[0] > 0
    assert (np.diag(found) == 1).all()
    assert np.abs(found).max() <= 1
    good = np.corrcoef(rng.normal(size=(p, 50)))
    assert nearest_correlation(good) == pytest.approx(good, abs=1e-8)
