"""Local negative-binomial regression: the published neighbourhoods, likelihood and maximum; brute force."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from tacit.kernels import run_kernels
from tacit.stats.local_counts import (
    GRID,
    SEPARATED,
    SMALLEST,
    Lattice,
    design,
    evaluate,
    fit_around,
    fit_cells,
    neighbourhood,
    score,
)

FIXTURE = Path(__file__).parents[1] / "fixtures/psd08-negative-binomial-smoothing-risk"
EXPECTED = json.loads((FIXTURE / "expected.json").read_text())
OFFSETS = neighbourhood(2, 3, None)
COUNTS = np.array(EXPECTED["likelihood"]["counts_7x7"])[OFFSETS[:, 0] + 3, OFFSETS[:, 1] + 3]


@pytest.mark.parametrize("case", EXPECTED["neighbourhood_sizes"])
def test_published_neighbourhood_sizes(case):
    assert len(neighbourhood(case["varied"], case["c"], case["d"])) == case["size"]


def test_likelihood_and_its_derivatives_at_the_published_point():
    told = EXPECTED["likelihood"]
    x = design(OFFSETS, 2)
    gradient, hessian = np.zeros(5), np.zeros((5, 5))
    theta = np.array(told["at"]["theta"])
    value = evaluate(COUNTS, x, told["at"]["a"], theta, gradient, hessian)
    factorials = np.log([np.prod(np.arange(1, f + 1)) for f in COUNTS]).sum()
    assert value - factorials == pytest.approx(told["loglik"], rel=1e-12)
    assert gradient == pytest.approx(told["gradient_a_theta"][1:], rel=1e-10)
    assert score(COUNTS, x, told["at"]["a"], theta) == pytest.approx(told["gradient_a_theta"][0])
    expected = np.array(told["hessian_a_theta"])[1:, 1:]
    assert np.tril(-hessian) == pytest.approx(np.tril(expected), rel=1e-10)


def test_published_maximum():
    told = EXPECTED["mle"]
    out, theta = np.zeros((1, 4)), np.zeros((1, 5))
    fit_cells(COUNTS[None], design(OFFSETS, 2), GRID, SMALLEST, out, theta)
    assert out[0, :3] == pytest.approx([told["a"], told["mu_centre"], told["loglik"]], rel=1e-7)
    assert theta[0] == pytest.approx(told["theta"], abs=1e-7)
    assert out[0, 3] == 0


def test_no_optimiser_finds_a_better_maximum():
    rng = np.random.default_rng(3)
    x = design(neighbourhood(2, 2, None), 1)
    for seed in range(6):
        mean = np.exp(x @ rng.normal(0, 0.4, 3) + 0.3)
        f = rng.poisson(mean * rng.gamma(1.0 + seed, 1 / (1.0 + seed), len(mean)))
        f[12] = 1
        out, theta = np.zeros((1, 4)), np.zeros((1, 3))
        fit_cells(f[None], x, GRID, SMALLEST, out, theta)

        def loss(p, f=f):
            shape = np.exp(-np.clip(p[0], -8, 8))  # beyond, SciPy loses its digits
            mu = np.exp(np.clip(x @ p[1:], -30, 30))
            return -stats.nbinom.logpmf(f, shape, shape / (shape + mu)).sum()

        best = min(
            optimize.minimize(
                loss, [s, 0.1, 0, 0], method="Nelder-Mead", options={"maxfev": 4000}
            ).fun
            for s in (-3.0, 0.0, 2.0)
        )
        assert out[0, 2] >= -best - 1e-4


def lattice_of(table):
    places = np.argwhere(table > 0)
    return Lattice(places, np.zeros(len(places), dtype=np.int64), table[table > 0])


def test_neighbours_are_gathered_within_groups_and_edges():
    places = np.array([[0, 0], [0, 2], [1, 1], [0, 1]])
    lattice = Lattice(places, np.array([0, 0, 0, 1]), np.array([4, 5, 6, 7]))
    offsets = neighbourhood(2, 1, None)
    index = lattice.index(1)
    zero = index.gather(places[:1], np.array([0]), offsets, outside="zero")[0]
    drop = index.gather(places[:1], np.array([0]), offsets, outside="drop")[0]
    seen = {tuple(o): n for o, n in zip(offsets.tolist(), zero.tolist(), strict=True)}
    assert seen[(0, 0)] == 4
    assert seen[(1, 1)] == 6
    assert seen[(0, 1)] == 0  # that cell is of the other group
    assert zero.sum() == 10
    assert (drop == -1).sum() == 5


def test_an_isolated_unique_is_told_and_can_get_a_lower_degree():
    table = np.zeros((11, 11), dtype=int)
    table[5, 5] = 1
    table[0, 0] = 2
    at = (lattice_of(table), np.array([[5, 5]]), np.array([0]), neighbourhood(2, 3, None), 2)
    kept = fit_around(*at)
    assert kept.status[0] == SEPARATED
    assert kept.mu[0] == pytest.approx(1, abs=0.01)  # a perfect fit, which calls the record safe
    lowered = fit_around(*at, lower=True)
    assert lowered.degree[0] < 2
    assert lowered.mu[0] < 0.5


def test_blocks_and_compiling_do_not_matter(monkeypatch):
    table = np.random.default_rng(2).poisson(0.4, (12, 12))
    lattice = lattice_of(table)
    at = lattice.places[:5]
    group = np.zeros(5, dtype=np.int64)
    first = fit_around(lattice, at, group, neighbourhood(2, 2, None), 2)
    monkeypatch.setattr("tacit.stats.local_counts.BLOCK", 50)
    with run_kernels("plain"):
        second = fit_around(lattice, at, group, neighbourhood(2, 2, None), 2)
    for a, b in zip(vars(first).values(), vars(second).values(), strict=True):
        assert np.array_equal(a, b)
