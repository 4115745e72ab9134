"""Families of models: what one party adds to the likelihood, its slope and its information at given coefficients.

Every statistic is a sum over records, so that the totals over parties are those of the pooled file, and Newton's method on
them gives the pooled fit.

Errata of the paper: its equation (14) needs (X^(k))' on the left of the last term and (15) a transpose of every X^(k); (16) has misplaced
braces, and for groups of size n_j the term 1 - y reads n_j - y.

References
----------
Fienberg, Fulp, Slavkovic, Wrobel (2006), "Secure" log-linear and logistic regression analysis of distributed databases,
PSD 2006, LNCS 4302, 277-290.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.special import expit, gammaln, log1p, logsumexp, xlogy

from tacit.arrays import Floats
from tacit.errors import InputError


@dataclass(frozen=True)
class Sums:
    """Totals at some coefficients."""

    likelihood: float
    slope: Floats
    information: Floats


class Family:
    """One party's data under one model."""

    #: Names of further totals that :meth:`fit_statistics` gives.
    fit_names: tuple[str, ...] = ("X2", "G2")

    def __init__(self, x: Floats, y: Floats) -> None:
        self.x, self.y = np.asfortranarray(x), y

    @property
    def n_parameters(self) -> int:
        """Return the number of coefficients."""
        return self.x.shape[1]

    @property
    def n_records(self) -> int:
        """Return the number of records."""
        return len(self.x)

    def sums(self, beta: Floats) -> Sums:
        """Return likelihood, slope and information at some coefficients."""
        raise NotImplementedError

    def fit_statistics(self, beta: Floats) -> list[float]:
        """Return this party's part of Pearson's X2 and of the deviance G2."""
        raise NotImplementedError

    def parts(self, beta: Floats) -> Floats:
        """Return what a party adds to one sum of Newton's method: likelihood, slope and the upper half of the information."""
        sums = self.sums(beta)
        upper = sums.information[np.triu_indices(len(sums.slope))]
        return np.concatenate([[sums.likelihood], sums.slope, upper])

    def combine(self, totals: Floats) -> Sums:
        """Return what the totals over all parties mean."""
        p = self.n_parameters
        information = np.zeros((p, p))
        rows, columns = np.triu_indices(p)
        information[rows, columns] = information[columns, rows] = totals[1 + p :]
        return Sums(float(totals[0]), totals[1 : 1 + p], information)

    def weighted_square(self, weights: Floats) -> Floats:
        """Return X' W X for weights of at least 0."""
        scaled = self.x * np.sqrt(weights)[:, None]
        upper = dsyrk(1.0, scaled, trans=True)
        return np.asarray(np.triu(upper) + np.triu(upper, 1).T)


class Linear(Family):
    """y = X b + e: least squares in one step."""

    fit_names = ("sum of squares", "sum of y", "sum of y squared")

    def sums(self, beta: Floats) -> Sums:
        """Return the residual sum of squares (halved, negative), X'(y - X b) and X'X."""
        rest = self.y - self.x @ beta
        information = self.weighted_square(np.ones(len(rest)))
        return Sums(-0.5 * float(rest @ rest), self.x.T @ rest, information)

    def fit_statistics(self, beta: Floats) -> list[float]:
        """Return the sums from which sigma and R2 follow."""
        rest = self.y - self.x @ beta
        return [float(rest @ rest), float(self.y.sum()), float(self.y @ self.y)]


class Logistic(Family):
    """y of n_j trials: log odds = X b."""

    def __init__(self, x: Floats, y: Floats, sizes: Floats | None = None) -> None:
        super().__init__(x, y)
        self.sizes = np.ones(len(y)) if sizes is None else sizes
        if (self.sizes <= 0).any() or (self.sizes != np.round(self.sizes)).any():
            raise InputError("sizes of groups must be whole numbers of at least 1")
        if (y < 0).any() or (y > self.sizes).any():
            raise InputError("the response must lie between 0 and the number of trials")

    def sums(self, beta: Floats) -> Sums:
        """Return the sums of equations (15) to (17)."""
        eta = self.x @ beta
        chance = expit(eta)
        likelihood = float(
            np.sum(self.y * eta - self.sizes * (np.maximum(eta, 0) + log1p(np.exp(-np.abs(eta)))))
        )
        slope = self.x.T @ (self.y - self.sizes * chance)
        return Sums(likelihood, slope, self.weighted_square(self.sizes * chance * (1 - chance)))

    def firth_slope(self, beta: Floats, inverse: Floats) -> Floats:
        """Return the slope with Firth's correction: X'(y - n pi + h (1/2 - pi)), h the leverages."""
        chance = expit(self.x @ beta)
        weights = self.sizes * chance * (1 - chance)
        leverage = weights * np.einsum("ij,jk,ik->i", self.x, inverse, self.x)
        return np.asarray(self.x.T @ (self.y - self.sizes * chance + leverage * (0.5 - chance)))

    def fit_statistics(self, beta: Floats) -> list[float]:
        """Return X2 and G2, with 0 log 0 = 0."""
        chance = expit(self.x @ beta)
        mean = self.sizes * chance
        pearson = np.sum((self.y - mean) ** 2 / (mean * (1 - chance)))
        left, mean_left = self.sizes - self.y, self.sizes * expit(-(self.x @ beta))
        deviance = 2 * np.sum(xlogy(self.y, self.y / mean) + xlogy(left, left / mean_left))
        return [float(pearson), float(deviance)]


class Poisson(Family):
    """Counts: log mean = X b.

    The sums of log y! and of y log y do not depend on the coefficients. Logarithms of primes being independent, their exact values tell
    how many responses are at least 5, 7, 11, ...: every owner adds them in whole numbers, so that likelihood and G2 are right to
    half the number of owners, and twice that, and differences between fits exactly.
    """

    def __init__(self, x: Floats, y: Floats) -> None:
        super().__init__(x, y)
        if (y < 0).any() or (y != np.round(y)).any():
            raise InputError("the response must be whole numbers of at least 0")

    def sums(self, beta: Floats) -> Sums:
        """Return the sums of the Poisson likelihood."""
        eta = self.x @ beta
        mean = np.exp(np.minimum(eta, 700.0))
        likelihood = float(np.sum(self.y * eta - mean)) - round(float(gammaln(self.y + 1).sum()))
        return Sums(likelihood, self.x.T @ (self.y - mean), self.weighted_square(mean))

    def fit_statistics(self, beta: Floats) -> list[float]:
        """Return X2 and G2."""
        mean = np.exp(np.minimum(self.x @ beta, 700.0))
        constant = 2 * round(float(xlogy(self.y, self.y).sum()))
        deviance = constant - 2 * np.sum(xlogy(self.y, mean) + self.y - mean)
        return [float(np.sum((self.y - mean) ** 2 / mean)), float(deviance)]


class Multinomial(Family):
    """One of several categories: log odds against the first = X b_c, one vector of coefficients per category."""

    def __init__(self, x: Floats, y: Floats, n_categories: int) -> None:
        super().__init__(x, y)
        self.n_categories = n_categories
        self.indicator = (y[:, None] == np.arange(1, n_categories)[None, :]).astype(np.float64)

    @property
    def n_parameters(self) -> int:
        """Return the coefficients of all categories but the first."""
        return int(self.x.shape[1] * (self.n_categories - 1))

    def chances(self, beta: Floats) -> tuple[Floats, Floats]:
        """Return log odds and probabilities of all categories but the first."""
        eta = self.x @ beta.reshape(self.n_categories - 1, -1).T
        total = logsumexp(np.concatenate([np.zeros((len(eta), 1)), eta], axis=1), axis=1)
        return eta, np.exp(eta - total[:, None])

    def sums(self, beta: Floats) -> Sums:
        """Return the sums of the multinomial likelihood."""
        eta, chance = self.chances(beta)
        rest = np.maximum(1 - chance.sum(1), 1e-300)
        likelihood = float(np.sum(self.indicator * eta) + np.sum(np.log(rest)))
        slope = ((self.indicator - chance).T @ self.x).ravel()
        p, c = self.x.shape[1], self.n_categories - 1
        information = np.empty((c * p, c * p))
        for i in range(c):
            for j in range(i, c):
                weights = chance[:, i] * ((i == j) - chance[:, j])
                block = (self.x * weights[:, None]).T @ self.x
                information[i * p : (i + 1) * p, j * p : (j + 1) * p] = block
                information[j * p : (j + 1) * p, i * p : (i + 1) * p] = block.T
        return Sums(likelihood, slope, information)

    def fit_statistics(self, beta: Floats) -> list[float]:
        """Return X2 and G2 of single records."""
        _, chance = self.chances(beta)
        rest = np.maximum(1 - chance.sum(1), 1e-300)
        every = np.concatenate([rest[:, None], chance], axis=1)
        told = every[np.arange(len(every)), self.y.astype(int)]
        return [float(np.sum(1 / told - 1)), float(-2 * np.sum(np.log(told)))]


class Cox(Family):
    """Survival times on an agreed grid: the partial likelihood with shared risk sets, ties by Breslow.

    At every step of time the totals of exp(x'b), x exp(x'b) and x x' exp(x'b) over all who are still at risk are added securely. Two
    steps differ by those who left: see :mod:`tacit.private.regression.steps_of_time`.
    """

    def __init__(self, x: Floats, time: Floats, event: Floats, grid: Floats) -> None:
        if not np.isin(time, grid).all():
            raise InputError(
                "a survival time is not on the grid agreed: round times the same way at every party"
            )
        if not np.isin(event, (0.0, 1.0)).all():
            raise InputError("the event must be 1 where it took place and 0 where it did not")
        self.x, self.event, self.n_times = x, event, len(grid)
        self.place = np.searchsorted(grid, time)

    def merge(self, steps: Sequence[int]) -> Cox:
        """Return the same records on a coarser grid, whose steps begin at some places of this one."""
        place = np.searchsorted(np.asarray(steps), self.place, side="right") - 1
        coarse = np.arange(len(steps), dtype=np.float64)
        return Cox(self.x, place.astype(np.float64), self.event, coarse)

    def parts(self, beta: Floats) -> Floats:
        """Return the sum of x and of x'b over events, the events of every step, and its three sums over the risk set."""
        p = self.n_parameters
        eta = self.x @ beta
        risk = np.exp(np.minimum(eta, 300.0))
        pairs = (self.x[:, :, None] * self.x[:, None, :])[:, *np.triu_indices(p)]
        columns = np.column_stack([risk, self.x * risk[:, None], pairs * risk[:, None]])
        sums = np.zeros((self.n_times, columns.shape[1]))
        np.add.at(sums, self.place, columns)
        at_risk = np.cumsum(sums[::-1], axis=0)[::-1]
        deaths = np.bincount(self.place, self.event, minlength=self.n_times)
        return np.concatenate([self.event @ self.x, [self.event @ eta], deaths, at_risk.ravel()])

    def combine(self, totals: Floats) -> Sums:
        """Return likelihood, slope and information from the totals over all parties."""
        p, n = self.n_parameters, self.n_times
        x, eta, every = totals[:p], float(totals[p]), totals[p + 1 : p + 1 + n]
        happened = every > 0.5
        deaths, table = every[happened], totals[p + 1 + n :].reshape(n, -1)[happened]
        s0, s1 = table[:, 0], table[:, 1 : p + 1]
        s2 = np.zeros((len(s0), p, p))
        rows, columns = np.triu_indices(p)
        s2[:, rows, columns] = s2[:, columns, rows] = table[:, p + 1 :]
        mean = s1 / s0[:, None]
        spread = s2 / s0[:, None, None] - mean[:, :, None] * mean[:, None, :]
        return Sums(
            float(eta - np.sum(deaths * np.log(s0))),
            np.asarray(x - (deaths[:, None] * mean).sum(0)),
            np.asarray((deaths[:, None, None] * spread).sum(0)),
        )


#: The families of plain data, by the name of their model.
FAMILIES: Mapping[str, type[Family]] = {
    "linear": Linear,
    "logistic": Logistic,
    "poisson": Poisson,
    "multinomial": Multinomial,
}
