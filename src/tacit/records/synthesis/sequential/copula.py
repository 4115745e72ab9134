"""The Gaussian copula: all columns drawn together, given those left alone.

Every column becomes a normal score through its own distribution, ties and categories at random within their share.
The scores of new records are drawn from the normal distribution with the correlations of the original scores, given
the scores of the columns left alone, and go back through the columns' own distributions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.algebra import dot, eigh, pinvh
from tacit.numerics.elementary import exp, ndtr, ndtri
from tacit.records.synthesis.sequential.variables import Given, Values


@dataclass(frozen=True)
class Margin:
    """The distribution of a column: its values ascending by key, and the share up to each."""

    keys: Floats
    codes: Ints
    numbers: Floats | None
    upto: Floats

    def scores(self, values: Values, rng: np.random.Generator) -> Floats:
        """Return normal scores, random within the share of each value."""
        at = np.clip(np.searchsorted(self.keys, values.keys()), 0, len(self.keys) - 1)
        low = np.concatenate([[0.0], self.upto])[at]
        u = low + rng.random(len(at)) * (self.upto[at] - low)
        return np.asarray(ndtri(np.clip(u, 1e-12, 1 - 1e-12)))

    def mean_scores(self, values: Values) -> Floats:
        """Return the mean normal score within the share of each value, in units of its standard deviation."""
        ends = ndtri(np.clip(np.concatenate([[0.0], self.upto]), 1e-12, 1 - 1e-12))
        density = exp(-(ends**2) / 2) / np.sqrt(2 * np.pi)
        density[[0, -1]] = 0.0
        mean = -np.diff(density) / np.maximum(np.diff(self.upto, prepend=0.0), 1e-300)
        at = np.clip(np.searchsorted(self.keys, values.keys()), 0, len(self.keys) - 1)
        found = mean[at]
        spread = float(found.std())
        return (found - found.mean()) / spread if spread > 1e-9 else np.zeros(len(found))

    def values(self, scores: Floats, *, smooth: bool, rng: np.random.Generator) -> Values:
        """Return the values at normal scores; with smoothing, numbers between neighbours."""
        at = np.minimum(np.searchsorted(self.upto, ndtr(scores), side="right"), len(self.upto) - 1)
        if self.numbers is None:
            return Values(self.codes[at])
        numbers = self.numbers[at]
        if smooth:
            numbers = np.where(self.rare[at], self.between(at, rng), numbers)
        return Values(self.codes[at], numbers)

    def between(self, at: Ints, rng: np.random.Generator) -> Floats:
        """Return a number somewhere between the middles to both neighbours."""
        assert self.numbers is not None
        ordinary = np.flatnonzero(self.codes == 0)
        first, last = (ordinary[0], ordinary[-1]) if len(ordinary) else (0, 0)
        before, after = np.clip(at - 1, first, last), np.clip(at + 1, first, last)
        here = self.numbers[at]
        low, high = (here + self.numbers[before]) / 2, (here + self.numbers[after]) / 2
        drawn = low + rng.random(len(at)) * (high - low)
        return np.where(self.codes[at] == 0, drawn, here)

    @property
    def rare(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which values have less than half a percent of the records: no point of their own."""
        return np.diff(self.upto, prepend=0.0) < 0.005


def margin_of(values: Values) -> Margin:
    """Return the distribution of a column."""
    keys, first, count = np.unique(values.keys(), return_index=True, return_counts=True)
    numbers = None if values.numbers is None else values.numbers[first]
    upto = np.cumsum(count) / max(len(values), 1)
    return Margin(keys, values.codes[first], numbers, upto)


@dataclass(frozen=True)
class Copula:
    """Distributions and correlations of the columns drawn, and of those left alone."""

    drawn: tuple[Margin, ...]
    alone: tuple[Margin, ...]
    slope: Floats
    root: Floats

    def draw(self, given: Given, n: int, *, smooth: bool, rng: np.random.Generator) -> list[Values]:
        """Return new values for n records with these columns left alone."""
        z = dot(rng.standard_normal((n, len(self.drawn))), self.root.T)
        if self.alone:
            scores = [m.scores(x, rng) for m, (_, x) in zip(self.alone, given, strict=True)]
            z += dot(np.column_stack(scores), self.slope.T)
        return [
            m.values(column, smooth=smooth, rng=rng)
            for m, column in zip(self.drawn, z.T, strict=True)
        ]


def fit_copula(targets: Given, given: Given) -> Copula:
    """Return the copula of some columns given others."""
    drawn = tuple(margin_of(x) for _, x in targets)
    alone = tuple(margin_of(x) for _, x in given)
    # Mean scores, divided by their own spread, undo most of what ties and categories take from a correlation.
    scores = np.column_stack(
        [m.mean_scores(x) for m, (_, x) in zip((*drawn, *alone), (*targets, *given), strict=True)]
    )
    k = len(drawn)
    r = nearest_correlation((dot(scores.T, scores)) / max(len(scores), 1))
    # S = R_ty R_yy^-1, residual covariance R_tt - S R_yt.
    slope = dot(r[:k, k:], pinvh(r[k:, k:])) if alone else np.zeros((k, 0))
    left = r[:k, :k] - dot(slope, r[k:, :k])
    values, vectors = eigh((left + left.T) / 2)
    return Copula(drawn, alone, slope, vectors * np.sqrt(np.clip(values, 0.0, None)))


def nearest_correlation(r: Floats) -> Floats:
    """Return a correlation matrix without negative directions, its diagonal one."""
    r = np.clip(r, -0.999, 0.999)
    np.fill_diagonal(r, 1.0)
    values, vectors = eigh(r)
    whole = dot(vectors * np.maximum(values, 1e-6), vectors.T)
    size = np.sqrt(np.diag(whole))
    return np.asarray(whole / np.outer(size, size))
