"""Suppression of hierarchical tables of growing size: seconds, price and proof.

Run: python benchmarks/suppression.py [cells, ...] [--dimensions 2 3] [--no-clean]. Enterprises fall on the ground
cells of two or three trees with Dirichlet probabilities; their contributions are lognormal(4, 1.6), some
belong to one holding, and a cell is unsafe by the p% rule (p = 10) or with fewer than three
contributors. Every pattern is proven by the attacker on the whole table.
"""

import argparse
import time

import numpy as np
from scipy import sparse

from tacit import Dimension, Table
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Contributors
from tacit.tables.attack.attacker import shortfalls
from tacit.tables.suppress.problem import problem_of
from tacit.tables.suppress.suppress_linear import SuppressLinear

#: Fans of the trees, from the total down, by dimensions and size of the table.
FANS = {
    (2, 1_000): [[5, 6], [4, 6]],
    (2, 10_000): [[4, 4, 4], [4, 5, 5]],
    (2, 100_000): [[4, 4, 4, 4], [4, 4, 4, 4]],
    (3, 1_000): [[3, 3], [3, 2], [6]],
    (3, 10_000): [[4, 4], [4, 5], [4, 4]],
    (3, 100_000): [[4, 4, 4], [4, 4, 2], [4, 4]],
}
P = 10.0


def tree(name, fans):
    """Return a regular tree with the given fans."""
    lines = []

    def grow(prefix, depth):
        for i in range(fans[depth]):
            code = f"{prefix}{chr(97 + i)}"
            lines.append((depth, code))
            if depth + 1 < len(fans):
                grow(code, depth + 1)

    grow(name, 0)
    return Dimension.from_tree(name, lines)


def instance(dimensions, size, seed=1, per_cell=15.0, spread=3.0):
    """Return a table with unsafe cells, of about ``size`` cells in that many dimensions."""
    return made(
        [tree("xyz"[i], f) for i, f in enumerate(FANS[dimensions, size])], seed, per_cell, spread
    )


def made(dims, seed=1, per_cell=15.0, spread=3.0):
    """Return a table of enterprises over any dimensions, with unsafe cells."""
    rng = np.random.default_rng(seed)
    shape = tuple(len(d.leaves) for d in dims)
    firms = int(np.prod(shape) * per_cell)
    places = [rng.choice(n, firms, p=rng.dirichlet(np.full(n, spread))) for n in shape]
    values = rng.lognormal(4, 1.6, firms).round(1) + 0.1
    holding = np.where(
        rng.random(firms) < 0.2,
        rng.integers(0, max(1, firms // 10), firms),
        firms + np.arange(firms),
    )
    at = np.ravel_multi_index(places, shape)
    up = closure(dims)
    key, total = grouped(at, holding, values, up)
    return judged(dims, key, total, up)


def closure(dims):
    """Return cells x ground cells: which ground cells each cell holds."""
    whole = None
    for d in dims:
        c = sparse.csr_array(d.closure)
        whole = c if whole is None else sparse.csr_array(sparse.kron(whole, c, format="csr"))
    return whole


def grouped(at, holding, values, up):
    """Return, for every (cell, holding), the contribution."""
    by_ground = sparse.csr_array(up.T)
    n = np.diff(by_ground.indptr)[at]
    record = np.repeat(np.arange(len(at)), n)
    first = np.repeat(by_ground.indptr[at], n)
    inside = np.arange(len(record)) - np.repeat(np.cumsum(n) - n, n)
    cell = by_ground.indices[first + inside].astype(np.int64)
    width = int(holding.max()) + 1
    keys, back = np.unique(cell * width + holding[record], return_inverse=True)
    sums = np.bincount(back, values[record])
    return np.stack([keys // width, keys % width], axis=1), sums


def judged(dims, key, total, up):
    """Return the table with counts, largest contributors and unsafe cells."""
    n = up.shape[0]
    order = np.lexsort((-total, key[:, 0]))
    key, total = key[order], total[order]
    count = np.bincount(key[:, 0], minlength=n)
    start = np.cumsum(count) - count
    top, who = np.zeros((n, 3)), np.full((n, 3), -1, dtype=np.int64)
    for k in range(3):
        has = count > k
        top[has, k] = total[start[has] + k]
        who[has, k] = key[start[has] + k, 1]
    value = np.bincount(key[:, 0], total, minlength=n)
    table = Table.from_cells(
        dims, value, count=count, holdings=Contributors(count, top, who), response="turnover"
    )
    level = P / 100 * top[:, 0] - (value - top[:, 0] - top[:, 1])
    rare = (count > 0) & (count < 3)
    unsafe = (count > 0) & ((level > 1e-9) | rare)
    level = np.maximum(np.where(level > 0, level, 0.0), np.where(rare, 0.1 * value, 0.0))
    return table.with_protection(
        np.flatnonzero(unsafe), level[unsafe], level[unsafe], status=Status.UNSAFE
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000, 10_000])
    parser.add_argument("--dimensions", type=int, nargs="*", default=[2, 3])
    parser.add_argument("--no-clean", action="store_true")
    options = parser.parse_args()
    print(
        f"{'d':>2} {'cells':>8} {'unsafe':>7} {'pairs':>7} {'hidden':>7} {'price':>12} {'cpu s':>7} {'audit s':>8}  short"
    )
    for size in options.sizes:
        for d in options.dimensions:
            table = instance(d, size)
            problem = problem_of(table)
            spec = SuppressLinear(clean=not options.no_clean)
            begun = time.process_time()
            ctx = Context.start(1)
            safe = spec._apply(table, ctx)
            took = time.process_time() - begun
            begun = time.process_time()
            short = shortfalls(problem, safe.hidden)
            audit = time.process_time() - begun
            print(
                f"{d:>2} {len(table):>8,} {int(problem.primary.sum()):>7,} {len(problem.pairs):>7,} "
                f"{int((safe.hidden & ~problem.primary).sum()):>7,} {problem.price(safe.hidden):>12,.0f} "
                f"{took:>7.1f} {audit:>8.1f}  {len(short)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
