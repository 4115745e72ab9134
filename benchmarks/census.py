"""A census sampled, recoded and released: CPU seconds and peak memory by the number of persons, against reading it once.

    python benchmarks/census.py 1000000 10000000 [--memory 1GB] [--interval 20]

Memory follows the sample, not the census: 1 million with --interval 20 and 10 million with --interval 200 peak alike.
Each size runs in a process of its own, so that peaks do not mix. The census is generated in pieces as one Parquet file in a
temporary folder, which is removed at the end.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: Persons generated at a time.
PIECE = 2_000_000


def main() -> None:
    """Measure each size in a process of its own."""
    options = argparse.ArgumentParser()
    options.add_argument("sizes", type=int, nargs="+")
    options.add_argument("--memory", default="1GB")
    options.add_argument("--interval", type=float, default=20)
    options.add_argument("--inside", type=Path)
    given = options.parse_args()
    if given.inside:
        measure(given.inside, given.interval)
        return
    for n in given.sizes:
        folder = Path(tempfile.mkdtemp(prefix="tacit-census-"))
        try:
            generate(n, folder)
            command = [sys.executable, __file__, str(n), "--inside", str(folder)]
            command += ["--interval", str(given.interval)]
            env = {**os.environ, "TACIT_DUCKDB_MEMORY": given.memory, "TACIT_SCRATCH": str(folder)}
            subprocess.run(command, check=True, env=env)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def generate(n: int, folder: Path) -> None:
    """Write a census in pieces, each a part of the country with regions and households of its own."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    from tacit.examples.country import census_table, population_table

    writer, people = None, []
    for i, start in enumerate(range(0, n, PIECE)):
        table = census_table(min(PIECE, n - start), seed=i)
        region = pc.binary_join_element_wise(f"P{i:03d}", table.column("region"), "")
        home = pc.add(table.column("household"), i * PIECE)
        table = table.set_column(0, "region", region).set_column(3, "household", home)
        people.append(population_table(table))
        writer = writer or pq.ParquetWriter(folder / "census.parquet", table.schema)
        writer.write_table(table, row_group_size=1 << 17)
    assert writer is not None
    writer.close()
    pa_csv.write_csv(pa.concat_tables(people), folder / "population.csv")


def measure(folder: Path, interval: float) -> None:
    """Run the steps of a sample on the engine, write it, and print what it took."""
    import tacit
    from tacit.engine import get_engine

    base = clock(lambda: count_by_area(get_engine("duckdb").connection, folder))
    data = tacit.read(
        folder / "census.parquet",
        identifiers=["name", "address"],
        keys=["region", "district", "age", "sex"],
        household="household",
    )
    steps = [
        tacit.Deidentify(),
        tacit.SampleHouseholds(interval=interval, sort_by=["region", "district", "area"]),
        tacit.DeleteDigits(keep={"occupation": 3}),
        tacit.GeographyThreshold(
            columns=["region", "district"],
            population=str(folder / "population.csv"),
            at_least=20_000,
            remove=["area"],
        ),
        tacit.SwapHouseholds(
            columns=["region", "district"], along=["pseudo_stratum"], match=["sex"], size_band=1000
        ),
        tacit.ShuffleHouseholds(),
    ]
    total, rows = 0.0, len(data)
    for step in steps:
        begun = time.process_time()
        data = step.apply(data, seed=1)
        spent = time.process_time() - begun
        total += spent
        print(f"  {step.kind:<22} {spent:7.1f} CPU s, peak {peak_memory():,.0f} MB")
    tacit.io.write(data, folder / "sample.parquet")
    print(
        f"{rows:,} persons -> {len(data):,}: {total:.1f} CPU s, {rows / total / 1e6:.2f} million a CPU second, "
        f"{total / base:.1f} times one grouped count of the file; peak memory {peak_memory():,.0f} MB"
    )


def peak_memory() -> float:
    """Return the peak memory of the process in megabytes."""
    # Not that of getrusage, which begins with what the parent process had.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def count_by_area(connection: object, folder: Path) -> None:
    """Read the file once: persons by area and age."""
    query = f"SELECT region, district, area, avg(age), max(household) FROM read_parquet('{folder}/census.parquet') GROUP BY ALL"
    connection.execute(query).fetchall()  # type: ignore[attr-defined]


def clock(work: object) -> float:
    """Return CPU seconds of some work."""
    begun = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - begun


if __name__ == "__main__":
    main()
