"""Modular suppression and Gaussian elimination on hierarchical tables of growing size.

python benchmarks/modular.py [largest number of cells] [--whole]

Prints processor seconds, cells hidden and price. By default the engines alone, without the repair and
the proof on the whole table that all methods share; ``--whole`` runs the methods with both.
"""

import sys
import time

import numpy as np

import tacit
from tacit.context import Context
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.relations import roll_up
from tacit.data.table import Contributors
from tacit.tables.suppress.problem import problem_of
from tacit.tables.suppress.propose_gauss import choose_hidden_cells
from tacit.tables.suppress.propose_modular import Modular, blocks_of

SHAPES = [(25, 25), (7, 7, 7), (80, 80), (16, 16, 16), (240, 240), (35, 35, 35)]


def tree(name, leaves, fan=5):
    """A hierarchy in which every parent has about ``fan`` children."""
    lines = []

    def below(prefix, n, depth):
        parts = [n // fan + (i < n % fan) for i in range(fan)] if n > fan else [1] * n
        for i, size in enumerate(parts):
            lines.append((depth, f"{prefix}.{i}"))
            if size > 1:
                below(f"{prefix}.{i}", size, depth + 1)

    below(name, leaves, 0)
    return Dimension.from_tree(name, lines)


def enterprises(shape, seed=1, mean=12.0):
    """A table of lognormal turnovers; cells of one or two enterprises are unsafe, at 20 per cent."""
    rng = np.random.default_rng(seed)
    dims = [tree(f"d{i}", n) for i, n in enumerate(shape)]
    weight = np.ones(())
    for n in shape:
        weight = np.multiply.outer(weight, rng.gamma(2.0, size=n))
    count = rng.poisson(np.minimum(mean * weight / weight.mean(), 200.0))
    cell = np.repeat(np.arange(count.size), count.ravel())
    turnover = np.ceil(rng.lognormal(4.0, 1.6, len(cell)))

    def added(x):
        ground = np.bincount(cell, x, minlength=count.size).reshape(shape)
        return roll_up(ground, dims).ravel()

    counts = added(np.ones(len(cell))).astype(np.int64)
    # The sum of numbers is the number of the only enterprise where there is one.
    who = np.where(counts == 1, added(np.arange(len(cell)) + 1.0), -1).astype(np.int64)
    behind = Contributors(counts, np.zeros((len(counts), 1)), who[:, None])
    table = tacit.Table.from_cells(dims, added(turnover), count=counts, contributors=behind)
    unsafe = (counts > 0) & (counts < 3)
    level = 0.2 * table.value[unsafe]
    return table.with_protection(unsafe, lower=level, upper=level)


def engines(table):
    """The two engines alone."""
    problem = problem_of(table)

    def modular():
        return (
            Modular(problem, blocks_of(table), tacit.SuppressModular(exact_seconds=60.0))
            .run(Context.start(1))
            .hidden
        )

    for name, engine in (
        ("gauss", lambda: choose_hidden_cells(problem, Context.start(1)).hidden),
        ("modular", modular),
    ):
        begun = time.process_time()
        hidden = engine()
        spent = time.process_time() - begun
        secondary = int((hidden & ~problem.primary).sum())
        print(
            f"  {name:8} {spent:8.2f} s  {secondary:7,} hidden  price {problem.price(hidden):.5g}"
        )


def methods(table):
    """The methods with repair and proof."""
    for spec in (
        tacit.SuppressGauss(intervals=False),
        tacit.SuppressGauss(),
        tacit.SuppressModular(),
        tacit.SuppressLinear(),
    ):
        begun = time.process_time()
        done = spec.apply(table).history[-1].details
        spent = time.process_time() - begun
        name = spec.kind + ("" if getattr(spec, "intervals", True) else " (no intervals)")
        print(
            f"  {name:32} {spent:8.2f} s  {done['secondary']:7,} hidden  price {done['price']:.5g}"
            f"  repaired {done.get('repaired', 0):,}",
            flush=True,
        )


def main(largest, *, whole):
    engines(enterprises((60, 60)))  # machine code is made before the clock starts
    for shape in SHAPES:
        table = enterprises(shape)
        if len(table) > largest:
            continue
        print(f"{shape}: {len(table):,} cells, {int(table.primary.sum()):,} unsafe", flush=True)
        (methods if whole else engines)(table)


if __name__ == "__main__":
    numbers = [a for a in sys.argv[1:] if not a.startswith("-")]
    main(int(float(numbers[0])) if numbers else 20_000, whole="--whole" in sys.argv)
