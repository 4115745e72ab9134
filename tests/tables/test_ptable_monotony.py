"""Perturbation tables with monotony: published rows, moments, and optimality by an independent solver."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

import tacit
from tacit.errors import Infeasible, InputError, InvalidParameter
from tacit.io.p_tables import read_ptable
from tacit.tables.noise.ptable import count_ptable, magnitude_ptable, max_entropy, moments

PUBLISHED = Path(__file__).parents[1] / "fixtures" / "perturbation-tables"


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("counts_d7_v4_js2.txt", lambda: count_ptable(7, 4, 2)),
        ("counts_d5_v3_js2_stay50.txt", lambda: count_ptable(5, 3, 2, stay=0.5)),
        ("magnitudes_d5_v1.txt", lambda: magnitude_ptable(5, 1, levels=[1, 5])),
    ],
)
def test_the_rows_of_published_tables(name, made):
    published, own = read_ptable(PUBLISHED / name), made()
    assert (own.i == published.i).all()
    assert (own.v == published.v).all()
    assert own.p == pytest.approx(published.p, abs=1e-7)


def test_without_monotony_the_rows_differ():
    published = read_ptable(PUBLISHED / "counts_d7_v4_js2.txt")
    assert np.abs(count_ptable(7, 4, 2, monotony=False).p - published.p).max() > 0.01


def test_a_published_row_that_misses_its_variance_is_the_optimum_for_the_one_it_has():
    published = read_ptable(PUBLISHED / "magnitudes_d8_v2.txt")
    own = magnitude_ptable(8, 2, levels=[1, 8])
    last = published.i == 8
    assert own.p[last] == pytest.approx(published.p[last], abs=2e-7)
    steps, _, variance = moments(published)
    assert variance[steps == 1] < 1.999
    first = published.i == 1
    row = max_entropy(published.v[first], float(variance[steps == 1][0]), monotone=True)
    # Their variance comes from rounded probabilities.
    assert row == pytest.approx(published.p[first], abs=2e-6)


def test_the_examples_of_the_r_package():
    # ptable 1.0.0: pt_ex_cnts(), D = 2, V = 1.05, js = 1, mono = (T, T, F, T).
    own = count_ptable(2, 1.05, 1, monotony=(True, True, False, True))
    assert own.p == pytest.approx(
        [
            *(1.0, 0.50833333, 0.475, 0.01666667, 0.16155827, 0.55565037, 0.24246618, 0.04032518),
            *(0.41231301, 0.28806097, 0.18693903, 0.11268699),
            *(0.07012498, 0.24450007, 0.37074990, 0.24450007, 0.07012498),
        ],
        abs=1e-8,
    )
    # Its introduction, D = 2, V = 1: the row of 2, and the row of 1, which has variance 0.93188 there.
    own = count_ptable(2, 1)
    assert own.p[own.i == 2] == pytest.approx(
        [0.06382714, 0.24469145, 0.38296282, 0.24469145, 0.06382714], abs=1e-8
    )
    row = [0.36648551, 0.36648551, 0.1675725, 0.09945652]
    variance = float(np.dot(row, [1, 0, 1, 4]))
    assert max_entropy([-1, 0, 1, 2], variance, monotone=True) == pytest.approx(row, abs=1e-7)
    assert own.p[own.i == 1] @ [1, 0, 1, 4] == pytest.approx(1.0)


@settings(max_examples=60, deadline=None)
@given(
    i=st.integers(1, 9),
    d=st.integers(1, 8),
    js=st.integers(0, 3),
    share=st.floats(0.03, 0.97),
    stay=st.none() | st.floats(0.2, 0.8),
)
def test_monotone_rows_have_their_moments_and_largest_entropy(i, d, js, share, stay):
    v = np.arange(-min(i, d), d + 1.0)
    v = v[(i + v == 0) | (i + v > js)]
    low = high = 0.0
    try:
        max_entropy(v, 1e9, stay, monotone=True)
    except Infeasible as error:
        assume("lie between" in str(error))
        low, high = (float(x) for x in str(error).rsplit("between ", 1)[1].split(" and "))
    factor = 1 - stay if stay is not None and (v == 0).any() else 1
    assume(high > low + 1e-6)
    variance = (low + share * (high - low)) * factor
    p = max_entropy(v, variance, stay, monotone=True)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1, abs=1e-9)
    assert p @ v == pytest.approx(0, abs=1e-6)
    assert p @ v**2 == pytest.approx(variance, abs=1e-5)
    if (v == 0).any():
        assert (np.diff(p[v <= 0]) >= -1e-8).all()
    if stay is not None and (v == 0).any():
        assert p[v == 0] == pytest.approx(stay)
    # No feasible direction raises the entropy: a tangent step by linear programming finds none.
    assert best_gain(v, p, stay) < 1e-4


def best_gain(v, p, stay):
    """Return how much the entropy could rise, to first order, in the feasible set."""
    from scipy.optimize import linprog

    slope = -np.log(np.maximum(p, 1e-300)) - 1
    equal = [np.ones(len(v)), v, v * v]
    goal = [1, 0, float(p @ v**2)]
    if stay is not None and (v == 0).any():
        equal.append((v == 0) * 1.0)
        goal.append(float(p[v == 0][0]))
    below = int((v < 0).sum()) if (v == 0).any() else 0
    rising = np.zeros((max(below, 1), len(v)))
    for k in range(below):
        rising[k, k], rising[k, k + 1] = 1, -1
    slack = np.maximum(rising @ p, 0)
    found = linprog(-slope, rising, slack, np.array(equal), goal, bounds=(0, 1))
    assert found.success
    return float(slope @ (found.x - p))


def test_a_general_solver_finds_the_same_row():
    v = np.array([-4.0, -1, 0, 1, 2, 3, 4, 5])
    p = max_entropy(v, 3.0, monotone=True)
    rising = np.zeros((2, 8))
    rising[[0, 1], [0, 1]], rising[[0, 1], [1, 2]] = -1, 1
    found = minimize(
        lambda q: float(q @ np.log(q)),
        np.full(8, 1 / 8),
        jac=lambda q: np.log(q) + 1,
        bounds=[(1e-12, 1)] * 8,
        constraints=[
            LinearConstraint(np.stack([np.ones(8), v, v * v]), [1, 0, 3], [1, 0, 3]),
            LinearConstraint(rising, 0, np.inf),
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert p == pytest.approx(found.x, abs=1e-6)
    assert p[1] == pytest.approx(p[2])  # the condition binds


def test_a_monotone_row_may_need_another_variance():
    with pytest.raises(Infeasible, match=r"count 1: no monotone distribution .* must lie between"):
        count_ptable(5, 2.9)
    assert count_ptable(5, 2.9, monotony=False).largest == 5
    with pytest.raises(Infeasible, match="i = 1"):
        magnitude_ptable(5, 4.0)


def test_small_counts_that_cannot_move_are_refused():
    with pytest.raises(Infeasible, match="no change is possible"):
        max_entropy([], 1.0)
    with pytest.raises(Infeasible, match="count 1: changes in one direction only"):
        count_ptable(1, 3.0, 3)


def test_one_answer_a_row():
    with pytest.raises(InputError, match="one for each count with a row of its own: 8, not 2"):
        count_ptable(5, 3, 2, monotony=[True, False])


def test_the_method_takes_the_fields_default():
    table = tacit.Table.from_array([[4, 5], [6, 7]], frequency=True, totals=False)
    from tacit.tables.noise.cell_key import read_stored_ptable

    stored = read_stored_ptable(tacit.CellKey(variance=4, maximum=7).apply(table, seed=1))
    published = read_ptable(PUBLISHED / "counts_d7_v4_js2.txt")
    assert stored.p == pytest.approx(published.p, abs=1e-7)
    free = tacit.CellKey(variance=4, maximum=7, monotony=False).apply(table, seed=1)
    assert read_stored_ptable(free).p != pytest.approx(published.p, abs=1e-3)
    with pytest.raises(InvalidParameter):
        tacit.CellKey(monotony="often")
