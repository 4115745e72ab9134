"""Random tables for the attacker: trees, several groupings, linked tables, bounds, odd scales."""

import numpy as np
from scipy.optimize import linprog

import tacit
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.linked import link
from tacit.data.cells.relations import roll_up


def random_dimension(rng, name):
    codes = [f"{name}{i}" for i in range(int(rng.integers(2, 5)))]
    shape = rng.integers(3)
    if shape == 0:
        return Dimension.flat(name, codes)
    cut = int(rng.integers(1, len(codes)))
    sums = [("Total", ["g1", "g2"]), ("g1", codes[:cut]), ("g2", codes[cut:])]
    if shape == 2 and len(codes) > 2:
        sums += [("Total", ["h1", "h2"]), ("h1", codes[::2]), ("h2", codes[1::2])]
    return Dimension.from_relations(name, sums)


def random_table(seed):
    """A table with a random pattern, some of it unsafe, with levels of all kinds."""
    rng = np.random.default_rng(seed)
    names = "abc" if rng.random() < 0.3 else "ab"
    dimensions = [random_dimension(rng, n) for n in names]
    shape = [len(d.leaves) for d in dimensions]
    base = rng.integers(0, 20, shape) * (1e-3 * rng.random() if rng.random() < 0.2 else 1.0)
    values = roll_up(base.astype(float), dimensions).ravel()
    count = roll_up(rng.integers(1, 3, shape).astype(float), dimensions).ravel().astype(int)
    known = {"lower": 0.5 * values, "upper": 1.5 * values} if rng.random() < 0.3 else {}
    table = tacit.Table.from_cells(dimensions, values, count=count, **known)
    if rng.random() < 0.3:
        table = without_a_corner(table)
    return with_pattern(table, rng)


def without_a_corner(table):
    """The same as two linked tables: without the inner cells, or without the rest of one margin."""
    d = table.dimensions
    inner = table.to_array(table.value)
    row = tacit.Table.from_cells(d[:1], inner[(slice(None), *(x.total for x in d[1:]))])
    return link(row, table.with_(lower=np.zeros(len(table)), upper=np.full(len(table), np.inf)))


def with_pattern(table, rng):
    hidden = (rng.random(len(table)) < rng.uniform(0.2, 0.9)) & ~table.empty
    unsafe = np.flatnonzero(hidden & (rng.random(len(table)) < 0.5))
    value = table.value[unsafe]
    table = table.with_protection(
        unsafe,
        lower=0.1 * rng.integers(0, 4) * value,
        upper=np.minimum(0.1 * rng.integers(0, 5) * value, table.upper[unsafe] - value),
        sliding=0.2 * rng.integers(0, 2) * value,
    )
    hidden[unsafe] = False
    return table.with_hidden(np.flatnonzero(hidden))


def by_hand(problem, hidden, cell, sense, known=()):
    """How far a cell moves, by an unreduced program of its own."""
    cells = np.flatnonzero(hidden)
    bounds = [(0, 0) if c in known else (-problem.down[c], problem.up[c]) for c in cells.tolist()]
    cost = np.where(cells == cell, -float(sense), 0.0)
    rows = problem.equations[:, cells]
    found = linprog(cost, A_eq=rows, b_eq=np.zeros(rows.shape[0]), bounds=bounds, method="highs")
    if found.status == 3:
        return np.inf
    assert found.status == 0
    return max(0.0, -found.fun)
