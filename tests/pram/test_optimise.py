"""Optimal matrices: no unsafe cell, least change, frequencies kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tacit.errors import Infeasible, InvalidParameter
from tacit.records.pram import cell_risk, drift, optimal


@given(
    st.lists(st.integers(0, 300), min_size=2, max_size=6).filter(lambda t: sum(t) > 0),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_no_category_stays_unsafe(counts, invariant):
    t = np.array(counts, dtype=float)
    try:
        matrix = optimal(t, 40, invariant=invariant, least_stay=0.01)
    except Infeasible:
        return
    p = matrix.dense()
    assert cell_risk(t, [matrix], 40).unsafe.sum() == 0
    assert p.min() >= 0
    assert p.sum(axis=1) == pytest.approx(np.ones(len(t)))
    if invariant:
        assert drift(matrix, t) < 1e-9


def test_against_another_solver():
    t, tau, least = np.array([200.0, 90.0, 30.0, 10.0]), 50.0, 0.05
    n = len(t)
    cost = (t[:, None] * (1 - np.eye(n))).ravel()
    rows = np.kron(np.eye(n), np.ones(n))
    balance = np.array([[t[k] * (j == m) for k in range(n) for j in range(n)] for m in range(n)])
    bounds = [
        (least, min(1.0, t[k] / tau)) if k == j else (0, 1) for k in range(n) for j in range(n)
    ]
    want = linprog(
        cost,
        A_eq=np.vstack([rows, balance]),
        b_eq=np.concatenate([np.ones(n), t]),
        bounds=bounds,
    )
    found = optimal(t, tau).dense()
    assert float(cost @ found.ravel()) == pytest.approx(want.fun, rel=1e-5)


def test_combinations_with_other_columns_and_distance():
    rng = np.random.default_rng(1)
    table = rng.poisson(rng.gamma(0.6, 40, (6, 12))).astype(float)
    for cost in ("changes", "distance"):
        matrix = optimal(table, 15, least_stay=0.01, cost=cost)
        assert cell_risk(table, [matrix, None], 15).unsafe.sum() == 0
        assert cell_risk(table, [matrix, None], 15).rare.sum() > 10
        assert drift(matrix, table.sum(axis=1)) < 1e-9


def test_distance_prefers_neighbours():
    t = np.array([100.0, 100.0, 20.0, 100.0, 100.0])
    places = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    near = (t[:, None] * places * optimal(t, 40, cost="distance").dense()).sum()
    any_ = (t[:, None] * places * optimal(t, 40).dense()).sum()
    assert near <= any_ + 1e-6
    assert optimal(t, 40, cost="distance").dense()[0, 4] == 0


def test_forbidden_moves_stay_closed():
    shut = np.zeros((4, 4), dtype=bool)
    shut[3, 0] = shut[0, 3] = True
    found = optimal([200, 90, 30, 10], 40, forbidden=shut).dense()
    assert found[3, 0] == 0
    assert found[0, 3] == 0


def test_what_cannot_be_is_refused():
    with pytest.raises(Infeasible, match="no transition matrix leaves"):
        optimal([200, 5], 100, least_stay=0.5)
    with pytest.raises(InvalidParameter, match="at most 400"):
        optimal(np.ones(401), 10)
    with pytest.raises(InvalidParameter, match="tau"):
        optimal([3, 4], 0)
    assert optimal([7], 10).dense() == pytest.approx(np.eye(1))
