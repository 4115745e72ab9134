"""What the built site needs beside its pages: formulas as MathML, and a search that works from the file system.

``mkdocs.yml`` names this file as a hook. Formulas stand as ``$...$`` and ``$$...$$`` in the pages, which the
repository's own view draws too. The index of the search is a script, as a page that was opened from disk may
load scripts and nothing else.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Code, in which a dollar is a dollar, or a formula.
FORMULA = re.compile(
    r"(?P<code>^```.*?^```|(?P<tick>`+).+?(?P=tick))"
    r"|\$\$(?P<block>[^$]+)\$\$|(?<![\\$\w])\$(?P<inline>[^\s$](?:[^$\n]*[^\s$])?)\$(?!\w)",
    re.DOTALL | re.MULTILINE,
)
HEADING = re.compile(r'<h([1-3]) id="([^"]+)">(.*?)</h\1>', re.DOTALL)
INDEX = "search_index.js"

_formulas: dict[str, str] = {}
_sections: list[list[str]] = []


# -- formulas ----------------------------------------------------------------------------------------


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Set the formulas of a page aside, so that Markdown leaves them alone."""
    return FORMULA.sub(set_aside, markdown)


def set_aside(match: re.Match[str]) -> str:
    """Return a token for a formula, and code as it is."""
    if match["code"]:
        return match[0]
    token = f"formula{len(_formulas)}end"
    _formulas[token] = mathml(match["block"] or match["inline"], display=bool(match["block"]))
    return token


def mathml(latex: str, *, display: bool) -> str:
    """Return a formula as MathML, which browsers draw without scripts or fonts of their own."""
    from latex2mathml.converter import convert

    found = convert(latex.strip(), display="block" if display else "inline")
    if "\\" in re.sub(r"<[^>]+>", "", html.unescape(found)):
        raise ValueError(f"the formula {latex.strip()!r} holds a command that cannot be drawn")
    return found


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Put the formulas back, drawn, and note the sections of the page for the search."""
    drawn = re.sub(r"formula\d+end", lambda m: _formulas[m[0]], content)
    _sections.extend(sections(drawn, page.url, page.title or ""))
    return drawn


# -- search ------------------------------------------------------------------------------------------


def sections(content: str, url: str, title: str) -> Iterator[list[str]]:
    """Yield address, title of the page, heading and words of each section of a page."""
    parts = HEADING.split(content)
    if words(parts[0]):
        yield [url, title, title, words(parts[0])]
    for _, anchor, heading, text in zip(*[iter(parts[1:])] * 4, strict=True):
        yield [f"{url}#{anchor}", title, words(heading), words(text)]


def words(content: str) -> str:
    """Return the text of a piece of HTML on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", content)).split())


def on_pre_build(**_: Any) -> None:
    """Forget what an earlier build in the same process has noted."""
    _formulas.clear()
    _sections.clear()


def on_post_build(config: Any, **_: Any) -> None:
    """Write the index of the search."""
    text = json.dumps(_sections, ensure_ascii=False, separators=(",", ":"))
    target = Path(config["site_dir"]) / INDEX
    target.write_text(f"window.tacitSections = {text};\n", encoding="utf-8")
