"""The symbols of the framework: in words, and in order."""

from __future__ import annotations

from tacit.tables.compare.measures import GROUPS, MEASURES


def describe_symbol(symbol: str) -> tuple[str, str] | None:
    """Return the group and the words of a symbol; ``AT (name)`` is that of a sub-total; None for others."""
    if symbol in MEASURES:
        return MEASURES[symbol]
    stem, found, name = symbol.partition(" (")
    if not found or stem not in MEASURES:
        return None
    return "totals", MEASURES[stem][1].replace("row total", f"sub-total {name.rstrip(')')}")


def symbol_order(symbol: str) -> tuple[int, int]:
    """Return where a measure stands in tables."""
    known, groups = list(MEASURES), list(GROUPS)
    group = groups.index((describe_symbol(symbol) or ("", ""))[0])
    return group, known.index(symbol) if symbol in MEASURES else len(known)
