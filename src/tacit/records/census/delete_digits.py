"""Digit deletion: the trailing digits of hierarchical codes are cut off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
from pydantic import Field

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import drop_stale_descriptions
from tacit.engine.relational import fetch_distinct
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName, NaturalInt, PositiveInt
from tacit.registry import register
from tacit.spec import Method


@register
class DeleteDigits(Method):
    """Keep the leading digits of hierarchical codes, such as occupation, industry or place.

    A code is a text: 0110 with two digits kept is 01, and its leading zero survives. A code that is no longer than what is
    kept stays as it is; a missing one stays missing. A column of numbers has lost its leading zeros: ``width`` says how long
    its codes are, and puts them back before cutting.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), IPUMS-International high precision population census microdata samples:
    balancing the privacy-quality tradeoff by means of restricted access extracts, PSD 2006, LNCS 4302, 375-382, section 5.
    """

    kind: Literal["delete_digits"] = "delete_digits"
    keep: Annotated[Mapping[ColumnName, NaturalInt], Field(min_length=1)] = Field(
        description="number of leading digits that are kept, by column"
    )
    width: Mapping[ColumnName, PositiveInt] = Field(
        default_factory=dict,
        description="length of the codes, by column, where they are stored as numbers",
    )

    on_household = "by_value"
    techniques: ClassVar[tuple[str, ...]] = ("generalise values",)
    example: ClassVar[Mapping[str, Any]] = {"keep": {"zip": 3}}

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of codes."""
        return tuple(dict.fromkeys([*self.keep, *self.width]))

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns of codes."""
        del data
        return tuple(self.keep)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns that hold no codes; widths that fit no column."""
        if found := super().faults(data):
            return found
        schema = data.frame.collect_schema()
        for column in self.keep:
            whole = schema[column].is_integer()
            if not whole and schema[column] != nw.String:
                found.append(
                    InputError(f"delete_digits: column {column!r} must hold codes: text or whole numbers.")
                )  # fmt: skip
            elif whole != (column in self.width):
                found.append(
                    InputError(
                        f"delete_digits: column {column!r} holds numbers, which have lost their leading zeros; give the length of its codes with width=."
                        if whole
                        else f"delete_digits: column {column!r} holds text, so leave it out of width."
                    )
                )
        found += [
            InputError(f"delete_digits: width names column {c!r}, of which nothing is cut.")
            for c in self.width
            if c not in self.keep
        ]
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        result = data
        for column, keep in self.keep.items():
            ctx.tick(f"digits of {column}")
            values = fetch_distinct(data.frame, column)
            texts = self.as_codes(values.to_pylist(), column)
            cut = pa.array([t[:keep] for t in texts], pa.string())
            result = result.recode(column, pa.table({"old": values, "new": cut}))
        ctx.note(columns=list(self.keep), digits_kept=dict(self.keep))
        return drop_stale_descriptions(result, self.keep)

    def as_codes(self, values: list[Any], column: str) -> list[str]:
        """Return values as texts of their length."""
        if column not in self.width:
            return values
        if any(v < 0 or len(str(v)) > self.width[column] for v in values):
            raise InputError(
                f"delete_digits: column {column!r} has codes that are negative or longer than its width."
            )
        return [str(v).zfill(self.width[column]) for v in values]

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del data, result
        for column, keep in self.keep.items():
            yield Claim("absent-digits", {"keep": keep}, "codes", (column,))
