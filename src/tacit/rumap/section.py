"""The ``map`` section of a plan: candidates, measures and limits as plain data.

::

    map:
      candidates:
        noise: {kind: add_noise, columns: [cost], relative: [0.05, 0.1, 0.2]}
        noise and swap:
          - [{kind: add_noise, columns: [cost], relative: 0.1}, {kind: swap, share: [0.05, 0.1]}]
      risk: {kind: k_anonymity, k: 3}
      utility: [precision]
      replicates: 5
      max_risk: 0.05
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from tacit.errors import PlanError, SdcError, near_match
from tacit.plan import Plan, collect
from tacit.rumap.grids import from_entry
from tacit.rumap.ru_map import Pooling, RUMap
from tacit.spec import Measure, Method

POOLINGS = get_args(Pooling)

#: Options of the section besides candidates, risk and utility, with their JSON schema.
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "replicates": {"type": "integer", "minimum": 1},
    "max_risk": {"type": "number", "minimum": 0},
    "min_utility": {"type": "number"},
    "workers": {"type": "integer", "minimum": 1},
    "risk_pooling": {"enum": list(POOLINGS)},
    "utility_pooling": {"enum": list(POOLINGS)},
    "common_random_numbers": {"type": "boolean"},
    "confidence": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "log_risk": {"type": "boolean"},
    "risk_label": {"type": "string"},
    "utility_label": {"type": "string"},
    "title": {"type": "string"},
}
TYPES: Mapping[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "string": (str,),
}


def build(plan: Plan) -> RUMap:
    """Return the map of a plan; the plan's own steps come first in every candidate."""
    if not plan.map:
        raise PlanError("the plan has no map section; add one with candidates, risk and utility")
    faults: list[str] = []
    candidates = candidates_of(plan.map.get("candidates"), faults)
    measures = {axis: measures_of(plan.map.get(axis), axis, faults) for axis in ("risk", "utility")}
    options = {k: v for k, v in plan.map.items() if k in OPTIONS}
    faults += option_faults(plan.map)
    if faults:
        raise PlanError("the plan's map has faults", [f"map: {f}" for f in faults])
    if plan.title and "title" not in options:
        options["title"] = plan.title
    return RUMap(
        candidates,
        measures["risk"],
        measures["utility"],
        before=plan.record_steps,
        template=plan,
        **options,
    )


def section_faults(section: Any, steps: Sequence[Method] = ()) -> list[str]:
    """Return what is wrong with a map section that needs no data to be seen."""
    if not isinstance(section, Mapping):
        return ["map must be a mapping with candidates, risk and utility"]
    faults = option_faults(section)
    candidates_of(section.get("candidates"), faults)
    for axis in ("risk", "utility"):
        measures_of(section.get(axis), axis, faults)
    if not faults:
        try:
            build(Plan(tuple(steps), map=section))
        except SdcError as error:
            faults.append(str(error))
    return [f"map: {f}" for f in faults]


def option_faults(section: Mapping[str, Any]) -> list[str]:
    """Return options that do not exist or are of the wrong type."""
    known = ("candidates", "risk", "utility", *OPTIONS)
    faults = [
        f"there is no option {o!r}. {near_match(str(o), known)}".strip()
        for o in section
        if o not in known
    ]
    for name, rule in OPTIONS.items():
        if name not in section:
            continue
        value = section[name]
        if "enum" in rule:
            if value not in rule["enum"]:
                faults.append(f"{name} must be one of {', '.join(rule['enum'])} (got {value!r})")
        elif not isinstance(value, TYPES[rule["type"]]) or (
            isinstance(value, bool) and rule["type"] != "boolean"
        ):
            article = "an" if rule["type"] == "integer" else "a"
            faults.append(f"{name} must be {article} {rule['type']} (got {value!r})")
    return faults


def candidates_of(section: Any, faults: list[str]) -> dict[str, list[tuple[Method, ...]]]:
    """Return the candidates by curve, adding a fault for each that is wrong."""
    if not isinstance(section, Mapping) or not section:
        faults.append(
            "candidates must be a mapping from name to steps, e.g. "
            "{noise: {kind: add_noise, columns: [cost], relative: [0.1, 0.2]}}"
        )
        return {}
    found: dict[str, list[tuple[Method, ...]]] = {}
    for name, entry in section.items():
        entries = entry if isinstance(entry, list) else [entry]
        for i, one in enumerate(entries, 1):
            try:
                found.setdefault(str(name), []).extend(from_entry(one))
            except SdcError as error:
                where = f"{name!r}, entry {i}" if isinstance(entry, list) else f"{name!r}"
                faults.append(f"candidates {where}: {error}")
    return found


def measures_of(section: Any, axis: str, faults: list[str]) -> list[Measure]:
    """Return the measures of an axis, adding a fault for each that is wrong."""
    if not section:
        faults.append(f"{axis} is missing; name a measure, e.g. {axis}: {{kind: ...}}")
        return []
    entries = section if isinstance(section, list) else [section]
    return collect(entries, (Measure,), f"{axis} measure", faults)


def schema(measures: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of the section; ``measures`` is that of one measure."""
    step = {"anyOf": [{"type": "string"}, {"type": "object", "required": ["kind"]}]}
    entry = {"anyOf": [*step["anyOf"], {"type": "array", "items": step, "minItems": 1}]}
    several = {"anyOf": [measures, {"type": "array", "items": measures, "minItems": 1}]}
    return {
        "type": "object",
        "properties": {
            "candidates": {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {
                    "anyOf": [*step["anyOf"], {"type": "array", "items": entry, "minItems": 1}]
                },
            },
            "risk": several,
            "utility": several,
            **{name: dict(rule) for name, rule in OPTIONS.items()},
        },
        "required": ["candidates", "risk", "utility"],
        "additionalProperties": False,
    }
