"""Kernels that compare candidate pairs field by field without keeping them.

A field is compared in one of two ways. By *difference*: its level is the number of tolerances that the difference
is within. By *level*: the same, put through ``rank``, or the level that a table has for the two values, if that is
higher. A table is sparse, one row for each value; the row of a query's value is spread out once (``near``), so that
each of its candidates costs one look-up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.numerics.kernels import Kernels

#: Targets compared at a time.
STRIP = 512


def spread_row(code: int, start: Any, other: Any, level: Any, near: Any, put: bool) -> None:
    """Write the levels of a value's row where the other values stand, or zeros again."""
    for i in range(start[code], start[code + 1]):
        near[other[i]] = level[i] if put else 0


def spread_query(
    mine: Any, by_level: Any, base: Any, start: Any, other: Any, level: Any, near: Any, put: bool
) -> None:
    """Spread out the rows of all fields of a query; ``base`` is where a field's table begins, -1 for none."""
    for f in range(len(mine)):
        if by_level[f] and base[f, 0] >= 0 and abs(mine[f]) < np.inf:
            code = base[f, 0] + int(mine[f]) - base[f, 1]
            spread_row(code, start, other, level, near[f], put)


def strip_levels(
    here: float,
    row: Any,
    limits: Any,
    rank: Any,
    near: Any,
    codes: Any,
    has_table: bool,
    top: int,
    out: Any,
) -> None:
    """Write the level of a query's value with a strip of others; ``top`` + 1 where a value is missing."""
    size = len(row)
    for i in range(size):
        out[i] = 0
    for k in range(len(limits)):
        limit = limits[k]
        if limit >= 0:
            for i in range(size):
                out[i] += 1 if abs(here - row[i]) <= limit else 0
    if limits[0] >= 0:
        for i in range(size):
            out[i] = rank[out[i]]
    if has_table:
        for i in range(size):
            out[i] = max(out[i], near[codes[i]])
    for i in range(size):
        out[i] = out[i] if abs(here - row[i]) < np.inf else top + 1


def mark_earlier(ours: Any, theirs: Any, q: int, begin: int, size: int, met: Any) -> None:
    """Mark the pairs of a query that an earlier rule has brought together already."""
    for i in range(size):
        met[i] = 0
    for r in range(ours.shape[1]):
        mine = ours[q, r]
        for i in range(size):
            met[i] |= 1 if theirs[r, begin + i] == mine else 0


def strip_numbers(
    mine: Any,
    rows: Any,
    seen: Any,
    tolerances: Any,
    tops: Any,
    word: Any,
    radix: Any,
    by_level: Any,
    rank: Any,
    base: Any,
    near: Any,
    one: Any,
    code: Any,
) -> None:
    """Write the numbers of the patterns of one query with a strip of targets, one row of ``code`` a word."""
    size = rows.shape[1]
    for w in range(len(code)):
        for i in range(size):
            code[w, i] = 0
    for f in range(len(mine)):
        here, row, step, w = mine[f], rows[f], radix[f], word[f]
        if by_level[f]:
            table = base[f, 0] >= 0
            strip_levels(here, row, tolerances[f], rank[f], near[f], seen[f], table, tops[f], one)
            for i in range(size):
                code[w, i] += step * one[i]
            continue
        for k in range(tolerances.shape[1]):
            limit = tolerances[f, k]
            for i in range(size):
                code[w, i] += step if abs(here - row[i]) <= limit else 0
        missing = step * (tops[f] + 1)
        for i in range(size):
            code[w, i] += 0 if abs(here - row[i]) < np.inf else missing


def count_patterns(
    a: Any,
    b: Any,
    low: Any,
    high: Any,
    count_a: Any,
    count_b: Any,
    tolerances: Any,
    tops: Any,
    radix: Any,
    by_level: Any,
    rank: Any,
    base: Any,
    start: Any,
    other: Any,
    level: Any,
    codes: Any,
    width: int,
    ours: Any,
    theirs: Any,
    out: Any,
) -> None:
    """Count the agreement patterns of the candidate pairs of each query.

    Fields are rows of ``b``; query q is compared with the targets from ``low[q]`` to ``high[q]``. A field's level
    goes up to ``tops`` and is one more when a value is missing; levels times ``radix`` add up to the pattern. A
    pair counts as often as its query and its target occur, in the second half of ``out`` when an earlier rule has
    brought it together already.
    """
    code = np.empty((1, STRIP), dtype=np.int64)
    word = np.zeros(a.shape[1], dtype=np.int64)
    one, met = np.empty(STRIP, dtype=np.int64), np.empty(STRIP, dtype=np.int64)
    near = np.zeros((a.shape[1], width), dtype=np.uint8)
    half = len(out) // 2
    for q in range(len(a)):
        spread_query(a[q], by_level, base, start, other, level, near, True)
        for begin in range(low[q], high[q], STRIP):
            size = min(STRIP, high[q] - begin)
            strip_numbers(
                a[q], b[:, begin : begin + size], codes[:, begin : begin + size],
                tolerances, tops, word, radix, by_level, rank, base, near, one, code,
            )  # fmt: skip
            if ours.shape[1] > 0:
                mark_earlier(ours, theirs, q, begin, size, met)
                for i in range(size):
                    code[0, i] += half * met[i]
            for i in range(size):
                out[code[0, i]] += count_a[q] * count_b[begin + i]
        spread_query(a[q], by_level, base, start, other, level, near, False)


def number_patterns(
    a: Any,
    b: Any,
    low: Any,
    high: Any,
    count_a: Any,
    count_b: Any,
    tolerances: Any,
    tops: Any,
    word: Any,
    radix: Any,
    by_level: Any,
    rank: Any,
    base: Any,
    start: Any,
    other: Any,
    level: Any,
    codes: Any,
    width: int,
    ours: Any,
    theirs: Any,
    numbers: Any,
    pairs: Any,
) -> None:
    """Write the pattern of every candidate pair, and how many pairs of records it stands for.

    The words of a pattern are the columns of ``numbers``; the last one is 1 when an earlier rule has the pair.
    """
    words = numbers.shape[1] - 1
    code = np.empty((words, STRIP), dtype=np.int64)
    one, met = np.empty(STRIP, dtype=np.int64), np.zeros(STRIP, dtype=np.int64)
    near = np.zeros((a.shape[1], width), dtype=np.uint8)
    done = 0
    for q in range(len(a)):
        spread_query(a[q], by_level, base, start, other, level, near, True)
        for begin in range(low[q], high[q], STRIP):
            size = min(STRIP, high[q] - begin)
            strip_numbers(
                a[q], b[:, begin : begin + size], codes[:, begin : begin + size],
                tolerances, tops, word, radix, by_level, rank, base, near, one, code,
            )  # fmt: skip
            if ours.shape[1] > 0:
                mark_earlier(ours, theirs, q, begin, size, met)
            for i in range(size):
                for w in range(words):
                    numbers[done + i, w] = code[w, i]
                numbers[done + i, words] = met[i]
                pairs[done + i] = count_a[q] * count_b[begin + i]
            done += size
        spread_query(a[q], by_level, base, start, other, level, near, False)


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
        if start != 0:
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
    weights: Any,
    bonus: Any,
    tolerances: Any,
    tops: Any,
    by_level: Any,
    rank: Any,
    base: Any,
    start: Any,
    other: Any,
    level: Any,
    codes: Any,
    width: int,
    ours: Any,
    theirs: Any,
    number: Any,
    amount: Any,
    margin: float,
    link: Any,
    best: Any,
    ties: Any,
) -> None:
    """Find the candidate of the largest weight for each query, the next weight, and how many tie.

    What an earlier rule has found stands in ``link``, ``best`` and ``ties`` already. ``weights`` holds the weight of
    each level of a field that goes by level (0 behind the last: missing), ``bonus`` what a query's value adds at
    its highest level.
    """
    weight = np.empty(STRIP)
    one, met = np.empty(STRIP, dtype=np.int64), np.zeros(STRIP, dtype=np.int64)
    near = np.zeros((a.shape[1], width), dtype=np.uint8)
    for q in range(len(a)):
        largest, second = best[q, 0], best[q, 1]
        spread_query(a[q], by_level, base, start, other, level, near, True)
        for begin in range(low[q], high[q], STRIP):
            end = min(begin + STRIP, high[q])
            strip_weights(a[q], b[:, begin:end], knots, slopes, top, stepwise, weight)
            for f in range(a.shape[1]):
                if by_level[f]:
                    row, seen = b[f, begin:end], codes[f, begin:end]
                    highest, more, table = tops[f], bonus[q, f], base[f, 0] >= 0
                    strip_levels(
                        a[q, f], row, tolerances[f], rank[f], near[f], seen, table, highest, one
                    )
                    for i in range(end - begin):
                        weight[i] += weights[f, one[i]] + (more if one[i] == highest else 0.0)
            if ours.shape[1] > 0:
                mark_earlier(ours, theirs, q, begin, end - begin, met)
            for i in range(end - begin):
                here = weight[i]
                if (here <= second and here < largest - margin) or met[i] > 0:
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
        spread_query(a[q], by_level, base, start, other, level, near, False)
        best[q, 0], best[q, 1] = largest, second


KERNELS = Kernels(
    globals(),
    spread_row,
    spread_query,
    strip_levels,
    mark_earlier,
    strip_numbers,
    count_patterns,
    number_patterns,
    strip_weights,
    best_weights,
)
