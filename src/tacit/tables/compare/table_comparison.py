"""TableComparison: every measure of the risk-utility framework for a protected version of a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.errors import InputError, SdcError
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where
from tacit.tables.compare.distributions import (
    Distributions,
    Rule,
    as_cells,
    from_array,
    lay_out,
    reshape_to_layout,
)
from tacit.tables.compare.entries import (
    Entries,
    entries_of_frame,
    entries_of_records,
    entries_of_table,
)
from tacit.tables.compare.formulas import Zeros
from tacit.tables.compare.layout import names_of
from tacit.tables.compare.measures import (
    LOSSES,
    RISKS,
    Measured,
    describe_symbol,
    measure,
    symbol_order,
)

#: Names that no version can have.
ORIGINAL, POPULATION = "", "\0population"


@dataclass(frozen=True, repr=False)
class TableComparisonResult(Result):
    """All measures of one version of a table; ``frame`` has one row per measure.

    Attributes
    ----------
    values
        The measures by symbol; None where one is undefined.
    original
        What the original has of them.
    notes
        Rows and cells that some measure had to skip.
    by_row
        Hellinger's distance of every row, for maps of where the loss lies.
    rows
        The labels of the rows.
    """

    values: Mapping[str, float | None] = field(default_factory=dict)
    original: Mapping[str, float | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    by_row: Floats = field(default_factory=lambda: as_cells([[0.0]], "rows")[0][0])
    rows: Sequence[str] = ()

    def __getitem__(self, symbol: str) -> float | None:
        return self.values[symbol]


@register
class TableComparison(Measure[Table]):
    r"""How far a protected version of a table is from the original, by every measure of the framework.

    Each row of the table is a distribution over the columns. The value is the chosen loss, by default
    Hellinger's distance averaged over rows,

    .. math:: HD = \frac{1}{n_r} \sum_k \sqrt{\sum_c \tfrac12 (\sqrt{p_{kc}} - \sqrt{o_{kc}})^2},

    and the risk is the share of small counts that are published as they are. Of the original Table the
    true values are taken, of a version what it publishes, its totals included, which need not add up.
    :func:`tacit.compare` also gives it plain cells: arrays of internal cells, frames and files in wide form
    (one line per row) or long form (one line per cell), and records, which are counted on their engine.

    References
    ----------
    Shlomo, Young (2006), Statistical disclosure control methods through a risk-utility framework,
    PSD 2006, LNCS 4302, 68-81.
    """

    kind: Literal["table_comparison"] = "table_comparison"
    rows: Any = Field(
        default=None,
        description="the variables whose combinations are the distributions, most often areas; by "
        "default the first. Names, or by name the categories or their number",
    )
    columns: Any = Field(
        default=None, description="the variables of the columns; by default all others"
    )
    value: str | None = Field(
        default=None,
        description="cells in long form: the column that holds them; records: a column to be summed",
    )
    contributors: Any = Field(
        default=None,
        description="units behind each cell of the original: an array, or in long form a column",
    )
    cells: Literal["frequency", "magnitude"] | None = Field(
        default=None, description="what the cells are; by default what the source suggests"
    )
    total: str | None = Field(default=None, description="the label of margins in a file or frame")
    marks: tuple[str, ...] = Field(default=(), description="texts that stand for a suppressed cell")
    impute: Rule | None = Field(default=None, description="what stands for suppressed cells")
    along: Literal["rows", "columns"] = Field(default="rows", description="along which to impute")
    rounded: int | dict[str, int] | None = Field(
        default=None,
        description="the base to which versions were rounded, for the exact binomial test",
    )
    small: tuple[int, ...] = Field(
        default=(1, 2), description="counts that are disclosive; none: no risk"
    )
    zeros: Zeros = Field(default="skip", description="how RAD treats empty original cells")
    rank_groups: int = Field(default=20, description="number of rank groups")
    rank_threshold: float = Field(
        default=0.2, description="share of moves above which a column counts as moved"
    )
    target: Any = Field(
        default=None,
        description="the columns whose proportion is compared between rows: positions, labels, or "
        "categories by variable",
    )
    base: Any = Field(
        default=None, description="the columns of which the target is a part; by default all"
    )
    model: Any = Field(
        default=None,
        description="the margins of a log-linear model; by default rows and columns independent",
    )
    association: tuple[tuple[str, ...], tuple[str, ...]] | None = Field(
        default=None, description="row and column variables for chi-squared and Cramér's V"
    )
    subtotals: dict[str, Any] = Field(
        default_factory=dict, description="named groups of columns whose sub-totals are compared"
    )
    population: Any = Field(
        default=None,
        description="the population table when the original is a sample: adds tau1 and tau2",
    )
    risk: str = Field(default="percent_unchanged", description="the measure of risk on a map")
    loss: str = Field(
        default="HD", description="the measure of loss that is the value: HD, AAD, LR, ..."
    )

    family: ClassVar[str] = "utility"
    compares: ClassVar[bool] = True
    better: ClassVar[Literal["lower", "higher"] | None] = "lower"
    runs_on: ClassVar[Where] = "cells"
    example: ClassVar[Mapping[str, Any]] = {"impute": "zero"}

    def columns_named(self) -> tuple[str, ...]:
        """Return nothing: the variables of a table are checked when it is laid out."""
        return ()

    def check_type(self, data: Any, what: str = "") -> None:
        """Accept whatever can be laid out as a table: records and arrays of internal cells too."""
        if not (isinstance(data, Microdata) or is_array(data)):
            super().check_type(data, what)

    def faults(self, data: Any) -> list[SdcError]:
        """Accept tables, and whatever else can be laid out as one."""
        return super().faults(data) if isinstance(data, Table) else []

    def _measure(
        self, data: Table, other: Companions[Table], ctx: Context
    ) -> TableComparisonResult:
        ctx.tick("comparing the tables")
        return self.measure_versions({"released": data}, other.original)["released"]

    def measure_versions(
        self, versions: Mapping[str, Any], original: Any
    ) -> dict[str, TableComparisonResult]:
        """Return every measure of several versions, all laid out as the original is."""
        axis_of(self.risk, RISKS, "risk")
        axis_of(self.loss, LOSSES, "loss")
        sources = {ORIGINAL: original, **versions}
        if self.population is not None:
            sources[POPULATION] = self.population
        tables = laid_out(sources, self)
        first, people = tables.pop(ORIGINAL), tables.pop(POPULATION, None)
        bases = bases_of(self.rounded, versions)
        self.check_settings()
        labels = first.layout.rows.labels() if len(first.layout.rows) <= MOST_LABELS else ()
        return {
            name: self.result(name, measure(first, table, self, bases.get(name), people), labels)
            for name, table in tables.items()
        }

    def check_settings(self) -> None:
        """Refuse numbers outside of their range."""
        if self.rank_groups < 2:
            raise InputError("rank_groups must be at least 2")
        if not 0 <= self.rank_threshold <= 1:
            raise InputError("rank_threshold is a share between 0 and 1")
        if any(s < 1 for s in self.small):
            raise InputError("small cells are counts of at least 1")

    def result(self, name: str, found: Measured, labels: Sequence[str]) -> TableComparisonResult:
        """Put the result of one version together."""
        lost = found.values.get(self.loss)
        return TableComparisonResult(
            kind=self.kind,
            title="A protected version against the original table",
            value=float("nan") if lost is None else abs(lost - LOSSES[self.loss]),
            numbers=dict(found.values),
            frame=frame_of(name, found),
            explanation=f"The value is the loss {self.loss}, as its distance from no change.",
            values=found.values,
            original=found.original,
            notes=found.notes,
            by_row=found.by_row,
            rows=labels,
        )


#: Rows up to which labels are kept.
MOST_LABELS = 1_000_000


def frame_of(name: str, found: Measured) -> nw.DataFrame[Any]:
    """Return all measures of a version as a frame: group, symbol, words, original and version."""
    symbols = sorted(found.values, key=symbol_order)
    words = [describe_symbol(s) or ("", s) for s in symbols]
    columns = {
        "group": pa.array([w[0] for w in words], pa.string()),
        "symbol": pa.array(symbols, pa.string()),
        "measure": pa.array([w[1] for w in words], pa.string()),
        "original": pa.array([found.original.get(s) for s in symbols], pa.float64()),
        name: pa.array([found.values[s] for s in symbols], pa.float64()),
    }
    return nw.from_native(pa.table(columns), eager_only=True)


def bases_of(rounded: int | Mapping[str, int] | None, names: Collection[str]) -> dict[str, int]:
    """Return the rounding base of each version that has one."""
    if rounded is None:
        return {}
    if not isinstance(rounded, Mapping):
        return dict.fromkeys(names, rounded)
    unknown = [n for n in rounded if n not in names]
    if unknown:
        raise InputError(f"rounded= names {unknown[0]!r}, which is no version of the comparison")
    return dict(rounded)


def laid_out(sources: Mapping[str, Any], reading: TableComparison) -> dict[str, Distributions]:
    """Return every source as distributions in one layout."""
    names, given = list(sources), list(sources.values())
    if any(isinstance(g, Microdata) for g in given) != all(isinstance(g, Microdata) for g in given):
        raise InputError("compare microdata with microdata, and tables with tables")
    listed = {n: g for n, g in sources.items() if not is_array(g)}
    if listed:
        rows, columns = sides_of(next(iter(listed.values())), reading)
        entries = [entries_of(g, rows, columns, reading, truth=not n) for n, g in listed.items()]
        sides = list_spanning_variables(entries[0], rows, columns)
        laid = dict(zip(listed, lay_out(entries, *sides), strict=True))
    else:
        laid = {"": from_array(given[0], reading.rows, reading.columns)}
    layout = next(iter(laid.values())).layout
    tables = [laid[n] if n in laid else reshape_to_layout(g, layout) for n, g in sources.items()]
    return dict(zip(names, with_kind(tables, reading), strict=True))


def is_array(given: Any) -> bool:
    """Return True for an array of internal cells."""
    return hasattr(given, "__array_interface__") or isinstance(given, list | tuple)


def sides_of(source: Any, reading: TableComparison) -> tuple[list[str], list[str]]:
    """Return the variables of rows and columns as far as they are named; those of a Table in full."""
    rows, columns = names_of(reading.rows), names_of(reading.columns)
    if not isinstance(source, Table):
        return rows, columns
    left = [n for n in source.names if n not in (*rows, *columns)]
    if not rows and not columns:
        return (left[:1], left[1:]) if len(left) > 1 else ([], left)
    return rows or left, columns or left


def entries_of(
    source: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    reading: TableComparison,
    *,
    truth: bool,
) -> Entries:
    """Return the cells of a source; of the original those that are true."""
    if isinstance(source, Table):
        return entries_of_table(source, rows, columns, truth=truth)
    if isinstance(source, Microdata):
        return entries_of_records(source, rows, columns, reading.value)
    return entries_of_frame(source, reading)


def list_spanning_variables(
    entries: Entries, rows: Sequence[str], columns: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the variables of rows and columns; a wide frame has some that nobody named."""
    if set(rows) | set(columns) == set(entries.names):
        return list(rows), list(columns)
    down = list(rows) or [entries.names[0]]
    return down, [n for n in entries.names if n not in down]


def with_kind(tables: Sequence[Distributions], reading: TableComparison) -> list[Distributions]:
    """Return the tables with their kind as declared, and the original with its contributors."""
    first, *rest = tables
    if reading.contributors is not None and not isinstance(reading.contributors, str):
        units = as_cells(reading.contributors, "contributors")[0]
        if units.shape != first.cells.shape:
            raise InputError("the contributors have another shape than the table")
        first = replace(first, units=units)
    if reading.cells is not None:
        first = replace(first, counts=reading.cells == "frequency")
    return [first, *rest]


def axis_of(name: str, known: Collection[str], what: str) -> str:
    """Return the name of a measure that can stand on an axis."""
    if name not in known:
        raise InputError(f"no {what} {name!r} for the map; choose one of {', '.join(known)}")
    return name
