"""What the checks on records share: sizes of classes, register members and values by class, by one group-by each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.claims.claim import Claim
from tacit.engine.exact_sums import sum_columns
from tacit.engine.names import aggregate

Frame = nw.LazyFrame[Any]
SIZE = "__size__"


def class_sizes(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return the classes of equal records, with the number of records in each; null equals null."""
    return aggregate(frame, columns, nw.len().alias(SIZE))


def has_rows(frame: Frame) -> bool:
    """Return True when a frame has rows."""
    return int(frame.select(nw.len().alias(SIZE)).collect("pyarrow").item(0, SIZE)) > 0


def released_values(frame: Frame, columns: Sequence[str]) -> Iterator[Any]:
    """Yield the different values of each column, missing ones left out."""
    for column in columns:
        found = class_sizes(frame, [column]).collect("pyarrow").get_column(column).to_list()
        yield from (value for value in found if value is not None)


def smallest_class(frame: Frame, columns: Sequence[str]) -> int | None:
    """Return the size of the smallest class, or None when there are no rows."""
    sizes = class_sizes(frame, columns)
    found = sizes.select(nw.col(SIZE).min()).collect("pyarrow").item(0, SIZE)
    return None if found is None else int(found)


def label_text(value: Any) -> str | None:
    """Return a value as it is compared: 7, 7.0 and "7" are the same, dates in ISO form."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).removesuffix("T00:00:00")
    return str(value)


def number_values(values: list[object]) -> Ints:
    """Return a number for each value, -1 for a missing one."""
    number: dict[object, int] = {None: -1}
    return np.array([number.setdefault(v, len(number)) for v in values], dtype=np.int64)


def sum_agreeing(codes: Ints, amounts: Floats, asked: Flags) -> Floats:
    """Return for each class that is asked about the amounts of all classes that agree with it.

    A missing value (-1) agrees with all. Two classes agree when they are equal wherever both are known, so classes
    are compared by which columns they know.
    """
    known, of = np.unique(codes >= 0, axis=0, return_inverse=True)
    groups = [np.flatnonzero(of.ravel() == g) for g in range(len(known))]
    total = np.zeros(len(codes))
    for mine, rows in zip(known, groups, strict=True):
        own = rows[asked[rows]]
        if not len(own):
            continue
        for theirs, others in zip(known, groups, strict=True):
            total[own] += sum_equal(codes[own], codes[others], amounts[others], mine & theirs)
    return total[asked]


def sum_equal(rows: Ints, others: Ints, amounts: Floats, columns: Flags) -> Floats:
    """Return for each row the total amount of the others that equal it on some columns."""
    both = np.concatenate([rows, others])[:, columns]
    label = np.zeros(len(both), dtype=np.int64)
    if both.shape[1]:
        label = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    sums = np.bincount(label[len(rows) :], weights=amounts, minlength=int(label.max()) + 1)
    return np.asarray(sums[label[: len(rows)]], dtype=np.float64)


# -- members of a register -------------------------------------------------------------------------------

Label = tuple[str | None, ...]


def match_people(frame: Frame, claim: Claim) -> tuple[list[tuple[int, int]], int]:
    """Return records and register members of every class, released or in the register, and the members elsewhere."""
    table = class_sizes(frame, claim.columns).collect("pyarrow").to_native()
    texts = [[label_text(v) for v in table.column(c).to_pylist()] for c in claim.columns]
    released: dict[Label, int] = {}
    for label, n in zip(zip(*texts, strict=True), table.column(SIZE).to_pylist(), strict=True):
        released[label] = released.get(label, 0) + n
    counted = claim.parameters["people"]
    members = {tuple(row[:-1]): int(row[-1]) for row in counted["classes"]}
    pairs = [(released.get(c, 0), members.get(c, 0)) for c in released.keys() | members.keys()]
    return pairs, int(counted["elsewhere"])


# -- values of a sensitive column ------------------------------------------------------------------------

AMOUNT = "__amount__"


@dataclass(frozen=True)
class Rows:
    """One row per class and value: its class and value as numbers, and its records (or their weight)."""

    of_class: Ints
    value: Ints
    amount: Floats
    values: list[Any]

    @classmethod
    def of(cls, frame: Frame, claim: Claim, missing: str | None = None) -> Rows:
        """Return the rows of the sensitive column that a claim names, by its columns and with its weight."""
        p = claim.parameters
        told = p.get("missing", "category") if missing is None else missing
        return count_values(frame, claim.columns, p["sensitive"], p.get("weight"), told)

    @property
    def whole(self) -> Floats:
        """Return the amount of each value in all classes together."""
        return self.part(np.arange(len(self.value)))

    def part(self, members: Ints) -> Floats:
        """Return the amount of each value in one class."""
        amount, n = self.amount[members], len(self.values)
        return np.bincount(self.value[members], weights=amount, minlength=n).astype(np.float64)

    def classes(self) -> list[Ints]:
        """Return the positions of the rows of each class."""
        order = np.argsort(self.of_class, kind="stable")
        cuts = np.flatnonzero(np.diff(self.of_class[order])) + 1
        return np.split(order, cuts) if len(order) else []


def exceeds_share(rows: Rows, largest: float, counts: Callable[[Any], bool]) -> bool:
    """Return True when a value that counts has more than the largest share of some class."""
    for members in rows.classes():
        total = float(rows.amount[members].sum())
        for value, amount in zip(rows.value[members], rows.amount[members], strict=True):
            if counts(rows.values[value]) and float(amount) > (largest + 1e-8) * total:
                return True
    return False


def count_values(
    frame: Frame, columns: Sequence[str], sensitive: str, weight: str | None, missing: str
) -> Rows:
    """Count the values of a column within the classes of others; null equals null."""
    if missing == "ignore":
        frame = frame.filter(~nw.col(sensitive).is_null())
    keys = list(dict.fromkeys([*columns, sensitive]))
    if weight is None:
        counted = aggregate(frame, keys, nw.len().alias(AMOUNT))
    else:
        counted = sum_columns(frame, keys, {AMOUNT: weight})
    table = counted.collect("pyarrow").to_native()
    classes: dict[tuple[Any, ...], int] = {}
    values: dict[Any, int] = {}
    told = zip(*(table.column(c).to_pylist() for c in columns), strict=True)
    of_class = [classes.setdefault(row, len(classes)) for row in told]
    value = [values.setdefault(v, len(values)) for v in table.column(sensitive).to_pylist()]
    return Rows(
        np.array(of_class, dtype=np.int64),
        np.array(value, dtype=np.int64),
        table.column(AMOUNT).to_numpy().astype(np.float64),
        list(values),
    )
