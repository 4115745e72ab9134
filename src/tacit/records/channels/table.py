"""Input channels: the combinations of related values that occur, with counts of risky values."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Floats, Ints
from tacit.data.hierarchy import ground_label, ground_labels
from tacit.data.values import as_frame
from tacit.engine.base import ROW
from tacit.engine.codes import dense_ids, encode
from tacit.engine.names import aggregate
from tacit.engine.relational import N
from tacit.errors import InputError, require_columns
from tacit.records.channels.problem import Problem

if TYPE_CHECKING:
    from tacit.data.microdata import Microdata


#: What joins the parts of a confidential value made of several columns, as in "Diabetes|Heart".
JOINT = "|"
#: The word for a missing related value, where it is a category of its own.
MISSING = "missing"
FIRST = "__first__"
#: The one related column of a table of counts that comes without combinations.
NUMBERED = "channel"


@dataclass(frozen=True)
class ChannelTable:
    """The input channels with their counts: the public statistical table (Table 2).

    Attributes
    ----------
    related
        The columns whose combinations are the channels.
    values
        The risky values, one a column of ``counts``.
    combinations
        The combination of each channel, one row each, in the types of the data.
    m
        Subjects in each channel.
    counts
        Subjects of each channel with each risky value.
    """

    related: tuple[str, ...]
    values: tuple[str, ...]
    combinations: pa.Table
    m: Ints
    counts: Ints

    def __post_init__(self) -> None:
        for channel in np.flatnonzero(self.counts.sum(axis=1) > self.m)[:1]:
            raise InputError(
                f"input channel {channel + 1}: the counts of its values add up to more than its subjects"
            )
        if np.any(self.m <= 0) or np.any(self.counts < 0):
            raise InputError(
                "counts of subjects must be positive, and counts of values not negative"
            )

    def __len__(self) -> int:
        return len(self.m)

    @property
    def subjects(self) -> int:
        """Return the number of subjects."""
        return int(self.m.sum())

    @functools.cached_property
    def shares(self) -> Floats:
        """Return P(v^k | channel)."""
        share: Floats = self.counts / self.m[:, None]
        return share

    @functools.cached_property
    def texts(self) -> list[tuple[str, ...]]:
        """Return each channel's values as text."""
        columns = [texts_of(self.combinations.column(name)) for name in self.related]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self)

    def label(self, channel: int) -> str:
        """Return a channel in words: ``(H, H, H, V)``."""
        return f"({', '.join(self.texts[channel])})"

    def problem(
        self,
        u: Mapping[str, float],
        b: float | None = None,
        c: Mapping[str, float] | None = None,
        *,
        min_safe_share: float = 0.0,
    ) -> Problem:
        """Return the problem that these limits set, by value; weights not given are 1."""
        weights = c or {}
        return Problem.of(
            self.m,
            self.counts,
            [u[v] for v in self.values],
            b,
            [weights.get(v, 1.0) for v in self.values],
            min_safe_share=min_safe_share,
        )

    @property
    def frame(self) -> nw.DataFrame[Any]:
        """Return the table as a frame: channel, related values, subjects, count of each value."""
        columns: dict[str, Any] = {"channel": np.arange(1, len(self) + 1)}
        columns |= {name: self.combinations.column(name) for name in self.related}
        columns["subjects"] = self.m
        columns |= {f"count of {v}": self.counts[:, k] for k, v in enumerate(self.values)}
        return as_frame(columns)

    @classmethod
    def of(
        cls,
        m: Sequence[int],
        counts: Sequence[Sequence[int]],
        values: Sequence[str],
        combinations: Mapping[str, Sequence[Any]] | None = None,
    ) -> ChannelTable:
        """Make a table from counts that are already grouped.

        Parameters
        ----------
        m
            Subjects in each channel.
        counts
            For each channel, its subjects with each risky value.
        values
            The names of the risky values.
        combinations
            The related values of each channel, by column; by default the channel's number.
        """
        sizes = np.asarray(m, dtype=np.int64)
        table = pa.table(
            dict(combinations)
            if combinations is not None
            else {NUMBERED: np.arange(1, len(sizes) + 1)}
        )
        grid = np.asarray(counts, dtype=np.int64).reshape(len(sizes), -1)
        if grid.shape[1] != len(values) and len(sizes):
            raise InputError(
                f"there are {len(values)} values but {grid.shape[1]} counts in each channel"
            )
        if table.num_rows != len(sizes):
            raise InputError(
                f"there are {len(sizes)} channels but {table.num_rows} combinations of related values"
            )
        return cls(tuple(table.column_names), tuple(values), table, sizes, grid)


def texts_of(column: pa.ChunkedArray | pa.Array) -> list[str]:
    """Return values as text; null is ``missing``."""
    return [MISSING if v is None else ground_label(v) for v in column.to_pylist()]


def group(
    data: Microdata,
    related: Sequence[str],
    confidential: Sequence[str],
    values: Sequence[str],
    *,
    na: str = "refuse",
) -> ChannelTable:
    """Reduce microdata to their input channels with one group-by on the engine.

    Channels are numbered in the order in which they first appear in the data.

    Parameters
    ----------
    data
        The microdata.
    related, confidential
        The columns that define channels, and those whose (joint) value is confidential.
    values
        The risky values; several confidential columns give values joined by ``|``, missing parts left
        out. Every other value, and a missing one, counts as "none".
    na
        ``"refuse"`` missing related values, or let them be a ``"category"`` of their own.
    """
    require_columns((*related, *confidential), data.columns, "the data")
    keys = list(dict.fromkeys([*related, *confidential]))
    grouped = aggregate(
        data.frame, keys, nw.len().cast(nw.Int64).alias(N), nw.col(ROW).min().alias(FIRST)
    )
    cells = grouped.collect("pyarrow").to_native().sort_by(FIRST)
    holes = [c for c in related if cells.column(c).null_count]
    if holes and na == "refuse":
        raise InputError(
            f"related values are missing in {', '.join(map(repr, holes))}; na='category' makes missing a value of its own"
        )
    which = value_numbers(data, cells, confidential, values)
    ids, n_channels = channel_numbers(cells, related)
    n = cells.column(N).to_numpy().astype(np.int64)
    first = np.full(n_channels, len(n), dtype=np.int64)
    np.minimum.at(first, ids, np.arange(len(n)))
    grid = np.zeros((n_channels, len(values) + 1), dtype=np.int64)
    np.add.at(grid, (ids, which), n)
    return ChannelTable(
        tuple(related),
        tuple(values),
        cells.select(list(related)).take(pa.array(first)),
        grid.sum(axis=1),
        grid[:, 1:],
    )


def channel_numbers(table: pa.Table, related: Sequence[str]) -> tuple[Ints, int]:
    """Return a channel number a row, 0 .. R-1, in order of first appearance."""
    coded = [encode(table.column(c)) for c in related]
    if not coded or not table.num_rows:
        return np.zeros(table.num_rows, dtype=np.int64), int(table.num_rows > 0)
    return dense_ids([c.codes for c in coded], [c.size for c in coded])


def value_numbers(
    data: Microdata, cells: pa.Table, confidential: Sequence[str], values: Sequence[str]
) -> Ints:
    """Return for each cell 1 .. K for a risky value and 0 for any other."""
    joint = joint_values(cells, confidential)
    known = set(joint)
    number = {v: k for k, v in enumerate(values, 1)}
    where = ", ".join(repr(c) for c in confidential)
    for k, value in enumerate(values, 1):
        if value not in known:
            # No near match: the values of this column are what must not be shown.
            raise InputError(
                f"u entry {k} names a value that does not occur in {where}; check its spelling, or "
                "leave it out"
            )
    codes = {ground_label(code) for c in confidential for code in data.columns[c].missing}
    if codes & known - set(values):
        raise InputError(
            f"{where} holds codes for missing answers; recode them before grouping, or name them in u"
        )
    return np.array([number.get(v, 0) for v in joint], dtype=np.int64)


def joint_values(table: pa.Table, columns: Sequence[str]) -> list[str]:
    """Return the value of several columns as one text, missing parts left out."""
    parts = [ground_labels(table.column(c).combine_chunks()).to_pylist() for c in columns]
    return [JOINT.join(p for p in row if p) for row in zip(*parts, strict=True)]
