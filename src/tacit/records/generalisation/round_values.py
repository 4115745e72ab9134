"""Rounding: values become multiples of a base."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.in_blocks import change_each
from tacit.data.microdata import Microdata
from tacit.data.values import as_numbers
from tacit.errors import InputError
from tacit.fields import ColumnNames, PositiveFloat
from tacit.registry import register
from tacit.spec import Method

Direction = Literal["nearest", "down", "up", "random"]


@register
class RoundValues(Method):
    """Round values to multiples of a base.

    ``nearest`` takes the nearest multiple, a half away from zero (22.5 to base 5 is 25, -7 is -5);
    ``down`` and ``up`` take the multiple below and above; ``random`` takes one of the two with
    probabilities that keep the expected value. Whole numbers are rounded in whole-number arithmetic,
    decimals as they are written: 0.15 to base 0.1 is a half, and gives 0.2.

    References
    ----------
    Willenborg, de Waal (2001), Elements of Statistical Disclosure Control, Springer.
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    """

    kind: Literal["round_values"] = "round_values"
    columns: ColumnNames = Field(description="the numeric columns to round")
    base: PositiveFloat = Field(description="the number of which released values are multiples")
    direction: Direction = Field(
        default="nearest",
        description="to the nearest multiple (half away from zero), down, up, or up or down at random without bias",
    )

    on_household = "together"
    takes_copies: ClassVar[bool] = True
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("rounding",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "base": 5}
    number_fields = ("columns",)

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        base = Fraction(repr(self.base))

        def rounded(table: pa.Table, c: str, rng: np.random.Generator) -> pa.Array:
            return round_column(table.column(c), base, self.direction, rng, c)

        result = change_each(data, self.columns, rounded, ctx)
        ctx.note(columns=list(self.columns), base=self.base, direction=self.direction)
        return result


def round_column(
    array: pa.ChunkedArray,
    base: Fraction,
    direction: Direction,
    rng: np.random.Generator,
    column: str,
) -> pa.Array:
    """Return a column rounded to multiples of the base."""
    if pa.types.is_decimal(array.type):
        return round_decimals(array, base, direction, rng)
    numbers = as_numbers(array, column)
    if numbers.whole and base.denominator == 1:
        try:
            return numbers.restore(round_integers(numbers.values, int(base), direction, rng))
        except (pa.ArrowInvalid, OverflowError):
            raise InputError(
                f"round_values: column {column!r} has values too close to the end of its type to be rounded"
            ) from None
    return numbers.restore(round_floats(numbers.values.astype(np.float64), base, direction, rng))


def goes_up(
    rest: npt.NDArray[np.number],
    step: float,
    negative: Flags,
    direction: Direction,
    rng: np.random.Generator,
) -> Flags:
    """Return which values take the multiple above, from what they exceed the multiple below by."""
    match direction:
        case "nearest":
            return np.where(negative, rest > step - rest, rest >= step - rest)
        case "down":
            return np.zeros(len(rest), dtype=bool)
        case "up":
            return rest > 0
        case _:
            return rng.random(len(rest)) * step < rest


def round_integers(values: Ints, base: int, direction: Direction, rng: np.random.Generator) -> Ints:
    """Round whole numbers exactly."""
    if base > np.iinfo(np.int64).max:
        raise OverflowError
    below, rest = np.divmod(values, base)
    up = goes_up(rest, base, values < 0, direction, rng)
    result = (below + up) * np.int64(base)
    if np.any(np.abs(result.astype(np.float64) - values) > 2.0 * base):
        raise OverflowError
    return result


def round_floats(
    values: Floats, base: Fraction, direction: Direction, rng: np.random.Generator
) -> Floats:
    """Round numbers with decimals, read as the decimal numbers they are written as."""
    scaled = values * base.denominator / base.numerator
    below = np.floor(scaled)
    rest = scaled - below
    # 0.15 / 0.1 is 1.4999... in binary: what is within a few units of the last place of a half or of
    # a whole multiple is meant to be one.
    slack = np.minimum(4 * np.finfo(np.float64).eps * np.maximum(np.abs(scaled), 1), 0.01)
    rest = np.where(np.abs(rest - 0.5) <= slack, 0.5, rest)
    rest = np.where(rest <= slack, 0.0, rest)
    whole = rest >= 1 - slack
    below, rest = np.where(whole, below + 1, below), np.where(whole, 0.0, rest)
    multiple = below + goes_up(rest, 1.0, values < 0, direction, rng)
    # Multiplying first keeps the quotient correctly rounded: 3 * 1 / 10 is 0.3, 3 * 0.1 is not. The
    # sum with 0.0 turns -0.0 into 0.0.
    return multiple * base.numerator / base.denominator + 0.0


def round_decimals(
    array: pa.ChunkedArray, base: Fraction, direction: Direction, rng: np.random.Generator
) -> pa.Array:
    """Round a column of decimals exactly; the scale grows when the base needs it."""
    values = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if direction == "random":
        exact = [None if v is None else Fraction(v) for v in values.to_pylist()]
        draws = rng.random(len(exact))
        new = [
            None if x is None else one_rounded(x, base, direction, float(u))
            for x, u in zip(exact, draws, strict=True)
        ]
        return as_decimals(new, values.type, base)
    coded = pc.dictionary_encode(values)
    distinct = [
        one_rounded(Fraction(v), base, direction, 0.0) for v in coded.dictionary.to_pylist()
    ]
    return as_decimals(distinct, values.type, base).take(coded.indices)


def one_rounded(x: Fraction, base: Fraction, direction: Direction, draw: float) -> Fraction:
    """Round one exact number."""
    below, rest = divmod(x, base)
    match direction:
        case "nearest":
            up = 2 * rest > base or (2 * rest == base and x > 0)
        case "up":
            up = rest > 0
        case "random":
            up = draw * base < rest
        case _:
            up = False
    return (below + up) * base


def as_decimals(
    values: list[Fraction | None] | list[Fraction], kind: pa.DataType, base: Fraction
) -> pa.Array:
    """Return exact numbers as decimals with room for the base."""
    exponent = (Decimal(base.numerator) / Decimal(base.denominator)).as_tuple().exponent
    scale = max(kind.scale, -exponent if isinstance(exponent, int) else 0)
    target = pa.decimal128(min(38, kind.precision + 1 + scale - kind.scale), scale)
    units = [None if v is None else Decimal(int(v * 10**scale)).scaleb(-scale) for v in values]
    return pa.array(units, type=target)
