"""Estimates from complex samples, with variances by linearisation: strata, clusters, weights.

The sample counts as drawn with replacement in its first stage (no finite population correction), which is what survey
packages do by default. A stratum with one cluster or record is compared with the mean of all strata.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import InputError
from tacit.stats.regression import fit

#: Residuals below this share of what they are the difference of are rounding errors.
ROUNDING = 1e-10


@dataclass(frozen=True)
class Sample:
    """Weights, strata and clusters of the records of a sample."""

    #: Above 0.
    weights: Floats
    #: Numbers of strata and of first-stage clusters; None for one stratum, and for records drawn by
    #: themselves.
    strata: Ints | None = None
    clusters: Ints | None = None

    def __post_init__(self) -> None:
        if not len(self.weights) or not (self.weights > 0).all():
            raise InputError("survey estimates need records with weights above 0")

    def covariance(self, scores: Floats) -> Floats:
        """Return the covariance of the sums of linearised scores, records x estimates."""
        z = scores[:, None] if scores.ndim == 1 else scores
        strata = np.zeros(len(z), dtype=np.int64) if self.strata is None else self.strata
        if self.clusters is not None:
            pairs = np.column_stack([strata, self.clusters])
            units, place = np.unique(pairs, axis=0, return_inverse=True)
            z = sums_by(z, place.ravel(), len(units))
            strata = units[:, 0]
        _, strata = np.unique(strata, return_inverse=True)
        strata = strata.ravel()
        n = np.bincount(strata).astype(np.float64)
        centre = sums_by(z, strata, len(n)) / n[:, None]
        lonely = n < 2
        centre[lonely] = z.mean(axis=0)
        left = z - centre[strata]
        factor = np.where(lonely, 1.0, n / np.maximum(n - 1.0, 1.0))[strata]
        return np.asarray((left * factor[:, None]).T @ left)


@dataclass(frozen=True)
class Estimates:
    """Estimates with their covariance."""

    values: Floats
    covariance: Floats

    @property
    def variances(self) -> Floats:
        """Return the variance of each estimate."""
        return np.asarray(np.diag(self.covariance))


def sums_by(z: Floats, group: Ints, size: int) -> Floats:
    """Return the sums of rows by group."""
    out = np.zeros((size, z.shape[1]))
    np.add.at(out, group, z)
    return out


def estimate_means(y: Floats, sample: Sample) -> Estimates:
    """Return weighted means of columns: z = w (y - mean) / sum w."""
    y = y[:, None] if y.ndim == 1 else y
    w, total = sample.weights, float(sample.weights.sum())
    means = w @ y / total
    scores = w[:, None] * (y - means) / total
    return Estimates(np.asarray(means), sample.covariance(scores))


def estimate_totals(y: Floats, sample: Sample) -> Estimates:
    """Return weighted totals of columns: z = w y."""
    y = y[:, None] if y.ndim == 1 else y
    scores = sample.weights[:, None] * y
    return Estimates(np.asarray(scores.sum(axis=0)), sample.covariance(scores))


def estimate_shares(y: Floats, cuts: Sequence[float], sample: Sample) -> Estimates:
    """Return the shares of values above each of some numbers, such as quantiles of the population."""
    above = (y[:, None] > np.asarray(cuts, dtype=np.float64)).astype(np.float64)
    return estimate_means(above, sample)


def estimate_regression(x: Floats, y: Floats, sample: Sample) -> Estimates:
    """Return weighted least-squares coefficients, the constant first: z = A^-1 x w e with A = X'WX."""
    design = np.column_stack([np.ones(len(y)), x])
    w = sample.weights
    bread = np.linalg.pinv(design.T @ (design * w[:, None]), hermitian=True)
    beta = bread @ (design.T @ (w * y))
    left = y - design @ beta
    # An exact fit leaves rounding errors, whose variance is that of the order of records.
    left[np.abs(left) <= ROUNDING * (np.abs(design) @ np.abs(beta) + np.abs(y))] = 0.0
    scores = (design * (w * left)[:, None]) @ bread
    return Estimates(beta, sample.covariance(scores))


def estimate_logit(x: Floats, y: Floats, sample: Sample) -> Estimates:
    """Return weighted logistic coefficients, the constant first: z = A^-1 x w (y - p), A = X' W p(1-p) X."""
    design = np.column_stack([np.ones(len(y)), x])
    model = fit(np.asarray(x, dtype=np.float64), y, "logit", sample.weights)
    if model.separated:
        raise InputError("survey: a logistic regression predicts some records with certainty")
    p, w = model.fitted, sample.weights
    bread = np.linalg.pinv(design.T @ (design * (w * p * (1 - p))[:, None]), hermitian=True)
    scores = (design * (w * (y - p))[:, None]) @ bread
    return Estimates(model.coefficients, sample.covariance(scores))
