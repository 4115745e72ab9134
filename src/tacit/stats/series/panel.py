"""Panel: several numeric series of each record, over time, as they are or normalised."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from tacit.arrays import Floats, Ints
from tacit.errors import InputError, SdcWarning


@dataclass(frozen=True)
class Panel:
    """Records x series x time.

    Attributes
    ----------
    values
        One value per record, series and position; NaN beyond the end of a shorter series.
    lengths
        How many positions each series of each record has.
    times
        The time of each position, strictly increasing, one row per series.
    """

    values: Floats
    lengths: Ints
    times: Floats

    @classmethod
    def of(cls, values: Any, times: Any = None) -> Panel:
        """Return a panel from an array (records x time, or records x series x time), or ragged lists.

        ``times`` are given once for all series, or one row per series. A series that ends early has NaN
        after its last value; a NaN before it is a missing value (see :meth:`interpolated`).
        """
        array = np.asarray(pad_ragged(values), dtype=np.float64)
        if array.ndim == 2:
            array = array[:, None, :]
        if array.ndim != 3 or array.size == 0:
            raise InputError("series must be given as records x time or records x series x time")
        if np.isinf(array).any():
            raise InputError("series hold infinite numbers")
        known = ~np.isnan(array)
        lengths = np.where(known.any(axis=2), array.shape[2] - known[:, :, ::-1].argmax(axis=2), 0)
        if (lengths == 0).any():
            raise InputError("a series without any value cannot be compared")
        return cls(array, lengths.astype(np.int64), check_times(times, array.shape[1:]))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_series(self) -> int:
        """Return the number of series of a record."""
        return self.values.shape[1]

    @property
    def even(self) -> bool:
        """Return True when each series has the same length in all records."""
        return bool((self.lengths == self.lengths[:1]).all())

    @property
    def holed(self) -> bool:
        """Return True when values are missing before the end of a series."""
        inside = np.arange(self.values.shape[2]) < self.lengths[:, :, None]
        return bool(np.isnan(self.values[inside]).any())

    def series(self, s: int) -> Floats:
        """Return one series of all records, without the empty positions that none of them reaches."""
        return self.values[:, s, : int(self.lengths[:, s].max())]

    def rows(self, at: Any) -> Panel:
        """Return the panel of some records."""
        return replace(self, values=self.values[at], lengths=self.lengths[at])

    def points(self) -> Floats:
        """Return every point of every series as a variable, one row per record."""
        return np.hstack([self.series(s) for s in range(self.n_series)])

    def interpolated(self) -> Panel:
        """Return the panel with missing values inside a series filled linearly over time."""
        if not self.holed:
            return self
        known = ~np.isnan(self.values)
        if not known[:, :, 0].all():
            raise InputError("a series begins with a missing value, which cannot be filled")
        places = np.arange(self.values.shape[2])
        before = np.maximum.accumulate(np.where(known, places, 0), axis=2)
        after = np.where(known, places, len(places) - 1)[:, :, ::-1]
        after = np.minimum.accumulate(after, axis=2)[:, :, ::-1]
        times = np.broadcast_to(self.times, self.values.shape)
        begin, end = (np.take_along_axis(times, at, axis=2) for at in (before, after))
        low, high = (np.take_along_axis(self.values, at, axis=2) for at in (before, after))
        share = (times - begin) / np.where(end > begin, end - begin, 1.0)
        holes = ~known & (places < self.lengths[:, :, None])
        return replace(self, values=np.where(holes, low + share * (high - low), self.values))

    def resampled(self, m: int) -> Panel:
        """Return the panel at m equally spaced times of each series, both ends included."""
        if m < 2:
            raise InputError("series are resampled to at least two positions")
        if self.holed:
            raise InputError("series have missing values; interpolate them first")
        new = np.empty((*self.values.shape[:2], m))
        for s in range(self.n_series):
            for n in np.unique(self.lengths[:, s]):
                rows = np.flatnonzero(self.lengths[:, s] == n)
                new[rows, s] = interpolate(self.values[rows, s, :n], self.times[s, :n], m)
        lengths = np.full(new.shape[:2], m, dtype=np.int64)
        return Panel(new, lengths, np.tile(np.arange(m, dtype=np.float64), (self.n_series, 1)))

    def pieces(self, n: int) -> Panel:
        """Return the panel with every series cut into n consecutive pieces, each a series of its own."""
        if n == 1:
            return self
        if not self.even:
            raise InputError("series of different lengths cannot be cut into the same pieces")
        cut = [(s, at) for s in range(self.n_series) for at in pieces(int(self.lengths[0, s]), n)]
        longest = max(at.stop - at.start for _, at in cut)
        values = np.full((len(self), len(cut), longest), np.nan)
        times = np.empty((len(cut), longest))
        lengths = np.empty(values.shape[:2], dtype=np.int64)
        for i, (s, at) in enumerate(cut):
            size = at.stop - at.start
            values[:, i, :size] = self.values[:, s, at]
            lengths[:, i] = size
            times[i] = self.times[s, at.stop - 1] + np.arange(1, longest + 1) - size
            times[i, :size] = self.times[s, at]
        return Panel(values, lengths, times)


def pieces(length: int, n: int) -> list[slice]:
    """Return n consecutive pieces of nearly equal length."""
    if not 1 <= n <= length:
        raise InputError("series cannot be cut into more pieces than they have values")
    ends = np.cumsum([len(part) for part in np.array_split(np.arange(length), n)]).tolist()
    return [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]


def interpolate(values: Floats, times: Floats, m: int) -> Floats:
    """Return series (one per row) at m equally spaced times from first to last."""
    if len(times) == 1:
        return np.repeat(values, m, axis=1)
    at = np.linspace(times[0], times[-1], m)
    left = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    share = (at - times[left]) / (times[left + 1] - times[left])
    return np.asarray((1 - share) * values[:, left] + share * values[:, left + 1])


def check_times(times: Any, shape: tuple[int, ...]) -> Floats:
    """Return the times of each series, 0, 1, ... when none are given."""
    steps = np.arange(shape[1], dtype=np.float64)
    at = np.asarray(steps if times is None else times, dtype=np.float64)
    if at.shape not in (shape, shape[1:]):
        raise InputError("times must be one for each position of the series")
    if not np.isfinite(at).all() or (np.diff(at) <= 0).any():
        raise InputError("times must be strictly increasing")
    return np.array(np.broadcast_to(at, shape))


def pad_ragged(values: Any) -> Any:
    """Return nested lists of unequal length padded with NaN; arrays as they are."""
    if isinstance(values, np.ndarray):
        return values
    records = [list(record) for record in values]
    nested = bool(records) and bool(records[0]) and np.ndim(records[0][0]) == 1
    rows: list[list[Sequence[float]]] = [r if nested else [r] for r in records]
    if not all(np.ndim(series) == 1 for row in rows for series in row):
        raise InputError("every record needs the same number of numeric series")
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
    """Return a long table (one row per record, series and time) as a wide one, one row per record.

    Columns are named ``value_time``, or ``series_time`` with several series, in the order of names and
    times. Records keep the order in which they first appear; a value that is not there is missing, and one
    given twice is refused.
    """
    used = [c for c in (record, time, value, series) if c is not None]
    missing = [c for c in used if c not in table.column_names]
    if missing:
        raise InputError(f"from_long: no column {missing[0]!r} in the table")
    holed = [c for c in used if c != value and table.column(c).null_count]
    if holed:
        raise InputError(f"from_long: column {holed[0]!r} has missing values")
    who = table.column(record).combine_chunks().dictionary_encode()
    moments, when = sort_column(table.column(time))
    names, which = ([value], np.zeros(table.num_rows, dtype=np.int64))
    if series is not None:
        names, which = sort_column(table.column(series))
    width = len(names) * len(moments)
    cells = np.asarray(who.indices).astype(np.int64) * width + which * len(moments) + when
    if len(np.unique(cells)) < len(cells):
        raise InputError("from_long: a record has two values at the same time")
    flat = np.full(len(who.dictionary) * width, np.nan)
    try:
        flat[cells] = table.column(value).cast(pa.float64(), safe=False).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(f"from_long: column {value!r} does not hold numbers") from None
    wide = flat.reshape(len(who.dictionary), width)
    labels = [f"{n}_{t}" for n in names for t in moments]
    columns = {label: pa.array(wide[:, i], from_pandas=True) for i, label in enumerate(labels)}
    return pa.table({record: who.dictionary, **columns})


def sort_column(column: pa.ChunkedArray) -> tuple[list[Any], Ints]:
    """Return the values of a column ascending, and the place of each row's value among them."""
    coded = column.combine_chunks().dictionary_encode()
    values = coded.dictionary.to_pylist()
    order = sorted(range(len(values)), key=values.__getitem__)
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    return [values[i] for i in order], place[np.asarray(coded.indices)]


# -- normalising: each series by itself, or each point in time over all records ----------------------


Normalisation = Literal[
    "series_standard",
    "series_range",
    "series_max",
    "component_standard",
    "component_range",
    "none",
]
NORMALISATIONS: tuple[str, ...] = get_args(Normalisation)


def normalise(panel: Panel, how: Normalisation, *, ddof: int = 0) -> Panel:
    """Return a panel normalised.

    ``series_*`` use each series' own mean and standard deviation, range or maximum, so that its shape is
    kept. ``component_*`` treat every point in time as a variable over the records, which changes shapes:
    a series that rises every year can come out falling. What is constant becomes zeros, with a warning;
    dividing by the maximum needs one above 0.
    """
    if how == "none":
        return panel
    if how == "series_max":
        return replace(panel, values=panel.values / largest(panel))
    by_series = how.startswith("series")
    if not by_series and not panel.even:
        raise InputError(
            "normalising by component needs series of equal length; resample them or normalise by series"
        )
    axis = 2 if by_series else 0
    x = panel.values
    low, high = extremes(x, axis)
    if how.endswith("range"):
        centre, scale = low, high - low
    else:
        centre, scale = moments(x, axis, ddof)
    # Equal values do not always have the standard deviation 0 in floating point.
    flat = low == high
    if flat.any():
        what = "a constant series" if by_series else "a point in time that is constant"
        warnings.warn(
            f"{how}: {what} became zeros and tells no records apart", SdcWarning, stacklevel=3
        )
    return replace(panel, values=np.where(flat, 0.0 * x, (x - centre) / np.where(flat, 1.0, scale)))


def largest(panel: Panel) -> Floats:
    """Return the maximum of each series, refusing what cannot be divided by."""
    top = extremes(panel.values, 2)[1]
    if (top <= 0).any():
        raise InputError(
            "series_max: a series has no value above 0, by which it could be divided; use series_range"
        )
    return top


def extremes(x: Floats, axis: int) -> tuple[Floats, Floats]:
    """Return the least and largest known value along an axis."""
    known = ~np.isnan(x)
    low = np.where(known, x, np.inf).min(axis=axis, keepdims=True)
    return low, np.where(known, x, -np.inf).max(axis=axis, keepdims=True)


def moments(x: Floats, axis: int, ddof: int) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the known values along an axis."""
    known = ~np.isnan(x)
    n = known.sum(axis=axis, keepdims=True)
    centre = np.where(known, x, 0.0).sum(axis=axis, keepdims=True) / np.maximum(n, 1)
    away = np.where(known, x - centre, 0.0)
    squares = (away**2).sum(axis=axis, keepdims=True)
    return centre, np.sqrt(squares / np.maximum(n - ddof, 1))
