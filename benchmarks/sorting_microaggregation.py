"""Sorting and mixed microaggregation, against one sort of the same records.

python benchmarks/sorting_microaggregation.py [records]
"""

import sys
import time

import numpy as np

import tacit
from tacit.records.microaggregation.grouping.aggregates import aggregate
from tacit.records.microaggregation.grouping.gower import Mixed, mdav_gower
from tacit.stats.moments import scale_of

METHODS = (
    *(tacit.FileOrderGroups, tacit.SortByColumn, tacit.SortByZscores, tacit.SortByComponent),
    *(tacit.SortByRobustComponent, tacit.SortByProjectionPursuit),
)
AGGREGATES = ("mean", "median", "trimmed", "one_step", "m_estimate")


def silent(_message, _share):
    pass


def timed(work):
    begun = time.process_time()
    found = work()
    return found, time.process_time() - begun


def main(n):
    rng = np.random.default_rng(1)
    x = rng.lognormal(size=(n, 10)) @ (np.eye(10) + 0.3)
    z = scale_of(x).there(x)
    _, sort = timed(lambda: np.argsort(z[:, 0], kind="stable"))
    print(f"{n:,} records x 10, k = 3; CPU seconds, and in sorts of one column ({sort:.2f} s)")

    def show(name, seconds):
        print(f"  {name:<28}{seconds:8.2f} s{seconds / sort:9.1f}")

    labels = np.zeros(n, dtype=np.int64)
    for method in METHODS:
        labels, seconds = timed(lambda m=method: m(k=3).groups(z, rng, silent))
        show(method.__name__, seconds)
    rank = tacit.IndividualRanking(k=3)
    ranked = timed(lambda: [rank.groups(z[:, [j]], rng, silent) for j in range(10)])
    show("IndividualRanking", ranked[1])
    for how in AGGREGATES:
        show(f"aggregate: {how}", timed(lambda h=how: aggregate(x, labels, h))[1])
    small = min(n // 100, 20_000)
    codes = rng.integers(0, 6, (small, 4))
    data = Mixed.of(x[:small, :2], codes[:, :2], codes[:, 2:], (np.ones(2),) * 3)
    mdav_gower(data.take(np.arange(400)), 3, tick=silent)
    seconds = timed(lambda: mdav_gower(data, 3, tick=silent))[1]
    print(
        f"  mixed, {small:,} records x 6   {seconds:8.2f} s, {seconds / small**2 * 1e9:.0f} ns a pair"
    )


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
