"""Values within classes: the reduced table behind measures of attribute disclosure.

The engine counts once, by keys and sensitive value; what is left has one row per class and value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.codes import Coded, agreeing_cells, cells, combine_codes
from tacit.errors import InputError
from tacit.stats.class_models import sum_by

Missing = Literal["category", "ignore"]
MissingValues = Annotated[
    Missing,
    Field(
        description="a missing sensitive value counts as a value of its own, or its record is left out"
    ),
]


@dataclass(frozen=True)
class ClassValues:
    """How often each value of a column occurs in each class."""

    #: The key values of each class, one column per key.
    keys: Mapping[str, pa.Array]
    #: The class of each row, 0, 1, ...; rows are sorted by class, then by value.
    of_class: Ints
    #: The code of each row's value, in ascending order; null is coded ``len(values)``.
    value: Ints
    #: Records of each row; not whole where records that lack a key count in part.
    n: Any
    #: The distinct values of the column that are not null, ascending.
    values: pa.Array
    #: Records of each class, where the rows count more than these.
    records: Ints | None = None
    #: For each level of the column's hierarchy the label of each value, where values are compared by it.
    levels: Sequence[Ints] = ()

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return int(self.of_class[-1]) + 1 if len(self.of_class) else 0

    @property
    def sizes(self) -> Ints:
        """Return the records of each class."""
        if self.records is not None:
            return self.records
        return sum_by(self.of_class, self.n, self.n_classes).astype(np.int64)


def values_in_classes(
    data: Microdata,
    keys: Sequence[str],
    column: str | Sequence[str],
    missing: Missing = "category",
) -> ClassValues:
    """Count a column's values, or the joint values of several, in each class: one group-by on the engine.

    With ``missing="ignore"`` the records that lack a value are left out. Joint values are numbered in their
    order.
    """
    columns = (column,) if isinstance(column, str) else tuple(column)
    frame = data.frame.drop_nulls(list(columns)) if missing == "ignore" else data.frame
    # Cells come in the order of their codes, so that every engine gives the same classes.
    found = cells(frame, list(dict.fromkeys([*keys, *columns])))
    starts = class_starts([found.keys[k].codes for k in keys], len(found))
    first = np.flatnonzero(starts)
    value, values = joint_values([found.keys[c] for c in columns])
    return ClassValues(
        keys={k: found.keys[k].decode(found.keys[k].codes[first]) for k in keys},
        of_class=np.cumsum(starts, dtype=np.int64) - 1,
        value=value,
        n=found.n,
        values=values,
    )


def joint_values(columns: Sequence[Coded]) -> tuple[Ints, pa.Array]:
    """Return one code a row for several columns, and the values that codes stand for: numbers, if several."""
    if len(columns) == 1:
        return columns[0].codes.astype(np.int64), columns[0].values
    ids, _ = combine_codes([c.codes for c in columns], [c.size for c in columns])
    known, codes = np.unique(ids, return_inverse=True)
    return codes.ravel().astype(np.int64), pa.array(np.arange(len(known)))


def values_that_agree(
    data: Microdata, keys: Sequence[str], columns: Sequence[str], missing: Missing, alpha: float
) -> ClassValues:
    """Count the (joint) values of columns among the records that agree with each class, a missing key agreeing with all.

    Records of other classes that lack a key count ``alpha``, so that amounts need not be whole.
    """
    own = values_in_classes(data, keys, columns, missing)
    size = len(own.values) + 1
    frame = data.frame.drop_nulls(list(columns)) if missing == "ignore" else data.frame
    found = cells(frame, keys)
    starts = np.searchsorted(own.of_class, np.arange(own.n_classes + 1))
    pairs: list[Ints] = []
    amounts: list[Floats] = []
    for match in agreeing_cells(found, alpha) if len(found) else ():
        if match.share:
            rows, others = pair_up(match.ids, match.other_ids)
            rows, others = match.rows[rows], match.others[others]
            lengths = starts[others + 1] - starts[others]
            at = np.repeat(starts[others] - np.cumsum(lengths) + lengths, lengths)
            at += np.arange(len(at))
            pairs.append(np.repeat(rows, lengths) * size + own.value[at])
            amounts.append(match.share * own.n[at])
    ids = np.concatenate(pairs) if pairs else np.zeros(0, dtype=np.int64)
    amount = np.concatenate(amounts) if amounts else np.zeros(0)
    distinct, of = np.unique(ids, return_inverse=True)
    total = np.bincount(of.ravel(), weights=amount, minlength=len(distinct))
    if alpha in (0, 1):
        total = np.rint(total).astype(np.int64)
    return ClassValues(own.keys, distinct // size, distinct % size, total, own.values, own.sizes)


def pair_up(ids: Ints, other_ids: Ints) -> tuple[Ints, Ints]:
    """Return the places of all pairs with equal ids."""
    order = np.argsort(other_ids, kind="stable")
    ordered = other_ids[order]
    low, high = np.searchsorted(ordered, ids), np.searchsorted(ordered, ids, side="right")
    count = high - low
    rows = np.repeat(np.arange(len(ids)), count)
    at = np.repeat(low - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
    return rows, order[at]


def class_starts(columns: Sequence[npt.NDArray[Any]], n_rows: int) -> Flags:
    """Return True where a sorted row differs from the one before."""
    starts = np.zeros(n_rows, dtype=bool)
    starts[:1] = True
    for column in columns:
        starts[1:] |= column[1:] != column[:-1]
    return starts


def columns_of_interest(data: Microdata, asked: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns asked for, or every sensitive column."""
    if asked is None:
        return data.sensitive
    return (asked,) if isinstance(asked, str) else tuple(asked)


def rank_texts(texts: Sequence[str], order: Sequence[str], who: str, of: str = "") -> Ints:
    """Return the rank of each text by its place in an order; only texts that occur have one."""
    place = {label: i for i, label in enumerate(order)}
    missing = sum(text not in place for text in texts)
    if missing:
        raise InputError(
            f"{who}: order= lacks {missing} of the {len(texts)} different values{of}. "
            "List every value, from low to high."
        )
    places = [place[text] for text in texts]
    return np.argsort(np.argsort(places, kind="stable"), kind="stable").astype(np.int64)


def class_table(found: ClassValues, extra: Mapping[str, Any]) -> nw.DataFrame[Any]:
    """Return one row per class: its keys, its records and more columns."""
    columns: dict[str, Any] = dict(found.keys)
    for name, values in {"records": found.sizes, **extra}.items():
        columns[free_name(name, columns)] = values
    return as_frame(columns)


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with underscores added while a key column bears it."""
    while name in taken:
        name += "_"
    return name


def shortfall(title: str, violations: int, records: int, asked: float) -> str:
    """Return how many records fall short of what was asked for, in a sentence; empty when none does."""
    if not violations:
        return ""
    return f"{title}: {violations:,} of {records:,} records fall short of what was asked for ({asked:g})"
