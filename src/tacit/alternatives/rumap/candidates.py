"""Candidates: what is put on the map, with a curve to belong to and a label to be known by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.alternatives.rumap.points import Point, list_varying_parameters
from tacit.errors import InputError
from tacit.plan import Plan
from tacit.result import format_number
from tacit.spec import Method


@dataclass(frozen=True)
class Candidate:
    """One plan on the map."""

    method: str
    label: str
    parameters: Mapping[str, Any]
    plan: Plan

    @property
    def steps(self) -> tuple[Method, ...]:
        """Return the steps."""
        return self.plan.steps

    @property
    def name(self) -> str:
        """Return method and setting."""
        return f"{self.method} {self.label}".strip()

    @property
    def random(self) -> bool:
        """Return True when the result depends on the seed."""
        return any(step.uses_chance for step in self.steps)


def expand(candidates: Mapping[str, Any], *, before: Sequence[Method] = ()) -> list[Candidate]:
    """Return every candidate of a mapping from curve to a method, a plan, a combination or many of them."""
    if not isinstance(candidates, Mapping) or not candidates:
        raise InputError(
            "a map needs candidates by name, e.g. {'noise': tacit.alternatives.rumap.grid(tacit.AddNoise, ...)}"
        )
    found: list[Candidate] = []
    for method, given in candidates.items():
        entries = [given] if isinstance(given, Method | Plan) else list(given)
        if not entries:
            raise InputError(f"the map's {method!r} has no candidates")
        plans = [as_plan(entry, method, before) for entry in entries]
        own = [p.steps[len(before) :] for p in plans]
        settings = [parameters_of(steps) for steps in own]
        kinds = [" + ".join(step.kind.replace("_", " ") for step in steps) for steps in own]
        found += [
            Candidate(str(method), label, values, plan)
            for label, values, plan in zip(
                labels_of(settings, kinds, [p.title for p in plans]), settings, plans, strict=True
            )
        ]
    return found


def as_plan(entry: Any, method: str, before: Sequence[Method]) -> Plan:
    """Return a candidate as a plan, common steps first."""
    if isinstance(entry, Plan):
        return entry.with_(steps=(*before, *entry.steps))
    steps = [entry] if isinstance(entry, Method) else entry
    if isinstance(steps, Sequence) and steps and all(isinstance(s, Method) for s in steps):
        return Plan((*before, *steps))
    raise InputError(
        f"the map's {method!r} holds {type(entry).__name__}; "
        "a candidate is a method, a list of methods applied in order, or a plan"
    )


def parameters_of(steps: Sequence[Method]) -> dict[str, Any]:
    """Return every parameter of the steps; those of the same name are told apart by column or kind."""
    named = [
        (i, name, value)
        for i, step in enumerate(steps)
        for given, whole in step.model_dump(mode="json", exclude={"kind"}).items()
        for name, value in unfold_parameter(given, whole)
    ]
    names = [name for _, name, _ in named]
    owners = owners_of(steps)
    return {
        (name if names.count(name) == 1 else f"{owners[i]} {name}"): value
        for i, name, value in named
    }


def unfold_parameter(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a parameter, a method within a method as its kind and its own parameters."""
    if isinstance(value, Mapping) and "kind" in value:
        yield name, value["kind"]
        for part, inner in value.items():
            if part != "kind":
                yield from unfold_parameter(f"{name} {part}", inner)
    elif (
        isinstance(value, list)
        and value
        and all(isinstance(v, Mapping) and "kind" in v for v in value)
    ):
        for i, inner in enumerate(value, 1):
            yield from unfold_parameter(f"{name} {i}", inner)
    else:
        yield name, value


def owners_of(steps: Sequence[Method]) -> list[str]:
    """Return what each step is known by: its only column, else its kind, else its number."""
    for known in (
        [s.columns_named()[0] if len(s.columns_named()) == 1 else s.kind for s in steps],
        [s.kind for s in steps],
    ):
        if len(set(known)) == len(steps):
            return known
    return [f"{s.kind} {i}" for i, s in enumerate(steps, 1)]


def labels_of(
    settings: Sequence[Mapping[str, Any]], kinds: Sequence[str], titles: Sequence[str]
) -> list[str]:
    """Return what tells the candidates of a curve apart, as short as possible; plans may have titles."""
    if len(settings) == 1 or (all(titles) and len(set(titles)) == len(titles)):
        return list(titles)
    labels = []
    for kind, values in zip(kinds, settings, strict=True):
        alike = [
            Point("", "", s, 0.0, 0.0) for k, s in zip(kinds, settings, strict=True) if k == kind
        ]
        parts = [
            setting(n, values[n])
            for n in list_varying_parameters(alike)
            if values.get(n) is not None
        ]
        labels.append(", ".join([*([kind] if len(set(kinds)) > 1 else []), *parts]))
    # Equal settings are told apart by number.
    return [
        label if labels.count(label) == 1 and label else f"{label} ({i})".strip()
        for i, label in enumerate(labels, 1)
    ]


def setting(name: str, value: Any) -> str:
    """Return a parameter with its value: ``k = 5``, ``relative 0.1``."""
    text = format_label_value(value)
    if isinstance(value, Mapping):
        return text
    plain_name = name.replace("_", " ")
    return f"{plain_name} = {text}" if len(name) <= 2 else f"{plain_name} {text}"


def format_label_value(value: Any) -> str:
    """Return a value for a label."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return "+".join(format_label_value(v) for v in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {format_label_value(v)}" for k, v in value.items())
    return format_number(value)
