"""Panel: several numeric series of each record, over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.errors import InputError
from tacit.stats.moments import Floats, Ints


@dataclass(frozen=True)
class Panel:
    """Records x series x time.

    Attributes
    ----------
    values
        One value a record, series and time; NaN beyond the end of a shorter series.
    lengths
        How many values each series of each record has.
    times
        The time of each position, strictly increasing.
    """

    values: Floats
    lengths: Ints
    times: Floats

    @classmethod
    def of(cls, values: Any, times: Sequence[float] | None = None) -> Panel:
        """Return a panel from an array (records x time, or records x series x time), or ragged lists.

        A series that ends early has NaN after its last value; a NaN before it is a missing value and is
        refused (see :meth:`interpolated`).
        """
        array = np.asarray(ragged(values), dtype=np.float64)
        if array.ndim == 2:
            array = array[:, None, :]
        if array.ndim != 3 or array.size == 0:
            raise InputError("series must be given as records x time or records x series x time")
        if np.isinf(array).any():
            raise InputError("series hold infinite numbers")
        steps = np.arange(array.shape[2], dtype=np.float64)
        at = steps if times is None else np.asarray(times, dtype=np.float64)
        if len(at) != array.shape[2]:
            raise InputError("times must be one for each position of the series")
        if not np.isfinite(at).all() or (np.diff(at) <= 0).any():
            raise InputError("times must be strictly increasing")
        known = ~np.isnan(array)
        lengths = np.where(known.any(axis=2), array.shape[2] - known[:, :, ::-1].argmax(axis=2), 0)
        if (lengths == 0).any():
            raise InputError("a series without any value cannot be compared")
        return cls(array, lengths.astype(np.int64), at)

    @property
    def equal(self) -> bool:
        """Return True when all series have a value at every time."""
        return bool((self.lengths == self.values.shape[2]).all())

    @property
    def holed(self) -> bool:
        """Return True when values are missing before the end of a series."""
        inside = np.arange(self.values.shape[2]) < self.lengths[:, :, None]
        return bool(np.isnan(self.values[inside]).any())

    def interpolated(self) -> Panel:
        """Return the panel with missing values inside a series filled linearly."""
        new = self.values.copy()
        for (r, s), n in np.ndenumerate(self.lengths):
            known = np.flatnonzero(~np.isnan(new[r, s, :n]))
            if known[0] > 0:
                raise InputError("a series begins with a missing value, which cannot be filled")
            new[r, s, :n] = np.interp(self.times[:n], self.times[known], new[r, s, known])
        return replace(self, values=new)

    def resampled(self, m: int) -> Panel:
        """Return the panel at m equally spaced positions of each series, both ends included."""
        if m < 2:
            raise InputError("series are resampled to at least two positions")
        new = np.empty((*self.values.shape[:2], m))
        for (r, s), n in np.ndenumerate(self.lengths):
            at = self.times[:n]
            new[r, s] = np.interp(np.linspace(at[0], at[-1], m), at, self.values[r, s, :n])
        return Panel(new, np.full(new.shape[:2], m, dtype=np.int64), np.arange(m, dtype=np.float64))

    def split(self, pieces: int) -> list[slice]:
        """Return the positions of consecutive pieces of nearly equal length."""
        cuts = np.array_split(np.arange(self.values.shape[2]), pieces)
        if pieces < 1 or any(len(c) == 0 for c in cuts):
            raise InputError("series cannot be cut into more pieces than they have values")
        return [slice(int(c[0]), int(c[-1]) + 1) for c in cuts]


def ragged(values: Any) -> Any:
    """Return nested lists of unequal length padded with NaN; arrays as they are."""
    if isinstance(values, np.ndarray):
        return values
    records = [list(record) for record in values]
    nested = bool(records) and bool(records[0]) and np.ndim(records[0][0]) == 1
    rows = [r if nested else [r] for r in records]
    longest = max((len(series) for row in rows for series in row), default=0)
    try:
        return np.array(
            [[[*map(float, s)] + [np.nan] * (longest - len(s)) for s in row] for row in rows]
        )
    except (TypeError, ValueError):
        raise InputError("every record needs the same number of numeric series") from None


def from_long(
    table: pa.Table, *, record: str, time: str, value: str, series: str | None = None
) -> pa.Table:
    """Return a long table (one row a record, series and time) as a wide one, one row a record.

    Columns are named ``value_time``, or ``series_time`` with several series. Records keep the order in
    which they first appear; a value that is not there is missing, and one given twice is refused.
    """
    missing = [
        c for c in (record, time, value, series) if c is not None and c not in table.column_names
    ]
    if missing:
        raise InputError(f"from_long: no column {missing[0]!r} in the table")
    records = table.column(record).combine_chunks().dictionary_encode()
    order = np.asarray(records.indices)
    moments = sorted(table.column(time).unique().to_pylist())
    names = sorted(table.column(series).unique().to_pylist()) if series else [value]
    at = {(n, t): i for i, (n, t) in enumerate((n, t) for n in names for t in moments)}
    kinds = table.column(series).to_pylist() if series else [value] * table.num_rows
    places = np.array(
        [at[n, t] for n, t in zip(kinds, table.column(time).to_pylist(), strict=True)]
    )
    cells = order.astype(np.int64) * len(at) + places
    if len(np.unique(cells)) < len(cells):
        raise InputError("from_long: a record has two values at the same time")
    wide = np.full(len(records.dictionary) * len(at), np.nan)
    wide[cells] = table.column(value).cast(pa.float64()).to_numpy()
    wide = wide.reshape(len(records.dictionary), len(at))
    columns = {f"{n}_{t}": pa.array(wide[:, i], from_pandas=True) for (n, t), i in at.items()}
    return pa.table({record: records.dictionary, **columns})
