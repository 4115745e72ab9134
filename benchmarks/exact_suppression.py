"""Exact suppression: sizes solved, gaps left and CPU seconds, by table and solver.

python benchmarks/exact_suppression.py [seconds a table] [names of tables ...]
"""

import sys
import time

import numpy as np

from tacit.data.cells import relations
from tacit.data.cells.dimension import Dimension
from tacit.data.table import Table
from tacit.solve.scip import has_scip
from tacit.tables.suppress.problem import problem_of
from tacit.tables.suppress.propose_exact import solve_exact


def unsafe(table, primaries, rng):
    """Random inner cells with levels of 10 to 20 per cent of their value."""
    at = np.sort(rng.choice(np.flatnonzero(table.ground), primaries, replace=False))
    level = np.maximum(1, np.round(table.value[at] * rng.uniform(0.1, 0.2, primaries)))
    return table.with_protection(at, lower=level, upper=level)


def flat(shape, primaries, seed=0, *, skewed=False):
    """A table of uniform (or lognormal) values; the shape counts totals."""
    rng = np.random.default_rng(seed)
    inner = tuple(s - 1 for s in shape)
    skew = np.round(rng.lognormal(3, 1.2, inner) + 1)
    values = skew if skewed else rng.integers(1, 500, inner)
    return unsafe(Table.from_array(values, totals=False), primaries, rng)


def hierarchical(groups, size, primaries, seed=0):
    """A two-way table with groups of ground codes on both sides, lognormal values."""
    rng = np.random.default_rng(seed)
    dimensions = []
    for name in "ab":
        lines = []
        for g in range(groups):
            lines.append((0, f"{name}{g}"))
            lines += [(1, f"{name}{g}.{i}") for i in range(size)]
        dimensions.append(Dimension.from_tree(name, lines))
    ground = np.round(rng.lognormal(3, 1.2, (groups * size,) * 2) + 1)
    table = Table.from_cells(dimensions, relations.roll_up(ground, dimensions))
    return unsafe(table, primaries, rng)


TABLES = {
    "15x15, 10 unsafe": lambda: flat((15, 15), 10),
    "30x30, 30 unsafe": lambda: flat((30, 30), 30),
    "50x50, 50 unsafe": lambda: flat((50, 50), 50),
    "50x50 skewed, 50 unsafe": lambda: flat((50, 50), 50, skewed=True),
    "55x55 hierarchical, 60 unsafe": lambda: hierarchical(6, 8, 60),
    "7x7x7, 10 unsafe": lambda: flat((7, 7, 7), 10),
    "10x17x17, 30 unsafe": lambda: flat((10, 17, 17), 30),
}


def main(seconds, names):
    solvers = ["highs", *(["scip"] if has_scip() else [])]
    print(
        f"{'table':32} {'solver':7} {'price':>9} {'bound':>10} {'gap':>7} {'proven':>7} {'CPU s':>7}"
    )
    for name, make in TABLES.items():
        if names and not any(n in name for n in names):
            continue
        problem = problem_of(make())
        for solver in solvers:
            begun = time.process_time()
            found = solve_exact(problem, time_limit=seconds, engine=solver)
            spent = time.process_time() - begun
            print(
                f"{name:32} {solver:7} {found.price:9,.0f} {found.bound:10,.1f} "
                f"{100 * found.gap:6.1f}% {found.proven!s:>7} {spent:7.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 100.0, sys.argv[2:])
