"""Record linkage: nearest records against a k-d tree, agreement patterns against a join on the engine.

python benchmarks/linkage.py [records]

CPU seconds of this process, all threads together. Both searches are exact. The data are uniform noise (the
worst case for any tree) and ten columns driven by three factors, as real files have them.
"""

import sys
import time

import duckdb
import numpy as np
import pyarrow as pa
from scipy.spatial import cKDTree

from tacit.records.linkage.agreement import Comparison, candidates, count_patterns
from tacit.records.linkage.nearest import find_nearest_rows


def cpu(work):
    begun, clock = time.process_time(), time.perf_counter()
    result = work()
    return result, time.process_time() - begun, time.perf_counter() - clock


def files(rng, n, p, kind):
    if kind == "uniform":
        a = rng.uniform(-1.7, 1.7, size=(n, p))
    else:
        a = rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) + 0.4 * rng.normal(size=(n, p))
        a /= a.std(axis=0)
    return a, a + 0.3 * rng.normal(size=a.shape)


def search(n):
    rng = np.random.default_rng(1)
    find_nearest_rows(*files(rng, 500, 3, "uniform"))  # compile
    for size, p, kind, with_tree in (
        (n, 10, "uniform", True),
        (n, 10, "correlated", True),
        (2 * n, 5, "correlated", True),
        (10 * n, 5, "correlated", False),
    ):
        a, b = files(rng, size, p, kind)
        links, ours, wall = cpu(lambda a=a, b=b: find_nearest_rows(a, b))
        line = f"nearest of {size:,} among {size:,}, {p} columns, {kind}: {ours:.1f} CPU s, {wall:.1f} s"
        if with_tree:
            (_, found), tree, _ = cpu(lambda a=a, b=b: cKDTree(b).query(a, k=2, workers=-1))
            assert (found[:, 0] == links.nearest).all()
            line += f"; k-d tree {tree:.1f} CPU s, ratio {tree / ours:.1f}"
        print(line, flush=True)


def patterns(n):
    rng = np.random.default_rng(2)
    a, b = files(rng, n, 5, "correlated")
    comparison = Comparison(((0.1,),) * 5, (True,) * 5)
    few = slice(0, 500)
    count_patterns(candidates(a[few], b[few]), comparison)  # compile
    found, ours, wall = cpu(lambda: count_patterns(candidates(a, b), comparison))
    print(f"patterns of {n:,} x {n:,} pairs: {ours:.1f} CPU s, {wall:.1f} s", flush=True)
    m = max(n // 20, 500)
    names = [f"v{i}" for i in range(5)]
    left, right = (pa.table(dict(zip(names, x[:m].T, strict=True))) for x in (a, b))
    code = " + ".join(f"{2**i} * (abs(l.{c} - r.{c}) <= 0.1)::int" for i, c in enumerate(names))
    query = f"select {code} as pattern, count(*) from l, r group by pattern"
    connection = duckdb.connect()
    connection.register("l", left)
    connection.register("r", right)
    _, engine, _ = cpu(lambda: connection.sql(query).fetchall())
    _, here, _ = cpu(lambda: count_patterns(candidates(a[:m], b[:m]), comparison))
    print(
        f"the same of {m:,} x {m:,}: {here:.2f} CPU s; joined on DuckDB {engine:.2f}, ratio {engine / here:.1f}"
    )
    assert found.counts.sum() == n * n


if __name__ == "__main__":
    records = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000
    search(records)
    patterns(records)
