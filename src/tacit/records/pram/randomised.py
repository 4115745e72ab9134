"""Randomised columns of microdata: categories as codes, records by stratum, tables by both."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Flags, Floats, Ints
from tacit.data.microdata import Microdata
from tacit.data.where import where
from tacit.engine.base import ROW
from tacit.engine.codes import DENSE, Coded, combine_codes, dense_ids, encode
from tacit.engine.exact_sums import sum_columns
from tacit.engine.names import aggregate
from tacit.engine.relational import N, W
from tacit.errors import InputError
from tacit.records.pram import Randomised, Transition, from_history, read_matrices

Codes = npt.NDArray[Any]

#: Cells of a table over the randomised variables and what they are crossed with.
LARGEST = 100_000_000
#: Codes of a missing value, and of one that is no category of the variable.
MISSING, UNKNOWN = -1, -2


def find_known_matrices(
    data: Microdata, given: str | Path | Mapping[str, Any] | None, kind: str
) -> list[Randomised]:
    """Return the randomised variables: as given, or as the history of the data tells.

    Refuses a column that was randomised twice: no single matrix undoes that.
    """
    found = from_history(data.history) if given is None else read_matrices(given)
    columns = [c for v in found for c in v.columns]
    twice = sorted({c for c in columns if columns.count(c) > 1})
    if twice:
        raise InputError(
            f"{kind}: {', '.join(map(repr, twice))} was randomised more than once. Give matrices= with the product of the matrices."
        )
    return found


def find_newly_randomised(
    original: Microdata, data: Microdata, given: str | Path | Mapping[str, Any] | None, kind: str
) -> list[Randomised]:
    """Return the variables that were randomised since the original."""
    done = {c for v in find_known_matrices(original, None, kind) for c in v.columns}
    return [v for v in find_known_matrices(data, given, kind) if not set(v.columns) & done]


def plain_levels(values: pa.Array) -> list[Any]:
    """Return category labels as JSON can hold them."""
    kind = values.type
    simple = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    simple = simple or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return list((values if simple else values.cast(pa.string())).to_pylist())


def cast_levels(levels: Sequence[Any], kind: pa.DataType, column: str) -> pa.Array:
    """Return category labels in the type of their column."""
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        return pa.array(list(levels), type=value)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        pass
    try:
        return pa.array([None if v is None else str(v) for v in levels]).cast(value)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"the categories given for column {column!r} are not of the column's type"
        ) from None


def codes_among(
    columns: Sequence[pa.ChunkedArray | pa.Array | Coded], variable: Randomised, kind: str
) -> Codes:
    """Return the category of each record, -1 where a value is missing.

    Refuses categories that the variable's matrices do not know.
    """
    coded = [c if isinstance(c, Coded) else encode(c) for c in columns]
    places = [
        pc.index_in(c.values, value_set=pc.unique(cast_levels(levels, c.values.type, name)))
        for c, levels, name in zip(coded, variable.levels, variable.columns, strict=True)
    ]
    if len(coded) == 1:
        found = as_numpy(pc.fill_null(places[0], UNKNOWN)).astype(np.int32)
        codes: Codes = np.append(found, MISSING).astype(np.int32)[coded[0].codes]
    else:
        codes = joint_codes(coded, variable)
    if (codes == UNKNOWN).any():
        raise InputError(
            f"{kind}: column {variable.name} holds categories that its transition matrix does not know. "
            "Take the matrix of this release, or list all categories."
        )
    return codes


def joint_codes(coded: Sequence[Coded], variable: Randomised) -> Codes:
    """Return the category of each record of a variable that several columns make up."""
    sizes = [c.size for c in coded]
    ids, bound = combine_codes([c.codes for c in coded], sizes)
    places = [
        pc.index_in(cast_levels(levels, c.values.type, name), value_set=c.values)
        for c, levels, name in zip(coded, variable.levels, variable.columns, strict=True)
    ]
    # A level that does not occur in the data has no code there, and no record asks for it.
    present = np.logical_and.reduce([as_numpy(pc.is_valid(p)) for p in places])
    of_levels = [as_numpy(pc.fill_null(p, 0))[present].astype(np.int64) for p in places]
    level_ids, _ = combine_codes(of_levels, sizes)
    numbers = np.flatnonzero(present)
    if bound <= DENSE:
        table = np.full(bound, UNKNOWN, dtype=np.int64)
        table[level_ids] = numbers
        codes = table[ids]
    else:
        order = np.argsort(level_ids, kind="stable")
        place = np.minimum(np.searchsorted(level_ids[order], ids), len(order) - 1)
        codes = np.where(level_ids[order][place] == ids, numbers[order][place], UNKNOWN)
    missing = np.logical_or.reduce([c.codes == c.null for c in coded])
    return np.where(missing, MISSING, codes)


def combinations_of(coded: Sequence[Coded]) -> list[pa.Array]:
    """Return the values of each column in the combinations that occur, in their order."""
    known = np.logical_and.reduce([c.codes < c.null for c in coded])
    ids, _ = combine_codes([c.codes[known] for c in coded], [c.size for c in coded])
    first = np.unique(ids, return_index=True)[1]
    return [c.values.take(pa.array(c.codes[known][first])) for c in coded]


def as_numpy(array: pa.Array | pa.ChunkedArray) -> Any:
    """Return an Arrow column as a NumPy array."""
    if isinstance(array, pa.ChunkedArray):
        return array.to_numpy()
    return array.to_numpy(zero_copy_only=False)


def rule_columns(rules: Sequence[str]) -> list[str]:
    """Return the hidden columns that say for which records rules hold."""
    return [f"__rule{i}__" for i in range(len(rules))]


def with_rules(data: Microdata, rules: Sequence[str]) -> Microdata:
    """Return the data with a hidden column a rule: True where it holds."""
    if not rules:
        return data
    schema = data.frame.collect_schema()
    names = zip(rules, rule_columns(rules), strict=True)
    flags = [where(rule, schema).expr.alias(name) for rule, name in names]
    return data.with_frame(data.frame.with_columns(*flags))


def flags_in(table: pa.Table, rules: Sequence[str]) -> list[Flags]:
    """Return, for each rule, which rows of a table of data with rules it holds for."""
    return [as_numpy(table.column(name)).astype(bool) for name in rule_columns(rules)]


def rule_flags(data: Microdata, rules: Sequence[str]) -> list[Flags]:
    """Return, for each rule, which records it holds for, in record order."""
    if not rules:
        return []
    marked = with_rules(data, rules).frame.select(ROW, *rule_columns(rules))
    table = data.engine.to_arrow(marked)
    order = np.argsort(table.column(ROW).to_numpy(), kind="stable")
    return [flags[order] for flags in flags_in(table, rules)]


def strata(arrays: Sequence[Any], flags: Sequence[Flags], n: int) -> tuple[Ints, int]:
    """Return a stratum number 0, 1, ... a record, over columns (Arrow) and rules."""
    coded = [encode(a) for a in arrays]
    columns: list[Any] = [c.codes for c in coded] + [f.astype(np.int64) for f in flags]
    if not columns:
        return np.zeros(n, dtype=np.int64), 1
    return dense_ids(columns, [c.size for c in coded] + [2] * len(flags))


def part_numbers(
    variable: Randomised, by: Sequence[Any], flags: Sequence[Flags], n: int, kind: str
) -> Ints:
    """Return which of a variable's matrices each record got."""
    if len(variable.parts) == 1 and not variable.by and not variable.rules:
        return np.zeros(n, dtype=np.int64)
    every = not variable.parts[0].stratum and bool(variable.by)
    ids, sizes, of_parts = [], [], []
    for j, (array, column) in enumerate(zip(by, variable.by, strict=True)):
        if every:
            continue
        values = cast_levels([p.stratum[j] for p in variable.parts], array.type, column)
        distinct = pc.unique(values.drop_null())
        of_parts.append(code_with_missing_last(values, distinct))
        ids.append(code_with_missing_last(array, distinct))
        sizes.append(len(distinct) + 2)
    for j, flag in enumerate(flags):
        of_parts.append(np.array([p.holds[j] for p in variable.parts], dtype=np.int64))
        ids.append(flag.astype(np.int64))
        sizes.append(2)
    wanted, _ = combine_codes(ids, sizes)
    offered, _ = combine_codes(of_parts, sizes)
    order = np.argsort(offered, kind="stable")
    place = order[np.minimum(np.searchsorted(offered[order], wanted), len(order) - 1)]
    if (offered[place] != wanted).any():
        raise InputError(
            f"{kind}: some records belong to a stratum for which {variable.name} has no transition matrix"
        )
    return place.astype(np.int64)


def code_with_missing_last(array: Any, distinct: pa.Array) -> Ints:
    """Return places among distinct values; missing comes after them, unknown after that."""
    plain = array.cast(distinct.type) if array.type != distinct.type else array
    at = as_numpy(pc.fill_null(pc.index_in(plain, value_set=distinct), len(distinct) + 1))
    return np.where(as_numpy(pc.is_null(plain)), len(distinct), at).astype(np.int64)


@dataclass(frozen=True)
class Slab:
    """The part of a table whose records all got the same matrices."""

    #: Which classes of the untouched columns are in it.
    groups: Ints
    #: One axis for those classes, then one a randomised variable.
    table: Floats
    #: None for the first axis, then the variables'.
    matrices: tuple[Transition | None, ...]


@dataclass(frozen=True)
class Crossing:
    """Records tabulated by some columns, randomised or not."""

    #: The columns, untouched ones first.
    columns: tuple[str, ...]
    #: Their labels, one row per class that occurs.
    untouched: pa.Table
    #: The randomised variables, in the order of the axes.
    variables: tuple[Randomised, ...]
    #: The counts, by the matrices that the records got.
    slabs: tuple[Slab, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return classes of the untouched columns, then categories of each variable."""
        return (self.untouched.num_rows, *(v.size for v in self.variables))

    def total(self, act: Any) -> Floats:
        """Return the sum over slabs of what ``act`` makes of each slab."""
        out = np.zeros(self.shape)
        for slab in self.slabs:
            out[slab.groups] += act(slab)
        return out

    def labels(self, flat: Ints) -> dict[str, pa.Array]:
        """Return the labels of cells, given by their place in the flattened table."""
        at = np.unravel_index(flat, self.shape)
        found = {
            c: self.untouched.column(c).combine_chunks().take(pa.array(at[0]))
            for c in self.untouched.column_names
            if c
        }
        for axis, variable in enumerate(self.variables, 1):
            for column, levels in zip(variable.columns, variable.levels, strict=True):
                found[column] = pa.array(list(levels)).take(pa.array(at[axis]))
        return found

    def texts(self, flat: Ints, columns: Sequence[str]) -> dict[str, pa.Array]:
        """Return what is crossed, and the label of each cell as one text."""
        labels = self.labels(flat)
        parts = (labels[c].cast(pa.string()).to_pylist() for c in columns)
        cells = [" x ".join(map(str, part)) for part in zip(*parts, strict=True)]
        crossed = [" x ".join(columns)] * len(flat)
        return {"table": pa.array(crossed, pa.string()), "cell": pa.array(cells, pa.string())}


def cross_columns(
    data: Microdata,
    columns: Sequence[str],
    variables: Sequence[Randomised],
    kind: str,
    *,
    weight: str | None = None,
    squared: bool = False,
) -> Crossing:
    """Return data tabulated by some columns; records with a missing value among them are left out.

    Columns that were randomised together must be named together. With ``weight`` the table holds sums of
    weights, or of their squares.
    """
    used, free = split_columns(columns, variables, kind)
    rules = tuple(dict.fromkeys(r for v in used for r in v.rules))
    table = tabulate_columns(data, columns, used, rules, weight, squared=squared)
    flags = dict(zip(rules, flags_in(table, rules), strict=True))
    codes, parts = [], []
    for v in used:
        codes.append(codes_among([table.column(c) for c in v.columns], v, kind))
        by = [table.column(c) for c in v.by]
        parts.append(part_numbers(v, by, [flags[r] for r in v.rules], table.num_rows, kind))
    known = [as_numpy(pc.is_valid(table.column(c))).astype(bool) for c in free]
    keep = np.logical_and.reduce(
        [np.ones(table.num_rows, dtype=bool), *(c >= 0 for c in codes), *known]
    )
    groups, untouched = classes_of(table, free, keep)
    amount = as_numpy(table.column(W if weight else N))[keep].astype(np.float64)
    slabs = slabs_of(groups, [c[keep] for c in codes], [p[keep] for p in parts], amount, used, kind)
    names = (*free, *(c for v in used for c in v.columns))
    return Crossing(names, untouched, tuple(used), tuple(slabs))


def split_columns(
    columns: Sequence[str], variables: Sequence[Randomised], kind: str
) -> tuple[list[Randomised], list[str]]:
    """Return the randomised variables among some columns, and the columns that are in none."""
    used = [v for v in variables if set(v.columns) & set(columns)]
    torn = [v for v in used if not set(v.columns) <= set(columns)]
    if torn:
        raise InputError(
            f"{kind}: the columns {torn[0].name} were randomised together; name all of them or none"
        )
    return used, [c for c in columns if not any(c in v.columns for v in used)]


def classes_of(table: pa.Table, free: Sequence[str], keep: Flags) -> tuple[Ints, pa.Table]:
    """Return a class number a row over the untouched columns, in order of their values, and the labels."""
    if not free:
        return np.zeros(int(keep.sum()), dtype=np.int64), pa.table({"": pa.array([0])})
    coded = [encode(table.column(c)) for c in free]
    ids, _ = combine_codes([c.codes[keep] for c in coded], [c.size for c in coded])
    _, first, groups = np.unique(ids, return_index=True, return_inverse=True)
    labels = {c: k.decode(k.codes[keep][first]) for c, k in zip(free, coded, strict=True)}
    return groups.ravel().astype(np.int64), pa.table(labels)


def tabulate_columns(
    data: Microdata,
    columns: Sequence[str],
    used: Sequence[Randomised],
    rules: Sequence[str],
    weight: str | None,
    *,
    squared: bool,
) -> pa.Table:
    """Return the distinct values of columns, strata and rules with their counts; one group-by."""
    names = list(dict.fromkeys([*columns, *(c for v in used for c in v.by)]))
    absent = [c for c in names if c not in data.columns]
    if absent:
        raise InputError(
            f"the columns {', '.join(map(repr, absent))} are needed to tell which transition matrix applies, and the data do not have them"
        )
    frame = with_rules(data, rules).frame
    by = [*names, *rule_columns(rules)]
    size = nw.len().cast(nw.Int64).alias(N)
    if weight is None:
        counted = aggregate(frame, by, size)
    else:
        amount = nw.col(weight).cast(nw.Float64)
        frame = frame.with_columns((amount * amount if squared else amount).alias(W))
        counted = sum_columns(frame, by, {W: W}, size)
    return counted.collect("pyarrow").to_native()


def slabs_of(
    groups: Ints,
    codes: Sequence[Ints],
    parts: Sequence[Ints],
    amount: Floats,
    used: Sequence[Randomised],
    kind: str,
) -> Iterator[Slab]:
    """Yield the table of each choice of matrices."""
    shape = tuple(v.size for v in used)
    for rows, matrices in by_matrices(parts, used, len(groups)):
        present, group = np.unique(groups[rows], return_inverse=True)
        if len(present) * float(np.prod(shape, dtype=np.float64)) > LARGEST:
            raise InputError(
                f"{kind}: the combination has more than {LARGEST:,} possible cells; name fewer columns"
            )
        table = np.zeros((len(present), *shape))
        np.add.at(table, (group.ravel(), *(c[rows] for c in codes)), amount[rows])
        yield Slab(present.astype(np.int64), table, (None, *matrices))


def by_matrices(
    parts: Sequence[Ints], used: Sequence[Randomised], n: int
) -> Iterator[tuple[Ints, tuple[Transition, ...]]]:
    """Yield the rows that got the same matrices, with those; ``parts`` has the number of each variable's."""
    if not used:
        yield np.arange(n), ()
        return
    choice, n_choices = dense_ids(list(parts), [len(v.parts) for v in used])
    order = np.argsort(choice, kind="stable")
    edges = np.searchsorted(choice[order], np.arange(n_choices + 1))
    for a, b in itertools.pairwise(edges):
        rows = order[a:b]
        yield rows, tuple(v.parts[int(p[rows[0]])].matrix for v, p in zip(used, parts, strict=True))
