"""Fuller's linkage probabilities."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.records.linkage.conditional_linkage import (
    conditional_of,
    link_probabilities,
    own_probabilities,
)
from tacit.records.linkage.nearest import find_nearest_rows, find_own_chance

FOLDER = Path(__file__).parents[1] / "fixtures" / "psd15-swap-vs-shuffle"
EXAMPLE = json.loads((FOLDER / "deterministic_examples.json").read_text())["fuller_linkage"]


def test_the_worked_example():
    x, y, expected = np.array(EXAMPLE["X"]), np.array(EXAMPLE["Y"]), EXAMPLE["expected"]
    found = conditional_of(x, y)
    assert found.slope == pytest.approx(np.array(expected["H"]))
    assert found.covariance == pytest.approx(np.array(expected["conditional_covariance"]))
    targets, masked = found.expected(x), found.masked(y)
    probabilities = link_probabilities(targets, masked)
    assert probabilities == pytest.approx(np.array(expected["probabilities"]), abs=1e-8)
    assert find_nearest_rows(targets, masked).nearest.tolist() == expected["best_match"]
    assert find_own_chance(targets, masked, np.arange(8)).sum() == 8
    own = own_probabilities(targets, masked, np.arange(8), lambda _share: None)
    assert own == pytest.approx(np.diag(probabilities))


@settings(deadline=None, max_examples=25)
@given(st.integers(12, 40), st.integers(1, 3), st.integers(0, 999))
def test_the_tree_finds_the_most_likely_record(n, p, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p)
    y = x + rng.normal(size=(n, p)) * x.std(axis=0)
    found = conditional_of(x, y)
    targets, masked = found.expected(x), found.masked(y)
    by_hand = y - y.mean(axis=0) - (x - x.mean(axis=0)) @ found.slope.T
    inverse = np.linalg.inv(found.covariance)
    q = np.einsum("ij,jk,ik->i", by_hand, inverse, by_hand)
    assert ((targets - masked) ** 2).sum(axis=1) == pytest.approx(q, rel=1e-6)
    assert np.array_equal(
        find_nearest_rows(targets, masked).nearest,
        link_probabilities(targets, masked).argmax(axis=1),
    )


def test_records_equally_likely_share_a_hit():
    masked = np.array([[0.0], [0.0], [5.0], [4.0], [6.0]])
    targets = np.array([[0.1], [-0.1], [9.0], [5.0 - 1], [5.0]])
    assert find_own_chance(targets, masked, np.arange(5)).tolist() == [0.5, 0.5, 0.0, 1.0, 0.0]
    between = np.array([[5.0]])  # 4 and 6 are as near, in either order of the rows
    for rows in ([[4.0], [6.0], [9.0]], [[6.0], [4.0], [9.0]]):
        for own in (0, 1):
            assert find_own_chance(between, np.array(rows), np.array([own])).tolist() == [0.5]


def test_without_masking_every_record_is_found():
    x = np.random.default_rng(1).normal(size=(50, 2))
    found = conditional_of(x, x)
    masked = found.masked(x)
    assert find_own_chance(found.expected(x), masked, np.arange(50)).mean() == 1.0
