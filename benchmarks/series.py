"""Linking time series: warping against plain NumPy, other distances against all pairs by SciPy.

python benchmarks/series.py [series] [records]

CPU seconds of this process, all threads together. ``series`` random walks of length 100 are linked by dynamic time
warping to their microaggregated selves (1,000 by default; the plain version computes a few of them, cell by cell over
all candidates at once, and is scaled up); ``records`` of 50 points by Minkowski and STS (10,000 by default), where the
baseline is SciPy's ``cdist`` in blocks.
"""

import sys
import time

import numpy as np
from scipy.spatial.distance import cdist

from tacit.series import Distance, Panel, link, microaggregated, normalise


def cpu(work):
    begun = time.process_time()
    result = work()
    return result, time.process_time() - begun


def files(n, length, n_series=1, k=3):
    x = np.random.default_rng(1).normal(size=(n, n_series, length)).cumsum(axis=2)
    original = Panel.of(x)
    return [normalise(p, "series_standard") for p in (original, microaggregated(original, k))]


def plain_dtw(x, others):
    """Return the costs of one series against all, cell by cell."""
    rows = np.full((len(x) + 1, others.shape[1] + 1, len(others)), np.inf)
    rows[0, 0] = 0.0
    for i, value in enumerate(x, start=1):
        for j in range(1, others.shape[1] + 1):
            near = np.minimum(np.minimum(rows[i - 1, j - 1], rows[i - 1, j]), rows[i, j - 1])
            rows[i, j] = (value - others[:, j - 1]) ** 2 + near
    return rows[-1, -1]


def warping(n):
    a, b = files(n, 100)
    some = np.linspace(0, n - 1, 10).astype(int)
    base, seconds = cpu(lambda: [plain_dtw(a.values[i, 0], b.values[:, 0]) for i in some])
    seconds *= n / len(some)
    few = a.rows(slice(0, 4)), b.rows(slice(0, 4))
    link(*few, Distance("dtw"))  # compile
    for window in (None, 10):
        distance = Distance("dtw", window=window)
        links, ours = cpu(lambda d=distance: link(a, b, d))
        if window is None:
            assert np.allclose(links.distance[some], [np.sqrt(c.min()) for c in base])
        print(
            f"DTW of {n:,} x {n:,} series of length 100, window {window}: {ours:.1f} CPU s; "
            f"plain NumPy, no window {seconds:.0f}, ratio {seconds / ours:.0f}",
            flush=True,
        )


def blocks(x, v):
    """Return the nearest by all distances."""
    step = max(1, (1 << 22) // len(v))
    return np.concatenate(
        [cdist(x[i : i + step], v).argmin(axis=1) for i in range(0, len(x), step)]
    )


def others(n):
    for n_series in (1, 2):
        a, b = files(n, 50, n_series)
        link(a.rows(slice(0, 9)), b.rows(slice(0, 9)), Distance())
        x, v = a.points(), b.points()
        base, seconds = cpu(lambda x=x, v=v: blocks(x, v))
        for kind in ("minkowski", "sts"):
            links, ours = cpu(lambda k=kind, a=a, b=b: link(a, b, Distance(k)))
            if n_series == 1 and kind == "minkowski":
                assert (links.nearest == base).mean() > 0.99
            print(
                f"{kind} of {n:,} x {n:,} records, {n_series} series of length 50: {ours:.1f} CPU s; "
                f"cdist of all points {seconds:.1f}, ratio {seconds / ours:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    given = [int(float(a)) for a in sys.argv[1:]]
    warping(given[0] if given else 1000)
    others(given[1] if len(given) > 1 else 10_000)
