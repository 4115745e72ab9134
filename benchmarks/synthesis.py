"""Synthesis of five columns of many records, against fitting one tree to one of them; attacks on what comes out.

python benchmarks/synthesis.py [records] [copies]
"""

import sys
import time
import warnings

import numpy as np
import pyarrow as pa

import tacit

COLUMNS = ["job", "income", "rent", "hours", "kids"]
MODELS = {
    "job": "multinomial",
    "income": "linear",
    "rent": "linear",
    "hours": "count",
    "kids": "count",
}


def seconds(work):
    """Return the processor time of some work, and what it gives."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def survey(n, seed=1):
    """Return nine columns of people."""
    rng = np.random.default_rng(seed)
    age, edu = rng.integers(16, 90, n), np.clip(rng.poisson(2, n), 0, 6)
    income = np.round(np.exp(9 + 0.1 * edu + 0.01 * age + rng.normal(0, 0.6, n)), 2)
    return tacit.read(
        pa.table(
            {
                "region": np.array([f"r{i}" for i in range(9)])[rng.integers(0, 9, n)],
                "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
                "age": age,
                "edu": edu,
                "job": np.array(list("abcdefgh"))[np.clip(edu + rng.integers(0, 3, n), 0, 7)],
                "income": income,
                "rent": np.round(income * 0.2 + rng.normal(300, 50, n)),
                "hours": rng.integers(0, 60, n),
                "kids": rng.poisson(1, n),
            }
        ),
        keys=["region", "sex", "age"],
        sensitive="income",
    )


def main(n=100_000, copies=5):
    from sklearn.tree import DecisionTreeRegressor

    data, holdout = survey(n), survey(n, 2)
    names = ["age", "edu", "hours", "kids", "rent"]
    x = np.column_stack([data.column(c).to_numpy() for c in names]).astype(np.float32)
    y = data.column("income").to_numpy()
    base, _ = seconds(lambda: DecisionTreeRegressor(min_samples_leaf=5).fit(x, y))
    print(f"one tree of {n:,} records: {base:.2f} s")
    made = None
    for name, spec in {
        "cart": tacit.Synthesise(columns=COLUMNS, copies=copies),
        "regressions": tacit.Synthesise(columns=COLUMNS, methods=MODELS, copies=copies),
        "copula": tacit.Synthesise(columns=COLUMNS, method="copula", copies=copies),
    }.items():
        took, found = seconds(lambda spec=spec: spec.apply(data, seed=1))
        made = made or found
        print(f"{name:12s} {copies} copies of 5 columns: {took:7.1f} s, {took / base:6.1f} trees")
    for measure in (
        tacit.Singling(),
        tacit.Linkability(),
        tacit.Inference(),
        tacit.SyntheticRisk(),
        tacit.MarginChange(),
    ):
        took, _ = seconds(
            lambda measure=measure: measure.measure(made, original=data, control=holdout, seed=1)
        )
        print(f"{measure.kind:20s} {took:7.1f} s, {took / base:6.1f} trees")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*map(int, sys.argv[1:3]))
