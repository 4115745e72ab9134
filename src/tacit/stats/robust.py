"""Robust location, scale and covariance: estimates that a share of outliers cannot move far.

Univariate: :func:`mad`, :func:`qn`, :func:`tau_scale`, :func:`one_step_mean`, :func:`huber_mean`.
Multivariate: :func:`robust_covariance` with the minimum covariance determinant (MCD), the minimum volume
ellipsoid (MVE), the orthogonalised Gnanadesikan-Kettenring estimate (OGK) and Huber's M-estimate, each
consistent for normal data, and :func:`mahalanobis_squared`.

References
----------
Rousseeuw, Croux (1993), Alternatives to the median absolute deviation, Journal of the American
Statistical Association 88, 1273-1283.
Rousseeuw, van Driessen (1999), A fast algorithm for the minimum covariance determinant estimator,
Technometrics 41, 212-223.
Rousseeuw, van Zomeren (1990), Unmasking multivariate outliers and leverage points, Journal of the
American Statistical Association 85, 633-639.
Maronna, Zamar (2002), Robust estimates of location and dispersion for high-dimensional datasets,
Technometrics 44, 307-317.
Maronna (1976), Robust M-estimators of multivariate location and scatter, Annals of Statistics 4, 51-67.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy import stats

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.numerics import algebra
from tacit.numerics.algebra import dot, eigh, eigvalsh, inv
from tacit.numerics.elementary import exp, log, ndtr, settle
from tacit.numerics.kernels import Kernels
from tacit.stats.moments import TOLERANCE

Covariance = Literal["mcd", "mve", "ogk", "m_estimate", "classical"]
Estimate = tuple[Floats, Floats]

#: Makes the MAD estimate the standard deviation of normal data; Templ (2006) prints 1.486.
MAD_CONSTANT = 1.4826
MAD_CONSTANT_TEMPL = 1.486
#: Where Huber's mean clips, in MADs from the centre.
HUBER_LIMIT = 1.5

#: FAST-MCD: starts, candidates kept, records of a subsample and the number of subsamples.
STARTS, KEPT, SUBSAMPLE, SUBSAMPLES = 500, 10, 300, 5
#: Records times columns above which the last concentration steps follow one candidate, and fewer steps.
LARGE = 100_000
#: The MVE is searched for on at most this many records.
MVE_RECORDS = 10_000
#: Records this share of normal data lies within are kept when an estimate is reweighted.
REWEIGHT = 0.975


# -- one column --------------------------------------------------------------------------------


def mad(x: Floats, *, constant: float = MAD_CONSTANT) -> Floats:
    """Return each column's median absolute deviation from its median, times ``constant``."""
    return np.asarray(constant * np.median(np.abs(x - np.median(x, axis=0)), axis=0))


def one_step_mean(
    x: Floats, c: float = 3 / MAD_CONSTANT_TEMPL, *, constant: float = MAD_CONSTANT
) -> Floats:
    """Return the mean of each column after values beyond median +- c MAD are set to that limit."""
    middle = np.median(x, axis=0)
    reach = c * mad(x, constant=constant)
    return np.asarray(np.clip(x, middle - reach, middle + reach).mean(axis=0))


def huber_mean(x: Floats, limit: float = HUBER_LIMIT, *, rounds: int = 100) -> Floats:
    """Return Huber's M-estimate of location of each column, its scale fixed at the MAD.

    The mean of the values clipped at ``limit`` MADs from the estimate, repeated until it stands; the
    median where the MAD is 0.
    """
    centre = np.median(x, axis=0)
    scale = mad(x)
    for _ in range(rounds):
        new = np.clip(x, centre - limit * scale, centre + limit * scale).mean(axis=0)
        moved = np.abs(new - centre)
        centre = np.where(scale > 0, new, centre)
        if (moved <= 1e-10 * scale).all():
            break
    return np.asarray(centre)


def tau_scale(x: Floats) -> tuple[float, float]:
    """Return the tau location and scale of a column (Maronna, Zamar 2002, c1 = 4.5, c2 = 3)."""
    middle = np.median(x)
    spread = MAD_CONSTANT * np.median(np.abs(x - middle))
    if spread <= 0:
        raise make_concentration_error()
    u = (x - middle) / spread
    weight = np.clip(1.0 - (u / 4.5) ** 2, 0.0, None) ** 2
    centre = float((weight * u).sum() / weight.sum())
    squared = float(np.minimum((u - centre) ** 2, 9.0).mean())
    return float(middle + spread * centre), float(spread * np.sqrt(squared / tau_consistency()))


def chi2_ppf(share: float, freedom: float) -> float:
    """Return a quantile of chi-square, without the digits that depend on the processor."""
    return float(settle(stats.chi2.ppf(share, freedom)))


def chi2_cdf(x: float, freedom: float) -> float:
    """Return the distribution function of chi-square, without the digits that depend on the processor."""
    return float(settle(stats.chi2.cdf(x, freedom)))


@functools.cache
def tau_consistency() -> float:
    """Return E min(Z^2, 9) for standard normal Z."""
    c = 3.0
    density = exp(-(c**2) / 2) / np.sqrt(2 * np.pi)
    return float(2 * ((1 - c**2) * ndtr(c) - c * density + c**2) - 1)


def make_concentration_error() -> InputError:
    """Return the error for data too concentrated for a robust scale."""
    return InputError(
        "robust estimation: more than half of the records share one value or lie in one plane. Leave such columns out or take a classical method."
    )


def qn(x: Floats) -> float:
    """Return Qn: 2.2219 times about the first quartile of the distances between pairs of values.

    The order statistic is found exactly in O(n log n), by halving an interval of distances.
    """
    n = len(x)
    if n < 2:
        return 0.0
    h = n // 2 + 1
    found = float(KERNELS.pick(40 * n)["pair_quantile"](np.sort(x), h * (h - 1) // 2))
    return 2.21914446598508 * qn_correction(n) * found


def qn_correction(n: int) -> float:
    """Return the factor that makes Qn unbiased in small normal samples (Croux, Rousseeuw 1992)."""
    table = {2: 0.399, 3: 0.994, 4: 0.512, 5: 0.844, 6: 0.611, 7: 0.857, 8: 0.669, 9: 0.872}
    return table.get(n) or n / (n + (1.4 if n % 2 else 3.8))


# -- covariance ----------------------------------------------------------------------------------


def spatial_median(x: Floats, *, rounds: int = 200) -> Floats:
    """Return the point with the smallest sum of distances to the records (Weiszfeld; Vardi, Zhang 2000)."""
    centre = np.median(x, axis=0)
    unit = float(np.abs(x - centre).mean()) or 1.0
    for _ in range(rounds):
        away = np.sqrt(((x - centre) ** 2).sum(axis=1))
        apart = away > 1e-12 * unit
        if not apart.any():
            break
        pull = 1.0 / away[apart]
        target = dot(pull, x[apart]) / pull.sum()
        # Records at the centre itself hold it there with a force of their number.
        force = float(np.sqrt((((x[apart] - centre) * pull[:, None]).sum(axis=0) ** 2).sum()))
        held = min(1.0, float((~apart).sum()) / force) if force > 0 else 1.0
        new = (1.0 - held) * target + held * centre
        if np.abs(new - centre).max() <= 1e-10 * unit:
            break
        centre = new
    return np.asarray(centre)


def robust_covariance(x: Floats, method: Covariance, rng: np.random.Generator) -> Estimate:
    """Return centre and covariance of the records, consistent for normal data.

    ``mcd`` and ``mve`` search at random: they are heuristics that find the best half of the records
    reliably, not provably. Both, and ``ogk``, end with the covariance of the records within the
    97.5 % (OGK: 90 %) ellipsoid of the first estimate. The covariance is singular where columns make up
    others, and with ``mcd`` where half of the records lie in one plane.
    """
    n, p = x.shape
    if method == "classical":
        if n < 2:
            raise InputError("a covariance needs at least 2 records")
        return x.mean(axis=0), algebra.covariance(x)
    if n <= 2 * p:
        raise InputError(
            f"a robust covariance of {p} columns needs more than {2 * p} complete records"
        )
    # Unit variances keep the digits; columns that others make up, such as totals, are left to the rest.
    origin, unit = x.mean(axis=0), x.std(axis=0)
    if (unit <= 0).any():
        raise make_concentration_error()
    z = (x - origin) / unit
    values, vectors = eigh(dot(z.T, z) / n)
    kept = values > TOLERANCE * values[-1]
    basis = np.eye(p) if kept.all() else vectors[:, kept]
    # A generator of its own: what is drawn afterwards does not depend on how the search went.
    centre, covariance = ESTIMATES[method](dot(z, basis), rng.spawn(1)[0])
    spread = dot(dot(basis, covariance), basis.T)
    # Rounding leaves a trace of variance where most values are equal; distances by it would be endless.
    if (np.diag(spread) <= TOLERANCE).any():
        raise make_concentration_error()
    return origin + unit * (dot(basis, centre)), spread * np.outer(unit, unit)


def mahalanobis_squared(x: Floats, centre: Floats, covariance: Floats) -> Floats:
    """Return the squared Mahalanobis distance of each record.

    With a singular covariance it is taken within the space that the covariance spans, and refused when
    there are records outside.
    """
    scale = np.sqrt(np.diag(covariance))
    if not (scale > 0).all():
        raise make_concentration_error()
    z = (x - centre) / scale
    values, vectors = eigh(covariance / np.outer(scale, scale))
    kept = values > TOLERANCE * values[-1]
    along = dot(z, vectors)
    outside = np.abs(along[:, ~kept])
    if (outside > 1e-5 * (1.0 + np.abs(z).max(axis=1, keepdims=True))).any():
        raise make_concentration_error()
    return np.asarray((along[:, kept] ** 2 / values[kept]).sum(axis=1))


def robust_distances(x: Floats, method: Covariance, rng: np.random.Generator) -> Floats:
    """Return the Mahalanobis distance of each record from a robust centre."""
    return np.sqrt(mahalanobis_squared(x, *robust_covariance(x, method, rng)))


def cholesky(covariance: Floats) -> Floats | None:
    """Return the Cholesky factor, or None when the covariance is singular up to rounding."""
    scale = np.sqrt(np.diag(covariance))
    if not (scale > 0).all():
        return None
    correlation = covariance / np.outer(scale, scale)
    if not has_full_rank(correlation):
        return None
    return np.asarray(algebra.cholesky(correlation) * scale[:, None])


def has_full_rank(matrix: Floats) -> bool:
    """Return True when every eigenvalue of a symmetric matrix is above rounding.

    With L L' the matrix, the smallest eigenvalue is at most the smallest squared pivot of L, at least the
    determinant times ((p - 1) / trace)^(p - 1) (Merikoski and Virtanen 1997) and at least 1 / |L^-1|^2; eigenvalues
    are computed only where these do not decide.
    """
    p = len(matrix)
    try:
        lower = algebra.cholesky(matrix)
    except np.linalg.LinAlgError:
        return bool(eigvalsh(matrix)[0] > TOLERANCE)
    pivots = np.diag(lower) ** 2
    if pivots.min() < TOLERANCE / 2:
        return False
    if pivots.prod() * ((p - 1) / np.trace(matrix)) ** (p - 1) > 2 * TOLERANCE:
        return True
    least = 1.0 / (inv(lower) ** 2).sum()
    return bool(least > 2 * TOLERANCE or eigvalsh(matrix)[0] > TOLERANCE)


def distances(x: Floats, centre: Floats, root: Floats) -> Floats:
    """Return squared distances, given the Cholesky factor of the covariance."""
    z = dot(x - centre, inv(root).T)
    return np.asarray((z * z).sum(axis=1))


def reweight_estimate(
    x: Floats, centre: Floats, root: Floats, cut: float, share: float
) -> Estimate:
    """Return the estimate from the records within a squared distance, consistent for normal data."""
    p = x.shape[1]
    kept = x[distances(x, centre, root) <= cut]
    factor = share / chi2_cdf(chi2_ppf(share, p), p + 2)
    return kept.mean(axis=0), factor * algebra.covariance(kept)


def scale_and_reweight(x: Floats, centre: Floats, covariance: Floats) -> Estimate:
    """Return a raw estimate scaled to normal data by its median distance, then reweighted."""
    root = cholesky(covariance)
    if root is None:
        return centre, covariance
    p = x.shape[1]
    inflated = root * np.sqrt(np.median(distances(x, centre, root)) / chi2_ppf(0.5, p))
    return reweight_estimate(x, centre, inflated, chi2_ppf(REWEIGHT, p), REWEIGHT)


# -- minimum covariance determinant --------------------------------------------------------------


def mcd(x: Floats, rng: np.random.Generator) -> Estimate:
    """Return the MCD: centre and covariance of the half with the smallest determinant (FAST-MCD)."""
    n, p = x.shape
    if p == 1:
        return scale_and_reweight(x, *shortest_half(x[:, 0]))
    if n <= 2 * SUBSAMPLE:
        found = search_candidates(x, STARTS, rng)
    else:
        parts = min(SUBSAMPLES, n // SUBSAMPLE)
        size = min(n, SUBSAMPLES * SUBSAMPLE)
        chosen = rng.permutation(n)[:size]
        found = [
            best
            for part in np.array_split(chosen, parts)
            for best in search_candidates(x[part], STARTS // parts, rng)
        ]
        if size < n:
            found = find_best_concentrated(x[chosen], found, steps=2)
    if n * p <= LARGE:
        return scale_and_reweight(x, *find_best_concentrated(x, found, steps=100)[0])
    steps = max(2, 100 * LARGE // (n * p))
    return scale_and_reweight(x, *find_best_concentrated(x, found[:1], steps=steps)[0])


def choose_subset_size(n: int, p: int) -> int:
    """Return h, the number of records whose determinant is minimised: the highest breakdown."""
    return (n + p + 1) // 2


def search_candidates(x: Floats, starts: int, rng: np.random.Generator) -> list[Estimate]:
    """Return the best candidates after two concentration steps from random starts."""
    return find_best_concentrated(x, [random_start(x, rng) for _ in range(starts)], steps=2)


def random_start(x: Floats, rng: np.random.Generator) -> Estimate:
    """Return mean and covariance of p + 1 random records, of more while these are in one plane."""
    n, p = x.shape
    order = rng.permutation(n)
    size = p + 1
    while True:
        centre, covariance = moments(x[order[:size]])
        if size >= n or has_full_rank(covariance):
            return centre, covariance
        size += 1 + size // 2


def moments(x: Floats) -> Estimate:
    """Return mean and covariance with denominator n."""
    centre = x.mean(axis=0)
    z = x - centre
    return centre, dot(z.T, z) / len(x)


def find_best_concentrated(x: Floats, candidates: list[Estimate], *, steps: int) -> list[Estimate]:
    """Return the best candidates after some concentration steps each, smallest determinant first."""
    done = [concentrate(x, candidate, steps) for candidate in candidates]
    order = sorted(range(len(done)), key=lambda i: done[i][0])
    best = [done[i][1] for i in order[:KEPT] if done[i][0] < np.inf]
    if not best:
        raise make_concentration_error()
    return best


def concentrate(x: Floats, candidate: Estimate, steps: int) -> tuple[float, Estimate]:
    """Return log determinant and moments of the half nearest to the candidate, repeated.

    Each step lowers the determinant or leaves it (Rousseeuw, van Driessen 1999, theorem 1). It is -inf
    when half of the records lie in one plane, and inf for a candidate of records all alike.
    """
    h = choose_subset_size(*x.shape)
    last = np.inf
    root = cholesky(candidate[1])
    if root is None:  # a flat candidate: records outside its plane are made very far
        flat = candidate[1]
        root = cholesky(flat + 1e-6 * np.trace(flat) * np.eye(len(flat)))
    if root is None:
        return np.inf, candidate
    for _ in range(steps):
        near = np.argsort(distances(x, candidate[0], root), kind="stable")[:h]
        candidate = moments(x[near])
        root = cholesky(candidate[1])
        if root is None:
            return -np.inf, candidate
        value = 2.0 * float(log(np.diag(root)).sum())
        if value >= last - 1e-12:
            break
        last = value
    return value, candidate


def shortest_half(x: Floats) -> Estimate:
    """Return mean and variance of the half of a column with the smallest variance, exactly."""
    values = np.sort(x)
    h = choose_subset_size(len(x), 1)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    squares = np.concatenate([[0.0], np.cumsum(values**2)])
    variance = (squares[h:] - squares[:-h]) / h - ((sums[h:] - sums[:-h]) / h) ** 2
    best = int(variance.argmin())
    return moments(values[best : best + h, None])


# -- minimum volume ellipsoid --------------------------------------------------------------------


def mve(x: Floats, rng: np.random.Generator) -> Estimate:
    """Return the MVE by resampling: the smallest ellipsoid over half of the records that was found."""
    n = len(x)
    sample = x if n <= MVE_RECORDS else x[rng.choice(n, size=MVE_RECORDS, replace=False)]
    return scale_and_reweight(x, *smallest_ellipsoid(sample, rng)[1])


def smallest_ellipsoid(x: Floats, rng: np.random.Generator) -> tuple[float, Estimate]:
    """Return log squared volume and shape of the smallest ellipsoid over half of the records.

    Ellipsoids are shaped by p + 1 random records; the best ones are reshaped by the half that they
    cover, as long as that makes them smaller.
    """
    starts = [random_start(x, rng) for _ in range(max(STARTS, 100 * x.shape[1]))]
    found = sorted((ellipsoid(x, start) for start in starts), key=lambda e: e[0])[:KEPT]
    best = min((shrink_ellipsoid(x, *one) for one in found), key=lambda e: e[0])
    if best[0] == np.inf:
        raise make_concentration_error()
    return best


def ellipsoid(x: Floats, shape: Estimate) -> tuple[float, Estimate]:
    """Return log squared volume and covariance of an ellipsoid blown up to cover half of the records."""
    root = cholesky(shape[1])
    if root is None:
        return np.inf, shape
    h = choose_subset_size(*x.shape)
    reach = float(np.partition(distances(x, shape[0], root), h - 1)[h - 1])
    if reach <= 0:
        return np.inf, shape
    volume = 2 * float(log(np.diag(root)).sum()) + x.shape[1] * log(reach)
    return volume, (shape[0], shape[1] * reach)


def shrink_ellipsoid(x: Floats, volume: float, shape: Estimate) -> tuple[float, Estimate]:
    """Return an ellipsoid reshaped by the records that it covers while that makes it smaller."""
    h = choose_subset_size(*x.shape)
    while volume < np.inf:
        root = cholesky(shape[1])
        assert root is not None
        near = np.argsort(distances(x, shape[0], root), kind="stable")[:h]
        smaller, new = ellipsoid(x, moments(x[near]))
        if smaller >= volume - 1e-12:
            break
        volume, shape = smaller, new
    return volume, shape


# -- OGK and M-estimate --------------------------------------------------------------------------


def ogk(x: Floats, rng: np.random.Generator) -> Estimate:
    """Return the OGK estimate: robust pairwise covariances made positive definite, reweighted."""
    del rng
    p = x.shape[1]
    z, basis = x, np.eye(p)
    for _ in range(2):
        scale = np.array([tau_scale(column)[1] for column in z.T])
        y = z / scale
        vectors = eigh(pairwise_correlations(y))[1]
        z = dot(y, vectors)
        basis = dot(basis, scale[:, None] * vectors)
    found = np.array([tau_scale(column) for column in z.T])
    centre, covariance = dot(basis, found[:, 0]), dot(basis * found[:, 1] ** 2, basis.T)
    root = cholesky(covariance)
    if root is None:
        return centre, covariance
    middle = float(np.median(distances(x, centre, root)))
    cut = chi2_ppf(0.9, p) * middle / chi2_ppf(0.5, p)
    return reweight_estimate(x, centre, root, cut, 0.9)


def pairwise_correlations(y: Floats) -> Floats:
    """Return (tau(a + b)^2 - tau(a - b)^2) / 4 for all pairs of scaled columns; ones on the diagonal."""
    p = y.shape[1]
    out = np.eye(p)
    for i in range(p):
        for j in range(i):
            plus, minus = y[:, i] + y[:, j], y[:, i] - y[:, j]
            out[i, j] = out[j, i] = (
                compute_tau_scale(plus) ** 2 - compute_tau_scale(minus) ** 2
            ) / 4
    return out


def compute_tau_scale(x: Floats) -> float:
    """Return the tau scale, 0 for a column that is constant up to rounding."""
    return 0.0 if np.ptp(x) <= TOLERANCE else tau_scale(x)[1]


def m_estimate(x: Floats, rng: np.random.Generator) -> Estimate:
    """Return Huber's M-estimate of centre and covariance: records beyond the 90 % ellipsoid count less."""
    del rng
    n, p = x.shape
    limit = chi2_ppf(0.9, p)
    consistent = chi2_cdf(limit, p + 2) + limit * 0.1 / p
    centre, covariance = np.median(x, axis=0), algebra.covariance(x)
    for _ in range(500):
        root = cholesky(covariance)
        if root is None:
            raise make_concentration_error()
        squared = np.maximum(distances(x, centre, root), 1e-300)
        u = np.minimum(1.0, np.sqrt(limit / squared))
        new = dot(u, x) / u.sum()
        z = (x - new) * u[:, None]
        last, covariance, centre = covariance, dot(z.T, z) / (n * consistent), new
        if np.abs(covariance - last).max() <= 1e-9 * np.abs(covariance).max():
            break
    return centre, covariance


ESTIMATES: dict[str, Callable[[Floats, np.random.Generator], Estimate]] = {
    "mcd": mcd,
    "mve": mve,
    "ogk": ogk,
    "m_estimate": m_estimate,
}


# -- kernels: numbers and arrays only ------------------------------------------------------------


def pairs_within(x: Floats, reach: float) -> int:
    """Return the number of pairs of ascending values not farther apart than ``reach``."""
    total = 0
    high = 0
    n = len(x)
    for low in range(n):
        while high < n and x[high] - x[low] <= reach:
            high += 1
        total += high - low - 1
    return total


def pair_quantile(x: Floats, rank: int) -> float:
    """Return the distance of that rank (from 1) among the pairs of ascending values."""
    low, high = 0.0, x[-1] - x[0]
    if pairs_within(x, 0.0) >= rank:
        return 0.0
    # Invariant: fewer than rank pairs within low, at least rank within high.
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return high
        if pairs_within(x, middle) >= rank:
            high = middle
        else:
            low = middle


KERNELS = Kernels(globals(), pairs_within, pair_quantile)
