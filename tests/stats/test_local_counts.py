"""Local negative-binomial regression: the published neighbourhoods, likelihood and maximum; brute force."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from tacit.numerics.kernels import run_kernels
from tacit.records.samples.local_counts import (
    GRID,
    SEPARATED,
    SMALLEST,
    design,
    evaluate,
    fit_around,
    fit_cells,
    score,
)
from tacit.records.samples.local_lattice import METRICS, Lattice, Rule, name_metric, neighbourhood

FIXTURE = Path(__file__).parents[1] / "fixtures/psd08-negative-binomial-smoothing-risk"
EXPECTED = json.loads((FIXTURE / "expected.json").read_text())
OFFSETS = neighbourhood(2, 3, None)
COUNTS = np.array(EXPECTED["likelihood"]["counts_7x7"])[OFFSETS[:, 0] + 3, OFFSETS[:, 1] + 3]
NONE = np.zeros(len(COUNTS))


@pytest.mark.parametrize("case", EXPECTED["neighbourhood_sizes"])
def test_published_neighbourhood_sizes(case):
    assert len(neighbourhood(case["varied"], case["c"], case["d"])) == case["size"]


def test_likelihood_and_its_derivatives_at_the_published_point():
    told = EXPECTED["likelihood"]
    x = design(OFFSETS, 2)
    gradient, hessian = np.zeros(5), np.zeros((5, 5))
    theta = np.array(told["at"]["theta"])
    value = evaluate(COUNTS, NONE, x, told["at"]["a"], theta, gradient, hessian, False)
    factorials = np.log([np.prod(np.arange(1, f + 1)) for f in COUNTS]).sum()
    assert value - factorials == pytest.approx(told["loglik"], rel=1e-12)
    assert gradient == pytest.approx(told["gradient_a_theta"][1:], rel=1e-10)
    assert score(COUNTS, NONE, x, told["at"]["a"], theta) == pytest.approx(
        told["gradient_a_theta"][0]
    )
    expected = np.array(told["hessian_a_theta"])[1:, 1:]
    assert np.tril(-hessian) == pytest.approx(np.tril(expected), rel=1e-10)


@pytest.mark.parametrize("fisher", [False, True])
def test_published_maximum(fisher):
    told = EXPECTED["mle"]
    out, theta = np.zeros((1, 4)), np.zeros((1, 5))
    fit_cells(COUNTS[None], NONE[None], design(OFFSETS, 2), GRID, SMALLEST, fisher, out, theta)
    # Scoring climbs to the same place, in smaller and smaller steps.
    near = 3e-6 if fisher else 1e-7
    assert out[0, :3] == pytest.approx([told["a"], told["mu_centre"], told["loglik"]], rel=near)
    assert theta[0] == pytest.approx(told["theta"], abs=near)
    assert out[0, 3] == 0


def test_no_optimiser_finds_a_better_maximum():
    rng = np.random.default_rng(3)
    x = design(neighbourhood(2, 2, None), 1)
    for seed in range(6):
        mean = np.exp(x @ rng.normal(0, 0.4, 3) + 0.3)
        f = rng.poisson(mean * rng.gamma(1.0 + seed, 1 / (1.0 + seed), len(mean)))
        f[12] = 1
        out, theta = np.zeros((1, 4)), np.zeros((1, 3))
        fit_cells(f[None], np.zeros((1, 25)), x, GRID, SMALLEST, False, out, theta)

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
    zero = index.gather(places[:1], np.array([0]), offsets, outside="zero")[0][0]
    drop = index.gather(places[:1], np.array([0]), offsets, outside="drop")[0][0]
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
    monkeypatch.setattr("tacit.records.samples.local_counts.BLOCK", 50)
    with run_kernels("plain"):
        second = fit_around(lattice, at, group, neighbourhood(2, 2, None), 2)
    for a, b in zip(vars(first).values(), vars(second).values(), strict=True):
        assert np.array_equal(a, b)


def test_metrics_of_users_and_lengths_of_steps():
    box = {tuple(o) for o in np.argwhere(np.ones((7, 7))) - 3}
    ball = {o for o in box if o[0] ** 2 + o[1] ** 2 <= 6.25}
    assert {tuple(o) for o in neighbourhood(2, 3, 2.5, metric="euclidean")} == ball
    # One step of the first axis is as long as two of the second.
    steps = {(a, b) for a in (-1, 0, 1) for b in range(-2, 3)}
    assert {tuple(o) for o in neighbourhood(2, 2, None, (2.0, 1.0))} == steps
    near = {(a, b) for a, b in steps if 2 * abs(a) + abs(b) <= 3}
    assert {tuple(o) for o in neighbourhood(2, 2, 3, (2.0, 1.0))} == near

    @name_metric("checkers")
    def checkers(offsets):
        return np.maximum(np.abs(offsets[:, 0]), 2 * np.abs(offsets[:, 1]))

    found = {tuple(o) for o in neighbourhood(2, 3, 2, metric="checkers")}
    assert found == {(a, b) for a, b in box if abs(a) <= 2 and abs(b) <= 1}
    with pytest.raises(ValueError, match="a word of your own"):
        name_metric("sum")
    for wrong in (lambda o: o[:, 0], lambda o: 1 + np.abs(o[:, 0]), lambda o: np.zeros(3)):
        name_metric("wrong")(wrong)
        with pytest.raises(ValueError, match="distance"):
            neighbourhood(2, 1, 1, metric="wrong")
    del METRICS["wrong"], METRICS["checkers"]
    with pytest.raises(OverflowError):
        neighbourhood(3, 100, None)


def test_fisher_scoring_climbs_to_the_same_maximum():
    rng = np.random.default_rng(8)
    table = rng.poisson(rng.gamma(2, 0.4, (15, 15)))
    lattice = lattice_of(table)
    at, group = lattice.places[:30], np.zeros(30, dtype=np.int64)
    both = [
        fit_around(lattice, at, group, neighbourhood(2, 3, None), 2, scoring=s)
        for s in (False, True)
    ]
    fine = (both[0].status == 0) & (both[1].status == 0)
    assert fine.sum() > 15
    assert both[0].likelihood[fine] == pytest.approx(both[1].likelihood[fine], rel=1e-9)
    assert both[0].mu[fine] == pytest.approx(both[1].mu[fine], rel=1e-4)
    # The expected information is the mean of the observed one over draws of the counts.
    x, a, theta = design(OFFSETS, 1), 0.5, np.array([0.2, 0.1, -0.1])
    mu = np.exp(x @ theta)
    told, one, total = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    evaluate(COUNTS, NONE, x, a, theta, np.zeros(3), told, True)
    draws = 4000
    for f in rng.poisson(mu * rng.gamma(1 / a, a, (draws, len(mu)))):
        evaluate(f, NONE, x, a, theta, np.zeros(3), one, False)
        total += one / draws
    assert np.tril(told) == pytest.approx(np.tril(total), rel=0.03, abs=2)


def test_unequal_fractions_enter_as_offsets():
    """A plane of people, sampled at 0.4 in one half and 0.1 in the other, is level after the offset."""
    places = np.argwhere(np.ones((9, 9)))
    fraction = np.where(places[:, 0] < 4, 0.4, 0.1)
    n = np.where(places[:, 0] < 4, 8, 2)
    lattice = Lattice(places, np.zeros(81, dtype=np.int64), n, fraction)
    at = np.array([[3, 4], [5, 4]])
    made = fit_around(lattice, at, np.zeros(2, dtype=np.int64), neighbourhood(2, 2, None), 1)
    assert made.mu == pytest.approx([8, 2], rel=1e-6)
    assert made.a == pytest.approx([0, 0], abs=1e-6)
    bare = Lattice(places, np.zeros(81, dtype=np.int64), n)
    other = fit_around(bare, at, np.zeros(2, dtype=np.int64), neighbourhood(2, 2, None), 1)
    assert abs(other.mu[0] - 8) > 0.5
    # An empty cell is taken to be sampled like its group: 4 of 40 people and 1 of 5.
    few = Lattice(
        np.array([[0, 0], [0, 2]]),
        np.zeros(2, dtype=np.int64),
        np.array([4, 1]),
        np.array([0.1, 0.2]),
    )
    added = few.index(1).gather(
        few.places[:1], np.array([0]), neighbourhood(2, 1, None), outside="zero"
    )[1]
    assert added[0, 4] == 0
    assert added[0, 5] == pytest.approx(np.log(5 / 45 / 0.1))


def test_cells_that_cannot_be_occupied_are_left_out():
    table = np.random.default_rng(4).poisson(1.5, (9, 9))
    table[6:] = 0
    rule = Rule(np.array([True]), (np.arange(6, 9), None))
    places = np.argwhere(table > 0)
    zeros = np.zeros(len(places), dtype=np.int64)
    lattice = Lattice(places, zeros, table[table > 0], impossible=(rule,))
    at = places[places[:, 0] == 5][:1]
    offsets = neighbourhood(2, 2, None)
    counts = lattice.index(2).gather(at, zeros[:1], offsets, outside="zero")[0][0]
    assert (counts == -1).sum() == 10
    made = fit_around(lattice, at, zeros[:1], offsets, 1)
    # The same cells, cut out by an edge that is dropped.
    top = Lattice(places, zeros, table[table > 0])
    index = top.index(2)
    inside = index.gather(at, zeros[:1], offsets, outside="drop")[0][0]
    assert np.array_equal((counts < 0) | (inside < 0), inside < 0)
    cut = fit_around(top, at, zeros[:1], offsets, 1, outside="drop")
    if np.array_equal(counts, inside):
        assert cut.mu == pytest.approx(made.mu)
    assert made.total[0] == np.maximum(counts, 0).sum()
