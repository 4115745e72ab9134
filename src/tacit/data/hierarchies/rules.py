"""Rules that build a hierarchy from the values of the data: flat, digits, dates."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.data.hierarchy import TOP, Hierarchy, ground_label
from tacit.errors import HierarchyError


@dataclass(frozen=True)
class Flat:
    """Every value, then the top: the column is either as it is or suppressed."""

    top: str = TOP

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the two-level hierarchy of the values."""
        return Hierarchy.from_paths([[ground_label(v), self.top] for v in values])

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as it stands in a plan."""
        return {"kind": "flat", **({"top": self.top} if self.top != TOP else {})}


def flat(top: str = TOP) -> Flat:
    """Return the rule "as it is, or suppressed"."""
    return Flat(top)


@dataclass(frozen=True)
class Digits:
    """Mask characters from the right: 02138, 0213*, 021**, *****."""

    length: int
    mask: tuple[int, ...]
    pad: str = "0"

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of codes of a fixed length."""
        texts = [ground_label(v) for v in values]
        long = sum(len(t) > self.length for t in texts)
        if long:
            raise HierarchyError(f"digits({self.length}): {long} values are longer than {self.length} characters")
        return Hierarchy.from_paths([self._path(t) for t in texts])

    def _path(self, text: str) -> list[str]:
        # A number read as an integer has lost its leading zeros; masking counts places, not digits.
        code = text.rjust(self.length, self.pad)
        masks = [m for m in self.mask if m < self.length]
        return [text, *(code[: self.length - m] + "*" * m for m in masks), "*" * self.length]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as it stands in a plan."""
        return {"kind": "digits", "length": self.length, "mask": list(self.mask)}


def digits(length: int, mask: Sequence[int] | None = None) -> Digits:
    """Return the rule that masks codes of ``length`` characters from the right.

    Parameters
    ----------
    length
        Characters in a code.
    mask
        How many characters each level hides; by default 1, 2, ..., length - 1. The top, with all
        characters hidden, is added.
    """
    chosen = tuple(range(1, length) if mask is None else mask)
    if length < 1 or any(m < 1 or m > length for m in chosen) or list(chosen) != sorted(set(chosen)):
        raise HierarchyError("digits: mask must rise from 1 to at most the length, e.g. digits(5, mask=[1, 2])")
    return Digits(length, chosen)


#: First of the hundred years in which two-digit years lie.
CENTURY = 1930

LEVELS: dict[str, Callable[[dt.date], str]] = {
    "month": lambda d: f"{d:%m/%Y}",
    "year": lambda d: f"{d.year:04d}",
    "5 years": lambda d: f"{d.year // 5 * 5}-{d.year // 5 * 5 + 4}",
    "10 years": lambda d: f"{d.year // 10 * 10}-{d.year // 10 * 10 + 9}",
}


@dataclass(frozen=True)
class Dates:
    """Dates: day, month, year, 5 years, 10 years, suppressed."""

    format: str = "%Y-%m-%d"
    levels: tuple[str, ...] = tuple(LEVELS)
    century: int = CENTURY

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of the dates."""
        paths, bad = [], 0
        for value in values:
            date = self._parse(value)
            if date is None:
                bad += 1
            else:
                paths.append([ground_label(value), *(LEVELS[level](date) for level in self.levels), TOP])
        if bad:
            raise HierarchyError(f"dates({self.format!r}): {bad} of {len(values)} values are not dates of that form")
        return Hierarchy.from_paths(paths, names=("day", *self.levels, "suppressed"))

    def _parse(self, value: Any) -> dt.date | None:
        if isinstance(value, dt.datetime):
            return value.date()
        if isinstance(value, dt.date):
            return value
        try:
            date = dt.datetime.strptime(str(value), self.format).date()  # noqa: DTZ007 - a calendar date
        except ValueError:
            return None
        if "%y" in self.format:
            date = date.replace(year=self.century + (date.year - self.century) % 100)
        return date

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as it stands in a plan."""
        extra = {} if self.levels == tuple(LEVELS) else {"levels": list(self.levels)}
        century = {} if self.century == CENTURY else {"century": self.century}
        return {"kind": "dates", "format": self.format, **extra, **century}


def dates(format: str = "%Y-%m-%d", *, levels: Sequence[str] | None = None, century: int = CENTURY) -> Dates:  # noqa: A002 - the word users know
    """Return the rule for dates: day, month, year, 5 years, 10 years, suppressed.

    Parameters
    ----------
    format
        How text is read, in ``strptime`` notation; ignored for columns of type date.
    levels
        Which of ``month``, ``year``, ``5 years``, ``10 years`` to use, in this order.
    century
        With two-digit years: the first year of the hundred years they lie in (1930 to 2029 unless
        said otherwise; a fixed rule, so that a plan gives the same release in any year).
    """
    chosen = tuple(LEVELS if levels is None else levels)
    unknown = [level for level in chosen if level not in LEVELS]
    if unknown or list(chosen) != [level for level in LEVELS if level in chosen]:
        raise HierarchyError(f"dates: levels are chosen, in this order, from {', '.join(LEVELS)}")
    return Dates(format, chosen, century)
