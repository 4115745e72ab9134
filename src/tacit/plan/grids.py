"""Grids of settings: one method over lists of parameter values, and combinations of methods."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tacit.errors import InvalidParameter, SpecError
from tacit.registry import lookup
from tacit.spec import Method


def grid(method: type[Method] | str, /, **parameters: Any) -> list[Method]:
    """Return a method with every combination of the given parameter values.

    A list sweeps when the parameter itself takes a single value; a parameter that takes a list, such as
    ``columns``, is swept with a list of lists. The last parameter varies fastest.

    >>> [m.k for m in grid("datafly", k=[2, 3, 5])]
    [2, 3, 5]
    """
    cls = method_class(method)
    swept = {
        name: list(value) if sweeps(cls, name, value) else [value]
        for name, value in parameters.items()
    }
    return [
        cls(**dict(zip(swept, values, strict=True)))
        for values in itertools.product(*swept.values())
    ]


def chain(*parts: Method | Sequence[Method]) -> list[tuple[Method, ...]]:
    """Return every combination of one method of each part, applied in that order.

    ``chain(grid("generalise", ...), grid("add_noise", ...))`` crosses two grids.
    """
    options = [[part] if isinstance(part, Method) else list(part) for part in parts]
    return list(itertools.product(*options))


def method_class(method: type[Method] | str) -> type[Method]:
    """Return the class of a method given by class or kind."""
    cls = lookup(method) if isinstance(method, str) else method
    if not (isinstance(cls, type) and issubclass(cls, Method)):
        name = getattr(cls, "__name__", str(cls))
        raise InvalidParameter(f"grid: {name} is not a method of protection")
    return cls


def sweeps(cls: type[Method], name: str, value: Any) -> bool:
    """Return True for a list of values where the parameter itself takes none."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return False
    field = cls.model_fields.get(name)
    if field is None:
        return False  # the constructor will say that there is no such parameter
    accepts: Any = field.annotation
    try:
        TypeAdapter(accepts).validate_python(list(value))
    except (ValidationError, SpecError):
        return True
    return False


def from_entry(entry: Any) -> list[tuple[Method, ...]]:
    """Return the candidates of an entry of a plan: a swept step, or a list of swept steps."""
    if isinstance(entry, str):
        entry = {"kind": entry}
    if isinstance(entry, Mapping):
        if "kind" not in entry:
            raise InvalidParameter("a step has no kind; write e.g. {kind: datafly, k: [3, 5, 10]}")
        return [
            (m,)
            for m in grid(str(entry["kind"]), **{k: v for k, v in entry.items() if k != "kind"})
        ]
    if isinstance(entry, Sequence):
        parts = [from_entry(part) for part in entry]
        return [tuple(itertools.chain(*steps)) for steps in itertools.product(*parts)]
    raise InvalidParameter("a candidate is a step, or a list of steps applied in order")
