"""Columns before and after: missing values, distinct values, moments, distance and a small histogram.

Everything comes from the counts of a column's values, taken on the engine. Only shares, moments and bins
that hold enough records leave this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from tacit.arrays import Floats
from tacit.data.microdata import Microdata
from tacit.engine.memory import held_table

#: Categories and bins in a small chart.
MOST_BARS = 8
#: A category is named in a chart when this many records have it.
NAMED = 20
#: A chart must show at least this share of the records by name.
TOLD = 0.1

Bin = tuple[str, float, float]


@dataclass(frozen=True)
class Values:
    """The values of one column with their counts; missing ones are counted apart."""

    values: pa.Array
    n: Floats
    missing: int

    @property
    def numeric(self) -> bool:
        """Return True for a column of numbers."""
        kind = self.values.type
        return not len(self.values) or pa.types.is_integer(kind) or pa.types.is_floating(kind)

    @property
    def numbers(self) -> Floats:
        """Return the values of a column of numbers."""
        return np.asarray(self.values.to_numpy(zero_copy_only=False), dtype=float)

    @property
    def names(self) -> list[str]:
        """Return the values as text."""
        return [str(v) for v in self.values.to_pylist()]

    def shares(self) -> dict[str, float]:
        """Return the share of each value, by its text."""
        return dict(zip(self.names, self.n / self.total, strict=True))

    @property
    def total(self) -> float:
        """Return the number of values that are there."""
        return float(self.n.sum())

    @property
    def missing_share(self) -> float:
        """Return the share of missing values."""
        return self.missing / max(self.total + self.missing, 1)

    def moments(self) -> tuple[float | None, float | None]:
        """Return mean and standard deviation of numbers."""
        if not self.numeric or self.total < 2:
            return None, None
        x = self.numbers
        mean = float(np.average(x, weights=self.n))
        spread = float(np.sum(self.n * (x - mean) ** 2) / (self.total - 1))
        return mean, spread**0.5


@dataclass(frozen=True)
class Compared:
    """One column before and after."""

    name: str
    fate: str
    before: Values | None
    after: Values | None
    distance: float | None = None
    bins: tuple[Bin, ...] = ()
    #: True where numbers only name people or households, so that their mean says nothing.
    names_units: bool = False

    def counts(self) -> tuple[int | None, ...]:
        """Return missing values before and after, then distinct ones; None where the column is not there."""
        sides = (self.before, self.after)
        return (
            *(None if v is None else v.missing for v in sides),
            *(None if v is None else len(v.values) for v in sides),
        )

    def row(self) -> tuple[Any, ...]:
        """Return the column for a table: distance, missing shares, means and standard deviations."""
        assert self.before is not None
        assert self.after is not None
        sides = (self.before, self.after)
        (m0, s0), (m1, s1) = ((None, None) if self.names_units else v.moments() for v in sides)
        shares = (self.before.missing_share, self.after.missing_share)
        distance = None if self.distance is None else f"{self.distance:.3f}"
        return (self.name, distance, *shares, m0, m1, s0, s1)


def compare_columns(before: Microdata, after: Microdata) -> list[Compared]:
    """Return every column of either side, in order; identifiers are not looked into."""
    names = list(dict.fromkeys([*before.columns, *after.columns]))
    return [compare_column(name, before, after) for name in names]


def compare_column(name: str, before: Microdata, after: Microdata) -> Compared:
    """Return one column before and after."""
    if name in before.identifiers and name not in after.columns:
        return Compared(name, "left out", None, None)
    old = values_of(before, name) if name in before.columns else None
    new = values_of(after, name) if name in after.columns else None
    if old is None or new is None:
        return Compared(name, "new" if old is None else "left out", old, new)
    if name in (*before.identifiers, before.household):
        return Compared(name, "released", old, new, names_units=True)
    numeric = old.numeric and new.numeric
    distance = kolmogorov(old, new) if numeric else total_variation(old, new)
    bins = number_bins(old, new) if numeric else category_bins(old, new)
    return Compared(name, "released", old, new, distance, tuple(bins))


def values_of(data: Microdata, name: str) -> Values:
    """Count the values of a column, ascending."""
    held = held_table(data.frame)
    marks = data.columns[name].missing
    if held is not None and not marks and pa.types.is_floating(held.schema.field(name).type):
        known = held.column(name).drop_null()
        # 0.0 and -0.0 are one value.
        values, n = np.unique(known.to_numpy() + 0.0, return_counts=True)
        return Values(pa.array(values), n.astype(float), held.num_rows - len(known))
    cells = data.cells([name])
    coded = cells.keys[name]
    there = coded.codes < coded.null
    if marks:
        listed = np.array([v in marks for v in coded.values.to_pylist()] + [True])
        there &= ~listed[coded.codes]
    values = coded.values.take(pa.array(coded.codes[there]))
    return Values(values, cells.n[there].astype(float), int(cells.n[~there].sum()))


# -- distances -----------------------------------------------------------------------------------------


def total_variation(a: Values, b: Values) -> float | None:
    """Return half the sum of the absolute differences of shares."""
    if not a.total or not b.total:
        return None
    p, q = a.shares(), b.shares()
    return float(sum(abs(p.get(c, 0.0) - q.get(c, 0.0)) for c in p.keys() | q.keys()) / 2)


def kolmogorov(a: Values, b: Values) -> float | None:
    """Return the largest difference of the two distribution functions."""
    if not a.total or not b.total:
        return None
    at = np.union1d(a.numbers, b.numbers)
    return float(np.abs(compute_cumulative_share(a, at) - compute_cumulative_share(b, at)).max())


def compute_cumulative_share(
    v: Values, at: Floats, side: Literal["left", "right"] = "right"
) -> Floats:
    """Return the share of values up to each point; those below it with ``left``."""
    below = np.searchsorted(v.numbers, at, side=side)
    return np.concatenate([[0.0], np.cumsum(v.n) / v.total])[below]


# -- bins ------------------------------------------------------------------------------------------------


def number_bins(a: Values, b: Values) -> list[Bin]:
    """Return shares before and after in bins between the middle 98 per cent of the original.

    The ends are open: the largest and smallest values are not told.
    """
    if a.total < NAMED or not b.total:
        return []
    x = a.numbers
    share = np.cumsum(a.n) / a.total
    low, high = (float(x[np.searchsorted(share, q)]) for q in (0.01, 0.99))
    if not low < high:
        return []
    inner = nice_edges(low, high)
    shares = (compute_cumulative_share(v, inner, "left") for v in (a, b))
    p, q = (np.diff(np.concatenate([[0.0], share, [1.0]])) for share in shares)
    names = [f"below {inner[0]:,.10g}", *(f"from {e:,.10g}" for e in inner)]
    bins = [(name, float(s), float(t)) for name, s, t in zip(names, p, q, strict=True)]
    return bins if p[0] or q[0] else bins[1:]


def nice_edges(low: float, high: float) -> Floats:
    """Return round numbers that cut a range in at most ``MOST_BARS`` - 1 parts."""
    rough = (high - low) / (MOST_BARS - 1)
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    return np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step


def category_bins(a: Values, b: Values) -> list[Bin]:
    """Return the shares of the commonest categories before and after; the rest together."""
    if not a.total or not b.total:
        return []
    p, q = a.shares(), b.shares()
    many = {c for v in (a, b) for c, n in zip(v.names, v.n, strict=True) if n >= NAMED}
    order = sorted(many, key=lambda c: (-max(p.get(c, 0), q.get(c, 0)), c))[:MOST_BARS]
    if not order:
        return []
    bins = [(c, float(p.get(c, 0.0)), float(q.get(c, 0.0))) for c in order]
    if sum(max(x, y) for _, x, y in bins) < TOLD:
        return []
    rest = (1 - sum(x for _, x, _ in bins), 1 - sum(y for *_, y in bins))
    return [*bins, ("all others", *rest)] if max(rest) > 1e-9 else bins
