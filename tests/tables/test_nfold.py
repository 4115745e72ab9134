"""n-fold integer programming: Graver bases, uniqueness and optimisation over layers."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError, LimitReached
from tacit.tables.margins.entry_bounds import entry_bounds
from tacit.tables.margins.margins import Axis, MarginSet, k_margins
from tacit.tables.margins.nfold import (
    Long,
    Walk,
    graver_basis,
    graver_complexity,
    kernel_lattice,
    layer_matrices,
    nfold_matrix,
    nfold_optimise,
)

EXAMPLE = json.loads(
    (Path(__file__).parents[1] / "fixtures/psd09-entry-uniqueness/nfold_example3.json").read_text()
)


def line_sums(r, c):
    axes = [Axis.flat(str(i), s) for i, s in enumerate((r, c, 4))]
    return layer_matrices(axes, k_margins(3, 2), 2)


def test_example_3():
    a1, a2 = line_sums(3, 3)
    assert np.array_equal(a1, np.eye(9))
    assert np.array_equal(np.unique(a2, axis=0), np.unique(EXAMPLE["A2"], axis=0))
    basis = graver_basis(EXAMPLE["A2"])
    assert len(basis) == EXAMPLE["graver_basis_A2_size_with_signs"]
    assert sorted(np.abs(basis).sum(axis=1).tolist()) == [4] * 18 + [6] * 12
    assert graver_complexity(a1, a2) == EXAMPLE["graver_complexity"]
    assert nfold_matrix(a1, a2, 5).shape == (9 + 5 * 6, 5 * 9)


def test_the_nfold_matrix_makes_the_margins():
    table = np.random.default_rng(0).poisson(1.0, (2, 3, 4))
    a1, a2 = line_sums(2, 3)
    layers = np.moveaxis(table, 2, 0).reshape(-1)
    sums = nfold_matrix(a1, a2, 4) @ layers
    assert sorted(sums) == sorted(MarginSet.from_table(table).right)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_complexity_of_two_rows(m):
    assert graver_complexity(*line_sums(2, m)) == m


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.integers(-2, 2), min_size=4, max_size=4), min_size=1, max_size=2))
def test_graver_bases_are_the_minimal_kernel_vectors(rows):
    a = np.array(rows)
    basis = {tuple(v) for v in graver_basis(a)}
    assert not (a @ kernel_lattice(a).T).any()
    box = [
        v
        for v in itertools.product(range(-4, 5), repeat=4)
        if any(v) and not (a @ np.array(v)).any()
    ]
    signed = np.array(box).reshape(-1, 4)
    for v in box:
        w = np.array(v)
        fits = ((signed * w >= 0) & (np.abs(signed) <= np.abs(w))).all(axis=1)
        assert (v in basis) == (fits.sum() == 1)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([(2, 2), (2, 3), (3, 3)]), st.integers(2, 5))
def test_the_walk_agrees_with_integer_programs(seed, sides, n):
    table = np.random.default_rng(seed).poisson(0.6, (*sides, n))
    a1, a2 = line_sums(*sides)
    walk = Walk(Long.of(table.reshape(-1, n).T, a1, a2), graver_complexity(a1, a2))
    exact = entry_bounds(table, engine="mip")
    assert np.array_equal(walk.unique().T.ravel(), exact.unique)


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10**6))
def test_the_nfold_engine_gives_the_bounds(seed):
    table = np.random.default_rng(seed).poisson(1.0, (2, 3, 4))
    one, two = entry_bounds(table, engine="nfold"), entry_bounds(table, engine="mip")
    assert one.exact.all()
    assert np.array_equal(one.lower, two.lower)
    assert np.array_equal(one.upper, two.upper)


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10**6))
def test_augmentation_finds_the_optimum_of_any_objective(seed):
    from scipy.optimize import LinearConstraint, milp

    rng = np.random.default_rng(seed)
    layers, cost = rng.poisson(1.5, (4, 6)), rng.integers(-5, 6, (4, 6))
    a1, a2 = line_sums(2, 3)
    best = nfold_optimise(Long.of(layers, a1, a2), cost, 3)
    m = nfold_matrix(a1, a2, 4)
    right = m @ layers.ravel()
    assert np.array_equal(m @ best.ravel(), right)
    assert (best >= 0).all()
    found = milp(cost.ravel(), constraints=LinearConstraint(m, right, right), integrality=1)
    assert (best * cost).sum() == pytest.approx(found.fun)


def test_large_counts_take_few_steps():
    a1, a2 = line_sums(2, 2)
    layers = np.array([[1000, 0, 0, 1000], [0, 1000, 1000, 0]])
    cost = np.zeros((2, 4))
    cost[0, 0] = 1
    assert nfold_optimise(Long.of(layers, a1, a2), cost, 2)[0, 0] == 0


def test_limits_are_said():
    with pytest.raises(LimitReached, match="mip"):
        graver_basis(line_sums(3, 3)[1], most=5)
    with pytest.raises(InputError, match="complexity"):
        entry_bounds(np.ones((4, 4, 5), dtype=int), engine="nfold")
    with pytest.raises(InputError, match="equally many"):
        nfold_matrix(np.eye(2), np.eye(3), 2)
