"""A risk-utility map by number of processes, and what the map costs beyond its evaluations.

    python benchmarks/rumap.py [records] [replicates]

The maps must be equal, whatever the number of processes. The overhead is the time of the serial map
beyond the protecting and measuring itself; a resumed map shows the cost of everything else.
"""

import os
import sys
import tempfile
import time

from tacit.rumap import RUMap, chain, grid

import tacit


def candidates():
    levels = chain(
        grid("generalise", columns=["birth"], level=[1, 2, 3]),
        grid("generalise", columns=["zip"], level=[0, 1, 2]),
    )
    swapped = chain(
        grid("swap", columns=["zip", "birth"], share=[0.1, 0.2, 0.4]), grid("datafly", k=[2, 5])
    )
    return {"levels": levels, "swap, then Datafly": swapped}


def timed(ru, data, **options):
    begun = time.perf_counter()
    found = ru.run(data, seed=7, **options)
    return found, time.perf_counter() - begun


def main(n, replicates):
    data = tacit.examples.hospital(n)
    made = {
        "risk": tacit.KAnonymity(k=3),
        "utility": tacit.Precision(),
        "replicates": replicates,
    }
    serial, alone = timed(RUMap(candidates(), workers=1, **made), data)
    own = sum(p.seconds for p in [serial.reference, *serial.points])
    runs = sum(p.replicates for p in [serial.reference, *serial.points])
    print(f"{n:,} records, {len(serial.points)} candidates, {runs} evaluations")
    print(f"  1 process     {alone:6.1f} s  overhead {alone - own:.2f} s")
    for workers in range(2, (os.cpu_count() or 1) + 1):
        found, took = timed(RUMap(candidates(), workers=workers, **made), data)
        assert [(p.risk, p.utility) for p in found.points] == [
            (p.risk, p.utility) for p in serial.points
        ]
        print(f"  {workers} processes   {took:6.1f} s  {alone / took:.2f} times as fast")
    with tempfile.TemporaryDirectory() as folder:
        ru = RUMap(candidates(), workers=1, **made)
        timed(ru, data, resume=folder)
        _, again = timed(ru, data, resume=folder)
    print(f"  all resumed   {again:6.2f} s")
    begun = time.perf_counter()
    serial.plot().svg()
    print(f"  chart as svg  {time.perf_counter() - begun:6.2f} s")


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 25_000,
        int(sys.argv[2]) if len(sys.argv) > 2 else 5,
    )
