"""Retention: with which probability a randomised limit keeps a record, and estimators that use it."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import ndtr

from tacit.arrays import Flags, Floats
from tacit.errors import InputError
from tacit.stats.regression import fit

Distribution = Literal["normal", "uniform", "laplace"]


def cumulative(x: Floats, sd: float, distribution: Distribution) -> Floats:
    """Return the distribution function of noise of mean 0 and a given standard deviation."""
    match distribution:
        case "normal":
            return np.asarray(ndtr(x / sd))
        case "uniform":
            half = sd * np.sqrt(3.0)
            return np.clip((x + half) / (2.0 * half), 0.0, 1.0)
        case _:
            scaled = x * (np.sqrt(2.0) / sd)
            tail = 0.5 * np.exp(-np.abs(scaled))
            return np.where(scaled < 0, tail, 1.0 - tail)


def retention_probability(
    y: Floats, low: float, high: float, sd: float, distribution: Distribution = "normal"
) -> Floats:
    """Return Pr(low < y + v < high) = G(high - y) - G(low - y), with G the distribution of v."""
    upper = cumulative(high - y, sd, distribution) if np.isfinite(high) else np.ones_like(y)
    lower = cumulative(low - y, sd, distribution) if np.isfinite(low) else np.zeros_like(y)
    return upper - lower


def check_probabilities(p: Floats) -> Floats:
    """Return probabilities; refuse what is not in (0, 1]."""
    if not (np.isfinite(p).all() and (p > 0).all() and (p <= 1).all()):
        raise InputError("retention probabilities must lie above 0 and be at most 1")
    return p


def horvitz_thompson_total(y: Floats, p: Floats) -> float:
    """Return the sum of y over the probability of being kept."""
    return float((y / check_probabilities(p)).sum())


def hajek_mean(y: Floats, p: Floats) -> float:
    """Return the mean of y weighted by one over the probability of being kept."""
    return float(np.average(y, weights=1.0 / check_probabilities(p)))


def estimate_probabilities(
    kept: Flags, covariates: Floats, family: Literal["logit", "probit"] = "logit"
) -> Floats:
    """Return the probability of being kept as a model of what is known of all records."""
    return fit(covariates, kept.astype(np.float64), family).fitted


def trim_weights(p: Floats, largest: float | None) -> Floats:
    """Return one over the probabilities, cut at the largest weight allowed."""
    weights = 1.0 / check_probabilities(p)
    return weights if largest is None else np.minimum(weights, largest)
