"""Kinds of data: one adapter for each, so that a plan, a release and a verification know only one way.

A kind is found by the name that its data carry (``Microdata.kind`` is ``"records"``): the module
``tacit.kinds.<name>``, or one that a third party registers under the entry-point group ``tacit.kinds``.
"""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points

from tacit.data.base import Data
from tacit.errors import InputError
from tacit.kinds.base import Kind

__all__ = ["Kind", "all_kinds", "kind_named", "kind_of", "register_kind"]

#: The kinds that come with tacit, in the order in which they are asked whether a source is theirs.
BUILT_IN = ("fit", "table", "corpus", "records")

_kinds: dict[str, Kind[Data]] = {}


def register_kind(kind: Kind[Data]) -> None:
    """Add a kind of data."""
    _kinds[kind.name] = kind


def kind_named(name: str) -> Kind[Data]:
    """Return the adapter of that name."""
    if name not in _kinds and name in BUILT_IN:
        register_kind(importlib.import_module(f"tacit.kinds.{name}").KIND)
    if name not in _kinds:
        for entry in entry_points(group="tacit.kinds", name=name):
            register_kind(entry.load())
    if name not in _kinds:
        raise InputError(f"no kind of data is called {name!r}. Kinds: {', '.join(all_kinds())}.")
    return _kinds[name]


def kind_of(data: Data) -> Kind[Data]:
    """Return the adapter of some data."""
    name = getattr(data, "kind", None)
    if not isinstance(name, str):
        raise InputError(
            f"this needs data that tacit has read (got {type(data).__name__}): "
            "read records with tacit.read(...) and texts with tacit.read_texts(...), build a table with "
            "tacit.Table.from_microdata(...)"
        )
    return kind_named(name)


def all_kinds() -> dict[str, Kind[Data]]:
    """Return every kind by name; third parties' kinds are asked first whether a source is theirs."""
    for entry in entry_points(group="tacit.kinds"):
        if entry.name not in _kinds:
            register_kind(entry.load())
    for name in BUILT_IN:
        kind_named(name)
    own = {name: _kinds[name] for name in BUILT_IN}
    return {**{n: k for n, k in _kinds.items() if n not in own}, **own}
