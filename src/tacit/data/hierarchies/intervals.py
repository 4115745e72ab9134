"""Intervals of numbers, each level nested in the next."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.data.hierarchy import Hierarchy, ground_label
from tacit.errors import HierarchyError
from tacit.reveal import reveal

Number = int | float
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Intervals:
    """Numbers in intervals: 23, 20-24, 20-29, 20-39, suppressed.

    Either ``widths`` gives grids of equal intervals from ``origin``, or ``cuts`` gives the points at
    which each level is cut. An interval holds its lower end and not its upper end.
    """

    widths: tuple[Number, ...] = ()
    origin: Number = 0
    lower: Number | None = None
    upper: Number | None = None
    cuts: tuple[tuple[Number, ...], ...] = ()
    integers: bool | None = None

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of the numbers."""
        numbers, whole = numeric(values)
        if self.integers and not whole:
            raise HierarchyError("intervals: integers=True, but some values are not whole numbers")
        whole = whole and self.integers is not False and self._whole_edges()
        if self.cuts:
            columns = []
            for cuts in self.cuts:
                ends = itertools.pairwise([None, *map(as_decimal, cuts), None])
                labels = [interval_label(a, b, whole) for a, b in ends]
                at = np.searchsorted(np.array(cuts), numbers, side="right")
                columns.append([labels[i] for i in at])
        else:
            columns = self._grids(numbers, whole)
        return Hierarchy.from_columns([[ground_label(v) for v in values], *columns])

    def _whole_edges(self) -> bool:
        ends = [e for e in (self.lower, self.upper) if e is not None]
        edges = [*self.widths, self.origin, *ends, *(c for cuts in self.cuts for c in cuts)]
        return all(float(e).is_integer() for e in edges)

    def _grids(self, numbers: Array, whole: bool) -> list[list[str]]:
        low, high = as_decimal(self.lower), as_decimal(self.upper)
        # Code 0 is below the lower end, 1 above the upper end, 2 between them.
        side = np.full(len(numbers), 2)
        side[numbers < (-math.inf if self.lower is None else self.lower)] = 0
        side[numbers >= (math.inf if self.upper is None else self.upper)] = 1
        outside = [interval_label(None, low, whole), interval_label(high, None, whole)]
        finest = grid_number(numbers, self.widths[0], self.origin)
        columns = []
        for width in self.widths:
            # Whole multiples of the first width, so that a level never splits a lower interval.
            steps = int(as_decimal(width) / as_decimal(self.widths[0]))
            cells, at = np.unique(finest // steps, return_inverse=True)
            inside = [self._cell_label(int(c), width, low, high, whole) for c in cells]
            columns.append(
                [inside[i] if s == 2 else outside[s] for i, s in zip(at.ravel(), side, strict=True)]
            )
        return columns

    def _cell_label(
        self, cell: int, width: Number, low: Decimal | None, high: Decimal | None, whole: bool
    ) -> str:
        with localcontext(prec=60):
            start = as_decimal(self.origin) + cell * as_decimal(width)
            stop = start + as_decimal(width)
        return interval_label(
            start if low is None else max(start, low),
            stop if high is None else min(stop, high),
            whole,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as it stands in a plan."""
        rule: dict[str, Any] = {"kind": "intervals"}
        if self.cuts:
            rule["cuts"] = [list(cuts) for cuts in self.cuts]
        else:
            rule["width"] = self.widths[0] if len(self.widths) == 1 else list(self.widths)
        options = {
            "origin": self.origin or None,
            "lower": self.lower,
            "upper": self.upper,
            "integers": self.integers,
        }
        return {**rule, **{k: v for k, v in options.items() if v is not None}}


#: Beyond it whole numbers have gaps, so that no interval begins where it should.
LARGEST = 1e15


def intervals(
    width: Number | Sequence[Number] | None = None,
    *,
    levels: int = 1,
    factor: int = 2,
    origin: Number = 0,
    lower: Number | None = None,
    upper: Number | None = None,
    cuts: Sequence[Number] | Sequence[Sequence[Number]] = (),
    integers: bool | None = None,
) -> Intervals:
    """Return the rule that puts numbers into intervals.

    Parameters
    ----------
    width
        Width of the intervals at the first level; or the widths of all levels, each a multiple of
        the one before: ``intervals([5, 10, 20])``.
    levels, factor
        With one width: how many levels, and how many intervals the next level joins.
    origin
        A point at which intervals of every level meet.
    lower, upper
        Bottom and top coding: values below ``lower`` are ``<10``, values from ``upper`` on ``90+``, at
        every level above the ground.
    cuts
        Instead of a width: the points at which a level is cut, or one such list a level, each with a
        part of the points of the one before.
    integers
        Whether labels read ``10-14`` (whole numbers) or ``[10, 15)``. By default whole numbers are
        recognised in the data; say it when a plan must give the same labels on other data.
    """
    given = [width] if isinstance(width, int | float) else list(width or ())
    lists = [tuple(c) if isinstance(c, Sequence) else c for c in cuts]
    nested = bool(lists) and isinstance(lists[0], tuple)
    points = tuple(lists) if nested or not lists else (tuple(lists),)
    faults = ["give either width or cuts"] if bool(given) == bool(points) else []
    faults += [*width_faults(given, levels, factor), *cut_faults(points)]
    if points and (lower is not None or upper is not None):
        faults.append(
            "lower and upper go with width; with cuts the first and last intervals are open"
        )
    if any(n is not None and not abs(n) <= LARGEST for n in (origin, lower, upper)):
        faults.append("origin, lower and upper must be numbers of at most 1e15")
    if lower is not None and upper is not None and not lower < upper:
        faults.append("lower must be smaller than upper")
    if faults:
        raise HierarchyError("intervals: the parameters are wrong", faults)
    if len(given) == 1:
        widths = [as_decimal(given[0]) * factor**level for level in range(levels)]
        given = [int(w) if w == w.to_integral_value() else float(w) for w in widths]
    return Intervals(tuple(given), origin, lower, upper, points, integers)  # type: ignore[arg-type]


def width_faults(widths: Sequence[Number], levels: int, factor: int) -> list[str]:
    """Return what is wrong with the widths of the levels."""
    if any(not 0 < w <= LARGEST for w in widths):
        return ["every width must be a positive number of at most 1e15"]
    faults = []
    for n, (small, large) in enumerate(itertools.pairwise(widths), 2):
        if as_decimal(large) % as_decimal(small) or large <= small:
            faults.append(
                f"level {n}: its width is not a multiple of the width of level {n - 1} (it would split a lower group)"
            )
    if levels < 1:
        faults.append("levels must be 1 or more")
    if factor < 2 or factor != int(factor):
        faults.append("factor must be a whole number, 2 or more")
    if len(widths) > 1 and levels != 1:
        faults.append("levels goes with a single width")
    return faults


def cut_faults(points: Sequence[Any]) -> list[str]:
    """Return what is wrong with the cut points of the levels."""
    faults = []
    for n, cuts in enumerate(points, 1):
        listed = isinstance(cuts, tuple) and bool(cuts)
        if not listed or not all(isinstance(c, int | float) and abs(c) <= LARGEST for c in cuts):
            faults.append(f"level {n}: cuts must be a list of numbers of at most 1e15")
        elif list(cuts) != sorted(set(cuts)):
            faults.append(f"level {n}: cuts must rise")
        elif n > 1 and isinstance(points[n - 2], tuple) and not set(cuts) <= set(points[n - 2]):
            faults.append(
                f"level {n}: it is cut where level {n - 1} is not (it would split a lower group)"
            )
    return faults


def numeric(values: Sequence[Any]) -> tuple[Array, bool]:
    """Return the values as numbers, and whether all are whole; text is read as numbers."""
    numbers = [as_number(v) for v in values]
    bad = [v for v, x in zip(values, numbers, strict=True) if x is None]
    if bad:
        raise HierarchyError(
            f"intervals: {len(bad)} of {len(values)} different values are not numbers. "
            + reveal("Values that are no numbers", bad)
        )
    if all(isinstance(x, int) or float(x).is_integer() for x in numbers):  # type: ignore[arg-type]
        try:
            return np.array([int(x) for x in numbers], dtype=np.int64), True  # type: ignore[arg-type]
        except OverflowError:
            # Those beyond 64 bits keep their Python form.
            return np.array([int(x) for x in numbers], dtype=object), True  # type: ignore[arg-type]
    return np.array(numbers, dtype=np.float64), False


def as_number(value: Any) -> Number | None:
    """Return a finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    if isinstance(value, int):
        return value
    with suppress(ValueError):
        if isinstance(value, str):
            return int(value)
    with suppress(ValueError):
        number = float(value)
        return number if math.isfinite(number) else None
    return None


def grid_number(numbers: Array, width: Number, origin: Number) -> Array:
    """Return the number of the interval [origin + i width, origin + (i + 1) width) of each value.

    Edges are decimals as written: with width 0.1 the value 0.3 opens an interval, although in binary
    three times 0.1 is larger than 0.3. A first guess in binary is moved to where the edges say.
    """
    if numbers.dtype.kind in "iO" and float(width).is_integer() and float(origin).is_integer():
        result: Array = (numbers - int(origin)) // int(width)
        return result
    reals = numbers.astype(np.float64)
    guess = np.floor((reals - float(origin)) / float(width))
    if np.any(np.abs(guess) > 2**62):
        raise HierarchyError("intervals: the width is too small for the size of the numbers")
    guess = guess.astype(np.int64)
    cells, at = np.unique(guess, return_inverse=True)
    step, start = as_decimal(width), as_decimal(origin)
    with localcontext(prec=60):
        lower = np.array([float(start + int(c) * step) for c in cells])[at.ravel()]
        upper = np.array([float(start + (int(c) + 1) * step) for c in cells])[at.ravel()]
    moved: Array = guess - (reals < lower) + (reals >= upper)
    return moved


def as_decimal(number: Any) -> Any:
    """Return a number as the decimal that it is written as; None stays None."""
    return None if number is None else Decimal(repr(number))


def interval_label(start: Decimal | None, stop: Decimal | None, whole: bool) -> str:
    """Return ``10-14`` or ``[10, 15)``; an open side gives ``<10`` or ``90+``."""
    if start is None:
        return "" if stop is None else f"<{text(stop)}"
    if stop is None:
        return f"{text(start)}+"
    if not whole:
        return f"[{text(start)}, {text(stop)})"
    last = stop - 1
    if last <= start:
        return text(start)
    return f"{text(start)} to {text(last)}" if start < 0 else f"{text(start)}-{text(last)}"


def text(number: Decimal) -> str:
    """Return a decimal without exponent or trailing zeros."""
    shown = f"{number:f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown
