"""The fast heuristic: always safe, by an audit of its own, and close to the cheapest pattern."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

import tacit
from tacit.context import Context
from tacit.data.cells.relations import roll_up
from tacit.data.cells.status import Status
from tacit.errors import Cancelled, Infeasible
from tacit.tables.attack.attacker import shortfalls
from tacit.tables.suppress.moves.routes import Routes, needs_of
from tacit.tables.suppress.problem import problem_of
from tacit.tables.suppress.repair import clean, repair, suppress
from tacit.tables.suppress.suppress_linear import SuppressLinear

INVESTMENT = [
    [20, 50, 10, 80],
    [8, 19, 22, 49],
    [17, 32, 12, 61],
    [45, 101, 44, 190],
]


def ctx():
    return Context.start(1)


def reach(problem, hidden, cell, *, up, known=()):
    """How far a cell can move, by another solver."""
    free = hidden.copy()
    free[list(known)] = False
    if not free[cell]:
        return 0.0
    bounds = [
        (-d if f else 0.0, (u if np.isfinite(u) else None) if f else 0.0)
        for d, u, f in zip(problem.down, problem.up, free, strict=True)
    ]
    c = np.zeros(problem.n)
    c[cell] = -1.0 if up else 1.0
    m = problem.equations
    found = linprog(
        c, A_eq=m if m.shape[0] else None, b_eq=np.zeros(m.shape[0]) if m.shape[0] else None,
        bounds=bounds,
    )  # fmt: skip
    if found.status == 3:
        return np.inf
    assert found.status == 0
    return -float(found.fun)


def exposed(problem, hidden):
    """Needs that a pattern does not meet, recomputed from their definition."""
    short = []
    for cell in np.flatnonzero(problem.primary):
        up = reach(problem, hidden, cell, up=True)
        down = reach(problem, hidden, cell, up=False)
        keep = 1 - 1e-5
        if (
            up < problem.need_up[cell] * keep
            or down < problem.need_down[cell] * keep
            or up + down < problem.need_width[cell] * keep
        ):
            short.append(int(cell))
    for known, cell in problem.pairs.tolist():
        tiny = problem.tiny([cell])[0] * (1 - 1e-5)
        if max(reach(problem, hidden, cell, up=u, known=[known]) for u in (True, False)) < tiny:
            short.append(cell)
    return short


def cheapest(problem):
    """The least cost over all patterns."""
    free = np.flatnonzero(problem.suppressible)
    tried = sorted(
        (float(problem.cost[list(s)].sum()), s)
        for k in range(len(free) + 1)
        for s in itertools.combinations(free.tolist(), k)
    )
    rows = abs(problem.equations).toarray()
    rows = rows[rows @ problem.primary > 0]
    for price, extra in tried:
        hidden = problem.start.copy()
        hidden[list(extra)] = True
        if (rows @ hidden >= 2).all() and not shortfalls(problem, hidden):
            return price
    return None


# -- random tables ------------------------------------------------------------------------------


def region_tree():
    return tacit.Dimension.from_tree(
        "region", [(0, "N"), (1, "N1"), (1, "N2"), (1, "N3"), (0, "S"), (1, "S1"), (1, "S2")]
    )


def two_groupings():
    return tacit.Dimension.from_relations(
        "zone",
        [
            ("Total", ["A", "B"]),
            ("A", ["a", "b"]),
            ("B", ["c", "d"]),
            ("Total", ["X", "Y"]),
            ("X", ["a", "c"]),
            ("Y", ["b", "d"]),
        ],
    )


def make(rng, dimensions, share=0.15, zeros=0.1):
    shape = [len(d.leaves) for d in dimensions]
    base = rng.integers(1, 60, shape) * (rng.random(shape) > zeros)
    counts = np.where(base > 0, rng.integers(1, 6, shape), 0)
    value = roll_up(base.astype(float), dimensions)
    count = roll_up(counts.astype(float), dimensions)
    table = tacit.Table.from_cells(dimensions, value, count=count)
    return unsafe(rng, table, share)


def unsafe(rng, table, share):
    able = np.flatnonzero(~table.empty & table.ground)
    picked = able[rng.random(len(able)) < share]
    if not len(picked):
        picked = able[:1]
    level = np.ceil(0.2 * table.value[picked])
    sliding = np.where(rng.random(len(picked)) < 0.3, 2.5 * level, 0.0)
    level = np.where(rng.random(len(picked)) < 0.1, 0.0, level)
    table = table.with_protection(picked, level, level, sliding)
    safe = np.flatnonzero(~table.empty & ~table.primary)
    return table.freeze(safe[rng.random(len(safe)) < 0.05])


def drawn(kind, seed):
    rng = np.random.default_rng(seed)
    flat = tacit.Dimension.flat
    if kind == "tree":
        return make(rng, [region_tree(), flat("size", "abcd")])
    if kind == "groupings":
        return make(rng, [two_groupings(), flat("size", "abc")])
    if kind == "cube":
        return make(rng, [flat("x", "abc"), flat("y", "abc"), flat("z", "abc")], share=0.1)
    if kind == "linked":
        sizes = rng.integers(1, 60, (5, 3, 3)).astype(float)
        tree, a, b = region_tree(), flat("a", "klm"), flat("b", "pqr")
        first = tacit.Table.from_cells([tree, a], roll_up(sizes.sum(axis=2), [tree, a]))
        second = tacit.Table.from_cells([tree, b], roll_up(sizes.sum(axis=1), [tree, b]))
        return unsafe(rng, tacit.Table.link(first, second), 0.15)
    table = make(rng, [region_tree(), flat("size", "abc")])
    return tacit.Table.from_cells(
        (),
        table.value,
        count=table.count,
        equations=table.equations,
        status=table.status,
        lower=-20.0,
        upper=table.value * 3 + 50,
        lower_level=table.lower_level,
        upper_level=table.upper_level,
        sliding_level=table.sliding_level,
    )


KINDS = ["tree", "groupings", "cube", "linked", "bare equations"]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_random_tables_are_safe_by_another_solver(kind, seed):
    table = drawn(kind, seed)
    problem = problem_of(table)
    try:
        pattern, facts = suppress(problem, ctx(), tries=10)
    except Infeasible as error:
        everything = problem.start | problem.suppressible
        assert exposed(problem, everything), str(error)
        return
    assert pattern[problem.primary].all()
    assert not pattern[problem.fixed].any()
    assert exposed(problem, pattern) == []
    assert problem.price(pattern) <= facts["first_price"] * (1 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_clean_up_of_everything_is_safe_and_never_dearer(kind):
    problem = problem_of(drawn(kind, 3))
    whole = problem.start | problem.suppressible
    if shortfalls(problem, whole):
        pytest.skip("no pattern protects this table")
    cleaned = clean(problem, whole, ctx())
    assert not (cleaned & ~whole).any()
    assert exposed(problem, cleaned) == []
    again = clean(problem, cleaned, ctx())
    assert problem.price(again) <= problem.price(cleaned) <= problem.price(whole)


def test_repair_keeps_what_is_hidden():
    problem = problem_of(drawn("tree", 5))
    extra = problem.start.copy()
    extra[np.flatnonzero(problem.suppressible)[:3]] = True
    fixed = repair(problem, extra, ctx())
    assert fixed[extra].all()
    assert shortfalls(problem, fixed) == []


def test_close_to_the_cheapest_pattern():
    found, best = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = rng.integers(5, 60, (3, 3)).astype(float)
        table = tacit.Table.from_array(values, totals=False)
        cells = [(int(i), int(j)) for i, j in rng.integers(0, 3, (2, 2))]
        levels = [np.ceil(0.25 * values[c]) for c in cells]
        problem = problem_of(table.with_protection(cells, levels, levels))
        least = cheapest(problem)
        pattern, _ = suppress(problem, ctx())
        price = problem.price(pattern)
        assert price >= least - 1e-9
        found.append(price)
        best.append(least)
    assert sum(found) <= 1.1 * sum(best)
    assert np.mean(np.array(found) / np.maximum(best, 1)) <= 1.1


def test_investment_by_region_and_activity():
    table = tacit.Table.from_array(INVESTMENT).with_protection([(1, 2)], lower=5, upper=8)
    safe = SuppressLinear().apply(table)
    assert problem_of(table).price(safe.hidden) <= 59
    assert safe.history[-1].details["repaired"] == 0
    assert exposed(problem_of(table), safe.hidden) == []


def test_singletons_get_a_third_cell():
    values = np.array([[30.0, 30.0, 30.0], [30.0, 30.0, 30.0], [30.0, 30.0, 30.0]])
    counts = np.array([[1, 1, 5], [5, 5, 5], [5, 5, 5]])
    table = tacit.Table.from_array(values, totals=False, count=counts)
    table = table.with_protection([(0, 0), (0, 1)], lower=3, upper=3)
    problem = problem_of(table)
    assert len(problem.pairs) == 2
    safe = SuppressLinear().apply(table)
    assert safe.hidden.reshape(4, 4)[0].sum() >= 3
    assert exposed(problem, safe.hidden) == []


def test_width_is_divided_where_one_side_is_too_short():
    table = tacit.Table.from_array(
        [[10.0, 10.0], [10.0, 10.0]],
        totals=False,
        lower=np.array([[7, 7, 20], [7, 7, 20], [20, 20, 40]]).ravel() * 1.0,
        upper=np.array([[13, 13, 20], [13, 13, 20], [20, 20, 40]]).ravel() * 1.0,
    ).with_protection([(0, 0)], sliding=5)
    problem = problem_of(table)
    pattern, _ = suppress(problem, ctx())
    assert exposed(problem, pattern) == []
    with pytest.raises(Infeasible, match="1 x 1"):
        suppress(problem_of(table.with_protection([(0, 0)], sliding=7)), ctx())


def test_frozen_cells_that_make_it_impossible_are_named():
    table = tacit.Table.from_array(INVESTMENT).with_protection([(1, 2)], lower=5, upper=5)
    frozen = [(i, 2) for i in (0, 2, 3)]
    with pytest.raises(Infeasible, match="2 x 3"):
        SuppressLinear().apply(table.freeze(frozen))


def test_forced_cells_stay_hidden_and_cost_nothing():
    table = tacit.Table.from_array(INVESTMENT).with_protection([(1, 2)], lower=5, upper=5)
    table = table.with_status([(0, 0)], Status.SECONDARY_MANUAL)
    safe = SuppressLinear().apply(table)
    assert safe.hidden[table.index((0, 0))]


def test_without_cleaning_and_with_a_time_limit():
    table = drawn("tree", 8)
    problem = problem_of(table)
    plain = SuppressLinear(clean=False).apply(table)
    short = SuppressLinear(time_limit=0.01).apply(table)
    best = SuppressLinear().apply(table)
    prices = [problem.price(t.hidden) for t in (best, short, plain)]
    assert prices == sorted(prices)


def test_undo_restores_everything():
    problem = problem_of(drawn("tree", 4))
    routes = Routes(problem, problem.start, problem.start | problem.suppressible)
    assert routes.meet_all(ctx()) == []
    before = (routes.total, routes.used.copy(), routes.flows.price.copy(), list(routes.met))
    for need in range(len(routes.needs)):
        routes.assign(need, ())
    assert routes.total == pytest.approx(0)
    assert not routes.used.any()
    routes.undo(0)
    assert routes.total == pytest.approx(before[0])
    assert (routes.used == before[1]).all()
    assert (routes.flows.price == before[2]).all()
    assert routes.met == before[3]


def test_needs_come_largest_first():
    needs = needs_of(problem_of(drawn("tree", 1)))
    sizes = [n.size for n in needs if n.known < 0]
    assert sizes == sorted(sizes, reverse=True)


def test_stops_when_asked():
    asked = SimpleNamespace(n=0)

    def stop():
        asked.n += 1
        return asked.n > 2

    with pytest.raises(Cancelled):
        suppress(problem_of(drawn("tree", 2)), Context.start(1, should_stop=stop))


def test_bare_equations_without_rows():
    table = tacit.Table.from_cells((), [5.0, 7.0], equations=sparse.csr_array((0, 2)))
    table = table.with_protection([0], lower=1, upper=1)
    safe = SuppressLinear().apply(table)
    assert safe.hidden.tolist() == [True, False]
