"""The JSON schema of plan files, from the section models and the registry."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable
from typing import Any

from tacit.kinds import all_kinds
from tacit.plan.model import MODELS, SECTIONS, VERSION, Plan
from tacit.plan.sections import RULES_SCHEMA
from tacit.registry import specs
from tacit.spec import Measure, Method, Spec


def schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of a plan."""
    return copy.deepcopy(build_schema())


@functools.cache
def build_schema() -> dict[str, Any]:
    """Build the schema, once."""
    definitions: dict[str, Any] = {}
    for kind, cls in specs().items():
        definition = cls.model_json_schema(ref_template="#/$defs/{model}")
        definitions.update(definition.pop("$defs", {}))
        definition["required"] = sorted({"kind", *definition.get("required", [])})
        definition["description"] = cls.title()
        definitions[kind] = definition
    properties = section_schemas(definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A tacit plan",
        "type": "object",
        "properties": {
            name: {**properties[name], "description": text} for name, text in SECTIONS.items()
        },
        "anyOf": [{"required": ["steps"]}, {"required": ["map"]}],
        "additionalProperties": False,
        "$defs": definitions,
    }


def section_schemas(definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of every section."""
    measures = any_of(kinds_of(Measure))
    own = Plan.model_json_schema(ref_template="#/$defs/{model}")["properties"]
    formats = sorted({form for kind in all_kinds().values() for form in kind.formats})
    found: dict[str, Any] = {name: own[name] for name in ("title", "seed", "engine")}
    for name, model in MODELS.items():
        section = model.model_json_schema(ref_template="#/$defs/{model}")
        definitions.update(section.pop("$defs", {}))
        bare = [{"type": "string"}] if model.main else []
        found[name] = {"anyOf": [*bare, section]} if bare else section
    found["output"]["anyOf"][1]["properties"]["format"]["enum"] = formats
    found["map"]["properties"].update(map_schemas(measures))
    found["map"]["required"] = ["candidates", "risk", "utility"]
    found["tacit"] = {"const": VERSION}
    found["access"] = {"enum": ["Pr", "SPr", "SPu", "Pu"]}
    found["hierarchies"] = RULES_SCHEMA
    found["steps"] = {"type": "array", "minItems": 1, "items": any_of(kinds_of(Method))}
    found["measures"] = {"type": "array", "items": measures}
    bound = {"type": "number"}
    found["require"] = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "kind": {"enum": kinds_of(Measure)},
                "at_most": bound,
                "at_least": bound,
            },
            "required": ["kind"],
            "anyOf": [{"required": ["at_most"]}, {"required": ["at_least"]}],
        },
    }
    return found


def kinds_of(base: type[Spec]) -> list[str]:
    """Return the kinds of all methods, or of all measures."""
    return [kind for kind, cls in specs().items() if issubclass(cls, base)]


def any_of(kinds: Iterable[str]) -> dict[str, Any]:
    """Return the schema of an entry: a kind, or a mapping with its parameters."""
    names = list(kinds)
    return {"anyOf": [{"enum": names}, *({"$ref": f"#/$defs/{k}"} for k in names)]}


def map_schemas(measures: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas of the parts of a map section that hold Specs."""
    step = {"anyOf": [{"type": "string"}, {"type": "object", "required": ["kind"]}]}
    entry = {"anyOf": [*step["anyOf"], {"type": "array", "items": step, "minItems": 1}]}
    several = {"anyOf": [measures, {"type": "array", "items": measures, "minItems": 1}]}
    return {
        "candidates": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "anyOf": [*step["anyOf"], {"type": "array", "items": entry, "minItems": 1}]
            },
        },
        "risk": several,
        "utility": several,
    }
