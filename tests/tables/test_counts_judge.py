"""Hidden counts against somebody who knows that they are whole numbers of at least 1, judged by integer programs.

The judge shares no code with the product: it builds the relations of a table from its codes, knows what is published
and that zeros are, and asks scipy's integer programs for the least and the most of every unsafe cell.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

import tacit
from tacit import examples
from tacit.claims import Claim
from tacit.claims.gate import table_gate
from tacit.data.cells.status import Status
from tacit.errors import Infeasible, SdcWarning

PATTERNS = [
    tacit.SuppressGauss(),
    tacit.SuppressLinear(),
    tacit.SuppressModular(),
    tacit.SuppressHypercube(),
    tacit.SuppressHypercube(audit="subtable", singletons=False),
    tacit.SuppressNetwork(),
    tacit.SuppressExact(time_limit=10.0),
]
EXACT_ONLY = [tacit.SuppressGauss(intervals=False), tacit.SuppressHypercube(variant="exact")]
INTERVALS = [tacit.SuppressPartial()]


def add_totals(values):
    """Return an array with totals last on every axis, and sums as rows of a matrix."""
    full = np.asarray(values, dtype=float)
    for axis in range(full.ndim):
        full = np.concatenate([full, full.sum(axis=axis, keepdims=True)], axis=axis)
    number = np.arange(full.size).reshape(full.shape)
    rows = []
    for axis in range(full.ndim):
        for line in np.moveaxis(number, axis, -1).reshape(-1, full.shape[axis]):
            row = np.zeros(full.size)
            row[line[:-1]], row[line[-1]] = 1.0, -1.0
            rows.append(row)
    return full, np.array(rows)


def find_ends(values, hidden, interval=None, least=1):
    """Return the least and the most of every hidden cell, for whoever knows that they are whole numbers."""
    full, rows = add_totals(values)
    truth = full.ravel()
    low = np.where(hidden, float(least), truth)
    high = np.where(hidden, 10.0 * truth.max() + 10, truth)
    if interval is not None:
        has = ~np.isnan(interval[:, 0])
        low = np.where(has, np.maximum(low, np.ceil(interval[:, 0])), low)
        high = np.where(has, np.minimum(high, np.floor(interval[:, 1])), high)
    ends = {}
    for cell in np.flatnonzero(hidden).tolist():
        pair = []
        for sign in (1.0, -1.0):
            cost = np.zeros(len(truth))
            cost[cell] = sign
            found = milp(
                cost,
                constraints=LinearConstraint(rows, 0.0, 0.0),
                bounds=Bounds(low, high),
                integrality=np.ones(len(truth)),
            )
            pair.append(round(sign * found.fun))
        ends[cell] = tuple(pair)
    return ends


def draw(seed, shape):
    rng = np.random.default_rng([22, seed])
    return rng.choice([0, 0, 1, 1, 1, 2, 3, 4, 7, 15], shape)


def protect(method, values, rule):
    """Return the protected table, or None where the method says that none is."""
    table = rule.apply(tacit.Table.from_array(values, totals=False, frequency=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SdcWarning)
        try:
            return method.apply(table)
        except Infeasible:
            return None


def find_faults(method, values, rule):
    """Return the unsafe cells that follow exactly, or more closely than the levels allow; None: refused."""
    done = protect(method, values, rule)
    if done is None:
        return None
    # Without a 0 in the table, no hidden cell is one.
    least = 0 if rule.zeros and not np.all(values) else 1
    ends = find_ends(values, done.hidden, done.interval, least)
    # A total is at least the number of its cells that are not empty: nothing can be asked below.
    filled = add_totals(np.asarray(values) > 0)[0].ravel()
    faults = []
    for cell in np.flatnonzero(done.primary).tolist():
        low, high = ends[cell]
        value = int(done.value[cell])
        level = max(1.0, rule.range / 100 * value)
        bottom = max(value - level, filled[cell] if least else 0)
        if low == high or (method not in EXACT_ONLY and (high < value + level or low > bottom)):
            faults.append(cell)
    assert table_gate(done) == []
    return faults


def methods_for(shape):
    every = [*PATTERNS, *EXACT_ONLY, *INTERVALS]
    return every if len(shape) == 2 else [m for m in every if m.kind != "suppress_network"]


# -- the example of the smallest table ------------------------------------------------------------

SMALLEST = [[1, 1, 25], [1, 2, 42]]


@pytest.mark.parametrize("method", methods_for((2, 3)), ids=lambda m: m.kind)
def test_three_hidden_ones_do_not_follow_from_their_sum(method):
    assert find_faults(method, SMALLEST, tacit.MinimumFrequency(n=2)) == []


def test_the_pattern_that_gives_the_ones_away_is_called_exposed_and_refused():
    table = tacit.MinimumFrequency(n=2).apply(
        tacit.Table.from_array(SMALLEST, totals=False, frequency=True)
    )
    # The four cells of two columns and their totals at the side: 1 + 1 + 1 is 3.
    told = table.with_hidden([table.index(("2", "2"))])
    assert find_ends(SMALLEST, told.hidden)[table.index(("1", "1"))] == (1, 1)
    audit = tacit.Audit().measure(told)
    assert audit.numbers["worked out exactly"] == 4
    assert audit.value == 1.0
    assert "at least 1" in audit.explanation
    assert any("follow from the rest" in line for line in table_gate(told))


def test_hidden_zeros_are_no_knowledge_where_the_rule_lets_zeros_be_hidden():
    values = [[1, 0, 25], [0, 1, 42], [3, 5, 9]]
    shown = tacit.SuppressExact().apply(
        tacit.MinimumFrequency(n=2).apply(
            tacit.Table.from_array(values, totals=False, frequency=True)
        )
    )
    hidden = tacit.SuppressExact().apply(
        tacit.MinimumFrequency(n=2, zeros=True).apply(
            tacit.Table.from_array(values, totals=False, frequency=True)
        )
    )
    assert (shown.value[shown.hidden] > 0).all()
    assert (hidden.value[hidden.hidden] == 0).any()
    assert "at least 1" in shown.history[-1].claims[-1].assumptions[0]
    assert "may be 0" in hidden.history[-1].claims[-1].assumptions[0]
    assert hidden.history[-1].details["price"] < shown.history[-1].details["price"]


def test_a_movement_of_halves_is_none_of_counts():
    """x + y = 2 z with x = 3 published and y in 1 .. 2: a linear program lets y be 2 and z 2.5."""
    relations = sparse.csr_array(np.array([[1.0, 1.0, -2.0]]))
    table = tacit.Table.from_cells(
        (), [3, 1, 2], count=[3, 1, 2], equations=relations, frequency=True, upper=[9, 2, 9]
    ).with_protection([1], upper=1.0, status=Status.UNSAFE_FREQUENCY)
    told = table.with_hidden([2])
    assert not Claim("protected-intervals", {"singletons": False}, "", ()).holds(told)
    audit = tacit.Audit(singletons=False).measure(told)
    assert (audit.exposed, audit.exact) == ((("1",),), (("1",), ("2",)))
    for method in (tacit.SuppressLinear(singletons=False), tacit.SuppressGauss(singletons=False)):
        # Hiding x as well lets y rise with it.
        assert method.apply(table).hidden.all(), method.kind


def test_outsiders_may_be_kept_from_being_sure_that_a_count_is_small():
    values = [[1, 4, 9], [5, 6, 12], [2, 8, 30]]
    for sure in (False, True):
        rule = tacit.MinimumFrequency(n=4, could_be_safe=sure)
        done = protect(tacit.SuppressExact(), values, rule)
        ends = find_ends(values, done.hidden)
        small = sum(ends[c][1] < 4 for c in np.flatnonzero(done.primary).tolist())
        assert tacit.Audit().measure(done).numbers["known to be below n"] == small
        assert not (sure and small)


@pytest.mark.parametrize(("shape", "seed"), [((2, 3), 1), ((3, 3), 2), ((2, 2, 2), 3)])
def test_no_count_follows_from_any_method(shape, seed):
    values = draw(seed, shape)
    for method in methods_for(shape):
        assert not find_faults(method, values, tacit.MinimumFrequency(n=2 + seed % 2)), method.kind


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_no_count_follows_from_any_method_in_many_tables(seed):
    rng = np.random.default_rng([23, seed])
    shape = [(2, 3), (3, 3), (3, 4), (2, 2, 2), (2, 2, 3), (2, 3, 3)][seed % 6]
    values = draw(100 + seed, shape)
    rule = tacit.MinimumFrequency(
        n=int(rng.integers(2, 6)),
        range=float(rng.choice([0, 30, 60])),
        singletons=str(rng.choice(["none", "guard"])),
        zeros=bool(rng.random() < 0.25),
    )
    for method in methods_for(shape):
        assert not find_faults(method, values, rule), (method.kind, rule)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize(
    "method",
    [tacit.SuppressGauss(), tacit.SuppressHypercube(), tacit.SuppressModular()],
    ids=lambda m: m.kind,
)
def test_no_count_of_the_firms_follows(method, n):
    counts = tacit.Table.from_microdata(examples.firms(), dimensions=examples.firm_dimensions())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SdcWarning)
        done = method.apply(tacit.MinimumFrequency(n=n).apply(counts))
    cells = np.flatnonzero(done.hidden)
    rows = sparse.csr_array(done.equations)[:, cells]
    right = -(done.equations @ np.where(done.hidden, 0.0, done.value))
    for cell in np.flatnonzero(done.primary[cells]).tolist():
        value = done.value[cells[cell]]
        least, most = np.ones(len(cells)), np.full(len(cells), 1e5)
        # Another value is possible: one more, for whoever knows whole numbers of at least 1.
        least[cell] = value + 1
        found = milp(
            np.zeros(len(cells)),
            constraints=LinearConstraint(rows, right, right),
            bounds=Bounds(least, most),
            integrality=np.ones(len(cells)),
        )
        assert found.status == 0, done.describe_cell(int(cells[cell]))


def test_a_count_that_moves_by_three_or_not_at_all_is_not_deducible():
    """x = 3 y: with y between 1 and 9 the count x can be 3, 6, ... and never one more than it is."""
    relations = sparse.csr_array(np.array([[1.0, -3.0]]))
    table = tacit.Table.from_cells(
        (), [3, 1], count=[3, 1], equations=relations, frequency=True, upper=[27, 9]
    ).with_protection([0], upper=1.0, status=Status.UNSAFE_FREQUENCY)
    told = table.with_hidden([1])
    for model in ("protected-intervals", "not-deducible"):
        assert Claim(model, {"singletons": False}, "", ()).holds(told)
    audit = tacit.Audit(singletons=False).measure(told)
    assert (audit.exposed, audit.exact) == ((), ())
    for options in ({}, {"intervals": False}):
        done = tacit.SuppressGauss(singletons=False, **options).apply(table)
        assert done.hidden.all()
    assert tacit.SuppressLinear(singletons=False).apply(table).hidden.all()
    tight = table.with_(upper=np.array([5.0, 9.0])).with_hidden([1])
    assert not Claim("protected-intervals", {"singletons": False}, "", ()).holds(tight)
