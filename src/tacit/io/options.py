"""How to read a file, where its ending does not say all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Options(BaseModel):
    """How to read a file, where its ending does not say all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    separator: str | None = Field(
        default=None,
        description="separator of columns in text; guessed from the first line when not given",
    )
    quote: str = Field(default='"', description="quotation mark in text")
    encoding: str = Field(default="utf-8", description="encoding of text")
    header: bool = Field(default=True, description="whether the first line of text holds the names")
    missing: tuple[Any, ...] = Field(
        default=(),
        description="texts or codes that stand for a missing answer and become null on reading",
    )
    types: Mapping[str, str] = Field(
        default_factory=dict,
        description="types to force by column: text, integer, number, date",
    )
    sheet: str | None = Field(
        default=None, description="name of an Excel sheet; by default the first"
    )
    hidden: bool = Field(
        default=False,
        description="whether hidden columns and rows of a spreadsheet are read as well",
    )
    metadata: str | None = Field(
        default=None, description="path of a mu-ARGUS .rda file; by default the one beside the data"
    )
    query: str | None = Field(default=None, description="SQL to run on a database")
    table: str | None = Field(default=None, description="a table of a database, instead of a query")
