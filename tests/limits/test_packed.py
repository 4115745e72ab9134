"""Files that unpack to more than memory holds are refused before they are opened."""

import random
import struct
import zipfile

import openpyxl
import pytest

import tacit
from tacit.data.cells.table_file import load_table
from tacit.errors import SdcError, UnreadableFile
from tacit.storage import packed

BOOK = """<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"
 xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>
 <sheet name="s" sheetId="1" r:id="rId1"/></sheets></workbook>"""
LINKS = """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>
</Relationships>"""
TYPES = """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>"""
ODS = """<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
 <table:table table:name="s"><table:table-row table:number-rows-repeated="{rows}"><table:table-cell
 table:number-columns-repeated="{columns}" office:value-type="float" office:value="1"><text:p>1</text:p>
 </table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"""

MANIFEST = """<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">
 <manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>
 </manifest:manifest>"""


def pack(path, parts):
    """Write an archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def sheet_of(cells):
    """Return the parts of a workbook with these cells."""
    rows = "".join(f'<row><c r="{place}"><v>{value}</v></c></row>' for place, value in cells)
    sheet = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>'
    return {
        "[Content_Types].xml": TYPES,
        "xl/workbook.xml": BOOK,
        "xl/_rels/workbook.xml.rels": LINKS,
        "xl/worksheets/sheet1.xml": sheet,
    }


def understate(path, name):
    """Have an archive declare one byte for a part, in both places where it says so."""
    content = bytearray(path.read_bytes())
    for mark, size_at, name_at in ((b"PK\x03\x04", 22, 30), (b"PK\x01\x02", 24, 46)):
        at = -1
        while (at := content.find(mark, at + 1)) >= 0:
            if content[at + name_at :].startswith(name.encode()):
                content[at + size_at : at + size_at + 4] = struct.pack("<I", 1)
    path.write_bytes(bytes(content))


@pytest.fixture
def small(monkeypatch):
    """Let files unpack to 1 MB alone."""
    monkeypatch.setenv(packed.SETTING, "1")


@pytest.mark.parametrize("honest", [True, False])
@pytest.mark.parametrize("ending", ["xlsx", "ods"])
def test_a_spreadsheet_that_unpacks_to_too_much_is_not_opened(tmp_path, small, ending, honest):
    """By what it declares, and by what is true where it declares less."""
    place = "content.xml" if ending == "ods" else "xl/worksheets/sheet1.xml"
    path = pack(tmp_path / f"a.{ending}", {**sheet_of([("A1", 1)]), place: b" " * (3 << 20)})
    if not honest:
        understate(path, place)
    with pytest.raises(UnreadableFile, match="unpacks to more than 1 MB"):
        tacit.read(path)


@pytest.mark.parametrize("honest", [True, False])
def test_a_word_file_that_unpacks_to_too_much_is_not_opened(tmp_path, small, honest):
    """The same for texts."""
    path = pack(tmp_path / "a.docx", {"word/document.xml": b" " * (3 << 20)})
    if not honest:
        understate(path, "word/document.xml")
    with pytest.raises(UnreadableFile, match="unpacks to more than 1 MB"):
        tacit.read_texts(path)


def test_a_table_file_that_unpacks_to_too_much_is_not_opened(tmp_path, small):
    """The same for our own archives."""
    path = pack(tmp_path / "a.tacit", {"table.json": b" " * (3 << 20)})
    with pytest.raises(UnreadableFile, match="unpacks to more than 1 MB"):
        load_table(path)


def test_a_table_of_linked_parts_is_read_as_it_was_written(tmp_path):
    """Its relations are an archive within the archive: measured first, and then still there to be read."""
    parts = [tacit.Table.from_array(a, totals=False, names=n) for a, n in LINKED]
    table = tacit.Table.link(*parts)
    again = load_table(table.save(tmp_path / "t.table"))
    assert (again.value == table.value).all()
    assert (again.equations != table.equations).nnz == 0


LINKED = [([[1.0, 2], [3, 4]], ("u", "v")), ([[2.0, 1], [1, 6]], ("u", "w"))]


def test_the_limit_can_be_raised(tmp_path, monkeypatch):
    """A file beyond the limit is read once the limit is raised; nonsense as a limit is refused."""
    book = openpyxl.Workbook()
    for value in (7, 1, 2):
        book.active.append([value])
    book.save(path := tmp_path / "a.xlsx")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/x", b" " * (3 << 20))
    monkeypatch.setenv(packed.SETTING, "1")
    with pytest.raises(UnreadableFile, match=packed.SETTING):
        tacit.read(path)
    monkeypatch.setenv(packed.SETTING, "8")
    assert tacit.read(path).to_arrow().to_pydict() == {"7": [1, 2]}
    monkeypatch.setenv(packed.SETTING, "much")
    with pytest.raises(tacit.errors.InvalidParameter, match="whole number"):
        tacit.read(path)


def test_cells_far_apart_are_refused(tmp_path):
    """Two cells in opposite corners would be 17 billion in memory, and end the process."""
    book = openpyxl.Workbook()
    book.active["A1"] = book.active["XFD1048576"] = 1
    book.save(path := tmp_path / "a.xlsx")
    with pytest.raises(UnreadableFile, match="spans 1,048,576 rows and 16,384 columns"):
        tacit.read(path)
    with pytest.raises(UnreadableFile, match="spans"):
        tacit.read(path, hidden=True)


def test_repeated_cells_are_counted(tmp_path):
    """One cell of an OpenDocument sheet that is repeated over all places; empty repeats at the end do not count."""
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = {"mimetype": kind, "META-INF/manifest.xml": MANIFEST}
    content = ODS.format(rows=1_048_576, columns=16_384)
    path = pack(tmp_path / "a.ods", {**manifest, "content.xml": content})
    with pytest.raises(UnreadableFile, match="spans 1,048,576 rows and 16,384 columns"):
        tacit.read(path)


def test_a_damaged_part_hides_no_other(tmp_path, small):
    """The first part has a wrong sum, the second unpacks to too much and declares one byte."""
    path = pack(tmp_path / "a.xlsx", {"a": b"x" * 50, "b": b" " * (3 << 20)})
    content = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 14), (b"PK\x01\x02", 16)):
        place = content.find(mark)
        content[place + at] ^= 255
    path.write_bytes(bytes(content))
    understate(path, "b")
    with pytest.raises(UnreadableFile, match="unpacks to more than 1 MB"):
        tacit.read(path)


def test_random_damage_ends_in_a_sentence(tmp_path, small):
    """Bytes of a sound workbook are changed at random places: it is read, or refused in a sentence."""
    book = openpyxl.Workbook()
    for i in range(20):
        book.active.append([i, f"text {i}"])
    book.save(path := tmp_path / "a.xlsx")
    sound = path.read_bytes()
    draw = random.Random(5)
    refused = 0
    for _ in range(60):
        content = bytearray(sound)
        for _ in range(draw.randint(1, 4)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(bytes(content))
        try:
            tacit.read(path)
        except SdcError:
            refused += 1
    assert refused > 10


@pytest.mark.parametrize("seed", range(5))
def test_a_table_with_sums_of_its_own_is_read_again(tmp_path, seed):
    """Its sums lie in an archive inside the file, which is measured and then read from its beginning."""
    n = random.Random(seed).randint(2, 6)
    parts = [
        tacit.Table.from_array([[1.0] * n] * n, totals=False, names=("one", other))
        for other in ("two", "three")
    ]
    linked = tacit.Table.link(*parts)
    assert linked.given is not None
    again = load_table(linked.save(tmp_path / "t.table"))
    assert abs(again.equations - linked.equations).sum() == 0
    assert again.value.tolist() == linked.value.tolist()
