"""PRAM on many records, against drawing as many uniform numbers; and its risk, loss and estimates.

python benchmarks/pram.py [records]
"""

import sys
import time

import numpy as np
import pyarrow as pa

import tacit
from studies.pram_matrices import rate_matrices


def file_of(n):
    """Persons with twenty regions as text, a hundred ages, and five thousand towns."""
    rng = np.random.default_rng(1)
    shares = 1.0 / np.arange(1, 21)
    codes = pa.array(rng.choice(20, n, p=shares / shares.sum()).astype(np.int32))
    names = pa.array([f"R{i:02d}" for i in range(20)])
    region = pa.DictionaryArray.from_arrays(codes, names).cast(pa.string())
    columns = {
        "region": region,
        "age": rng.integers(0, 100, n),
        "town": rng.integers(0, 5000, n),
        "sex": rng.integers(0, 2, n),
    }
    return tacit.read(pa.table(columns)).materialise()


def timed(act):
    begun = time.process_time()
    result = act()
    return result, time.process_time() - begun


def main(n):
    data = file_of(n)
    _, drawing = timed(lambda: np.random.default_rng(1).random(n))
    print(f"{n:,} records; CPU seconds, and as a multiple of drawing {n:,} uniform numbers")
    runs = {
        "invariant, 20 regions": {"column": "region"},
        "band, 100 ages": {"column": "age", "matrix": "band", "reach": 3},
        "invariant, 5,000 towns": {"column": "town"},
        "invariant by sex": {"column": "region", "by": ["sex"]},
        "region and sex jointly": {"columns": ["region", "sex"], "joint": True},
    }
    for name, parameters in runs.items():
        spec = tacit.Pram(**parameters)
        released, seconds = timed(lambda spec=spec: spec.apply(data, seed=1))
        print(f"  {name:<26} {seconds:6.2f} s  x {seconds / drawing:.0f}")
    released = tacit.Pram(column="region").apply(data, seed=1)
    keys = ("region", "age", "sex")
    measures = {
        "risk": lambda: tacit.PramRisk(combinations=[keys]).measure(released, original=data),
        "loss": lambda: tacit.PramLoss().measure(released, original=data),
        "estimate": lambda: tacit.PramEstimate(tables=[keys]).measure(released),
    }
    for name, act in measures.items():
        _, seconds = timed(act)
        print(f"  {name:<26} {seconds:6.2f} s  x {seconds / drawing:.0f}")
    cells = data.cells(list(keys))
    candidates = {f"E({p})": {"region": f"20E({p})"} for p in np.linspace(0.5, 0.95, 10).round(2)}
    _, seconds = timed(lambda: rate_matrices(cells, candidates))
    print(f"  {'comparison of 10 matrices':<26} {seconds:6.2f} s")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
