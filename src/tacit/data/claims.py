"""Claims: what a method guarantees, and the independent check that it holds on the output.

A check is written here from the definition alone, on the released frame, and shares no code with the
methods that make the claim. It runs when a method ends and again on the file as written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw

from tacit.errors import DisclosureRefused

Frame = nw.LazyFrame[Any]
#: A check looks at a released frame, or at a table.
Check = Callable[[Any, "Claim"], bool]

_checks: dict[str, Check] = {}


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
        The name of the quasi-identifier that the claim is about.
    columns
        Its columns.
    assumptions
        What must be true of the world for the claim to protect.
    """

    model: str
    parameters: Mapping[str, Any]
    quasi_identifier: str
    columns: tuple[str, ...]
    assumptions: tuple[str, ...] = field(default=())

    def holds(self, frame: Any) -> bool:
        """Recompute the claim on a released frame or table."""
        return _checks[self.model](frame, self)

    def require(self, frame: Any, where: str) -> None:
        """Refuse to go on when the claim does not hold."""
        if not self.holds(frame):
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

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Claim:
        """Return the claim that a statement holds."""
        return cls(
            entry["model"],
            entry["parameters"],
            entry["quasi_identifier"],
            tuple(entry["columns"]),
            tuple(entry.get("assumptions", ())),
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


def check_for(model: str) -> Callable[[Check], Check]:
    """Name the function that recomputes claims of a model."""

    def keep(check: Check) -> Check:
        _checks[model] = check
        return check

    return keep


def smallest(frame: Frame, columns: tuple[str, ...]) -> int | None:
    """Return the size of the smallest class, or None when there are no rows."""
    sizes = frame.group_by(*columns).agg(nw.len().alias("__size__"))
    found = sizes.select(nw.col("__size__").min()).collect("pyarrow").item(0, "__size__")
    return None if found is None else int(found)


@check_for("k-anonymity")
def k_anonymity_holds(frame: Frame, claim: Claim) -> bool:
    """Every combination of values on the columns occurs in at least k records."""
    size = smallest(frame, claim.columns)
    return size is None or size >= claim.parameters["k"]


@check_for("k-combinations")
def k_combinations_hold(frame: Frame, claim: Claim) -> bool:
    """Every complete value of each listed combination occurs in at least k records."""
    for combination in claim.parameters["combinations"]:
        complete = frame
        for column in combination:
            complete = complete.filter(~nw.col(column).is_null())
        size = smallest(complete, tuple(combination))
        if size is not None and size < claim.parameters["k"]:
            return False
    return True


@check_for("k-agreement")
def k_agreement_holds(frame: Frame, claim: Claim) -> bool:
    """Every record agrees with at least k records on the columns; a missing value agrees with all."""
    from tacit.engine.codes import cells, wildcard_sizes

    found = wildcard_sizes(cells(frame, claim.columns))
    return not len(found) or bool(found.min() >= claim.parameters["k"])


@check_for("absent-columns")
def columns_absent(frame: Frame, claim: Claim) -> bool:
    """None of the columns is in the output."""
    return not set(claim.columns) & set(frame.collect_schema().names())
