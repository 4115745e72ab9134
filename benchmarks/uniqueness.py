"""Entry uniqueness of all entries of random tables of counts, all margins over one dimension released.

python benchmarks/uniqueness.py [CPU seconds a table]
"""

import sys
import time

import numpy as np

from tacit.tables.margins.entry_bounds import (
    Options,
    bound_entries,
    linear_is_wrong,
    question_of_margins,
)
from tacit.tables.margins.margins import MarginSet

#: Shape and mean count.
SIZES = (
    ((3, 3, 1000), 0.05),
    ((3, 3, 1000), 0.5),
    ((3, 3, 1000), 2.0),
    ((3, 3, 5000), 0.5),
    ((4, 4, 500), 1.0),
    ((6, 5, 300), 0.3),
    ((5, 5, 5), 1.0),
    ((4, 4, 4, 4), 0.5),
    ((10, 10, 10), 0.5),
)


class OutOfTime(Exception):
    """The table took longer than it was given."""


def report(shape, mean, seconds):
    """Bound all entries of one table and print what came out."""
    table = np.random.default_rng(3).poisson(mean, shape)
    question = question_of_margins(MarginSet.from_table(table))
    every = np.arange(table.size)
    begun = time.process_time()

    def tick(share):
        if time.process_time() - begun > seconds:
            raise OutOfTime(f"stopped at {share:.0%}")

    name = f"{'x'.join(map(str, shape))} Poisson({mean:g})"
    try:
        found, way = bound_entries(question, every, Options(), tick)
    except OutOfTime as error:
        print(f"{name:28} not finished in {seconds:g} CPU s: {error}", flush=True)
        return
    spent = time.process_time() - begun
    false_safe, tighter = linear_is_wrong(found, every)
    print(
        f"{name:28} {way:11} unique {found.unique.mean():6.1%}  exact {found.exact.mean():6.1%}  "
        f"false-safe {false_safe.sum()}  tighter {tighter.sum()}  {found.counts}  {spent:.2f} CPU s",
        flush=True,
    )


if __name__ == "__main__":
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    for size, mean in SIZES:
        report(size, mean, limit)
