"""Names of columns: what every engine can hold, and grouping by names that look like SQL.

A name is any text: with dots, spaces, quotes, brackets or in any script. Only a few cannot be held, and they
are refused on reading in one sentence, so that no later step finds a column under another name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from tacit.errors import InputError

#: Columns that steps add for themselves are called like this; pandas writes an index so, which is let through.
RESERVED = re.compile(r"__(?!index_level_\d+__\Z).*__\Z", re.DOTALL)

#: A name that no engine can take for anything but a name.
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def check_names(
    names: Sequence[str], source: str = "the frame", error: type[InputError] = InputError
) -> None:
    """Refuse names that are empty, reserved, double, or differ in capitals alone, which engines take for one."""
    if "" in names:
        raise error(f"{source} has a column without a name. Give it one.")
    # Null characters, and halves of characters.
    unwritable = [n for n in names if "\0" in n or any("\ud800" <= c <= "\udfff" for c in n)]
    if unwritable:
        raise error(
            f"{source} has column names with characters that no file can hold: {listed(unwritable)}. Rename them."
        )
    double = doubles(names)
    if double:
        raise error(
            f"{source} has column names that occur more than once: {listed(double)}. Rename them."
        )
    folded = [n.lower() for n in names]
    twice = set(doubles(folded))
    same = [n for n, f in zip(names, folded, strict=True) if f in twice]
    if same:
        raise error(
            f"{source} has column names that differ only in capitals: {listed(same)}. Rename them."
        )
    reserved = [n for n in names if RESERVED.match(n)]
    if reserved:
        raise error(
            f"{source} has the column names {listed(reserved)}; names that begin and end with two "
            "underscores are reserved. Rename them."
        )


def check_usable(names: Sequence[str], engine: str) -> None:
    """Refuse names that an engine cannot hold."""
    for name in names:
        fault = fault_of(name, engine)
        if fault:
            raise InputError(f"a column is named {shorten(name)}: {fault}. Rename it.")


def fault_of(name: str, engine: str) -> str | None:
    """Return why an engine cannot hold a name, or None when it can."""
    if name == "*":
        return "a star alone stands for all columns"
    if engine == "spark":
        return (
            "Spark reads dots and backticks as parts of a path" if set(name) & set(".`") else None
        )
    return None if PLAIN.match(name) else fault_in_duckdb(name)


def fault_in_duckdb(name: str) -> str | None:
    """Return why DuckDB cannot hold a name; versions before 2 read dots as parts of a path."""
    import duckdb

    written = str(duckdb.ColumnExpression(name))
    quoted = '"' + name.replace('"', '""') + '"'
    return None if written in (name, quoted) else "this version of DuckDB reads it as a path"


def aggregate(frame: nw.LazyFrame[Any], keys: Sequence[str], *what: nw.Expr) -> nw.LazyFrame[Any]:
    """Group by columns of any name and aggregate; an engine may take ``a.b`` for b of a table a."""
    held = {k: f"__key{i}__" for i, k in enumerate(keys) if not PLAIN.match(k)}
    if held:
        frame = frame.with_columns(*[nw.col(k).alias(v) for k, v in held.items()])
    found = frame.group_by(*[held.get(k, k) for k in keys]).agg(*what)
    return found.rename({v: k for k, v in held.items()}) if held else found


def doubles(names: Sequence[str]) -> list[str]:
    """Return the names that occur more than once, each once."""
    seen: set[str] = set()
    found: dict[str, None] = {}
    for name in names:
        if name in seen:
            found[name] = None
        seen.add(name)
    return list(found)


def listed(names: Sequence[str]) -> str:
    """Return the first names for a message."""
    return ", ".join(shorten(n) for n in names[:5]) + (" ..." if len(names) > 5 else "")


def shorten(name: str) -> str:
    """Return a name for a message, on one line and not too long."""
    return repr(name if len(name) <= 60 else name[:57] + "...")
