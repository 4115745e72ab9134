"""Invariants of channel expansion on generated problems."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tacit.errors import SdcError
from tacit.records.channels import Problem, solve


@st.composite
def problems(draw, most=7):
    n_channels = draw(st.integers(2, most))
    n_values = draw(st.integers(1, 3))
    m = draw(st.lists(st.integers(1, 12), min_size=n_channels, max_size=n_channels))
    counts = [
        np.diff(
            [0, *sorted(draw(st.lists(st.integers(0, size), min_size=n_values, max_size=n_values)))]
        )
        for size in m
    ]
    counts = np.array(counts).reshape(n_channels, n_values)
    total = counts.sum(axis=0) / sum(m)
    slack = draw(st.sampled_from([1, 1.1, 1.5, 2]))
    u = np.clip(total * slack, 1e-3, 1).tolist()
    c = draw(st.lists(st.sampled_from([0.5, 1, 1.25]), min_size=n_values, max_size=n_values))
    b = float(np.dot(c, total)) * draw(st.sampled_from([1.001, 1.2, 2])) + 1e-3
    share = draw(st.sampled_from([0, 0, 0.2]))
    try:
        problem = Problem.of(m, counts, u, b, c, min_safe_share=share)
    except SdcError:
        assume(False)
    assume(problem.risky.any())
    return problem


@given(problems())
@settings(max_examples=60, deadline=None)
def test_generated_columns_reach_the_optimum_over_all_subsets(problem):
    exact, full = solve(problem), solve(problem, candidates="all")
    assert np.isclose(exact.cost, full.cost, rtol=1e-7)
    assert exact.proven
    assert exact.is_safe
    assert exact.bound <= full.cost * (1 + 1e-7)


@given(problems(most=4))
@settings(max_examples=20, deadline=None)
def test_whole_subjects_are_optimal_and_safe(problem):
    exact, full = (
        solve(problem, candidates="exact", integer=True),
        solve(problem, candidates="all", integer=True),
    )
    assert exact.cost == full.cost
    assert exact.is_safe
    assert (exact.safe_shares > 0).all()
    assert exact.cost >= exact.bound * (1 - 1e-9)


@given(problems(most=5))
@settings(max_examples=20, deadline=None)
def test_random_candidates_are_never_better(problem):
    drawn = solve(problem, candidates="random", count=16)
    assert drawn.cost >= solve(problem).cost * (1 - 1e-7)
    assert drawn.is_safe
