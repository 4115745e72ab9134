"""Separated text: types, encodings, and bad files in one sentence."""

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.data.fingerprint import fingerprint
from tacit.errors import ColumnNotFound, InputError, UnreadableFile
from tacit.io import write


@pytest.fixture
def csv(tmp_path):
    def make(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def types(data):
    return {f.name: str(f.type) for f in data.to_arrow().schema}


def values(data, column):
    return data.to_arrow().column(column).to_pylist()


def test_types_keep_what_is_written(csv, engine):
    path = csv(
        "zip,age,income,date,big,neg,mixed,dot\n"
        "02139,34,1.5,09/20/65,9223372036854775808,-0,12,.5\n"
        "02138,NA,2e3,10/23/65,1,5,a,.\n"
        ",7,NaN,,,-12,,3\n"
    )
    data = tacit.read(path, engine=engine)
    assert types(data) == {
        "zip": "string", "age": "int64", "income": "double", "date": "string",
        "big": "string", "neg": "double", "mixed": "string", "dot": "double",
    }  # fmt: skip
    assert values(data, "zip") == ["02139", "02138", None]
    assert values(data, "age") == [34, None, 7]
    assert values(data, "income") == [1.5, 2000.0, None]
    assert values(data, "dot") == [0.5, None, 3.0]
    assert values(data, "big") == ["9223372036854775808", "1", None]


@pytest.mark.parametrize("others", ["", "x"], ids=["alone", "beside text"])
def test_what_is_not_a_number(csv, engine, others):
    odd = ["-", ".", "e5", "-.", "1.", "+1", "007", "1e400", "0x1", "1_000", "inf", "1,5", "12\n"]
    lines = [f"c{i}" for i in range(len(odd))], [f'"{v}"' for v in odd], [f'"{others}"'] * len(odd)
    text = "\n".join(";".join([*line, str(n)]) for n, line in enumerate(lines[: 2 + bool(others)]))
    found = types(tacit.read(csv(text + "\n"), engine=engine))
    assert {n: t for n, t in found.items() if n != "0"} == dict.fromkeys(lines[0], "string")
    assert found["0"] == "int64"


def test_text_keeps_na_unless_told(csv):
    path = csv("a,b\nNA,1\nx,2\n")
    assert values(tacit.read(path), "a") == ["NA", "x"]
    assert values(tacit.read(path, missing=["NA"]), "a") == [None, "x"]
    assert values(tacit.read(csv("a,b\n99,1\n5,2\n"), missing=[99]), "a") == [None, 5]


def test_engines_agree(csv):
    text = 'a,b,c\n"x\r\ny",1,é\n"say ""hi""",2.5,\n,NA,"" \n'
    path = csv(text)
    prints = {
        fingerprint(tacit.read(path, engine=e)) for e in ("duckdb", tacit.get_engine("duckdb"))
    }
    assert len(prints) == 1


def test_large_text_is_read_by_the_engine_alike(csv, engine, monkeypatch):
    path = csv('a,b\n"x\ny",1\n"say ""hi""",2\n,3\n')
    expected = fingerprint(tacit.read(path))
    bad = csv("a,b\n1,2\nsecret\n", "bad.csv")
    monkeypatch.setattr("tacit.engine.spark.TEXT_LIMIT", 0)
    assert fingerprint(tacit.read(path, engine=engine)) == expected
    with pytest.raises(
        UnreadableFile, match="1 line has another number of fields than the 2"
    ) as error:
        tacit.read(bad, engine=engine)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        (b"\xef\xbb\xbfa;b\n1;2\n", {}, [{"a": 1, "b": 2}]),
        ("a\tb\n1\t2\n".encode("utf-16"), {}, [{"a": 1, "b": 2}]),
        ("n,b\nZoë,2\n".encode("latin-1"), {"encoding": "latin-1"}, [{"n": "Zoë", "b": 2}]),
        ("n,b\nŽ,2\n".encode("cp1250"), {"encoding": "cp1250"}, [{"n": "Ž", "b": 2}]),
        (b"a|b\r\n1|2\r\n", {}, [{"a": 1, "b": 2}]),
        (b"a,b\r1,2\r", {}, [{"a": 1, "b": 2}]),
        (b"a,b\r\n1,2\n3,4\r\n", {}, [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
        (b"\n\na,b\n\n1,2\n\n", {}, [{"a": 1, "b": 2}]),
        (b"a\n1\n\n3\n", {}, [{"a": 1}, {"a": None}, {"a": 3}]),
        (b"1,2\n3,4\n", {"header": False}, [{"V1": 1, "V2": 2}, {"V1": 3, "V2": 4}]),
        (b",b\n1,2\n", {}, [{"V1": 1, "b": 2}]),
        (b"a,b\n1,'x,y'\n", {"quote": "'"}, [{"a": 1, "b": "x,y"}]),
        (b'a,b\n1,5"6\n', {"quote": ""}, [{"a": 1, "b": '5"6'}]),
        (b"a,b\n", {}, []),
        (b"a,b", {}, []),
    ],
)
def test_shapes_of_text(csv, content, options, expected):
    assert tacit.read(csv(content), **options).to_arrow().to_pylist() == expected


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", {}, "is empty"),
        (b"\n\n", {}, "only blank lines"),
        (b"a,a\n1,2\n", {}, "occur more than once: 'a'"),
        (b"a,__row__\n1,2\n", {}, "reserved"),
        (b"a,b\n1,2\nsecret\n", {}, "1 line has another number of fields than the 2"),
        (b"a,b\n1,2\nsecret,1,2\nsecret,1,2,3\n", {}, "2 lines have another"),
        (b'a,b\n"secret,2\n3,4\n', {}, "number of fields"),
        (b"a,b\nsecret\xff,2\n", {}, "not utf-8 text"),
        (b"a,b\nsecret,2\n", {"encoding": "nonsense"}, "not nonsense text"),
        (b"a\0b\1secret", {}, "not a text file"),
        (b"a,b\nsecret,2\n4,5\n", {"types": {"a": "integer"}}, "1 value is not a whole number"),
        (b"a,b\nsecret,2\nsecret,5\n", {"types": {"a": "number"}}, "2 values are not a number"),
        (b"a,b\n2020-02-31,2\n", {"types": {"a": "date"}}, "does not fit the type"),
        (b"a,b\nsecret,2\n", {"types": {"a": "date"}}, "YYYY-MM-DD"),
        (b"a,b\n1,2\n", {"types": {"a": "float"}}, "types must be text, integer, number or date"),
        (b"a,b\n1,2\n", {"separator": "::"}, "one plain"),
        (b"a,b\n1,2\n", {"seperator": ";"}, "Did you mean 'separator'"),
    ],
)
def test_bad_text_is_one_sentence_without_values(csv, content, options, message):
    with pytest.raises(InputError, match=message) as error:
        tacit.read(csv(content), **options)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


def test_forced_types(csv, engine):
    path = csv("a,b,c,d\n007,1,2020-02-29,12\n+8,NA,1850-01-01,13\n")
    data = tacit.read(
        path, types={"a": "integer", "b": "number", "c": "date", "d": "text"}, engine=engine
    )
    assert types(data) == {"a": "int64", "b": "double", "c": "date32[day]", "d": "string"}
    assert values(data, "a") == [7, 8]
    with pytest.raises(ColumnNotFound, match="Did you mean 'b'"):
        tacit.read(path, types={"B": "text"})


def test_missing_file_folder_and_ending(tmp_path, csv):
    path = csv("a,b\n1,2\n", "hospital.csv")
    with pytest.raises(UnreadableFile, match=r"Did you mean 'hospital\.csv'"):
        tacit.read(tmp_path / "hospitl.csv")
    with pytest.raises(UnreadableFile, match="is a folder"):
        tacit.read(tmp_path)
    with pytest.raises(UnreadableFile, match="Known extensions"):
        tacit.read(path.rename(tmp_path / "data.xyz"))


def test_a_long_record(csv):
    long = "x" * 6_000_000
    assert values(tacit.read(csv(f"a,b\n{long},1\n")), "a") == [long]


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1).filter(
    lambda t: t.strip()
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(
            st.none() | texts.map("t{}".format),
            st.none() | st.integers(-(10**17), 10**17),
            st.none() | st.floats(-1e12, 1e12, allow_subnormal=False),
        ),
        min_size=1,
    )
)
def test_round_trip(tmp_path_factory, rows):
    table = pa.table(
        {
            "text": pa.array([r[0] for r in rows], pa.string()),
            "whole": pa.array([r[1] for r in rows], pa.int64()),
            "real": pa.array([r[2] for r in rows], pa.float64()),
        }
    )
    path = tmp_path_factory.mktemp("csv") / "out.csv"
    write(tacit.read(table), path)
    again = tacit.read(path, types={"whole": "integer", "real": "number"})
    assert fingerprint(again) == fingerprint(table)


def test_write_quotes_only_where_needed(tmp_path):
    data = tacit.read({"a": ["x,y", "plain", None, 'say "hi"'], "b": [1, None, 3, 4]})
    path = write(data, tmp_path / "out.csv")
    assert path.read_text() == 'a,b\n"x,y",1\nplain,\n,3\n"say ""hi""",4\n'
    semicolon = write(data, tmp_path / "latin.csv", separator=";", encoding="latin-1")
    assert semicolon.read_bytes().startswith(b"a;b\nx,y;1\n")
    with pytest.raises(InputError, match="cannot be written as ascii"):
        write(tacit.read({"a": ["é"]}), tmp_path / "ascii.csv", encoding="ascii")
