"""Linkage by the distribution of masked given original records, both taken as jointly normal.

With sample moments S of original X and masked Y,

    H = S_YX S_XX^-1,   E = S_YY - H S_XY,   q_ij = |y_j - ybar - H (x_i - xbar)|^2 in the metric E^-1,

and the masked record j is that of target i with a probability P_ij in proportion to exp(-q_ij / 2)
(Fuller 1993, Journal of Official Statistics 9, 383-406). The most likely record is the nearest one once E is whitened, which a tree finds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.algebra import dot, eigh, eigvalsh, pinvh
from tacit.numerics.elementary import exp

#: Conditional variances below this share of a variance are taken for it: rounding, or no masking at all.
LEAST = 1e-12
#: Distances that are computed at a time.
PAIRS = 1 << 22


@dataclass(frozen=True)
class Conditional:
    """The distribution of a masked record given the original one.

    Attributes
    ----------
    x_mean, y_mean
        Means of original and masked records.
    slope, covariance
        H and E.
    whiten
        W with W' E W = 1.
    """

    x_mean: Floats
    y_mean: Floats
    slope: Floats
    covariance: Floats
    whiten: Floats

    def expected(self, x: Floats) -> Floats:
        """Return where targets are looked for, whitened."""
        return np.asarray(dot(dot(x - self.x_mean, self.slope.T), self.whiten))

    def masked(self, y: Floats) -> Floats:
        """Return masked records, whitened."""
        return np.asarray(dot(y - self.y_mean, self.whiten))


def conditional_of(x: Floats, y: Floats) -> Conditional:
    """Return the distribution from original and masked records of the same people, n - 1 in the moments."""
    n, p = x.shape
    dx, dy = x - x.mean(axis=0), y - y.mean(axis=0)
    spread = np.sqrt(np.maximum((dx * dx).mean(axis=0), (dy * dy).mean(axis=0)))
    scale = np.where(spread > 0, spread, 1.0)
    both = np.hstack([dx / scale, dy / scale])
    moments = dot(both.T, both) / (n - 1)
    xx, xy, yy = moments[:p, :p], moments[:p, p:], moments[p:, p:]
    slope = (dot(pinvh(xx), xy)).T
    rest = yy - dot(slope, xy)
    rest = (rest + rest.T) / 2.0
    values, vectors = eigh(rest)
    floor = LEAST * max(1.0, float(eigvalsh(yy)[-1]))
    whiten = vectors / np.sqrt(np.maximum(values, floor))
    return Conditional(
        x.mean(axis=0),
        y.mean(axis=0),
        slope * scale[:, None] / scale[None, :],
        rest * np.outer(scale, scale),
        whiten / scale[:, None],
    )


def link_probabilities(expected: Floats, masked: Floats) -> Floats:
    """Return P_ij of every target (row) and masked record (column), both whitened."""
    q = compute_squared_distances(expected, masked)
    weight = exp(-(q - q.min(axis=1, keepdims=True)) / 2.0)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def own_probabilities(
    expected: Floats, masked: Floats, own: Ints, tick: Callable[[float], None]
) -> Floats:
    """Return P_ii: how likely a target's own record ``own`` is held for its own."""
    out = np.empty(len(expected))
    step = max(1, PAIRS // max(len(masked), 1))
    for start in range(0, len(expected), step):
        tick(start / len(expected))
        at = slice(start, start + step)
        found = link_probabilities(expected[at], masked)
        out[at] = found[np.arange(len(found)), own[at]]
    return out


def compute_squared_distances(expected: Floats, masked: Floats) -> Floats:
    """Return the squared distances of every target to every masked record."""
    q = (
        (expected**2).sum(axis=1)[:, None]
        + (masked**2).sum(axis=1)[None, :]
        - dot(2.0 * expected, masked.T)
    )
    return np.maximum(q, 0.0)
