"""Small tables as text, as HTML and as CSV."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.result import format_number


def text_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as aligned text."""
    lines = [list(rows[0]), *([format_number(v) for v in row.values()] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def html_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as an HTML table."""
    head = "".join(f"<th style='text-align:left'>{html.escape(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>"
        + "".join(f"<td>{html.escape(format_number(v))}</td>" for v in row.values())
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def csv_table(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Return rows as CSV text, under a line with the names of their columns."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=names)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
