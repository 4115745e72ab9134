"""The audit of large hierarchical tables: needs of unsafe cells, and whole intervals.

Prints processor seconds, the number of programs that were solved, and, on a sample of cells, the
seconds that one program per cell and direction over all hidden cells would take.

Run: python benchmarks/audit.py [--unsafe 2000] [--sample 5] [--only 3-D]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import sparse

import tacit
from tacit.claims import Claim
from tacit.data.cells.relations import roll_up
from tacit.solve import Highs, LinearModel
from tacit.tables.attack.attacker import Attacker, shortfalls
from tacit.tables.attack.exactness import parallel_classes
from tacit.tables.attack.knowledge import intervals_of
from tacit.tables.suppress.problem import Problem, problem_of

#: The claim that is recomputed.
PROOF = Claim("protected-intervals", {"singletons": True}, "all unsafe cells", ("table",))
#: Children of each code, level by level, for every dimension: about 10^3, 10^4 and 10^5 cells.
SHAPES = {
    "10^3, 2-D": ((4, 7), (4, 7)),
    "10^4, 2-D": ((5, 18), (5, 18)),
    "10^5, 2-D": ((5, 6, 10), (7, 6, 6)),
    "10^3, 3-D": ((3, 2), (3, 2), (3, 2)),
    "10^4, 3-D": ((4, 4), (4, 4), (4, 4)),
    "10^5, 3-D": ((5, 8), (5, 8), (4, 10)),
}


def tree(name: str, sizes: tuple[int, ...]) -> tacit.Dimension:
    """Return a dimension in which every code of a level has as many children."""
    lines: list[tuple[int, str]] = []

    def grow(prefix: str, depth: int) -> None:
        if depth < len(sizes):
            for i in range(sizes[depth]):
                code = f"{prefix}{i:02d}"
                lines.append((depth, code))
                grow(code, depth + 1)

    grow(name, 0)
    return tacit.Dimension.from_tree(name, lines)


def table_of(shape: tuple[tuple[int, ...], ...], unsafe: int, seed: int = 1) -> tacit.Table:
    """Return a table of skewed values with holes; small cells are unsafe, and one in five is hidden."""
    rng = np.random.default_rng(seed)
    dimensions = [tree(n, s) for n, s in zip("abc", shape, strict=False)]
    ground = [len(d.leaves) for d in dimensions]
    base = (np.round(rng.lognormal(4, 1.6, ground)) + 1) * (rng.random(ground) > 0.3)
    table = tacit.Table.from_cells(dimensions, roll_up(base, dimensions))
    full = np.flatnonzero(table.value > 0)
    chance = table.value[full] ** -0.5
    picked = rng.choice(full, min(unsafe, len(full) // 20), replace=False, p=chance / chance.sum())
    picked.sort()
    level = 0.1 * table.value[picked]
    table = table.with_protection(picked, lower=level, upper=level)
    hidden = (rng.random(len(table)) < 0.2) & (table.value > 0)
    for move in ground_cubes(table, picked, rng):
        hidden[move] = True
    hidden &= ~table.empty
    return table.with_hidden(np.flatnonzero(hidden))


def ground_cubes(table: tacit.Table, cells: np.ndarray, rng: np.random.Generator):
    """Yield, for each cell, what moves when ground cells move around it: a crude pattern."""
    for cell in cells:
        moved = []
        for d, place in zip(table.dimensions, table.places[cell], strict=True):
            under = np.flatnonzero(d.closure[[int(place)]].toarray()[0])
            rest = np.setdiff1d(np.arange(len(d.leaves)), under)
            step = np.zeros(len(d.leaves))
            step[rng.choice(under)] = 1
            if len(rest):
                step[rng.choice(rest)] = -1
            moved.append(np.flatnonzero(d.closure @ step))
        yield np.ravel_multi_index(np.ix_(*moved), table.shape).ravel()


def one_by_one(problem: Problem, hidden: np.ndarray, sample: int) -> float:
    """Return the seconds a cell takes with two programs over all hidden cells, hot from the last."""
    cells = np.flatnonzero(hidden)
    m = sparse.csr_array(problem.by_cell[:, cells])
    m = m[np.diff(m.indptr) > 0]
    lp = Highs(
        LinearModel.of(0.0, sparse.csc_array(m), 0.0, 0.0, -problem.down[cells], problem.up[cells])
    )
    picked = np.flatnonzero(problem.primary[cells])
    picked = picked[:: max(1, len(picked) // sample)][:sample]
    begun = time.process_time()
    for j in picked:
        for up in (True, False):
            lp.set_sense(maximise=up)
            lp.set_costs([j], 1.0)
            lp.solve()
            lp.set_costs([j], 0.0)
    return (time.process_time() - begun) / len(picked)


def thousand(hidden: np.ndarray) -> np.ndarray:
    """Return every so many hidden cells, a thousand at most."""
    flags = np.zeros(len(hidden), dtype=bool)
    cells = np.flatnonzero(hidden)
    flags[cells[:: max(1, -(-len(cells) // 1000))]] = True
    return flags


def main() -> None:
    """Measure every shape."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--unsafe", type=int, default=2000)
    parser.add_argument("--sample", type=int, default=5)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print(
        "table | cells | hidden | unsafe | largest block | needs s | proof s | intervals of unsafe s "
        "| of 1,000 hidden s | kernel s | one by one s (unsafe)"
    )
    for name, shape in SHAPES.items():
        if given.only not in name:
            continue
        table = table_of(shape, given.unsafe)
        problem, hidden = problem_of(table), table.hidden
        largest = max(b.n for b in Attacker(problem, hidden).system.blocks)
        marks = [time.process_time()]
        shortfalls(problem, hidden, workers=1)
        marks.append(time.process_time())
        PROOF.holds(table)
        marks.append(time.process_time())
        intervals_of(problem, hidden, lambda _s: None, cells=problem.primary, workers=1)
        marks.append(time.process_time())
        intervals_of(problem, hidden, lambda _s: None, cells=thousand(hidden), workers=1)
        marks.append(time.process_time())
        parallel_classes(problem.equations, hidden)
        marks.append(time.process_time())
        n = int(problem.primary.sum())
        each = one_by_one(problem, hidden, given.sample)
        seconds = " | ".join(f"{s:.2f}" for s in np.diff(marks))
        print(
            f"{name} | {len(table):,} | {int(hidden.sum()):,} | {n:,} | {largest:,} | {seconds} "
            f"| {each * n:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
