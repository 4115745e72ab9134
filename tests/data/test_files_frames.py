"""Frames in memory come in and go back in their own kind."""

import datetime as dt
import decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.data.fingerprint import fingerprint
from tacit.errors import DisclosureRefused, InputError
from tacit.io import write

COLUMNS = {"sex": ["m", None, "f"], "age": [30, None, 40], "x": [1.5, None, 2.0]}


def plain():
    return pa.table(
        {
            "sex": pa.array(COLUMNS["sex"]),
            "age": pa.array(COLUMNS["age"], pa.int64()),
            "x": pa.array(COLUMNS["x"]),
        }
    )


def pandas_frame():
    return pd.DataFrame(
        {
            "sex": pd.Categorical(COLUMNS["sex"]),
            "age": pd.array(COLUMNS["age"], dtype="Int16"),
            "x": [1.5, np.nan, 2.0],
        },
        index=[7, 8, 9],
    )


SOURCES = {
    "dict": lambda: COLUMNS,
    "pandas": pandas_frame,
    "pandas strings": lambda: pd.DataFrame(
        {
            "sex": pd.Series(COLUMNS["sex"], dtype="str"),
            "age": pd.array(COLUMNS["age"], dtype="Int64"),
            "x": [1.5, None, 2.0],
        }
    ),
    "polars": lambda: pl.DataFrame(COLUMNS).with_columns(
        pl.col("sex").cast(pl.Categorical), pl.col("age").cast(pl.UInt8)
    ),
    "polars enum": lambda: pl.DataFrame(COLUMNS).with_columns(
        pl.col("sex").cast(pl.Enum(["f", "m"])), pl.col("x").cast(pl.Float32)
    ),
    "polars lazy": lambda: pl.LazyFrame(COLUMNS),
    "arrow": lambda: plain().set_column(0, "sex", pa.array(COLUMNS["sex"]).dictionary_encode()),
    "duckdb": lambda: duckdb.connect().from_arrow(plain()),
    "nan": lambda: {
        "sex": COLUMNS["sex"],
        "age": COLUMNS["age"],
        "x": np.array([1.5, np.nan, 2.0]),
    },
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_kind_gives_the_same_data(engine, kind):
    source = SOURCES[kind]()
    data = tacit.read(source, keys="sex", engine=engine)
    assert fingerprint(data) == fingerprint(plain())
    own = data.to_native()
    expected = pa.Table if isinstance(source, dict) else type(source)
    assert isinstance(own, expected) or engine.name == "spark"


@pytest.mark.spark
def test_spark_frames_stay_on_spark():
    engine = tacit.get_engine("spark")
    frame = engine.session.createDataFrame(plain())
    data = tacit.read(frame, keys=["sex"])
    assert data.engine is engine
    assert fingerprint(data) == fingerprint(plain())
    assert type(data.to_native()).__module__.startswith("pyspark")


def test_types_are_made_plain(engine):
    table = pa.table(
        {
            "dec": pa.array([decimal.Decimal("1.50"), None]),
            "small": pa.array([1, None], pa.uint8()),
            "wide": pa.array([1, None], pa.uint64()),
            "short": pa.array([0.5, None], pa.float32()),
            "view": pa.array(["a", None], pa.large_string()),
            "none": pa.nulls(2),
            "day": pa.array([dt.date(2020, 1, 1), None]),
        }
    )
    read = tacit.read(table, engine=engine).to_arrow()
    kinds = {f.name: str(f.type) for f in read.schema}
    assert kinds == {
        "dec": "double",
        "small": "int64",
        "wide": "int64",
        "short": "double",
        "view": "string",
        "none": "string",
        "day": "date32[day]",
    }
    assert read.to_pylist()[1] == dict.fromkeys(table.column_names)


def test_whole_numbers_beyond_64_bits_stay_exact(tmp_path, engine):
    table = pa.table(
        {
            "code": pa.array([2**64 - 1, None], pa.uint64()),
            "small": pa.array([7, None], pa.uint64()),
        }
    )
    path = tmp_path / "wide.parquet"
    pq.write_table(table, path)
    for source in (path, table):
        read = tacit.read(source, engine=engine).to_arrow()
        assert read.to_pydict() == {"code": [str(2**64 - 1), None], "small": [7, None]}


def test_bad_frames():
    double = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(InputError, match="more than once: 'a'"):
        tacit.read(double)
    with pytest.raises(InputError, match="one type, and all the same length"):
        tacit.read({"a": [1, 2], "b": [1]})
    with pytest.raises(InputError, match="one type") as error:
        tacit.read({"a": [1, "secret"]})
    assert "secret" not in str(error.value)
    with pytest.raises(InputError, match="mixes types") as error:
        tacit.read(pd.DataFrame({"a": pd.Series([1, "secret"], dtype=object)}))
    assert "secret" not in str(error.value)
    with pytest.raises(InputError, match="not single values"):
        tacit.read(pa.table({"a": [[1], [2]]}))
    with pytest.raises(InputError, match="no columns"):
        tacit.read(pa.table({}))
    with pytest.raises(InputError, match="reserved"):
        tacit.read({"__row__": [1]})
    with pytest.raises(InputError, match="cannot read a int"):
        tacit.read(5)


def test_missing_codes_and_types_apply_to_frames(engine):
    data = tacit.read(
        {"a": [1, 99, 3], "b": ["NA", "x", "99"], "c": ["1", "2", None]},
        missing=["NA", 99],
        types={"c": "integer"},
        engine=engine,
    )
    assert data.to_arrow().to_pydict() == {
        "a": [1, None, 3],
        "b": [None, "x", None],
        "c": [1, 2, None],
    }
    assert tacit.read({"a": [1, 2]}, types={"a": "text"}).to_arrow().to_pydict() == {
        "a": ["1", "2"]
    }
    with pytest.raises(InputError, match="cannot be read as date"):
        tacit.read({"a": [1, 2]}, types={"a": "date"})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_writing(tmp_path, engine, ending):
    data = tacit.read(COLUMNS, engine=engine)
    path = write(data, tmp_path / "sub" / f"out.{ending}")
    assert fingerprint(tacit.read(path, engine=engine)) == fingerprint(plain())
    with pytest.raises(DisclosureRefused, match="exists"):
        write(data, path)
    write(data, path, overwrite=True)
    again = tacit.read(path, engine=engine)
    with pytest.raises(DisclosureRefused, match="read from"):
        write(again, path, overwrite=True)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_parquet_carries_descriptions(tmp_path, engine):
    from tacit.data.roles import Column

    data = tacit.read(COLUMNS, engine=engine)
    data = data.with_columns_described(
        {"age": Column("age", label="Age", labels={30: "thirty"}, missing=(99,))}
    )
    again = tacit.read(write(data, tmp_path / "o.parquet"), engine=engine)
    assert (
        again.columns["age"].label,
        dict(again.columns["age"].labels),
        again.columns["age"].missing,
    ) == ("Age", {30: "thirty"}, (99,))
    assert fingerprint(again) == fingerprint(data)


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError

    monkeypatch.setattr("tacit.io.text.write", fail)
    with pytest.raises(RuntimeError):
        write(tacit.read(COLUMNS), tmp_path / "o.csv")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="cannot write"):
        write(tacit.read(COLUMNS), tmp_path / "o.sas7bdat")
