"""Design: the columns that a formula names, coded the same way at every party.

``y ~ x1 + x2 + C(region) + x1:x2``: numbers as they are, categories as 0/1 columns for all levels but the first, products by a colon,
``- 1`` for no constant. The levels of categories are part of what parties agree on: they must be given or the same everywhere.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.errors import InputError, InvalidParameter, require_columns
from tacit.private.union.records import frame_of, rows_of

#: A column of any type.
Values = npt.NDArray[Any]
TERM = re.compile(r"(C\()?\s*([^\s:+()~-][^:+()~]*?)\s*(\))?\s*")


@dataclass(frozen=True)
class Formula:
    """A response and the terms that explain it."""

    response: str
    #: Every term is one factor or a product of several; a factor is a column and whether it is a category.
    terms: tuple[tuple[tuple[str, bool], ...], ...]
    intercept: bool = True

    @property
    def columns(self) -> list[str]:
        """Return the columns that the terms name."""
        return list(dict.fromkeys(c for term in self.terms for c, _ in term))


def parse_formula(text: str) -> Formula:
    """Read a formula, or say what is wrong with it."""
    left, mark, right = text.partition("~")
    if not mark or not left.strip() or not right.strip():
        raise InvalidParameter(f"a formula has the form 'y ~ x1 + x2' (got {text!r})")
    intercept, terms = True, []
    for piece in re.split(r"\s\+\s|(?=\s-\s)", f" {right} "):
        part = piece.strip()
        if part in ("- 1", "-1", "0"):
            intercept = False
        elif part in ("1", ""):
            continue
        elif part.startswith("- "):
            raise InvalidParameter(
                "a formula can leave out the constant (- 1) only; name the terms that it has"
            )
        else:
            terms.append(tuple(parse_factor(f) for f in part.split(":")))
    if not terms and not intercept:
        raise InvalidParameter("a formula without constant and terms explains nothing")
    return Formula(left.strip(), tuple(dict.fromkeys(terms)), intercept)


def parse_factor(text: str) -> tuple[str, bool]:
    """Read one factor: a column, or C(column)."""
    match = TERM.fullmatch(text.strip())
    if not match or bool(match[1]) != bool(match[3]):
        raise InvalidParameter(
            f"the factor {text.strip()!r} of a formula cannot be read: use a column, or C(column)"
        )
    return match[2], bool(match[1])


@dataclass(frozen=True)
class Coding:
    """How columns become numbers; parties compare it before they begin."""

    formula: Formula
    #: The levels of categories, the first of which has no column.
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Return the names of the design's columns."""
        names = ["(constant)"] if self.formula.intercept else []
        for term in self.formula.terms:
            parts = [
                [c] if c not in self.levels else [f"{c}={v}" for v in self.levels[c][1:]]
                for c, _ in term
            ]
            names += [":".join(each) for each in itertools.product(*parts)]
        return names

    def to_dict(self) -> dict[str, Any]:
        """Return the coding as it is compared."""
        return {
            "columns": self.names(),
            "levels": {k: list(v) for k, v in sorted(self.levels.items())},
        }


def columns_of(table: Any, names: Sequence[str] | None, who: str) -> dict[str, Values]:
    """Return columns of a party's table as arrays, all when none are named; missing values are refused."""
    columns = arrays_of(table)
    wanted = list(columns) if names is None else list(names)
    require_columns(wanted, columns, f"the file of {who!r}")
    found = {n: columns[n] for n in wanted}
    if len({len(v) for v in found.values()}) != 1 or not len(next(iter(found.values()))):
        raise InputError(f"the file of {who!r} has no records, or columns of different lengths")
    for n, values in found.items():
        holes = values.dtype == object and any(v is None or v != v for v in values)  # noqa: PLR0124
        if values.dtype.kind == "f":
            holes = bool(np.isnan(values).any())
        if holes:
            raise InputError(
                f"column {n!r} of {who!r} has missing values: complete them, or leave these records out, at every party alike"
            )
    return found


def arrays_of(table: Any) -> dict[str, Values]:
    """Return the columns of a frame, of microdata, of a mapping or of a list of rows."""
    if isinstance(table, Mapping):
        return {str(k): np.asarray(v) for k, v in table.items()}
    if isinstance(table, list | tuple):
        rows = rows_of(table)
        return {k: np.asarray([row[k] for row in rows]) for k in (rows[0] if rows else ())}
    frame = frame_of(table)
    return {c: frame.get_column(c).to_numpy() for c in frame.columns}


def is_category(values: Values) -> bool:
    """Return True for a column of texts or truth values."""
    return values.dtype.kind in "USb" or (
        values.dtype == object and isinstance(values[0], str | bool)
    )


def own_levels(formula: Formula, columns: Mapping[str, Values]) -> dict[str, list[str]]:
    """Return the levels of the categories in one party's file."""
    marked = {c for term in formula.terms for c, category in term if category}
    return {
        c: sorted(map(str, np.unique(columns[c].astype(str))))
        for c in formula.columns
        if c in marked or is_category(columns[c])
    }


def make_coding(
    formula: Formula,
    levels: Mapping[str, Sequence[str]] | None,
    seen: Sequence[Mapping[str, Sequence[str]]],
) -> Coding:
    """Return the coding of a run: the levels given, and those of all parties for columns without any."""
    found: dict[str, set[str]] = {}
    for each in seen:
        for column, own in each.items():
            found.setdefault(column, set()).update(own)
    merged = {
        c: tuple(map(str, levels[c])) if levels and c in levels else tuple(sorted(found[c]))
        for c in found
    }
    return Coding(formula, merged)


def design_matrix(coding: Coding, columns: Mapping[str, Values], who: str) -> Floats:
    """Return one party's design matrix."""
    n = len(next(iter(columns.values())))
    parts = [np.ones((n, 1))] if coding.formula.intercept else []
    coded = {
        c: code_column(c, columns[c], coding.levels.get(c), who) for c in coding.formula.columns
    }
    for term in coding.formula.terms:
        block = np.ones((n, 1))
        for c, _ in term:
            block = (block[:, :, None] * coded[c][:, None, :]).reshape(n, -1)
        parts.append(block)
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


def code_column(name: str, values: Values, levels: Sequence[str] | None, who: str) -> Floats:
    """Return a column as numbers, or as 0/1 columns of its levels but the first."""
    if levels is None:
        return numbers_of(name, values, who)[:, None]
    codes = code_values(name, values, levels, who)
    return (codes[:, None] == np.arange(1, len(levels))[None, :]).astype(np.float64)


def code_values(name: str, values: Values, levels: Sequence[str], who: str) -> Ints:
    """Return the place of every value among the agreed categories."""
    place = {str(level): i for i, level in enumerate(levels)}
    seen, inverse = np.unique(np.asarray(values).astype(str), return_inverse=True)
    if any(v not in place for v in seen):
        raise InputError(
            f"column {name!r} of {who!r} holds a category that is not among those agreed"
        )
    return np.array([place[v] for v in seen], np.int64)[inverse]


def numbers_of(name: str, values: Values, who: str) -> Floats:
    """Return a column of finite numbers."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"column {name!r} of {who!r} must hold numbers") from None
    if not np.isfinite(found).all():
        raise InputError(f"column {name!r} of {who!r} holds a value that is no finite number")
    return found
