"""mu-ARGUS record files, fixed and free; the small files are our own."""

import pyarrow as pa
import pytest

import tacit
from tacit.data.fingerprint import fingerprint
from tacit.errors import DisclosureRefused, InputError, UnreadableFile
from tacit.io import write

RDA = """\
// our own example
HH 1 3 "998" "999"
    <HOUSE_ID>
TOWN 4  2 99 98
  <RECODEABLE>
  <CODELIST> "town.cdl"
  <IDLEVEL>  1
  <SUPPRESSWEIGHT>  40
  <TRUNCABLE>
SEX 6 1 9
  <RECODABLE>
  <IDLEVEL> 2
JOB 7 2
  <RECODABLE>
  <IDLEVEL> 0
W 9 6
  <NUMERIC>
  <DECIMALS> 2
  <WEIGHT>
INCOME 17 5 99999
  <NUMERIC>
"""

ASC = """\
  1 71 a 12.50zz 1200
  1 72 b 12.50zz99999
 12109 b  7.00zz
"""

CDL = " 7,Wheaton\n10, Newbay, north\n"

EXPECTED = {
    "HH": ["1", "1", "12"],
    "TOWN": ["7", "7", "10"],
    "SEX": ["1", "2", "9"],
    "JOB": ["a", "b", "b"],
    "W": [12.5, 12.5, 7.0],
    "INCOME": [1200, 99999, None],
}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "Demo.rda").write_bytes(RDA.replace("\n", "\r\n").encode())
    (tmp_path / "Demo.asc").write_bytes(ASC.replace("\n", "\r\n").encode())
    (tmp_path / "Town.CDL").write_bytes(CDL.encode())
    return tmp_path


@pytest.mark.parametrize("name", ["Demo.asc", "Demo.rda"])
def test_fixed_format(files, engine, name):
    data = tacit.read(files / name, engine=engine)
    assert data.to_arrow().to_pydict() == EXPECTED
    assert (data.keys, data.weight, data.household) == (("TOWN", "SEX"), "W", "HH")
    town = data.columns["TOWN"]
    assert dict(town.labels) == {"7": "Wheaton", "10": "Newbay, north"}
    assert town.missing == ("99", "98")
    assert {k: town.format[k] for k in ("start", "length", "idlevel", "suppression_weight", "codelist")} == {
        "start": 4, "length": 2, "idlevel": 1, "suppression_weight": 40, "codelist": "town.cdl",
    }  # fmt: skip
    assert data.columns["W"].format["decimals"] == 2
    assert data.columns["INCOME"].missing == (99999,)


def test_the_caller_overrules_declared_roles(files):
    data = tacit.read(files / "Demo.asc", keys=["JOB"])
    assert data.keys == ("JOB",)
    assert data.weight == "W"


def test_free_format(tmp_path):
    (tmp_path / "free.rda").write_text(
        '<SEPARATOR> ";"\nA 3 999\n  <RECODABLE>\n  <IDLEVEL> 3\nB 4\n  <NUMERIC>\n'
    )
    (tmp_path / "free.asc").write_bytes('036;1.5\n 36;2\n"x;é";\n'.encode("cp1252"))
    data = tacit.read(tmp_path / "free.asc")
    assert data.to_arrow().to_pydict() == {"A": ["036", "36", "x;é"], "B": [1.5, 2.0, None]}
    again = tacit.read(write(data, tmp_path / "again.asc"))
    assert fingerprint(again) == fingerprint(data)
    assert again.keys == ("A",)
    assert (tmp_path / "again.asc").read_bytes() == '036;1.5\r\n36;2.0\r\n"x;é";\r\n'.encode(
        "cp1252"
    )


def test_round_trip_keeps_places_and_blanks_what_is_not_described(files):
    data = tacit.read(files / "Demo.asc")
    again = tacit.read(write(data, files / "Again.asc"))
    nulls = {"INCOME": [1200, 99999, 99999]}
    assert again.to_arrow().to_pydict() == EXPECTED | nulls
    assert (again.keys, again.weight, again.household) == (data.keys, data.weight, data.household)
    for name, column in data.columns.items():
        assert (dict(again.columns[name].labels), again.columns[name].missing) == (
            dict(column.labels),
            column.missing,
        )
    written = (files / "Again.asc").read_bytes()
    assert (
        written
        == ASC.replace("zz\n", "zz99999\n").replace("zz", "  ").replace("\n", "\r\n").encode()
    )
    third = tacit.read(write(again, files / "Third.asc"))
    assert fingerprint(third) == fingerprint(again)


def test_wider_values_move_the_places(files):
    data = tacit.read(files / "Demo.asc").replace({"TOWN": pa.array(["north east", None, "10"])})
    again = tacit.read(write(data, files / "wide.saf"))
    assert again.to_arrow().column("TOWN").to_pylist() == ["north east", "99", "10"]
    assert again.to_arrow().column("W").to_pylist() == EXPECTED["W"]
    assert "IDLEVEL" not in (files / "wide.rds").read_text()
    assert again.weight == "W"


def test_data_from_elsewhere(tmp_path):
    data = tacit.read(
        {"a b": [1, None, 30], "x": [0.125, -2.0, None], "t": ["é", "b", None]}, keys=["a b"]
    )
    again = tacit.read(write(data, tmp_path / "o.asc"))
    assert fingerprint(again) == fingerprint(data)
    assert again.keys == ("a b",)


@pytest.mark.parametrize(
    ("rda", "message"),
    [
        ("A one 2\n", "line 1: a variable is described as"),
        ("A 1 2\nA 3 1\n", "more than once"),
        ("A 1 2\nB 2 2\n", "overlap"),
        ("<SAFE> S\nA 1 2\n", "not known before"),
        ("// nothing\n", "describes no variables"),
        ("A 1 2\n<NUMERIC>\n", "1 of its values are not numbers"),
        ("A 30 2\n", "end before the first variable"),
    ],
)
def test_bad_descriptions(tmp_path, rda, message):
    (tmp_path / "x.rda").write_text(rda)
    (tmp_path / "x.asc").write_text("secret\n12\n")
    with pytest.raises(UnreadableFile, match=message) as error:
        tacit.read(tmp_path / "x.asc")
    assert "secret" not in str(error.value)


def test_files_that_lack_the_other(tmp_path):
    (tmp_path / "x.asc").write_text("1\n")
    with pytest.raises(UnreadableFile, match="pass metadata="):
        tacit.read(tmp_path / "x.asc")
    with pytest.raises(UnreadableFile, match="given as metadata"):
        tacit.read(tmp_path / "x.asc", metadata="y.rda")
    (tmp_path / "y.rda").write_text("A 1 1\n")
    assert tacit.read(tmp_path / "x.asc", metadata="y.rda").to_arrow().to_pydict() == {"A": ["1"]}
    with pytest.raises(UnreadableFile, match="no records"):
        tacit.read(tmp_path / "y.rda")
    (tmp_path / "r.rda").write_bytes(b"\x1f\x8b\x08binary")
    with pytest.raises(UnreadableFile, match="data file of R"):
        tacit.read(tmp_path / "r.rda")


def test_what_cannot_be_written(tmp_path, files):
    with pytest.raises(InputError, match="line ends"):
        write(tacit.read({"a": ["x\ny"]}), tmp_path / "o.asc")
    data = tacit.read(files / "Demo.rda")
    with pytest.raises(DisclosureRefused, match="read from"):
        write(data, files / "Demo.asc", overwrite=True)


def test_a_check_knows_the_roles_that_the_description_declares(files):
    """What a run takes from the description, a check must not miss."""
    plan = tacit.Plan.from_dict(
        {
            "source": str(files / "Demo.asc"),
            "steps": [{"kind": "mu_argus", "k": 1, "max_dim": 1}],
            "output": {"folder": str(files / "out")},
        }
    )
    data = plan.read()
    assert data.keys
    assert plan.faults() == []
    assert plan.source_kind().read_partly(plan)[0].weight == data.weight == "W"
    assert plan.source_kind().read_partly(plan)[0].household == data.household == "HH"
    other = tacit.Plan.from_dict({**plan.to_dict(), "roles": {"keys": ["JOB"]}})
    assert other.source_kind().read_partly(other)[0].keys == ("JOB",)
