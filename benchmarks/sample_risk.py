"""Measures of the risk of samples, against the plain group-by of the same keys on the engine.

python benchmarks/sample_risk.py [records]

Every measure begins with one count of records by key values, so that the ratio tells what it adds.
"""

import sys
import time

import numpy as np
import pyarrow as pa

import tacit
from tacit.engine.codes import cells

SIZES = (5, 2, 80, 6, 8, 12, 30, 4, 20, 3, 10, 6)


def timed(work):
    """Return what some work returns and the CPU seconds it took."""
    begun = time.process_time()
    result = work()
    return result, time.process_time() - begun


def draw(n, keys, seed=1):
    """Return records with skewed, dependent keys and weights."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=n)
    table = {}
    for i, size in enumerate(SIZES[:keys]):
        mixed = 0.5 * base + rng.normal(size=n)
        table[f"k{i}"] = np.clip((mixed + 3) / 6 * size, 0, size - 1).astype(np.int64)
    table["w"] = rng.uniform(5, 15, n)
    return tacit.read(pa.table(table), keys=[f"k{i}" for i in range(keys)], weight="w")


def show(name, data, spec, target=""):
    """Print one measure beside the group-by."""
    spec.measure(draw(1_000, len(data.keys)), seed=1)  # kernels are compiled once
    _, plain = timed(lambda: cells(data.frame, list(data.keys), data.weight))
    _, ours = timed(lambda: spec.measure(data, seed=1))
    print(
        f"{name}, {len(data):,} x {len(data.keys)}: {ours:.2f} s CPU{target}; group-by {plain:.2f} s, ratio {ours / plain:.1f}"
    )


def main(n):
    small, large = draw(min(n, 100_000), 7), draw(n, 12)
    show("Suda(max_size=3)", small, tacit.Suda(max_size=3), " (target 0.2)")
    show("Suda(max_size=4)", large, tacit.Suda(max_size=4))
    five = draw(2 * n, 5)
    show("IndividualRisk", five, tacit.IndividualRisk())
    show("PopulationUniqueness", five, tacit.PopulationUniqueness(population=20 * n))
    show("SampleRisk, two-way", draw(n // 10, 4), tacit.SampleRisk(terms="two_way"))
    local = tacit.SampleRisk(model="negative_binomial", radius=2, degree=1)
    show("SampleRisk, local", draw(n // 10, 4), local)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
