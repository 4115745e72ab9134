"""The CASC files as standardised arrays, and what the tests of grouping methods share."""

import csv
import functools
from pathlib import Path

import numpy as np

FIXTURES = Path(__file__).parents[1] / "fixtures"


@functools.cache
def casc(name):
    """Census, Tarragona, EIA's ten revenue and sales columns (eia10), or its first 600 records (eia600)."""
    file = "eia" if name.startswith("eia") else name
    rows = list(csv.reader((FIXTURES / "casc" / f"{file}.csv").read_text().splitlines()))
    columns = slice(4, 14) if file == "eia" else slice(None)
    x = np.array([row[columns] for row in rows[1:]], dtype=np.float64)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    return z[:600] if name == "eia600" else z


def quiet(message, share):
    """Tell nobody."""


def partitions(records, k):
    """All partitions of some records into groups of k to 2k - 1."""
    import itertools

    if not records:
        yield []
        return
    first, *rest = records
    for size in range(k, 2 * k):
        for others in itertools.combinations(rest, size - 1):
            left = [r for r in rest if r not in others]
            if not left or len(left) >= k:
                for found in partitions(left, k):
                    yield [(first, *others), *found]


def sse(x, groups):
    return sum(((x[list(g)] - x[list(g)].mean(axis=0)) ** 2).sum() for g in groups)


def as_groups(labels):
    return {tuple(np.flatnonzero(labels == g).tolist()) for g in np.unique(labels)}
