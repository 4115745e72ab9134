"""What is read is what is in the file: every record, that file alone, one zero; and no label too many."""

import csv as python_csv
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.data.roles import Column
from tacit.engine.quoting import BLOCK, count_records
from tacit.errors import UnreadableFile
from tacit.io import write


def test_a_quote_that_is_not_closed_loses_no_records(tmp_path, engine):
    path = tmp_path / "t.csv"
    rows = [f"{i},a{i}" for i in range(1000)]
    rows[500] = '500,"a500'
    path.write_text("id,text\n" + "\n".join(rows) + "\n")
    with pytest.raises(UnreadableFile, match="not closed"):
        tacit.read(path, engine=engine)
    assert len(tacit.read(path, quote="", engine=engine)) == 1000


@pytest.mark.parametrize(
    "body",
    ['1,"a\n2,"b"\n3,c\n', '1,a\n2,"b\n3,c"d"\n4,e\n', '1,"a""\n2,b\n', '"1,a\n2,b\n'],
)
def test_no_row_is_swallowed_by_a_field(tmp_path, body):
    path = tmp_path / "t.csv"
    path.write_text("id,text\n" + body)
    with pytest.raises(UnreadableFile):
        tacit.read(path)


@pytest.mark.parametrize(
    ("body", "n"),
    [
        ('1,5" pipe\n2,x\n', 2),
        ('1,"two\nlines"\n\n2,"say ""hi"""\n', 2),
        ('1,"a" \n2,b', 2),
        ('1,""\r\n2,"\r\n"\r\n\r\n', 2),
        ("1,a\r2,b\r", 2),
    ],
)
def test_odd_but_sound_quotes_are_read(tmp_path, body, n):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbf\nid,text\n" + body.encode())
    assert len(tacit.read(path)) == n


cells = st.text(st.sampled_from('ab,"\n\r é'), max_size=4)


@given(
    st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([BLOCK, 1, 2, 7]),
)
@settings(max_examples=300, deadline=None)
def test_records_are_counted_as_they_were_written(tmp_path_factory, rows, end, block):
    text = io.StringIO()
    # Python leaves a bare carriage return without quotes, so all fields get them where there is one.
    returns = any("\r" in cell for row in rows for cell in row)
    style = python_csv.QUOTE_ALL if returns else python_csv.QUOTE_MINIMAL
    python_csv.writer(text, lineterminator=end, quoting=style).writerows(rows)
    path = tmp_path_factory.mktemp("count") / "t.csv"
    path.write_bytes(text.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tacit.engine.quoting.BLOCK", block)
        found = count_records(path, separator=",", quote='"', encoding="utf-8")
    assert found == len(rows)


def test_names_of_files_are_no_patterns(tmp_path, engine):
    for name, value in (("data1", 1), ("data[1]", 2), ("x*", 3), ("xy", 4), ("a?", 5), ("ab", 6)):
        pq.write_table(pa.table({"v": [value]}), tmp_path / f"{name}.parquet")
    for name, value in (("data[1]", 2), ("x*", 3), ("a?", 5)):
        data = tacit.read(tmp_path / f"{name}.parquet", engine=engine)
        assert data.column("v").to_pylist() == [value]
    with pytest.raises(UnreadableFile, match="no file"):
        tacit.read(tmp_path / "data*.parquet", engine=engine)
    folder = tmp_path / "parts[1]"
    folder.mkdir()
    pq.write_table(pa.table({"v": [7]}), folder / "part[0].parquet")
    assert tacit.read(folder, engine=engine).column("v").to_pylist() == [7]


def test_there_is_one_zero(tmp_path, engine):
    frame = pa.table({"x": [0.0, -0.0, -1.5, None, float("nan")]})
    pq.write_table(frame, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("x\n0.0\n-0.0\n-1.5\n\n\n")
    for source in (frame, tmp_path / "t.parquet", tmp_path / "t.csv"):
        values = tacit.read(source, engine=engine).column("x").to_pylist()
        assert values == [0.0, 0.0, -1.5, None, None]
        assert not np.signbit(values[1])


@pytest.mark.parametrize("ending", ["sav", "dta", "parquet", "xlsx", "asc"])
def test_labels_of_categories_that_are_gone_stay_behind(tmp_path, ending):
    labels = {1: "common", 2: "widower of Hamlet", 9: "refused"}
    data = tacit.read({"sex": [1, 1, 9, None]})
    data = data.with_columns_described({"sex": Column("sex", labels=labels, missing=(9,))})
    path = write(data, tmp_path / f"t.{ending}")
    back = tacit.read(path).columns["sex"].labels
    assert dict(back) == {1: "common", 9: "refused"}
    for file in tmp_path.iterdir():
        assert b"Hamlet" not in file.read_bytes()
    assert dict(data.columns["sex"].labels) == labels
