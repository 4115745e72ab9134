"""Entries of a plan's lists: Specs written as a kind or a mapping, and requirements on the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.errors import SdcError
from tacit.registry import lookup
from tacit.result import Result, format_number
from tacit.spec import Measure, Method, Spec


def collect(entries: Any, base: type[Spec], noun: str, faults: list[str]) -> list[Any]:
    """Build the Specs of a list of entries, adding a fault for each that is wrong."""
    if entries is None:
        return []
    if not isinstance(entries, list | tuple):
        faults.append(f"{noun}s must be a list")
        return []
    built = []
    for i, entry in enumerate(entries, 1):
        try:
            built.append(spec_of(entry, base, noun))
        except SdcError as error:
            name = entry.get("kind") if isinstance(entry, Mapping) else None
            faults.append(f"{noun} {i}{f' ({name})' if name else ''}: {error}")
        except TypeError as error:
            faults.append(f"{noun} {i}: {error}")
    return built


def spec_of(entry: Any, base: type[Spec], noun: str) -> Spec:
    """Return the Spec of an entry: itself, a kind, or a mapping with its kind."""
    if isinstance(entry, Spec):
        made = entry
    else:
        named = {"kind": entry} if isinstance(entry, str) else entry
        if not isinstance(named, Mapping) or not isinstance(named.get("kind"), str):
            raise TypeError("it has no kind; write e.g. {kind: datafly, k: 5}")
        values = {str(k): v for k, v in named.items() if k != "kind"}
        made = lookup(named["kind"], values)(**values)
    if not isinstance(made, base):
        place = "steps" if isinstance(made, Method) else "measures"
        raise TypeError(f"{made.kind} is not a {noun}; it belongs under {place}")
    return made


@dataclass(frozen=True)
class Requirement:
    """A bound that the release must keep: a measure, and the least or largest value of it."""

    measure: Measure[Any]
    at_most: float | None = None
    at_least: float | None = None

    def shortfall(self, result: Result) -> str:
        """Return how the result misses the bound; empty when it keeps it."""
        value = float(result.value)
        shown = f"{result.title} is {format_number(value)}"
        if self.at_most is not None and not value <= self.at_most:
            return f"{shown}, and at most {format_number(self.at_most)} is required"
        if self.at_least is not None and not value >= self.at_least:
            return f"{shown}, and at least {format_number(self.at_least)} is required"
        return ""

    def to_dict(self, *, public: bool = False) -> dict[str, Any]:
        """Return the requirement as a plan holds it."""
        bounds = {"at_most": self.at_most, "at_least": self.at_least}
        given = {k: v for k, v in bounds.items() if v is not None}
        return {**self.measure.to_dict(public=public), **given}


def requirements(entries: Any, faults: list[str]) -> list[Requirement]:
    """Build the requirements of a plan, adding a fault for each that is wrong."""
    if entries is None:
        return []
    if not isinstance(entries, list | tuple):
        faults.append("require must be a list, such as [{kind: k_anonymity, at_least: 5}]")
        return []
    built = []
    for i, entry in enumerate(entries, 1):
        if isinstance(entry, Requirement):
            built.append(entry)
            continue
        given = entry if isinstance(entry, Mapping) else {}
        bounds = {k: v for k, v in given.items() if k in ("at_most", "at_least")}
        odd = [v for v in bounds.values() if isinstance(v, bool) or not isinstance(v, int | float)]
        if not bounds or odd:
            faults.append(f"require {i}: give a bound, at_most or at_least, as a number")
            continue
        rest = {k: v for k, v in entry.items() if k not in bounds}
        wrong: list[str] = []
        found = collect([rest], Measure, "measure", wrong)
        faults += [f"require {i}: {f.removeprefix('measure 1: ')}" for f in wrong]
        built += [Requirement(m, **bounds) for m in found]
    return built
