"""Rank swap, shuffle and record swapping on many records, against sorting one column of them.

python benchmarks/swapping.py [records] [records of the household file]
"""

import sys
import time
import warnings

import numpy as np

import tacit


def seconds(work):
    """Return the processor time of some work, and what it gives."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def numbers(n, rng):
    """Return a file of two related columns, a column with ties and one of categories."""
    base = rng.normal(size=n)
    return tacit.read(
        {
            "income": np.exp(base),
            "wealth": np.exp(base + rng.normal(size=n)),
            "age": rng.integers(18, 90, n),
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
        }
    )


def households(n, rng):
    """Return a file of households of three persons on average, in areas of about 1500 records."""
    homes = n // 3
    home = np.repeat(np.arange(homes), rng.integers(1, 6, homes))
    place = rng.integers(0, max(20, n // 1500), homes)[home]
    m = len(home)
    return tacit.read(
        {
            "home": home,
            "nuts1": place // 50,
            "nuts2": place // 10,
            "nuts3": place,
            "sex": rng.integers(0, 2, m),
            "age": np.minimum(rng.exponential(2, m).astype(int), 9),
            "job": rng.geometric(0.3, m),
        },
        keys=["sex", "age", "job"],
        household="home",
    )


def main(n, n_persons):
    rng = np.random.default_rng(1)
    data = numbers(n, rng)
    # Once on little data: what is compiled is compiled.
    tacit.RankSwap(columns=["income"]).apply(numbers(10_000, rng), seed=1)
    sort, _ = seconds(lambda: np.argsort(data.column("income").to_numpy()))
    print(f"{n:,} records; sorting one column takes {sort:.1f} s")
    jobs = {
        "rank swap, one column": tacit.RankSwap(columns=["income"]),
        "rank swap, one column with ties": tacit.RankSwap(columns=["age"]),
        "shuffle, one column": tacit.Shuffle(columns=["income"]),
        "shuffle, one column given age and sex": tacit.Shuffle(
            columns=["income"], given=["age", "sex"]
        ),
        "shuffle, two columns given age and sex": tacit.Shuffle(
            columns=["income", "wealth"], given=["age", "sex"]
        ),
        "Latin hypercube, two columns": tacit.LatinHypercube(columns=["income", "wealth"]),
    }
    for name, method in jobs.items():
        took, _ = seconds(lambda method=method: method.apply(data, seed=1))
        print(f"  {name:<40} {took:6.1f} s, {took / sort:5.1f} sorts", flush=True)
    swap = tacit.SwapRecords(hierarchy=["nuts1", "nuts2", "nuts3"], similar=[["sex"], []])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        swap.apply(households(30_000, rng), seed=1)
        town = households(n_persons, rng)
        took, found = seconds(lambda: swap.apply(town, seed=1))
    moved = found.history[-1].details["swapped"]
    print(f"record swapping, {len(town):,} records on 3 levels: {took:.1f} s, {moved:,} households")
    for m in (10_000, 100_000):
        x = rng.normal(size=(m, 5))
        original = tacit.read({f"v{i}": x[:, i] for i in range(5)})
        masked = tacit.RankSwap(percent=5).apply(original, seed=1)
        measure = tacit.ConditionalLinkage()
        took, _ = seconds(lambda r=masked, o=original, k=measure: k.measure(r, original=o))
        print(f"conditional linkage, {m:,} x 5: {took:.1f} s")


if __name__ == "__main__":
    sizes = [int(float(a)) for a in sys.argv[1:]]
    main(*(sizes + [10_000_000, 1_000_000][len(sizes) :]))
