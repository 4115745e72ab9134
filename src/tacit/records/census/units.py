"""Geographic units and their inhabitants: which may be shown so that no small one can be told, and what the rest is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from tacit.arrays import Flags, Ints
from tacit.errors import InputError, UnreadableFile
from tacit.reveal import reveal

#: The codes of a unit, coarse to fine.
Codes = tuple[str, ...]


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
    """Units with their inhabitants, coarse to fine.

    Attributes
    ----------
    columns
        The geographic columns.
    inhabitants
        Inhabitants by the codes of the finest units.
    """

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
                if parent in hidden:
                    shown = merged = np.zeros(len(codes), dtype=bool)
                elif not parent and whole < at_least:
                    # Nothing in the country is large enough; its name alone is no secret.
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

    def known(self) -> set[Codes]:
        """Return the codes of all units of all levels."""
        return {codes[:i] for codes in self.inhabitants for i in range(len(self.columns) + 1)}


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


def refuse_strangers(strangers: Iterable[Codes]) -> None:
    """Say that the data have units which the population file lacks, and list them to who asks."""
    listed = sorted(set(strangers))
    if listed:
        raise InputError(
            "geography_threshold: the data have units that the population file lacks, or says that nobody lives in. "
            "Add them, or harmonise their codes with harmonised=. " + reveal("units", listed)
        )
