"""Tiered rounding: the larger the amount, the coarser the base."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.in_blocks import change_each
from tacit.data.microdata import Microdata
from tacit.data.values import as_numbers
from tacit.fields import ColumnNames, PositiveFloat
from tacit.records.generalisation.round_values import Direction, round_floats, round_integers
from tacit.registry import register
from tacit.spec import Method

#: The tiers that the paper names: 10,000 from a million on, 1,000 from 10,000 on.
TIERS = ((1_000_000.0, 10_000.0), (10_000.0, 1_000.0))


@register
class RoundTiers(Method):
    """Round amounts to a base that depends on their size, up or down at random without bias.

    With tiers (limit, base), largest limit first, an amount of |x| >= limit is rounded to multiples of
    base: lo = base * floor(x / base) becomes lo + base with probability (x - lo) / base, else lo, so that
    the expected value is x, for negative amounts as well. Amounts below the last limit stay.

    The probability that 1,222,221 becomes 1,220,000 is 7,779 / 10,000; the paper prints 7,879 / 1000.

    References
    ----------
    Kennickell, Lane (2006), Measuring the impact of data protection techniques on data utility: evidence
    from the Survey of Consumer Finances, PSD 2006, LNCS 4302, 291-303, section 4.2.
    """

    kind: Literal["round_tiers"] = "round_tiers"
    columns: ColumnNames = Field(description="the numeric columns to round")
    tiers: tuple[tuple[PositiveFloat, PositiveFloat], ...] = Field(
        default=TIERS,
        min_length=1,
        description="pairs of a limit and the base from that limit on, largest limit first",
    )
    direction: Direction = Field(
        default="random",
        description="up or down at random without bias, to the nearest multiple, down, or up",
    )

    on_household = "together"
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("rounding",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "tiers": [[50, 10], [20, 5]]}
    number_fields = ("columns",)

    @model_validator(mode="after")
    def _descending(self) -> RoundTiers:
        limits, bases = zip(*self.tiers, strict=True)
        if list(limits) != sorted(set(limits), reverse=True):
            raise ValueError("tiers must have descending limits")
        if list(bases) != sorted(bases, reverse=True):
            raise ValueError("tiers must have bases that do not grow as amounts fall")
        return self

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        result = change_each(data, self.columns, self.rounded, ctx)
        ctx.note(columns=list(self.columns), tiers=[list(t) for t in self.tiers])
        return result

    def rounded(self, table: pa.Table, name: str, rng: np.random.Generator) -> pa.Array:
        """Return a column of a block, each value rounded to the base of its tier."""
        column = as_numbers(table.column(name), name)
        whole = column.whole and all(Fraction(repr(b)).denominator == 1 for _, b in self.tiers)
        values: Any = column.values.copy() if whole else column.values.astype(np.float64)
        size, above = np.abs(column.values.astype(np.float64)), np.inf
        for limit, base in self.tiers:
            at, above = column.known & (size >= limit) & (size < above), limit
            exact = Fraction(repr(base))
            if whole:
                values[at] = round_integers(values[at], int(exact), self.direction, rng)
            else:
                values[at] = round_floats(values[at], exact, self.direction, rng)
        return column.restore(values)
