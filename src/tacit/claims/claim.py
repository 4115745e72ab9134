"""Claim: a guarantee in words and in a form that can be recomputed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw

from tacit.claims.registry import data_of, find_check
from tacit.errors import DisclosureRefused

#: Models whose checks say themselves what it means that a column is not there.
JUDGE_ABSENCE = (
    *("absent-columns", "constant-in-households", "suppressed-together"),
    *("whole-households", "numbered-in-order"),
)


@dataclass(frozen=True)
class Claim:
    """A protection claim in words and in a form that can be recomputed."""

    #: The protection model: ``k-anonymity``, ``k-combinations``, ...
    model: str
    #: Its public parameters, e.g. ``{"k": 5}``.
    parameters: Mapping[str, Any]
    #: The name of the quasi-identifier, or of the cells, that the claim is about.
    quasi_identifier: str
    #: Its columns, or the dimensions of the table.
    columns: tuple[str, ...]
    #: What must be true of the world for the claim to protect.
    assumptions: tuple[str, ...] = field(default=())
    #: Parameters that hold counts of the confidential data: the ledger has them, the statement has not.
    withheld: tuple[str, ...] = field(default=())

    @property
    def about(self) -> tuple[str, ...]:
        """Return the kinds of data that can be checked: ``records``, ``table``, ``corpus``."""
        return data_of(self.model)

    def holds(self, view: Any) -> bool:
        """Recompute the claim on what is released: a frame, or a table.

        A table is the confidential one with the published part (hidden cells, changed values, intervals)
        as published.
        """
        return not self.lost_columns(view) and bool(find_check(self.model)(view, self))

    def lost_columns(self, view: Any) -> list[str]:
        """Return the columns that the claim is about and released records no longer have."""
        if not isinstance(view, nw.LazyFrame) or self.model in JUDGE_ABSENCE:
            return []
        held = set(view.collect_schema().names())
        return [c for c in self.columns if c not in held]

    def require(self, view: Any, where: str) -> None:
        """Refuse to go on when the claim does not hold."""
        lost = self.lost_columns(view)
        if lost:
            raise DisclosureRefused(
                f"{where}: the claim '{self.sentence()}' is about columns that are no longer there "
                f"({', '.join(map(repr, lost))}), so that nobody could check it. Leave columns out before the step "
                "that protects them."
            )
        if not self.holds(view):
            raise DisclosureRefused(
                f"{where}: the claim '{self.sentence()}' does not hold on the output. Nothing was "
                "released; look for a later step that undoes the protection."
            )

    def sentence(self) -> str:
        """Return the claim in words."""
        simple = {
            k: v
            for k, v in self.parameters.items()
            if v is not None and not isinstance(v, list | tuple | dict)
        }
        values = ", ".join(f"{k} = {v}" for k, v in simple.items())
        columns = f" ({', '.join(self.columns)})" if self.columns else ""
        return (
            f"{self.model}{' with ' + values if values else ''} on {self.quasi_identifier}{columns}"
        )

    @property
    def complete(self) -> bool:
        """Return True when nothing is missing that the check needs."""
        return all(name in self.parameters for name in self.withheld)

    def to_dict(self, *, public: bool = False) -> dict[str, Any]:
        """Return the claim as plain data; in public without the parameters that are withheld."""
        hidden = self.withheld if public else ()
        return {
            "model": self.model,
            "parameters": {k: v for k, v in self.parameters.items() if k not in hidden},
            "quasi_identifier": self.quasi_identifier,
            "columns": list(self.columns),
            "assumptions": list(self.assumptions),
            **({"withheld": list(self.withheld)} if self.withheld else {}),
        }

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Claim:
        """Return the claim that :meth:`to_dict` gave as plain data."""
        return cls(
            entry["model"],
            entry["parameters"],
            entry["quasi_identifier"],
            tuple(entry["columns"]),
            tuple(entry.get("assumptions", ())),
            tuple(entry.get("withheld", ())),
        )
