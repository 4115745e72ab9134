"""Databases are only read."""

import sqlite3

import duckdb
import pytest

import tacit
from tacit.errors import EngineMissing, InputError, UnreadableFile


@pytest.fixture
def sqlite(tmp_path):
    path = tmp_path / "survey.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE persons (id INTEGER, zip TEXT, income, mixed)")
    connection.executemany(
        "INSERT INTO persons VALUES (?, ?, ?, ?)",
        [(1, "02139", 10, 1), (2, None, 1.5, "a"), (3, "02138", None, None)],
    )
    connection.commit()
    connection.close()
    return path


EXPECTED = {
    "id": [1, 2, 3],
    "zip": ["02139", None, "02138"],
    "income": [10.0, 1.5, None],
    "mixed": ["1", "a", None],
}


def test_sqlite(sqlite, engine, monkeypatch):
    monkeypatch.setattr("tacit.io.sql.CHUNK", 2)
    for source, options in (
        (sqlite, {}),
        (f"sqlite:///{sqlite}", {"table": "persons"}),
        (sqlite, {"query": "SELECT * FROM persons"}),
    ):
        data = tacit.read(source, engine=engine, **options)
        assert data.to_arrow().to_pydict() == EXPECTED
    assert tacit.read(f"sqlite:///{sqlite}", keys="zip").source == str(sqlite)
    none = tacit.read(sqlite, query="SELECT id FROM persons WHERE id > 9")
    assert len(none) == 0


def test_duckdb_file(tmp_path, engine):
    path = tmp_path / "survey.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TYPE sex AS ENUM ('m', 'f')")
        connection.execute("CREATE TABLE p (id TINYINT, s sex, money DECIMAL(9,2), big HUGEINT)")
        connection.execute("INSERT INTO p VALUES (1, 'm', 1.50, 7), (2, NULL, NULL, NULL)")
    data = tacit.read(path, engine=engine)
    assert data.to_arrow().to_pydict() == {
        "id": [1, 2],
        "s": ["m", None],
        "money": [1.5, None],
        "big": [7.0, None],
    }
    with pytest.raises(UnreadableFile, match="only read"):
        tacit.read(path, query="DROP TABLE p")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": "DELETE FROM persons"}, "only read"),
        ({"query": "DROP TABLE persons"}, "only read"),
        (
            {"query": "SELECT salary FROM persons WHERE zip = 'secret'"},
            "column that does not exist",
        ),
        ({"query": "SELECT * FROM secret"}, "table that does not exist"),
        ({"query": "SELEKT 'secret'"}, "not valid SQL"),
        ({"query": "SELECT 1", "table": "persons"}, "not both"),
        ({"table": "person"}, "Did you mean 'persons'"),
        ({"query": "SELECT id, id FROM persons"}, "more than once"),
        ({"query": "SELECT x'00ff' AS blob"}, "binary data"),
    ],
)
def test_bad_queries(sqlite, options, message):
    before = sqlite.read_bytes()
    with pytest.raises(InputError, match=message) as error:
        tacit.read(sqlite, **options)
    assert "secret" not in str(error.value)
    assert sqlite.read_bytes() == before


def test_several_tables_must_be_chosen(sqlite):
    with sqlite3.connect(sqlite) as connection:
        connection.execute("CREATE TABLE homes (id INTEGER)")
    connection.close()
    with pytest.raises(UnreadableFile, match="'homes', 'persons'; say which"):
        tacit.read(sqlite)


def test_addresses():
    with pytest.raises(UnreadableFile, match="Did you mean 'sqlite'"):
        tacit.read("sqlit:///x.db")
    with pytest.raises(UnreadableFile, match="no file"):
        tacit.read("sqlite:///nowhere.db")
    with pytest.raises((EngineMissing, UnreadableFile)) as error:
        tacit.read("postgresql://someone:hunter2@127.0.0.1:1/db", query="SELECT 1")
    assert "hunter2" not in str(error.value)
    assert "someone" not in str(error.value)


def test_a_large_duckdb_table_streams_into_scratch_files(tmp_path, monkeypatch):
    """Batches become plain types one by one; what does not fit 64 bits late in a column makes it text as a whole."""
    path = tmp_path / "big.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i::INTEGER AS i, (i / 2)::DECIMAL(9, 1) AS half, 'n' || i AS note, "
            "CASE WHEN i < 119999 THEN i::HUGEINT ELSE 170141183460469231731687303715884105727 END AS wide "
            "FROM range(120000) r(i)"
        )
    engine = tacit.get_engine("duckdb")
    monkeypatch.setattr(engine._scratch, "in_memory", 1 << 16)
    data = tacit.read(path, query="SELECT i, half, note FROM t", engine=engine)
    assert any(engine._scratch.folder.glob("*.parquet"))
    table = data.to_arrow()
    assert table.column("i").to_pylist() == list(range(120_000))
    assert [str(f.type) for f in table.schema] == ["int64", "double", "string"]
    wide = tacit.read(path, engine=engine).to_arrow(["wide"]).column("wide")
    assert str(wide.type) == "string"
    assert wide[0].as_py() == "0"
    assert wide[119_999].as_py() == str(2**127 - 1)
