"""Global disclosure risk: many records on few keys, and many keys with an exact search.

Run: python benchmarks/global_risk.py [--records 1000000] [--keys 15] [--small 100000] [--engine duckdb]

The keys are a person's answers with realistic dependence. A third of them is left as it is; ordered keys get
noise, codes are exchanged for other codes at rates from one to fifteen per cent. With --hard every key is
exchanged at the same rate of two per cent, the worst case for the search.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pyarrow as pa

import tacit

#: Levels of each key, first the ones that a five-key file would have.
LEVELS = (95, 2, 120, 5, 9, 40, 20, 7, 8, 3, 12, 6, 4, 10, 2)


def people(n, n_keys, rng):
    """Return codes of correlated keys: each mixes a common factor with its own draw."""
    common = rng.beta(2, 3, n)
    columns = {}
    for k, size in enumerate(LEVELS[:n_keys]):
        own = rng.beta(1.2, 2.2, n)
        columns[f"k{k:02d}"] = np.minimum(((0.5 * common + 0.5 * own) * size), size - 1).astype(
            np.int64
        )
    return columns


def masked(columns, rng):
    """Return the codes after masking."""
    released = {}
    for k, (name, codes) in enumerate(columns.items()):
        size = int(codes.max()) + 1
        if k % 3 == 1:
            released[name] = codes
        elif size > 20:
            noise = rng.normal(0, 0.03 * size, len(codes))
            released[name] = np.clip(np.rint(codes + noise), 0, size - 1).astype(np.int64)
        else:
            moved = rng.random(len(codes)) < 0.01 * (1 + k)
            released[name] = np.where(moved, rng.integers(0, size, len(codes)), codes)
    return released


def evenly_masked(columns, rng):
    """Return the codes after exchanging two per cent of every key."""
    return {
        name: np.where(rng.random(len(codes)) < 0.02, rng.permutation(codes), codes)
        for name, codes in columns.items()
    }


def data_of(columns, engine):
    """Return microdata: keys of more than twenty levels are numbers, the others texts."""
    table = {
        name: codes
        if codes.max() >= 20
        else pa.array([f"c{i:02d}" for i in range(20)]).take(pa.array(codes))
        for name, codes in columns.items()
    }
    return tacit.read(pa.table(table), keys=list(columns), engine=engine)


def timed(n, n_keys, engine, weights, mask=masked):
    """Measure once and print what it took."""
    rng = np.random.default_rng(1)
    columns = people(n, n_keys, rng)
    original, released = data_of(columns, engine), data_of(mask(columns, rng), engine)
    begun = time.perf_counter()
    found = tacit.GlobalRisk(weights=weights).measure(released, original=original)
    seconds = time.perf_counter() - begun
    print(
        f"{n:>11,} {n_keys:>5} {weights:>13} {seconds:>8.1f} {found.numbers['subsets looked at']:>8,} of {2**n_keys - 1:>7,}"
        f"  {found.minimum.value:.4f} {found.weighted.value:.4f} {found.maximum.value:.4f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=15, choices=range(2, len(LEVELS) + 1))
    parser.add_argument("--small", type=int, default=100_000)
    parser.add_argument("--engine", default="duckdb")
    parser.add_argument("--hard", action="store_true")
    options = parser.parse_args()
    print("    records  keys       weights  seconds  subsets looked at    DR_min DR_W DR_max")
    timed(1000, 3, options.engine, "one_over_max")
    timed(options.records, 5, options.engine, "one_over_max")
    timed(options.small, options.keys, options.engine, "one_over_max")
    timed(options.small, options.keys, options.engine, "diagonal")
    if options.hard:
        timed(options.small, options.keys, options.engine, "one_over_max", evenly_masked)


if __name__ == "__main__":
    main()
