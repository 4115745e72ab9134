"""Write ``src/tacit/catalogue.json`` from the registry: run after adding, renaming or moving a Spec."""

from __future__ import annotations

import json

from tacit.catalogue import FILE, describe_spec
from tacit.registry import specs


def render_catalogue() -> str:
    """Return the file's text: one line per kind, so that a change is one line of a diff."""
    found = {k: c for k, c in specs().items() if c.__module__.startswith("tacit.")}
    rows = [json.dumps(describe_spec(k, c)._asdict(), ensure_ascii=False) for k, c in found.items()]
    return "[\n" + ",\n".join(rows) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(render_catalogue(), encoding="utf-8")
