"""Frames and tables as plain files: no dust, no formulas, whole or not at all."""

import numpy as np
import pyarrow as pa
import pytest
from openpyxl import load_workbook

import tacit
from tacit.data.decimals import decimals_of, tidy_numbers
from tacit.errors import DisclosureRefused, InputError, UnreadableFile
from tacit.io import read_any, write_frame
from tacit.io.released import write_released

DUST = 5214849.2299999995
LABELS = ["=1+1", "+1", "-1", "@SUM(A1)", "plain"]


def frame():
    return pa.table(
        {"code": LABELS, "value": [DUST, 0.1 + 0.2, 1e-7 * 0, None, 1e15], "n": [1, 2, 3, 4, 5]}
    )


def test_dust_is_not_written(tmp_path):
    write_frame(frame(), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == (
        "code,value,n\n=1+1,5214849.23,1\n+1,0.3,2\n-1,0,3\n@SUM(A1),,4\nplain,1000000000000000,5\n"
    )
    write_frame(frame(), tmp_path / "t.parquet")
    assert tacit.read(tmp_path / "t.parquet").column("value").to_pylist()[:2] == [5214849.23, 0.3]


def test_labels_are_never_formulas(tmp_path):
    write_frame(frame(), tmp_path / "t.xlsx")
    sheet = load_workbook(tmp_path / "t.xlsx").worksheets[0]
    cells = [sheet.cell(row, 1) for row in range(2, 7)]
    assert [c.value for c in cells] == LABELS
    assert {c.data_type for c in cells} == {"s"}
    assert [c.quotePrefix for c in cells] == [True, True, True, True, False]
    assert sheet.cell(2, 2).value == 5214849.23
    assert sheet.cell(2, 2).number_format == "#,##0.00"


def test_decimals_follow_the_values():
    assert decimals_of(np.array([1.0, 2.0])) == 0
    assert decimals_of(np.array([0.1 + 0.2, 7.0])) == 1
    assert decimals_of(np.array([np.pi, np.nan])) is None
    assert tidy_numbers(np.array([np.pi]))[0] == np.pi
    assert tidy_numbers(np.array([np.pi]), 2)[0] == 3.14
    assert str(tidy_numbers(np.array([-1e-17]))[0]) == "0.0"


def test_only_known_endings_and_free_targets(tmp_path):
    with pytest.raises(InputError, match="frames are written as"):
        write_frame(frame(), tmp_path / "t.sav")
    with pytest.raises(InputError, match="no folder"):
        write_frame(frame(), tmp_path / "none" / "t.csv")
    write_frame({"a": [1]}, tmp_path / "t.csv")
    with pytest.raises(DisclosureRefused, match="exists"):
        write_frame(frame(), tmp_path / "t.csv")
    write_frame({"a": [2]}, tmp_path / "t.csv", overwrite=True)
    assert (tmp_path / "t.csv").read_text() == "a\n2\n"
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def cents():
    table = tacit.Table.from_array([[0.1, 0.2], [5214849.03, 0.2]], totals=False, names=["=a", "b"])
    return table.with_protection([(0, 0)], 1, 1).with_hidden([(0, 1), (1, 0), (1, 1)])


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_released_tables_hold_no_dust_and_no_hidden_value(tmp_path, ending):
    table = cents()
    assert table.value[2] == 0.1 + 0.2 != 0.3
    write_released(table, tmp_path / f"t.{ending}")
    column = tacit.read(tmp_path / f"t.{ending}").column("value").to_pylist()
    assert [v is None for v in column] == table.hidden.tolist()
    assert (column[2], column[-1]) == (0.3, 5214849.53)


def test_a_released_workbook_has_a_cross_table(tmp_path):
    write_released(cents(), tmp_path / "t.xlsx")
    sheet = load_workbook(tmp_path / "t.xlsx")["cross-table"]
    rows = [[c.value for c in row] for row in sheet.iter_rows()]
    assert rows[0] == ["=a", "1", "2", "Total"]
    assert rows[1] == ["1", "x", "x", 0.3]
    assert rows[3] == ["Total", 5214849.13, 0.4, 5214849.53]
    assert sheet.cell(1, 1).data_type == "s"


def test_read_any_tells_records_from_tables(tmp_path):
    table = cents()
    table.save(tmp_path / "t.table")
    assert isinstance(read_any(tmp_path / "t.table"), tacit.Table)
    tacit.tables.write_jj(table, tmp_path / "t.jj")
    assert len(read_any(tmp_path / "t.jj")) == 9
    write_frame({"a": ["x", "Total"], "n": [3, 3]}, tmp_path / "t.csv")
    assert isinstance(read_any(tmp_path / "t.csv"), tacit.Microdata)
    cells = read_any(tmp_path / "t.csv", ready=True, dimensions=["a"], value="n")
    assert cells.value.tolist() == [3, 3]
    with pytest.raises(UnreadableFile, match="holds a table, not records"):
        tacit.read(tmp_path / "t.table")


def test_columns_of_a_released_sheet_are_wide_enough(tmp_path):
    """Excel shows a number that does not fit as ####."""
    table = tacit.Table.from_array([[51534641.38, 2.5], [14246848.42, 7.0]], totals=False)
    write_released(table, tmp_path / "t.xlsx")
    for sheet in load_workbook(tmp_path / "t.xlsx"):
        widths = {k: d.width for k, d in sheet.column_dimensions.items()}
        for column in sheet.iter_cols():
            longest = max(
                len(f"{c.value:,.2f}" if c.data_type == "n" and c.value else str(c.value or ""))
                for c in column
            )
            assert widths[column[0].column_letter] > longest
