"""What is wrong with parameters, in our words: one clause per fault, for Specs, plans and public functions."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from tacit.errors import near_match


def wants_number(cls: type[BaseModel], name: str) -> bool:
    """Return True for a field that is a number, or a number or nothing."""
    kinds = simple_kinds(cls.model_fields[name].annotation) if name in cls.model_fields else set()
    return bool(kinds & {int, float}) and bool not in kinds


def simple_kinds(annotation: Any) -> set[Any]:
    """Return the types behind ``Annotated`` and unions."""
    if get_origin(annotation) is Annotated:
        return simple_kinds(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return {k for a in get_args(annotation) for k in simple_kinds(a)}
    return {annotation}


def parameter_faults(cls: type[BaseModel], error: ValidationError) -> list[str]:
    """Return one clause per fault: ``k must be at least 2 (got 0)``."""
    secrets = secret_fields(cls)
    return [fault_clause(fault, cls, secrets) for fault in error.errors(include_url=False)]


def secret_fields(cls: type[BaseModel]) -> frozenset[str]:
    """Return the fields whose values would help an intruder."""
    return frozenset(
        name
        for name, info in cls.model_fields.items()
        if isinstance(info.json_schema_extra, dict) and info.json_schema_extra.get("secret")
    )


def fault_clause(fault: Mapping[str, Any], cls: type[BaseModel], secrets: frozenset[str]) -> str:
    """Turn one pydantic fault into a clause in our words."""
    path = ".".join(str(p) for p in fault["loc"] if not str(p).startswith("function-"))
    context = fault.get("ctx", {})
    kind = fault["type"]
    if kind == "missing":
        return f"{path} must be given"
    if kind == "extra_forbidden":
        hint = near_match(path, [n for n in cls.model_fields if n != "kind"])
        known = ", ".join(n for n in cls.model_fields if n != "kind") or "none"
        return f"there is no parameter {path!r}. {hint or f'Parameters: {known}'}".rstrip()
    wording = {
        "greater_than_equal": "must be at least {ge}",
        "greater_than": "must be greater than {gt}",
        "less_than_equal": "must be at most {le}",
        "less_than": "must be less than {lt}",
        "literal_error": "must be one of {expected}",
        "int_parsing": "must be a whole number",
        "int_type": "must be a whole number",
        "int_from_float": "must be a whole number",
        "float_parsing": "must be a number",
        "finite_number": "must be a finite number",
        "int_parsing_size": "must be a whole number of fewer digits",
        "float_type": "must be a number",
        "string_type": "must be text",
        "bool_parsing": "must be true or false",
        "tuple_type": "must be a list",
        "list_type": "must be a list",
        "dict_type": "must be a mapping",
        "too_short": "must have at least {min_length} entries",
        "string_too_short": "must not be empty",
    }
    if kind in wording:
        text = f"{path} {wording[kind].format(**context)}"
    else:
        text = f"{path} {fault['msg'][:1].lower()}{fault['msg'][1:]}".strip()
        text = text.replace("value error, ", "")
    got = fault.get("input")
    plain = isinstance(got, str | int | float | bool) or got is None
    top = str(fault["loc"][0]) if fault["loc"] else ""
    return text if not plain or top in secrets or not path else f"{text} (got {shown(got)})"


def shown(got: Any) -> str:
    """Return what was given, cut where it would fill the screen."""
    try:
        text = repr(got)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."
