"""Invariant matrices: R^T T = T, stay probabilities, forbidden moves."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize as scipy_optimize

from tacit.errors import InvalidParameter
from tacit.records.pram import (
    Mixture,
    drift,
    equal,
    explicit,
    invariant_matrix,
    most_even,
    one_parameter,
    parse,
    sdcmicro,
    transition,
    two_stage,
    without,
)
from tacit.records.pram import matrices as home

WORKED = json.loads(
    (
        Path(__file__).parents[1] / "fixtures" / "psd17-pram-risk-utility" / "worked_examples.json"
    ).read_text()
)

COUNTS = st.lists(st.integers(0, 400), min_size=2, max_size=8).filter(
    lambda t: sum(c > 0 for c in t) >= 2
)
KINDS = [invariant_matrix, one_parameter, most_even]


def test_two_stages_of_the_worked_example():
    case = WORKED["three_categories"]
    found = two_stage(explicit(case["P"]), case["T"])
    wanted = np.array(case["expected"]["invariant_two_stage"])
    assert found.dense() == pytest.approx(wanted, abs=1e-12)
    assert found.forward(np.array(case["T"])) == pytest.approx(case["expected"]["invariant_check"])


@given(COUNTS, st.floats(0.3, 0.99))
@settings(max_examples=80, deadline=None)
def test_frequencies_are_kept_and_none_stays_less_than_asked(counts, stay):
    t = np.array(counts, dtype=float)
    for kind in KINDS:
        matrix = kind(t, stay)
        p = matrix.dense()
        assert drift(matrix, t) < 1e-12
        assert p.min() >= 0
        assert p.sum(axis=1) == pytest.approx(np.ones(len(t)))
        assert matrix.diagonal.min() >= stay - 1e-9
        assert (p[:, t == 0] - np.eye(len(t))[:, t == 0] == 0).all()
        flows = t[:, None] * p
        assert flows == pytest.approx(flows.T, abs=1e-9 * t.sum())


@given(COUNTS)
@settings(max_examples=30, deadline=None)
def test_the_smallest_stay_probability_is_the_one_asked(counts):
    t = np.array(counts, dtype=float)
    for kind in (invariant_matrix, one_parameter):
        assert kind(t, 0.7).diagonal[t > 0].min() == pytest.approx(0.7)


@given(COUNTS, st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_closing_moves_keeps_frequencies(counts, seed):
    t = np.array(counts, dtype=float)
    shut = np.random.default_rng(seed).random((len(t), len(t))) < 0.3
    np.fill_diagonal(shut, val=False)
    even = most_even(t, 0.8, shut)
    closed = without(invariant_matrix(t, 0.8), shut, t)
    for matrix in (even, closed):
        assert drift(matrix, t) < 1e-12
        assert (matrix.dense()[shut] == 0).all()
        assert matrix.diagonal.min() >= 0.8 - 1e-9
    plain = without(equal(len(t), 0.8), shut)
    assert (plain.dense()[shut] == 0).all()
    assert plain.dense().sum(axis=1) == pytest.approx(np.ones(len(t)))


def test_the_even_matrix_has_the_largest_entropy():
    t, stay = np.array([60.0, 25.0, 15.0]), 0.5
    n = t.sum()

    def entropy(f):
        return -np.sum(f[f > 0] * np.log(f[f > 0]))

    pairs = [(0, 1), (0, 2), (1, 2)]

    def joint(x):
        f = np.zeros((3, 3))
        for value, (k, j) in zip(x, pairs, strict=True):
            f[k, j] = f[j, k] = value
        return f + np.diag(t / n - f.sum(axis=1))

    limits = [
        {"type": "ineq", "fun": lambda x, k=k: joint(x)[k, k] - stay * t[k] / n} for k in range(3)
    ]
    best = scipy_optimize.minimize(
        lambda x: -entropy(joint(x)), [0.01] * 3, bounds=[(1e-9, 1)] * 3, constraints=limits
    )
    ours = t[:, None] / n * most_even(t, stay).dense()
    assert entropy(ours) == pytest.approx(-best.fun, abs=1e-7)
    assert ours == pytest.approx(joint(best.x), abs=1e-4)


def test_every_category_stays_as_asked_when_none_outweighs_the_rest():
    assert most_even([30, 25, 20, 25], 0.9).diagonal == pytest.approx([0.9] * 4)


def test_large_invariant_matrices_are_compact_and_the_same(monkeypatch):
    t = np.random.default_rng(3).integers(0, 50, 30).astype(float)
    full = [kind(t, 0.8).dense() for kind in KINDS]
    monkeypatch.setattr(home, "COMPACT_ABOVE", 1)
    monkeypatch.setattr(transition, "COMPACT_ABOVE", 1)
    for kind, wanted in zip(KINDS, full, strict=True):
        found = kind(t, 0.8)
        assert isinstance(found, Mixture)
        assert drift(found, t) < 1e-12
        used = t > 0
        assert found.dense()[used] == pytest.approx(wanted[used], abs=1e-9)


def test_sparse_matrices_become_invariant_too(monkeypatch):
    t = np.array([5.0, 0.0, 3.0, 9.0, 2.0, 7.0])
    wanted = two_stage(parse("6B(0.6;2)"), t).dense()
    monkeypatch.setattr(home, "COMPACT_ABOVE", 1)
    monkeypatch.setattr(transition, "COMPACT_ABOVE", 1)
    found = two_stage(parse("6B(0.6;2)"), t)
    assert found.dense() == pytest.approx(wanted)
    assert drift(found, t) < 1e-15


def test_sdcmicros_convention():
    rng = np.random.default_rng(1)
    t = np.array([500.0, 30.0, 8.0])
    matrix = sdcmicro(t, 0.8, 0.5, rng)
    assert drift(matrix, t) < 1e-15
    assert matrix.diagonal.min() >= 0.5  # half of it is the identity
    assert sdcmicro([5, 0], 0.8, 0.5, rng).dense() == pytest.approx(np.eye(2))
    with pytest.raises(InvalidParameter, match="alpha"):
        sdcmicro(t, 0.8, 1.5, rng)


def test_one_category_stays():
    for kind in KINDS:
        assert kind([4.0, 0.0], 0.8).dense() == pytest.approx(np.eye(2))
        assert kind([4.0, 2.0], 1.0).dense() == pytest.approx(np.eye(2))
