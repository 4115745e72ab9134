"""Original and masked numbers of the same records, for the measures that compare them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.data.block import format_columns, shared_maskable
from tacit.data.hierarchy import ground_labels
from tacit.data.microdata import Microdata
from tacit.data.paired import matrix, pairs, shared_numeric, weights_of
from tacit.data.values import not_numeric
from tacit.errors import ColumnNotFound, InputError, require_columns
from tacit.spec import Measure

Missing = Literal["skip", "refuse"]
#: Name of the group of everybody.
ALL = "all"


class LossMeasure(Measure):
    """A measure of what the release has lost of the original: the lower the better."""

    family: ClassVar[str] = "utility"
    compares: ClassVar[bool] = True
    better: ClassVar[Literal["lower", "higher"] | None] = "lower"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"


@dataclass(frozen=True)
class MatchedRecords:
    """Complete records of both files, in the same order."""

    columns: tuple[str, ...]
    #: Original and masked numbers.
    x: Floats
    y: Floats
    #: Survey weights of the original.
    weights: Floats
    #: Records of both files that have a missing value in either.
    skipped: int
    #: Original records that are not in the masked file.
    dropped: int


def choose_compared_columns(
    original: Microdata, released: Microdata, columns: Sequence[str] | None, kind: str
) -> tuple[str, ...]:
    """Return the numeric columns to compare; by default all of both files that a method may mask."""
    if columns is None:
        found = tuple(shared_maskable(original, released))
        if not found:
            raise InputError(f"{kind} needs a numeric column that is in original and release.")
        return found
    require_columns(columns, original.columns, "the original data")
    faults = [*not_numeric(original, columns, kind), *not_numeric(released, columns, kind)]
    if faults:
        raise faults[0]
    return tuple(dict.fromkeys(columns))


def choose_shared_columns(
    original: Microdata, released: Microdata, columns: Sequence[str]
) -> tuple[str, ...]:
    """Return the numeric columns that a measure names, or else all that both files share."""
    shared = shared_numeric(original, released, columns)
    return tuple(columns) or tuple(shared)


def choose_describing_columns(
    original: Microdata,
    released: Microdata,
    columns: Sequence[str] | None,
    categorical: Sequence[str],
) -> tuple[str, ...]:
    """Return the columns that a measure names, or all of both files but identifiers, weight, household and stratum."""
    both = [c for c in original.columns if c in released.columns]
    if not columns:
        apart = {*original.identifiers, original.weight, original.household, original.stratum}
        columns = [c for c in both if c not in apart]
    absent = [c for c in columns if c not in both]
    absent += [c for c in categorical if c not in original.columns]
    if absent:
        raise ColumnNotFound(absent, list(released.columns), "original and release")
    return tuple(columns)


def numbers_of_both(original: Microdata, released: Microdata, column: str) -> list[Floats]:
    """Return the numbers of a column in original and release, NaN where missing."""
    return [matrix(side.to_arrow([column]), [column])[:, 0] for side in (original, released)]


def match_complete_records(
    original: Microdata,
    released: Microdata,
    columns: Sequence[str],
    kind: str,
    *,
    missing: Missing,
) -> MatchedRecords:
    """Return the records of both files that are complete; refuse infinite numbers and too few."""
    both = pairs(original, released, columns, kind)
    x, y = both.before[both.old], both.after[both.new]
    endless = [
        c for j, c in enumerate(columns) if np.isinf(x[:, j]).any() or np.isinf(y[:, j]).any()
    ]
    if endless:
        raise InputError(f"{kind}: {format_columns(endless)} holds infinite numbers. Leave it out.")
    known = ~(np.isnan(x).any(axis=1) | np.isnan(y).any(axis=1))
    if missing == "refuse" and not known.all():
        raise InputError(
            f"{kind}: there are missing values. Impute them first, or leave such records out."
        )
    if known.sum() < 2:
        raise InputError(f"{kind} needs at least 2 records without missing values.")
    weights = weights_of(original)[both.old]
    return MatchedRecords(
        tuple(columns),
        x[known],
        y[known],
        weights[known],
        int((~known).sum()),
        len(both.before) - len(both.old),
    )


@dataclass(frozen=True)
class CommonCodes:
    """A column of both files under one list of categories, missing the last of them."""

    old: Ints
    new: Ints
    size: int
    labels: Sequence[str] = ()


def common_codes(original: Microdata, released: Microdata, column: str) -> CommonCodes:
    """Return a column of both files as codes of the same categories; values agree as texts."""
    sides = [original.codes(column), released.codes(column)]
    texts = [ground_labels(side.values).to_pylist() for side in sides]
    labels = {text: i for i, text in enumerate(dict.fromkeys(itertools.chain(*texts)))}
    old, new = (
        np.array([*(labels[t] for t in text), len(labels)], dtype=np.int64)[side.codes]
        for side, text in zip(sides, texts, strict=True)
    )
    return CommonCodes(old, new, len(labels) + 1, list(labels))


def is_numeric(column: str, *files: Microdata) -> bool:
    """Return True for a column that holds numbers in all files."""
    return all(data.frame.collect_schema()[column].is_numeric() for data in files)


def classes_of_both(codes: CommonCodes) -> Iterator[tuple[str, Flags, Flags]]:
    """Yield the classes of a column that occur: name, and who is in it in either file."""
    for code, name in enumerate([*codes.labels, "missing"]):
        old, new = codes.old == code, codes.new == code
        if old.any() or new.any():
            yield name, old, new


def mean_of(values: Iterable[float]) -> float:
    """Return the mean of the finite ones."""
    known = [v for v in values if math.isfinite(v)]
    return float(np.mean(known)) if known else math.nan
