"""Controlled tabular adjustment: MDI and least distances on random tables.

O = round(lognormal(5, 1)), at least 1; unsafe cells at random, levels 10 to 50 per cent of the value.

python benchmarks/adjustment.py [name ...]
"""

import sys
import time

import numpy as np

import tacit
from tacit.tables.adjust.adjust_mdi import movement_of, random_information
from tacit.tables.rounding.model import basis

#: Name to (shape, unsafe cells).
MDI = {
    "10x10/30": ((10, 10), 30),
    "10^3/300": ((10, 10, 10), 300),
    "13^3/200": ((13, 13, 13), 200),
    "20^3/400": ((20, 20, 20), 400),
    "20^3/2400": ((20, 20, 20), 2400),
    "50^3/5000": ((50, 50, 50), 5000),
}
#: Name to (shape, unsafe cells, norm, seconds).
DISTANCE = {
    "l1 13^3/200": ((13, 13, 13), 200, "l1", 20.0),
    "relative 13^3/200": ((13, 13, 13), 200, "relative", 20.0),
    "l2 13^3/200": ((13, 13, 13), 200, "l2", 20.0),
    "l1 30x30/90": ((30, 30), 90, "l1", 20.0),
    "l2 30x30/90": ((30, 30), 90, "l2", 20.0),
}


def random_table(shape, unsafe, seed=1):
    """Return a table with all its margins and unsafe ground cells."""
    rng = np.random.default_rng(seed)
    values = np.maximum(1.0, np.round(rng.lognormal(5, 1, shape)))
    table = tacit.Table.from_array(values, totals=False)
    flat = rng.choice(values.size, unsafe, replace=False)
    cells = list(zip(*np.unravel_index(flat, shape), strict=True))
    at = np.array([table.index(tuple(map(int, c))) for c in cells])
    level = rng.uniform(0.1, 0.5, unsafe) * table.value[at]
    return table.with_protection(at, lower=level, upper=level)


def run_mdi(name, shape, unsafe):
    """Adjust by discrimination information and compare with random patterns."""
    table = random_table(shape, unsafe)
    begun = time.process_time()
    details = tacit.AdjustMdi().apply(table, seed=1).history[-1].details
    spent = time.process_time() - begun
    movement, _ = movement_of(table, basis(table), "one_way")
    drawn = random_information(movement, 200, np.random.default_rng(2))
    low, high = np.quantile(drawn, [0.025, 0.975])
    print(
        f"mdi {name:12} {spent:6.2f} CPU s  K {details['trace']['heuristic']:,.1f} -> "
        f"{details['information']:,.1f}  random {low:,.1f} / {high:,.1f}  "
        f"{details['patterns_fitted']:,} patterns fitted, {details['flips']:,} flips",
        flush=True,
    )


def run_distance(name, shape, unsafe, norm, seconds):
    """Adjust by a distance."""
    table = random_table(shape, unsafe)
    begun = time.process_time()
    details = tacit.Adjust(norm=norm, time_limit=seconds).apply(table).history[-1].details
    spent = time.process_time() - begun
    print(
        f"{name:20} {spent:6.2f} CPU s  {details['status']}: {details['first']:,.2f} -> "
        f"{details['after_flips']:,.2f} -> {details['distance']:,.2f}, gap {details['gap']:.2%}",
        flush=True,
    )


def main(names):
    for name, case in MDI.items():
        if not names or name in names:
            run_mdi(name, *case)
    for name, case in DISTANCE.items():
        if not names or name in names:
            run_distance(name, *case)


if __name__ == "__main__":
    main(sys.argv[1:])
