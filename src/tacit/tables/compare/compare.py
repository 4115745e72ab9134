"""compare_tables: one original against several protected versions, all measures side by side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.data.microdata import Microdata
from tacit.errors import Infeasible, InputError, near_match
from tacit.plot.chart import Chart
from tacit.plot.ru_map import ru_chart
from tacit.result import Result, format_number
from tacit.tables.compare.axis import Declared, Pick
from tacit.tables.compare.crosstab import Crosstab, Floats, Kind
from tacit.tables.compare.distances import Zeros
from tacit.tables.compare.impute import Rule
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
from tacit.tables.compare.sources import as_names, crosstab
from tacit.tables.compare.tabulate import cross_classify


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
            **({} if size is None else {"size": size}),
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
        The original: internal cells only. An array, a frame or file in wide or long form, Microdata, or
        a :class:`~tacit.tables.compare.Crosstab`.
    versions
        The protected versions by name, each of the same layout; NaN or null is a suppressed cell. A
        version may carry its own margins, which need not add up.
    rows, columns, value, contributors, kind, total, marks
        How tables are read: see :func:`~tacit.tables.compare.crosstab`. Rows are the distributions (most
        often areas) over which distances are averaged. For other distributions of the same variables
        compare again with other ``rows`` and ``columns``.
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


def laid_out(sources: Mapping[str, Any], reading: Mapping[str, Any]) -> dict[str, Crosstab]:
    """Return every source as a table of the layout of the first."""
    names, given = list(sources), list(sources.values())
    if all(isinstance(g, Microdata) for g in given):
        tables = cross_classify(
            given, as_names(reading["rows"]), as_names(reading["columns"]), value=reading["value"]
        )
        return dict(zip(names, tables, strict=True))
    if any(isinstance(g, Microdata) for g in given):
        raise InputError("compare microdata with microdata, and tables with tables")
    first = crosstab(given[0], **reading)
    later = {**reading, "contributors": only_names(reading["contributors"])}
    rest = [crosstab(g, **later).aligned(first) for g in given[1:]]
    return dict(zip(names, [first, *rest], strict=True))


def only_names(contributors: Any) -> str | None:
    """Return contributors given as a column's name; an array belongs to the original alone."""
    return contributors if isinstance(contributors, str) else None


def result_of(
    found: Mapping[str, Measured], original: Crosstab, risk: str, loss: str
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
        rows=original.rows.labels() if len(original.rows) <= 1_000_000 else (),
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
