"""SPSS, Stata and SAS: labels, missing codes and types survive a round trip."""

# ruff: noqa: DTZ001 - these formats know no time zones

import datetime as dt
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pyreadstat
import pytest

import tacit
from tacit.data.fingerprint import fingerprint
from tacit.data.roles import Column
from tacit.errors import EngineMissing, InputError, UnreadableFile
from tacit.io import write


@pytest.fixture
def survey():
    table = pa.table(
        {
            "sex": pa.array([1, 2, 9, None], pa.int64()),
            "income": pa.array([1200.5, -7.0, None, 3000.0]),
            "town": pa.array(["Zoë", None, "X", "b"]),
            "born": pa.array(
                [dt.date(1965, 9, 20), None, dt.date(1850, 1, 1), dt.date(2024, 2, 29)]
            ),
            "seen": pa.array(
                [
                    dt.datetime(2020, 1, 2, 3, 4, 5),
                    None,
                    dt.datetime(1999, 1, 1),
                    dt.datetime(1960, 1, 1),
                ]
            ),
            "big": pa.array([2**40, None, -5, 0], pa.int64()),
            "nothing": pa.array([None] * 4, pa.string()),
        }
    )
    columns = {
        "sex": Column(
            "sex", label="Sex of the person", labels={1: "male", 2: "female"}, missing=(9,)
        ),
        "income": Column(
            "income", label="Income", missing=(-7.0,), format={"missing_ranges": [[-9.0, -1.0]]}
        ),
        "town": Column("town", labels={"b": "Boston"}, missing=("X",)),
    }
    return tacit.read(table).with_columns_described(columns)


@pytest.mark.parametrize("ending", ["sav", "zsav"])
def test_spss_round_trip(tmp_path, survey, ending):
    first = tacit.read(write(survey, tmp_path / f"first.{ending}"))
    assert fingerprint(first) == fingerprint(survey)
    for name in ("sex", "income", "town"):
        ours, theirs = survey.columns[name], first.columns[name]
        assert (theirs.label, dict(theirs.labels), theirs.missing) == (
            ours.label,
            dict(ours.labels),
            ours.missing,
        )
    assert first.columns["income"].format["missing_ranges"] == [[-9.0, -1.0]]
    second = tacit.read(write(first, tmp_path / f"second.{ending}"))
    assert fingerprint(second) == fingerprint(first)
    assert dict(second.columns) == dict(first.columns)


def test_stata_round_trip(tmp_path, survey):
    first = tacit.read(write(survey, tmp_path / "first.dta"))
    assert fingerprint(first) == fingerprint(survey)
    assert first.columns["sex"].label == "Sex of the person"
    assert dict(first.columns["sex"].labels) == {1: "male", 2: "female"}
    second = tacit.read(write(first, tmp_path / "second.dta"))
    assert fingerprint(second) == fingerprint(first)
    assert dict(second.columns) == dict(first.columns)


def test_stata_lettered_missing_values(tmp_path):
    frame = pl.DataFrame(
        {
            "i": pl.Series([1, None, "a", "z"], dtype=pl.Object),
            "f": pl.Series([1.5, "b", 3e9, None], dtype=pl.Object),
        }
    )
    path = tmp_path / "letters.dta"
    pyreadstat.write_dta(
        frame,
        str(path),
        missing_user_values={"i": ["a", "z"], "f": ["b"]},
        variable_value_labels={"i": {1: "one", "a": "refused"}},
    )
    data = tacit.read(path)
    assert data.to_arrow().to_pydict() == {
        "i": [1, None, 2147483622, 2147483647],
        "f": [1.5, 1e15 + 2, 3e9, None],
    }
    assert data.columns["i"].missing == (2147483622, 2147483647)
    assert dict(data.columns["i"].labels) == {1: "one", 2147483622: "refused"}
    again, meta = pyreadstat.read_dta(
        str(write(data, tmp_path / "again.dta")), user_missing=True, output_format="dict"
    )
    assert dict(again) == {"i": [1, None, "a", "z"], "f": [1.5, "b", 3e9, None]}
    assert meta.variable_value_labels["i"] == {1: "one", "a": "refused"}


def test_spss_whole_numbers_come_back(tmp_path):
    frame = pl.DataFrame({"n": [1.0, None, 3.0], "x": [1.0, 2.0, 3.0], "y": [1.5, 2.0, 3.0]})
    path = tmp_path / "f.sav"
    pyreadstat.write_sav(frame, str(path), variable_format={"n": "F8.0", "x": "F8.2", "y": "F8.0"})
    kinds = {f.name: str(f.type) for f in tacit.read(path).to_arrow().schema}
    assert kinds == {"n": "int64", "x": "double", "y": "double"}


def test_sas_transport_is_read(tmp_path):
    path = tmp_path / "t.xpt"
    pyreadstat.write_xport(
        pl.DataFrame({"AGE": [34.0, None], "SEX": ["m", "f"]}), str(path), file_format_version=8
    )
    assert tacit.read(path).to_arrow().to_pydict() == {"AGE": [34.0, None], "SEX": ["m", "f"]}


def test_recoded_column_loses_codes_of_the_old_type(tmp_path, survey):
    recoded = survey.replace({"sex": pa.array(["*", "*", "*", None])})
    for ending in ("sav", "dta"):
        again = tacit.read(write(recoded, tmp_path / f"r.{ending}"))
        assert again.to_arrow().column("sex").to_pylist() == ["*", "*", "*", None]
        assert again.columns["sex"].label == "Sex of the person"
        assert not again.columns["sex"].labels


def test_no_records(tmp_path):
    empty = tacit.read(pa.table({"a": pa.array([], pa.int64()), "s": pa.array([], pa.string())}))
    for ending in ("sav", "dta", "xlsx", "csv", "parquet", "asc"):
        again = tacit.read(write(empty, tmp_path / f"e.{ending}")).to_arrow()
        assert again.column_names == ["a", "s"]
        assert again.num_rows == 0


@pytest.mark.parametrize(
    "ending",
    ["sav", "zsav", "dta", "sas7bdat", "xpt", "xlsx", "xls", "ods", "parquet", "db", "duckdb"],
)
@pytest.mark.parametrize(
    "content", [b"secret nonsense", b"PK\3\4secret" * 300, b"$FL2" + b"secret" * 99]
)
def test_damaged_files(tmp_path, ending, content):
    path = tmp_path / f"bad.{ending}"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile) as error:
        tacit.read(path)
    assert "bad." in str(error.value)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("ending", ["sav", "dta", "parquet", "xlsx"])
def test_truncated_files(tmp_path, survey, ending):
    path = write(survey, tmp_path / f"whole.{ending}")
    cut = tmp_path / f"cut.{ending}"
    cut.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(UnreadableFile, match="cut"):
        tacit.read(cut).to_arrow()


def test_what_the_formats_cannot_hold(tmp_path):
    with pytest.raises(InputError, match=r"beyond 2\^53"):
        write(tacit.read({"a": [2**60]}), tmp_path / "a.sav")
    with pytest.raises(InputError, match="names must begin with a letter"):
        write(tacit.read({"1 a": [1]}), tmp_path / "b.sav")
    many = tacit.read({"a": [1, 2]})
    many = many.with_columns_described({"a": replace(many.columns["a"], missing=(1, 2, 3, 4))})
    with pytest.raises(InputError, match="more missing codes"):
        write(many, tmp_path / "c.sav")


def test_absent_package(tmp_path, survey, monkeypatch):
    path = write(survey, tmp_path / "a.sav")
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    with pytest.raises(EngineMissing, match=r"tacit\[files\]"):
        tacit.read(path)
