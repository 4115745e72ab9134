"""Columns that a step has computed from original values: known by their sources, and treated with them.

Weights and probabilities that are functions of a column give its old values back when a later step masks
that column alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tacit.data.changes import count_changes
from tacit.data.microdata import Microdata
from tacit.data.roles import Column
from tacit.errors import InputError


def with_sources(data: Microdata, made: Mapping[str, tuple[str, ...]]) -> Microdata:
    """Return the data with what some columns were computed from written down."""
    known = {
        n: replace(data.columns.get(n, Column(n)), sources=tuple(dict.fromkeys(sources)))
        for n, sources in made.items()
        if n in data.columns
    }
    return data.with_columns_described(known) if known else data


def keep_sources(kind: str, before: Microdata, after: Microdata) -> Microdata:
    """Refuse a step that masks or removes what another column was computed from and leaves that column as it is.

    A computed column that the step itself has changed, such as probabilities put into classes, counts as treated.
    """
    made = {n: c.sources for n, c in before.columns.items() if c.sources and n in after.columns}
    if not made:
        return after
    asked = {c for n, sources in made.items() for c in (n, *sources)}
    changed = count_changes(
        before, after, [c for c in asked if c in before.columns and c in after.columns]
    )
    moved = {c for c in asked if changed.get(c) or c not in after.columns}
    for name, sources in made.items():
        lost = [c for c in sources if c in moved]
        if lost and name not in moved:
            listed = ", ".join(map(repr, lost))
            raise InputError(
                f"{kind}: column {name!r} was computed from the values of {listed} that this step changes or removes, and "
                f"would give them back. Put the step before the one that computes {name!r}, or coarsen or remove "
                f"{name!r} first."
            )
    treated = {n: replace(after.columns[n], sources=()) for n in made if n in moved}
    return after.with_columns_described(treated) if treated else after
