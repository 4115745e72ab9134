"""Claim: a guarantee in words and in a form that can be recomputed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit.claims.registry import data_of, find_check
from tacit.errors import DisclosureRefused


@dataclass(frozen=True)
class Claim:
    """A protection claim in words and in a form that can be recomputed.

    Attributes
    ----------
    model
        The protection model: ``k-anonymity``, ``k-combinations``, ...
    parameters
        Its public parameters, e.g. ``{"k": 5}``.
    quasi_identifier
        The name of the quasi-identifier, or of the cells, that the claim is about.
    columns
        Its columns, or the dimensions of the table.
    assumptions
        What must be true of the world for the claim to protect.
    """

    model: str
    parameters: Mapping[str, Any]
    quasi_identifier: str
    columns: tuple[str, ...]
    assumptions: tuple[str, ...] = field(default=())

    @property
    def about(self) -> str:
        """Return the kind of data that can be checked: ``records`` or ``table``."""
        return data_of(self.model)

    def holds(self, view: Any) -> bool:
        """Recompute the claim on what is released: a frame, or a table.

        A table is the confidential one with the published part (hidden cells, changed values, intervals)
        as published.

        Raises
        ------
        DisclosureRefused
            When the claim is about a column that is no longer there.
        """
        check = find_check(self.model)
        try:
            return bool(check(view, self))
        except Exception:
            self.refuse_lost_columns(view)
            raise

    def refuse_lost_columns(self, view: Any) -> None:
        """Refuse records without a column that could not be checked for want of it."""
        names = view.collect_schema().names() if hasattr(view, "collect_schema") else self.columns
        lost = [c for c in self.columns if c not in names]
        if lost:
            raise DisclosureRefused(
                f"the claim '{self.sentence()}' is about {', '.join(map(repr, lost))}, which a later step "
                "removed. Remove such columns first, and protect what is left."
            ) from None

    def require(self, view: Any, where: str) -> None:
        """Refuse to go on when the claim does not hold."""
        if not self.holds(view):
            raise DisclosureRefused(
                f"{where}: the claim '{self.sentence()}' does not hold on the output. Nothing was "
                "released; look for a later step that undoes the protection."
            )

    def sentence(self) -> str:
        """Return the claim in words."""
        simple = {
            k: v for k, v in self.parameters.items() if not isinstance(v, list | tuple | dict)
        }
        values = ", ".join(f"{k} = {v}" for k, v in simple.items())
        return (
            f"{self.model}{' with ' + values if values else ''} on {self.quasi_identifier} "
            f"({', '.join(self.columns)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as plain data."""
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "quasi_identifier": self.quasi_identifier,
            "columns": list(self.columns),
            "assumptions": list(self.assumptions),
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
        )
