"""Count all two- and three-way subsets of eight keys: shared passes on coded cells against one
group-by per subset on the rows in DuckDB.

Run: python benchmarks/subsets.py [rows] [--parquet FILE]   (default 1,000,000 rows)
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from population import KEYS, write_population

import tacit
from tacit.engine.codes import Cells
from tacit.engine.subsets import all_subsets, subset_counts, unordered_cells


def clock() -> np.ndarray:
    """Return wall and processor seconds: on a busy machine only the second can be compared."""
    return np.array([time.perf_counter(), time.process_time()])


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
    write_population(folder / "small.parquet", 1000)
    return folder / "small.parquet"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=lambda text: int(float(text)), nargs="?", default=1_000_000)
    parser.add_argument("--parquet", type=Path, help="keep the data in this file, or use it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.parquet or Path(folder) / "population.parquet"
        if not path.exists():
            write_population(path, options.rows)
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
