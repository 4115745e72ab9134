"""What every solver must do, and what HiGHS does beyond that: change a program and go on."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, milp

from tacit.errors import SolverError
from tacit.solve import Highs, LinearModel, Solution
from tacit.solve.scip import LazyScip, Scip, has_scip

SOLVERS = [
    Highs,
    pytest.param(Scip, marks=pytest.mark.skipif(not has_scip(), reason="pyscipopt")),
]


def knapsack(seed=1, n=12):
    """Maximise values under three weights, whole numbers from 0 to 3."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 20, (3, n)).astype(float)
    return LinearModel.of(
        rng.integers(1, 30, n).astype(float),
        sparse.csc_array(weights),
        -np.inf,
        weights.sum(axis=1),
        0.0,
        3.0,
        integer=np.ones(n, dtype=bool),
        maximise=True,
    )


def transport(seed=1):
    """A linear program with equations and a free column."""
    rng = np.random.default_rng(seed)
    a = rng.integers(-3, 4, (4, 9)).astype(float)
    lower = np.r_[-np.inf, np.zeros(8)]
    upper = np.r_[np.inf, np.full(8, 7.0)]
    right = a @ np.r_[-1.0, rng.integers(0, 7, 8)]
    return LinearModel.of(rng.random(9) + 0.5, sparse.csc_array(a), right, right, lower, upper)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(5))
def test_integer_programs(solver, seed):
    model = knapsack(seed)
    found = solver(model).solve(gap=0.0)
    true = milp(
        -model.cost,
        integrality=np.ones(12),
        bounds=(0, 3),
        constraints=(model.matrix, -np.inf, model.row_upper),
    )
    assert found.state == "optimal"
    assert found.value == pytest.approx(-true.fun)
    assert found.bound == pytest.approx(found.value, rel=1e-6)
    assert found.gap < 1e-6
    assert found.x is not None
    assert model.cost @ np.round(found.x) == pytest.approx(found.value)
    assert (model.matrix @ np.round(found.x) <= model.row_upper + 1e-6).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(5))
def test_linear_programs(solver, seed):
    model = transport(seed)
    found = solver(model).solve()
    bounds = [(None, None)] + [(0, 7)] * 8
    true = linprog(model.cost, A_eq=model.matrix.toarray(), b_eq=model.row_lower, bounds=bounds)
    if true.status == 3:
        assert found.state == "unbounded"
        return
    assert found.state == "optimal"
    assert found.value == pytest.approx(true.fun, abs=1e-7)
    assert found.value == found.bound or found.gap < 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_point_and_no_end(solver):
    one = sparse.csc_array(np.ones((1, 2)))
    none = solver(LinearModel.of(1.0, one, 5.0, 5.0, 0.0, 1.0)).solve()
    assert none.state == "infeasible"
    assert none.x is None
    assert none.gap == np.inf
    endless = solver(LinearModel.of(-1.0, one, 1.0, np.inf)).solve()
    assert endless.state in ("unbounded", "infeasible")
    assert endless.x is None


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_first_point_survives_a_limit(solver):
    rng = np.random.default_rng(3)
    n = 60
    weights = rng.integers(1000, 9999, (5, n)).astype(float)
    right = np.floor(weights.sum(axis=1) / 2)
    model = LinearModel.of(
        rng.integers(1000, 9999, n).astype(float),
        sparse.csc_array(weights),
        -np.inf,
        right,
        0.0,
        1.0,
        integer=np.ones(n, dtype=bool),
        maximise=True,
    )
    program = solver(model)
    program.start_from(np.zeros(n))
    found = program.solve(should_stop=lambda: True, time_limit=5.0)
    assert found.state in ("stopped", "limit", "optimal")
    assert found.x is not None
    assert (weights @ found.x <= right + 1e-6).all()
    assert found.bound >= found.value - 1e-6


def test_changes_are_solved_from_where_it_stood():
    model = transport(2)
    program = Highs(model)
    first = program.solve()
    basis = program.basis()
    program.set_costs([1, 2], 5.0)
    program.set_bounds([3], 0.0, 1.0)
    changed = program.solve()
    cost, upper = model.cost.copy(), model.upper.copy()
    cost[[1, 2]], upper[3] = 5.0, 1.0
    fresh = Highs(
        LinearModel.of(cost, model.matrix, model.row_lower, model.row_upper, model.lower, upper)
    ).solve()
    assert changed.value == pytest.approx(fresh.value)
    program.set_costs(np.arange(9), model.cost)
    program.set_bounds([3], 0.0, 7.0)
    program.restore(basis)
    again = program.solve()
    assert again.value == pytest.approx(first.value)
    assert program.highs.getInfo().simplex_iteration_count == 0
    program.forget()
    assert program.solve().value == pytest.approx(first.value)


def test_rows_and_columns_are_added():
    program = Highs(LinearModel.of(np.zeros(0), sparse.csc_array((2, 0)), [4.0, 2.0], np.inf))
    program.add_columns(np.array([3.0, 2.0]), [0, 1], [0, 1], [1.0, 1.0])
    assert program.solve().value == pytest.approx(16.0)
    program.add_columns(np.array([4.0]), [0], [0, 1], [1.0, 1.0])
    found = program.solve()
    assert found.value == pytest.approx(14.0)
    assert found.duals is not None
    assert found.duals.tolist() == pytest.approx([3.0, 1.0])
    program.add_row([2], [1.0], 0.0, 1.0)
    assert program.solve().value == pytest.approx(15.0)
    assert program.attempt()
    assert program.objective() == pytest.approx(15.0)
    assert program.values().tolist() == pytest.approx([3.0, 1.0, 1.0])


def test_another_model_keeps_the_options():
    program = Highs(options={"primal_feasibility_tolerance": 1e-9})
    for seed in (1, 2):
        program.load(transport(seed))
        assert program.solve().value == pytest.approx(Highs(transport(seed)).solve().value)
    with pytest.raises(SolverError, match="no option 'nothing'"):
        program.option("nothing", 1)


def test_single_numbers_hold_for_all():
    model = LinearModel.of(1.0, sparse.csc_array(np.eye(3)), 2.0, 5.0)
    assert model.shape == (3, 3)
    assert model.integer is None
    assert (model.row_lower == 2.0).all()
    assert (model.upper == np.inf).all()
    assert Highs(model).solve().value == 6.0
    assert isinstance(Highs(model).solve(), Solution)


class Pair(NamedTuple):
    """The row x_0 + x_1 >= 1."""

    columns: np.ndarray = np.array([0, 1])
    values: np.ndarray = np.ones(2)


class NeedsAPair:
    """Knows a row that the program does not have."""

    def accepts(self, x):
        return x[0] + x[1] >= 1

    def cut_whole(self, x):
        return [] if self.accepts(x) else [Pair()]

    def cut_fractional(self, x):
        return []

    def wants_to_stop(self):
        return False

    def suggest(self):
        return None


@pytest.mark.skipif(not has_scip(), reason="pyscipopt")
def test_rows_made_on_the_way():
    model = LinearModel.of(
        [3.0, 2.0, 1.0],
        sparse.csc_array((0, 3)),
        0.0,
        0.0,
        0.0,
        1.0,
        integer=np.ones(3, dtype=bool),
    )
    found = LazyScip(model, NeedsAPair()).solve()
    assert found.state == "optimal"
    assert found.value == pytest.approx(2.0)
