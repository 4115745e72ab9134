"""A population threshold for geographic units: small ones are pooled, and no subtraction tells them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from pydantic import Field, model_validator

from tacit.arrays import Flags, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import drop_stale_descriptions
from tacit.engine.base import ROW
from tacit.engine.relational import N, W, counts
from tacit.errors import InputError, SdcError, UnreadableFile
from tacit.fields import ColumnName, ColumnNames, NaturalInt, Secret
from tacit.registry import register
from tacit.reveal import reveal
from tacit.spec import Method

#: The codes of a unit, coarse to fine.
Codes = tuple[str, ...]
#: Thresholds by name: most countries, the United States, and all administrative geography removed.
PRESETS: Mapping[str, int] = {"standard": 20_000, "us": 100_000}


@register
class GeographyThreshold(Method):
    """Show geographic units with enough inhabitants, and pool the others so that none can be told.

    From coarse to fine, within each parent that is shown: units with at least ``at_least`` inhabitants are shown, the rest
    becomes one residual. While the residual has fewer, the smallest shown unit joins it, because otherwise the
    parent minus its shown units would be a small unit. What lies below a hidden unit is hidden with it. The whole
    country is the parent of the coarsest units.

    Inhabitants come from a file of the latest census, not from the data, so that every census of a country
    shows the same units; ``harmonised`` maps the codes of an older census to those of the file.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), IPUMS-International high precision population census microdata samples:
    balancing the privacy-quality tradeoff by means of restricted access extracts, PSD 2006, LNCS 4302, 375-382, section 5.
    """

    kind: Literal["geography_threshold"] = "geography_threshold"
    columns: ColumnNames = Field(description="geographic columns, coarse to fine")
    population: str | Mapping[ColumnName, tuple[Any, ...]] | None = Secret(
        None,
        description="a file (CSV or Parquet) with a row for each finest unit: its codes under the names of the columns, and its inhabitants; or the same as columns",
    )
    at_least: NaturalInt | Literal["standard", "us", "none_shown"] = Field(
        default="standard",
        description="inhabitants of a unit that is shown; standard is 20,000, us is 100,000, none_shown removes the columns",
    )
    inhabitants: str = Field(
        default="population", min_length=1, description="the column of the file with inhabitants"
    )
    harmonised: str | Mapping[ColumnName, Mapping[str, str]] | None = Secret(
        None,
        description="codes of this census in those of the file: old code to new by column, or a file with the columns column, code and harmonised",
    )
    residual: str = Field(
        default="other", min_length=1, description="the word for units that are pooled"
    )
    remove: tuple[ColumnName, ...] = Field(
        default=(), description="finer geography that is removed altogether"
    )
    estimate: bool = Field(
        default=False,
        description="take inhabitants from the data themselves, weighted where a weight is declared, and not from a file",
    )

    on_household = "by_value"
    on_weight = "option"
    techniques: ClassVar[tuple[str, ...]] = ("generalise values",)
    file_fields: ClassVar[tuple[str, ...]] = ("population", "harmonised")
    example: ClassVar[Mapping[str, Any]] = {
        "columns": ["zip"],
        "population": {
            "zip": ["02138", "02139", "02141", "02142"],
            "population": [9, 30, 25, 40],
        },
        "at_least": 20,
    }
    column_fields = ("columns", "remove")

    @model_validator(mode="after")
    def _consistent(self) -> GeographyThreshold:
        if self.threshold and (self.population is None) != self.estimate:
            raise ValueError(
                "give population, a file with the inhabitants of the latest census, or allow estimate from the data"
            )
        if not self.threshold and self.population is not None:
            raise ValueError("population goes with a threshold above 0")
        if set(self.remove) & set(self.columns):
            raise ValueError("remove must not name a column that is shown")
        return self

    @property
    def threshold(self) -> int | None:
        """Return the inhabitants of a unit that is shown; 0 shows all, None shows none."""
        if self.at_least == "none_shown":
            return None
        return PRESETS[self.at_least] if isinstance(self.at_least, str) else self.at_least

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that are pooled or removed."""
        del data
        return (*self.columns, *self.remove)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: codes that are no codes, files that cannot be read, no weight to estimate from."""
        if found := super().faults(data):
            return found
        schema = data.frame.collect_schema()
        found += [
            InputError(f"geography_threshold: column {c!r} must hold codes: text or whole numbers.")
            for c in self.columns
            if not (schema[c] == nw.String or schema[c].is_integer())
        ]
        try:
            self.geography_of_file()
            self.read_harmonised()
        except SdcError as error:
            found.append(error)
        return found

    def geography_of_file(self) -> Geography | None:
        """Return the units of the file, if one is needed."""
        if not self.threshold or self.population is None:
            return None
        return read_geography(self.population, self.columns, self.inhabitants)

    def read_harmonised(self) -> Mapping[str, Mapping[str, str]]:
        """Return the new code of each old one by column."""
        if self.harmonised is None:
            return {}
        if not isinstance(self.harmonised, str):
            found: dict[str, Mapping[str, str]] = dict(self.harmonised)
        else:
            table = read_texts(self.harmonised)
            if not {"column", "code", "harmonised"} <= set(table.column_names):
                raise InputError(
                    "geography_threshold: the file of harmonised codes needs the columns column, code and harmonised."
                )
            rows = table.select(["column", "code", "harmonised"]).to_pylist()
            found = {}
            for row in rows:
                found.setdefault(row["column"], {})[row["code"]] = row["harmonised"]  # type: ignore[index]
        strangers = [c for c in found if c not in self.columns]
        if strangers:
            raise InputError(
                f"geography_threshold: harmonised names column {strangers[0]!r}, which is not among columns."
            )
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if self.threshold is None:
            ctx.note(geography="all removed", columns=list(self.columns))
            return data.drop([*self.columns, *self.remove])
        left = data.drop(self.remove)
        cells = counts(left.frame, self.columns, data.weight).collect("pyarrow").to_native()
        units = self.harmonise(cells)
        geography = self.geography_of_file() or estimated(self.columns, units, cells)
        labels, told = geography.labels(self.threshold, self.residual)
        if self.threshold:
            strangers = {cut(u) for u in units} - geography.inhabited()
            if strangers:
                raise InputError(
                    "geography_threshold: the data have units that the population file lacks, or says that nobody lives in. "
                    "Add them, or harmonise their codes with harmonised=. "
                    + reveal("units", sorted(strangers))
                )
        ctx.note(
            at_least=self.threshold,
            units=told,
            inhabitants="estimated from the data" if self.estimate else "of the file",
        )
        result = replace_tuples(left, self.columns, cells, [released(u, labels) for u in units])
        return drop_stale_descriptions(result, self.columns)

    def harmonise(self, cells: pa.Table) -> list[tuple[str | None, ...]]:
        """Return the codes of each combination that the data hold, in the codes of the file."""
        mapped = self.read_harmonised()
        texts = []
        for column in self.columns:
            new = mapped.get(column, {})
            values = pc.cast(cells.column(column), pa.string()).to_pylist()
            texts.append([new.get(v, v) if v is not None else None for v in values])
        return list(zip(*texts, strict=True))

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        if self.threshold is None:
            yield Claim("absent-columns", {}, "geography", (*self.columns, *self.remove))
            return
        if self.remove:
            yield Claim("absent-columns", {}, "finer geography", self.remove)
        if not self.threshold:
            return
        cells = counts(data.frame, self.columns, data.weight).collect("pyarrow").to_native()
        geography = self.geography_of_file() or estimated(
            self.columns, self.harmonise(cells), cells
        )
        yield Claim(
            "geography-threshold",
            {
                "at_least": self.threshold,
                "units": [[*codes, n] for codes, n in sorted(geography.inhabitants.items())],
            },
            "geographic units",
            self.columns,
            (
                "Other releases do not show other units of the same places.",
                "Inhabitants are those of the file."
                if not self.estimate
                else "Inhabitants are estimated from the data.",
            ),
            withheld=("units",),
        )


def cut(unit: tuple[str | None, ...]) -> Codes:
    """Return the codes of a unit up to the first that is missing."""
    return tuple(itertools.takewhile(lambda code: code is not None, unit))  # type: ignore[arg-type]


def estimated(
    columns: Sequence[str], units: Sequence[tuple[str | None, ...]], cells: pa.Table
) -> Geography:
    """Return units with the inhabitants that the data themselves give; records without a code are not counted."""
    weighted = W in cells.column_names
    n = cells.column(W if weighted else N).to_pylist()
    found: dict[Codes, float] = {}
    for unit, people in zip(units, n, strict=True):
        if None not in unit:
            codes: Codes = unit  # type: ignore[assignment]
            found[codes] = found.get(codes, 0.0) + (people or 0.0)
    # Rounded down: a unit must reach the threshold, not nearly so.
    return Geography(tuple(columns), {u: int(p) for u, p in found.items()})


def released(unit: tuple[str | None, ...], labels: Mapping[Codes, Codes]) -> tuple[str | None, ...]:
    """Return what a unit is called in the release; nothing is said below a code that is missing."""
    known = cut(unit)
    found = labels.get(known, known)
    return (*found, *[None] * (len(unit) - len(found)))


def replace_tuples(
    data: Microdata,
    columns: Sequence[str],
    cells: pa.Table,
    new: Sequence[tuple[str | None, ...]],
) -> Microdata:
    """Return the data with combinations of values replaced together; a missing value is a value here.

    Joins do not match nulls, so they are compared as text with a mark beside it.
    """
    texts, marks, fresh = (
        [f"__{what}{i}__" for i in range(len(columns))] for what in ("text", "null", "new")
    )
    table = {}
    for i, column in enumerate(columns):
        values = pc.cast(cells.column(column), pa.string())
        table[texts[i]] = pc.fill_null(values, "")
        table[marks[i]] = pc.is_null(values)
        table[fresh[i]] = pa.array([unit[i] for unit in new], pa.string())
    listed = data.engine.from_arrow(pa.table(table))
    frame = data.frame.with_columns(
        *[nw.col(c).cast(nw.String).fill_null("").alias(t) for c, t in zip(columns, texts, strict=True)],
        *[nw.col(c).is_null().alias(m) for c, m in zip(columns, marks, strict=True)],
    )  # fmt: skip
    joined = frame.join(listed, on=[*texts, *marks], how="left")
    order = [*data.columns, ROW]
    replaced = joined.with_columns(
        *[nw.col(f).alias(c) for f, c in zip(fresh, columns, strict=True)]
    )
    return data.with_frame(replaced.select(*order)).materialise()


# -- units and their inhabitants -------------------------------------------------------------------


def protect_residual(inhabitants: Ints, at_least: int) -> tuple[Flags, Flags]:
    """Return which units of one parent are shown, and which large ones are hidden to protect the rest.

    Units below the threshold are pooled into one residual. While the residual has inhabitants and fewer than the
    threshold, the smallest shown unit joins it: otherwise parent minus shown units would tell a small unit.
    """
    large = inhabitants >= at_least
    order = np.lexsort((np.arange(len(inhabitants)), inhabitants))
    passed = np.cumsum(inhabitants[order])
    small = int(np.count_nonzero(~large))
    hidden = small
    rest = int(passed[small - 1]) if small else 0
    if 0 < rest < at_least:
        hidden = min(int(np.searchsorted(passed, at_least)) + 1, len(order))
    shown = np.ones(len(inhabitants), dtype=bool)
    shown[order[:hidden]] = False
    return shown, large & ~shown


@dataclass(frozen=True)
class Geography:
    """Inhabitants of geographic units by the codes of the finest ones, in columns coarse to fine."""

    columns: tuple[str, ...]
    inhabitants: Mapping[Codes, int]

    def labels(self, at_least: int, residual: str) -> tuple[dict[Codes, Codes], dict[str, int]]:
        """Return what each unit, coarse and fine, is called in the release, and what became of the units.

        A unit below a hidden one is hidden with it. The residual of a parent is called after it.
        """
        found: dict[Codes, Codes] = {(): ()}
        hidden: dict[Codes, str] = {}
        told = {"shown": 0, "hidden": 0, "hidden to protect others": 0}
        whole = sum(self.inhabitants.values())
        for depth in range(1, len(self.columns) + 1):
            for parent, children in self.children(depth).items():
                codes = sorted(children)
                counts = np.array([children[c] for c in codes], dtype=np.int64)
                if parent in hidden or (not parent and whole < at_least):
                    # Where nothing in the country is large enough, its name alone is no secret.
                    shown = merged = np.zeros(len(codes), dtype=bool)
                else:
                    shown, merged = protect_residual(counts, at_least)
                rest = hidden.get(parent, "_".join([*parent[-1:], residual]))
                for code, seen in zip(codes, shown, strict=True):
                    unit = (*parent, code)
                    if not seen:
                        hidden[unit] = rest
                    found[unit] = (*found[parent], code if seen else rest)
                told["shown"] += int(shown.sum())
                told["hidden"] += int((~shown).sum())
                told["hidden to protect others"] += int(merged.sum())
                if at_least and rest in codes:
                    raise InputError(
                        f"geography_threshold: column {self.columns[depth - 1]!r} has a code that is also what the "
                        "residual would be called. Choose another word with residual=."
                    )
        return found, told

    def children(self, depth: int) -> dict[Codes, dict[str, int]]:
        """Return the inhabitants of the units of a level, by parent."""
        found: dict[Codes, dict[str, int]] = {}
        for codes, n in self.inhabitants.items():
            below = found.setdefault(codes[: depth - 1], {})
            below[codes[depth - 1]] = below.get(codes[depth - 1], 0) + n
        return found

    def inhabited(self) -> set[Codes]:
        """Return the codes of the units of all levels in which somebody lives, the whole country among them."""
        people = [codes for codes, n in self.inhabitants.items() if n]
        return {(), *(codes[:i] for codes in people for i in range(1, len(codes) + 1))}


# -- reading -------------------------------------------------------------------------------------------


def read_geography(
    source: str | Mapping[str, Sequence[Any]], columns: Sequence[str], count: str
) -> Geography:
    """Return the units of a file, or of a mapping from column to values: the latest year where there are several."""
    table = read_texts(source) if isinstance(source, str) else as_texts(source)
    missing = [c for c in (*columns, count) if c not in table.column_names]
    if missing:
        raise InputError(
            f"the population file has no column {missing[0]!r}; it needs {', '.join(map(repr, columns))} and {count!r}."
        )
    if "year" in table.column_names and "year" not in columns:
        years = whole_numbers(table.column("year"), "year")
        table = table.filter(pa.array(years == years.max(initial=0)))
    n = whole_numbers(table.column(count), count)
    codes = [table.column(c).to_pylist() for c in columns]
    if any(code is None for column in codes for code in column):
        raise InputError("the population file has units without a code. Give each one.")
    units = list(zip(*codes, strict=True)) if len(table) else []
    if len(set(units)) < len(units):
        raise InputError(
            "the population file names a unit more than once; give each finest unit one row."
        )
    if not units:
        raise InputError("the population file has no units.")
    return Geography(tuple(columns), dict(zip(units, n.tolist(), strict=True)))


def read_texts(path: str) -> pa.Table:
    """Return a CSV or Parquet file with every column as text, so that codes keep their zeros."""
    file = Path(path)
    if not file.is_file():
        raise UnreadableFile(f"the population file {file.name!r} does not exist.")
    try:
        if file.suffix.lower() == ".parquet":
            return as_texts(pq.read_table(file))
        with file.open(encoding="utf-8-sig") as text:
            header = text.readline().strip()
        separator = max(",;\t", key=header.count)
        names = [n.strip('"') for n in header.split(separator)]
        return pa_csv.read_csv(
            file,
            read_options=pa_csv.ReadOptions(column_names=names, skip_rows=1),
            parse_options=pa_csv.ParseOptions(delimiter=separator),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError, OSError):
        raise UnreadableFile(
            f"the population file {file.name!r} cannot be read as CSV (UTF-8, one row per unit) or Parquet."
        ) from None


def as_texts(source: Any) -> pa.Table:
    """Return a table or a mapping with every column as text."""
    try:
        table = source if isinstance(source, pa.Table) else pa.table(dict(source))
        return pa.table({n: pc.cast(table.column(n), pa.string()) for n in table.column_names})
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, ValueError):
        raise InputError(
            "population must be a file, or columns of equal length: one for each geographic column, and one of counts."
        ) from None


def whole_numbers(column: pa.ChunkedArray, name: str) -> Ints:
    """Return texts as whole numbers that are not negative."""
    try:
        found = pc.cast(column, pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        found = np.array([-1.0])
    if column.null_count or found.dtype != np.int64 or bool((found < 0).any()):
        raise InputError(
            f"column {name!r} of the population file must hold whole numbers from 0 in every row."
        )
    return np.asarray(found, dtype=np.int64)
