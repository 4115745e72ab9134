"""Posterior risk of cells: published formulas, limits and direct summation."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tacit.records.samples.frequency_risk import CHUNK, argus_risk, gamma_risk, poisson_risk

FIXTURE = Path(__file__).parents[1] / "fixtures/psd08-negative-binomial-smoothing-risk"
EXPECTED = json.loads((FIXTURE / "expected.json").read_text())


def columns(rows, *names):
    return [np.array([r[n] for r in rows], dtype=float) for n in names]


def test_grid_of_the_paper():
    pi, alpha, mu, unique, inverse = columns(
        EXPECTED["risk_formula"], "pi", "alpha", "mu", "P_F1", "E_invF"
    )
    found = gamma_risk(np.ones(len(pi), dtype=int), mu, alpha, pi)
    assert found.unique == pytest.approx(unique, rel=1e-12)
    assert found.inverse == pytest.approx(inverse, rel=1e-12)


def test_limits_are_argus_and_poisson():
    pi, unique, inverse = columns(EXPECTED["argus_limit"], "pi", "argus_P_F1", "argus_E_invF")
    one = np.ones(len(pi), dtype=int)
    for found in (argus_risk(one, pi), gamma_risk(one, one * 1e4, one * 1e-12, pi)):
        assert found.unique == pytest.approx(unique, rel=1e-9)
        assert found.inverse == pytest.approx(inverse, rel=1e-9)
    pi, mu, unique, inverse = columns(EXPECTED["poisson_limit"], "pi", "mu", "P_F1", "E_invF")
    one = np.ones(len(pi), dtype=int)
    near = gamma_risk(one, mu, np.full(len(pi), 9e7), pi)
    exact = poisson_risk(one, mu, pi)
    assert exact.unique == pytest.approx(unique, rel=1e-12)
    assert exact.inverse == pytest.approx(inverse, rel=1e-12)
    assert near.inverse == pytest.approx(inverse, rel=1e-5)


@pytest.mark.parametrize(
    ("f", "mu", "alpha", "pi"),
    [
        (1, 0.05, 0.2, 0.01),
        (2, 0.5, 1.0, 0.1),
        (3, 2.0, 5.0, 0.02),
        (7, 0.3, 0.01, 0.3),
        (90, 70, 3.0, 0.05),
    ],
)
def test_any_count_by_direct_summation(f, mu, alpha, pi):
    extra = np.arange(200_000)
    people = (f + extra).astype(float)
    one = [np.array([v], dtype=float) for v in (mu, alpha, pi)]
    count = np.array([f])
    rho = (mu + alpha) / (mu / pi + alpha)
    for chance, found in (
        (stats.nbinom.pmf(extra, alpha + f, rho), gamma_risk(count, *one)),
        (stats.poisson.pmf(extra, mu * (1 - pi) / pi), poisson_risk(count, one[0], one[2])),
        (stats.nbinom.pmf(extra, f, pi), argus_risk(count, one[2])),
    ):
        first = (chance / people).sum()
        assert found.inverse[0] == pytest.approx(first, rel=1e-9)
        spread = (chance / people**2).sum() - first**2
        assert found.spread[0] == pytest.approx(spread, rel=2e-3)
        assert found.unique[0] == pytest.approx(chance[0] if f == 1 else 0, rel=1e-9)


def test_a_whole_population_is_known_and_long_arrays_agree():
    f = np.array([1, 2, 5])
    one = np.ones(3)
    for found in (poisson_risk(f, one, one), gamma_risk(f, one, one, one), argus_risk(f, one)):
        assert found.inverse == pytest.approx(1 / f)
        assert found.unique == pytest.approx([1, 0, 0])
        assert found.spread == pytest.approx(0)
    long = np.full(CHUNK + 3, 2)
    share = np.full(len(long), 0.1)
    assert np.unique(argus_risk(long, share).inverse).size == 1


def test_published_argus_pairs_are_those_of_nearly_equal_weights():
    rows = (FIXTURE / "published_examples.csv").read_text().splitlines()
    published = {r.split(",")[0]: r.split(",")[2:] for r in rows if ",argus," in r}
    for case in EXPECTED["argus_ratio_check"]:
        found = argus_risk(np.array([1]), np.array([case["pi"]]))
        ratio = found.inverse[0] / found.unique[0]
        assert ratio == pytest.approx(case["ratio_theory"], rel=1e-12)
        tau1, tau2 = map(float, published[str(case["example"])])
        assert tau2 / tau1 == pytest.approx(ratio, rel=0.02)
