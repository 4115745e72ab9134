"""The gate of tables: what must be true of a table before anything of it is written."""

from __future__ import annotations

from typing import Any

#: The technique that every rule names in the history of a table.
RULE = "sensitivity rule"
UNJUDGED = (
    "no rule has judged this table, and all of it would be published as it is; apply a rule first "
    "(p_percent, dominance, minimum_frequency, ...)"
)


def table_gate(table: Any) -> list[str]:
    """Return why a table may not go out, one sentence each; nothing when it may.

    Parameters
    ----------
    table
        The confidential table with the published part (hidden cells, changed values, intervals) as it
        goes out.
    """
    return [*unjudged(table), *exposed(table)]


def unjudged(table: Any) -> list[str]:
    """Refuse a table that goes out as it is though nobody has looked for unsafe cells."""
    judged = any(RULE in action.techniques for action in table.history)
    if judged or table.changed is not None or table.hidden.any() or table.interval is not None:
        return []
    return [UNJUDGED]


def exposed(table: Any) -> list[str]:
    """Refuse a table whose unsafe cells would go out as they are."""
    cells = table.primary & ~table.hidden
    if table.changed is not None:
        needed = (table.lower_level > 0) | (table.upper_level > 0) | (table.sliding_level > 0)
        cells &= (table.changed == table.value) & needed
    if not cells.any():
        return []
    return [
        f"{int(cells.sum()):,} unsafe cells would be published unchanged; protect the table first"
    ]
