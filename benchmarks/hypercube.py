"""Hypercube suppression of a generated NACE x region table, proven subtable by subtable.

python benchmarks/hypercube.py [share] [variant ...]

A share of 1 is 1,650 x 5,412 codes: 8.9 million cells.
"""

import resource
import sys
import time
import warnings

import numpy as np

import tacit
from tacit.data.cells.relations import roll_up
from tacit.errors import WeakProtection

#: Codes by level below the total, at full size.
NACE = (21, 88, 272, 615, 653)
REGION = (16, 40, 440, 4915)


def tree(name, levels, rng):
    """A tree with so many codes at each level; every code above the last has a child or is ground."""
    parents = []
    above = [-1]
    for n in levels:
        own = np.sort(
            np.concatenate(
                [np.arange(min(n, len(above))), rng.integers(0, len(above), max(0, n - len(above)))]
            )
        )
        base = len(parents)
        parents += [above[i] for i in own]
        above = list(range(base, base + n))
    children = {}
    for i, p in enumerate(parents):
        children.setdefault(p, []).append(i)
    lines = []

    def visit(code, depth):
        for child in children.get(code, ()):
            lines.append((depth, f"{name[0]}{child}"))
            visit(child, depth + 1)

    visit(-1, 0)
    return tacit.Dimension.from_tree(name, lines)


def table_of(share, seed=1):
    """Enterprises in ground cells, skewed over activities and regions; unsafe below 3 of them."""
    rng = np.random.default_rng(seed)
    root = share**0.5
    dimensions = tuple(
        tree(name, [max(2, round(n * root)) for n in levels], rng)
        for name, levels in (("nace", NACE), ("region", REGION))
    )
    shape = tuple(len(d.leaves) for d in dimensions)
    weights = [rng.dirichlet(np.full(n, 0.7)) for n in shape]
    n = int(3_000_000 * share)
    place = np.ravel_multi_index(tuple(rng.choice(len(w), n, p=w) for w in weights), shape)
    turnover = np.round(rng.lognormal(4, 1.6, n)) + 1
    cells = int(np.prod(shape))
    value = np.bincount(place, turnover, cells).reshape(shape)
    count = np.bincount(place, minlength=cells).reshape(shape)
    return tacit.Table.from_cells(
        dimensions,
        roll_up(value, dimensions),
        count=np.rint(roll_up(count, dimensions)).astype(np.int64),
        response="turnover",
    )


def main(share, variants):
    table = tacit.MinimumFrequency(n=3, range=15).apply(table_of(share))
    print(table.tally())
    warnings.simplefilter("ignore", WeakProtection)
    for variant in variants:
        begun = time.process_time()
        safe = tacit.SuppressHypercube(variant=variant, audit="subtable").apply(table)
        spent = time.process_time() - begun
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{variant}: {len(table):,} cells, {spent:.1f} CPU s, at most {most:.1f} GB so far")
        print("  ", safe.history[-1].details)


if __name__ == "__main__":
    main(
        float(sys.argv[1]) if len(sys.argv) > 1 else 1.0,
        sys.argv[2:] or ("interval", "exact", "sequence"),
    )
