"""Class sizes attached to every record, against the same SQL written by hand in DuckDB.

    python benchmarks/attach.py [records]

Both write the result to Parquet. The ratio of the two times is what counts; the time by itself says
more about the machine.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from population import KEYS, write_population

import tacit
from tacit.engine.relational import attach_counts
from tacit.io import write


def by_hand(source, target):
    keys = ", ".join(KEYS)
    connection = duckdb.connect()
    connection.execute(
        f"COPY (SELECT *, count(*) OVER (PARTITION BY {keys}) AS fk FROM read_parquet('{source}')) "
        f"TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
    )


def by_tacit(source, target):
    data = tacit.read(source, keys=KEYS)
    write(data.with_frame(attach_counts(data.frame, KEYS, "fk")), target)


def seconds(task, *arguments):
    begun = time.perf_counter()
    task(*arguments)
    return time.perf_counter() - begun


def main(n):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "population.parquet"
        write_population(source, n)
        rounds = []
        for i in range(3):
            hand = seconds(by_hand, source, Path(folder) / f"hand{i}.parquet")
            ours = seconds(by_tacit, source, Path(folder) / f"ours{i}.parquet")
            rounds.append((ours / hand, hand, ours))
        same = duckdb.sql(
            f"SELECT (SELECT sum(fk) FROM '{folder}/hand0.parquet') = (SELECT sum(fk) FROM '{folder}/ours0.parquet')"
        ).fetchall()[0][0]
    ratio, hand, ours = sorted(rounds)[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"attach class sizes, {n:,} records x {len(KEYS)} keys: by hand {hand:.2f} s, tacit {ours:.2f} s, ratio {ratio:.2f} (target 1.5)"
    )
    print(f"same sum of squared class sizes: {same}; peak memory of both {peak:.1f} GB (target 6)")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
