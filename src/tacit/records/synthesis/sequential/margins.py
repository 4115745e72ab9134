"""Synthesis from margins: a table fitted to chosen margins, noisy ones where asked, and records drawn from it.

With ``rho`` every count gets an independent whole number of noise, discrete Gaussian with scale s, s^2 = k / rho for k
margins in all. One record changed for another moves a margin by at most sqrt(2) in Euclidean distance, all k together
by sqrt(2 k); such noise on a query of sensitivity D satisfies zero-concentrated differential privacy with
rho = D^2 / (2 s^2), here 2 k / (2 k / rho) = rho (Canonne, Kamath, Steinke 2020, theorem 14). What is drawn from
noisy margins costs nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import Infeasible
from tacit.records.synthesis.sequential.variables import Values, Variable
from tacit.stats.concentrated import amplitude_for_rho
from tacit.stats.lattice import Lattice
from tacit.stats.margins import Margin, fit_proportionally

#: Cells of the fitted table at most.
MOST_CELLS = 5_000_000
#: Sweeps over noisy margins, which contradict each other.
SWEEPS = 100


@dataclass(frozen=True)
class Binned:
    """A column as the cells of a table: that of each record, and how many there are.

    Cells of ordinary numbers, whose limits are ``edges``, come after those of the states. Numbers are those of
    ``original`` records of the same cell; without these they are drawn evenly.
    """

    variable: Variable
    cells: Ints
    size: int
    edges: Floats
    original: Values | None

    def draw(self, cells: Ints, rng: np.random.Generator) -> Values:
        """Return a value in each cell."""
        if not self.variable.numeric:
            return Values(cells)
        states = self.variable.size - 1
        ordinary = cells >= states
        bins = np.clip(cells - states, 0, max(len(self.edges) - 2, 0))
        codes = np.where(ordinary, 0, cells + 1)
        low, high = self.edges[bins], self.edges[bins + 1]
        numbers = low + rng.random(len(cells)) * (high - low)
        if self.original is not None:
            order = np.argsort(self.cells, kind="stable")
            count = np.bincount(self.cells, minlength=self.size)
            start = np.cumsum(count) - count
            at = start[cells] + np.floor(rng.random(len(cells)) * count[cells]).astype(np.int64)
            found = self.original.take(order[np.clip(at, 0, len(order) - 1)])
            assert found.numbers is not None
            numbers = found.numbers
        return Values(codes, np.where(ordinary, self.variable.tidy(numbers), 0.0))


def bin_column(
    variable: Variable,
    values: Values,
    *,
    bins: int,
    limits: tuple[float | None, float | None],
    private: bool,
) -> Binned:
    """Return a column as cells; numbers of a private table in bins of equal width between given limits."""
    if not variable.numeric:
        return Binned(variable, values.codes, variable.size, np.zeros(2), None)
    assert values.numbers is not None
    low, high = limits
    known = values.codes == 0
    if private:
        if low is None or high is None:
            raise Infeasible(
                f"synthesise: private margins of the numbers in {variable.name!r} need limits that do not come from the data; give ranges={{{variable.name!r}: [low, high]}}"
            )
        edges = np.linspace(low, high, bins + 1)
    else:
        found = values.numbers[known]
        edges = (
            np.unique(np.quantile(found, np.linspace(0, 1, bins + 1)))
            if len(found)
            else np.zeros(1)
        )
        edges = np.append(edges, edges[-1]) if len(edges) < 2 else edges
    states = variable.size - 1
    at = np.clip(np.searchsorted(edges, values.numbers, side="right") - 1, 0, len(edges) - 2)
    cells = np.where(known, states + at, values.codes - 1)
    return Binned(variable, cells, states + len(edges) - 1, edges, None if private else values)


@dataclass(frozen=True)
class Fitted:
    """The fitted table, and how it was made."""

    columns: tuple[Binned, ...]
    shares: Floats
    sigma: float
    residual: float

    def draw(self, n: int, rng: np.random.Generator) -> list[Values]:
        """Return n records drawn from the table."""
        cells = np.searchsorted(np.cumsum(self.shares), rng.random(n), side="right")
        cells = np.minimum(cells, len(self.shares) - 1)
        sizes = [c.size for c in self.columns]
        at = np.unravel_index(cells, sizes)
        return [c.draw(a.astype(np.int64), rng) for c, a in zip(self.columns, at, strict=True)]


def fit_margins(
    columns: Sequence[Binned],
    margins: Sequence[Sequence[int]],
    *,
    rho: float | None,
    rng: np.random.Generator,
) -> Fitted:
    """Return the table of largest entropy with these margins of the columns, by proportional fitting."""
    sizes = [c.size for c in columns]
    n_cells = int(np.prod([float(s) for s in sizes]))
    if n_cells > MOST_CELLS:
        raise Infeasible(
            f"synthesise: the table of all columns has {n_cells:,} cells, and at most {MOST_CELLS:,} are fitted. Recode columns, use fewer bins, or use cart."
        )
    n = len(columns[0].cells)
    sigma = noise_of_margins(len(margins), rho) if rho is not None else 0.0
    where = np.unravel_index(np.arange(n_cells), sizes)
    found = []
    for columns_of in margins:
        shape = [sizes[j] for j in columns_of]
        group = np.ravel_multi_index([where[j] for j in columns_of], shape)
        own = np.ravel_multi_index([columns[j].cells for j in columns_of], shape)
        total = np.bincount(own, minlength=int(group.max()) + 1).astype(np.float64)
        if rho is not None:
            total = np.maximum(Lattice.of(sigma, counts=True).protect(total, rng), 0.0)
            total *= n / total.sum() if total.sum() > 0 else 0.0
        found.append(Margin(group, total))
    fit = fit_proportionally(np.ones(n_cells), found, tolerance=1e-6, most=SWEEPS)
    total = fit.values.sum()
    shares = fit.values / total if total > 0 else np.full(n_cells, 1 / n_cells)
    return Fitted(tuple(columns), shares, sigma, fit.residual)


def noise_of_margins(k: int, rho: float) -> float:
    """Return the scale of the noise of k margins that spend rho together."""
    return amplitude_for_rho(math.sqrt(2 * k), rho)
