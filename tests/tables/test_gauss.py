"""Suppression by Gaussian elimination against the literal greedy in fractions."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import tacit
from tacit.context import Context
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.linked import link
from tacit.data.cells.relations import roll_up
from tacit.errors import Infeasible
from tacit.tables.suppress import propose_gauss as _gauss
from tacit.tables.suppress.problem import problem_of


def tree(name, leaves, rng):
    """A total over groups of random sizes."""
    lines, group = [], 0
    while leaves:
        size = int(min(leaves, rng.integers(1, 4)))
        lines.append((0, f"{name}{group}"))
        if size > 1:
            lines += [(1, f"{name}{group}{i}") for i in range(size)]
        leaves, group = leaves - size, group + 1
    return Dimension.from_tree(name, lines)


def groupings(name):
    """Four codes grouped in two ways."""
    return Dimension.from_relations(
        name,
        [
            ("Total", ["n", "s"]),
            ("n", ["1", "2"]),
            ("s", ["3", "4"]),
            ("Total", ["e", "w"]),
            ("e", ["1", "3"]),
            ("w", ["2", "4"]),
        ],
    )


def random_table(seed, *, shape=None):
    """A judged table: unsafe ground cells, some of one respondent; some cells empty."""
    rng = np.random.default_rng(seed)
    sizes = shape or [(4, 4), (5, 3), (3, 3, 2), (6, 2)][int(rng.integers(4))]
    dimensions = [tree("abc"[i], n, rng) for i, n in enumerate(sizes)]
    if shape is None and rng.random() < 0.3:
        dimensions[0] = groupings("a")
    ground = [len(d.leaves) for d in dimensions]
    count = rng.integers(0, 6, ground)
    value = count * rng.integers(1, 40, ground)
    table = tacit.Table.from_cells(
        dimensions,
        roll_up(value.astype(float), dimensions),
        count=roll_up(count.astype(float), dimensions).ravel().astype(int),
    )
    unsafe = (table.count > 0) & (table.count < 3) & table.ground
    level = 0.2 * table.value[unsafe]
    return table.with_protection(unsafe, lower=level, upper=level)


def vectors(table):
    """Every cell as a vector of fractions over the ground cells."""
    closure = None
    for d in table.dimensions:
        closure = d.closure if closure is None else sparse.kron(closure, d.closure)
    return [[Fraction(int(x)) for x in row] for row in closure.toarray()]


class Span:
    """The span of vectors, in echelon form."""

    def __init__(self, rows=()):
        self.rows = list(rows)

    def rest(self, vector):
        for pivot, row in self.rows:
            if vector[pivot]:
                factor = vector[pivot]
                vector = [x - factor * y for x, y in zip(vector, row, strict=True)]
        return vector

    def __contains__(self, vector):
        return not any(self.rest(vector))

    def plus(self, vector):
        rest = self.rest(vector)
        pivot = next((i for i, x in enumerate(rest) if x), None)
        if pivot is None:
            return self
        return Span([*self.rows, (pivot, [x / rest[pivot] for x in rest])])


def literal(problem):
    """The greedy as it is defined, with spans of fractions."""
    v = vectors(problem.table)
    order = _gauss.candidate_order(problem)[::-1].tolist()
    span, hidden = Span(), problem.start.copy()
    for c in order:
        if not problem.start[c] and not problem.suppressible[c]:
            span = span.plus(v[c])
    unsafe = [q for q in np.flatnonzero(problem.primary) if v[q] not in span]
    pairs = [(k, t) for k, t in problem.pairs.tolist() if v[t] not in span.plus(v[k])]
    for c in order:
        if problem.suppressible[c]:
            more = span.plus(v[c])
            told = any(v[q] in more for q in unsafe)
            if told or any(v[t] in more.plus(v[k]) for k, t in pairs):
                hidden[c] = True
            else:
                span = more
    return hidden


def deducible_in_fractions(table):
    """Unsafe cells in the span of the published ones."""
    v = vectors(table)
    span = Span()
    for c in np.flatnonzero(~table.hidden):
        span = span.plus(v[c])
    return [c for c in np.flatnonzero(table.primary) if v[c] in span]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_the_choice_is_the_literal_greedy(seed, singletons):
    problem = problem_of(random_table(seed), singletons=singletons)
    choice = _gauss.choose_hidden_cells(problem, Context.start(1))
    assert choice.hidden.tolist() == literal(problem).tolist()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_nothing_unsafe_is_in_the_span_and_no_hidden_cell_could_go_out(seed):
    table = random_table(seed)
    try:
        safe = tacit.SuppressGauss(intervals=False, singletons=False).apply(table)
    except Infeasible:
        assert deducible_in_fractions(table.with_hidden(np.flatnonzero(~table.fixed)))
        return
    assert deducible_in_fractions(safe) == []
    for cell in np.flatnonzero(safe.secondary):
        hidden = np.flatnonzero(safe.secondary & (np.arange(len(safe)) != cell))
        assert deducible_in_fractions(safe.with_hidden(hidden))


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000))
def test_intervals_are_proven_on_the_full_table(seed):
    table = random_table(seed)
    try:
        safe = tacit.SuppressGauss().apply(table)
    except Infeasible:
        return
    assert safe.history[-1].claims[0].model == "protected-intervals"
    details = safe.history[-1].details
    if not table.primary.any():
        return
    quick = tacit.SuppressGauss(clean_work=0).apply(table).history[-1].details
    assert quick["proposed_price"] == details["proposed_price"] <= quick["price"] + 1e-9
    assert details["price"] <= quick["price"] + 1e-9


def linked():
    rng = np.random.default_rng(4)
    array = rng.integers(1, 30, (3, 4, 3)).astype(float)
    names = ("a", "b", "c")
    tables = []
    for i, j in itertools.combinations(range(3), 2):
        axis = ({0, 1, 2} - {i, j}).pop()
        dims = [
            Dimension.flat(names[k], [f"{names[k]}{x}" for x in range(array.shape[k])])
            for k in (i, j)
        ]
        values = roll_up(array.sum(axis=axis), dims)
        tables.append(tacit.Table.from_cells(dims, values, count=np.full(values.size, 9)))
    joined = link(*tables)
    unsafe = np.flatnonzero(joined.ground)[[0, 7, 12, 20]]
    level = 0.3 * joined.value[unsafe]
    return joined.with_protection(unsafe, lower=level, upper=level)


@pytest.mark.parametrize("intervals", [True, False])
def test_linked_tables_and_bare_equations(intervals):
    joined = linked()
    bare = tacit.Table.from_cells(
        (),
        joined.value,
        count=joined.count,
        status=joined.status,
        equations=joined.equations,
        lower_level=joined.lower_level,
        upper_level=joined.upper_level,
    )
    spec = tacit.SuppressGauss(intervals=intervals)
    first, second = spec.apply(joined), spec.apply(bare)
    assert first.secondary.any()
    assert first.hidden.tolist() == second.hidden.tolist()


def test_a_two_way_table_needs_the_cheapest_cycle():
    values = [[10, 20, 90], [30, 5, 80], [70, 60, 50]]
    table = tacit.Table.from_array(values, totals=False).with_protection([(0, 0)], lower=1, upper=1)
    safe = tacit.SuppressGauss(intervals=False).apply(table)
    assert {safe.codes(c) for c in np.flatnonzero(safe.secondary)} == {
        ("1", "2"),
        ("2", "1"),
        ("2", "2"),
    }
    assert [c.model for c in safe.history[-1].claims] == ["not-deducible"]


def test_the_claim_fails_on_a_pattern_that_tells_all():
    table = tacit.Table.from_array([[10, 20], [30, 5]], totals=False)
    table = table.with_protection([(0, 0)], lower=1, upper=1)
    claim = tacit.SuppressGauss(intervals=False).apply(table).history[-1].claims[0]
    assert not claim.holds(table.with_hidden([(0, 1)]))
    assert not claim.holds(table)


def test_singletons_of_two_respondents_need_a_third():
    values = [[10.0, 20.0, 90.0], [30.0, 50.0, 80.0]]
    table = tacit.Table.from_array(values, totals=False, count=[[1, 1, 9], [9, 9, 9]])
    table = table.with_protection([(0, 0), (0, 1)], lower=1, upper=1)
    for intervals in (True, False):
        alone = tacit.SuppressGauss(intervals=intervals, singletons=False).apply(table)
        both = tacit.SuppressGauss(intervals=intervals).apply(table)
        row = [table.index(("1", c)) for c in ("1", "2", "3", "Total")]
        assert alone.hidden[row].sum() == 2
        assert both.hidden[row].sum() == 3


def test_a_safe_cell_of_one_respondent_can_be_the_known_one():
    """Its respondent learns no unsafe cell that the elimination does not report as lost or tied."""
    for seed in range(6):
        problem = problem_of(random_table(seed), singletons=False)
        unsafe = np.flatnonzero(problem.primary)
        others = np.flatnonzero(problem.suppressible)
        rng = np.random.default_rng(seed)
        pairs = np.unique([[rng.choice(others), rng.choice(unsafe)] for _ in range(6)], axis=0)
        wide = replace(problem, pairs=pairs)
        choice = _gauss.choose_hidden_cells(wide, Context.start(1))
        v, span = vectors(problem.table), Span()
        for c in np.flatnonzero(~choice.hidden):
            span = span.plus(v[c])
        for known, target in pairs.tolist():
            told = target in choice.lost or target in choice.tied
            assert told or v[target] not in span.plus(v[known])


def test_a_cell_that_a_safe_cell_ties_is_saved_by_hiding_more():
    """With 59 and 28 published, the one respondent of 15 learns 16; hiding 59 or 28 as well is enough."""
    sector = Dimension.flat("sector", ["a", "b", "c"])
    for frozen in ([], [0], [2]):
        table = tacit.Table.from_cells((sector,), [59, 15, 28, 16], count=[3, 1, 3, 1])
        table = table.with_protection([3], lower=1.6, upper=1.6).freeze(frozen)
        safe = tacit.SuppressGauss(intervals=False).apply(table)
        assert safe.hidden[3]
        assert safe.hidden[[0, 2]].any()
        assert safe.history[-1].claims[-1].holds(safe)
        assert not safe.history[-1].claims[-1].holds(table.with_hidden([1]))
    with pytest.raises(Infeasible):
        tacit.SuppressGauss(intervals=False).apply(table.freeze([0, 2]).with_hidden([1]))


def test_cells_that_follow_whatever_is_hidden_are_named():
    table = tacit.Table.from_array([[10, 0], [30, 5]], totals=False, count=[[2, 0], [9, 9]])
    table = table.with_protection([(0, 0)], lower=1, upper=1).freeze([("1", "Total")])
    with pytest.raises(Infeasible, match="1 x 1"):
        tacit.SuppressGauss(intervals=False).apply(table)
    with pytest.raises(Infeasible):
        tacit.SuppressGauss().apply(table)


def test_cells_hidden_by_hand_stay_hidden_and_are_used():
    values = [[10, 20, 90], [30, 5, 80], [70, 60, 50]]
    table = tacit.Table.from_array(values, totals=False).with_protection([(0, 0)], lower=1, upper=1)
    table = table.with_hidden([(2, 2), (0, 2), (2, 0)])
    safe = tacit.SuppressGauss().apply(table)
    assert safe.history[-1].details["price"] == 0
    assert safe.hidden[table.hidden].all()


def test_fractions_of_whole_numbers_in_the_field():
    """A matrix whose inverse has halves: the three pairwise sums tell each part."""
    m = sparse.csr_array(
        np.array(
            [
                [1.0, 1.0, 0.0, -1.0, 0.0, 0.0],
                [1.0, 0.0, 1.0, 0.0, -1.0, 0.0],
                [0.0, 1.0, 1.0, 0.0, 0.0, -1.0],
            ]
        )
    )
    table = tacit.Table.from_cells((), [1.0, 2.0, 3.0, 3.0, 4.0, 5.0], equations=m)
    table = table.with_protection([0], lower=0.5, upper=0.5)
    safe = tacit.SuppressGauss(intervals=False).apply(table)
    assert safe.hidden[[3, 4, 5]].any() or safe.secondary.sum() >= 2
    claim = safe.history[-1].claims[0]
    assert not claim.holds(table.with_hidden([1, 2]))


def test_cleaning_up_does_not_look_at_the_clock(monkeypatch):
    rng = np.random.default_rng(3)
    table = tacit.Table.from_array(rng.integers(1, 90, (6, 7)), totals=False)
    table = table.with_protection([(1, 1), (2, 3), (4, 5)], lower=15, upper=15)
    first = tacit.SuppressGauss().apply(table)
    ticks = iter(range(0, 10**9, 1000))
    monkeypatch.setattr("time.monotonic", lambda: float(next(ticks)))
    assert (tacit.SuppressGauss().apply(table).hidden == first.hidden).all()
