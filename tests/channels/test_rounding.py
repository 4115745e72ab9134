"""Whole subjects from fractions, without breaking a limit."""

import numpy as np
import pytest

from studies.channels import simulate
from tacit.records.channels import random_candidates, solve
from tacit.records.channels.rounding import largest_remainders, rounded


@pytest.mark.parametrize("tolerance", [1.05, 1.2, 1.8])
def test_rounding_is_safe_and_nearly_free(tolerance):
    fractional = solve(simulate(60, 300_000, 0.15, tolerance, 1))
    whole = rounded(fractional)
    assert whole.integer
    assert whole.is_safe
    assert np.all(whole.x.data == np.rint(whole.x.data))
    assert whole.bound == fractional.bound
    assert whole.cost <= fractional.cost * 1.05


def test_rounding_uses_no_set_that_is_not_allowed():
    problem = simulate(60, 300_000, 0.15, 1.4, 1)
    drawn = random_candidates(problem, 500)
    whole = rounded(solve(problem, candidates=drawn), allowed=lambda members: len(members) == 60)
    assert whole.is_safe
    assert set(whole.columns) <= set(drawn)


def test_whole_answers_are_left_alone():
    whole = solve(simulate(6, 200, 0.2, 1.5, 1), integer=True)
    assert rounded(whole).cost == whole.cost


def test_largest_remainders():
    assert largest_remainders(np.array([1.5, 2.25, 0.25]), 4, 4).tolist() == [2, 2, 0]
    assert largest_remainders(np.array([1.6, 2.6]), None, 3).tolist() == [1, 2]
    assert largest_remainders(np.array([]), None, 3).tolist() == []
