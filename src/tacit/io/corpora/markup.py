"""HTML: the words of a page, read in one pass from left to right.

The reader is a scanner of its own: the standard one takes quadratic time on pages with many open marks.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from tacit.data.corpus import Document
from tacit.io.corpora.decode import read_text, without_unseen
from tacit.io.formats import FileFormat

FORMAT = FileFormat("corpus", reads=(".html", ".htm"), rank=3)

#: Elements whose content nobody reads, with what ends them.
HIDDEN = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "template")}
#: Elements that end a line.
BLOCKS = frozenset(
    """address article aside blockquote br button caption dd div dl dt figcaption footer form h1 h2 h3 h4
    h5 h6 head header hr label legend li main nav ol option p pre section select summary table td
    textarea th title tr ul""".split()  # noqa: SIM905 - easier to read
)
NAME = re.compile(r"/?\s*([a-zA-Z][a-zA-Z0-9]*)")
#: A tag to its end; a mark in quotation marks does not end it.
TAG = re.compile(r"""<[^"'>]*+(?:"[^"]*+"[^"'>]*+|'[^']*+'[^"'>]*+)*+>""")


def read(file: Path, name: str, encoding: str) -> Iterator[Document]:
    """Yield the words of a page."""
    yield Document(name, text_of(read_text(file, encoding)))


def text_of(page: str) -> str:
    """Return the words of a page, blocks on lines of their own."""
    parts: list[str] = []
    at, n, quoted = 0, len(page), True
    while at < n:
        start = page.find("<", at)
        if start < 0 or not is_tag(page, start):
            stop = n if start < 0 else start + 1
            parts.append(html.unescape(page[at:stop]))
            at = stop
            continue
        if start > at:
            parts.append(html.unescape(page[at:start]))
        if page.startswith("<!--", start):
            end = page.find("-->", start + 4)
            at = n if end < 0 else end + 3
            continue
        whole = TAG.match(page, start) if quoted else None
        # After one quotation mark that never closes, tags end at the next mark: the time stays linear.
        quoted = whole is not None
        end = page.find(">", start) if whole is None else whole.end() - 1
        if end < 0:
            break
        tag = NAME.match(page, start + 1)
        element = tag.group(1).lower() if tag else ""
        at = end + 1
        if element in HIDDEN and page[start + 1] != "/":
            close = HIDDEN[element].search(page, at)
            at = n if close is None else close.start()
        elif element in BLOCKS and parts and not parts[-1].endswith("\n"):
            parts.append("\n")
    return tidy("".join(parts))


def is_tag(page: str, start: int) -> bool:
    """Return True when an opening mark begins a tag, and is no sign between numbers."""
    follows = page[start + 1 : start + 2]
    return follows.isalpha() or follows in ("/", "!", "?")


def tidy(text: str) -> str:
    """Return the text without blank space that only laid out the source."""
    lines = (" ".join(line.split()) for line in without_unseen(text).split("\n"))
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).strip("\n")
