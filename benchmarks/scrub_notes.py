"""Scrub on a column of notes: blocks on the engine in several processes, against one text after the other.

Short generated notes, repeated to the number of records asked for. Ratios of CPU seconds are to a plain loop over
``Scrub.replace`` in this process; peak memory is that of the parent and of its largest child.

python benchmarks/scrub_notes.py [records ...]
"""

import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import tacit

FAMILIES = ("nursing", "phone_memo", "soap")
LOOP = 500


def cpu():
    """Return the CPU seconds of this process and of the children that have ended."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(f.ru_utime + f.ru_stime for f in found)


def write_notes(path, records, texts):
    """Write records with a name and a note, row group by row group."""
    schema = pa.schema({"name": pa.string(), "note": pa.string()})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, records, 20_000):
            rows = range(start, min(records, start + 20_000))
            columns = {
                "name": [f"Person {i}" for i in rows],
                "note": [texts[i % len(texts)] for i in rows],
            }
            writer.write_table(pa.table(columns, schema))


def main():
    sizes = [int(a) for a in sys.argv[1:]] or [5_000, 20_000]
    texts = [
        f"{d.text[:200].rstrip()}."
        for d in tacit.examples.letters(2_000, seed=1, families=FAMILIES)
    ]
    scrub = tacit.Scrub()
    scrub.replace(texts[0], key=b"warm")
    begun = time.process_time()
    for i, text in enumerate(texts[:LOOP]):
        scrub.replace(text, key=b"loop", record={"name": f"Person {i}"})
    loop = (time.process_time() - begun) / LOOP
    size = sum(map(len, texts[:LOOP])) / LOOP
    print(
        f"plain loop: {loop * 1e3:.2f} CPU ms a note of {size:.0f} characters, {size / loop / 1e3:.0f} kB/s"
    )
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            path = Path(folder) / "notes.parquet"
            write_notes(path, n, texts)
            data = tacit.read(path, identifiers="name")
            wall, used = time.perf_counter(), cpu()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tacit.Scrub(columns=["note"]).apply(data, seed=1)
            wall, used = time.perf_counter() - wall, cpu() - used
            own, child = (
                resource.getrusage(w).ru_maxrss / 1024
                for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
            )
            print(
                f"{n:>9,} records: {wall:7.1f} s, {used:7.1f} CPU s ({used / (loop * n):.2f} of the loop), "
                f"peak {own:,.0f} MB and {child:,.0f} MB in a child"
            )


if __name__ == "__main__":
    main()
