"""The attacker behind the checks, against one plain program for each cell and side."""

import numpy as np
import pytest
from scipy import sparse

import tacit
from claims.plain import deduced_by_respondents, plain_range, plainly_short
from tables.random_tables import random_table
from tacit.claims import Claim
from tacit.claims.attack import movements
from tacit.claims.attack.respondents import kernel_vectors


def claim(*, singletons=False, model="protected-intervals", **more):
    return Claim(model, {"singletons": singletons, **more}, "all unsafe cells", ("a",))


@pytest.mark.parametrize("seed", range(120))
def test_outsiders_are_found_as_by_plain_programs(seed):
    table = random_table(seed)
    down, up = table.value - table.lower, table.upper - table.value
    expected = not plainly_short(table, table.hidden, down, up)
    assert claim().holds(table) == expected


@pytest.mark.parametrize("seed", range(60))
def test_respondents_are_found_as_by_plain_programs(seed):
    table = random_table(seed)
    if not claim().holds(table):
        return
    assert claim(singletons=True).holds(table) == (not deduced_by_respondents(table))


@pytest.mark.parametrize("seed", range(60))
def test_deducible_cells_are_found_as_by_rank(seed):
    table = random_table(seed)
    cells = np.flatnonzero(table.hidden)
    m = table.equations[:, cells].toarray()
    rank = np.linalg.matrix_rank(m)
    unsafe = np.flatnonzero(table.primary[cells])
    free = all(np.linalg.matrix_rank(np.delete(m, c, axis=1)) == rank for c in unsafe.tolist())
    assert claim(model="not-deducible").holds(table) == free


def test_a_worked_example():
    table = tacit.Table.from_array(np.full((3, 3), 10.0), totals=False)
    table = table.with_protection([(0, 0)], lower=4, upper=4)
    assert claim().holds(table.with_hidden([(0, 1), (1, 0), (1, 1)]))
    assert not claim().holds(table.with_hidden([(0, 1), (1, 0)]))
    assert not claim().holds(table)
    # Ten below zero is impossible: the cells beside it cannot fall further than to 0.
    far = table.with_protection([(0, 0)], lower=4, upper=11)
    assert not claim().holds(far.with_hidden([(0, 1), (1, 0), (1, 1)]))


def test_what_a_solver_says_is_put_into_the_relations(monkeypatch):
    table = tacit.Table.from_array(np.full((3, 3), 10.0), totals=False)
    table = table.with_protection([(0, 0)], lower=4, upper=4)
    safe = table.with_hidden([(0, 1), (1, 0), (1, 1)])
    assert claim().holds(safe)
    monkeypatch.setattr(movements.Part, "push", lambda self, *_: np.full(self.n, 100.0))
    assert not claim().holds(safe)


def test_small_needs_among_huge_values_are_not_faked():
    values = np.array([[1.0, 2e9, 3e9], [4e9, 5e9, 6e9], [7e9, 8e9, 9e9]])
    table = tacit.Table.from_array(values, totals=False)
    table = table.with_protection([(0, 0)], lower=0.1, upper=0.1)
    hide = [(0, 1), (1, 1), (1, 2), (2, 1), (2, 2)]
    assert not claim().holds(table.with_hidden(hide))
    assert claim().holds(table.with_hidden([*hide, (1, 0)]))


def test_sliding_levels_count_both_sides_together():
    table = tacit.Table.from_array([[9.0, 6, 7], [7, 8, 1], [6, 2, 5]], totals=False)
    table = table.with_protection([(1, 2), (2, 1)], sliding=6)
    safe = table.with_hidden([(1, 1), (2, 2)])
    down, up = (plain_range(safe, safe.hidden, 6, s) for s in (-1, 1))
    assert down + up >= 6
    assert claim().holds(safe)


def test_kernel_vectors_obey_the_relations():
    rng = np.random.default_rng(1)
    m = sparse.csr_array(rng.integers(-1, 2, (6, 15)).astype(float))
    d = kernel_vectors(m)
    assert np.abs(m @ d).max() < 1e-9
    assert np.linalg.matrix_rank(d) == d.shape[1]


@pytest.mark.parametrize("seed", range(20))
def test_subtables_are_judged_one_by_one(seed):
    rng = np.random.default_rng(seed)
    table = tacit.Table.from_array(rng.integers(1, 9, (3, 4)), totals=False)
    hidden = np.flatnonzero(rng.random(len(table)) < 0.6)
    table = table.with_protection(hidden[:2], lower=1, upper=1).with_hidden(hidden[2:])
    # A table without subtotals is its own only subtable.
    whole = claim(model="protected-in-table", intervals=True)
    parts = claim(model="protected-in-subtables", intervals=True)
    assert whole.holds(table) == parts.holds(table) == claim().holds(table)
