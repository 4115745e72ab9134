"""Protected densities of many records, against scipy's kernel density of a few thousand of them.

python benchmarks/protected_plots.py [records]
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.stats import gaussian_kde

import tacit

SOME = 2_000


def main(n):
    rng = np.random.default_rng(1)
    income, age = np.round(rng.lognormal(7.4, 0.5, n)), np.clip(rng.gamma(8, 5.5, n), 16, 95)
    data = tacit.read({"income": income, "age": age})
    grid = np.stack(np.meshgrid(np.linspace(0, 8000, 101), np.linspace(15, 95, 101)))
    begun = time.process_time()
    gaussian_kde(np.stack([income[:SOME], age[:SOME]]))(grid.reshape(2, -1))
    each = (time.process_time() - begun) / SOME
    with tempfile.TemporaryDirectory() as folder:
        shared = {"columns": ["income", "age"], "ledger": str(Path(folder) / "budget.json")}
        for name, spec in {
            "constant": tacit.ProtectedDensity(**shared),
            "local, trimmed": tacit.ProtectedDensity(
                **shared, bandwidth="local", h0=[50, 1], beta=8, trim=6
            ),
        }.items():
            begun = time.process_time()
            spec.measure(data)
            ours = time.process_time() - begun
            print(
                f"protected density, {name}, {n:,} records on 101 x 101: {ours:.1f} CPU s; scipy at "
                f"{SOME:,} records' pace {each * n:.0f} s, {each * n / ours:.0f} times"
            )


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
