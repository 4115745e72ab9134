"""The document model, and what every renderer makes of the same blocks, hostile text included."""

import io
import itertools
import re
import zipfile

import pytest

from tacit.plot.families import bars
from tacit.report.charts import narrow_chart, needs_paper, without_title
from tacit.report.document import (
    Callout,
    Code,
    Column,
    DataTable,
    Definitions,
    Document,
    Figure,
    Gallery,
    Heading,
    ItemList,
    Mark,
    PageBreak,
    Paragraph,
    Point,
    Row,
    Section,
    Tile,
    Tiles,
    cell_words,
    section,
)

#: In a script that the fonts of the package lack.
FOREIGN = "漢字"
HOSTILE = (
    '#read("/etc/passwd")',
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    '#import "x.typ" $x^2$ *bold* _it_ `raw` @ref https://a.b <label> \\ ~ [x] // /*',
    "{{ 7 * 7 }} {% raw %}",
    "nul\x00 bell\x07 esc\x1b",
    "\u202eright to left\u202c ünïcödé",
    "]]><w:p/>",
)
TEXT = " | ".join(HOSTILE)


def chart(title="A chart"):
    return bars([("one", 1.0), (TEXT, 2.0)], title=title, x="", y="n", subtitle=TEXT)


def document(text=TEXT, **changes):
    """Return a document with every sort of block, the same text in every place for text."""
    table = DataTable.of(
        [text, Column("n", "number"), Column("share", "percent")],
        [
            (text, 1234, 0.5),
            Row(
                ((text, Mark(text, "code"), "\n", Mark("x", "flag")), None, 0.001),
                strong=True,
                indent=2,
            ),
        ],
        text,
        text,
    )
    fig = Figure(chart(text), table)
    blocks = (
        Callout(
            "attention",
            text,
            (text, (text, Mark(text))),
            (Point(text, True), Point(text, False), Point(text)),
            text,
        ),
        Tiles((Tile(text, text, text), Tile("2", "two"))),
        Section(
            text,
            (
                Heading(text),
                Paragraph((text, Mark(text, "code"), Mark(text, "soft"))),
                Paragraph(text, soft=True),
                table,
                fig,
                Gallery((Figure(chart(), small=True), Figure(chart(), small=True))),
                PageBreak(),
                ItemList((text, "b")),
                ItemList(("c", text), ordered=True),
                Definitions(((text, text),)),
                Code(text),
                Section(text, (Paragraph("deep"),)),
            ),
        ),
        Section("Second", (Paragraph("p"),)),
        Section("Third", (Paragraph("p"),)),
    )
    return Document(
        text, text, audience="board", blocks=blocks, about=(text,), footer=text, **changes
    )


# -- the model -----------------------------------------------------------------------------------------


def test_a_wide_table_is_split_and_keeps_its_row_headings():
    table = DataTable.of(list("abcdefg"), [tuple("1234567"), tuple("tuvwxyz")], "T", "note")
    found = list(table.split(3))
    assert [[c.title for c in part.columns] for part in found] == [
        list("abc"),
        list("ade"),
        list("afg"),
    ]
    assert [part.rows[1].cells for part in found] == [tuple("tuv"), tuple("twx"), tuple("tyz")]
    assert [part.caption for part in found] == ["T", "T (continued)", "T (continued)"]
    assert list(table.split(7)) == [table]


def test_cells_are_formatted_by_their_column():
    assert cell_words(0.1234, "percent") == "12.3%"
    assert cell_words(12345, "number") == "12,345"
    assert cell_words(None, "number") == "-"
    assert cell_words("=1+1", "number") == "=1+1"
    assert [Column("a").side, Column("b", "number").side, Column("c", "number", "left").side] == [
        "left",
        "right",
        "left",
    ]


def test_walk_goes_into_sections_and_galleries():
    kinds = [type(b).__name__ for b in document("t").walk()]
    assert kinds.count("Section") == 4
    assert kinds.count("Figure") == 3
    assert [s.title for s in document("t").sections()] == ["t", "Second", "Third"]


def test_empty_sections_are_left_out():
    assert section("nothing", None, None) is None
    assert section("some", None, Paragraph("a")) == Section("some", (Paragraph("a"),))


# -- charts --------------------------------------------------------------------------------------------


def test_a_wide_chart_is_drawn_again_for_a_narrow_screen():
    found = without_title(chart("Head"))
    assert (found.title, found.subtitle) == ("Head", TEXT)
    assert "title" not in found.chart.spec
    assert narrow_chart(found.chart, 400) is None
    assert narrow_chart(found.chart, 600).spec["width"] == found.chart.spec["width"] - (600 - 352)


def test_shaded_cells_keep_their_paper_in_the_dark():
    assert needs_paper({"layer": [{"mark": {"type": "rect"}}]})
    assert not needs_paper(chart().spec)


# -- HTML ----------------------------------------------------------------------------------------------


def test_html_shows_hostile_text_and_runs_nothing():
    page = document().to_html()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "49" not in re.sub(r"\d[\d.,]+|#[0-9a-f]+", "", page)
    assert not re.search(r'(src|href)="(?!#)', page)


def test_html_has_landmarks_headings_in_order_scopes_and_alternative_texts():
    page = document("words").to_html()
    for tag in ("<header>", "<main>", "<nav ", "<footer>", '<html lang="en">'):
        assert page.count(tag) == 1
    levels = [int(n) for n in re.findall(r"<h([1-6])>", page)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    assert all('scope="' in th for th in re.findall(r"<th\b[^>]*>", page))
    assert all('aria-label="' in svg for svg in re.findall(r"<svg[^>]*>", page))
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_html_has_a_dark_a_narrow_and_a_printed_form():
    page = document("words").to_html()
    assert page.count("prefers-color-scheme: dark") == 3
    assert "@media print" in page
    assert page.count('class="on-narrow"') == 1
    assert "The numbers behind the chart" in page


# -- PDF -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pdf():
    pytest.importorskip("typst")
    return pytest.importorskip("pypdf").PdfReader(io.BytesIO(document().to_pdf()))


def test_pdf_prints_hostile_text_as_it_stands(pdf):
    text = "".join(page.extract_text() for page in pdf.pages)
    flat = re.sub(r"\s", "", text)
    assert '#read("/etc/passwd")' in flat
    assert "<script>alert(1)</script>" in flat
    assert "root:" not in text
    assert "$x^2$*bold*_it_" in flat


def test_pdf_is_tagged_titled_and_archivable(pdf):
    root = pdf.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert "/StructTreeRoot" in root
    metadata = root["/Metadata"].get_data().decode()
    assert re.search(r"pdfuaid:part\W+1", metadata)
    assert re.search(r"pdfaid:part\W+2", metadata)
    assert pdf.metadata.title.startswith('#read("/etc/passwd")')


def test_pdf_of_a_script_without_a_font_is_still_made():
    pytest.importorskip("typst")
    reader = pytest.importorskip("pypdf").PdfReader(io.BytesIO(document(FOREIGN).to_pdf()))
    assert reader.trailer["/Root"]["/MarkInfo"]["/Marked"]


def test_pdf_embeds_its_fonts_and_is_the_same_twice():
    pytest.importorskip("typst")
    made = document("words")
    assert made.to_pdf() == made.to_pdf()
    reader = pytest.importorskip("pypdf").PdfReader(io.BytesIO(made.to_pdf()))
    names = {
        str(font.get_object()["/BaseFont"])
        for page in reader.pages
        for font in page["/Resources"]["/Font"].values()
    }
    # A name with a prefix of six letters is a subset that lies in the file.
    assert all(re.match(r"/[A-Z]{6}\+", name) for name in names)
    assert any("Libertinus" in name for name in names)


# -- Word ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def word():
    docx = pytest.importorskip("docx")
    content = document().to_word()
    return docx.Document(io.BytesIO(content)), zipfile.ZipFile(io.BytesIO(content))


def test_word_holds_hostile_text_as_text(word):
    file, parts = word
    xml = parts.read("word/document.xml").decode()
    assert "<script" not in xml
    assert "&lt;script&gt;" in xml
    assert "]]&gt;&lt;w:p/&gt;" in xml
    assert "w:fldSimple" not in xml
    assert "w:instrText" not in xml
    assert any("=cmd" in p.text for p in file.paragraphs)


def test_word_has_headings_header_rows_and_alternative_texts(word):
    file, parts = word
    styles = [p.style.name for p in file.paragraphs]
    assert {"Title", "Heading 1", "Heading 2", "Caption", "List Bullet", "List Number"} <= set(
        styles
    )
    xml = parts.read("word/document.xml").decode()
    assert xml.count("<w:tblHeader") == 1
    described = re.findall(r"<wp:docPr [^>]*>", xml)
    assert len(described) == 3
    assert all('descr="' in d for d in described)
    assert file.core_properties.language == "en"


@pytest.mark.parametrize(("package", "verb"), [("typst", "to_pdf"), ("docx", "to_word")])
def test_a_missing_extra_is_named(package, verb, monkeypatch):
    import sys

    from tacit.errors import EngineMissing

    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EngineMissing, match=r"tacit\[report\]"):
        getattr(document("words"), verb)()


def test_saved_where_asked(tmp_path):
    pytest.importorskip("docx")
    made = document("words")
    assert made.to_html(tmp_path / "a.html") == (tmp_path / "a.html").read_text(encoding="utf-8")
    assert made.to_word(tmp_path / "a.docx") == (tmp_path / "a.docx").read_bytes()


@pytest.mark.parametrize("text", ["a\x00b", "a\x07b", "a\x1bb", "a\ufffeb", "a\ud800b", "a\u202eb"])
def test_a_name_that_cannot_be_drawn_does_not_end_the_process(text):
    drawn = bars([(text, 1.0)], title=text, x="", y="n").svg()
    assert ">ab</text>" in drawn
