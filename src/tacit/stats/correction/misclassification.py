"""Regression on categories that were misclassified at random with known probabilities.

A transition matrix P has one row per true and one column per observed category. Three ways back to what
the true categories would have given: unbiased normal equations for linear regression, maximum likelihood
(EM) for logistic and probit regression, and MC-SIMEX for any estimator at all.

References
----------
Van den Hout, van der Heijden (2002), Randomized response, statistical disclosure control and
misclassification: a review, International Statistical Review 70, 269-288.
Küchenhoff, Mwalili, Lesaffre (2006), A general method for dealing with misclassification in regression:
the misclassification SIMEX, Biometrics 62, 85-96.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtr

from tacit.arrays import Floats, Ints
from tacit.errors import Approximate, InputError, InvalidParameter

Link = Literal["logit", "probit"]

#: Records looked at together in the normal equations.
CHUNK = 1 << 16
#: Matrices beyond this condition number are treated as singular.
SINGULAR = 1e12
ROUNDS, SETTLED = 5_000, 1e-8
#: Longest step of a coefficient in one round, against overshooting.
LONGEST = 2.0


@dataclass(frozen=True)
class Fit:
    """A fitted regression."""

    #: What each coefficient belongs to.
    names: tuple[str, ...]
    #: Estimates and their covariance, which includes what randomisation adds.
    coefficients: Floats
    covariance: Floats
    #: Estimated shares of the true categories of the misclassified covariate, one row per group.
    shares: Floats | None = None
    #: Rounds of the algorithm.
    rounds: int = 1

    @property
    def standard_errors(self) -> Floats:
        """Return the standard errors."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


# -- linear ------------------------------------------------------------------------------------------


def corrected_regression(
    y: npt.ArrayLike,
    codes: Sequence[Ints],
    matrices: Sequence[npt.ArrayLike],
    *,
    covariates: npt.ArrayLike | None = None,
    parts: Sequence[Ints] | None = None,
    weights: npt.ArrayLike | None = None,
) -> Fit:
    """Return least squares of y on the true categories, from the observed ones.

    The row of P^-1 that belongs to an observed category is an unbiased estimate of the indicator of the
    true one, and independent variables multiply; so X'X and X'y are estimated without bias and solved.
    One variable without covariates gives the mean of y in every category; otherwise there is an intercept
    and the first category of every variable is the reference. Standard errors are robust (sandwich).

    Parameters
    ----------
    y
        The response.
    codes
        For every categorical variable, the observed categories 0, 1, ...
    matrices
        For every variable, P (K x K), or several (S x K x K) of which ``parts`` picks one a record.
    covariates
        Numeric columns that are not misclassified, n x q.
    parts
        For every variable, which of its matrices each record got.
    weights
        Survey weights.
    """
    response = np.asarray(y, dtype=np.float64)
    n = len(response)
    x = np.empty((n, 0)) if covariates is None else np.asarray(covariates, dtype=np.float64)
    x = x.reshape(n, -1)
    inverses = [invert_matrices(m) for m in matrices]
    chosen = [np.zeros(n, dtype=np.int64) for _ in codes] if parts is None else list(parts)
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    sizes = [m.shape[-1] for m in inverses]
    starts = np.concatenate([[1 + x.shape[1]], 1 + x.shape[1] + np.cumsum(sizes)])
    means = len(codes) == 1 and not x.shape[1]
    every = np.arange(starts[-1])
    keep = every[starts[0] :] if means else np.setdiff1d(every, starts[:-1])

    def design(at: slice) -> Floats:
        rows = [m[p[at], c[at]] for m, p, c in zip(inverses, chosen, codes, strict=True)]
        return np.column_stack([np.ones(len(response[at])), x[at], *rows])

    total = np.zeros((starts[-1], starts[-1]))
    right = np.zeros(starts[-1])
    for at in chunks(n):
        u = design(at)
        total += u.T @ (w[at, None] * u)
        right += u.T @ (w[at] * response[at])
    sums = total[0].copy()
    for a, b in itertools.pairwise(starts):
        total[a:b, a:b] = np.diag(sums[a:b])
    normal = total[np.ix_(keep, keep)]
    if np.linalg.matrix_rank(normal) < len(keep):
        raise InputError(
            "the corrected regression has no unique solution: some categories are empty or covariates collinear"
        )
    beta = np.zeros(starts[-1])
    beta[keep] = np.linalg.solve(normal, right[keep])
    spread = np.zeros((len(keep), len(keep)))
    for at in chunks(n):
        u = design(at)
        left = response[at] - u @ beta
        score = u * left[:, None]
        for a, b in itertools.pairwise(starts):
            q = u[:, a:b]
            score[:, a:b] = q * ((left + q @ beta[a:b])[:, None] - beta[a:b])
        score = (score * w[at, None])[:, keep]
        spread += score.T @ score
    half = np.linalg.solve(normal, spread)
    names = ["intercept", *(f"x{i}" for i in range(x.shape[1]))]
    names += [f"{j}:{k}" for j, size in enumerate(sizes) for k in range(size)]
    return Fit(
        names=tuple(names[i] for i in keep),
        coefficients=beta[keep],
        covariance=np.asarray(np.linalg.solve(normal, half.T)),
    )


def chunks(n: int) -> list[slice]:
    """Return slices that cover n records."""
    return [slice(a, min(a + CHUNK, n)) for a in range(0, n, CHUNK)]


def invert_matrices(matrix: npt.ArrayLike) -> Floats:
    """Return the inverses of one or several transition matrices; refuse singular ones."""
    p = np.asarray(matrix, dtype=np.float64)
    p = p[None] if p.ndim == 2 else p
    if not (np.linalg.cond(p) < SINGULAR).all():
        raise InputError(
            "the transition matrix is singular, so nothing can be estimated back from the release"
        )
    return np.asarray(np.linalg.inv(p))


# -- logistic and probit -----------------------------------------------------------------------------


def misclassified_regression(
    y: npt.ArrayLike,
    *,
    codes: Ints | None = None,
    matrix: npt.ArrayLike | None = None,
    response_matrix: npt.ArrayLike | None = None,
    covariates: npt.ArrayLike | None = None,
    given: Ints | None = None,
    link: Link = "logit",
) -> Fit:
    """Return logistic or probit regression by maximum likelihood when categories were misclassified.

    The response, a covariate, or both may be. With true categories k the likelihood of a record is

        sum_k pi_k p_kl sum_t P(y = t | x, k) r_tz,

    with l and z the observed category and response. EM alternates the chances of the true values and a
    weighted regression. Covariance is the inverse of the sum of squared scores, pi included.

    Parameters
    ----------
    y
        The observed response, 0 or 1.
    codes, matrix
        Observed categories of the covariate and its transition matrix; its first category is the reference.
    response_matrix
        The 2 x 2 transition matrix of the response.
    covariates
        Numeric columns that are not misclassified, n x q.
    given
        Groups within which the shares pi of the true categories may differ; they should be
        so fine that within them the category does not depend on the covariates.
    link
        ``logit`` or ``probit``.
    """
    z = np.asarray(y, dtype=np.int64)
    n = len(z)
    if not np.isin(z, (0, 1)).all():
        raise InvalidParameter("the response must be 0 or 1")
    x = np.empty((n, 0)) if covariates is None else np.asarray(covariates, dtype=np.float64)
    base = np.column_stack([np.ones(n), x.reshape(n, -1)])
    observed = np.zeros(n, dtype=np.int64) if codes is None else np.asarray(codes, dtype=np.int64)
    p = np.ones((1, 1)) if matrix is None else np.asarray(matrix, dtype=np.float64)
    r = np.eye(2) if response_matrix is None else np.asarray(response_matrix, dtype=np.float64)
    if codes is not None and matrix is None:
        p = np.eye(int(observed.max(initial=0)) + 1)
    group = np.zeros(n, dtype=np.int64) if given is None else np.asarray(given, dtype=np.int64)
    model = Misclassified(base, z, observed, p, r, group, link)
    beta, shares, rounds = model.fit()
    names = ["intercept", *(f"x{i}" for i in range(base.shape[1] - 1))]
    names += [f"category {k}" for k in range(1, len(p))]
    return Fit(tuple(names), beta, model.covariance(beta, shares), shares, rounds)


@dataclass(frozen=True)
class Misclassified:
    """The parts of a binary regression with misclassified categories."""

    base: Floats
    z: Ints
    codes: Ints
    p: Floats
    r: Floats
    group: Ints
    link: Link

    def fit(self) -> tuple[Floats, Floats, int]:
        """Return coefficients, shares of the true categories by group, and rounds."""
        k = len(self.p)
        beta = np.zeros(self.base.shape[1] + k - 1)
        shares = np.full((int(self.group.max(initial=0)) + 1, k), 1.0 / k)
        for done in range(1, ROUNDS + 1):
            weight, chance, _ = self.expectation(beta, shares)
            new = self.maximise_step(beta, weight, chance)
            sums = np.zeros_like(shares)
            np.add.at(sums, self.group, weight)
            fresh = sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-300)
            moved = max(float(np.abs(new - beta).max()), float(np.abs(fresh - shares).max()))
            beta, shares = new, fresh
            if moved <= SETTLED:
                return beta, shares, done
        warnings.warn(
            f"the regression did not settle in {ROUNDS:,} rounds; some coefficients may have no finite estimate",
            Approximate,
            stacklevel=3,
        )
        return beta, shares, ROUNDS

    def expectation(self, beta: Floats, shares: Floats) -> tuple[Floats, Floats, Floats]:
        """Return P(k | data) and P(y = 1 | k, data), n x K, and the log-likelihood of each record."""
        mu = self.mean(beta)
        prior = shares[self.group] * self.p[:, self.codes].T
        one, none = mu * self.r[1, self.z][:, None], (1.0 - mu) * self.r[0, self.z][:, None]
        joint = prior * (one + none)
        total = np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        chance = np.divide(one, one + none, out=np.zeros_like(mu), where=one + none > 0)
        return joint / total, chance, np.log(total[:, 0])

    def linear(self, beta: Floats) -> Floats:
        """Return the linear predictor for every true category."""
        q = self.base.shape[1]
        steps = np.concatenate([[0.0], beta[q:]])
        return (self.base @ beta[:q])[:, None] + steps[None, :]

    def mean(self, beta: Floats) -> Floats:
        """Return P(y = 1 | k) for every record and true category."""
        eta = self.linear(beta)
        mu = expit(eta) if self.link == "logit" else ndtr(eta)
        return np.clip(mu, 1e-12, 1.0 - 1e-12)

    def slopes(self, beta: Floats) -> tuple[Floats, Floats]:
        """Return P(y = 1 | k) and its derivative by the linear predictor."""
        mu = self.mean(beta)
        if self.link == "logit":
            return mu, mu * (1.0 - mu)
        eta = self.linear(beta)
        return mu, np.maximum(np.exp(-0.5 * eta**2) / np.sqrt(2.0 * np.pi), 1e-12)

    def maximise_step(self, beta: Floats, weight: Floats, chance: Floats) -> Floats:
        """Return the coefficients after one step of Fisher scoring, which is all that EM needs."""
        mu, slope = self.slopes(beta)
        factor = slope / (mu * (1.0 - mu))
        score = self.gathered(weight * factor * (chance - mu)).sum(axis=0)
        information = self.information(weight * factor * slope)
        step = np.linalg.lstsq(information, score, rcond=None)[0]
        largest = float(np.abs(step).max(initial=0.0))
        return np.asarray(beta + step * min(1.0, LONGEST / max(largest, 1e-300)))

    def gathered(self, amount: Floats) -> Floats:
        """Return sum_k amount_ik z_ik, with z_ik the design of record i in category k."""
        return np.column_stack([self.base * amount.sum(axis=1)[:, None], amount[:, 1:]])

    def information(self, amount: Floats) -> Floats:
        """Return sum_i sum_k amount_ik z_ik z_ik'."""
        q, k = self.base.shape[1], len(self.p)
        out = np.zeros((q + k - 1, q + k - 1))
        out[:q, :q] = self.base.T @ (amount.sum(axis=1)[:, None] * self.base)
        out[:q, q:] = self.base.T @ amount[:, 1:]
        out[q:, :q] = out[:q, q:].T
        out[q:, q:] = np.diag(amount[:, 1:].sum(axis=0))
        return out

    def covariance(self, beta: Floats, shares: Floats) -> Floats:
        """Return the covariance of the coefficients from the records' scores, shares included."""
        weight, chance, _ = self.expectation(beta, shares)
        mu, slope = self.slopes(beta)
        own = self.gathered(weight * slope / (mu * (1.0 - mu)) * (chance - mu))
        safe = np.maximum(shares[self.group], 1e-12)
        free = (weight / safe)[:, 1:] - (weight / safe)[:, :1]
        groups, k = shares.shape
        wide = np.zeros((len(own), own.shape[1] + groups * (k - 1)))
        wide[:, : own.shape[1]] = own
        at = own.shape[1] + self.group[:, None] * (k - 1) + np.arange(k - 1)[None, :]
        np.put_along_axis(wide, at, free, axis=1)
        squared = wide.T @ wide
        return np.asarray(np.linalg.pinv(squared, hermitian=True)[: len(beta), : len(beta)])


# -- any estimator -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Simex:
    """What MC-SIMEX found."""

    #: Extrapolated to no misclassification, and from the observed categories as they are.
    estimate: Floats
    naive: Floats
    #: How much misclassification was added, and the mean estimate there.
    added: Floats
    means: Floats


def mc_simex(
    estimator: Callable[[Ints], npt.ArrayLike],
    codes: Ints,
    matrix: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    repeats: int = 20,
) -> Simex:
    """Return an estimate extrapolated to no misclassification, by adding more of it (MC-SIMEX).

    Categories are misclassified again with P^a for a = 0.5, 1, 1.5, 2 (1, 2, 3, 4 where half powers of P
    are no transition matrices); a quadratic through the mean estimates is read off at a = -1. The
    extrapolation makes it approximate.

    Parameters
    ----------
    estimator
        From categories to estimates.
    codes, matrix
        Observed categories and the transition matrix.
    rng
        Source of random numbers.
    repeats
        Simulations for every amount added.
    """
    p = np.asarray(matrix, dtype=np.float64)
    observed = np.asarray(codes, dtype=np.int64)
    half = power(p, 0.5)
    added = np.array([0.5, 1.0, 1.5, 2.0] if half is not None else [1.0, 2.0, 3.0, 4.0])
    step = half if half is not None else p
    naive = np.atleast_1d(np.asarray(estimator(observed), dtype=np.float64))
    means = [naive]
    current = np.eye(len(p))
    for _ in added:
        current = current @ step
        runs = [
            np.asarray(estimator(redraw_categories(observed, current, rng))) for _ in range(repeats)
        ]
        means.append(np.mean(np.atleast_2d(np.asarray(runs, dtype=np.float64)), axis=0).ravel())
    amount = np.concatenate([[0.0], added])
    table = np.vstack(means)
    curve = np.polynomial.polynomial.polyfit(amount, table, 2)
    at = np.polynomial.polynomial.polyval(-1.0, curve)
    return Simex(np.atleast_1d(np.asarray(at)), naive, amount, table)


def power(p: Floats, exponent: float) -> Floats | None:
    """Return a power of a transition matrix; None where it is no transition matrix."""
    values, vectors = np.linalg.eig(p)
    if np.any((np.abs(values.imag) < 1e-12) & (values.real <= 0)):
        return None
    raised = (vectors * values.astype(complex) ** exponent) @ np.linalg.inv(vectors)
    if np.abs(raised.imag).max() > 1e-9 or raised.real.min() < -1e-9:
        return None
    out = np.maximum(raised.real, 0.0)
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def redraw_categories(codes: Ints, p: Floats, rng: np.random.Generator) -> Ints:
    """Return categories misclassified once more."""
    sums = np.cumsum(p, axis=1)
    u = rng.random(len(codes)) * sums[codes, -1]
    out = np.empty_like(codes)
    for k in np.unique(codes):
        here = codes == k
        out[here] = np.searchsorted(sums[k], u[here], side="right")
    return np.minimum(out, len(p) - 1)
