"""Entities: which names of a document are the same person's."""

from __future__ import annotations

from collections import defaultdict

from tacit.data.corpus import Span
from tacit.text.board import NAMES
from tacit.text.memory import name_parts, related_forms
from tacit.text.reading.lexicon import Knowledge

#: People with a part of a name in common that are looked at, so that a long list of names stays linear.
MOST = 50


def link_entities(text: str, knowledge: Knowledge, spans: list[Span]) -> list[Span]:
    """Return the spans with an entity on every name: full names first, then parts and short forms of them."""
    people: dict[str, tuple[str, ...]] = {}
    holders: dict[str, list[str]] = defaultdict(list)
    named: dict[tuple[str, ...], str] = {}
    parts_of = {
        k: name_parts(text[s.start : s.end]) for k, s in enumerate(spans) if s.kind in NAMES
    }
    linked = list(spans)
    for k in sorted(parts_of, key=lambda k: (-len(parts_of[k]), k)):
        parts = parts_of[k]
        entity = named.get(parts) or find_person(knowledge, parts, people, holders)
        if not entity:
            entity = f"p{len(people) + 1}"
            people[entity] = parts
            for part in parts:
                holders[part].append(entity)
        if parts:
            named[parts] = entity
        s = spans[k]
        linked[k] = Span(s.start, s.end, s.kind, s.certainty, s.source, entity)
    return linked


def find_person(
    knowledge: Knowledge,
    parts: tuple[str, ...],
    people: dict[str, tuple[str, ...]],
    holders: dict[str, list[str]],
) -> str:
    """Return the first person whose name holds all these parts, as such or as short forms."""
    if not parts:
        return ""
    # Whoever has all the parts is among those who have the rarest of them.
    rarest = min((holders.get(p, ()) for p in parts), key=len)
    for entity in rarest[:MOST]:
        if all(p in people[entity] for p in parts):
            return entity
    for form in related_forms(knowledge, parts[0]):
        for entity in holders.get(form, ())[:MOST]:
            known = people[entity]
            if all(p in known or set(related_forms(knowledge, p)) & set(known) for p in parts):
                return entity
    return ""
