"""De-identification: take explicit identifiers out, or put made-up ones in their place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import RoleMissing, SdcError
from tacit.fields import ColumnName
from tacit.records.identifiers.substitute import Substitute
from tacit.registry import register
from tacit.spec import Method


@register
class Deidentify(Method):
    """Drop, or substitute, every explicit identifier.

    An explicit identifier is a set of columns through which a person can be reached directly: name,
    address, telephone number, social security number. Removing them is where protection begins, and not
    where it ends: what is left can still be unique in combination.

    References
    ----------
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    """

    kind: Literal["deidentify"] = "deidentify"
    columns: tuple[ColumnName, ...] = Field(
        default=(), description="the explicit identifiers; by default the columns with that role"
    )
    how: Literal["drop", "substitute"] = Field(
        default="drop",
        description="remove the columns, or replace their values one-to-one by made-up ones",
    )

    on_household = "by_value"
    takes_copies: ClassVar[bool] = True
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("de-identification",)

    @property
    def uses_chance(self) -> bool:
        """Return True when values are made up."""
        return self.how == "substitute"

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to remove; identifiers that cannot be substituted."""
        found = super().faults(data)
        if not self.targets(data):
            found.append(
                RoleMissing(
                    "deidentify: no explicit identifiers are declared. Declare them with tacit.read(..., identifiers=[...]) or name columns."
                )
            )
        elif not found and self.how == "substitute":
            found += self.substitution(data).faults(data)
        return found

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns to remove or substitute."""
        return self.columns or data.identifiers

    def removes(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that are dropped."""
        return self.targets(data) if self.how == "drop" else ()

    def substitution(self, data: Microdata) -> Substitute:
        """Return the step that makes up values."""
        return Substitute(columns=self.targets(data))

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        columns = self.targets(data)
        ctx.note(columns=list(columns), how=self.how)
        if self.how == "substitute":
            return self.substitution(data)._apply(data, ctx)
        return data.drop(columns)

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        if self.how == "drop":
            yield Claim("absent-columns", {}, "explicit identifiers", self.targets(data))
