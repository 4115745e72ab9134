"""All columns drawn together: by a copula, or from a table fitted to margins; and what repeats an original record drawn again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.engine.record_hash import find_uniques
from tacit.errors import LimitReached
from tacit.numerics.algebra import dot, eigh, pinvh
from tacit.numerics.elementary import exp, ndtr, ndtri
from tacit.records.synthesis.sequential.margins import bin_column, fit_margins
from tacit.records.synthesis.sequential.parameters import SynthesisParameters
from tacit.records.synthesis.sequential.sequence import Chain, State, Tick
from tacit.records.synthesis.sequential.variables import Given, Values, Variable

#: Rounds of drawing again what repeats an original record.
ROUNDS = 100
#: Draws the columns of some records anew, in place.
Redraw = Callable[[State, Ints], None]
#: Returns new values of the columns for some records.
Draw = Callable[[Ints], list[Values]]
#: Rounds of drawing again what is out of range or forbidden.
TRIES = 200


def fit_together(spec: SynthesisParameters, data: Microdata, chain: Chain, ctx: Context) -> Redraw:
    """Fit the model of all columns together; return what draws records from it until all keep the rules.

    Values that rules and sums set are set after each draw.
    """
    replaced = [c for c in spec.replaced(data) if c not in spec.sums]
    ctx.tick("fitting", 0.0)
    fit = fit_to_copula if spec.method == "copula" else fit_to_margins
    draw = fit(spec, data, replaced, chain, ctx)

    def redraw(state: State, rows: Ints) -> None:
        for _ in range(TRIES):
            for c, new in zip(replaced, draw(rows), strict=True):
                state[c] = state[c].put(rows, new)
            chain.settle_all(state)
            rows = chain.broken(state, rows)
            if not len(rows):
                return
        raise LimitReached(
            f"synthesise: {len(rows):,} records could not be drawn within the ranges and without forbidden combinations in {TRIES} attempts. Use cart, which learns them."
        )

    return redraw


def fit_to_copula(
    spec: SynthesisParameters, data: Microdata, replaced: Sequence[str], chain: Chain, ctx: Context
) -> Draw:
    """Fit a copula of the columns replaced, given those left alone."""
    del data
    pairs = {c: (chain.variables[c], chain.original[c]) for c in chain.variables}
    alone = [pairs[c] for c in pairs if c not in replaced and c not in spec.sums]
    model = fit_copula([pairs[c] for c in replaced], alone)

    def draw(rows: Ints) -> list[Values]:
        here = [(v, x.take(rows)) for v, x in alone]
        drawn = model.draw(here, len(rows), smooth=spec.smooth, rng=ctx.rng)
        return [tidy(pairs[c][0], new) for c, new in zip(replaced, drawn, strict=True)]

    return draw


def fit_to_margins(
    spec: SynthesisParameters, data: Microdata, replaced: Sequence[str], chain: Chain, ctx: Context
) -> Draw:
    """Fit a table of the columns replaced to its margins."""
    tables, private = spec.tables(data), spec.rho is not None
    binned = []
    for c in replaced:
        limits = spec.ranges.get(c, (None, None))
        column = chain.variables[c], chain.original[c]
        binned.append(bin_column(*column, bins=spec.bins, limits=limits, private=private))
    margins = [[replaced.index(c) for c in table] for table in tables]
    model = fit_margins(binned, margins, rho=spec.rho, rng=ctx.rng)
    ctx.note(cells=len(model.shares), margins=len(tables))
    if private:
        ctx.note(rho=spec.rho, sigma=model.sigma)
    return lambda rows: model.draw(len(rows), ctx.rng)


def tidy(variable: Variable, values: Values) -> Values:
    """Return numbers in the decimals of their column."""
    if values.numbers is None:
        return values
    return Values(values.codes, variable.tidy(values.numbers))


# -- records that repeat an original one -----------------------------------------------------------


def hash_uniques(data: Microdata, columns: Sequence[str]) -> list[str]:
    """Return a number, as text, for each record that is unique on all columns."""
    hashes, unique = find_uniques(data.to_arrow(columns))
    return sorted(f"{h:016x}" for h in hashes[unique])


def flag_uniques(data: Microdata, columns: Sequence[str]) -> Flags:
    """Return which records are unique on all columns."""
    return find_uniques(data.to_arrow(columns))[1]


def avoid_replicas(
    state: State,
    original: Mapping[str, Values],
    unique: Flags,
    redraw: Callable[[State, Ints], None],
    tick: Tick,
) -> State:
    """Draw records again until none repeats a unique original one."""
    names = list(state)
    sought = rows_of(original, names)[unique]
    for attempt in range(ROUNDS):
        tick("looking for replicas", attempt / ROUNDS)
        rows = np.flatnonzero(np.isin(rows_of(state, names), sought))
        if not len(rows):
            return state
        redraw(state, rows)
    raise LimitReached(
        f"synthesise: {len(rows):,} records repeat a unique original one however often they are drawn. Synthesise more columns, or use larger leaves."
    )


def rows_of(
    state: Mapping[str, Values], names: Sequence[str]
) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return each record as one value."""
    keys = np.ascontiguousarray(np.column_stack([state[c].keys() + 0.0 for c in names]))
    return keys.view(np.dtype((np.void, keys.dtype.itemsize * keys.shape[1]))).ravel()


# -- the Gaussian copula: all columns drawn together, given those left alone ---------------------------------

# Every column becomes a normal score through its own distribution, ties and categories at random within their share.
# The scores of new records are drawn from the normal distribution with the correlations of the original scores, given
# the scores of the columns left alone, and go back through the columns' own distributions.


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
