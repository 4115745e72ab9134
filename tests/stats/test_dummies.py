"""Designs of numbers and categories, read in chunks."""

import numpy as np
import pytest

from tacit.stats import dummies
from tacit.stats.dummies import Design, cross, solve


def test_chunks_give_the_moments_of_the_whole(monkeypatch):
    rng = np.random.default_rng(1)
    numbers = rng.normal(5, 3, (100, 2))
    codes = rng.integers(0, 4, 100)
    other = rng.normal(size=(100, 1))
    design = Design.of(numbers, [codes])
    whole = np.hstack([design.rows(0, 100), other])
    monkeypatch.setattr(dummies, "CHUNK", 7)
    assert cross(design, other) == pytest.approx(whole.T @ whole / 100)
    assert whole[:, :-1].mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert whole[:, :-1].std(axis=0) == pytest.approx(1)
    assert design.width == 5


def test_solve_leaves_out_what_repeats():
    x = np.random.default_rng(1).normal(size=(50, 2))
    doubled = np.column_stack([x, x[:, 0]])
    fit = solve(doubled.T @ doubled, doubled.T @ x[:, :1])
    assert doubled @ fit == pytest.approx(x[:, :1])
    assert solve(np.zeros((0, 0)), np.zeros((0, 3))).shape == (0, 3)
