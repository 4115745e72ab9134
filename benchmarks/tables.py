"""Every measure of the table framework on ten million cells, rounded to base 3.

python benchmarks/tables.py [rows of 100 cells]
"""

import sys
import time

import numpy as np
import scipy.stats  # noqa: F401 - loaded before the clock starts

import tacit
from tacit.tables.rounding.random_rounding import semi_controlled_rounding


def main(rows):
    rng = np.random.default_rng(1)
    original = rng.poisson(3.0, (rows, 100))
    protected = semi_controlled_rounding(original, 3, rng)
    begun = time.perf_counter()
    tacit.compare(original, {"rounded": protected}, [tacit.TableComparison(rounded=3)])
    print(
        f"TableComparison, {original.size:,} cells: {time.perf_counter() - begun:.1f} s (target 5)"
    )


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000)
