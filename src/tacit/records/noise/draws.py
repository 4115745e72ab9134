"""Noise on arrays: factors around 1, residuals drawn near by, what restores a variance, corrections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import InputError
from tacit.numerics.algebra import dot, eigh, eigvalsh
from tacit.numerics.elementary import exp, log1p, ndtr, ndtri
from tacit.stats.moments import TOLERANCE

Factors = Literal["lognormal", "truncated", "two_sided"]


# -- multiplicative ------------------------------------------------------------------------------


def lognormal_factors(z: Floats, sd: float) -> Floats:
    """Return factors of mean 1 and standard deviation sd from standard normal numbers."""
    log_variance = log1p(sd**2)
    return np.asarray(exp(np.sqrt(log_variance) * z - log_variance / 2.0))


def truncated_factors(u: Floats, sd: float, limit: float) -> Floats:
    """Return normal factors of mean 1, cut to 1 - limit .. 1 + limit, from uniform numbers."""
    edge = ndtr(limit / sd)
    return np.asarray(1.0 + sd * ndtri((1.0 - edge) + u * (2.0 * edge - 1.0)))


def two_sided_factors(u: Floats, gap: float, limit: float) -> Floats:
    """Return factors between gap and limit away from 1, either side as likely, most of them near the gap."""
    up = u >= 0.5
    rest = np.where(up, 2.0 * u - 1.0, 2.0 * u)
    distance = gap + (limit - gap) * (1.0 - np.sqrt(1.0 - rest))
    return np.asarray(np.where(up, 1.0 + distance, 1.0 - distance))


def factor_variance(distribution: Factors, sd: float, gap: float, limit: float) -> float:
    """Return the variance of the factors."""
    match distribution:
        case "lognormal":
            return sd**2
        case "truncated":
            t = limit / sd
            density = exp(-(t**2) / 2.0) / np.sqrt(2.0 * np.pi)
            return float(sd**2 * (1.0 - 2.0 * t * density / (2.0 * ndtr(t) - 1.0)))
        case _:
            width = limit - gap
            return gap**2 + 2.0 * gap * width / 3.0 + width**2 / 6.0


def corrected_moments(y: Floats, factor_covariance: Floats) -> tuple[Floats, Floats]:
    """Return mean and covariance of the original, estimated from values that were multiplied by noise.

    With y = x f, f independent of x, of mean 1 and covariance V, E(y_i y_j) = (1 + V_ij) E(x_i x_j), so
    that the second moments are divided by 1 + V_ij before the means are taken off.
    """
    mean = y.mean(axis=0)
    second = dot(y.T, y) / len(y) / (1.0 + np.asarray(factor_covariance))
    return mean, (second - np.outer(mean, mean)) * (len(y) / (len(y) - 1.0))


# -- additive --------------------------------------------------------------------------------------


def restoring_factor(n: int, share: float) -> float:
    """Return c with which mean + c (x - mean + e) has the sum of squares of x about its mean, on average.

    For noise e of variance ``share`` times that of x, c^2 = (n - 1) / (n (1 + share) - 1): the noise does
    not sum to 0 in a sample, which adds to the squares about the old mean (Kim 1986).
    """
    return float(np.sqrt((n - 1.0) / (n * (1.0 + share) - 1.0)))


def normal_between(u: Floats, low: Floats, high: Floats) -> Floats:
    """Return standard normal draws within bounds, from uniform numbers."""
    # Mirrored where both bounds are positive: the lower tail keeps its digits.
    flip = low > 0
    a = ndtr(np.where(flip, -high, low))
    b = ndtr(np.where(flip, -low, high))
    z = ndtri(a + u * (b - a))
    return np.asarray(np.clip(np.where(flip, -z, z), low, high))


def lost_covariance(original: Floats, released: Floats) -> tuple[Floats, float]:
    """Return Cov(original) - Cov(released) without its negative part, and the size of that part.

    The size is the largest negative eigenvalue as a share of the largest eigenvalue of the correlations:
    0 for group means, whose loss is a covariance itself (that within groups).
    """
    sd = original.std(axis=0, ddof=1)
    a, b = ((x - x.mean(axis=0)) / sd for x in (original, released))
    values, vectors = eigh((dot(a.T, a) - dot(b.T, b)) / (len(a) - 1.0))
    negative = max(-float(values[0]), 0.0)
    kept = np.clip(values, 0.0, None)
    lost = dot(vectors * kept, vectors.T) * np.outer(sd, sd)
    return lost, negative if negative > TOLERANCE else 0.0


# -- drawn from neighbours ---------------------------------------------------------------------------


def squares(x: Floats, parts: int) -> Ints:
    """Return the cell of each record when the bounding box is cut into about ``parts`` equal cells."""
    p = x.shape[1]
    side = max(round(parts ** (1.0 / p)), 1)
    low, width = x.min(axis=0), np.ptp(x, axis=0)
    at = ((x - low) / np.where(width > 0, width, 1.0) * side).astype(np.int64)
    return np.asarray(np.ravel_multi_index(tuple(np.minimum(at, side - 1).T), (side,) * p))


def assign_leaves(x: Floats, parts: int) -> Ints:
    """Return the leaf of each record in a k-d split into ``parts`` leaves of nearly equal size.

    Each cut goes across the column of the largest spread, in units of its own standard deviation; ties
    stay in record order.
    """
    spread = x.std(axis=0)
    z = x / np.where(spread > 0, spread, 1.0)
    labels = np.zeros(len(x), dtype=np.int64)
    for number, members in enumerate(halves(z, np.arange(len(x)), min(parts, len(x)))):
        labels[members] = number
    return labels


def halves(z: Floats, members: Ints, parts: int) -> Iterator[Ints]:
    """Yield the leaves of some records."""
    if parts == 1:
        yield members
        return
    left = parts // 2
    widest = int(np.ptp(z[members], axis=0).argmax())
    order = members[np.argsort(z[members, widest], kind="stable")]
    cut = round(len(members) * left / parts)
    yield from halves(z, np.sort(order[:cut]), left)
    yield from halves(z, np.sort(order[cut:]), parts - left)


def local_draws(
    residual: Floats, place: Floats, cell: Ints, fewest: int, rng: np.random.Generator
) -> Floats:
    """Return for each record the residual of a random record of its cell, drawn with replacement.

    A cell of fewer than ``fewest`` records draws from the nearest cells as well, as many of them as are
    needed. The draws are shifted together so that they have the mean of the residuals.
    """
    if len(residual) < fewest:
        raise InputError(f"local_noise: at least {fewest} complete records are needed.")
    cell = np.unique(cell, return_inverse=True)[1]
    count = np.bincount(cell)
    order = np.argsort(cell, kind="stable")
    members = np.split(order, np.cumsum(count)[:-1])
    spread = np.ptp(place, axis=0)
    scaled = place / np.where(spread > 0, spread, 1.0)
    middle = np.column_stack([np.bincount(cell, weights=c) / count for c in scaled.T])
    source = np.empty(len(residual), dtype=np.int64)
    for i, own in enumerate(members):
        pool = own
        if len(own) < fewest:
            near = np.argsort(((middle - middle[i]) ** 2).sum(axis=1), kind="stable")
            enough = int(np.searchsorted(np.cumsum(count[near]), fewest)) + 1
            pool = np.concatenate([members[j] for j in near[:enough]])
        source[own] = pool[rng.integers(len(pool), size=len(own))]
    drawn = residual[source]
    return drawn + (residual.mean(axis=0) - drawn.mean(axis=0))


# -- jackknife -----------------------------------------------------------------------------------------

#: Covariances decomposed at a time.
BATCH = 1 << 15


def eigenvalue_influence(x: Floats, count: int = 2) -> Floats:
    """Return the jackknife pseudo-values of the first eigenvalues of the correlation matrix, in their units.

    Entry (i, k) is n - (n - 1) l_k(-i) / l_k with l_k(-i) the eigenvalue without record i, exactly. To
    first order it is the squared standardised score of the record on component k, so that it behaves like
    a chi-square with one degree of freedom for normal data.
    """
    n, p = x.shape
    sd = x.std(axis=0, ddof=1)
    z = (x - x.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    covariance = dot(z.T, z) / (n - 1.0)
    count = min(count, p)
    whole = eigvalsh(covariance)[::-1][:count]
    out = np.empty((n, count))
    for begin in range(0, n, BATCH):
        d = z[begin : begin + BATCH]
        without = (n - 1.0) / (n - 2.0) * covariance - n / ((n - 1.0) * (n - 2.0)) * (
            d[:, :, None] * d[:, None, :]
        )
        out[begin : begin + BATCH] = eigvalsh(without)[:, ::-1][:, :count]
    return np.asarray(n - (n - 1.0) * out / np.where(whole > 0, whole, 1.0))
