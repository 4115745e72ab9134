import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import fft
from scipy.optimize import minimize

from tacit.records.noise.deconvolution_noise import (
    compute_grid_shares,
    convolve,
    deconvolve,
    solve,
    spread_count,
    to_simplex,
)


def quiet(_message, _share):
    pass


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_projection_on_the_simplex(values):
    v = np.array(values)
    f = to_simplex(v)
    assert f.sum() == pytest.approx(1)
    assert (f >= 0).all()
    # Nearest: the step v - f makes an obtuse angle with every direction into the simplex.
    corners = np.eye(len(v))
    assert ((corners - f) @ (v - f)).max() <= 1e-9


@given(st.integers(0, 10_000), st.integers(4, 9), st.integers(1, 3))
@settings(max_examples=12, deadline=None)
def test_solution_is_the_constrained_least_squares_one(seed, cells, reach):
    rng = np.random.default_rng(seed)
    a = rng.dirichlet(np.ones(cells))
    b = rng.dirichlet(np.ones(cells + 2 * reach))
    size = 2 * reach + 1
    shape = (cells + 2 * reach,)
    f = solve(a, b, shape, (size,), quiet)
    matrix = np.array([np.r_[np.zeros(k), a, np.zeros(size - 1 - k)] for k in range(size)]).T
    assert convolve(fft.rfftn(a, shape), f, shape) == pytest.approx(matrix @ f)
    brute = minimize(
        lambda g: ((matrix @ g - b) ** 2).sum(),
        np.full(size, 1 / size),
        jac=lambda g: 2 * matrix.T @ (matrix @ g - b),
        bounds=[(0, 1)] * size,
        constraints={"type": "eq", "fun": lambda g: g.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    ours = ((matrix @ f - b) ** 2).sum()
    assert ours <= brute.fun + 1e-7
    assert f.sum() == pytest.approx(1)


@pytest.mark.parametrize("p", [1, 2])
def test_finds_the_noise_between_two_samples(p):
    rng = np.random.default_rng(p)
    start = rng.normal(size=(40_000, p))
    noise = rng.choice([-1.0, 2.0], size=(40_000, p), p=[0.7, 0.3])
    found = deconvolve(start, start[rng.permutation(40_000)] + noise, 24, quiet)
    drawn = found.draw(40_000, rng)
    assert found.chance.sum() == pytest.approx(1)
    assert found.misfit < 0.1
    assert drawn.mean(axis=0) == pytest.approx(noise.mean(axis=0), abs=0.1)
    assert drawn.std(axis=0) == pytest.approx(noise.std(axis=0), abs=0.2)
    assert (np.abs(drawn - 0.5) < 0.5).mean() < 0.2


def test_no_noise_where_nothing_was_lost():
    x = np.random.default_rng(0).normal(size=(500, 2))
    found = deconvolve(x, x, 10, quiet)
    assert found.offsets.tolist() == [[0, 0]]
    drawn = found.draw(100, np.random.default_rng(1))
    assert (np.abs(drawn) <= found.step / 2).all()


def test_moved_records_are_counted_as_expected():
    x = np.random.default_rng(2).normal(size=(3, 2))
    low, step = x.min(axis=0) - 1.0, np.array([0.7, 0.9])
    rng = np.random.default_rng(3)
    moved = np.repeat(x, 100_000, axis=0)
    moved = moved + (rng.random(moved.shape) - 0.5) * step
    assert spread_count(x, low, step, 12) == pytest.approx(
        compute_grid_shares(moved, low, step, 12), abs=0.004
    )
