"""From microdata to a table, on the engine: all sub-totals and the largest contributors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.arrays import Floats, Ints
from tacit.data.cells import contributions as parts
from tacit.data.cells.contributions import Entries
from tacit.data.cells.dimension import TOTAL, Dimension
from tacit.data.cells.relations import roll_up
from tacit.data.cells.status import Status
from tacit.data.hierarchies.load import for_column, kind_of
from tacit.data.hierarchy import ground_labels
from tacit.data.microdata import Microdata
from tacit.data.table import Contributors, Table, spread_over_cells
from tacit.engine import codes as coding
from tacit.engine import relational
from tacit.engine.base import ROW
from tacit.engine.exact_sums import sum_columns
from tacit.engine.names import aggregate
from tacit.engine.ranking import keep_largest
from tacit.errors import HierarchyError, InputError, require_columns
from tacit.reveal import reveal

#: Cells that a table may have; each takes some 150 bytes while it is built.
LARGEST = 100_000_000

#: Texts of a request or waiver column that mean yes; "1" and "2" keep their number.
YES = ("1", "2", "y", "yes", "t", "true", "j", "ja", "oui", "si")

X, S, WEIGHT, COST, ASKED, WAIVED, SIZE = (
    f"__{n}__" for n in ("x", "s", "weight", "cost", "asked", "waived", "size")
)


def tabulate(
    data: Microdata,
    dimensions: Any,
    value: str | None = None,
    *,
    holding: str | None = None,
    unit: str | None = None,
    weight: str | None = None,
    request: str | None = None,
    waiver: str | None = None,
    cost: str | None = None,
    shadow: str | None = None,
    top: int = 3,
    total: str = TOTAL,
    lower: npt.ArrayLike | None = None,
    upper: npt.ArrayLike | None = None,
    missing: str | None = None,
) -> Table:
    """Tabulate records with all sub-totals and the largest contributors of every cell.

    Sums and the largest contributions of ground cells are found on the data's engine; only those come
    into memory, where they are rolled up along the dimensions. A holding's contributions in several
    cells are added up in every marginal cell before they are ranked there.

    Parameters
    ----------
    data
        The records.
    dimensions
        Column to :class:`~tacit.data.cells.dimension.Dimension`, hierarchy, rule of ``tacit.hierarchy``, path
        of a ``.hrc`` or ``.csv`` file, or None for a flat one (the values in ascending order under a
        total); or a list of columns, all flat.
    value
        The column to add up; without one, records are counted.
    holding
        The column that says to which holding (firm group) a record belongs. A record without a value
        is a holding of its own.
    unit
        The column that names the respondent, when one may have several records; by default every
        record is a respondent.
    weight
        Sampling weights; by default the column with that role. Values are weighted sums.
    request, waiver
        Columns that say whether a respondent asked for protection, or waived it: true, a positive
        number, or a text like "1" or "yes". Request codes 1 and 2 are told apart.
    cost
        A column whose (weighted) sum is the cost of hiding a cell.
    shadow
        The column from which contributions are taken when rules judge a cell; by default ``value``.
    top
        How many of the largest contributions to keep. p% with a coalition of n needs n + 1, dominance
        needs n.
    total
        The code of the totals.
    lower, upper
        What outsiders know beforehand of every cell, by default 0 and no limit. Negative values need
        ``lower``.
    missing
        The code under which records without a code are kept; by default they are refused.

    Returns
    -------
    Table
        ``extra`` may hold ``weighted_count`` (the sum of weights), ``rule_total`` (the sum of absolute
        contributions, where contributions are negative or a shadow's), ``mixed`` (cells with
        contributions of both signs), ``missing`` (dimension to codes) and ``disjoint`` (whether the units
        of ``contributors`` and ``holdings`` stand in one ground cell each, so that counts add up).

    Raises
    ------
    InputError
        For columns that do not exist, are no numbers, or have missing or negative values where they
        may not.
    """
    if isinstance(dimensions, str):
        dimensions = [dimensions]
    named = dict(dimensions) if isinstance(dimensions, Mapping) else dict.fromkeys(dimensions)
    if not named:
        raise InputError(
            "a table needs at least one dimension: dimensions={column: hierarchy or None}"
        )
    if top < 1:
        raise InputError(f"top must be at least 1 (got {top})")
    columns = Columns(
        tuple(named), value, weight or data.weight, cost, shadow, request, waiver, unit, holding
    )
    refuse_unfit(data, columns)
    frame = prepare_quantities(data, columns)
    require_numbers(frame, columns, missing)
    built = tuple(
        dimension_for(data, column, given, total, missing) for column, given in named.items()
    )
    require_size(built)
    return Tabulation(data, frame, columns, built, top, missing).table(lower, upper)


@dataclass(frozen=True)
class Columns:
    """The names of the columns that a tabulation uses."""

    dimensions: tuple[str, ...]
    value: str | None = None
    weight: str | None = None
    cost: str | None = None
    shadow: str | None = None
    request: str | None = None
    waiver: str | None = None
    unit: str | None = None
    holding: str | None = None

    @property
    def numbers(self) -> dict[str, str]:
        """Return the columns that must hold numbers, with the name each is worked on under."""
        pairs = {X: self.value, S: self.shadow, WEIGHT: self.weight, COST: self.cost}
        return {work: name for work, name in pairs.items() if name is not None}


@dataclass(frozen=True, eq=False)
class Tabulation:
    """One tabulation at work."""

    data: Microdata
    frame: nw.LazyFrame[Any]
    columns: Columns
    dimensions: tuple[Dimension, ...]
    top: int
    missing: str | None = None

    @property
    def ground_shape(self) -> tuple[int, ...]:
        """Return the number of ground codes of each dimension."""
        return tuple(len(d.leaves) for d in self.dimensions)

    def table(self, lower: npt.ArrayLike | None, upper: npt.ArrayLike | None) -> Table:
        """Return the table."""
        sums = self.sums()
        n = len(sums["n"])
        count = sums["n"].astype(np.int64)
        frequency = self.columns.value is None
        value = sums["x"]
        contributors, alone = self.contributors(self.columns.unit, count)
        if self.columns.cost and (sums["c"] < 0).any():
            raise InputError(
                f"the sums of the cost column {self.columns.cost!r} are negative in some cells"
            )
        disjoint: tuple[str, ...] = ("contributors",) if alone else ()
        holdings = None
        if self.columns.holding is not None:
            holdings, alone = self.contributors(self.columns.holding, count)
            disjoint += ("holdings",) if alone else ()
        empty = (value == 0) & (count == 0)
        table = Table(
            dimensions=self.dimensions,
            value=value,
            count=contributors.count,
            status=np.where(empty, Status.EMPTY, Status.SAFE).astype(np.int8),
            lower=spread_over_cells(0.0 if lower is None else lower, n),
            upper=spread_over_cells(np.inf if upper is None else upper, n),
            lower_level=spread_over_cells(0.0, n),
            upper_level=spread_over_cells(0.0, n),
            sliding_level=spread_over_cells(0.0, n),
            weight=sums["c"] if self.columns.cost else None,
            contributors=contributors,
            holdings=holdings,
            response=self.columns.value or "count",
            frequency=frequency,
            source=self.data.source,
            extra={**self.extras(sums), "disjoint": disjoint},
        )
        table.require_bounds()
        return table

    def sums(self) -> dict[str, Floats]:
        """Return the sums of every cell of the table, from one group-by on the engine."""
        s = nw.col(S)
        added = {"x": "__wx__", "s": "__ws__", "w": WEIGHT, "c": "__wc__"}
        grouped = sum_columns(
            self.frame,
            self.columns.dimensions,
            {sum_name(name): column for name, column in added.items()},
            nw.len().cast(nw.Int64).alias(sum_name("n")),
            (s < 0).cast(nw.Int64).sum().alias(sum_name("negative")),
            (s > 0).cast(nw.Int64).sum().alias(sum_name("positive")),
        )
        table = self.data.engine.to_arrow(grouped)
        cell = self.cells(table)
        names = ("n", "x", "s", "w", "c", "negative", "positive")
        return {name: self.roll_up(cell, floats(table, sum_name(name))) for name in names}

    def roll_up(self, cell: Ints, values: Floats) -> Floats:
        """Return the sums of every cell of the table from values in ground cells."""
        size = int(np.prod(self.ground_shape, dtype=np.int64))
        base = np.bincount(cell, weights=values, minlength=size).astype(np.float64)
        return roll_up(base.reshape(self.ground_shape), self.dimensions).ravel()

    def extras(self, sums: Mapping[str, Floats]) -> dict[str, Any]:
        """Return the facts that only some tables have."""
        extra: dict[str, Any] = {}
        if self.columns.weight is not None:
            extra["weighted_count"] = sums["w"]
        if self.columns.shadow is not None or sums["negative"].any():
            extra["rule_total"] = sums["s"]
            mixed = (sums["negative"] > 0) & (sums["positive"] > 0)
            if mixed.any():
                extra["mixed"] = mixed
        if self.missing is not None:
            extra["missing"] = {
                d.name: (self.missing,) for d in self.dimensions if self.missing in d.position
            }
        return extra

    def cells(self, table: pa.Table) -> Ints:
        """Return the ground cell of each row of a table with the dimensions' columns."""
        places = []
        for d in self.dimensions:
            coded = coding.encode(table.column(d.name))
            texts = ground_labels(coded.values).to_pylist()
            at = {int(c): i for i, c in enumerate(d.leaves)}
            codes = [at[d.position[t]] for t in texts]
            # Null comes last; it has a code of the dimension where it is allowed at all.
            codes.append(at.get(d.position.get(self.missing or "", -1), 0))
            places.append(np.asarray(codes, dtype=np.int64)[coded.codes])
        return np.ravel_multi_index(places, self.ground_shape).astype(np.int64)

    def contributors(self, by: str | None, count: Ints) -> tuple[Contributors, bool]:
        """Return the largest contributions of every cell, by record or by the units of a column.

        The second answer is True when every unit stands in one ground cell only.
        """
        if by is None:
            found = parts.roll_up_largest(self.records(self.frame), self.dimensions, self.top)
            return self.packed(found, count), True
        found, counted, disjoint = self.units(by)
        if has_missing(self.data, by):
            alone, count = self.without_unit(by)
            found, counted = parts.concatenate_entries(alone, found), count + counted
        return self.packed(parts.largest(found, self.top), counted), disjoint

    def packed(self, entries: Entries, count: Ints) -> Contributors:
        """Return entries as arrays over cells."""
        return parts.as_contributors(
            entries,
            count,
            self.top,
            weighted=self.columns.weight is not None,
            requests=self.columns.request is not None,
            waivers=self.columns.waiver is not None,
        )

    def records(self, frame: nw.LazyFrame[Any]) -> Entries:
        """Return the largest records of every ground cell; the ranking is done on the engine."""
        sized = frame.select(
            *self.columns.dimensions, ROW, S, WEIGHT, ASKED, WAIVED, nw.col(S).abs().alias(SIZE)
        )
        kept = keep_largest(sized, self.columns.dimensions, SIZE, self.top)
        table = self.data.engine.to_arrow(kept)
        x, w = (floats(table, name) for name in (S, WEIGHT))
        who = table.column(ROW).to_numpy(zero_copy_only=False).astype(np.int64)
        return self.entries(table, who, x, w * x, w)

    def entries(self, table: pa.Table, who: Ints, x: Floats, wx: Floats, w: Floats) -> Entries:
        """Return rows of the engine as entries."""
        return Entries(
            self.cells(table),
            who,
            x,
            wx,
            w,
            floats(table, ASKED).astype(np.int8),
            floats(table, WAIVED) > 0,
        )

    def without_unit(self, by: str) -> tuple[Entries, Ints]:
        """Return the largest records without a unit, each a unit of its own, and their number."""
        alone = self.frame.filter(nw.col(by).is_null())
        found = self.records(alone)
        grouped = aggregate(
            alone, self.columns.dimensions, nw.len().cast(nw.Int64).alias(sum_name("n"))
        )
        table = self.data.engine.to_arrow(grouped)
        count = self.roll_up(self.cells(table), floats(table, sum_name("n")))
        return parts.roll_up_largest(found, self.dimensions, self.top), count.astype(np.int64)

    def units(self, by: str) -> tuple[Entries, Ints, bool]:
        """Return the largest units of every cell, their number, and whether none is in two cells."""
        known = self.frame.filter(~nw.col(by).is_null())
        grouped = sum_columns(
            known,
            list(dict.fromkeys([*self.columns.dimensions, by])),
            {S: S, "__signed_ws__": "__signed_ws__"},
            nw.col(WEIGHT).max().alias(WEIGHT),
            nw.col(ASKED).max().alias(ASKED),
            nw.col(WAIVED).min().alias(WAIVED),
            nw.col(ROW).min().alias(ROW),
        )
        table = self.data.engine.to_arrow(grouped)
        who = first_rows(table, by)
        entries = self.entries(
            table, who, floats(table, S), floats(table, "__signed_ws__"), floats(table, WEIGHT)
        )
        several = parts.spread_out(entries)
        once = entries.take(~several)
        count = self.roll_up(once.cell, np.ones(len(once))).astype(np.int64)
        found = parts.roll_up_largest(once, self.dimensions, self.top)
        if not several.any():
            return found, count, True
        more, counted = parts.roll_up_spread(entries.take(several), self.dimensions, self.top)
        return parts.concatenate_entries(found, more), count + counted, False


def sum_name(what: str) -> str:
    """Return the name of a sum beside the dimensions, which may have any name themselves."""
    return f"__sum_{what}__"


def floats(table: pa.Table, name: str) -> Floats:
    """Return a column as numbers."""
    return np.asarray(table.column(name).to_numpy(zero_copy_only=False), dtype=np.float64)


def first_rows(table: pa.Table, by: str) -> Ints:
    """Return the number of the first record of each row's unit: a name that every engine agrees on."""
    column = table.column(by).combine_chunks()
    codes = column.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    rows = table.column(ROW).to_numpy(zero_copy_only=False).astype(np.int64)
    first = np.full(int(codes.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, codes, rows)
    return first[codes]


# -- dimensions ----------------------------------------------------------------------------------


def dimension_for(
    data: Microdata, column: str, given: Any, total: str, missing: str | None
) -> Dimension:
    """Return the dimension of a column, which must hold every value of the data as a ground code."""
    values = relational.fetch_distinct(data.frame, column)
    if given is None:
        dimension = Dimension.flat(column, ground_labels(values).to_pylist(), total=total)
    elif isinstance(given, Dimension):
        dimension = replace(given, name=column)
    else:
        hierarchy = for_column(allow_uneven_branches(given), values, column)
        dimension = Dimension.from_hierarchy(column, hierarchy, total=total)
    if missing is not None and has_missing(data, column):
        dimension = with_missing(dimension, missing)
    require_ground(dimension, ground_labels(values).to_pylist())
    return dimension


def allow_uneven_branches(given: Any) -> Any:
    """Allow branches of different depth in a hierarchy file, as tables do."""
    if isinstance(given, Mapping):
        return given
    if hasattr(given, "__fspath__") or isinstance(given, str):
        kind = kind_of(given)
        return {"path": given, "pad": True} if kind in ("hrc", "csv") else given
    return given


def has_missing(data: Microdata, column: str) -> bool:
    """Return True when a record has no value in a column."""
    return relational.count_where(data.frame, [nw.col(column).is_null()]) != [0]


def with_missing(dimension: Dimension, missing: str) -> Dimension:
    """Return a dimension with a code for missing values, directly below the total."""
    if missing in dimension.position:
        return dimension
    at, root = len(dimension), dimension.total
    sums = [
        s._replace(children=(*s.children, at)) if s.parent == root else s for s in dimension.sums
    ]
    if any(s.signs for s in sums if s.parent == root):
        raise HierarchyError(
            f"the dimension {dimension.name!r} has differences at its total: give the records without "
            "a code one of its codes"
        )
    return Dimension(dimension.name, (*dimension.codes, missing), tuple(sums), dimension.labels)


def require_size(dimensions: Sequence[Dimension]) -> None:
    """Raise when the table would not fit in memory."""
    n = int(np.prod([len(d) for d in dimensions], dtype=object))
    if n > LARGEST:
        shape = " x ".join(f"{d.name} ({len(d):,})" for d in dimensions)
        raise InputError(
            f"the table {shape} would have {n:,} cells, more than {LARGEST:,}: leave out a dimension, or "
            "give a coarser hierarchy"
        )


def require_ground(dimension: Dimension, codes: Sequence[str]) -> None:
    """Raise when the data have values that are no ground codes of the dimension."""
    unknown = [c for c in codes if c not in dimension.position]
    if unknown:
        raise HierarchyError(
            f"the dimension {dimension.name!r} lacks {len(unknown):,} values of the data. "
            + reveal(f"Values that the dimension {dimension.name!r} lacks", unknown)
        )
    sums = [c for c in codes if dimension.position[c] in dimension.parents]
    if sums:
        shown = ", ".join(map(repr, sums[:5]))
        raise HierarchyError(
            f"records of the dimension {dimension.name!r} stand at sub-totals ({shown}): records must "
            "have ground codes; add a ground code below for those that are not coded further"
        )
    if dimension.closure.nnz and dimension.closure.data.min() < 0:
        raise HierarchyError(
            f"the dimension {dimension.name!r} subtracts codes: contributors cannot be added up along it"
        )


# -- columns -------------------------------------------------------------------------------------


def refuse_unfit(data: Microdata, columns: Columns) -> None:
    """Raise when a column does not exist or is of the wrong kind."""
    named = [*columns.dimensions, *columns.numbers.values()]
    named += [c for c in (columns.request, columns.waiver, columns.unit, columns.holding) if c]
    require_columns(named, data.columns, "the data")
    schema = data.frame.collect_schema()
    for column in columns.numbers.values():
        if not schema[column].is_numeric():
            raise InputError(f"column {column!r} must hold numbers to be added up")
    if len(set(columns.dimensions)) < len(columns.dimensions):
        raise InputError("a column can be a dimension of the table only once")


def prepare_quantities(data: Microdata, columns: Columns) -> nw.LazyFrame[Any]:
    """Return the frame with every quantity of the tabulation as a number, or a constant."""
    one, zero = nw.lit(1.0), nw.lit(0.0)

    def number(name: str | None, otherwise: nw.Expr) -> nw.Expr:
        return otherwise if name is None else nw.col(name).cast(nw.Float64)

    schema = data.frame.collect_schema()
    frame = data.frame.with_columns(
        number(columns.value, one).alias(X),
        number(columns.shadow, number(columns.value, one)).alias(S),
        number(columns.weight, one).alias(WEIGHT),
        number(columns.cost, zero).alias(COST),
        code_flag(columns.request, schema).alias(ASKED),
        code_flag(columns.waiver, schema).alias(WAIVED),
    )
    frame = frame.with_columns(
        (nw.col(WEIGHT) * nw.col(X)).alias("__wx__"),
        (nw.col(WEIGHT) * nw.col(S).abs()).alias("__ws__"),
        (nw.col(WEIGHT) * nw.col(S)).alias("__signed_ws__"),
        (nw.col(WEIGHT) * nw.col(COST)).alias("__wc__"),
    )
    named = dict.fromkeys([*columns.dimensions, *filter(None, (columns.unit, columns.holding))])
    work = ("__wx__", "__ws__", "__signed_ws__", "__wc__", X, S, WEIGHT, COST, ASKED, WAIVED, ROW)
    return frame.select(*named, *work)


def code_flag(name: str | None, schema: Mapping[str, Any]) -> nw.Expr:
    """Return the code of a request or waiver: 0 for no or unknown, 2 where it says so, else 1."""
    if name is None:
        return nw.lit(0)
    column = nw.col(name)
    if schema[name] == nw.Boolean:
        return column.cast(nw.Int64).fill_null(0)
    if schema[name].is_numeric():
        number = column.cast(nw.Float64).fill_null(0.0)
        return nw.when(number == 2).then(nw.lit(2)).otherwise((number > 0).cast(nw.Int64))
    text = column.cast(nw.String).str.strip_chars().str.to_lowercase().fill_null("")
    return nw.when(text == "2").then(nw.lit(2)).otherwise(text.is_in(list(YES)).cast(nw.Int64))


def require_numbers(frame: nw.LazyFrame[Any], columns: Columns, missing: str | None) -> None:
    """Raise when numbers are missing, weights negative, or records without a code are not allowed."""
    checks = {work: nw.col(work).is_null() for work in columns.numbers}
    checks |= {f"null {c}": nw.col(c).is_null() for c in columns.dimensions if missing is None}
    checks["negative"] = nw.col(WEIGHT) < 0
    counted = relational.count_where(frame, list(checks.values()))
    found = dict(zip(checks, counted, strict=True))
    for work, column in columns.numbers.items():
        if found[work]:
            raise InputError(
                f"column {column!r} is missing in {found[work]:,} records: fill it in or drop them"
            )
    if found["negative"]:
        raise InputError(
            f"the weight {columns.weight!r} is negative in {found['negative']:,} records"
        )
    for column in columns.dimensions:
        if n := found.get(f"null {column}", 0):
            raise InputError(
                f"{n:,} records have no {column!r}: drop them, or keep them under a code of their own with "
                "missing='missing'"
            )
