"""A document as a Word file: real headings, captions, header rows and alternative texts."""

from __future__ import annotations

import io
from typing import Any

import tacit
from tacit.errors import require
from tacit.plot.chart import drawable_text as clean
from tacit.plot.drawing import NotDrawn
from tacit.plot.svg import size_of
from tacit.report import document as doc
from tacit.report.charts import without_title

#: Colours of moods and of soft text; the width of the page in centimetres; columns that fit on it.
COLOURS = {
    "good": "1F6B43",
    "attention": "7A5300",
    "bad": "A32824",
    "soft": "4A5662",
    "blue": "1F5A91",
}
GROUNDS = {"good": "F1F8F4", "attention": "FDF8EC", "bad": "FDF3F2"}
PAGE, MOST_COLUMNS = 16.5, 9
#: The height that a chart may take, in centimetres.
TALL = 22
#: Pixels of a chart in a centimetre.
PIXELS = 40


def render_word(document: doc.Document) -> bytes:
    """Return a document as a Word file."""
    try:
        import docx
    except ImportError:
        raise require("python-docx", "report", "reports as Word files") from None
    file = docx.Document()
    set_up(file, document)
    writer = Writer(file)
    writer.opening(document)
    for block in document.blocks:
        writer.write(block, 1)
    closing = f"Made with tacit {tacit.__version__} on {document.day}. {document.footer}"
    writer.paragraph(doc.Mark(closing, "soft"))
    out = io.BytesIO()
    file.save(out)
    return out.getvalue()


def set_up(file: Any, document: doc.Document) -> None:
    """Set page, fonts, language and properties."""
    from docx.shared import Cm, Pt

    page = file.sections[0]
    page.page_width, page.page_height = Cm(21), Cm(29.7)
    page.left_margin = page.right_margin = Cm(2.25)
    page.top_margin = page.bottom_margin = Cm(2.2)
    normal = file.styles["Normal"]
    normal.font.name, normal.font.size = "Calibri", Pt(10.5)
    normal.element.get_or_add_rPr().append(element("w:lang", {"w:val": document.language}))
    properties = file.core_properties
    properties.title, properties.subject = clean(document.title), clean(document.subtitle)
    properties.author, properties.language = f"tacit {tacit.__version__}", document.language
    properties.comments = ""
    footer = page.footer.paragraphs[0]
    footer.add_run(
        clean(document.title) + (" · confidential · " if document.confidential else " · ")
    )
    # The number of the page is the one field of the file, with nothing of the document in it.
    footer._p.append(element("w:fldSimple", {"w:instr": "PAGE"}))


class Writer:
    """Writes blocks one after the other."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def opening(self, document: doc.Document) -> None:
        """Write the title and the facts below it."""
        kind = f"{document.subtitle} · confidential" if document.confidential else document.subtitle
        colour(self.file.add_paragraph().add_run(clean(kind)), "blue").bold = True
        self.file.add_heading(clean(document.title), level=0)
        self.paragraph(doc.Mark(" · ".join((document.day, *document.about)), "soft"))

    def paragraph(self, words: doc.Words, style: str | None = None, place: Any = None) -> Any:
        """Write a paragraph, by default at the end of the file."""
        made = (place or self.file).add_paragraph(style=style)
        fill(made, words)
        return made

    def write(self, block: doc.Block, level: int) -> None:
        """Write one block; sections write their own."""
        match block:
            case doc.Section():
                self.file.add_heading(clean(block.title), level=min(level, 9))
                for part in block.blocks:
                    self.write(part, level + 1)
            case doc.Heading():
                self.file.add_heading(clean(block.text), level=min(level, 9))
            case doc.Paragraph():
                self.paragraph(with_style(block.words, "soft") if block.soft else block.words)
            case doc.Callout():
                self.callout(block, level)
            case doc.Tiles():
                self.tiles(block)
            case doc.DataTable():
                for table in block.split(MOST_COLUMNS):
                    self.table(table)
            case doc.Figure():
                self.figure(block)
            case doc.Gallery():
                for figure in block.figures:
                    self.figure(figure)
            case doc.ItemList():
                for words in block.items:
                    self.paragraph(words, "List Number" if block.ordered else "List Bullet")
            case doc.Definitions():
                self.definitions(block)
            case doc.Code():
                self.paragraph(doc.Mark(block.text, "code"))
            case doc.PageBreak():
                self.file.add_page_break()
            case _:
                raise TypeError(f"{type(block).__name__} cannot be written at level {level}")

    def callout(self, block: doc.Callout, level: int) -> None:
        """Write a box that judges."""
        cell = self.file.add_table(rows=1, cols=1).rows[0].cells[0]
        shade(cell, GROUNDS[block.mood], COLOURS[block.mood])
        head = cell.paragraphs[0]
        head.style = self.file.styles[f"Heading {min(level, 9)}"]
        colour(head.add_run(clean(block.title)), block.mood)
        for sentence in block.sentences:
            self.paragraph(sentence, place=cell)
        for point in block.points:
            sign = {True: "✓ holds: ", False: "✗ does not hold: ", None: ""}[point.holds]
            made = cell.add_paragraph()
            colour(made.add_run(sign), "good" if point.holds else "bad").bold = True
            fill(made, point.words)
        if block.note:
            self.paragraph(doc.Mark(block.note, "soft"), place=cell)
        self.file.add_paragraph()

    def tiles(self, block: doc.Tiles) -> None:
        """Write key figures beside each other."""
        from docx.shared import Pt

        if not block.tiles:
            return
        cells = self.file.add_table(rows=1, cols=len(block.tiles)).rows[0].cells
        for cell, tile in zip(cells, block.tiles, strict=True):
            run = cell.paragraphs[0].add_run(clean(tile.number))
            run.bold, run.font.size = True, Pt(16)
            note = ("\n", doc.Mark(tile.note, "soft")) if tile.note else ()
            self.paragraph((tile.what, *note), place=cell)

    def table(self, block: doc.DataTable) -> None:
        """Write a table with a caption above it and a header row that is repeated on every page."""
        from docx.shared import Pt

        self.paragraph(block.caption, style="Caption").paragraph_format.keep_with_next = True
        table = self.file.add_table(rows=1 + len(block.rows), cols=len(block.columns))
        table.style = self.file.styles["Table Grid"]
        grid = [list(row.cells) for row in table.rows]
        header = table.rows[0]._tr.get_or_add_trPr()
        header.append(element("w:tblHeader", {"w:val": "true"}))
        for cell, column in zip(grid[0], block.columns, strict=True):
            write_cell(cell, doc.Mark(column.title), column.side, Pt(9))
            shade(cell, "F5F7F9", "D5DBE1")
        for cells, row in zip(grid[1:], block.rows, strict=True):
            for i, (cell, (column, words)) in enumerate(zip(cells, block.words(row), strict=True)):
                text = with_style(words, "strong") if row.strong else words
                write_cell(cell, text, column.side, Pt(9))
                if i == 0 and row.indent:
                    cell.paragraphs[0].paragraph_format.left_indent = Pt(8 * row.indent)
        self.paragraph(doc.Mark(block.note, "soft") if block.note else "")

    def figure(self, block: doc.Figure) -> None:
        """Write a chart as a picture under its title."""
        from docx.shared import Cm

        found = without_title(block.chart)
        caption: tuple[str | doc.Mark, ...] = (doc.Mark(found.title),)
        if found.subtitle:
            caption = (*caption, "\n", doc.Mark(found.subtitle, "soft"))
        if found.title:
            self.paragraph(caption).paragraph_format.keep_with_next = True
        try:
            width, height = size_of(found.chart.svg())
            drawn = io.BytesIO(found.chart.png())
        except NotDrawn as error:
            self.paragraph(doc.Mark(str(error), "soft"))
            return
        fits = min(width / PIXELS, PAGE, TALL * width / height)
        described = self.file.add_picture(drawn, width=Cm(fits))._inline.docPr
        described.set("descr", clean(block.chart.alt))
        described.set("title", clean(found.title))

    def definitions(self, block: doc.Definitions) -> None:
        """Write terms and what they mean."""
        from docx.shared import Cm

        for term, words in block.items:
            made = self.paragraph((doc.Mark(term), "\n", *doc.parts(words)))
            made.paragraph_format.left_indent = Cm(0.4)


def with_style(words: doc.Words, style: doc.Style) -> doc.Words:
    """Return words whose plain pieces have a style."""
    return tuple(doc.Mark(p, style) if isinstance(p, str) else p for p in doc.parts(words))


# -- text --------------------------------------------------------------------------------------------


def fill(paragraph: Any, words: doc.Words) -> None:
    """Add words to a paragraph; a newline begins a new line."""
    for piece in doc.parts(words):
        style = piece.style if isinstance(piece, doc.Mark) else ""
        run = paragraph.add_run(clean(piece.text if isinstance(piece, doc.Mark) else piece))
        if style in ("strong", "flag"):
            run.bold = True
        if style == "code":
            run.font.name = "Consolas"
        if style in ("soft", "flag"):
            colour(run, "soft" if style == "soft" else "blue")


def write_cell(cell: Any, words: doc.Words, side: str, size: Any) -> None:
    """Write the words of a cell."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    paragraph = cell.paragraphs[0]
    fill(paragraph, words)
    paragraph.paragraph_format.space_after = 0
    if side == "right":
        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    for run in paragraph.runs:
        run.font.size = size


def colour(run: Any, name: str) -> Any:
    """Colour a run."""
    from docx.shared import RGBColor

    run.font.color.rgb = RGBColor.from_string(COLOURS[name])
    return run


# -- what python-docx has no verb for ----------------------------------------------------------------


def element(name: str, attributes: dict[str, str]) -> Any:
    """Return an element of the file with attributes."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    made = OxmlElement(name)
    for key, value in attributes.items():
        made.set(qn(key), value)
    return made


def shade(cell: Any, ground: str, edge: str) -> None:
    """Give a cell a ground and an edge."""
    properties = cell._tc.get_or_add_tcPr()
    borders = element("w:tcBorders", {})
    for side in ("top", "left", "bottom", "right"):
        thick = "24" if side == "left" and ground in GROUNDS.values() else "4"
        borders.append(element(f"w:{side}", {"w:val": "single", "w:sz": thick, "w:color": edge}))
    properties.append(borders)
    properties.append(element("w:shd", {"w:val": "clear", "w:color": "auto", "w:fill": ground}))
