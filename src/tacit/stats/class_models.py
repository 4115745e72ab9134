"""How varied the values of each class are, and how far they depart from the whole: functions on plain arrays.

A class and its values are given by rows: ``of_class`` and ``value`` are small integers, ``n`` is the amount of
the row, a number of records or a sum of weights. Classes are numbered 0 .. ``n_classes`` - 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.numerics.elementary import exp, log

Amounts = npt.NDArray[Any]

#: Room for the last binary digits: two values with equal counts have entropy diversity 2.
TOLERANCE = 1e-9


def sum_by(groups: npt.NDArray[Any], amounts: Amounts, n_groups: int) -> Floats:
    """Return the sum of the amounts of each group."""
    return np.bincount(groups, weights=amounts, minlength=n_groups).astype(np.float64)


def distinct_diversity(of_class: Ints, n_classes: int) -> Floats:
    """Return the number of different values of each class; rows do not repeat a class and value."""
    return np.bincount(of_class, minlength=n_classes).astype(np.float64)


def entropy_diversity(of_class: Ints, n: Amounts, n_classes: int) -> Floats:
    """Return exp(entropy) of the values in each class; rows do not repeat a class and value."""
    size = sum_by(of_class, n, n_classes)
    share = n / size[of_class]
    return exp(sum_by(of_class, -share * log(share), n_classes))


def recursive_diversity(of_class: Ints, n: Amounts, n_classes: int, c: float) -> Floats:
    """Return the largest l with r_1 < c (r_l + ... + r_m) in each class, at least 1.

    The tail only shrinks as l grows, so the largest l is one more than the number of positions after
    the first at which the inequality holds.
    """
    if not len(n):
        return np.ones(n_classes)
    size = sum_by(of_class, n, n_classes)
    order = np.lexsort([-n, of_class])
    n, of_class = n[order], of_class[order]
    before = np.cumsum(n) - n
    starts = np.searchsorted(of_class, np.arange(n_classes))
    starts = np.minimum(starts, max(len(n) - 1, 0))
    tail = size[of_class] - (before - before[starts][of_class])
    first = n[starts][of_class]
    after_first = np.arange(len(n)) > starts[of_class]
    # With c = 1.1 the product 1.1 * 10 exceeds 11 in binary; equality must not pass for less.
    holds = after_first & (c * tail - first > TOLERANCE * first)
    return 1 + np.bincount(of_class[holds], minlength=n_classes).astype(np.float64)


def equal_distance(of_class: Ints, value: Ints, n: Amounts, n_classes: int) -> Floats:
    """Return 1/2 sum |p - q| of each class: the sum of the positive parts of p - q.

    Rows may repeat a class and value. Only values that occur in a class can have a positive part, so
    the work is in the rows and not in classes times values.
    """
    if not len(n):
        return np.zeros(n_classes)
    totals, sizes = np.bincount(value, weights=n), sum_by(of_class, n, n_classes)
    pairs, at = np.unique(of_class * len(totals) + value, return_inverse=True)
    owner, kind = np.divmod(pairs, len(totals))
    p = sum_by(at.ravel(), n, len(pairs)) / sizes[owner]
    q = totals[kind] / totals.sum()
    return sum_by(owner, np.maximum(p - q, 0.0), n_classes)


def ordered_distance(of_class: Ints, value: Ints, n: Amounts, n_classes: int, m: int) -> Floats:
    """Return 1/(m - 1) sum_i |P(i) - Q(i)| of each class, P and Q cumulative over m ranked values.

    Rows are sorted by class, then by value. Between two values that occur in a class P is constant, so each
    stretch is summed at once: Q is below P up to one place, found by bisection, and above it after.
    """
    if m < 2 or not len(n):
        return np.zeros(n_classes)
    sizes = sum_by(of_class, n, n_classes)
    totals = np.cumsum(sum_by(value, n, m))
    q = totals / totals[-1]
    q_sum = np.concatenate([[0.0], np.cumsum(q)])
    present = np.flatnonzero(sizes > 0)
    starts = np.zeros(n_classes, dtype=np.int64)
    starts[present] = np.searchsorted(of_class, present)
    upto = np.cumsum(n)
    p = (upto - (upto - n)[starts][of_class]) / sizes[of_class]
    stop = np.full(len(p), m)
    same = of_class[1:] == of_class[:-1]
    stop[:-1][same] = value[1:][same]
    cross = np.clip(np.searchsorted(q, p), value, stop)
    below = p * (cross - value) - (q_sum[cross] - q_sum[value])
    above = (q_sum[stop] - q_sum[cross]) - p * (stop - cross)
    work = sum_by(of_class, below + above, n_classes)
    work[present] += q_sum[value[starts[present]]]
    return np.maximum(work, 0.0) / (m - 1)


def hierarchical_distance(
    of_class: Ints, value: Ints, n: Amounts, n_classes: int, labels: Sequence[Ints]
) -> Floats:
    """Return the mean over the levels below the top of the equal distance at that level.

    ``labels`` gives, for each level, the label of each value; null has one of its own throughout.
    """
    total = np.zeros(n_classes)
    for level in labels[:-1]:
        total += equal_distance(of_class, level[value], n, n_classes)
    return total / (len(labels) - 1)


def shares_in_and_out(
    of_class: Ints, value: Ints, n: Amounts, n_classes: int
) -> tuple[Floats, Floats]:
    """Return, for each row, the share of its value in its class (p) and among all (q).

    Rows do not repeat a class and value, and have positive amounts.
    """
    sizes = sum_by(of_class, n, n_classes)
    totals = np.bincount(value, weights=n) if len(n) else np.zeros(0)
    return n / sizes[of_class], totals[value] / max(totals.sum(), 1e-300)


def largest_by(of_class: Ints, amounts: Amounts, n_classes: int) -> Amounts:
    """Return the largest amount of each class, at least 0."""
    top = np.zeros(n_classes, dtype=amounts.dtype)
    np.maximum.at(top, of_class, amounts)
    return top


def relative_gain(of_class: Ints, value: Ints, n: Amounts, n_classes: int) -> Floats:
    """Return the largest (p - q) / q of each class: what its values gain against the whole."""
    p, q = shares_in_and_out(of_class, value, n, n_classes)
    return largest_by(of_class, (p - q) / q, n_classes)


def bounded_gain(of_class: Ints, value: Ints, n: Amounts, n_classes: int) -> Floats:
    """Return the largest gain of each class, infinite where a value gains more than -ln q."""
    p, q = shares_in_and_out(of_class, value, n, n_classes)
    gain = (p - q) / q
    return largest_by(of_class, np.where(gain > -log(q) + TOLERANCE, np.inf, gain), n_classes)


def log_ratio(
    of_class: Ints, value: Ints, n: Amounts, n_classes: int, *, all_values: bool
) -> Floats:
    """Return the largest |log2(p / q)| of each class; with ``all_values`` infinite where a value is absent."""
    p, q = shares_in_and_out(of_class, value, n, n_classes)
    far = largest_by(of_class, np.abs(np.log2(p / q)), n_classes)
    if all_values:
        present = np.bincount(of_class, minlength=n_classes)
        far[(present > 0) & (present < len(np.unique(value)))] = np.inf
    return far


def largest_share(of_class: Ints, n: Amounts, sizes: Amounts) -> Floats:
    """Return the largest share of one row in its class; 0 for a class without rows."""
    return largest_by(of_class, n / sizes[of_class], len(sizes))
