"""MDAV on Gower's distance: against a plain reading of the definition, compiled and not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.numerics.kernels import run_kernels
from tacit.records.microaggregation.grouping import gower
from tacit.records.microaggregation.grouping.gower import Mixed, compute_gower_distance, mdav_gower


def tick(message, share):
    del message, share


def draw(seed, n):
    rng = np.random.default_rng(seed)
    numbers = np.round(rng.normal(size=(n, 2)) * [1, 50], 1)
    ordered, nominal = rng.integers(0, 5, (n, 1)), rng.integers(0, 3, (n, 2))
    weights = (np.array([1.0, 2.0]), np.array([0.5]), np.array([1.0, 1.5]))
    return numbers, ordered, nominal, weights


def gower_by_hand(numbers, ordered, nominal, weights, a, b):
    """The definition, on records given as triples of numbers, ranks and codes."""
    range_ = np.ptp(numbers, axis=0)
    parts = [
        *(weights[0] * np.abs(a[0] - b[0]) / np.where(range_ > 0, range_, 1)),
        *(weights[1] * np.abs(a[1] - b[1]) / np.maximum(ordered.max(axis=0), 1)),
        *(weights[2] * (a[2] != b[2])),
    ]
    return sum(parts) / sum(w.sum() for w in weights)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_distance_is_gowers(seed):
    numbers, ordered, nominal, weights = draw(seed, 9)
    data = Mixed.of(numbers, ordered, nominal, weights)
    for i in range(9):
        for j in range(9):
            a, b = ((numbers[r], ordered[r], nominal[r]) for r in (i, j))
            expected = gower_by_hand(numbers, ordered, nominal, weights, a, b)
            found = compute_gower_distance(data, i, data.numbers[j], data.codes[j])
            assert found == pytest.approx(expected, abs=1e-12)
            assert 0 <= found <= 1 + 1e-12


def plain_mdav(numbers, ordered, nominal, weights, k):
    """MDAV as in the text, no thought given to speed."""
    record = [(numbers[i], ordered[i], nominal[i]) for i in range(len(numbers))]

    def away(a, b):
        return round(gower_by_hand(numbers, ordered, nominal, weights, a, b), 12)

    def typical(rows):
        ranks = np.sort(ordered[rows], axis=0)[(len(rows) - 1) // 2]
        modes = [np.bincount(column[rows]).argmax() for column in nominal.T]
        return numbers[rows].mean(axis=0), ranks, np.array(modes)

    left, groups = list(range(len(numbers))), []

    def take(seed):
        near = sorted(left, key=lambda i: (i != seed, away(record[seed], record[i]), i))[:k]
        groups.append(sorted(near))
        for i in near:
            left.remove(i)

    while len(left) >= 2 * k:
        two = len(left) >= 3 * k
        r = max(left, key=lambda i: (away(typical(left), record[i]), -i))
        s = max(left, key=lambda i: (away(record[r], record[i]), -i))
        take(r)
        if two:
            take(s if s in left else max(left, key=lambda i: (away(record[r], record[i]), -i)))
    if left:
        groups.append(sorted(left))
    return sorted(groups)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 24), st.integers(2, 4))
def test_groups_are_those_of_the_definition(seed, n, k):
    numbers, ordered, nominal, weights = draw(seed, n)
    numbers = np.random.default_rng(seed).normal(size=(n, 2))  # no ties but those of categories
    labels = mdav_gower(Mixed.of(numbers, ordered, nominal, weights), k, tick=tick)
    found = sorted(np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1))
    assert found == plain_mdav(numbers, ordered, nominal, weights, k)


@pytest.mark.parametrize("n", [300, 500])
def test_compiled_and_plain_agree_and_can_be_looked_at(n, monkeypatch):
    data = Mixed.of(*draw(3, n))
    with run_kernels("compiled"):
        compiled = mdav_gower(data, 3, tick=tick)
    looks = []
    monkeypatch.setattr(gower, "BUDGET", 5 * n)
    with run_kernels("plain"):
        plain = mdav_gower(data, 3, tick=lambda _, share: looks.append(share))
    assert plain.tolist() == compiled.tolist()
    assert len(looks) > 10
    assert looks == sorted(looks)
    assert np.bincount(plain).min() >= 3


def test_categories_alone_and_columns_that_do_not_vary():
    none = np.empty((9, 0))
    nominal = np.repeat([0, 1, 2], 3)[:, None]
    weights = (np.empty(0), np.empty(0), np.ones(1))
    data = Mixed.of(none, none.astype(int), nominal, weights)
    labels = mdav_gower(data, 3, tick=tick)
    assert len({*zip(labels.tolist(), nominal[:, 0].tolist(), strict=True)}) == 3
    same = Mixed.of(
        np.ones((7, 1)),
        np.zeros((7, 1), dtype=int),
        np.zeros((7, 0), dtype=int),
        (np.ones(1), np.ones(1), np.empty(0)),
    )
    assert np.bincount(mdav_gower(same, 3, tick=tick)).tolist() == [3, 4]
