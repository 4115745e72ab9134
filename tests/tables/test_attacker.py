"""The attacker against unreduced programs solved one by one by another solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import tacit
from tables.random_tables import by_hand, random_table
from tacit.context import Context
from tacit.errors import Cancelled, SolverError
from tacit.tables.attack import reach as _reach
from tacit.tables.attack.attacker import CLOSE, Attacker, is_need_met, shortfalls
from tacit.tables.attack.exactness import deducing_pairs, determined, parallel_classes
from tacit.tables.attack.knowledge import all_of, intervals_of
from tacit.tables.attack.systems import propagate_bounds, system_of
from tacit.tables.suppress.problem import problem_of

SEEDS = st.integers(0, 10**6)


def close(a, b, scale):
    return a == b or abs(a - b) <= 1e-6 * max(abs(b), 1e-2 * scale)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_reach_of_every_hidden_cell_is_that_of_its_own_program(seed):
    table = random_table(seed)
    problem, hidden = problem_of(table), table.hidden
    attacker = Attacker(problem, hidden)
    scale = np.abs(table.value).max(initial=0.0)
    for cell in np.flatnonzero(hidden).tolist()[:12]:
        for up in (True, False):
            expected = by_hand(problem, hidden, cell, 1 if up else -1)
            assert close(attacker.reach(cell, up=up), expected, scale)


@settings(max_examples=12, deadline=None)
@given(SEEDS)
def test_shortfalls_are_those_of_single_programs(seed):
    table = random_table(seed)
    problem, hidden = problem_of(table), table.hidden
    expected = set()
    for cell in np.flatnonzero(problem.primary).tolist():
        down, up = (by_hand(problem, hidden, cell, s) for s in (-1, 1))
        if not is_need_met(problem, cell, down, up):
            expected.add((cell, -1))
    pairs = problem.pairs[:12]
    problem = problem_of(table).__class__(**{**vars_of(problem), "pairs": pairs})
    for known, target in pairs.tolist():
        moves = [by_hand(problem, hidden, target, s, (known,)) for s in (-1, 1)]
        if max(moves) < problem.tiny([target])[0] * (1 - CLOSE):
            expected.add((target, known))
    found = shortfalls(problem, hidden)
    assert {(s.cell, s.known) for s in found} == expected


def vars_of(problem):
    return {k: v for k, v in vars(problem).items() if k in problem.__dataclass_fields__}


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_the_reduced_system_has_the_intervals_of_the_whole_one(seed):
    table = random_table(seed)
    p = problem_of(table)
    small = system_of(p.by_cell, table.hidden, p.down, p.up)
    for s in (small, system_of(p.by_cell, table.hidden, p.down, p.up, reduced=False)):
        _reach.answer_wants(s, all_of(s, np.arange(len(s.cells))), lambda _share: None)
        low, high = s.interval()
        outer_low, outer_high = s.interval(inner=False)
        slack = 1e-6 * np.abs(table.value).max(initial=1e-9)
        assert (outer_low <= low + slack).all()
        assert (outer_high >= high - slack).all()
        if s is small:
            first = low, high
    np.testing.assert_allclose(first[0], low, atol=slack)
    np.testing.assert_allclose(first[1], high, atol=slack)


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_determined_cells_and_ties_are_those_of_the_kernel(seed):
    table = random_table(seed)
    hidden = table.hidden
    cells = np.flatnonzero(hidden)
    rows = table.equations[:, cells]
    sizes, vectors = np.linalg.eigh((rows.T @ rows).toarray())
    kernel = vectors[:, sizes < 1e-9]
    expected = np.zeros(len(table), dtype=bool)
    expected[cells] = np.abs(kernel).max(axis=1, initial=0.0) < 1e-6
    np.testing.assert_array_equal(determined(table.equations, hidden), expected)
    labels = parallel_classes(table.equations, hidden)
    assert (labels[~hidden] == -1).all()
    norms = np.linalg.norm(kernel, axis=1)
    for a in range(min(len(cells), 12)):
        for b in range(a):
            if min(norms[a], norms[b]) > 1e-6:
                cosine = abs(kernel[a] @ kernel[b]) / (norms[a] * norms[b])
                assert (labels[cells[a]] == labels[cells[b]]) == (cosine > 1 - 1e-9)


def square(n=12, seed=3):
    rng = np.random.default_rng(seed)
    table = tacit.Table.from_array(rng.integers(1, 90, (n, n, n)).astype(float), totals=False)
    cells = np.flatnonzero(rng.random(len(table)) < 0.3)
    unsafe = cells[::9]
    level = 0.2 * table.value[unsafe]
    return table.with_protection(unsafe, lower=level, upper=level).with_hidden(cells)


def test_several_processes_find_what_one_finds(monkeypatch):
    table = square(7)
    problem = problem_of(table)
    serial = intervals_of(problem, table.hidden, lambda _s: None, workers=1)
    for name, value in (("WORTH_STARTING", 0.0), ("ROUNDS", 0), ("PIECE", 8)):
        monkeypatch.setattr(_reach, name, value)
    merge, merged = _reach.merge, []
    monkeypatch.setattr(_reach, "merge", lambda *a: merged.append(merge(*a)))
    several = intervals_of(problem, table.hidden, lambda _s: None, workers=2)
    np.testing.assert_allclose(several.up, serial.up, rtol=1e-9)
    np.testing.assert_allclose(several.down, serial.down, rtol=1e-9)
    assert serial.proven.all()
    assert several.proven.all()
    assert len(merged) > 1
    one = {(s.cell, s.known) for s in shortfalls(problem, table.hidden, workers=1)}
    assert {(s.cell, s.known) for s in shortfalls(problem, table.hidden, workers=2)} == one


def test_a_stop_is_heard():
    table = square(6)
    with pytest.raises(Cancelled):
        shortfalls(problem_of(table), table.hidden, Context.start(1, should_stop=lambda: True))


def test_needs_far_below_the_scale_of_the_block_are_not_faked():
    # Both cells of value 1 are tied to published totals; everything else around is huge.
    values = np.array([[1.0, 2e9, 3e9], [4e9, 5e9, 6e9], [7e9, 8e9, 9e9]])
    table = tacit.Table.from_array(values, totals=False)
    table = table.with_protection([(0, 0)], lower=0.1, upper=0.1)
    hide = [(0, 1), (1, 1), (1, 2), (2, 1), (2, 2)]
    exposed = table.with_hidden(hide)
    assert [s.cell for s in shortfalls(problem_of(exposed), exposed.hidden)] == [0]
    safe = table.with_hidden([*hide, (1, 0)])
    assert not shortfalls(problem_of(safe), safe.hidden)


def test_unbounded_cells_reach_without_limit():
    table = tacit.Table.from_array([[5.0, 5.0], [5.0, 5.0]])
    table = table.with_protection(np.arange(4), lower=1, upper=3)
    attacker = Attacker(problem_of(table), table.hidden)
    assert attacker.reach(0, up=True) == np.inf
    assert attacker.reach(0, up=False) == 5.0
    assert not shortfalls(problem_of(table), table.hidden)


def test_a_solver_that_gives_up_is_asked_in_other_ways(monkeypatch):
    table = square(7)
    expected = {s.cell for s in shortfalls(problem_of(table), table.hidden)}
    attempt, calls = _reach.Solver.attempt, []

    def moody(self):
        calls.append(1)
        return None if len(calls) % 3 else attempt(self)

    monkeypatch.setattr(_reach.Solver, "attempt", moody)
    assert {s.cell for s in shortfalls(problem_of(table), table.hidden)} == expected
    monkeypatch.setattr(_reach.Solver, "attempt", lambda _self: None)
    with pytest.raises(SolverError, match="scales"):
        shortfalls(problem_of(table), table.hidden)


def test_respondents_deduce_across_relations():
    # Rows 0 and 1 are tied through columns, so the firm in (0, 0) learns (1, 1) although they share no sum.
    table = tacit.Table.from_array(
        np.full((3, 3), 10.0), totals=False, count=[[1, 9, 9], [9, 1, 9], [9, 9, 9]]
    )
    table = table.with_protection([(0, 0), (1, 1)], lower=1, upper=1).with_hidden([(0, 1), (1, 0)])
    pairs = deducing_pairs(table, table.hidden).tolist()
    first, second = table.index((0, 0)), table.index((1, 1))
    assert sorted(pairs) == sorted([[first, second], [second, first]])


def test_bounds_propagate_through_a_chain():
    m = sparse.csr_array(np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]))
    low, high = propagate_bounds(
        m, np.array([-1.0, -5.0, -np.inf]), np.array([2.0, np.inf, np.inf])
    )
    np.testing.assert_array_equal(low, [-1, -1, -1])
    np.testing.assert_array_equal(high, [2, 2, 2])


@pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
@pytest.mark.parametrize("method", [tacit.SuppressLinear, tacit.SuppressModular])
def test_bounds_far_beyond_the_values_do_not_hinder(method):
    """A table of signed values with a lower bound of -1e12: programs must not lose their digits."""
    rng = np.random.default_rng(4)
    values = (rng.lognormal(6, 1.2, (3, 4, 3)) * rng.choice([1, 1, -1], (3, 4, 3))).round(2)
    count = rng.integers(1, 5, values.shape)
    table = tacit.Table.from_array(values, totals=False, count=count, lower=-1e12)
    judged = tacit.MinimumFrequency(n=3).apply(table)
    assert method().apply(judged).hidden.sum() > judged.primary.sum()
