"""Adjustment of least distance, and the publication of intervals."""

import itertools
import json
from pathlib import Path

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

import tacit
from tables.random_tables import random_table as any_table
from tacit.claims import Claim
from tacit.errors import Infeasible, InputError, LimitReached
from tacit.solve import Highs, LinearModel
from tacit.tables.adjust.cta import needs, side_costs
from tacit.tables.adjust.programs import Absolute, Clock, Relaxation, Squares, make_undoing_cuts
from tacit.tables.adjust.publish_intervals import published_interval

FIXTURES = Path(__file__).parents[1] / "fixtures"


def solve_relaxed_bound(a):
    """The bound of the linear relaxation."""
    return Relaxation(a).lp.solve().value


INVESTMENT = json.loads(
    (FIXTURES / "psd04-harmonizing-suppression" / "cta_investment.json").read_text()
)
INTERVALS = json.loads(
    (FIXTURES / "psd04-harmonizing-suppression" / "interval_publication.json").read_text()
)["cases"]
MANUAL = json.loads((FIXTURES / "psd28-argus-software" / "cta_example.json").read_text())
KEEP = {"none": "nothing", "grand total": "grand_total", "all totals": "totals"}


def investment():
    values = np.array(INVESTMENT["values"]).reshape(4, 4)
    return tacit.Table.from_array(values, upper=2 * values).with_protection(
        np.array(INVESTMENT["sensitive"]), lower=INVESTMENT["lpl"], upper=INVESTMENT["upl"]
    )


def spec_of(case, **more):
    quality = {"mean_within": 0, "slope_within": 0} if "quality_constraints" in case else {}
    norm = "l1" if case["weight"] == "unit" else "relative"
    return tacit.Adjust(
        norm=norm, keep=KEEP[case["fixed_cells"]], decimals="any", **quality, **more
    )


@pytest.mark.parametrize("case", INVESTMENT["cases"])
def test_investment_table(case):
    result = spec_of(case).apply(investment())
    details = result.history[-1].details
    assert details["status"] == "optimal"
    assert details["distance"] == pytest.approx(case["optimal_distance"], abs=1e-8)
    assert details["bound"] == pytest.approx(case["optimal_distance"], rel=1e-5)


@pytest.mark.parametrize("case", INVESTMENT["cases"])
def test_every_pattern_of_the_investment_table(case):
    model = spec_of(case)._model(investment())
    a = model.problem
    program = Absolute(a)
    place = {int(model.cells[u]): i for i, u in enumerate(a.unsafe)}
    points = {}
    for signs, distance in case["by_direction"]:
        up = np.zeros(3, dtype=bool)
        for cell, sign in zip(INVESTMENT["sensitive"], signs, strict=True):
            up[place[cell]] = bool(sign)
        points[tuple(up)] = program.solve(up)
        assert points[tuple(up)].value * model.scale == pytest.approx(distance, abs=1e-8)
    # The price bound never promises less than a reversal brings.
    for up, point in points.items():
        gain = side_costs(a, point.prices, np.array(up), square=False) - side_costs(
            a, point.prices, ~np.array(up), square=False
        )
        for s in range(3):
            other = points[tuple(b ^ (i == s) for i, b in enumerate(up))]
            assert point.value - other.value <= gain[s] + 1e-7
    assert solve_relaxed_bound(a) <= min(p.value for p in points.values()) + 1e-9


def test_example_of_the_manual():
    cell = tuple(c - 1 for c in MANUAL["sensitive"]["cell"])
    table = tacit.Table.from_array(MANUAL["table"]).with_protection([cell], lower=5, upper=5)
    result = tacit.Adjust(norm="l1", keep="totals").apply(table)
    assert result.history[-1].details["distance"] == pytest.approx(
        MANUAL["expected"]["optimal_L1_objective"]
    )
    assert np.abs(result.published - table.value)[table.primary] >= 5
    for solution in MANUAL["published_solutions"].values():
        published = np.ravel(np.array(solution, dtype=float))
        assert np.abs(published - table.value).sum() == pytest.approx(20)


# -- brute force -----------------------------------------------------------------------------------------


def small(seed):
    rng = np.random.default_rng(seed)
    shape = [(3, 3), (2, 4), (2, 2, 3)][seed % 3]
    values = rng.integers(0, 30, shape).astype(float)
    values[rng.random(shape) < 0.1] = 0
    table = tacit.Table.from_array(values, totals=False, upper=200.0 + 10 * values.sum())
    at = np.flatnonzero(table.value > 0)
    at = rng.choice(at, min(len(at), 4), replace=False)
    level = rng.uniform(0.1, 0.6, (2, len(at))) * table.value[at]
    return table.with_protection(at, lower=level[0], upper=level[1])


def least_squares(rows, low, high):
    """The least sum of squares by the solver's own quadratic method."""
    n = len(low)
    program = Highs(LinearModel.of(np.zeros(n), sparse.csc_array(rows), 0.0, 0.0, low, high))
    hessian = highspy.HighsHessian()
    hessian.dim_ = n
    hessian.format_ = highspy.HessianFormat.kTriangular
    hessian.start_ = np.arange(n + 1)
    hessian.index_ = np.arange(n)
    hessian.value_ = np.full(n, 2.0)
    assert program.highs.passHessian(hessian) == highspy.HighsStatus.kOk
    found = program.solve()
    return found.value if found.state == "optimal" else None


def by_hand(table, norm, signs):
    """The least distance for given signs by an unreduced program; None when there is none."""
    n, value = len(table), table.value
    down, up = needs(table)
    low, high = table.lower - value, table.upper - value
    still = (value == 0) & ~table.primary
    low, high = np.where(still, 0, low), np.where(still, 0, high)
    for cell, sign in zip(np.flatnonzero(table.primary), signs, strict=True):
        if sign:
            low[cell] = up[cell]
        else:
            high[cell] = -down[cell]
    if (low > high + 1e-9).any():
        return None
    m = table.equations.toarray()
    if norm == "l2":
        return least_squares(m, low, high)
    w = np.ones(n) if norm == "l1" else 1 / np.maximum(np.abs(value), value[value > 0].min())
    bounds = [
        *zip(np.maximum(low, 0), np.maximum(high, 0), strict=True),
        *zip(np.maximum(-high, 0), np.maximum(-low, 0), strict=True),
    ]
    found = linprog(
        np.concatenate([w, w]), A_eq=np.hstack([m, -m]), b_eq=np.zeros(len(m)), bounds=bounds
    )
    return found.fun if found.status == 0 else None


@pytest.mark.parametrize("norm", ["l1", "relative", "l2"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=12, deadline=None)
def test_brute_force(norm, seed):
    table = small(seed)
    patterns = itertools.product([0, 1], repeat=int(table.primary.sum()))
    values = [by_hand(table, norm, signs) for signs in patterns]
    found = [v for v in values if v is not None]
    spec = tacit.Adjust(norm=norm, decimals="any")
    if not found:
        with pytest.raises(Infeasible):
            spec.apply(table)
        return
    result = spec.apply(table)
    details = result.history[-1].details
    assert details["status"] == "optimal"
    assert details["distance"] == pytest.approx(min(found), rel=1e-5, abs=1e-7)
    z = result.published - table.value
    norms = {"l1": np.abs(z).sum(), "l2": (z * z).sum()}
    if norm in norms:
        assert norms[norm] == pytest.approx(details["distance"], rel=1e-5, abs=1e-7)


@given(seed=st.integers(0, 10_000), norm=st.sampled_from(["l1", "relative", "l2"]))
@settings(max_examples=8, deadline=None)
def test_claims_hold_on_tables_of_every_kind(seed, norm):
    table = any_table(seed)
    if not table.primary.any():
        return
    try:
        result = tacit.Adjust(norm=norm, time_limit=0.5, method="heuristic").apply(table)
    except (Infeasible, InputError, LimitReached) as error:
        assert 10 < len(str(error)) < 700
        return
    details = result.history[-1].details
    assert details["bound"] <= details["distance"] * (1 + 1e-6) + 1e-9
    assert result.is_additive(result.published)
    slack = 1e-6 * np.maximum(1, np.abs(table.value))
    assert (result.published >= table.lower - slack).all()
    assert (result.published <= table.upper + slack).all()
    zero = (table.value == 0) & ~table.primary
    assert np.abs(result.published[zero]).max(initial=0) < 1e-6
    moved = result.published - table.value
    down, up = needs(table)
    far = ((up > 0) & (moved >= up - slack)) | ((down > 0) & (moved <= slack - down))
    assert far[table.primary].all()


def test_the_claim_sees_a_cell_that_did_not_move():
    table = investment()
    result = tacit.Adjust().apply(table)
    claim = Claim("moved-far-enough", {}, "all unsafe cells", ("x",))
    assert claim.holds(result)
    assert not claim.holds(result.with_changed(table.value))


# -- quality ---------------------------------------------------------------------------------------------


def grown(seed=1, shape=(6, 6), unsafe=5):
    rng = np.random.default_rng(seed)
    values = np.round(rng.lognormal(5, 1, shape)) + 1
    table = tacit.Table.from_array(values, totals=False)
    at = rng.choice(np.flatnonzero(table.ground), unsafe, replace=False)
    return table.with_protection(at, lower=0.2 * table.value[at], upper=0.2 * table.value[at])


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_mean_and_slope_stay(norm):
    table = grown()
    result = tacit.Adjust(norm=norm, mean_within=0, slope_within=0).apply(table)
    z = (result.published - table.value)[table.ground]
    value = table.value[table.ground]
    scale = np.abs(value).sum()
    assert abs(z.sum()) < 1e-6 * scale
    assert abs((value - value.mean()) @ z) < 1e-6 * scale * value.max()
    report = tacit.AdjustmentReport().measure(result).statistics
    assert report["b1"] == pytest.approx(1, abs=1e-6)
    loose = tacit.Adjust(norm=norm, mean_within=10, slope_within=1000).apply(table)
    z = (loose.published - table.value)[table.ground]
    assert abs(z.sum()) <= 10 + 1e-5
    assert abs((value - value.mean()) @ z) <= 1000 + 1e-2
    distances = [r.history[-1].details["distance"] for r in (loose, result)]
    assert distances[0] <= distances[1] * (1 + 1e-6)


def test_kept_cells_levels_and_margins():
    table = grown()
    rows = tacit.Adjust(keep_margins=[["axis 1"]]).apply(table)
    at = [table.index((i, 6)) for i in range(7)]
    assert rows.published[at] == pytest.approx(table.value[at])
    top = tacit.Adjust(keep_levels=[0, 1]).apply(table)
    assert top.published[~table.ground] == pytest.approx(table.value[~table.ground])
    cell = int(np.flatnonzero(table.ground & ~table.primary)[0])
    one = tacit.Adjust(keep_cells=[cell]).apply(table)
    assert one.published[cell] == table.value[cell]
    frozen = tacit.Adjust().apply(table.freeze([cell]))
    assert frozen.published[cell] == table.value[cell]
    with pytest.raises(Infeasible, match="unsafe"):
        tacit.Adjust(keep_cells=[int(np.flatnonzero(table.primary)[0])]).apply(table)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_capacities(norm):
    table = grown()
    z = {}
    errors = table.with_(extra={"se": 0.1 * table.value})
    for name, spec, data in (
        ("percent", tacit.Adjust(norm=norm, capacity_percent=20), table),
        ("absolute", tacit.Adjust(norm=norm, capacity=60), table),
        ("errors", tacit.Adjust(norm=norm, capacity_errors=2), errors),
    ):
        z[name] = np.abs(spec.apply(data).published - table.value)[~table.primary]
    limit = 0.2 * table.value[~table.primary] + 1e-6
    assert (z["percent"] <= limit).all()
    assert (z["errors"] <= limit).all()
    assert z["absolute"].max() <= 60 + 1e-6
    with pytest.raises(InputError, match="standard errors"):
        tacit.Adjust(capacity_errors=2).apply(table)
    with pytest.raises(Infeasible, match="in the way"):
        tacit.Adjust(norm=norm, capacity=0.01).apply(table)


def test_exactly_at_the_safe_values():
    table = grown()
    result = tacit.Adjust(beyond=False, keep="totals", decimals="any").apply(table)
    moved = np.abs(result.published - table.value)[table.primary]
    assert moved == pytest.approx(table.upper_level[table.primary])


def test_weights_of_the_table():
    weight = np.ones(16)
    weight[5] = 100.0
    table = investment().with_weight(weight)
    details = tacit.Adjust(norm="l1").apply(table).history[-1].details
    plain = tacit.Adjust(norm="l1", cost="unit").apply(table).history[-1].details
    assert plain["distance"] == pytest.approx(28)
    assert details["distance"] >= 28
    with pytest.raises(InputError, match="weights"):
        tacit.Adjust(cost="weight").apply(investment())


def test_negative_values_and_bare_equations():
    signed = tacit.Table.from_array(
        [[4.0, -3.0, 1.0], [2.0, 5.0, 7.0], [6.0, 2.0, 8.0]], lower=-50.0, upper=50.0
    ).with_protection([(0, 1)], lower=2, upper=2)
    result = tacit.Adjust(norm="relative").apply(signed)
    assert abs(result.published[1] + 3) >= 2 - 1e-9
    table = investment()
    bare = tacit.Table.from_cells(
        (), table.value, equations=table.equations, status=table.status, upper=table.upper,
        lower_level=table.lower_level, upper_level=table.upper_level,
    )  # fmt: skip
    for keep in ("nothing", "grand_total", "totals"):
        one, two = (tacit.Adjust(keep=keep).apply(t).history[-1].details for t in (table, bare))
        assert one["distance"] == pytest.approx(two["distance"])


def test_unsafe_totals_move():
    table = tacit.Table.from_array([[20.0, 50.0], [8.0, 19.0]], totals=False)
    result = tacit.Adjust().apply(table.with_protection([("1", "Total")], lower=5, upper=5))
    assert abs(result.published[2] - 70) >= 5 - 1e-9


def test_no_safe_value_within_the_bounds():
    table = tacit.Table.from_array([[3.0, 20.0], [30.0, 40.0]], totals=False, upper=200.0)
    table = table.with_bounds([0], 2.0, 4.0).with_protection([0], lower=5, upper=5)
    with pytest.raises(Infeasible, match="no safe value"):
        tacit.Adjust().apply(table)


def test_squares_agree_with_their_relaxation_and_prices():
    model = tacit.Adjust(norm="l2")._model(grown())
    a = model.problem
    program = Squares(a)
    k = len(a.unsafe)
    bound, _, _, _ = program.relaxed(np.zeros(k, bool), np.zeros(k, bool), np.inf, program.pi)
    points = {}
    for signs in itertools.product([False, True], repeat=k):
        points[signs] = program.solve(np.array(signs))
        assert points[signs].value >= bound - 1e-9
    for signs, point in points.items():
        up = np.array(signs)
        gain = side_costs(a, point.prices, up, square=True) - side_costs(
            a, point.prices, ~up, square=True
        )
        for s in range(k):
            other = points[tuple(b ^ (i == s) for i, b in enumerate(signs))]
            assert point.value - other.value <= gain[s] + 1e-6


@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_cuts_of_the_relaxation_hold_for_all_signs(seed):
    a = tacit.Adjust()._model(small(seed)).problem
    cuts, bound, program = make_undoing_cuts(a), solve_relaxed_bound(a), Absolute(a)
    for signs in itertools.product([False, True], repeat=len(a.open)):
        up = a.can_rise.copy()
        up[a.open] = signs
        point = program.solve(up)
        if np.isfinite(point.value):
            parts = np.concatenate([np.maximum(point.z, 0), np.maximum(-point.z, 0)])
            assert (cuts @ parts >= -1e-6).all()
            assert bound <= point.value + 1e-6


def test_a_dive_ends_with_signs_and_a_bound():
    a = tacit.Adjust()._model(grown(shape=(8, 8), unsafe=12)).problem
    clock = Clock(60, lambda: None, lambda: False)
    up, bound = Relaxation(a).dive(a.open, a.can_rise, clock)
    assert bound == pytest.approx(solve_relaxed_bound(a))
    value = Absolute(a).solve(up).value
    assert bound <= value < Absolute(a).solve(a.can_rise).value
    # A reversal that fails leaves the program as it was.
    program = Absolute(a)
    best = program.solve(up)
    assert program.solve(a.can_rise, best.value).value == np.inf
    assert program.solve(up).value == pytest.approx(best.value)


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["l1", "relative", "l2"])
def test_size_of_the_paper(norm):
    rng = np.random.default_rng(1)
    values = np.maximum(1.0, np.round(rng.lognormal(5, 1, (13, 13, 13))))
    table = tacit.Table.from_array(values, totals=False)
    at = rng.choice(np.flatnonzero(table.ground), 200, replace=False)
    level = rng.uniform(0.1, 0.5, 200) * table.value[at]
    table = table.with_protection(at, lower=level, upper=level)
    details = tacit.Adjust(norm=norm).apply(table).history[-1].details
    assert details["gap"] < (0.4 if norm == "l2" else 0.25)


# -- intervals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", INTERVALS)
def test_interval_publication(case):
    for widen, key in ((False, "tight"), (True, "widened_on_original_side")):
        low, high = published_interval(case["original"], case["adjusted"], widen)
        assert [low[0], high[0]] == case[key]


def test_small_numbers_have_clean_ends():
    low, high = published_interval([1.234, 5.0], [1.262, 5.0], [False, True])
    assert (low[0], high[0]) == (1.23, 1.27)
    assert np.isnan(low[1])
    assert np.isnan(high[1])


def test_intervals_of_an_adjusted_table():
    safe = tacit.Adjust(norm="relative").apply(investment())
    out = tacit.PublishIntervals().apply(safe, seed=3)
    changed = np.abs(safe.published - safe.value) > 1e-9
    assert (~np.isnan(out.interval[:, 0]) == changed).all()
    assert (out.interval[changed, 0] <= out.value[changed]).all()
    assert (out.published == safe.published).all()
    alone = tacit.PublishIntervals(show_adjusted=False, widen_prob=0).apply(safe, seed=3)
    assert (alone.hidden == changed).all()
    assert (alone.interval[changed, 0] >= out.interval[changed, 0]).all()
    itself = tacit.PublishIntervals().apply(investment(), seed=3)
    assert itself.interval is not None
