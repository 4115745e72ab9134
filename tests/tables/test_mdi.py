"""Adjustment of least discrimination information."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import tacit
from tacit.errors import Infeasible, InputError
from tacit.tables.adjust import ipf as _ipf
from tacit.tables.adjust.adjust_mdi import AdjustMdi, movement_of, random_information
from tacit.tables.adjust.directions import Slab, starts, votes
from tacit.tables.adjust.ipf import CONVERGED, STUCK, Totals, fit_totals
from tacit.tables.adjust.mdi import (
    Search,
    discrimination_information,
    entropy,
    feasible_pattern,
    random_search_size,
)
from tacit.tables.rounding.model import basis

FIXTURES = Path(__file__).parents[1] / "fixtures" / "psd01-mdi-cta"
SMALL = json.loads((FIXTURES / "mdi_small.json").read_text())["cases"]
SIZES = json.loads((FIXTURES / "random_search_size.json").read_text())["cases"]


def table_of(case):
    values = np.array(case["O"])
    cells = [tuple(c) for c in case["sensitive"]]
    own = np.array([values[c] for c in cells])
    return tacit.Table.from_array(values, totals=False).with_protection(
        cells, lower=own - np.array(case["lower"]), upper=np.array(case["upper"]) - own
    )


def movement(table, margins="one_way", **more):
    return movement_of(table, basis(table), margins, **more)[0]


def random_table(seed, shape, share, *, low=0.1, high=0.5, mask=None):
    rng = np.random.default_rng(seed)
    values = np.maximum(1.0, np.round(rng.lognormal(5, 1, shape)))
    if mask is not None:
        values = np.where(rng.random(shape) < mask, 0.0, values)
    table = tacit.Table.from_array(values, totals=False)
    ground = np.flatnonzero(table.ground & (table.value > 0))
    at = np.sort(rng.choice(ground, max(1, round(share * values.size)), replace=False))
    level = rng.uniform(low, high, len(at)) * table.value[at]
    return table.with_protection(at, lower=level, upper=level)


def brute_force(m):
    """The least K over all patterns, each fitted from the start to the last digit."""
    search = Search(m, AdjustMdi(tol=1e-12, max_iter=5000), lambda _: None)
    best = np.inf
    for bits in itertools.product([False, True], repeat=m.n):
        best = min(best, search.fit(np.array(bits)).information)
    return best


@pytest.mark.parametrize("case", SMALL, ids=lambda c: c["name"][:5])
def test_published_steps(case):
    table = table_of(case)
    m = movement(table)
    assert votes(m, 16).tolist() == case["votes_by_axis"]
    (heuristic,) = starts(m, "smaller_entropy_change", 16)
    assert heuristic.astype(int).tolist() == case["heuristic_directions"]
    (printed,) = starts(m, "printed", 16)
    assert printed.astype(int).tolist() == case["heuristic_directions_printed_tie_rule"]
    result = tacit.AdjustMdi().apply(table, seed=1)
    details = result.history[-1].details
    assert details["trace"]["heuristic"] == pytest.approx(case["K_heuristic"], abs=1e-9)
    assert details["information"] == pytest.approx(case["K_stepwise"], abs=1e-9)
    assert details["information_by_definition"] == pytest.approx(case["K_stepwise"], abs=1e-9)
    adjusted = result.published[table.ground]
    assert adjusted == pytest.approx(np.ravel(case["A_optimal"]), abs=1e-7)
    proven = tacit.AdjustMdi(search="exhaustive", flip_passes=0).apply(table, seed=1)
    assert proven.history[-1].details["information"] == pytest.approx(case["K_optimal"], abs=1e-9)
    assert proven.history[-1].details["status"] == "optimal"
    assert brute_force(m) == pytest.approx(case["K_optimal"], abs=1e-9)


def test_published_optima():
    assert [round(c["K_optimal"], 9) for c in SMALL] == [6.366174644, 12.009832718]


@pytest.mark.parametrize("case", SIZES)
def test_size_of_a_random_search(case):
    assert random_search_size(case["p"], case["alpha"]) == case["m"]


def test_pythagorean_identity_of_the_projection():
    rng = np.random.default_rng(4)
    pi = rng.random((4, 5)) + 0.1
    pi /= pi.sum()
    p = rng.random((4, 5)) + 0.1
    p /= p.sum()
    totals = axis_totals(pi.shape)
    star = fit_totals(pi.ravel(), totals, totals.sums(p.ravel()), tol=1e-14).cells
    whole = discrimination_information(p, pi)
    parts = discrimination_information(p, star) + discrimination_information(star, pi)
    assert whole == pytest.approx(parts, abs=1e-10)
    # The decomposition as it is printed does not hold.
    wrong = discrimination_information(star, pi) + discrimination_information(star, p)
    assert abs(whole - wrong) > 1e-6


def axis_totals(shape):
    places = np.unravel_index(np.arange(int(np.prod(shape))), shape)
    passes = [(p.astype(np.int32), n) for p, n in zip(places, shape, strict=True)]
    return Totals.stacked(passes, int(np.prod(shape)))


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_fitting_is_the_least_divergence(seed):
    rng = np.random.default_rng(seed)
    o = rng.random(12) + 0.2
    totals = axis_totals((3, 4))
    target = totals.sums(o * rng.uniform(0.7, 1.4, 12))
    fit = fit_totals(o, totals, target, tol=1e-12)
    assert fit.state == CONVERGED
    assert totals.sums(fit.cells) == pytest.approx(target, rel=1e-9)
    matrix = np.zeros((7, 12))
    for row in totals.labels:
        matrix[row, np.arange(12)] = 1
    matrix = matrix[:-1]  # the last total follows from the others
    found = minimize(
        lambda p: float((p * np.log(p / o) - p + o).sum()),
        fit.cells * rng.uniform(0.9, 1.1, 12),
        jac=lambda p: np.log(p / o),
        constraints={
            "type": "eq",
            "fun": lambda p: matrix @ p - target[:-1],
            "jac": lambda _: matrix,
        },
        bounds=[(1e-6, None)] * 12,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    least = float((fit.cells * np.log(fit.cells / o) - fit.cells + o).sum())
    assert found.fun >= least - 1e-7
    dual = fit.lam @ target - fit.cells.sum() + o.sum()
    assert dual == pytest.approx(least, abs=1e-9)


@given(st.integers(0, 10_000))
@settings(max_examples=10, deadline=None)
def test_numpy_twins_do_the_same(seed):
    rng = np.random.default_rng(seed)
    m = movement(random_table(seed, (4, 5), 0.3))
    up = rng.random(m.n) < 0.5
    target = m.left(m.safe(up))
    if (target < 0).any():
        return
    least = 1e-12 * target.max()
    found = []
    for cycle in (_ipf.KERNELS.compiled()["cycle_loop"], _ipf.cycle_numpy, _ipf.cycle_loop):
        cells, lam = m.free.copy(), np.zeros(len(target))
        state, cycles, _ = cycle(
            cells, m.totals.labels, m.totals.starts, target, lam, least, 1e-8, 300, False
        )
        found.append((state, cycles, cells, lam))
    for other in found[1:]:
        assert other[:2] == found[0][:2]
        assert other[2].tolist() == found[0][2].tolist()
        assert other[3].tolist() == found[0][3].tolist()
    factor = rng.uniform(0.5, 2, len(target))
    sums = [
        f(m.free, m.totals.labels, factor)
        for f in (_ipf.KERNELS.compiled()["shifted"], _ipf.shifted)
    ]
    assert sums[0] == sums[1]


def test_scans_agree_and_never_rule_out_a_flip_that_helps():
    m = movement(random_table(3, (6, 6), 0.3))
    search = Search(m, AdjustMdi(tol=1e-12), lambda _: None)
    now = search.fit(next(starts(m, "printed", 16)))
    steps = search.steps(now)
    order = m.open
    fits = np.array([search.flip_cells(now, int(s), None).information for s in order])
    better = set(np.flatnonzero(fits < now.information - 1e-9).tolist())
    for scan in (_ipf.KERNELS.compiled()["scan"], _ipf.scan):
        passed, place = set(), 0
        while place < len(order):
            safe, then = m.safe(now.up), m.safe(~now.up)
            own = m.price(safe)
            prize = search.base + own.sum() - own + m.price(then)
            place = scan(
                order, place, then - safe, prize, now.fit.cells, m.totals.labels,
                now.fit.lam, now.target, steps, m.groups.labels, now.information,
            )  # fmt: skip
            if place < 0:
                break
            passed.add(int(place))
            place += 1
        assert better <= passed
        assert len(passed) <= len(better) + 2


@given(st.integers(0, 10_000))
@settings(max_examples=8, deadline=None)
def test_exhaustive_search_is_brute_force(seed):
    rng = np.random.default_rng(seed)
    shape = [(4, 4), (3, 5), (3, 3, 3)][seed % 3]
    table = random_table(seed, shape, 6 / np.prod(shape), mask=0.1 * rng.integers(0, 2))
    m = movement(table)
    best = brute_force(m)
    spec = tacit.AdjustMdi(search="exhaustive")
    if np.isinf(best):
        with pytest.raises(Infeasible):
            spec.apply(table, seed=1)
        return
    found = spec.apply(table, seed=1).history[-1].details["information"]
    assert found == pytest.approx(best, rel=1e-7, abs=1e-7)
    heuristic = tacit.AdjustMdi().apply(table, seed=1).history[-1].details
    assert heuristic["information"] >= best - 1e-7


def test_slab_sweep_is_near_its_enumeration():
    rng = np.random.default_rng(2)
    excess = []
    for _ in range(40):
        o = np.round(rng.lognormal(4, 1, 10)) + 1
        low, high = o * (1 - rng.uniform(0.1, 0.5, 10)), o * (1 + rng.uniform(0.1, 0.5, 10))
        rest = float(rng.uniform(1, 5) * o.sum())
        slab = Slab(o.sum() + rest, rest, low, high, low * np.log(low / o), high * np.log(high / o))
        cost = []
        for up in (slab.enumerate_choices(), slab.sweep_choices()):
            moved = np.where(up, high, low).sum()
            cost.append(float(slab.cost(moved, np.where(up, slab.above, slab.below).sum())[()]))
        assert cost[0] <= cost[1] + 1e-9
        excess.append(cost[1] / cost[0] - 1)
    assert np.mean(excess) < 0.02


@pytest.mark.parametrize("margins", ["one_way", "all", [["axis 1", "axis 2"], ["axis 3"]]])
def test_kept_totals_stay_and_unsafe_cells_move(margins):
    table = random_table(5, (5, 4, 6), 0.05)
    result = tacit.AdjustMdi(margins=margins).apply(table, seed=1)
    before, after = table.to_array(table.value), result.to_array()
    sets = {"one_way": [(0,), (1,), (2,)], "all": [(0, 1), (0, 2), (1, 2)]}
    for kept in sets.get(margins if isinstance(margins, str) else "", [(0, 1), (2,)]):
        out = tuple(-1 if a not in kept else slice(None) for a in range(3))
        assert after[out] == pytest.approx(before[out], rel=1e-7)
    moved = np.abs(result.published - table.value)[table.primary]
    assert moved == pytest.approx(table.lower_level[table.primary])
    assert result.is_additive(result.published)
    assert (result.published[table.value == 0] == 0).all()


def test_bare_equations_give_the_same_as_the_product():
    table = random_table(6, (5, 6), 0.2)
    bare = tacit.Table.from_cells(
        (), table.value, equations=table.equations, status=table.status,
        lower_level=table.lower_level, upper_level=table.upper_level,
    )  # fmt: skip
    one = tacit.AdjustMdi().apply(table, seed=1)
    two = tacit.AdjustMdi().apply(bare, seed=1)
    assert two.published == pytest.approx(one.published, rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*taken as different variables")
def test_linked_and_hierarchical_tables():
    regions = tacit.Dimension.from_tree(
        "region", [(0, "N"), (1, "N1"), (1, "N2"), (0, "S"), (1, "S1"), (1, "S2"), (1, "S3")]
    )
    sizes = tacit.Dimension.flat("size", ["a", "b", "c"])
    ground = np.arange(10.0, 25.0).reshape(5, 3)
    from tacit.data.cells.relations import roll_up

    table = tacit.Table.from_cells((regions, sizes), roll_up(ground, (regions, sizes)))
    table = table.with_protection([("N1", "a"), ("S2", "b")], lower=3, upper=3)
    result = tacit.AdjustMdi().apply(table, seed=1)
    assert result.is_additive(result.published)
    at = [table.index((r, "Total")) for r in ("N1", "N", "S2", "Total")]
    assert result.published[at] == pytest.approx(table.value[at])
    years = tacit.Dimension.flat("year", ["x", "y"])
    other = tacit.Table.from_cells(
        (regions, years),
        roll_up(np.stack([0.4 * ground.sum(1), 0.6 * ground.sum(1)], 1), (regions, years)),
    )
    linked = tacit.Table.link(table, other)
    found = tacit.AdjustMdi().apply(linked, seed=1)
    assert found.is_additive(found.published)


def test_objective_over_the_other_cells_only():
    table = random_table(9, (6, 6), 0.2)
    details = (
        tacit.AdjustMdi(objective_cells="nonsensitive", search="exhaustive")
        .apply(table, seed=1)
        .history[-1]
        .details
    )
    assert details["information"] == pytest.approx(brute_force(movement(table, whole=False)))


def test_random_search_never_makes_it_worse_and_can_stop_early():
    table = random_table(11, (8, 8), 0.3)
    plain = tacit.AdjustMdi(flip_passes=0).apply(table, seed=1).history[-1].details
    drawn = tacit.AdjustMdi(flip_passes=0, random_search=300).apply(table, seed=1)
    assert drawn.history[-1].details["information"] <= plain["information"]
    enough = tacit.AdjustMdi(random_search=(0.01, 0.95), enough=1e9).apply(table, seed=1)
    assert enough.history[-1].details["patterns_fitted"] < 200
    both = tacit.AdjustMdi(tie_rule="evaluate_both").apply(table, seed=1).history[-1].details
    one = tacit.AdjustMdi().apply(table, seed=1).history[-1].details
    assert both["information"] <= one["information"] + 1e-9


def test_bounds_are_respected():
    table = random_table(12, (5, 5), 0.12)
    free = tacit.AdjustMdi().apply(table, seed=1)
    grown = np.flatnonzero((free.published > 1.005 * table.value) & table.ground & ~table.primary)
    if not len(grown):
        grown = np.flatnonzero(table.ground & ~table.primary)[:1]
    bounded = table.with_bounds(grown[:1], 0.0, 1.002 * table.value[grown[:1]])
    result = tacit.AdjustMdi().apply(bounded, seed=1)
    assert (result.published <= bounded.upper + 1e-6).all()
    assert result.is_additive(result.published)


def test_one_side_only():
    table = tacit.Table.from_array([[3.0, 20.0], [30.0, 40.0]], totals=False)
    up = tacit.AdjustMdi().apply(table.with_protection([(0, 0)], lower=5, upper=5), seed=1)
    assert up.published[0] == pytest.approx(8)


def test_refusals():
    table = tacit.Table.from_array([[3.0, 20.0, 9.0], [30.0, 40.0, 8.0]], totals=False)
    with pytest.raises(InputError, match="is unsafe: use adjust"):
        tacit.AdjustMdi().apply(table.with_protection([(0, 3)], lower=5, upper=5))
    zero = tacit.Table.from_array([[0.0, 20.0], [30.0, 40.0]], totals=False, count=[[2, 2], [2, 2]])
    zero = zero.with_protection([(0, 0)], lower=0, upper=5)
    with pytest.raises(InputError, match="allow_zero_change"):
        tacit.AdjustMdi().apply(zero)
    moved = tacit.AdjustMdi(allow_zero_change=True).apply(zero, seed=1)
    assert moved.published[0] == pytest.approx(5)
    row = table.with_protection([(0, 0), (0, 1), (0, 2)], lower=[1, 3, 3], upper=[1, 3, 3])
    with pytest.raises(Infeasible, match="axis 1 = 1"):
        tacit.AdjustMdi().apply(row)
    assert feasible_pattern(movement(row)) is None
    with pytest.raises(InputError, match="no dimension 'size'"):
        tacit.AdjustMdi(margins=[["size"]]).apply(row)
    with pytest.raises(InputError, match="every cell"):
        tacit.AdjustMdi(margins=[[0, 1]]).apply(row)
    many = random_table(1, (6, 6), 0.7)
    with pytest.raises(InputError, match="exhaustive search goes up to 20"):
        tacit.AdjustMdi(search="exhaustive").apply(many)
    signed = tacit.Table.from_array([[-3.0, 5.0], [4.0, 6.0]], totals=False, lower=-9.0)
    with pytest.raises(InputError, match="not negative"):
        tacit.AdjustMdi().apply(signed.with_protection([(1, 1)], lower=1, upper=1))


def test_an_infeasible_vote_is_mended():
    # Only opposite directions leave the first row room.
    values = np.array([[10.0, 10.0, 0.5], [50.0, 60.0, 70.0], [40.0, 30.0, 90.0]])
    table = tacit.Table.from_array(values, totals=False)
    table = table.with_protection([(0, 0), (0, 1)], lower=4, upper=4)
    result = tacit.AdjustMdi().apply(table, seed=1)
    moved = (result.published - table.value)[table.primary]
    assert sorted(np.round(moved, 6)) == [-4, 4]


def test_a_total_that_vanishes_and_one_that_cannot():
    totals = axis_totals((2, 2))
    fit = fit_totals(np.ones(4), totals, np.array([0.0, 2.0, 1.0, 1.0]))
    assert fit.state == CONVERGED
    assert fit.cells == pytest.approx([0, 0, 1, 1])
    stuck = fit_totals(np.array([0.0, 0.0, 1.0, 1.0]), totals, np.array([1.0, 1.0, 1.0, 1.0]))
    assert stuck.state == STUCK


def test_information_and_entropy():
    assert discrimination_information([2, 0], [1, 1]) == pytest.approx(2 * np.log(2))
    assert discrimination_information([2, 2], [1, 1], normalised=True) == pytest.approx(0)
    assert discrimination_information([1, 1], [2, 0]) == np.inf
    assert entropy([1, 1, 1, 1]) == pytest.approx(np.log(4))
    with pytest.raises(InputError):
        discrimination_information([1, -1], [1, 1])
    with pytest.raises(InputError):
        entropy([-1.0])
    with pytest.raises(InputError):
        random_search_size(0, 0.5)


def test_size_of_the_paper_in_a_moment():
    table = random_table(1, (13, 13, 13), 200 / 13**3)
    details = tacit.AdjustMdi().apply(table, seed=1).history[-1].details
    drawn = random_information(movement(table), 40, np.random.default_rng(1))
    assert details["information"] < drawn.min()
    assert details["patterns_fitted"] < 2000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "share"),
    [((10, 10), 0.1), ((5, 5, 5), 0.2), ((10, 10, 10), 0.1), ((10, 10, 10), 0.3)],
)
def test_simulation_of_the_paper(shape, share):
    below, p_values, slopes, correlations = [], [], [], []
    for seed in range(20):
        table = random_table(100 + seed, shape, share)
        try:
            result = tacit.AdjustMdi().apply(table, seed=1)
        except Infeasible:
            continue
        found = tacit.AdjustmentReport(random_patterns=200).measure(result, seed=1).statistics
        below.append(found["K"] < found["random_K_low"])
        p_values.append(found["ks_p"])
        slopes.append(found["b1"])
        correlations.append(found["correlation"])
    assert len(below) >= 19
    assert np.mean(below) >= 0.95
    if share <= 0.1:
        assert np.mean(correlations) >= 0.97
    if share <= 0.2:
        assert abs(np.mean(slopes) - 1) <= 0.05
        assert np.mean(p_values) > 0.05


@pytest.mark.slow
def test_gap_to_the_exhaustive_optimum():
    gaps = []
    for seed in range(40):
        table = random_table(500 + seed, (10, 10), 0.09)
        found = tacit.AdjustMdi().apply(table, seed=1).history[-1].details["information"]
        best = tacit.AdjustMdi(search="exhaustive").apply(table, seed=1).history[-1].details
        gaps.append(found / best["information"] - 1)
    assert np.mean(gaps) <= 0.03
