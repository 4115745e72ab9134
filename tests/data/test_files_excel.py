"""Spreadsheets."""

# ruff: noqa: DTZ001 - these formats know no time zones

import datetime as dt
import zipfile

import openpyxl
import pyarrow as pa
import pytest

import tacit
from tacit.data.fingerprint import fingerprint
from tacit.data.roles import Column
from tacit.errors import InputError, SdcWarning, UnreadableFile
from tacit.io import write
from tacit.io.hidden import Hidden, find_hidden
from tacit.io.sheets import read_table


def sheet(path, rows, title="Sheet"):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_cells_become_typed_columns(tmp_path, engine):
    path = sheet(
        tmp_path / "a.xlsx",
        [
            ["zip", "n", "x", "day", "when", "mixed", None, "yes"],
            ["02139", 1, 1.5, dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4), 3, None, True],
            [None, None, 2, None, dt.date(2020, 1, 2), "a", None, False],
            [None] * 8,
            ["02138", 3, None, dt.date(1999, 1, 1), None, 1.5, None, None],
        ],
    )
    table = tacit.read(path, engine=engine).to_arrow()
    assert [f.name for f in table.schema] == ["zip", "n", "x", "day", "when", "mixed", "yes"]
    assert [str(f.type).split(",")[0].rstrip("]") for f in table.schema][:4] == [
        "string",
        "int64",
        "double",
        "date32[day",
    ]
    assert table.column("zip").to_pylist() == ["02139", None, "02138"]
    assert table.column("n").to_pylist() == [1, None, 3]
    assert table.column("mixed").to_pylist() == ["3", "a", "1.5"]
    assert table.column("yes").to_pylist() == [True, False, None]


def test_round_trip_with_codebook(tmp_path):
    table = pa.table(
        {
            "code": pa.array(["007", "=1+1", None, "NA"]),
            "n": pa.array([1, 2, None, 2**60]),
            "x": pa.array([1.0, 0.22356082499027252, None, 4.0]),
            "old": pa.array([dt.date(1850, 1, 1), None, dt.date(2020, 1, 1), dt.date(1900, 1, 1)]),
            "day": pa.array([dt.date(1950, 1, 1), None, dt.date(2020, 1, 1), dt.date(1999, 1, 1)]),
            "when": pa.array(
                [
                    dt.datetime(2020, 1, 1, 12, 30, 15),
                    None,
                    dt.datetime(2020, 1, 1),
                    dt.datetime(1950, 6, 1),
                ]
            ),
            "flag": pa.array([True, None, False, True]),
            "empty": pa.array([None] * 4, pa.float64()),
        }
    )
    data = tacit.read(table).with_columns_described(
        {"n": Column("n", label="A count", labels={1: "one"}, missing=(2,))}
    )
    again = tacit.read(write(data, tmp_path / "a.xlsx"))
    assert fingerprint(again) == fingerprint(data)
    assert {f.name: f.type for f in again.to_arrow().schema} == {
        f.name: f.type for f in table.schema
    }
    assert (
        again.columns["n"].label,
        dict(again.columns["n"].labels),
        again.columns["n"].missing,
    ) == ("A count", {1: "one"}, (2,))


def test_sheets_and_headers(tmp_path):
    path = sheet(tmp_path / "a.xlsx", [["a", "b"], [1, 2]], title="Persons")
    assert tacit.read(path, sheet="Persons").to_arrow().to_pydict() == {"a": [1], "b": [2]}
    assert tacit.read(path, header=False).to_arrow().to_pydict() == {
        "V1": ["a", "1"],
        "V2": ["b", "2"],
    }
    with pytest.raises(UnreadableFile, match="Did you mean 'Persons'"):
        tacit.read(path, sheet="persons1")
    with pytest.raises(UnreadableFile, match="more than once"):
        tacit.read(sheet(tmp_path / "b.xlsx", [["a", "a"], [1, 2]]))
    with pytest.raises(UnreadableFile, match="is empty"):
        tacit.read(sheet(tmp_path / "c.xlsx", []))
    with pytest.raises(InputError, match="not every cell"):
        tacit.read(sheet(tmp_path / "d.xlsx", [["a"], ["secret"]]), types={"a": "integer"})


def test_control_characters_are_refused(tmp_path):
    with pytest.raises(InputError, match="control characters"):
        write(tacit.read({"a": ["x\1y"]}), tmp_path / "a.xlsx")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def partly_hidden(tmp_path):
    book = openpyxl.Workbook()
    notes = book.active
    notes.title = "notes"
    notes.append(["name"])
    notes.append(["Ann Smith"])
    notes.sheet_state = "hidden"
    shown = book.create_sheet("shown")
    for row in (["age", "name", "pay", "x"], [31, "Ann", 10, 1], [32, "Bob", 20, 2], [33, "Cy", 30, 3]):  # fmt: skip
        shown.append(row)
    shown.column_dimensions["B"].hidden = True
    shown.column_dimensions["C"].hidden = True
    shown.row_dimensions[3].hidden = True
    book.save(tmp_path / "h.xlsx")
    return tmp_path / "h.xlsx"


def test_what_a_sheet_hides_is_left_out_and_said(partly_hidden):
    with pytest.warns(SdcWarning, match=r"hidden columns or rows of sheet 'shown' were left out"):
        data = tacit.read(partly_hidden)
    assert data.to_arrow().to_pydict() == {"age": [31, 33], "x": [1, 3]}
    asked = tacit.read(partly_hidden, sheet="shown", hidden=True)
    assert list(asked.columns) == ["age", "name", "pay", "x"]
    assert len(asked) == 3
    # A hidden sheet is read when it is asked for by name.
    assert list(tacit.read(partly_hidden, sheet="notes").columns) == ["name"]


def test_a_table_leaves_out_what_its_sheet_hides(partly_hidden):
    with pytest.warns(SdcWarning, match="left out"):
        table = read_table(partly_hidden, ["age"], "x", totals="recompute")
    assert table.value.max() == 4


def test_hidden_columns_of_open_documents(tmp_path):
    body = (
        '<table:table table:name="s"><table:table-column/><table:table-column table:visibility="collapse" table:number-columns-repeated="2"/>'
        '<table:table-row/><table:table-row table:visibility="filter" table:number-rows-repeated="3"/></table:table>'
    )
    text = f'<office:document-content xmlns:office="o" xmlns:table="t">{body}</office:document-content>'
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as archive:
        archive.writestr("content.xml", text)
    assert find_hidden(tmp_path / "a.ods", "s") == Hidden(frozenset({1, 2}), frozenset({1, 2, 3}))
    assert find_hidden(tmp_path / "a.ods", "t") == Hidden()
