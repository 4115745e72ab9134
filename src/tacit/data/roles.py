"""Columns and the roles they play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

RoleName = Literal[
    "identifiers",
    "keys",
    "sensitive",
    "weight",
    "household",
    "stratum",
    "copy_number",
    "withheld",
    "free",
]

#: The role of columns that steps make for each other and that no release holds, such as record keys.
WITHHELD = "withheld"

#: Groups of columns that tell each other.
Links = tuple[tuple[str, ...], ...]

#: Roles that at most one column may play.
SINGLE: frozenset[RoleName] = frozenset({"weight", "household", "stratum", "copy_number"})


@dataclass(frozen=True)
class Column:
    """What is known about one column beside its values."""

    #: The column's name.
    name: str
    #: The roles it plays; empty means free.
    roles: frozenset[str] = frozenset()
    #: A title for readers.
    label: str = ""
    #: Labels of coded values, as in SPSS and Stata files.
    labels: Mapping[Any, str] = field(default_factory=dict)
    #: Codes that stand for a missing answer. They stay in the data as they are.
    missing: tuple[Any, ...] = ()
    #: What the file of origin needs to write the column back: width, decimals, measure, ...
    format: Mapping[str, Any] = field(default_factory=dict)
    #: The columns from whose values a step computed this one.
    sources: tuple[str, ...] = ()

    @property
    def role(self) -> str:
        """Return the roles as one word or list for readers."""
        return ", ".join(sorted(self.roles)) or "free"
