"""How an intruder compares the fields of two files, and which pairs are looked at: parameters and what they mean."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, model_validator

from tacit.arrays import Floats, Ints
from tacit.data.microdata import Microdata
from tacit.data.paired import shared_numeric
from tacit.errors import InputError, SdcWarning
from tacit.fields import ColumnName, PositiveFloat, PositiveInt
from tacit.records.linkage.agreement import Comparison
from tacit.records.linkage.level_tables import LevelTable, compare_texts, find_slipped_dates
from tacit.records.linkage.linking import Fields, check_shared, code_both_files, number_blocks
from tacit.records.linkage.metrics import known_scale

How = Literal["exact", "jaro_winkler", "edit", "number", "relative", "date"]

#: Levels taken when none are named, from loose to strict.
USUAL: dict[str, tuple[float, ...]] = {
    "exact": (),
    "jaro_winkler": (0.8, 0.92),
    "edit": (2.0, 1.0),
    "relative": (0.1, 0.01),
    "date": (366.0, 31.0),
}
#: Relative differences become differences of logarithms; numbers of different sign are this far apart.
SIGNS_APART = 1e4


class FieldComparison(BaseModel):
    """How one column is compared: levels from loose to strict, and equality above them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: How = Field(
        default="exact",
        description="equality; similarity of texts by Jaro and Winkler; edits between texts (an exchange of neighbours is one); difference of numbers; difference as a share of the larger number; days between dates",
    )
    levels: tuple[PositiveFloat, ...] = Field(
        default=(),
        description="the levels below equality from loose to strict, such as 0.8, 0.92 (jaro_winkler), 2, 1 (edit), 0.1, 0.01 (relative) or 366, 31 days (date), which are taken by default",
    )
    slips: bool = Field(
        default=True,
        description="dates: a level just below equality for day and month exchanged, one digit wrong, or two neighbouring digits exchanged",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.by == "exact" and self.levels:
            raise ValueError("equality has no levels: choose another by")
        if self.by == "number" and not self.levels:
            raise ValueError("by number needs levels: the differences up to which numbers agree")
        ascending = self.by == "jaro_winkler"
        if list(self.levels) != sorted(set(self.levels), reverse=not ascending):
            raise ValueError("levels must go from loose to strict, each once")
        if self.by in ("jaro_winkler", "relative") and any(v >= 1 for v in self.levels):
            raise ValueError(f"levels of {self.by} must be below 1")
        if self.by == "edit" and any(v != int(v) for v in self.levels):
            raise ValueError("levels of edit must be whole numbers of edits")
        return self

    @property
    def limits(self) -> tuple[float, ...]:
        """Return the levels below equality."""
        return self.levels or USUAL[self.by]


class BlockKey(BaseModel):
    """A column, or what can be told from it, on which two records must be equal to be compared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    column: ColumnName = Field(description="the column")
    by: Literal["value", "first", "soundex", "year", "month"] = Field(
        default="value",
        description="its value, its first letters, how it sounds in English (Soundex), or the year or month of a date",
    )
    letters: PositiveInt = Field(default=1, description="how many letters (first)")


BlockRule = tuple[ColumnName | BlockKey, ...]


def list_rule_columns(rule: BlockRule) -> tuple[str, ...]:
    """Return the columns that a rule uses."""
    return tuple(key if isinstance(key, str) else key.column for key in rule)


# -- comparing fields --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """A column of both files as numbers, and how they are compared."""

    original: Floats
    released: Floats
    tolerances: tuple[float, ...]
    rank: tuple[int, ...]
    table: LevelTable | None
    top: int


def compare_fields(
    fields: Fields,
    original: Microdata,
    released: Microdata,
    comparisons: Mapping[str, FieldComparison],
    by_value: Sequence[str],
    tolerances: tuple[float, ...],
    kind: str,
) -> tuple[Fields, Comparison]:
    """Return the fields as numbers, and how they are compared.

    Columns without a comparison of their own are compared by equality, numbers within tolerances of standard
    deviations. Those of ``by_value`` get levels too, so that the weight of equality can depend on the value.
    """
    check_shared(tuple(comparisons), original, released)
    spread = known_scale(fields.files.original).spread
    numeric = [n and s > 0 for n, s in zip(fields.numeric, spread, strict=True)]
    limits = [
        tuple(t * s for t in tolerances) if n else (0.0,)
        for n, s in zip(numeric, spread, strict=True)
    ]
    if not comparisons and not by_value:
        return fields, Comparison(tuple(limits), tuple(numeric))
    before, after = fields.files.original.copy(), fields.files.released.copy()
    ranks: list[tuple[int, ...] | None] = [None] * len(limits)
    tables: list[LevelTable | None] = [None] * len(limits)
    tops = [len(t) for t in limits]
    for f, column in enumerate(fields.columns):
        how = comparisons.get(column)
        if how is None and column in by_value:
            how = FieldComparison()
        if how is None:
            continue
        made = COMPARE[how.by](column, original, released, how, kind)
        before[:, f], after[:, f] = made.original, made.released
        limits[f], ranks[f], tables[f], tops[f] = made.tolerances, made.rank, made.table, made.top
        numeric[f] = False
    files = replace(fields.files, original=before, released=after)
    comparison = Comparison(tuple(limits), tuple(numeric), tuple(ranks), tuple(tables), tuple(tops))
    return replace(fields, files=files), comparison


def compare_equality(
    column: str, original: Microdata, released: Microdata, how: FieldComparison, kind: str
) -> Compared:
    """Compare by equality."""
    del how, kind
    a, b = code_both_files(original.to_arrow([column]), released.to_arrow([column]), column)
    return Compared(a, b, (0.0,), (0, 1), None, 1)


def compare_text(
    column: str, original: Microdata, released: Microdata, how: FieldComparison, kind: str
) -> Compared:
    """Compare texts by how they are written."""
    a, b = (data.to_arrow([column]).column(column) for data in (original, released))
    a, b = (x.cast(pa.string()) for x in (a, b))
    values = pc.unique(pa.chunked_array([*a.chunks, *b.chunks], type=pa.string()))
    values = pc.drop_null(values).sort()
    codes = [as_codes(x, values) for x in (a, b)]
    ours, theirs = (np.unique(c[np.isfinite(c)]).astype(np.int64) for c in codes)
    by: Literal["jaro_winkler", "edit"] = "edit" if how.by == "edit" else "jaro_winkler"
    try:
        table = compare_texts(values.to_pylist(), ours, theirs, by, how.limits)
    except InputError as error:
        raise InputError(f"{kind}: column {column!r}: {error}") from None
    return Compared(codes[0], codes[1], (), (0,), table, len(how.limits) + 1)


def as_codes(column: pa.ChunkedArray, values: pa.Array) -> Floats:
    """Return the position of each value, NaN where it is missing."""
    found = pc.index_in(column, value_set=values, skip_nulls=True)
    return np.asarray(found.cast(pa.float64()).to_numpy(), dtype=np.float64)


def compare_number(
    column: str, original: Microdata, released: Microdata, how: FieldComparison, kind: str
) -> Compared:
    """Compare numbers by their difference, absolute or as a share of the larger one."""
    if column not in shared_numeric(original, released):
        raise InputError(f"{kind}: column {column!r} must hold numbers to be compared by {how.by}")
    a, b = (
        np.asarray(d.to_arrow([column]).column(column).cast(pa.float64()).to_numpy())
        for d in (original, released)
    )
    limits = how.limits
    if how.by == "relative":
        a, b = spread_logarithms(a), spread_logarithms(b)
        limits = tuple(-np.log1p(-share) * (1 + 1e-9) for share in limits)
    levels = (*limits, 0.0)
    return Compared(a, b, levels, tuple(range(len(levels) + 1)), None, len(levels))


def spread_logarithms(x: Floats) -> Floats:
    """Return numbers whose differences tell relative ones: |a - b| <= r max(|a|, |b|) means no more than -log(1 - r)."""
    size = np.log(np.abs(np.where(x == 0, 1.0, x)))
    return np.where(x == 0, 0.0, np.sign(x) * (SIGNS_APART + size))


def compare_date(
    column: str, original: Microdata, released: Microdata, how: FieldComparison, kind: str
) -> Compared:
    """Compare dates by the days between them, and by slips of the pen."""
    a, b = (read_days(data, column, kind) for data in (original, released))
    limits = (*how.limits, 0.0)
    top = len(limits) + how.slips
    rank = (*range(len(limits)), top)
    if not how.slips:
        return Compared(a, b, limits, rank, None, top)
    ours, theirs = (np.unique(x[np.isfinite(x)]).astype(np.int64) for x in (a, b))
    low = int(min(ours.min(initial=0), theirs.min(initial=0)))
    high = int(max(ours.max(initial=0), theirs.max(initial=0)))
    left, right = find_slipped_dates(ours, theirs)
    level = np.full(len(left), top - 1)
    table = LevelTable.of(left - low, right - low, level, high - low + 1, low)
    return Compared(a, b, limits, rank, table, top)


def read_days(data: Microdata, column: str, kind: str) -> Floats:
    """Return the days since 1970 of a column of dates, or of texts such as 1984-05-31; NaN where missing."""
    found = data.to_arrow([column]).column(column)
    if pa.types.is_string(found.type) or pa.types.is_large_string(found.type):
        text = pc.utf8_trim_whitespace(found.cast(pa.string()))
        dated = pc.strptime(text, format="%Y-%m-%d", unit="s", error_is_null=True)
        lost = int(pc.sum(pc.and_(pc.is_null(dated), pc.is_valid(found))).as_py() or 0)
        if lost == len(found) - found.null_count and lost:
            raise InputError(f"{kind}: column {column!r} holds no date such as 1984-05-31")
        if lost:
            warnings.warn(
                f"{kind}: {lost:,} values of column {column!r} are no dates such as 1984-05-31 and count as missing",
                SdcWarning,
                stacklevel=6,
            )
        found = dated
    elif not pa.types.is_temporal(found.type):
        raise InputError(f"{kind}: column {column!r} must hold dates to be compared by date")
    days = found.cast(pa.date32(), safe=False).cast(pa.int32()).cast(pa.float64())
    return np.asarray(days.to_numpy(), dtype=np.float64)


COMPARE: dict[str, Callable[..., Compared]] = {
    "exact": compare_equality,
    "jaro_winkler": compare_text,
    "edit": compare_text,
    "number": compare_number,
    "relative": compare_number,
    "date": compare_date,
}


# -- blocking ----------------------------------------------------------------------------------------


def block_by_rule(
    original: Microdata, released: Microdata, rule: BlockRule, kind: str
) -> tuple[Ints, Ints]:
    """Return the number of each record's block under a rule; a missing key never equals another."""
    check_shared(list_rule_columns(rule), original, released)
    keys = [BlockKey(column=key) if isinstance(key, str) else key for key in rule]
    old, new = (
        pa.table({str(i): derive_key(data, key, kind) for i, key in enumerate(keys)})
        for data in (original, released)
    )
    coded = [code_both_files(old, new, str(i)) for i in range(len(keys))]
    return number_blocks(
        np.column_stack([a for a, _ in coded]), np.column_stack([b for _, b in coded])
    )


def derive_key(data: Microdata, key: BlockKey, kind: str) -> pa.ChunkedArray:
    """Return the key of each record."""
    column = data.to_arrow([key.column]).column(key.column)
    if key.by == "value":
        return column
    if key.by in ("year", "month"):
        days = read_days(data, key.column, kind)
        at = pa.array(days, mask=np.isnan(days)).cast(pa.int32()).cast(pa.date32())
        found = pc.year(at) if key.by == "year" else pc.month(at)
        return pa.chunked_array([found])
    text = column.cast(pa.string())
    if key.by == "first":
        return pc.utf8_slice_codeunits(pc.utf8_lower(text), 0, key.letters)
    coded = text.combine_chunks().dictionary_encode()
    sounds = pa.array([soundex(v) for v in coded.dictionary.to_pylist()], type=pa.string())
    return pa.chunked_array([sounds.take(coded.indices)])


#: The digit of each consonant; vowels, h, w and y have none.
SOUNDS = {
    c: d for d, group in enumerate(("bfpv", "cgjkqsxz", "dt", "l", "mn", "r"), 1) for c in group
}


def soundex(text: str) -> str | None:
    """Return the American Soundex of a text, a letter and three digits; None for one without letters a to z."""
    letters = [c for c in text.lower() if "a" <= c <= "z"]
    if not letters:
        return None
    digits, last = [], SOUNDS.get(letters[0], 0)
    for c in letters[1:]:
        found = SOUNDS.get(c, 0)
        if found and found != last:
            digits.append(str(found))
        if c not in "hw":
            last = found
    return (letters[0].upper() + "".join(digits) + "000")[:4]
