"""E(1/F | f): against 15-digit values, decimal arithmetic, and the sum over the posterior."""

import csv
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nbinom

from tacit.records.samples.posterior import (
    expected_inverse,
    integrate,
    joint_risk,
    largest_cap,
    largest_kept,
    posterior_interval,
)

GRID = Path(__file__).parents[1] / "fixtures" / "psd21-individual-risk" / "bf_risk_grid.csv"


def exact(f, p):
    """The recursion from f = 1 with so many digits that cancellation does no harm."""
    with localcontext() as context:
        context.prec = 2600
        chance = Decimal(p)
        odds = chance / (1 - chance)
        risk = -odds * chance.ln()
        for n in range(2, f + 1):
            risk = odds * (Decimal(1) / (n - 1) - risk)
        return float(risk)


def test_published_grid_to_the_last_digit():
    with GRID.open() as file:
        rows = [(int(r["f"]), float(r["p"]), float(r["risk"])) for r in csv.DictReader(file)]
    f, p, risk = map(np.array, zip(*rows, strict=True))
    np.testing.assert_allclose(expected_inverse(f, p), risk, rtol=2e-14)


@pytest.mark.parametrize("f", [1, 2, 3, 7, 39, 40, 41, 100])
def test_every_branch_against_decimal_arithmetic(f):
    chances = [
        1e-300,
        1e-12,
        1e-5,
        0.03,
        0.3,
        0.499999,
        0.5,
        0.500001,
        0.8,
        0.99,
        1 - 1e-9,
        1 - 2**-53,
    ]
    found = expected_inverse(f, chances)
    np.testing.assert_allclose(found, [exact(f, p) for p in chances], rtol=1e-13)


def test_the_trap_of_the_hypergeometric_function():
    # The usual library function returns infinity for 2F1(1, 1; 101; 0.97).
    assert expected_inverse(100, 0.03) == pytest.approx(exact(100, 0.03), rel=1e-13)


@pytest.mark.parametrize(("f", "p"), [(1, 0.3), (2, 0.05), (5, 0.2), (12, 0.6), (80, 0.4)])
def test_it_is_the_sum_over_the_posterior(f, p):
    sizes = np.arange(f, f + 4000)
    mass = nbinom.pmf(sizes - f, f, p)
    assert mass.sum() == pytest.approx(1, abs=1e-12)
    assert (mass / sizes).sum() == pytest.approx(float(expected_inverse(f, p)), rel=1e-11)
    assert mass[1] == pytest.approx(f * p**f * (1 - p), rel=1e-12)


def test_certain_samples_and_closed_forms():
    np.testing.assert_array_equal(expected_inverse([1, 2, 50], 1.0), [1, 0.5, 0.02])
    p, q = 0.2, 0.8
    assert expected_inverse(1, p) == pytest.approx(p / q * np.log(1 / p), rel=1e-15)
    assert expected_inverse(2, p) == pytest.approx(p / q**2 * (p * np.log(p) + q), rel=1e-14)


def test_fractional_counts_agree_with_whole_ones_and_lie_between_them():
    f = np.repeat([1.0, 2, 5, 17, 39], 4)
    p = np.tile([1e-10, 1e-4, 0.05, 0.49], 5)
    np.testing.assert_allclose(integrate(f, p), expected_inverse(f, p), rtol=1e-12)
    between = expected_inverse(f + 0.5, p)
    assert (between < expected_inverse(f, p)).all()
    assert (between > expected_inverse(f + 1, p)).all()


@given(st.floats(1, 60), st.floats(1, 1e6), st.floats(0, 30), st.floats(0, 1e5))
def test_more_people_never_raise_the_risk(f, ratio, more, heavier):
    """A cell that another joins has at most its risk: what searches on a lattice rest on."""
    population = f * ratio
    before = float(expected_inverse(f, f / population))
    grown = population + more + heavier
    after = float(expected_inverse(f + more, min((f + more) / grown, 1.0)))
    assert after <= before * (1 + 1e-9)
    assert 1 / population * (1 - 1e-9) <= before <= 1 / f * (1 + 1e-12)


def test_bad_counts_are_refused():
    for f, p in ((0, 0.5), (1, 0), (1, 1.5), (1, np.nan)):
        with pytest.raises(ValueError, match="f >= 1"):
            expected_inverse(f, p)


def test_intervals_hold_their_share():
    low, high = posterior_interval([1, 10], [0.01, 0.2], 0.9)
    for f, p, a, b in zip((1, 10), (0.01, 0.2), low, high, strict=True):
        assert nbinom.cdf(b - f, f, p) - nbinom.cdf(a - f - 1, f, p) >= 0.9


def test_households():
    risk = np.array([0.5, 0.5, 1.0, 0.1, 1e-18])
    found = joint_risk(risk, np.array([0, 0, 1, 1, 2]), 3)
    np.testing.assert_allclose(found, [0.75, 1.0, 1e-18])


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=20), st.floats(1e-3, 5))
def test_thresholds_are_the_largest(risks, expected):
    risk = np.array(risks)
    cap = largest_cap(risk, expected)
    assert np.minimum(risk, cap).sum() <= expected * (1 + 1e-9)
    if risk.sum() > expected:
        assert np.minimum(risk, cap * 1.001 + 1e-12).sum() > expected
    kept = largest_kept(risk, expected)
    assert risk[risk <= kept].sum() <= expected * (1 + 1e-9)
    above = risk[risk > kept]
    if len(above):
        assert risk[risk <= above.min()].sum() > expected * (1 - 1e-9)
