"""Partial suppression: one big linear program, cheapness against suppression, claims and rounding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import tacit
from common.cases import firms
from tables.test_exact import larger, random_table
from tacit.context import Context
from tacit.errors import Approximate, Infeasible
from tacit.solve import Highs, LinearModel
from tacit.tables.suppress.problem import problem_of
from tacit.tables.suppress.suppress_partial import SuppressPartial, find_narrowest_intervals, widths


def in_one_piece(problem):
    """The least loss by one program with a movement for every need (upward for singletons' targets)."""
    cells = np.flatnonzero(problem.start | problem.suppressible)
    k = len(cells)
    place = {int(c): i for i, c in enumerate(cells)}
    m = problem.by_cell[:, cells].tocsr()
    moves = []
    for p in np.flatnonzero(problem.primary):
        up, down, width = (
            float(a[p]) for a in (problem.need_up, problem.need_down, problem.need_width)
        )
        moves.append((int(p), up, down, max(width, up + down), -1))
    tiny = problem.tiny(problem.pairs[:, 1]) if len(problem.pairs) else []
    moves += [
        (int(t), float(a), 0.0, float(a), int(s))
        for (s, t), a in zip(problem.pairs, tiny, strict=True)
    ]
    blocks = 2 * len(moves)
    width_of_all = 2 * k + blocks * k
    rows, low = [], []
    eye = sparse.eye_array(k)
    zero = sparse.csr_array((k, k))

    def placed(parts):
        return sparse.hstack([parts.get(b, zero) for b in range(2 + blocks)], format="csr")

    lower = np.zeros(width_of_all)
    upper = np.full(width_of_all, np.inf)
    upper[:k], upper[k : 2 * k] = problem.down[cells], problem.up[cells]
    lower[2 * k :] = -np.inf
    high = []
    for number, (target, up, down, width, known) in enumerate(moves):
        at = place[target]
        for side in range(2):
            b = 2 + 2 * number + side
            still = sparse.hstack(
                [m if c == b else sparse.csr_array(m.shape) for c in range(2 + blocks)],
                format="csr",
            )
            rows.append(still)
            low.append(np.zeros(m.shape[0]))
            high.append(np.zeros(m.shape[0]))
            for parts in ({b: eye, 0: eye}, {b: -eye, 1: eye}):
                rows.append(placed(parts))
                low.append(np.zeros(k))
                high.append(np.full(k, np.inf))
            if known >= 0:
                lower[b * k + place[known]] = upper[b * k + place[known]] = 0.0
        first, second = (2 + 2 * number) * k + at, (3 + 2 * number) * k + at
        lower[first], upper[second] = up, -down
        rows.append(
            sparse.csr_array(([1.0, -1.0], ([0, 0], [first, second])), shape=(1, width_of_all))
        )
        low.append(np.array([width]))
        high.append(np.array([np.inf]))
    weight = widths(problem)[cells]
    cost = np.concatenate([weight, weight, np.zeros(blocks * k)])
    matrix = sparse.csc_array(sparse.vstack(rows))
    found = Highs(
        LinearModel.of(cost, matrix, np.concatenate(low), np.concatenate(high), lower, upper)
    ).solve()
    return None if found.x is None else found.value


@given(st.sampled_from(["line", "flat", "cube", "tree"]), st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_the_loss_is_the_least(kind, seed):
    problem = problem_of(random_table(kind, seed))
    # Without an upper bound a singleton's target can move up whenever it can move at all.
    expected = in_one_piece(problem) if np.isinf(problem.up).all() or not len(problem.pairs) else -1
    try:
        found = find_narrowest_intervals(problem, Context.start(0))
    except Infeasible:
        assert expected in (None, -1)
        return
    assert found.finished
    assert expected is not None
    if expected >= 0:
        assert found.loss == pytest.approx(expected, rel=1e-5, abs=1e-6)


def investment():
    table = tacit.Table.from_array([[20, 50, 10], [8, 19, 22], [17, 32, 12.0]], totals=False)
    return table.with_protection([(1, 2)], lower=5, upper=5)


def test_intervals_around_one_unsafe_cell():
    table = investment()
    safe = SuppressPartial(rounded=False).apply(table)
    low, high = safe.interval[table.index((1, 2))]
    assert low == pytest.approx(17, abs=1e-4)
    assert high == pytest.approx(27, abs=1e-4)
    details = safe.history[-1].details
    assert details["proven"]
    # Three other cells move by 5 in each direction: 8 ends of width 5.
    assert details["loss"] == pytest.approx(40)


def test_every_interval_holds_its_value_and_hides_it():
    for rounded in (False, True):
        safe = SuppressPartial(rounded=rounded).apply(larger())
        shown = ~np.isnan(safe.interval[:, 0])
        assert (safe.hidden == shown).all()
        assert (safe.interval[shown, 0] <= safe.value[shown]).all()
        assert (safe.interval[shown, 1] >= safe.value[shown]).all()
        assert safe.history[-1].claims[0].holds(safe)


def test_rounded_ends_are_not_the_value():
    safe = SuppressPartial().apply(investment())
    shown = ~np.isnan(safe.interval[:, 0])
    low, high = safe.interval[shown].T
    assert ((low < safe.value[shown]) | (low == 0)).all()
    assert (high > safe.value[shown]).all()


def test_the_claim_fails_when_an_interval_is_narrowed():
    safe = SuppressPartial(rounded=False).apply(investment())
    interval = safe.interval.copy()
    other = np.flatnonzero(safe.secondary)[0]
    interval[other] = safe.value[other]
    assert not safe.history[-1].claims[0].holds(safe.with_(interval=interval))


def test_intervals_keep_within_what_outsiders_know():
    table = investment()
    every = np.arange(len(table))
    table = table.with_bounds(every, table.value * 0.5, table.value * 1.5)
    safe = SuppressPartial().apply(table)
    shown = ~np.isnan(safe.interval[:, 0])
    assert (safe.interval[shown, 0] >= table.lower[shown]).all()
    assert (safe.interval[shown, 1] <= table.upper[shown]).all()


def test_impossible_needs_name_the_cell():
    table = firms()
    row = [table.index(("S1", s)) for s in ("small", "Total")]
    with pytest.raises(Infeasible, match="S1 x large"):
        SuppressPartial().apply(table.freeze(np.array(row)))


def test_time_limit_gives_safe_intervals():
    with pytest.warns(Approximate, match="safe"):
        safe = SuppressPartial(time_limit=1e-9).apply(larger())
    details = safe.history[-1].details
    assert not details["proven"]
    assert 0 < details["gap"] < 1
    assert details["bound"] <= details["loss"]


def test_nothing_unsafe_publishes_everything():
    safe = SuppressPartial().apply(firms(judged=False))
    assert not safe.hidden.any()
    assert np.isnan(safe.interval).all()
