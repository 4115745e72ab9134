"""Sliding levels are treated exactly: what the attacker finds wide enough is not hidden any further."""

import itertools

import numpy as np
import pytest

import tacit
from claims.plain import plainly_short


def cheapest(table):
    """The price of the cheapest safe pattern, by trying all of them."""
    down, up = table.value - table.lower, table.upper - table.value
    open_cells = np.flatnonzero(~table.primary & (table.value > 0)).tolist()
    best = np.inf
    for size in range(len(open_cells) + 1):
        for some in itertools.combinations(open_cells, size):
            price = table.value[list(some)].sum()
            if price < best:
                hidden = table.primary.copy()
                hidden[list(some)] = True
                if not plainly_short(table, hidden, down, up):
                    best = price
    return best


def test_a_proven_pattern_is_not_made_dearer():
    table = tacit.Table.from_array([[9, 6, 7], [7, 8, 1], [6, 2, 5]], totals=False)
    table = table.with_protection([(1, 2), (2, 1)], sliding=6)
    found = tacit.SuppressExact().apply(table).history[-1].details
    assert found["price"] == 13
    assert found["repaired"] == 0
    assert found["proven"]
    assert found["gap"] == 0


@pytest.mark.parametrize("seed", range(12))
def test_exact_suppression_is_cheapest_with_sliding_levels(seed):
    rng = np.random.default_rng(seed)
    table = tacit.Table.from_array(rng.integers(1, 9, (2, 3)), totals=False)
    unsafe = rng.choice(6, 2, replace=False)
    cells = [(int(c) // 3, int(c) % 3) for c in unsafe]
    table = table.with_protection(cells, sliding=float(rng.integers(2, 7)))
    try:
        safe = tacit.SuppressExact(singletons=False).apply(table)
    except tacit.errors.Infeasible:
        assert cheapest(table) == np.inf
        return
    found = safe.history[-1].details
    assert found["proven"]
    assert found["price"] == pytest.approx(cheapest(table))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("method", ["SuppressLinear", "SuppressModular", "SuppressExact"])
def test_every_engine_is_safe_with_sliding_levels(method, seed):
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(2, 5)), int(rng.integers(2, 5)))
    table = tacit.Table.from_array(rng.integers(0, 20, shape), totals=False)
    unsafe = np.flatnonzero((rng.random(len(table)) < 0.2) & ~table.empty)
    table = table.with_protection(unsafe, sliding=float(rng.integers(1, 9)))
    try:
        safe = getattr(tacit, method)(singletons=False).apply(table)
    except tacit.errors.Infeasible:
        return
    down, up = table.value - table.lower, table.upper - table.value
    assert plainly_short(safe, safe.hidden, down, up) == []
