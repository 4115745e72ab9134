"""Datafly on a million records, against group-by passes of hand-written SQL in DuckDB.

python benchmarks/datafly.py [records]
"""

import sys
import tempfile
import time
from pathlib import Path

import duckdb
from population import KEYS, write_population

import tacit


def main(n):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "population.parquet"
        write_population(source, n)
        connection = duckdb.connect()
        passes = []
        for _ in range(5):
            begun = time.perf_counter()
            connection.execute(
                f"SELECT count(*), min(n) FROM (SELECT count(*) AS n FROM read_parquet('{source}') GROUP BY {', '.join(KEYS)})"
            ).fetchall()
            passes.append(time.perf_counter() - begun)
        one_pass = sorted(passes)[2]
        rules = {
            "age": tacit.hierarchy.intervals(width=5, levels=4, factor=2),
            "region": {"kind": "digits", "length": 4, "mask": [1]},
            "occupation": {"kind": "digits", "length": 6, "mask": [1]},
            **{
                k: tacit.hierarchy.flat()
                for k in ("sex", "marital", "education", "nationality", "household_size")
            },
        }
        begun = time.perf_counter()
        data = tacit.read(source, keys=KEYS, hierarchies=rules)
        read = time.perf_counter() - begun
        begun = time.perf_counter()
        released = tacit.Datafly(k=5, max_drop=0.02).apply(data, seed=1)
        ours = time.perf_counter() - begun
    details = released.history[-1].details
    print(
        f"datafly, {n:,} records x {len(KEYS)} keys: {ours:.2f} s (reading and binding {read:.2f} s), one group-by pass {one_pass:.2f} s, {ours / one_pass:.1f} passes (target 10)"
    )
    print(
        f"steps {len(details['trace']) - 1}, dropped {details['dropped']}, levels {details['levels']}"
    )


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
