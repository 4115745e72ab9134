"""Adjusted values keep the decimals of the table, and audits know what is published beside intervals."""

import warnings

import numpy as np
import pytest
from scipy.optimize import linprog

import tacit
from tables.test_counts_judge import add_totals, find_ends
from tacit.claims import Claim
from tacit.claims.gate import table_gate
from tacit.claims.tables.moved_far_enough import moved_far_enough
from tacit.errors import SdcWarning


def with_totals(inner):
    inner = np.vstack([inner, inner.sum(axis=0)])
    return np.hstack([inner, inner.sum(axis=1, keepdims=True)])


def random_table(seed, decimals):
    rng = np.random.default_rng(seed)
    values = with_totals(np.rint(rng.lognormal(4, 1, (3, 4))) + 1) / 10.0**decimals
    table = tacit.Table.from_array(values)
    chosen = [(int(rng.integers(3)), int(rng.integers(4))), (1, 1)]
    return table.with_protection(chosen, lower=0.37 * 10.0**-decimals, upper=2.6 * 10.0**-decimals)


@pytest.mark.parametrize("decimals", [-2, 0, 1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_adjusted_values_have_the_decimals_of_the_table(seed, decimals):
    table = random_table(seed, decimals)
    result = tacit.Adjust().apply(table)
    steps = result.published * 10.0**decimals
    assert np.abs(steps - np.rint(steps)).max() < 1e-6
    assert moved_far_enough(result, Claim("moved-far-enough", {}, "", ()))
    details = result.history[-1].details
    assert details["distance"] == pytest.approx(np.abs(result.published - table.value).sum())
    assert details["bound"] <= details["distance"] * (1 + 1e-9)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e15])
def test_a_cell_that_did_not_move_is_found_at_any_size(size):
    values = size * with_totals(np.array([[3.0, 5.0], [7.0, 11.0]]))
    table = tacit.Table.from_array(values).with_protection([(1, 1)], lower=size, upper=size)
    claim = Claim("moved-far-enough", {}, "", ())
    assert not moved_far_enough(table.with_changed(table.value), claim)
    moved = size * with_totals(np.array([[4.0, 4.0], [6.0, 12.0]]))
    assert moved_far_enough(table.with_changed(moved.ravel()), claim)


def test_a_cell_without_an_interval_is_known_beside_intervals():
    table = tacit.Table.from_array(with_totals(np.array([[20.0, 50.0], [70.0, 90.0]])))
    table = table.with_protection([(1, 1)], lower=5, upper=5)
    interval = np.full((9, 2), np.nan)
    place = {code: i for i, code in enumerate(np.ndindex(3, 3))}
    interval[place[1, 1]] = 80, 100
    shown = table.value.copy()
    shown[place[1, 1]] = 95
    audit = tacit.Audit().measure(table.with_changed(shown).with_(interval=interval))
    assert audit.value == 1.0


def interval_by_programs(table, cell):
    """Return what linear programs leave of a cell, given exact cells and intervals as published."""
    low, high = np.zeros(len(table)), np.full(len(table), np.inf)
    has = ~np.isnan(table.interval[:, 0])
    low[has], high[has] = table.interval[has].T
    low[~has] = high[~has] = table.published[~has]
    cost = np.eye(len(table))[cell]
    ends = [
        linprog(
            sign * cost,
            A_eq=table.equations.toarray(),
            b_eq=np.zeros(table.equations.shape[0]),
            bounds=np.stack([low, high], axis=1),
        )
        for sign in (1, -1)
    ]
    assert all(e.status == 0 for e in ends)
    return ends[0].fun, -ends[1].fun


def test_intervals_around_adjusted_values_protect_by_linear_programs():
    passed = 0
    for seed in range(12):
        table = tacit.Adjust().apply(random_table(seed, 0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SdcWarning)
            result = tacit.PublishIntervals().apply(table, seed=seed)
        claimed = any(
            c.model == "protected-with-intervals" for a in result.history for c in a.claims
        )
        safe = True
        for cell in np.flatnonzero(table.primary):
            low, high = interval_by_programs(result, cell)
            safe &= low <= max(0, table.value[cell] - table.lower_level[cell]) + 1e-6
            safe &= high >= table.value[cell] + table.upper_level[cell] - 1e-6
        assert claimed == safe
        assert bool(table_gate(result)) != safe
        assert (tacit.Audit(singletons=False).measure(result).value == 0) == safe
        passed += safe
    assert passed >= 10


@pytest.mark.parametrize(
    ("shape", "n", "seed"), [((3, 3), 3, 1), ((3, 4), 2, 2), ((2, 2, 3), 3, 3)]
)
def test_intervals_of_counts_protect_by_integer_programs(shape, n, seed):
    """A count with an interval is no 0, so that cells which the adjustment left alone must be open as well."""
    judge_intervals_of_counts(shape, n, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_intervals_of_many_counts_protect_by_integer_programs(seed):
    judge_intervals_of_counts(
        [(3, 3), (3, 4), (2, 2, 3), (2, 3, 3)][seed % 4], 2 + seed % 3, 100 + seed
    )


def judge_intervals_of_counts(shape, n, seed):
    rng = np.random.default_rng([31, seed])
    values = rng.choice([0, 1, 1, 2, 3, 4, 7, 15], shape)
    table = tacit.Table.from_array(values, totals=False, frequency=True)
    table = tacit.MinimumFrequency(n=n, range=float(rng.choice([0, 60]))).apply(table)
    done = tacit.PublishIntervals().apply(table, seed=seed)
    assert table_gate(done) == []
    assert tacit.Audit(singletons=False).measure(done).value == 0
    ends = find_ends(values, ~np.isnan(done.interval[:, 0]), done.interval)
    filled = add_totals(np.asarray(values) > 0)[0].ravel()
    for cell in np.flatnonzero(done.primary).tolist():
        low, high = ends[cell]
        value = done.value[cell]
        assert high >= value + done.upper_level[cell]
        assert low <= max(value - done.lower_level[cell], filled[cell])
