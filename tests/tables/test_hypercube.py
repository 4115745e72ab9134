"""Hypercubes: closed forms against linear programs, published runs, and proofs by subtables."""

import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from tables.small_cubes import cube_range, paired_singletons
from tacit.context import Context
from tacit.data.cells.dimension import Dimension, Sum
from tacit.data.cells.relations import roll_up, subtables
from tacit.errors import Infeasible, InputError, WeakProtection
from tacit.tables.attack.attacker import Attacker, shortfalls
from tacit.tables.suppress import propose_hypercube as cubes
from tacit.tables.suppress.problem import problem_of
from tacit.tables.suppress.suppress_hypercube import narrow_apriori_bounds, part_of

HOME = Path(__file__).parents[1] / "fixtures"
STUDY, ARGUS = HOME / "psd04-harmonizing-suppression", HOME / "psd28-argus-software"


def load(folder, name):
    return json.loads((folder / f"{name}.json").read_text())


# -- ranges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", load(STUDY, "hypercube")["cases"], ids=["2-d", "3-d"])
def test_published_intervals_of_corners(case):
    shape = case["shape_with_totals"]
    values = np.reshape(case["values"], shape)
    down, up = values, np.full(shape, np.inf)
    p, q = tuple(case["p"]), tuple(case["q"])
    fall, rise = cube_range(down, up, p, q, [n - 1 for n in shape])
    assert [values[p] - fall, values[p] + rise] == case["interval"]
    corners = set(itertools.product(*zip(p, q, strict=True)))
    assert corners == {tuple(c) for c in case["corners"]}


@given(st.integers(2, 6), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_ranges_equal_the_linear_program(n, seed):
    rng = np.random.default_rng(seed)
    shape = [int(rng.integers(2, 4 if n < 5 else 3)) for _ in range(n)]
    base = rng.integers(1, 30, shape).astype(float)
    table = tacit.Table.from_array(base, totals=False)
    room = rng.integers(1, 30, len(table))
    lower = np.maximum(table.value - rng.integers(1, 30, len(table)), 0)
    upper = np.where(rng.random(len(table)) < 0.3, np.inf, table.value + room)
    table = table.with_(lower=lower, upper=upper)
    p = tuple(int(rng.integers(k + 1)) for k in shape)
    q = tuple(int((i + rng.integers(1, k + 1)) % (k + 1)) for i, k in zip(p, shape, strict=True))
    problem = problem_of(table)
    hidden = np.zeros(table.shape, dtype=bool)
    hidden[np.ix_(*zip(p, q, strict=True))] = True
    fall, rise = cube_range(
        problem.down.reshape(table.shape), problem.up.reshape(table.shape), p, q, shape
    )
    attacker = Attacker(problem, hidden.ravel())
    cell = table.index(p)
    assert attacker.reach(cell, up=True) == pytest.approx(rise)
    assert attacker.reach(cell, up=False) == pytest.approx(fall)


# -- the tau-ARGUS example -------------------------------------------------------------------------


def mini():
    levels = load(ARGUS, "mini_secondary_optimal")["input"]["protection_levels"]
    regions, sizes = ["N1", "N2", "S1", "S2", "S3"], ["1", "2", "3"]
    base = np.zeros((5, 3))
    for line in (ARGUS / "tau_mini.csv").read_text().split()[1:]:
        _, region, size, turnover, *_ = line.split(",")
        base[regions.index(region), sizes.index(size)] += float(turnover)
    table = tacit.Table.from_array(base, totals=False, codes=[regions, sizes])
    for name, level in levels.items():
        table = table.with_protection([tuple(name.split("|"))], lower=level, upper=level)
    return table


def test_published_bounds():
    table = mini()
    grid = table.value.reshape(table.shape)
    place = [d.position for d in table.dimensions]
    for bound in load(ARGUS, "hypercube_reference")["bounds"]:
        corners = [c.split("|") for c in bound["corners"]]
        p, q = (tuple(place[i][c[i]] for i in (0, 1)) for c in (corners[0], corners[3]))
        found = cube_range(grid, np.full(grid.shape, np.inf), p, q, [5, 3])
        assert found == (bound["down"], bound["up"])


@pytest.mark.parametrize("choose", ["fewest", "cheapest"])
def test_published_run(choose):
    result = load(ARGUS, "hypercube_reference")["result"]
    safe = tacit.SuppressHypercube(singletons=False, choose=choose).apply(mini())
    hidden = {"|".join(safe.codes(int(c))) for c in np.flatnonzero(safe.secondary)}
    assert hidden == set(result["secondary"])
    assert safe.value[safe.secondary].sum() == result["cost_value"]
    assert safe.history[-1].details["repaired"] == 0


# -- structure -------------------------------------------------------------------------------------


def dimension(name, groups):
    n = 1 + max(map(max, groups))
    sums = tuple(Sum(g[0], tuple(g[1:])) for g in groups)
    return Dimension(name, tuple(f"{name}{i}" for i in range(n)), sums)


def test_subtables_as_published():
    given = load(STUDY, "subtables")
    dimensions = [dimension(n, given[n]) for n in ("nace", "region")]
    grid = cubes.grid_of(dimensions)
    assert cubes.n_subtables(grid) == given["n_subtables"]
    cells, axes = cubes.cells_of(grid, 1 * len(given["region"]) + 0)
    assert [codes.tolist() for codes, _, _ in axes] == given["example"]["codes"]
    assert cells.size == given["example"]["n_cells"]
    ours = [sorted(cubes.cells_of(grid, i)[0].ravel().tolist()) for i in range(12)]
    theirs = [sorted(s.cells.ravel().tolist()) for s in subtables(dimensions)]
    assert sorted(ours) == sorted(theirs)


def test_pairs_of_singletons_as_published():
    for case in load(STUDY, "singleton")["cases"]:
        count = np.array(case["n_respondents"])
        hidden = np.zeros(count.shape, dtype=bool)
        hidden[tuple(np.transpose(case["hidden"]))] = True
        owner = np.full(count.shape, -1)
        for place, (who,) in case["respondent_ids"].items():
            owner[tuple(map(int, place.split(",")))] = int(who[1:])
        found = paired_singletons(hidden, owner)
        names = [f"{('column', 'row')[axis]} {place[0]}" for axis, place, _ in found]
        assert names == [v["line"] for v in case["violations_PS2"]]


# -- proofs ----------------------------------------------------------------------------------------


def hierarchical(seed, *, dimensions=2, counts=True):
    rng = np.random.default_rng(seed)

    def tree(name):
        if rng.random() < 0.3:
            return Dimension.flat(name, [f"{name}{i}" for i in range(int(rng.integers(2, 6)))])
        lines = []
        for g in range(int(rng.integers(2, 4))):
            lines.append((0, f"{name}{g}"))
            lines += [(1, f"{name}{g}{i}") for i in range(int(rng.integers(1, 4)))]
        return Dimension.from_tree(name, lines)

    axes = tuple(tree(name) for name in "abc"[:dimensions])
    shape = [len(d.leaves) for d in axes]
    count = rng.poisson(3.0, shape)
    base = np.round(count * rng.lognormal(3, 1, shape)) + (count > 0)
    table = tacit.Table.from_cells(
        axes,
        roll_up(base, axes),
        count=np.rint(roll_up(count, axes)).astype(int) if counts else None,
    )
    unsafe = (table.count > 0) & (table.count < 3) if counts else rng.random(len(table)) < 0.1
    at = np.flatnonzero(unsafe & ~table.empty)
    level = 0.15 * table.value[at]
    return table.with_protection(at, lower=level, upper=level)


def quiet(spec, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakProtection)
        return spec.apply(table, seed=1)


def audited_by_hand(table, hidden, *, intervals):
    """PS1 or PS1*: every unsafe cell in every subtable, by programs of its own."""
    for s in subtables(table.dimensions):
        cells = s.cells.ravel()
        own = problem_of(table).equations[:, cells]
        whole = np.diff(own.indptr) == np.diff(table.equations.indptr)
        own = own[whole & (np.diff(own.indptr) > 0)]
        free = hidden[cells]
        for p in np.flatnonzero(table.primary[cells]):
            cell, reach = cells[p], []
            for sense in (-1, 1):
                cost = np.zeros(len(cells))
                cost[p] = sense
                bounds = [
                    (table.lower[c], table.upper[c]) if f else (table.value[c],) * 2
                    for c, f in zip(cells, free, strict=True)
                ]
                found = linprog(cost, A_eq=own, b_eq=np.zeros(own.shape[0]), bounds=bounds)
                reach.append(
                    np.inf if found.status == 3 else abs(sense * found.fun - table.value[cell])
                )
            up, down = reach
            slack = 1e-6 * max(1.0, table.value[cell])
            if not intervals:
                assert max(up, down) > 0
                continue
            assert up >= table.upper_level[cell] - slack
            assert down >= min(table.lower_level[cell], table.value[cell]) - slack


@pytest.mark.parametrize("variant", ["interval", "exact", "sequence"])
@pytest.mark.parametrize("seed", range(4))
def test_every_subtable_is_protected(variant, seed):
    table = hierarchical(seed)
    safe = quiet(tacit.SuppressHypercube(variant=variant, audit="subtable"), table)
    assert safe.history[-1].claims[0].model == "protected-in-subtables"
    audited_by_hand(table, safe.hidden, intervals=variant != "exact")


@given(st.integers(0, 10**6), st.sampled_from([2, 3]), st.booleans())
@settings(max_examples=8, deadline=None)
def test_the_full_audit_holds(seed, dimensions, counts):
    table = hierarchical(seed, dimensions=dimensions, counts=counts)
    try:
        safe = tacit.SuppressHypercube().apply(table, seed=1)
    except tacit.errors.Infeasible:
        return
    assert not shortfalls(problem_of(table), safe.hidden)
    assert not (safe.hidden & table.empty).any()


@pytest.mark.parametrize("seed", range(6))
def test_no_single_respondent_learns_another(seed):
    """PS2*: within a subtable, without the cell that its respondent knows."""
    table = hierarchical(seed)
    safe = quiet(tacit.SuppressHypercube(audit="subtable"), table)
    grid = cubes.grid_of(table.dimensions)
    from tacit.tables.suppress.suppress_hypercube import identify_respondents

    known = identify_respondents(table)
    for i in range(cubes.n_subtables(grid)):
        part, cells = part_of(known, grid, i, safe.hidden)
        assert not shortfalls(problem_of(part), safe.hidden[cells])
        inner = safe.hidden[cells].reshape(part.shape)
        owner = np.where(part.primary & part.singleton, part.owner, -1).reshape(part.shape)
        assert not paired_singletons(inner, owner)


def test_the_check_sees_a_cell_that_is_published():
    table = hierarchical(1)
    safe = quiet(tacit.SuppressHypercube(audit="subtable"), table)
    claim = safe.history[-1].claims[0]
    assert claim.holds(safe)
    secondary = np.flatnonzero(safe.secondary)
    failed = [not claim.holds(safe.with_hidden(secondary[secondary != c])) for c in secondary]
    assert any(failed)


def test_six_dimensions_and_no_more():
    rng = np.random.default_rng(3)
    six = tacit.Table.from_array(rng.integers(5, 50, (2,) * 6), totals=False)
    six = six.with_protection([(0,) * 6], lower=2, upper=2)
    safe = tacit.SuppressHypercube().apply(six)
    assert safe.hidden.sum() == 64
    seven = tacit.Table.from_array(rng.integers(5, 50, (2,) * 7), totals=False)
    with pytest.raises(InputError, match="up to 6 dimensions"):
        tacit.SuppressHypercube().apply(seven)


def test_reductions_are_counted():
    """No cube reaches the level: a column of small cells beside one large unsafe cell."""
    table = tacit.Table.from_array([[900.0, 3.0], [4.0, 5.0]], totals=False)
    table = table.with_protection([(0, 0)], lower=300, upper=300)
    table = table.freeze([(0, 2), (2, 0), (2, 2)])
    with pytest.raises(tacit.errors.Infeasible):
        tacit.SuppressHypercube().apply(table)
    grid = cubes.grid_of(table.dimensions)
    problem = problem_of(table)
    state = cubes.state_of(problem, grid, problem.start, singletons=False)
    cubes.hide_cubes(grid, state, cubes.Rules(True, False, False), Context.start(1))
    assert state.reduced.max() == cubes.HUGE
    exact = quiet(tacit.SuppressHypercube(variant="exact"), table)
    assert exact.hidden.sum() == 4


def test_prior_knowledge_asks_for_more():
    table = mini()
    known = tacit.SuppressHypercube(apriori=30).apply(table)
    assert known.history[-1].claims[0].parameters["apriori"] == 30
    assert known.hidden.sum() >= tacit.SuppressHypercube().apply(table).hidden.sum()


def test_weaker_proofs_are_announced():
    table = hierarchical(0)
    with pytest.warns(WeakProtection, match="within each subtable"):
        safe = tacit.SuppressHypercube(size=5).apply(table)
    assert safe.history[-1].details["proof"] == "subtable"
    with pytest.warns(WeakProtection, match="exactly"):
        tacit.SuppressHypercube(variant="exact").apply(mini())


@given(seed=st.integers(0, 10**6), apriori=st.sampled_from([None, 50.0, 150.0]))
@settings(max_examples=25, deadline=None)
def test_the_exact_variant_refuses_only_what_nothing_protects(seed, apriori):
    """Levels that reach beyond the bounds, as they do around small and negative values, are not looked at."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(2, 4, rng.integers(1, 3)))
    table = tacit.Table.from_array(
        rng.integers(-6, 12, shape).astype(float), totals=False, lower=-np.inf
    )
    below, above = rng.integers(0, 20, (2, len(table)))
    table = table.with_(lower=table.value - below, upper=table.value + above)
    unsafe = rng.choice(np.flatnonzero(~table.empty), 1)
    table = table.with_protection(unsafe, lower=3.0, upper=30.0)
    method = tacit.SuppressHypercube(variant="exact", apriori=apriori, singletons=False)
    nothing = np.zeros(len(table))
    known = narrow_apriori_bounds(table, apriori).with_(lower_level=nothing, upper_level=nothing)
    try:
        tacit.SuppressExact(singletons=False).apply(known)
    except Infeasible:
        with pytest.raises(Infeasible), pytest.warns(WeakProtection):
            method.apply(table)
    else:
        with pytest.warns(WeakProtection):
            done = method.apply(table)
        assert done.history[-1].claims[-1].holds(done)
