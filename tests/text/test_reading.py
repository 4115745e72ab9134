"""Texts in and out: every format, offsets, and input that is no text."""

import json
import os
import time
import zipfile

import pytest

import tacit
from tacit.data.corpus import Corpus, Document, Findings, Span
from tacit.errors import ColumnNotFound, InputError, SdcError, SdcWarning, UnreadableFile
from tacit.io.corpora.markup import text_of
from tacit.io.corpora.writing import read_written, write_texts

pytestmark = pytest.mark.filterwarnings("ignore:.*left out. Known endings")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "notes"
    (place / "ward").mkdir(parents=True)
    (place / "b.txt").write_bytes("Müller kam.\r\nEr ging.\r\n".encode())
    (place / "ward" / "a.txt").write_text("Anna slept.", encoding="utf-8")
    (place / ".hidden").mkdir()
    (place / ".hidden" / "c.txt").write_text("no", encoding="utf-8")
    (place / "table.xyz").write_text("no", encoding="utf-8")
    return place


def test_a_folder_gives_its_texts_in_order(folder):
    with pytest.warns(SdcWarning, match="1 files of the folder are not read") as said:
        corpus = tacit.read_texts(folder)
    assert "xyz" not in str(said[0].message)
    (folder / "table.xyz").unlink()
    assert [d.name for d in corpus] == ["b.txt", "ward/a.txt"]
    assert corpus.documents[0].text == "Müller kam.\r\nEr ging.\r\n"
    assert repr(corpus) == "Corpus: 2 documents, 34 characters"
    assert "Anna" not in repr(corpus.documents)


def test_files_by_name(folder):
    corpus = tacit.read_texts([folder / "b.txt"])
    assert [d.name for d in corpus] == ["b.txt"]
    assert len(tacit.read_texts(folder / "ward" / "a.txt")) == 1


@pytest.mark.parametrize(
    ("content", "encoding", "said"),
    [
        ("Café".encode("latin-1"), "utf-8", "encoding='latin-1'"),
        (b"\x00\x01\x02PK", "utf-8", "no text"),
        (b"abc", "no-such", "no encoding"),
        (b"", "utf-8", "empty"),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(tmp_path, content, encoding, said):
    file = tmp_path / "Smith_John.txt"
    file.write_bytes(content)
    with pytest.raises(UnreadableFile, match=said) as caught:
        tacit.read_texts(file, encoding=encoding)
    assert "Smith" not in str(caught.value) or content == b""


def test_encodings(tmp_path):
    (tmp_path / "a.txt").write_bytes("Café".encode("latin-1"))
    assert tacit.read_texts(tmp_path, encoding="latin-1").documents[0].text == "Café"
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfhe")
    assert tacit.read_texts(tmp_path).documents[0].text == "he"
    (tmp_path / "a.txt").write_bytes("he".encode("utf-16"))
    assert tacit.read_texts(tmp_path).documents[0].text == "he"
    (tmp_path / "a.txt").write_bytes("he".encode("utf-32"))
    assert tacit.read_texts(tmp_path).documents[0].text == "he"
    (tmp_path / "a.txt").write_bytes("he".encode("utf-16-le"))
    assert tacit.read_texts(tmp_path, encoding="utf-16-le").documents[0].text == "he"
    (tmp_path / "a.txt").write_bytes("called “Bunny”".encode("cp1252"))
    assert tacit.read_texts(tmp_path, encoding="latin-1").documents[0].text == "called “Bunny”"


def test_letters_are_never_read_so_that_names_are_missed(tmp_path):
    """Null characters far down, and UTF-8 that is said to be Latin-1."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"a" * 20_000 + b"T\0o\0w\0n")
    with pytest.raises(UnreadableFile, match="null characters"):
        tacit.read_texts(file)
    file.write_bytes("Herr Müller".encode())
    with pytest.raises(UnreadableFile, match="encoding='utf-8'"):
        tacit.read_texts(file, encoding="latin-1")


def test_a_file_that_may_not_be_read_is_not_named(tmp_path, monkeypatch):
    (tmp_path / "Townsend.txt").write_text("x", encoding="utf-8")

    def refuse(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(UnreadableFile, match="Permission denied") as caught:
        tacit.read_texts(tmp_path)
    assert "Townsend" not in str(caught.value)


def test_a_long_line_is_read_quickly(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a " * 25_000_000)
    begun = time.process_time()
    assert tacit.read_texts(tmp_path).characters == 50_000_000
    assert time.process_time() - begun < 10


def test_html_gives_words_and_no_markup():
    page = "<html><head><style>p{a:b}</style><script>x<y</script></head><body><p>Dear <b>Dr.</b>&nbsp;Lang,</p><p>5 < 6 &amp; 7<br>end</p><!-- no --></body>"
    assert text_of(page) == "Dear Dr. Lang,\n5 < 6 & 7\nend"


def test_marks_in_quotation_marks_and_unseen_marks():
    assert text_of('<p title="a>b">Town&shy;send Vir\u200bginia</p>') == "Townsend Virginia"
    assert text_of("<label>Name</label><textarea>Ann</textarea>") == "Name\nAnn"


@pytest.mark.parametrize(
    "page",
    [
        "<a title='" * 50_000,
        "<" * 100_000,
        "<b>" * 50_000,
        "<!--" * 30_000,
        "<script>" * 20_000,
        "<a " * 50_000,
        "&" * 100_000,
    ],
)
def test_nested_and_broken_markup_takes_linear_time(page):
    begun = time.process_time()
    text_of(page)
    assert time.process_time() - begun < 2


def test_word_files_with_headers(tmp_path):
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Mercy Hospital"
    document.add_paragraph("Dear Dr. Lang,")
    document.add_paragraph("Anna\tslept.")
    document.save(tmp_path / "a.docx")
    assert (
        tacit.read_texts(tmp_path).documents[0].text
        == "Mercy Hospital\nDear Dr. Lang,\nAnna\tslept."
    )


@pytest.mark.parametrize(
    "space",
    ["schemas.openxmlformats.org/wordprocessingml/2006", "purl.oclc.org/ooxml/wordprocessingml"],
)
def test_word_files_in_both_forms_and_text_boxes_once(tmp_path, space):
    box = "<w:txbxContent><w:p><w:r><w:t>Ann</w:t></w:r></w:p></w:txbxContent>"
    document = (
        f'<w:document xmlns:w="http://{space}/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<w:p><mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:p>"
        "<w:p><w:r><w:t>Koch</w:t><w:noBreakHyphen/><w:t>Zhou</w:t></w:r></w:p></w:document>"
    )
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("word/document.xml", document)
    assert tacit.read_texts(tmp_path).documents[0].text == "Ann\n\nKoch-Zhou"


def test_a_word_file_with_broken_bytes_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", "<w>" + "abc" * 500 + "</w>")
    content = bytearray((tmp_path / "a.docx").read_bytes())
    content[60:70] = b"\xff" * 10
    (tmp_path / "a.docx").write_bytes(content)
    with pytest.raises(UnreadableFile, match="damaged"):
        tacit.read_texts(tmp_path)


@pytest.mark.parametrize("ending", ["docx", "pdf"])
def test_damaged_files_are_refused(tmp_path, ending):
    (tmp_path / f"a.{ending}").write_bytes(b"nothing of the kind")
    with pytest.raises(UnreadableFile, match="damaged"):
        tacit.read_texts(tmp_path)
    with zipfile.ZipFile(tmp_path / "b.docx", "w") as archive:
        archive.writestr("word/document.xml", "<w>")
    with pytest.raises(UnreadableFile, match="damaged"):
        tacit.read_texts(tmp_path / "b.docx")


def test_pdf_text(tmp_path):
    pytest.importorskip("pypdf")
    stream = b"BT /F1 12 Tf 72 700 Td (Dear Dr. Lang) Tj ET"
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    content, places = b"%PDF-1.4\n", []
    for i, part in enumerate(parts, 1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (i, part)
    table = b"".join(b"%010d 00000 n \n" % p for p in places)
    content += (
        b"xref\n0 6\n0000000000 65535 f \n%strailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (
            table,
            len(content),
        )
    )
    (tmp_path / "a.pdf").write_bytes(content)
    assert tacit.read_texts(tmp_path).documents[0].text.strip() == "Dear Dr. Lang"


def test_json_lines_with_gold_and_records(tmp_path):
    lines = [
        {
            "name": "x",
            "text": "Anna slept",
            "spans": [{"start": 0, "end": 4, "type": "PATIENT"}],
            "record": {"name": "Anna"},
        },
        {"text": "nobody"},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    one, two = tacit.read_texts(tmp_path / "a.jsonl").documents
    assert (one.name, one.gold, dict(one.record)) == ("x", (Span(0, 4, "name"),), {"name": "Anna"})
    assert (two.name, two.gold) == ("a-2", None)
    (tmp_path / "a.jsonl").write_text('{"text": 1}\n', encoding="utf-8")
    with pytest.raises(UnreadableFile, match="line 1"):
        tacit.read_texts(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"text": "Anna", "spans": 3}', "must be a list"),
        ('{"text": "Anna", "keep": {"start": 0}}', "must be a list"),
        ('{"text": "Anna", "spans": [[Infinity, 2, "name"]]}', "needs start"),
        ('{"text": "Anna", "record": ["Anna"]}', "plain values"),
        ('{"text": "Anna", "record": {"name": {"first": "Anna"}}}', "plain values"),
        ('{"text": "Anna \\ud800"}', "half of a character"),
        ("\n", "no texts"),
    ],
)
def test_json_lines_that_do_not_fit_are_refused(tmp_path, line, said):
    (tmp_path / "a.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(SdcError, match=said) as caught:
        tacit.read_texts(tmp_path / "a.jsonl")
    assert "Anna" not in str(caught.value)


def test_texts_in_memory_are_checked():
    for wrong in ([None], [b"x"], "x"):
        with pytest.raises(InputError):
            Corpus.of(wrong)
    for wrong in (None, 3):
        with pytest.raises(InputError, match="are read from"):
            tacit.read_texts(wrong)


def test_a_column_of_a_table_and_its_record(tmp_path):
    (tmp_path / "a.csv").write_text(
        'id,name,note\n1,Ann,"Ann, slept"\n2,Bob,\n3,Cy,ok\n', encoding="utf-8"
    )
    corpus = tacit.read_texts(tmp_path / "a.csv", text="note", name="id", record=["name"])
    assert [(d.name, d.text, dict(d.record)) for d in corpus] == [
        ("1", "Ann, slept", {"name": "Ann"}),
        ("3", "ok", {"name": "Cy"}),
    ]
    data = tacit.read(tmp_path / "a.csv")
    assert len(tacit.read_texts(data, text="note")) == 2
    marked = tacit.read_texts(data, text="note", gold={"1": [[0, 3, "name"]], "3": []})
    assert [d.gold for d in marked] == [(Span(0, 3, "name"),), ()]
    with pytest.raises(InputError, match="have none"):
        tacit.read_texts(
            tacit.read({"id": ["a", None], "note": ["x", "y"]}), text="note", name="id"
        )
    with pytest.raises(ColumnNotFound):
        tacit.read_texts(tmp_path / "a.csv", text="nota")
    with pytest.raises(InputError, match="name the column"):
        tacit.read_texts(tmp_path / "a.csv")
    with pytest.raises(InputError, match="does not hold text"):
        tacit.read_texts({"id": [1]} and tacit.read({"id": [1]}), text="id")


def test_a_database(tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "a.db") as base:
        base.execute("create table notes (id integer, note text)")
        base.execute("insert into notes values (1, 'Anna slept')")
    base.close()
    corpus = tacit.read_texts(tmp_path / "a.db", text="note", table="notes")
    assert [d.text for d in corpus] == ["Anna slept"]


def test_gold_from_json_and_brat(folder):
    gold = folder.parent / "gold.json"
    gold.write_text(json.dumps({"b": [[0, 6, "name"]], "ward/a.txt": []}), encoding="utf-8")
    corpus = tacit.read_texts(folder, gold=gold)
    assert [d.gold for d in corpus] == [(Span(0, 6, "name"),), ()]
    (folder / "b.ann").write_text(
        "T1\tPATIENT 0 6\tMüller\nR1\tx\nT2\tDATE 13 15;19 20\tEr .\n", encoding="utf-8"
    )
    (folder / "ward" / "a.ann").write_text("", encoding="utf-8")
    corpus = tacit.read_texts(folder, gold=True)
    assert corpus.documents[0].gold == (
        Span(0, 6, "name"), Span(13, 15, "date"), Span(19, 20, "date")
    )  # fmt: skip
    gold.write_text(json.dumps({"b": [[0, 60, "name"]], "ward/a.txt": []}), encoding="utf-8")
    with pytest.raises(InputError, match="does not lie within"):
        tacit.read_texts(folder, gold=gold)
    gold.write_text(json.dumps({"b": []}), encoding="utf-8")
    with pytest.raises(InputError, match="no document like number 2"):
        tacit.read_texts(folder, gold=gold)


def test_records_by_document(folder, tmp_path):
    (tmp_path / "known.csv").write_text(
        "document,name\nb.txt,Müller\nward/a.txt,Anna\n", encoding="utf-8"
    )
    corpus = tacit.read_texts(folder, record=tmp_path / "known.csv")
    assert [dict(d.record) for d in corpus] == [{"name": "Müller"}, {"name": "Anna"}]
    with pytest.raises(InputError, match="not among the texts") as caught:
        tacit.read_texts(folder, record={"zzz": {"name": "Schmidt"}})
    assert "Schmidt" not in str(caught.value)


def test_brat_with_line_ends_of_windows_and_wrong_places(folder):
    (folder / "ward" / "a.ann").write_bytes(b"")
    (folder / "b.ann").write_bytes("\ufeffT1\tNAME 13 15\tEr\r\nT2\tNAME 0 6\tMüller\r\n".encode())
    assert tacit.read_texts(folder, gold=True).documents[0].gold == (
        Span(0, 6, "name"), Span(13, 15, "name")
    )  # fmt: skip
    # Places counted with one character a line end are told, not measured.
    (folder / "b.ann").write_bytes(b"T1\tNAME 12 14\tEr\n")
    with pytest.raises(InputError, match="does not hold the words"):
        tacit.read_texts(folder, gold=True)
    (folder / "b.ann").write_bytes("T1\tNAME 0 6\tMüller\n".encode("latin-1"))
    with pytest.raises(UnreadableFile, match="not encoded"):
        tacit.read_texts(folder, gold=True)
    for wrong in ({"b": 3}, {"b": None}, 5):
        with pytest.raises(InputError):
            tacit.read_texts(folder, gold=wrong)


def test_records_that_fit_no_one_document_alone(tmp_path):
    for place in ("one", "two"):
        (tmp_path / "n" / place).mkdir(parents=True)
        (tmp_path / "n" / place / "a.txt").write_text("Anna", encoding="utf-8")
    with pytest.raises(InputError, match="fit several"):
        tacit.read_texts(tmp_path / "n", record={"a": {"name": "Anna"}})
    (tmp_path / "known.csv").write_text(
        "document,name\none/a.txt,Anna\none/a.txt,Bo\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="share a 'document'"):
        tacit.read_texts(tmp_path / "n", record=tmp_path / "known.csv")
    for wrong in ({"one/a.txt": "Anna"}, {"one/a.txt": {"name": {"first": "Anna"}}}, ["name"]):
        with pytest.raises(InputError) as caught:
            tacit.read_texts(tmp_path / "n", record=wrong)
        assert "Anna" not in str(caught.value)


def test_many_records_take_linear_time(tmp_path):
    for i in range(3000):
        (tmp_path / f"{i}.txt").write_text("x", encoding="utf-8")
    begun = time.process_time()
    tacit.read_texts(tmp_path, record={f"{i}.txt": {"name": "Anna"} for i in range(3000)})
    assert time.process_time() - begun < 1.5


def test_links_and_odd_names(tmp_path):
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / os.fsdecode(b"bad\xff.txt")).write_bytes(b"Anna slept")
    (tmp_path / "n" / "gone.txt").symlink_to(tmp_path / "nothing")
    (tmp_path / "n" / "round").symlink_to(tmp_path / "n")
    with pytest.warns(SdcWarning, match="2 files of the folder"):
        corpus = tacit.read_texts(tmp_path / "n")
    assert [d.name for d in corpus] == ["bad\\xff.txt"]
    tacit.Plan([tacit.Scrub()]).run(corpus).write(tmp_path / "out")


TRICKY = "Ann\r\nBeé\u0301 <b>\t\u2028x 👩‍👩‍👧 'q'\n\n"


@pytest.mark.parametrize("form", ["txt", "jsonl", "html", "brat"])
def test_texts_come_back_as_they_were_written(tmp_path, form):
    found = Findings((Span(0, 3, "name", 0.9), Span(5, 9, "name", 0.9)))
    corpus = Corpus((Document("text-1", TRICKY, found=found), Document("text-2", "plain")))
    path = write_texts(corpus, tmp_path / "out", form)
    assert dict(read_written(path, form)) == {"text-1": TRICKY, "text-2": "plain"}
    if form == "brat":
        assert (path / "text-1.ann").read_text(encoding="utf-8").startswith("T1\tNAME 0 3\tAnn\n")
        again = tacit.read_texts(path, gold=True).documents[0]
        assert [(s.start, s.end) for s in again.gold] == [(0, 3), (5, 9)]
        assert again.text == TRICKY
    if form == "html":
        assert "<mark data-kind='name'>Ann</mark>" in path.read_text(
            encoding="utf-8", errors="strict"
        )


def test_nothing_is_written_outside_of_the_folder(tmp_path):
    with pytest.raises(InputError, match="leads out"):
        write_texts(Corpus((Document("../../etc/x", "a"),)), tmp_path / "out")


@pytest.mark.parametrize("source", ["no-such-folder", "a.xyz"])
def test_what_is_not_there_is_said(tmp_path, source):
    (tmp_path / "a.xyz").write_text("x", encoding="utf-8")
    with pytest.raises(SdcError):
        tacit.read_texts(tmp_path / source)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableFile, match="holds no texts"):
        tacit.read_texts(tmp_path / "empty")
