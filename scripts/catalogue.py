"""Write ``src/tacit/catalogue.json`` from the registry: run after adding, renaming or moving a Spec."""

from __future__ import annotations

import json
from typing import Any

from tacit.catalogue import FILE, Entry
from tacit.registry import specs


def describe_spec(kind: str, cls: Any) -> Entry:
    """Return the catalogue's entry of one Spec."""
    verb = "apply" if hasattr(cls, "apply") else "measure"
    return Entry(kind, cls.__name__, cls.__module__, cls.family, verb, cls.runs_on, cls.title())


def render_catalogue() -> str:
    """Return the file's text: one line a kind, so that a change is one line of a diff."""
    found = {k: c for k, c in specs().items() if c.__module__.startswith("tacit.")}
    rows = [json.dumps(describe_spec(k, c)._asdict(), ensure_ascii=False) for k, c in found.items()]
    return "[\n" + ",\n".join(rows) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(render_catalogue(), encoding="utf-8")
