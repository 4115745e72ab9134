"""compare_tables: one original against several protected versions, all measures side by side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.errors import Infeasible, InputError, near_match
from tacit.plot.chart import Chart
from tacit.plot.ru_map import ru_chart
from tacit.result import Result, format_number
from tacit.tables.compare.blocks import Floats
from tacit.tables.compare.distances import Zeros
from tacit.tables.compare.distributions import Distributions, as_cells, from_array, lay_out, like
from tacit.tables.compare.entries import (
    Entries,
    entries_of_frame,
    entries_of_records,
    entries_of_table,
)
from tacit.tables.compare.impute import Rule
from tacit.tables.compare.layout import Declared, Pick, names_of
from tacit.tables.compare.loglinear import Model
from tacit.tables.compare.measures import (
    GROUPS,
    LOSSES,
    MEASURES,
    RISKS,
    Measured,
    Settings,
    measure,
)

Kind = Literal["frequency", "magnitude"]


@dataclass(frozen=True)
class Candidate:
    """A version on the risk-utility map; utility is the loss, of which less is better."""

    method: str
    risk: float
    utility: float
    label: str = ""
    risk_interval: tuple[float, float] | None = None
    utility_interval: tuple[float, float] | None = None


@dataclass(frozen=True, repr=False)
class FrameworkResult(Result):
    """Several protected versions of one table side by side.

    ``result["rounded"]["HD"]`` is one measure of one version; ``frame`` holds all of them, one row a
    measure; ``notes`` says what had to be left out.

    Attributes
    ----------
    versions
        The measures of each version by symbol; None where a measure is undefined.
    original
        What the original has of them.
    notes
        By version: rows and cells that some measure had to skip.
    by_row
        By version: Hellinger's distance of every row, for maps of where the loss lies.
    rows
        The labels of the rows.
    risk, loss
        The measures on the axes of the map.

    References
    ----------
    Shlomo, Young (2006), Statistical disclosure control methods through a risk-utility framework,
    PSD 2006, LNCS 4302, 68-81.
    """

    versions: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    original: Mapping[str, float | None] = field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_row: Mapping[str, Floats] = field(default_factory=dict)
    rows: Sequence[str] = ()
    risk: str = "percent_unchanged"
    loss: str = "HD"

    def __getitem__(self, name: str) -> Mapping[str, float | None]:
        if name not in self.versions:
            hint = near_match(name, self.versions)
            known = ", ".join(self.versions)
            raise InputError(
                f"no version {name!r} in the comparison. {hint or f'Versions: {known}.'}"
            )
        return self.versions[name]

    def candidates(self, risk: str | None = None, loss: str | None = None) -> list[Candidate]:
        """Return where each version stands: its risk, and how far its loss is from none."""
        r, u = axis_of(risk or self.risk, RISKS, "risk"), axis_of(loss or self.loss, LOSSES, "loss")
        found = []
        for name, values in self.versions.items():
            x, y = values.get(r), values.get(u)
            if x is not None and y is not None:
                found.append(Candidate(name, float(x), abs(float(y) - LOSSES[u])))
        return found

    def recommend(
        self, max_risk: float, *, risk: str | None = None, loss: str | None = None
    ) -> str:
        """Return the version with the least loss among those whose risk is at most ``max_risk``."""
        allowed = [c for c in self.candidates(risk, loss) if c.risk <= max_risk]
        if not allowed:
            raise Infeasible(
                f"no version has a risk of at most {format_number(float(max_risk))}; protect more, "
                "or accept more risk"
            )
        return min(allowed, key=lambda c: (c.utility, c.risk)).method

    def plot(
        self,
        *,
        risk: str | None = None,
        loss: str | None = None,
        max_risk: float | None = None,
        size: tuple[int, int] | None = None,
    ) -> Chart:
        """Return the risk-utility map of the versions, for any measure of risk and of loss."""
        r, u = risk or self.risk, loss or self.loss
        found = self.candidates(r, u)
        if not found:
            raise InputError(f"no version has both {r} and {u}, so there is no map to draw")
        chosen = None
        if max_risk is not None and any(c.risk <= max_risk for c in found):
            name = self.recommend(max_risk, risk=r, loss=u)
            chosen = next(c for c in found if c.method == name)
        away = "" if LOSSES[u] == 0 and u in ("HD", "AAD", "RAD") else ", distance from no change"
        return ru_chart(
            found,
            risk_label=MEASURES[r][1],
            utility_label=f"{u}: {MEASURES[u][1]}{away}",
            cap=max_risk,
            frontier=front(found),
            chosen=chosen,
            curves={},
            higher_utility_is_better=False,
            title="Risk and loss of each version",
            size=size,
        )

    def table(self, group: str | None = None) -> list[dict[str, Any]]:
        """Return one dictionary a measure: group, symbol, words, original and every version."""
        symbols = dict.fromkeys(s for v in self.versions.values() for s in v)
        rows = []
        for symbol in sorted(symbols, key=order_of):
            part, words = described(symbol)
            if group in (None, part):
                rows.append(
                    {
                        "group": part,
                        "symbol": symbol,
                        "measure": words,
                        "original": self.original.get(symbol),
                        **{name: v.get(symbol) for name, v in self.versions.items()},
                    }
                )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return all measures as plain data."""
        return {
            **super().to_dict(),
            "original": dict(self.original),
            "versions": {name: dict(v) for name, v in self.versions.items()},
        }

    def __repr__(self) -> str:
        lines = [["", "original", *self.versions]]
        lines += [
            [row["symbol"], *(format_number(row[n]) for n in ("original", *self.versions))]
            for row in self.table()
        ]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        body = "\n".join(
            "  ".join(
                [
                    line[0].ljust(widths[0]),
                    *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True)),
                ]
            )
            for line in lines
        )
        return f"{self.title}\n{'-' * len(self.title)}\n{body}"


def compare_tables(
    original: Any,
    versions: Mapping[str, Any],
    *,
    rows: Declared | None = None,
    columns: Declared | None = None,
    value: str | None = None,
    contributors: Any = None,
    kind: Kind | None = None,
    total: str | None = None,
    marks: Sequence[str] = (),
    impute: Rule | None = None,
    along: Literal["rows", "columns"] = "rows",
    rounded: int | Mapping[str, int] | None = None,
    small: Collection[int] = (1, 2),
    zeros: Zeros = "skip",
    rank_groups: int = 20,
    rank_threshold: float = 0.2,
    target: Pick | None = None,
    base: Pick | None = None,
    model: Model | None = None,
    association: tuple[Sequence[str], Sequence[str]] | None = None,
    subtotals: Mapping[str, Pick] | None = None,
    population: Any = None,
    risk: str = "percent_unchanged",
    loss: str = "HD",
) -> FrameworkResult:
    """Compare protected versions of a table, or of microdata, with the original.

    Parameters
    ----------
    original
        The original: a :class:`~tacit.Table`, of which the true values are taken; an array of internal
        cells; Microdata, which are counted on their engine; a frame or a file (CSV, XLSX, ...) with
        cells in wide form (one line per row) or in long form (one line per cell).
    versions
        The protected versions by name, each of the same kind and layout; NaN or null is a suppressed
        cell. Of a Table what it publishes is taken, its totals included, which need not add up. A
        version may also be an array in the shape of the original.
    rows, columns
        The variables of each side, slowest first. Rows are the distributions (most often areas) over
        which distances are averaged. Of a Table, by default its first dimension and the others;
        dimensions left out are taken at their total. For microdata and the long form, column names;
        for the wide form, ``rows`` names the columns that hold labels; where labels do not say it, and
        for arrays, a mapping from variable to categories or to their number.
    value
        Long form: the column with the cell values. Microdata: a column to be summed in each cell
        (a magnitude, or a weight) instead of counting records.
    contributors
        Units behind each cell of the original: an array, or in the long form a column.
    kind
        ``frequency`` or ``magnitude``; by default what the source suggests.
    total
        The label of margins in a file or frame; such lines are taken as published margins.
    marks
        Texts that stand for a suppressed cell in a file or frame; an empty cell always does.
    impute, along
        What stands for suppressed cells: ``zero``, ``row_average`` or ``weighted_row_average``; along
        rows or along columns.
    rounded
        The base to which a version was rounded, by version (a number: all of them), for the exact
        binomial test.
    small
        Counts that are disclosive; an empty collection asks for no risk.
    zeros
        How RAD treats empty original cells: ``skip``, ``add_half`` or ``as_one``.
    rank_groups, rank_threshold
        Number of rank groups, and the share of cells moving between them above which a column counts.
    target, base
        The columns whose proportion among the base columns (by default all) is compared between rows:
        positions, labels, or ``{"sex": "m", "illness": "no"}``.
    model
        The margins of a log-linear model over the spanning variables, e.g. ``[["sex", "area"],
        ["illness", "activity"]]``; by default independence of rows and columns.
    association
        Row and column variables for X2 and Cramér's V; by default those of the table.
    subtotals
        Named groups of columns whose sub-totals are compared.
    population
        The population table when the original is a sample: adds tau1 and tau2.
    risk, loss
        The measures on the axes of the map.

    Returns
    -------
    FrameworkResult
        All measures, the risk-utility map, the recommendation under a risk threshold, and the report.
    """
    if not versions:
        raise InputError("compare_tables: give at least one protected version by name")
    axis_of(risk, RISKS, "risk")
    axis_of(loss, LOSSES, "loss")
    reading = {
        "rows": rows, "columns": columns, "value": value, "contributors": contributors,
        "kind": kind, "total": total, "marks": marks,
    }  # fmt: skip
    sources = {"": original, **versions}
    if population is not None:
        sources["\0population"] = population
    tables = laid_out(sources, reading)
    first = tables.pop("")
    people = tables.pop("\0population", None)
    settings = Settings(
        impute, along, tuple(small), zeros, rank_groups, rank_threshold, target, base, model,
        association, dict(subtotals or {}), people,
    )  # fmt: skip
    bases = bases_of(rounded, versions)
    found = {name: measure(first, t, settings, bases.get(name)) for name, t in tables.items()}
    return result_of(found, first, risk, loss)


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


def laid_out(sources: Mapping[str, Any], reading: Mapping[str, Any]) -> dict[str, Distributions]:
    """Return every source as distributions in one layout."""
    names, given = list(sources), list(sources.values())
    if any(isinstance(g, Microdata) for g in given) != all(isinstance(g, Microdata) for g in given):
        raise InputError("compare microdata with microdata, and tables with tables")
    listed = {n: g for n, g in sources.items() if not is_array(g)}
    if listed:
        rows, columns = sides_of(next(iter(listed.values())), reading)
        entries = [entries_of(g, rows, columns, reading, truth=not n) for n, g in listed.items()]
        sides = spanned_by(entries[0], rows, columns)
        laid = dict(zip(listed, lay_out(entries, *sides), strict=True))
    else:
        laid = {"": from_array(given[0], reading["rows"], reading["columns"])}
    layout = next(iter(laid.values())).layout
    tables = [laid[n] if n in laid else like(g, layout) for n, g in sources.items()]
    return dict(zip(names, with_kind(tables, reading), strict=True))


def is_array(given: Any) -> bool:
    """Return True for an array of internal cells."""
    return hasattr(given, "__array_interface__") or isinstance(given, list | tuple)


def sides_of(source: Any, reading: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the variables of rows and columns as far as they are named; those of a Table in full."""
    rows, columns = names_of(reading["rows"]), names_of(reading["columns"])
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
    reading: Mapping[str, Any],
    *,
    truth: bool,
) -> Entries:
    """Return the cells of a source; of the original those that are true."""
    if isinstance(source, Table):
        return entries_of_table(source, rows, columns, truth=truth)
    if isinstance(source, Microdata):
        return entries_of_records(source, rows, columns, reading["value"])
    column = reading["contributors"] if isinstance(reading["contributors"], str) else None
    return entries_of_frame(
        source,
        reading["rows"],
        reading["columns"],
        reading["value"],
        column,
        reading["total"],
        reading["marks"],
    )


def spanned_by(
    entries: Entries, rows: Sequence[str], columns: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the variables of rows and columns; a wide frame has some that nobody named."""
    if set(rows) | set(columns) == set(entries.names):
        return list(rows), list(columns)
    down = list(rows) or [entries.names[0]]
    return down, [n for n in entries.names if n not in down]


def with_kind(tables: Sequence[Distributions], reading: Mapping[str, Any]) -> list[Distributions]:
    """Return the tables with their kind as declared, and the original with its contributors."""
    first, *rest = tables
    if reading["contributors"] is not None and not isinstance(reading["contributors"], str):
        units = as_cells(reading["contributors"], "contributors")[0]
        if units.shape != first.cells.shape:
            raise InputError("the contributors have another shape than the table")
        first = replace(first, units=units)
    if reading["kind"] is not None:
        first = replace(first, counts=reading["kind"] == "frequency")
    return [first, *rest]


def result_of(
    found: Mapping[str, Measured], original: Distributions, risk: str, loss: str
) -> FrameworkResult:
    """Put the result together."""
    numbers = {
        f"{name}: {MEASURES[m][1]}": v.values.get(m)
        for name, v in found.items()
        for m in (risk, loss)
    }
    lost = [v.values.get(loss) for v in found.values()]
    losses = [abs(x - LOSSES[loss]) for x in lost if x is not None]
    draft = FrameworkResult(
        kind="compare_tables",
        title="Protected versions against the original table",
        value=min(losses) if losses else float("nan"),
        numbers=numbers,
        explanation=f"The value is the least loss ({loss}) among the versions.",
        versions={name: v.values for name, v in found.items()},
        original=next(iter(found.values())).original,
        notes={name: v.notes for name, v in found.items()},
        by_row={name: v.by_row for name, v in found.items()},
        rows=original.layout.rows.labels() if len(original.layout.rows) <= 1_000_000 else (),
        risk=risk,
        loss=loss,
    )
    return FrameworkResult(**{**draft.__dict__, "frame": frame_of(draft)})


def frame_of(result: FrameworkResult) -> nw.DataFrame[Any]:
    """Return all measures as a frame."""
    table = result.table()
    texts = {"group", "symbol", "measure"}
    columns = {
        name: pa.array([r[name] for r in table], pa.string() if name in texts else pa.float64())
        for name in table[0]
    }
    return nw.from_native(pa.table(columns), eager_only=True)


def described(symbol: str) -> tuple[str, str]:
    """Return the group and the words of a symbol; ``AT (name)`` is that of a sub-total."""
    if symbol in MEASURES:
        return MEASURES[symbol]
    stem, _, name = symbol.partition(" (")
    return "totals", MEASURES[stem][1].replace("row total", f"sub-total {name.rstrip(')')}")


def order_of(symbol: str) -> tuple[int, int]:
    """Return where a measure stands in tables."""
    known, groups = list(MEASURES), list(GROUPS)
    group = groups.index(described(symbol)[0])
    return group, known.index(symbol) if symbol in MEASURES else len(known)


def axis_of(name: str, known: Collection[str], what: str) -> str:
    """Return the name of a measure that can stand on an axis."""
    if name not in known:
        raise InputError(f"no {what} {name!r} for the map; choose one of {', '.join(known)}")
    return name


def front(found: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that no other beats in risk and loss, by rising risk."""
    kept: list[Candidate] = []
    for c in sorted(found, key=lambda c: (c.risk, c.utility)):
        if not kept or c.utility < kept[-1].utility:
            kept.append(c)
    return kept


__all__ = ["Candidate", "FrameworkResult", "compare_tables"]
