"""The registry of Specs: one declaration, used by plans, command line, reference pages and tests.

A method's file lies in a family folder (``records.noise``, ``tables.rules``, ...) and is named after its
kind: ``KAnonymity`` has the kind ``k_anonymity`` and lives in ``k_anonymity.py``. That makes a name
findable without importing anything else. Third parties register through the entry-point group
``tacit.specs`` (the entry's value is a module that uses ``@register``).
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.catalogue import Entry, describe_spec, entries
from tacit.errors import UnknownMethod, near_match
from tacit.renamed import renamed_kind

if TYPE_CHECKING:
    from tacit.spec import Spec

__all__ = [
    "all_entries",
    "class_names",
    "lookup",
    "lookup_class",
    "register",
    "specs",
]

TOPICS = ("records", "tables", "text", "graphics", "private.regression")

_specs: dict[str, type[Spec]] = {}

S = TypeVar("S", bound="Spec")


def register(cls: type[S]) -> type[S]:
    """Add a Spec class; refuse what would leave its reference page with holes."""
    kind = cls.model_fields["kind"].default
    faults = []
    if kind != snake(cls.__name__):
        faults.append(f"kind must be {snake(cls.__name__)!r}, the class name in snake case")
    known = _specs.get(kind)
    if known is not None and known.__module__ != cls.__module__:
        faults.append(f"kind {kind!r} is already taken by {known.__module__}")
    doc = cls.__doc__ or ""
    if not doc.strip():
        faults.append("a docstring is needed")
    elif "References" not in doc:
        faults.append("the docstring needs a References section")
    faults += [
        f"field {name!r} needs a description"
        for name, info in cls.model_fields.items()
        if name != "kind" and not info.description
    ]
    if faults:
        raise TypeError(f"cannot register {cls.__name__}: " + "; ".join(faults))
    _specs[kind] = cls
    return cls


def specs(family: str | None = None) -> dict[str, type[Spec]]:
    """Return every registered Spec by kind, sorted; optionally of one family."""
    discover()
    return {k: s for k, s in sorted(_specs.items()) if family in (None, s.family)}


def all_entries() -> list[Entry]:
    """Return what every kind is, those of third parties included; without any, nothing is imported."""
    if not entry_points(group="tacit.specs"):
        return list(entries().values())
    return [describe_spec(kind, cls) for kind, cls in specs().items()]


def lookup(kind: str, options: Mapping[str, Any] | None = None) -> type[Spec]:
    """Return the Spec of that kind, or say what was probably meant; ``options`` make the hint shorter."""
    if kind not in _specs and kind in entries():
        entry = entries()[kind]
        _specs[kind] = getattr(importlib.import_module(entry.module), entry.name)
    if kind not in _specs:
        load_third_parties()
    if kind not in _specs and kind in modules():
        importlib.import_module(modules()[kind])
    if kind not in _specs:
        hint = renamed_kind(kind, options) or near_match(kind, {**entries(), **_specs})
        raise UnknownMethod(
            f"no method {kind!r}. {hint or 'List them with: tacit methods.'}".strip()
        )
    return _specs[kind]


def lookup_class(name: str) -> type[Spec] | None:
    """Return the Spec whose class has that name, or None."""
    try:
        found = lookup(snake(name))
    except UnknownMethod:
        return None
    return found if found.__name__ == name else None


def class_names() -> list[str]:
    """Return the class names of every Spec."""
    load_third_parties()
    return sorted({*(e.name for e in entries().values()), *(s.__name__ for s in _specs.values())})


def snake(name: str) -> str:
    """Return a class name as a kind: ``KAnonymity`` becomes ``k_anonymity``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@functools.cache
def modules() -> dict[str, str]:
    """Return the module path of every file in the topic folders, by file name; the shallowest where names meet.

    A Spec lies higher than the algorithms behind it, which may carry the name of their idea.
    """
    found: dict[str, str] = {}
    for path in sorted(module_paths(), key=lambda p: p.count(".")):
        found.setdefault(path.rsplit(".", 1)[1], path)
    return found


def module_paths() -> list[str]:
    """Return the path of every module in the topic folders."""
    return [
        info.name
        for topic in TOPICS
        for info in pkgutil.walk_packages(
            importlib.import_module(f"tacit.{topic}").__path__, f"tacit.{topic}."
        )
        if not info.ispkg
    ]


@functools.cache
def load_third_parties() -> None:
    """Import every module that third parties registered, once."""
    for entry in entry_points(group="tacit.specs"):
        entry.load()


@functools.cache
def discover() -> None:
    """Import every Spec, once."""
    for path in module_paths():
        importlib.import_module(path)
    load_third_parties()


def __dir__() -> list[str]:
    return sorted(__all__)
