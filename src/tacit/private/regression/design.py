"""Design: the columns that a formula names, coded the same way at every party.

``y ~ x1 + x2 + C(region) + x1:x2``: numbers as they are, categories as 0/1 columns for all levels but the first, products by a colon,
``- 1`` for no constant. The levels of categories are part of what parties agree on: they must be given or the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import ColumnNotFound, InputError, InvalidParameter
from tacit.private.union.records import rows_of

Floats = npt.NDArray[np.float64]
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
            combined = [""]
            for part in parts:
                combined = [f"{a}:{b}" if a else b for a in combined for b in part]
            names += combined
        return names

    def to_dict(self) -> dict[str, Any]:
        """Return the coding as it is compared."""
        return {
            "columns": self.names(),
            "levels": {k: list(v) for k, v in sorted(self.levels.items())},
        }


def columns_of(table: Any, names: Sequence[str], who: str) -> dict[str, list[Any]]:
    """Return named columns of a party's table as lists; missing values are refused."""
    rows = rows_of(table)
    if not rows:
        raise InputError(f"the file of {who!r} has no records")
    missing = [n for n in names if n not in rows[0]]
    if missing:
        raise ColumnNotFound(missing, list(rows[0]), f"the file of {who!r}")
    found = {n: [row[n] for row in rows] for n in names}
    holes = [n for n, values in found.items() if any(v is None for v in values)]
    if holes:
        raise InputError(
            f"column {holes[0]!r} of {who!r} has missing values: complete them, or leave these records out, at every party alike"
        )
    return found


def is_category(values: Sequence[Any]) -> bool:
    """Return True for a column of texts or truth values."""
    return any(isinstance(v, str | bool | np.bool_) for v in values)


def own_levels(formula: Formula, columns: Mapping[str, Sequence[Any]]) -> dict[str, list[str]]:
    """Return the levels of the categories in one party's file."""
    marked = {c for term in formula.terms for c, category in term if category}
    return {
        c: sorted({str(v) for v in columns[c]})
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


def design_matrix(coding: Coding, columns: Mapping[str, Sequence[Any]], who: str) -> Floats:
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


def code_column(name: str, values: Sequence[Any], levels: Sequence[str] | None, who: str) -> Floats:
    """Return a column as numbers, or as 0/1 columns of its levels but the first."""
    if levels is None:
        return numbers_of(name, values, who)[:, None]
    place = {level: i for i, level in enumerate(levels)}
    if any(str(v) not in place for v in values):
        raise InputError(
            f"column {name!r} of {who!r} holds a category that is not among the levels agreed"
        )
    codes = np.array([place[str(v)] for v in values])
    return (codes[:, None] == np.arange(1, len(levels))[None, :]).astype(np.float64)


def numbers_of(name: str, values: Sequence[Any], who: str) -> Floats:
    """Return a column of finite numbers."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"column {name!r} of {who!r} must hold numbers") from None
    if not np.isfinite(found).all():
        raise InputError(f"column {name!r} of {who!r} holds a value that is no finite number")
    return found
