"""Microdata as tables: one group-by on the engine, one layout for several data sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.data.microdata import Microdata
from tacit.engine.codes import Cells
from tacit.errors import ColumnNotFound, InputError
from tacit.tables.compare.axis import MISSING, Axis, Ints, observed
from tacit.tables.compare.crosstab import Crosstab, Floats, as_cells

#: Largest table that is laid out in memory.
MOST_CELLS = 200_000_000


def cross_classify(
    data: Sequence[Microdata],
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    *,
    value: str | None = None,
) -> list[Crosstab]:
    """Return one table for each of several data sets, all with the same rows and columns.

    Rows are the combinations that occur in any of the data, columns all combinations of the categories
    that occur in any. Each data set is reduced to cells by one group-by on its engine.
    """
    row_names, column_names = list(rows or ()), list(columns or ())
    if not row_names and not column_names:
        raise InputError(
            "a table of microdata needs rows= and columns=, the variables that span it"
        )
    names = [*row_names, *column_names]
    if len(set(names)) < len(names):
        raise InputError("a variable stands both in the rows and in the columns of the table")
    found = [d.cells(checked(d, names, value), weight=value) for d in data]
    categories = {name: common_categories(found, name) for name in names}
    codes = [recoded(cells, categories) for cells in found]
    joined = [np.concatenate([c[name] for c in codes]) for name in row_names]
    every = joined or [np.zeros(sum(len(c.n) for c in found), dtype=np.int64)]
    row_axis, row_of = observed(row_names, every, [categories[n] for n in row_names])
    column_axis = Axis.product({n: categories[n] for n in column_names} or {"all": ("all",)})
    shape = (len(row_axis), len(column_axis))
    if not math.prod(shape):
        raise InputError("the data have no records to tabulate")
    if math.prod(shape) > MOST_CELLS:
        raise InputError(
            "the table would have more cells than can be laid out; use fewer variables, or generalise them"
        )
    ends = np.cumsum([0, *(len(c.n) for c in found)])
    tables = []
    for k, cells in enumerate(found):
        column_of = np.zeros(len(cells.n), dtype=np.int64)
        for name in column_names:
            column_of = column_of * len(categories[name]) + codes[k][name]
        ids = row_of[ends[k] : ends[k + 1]] * shape[1] + column_of
        counts: Floats = np.bincount(ids, cells.n, minlength=math.prod(shape)).astype(np.float64)
        counts = counts.reshape(shape)
        if cells.weight is None:
            tables.append(Crosstab(counts, row_axis, column_axis))
            continue
        sums = np.bincount(ids, np.nan_to_num(cells.weight), minlength=math.prod(shape))
        values, _ = as_cells(sums.reshape(shape), "cells")
        tables.append(
            Crosstab(values, row_axis, column_axis, contributors=counts, kind="magnitude")
        )
    return tables


def checked(data: Microdata, names: list[str], value: str | None) -> list[str]:
    """Return the names, all of which the data have; what is summed must be numbers."""
    missing = [n for n in [*names, *([value] if value else [])] if n not in data.columns]
    if missing:
        raise ColumnNotFound(missing, list(data.columns), "the data")
    if value is not None and not data.frame.collect_schema()[value].is_numeric():
        raise InputError(f"column {value!r} is not numeric, so it cannot be summed in the cells")
    return names


def common_categories(found: Sequence[Cells], name: str) -> tuple[str, ...]:
    """Return the categories of a variable: those of the first data in order, then what others add."""
    seen: dict[str, None] = {}
    for cells in found:
        seen.update(dict.fromkeys(present(cells, name)))
    return tuple(seen)


def present(cells: Cells, name: str) -> tuple[str, ...]:
    """Return the categories that occur in one data set, null last."""
    coded = cells.keys[name]
    labels = texts(coded.values.to_pylist())
    return labels if bool(np.any(coded.codes == coded.null)) else labels[:-1]


def recoded(cells: Cells, categories: Mapping[str, tuple[str, ...]]) -> dict[str, Ints]:
    """Return the codes of each variable in the common categories."""
    result = {}
    for name, known in categories.items():
        place = {label: i for i, label in enumerate(known)}
        coded = cells.keys[name]
        labels = texts(coded.values.to_pylist())
        result[name] = np.array([place.get(x, -1) for x in labels], dtype=np.int64)[coded.codes]
    return result


def texts(values: Sequence[Any]) -> tuple[str, ...]:
    """Return values as labels, and one more for null."""
    return (*(str(v) for v in values), MISSING)
