"""Shared parameter types: declared once, used by every method's fields."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field


def name_as_text(value: Any) -> Any:
    """Return a whole number as text: frames may number their columns, and plans name a column 2019."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


ColumnName = Annotated[
    str,
    BeforeValidator(name_as_text),
    Field(min_length=1, json_schema_extra={"widget": "column"}),
]
ColumnNames = Annotated[tuple[ColumnName, ...], Field(min_length=1)]
Probability = Annotated[float, Field(ge=0, le=1)]
#: A share that is not 0, and one that is neither 0 nor 1.
PositiveShare = Annotated[float, Field(gt=0, le=1)]
OpenShare = Annotated[float, Field(gt=0, lt=1)]
PositiveInt = Annotated[int, Field(ge=1)]
NaturalInt = Annotated[int, Field(ge=0)]
PositiveFloat = Annotated[float, Field(gt=0)]

#: One sensitive column or several; ``column`` is the older name of the parameter.
SensitiveColumns = Annotated[
    ColumnName | Annotated[tuple[ColumnName, ...], Field(min_length=1)] | None,
    Field(
        validation_alias=AliasChoices("sensitive", "column"),
        description="the column or columns to look at; by default every sensitive column",
    ),
]

# What several Specs ask for in the same words.
EachQuasi = Annotated[
    str | None, Field(description="one named quasi-identifier; by default every one")
]
OneQuasi = Annotated[
    str | None, Field(description="one named quasi-identifier; by default all keys together")
]
Subject = Annotated[
    str | None,
    Field(
        description="identifier column found in the original and in the register, to tell subjects"
    ),
]
HouseholdColumn = Annotated[
    ColumnName | None,
    Field(description="the household of each record; by default the data's household column"),
]
IdentifierColumns = Annotated[
    Literal["drop", "keep"],
    Field(
        description="drop the identifier columns first, or keep them for a later step that substitutes them"
    ),
]
ColumnsLookedAt = Annotated[
    tuple[ColumnName, ...],
    Field(
        description="the columns looked at; by default all numeric ones that were changed, or all that both files share"
    ),
]
MaskedTogether = Annotated[
    ColumnNames | None,
    Field(
        description="the numeric columns to mask together; by default all that are neither identifiers nor weight, household or stratum"
    ),
]
GroupedUnit = Annotated[
    Literal["record", "household"],
    Field(
        description="group records, or whole households, whose columns must agree within a household"
    ),
]
GroupedWithin = Annotated[
    tuple[ColumnName, ...], Field(description="form groups only within classes of these columns")
]
WeightedAggregates = Annotated[
    bool, Field(description="weight the aggregates with the declared weight column")
]
MissingKeys = Annotated[
    Literal["category", "wildcard"],
    Field(
        description="how a missing key value counts: as a value of its own, or as agreeing with every value"
    ),
]
WildcardShare = Annotated[
    Probability,
    Field(description="wildcard only: how much an agreeing record that lacks a key counts"),
]
RefuseOrKeep = Annotated[
    Literal["refuse", "keep"],
    Field(
        description="refuse columns with missing values, or keep records with one as they are and mask the rest"
    ),
]
RoundMasked = Annotated[
    bool,
    Field(
        description="round masked whole-number columns to whole numbers, which no longer keeps means exactly"
    ),
]
KeepWhole = Annotated[
    bool, Field(description="keep whole-number columns whole, by rounding the noisy value")
]

#: A class-size requirement. 1 means no protection and is refused where a guarantee is claimed.
ClassSize = Annotated[int, Field(ge=1)]


def Secret(default: Any = ..., **kwargs: Any) -> Any:  # noqa: N802 - reads as a kind of Field
    """Declare a field whose value would help an intruder.

    It stays out of public plans, statements, reports, messages and ``repr``; only the confidential
    ledger keeps it.
    """
    extra = {**kwargs.pop("json_schema_extra", {}), "secret": True}
    return Field(default, repr=False, json_schema_extra=extra, **kwargs)
