"""Shared parameter types: declared once, used by every method's fields."""

from __future__ import annotations

from typing import Annotated, Any

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
PositiveInt = Annotated[int, Field(ge=1)]
NaturalInt = Annotated[int, Field(ge=0)]
PositiveFloat = Annotated[float, Field(gt=0)]

#: One sensitive column or several; ``column`` is the older name of the parameter.
SensitiveColumns = Annotated[
    ColumnName | Annotated[tuple[ColumnName, ...], Field(min_length=1)] | None,
    Field(validation_alias=AliasChoices("sensitive", "column")),
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
