"""Correlated noise on many records, against drawing as many independent normal numbers.

python benchmarks/noise.py [records]
"""

import sys
import time

import numpy as np

import tacit


def main(n):
    rng = np.random.default_rng(1)
    columns = {f"v{i}": rng.normal(size=n) for i in range(3)}
    data = tacit.read(columns)
    begun = time.perf_counter()
    rng.normal(size=(n, 3))
    drawing = time.perf_counter() - begun
    begun = time.perf_counter()
    tacit.CorrelatedNoise(columns=list(columns), lambda_squared=0.15).apply(data, seed=1)
    ours = time.perf_counter() - begun
    print(f"correlated noise, {n:,} records x 3: {ours:.1f} s; the draws alone {drawing:.1f} s")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
