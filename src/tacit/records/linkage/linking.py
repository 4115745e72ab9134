"""What the linkage measures share: two files side by side, what is left out, what links disclose, frames of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Flags, Floats, Ints
from tacit.data.block import format_columns, shared_maskable
from tacit.data.microdata import Microdata
from tacit.data.paired import Pairs, pairs, shared_numeric
from tacit.data.values import as_frame
from tacit.engine.codes import encode
from tacit.errors import ColumnNotFound, InputError
from tacit.records.linkage.attack import Files
from tacit.records.linkage.fellegi_sunter import Model, Patterns, Zones
from tacit.records.linkage.nearest import Links
from tacit.records.linkage.rows import distinct_rows
from tacit.records.linkage.series_attack import SeriesLinks

#: Points of a curve.
POINTS = 500


class NothingToCompare(InputError):
    """The columns hold nothing by which an attacker could tell records apart."""


@dataclass(frozen=True)
class Fields:
    """Columns of both files as numbers: numeric ones as they are, others as codes of equal values."""

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    files: Files


def changed_columns(columns: Sequence[str], both: Pairs) -> list[str]:
    """Return the columns in which some shared record has another value, or none any more."""
    before, after = both.before[both.old], both.after[both.new]
    differs = (before != after) & ~(np.isnan(before) & np.isnan(after))
    return [c for c, flag in zip(columns, differs.any(axis=0), strict=True) if flag]


def check_shared(columns: Sequence[str], original: Microdata, released: Microdata) -> None:
    """Refuse columns that are not in both files."""
    absent = [c for c in columns if c not in original.columns or c not in released.columns]
    if absent:
        shared = [c for c in original.columns if c in released.columns]
        raise ColumnNotFound(absent, shared, "the columns of original and release")


def check_values(files: Files, columns: Sequence[str], kind: str, *, missing: bool) -> None:
    """Refuse infinite numbers, and missing ones unless they are allowed."""
    both = np.concatenate([files.original, files.released])
    endless = [c for c, v in zip(columns, both.T, strict=True) if np.isinf(v).any()]
    if endless:
        raise InputError(
            f"{kind}: {format_columns(endless)} holds infinite numbers. Clean or leave out such columns."
        )
    holed = [c for c, v in zip(columns, both.T, strict=True) if np.isnan(v).any()]
    if holed and not missing:
        raise InputError(
            f"{kind}: {format_columns(holed)} has missing values. Give missing='drop_pair_attribute' to compare "
            "pairs on the columns known in both, or leave such columns out."
        )


# -- fields of any kind ------------------------------------------------------------------------------


def known_fields(
    original: Microdata, released: Microdata, columns: Sequence[str], kind: str
) -> Fields:
    """Return columns of any kind in both files; a missing value is NaN."""
    check_shared(columns, original, released)
    old, new = original.to_arrow(columns), released.to_arrow(columns)
    shared = shared_numeric(original, released)
    numeric = [c for c in columns if c in shared]
    linked = pairs(original, released, numeric, kind)
    both = dict(zip(numeric, zip(linked.before.T, linked.after.T, strict=True), strict=True))
    found = [both.get(c) or code_both_files(old, new, c) for c in columns]
    before, after = (np.column_stack(side) for side in zip(*found, strict=True))
    files = Files(before, after, linked.old, linked.new)
    if min(len(files.original), len(files.released), len(files.old)) < 2:
        raise InputError(f"{kind} needs at least two records that are in original and release")
    check_values(files, columns, kind, missing=True)
    return Fields(tuple(columns), tuple(c in numeric for c in columns), files)


def code_both_files(old: pa.Table, new: pa.Table, column: str) -> tuple[Floats, Floats]:
    """Return a column of both files as codes, equal where the values are, NaN where missing."""
    one, two = old.column(column), new.column(column)
    if one.type != two.type:
        one, two = one.cast(pa.string()), two.cast(pa.string())
    both = encode(pa.chunked_array([*one.chunks, *two.chunks], type=one.type))
    codes = np.where(both.codes == both.null, np.nan, both.codes.astype(np.float64))
    return codes[: len(one)], codes[len(one) :]


def block_numbers(
    original: Microdata, released: Microdata, columns: Sequence[str], kind: str
) -> tuple[Ints, Ints]:
    """Return the number of each record's block; a missing value never equals another."""
    files = known_fields(original, released, columns, kind).files
    return number_blocks(files.original, files.released)


def number_blocks(original: Floats, released: Floats) -> tuple[Ints, Ints]:
    """Return the number of each record's block; a missing value never equals another."""
    both = np.concatenate([original, released])
    holed = np.isnan(both).any(axis=1)
    number = distinct_rows(np.where(np.isnan(both), -1.0, both)).of
    number = np.where(holed, number.max(initial=0) + 1 + np.arange(len(number)), number)
    return number[: len(original)], number[len(original) :]


def list_known_columns(original: Microdata, released: Microdata, kind: str) -> list[str]:
    """Return what an intruder may know by default: keys, and numeric columns that were changed.

    Without either, all numeric columns.
    """
    shared = shared_maskable(original, released)
    changed = changed_columns(shared, pairs(original, released, shared, kind)) if shared else []
    keys = [c for c in original.keys if c in released.columns]
    return list(dict.fromkeys([*keys, *changed])) or shared


# -- what links disclose -----------------------------------------------------------------------------


def count_disclosed_values(
    original: Microdata, released: Microdata, files: Files, correct: Floats
) -> dict[str, float]:
    """Return, by sensitive column, how many correct links lead to the true value."""
    columns = [c for c in original.sensitive if c in released.columns]
    if not columns:
        return {}
    position = files.old if files.sides[0] == "original" else files.new
    weight = correct[position]
    old, new = original.to_arrow(columns), released.to_arrow(columns)
    return {c: float(weight @ same_values(old.column(c), new.column(c), files)) for c in columns}


def same_values(one: pa.ChunkedArray, two: pa.ChunkedArray, files: Files) -> Flags:
    """Return where the shared records have the same known value in both files."""
    one, two = one.take(pa.array(files.old)), two.take(pa.array(files.new))
    if one.type != two.type:
        one, two = one.cast(pa.string()), two.cast(pa.string())
    equal = pc.fill_null(pc.equal(one, two), False)
    return np.asarray(equal.to_numpy(), dtype=bool)


# -- frames of a result --------------------------------------------------------------------------------


def link_curve(links: Links, correct: Floats, n: int) -> nw.DataFrame[Any]:
    """Return precision and recall of the links by their weight, ties in weight taken together."""
    linked = np.flatnonzero(links.nearest >= 0)
    order = linked[np.argsort(links.distance[linked], kind="stable")]
    weight, right = -links.distance[order], np.cumsum(correct[order])
    last = np.flatnonzero(np.append(np.diff(weight) != 0, True)) if len(order) else order
    if len(last) > POINTS:
        last = last[np.unique(np.linspace(0, len(last) - 1, POINTS).astype(np.int64))]
    count = last + 1
    table = {
        "weight": weight[last],
        "links": count,
        "correct": right[last],
        "precision": right[last] / count,
        "recall": right[last] / n,
    }
    return as_frame(table)


def link_frame(
    links: Links | SeriesLinks, measured: Mapping[str, Floats], correct: Floats, **more: Any
) -> nw.DataFrame[Any]:
    """Return the links, one row per record: positions in the two files count from 0."""
    columns = {"record": np.arange(len(links)), "link": links.nearest, **measured}
    columns |= {"ties": links.ties, "correct": correct, **more}
    return as_frame(columns)


def name_zones(weight: Floats, bounds: Zones) -> Any:
    """Return what pairs of some weights are by the decision rule."""
    rest = np.where(weight <= bounds.lower, "no link", "possible")
    return pa.array(np.where(weight >= bounds.upper, "link", rest))


def pattern_frame(
    columns: tuple[str, ...], patterns: Patterns, model: Model, bounds: Zones
) -> nw.DataFrame[Any]:
    """Return the patterns by decreasing weight."""
    order = bounds.order
    weight = model.pattern_weights(patterns.levels)[order]
    levels = patterns.levels[order]
    table = {c: pa.array(levels[:, f], mask=levels[:, f] < 0) for f, c in enumerate(columns)}
    table |= {
        "pairs": pa.array(patterns.counts[order]),
        "weight": pa.array(weight),
        "probability": pa.array(model.posterior(levels)),
        "false_match": pa.array(bounds.false_match),
        "false_nonmatch": pa.array(bounds.false_nonmatch),
        "zone": name_zones(weight, bounds),
    }
    return as_frame(table)
