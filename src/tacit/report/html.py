"""A document as one HTML page that opens without a network: escaped, labelled, dark or light, printable."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

import tacit
from tacit.plot.chart import drawable_text
from tacit.plot.drawing import NotDrawn, draw
from tacit.report.charts import Drawing, dark_rules, embed_chart, without_title
from tacit.report.document import Document, Figure, Mark, Section, parts

if TYPE_CHECKING:
    import jinja2

TAGS = {"strong": "strong", "code": "code", "soft": "span", "flag": "b"}


def render_html(document: Document) -> str:
    """Return a document as a self-contained HTML page."""
    live = (
        any(isinstance(block, Figure) and block.live for block in document.walk()) and has_script()
    )
    page = templates().get_template("report.html")
    return page.render(
        document=document,
        version=tacit.__version__,
        keys=section_keys(document),
        draw=Drawing(),
        live=live,
        # Safe: the scripts and styles are our own.
        bundle=Markup(bundle()) if live else "",  # noqa: S704
        dark=Markup("".join(dark_rules())),  # noqa: S704
    )


@functools.cache
def templates() -> jinja2.Environment:
    """Return the template; everything that is put into it is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tacit.report"),
        autoescape=True,
        # Plain text without what cannot be shown; markup of our own stays as it is.
        finalize=lambda value: drawable_text(value) if type(value) is str else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["words"] = lambda words: Markup("").join(map(piece_html, parts(words)))
    environment.filters["spec"] = chart_json
    environment.filters["ident"] = id
    environment.tests["block"] = lambda block, name: type(block).__name__ == name
    return environment


def piece_html(piece: str | Mark) -> Markup:
    """Return one piece of text as HTML."""
    if isinstance(piece, str):
        return broken_lines(piece)
    tag = TAGS[piece.style]
    # Safe: the tag and class are ours, the text is escaped.
    return Markup('<{0} class="{1}">{2}</{0}>').format(tag, piece.style, broken_lines(piece.text))


def broken_lines(text: str) -> Markup:
    """Return text with a line break for each newline."""
    return Markup("<br>").join(escape(line) for line in drawable_text(text).split("\n"))


def chart_json(figure: Figure) -> Markup:
    """Return the live chart of a figure for a script element."""
    assert figure.live is not None
    # Safe: JSON in which nothing can end the script element.
    return Markup(embed_chart(without_title(figure.live).chart.full()))  # noqa: S704


def section_keys(document: Document) -> dict[int, str]:
    """Return a different identifier for each section, by the section's identity."""
    used: dict[str, int] = {}
    found = {}
    for block in document.walk():
        if isinstance(block, Section):
            name = block.key or re.sub(r"[^a-z0-9]+", "-", block.title.lower()).strip("-") or "part"
            used[name] = used.get(name, 0) + 1
            found[id(block)] = name if used[name] == 1 else f"{name}-{used[name]}"
    return found


def has_script() -> bool:
    """Return True where the chart library can be had; without it, charts stay as they were drawn."""
    try:
        return bool(bundle())
    except NotDrawn:
        return False


@functools.cache
def bundle() -> str:
    """Return the chart library as one script, so that the page needs no network."""
    script = str(draw("javascript_bundle", "window.vegaEmbed = vegaEmbed;"))
    return script.replace("</script", "<\\/script")
