"""A whole run: text in, two steps, four measures before and after, data, papers and both reports out.

    python benchmarks/run_plan.py [records]

What counts is the processor time of ``tacit run`` in a fresh process, the imports included. It is laid
beside the time in which DuckDB reads the same text twice and writes it once: a run reads its source, and
reads the released file back to recompute the claims.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
from population import population

PLAN = """\
source: {path: people.csv}
roles:
  identifiers: [person]
  keys: [region, sex, age, marital, education, nationality]
  sensitive: [disease]
  weight: weight
hierarchies:
  region: {kind: digits, length: 4, mask: [1, 2]}
  sex: {kind: flat}
  age: {kind: intervals, width: [5, 10, 20], upper: 90}
  marital: {kind: flat}
  education: {kind: flat}
  nationality: {kind: flat}
steps:
  - {kind: deidentify}
  - {kind: datafly, k: 5, max_drop: 0.02}
measures: [{kind: k_anonymity}, {kind: l_diversity}, {kind: precision}, {kind: entropy_distortion}]
"""


def write_people(path: Path, n: int) -> None:
    """Write n persons with twelve columns as text."""
    rng = np.random.default_rng(1)
    people = population(n, rng).append_column(
        "person", pa.array(np.char.add("P", np.arange(n).astype(str)))
    )
    pyarrow.csv.write_csv(people, path)


def by_hand(source: Path, target: Path) -> None:
    """Read twice, write once."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{source}')")
    connection.execute(f"COPY t TO '{target}' (HEADER)")
    connection.execute(f"CREATE TABLE back AS SELECT * FROM read_csv('{target}')")


def processor_seconds(command: list[str], folder: Path) -> float:
    """Run a command in a process of its own; return its processor time."""
    begun = sum(os.times()[2:4])
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return sum(os.times()[2:4]) - begun


def main(n: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_people(folder / "people.csv", n)
        (folder / "plan.yaml").write_text(PLAN)
        python = [sys.executable]
        here = [*python, __file__, "--by-hand"]
        hand = processor_seconds(here, folder)
        ours = processor_seconds([*python, "-m", "tacit", "run", "plan.yaml"], folder)
    print(
        f"tacit run, {n:,} records x 12 columns: {ours:.1f} CPU s (target 6 at 1,000,000), "
        f"two reads and a write by hand {hand:.1f}, ratio {ours / hand:.1f}"
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--by-hand"]:
        by_hand(Path("people.csv"), Path("hand.csv"))
    else:
        main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
