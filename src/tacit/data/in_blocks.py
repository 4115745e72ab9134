"""Columns changed, and numbers gathered, block by block: the same on every engine, in bounded memory.

Where the data declare a household and a column is constant in all of them, the household is the unit: it
is changed once, in the block of its first record, and all members get the same. Otherwise a majority vote
among its members would undo the change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import Numbers, as_numbers
from tacit.engine.base import ROW
from tacit.engine.blocks import Done, Tallies
from tacit.engine.class_index import ClassIndex
from tacit.engine.names import aggregate
from tacit.engine.relational import N, counts
from tacit.errors import InputError
from tacit.numerics.algebra import dot
from tacit.numerics.streams import block_rng, seed_of

FIRST = "__first__"

#: Gives the generator of a block and a stream; it travels to workers.
Draws = Callable[[int, int], np.random.Generator]


@dataclass(frozen=True)
class Change:
    """What becomes of one block: new columns, which records stay, and numbers about it."""

    columns: Mapping[str, pa.Array] = field(default_factory=dict)
    keep: Flags | None = None
    tally: Mapping[str, Any] = field(default_factory=dict)


ChangeBlock = Callable[[int, pa.Table], Change]


def draws_of(ctx: Context) -> Draws:
    """Return the generators of a step's blocks, without the rest of its context."""
    sequence = seed_of(ctx.rng)
    return lambda block, stream: block_rng(sequence, block, stream)


def change_records(data: Microdata, change: ChangeBlock, ctx: Context) -> tuple[Microdata, Tallies]:
    """Return the data after every block has been changed, record by record."""

    def work(block: int, table: pa.Table) -> Done:
        told = change(block, table)
        return Done(replace_block_columns(table, told), told.tally)

    schema = replace_block_columns(
        empty := data.engine.to_arrow(data.frame.head(0)), change(0, empty)
    ).schema
    mapped = data.engine.map_blocks(data.frame, work, schema, ticker(ctx))
    return data.with_frame(mapped.records), mapped.tallies


def change_columns(
    data: Microdata,
    columns: Sequence[str],
    make: Callable[[Sequence[str]], ChangeBlock],
    ctx: Context,
) -> tuple[Microdata, Tallies]:
    """Return the data with some columns changed, by household where they are constant in households.

    ``make`` returns the function that changes some of the columns.
    """
    shared = constant_in_households(data, columns)
    own = [c for c in columns if c not in shared]
    result, tallies = data, Tallies()
    if own:
        result, tallies = change_records(data, make(own), ctx)
    if shared:
        result, told = change_households(result, shared, make(shared), ctx)
        tallies = [*tallies, *told]
        ctx.note(by_household=list(shared))
    return result, tallies


def change_each(
    data: Microdata,
    columns: Sequence[str],
    new: Callable[[pa.Table, str, np.random.Generator], pa.Array],
    ctx: Context,
) -> Microdata:
    """Return the data with each column made anew from itself, and from a stream of its own in every block."""
    draws = draws_of(ctx)

    def make(some: Sequence[str]) -> ChangeBlock:
        streams = {c: list(columns).index(c) for c in some}
        return lambda block, table: Change(
            {c: new(table, c, draws(block, stream)) for c, stream in streams.items()}
        )

    return change_columns(data, columns, make, ctx)[0]


def change_households(
    data: Microdata,
    columns: Sequence[str],
    change: ChangeBlock,
    ctx: Context,
    also: Sequence[str] = (),
) -> tuple[Microdata, Tallies]:
    """Return the data with columns changed or added once a household.

    A record without household is one itself.
    """

    def work(block: int, table: pa.Table) -> Done:
        told = change(block, table)
        return Done(replace_block_columns(table, told).select([*columns, ROW]), told.tally)

    engine = data.engine
    marked = engine.materialise(data.frame.with_columns(first_of_household(data).alias(FIRST)))
    known = [c for c in (*columns, *also) if c in data.columns]
    units = marked.filter(nw.col(ROW) == nw.col(FIRST)).select(*known, ROW)
    schema = work(0, engine.to_arrow(units.head(0))).table.schema  # type: ignore[union-attr]
    mapped = engine.map_blocks(units, work, schema, ticker(ctx))
    new = {c: f"__new{i}__" for i, c in enumerate(columns)}
    drawn = mapped.records.select(
        nw.col(ROW).alias(FIRST), *[nw.col(c).alias(n) for c, n in new.items()]
    )
    joined = marked.join(drawn, on=FIRST, how="left")
    result = joined.with_columns(*[nw.col(n).alias(c) for c, n in new.items()])
    order = list(dict.fromkeys([*data.columns, *columns, ROW]))
    return data.with_frame(engine.materialise(result.select(*order))), mapped.tallies


def fold_records(
    data: Microdata,
    columns: Sequence[str],
    tell: Callable[[int, pa.Table], Mapping[str, Any]],
    ctx: Context,
) -> Tallies:
    """Return what a function tells about each block, in order of blocks."""
    frame = data.frame.select(*dict.fromkeys(columns), ROW)
    mapped = data.engine.map_blocks(
        frame, lambda block, table: Done(None, tell(block, table)), None, ticker(ctx)
    )
    return mapped.tallies


def replace_block_columns(table: pa.Table, change: Change) -> pa.Table:
    """Return a block with its new columns, and without the records that go."""
    for name, values in change.columns.items():
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, values)
        else:
            table = table.append_column(name, values)
    return table if change.keep is None else table.filter(pa.array(change.keep))


def ticker(ctx: Context) -> Callable[[], None]:
    """Return what is called before each block, so that a run can be stopped."""
    return lambda: ctx.tick("working on blocks of records")


def strata(data: Microdata, within: Sequence[str]) -> tuple[ClassIndex, Ints]:
    """Return the strata and their sizes."""
    if not within:
        return ClassIndex.build((), pa.table({})), np.array([len(data)], dtype=np.int64)
    cells = counts(data.frame, within).collect("pyarrow").to_native()
    index = ClassIndex.build(within, cells)
    sizes = np.zeros(index.size, dtype=np.int64)
    sizes[index.find(cells)] = cells.column(N).to_numpy()
    return index, sizes


# -- households -------------------------------------------------------------------------------------


def first_of_household(data: Microdata) -> nw.Expr:
    """Return, for each record, the row number of the first record of its household."""
    assert data.household is not None
    home = nw.col(data.household)
    return (
        nw.when(home.is_null()).then(nw.col(ROW)).otherwise(nw.col(ROW).min().over(data.household))
    )


def constant_in_households(
    data: Microdata, columns: Sequence[str], also: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the columns that no household has two values of; none unless ``also`` are such as well."""
    home = data.household
    asked = [c for c in (*columns, *also) if c != home]
    if home is None or not asked:
        return ()
    names = list(dict.fromkeys(asked))
    facts = [nw.len().cast(nw.Int64).alias(N)]
    for i, c in enumerate(names):
        facts += [
            nw.col(c).min().alias(f"__low{i}__"),
            nw.col(c).max().alias(f"__high{i}__"),
            nw.col(c).is_null().cast(nw.Int64).sum().alias(f"__gaps{i}__"),
        ]
    homes = aggregate(data.frame.filter(~nw.col(home).is_null()), [home], *facts)
    varies = [
        (
            (nw.col(f"__low{i}__") != nw.col(f"__high{i}__")).fill_null(value=False)
            | ((nw.col(f"__gaps{i}__") > 0) & (nw.col(f"__gaps{i}__") < nw.col(N)))
        )
        .cast(nw.Int64)
        .sum()
        .alias(f"varies{i}")
        for i in range(len(names))
    ]
    told = homes.select(nw.len().alias(N), *varies).collect("pyarrow").rows(named=True)[0]
    steady = {c for i, c in enumerate(names) if not told[f"varies{i}"]} if told[N] else set()
    return tuple(c for c in columns if c in steady) if steady.issuperset(also) else ()


def unit_frame(data: Microdata, columns: Sequence[str]) -> nw.LazyFrame[Any]:
    """Return the frame, or its households' first records where the columns are constant in households."""
    if not constant_in_households(data, columns):
        return data.frame
    marked = data.frame.with_columns(first_of_household(data).alias(FIRST))
    return marked.filter(nw.col(ROW) == nw.col(FIRST)).drop(FIRST)


def units_in_memory(data: Microdata) -> tuple[Ints, Ints]:
    """Return the position of each household's first record, and the household of each record."""
    assert data.household is not None
    home = data.codes(data.household)
    n = len(home.codes)
    ids = np.where(home.codes == home.null, home.size + np.arange(n), home.codes)
    _, first, unit = np.unique(ids, return_index=True, return_inverse=True)
    return first, unit.ravel()


# -- moments ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moments:
    """Number, means and scatter (sums of products of deviations) of some columns."""

    n: int
    mean: Floats
    scatter: Floats

    @property
    def sd(self) -> Floats:
        """Return standard deviations with n - 1; 0 for fewer than two records."""
        if self.n < 2:
            return np.zeros(len(self.mean))
        return np.sqrt(np.maximum(np.diag(self.scatter), 0.0) / (self.n - 1))

    @property
    def correlation(self) -> Floats:
        """Return the correlation matrix."""
        root = np.sqrt(np.diag(self.scatter))
        return np.clip(self.scatter / np.outer(root, root), -1.0, 1.0)


def moments(tallies: Tallies, key: str, width: int = 1) -> Moments:
    """Return the moments that blocks told under a key, put together in order of blocks.

    An engine's own sums depend on how many threads added them; these do not.
    """
    n, mean, scatter = 0, np.zeros(width), np.zeros((width, width))
    for tally in tallies:
        m, their_mean, their_scatter = tally[key]
        if m == 0:
            continue
        shift = np.asarray(their_mean) - mean
        scatter = scatter + np.asarray(their_scatter) + np.outer(shift, shift) * (n * m / (n + m))
        mean = mean + shift * (m / (n + m))
        n += m
    return Moments(n, mean, scatter)


def block_moments(x: Floats) -> tuple[int, list[float], list[list[float]]]:
    """Return number, means and scatter of one block (records in rows), for its tally."""
    if len(x) == 0:
        return 0, [0.0] * x.shape[1], np.zeros((x.shape[1], x.shape[1])).tolist()
    mean = x.mean(axis=0)
    return len(x), mean.tolist(), (dot((x - mean).T, x - mean)).tolist()


def column_moments(data: Microdata, columns: Sequence[str], ctx: Context) -> dict[str, Moments]:
    """Return the moments of the known values of each column; refuse infinite ones."""

    def tell(_block: int, table: pa.Table) -> Mapping[str, Any]:
        told = {}
        for i, c in enumerate(columns):
            column = finite_numbers(table, c)
            told[str(i)] = block_moments(column.values[column.known].astype(np.float64)[:, None])
        return told

    tallies = fold_records(data, columns, tell, ctx)
    return {c: moments(tallies, str(i)) for i, c in enumerate(columns)}


def finite_numbers(table: pa.Table, column: str) -> Numbers:
    """Return a numeric column of a block; refuse infinite numbers, which no arithmetic protects."""
    found = as_numbers(table.column(column), column)
    if not found.whole and not np.isfinite(found.values[found.known]).all():
        raise InputError(f"column {column!r} holds infinite numbers. Clean or leave it out.")
    return found
