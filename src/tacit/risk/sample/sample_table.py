"""The cells of a sample with what is known of the sampling: counts, weights, fractions, clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.data.microdata import Microdata
from tacit.engine.codes import Coded, dense_ids, encode
from tacit.errors import ColumnNotFound, InputError, RoleMissing
from tacit.risk.sample.fraction import population_size

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SampleTable:
    """Records reduced to occupied cells.

    Attributes
    ----------
    keys
        The key columns.
    values
        The values of each key that occur, ascending; None stands for missing ones.
    codes
        One row per cell, one column per key: places in ``values``.
    n, weight
        Records and sum of weights of each cell.
    fraction
        The sampling fraction of each cell.
    overall
        The sampling fraction of the file.
    cell_of
        The cell of each record.
    cluster
        The household of each record, or its number where there are none.
    """

    keys: tuple[str, ...]
    values: tuple[list[Any], ...]
    codes: Ints
    n: npt.NDArray[Any]
    weight: Floats | None
    fraction: Floats
    overall: float
    cell_of: Ints
    record_weight: Floats | None
    cluster: Ints

    @property
    def records(self) -> int:
        """Return the number of records."""
        return len(self.cell_of)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of values of each key."""
        return tuple(len(v) for v in self.values)

    @property
    def uniques(self) -> npt.NDArray[np.bool_]:
        """Return which cells hold one record."""
        return self.n == 1

    def reweighted(self, factor: Floats) -> SampleTable:
        """Return the same cells with each record counted by a factor."""
        n = np.bincount(self.cell_of, weights=factor, minlength=len(self.n))
        known = self.record_weight
        weight = None if known is None else sum_by(self.cell_of, factor * known, len(self.n))
        return replace(self, n=n, weight=weight)


def tabulate_sample(
    data: Microdata,
    keys: Sequence[str],
    *,
    kind: str,
    population: int | None,
    fraction: float | None,
) -> SampleTable:
    """Count the cells of a file and find their sampling fractions."""
    wanted = [*keys, *(c for c in (data.weight, data.household) if c is not None)]
    table = data.to_arrow(list(dict.fromkeys(wanted)))
    total = population_size(kind, table.num_rows, population, fraction)
    weights = None if data.weight is None else read_weights(table.column(data.weight), kind)
    if total is None and weights is None:
        raise RoleMissing(
            f"{kind} needs to know how the sample was drawn: give population= or sampling_fraction=, "
            "or declare a weight with tacit.read(..., weight=...)."
        )
    coded = [close_up(encode(table.column(k))) for k in keys]
    cell_of, number = dense_ids([c for c, _ in coded], [len(v) for _, v in coded])
    first = np.zeros(number, dtype=np.int64)
    first[cell_of[::-1]] = np.arange(len(cell_of))[::-1]
    codes = np.stack([c[first] for c, _ in coded], axis=1).astype(np.int64)
    # Cells in the order of their codes, so that nothing depends on the order of records.
    order = np.lexsort(codes.T[::-1])
    rank = np.empty(number, dtype=np.int64)
    rank[order] = np.arange(number)
    cell_of, codes = rank[cell_of], codes[order]
    n = np.bincount(cell_of, minlength=number)
    weight = None if weights is None else sum_by(cell_of, weights, number)
    if total is not None:
        share = np.full(number, fraction if fraction is not None else len(cell_of) / total)
        overall = float(share[0])
    else:
        assert weight is not None
        share = np.minimum(n / weight, 1.0)
        overall = float(min(n.sum() / weight.sum(), 1.0))
    household = None if data.household is None else encode(table.column(data.household)).codes
    return SampleTable(
        keys=tuple(keys),
        values=tuple(v for _, v in coded),
        codes=codes,
        n=n,
        weight=weight,
        fraction=share,
        overall=overall,
        cell_of=cell_of,
        record_weight=weights,
        cluster=np.arange(len(cell_of)) if household is None else household.astype(np.int64),
    )


def sum_by(place: Ints, amounts: Floats, size: int) -> Floats:
    """Return the sum of amounts at each place."""
    return np.bincount(place, weights=amounts, minlength=size).astype(np.float64)


def read_weights(column: pa.ChunkedArray, kind: str) -> Floats:
    """Return the weights, each at least 1."""
    weights = column.cast(pa.float64()).to_numpy()
    wrong = int((~(weights >= 1 - 1e-9)).sum())
    if wrong:
        raise InputError(
            f"{kind}: {wrong:,} weights are missing or below 1; a weight says for how many people of the "
            "population a record stands."
        )
    return np.asarray(weights, dtype=np.float64)


def close_up(column: Coded) -> tuple[Ints, list[Any]]:
    """Return codes of which every one occurs, and their values; a missing value is the last."""
    present, codes = np.unique(column.codes, return_inverse=True)
    listed = [*column.values.to_pylist(), None]
    return codes.astype(np.int64), [listed[i] for i in present]


def population_counts(table: SampleTable, register: Microdata) -> Ints:
    """Return how many people of a register share the key values of each cell."""
    absent = [k for k in table.keys if k not in register.columns]
    if absent:
        raise ColumnNotFound(absent, list(register.columns), "the register")
    people = register.to_arrow(list(table.keys))
    columns: list[Ints] = []
    known = np.ones(people.num_rows, dtype=bool)
    for key, values in zip(table.keys, table.values, strict=True):
        place: Mapping[Any, int] = {v: i for i, v in enumerate(values)}
        coded = encode(people.column(key))
        lookup = np.array(
            [place.get(v, -1) for v in [*coded.values.to_pylist(), None]], dtype=np.int64
        )
        codes = lookup[coded.codes]
        known &= codes >= 0
        columns.append(codes)
    here = [c[known] for c in columns]
    both = [np.concatenate([table.codes[:, j], here[j]]) for j in range(len(here))]
    ids, number = dense_ids(both, list(table.sizes))
    counts = np.bincount(ids[len(table.n) :], minlength=number)
    return counts[ids[: len(table.n)]]
