"""Kernels that compare candidate pairs field by field without keeping them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels import Kernels

#: Targets compared at a time.
STRIP = 512


def count_patterns(
    a: Any,
    b: Any,
    low: Any,
    high: Any,
    count_a: Any,
    count_b: Any,
    tolerances: Any,
    n_levels: Any,
    radix: Any,
    out: Any,
) -> None:
    """Count the agreement patterns of the candidate pairs of each query.

    Fields are rows of ``b``; query q is compared with the targets from ``low[q]`` to ``high[q]``. A
    field's level is the number of its tolerances (a row, -1 behind the last) that the difference is
    within, or ``n_levels`` when a value is missing; levels times ``radix`` add up to the pattern. A pair
    counts as often as its query and its target occur.
    """
    code = np.empty(STRIP, dtype=np.int64)
    for q in range(len(a)):
        for begin in range(low[q], high[q], STRIP):
            size = min(STRIP, high[q] - begin)
            for i in range(size):
                code[i] = 0
            for f in range(a.shape[1]):
                mine, row, step = a[q, f], b[f, begin : begin + size], radix[f]
                for level in range(tolerances.shape[1]):
                    limit = tolerances[f, level]
                    for i in range(size):
                        code[i] += step if abs(mine - row[i]) <= limit else 0
                missing = step * n_levels[f]
                for i in range(size):
                    code[i] += 0 if abs(mine - row[i]) < np.inf else missing
            for i in range(size):
                out[code[i]] += count_a[q] * count_b[begin + i]


def strip_weights(
    mine: Any, rows: Any, knots: Any, slopes: Any, top: Any, stepwise: bool, total: Any
) -> None:
    """Write the weights of one query with a strip of targets.

    A field's weight at difference 0 is ``top``. Stepwise it changes by ``slopes[k]`` beyond ``knots[k]``;
    otherwise it is piecewise linear with slope ``slopes[k]`` from ``knots[k]`` to ``knots[k + 1]``. A
    missing value weighs nothing.
    """
    size = rows.shape[1]
    for i in range(size):
        total[i] = 0.0
    for f in range(len(mine)):
        here, row, start = mine[f], rows[f], top[f]
        for i in range(size):
            total[i] += start if abs(here - row[i]) < np.inf else 0.0
        for k in range(slopes.shape[1]):
            slope, knot = slopes[f, k], knots[f, k]
            if slope == 0:
                continue
            if stepwise:
                for i in range(size):
                    total[i] += slope if abs(here - row[i]) > knot else 0.0
            else:
                width = knots[f, k + 1] - knot
                for i in range(size):
                    gap = abs(here - row[i]) - knot
                    gap = gap if gap > 0 else 0.0  # NaN too
                    total[i] += slope * min(gap, width)


def best_weights(
    a: Any,
    b: Any,
    low: Any,
    high: Any,
    knots: Any,
    slopes: Any,
    top: Any,
    stepwise: bool,
    number: Any,
    amount: Any,
    margin: float,
    link: Any,
    best: Any,
    ties: Any,
) -> None:
    """Find the candidate of the largest weight for each query, the next weight, and how many tie."""
    weight = np.empty(STRIP)
    for q in range(len(a)):
        link[q], ties[q] = -1, 0
        largest, second = -np.inf, -np.inf
        for begin in range(low[q], high[q], STRIP):
            end = min(begin + STRIP, high[q])
            strip_weights(a[q], b[:, begin:end], knots, slopes, top, stepwise, weight)
            for i in range(end - begin):
                here = weight[i]
                if here <= second and here < largest - margin:
                    continue
                many = amount[begin + i]
                if here > largest + margin:
                    largest, second = here, (here if many > 1 else largest)
                    ties[q], link[q] = many, number[begin + i]
                else:
                    second = max(second, here)
                    if here >= largest - margin:
                        ties[q] += many
                        link[q] = min(link[q], number[begin + i])
        best[q, 0], best[q, 1] = largest, second


KERNELS = Kernels(globals(), count_patterns, strip_weights, best_weights)
