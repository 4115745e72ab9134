"""Utility measures on many records, against two passes of NumPy over the same numbers.

OPENBLAS_NUM_THREADS=1 python benchmarks/utility.py [records]
"""

import sys
import time

import numpy as np

import tacit

MEASURES = {
    "information loss, all measures": tacit.InformationLoss(),
    "information loss, IL1 alone": tacit.InformationLoss(measures=["il1"]),
    "propensity, degree 1": tacit.Propensity(degree=1),
    "propensity, degree 2": tacit.Propensity(degree=2),
    "distance table": tacit.DistanceTable(),
    "estimates by quintile": tacit.EstimateChange(quantiles_of="v0"),
    "regression on nine columns": tacit.RegressionChange(
        response="v0", covariates=[f"v{j}" for j in range(1, 10)]
    ),
    "divergence of columns": tacit.KullbackLeibler(),
}


def main(n):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 10)) @ rng.normal(size=(10, 10))
    names = [f"v{j}" for j in range(10)]
    data = tacit.read(dict(zip(names, x.T, strict=True)))
    y = x + 0.1 * rng.normal(size=x.shape)
    masked = data.replace(dict(zip(names, y.T, strict=True))).materialise()
    begun = time.process_time()
    np.cov(x, rowvar=False)
    np.cov(y, rowvar=False)
    base = time.process_time() - begun
    print(f"two covariance matrices, {n:,} records x 10: {base:.2f} CPU s")
    for name, measure in MEASURES.items():
        begun = time.process_time()
        measure.measure(masked, original=data, seed=1)
        spent = time.process_time() - begun
        print(f"{name}: {spent:.1f} CPU s, {spent / base:,.0f} times that")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
