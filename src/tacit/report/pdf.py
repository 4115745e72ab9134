"""A document as PDF: tagged for screen readers (PDF/UA-1), made to be archived (PDF/A-2a).

The document goes to the typesetter as data, never as markup: a text that looks like a command is printed
as it stands. Fonts are those of the typesetter's package, so that a report looks the same everywhere.
"""

from __future__ import annotations

import datetime as dt
import json
from importlib.resources import files
from typing import Any

import tacit
from tacit.errors import require
from tacit.plot.chart import Chart
from tacit.plot.chart import drawable_text as clean
from tacit.plot.svg import size_of
from tacit.plot.theme import THEME
from tacit.report import document as doc
from tacit.report.charts import without_title

STANDARDS = ("a-2a", "ua-1")
#: Own fonts or the system's too, and the standards asked for. A script that our fonts lack is set in one of
#: the system's; where that lacks it too, the file is tagged but cannot call itself archivable.
ATTEMPTS: tuple[tuple[bool, tuple[Any, ...]], ...] = (
    (True, STANDARDS),
    (False, STANDARDS),
    (False, ()),
)
FONT = "Libertinus Serif"
#: The width of the page between its margins, in pixels of a chart, and the columns that fit on it.
PAGE, MOST_COLUMNS = 640, 10
#: The height that a chart may take, in the same pixels.
TALL = 820


def render_pdf(document: doc.Document) -> bytes:
    """Return a document as a tagged PDF."""
    try:
        import typst
    except ImportError:
        raise require("typst", "report", "reports as PDF") from None
    source = files("tacit.report").joinpath("templates/report.typ").read_bytes()
    inputs = {"document": json.dumps(document_data(document))}
    made = dt.datetime.combine(document.date, dt.time(), tzinfo=dt.UTC)
    for own_fonts, standards in ATTEMPTS:
        try:
            found = typst.compile(
                source,
                sys_inputs=inputs,
                ignore_system_fonts=own_fonts,
                pdf_standards=list(standards),
                timestamp=made,
            )
        except typst.TypstError as error:
            if "could not be displayed" not in str(error) or not standards:
                raise
        else:
            return bytes(found)
    raise AssertionError  # the last attempt returns or raises


def document_data(document: doc.Document) -> dict[str, Any]:
    """Return a document as the template reads it."""
    day = document.date
    return {
        "title": clean(document.title),
        "subtitle": clean(document.subtitle),
        "language": document.language,
        "confidential": document.confidential,
        "date": {"year": day.year, "month": day.month, "day": day.day},
        "day": document.day,
        "about": [clean(fact) for fact in document.about],
        "closing": clean(
            f"Made with tacit {tacit.__version__} on {document.day}. {document.footer}"
        ),
        "blocks": [part for block in document.blocks for part in block_data(block)],
    }


def block_data(block: doc.Block) -> list[dict[str, Any]]:
    """Return a block as data; a table too wide for the page becomes several."""
    if isinstance(block, doc.DataTable):
        return [table_data(part) for part in block.split(MOST_COLUMNS)]
    return [{"kind": type(block).__name__, **fields(block)}]


def fields(block: doc.Block) -> dict[str, Any]:
    """Return what the template needs of a block."""
    match block:
        case doc.Heading() | doc.Code():
            return {"text": clean(block.text)}
        case doc.Paragraph():
            return {"words": pieces(block.words), "soft": block.soft}
        case doc.Callout():
            return {
                "mood": block.mood,
                "title": clean(block.title),
                "sentences": [pieces(words) for words in block.sentences],
                "points": [{"words": pieces(p.words), "holds": p.holds} for p in block.points],
                "note": clean(block.note),
            }
        case doc.Tiles():
            return {"tiles": [{k: clean(v) for k, v in vars(t).items()} for t in block.tiles]}
        case doc.Figure():
            return figure_data(block)
        case doc.Gallery():
            return {"figures": [figure_data(figure) for figure in block.figures]}
        case doc.ItemList():
            return {"items": [pieces(words) for words in block.items], "ordered": block.ordered}
        case doc.Definitions():
            return {"items": [[clean(term), pieces(words)] for term, words in block.items]}
        case doc.Section():
            inner = [part for b in block.blocks for part in block_data(b)]
            return {"title": clean(block.title), "blocks": inner}
        case doc.PageBreak():
            return {}
    raise TypeError(type(block))


def figure_data(block: doc.Figure) -> dict[str, Any]:
    """Return a chart as a drawing, no wider than the page and not too tall for it."""
    found = without_title(block.chart)
    # In the fonts of the page, on no ground of its own.
    spec = found.chart.spec
    theme = {**THEME, **spec.get("config", {}), "font": FONT, "background": None}
    svg = Chart({**spec, "config": theme}, found.chart.alt).svg_or_note()
    (width, height), most = size_of(svg), 300 if block.small else PAGE
    return {
        "title": clean(found.title),
        "subtitle": clean(found.subtitle),
        "svg": svg,
        "alt": clean(block.chart.alt),
        "width": min(100.0, 100 * width / most, 100 * width / height * TALL / most),
    }


def table_data(table: doc.DataTable) -> dict[str, Any]:
    """Return a table as data; columns of words share the room that numbers leave."""
    grow = any(column.format == "text" for column in table.columns)
    return {
        "kind": "DataTable",
        "caption": clean(table.caption),
        "note": clean(table.note),
        "columns": [
            {
                "title": clean(column.title),
                "side": column.side,
                "grow": grow and column.format == "text" and longest(table, i) > 45,
            }
            for i, column in enumerate(table.columns)
        ],
        "rows": [
            {
                "cells": [pieces(words) for _, words in table.words(row)],
                "strong": row.strong,
                "indent": row.indent,
            }
            for row in table.rows
        ],
    }


def longest(table: doc.DataTable, i: int) -> int:
    """Return the length of the longest text in a column."""
    found = (list(table.words(row))[i][1] for row in table.rows)
    return max((sum(len(p["text"]) for p in pieces(words)) for words in found), default=0)


def pieces(words: doc.Words) -> list[dict[str, str]]:
    """Return words as pieces of text with a style."""
    return [
        {"text": clean(p), "style": ""}
        if isinstance(p, str)
        else {"text": clean(p.text), "style": p.style}
        for p in doc.parts(words)
    ]
