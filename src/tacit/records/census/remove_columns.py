"""Variable suppression: whole columns are left out, on request of the office that owns the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName
from tacit.registry import register
from tacit.spec import Method


@register
class RemoveColumns(Method):
    """Leave out whole columns: those named, and on request all that are declared sensitive.

    No value of them is in the release, and the claim is checked on the file as written.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), IPUMS-International high precision population census microdata samples:
    balancing the privacy-quality tradeoff by means of restricted access extracts, PSD 2006, LNCS 4302, 375-382, section 5.
    """

    kind: Literal["remove_columns"] = "remove_columns"
    columns: tuple[ColumnName, ...] = Field(default=(), description="the columns to leave out")
    sensitive: bool = Field(
        default=False, description="leave out every column that is declared sensitive as well"
    )
    reason: str = Field(default="", description="why, in words for the report")

    on_household = "by_value"
    techniques: ClassVar[tuple[str, ...]] = ("variable suppression",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"]}
    column_fields = ("columns",)

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that go."""
        return tuple(dict.fromkeys([*self.columns, *(data.sensitive if self.sensitive else ())]))

    def removes(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that go."""
        return self.targets(data)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to leave out, or nothing left."""
        if found := super().faults(data):
            return found
        gone = self.targets(data)
        if not gone:
            found.append(
                InputError(
                    "remove_columns: there is nothing to leave out. Name columns, or declare sensitive ones and give sensitive=True."
                )
            )
        elif len(gone) == len(data.columns):
            found.append(InputError("remove_columns: no column would be left."))
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        gone = self.targets(data)
        ctx.note(columns=list(gone), **({"reason": self.reason} if self.reason else {}))
        return data.drop(gone)

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        yield Claim("absent-columns", {}, "columns left out", self.targets(data))
