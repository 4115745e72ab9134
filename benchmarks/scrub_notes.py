"""Scrub on a column of notes in a DuckDB table: blocks on the engine in several processes, against a plain loop.

Short generated notes, repeated to the number of records asked for. Ratios of CPU seconds are to a plain loop over
``Scrub.replace`` in this process. Each size runs in a process of its own; peak memory is that of this process and of
the largest of its workers, as Linux tells it while they work. Frames wait in scratch files from 512 MB on, so that memory is bounded from there;
``--scratch MB`` sets another bound, to see it with fewer records.

PYTHONPATH=examples python benchmarks/scrub_notes.py [--scratch MB] [records ...]
"""

import argparse
import contextlib
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import duckdb
import pyarrow as pa

import tacit
from letters import write_letters
from tacit.engine import scratch

FAMILIES = ("nursing", "phone_memo", "soap")
LOOP = 500


def cpu():
    """Return the CPU seconds of this process and of the children that have ended."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(f.ru_utime + f.ru_stime for f in found)


def peak(process="self"):
    """Return the peak memory of a process in MB; what ``resource`` tells begins with that of its parent."""
    told = Path(f"/proc/{process}/status").read_text()
    return next(int(x.split()[1]) for x in told.splitlines() if x.startswith("VmHWM")) / 1024


def watch_workers(peaks, stop):
    """Note the peak memory in MB of each worker, time and again until told to stop."""
    while not stop.wait(0.5):
        for worker in multiprocessing.active_children():
            with contextlib.suppress(OSError, StopIteration):
                peaks[worker.pid] = peak(worker.pid)


def write_notes(path, records, texts):
    """Write a table of records with a name and a note, part by part."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE notes (name VARCHAR, note VARCHAR)")
        for start in range(0, records, 20_000):
            rows = range(start, min(records, start + 20_000))
            part = pa.table(
                {
                    "name": [f"Person {i}" for i in rows],
                    "note": [texts[i % len(texts)] for i in rows],
                }
            )
            connection.register("part", part)
            connection.execute("INSERT INTO notes SELECT * FROM part")
            connection.unregister("part")


def measure(path, loop, bound):
    """Scrub the table, and print what it took."""
    if bound is not None:
        scratch.Scratch.__init__.__defaults__ = (bound << 20,)
    peaks, stop = {}, threading.Event()
    watch = threading.Thread(target=watch_workers, args=(peaks, stop))
    watch.start()
    before = peak()
    wall, used = time.perf_counter(), cpu()
    data = tacit.read(path, identifiers="name")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tacit.Scrub(columns=["note"]).apply(data, seed=1)
    wall, used = time.perf_counter() - wall, cpu() - used
    own, n = peak(), len(data)
    stop.set()
    watch.join()
    print(
        f"{n:>9,} records: {wall:7.1f} s, {used:7.1f} CPU s ({used / (loop * n):.2f} of the loop), "
        f"peak {own:,.0f} MB ({before:,.0f} before reading) and {max(peaks.values(), default=0):,.0f} MB in a worker",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int, default=[5_000, 20_000])
    parser.add_argument("--scratch", type=int)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        measure(given.one[0], float(given.one[1]), given.scratch)
        return
    letters = write_letters(2_000, seed=1, families=FAMILIES)
    texts = [f"{d.text[:200].rstrip()}." for d in letters]
    scrub = tacit.Scrub()
    scrub.replace(texts[0], key=b"warm")
    begun = time.process_time()
    for i, text in enumerate(texts[:LOOP]):
        scrub.replace(text, key=b"loop", record={"name": f"Person {i}"})
    loop = (time.process_time() - begun) / LOOP
    size = sum(map(len, texts[:LOOP])) / LOOP
    print(
        f"plain loop: {loop * 1e3:.2f} CPU ms a note of {size:.0f} characters, {size / loop / 1e3:.0f} kB/s",
        flush=True,
    )
    bound = [] if given.scratch is None else ["--scratch", str(given.scratch)]
    with tempfile.TemporaryDirectory() as folder:
        for n in given.sizes:
            path = Path(folder) / f"notes-{n}.duckdb"
            write_notes(path, n, texts)
            command = [sys.executable, __file__, *bound, "--one", str(path), str(loop)]
            subprocess.run(command, check=True)
            path.unlink()


if __name__ == "__main__":
    main()
