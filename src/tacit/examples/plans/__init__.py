"""The plans and profiles of the examples, as they are written beside their data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

OWN = Path(__file__).parent


def write_plan(folder: Path, name: str, words: Mapping[str, str] | None = None) -> Path:
    """Write a plan into a folder, with some words replaced, and return its path."""
    text = (OWN / name).read_text(encoding="utf-8")
    for word, value in (words or {}).items():
        text = text.replace(word, value)
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file
