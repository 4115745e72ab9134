"""How long k-Similar takes, and how far it stays from its lower bound.

Run: python benchmarks/ksimilar.py [distinct tuples, ...]. Tuples are drawn from four attributes with
hierarchies of heights 4, 3, 2 and 1, some values far more frequent than others.
"""

import sys
import time

import numpy as np

from tacit.context import Context
from tacit.records.generalisation import k_similar
from tacit.records.generalisation.clusters_space import build, price

HEIGHTS = (4, 3, 2, 1)
BRANCHES = (6, 6, 5, 2)


def population(n, rng):
    """Return a space of about n distinct tuples."""
    lifts, columns = [], []
    for height, branch in zip(HEIGHTS, BRANCHES, strict=True):
        size = branch**height
        lifts.append([np.arange(size) // branch**level for level in range(height + 1)])
        columns.append(np.floor(size * rng.beta(0.7, 2.0, n)).astype(np.int64))
    distinct, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return build(lifts, list(distinct.T), counts)


def main():
    sizes = [int(a) for a in sys.argv[1:]] or [1_000, 10_000, 100_000]
    print(
        f"{'records':>9} {'distinct':>9} {'k':>3} {'method':>8} {'seconds':>8} {'distance':>10} {'gap':>7}  algorithm"
    )
    for n in sizes:
        space = population(n, np.random.default_rng(7))
        for k in (2, 5):
            for method in ("greedy", "local"):
                begun = time.perf_counter()
                first = np.arange(len(space))
                found = k_similar.search(space, k, method, 60, first, Context.start(1))
                seconds = time.perf_counter() - begun
                total = price(space, found.partition)
                gap = total / found.bound - 1 if found.bound else 0.0
                print(
                    f"{space.total:>9,} {len(space):>9,} {k:>3} {method:>8} {seconds:>8.1f} {total / space.scale:>10.1f} {gap:>7.1%}  {found.algorithm}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
