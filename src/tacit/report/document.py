"""A report as data: a document of blocks, drawn by one renderer per format.

A document knows nothing of releases, frames or files. Builders make it (:mod:`tacit.report.audiences`, ...), renderers
draw it (:mod:`tacit.report.html`, :mod:`tacit.report.pdf`, :mod:`tacit.report.word`). Every text in it is plain text: renderers escape, builders never do.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import tacit
from tacit.plot.chart import Chart
from tacit.result import format_number
from tacit.storage.own_folders import write_whole

Audience = Literal["public", "board", "holder"]
Mood = Literal["good", "attention", "bad"]
Style = Literal["strong", "code", "soft", "flag"]
Align = Literal["left", "right"]
Format = Literal["text", "number", "percent"]


@dataclass(frozen=True)
class Mark:
    """A piece of text that stands out: strong, code, soft (beside the matter) or flag (a hidden cell)."""

    text: str
    style: Style = "strong"


#: Words of a paragraph or a cell; a newline begins a new line.
Words = str | Mark | tuple[str | Mark, ...]
#: What a cell of a table may hold; numbers are formatted as their column says.
Cell = Words | int | float | None


@dataclass(frozen=True)
class Heading:
    """A heading inside a section, one level below the section's own."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; ``soft`` for remarks."""

    words: Words
    soft: bool = False


@dataclass(frozen=True)
class Point:
    """One line of a callout; ``holds`` tells kept from broken promises."""

    words: Words
    holds: bool | None = None


@dataclass(frozen=True)
class Callout:
    """A box that judges: a heading, sentences, and points that hold or do not."""

    mood: Mood
    title: str
    sentences: tuple[Words, ...] = ()
    points: tuple[Point, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Tile:
    """One key figure: the number, what it counts, and a remark."""

    number: str
    what: str
    note: str = ""


@dataclass(frozen=True)
class Tiles:
    """The few numbers at the top."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Column:
    """A column of a table; numbers stand to the right unless told otherwise."""

    title: str
    format: Format = "text"
    align: Align | None = None

    @property
    def side(self) -> Align:
        """Return where the column's cells stand."""
        return self.align or ("left" if self.format == "text" else "right")


def numbers(*titles: str) -> tuple[Any, ...]:
    """Return columns of numbers."""
    return tuple(Column(title, "number") for title in titles)


@dataclass(frozen=True)
class Row:
    """A row of a table that stands out or is indented."""

    cells: tuple[Cell, ...]
    strong: bool = False
    indent: int = 0


@dataclass(frozen=True)
class DataTable:
    """A table. The cells of the first column are the headings of the rows."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    #: What the table shows. Required: it names the table to people who hear it read.
    caption: str
    #: A remark below the table.
    note: str = ""

    @classmethod
    def of(
        cls,
        columns: Sequence[Column | str],
        rows: Sequence[Sequence[Cell] | Row],
        caption: str,
        note: str = "",
    ) -> DataTable:
        """Make a table from names of columns (text, to the left) and plain rows."""
        return cls(
            tuple(Column(c) if isinstance(c, str) else c for c in columns),
            tuple(r if isinstance(r, Row) else Row(tuple(r)) for r in rows),
            caption,
            note,
        )

    def words(self, row: Row) -> Iterator[tuple[Column, Words]]:
        """Yield the cells of a row as words, each with its column."""
        for column, value in zip(self.columns, row.cells, strict=True):
            yield column, cell_words(value, column.format)

    def split(self, most: int) -> Iterator[DataTable]:
        """Yield the table in parts of at most ``most`` columns, each with the headings of the rows."""
        step = max(most - 1, 1)
        starts = range(1, len(self.columns), step) if len(self.columns) > most else [0]
        for start in starts:
            yield self if start == 0 else self._part(start, start + step)

    def _part(self, start: int, stop: int) -> DataTable:
        cells = [replace(r, cells=(r.cells[0], *r.cells[start:stop])) for r in self.rows]
        caption = self.caption if start == 1 else f"{self.caption} (continued)"
        return DataTable(
            (self.columns[0], *self.columns[start:stop]), tuple(cells), caption, self.note
        )


@dataclass(frozen=True)
class Figure:
    """A chart. Its title stands above it as text, its alternative text is that of the chart."""

    chart: Chart
    #: The numbers behind the chart, where they do not stand beside it anyway.
    table: DataTable | None = None
    #: The same chart to point at and zoom, for renderers that can; it needs a script in the page.
    live: Chart | None = None
    #: The chart as it is drawn for a narrow screen, where making it narrower is not enough.
    narrow: Chart | None = None
    #: Drawn small, beside others.
    small: bool = False


@dataclass(frozen=True)
class Gallery:
    """Several small figures beside each other."""

    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class ItemList:
    """A list of points."""

    items: tuple[Words, ...]
    ordered: bool = False


@dataclass(frozen=True)
class Definitions:
    """Terms and what they mean."""

    items: tuple[tuple[str, Words], ...]


@dataclass(frozen=True)
class Code:
    """Text to be typed or copied as it stands."""

    text: str


@dataclass(frozen=True)
class PageBreak:
    """The end of a page, where there are pages."""


@dataclass(frozen=True)
class Section:
    """A part with a heading. Parts of the first level make up the table of contents."""

    title: str
    blocks: tuple[Block, ...]
    key: str = ""


Block = (
    Heading
    | Paragraph
    | Callout
    | Tiles
    | DataTable
    | Figure
    | Gallery
    | ItemList
    | Definitions
    | Code
    | PageBreak
    | Section
)


def today() -> dt.date:
    """Return the day by the clock of the world."""
    return dt.datetime.now(tz=dt.UTC).date()


@dataclass(frozen=True)
class Document:
    """A report: who it is for, what it is called, and its blocks.

    Attributes
    ----------
    title
        The name of what is reported on.
    subtitle
        What sort of report it is.
    language
        The language of the text, as in ``lang`` of HTML.
    audience
        ``public`` may be given away; ``board`` and ``holder`` must not.
    blocks
        The content, in order.
    about
        A few facts below the title: access class, version.
    footer
        A sentence at the end.
    date
        The day of the report.
    """

    title: str
    subtitle: str
    language: str = "en"
    audience: Audience = "public"
    blocks: tuple[Block, ...] = ()
    about: tuple[str, ...] = ()
    footer: str = ""
    date: dt.date = field(default_factory=today)

    @property
    def confidential(self) -> bool:
        """Return True when the document must stay inside."""
        return self.audience != "public"

    @property
    def day(self) -> str:
        """Return the date in words."""
        return f"{self.date.day} {self.date:%B %Y}"

    def walk(self) -> Iterator[Block]:
        """Yield every block, those of sections included."""
        yield from walk(self.blocks)

    def sections(self) -> Iterator[Section]:
        """Yield the sections of the first level: the table of contents."""
        return (b for b in self.blocks if isinstance(b, Section))

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the document as one self-contained HTML page; save it too when a path is given."""
        from tacit.report.html import render_html

        text = render_html(self)
        if path is not None:
            write_whole(path, text)
        return text

    def to_pdf(self, path: str | Path | None = None) -> bytes:
        """Return the document as a tagged PDF; save it too when a path is given."""
        from tacit.report.pdf import render_pdf

        return _saved(render_pdf(self), path)

    def to_word(self, path: str | Path | None = None) -> bytes:
        """Return the document as a Word file; save it too when a path is given."""
        from tacit.report.word import render_word

        return _saved(render_word(self), path)


def for_holder(
    title: str, subtitle: str, blocks: Sequence[Block | None], footer: str, *about: str
) -> Document:
    """Return a report for the data holder, of the blocks that are there."""
    return Document(
        title=title,
        subtitle=subtitle,
        audience="holder",
        blocks=tuple(b for b in blocks if b is not None),
        about=(f"tacit {tacit.__version__}", *about),
        footer=footer,
    )


def _saved(content: bytes, path: str | Path | None) -> bytes:
    if path is not None:
        write_whole(path, content)
    return content


def walk(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield blocks and, after each section, the blocks in it."""
    for block in blocks:
        yield block
        if isinstance(block, Section):
            yield from walk(block.blocks)
        elif isinstance(block, Gallery):
            yield from block.figures


def parts(words: Words) -> tuple[Mark | str, ...]:
    """Return words as a sequence of plain and marked pieces."""
    return words if isinstance(words, tuple) else (words,)


def cell_words(value: Cell, how: Format) -> Words:
    """Return the value of a cell as words."""
    if isinstance(value, str | Mark | tuple):
        return value
    if value is None:
        return "-"
    return (
        f"{value:.1%}" if how == "percent" and not isinstance(value, bool) else format_number(value)
    )


def section(title: str, *blocks: Block | None, key: str = "") -> Section | None:
    """Return a section of the blocks that are there; nothing when none is."""
    found = tuple(b for b in blocks if b is not None)
    return Section(title, found, key) if found else None
