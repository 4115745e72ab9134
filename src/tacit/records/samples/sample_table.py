"""The cells of a sample with what is known of the sampling: counts, weights, fractions, clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.arrays import Flags, Floats, Ints
from tacit.data.margins import COUNT, check_agreement, columns_of, differ, place_totals
from tacit.data.microdata import Microdata
from tacit.engine.codes import Coded, dense_ids, encode
from tacit.errors import InputError, RoleMissing, require_columns
from tacit.stats.margins import fit_proportionally

#: What sentences begin with.
KIND = "sample_risk"
#: Weights within a cell that differ by more than this factor are told of.
VARIES = 3.0


@dataclass(frozen=True)
class SampleTable:
    """Records reduced to occupied cells.

    ``values`` are those of each key that occur, ascending, None for missing ones; ``codes`` has one row per cell and one
    column per key, places in ``values``. Each cell has records ``n``, a sum of weights and a sampling ``fraction``, which is
    ``overall`` in the file. Each record has a cell, a weight and a ``cluster``: its household, or its number where there are
    none. ``notes`` say what there is to tell of the sampling fractions.
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
    notes: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        """Return the number of records."""
        return len(self.cell_of)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of values of each key."""
        return tuple(len(v) for v in self.values)

    @property
    def uniques(self) -> Flags:
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
    population: int | None,
    fraction: float | None,
    margins: Sequence[Mapping[str, tuple[Any, ...]]] = (),
) -> SampleTable:
    """Count the cells of a file and find their sampling fractions; ``margins`` are known counts of people by keys."""
    wanted = [*keys, *(c for c in (data.weight, data.household) if c is not None)]
    table = data.to_arrow(list(dict.fromkeys(wanted)))
    # Margins may be about keys of another quasi-identifier.
    margins = [m for m in margins if set(columns_of(m)) <= set(keys)]
    if margins:
        check_agreement(margins, KIND)
        population = agreed_total(margins, population, fraction, weighted=data.weight is not None)
    total = population_size(KIND, table.num_rows, population, fraction)
    weights = None if data.weight is None else read_weights(table.column(data.weight))
    if total is None and weights is None:
        raise unknown_draw()
    coded = [close_up(encode(table.column(k))) for k in keys]
    cell_of, first = order_cells([c for c, _ in coded], [len(v) for _, v in coded])
    number = len(first)
    codes = np.stack([c[first] for c, _ in coded], axis=1).astype(np.int64)
    n = np.bincount(cell_of, minlength=number)
    weight = None if weights is None else sum_by(cell_of, weights, number)
    if total is not None:
        share = np.full(number, fraction if fraction is not None else len(cell_of) / total)
        overall = float(share[0])
    else:
        assert weight is not None
        share = np.minimum(n / weight, 1.0)
        overall = float(min(n.sum() / weight.sum(), 1.0))
    notes = vary_inside(cell_of, weights, number) if total is None and weights is not None else ()
    if margins:
        listed = [pa.array([v for v in values if v is not None]) for _, values in coded]
        cells = {k: Coded(codes[:, j].astype(np.int32), listed[j]) for j, k in enumerate(keys)}
        people = rake_people(n / share, cells, margins)
        if weights is not None and weight is not None:
            weights, weight = weights * (people / weight)[cell_of], people
        capped = int((n > people * (1 + 1e-9)).sum())
        share = np.minimum(n / people, 1.0)
        overall = float(min(n.sum() / people.sum(), 1.0))
        notes += (f"Sampling fractions were raked to {len(margins)} known margins.",)
        if capped:
            notes += (
                f"In {capped:,} cells that left fewer people than records: their fraction is 1.",
            )
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
        notes=notes,
    )


def order_cells(columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int]) -> tuple[Ints, Ints]:
    """Return the cell of each record and the first record of each cell.

    Cells stand in the order of their codes, so that nothing depends on the order of records.
    """
    ids, number = dense_ids(columns, sizes)
    first = np.zeros(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    order = np.lexsort([c[first] for c in reversed(columns)])
    rank = np.empty(number, dtype=np.int64)
    rank[order] = np.arange(number)
    return rank[ids], first[order]


def unknown_draw() -> RoleMissing:
    """Return the refusal of a sample of which nobody said how it was drawn."""
    return RoleMissing(
        f"{KIND} needs to know how the sample was drawn: give population= or sampling_fraction=, "
        "or declare a weight with tacit.read(..., weight=...)."
    )


def agreed_total(
    margins: Sequence[Mapping[str, tuple[Any, ...]]],
    population: int | None,
    fraction: float | None,
    *,
    weighted: bool,
) -> int | None:
    """Return the people that margins sum to, unless weights say it cell by cell; another number is refused."""
    total = sum(margins[0][COUNT])
    if fraction is not None:
        raise InputError(
            f"{KIND}: known margins give the sampling fraction; leave out sampling_fraction=."
        )
    if population is not None and differ(total, population):
        raise InputError(
            f"{KIND}: the margins sum to {total:,.0f} people and population = {population:,}; correct one of them."
        )
    return population if population is not None or weighted else round(total)


def rake_people(
    people: Floats,
    cells: Mapping[str, Coded],
    margins: Sequence[Mapping[str, tuple[Any, ...]]],
) -> Floats:
    """Return people by cell, scaled until they meet the known margins."""
    occupied = np.ones(len(people), dtype=bool)
    placed = [place_totals(m, cells, occupied, KIND) for m in margins]
    made = fit_proportionally(people, placed)
    if not made.met or not (made.values > 0).all():
        raise InputError(
            f"{KIND}: the margins cannot be met together by the cells in which there are records; merge categories, or "
            "leave out a margin."
        )
    return made.values


def vary_inside(cell_of: Ints, weights: Floats, number: int) -> tuple[str, ...]:
    """Return a warning where the weights within a cell differ much."""
    least, most = np.full(number, np.inf), np.zeros(number)
    np.minimum.at(least, cell_of, weights)
    np.maximum.at(most, cell_of, weights)
    many = int((most > VARIES * least).sum())
    told = (
        f"In {many:,} cells some weights are more than {VARIES:g} times others, and the model takes one sampling "
        "fraction for the cell."
    )
    return (told,) if many else ()


def sum_by(place: Ints, amounts: Floats, size: int) -> Floats:
    """Return the sum of amounts at each place."""
    return np.bincount(place, weights=amounts, minlength=size).astype(np.float64)


def read_weights(column: pa.ChunkedArray) -> Floats:
    """Return the weights, each at least 1."""
    weights = column.cast(pa.float64()).to_numpy()
    wrong = int((~(weights >= 1 - 1e-9)).sum())
    if wrong:
        raise InputError(
            f"{KIND}: {wrong:,} weights are missing or below 1; a weight says for how many people of the "
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
    require_columns(table.keys, register.columns, "the register")
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


# -- how the sample was drawn ----------------------------------------------------------------------


def population_size(
    kind: str, records: int, population: int | None, fraction: float | None
) -> int | None:
    """Return N from ``population`` or ``sampling_fraction``; None when neither was given."""
    if population is not None and fraction is not None:
        raise InputError(f"{kind}: give population= or sampling_fraction=, not both.")
    if records == 0:
        raise InputError(f"{kind}: there are no records.")
    if fraction is not None:
        return max(round(records / fraction), records)
    if population is not None and population < records:
        raise InputError(
            f"{kind}: population = {population:,} is smaller than the file. "
            "Give the number of people from whom the sample was drawn."
        )
    return population
