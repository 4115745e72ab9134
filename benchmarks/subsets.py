"""Count all two- and three-way subsets of eight keys: shared passes on coded cells against one
group-by a subset on the rows in DuckDB.

Run: python benchmarks/subsets.py [rows] [--parquet FILE]   (default 1,000,000 rows)
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tacit
from tacit.engine.codes import Cells
from tacit.engine.subsets import all_subsets, subset_counts, unordered_cells

KEYS = (
    "region", "sex", "age", "marital", "education", "occupation", "nationality", "household_size",
)  # fmt: skip


def population(n: int, seed: int = 1) -> pa.Table:
    """Return persons with eight dependent keys (strings and integers) and a weight."""
    rng = np.random.default_rng(seed)
    region = (rng.beta(1.2, 2.5, n) * 100).astype(np.int16)
    sex = (rng.random(n) < 0.51).astype(np.int16)
    age = np.clip(rng.gamma(4.0, 10.5, n), 0, 99).astype(np.int16)
    adult = age >= 18
    works = adult & (age < 66)
    marital = np.where(adult, np.clip(rng.normal(age / 22, 0.6), 0, 4), 0).astype(np.int16)
    school = np.clip(rng.normal(3.5 - (age > 65), 1.2), 0, 7)
    education = np.where(adult, school, age // 7).astype(np.int16)
    job = np.clip(education * 5 + rng.normal(2, 3, n), 1, 39)
    occupation = np.where(works, job, 0).astype(np.int16)
    foreign = rng.random(n) < 0.1
    nationality = np.where(foreign, np.minimum(rng.geometric(0.25, n), 19), 0).astype(np.int16)
    household = np.clip(rng.poisson(np.where(works & (marital > 0), 1.5, 0.6)), 0, 6).astype(
        np.int16
    )
    named = {
        "region": labels("R", 100, region),
        "sex": labels("s", 2, sex),
        "age": pa.array(age),
        "marital": labels("m", 5, marital),
        "education": pa.array(education),
        "occupation": labels("occ", 40, occupation),
        "nationality": labels("N", 20, nationality),
        "household_size": pa.array(household + np.int16(1)),
        "weight": pa.array(rng.uniform(1, 30, n)),
    }
    return pa.table(named)


def clock() -> np.ndarray:
    """Return wall and processor seconds: on a busy machine only the second can be compared."""
    return np.array([time.perf_counter(), time.process_time()])


def labels(prefix: str, size: int, codes: np.ndarray) -> pa.Array:
    """Return codes as text."""
    names = pa.array([f"{prefix}{i:03d}" for i in range(size)])
    return names.take(pa.array(codes))


def by_cells(path: Path, sets: list[tuple[str, ...]]) -> tuple[dict, dict]:
    """Code once, then count every subset on the cells."""
    begun = clock()
    data = tacit.read(path, keys=KEYS)
    cells: Cells = unordered_cells(data.frame, KEYS, data.engine)
    coded = clock()
    found = {s: (len(sizes), int((sizes == 1).sum())) for s, sizes in subset_counts(cells, sets)}
    done = clock()
    return found, {"coding": coded - begun, "counting": done - coded, "cells": len(cells)}


def by_rows(path: Path, sets: list[tuple[str, ...]]) -> tuple[dict, np.ndarray]:
    """One group-by on the rows for every subset, in DuckDB."""
    import duckdb

    begun = clock()
    found = {}
    with duckdb.connect() as connection:
        for s in sets:
            query = (
                f"SELECT count(*), count(*) FILTER (n = 1) FROM (SELECT count(*) AS n "
                f"FROM read_parquet('{path}') GROUP BY {', '.join(s)})"
            )
            classes, uniques = connection.execute(query).fetchall()[0]
            found[s] = (classes, uniques)
    return found, clock() - begun


def warm_up(folder: Path) -> Path:
    """Return a small file: the first run loads packages, which is not what is measured."""
    pq.write_table(population(1000), folder / "small.parquet")
    return folder / "small.parquet"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--parquet", type=Path, help="keep the data in this file, or use it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.parquet or Path(folder) / "population.parquet"
        if not path.exists():
            pq.write_table(population(options.rows), path, compression="zstd")
        sets = [s for s in all_subsets(KEYS, 3) if len(s) > 1]
        by_cells(warm_up(Path(folder)), sets)
        ours, seconds = by_cells(path, sets)
        theirs, rows_seconds = by_rows(path, sets)
    assert ours == theirs, "the two ways must agree"
    total = seconds["coding"] + seconds["counting"]
    print(
        f"{len(sets)} subsets, {seconds['cells']:,} cells; both ways agree. Seconds: wall, processor"
    )
    rows = {
        "coding": seconds["coding"],
        "counting": seconds["counting"],
        "in all": total,
        "on rows": rows_seconds,
        "ratio": rows_seconds / total,
    }
    for name, value in rows.items():
        print(f"{name:>10} {value[0]:8.2f} {value[1]:8.2f}")


if __name__ == "__main__":
    main()
