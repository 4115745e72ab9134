"""Information loss between original and masked numbers, record by record and statistic by statistic.

Every measure is a function of two matrices with the same records in the same order. Relative changes
leave out entries whose original is 0 and count them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import erf, ndtri
from scipy.stats import rankdata

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.stats.projection import Components, principal, pursue_directions
from tacit.stats.regression import fit
from tacit.stats.robust import mad, one_step_mean, robust_covariance

#: Relative size below which the original of a relative change counts as 0.
ZERO = 1e-12
#: Records on which components are pursued; the search is quadratic in them.
PURSUED = 1000
#: Quantiles of the probabilistic measure: 5 %, 10 %, ..., 95 %.
QUANTILES = np.arange(0.05, 0.951, 0.05)
#: The probabilistic measures.
PROBABILISTIC = (
    "pil_quantiles",
    "pil_means",
    "pil_variances",
    "pil_covariances",
    "pil_correlations",
)


@dataclass(frozen=True)
class Amount:
    """The value of a measure; NaN where it is not defined, and entries left out because the original is 0."""

    value: float
    skipped: int = 0


@dataclass(frozen=True)
class Matched:
    """Original (``x``) and masked (``y``) numbers of the same records, and what measures share."""

    x: Floats
    y: Floats
    #: Survey weights, for totals.
    weights: Floats
    #: The column that is regressed on the others.
    response: int = 0
    #: Of the draws that the robust measures make, the same for both files.
    seed: int = 0

    @property
    def p(self) -> int:
        """Return the number of columns."""
        return self.x.shape[1]

    @cached_property
    def spread(self) -> Floats:
        """Return the standard deviations of the original columns; 0 where constant."""
        sd = self.x.std(axis=0, ddof=1)
        return np.where(np.ptp(self.x, axis=0) == 0, 0.0, sd)

    @cached_property
    def size(self) -> Floats:
        """Return the largest absolute value of each original column."""
        return np.asarray(np.abs(self.x).max(axis=0))

    @cached_property
    def covariances(self) -> tuple[Floats, Floats]:
        """Return the covariance matrices of both files."""
        return covariance(self.x), covariance(self.y)

    @cached_property
    def correlations(self) -> tuple[Floats, Floats]:
        """Return the correlation matrices of both files; NaN where a column is constant."""
        return correlation(self.x), correlation(self.y)

    @cached_property
    def ranks(self) -> tuple[Floats, Floats]:
        """Return the rank correlation matrices of both files."""
        x, y = (np.apply_along_axis(rankdata, 0, side) for side in (self.x, self.y))
        return correlation(x), correlation(y)

    def rng(self) -> np.random.Generator:
        """Return a generator, each time in the same state: both files see the same draws."""
        return np.random.default_rng(self.seed)

    def part(self, keep: np.ndarray) -> Matched:
        """Return some of the records."""
        return Matched(self.x[keep], self.y[keep], self.weights[keep], self.response, self.seed)


Measure = Callable[[Matched], Amount]


def covariance(x: Floats) -> Floats:
    """Return the covariance of the columns with denominator n - 1; exactly 0 for constant ones."""
    z = x - x.mean(axis=0)
    z[:, np.ptp(x, axis=0) == 0] = 0.0
    return np.asarray(z.T @ z / (len(x) - 1))


def correlation(x: Floats) -> Floats:
    """Return the correlations of the columns; NaN where a column is constant."""
    sigma = covariance(x)
    sd = np.sqrt(np.diag(sigma))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = sigma / np.outer(sd, sd)
    return np.asarray(np.clip(r, -1.0, 1.0))


# -- record by record ------------------------------------------------------------------------------


def il1_records(m: Matched) -> Floats:
    """Return IL1 of each record: the mean over columns of abs(x - x') / (sqrt(2) S_j).

    Templ (2006), formula (3), sums over records where columns are meant. Columns without spread are
    left out.
    """
    used = m.spread > 0
    if not used.any():
        return np.full(len(m.x), np.nan)
    return np.asarray((np.abs(m.x - m.y)[:, used] / (np.sqrt(2.0) * m.spread[used])).mean(axis=1))


def il1(m: Matched) -> Amount:
    """Return the mean over records of IL1."""
    return Amount(float(il1_records(m).mean()), int((m.spread == 0).sum()))


def il1_sum(m: Matched) -> Amount:
    """Return the sum over all cells of abs(x - x') / (sqrt(2) S_j)."""
    used = int((m.spread > 0).sum())
    return Amount(float(il1_records(m).sum()) * used, m.p - used)


def sse_percent(m: Matched) -> Amount:
    """Return 100 SSE / SST on standardised columns."""
    used = m.spread > 0
    if not used.any():
        return Amount(np.nan, m.p)
    squared = ((m.x - m.y) ** 2).sum(axis=0)[used]
    total = ((m.x - m.x.mean(axis=0)) ** 2).sum(axis=0)[used]
    return Amount(100.0 * float((squared / total).mean()), int((~used).sum()))


# -- statistics: Templ (2006), section 6 -----------------------------------------------------------


def adlm(m: Matched) -> Amount:
    """Return the absolute changes of the slopes of one column on the others, summed."""
    if m.p < 2 or len(m.x) <= m.p:
        return Amount(np.nan)
    others = [j for j in range(m.p) if j != m.response]
    old, new = (fit(side[:, others], side[:, m.response]) for side in (m.x, m.y))
    used = ~(old.aliased | new.aliased)[1:]
    change = np.abs(old.coefficients - new.coefficients)[1:]
    return Amount(float(change[used].sum()), int((~used).sum()))


def apppcaload(m: Matched) -> Amount:
    """Return the change of loadings for components by projection pursuit; NaN where these do not exist.

    In larger files components are those of a random draw of records, the same in both.
    """
    n = len(m.x)
    at = m.rng().choice(n, PURSUED, replace=False) if n > PURSUED else slice(None)
    try:
        old, new = (pursue_directions(side[at], m.rng(), components=m.p) for side in (m.x, m.y))
    except InputError:
        return Amount(np.nan)
    return loading_change(*(Components(scale**2, rows.T) for rows, scale in (old, new)))


def loading_change(old: Components, new: Components) -> Amount:
    """Return the relative changes of the mean loadings, signs aligned."""
    new = new.aligned(old.vectors)
    return sum_change(old.vectors.mean(axis=0), new.vectors.mean(axis=0), 1.0)


def eigenvalues(m: Matched) -> Amount:
    """Return the relative changes of the eigenvalues of the correlation matrix, summed."""
    if any(np.isnan(r).any() for r in m.correlations):
        return Amount(np.nan)
    old, new = (principal(r).values for r in m.correlations)
    return sum_change(old, new, m.p)


def robust_eigenvalues(m: Matched) -> Amount:
    """Return the change of eigenvalues of the minimum covariance determinant; NaN where it does not exist."""
    try:
        old, new = (
            principal(robust_covariance(standard(side), "mcd", m.rng())[1]).values
            for side in (m.x, m.y)
        )
    except InputError:
        return Amount(np.nan)
    return sum_change(old, new, m.p)


def standard(x: Floats) -> Floats:
    """Return the columns with mean 0 and standard deviation 1."""
    sd = x.std(axis=0, ddof=1)
    return np.asarray((x - x.mean(axis=0)) / np.where(sd > 0, sd, 1.0))


def pmtotals(m: Matched) -> Amount:
    """Return the relative changes of the totals with signs: positive where masking adds to them."""
    old, new = m.weights @ m.x, m.weights @ m.y
    known = np.abs(old) > ZERO * (m.weights @ np.abs(m.x))
    if not known.any():
        return Amount(np.nan, m.p)
    return Amount(float(((new - old)[known] / old[known]).sum()), int((~known).sum()))


# -- Mateo-Sanz, Sebe, Domingo-Ferrer (2004) -------------------------------------------------------


def il5(m: Matched) -> Amount:
    """Return the mean absolute change of the correlations."""
    change = np.abs(m.correlations[0] - m.correlations[1])[upper(m, 1)]
    known = np.isfinite(change)
    skipped = int((~known).sum())
    return Amount(float(change[known].mean()) if known.any() else np.nan, skipped)


# -- probabilistic measures: Mateo-Sanz, Domingo-Ferrer, Sebe (2005) -------------------------------


def pil_quantiles(m: Matched) -> Amount:
    """Return the probabilistic loss of the quantiles 5 %, 10 %, ..., 95 %."""
    old, new = np.quantile(m.x, QUANTILES, axis=0), np.quantile(m.y, QUANTILES, axis=0)
    share = (QUANTILES * (1 - QUANTILES))[:, None] / len(m.x)
    return probabilistic(old, new, share * quantile_slope(m.x) ** 2)


def pil_moments(m: Matched, at: Any) -> Amount:
    """Return the probabilistic loss of some entries of the covariance matrix."""
    old, error = second_moments(m.x)
    return probabilistic(old[at], second_moments(m.y)[0][at], error[at])


def probabilistic(old: Floats, new: Floats, variance: Floats) -> Amount:
    """Return the mean of 100 P(abs(Z) <= abs(change) / standard error) for normal Z: 0 to 100.

    Statistics without sampling error are left out.
    """
    known = np.isfinite(old) & np.isfinite(new) & (variance > 0)
    if not known.any():
        return Amount(np.nan, int(known.size))
    z = np.abs(new - old)[known] / np.sqrt(variance[known])
    return Amount(100.0 * float(erf(z / np.sqrt(2.0)).mean()), int((~known).sum()))


def second_moments(x: Floats) -> tuple[Floats, Floats]:
    """Return covariances with denominator n, and the variance of each as an estimate."""
    z = x - x.mean(axis=0)
    z[:, np.ptp(x, axis=0) == 0] = 0.0
    n = len(x)
    sigma = z.T @ z / n
    squares = z**2
    return sigma, np.clip(squares.T @ squares / n - sigma**2, 0.0, None) / n


def correlation_error(x: Floats) -> Floats:
    """Return the variance of each correlation as an estimate (Kendall and Stuart, large samples)."""
    z = standard(x) * np.sqrt(len(x) / (len(x) - 1))
    n = len(x)
    r, fourth = z.T @ z / n, (z**2).T @ z**2 / n
    own, three = np.diag(fourth), (z**3).T @ z / n
    # r^2 / n times the bracket of the textbook formula, multiplied out so that r may be 0.
    inside = fourth + r**2 / 4 * (own[:, None] + own[None, :] + 2 * fourth) - r * (three + three.T)
    return np.asarray(np.clip(inside, 0.0, None) / n)


def quantile_slope(x: Floats) -> Floats:
    """Return 1 / f at the quantiles of each column, from differences of quantiles nearby.

    The bandwidth is Bofinger's (1975) for the normal distribution, cut to stay inside.
    """
    z = ndtri(QUANTILES)
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    width = len(x) ** (-0.2) * (4.5 * density**4 / (2 * z**2 + 1) ** 2) ** 0.2
    width = np.minimum(width, np.minimum(QUANTILES, 1 - QUANTILES))
    apart = np.quantile(x, QUANTILES + width, axis=0) - np.quantile(x, QUANTILES - width, axis=0)
    return np.asarray(apart / (2 * width)[:, None])


# -- parts -----------------------------------------------------------------------------------------


def changes(old: Floats, new: Floats, size: Floats | float) -> tuple[Floats, int]:
    """Return abs(old - new) / abs(old) where that is defined, and in how many places it is not.

    ``size`` is what the original is measured against: next to it, one that is 0 up to rounding is 0.
    """
    known = np.isfinite(old) & np.isfinite(new) & (np.abs(old) > ZERO * size)
    return np.abs(old[known] - new[known]) / np.abs(old[known]), int((~known).sum())


def sum_change(old: Floats, new: Floats, size: Floats | float) -> Amount:
    """Return the sum of the relative changes."""
    found, skipped = changes(old, new, size)
    return Amount(float(found.sum()) if found.size else np.nan, skipped)


def mean_change(old: Floats, new: Floats, size: Floats | float) -> Amount:
    """Return the mean of the relative changes."""
    found, skipped = changes(old, new, size)
    return Amount(float(found.mean()) if found.size else np.nan, skipped)


def divide_amount(amount: Amount, divisor: float) -> Amount:
    """Return an amount divided."""
    return Amount(amount.value / divisor, amount.skipped)


def mean_of(m: Matched, names: Sequence[str], factor: float = 1.0) -> Amount:
    """Return a multiple of the mean of some measures; those that are not defined are left out."""
    values = [MEASURES[name](m).value for name in names]
    known = [v for v in values if np.isfinite(v)]
    return Amount(factor * float(np.mean(known)) if known else np.nan, len(values) - len(known))


def change_of(statistic: Callable[[Floats], Floats]) -> Measure:
    """Return the measure that sums the relative changes of a statistic of the columns."""
    return lambda m: sum_change(statistic(m.x), statistic(m.y), m.size)


def covariance_change(m: Matched, divisor: int) -> Amount:
    """Return the relative changes of the whole covariance matrix, summed, over a divisor."""
    return divide_amount(sum_change(*m.covariances, np.outer(m.spread, m.spread)), divisor)


def upper(m: Matched, above: int = 0) -> tuple[Any, ...]:
    """Return where the entries on and above a diagonal of a p x p matrix are."""
    return np.triu_indices(m.p, above)


MEASURES: Mapping[str, Measure] = {
    "il1": il1,
    "il1_sum": il1_sum,
    "il1_relative": lambda m: mean_change(m.x, m.y, 0.0),
    "sse_percent": sse_percent,
    "amean": change_of(lambda x: x.mean(axis=0)),
    "amedian": change_of(lambda x: np.median(x, axis=0)),
    "aonestep": change_of(one_step_mean),
    "devvar": lambda m: covariance_change(m, m.p),
    "amad": change_of(mad),
    "acov": lambda m: covariance_change(m, 2 * m.p),
    "acor": lambda m: divide_amount(sum_change(*m.correlations, 1.0), 2 * m.p),
    "acors": lambda m: divide_amount(sum_change(*m.ranks, 1.0), 2 * m.p),
    "adlm": adlm,
    "apcaload": lambda m: loading_change(*(principal(sigma) for sigma in m.covariances)),
    "apppcaload": apppcaload,
    "eigenvalues": eigenvalues,
    "robust_eigenvalues": robust_eigenvalues,
    "atotals": lambda m: sum_change(m.weights @ m.x, m.weights @ m.y, m.weights @ np.abs(m.x)),
    "pmtotals": pmtotals,
    "il2": lambda m: mean_change(m.x.mean(axis=0), m.y.mean(axis=0), m.size),
    "il3": lambda m: mean_change(
        m.covariances[0][upper(m)],
        m.covariances[1][upper(m)],
        np.outer(m.spread, m.spread)[upper(m)],
    ),
    "il4": lambda m: mean_change(np.diag(m.covariances[0]), np.diag(m.covariances[1]), m.spread**2),
    "il5": il5,
    "il": lambda m: mean_of(m, ("il1", "il2", "il3", "il4", "il5"), 100.0),
    "pil_means": lambda m: probabilistic(
        m.x.mean(axis=0), m.y.mean(axis=0), m.x.var(axis=0) / len(m.x)
    ),
    "pil_quantiles": pil_quantiles,
    "pil_variances": lambda m: pil_moments(m, np.diag_indices(m.p)),
    "pil_covariances": lambda m: pil_moments(m, upper(m, 1)),
    "pil_correlations": lambda m: probabilistic(
        m.correlations[0][upper(m, 1)],
        m.correlations[1][upper(m, 1)],
        correlation_error(m.x)[upper(m, 1)],
    ),
    "pil": lambda m: mean_of(m, PROBABILISTIC),
}
