"""Controlled and random rounding: published optima, brute force, existence, sizes, claims, refusals."""

import csv
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import tacit
from conftest import FIXTURES
from tacit.context import Context
from tacit.data.cells.relations import roll_up
from tacit.errors import Cancelled, Infeasible, InputError, InvalidParameter, LimitReached
from tacit.numerics.kernels import run_kernels
from tacit.tables.rounding.controlled_rounding import (
    existence_interval,
    round_ground_naively,
    round_unbiased,
    solve_rounding,
)
from tacit.tables.rounding.model import model_of, network_of
from tacit.tables.rounding.random_rounding import round_cells

SALAZAR = FIXTURES / "psd03-controlled-rounding"
ARGUS = FIXTURES / "psd28-argus-software"
EXPECTED = json.loads((SALAZAR / "expected_figures.json").read_text())


def figure(name):
    rows = list(csv.reader((SALAZAR / name).read_text().splitlines()))[1:]
    return np.array([[float(x) for x in row[1:]] for row in rows])


def figure_1():
    """Regions by a total with three definitions, as a bare list of equations."""
    values = figure("fig1_inhabitants.csv")
    n, columns = values.shape
    at = np.arange(n * columns).reshape(n, columns)
    rows = [{at[i, 0]: -1, at[i, a]: 1, at[i, a + 1]: 1} for i in range(n) for a in (1, 3, 5)]
    for j in range(columns):
        rows.append({at[9, j]: -1, **{at[i, j]: 1 for i in range(9)}})
        rows.append({at[12, j]: -1, at[9, j]: 1, at[10, j]: 1, at[11, j]: 1})
    m = sparse.lil_array((len(rows), at.size))
    for i, row in enumerate(rows):
        for cell, sign in row.items():
            m[i, cell] = sign
    return tacit.Table.from_cells((), values.ravel(), equations=sparse.csr_array(m))


PUBLISHED = {
    (name, density): y
    for name, density, _, y, _ in json.loads((SALAZAR / "published_tables.json").read_text())[
        "table3"
    ]
}


def random_table(shape, density, seed=1, top=5):
    rng = np.random.default_rng(seed)
    ground = np.where(rng.random(shape) * 100 < density, rng.integers(1, top, shape), 0)
    return tacit.Table.from_array(ground, totals=False)


def check(table, outcome, base):
    """Everything a rounding promises, recomputed."""
    values = outcome.values
    assert not np.any(values % base)
    assert (table.equations @ values == 0).all()
    model = model_of(table, base)
    moved = values - table.value
    assert (np.abs(moved[model.free]) < base * outcome.max_shift).all()
    low, high = base * np.floor(table.value / base), base * np.ceil(table.value / base)
    outside = np.maximum(np.maximum(low - values, values - high), 0) / base
    assert outside[model.margin].max(initial=0) == outcome.y


def brute(table, base):
    """The lexicographic optimum (y, sum w x) by enumeration."""
    model = model_of(table, base)
    low, high = model.low[model.free], model.high[model.free]
    ranges = [range(a, b + 1) for a, b in zip(low, high, strict=True)]
    best = (10**9, 0.0)
    for steps in itertools.product(*ranges):
        x = np.array(steps, dtype=np.int64)
        if len(model.right) and (np.rint(model.extra @ x) != model.right).any():
            continue
        spread = model.spread(x)
        y = model.furthest(spread)
        best = min(best, (y, model.secondary(spread)))
    return best


# -- published numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("case", EXPECTED["fig2"], ids=lambda c: f"base {c['base']}")
@pytest.mark.parametrize("strategy", ["auto", "flow", "mip", "local_search"])
def test_figure_2(case, strategy):
    table = tacit.Table.from_array(figure("fig2_investment.csv"))
    found = solve_rounding(table, case["base"], strategy=strategy)
    assert (found.y, found.objective) == (case["y"], case["objective"])
    ground = found.values.reshape(4, 4)[:3, :3].tolist()
    assert ground in [np.array(m, dtype=float).tolist() for m in case["optimal_internal"]]
    assert found.status == ("feasible" if strategy == "local_search" else "optimal")
    check(table, found, case["base"])


@pytest.mark.parametrize("case", EXPECTED["fig1_linked"]["expected"], ids=lambda c: str(c["base"]))
def test_figure_1_with_three_definitions_of_a_total(case):
    table = figure_1()
    found = solve_rounding(table, case["base"])
    assert (found.status, found.y, found.objective) == ("optimal", case["y"], case["objective"])
    check(table, found, case["base"])


def test_existence_in_2x2x2():
    known = json.loads((SALAZAR / "infeasible_2x2x2.json").read_text())
    none = {tuple(t) for t in known["infeasible_tables"]}
    found = set()
    for cells in itertools.product((0, 1), repeat=8):
        table = tacit.Table.from_array(np.reshape(cells, (2, 2, 2)), totals=False)
        if solve_rounding(table, 2, strict=True).status == "infeasible":
            found.add(cells)
    assert found == none
    assert len(found) == known["n_infeasible"] == 54
    example = np.reshape(known["example"]["values"], (2, 2, 2))
    near = solve_rounding(tacit.Table.from_array(example, totals=False), 2)
    assert (near.status, near.y, near.y_bound) == ("optimal", known["example"]["min_y"], 1)


@pytest.mark.parametrize("step", [97, pytest.param(1, marks=pytest.mark.slow)])
def test_base_3_always_exists_in_2x2x2(step):
    for i, cells in enumerate(itertools.product((0, 1, 2), repeat=8)):
        if i % step == 0:
            table = tacit.Table.from_array(np.reshape(cells, (2, 2, 2)), totals=False)
            assert solve_rounding(table, 3, strict=True).y == 0


def test_all_cells_in_the_objective():
    known = json.loads((ARGUS / "controlled_rounding.json").read_text())
    table = tacit.Table.from_array(np.array(known["table"], dtype=float))
    for case in known["expected"]:
        for strategy in ("flow", "mip"):
            found = solve_rounding(table, case["base"], count_totals=True, strategy=strategy)
            away = np.abs(found.values - table.value).sum()
            assert away == pytest.approx(case["optimal_sum_abs_difference"], abs=1e-6)
    intervals = known["existence_intervals"]
    assert [x.item() for x in existence_interval(0, 5)] == intervals["base 5, rounded 0"]
    assert [x.item() for x in existence_interval(10, 5)] == intervals["base 5, rounded 10"]
    assert [x.item() for x in existence_interval(15, 5, 1)] == intervals["base 5, K=1, rounded 15"]


def test_naive_baselines_of_the_largest_type():
    table = random_table((3,) * 6 + (2,) * 2, 100)
    assert len(table) - int(table.ground.sum()) == 33_948
    y = round_ground_naively(table, 5)
    assert 1_380 < y["down"] < 1_530
    assert 1_380 < y["up"] < 1_530


# -- optimality -------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.booleans())
def test_flow_is_the_optimum_of_the_linear_program(seed, base, totals):
    rng = np.random.default_rng(seed)
    tree = tacit.Dimension.from_tree(
        "a", [(0, "x"), (1, "x1"), (1, "x2"), (0, "y"), (1, "y1"), (1, "y2"), (1, "y3")]
    )
    flat = tacit.Dimension.flat("b", list("pqrs"))
    dimensions = (tree, flat) if seed % 2 else (flat, tree)
    ground = rng.integers(0, 12, [len(d.leaves) for d in dimensions])
    table = tacit.Table.from_cells(dimensions, roll_up(ground, dimensions))
    one = solve_rounding(table, base, strategy="flow", count_totals=totals)
    two = solve_rounding(table, base, strategy="mip", count_totals=totals)
    assert (one.status, one.y) == (two.status, two.y) == ("optimal", 0)
    assert one.objective == pytest.approx(two.objective)
    check(table, one, base)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from([(2, 2, 2), (3, 2, 2), (2, 3, 3)]))
def test_three_way_tables_against_brute_force(seed, base, shape):
    rng = np.random.default_rng(seed)
    ground = rng.integers(0, 9, shape) * (rng.random(shape) < 0.6)
    table = tacit.Table.from_array(ground, totals=False)
    if int((ground % base > 0).sum()) > 12:
        return
    y, cost = brute(table, base)
    exact = solve_rounding(table, base)
    assert (exact.status, exact.y) == ("optimal", y)
    assert exact.objective - ground.size * base * y == pytest.approx(cost)
    check(table, exact, base)
    near = solve_rounding(table, base, strategy="local_search", time_limit=2)
    assert near.y >= y
    check(table, near, base)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]))
def test_linked_tables(seed, base):
    rng = np.random.default_rng(seed)
    cube = rng.integers(0, 6, (3, 2, 3)).astype(float)
    a, b, c = (
        tacit.Dimension.flat(name, [f"{name}{i}" for i in range(n)])
        for name, n in (("a", 3), ("b", 2), ("c", 3))
    )

    def table(dimensions, axis):
        return tacit.Table.from_cells(dimensions, roll_up(cube.sum(axis=axis), dimensions))

    linked = tacit.Table.link(table((a, b), 2), table((a, c), 1))
    found = solve_rounding(linked, base)
    check(linked, found, base)
    if int((model_of(linked, base).residual[model_of(linked, base).free] > 0).sum()) <= 12:
        y, cost = brute(linked, base)
        if y < 10**9:
            assert found.y == y
            free = len(model_of(linked, base).free)
            assert found.objective - free * base * y == pytest.approx(cost)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]), st.sampled_from(["auto", "local_search"]))
def test_several_groupings_and_trees(seed, base, strategy):
    rng = np.random.default_rng(seed)
    both = tacit.Dimension.from_relations(
        "a",
        [
            ("Total", ["g", "h"]),
            ("g", ["1", "2"]),
            ("h", ["3", "4"]),
            ("Total", ["k", "l"]),
            ("k", ["1", "3"]),
            ("l", ["2", "4"]),
        ],
    )
    tree = tacit.Dimension.from_tree("b", [(0, "x"), (1, "x1"), (1, "x2"), (0, "y")])
    dimensions = (both, tree, tacit.Dimension.flat("c", ["p", "q"]))[: 2 + seed % 2]
    ground = rng.integers(0, 12, [len(d.leaves) for d in dimensions])
    table = tacit.Table.from_cells(dimensions, roll_up(ground, dimensions))
    found = solve_rounding(table, base, strategy=strategy, time_limit=3)
    check(table, found, base)
    bare = tacit.Table.from_cells((), table.value, equations=-table.equations)
    again = tacit.ControlledRounding(base=base, time_limit=3, strategy=strategy).apply(bare, seed=1)
    assert again.is_additive(again.published)


def test_real_values_and_real_base():
    rng = np.random.default_rng(4)
    table = tacit.Table.from_array(rng.gamma(2.0, 3.0, (30, 20)), totals=False)
    flow = solve_rounding(table, 2.5)
    exact = solve_rounding(table, 2.5, strategy="mip")
    assert flow.y == exact.y == 0
    assert flow.objective == pytest.approx(exact.objective, abs=1e-4)
    assert np.allclose(flow.values / 2.5, np.rint(flow.values / 2.5))
    one = tacit.ControlledRounding(base=1).apply(table, seed=1)
    assert (one.published == np.rint(one.published)).all()


def test_max_shift_makes_room():
    table = tacit.Table.from_array(np.reshape([0, 0, 0, 1, 0, 1, 1, 0], (2, 2, 2)), totals=False)
    with pytest.raises(Infeasible, match="near_feasible"):
        tacit.ControlledRounding(base=2, mode="zero_restricted").apply(table)
    wide = solve_rounding(table, 2, max_shift=2, strict=True)
    assert wide.y == 0
    freed = solve_rounding(table, 2, free_zeros=True, strict=True)
    assert freed.y == 0
    assert (freed.values >= 0).all()


# -- sizes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "density", "y"),
    [((13, 13, 13), 50, 0), ((13, 13, 13), 100, 0), ((30, 30, 30), 25, 0), ((300, 200), 100, 0)],
)
def test_sizes_with_y_0(shape, density, y):
    table = random_table(shape, density)
    found = solve_rounding(table, 5, secondary="none")
    assert found.y == y
    check(table, found, 5)


@pytest.mark.parametrize("shape", [(3,) * 5, (2,) * 8])
@pytest.mark.parametrize("density", [25, 100])
def test_many_dimensions_with_y_1(shape, density):
    table = random_table(shape, density)
    found = solve_rounding(table, 5, strategy="local_search", secondary="none", time_limit=5)
    assert found.y <= PUBLISHED["3^5" if shape[0] == 3 else "2^8", density] == 1
    check(table, found, 5)


@pytest.mark.slow
@pytest.mark.parametrize("density", [25, 50, 75, 100])
def test_largest_type(density):
    table = random_table((3,) * 6 + (2,) * 2, density)
    found = solve_rounding(table, 5, time_limit=120)
    assert found.y <= min(3, PUBLISHED["3^6x2^2", density])
    check(table, found, 5)


def test_nearly_optimal_objective_of_a_three_way_table():
    found = solve_rounding(random_table((13, 13, 13), 100), 5)
    assert found.y == 0
    assert found.objective <= 0.95 * found.objective_bound < 0


def test_kernels_are_the_same_without_compiling():
    table = random_table((6, 5), 80)
    cube = random_table((4, 3, 3), 80)
    found = []
    for mode in ("compiled", "plain"):
        with run_kernels(mode):
            found.append(
                [solve_rounding(table, 5), solve_rounding(cube, 5, strategy="local_search")]
            )
    for fast, slow in zip(*found, strict=True):
        assert np.array_equal(fast.values, slow.values)
    check(cube, found[1][1], 5)


# -- the method --------------------------------------------------------------------------------------


def test_the_plain_line_with_protected_cells():
    small = tacit.Table.from_array(figure("fig2_investment.csv"))
    small = small.with_protection(cells=[(0, 1)], lower=5, upper=5)
    rounded = tacit.ControlledRounding(base=5).apply(small)
    details = rounded.history[-1].details
    assert details["status"] == "optimal"
    assert details["unsafe"] == 1
    assert {c.model for c in rounded.history[-1].claims} == {"additive", "rounded"}
    assert not rounded.hidden.any()


def test_claims_fail_on_a_broken_table():
    table = tacit.Table.from_array(figure("fig2_investment.csv"))
    rounded = tacit.ControlledRounding(base=5).apply(table)
    additive, near = rounded.history[-1].claims
    values = rounded.published.copy()
    values[0] += 5
    assert not additive.holds(rounded.with_changed(values))
    assert not near.holds(rounded.with_changed(values))
    assert not near.holds(rounded.with_changed(rounded.published + 0.5))


def test_protection_levels_bind():
    table = tacit.Table.from_array([[7, 9], [6, 8]], totals=False)
    unsafe = table.with_protection([(0, 0)], lower=4, upper=0)
    rounded = tacit.ControlledRounding(base=5, protection=True).apply(unsafe)
    assert rounded.published[0] == 5
    assert rounded.history[-1].details["unsafe_with_wide_interval"] == 1
    with pytest.raises(Infeasible, match="1 x 1"):
        tacit.ControlledRounding(base=5, protection=True).apply(
            table.with_protection([(0, 0)], lower=5, upper=5)
        )


def test_default_base():
    counts = tacit.Table.from_array([[4, 7], [1, 2]], totals=False, frequency=True)
    assert tacit.ControlledRounding().apply(counts).history[-1].details["base"] == 3
    other = tacit.Table.from_array([[4, 7], [1, 2]], totals=False)
    assert tacit.ControlledRounding().apply(other).history[-1].details["base"] == 5


def test_unbiased_rounding_keeps_expectations():
    table = random_table((4, 4), 90, seed=3, top=9)
    rng = np.random.default_rng(1)
    runs = np.array([round_unbiased(table, 5, rng) for _ in range(1500)])
    assert not np.any(runs % 5)
    assert (np.abs(runs - table.value) < 5).all()
    error = runs.std(axis=0) / np.sqrt(len(runs))
    assert (np.abs(runs.mean(axis=0) - table.value) <= 4.5 * error + 1e-9).all()


def test_unbiased_rounding_of_a_large_table():
    table = random_table((300, 200), 100)
    rounded = tacit.ControlledRounding(base=5, mode="unbiased_2d").apply(table, seed=1)
    assert rounded.is_additive(rounded.published)
    assert (np.abs(rounded.published - table.value) < 5).all()
    with pytest.raises(InputError, match="one- or two-way"):
        tacit.ControlledRounding(mode="unbiased_2d").apply(random_table((2, 2, 2), 100))


def test_secondary_objectives():
    table = random_table((6, 5), 80)
    results = {
        name: tacit.ControlledRounding(base=5, secondary=name).apply(table, seed=2)
        for name in ("nearest", "none", "random")
    }
    away = {k: np.abs(r.published - table.value)[table.ground].sum() for k, r in results.items()}
    assert away["nearest"] == min(away.values())
    with pytest.raises(InputError, match="weights"):
        tacit.ControlledRounding(secondary="weights").apply(table)
    weighted = table.with_weight(np.r_[100.0, np.ones(len(table) - 1)])
    first = tacit.ControlledRounding(base=5, secondary="weights").apply(weighted).published[0]
    assert abs(first - table.value[0]) <= 2.5


def test_negative_values_only_when_allowed():
    table = tacit.Table.from_array([[4.0, -3.0], [2.0, 5.0]], totals=False, lower=-50.0)
    with pytest.raises(InputError, match="allow_negative"):
        tacit.ControlledRounding(base=5).apply(table)
    rounded = tacit.ControlledRounding(base=5, allow_negative=True).apply(table)
    assert rounded.published[1] in (-5.0, 0.0)
    assert rounded.is_additive(rounded.published)


def test_bad_parameters_and_limits():
    with pytest.raises(InvalidParameter, match="base must be greater than 0"):
        tacit.ControlledRounding(base=0)
    with pytest.raises(InputError, match="one- or two-way"):
        tacit.ControlledRounding(mode="deterministic_flow").apply(random_table((2, 2, 2), 100))
    hard = random_table((3,) * 6, 100)
    with pytest.raises(LimitReached, match="near_feasible"):
        tacit.ControlledRounding(base=5, mode="zero_restricted", time_limit=0.5).apply(hard)


def test_stopping_a_search():
    calls = iter(range(10**6))
    context = Context.start(1, should_stop=lambda: next(calls) > 3)
    with pytest.raises(Cancelled):
        tacit.ControlledRounding(base=5).apply(random_table((3,) * 6, 100), context=context)


# -- cell by cell ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["random", "conventional", "up", "down", "semi_controlled"])
@pytest.mark.parametrize("totals", ["own", "sum"])
def test_random_rounding_rules(rule, totals):
    table = random_table((6, 5, 4), 70, top=20)
    rounded = tacit.RandomRounding(base=3, rule=rule, totals=totals).apply(table, seed=1)
    assert not np.any(rounded.published % 3)
    assert (np.abs(rounded.published - table.value)[table.ground] < 3).all()
    if totals == "sum":
        assert rounded.is_additive(rounded.published)
    if rule == "up":
        assert (rounded.published >= table.value).all()


def test_random_rounding_is_unbiased_and_conventional_takes_the_nearest():
    table = random_table((3, 3), 100, top=30)
    rng = np.random.default_rng(1)
    runs = np.array([round_cells(table, 5.0, "random", rng, summed=False) for _ in range(2000)])
    error = runs.std(axis=0) / np.sqrt(len(runs))
    assert (np.abs(runs.mean(axis=0) - table.value) <= 4.5 * error + 1e-9).all()
    nearest = tacit.RandomRounding(base=5, rule="conventional").apply(table).published
    assert (np.abs(nearest - table.value) <= 2.5).all()
    mode = tacit.ControlledRounding(base=5, mode="conventional").apply(table).published
    assert np.array_equal(mode, nearest)


def test_a_network_has_one_arc_a_cell():
    table = random_table((4, 3), 100)
    network = network_of(table)
    assert len(network.tail) == len(table)
    balance = np.zeros(network.nodes)
    np.add.at(balance, network.head, table.value)
    np.subtract.at(balance, network.tail, table.value)
    assert not balance.any()
    assert network_of(random_table((2, 2, 2), 100)) is None
