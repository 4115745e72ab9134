"""Dates: day, month, year, 5 years, 10 years, suppressed."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.data.hierarchy import Hierarchy, PlainRule, ground_label
from tacit.errors import HierarchyError, near_match
from tacit.reveal import reveal

#: First of the hundred years in which two-digit years lie.
CENTURY = 1930


def years(span: int) -> Callable[[dt.date], str]:
    """Return the label of the spell of years that a date lies in."""
    return lambda d: f"{d.year // span * span:04d}-{d.year // span * span + span - 1:04d}"


#: Every level, finest first. All but the week nest in the next.
LEVELS: Mapping[str, Callable[[dt.date], str]] = {
    "day": lambda d: f"{d.year:04d}-{d.month:02d}-{d.day:02d}",
    "week": lambda d: "{:04d}-W{:02d}".format(*d.isocalendar()[:2]),
    "month": lambda d: f"{d.month:02d}/{d.year:04d}",
    "quarter": lambda d: f"{d.year:04d}-Q{(d.month + 2) // 3}",
    "year": lambda d: f"{d.year:04d}",
    "5 years": years(5),
    "10 years": years(10),
    "20 years": years(20),
}

#: The levels of Sweeney's report (1997), which give its birth dates a height of five.
USUAL = ("month", "year", "5 years", "10 years")


@dataclass(frozen=True)
class Dates(PlainRule):
    """Dates, raised from the day through chosen spells to the top."""

    kind: ClassVar[str] = "dates"

    format: str
    levels: tuple[str, ...] = USUAL
    century: int = CENTURY

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of the dates."""
        pattern = fixed_pattern(self.format)
        parsed = [read_fixed(pattern, value) or self._parse(value) for value in values]
        days = [d for d in parsed if d is not None]
        bad = [v for v, d in zip(values, parsed, strict=True) if d is None]
        if bad:
            raise HierarchyError(
                f"dates({self.format!r}): {len(bad)} of {len(values)} different values are not dates of that "
                f"form. {reveal('Values that are no such dates', bad)}"
            )
        columns = [[ground_label(v) for v in values]]
        columns += [level_labels(level, days) for level in self.levels]
        ground = "time" if "day" in self.levels else "day"
        return Hierarchy.from_columns(columns, names=(ground, *self.levels, "suppressed"))

    def _parse(self, value: Any) -> dt.date | None:
        if isinstance(value, dt.datetime):
            return value.date()
        if isinstance(value, dt.date):
            return value
        try:
            date = dt.datetime.strptime(str(value), self.format).date()  # noqa: DTZ007 - a calendar date
            if "%y" in self.format:
                date = date.replace(year=self.century + (date.year - self.century) % 100)
        except ValueError:
            return None
        return date


#: Directives that are most often written in full, with the pattern of that.
FULL = {"%Y": "(?P<year>[0-9]{4})", "%m": "(?P<month>[0-9]{2})", "%d": "(?P<day>[0-9]{2})"}


def fixed_pattern(format: str) -> re.Pattern[str] | None:  # noqa: A002 - the word users know
    """Return the pattern of dates written in full: five times as fast as ``strptime``; None for other forms."""
    parts = re.findall(r"%.|[^%]", format, re.DOTALL)
    named = [part for part in parts if part.startswith("%")]
    if sorted(named) != sorted(FULL):
        return None
    return re.compile("".join(FULL.get(part) or re.escape(part) for part in parts))


def read_fixed(pattern: re.Pattern[str] | None, value: Any) -> dt.date | None:
    """Return the date of a text that is written in full, or None: it may be a date all the same."""
    found = pattern.fullmatch(value) if pattern is not None and isinstance(value, str) else None
    try:
        return dt.date(*(int(found[part]) for part in ("year", "month", "day"))) if found else None
    except ValueError:
        return None


def level_labels(level: str, days: Sequence[dt.date]) -> list[str]:
    """Return each date's label at a level; from the month up it is made once a month."""
    label = LEVELS[level]
    if level in ("day", "week"):
        return [label(d) for d in days]
    months = {(d.year, d.month): d for d in days}
    labels = {month: label(d) for month, d in months.items()}
    return [labels[d.year, d.month] for d in days]


def dates(
    format: str = "%Y-%m-%d",  # noqa: A002 - the word users know
    *,
    levels: Sequence[str] | None = None,
    century: int = CENTURY,
) -> Dates:
    """Return the rule for dates: day, month, year, 5 years, 10 years, suppressed.

    Parameters
    ----------
    format
        How text is read, in ``strptime`` notation; ignored for columns of type date or timestamp.
    levels
        Which of ``day`` (for timestamps), ``month``, ``quarter``, ``year``, ``5 years``,
        ``10 years``, ``20 years`` to use, in this order. ``week`` (ISO 8601) crosses months and
        years, so only ``day`` can go with it.
    century
        With two-digit years: the first year of the hundred years they lie in (1930 to 2029 unless
        said otherwise; a fixed rule, so that a plan gives the same release in any year).
    """
    chosen = USUAL if levels is None else tuple(levels)
    faults = [
        f"there is no level {level!r}. {near_match(str(level), LEVELS)}".strip()
        for level in chosen
        if level not in LEVELS
    ]
    known = [level for level in chosen if level in LEVELS]
    if known != [level for level in LEVELS if level in known]:
        faults.append("the levels are not in the order " + ", ".join(LEVELS))
    if not chosen:
        faults.append("no level is chosen")
    if "week" in known and known[-1] != "week":
        faults.append("weeks cross months and years, so no other level can stand above 'week'")
    if faults:
        raise HierarchyError("dates: the levels are wrong", faults)
    return Dates(format, chosen, century)
