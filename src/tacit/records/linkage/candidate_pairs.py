"""Kernels that compare candidate pairs field by field without keeping them.

A field is compared in one of two ways. By *difference*: its level is the number of tolerances that the difference
is within. By *level*: the same, put through ``rank``, or the level that a table has for the two values, if that is
higher. A table is sparse, one row for each value; the row of a query's value is spread out once (``near``), so that
each of its candidates costs one look-up.

Kernels take candidates and fields as tuples:

- ``pairs``: queries ``a`` (rows), targets ``b`` (columns), the stretch of targets from ``low`` to ``high`` of each query,
  how often queries and targets occur, and their blocks under earlier rules (``ours``, ``theirs``);
- ``fields``: tolerances, highest levels, which fields go by level, ``rank``, where a field's table begins and its
  first value (``base``, -1 for none), the tables end to end (``start``, ``other``, ``level``), the place of each
  target's value in its table (``codes``), and the width of the widest table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.numerics.kernels import Kernels

#: Targets compared at a time.
STRIP = 512


def spread_query(mine: Any, fields: Any, near: Any, put: bool) -> None:
    """Write the levels of the rows of a query's values where the other values stand, or zeros again."""
    _, _, by_level, _, base, start, other, level, _, _ = fields
    for f in range(len(mine)):
        if by_level[f] and base[f, 0] >= 0 and abs(mine[f]) < np.inf:
            code = base[f, 0] + int(mine[f]) - base[f, 1]
            for i in range(start[code], start[code + 1]):
                near[f, other[i]] = level[i] if put else 0


def strip_levels(
    here: float, row: Any, f: int, begin: int, fields: Any, near: Any, out: Any
) -> None:
    """Write the level of a query's value with a strip of others; one above the highest where a value is missing."""
    tolerances, tops, _, rank, base, _, _, _, codes, _ = fields
    size, limits = len(row), tolerances[f]
    for i in range(size):
        out[i] = 0
    for k in range(len(limits)):
        limit = limits[k]
        if limit >= 0:
            for i in range(size):
                out[i] += 1 if abs(here - row[i]) <= limit else 0
    if limits[0] >= 0:
        for i in range(size):
            out[i] = rank[f, out[i]]
    if base[f, 0] >= 0:
        for i in range(size):
            out[i] = max(out[i], near[f, codes[f, begin + i]])
    for i in range(size):
        out[i] = out[i] if abs(here - row[i]) < np.inf else tops[f] + 1


def mark_earlier(ours: Any, theirs: Any, q: int, begin: int, size: int, met: Any) -> None:
    """Mark the pairs of a query that an earlier rule has brought together already."""
    for i in range(size):
        met[i] = 0
    for r in range(ours.shape[1]):
        mine = ours[q, r]
        for i in range(size):
            met[i] |= 1 if theirs[r, begin + i] == mine else 0


def strip_numbers(pairs: Any, fields: Any, places: Any, q: int, begin: int, room: Any) -> int:
    """Write the numbers of the patterns of one query with a strip of targets; return the size of the strip.

    A field's level goes up to its highest and is one more when a value is missing; levels times the second of
    ``places`` add up to the words of the pattern, the rows of ``code``. ``met`` marks what an earlier rule has. Both are of the ``room`` for a strip.
    """
    near, code, one, met = room
    a, b, _, high, _, _, ours, theirs = pairs
    tolerances, tops, by_level = fields[0], fields[1], fields[2]
    size = min(STRIP, high[q] - begin)
    for w in range(len(code)):
        for i in range(size):
            code[w, i] = 0
    for f in range(a.shape[1]):
        here, row = a[q, f], b[f, begin : begin + size]
        w, step = places[0][f], places[1][f]
        if by_level[f]:
            strip_levels(here, row, f, begin, fields, near, one)
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
    mark_earlier(ours, theirs, q, begin, size, met)
    return size


def count_patterns(pairs: Any, fields: Any, places: Any, out: Any) -> None:
    """Count the agreement patterns of the candidate pairs of each query, which have one word.

    A pair counts as often as its query and its target occur, in the second half of ``out`` when an earlier rule has
    brought it together already.
    """
    a, _, low, high, count_a, count_b, _, _ = pairs
    code = np.empty((1, STRIP), dtype=np.int64)
    one, met = np.empty(STRIP, dtype=np.int64), np.empty(STRIP, dtype=np.int64)
    near = np.zeros((a.shape[1], fields[9]), dtype=np.uint8)
    room = near, code, one, met
    half = len(out) // 2
    for q in range(len(a)):
        spread_query(a[q], fields, near, True)
        for begin in range(low[q], high[q], STRIP):
            size = strip_numbers(pairs, fields, places, q, begin, room)
            for i in range(size):
                out[code[0, i] + half * met[i]] += count_a[q] * count_b[begin + i]
        spread_query(a[q], fields, near, False)


def number_patterns(pairs: Any, fields: Any, places: Any, numbers: Any, amount: Any) -> None:
    """Write the pattern of every candidate pair, and how many pairs of records it stands for.

    The words of a pattern are the columns of ``numbers``; the last one is 1 when an earlier rule has the pair.
    """
    a, _, low, high, count_a, count_b, _, _ = pairs
    words = numbers.shape[1] - 1
    code = np.empty((words, STRIP), dtype=np.int64)
    one, met = np.empty(STRIP, dtype=np.int64), np.empty(STRIP, dtype=np.int64)
    near = np.zeros((a.shape[1], fields[9]), dtype=np.uint8)
    room = near, code, one, met
    done = 0
    for q in range(len(a)):
        spread_query(a[q], fields, near, True)
        for begin in range(low[q], high[q], STRIP):
            size = strip_numbers(pairs, fields, places, q, begin, room)
            for i in range(size):
                for w in range(words):
                    numbers[done + i, w] = code[w, i]
                numbers[done + i, words] = met[i]
                amount[done + i] = count_a[q] * count_b[begin + i]
            done += size
        spread_query(a[q], fields, near, False)


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
    pairs: Any, fields: Any, how: Any, bonus: Any, number: Any, margin: float, found: Any
) -> None:
    """Find the candidate of the largest weight for each query, the next weight, and how many tie.

    ``found`` are the links, the two best weights and the ties; what an earlier rule has found stands there already.
    ``how`` holds what :func:`strip_weights` takes, then the weight of each level of a field that goes by level (0 behind
    the last: missing); ``bonus`` is what a query's value adds at its highest level, ``number`` the record of each target.
    """
    a, b, low, high, _, amount, ours, theirs = pairs
    tops, by_level = fields[1], fields[2]
    knots, slopes, top, stepwise, weights = how
    link, best, ties = found
    weight = np.empty(STRIP)
    one, met = np.empty(STRIP, dtype=np.int64), np.empty(STRIP, dtype=np.int64)
    near = np.zeros((a.shape[1], fields[9]), dtype=np.uint8)
    for q in range(len(a)):
        largest, second = best[q, 0], best[q, 1]
        spread_query(a[q], fields, near, True)
        for begin in range(low[q], high[q], STRIP):
            end = min(begin + STRIP, high[q])
            strip_weights(a[q], b[:, begin:end], knots, slopes, top, stepwise, weight)
            for f in range(a.shape[1]):
                if by_level[f]:
                    highest, more = tops[f], bonus[q, f]
                    strip_levels(a[q, f], b[f, begin:end], f, begin, fields, near, one)
                    for i in range(end - begin):
                        weight[i] += weights[f, one[i]] + (more if one[i] == highest else 0.0)
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
        spread_query(a[q], fields, near, False)
        best[q, 0], best[q, 1] = largest, second


KERNELS = Kernels(
    globals(),
    spread_query,
    strip_levels,
    mark_earlier,
    strip_numbers,
    count_patterns,
    number_patterns,
    strip_weights,
    best_weights,
)
