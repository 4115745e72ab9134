"""Readers of hierarchy files, plan forms, and the real hierarchies of the Adult data."""

from pathlib import Path

import pytest

import tacit
from tacit import hierarchy
from tacit.errors import HierarchyError, UnreadableFile

ADULT = Path(__file__).parents[1] / "fixtures" / "adult"
COLUMNS = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]


@pytest.fixture
def file(tmp_path):
    """Write a small file and return its path."""

    def write(name, text, encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


# -- csv -------------------------------------------------------------------------------------------------


def test_adult_with_its_hierarchies(engine):
    data = tacit.read(
        ADULT / "adult.csv",
        keys=COLUMNS,
        hierarchies={c: str(ADULT / f"adult_hierarchy_{c}.csv") for c in COLUMNS},
        engine=engine,
    )
    heights = {c: data.hierarchy(c).height for c in COLUMNS}
    assert heights == dict(zip(COLUMNS, [1, 4, 1, 2, 3, 2, 2, 2, 1], strict=True))
    assert data.hierarchy("age").path(39) == ("39", "35-39", "30-39", "20-39", "*")
    aged = data.generalise("age", 3)
    assert sorted(set(aged.column("age").to_pylist())) == [
        "0-19",
        "20-39",
        "40-59",
        "60-79",
        "80-99",
    ]
    assert data.generalise("education", 2).column("education").to_pylist()[0] == "Higher education"


def test_csv_separators_quotes_header_and_order(file):
    path = file("a.csv", 'value,group,all\r\n"x, y",G,*\r\nz,"H",*\r\n\r\n')
    h = hierarchy.read_csv(path, header=True)
    assert h.path("x, y") == ("x, y", "G", "*")
    assert h.names == ("value", "group", "all")
    assert (
        hierarchy.read_csv(file("b.csv", "\ufeff1;[0, 5);*\n7;[5, 10);*\n")).path("1")[1]
        == "[0, 5)"
    )
    assert hierarchy.read_csv(file("c.tsv", "a\tG\t*\nb\tG\t*")).height == 2
    assert hierarchy.read_csv(file("d.csv", "a-G-*"), separator="-").path("a") == ("a", "G", "*")


def test_csv_top_and_padding(file):
    path = file("a.csv", "a;G\nb;H\n")
    with pytest.raises(HierarchyError, match="2 tops where one is needed"):
        hierarchy.read_csv(path)
    assert hierarchy.read_csv(path, top=True).path("a") == ("a", "G", "*")
    assert hierarchy.read_csv(file("one.csv", "a\nb\n"), top="all").path("b") == ("b", "all")
    short = file("b.csv", "a;G;*\nb;*\n")
    with pytest.raises(HierarchyError, match="line 2: 2 levels where others have 3"):
        hierarchy.read_csv(short, separator=";")
    assert hierarchy.read_csv(short, separator=";", pad=True).path("b") == ("b", "b", "*")


def test_csv_faults_carry_lines(file):
    with pytest.raises(HierarchyError) as error:
        hierarchy.read_csv(
            file("secret.csv", "value;group;top\n\na;G;*\nb;;*\na;H;*\nc;G;+\n"), header=True
        )
    assert str(error.value).startswith("file 'secret.csv' is not a valid hierarchy")
    assert [f.split(":")[0] for f in error.value.faults] == [
        "line 4",
        "line 5",
        "it has 2 tops where one is needed (top=True adds '*' above them)",
        "level 1",
    ]


def test_csv_encodings(file):
    path = file("a.csv", "é;*\n", "latin-1")
    with pytest.raises(UnreadableFile, match="latin-1"):
        hierarchy.read_csv(path)
    assert hierarchy.read_csv(path, encoding="latin-1").path("é") == ("é", "*")


@pytest.mark.parametrize("name", ["age", "education", "race"])
def test_csv_is_written_as_it_was_read(tmp_path, name):
    source = ADULT / f"adult_hierarchy_{name}.csv"
    h = hierarchy.read_csv(source)
    target = hierarchy.write_csv(h, tmp_path / "out.csv")
    assert target.read_text().split() == source.read_text().split()
    assert (
        hierarchy.read_csv(
            hierarchy.write_csv(h, tmp_path / "h.csv", header=True), header=True
        ).paths()
        == h.paths()
    )


# -- hrc -------------------------------------------------------------------------------------------------


REGIONS = "North\r\n@N1\r\n@N2\r\n@@N2a\r\n@@N2b\r\nSouth\r\n"


def test_hrc_uneven_depth_is_refused_or_padded(file):
    path = file("r.hrc", REGIONS)
    with pytest.raises(HierarchyError) as error:
        hierarchy.read_hrc(path)
    assert [f[:6] for f in error.value.faults] == ["line 2", "line 6"]
    h = hierarchy.read_hrc(path, pad=True, total="Total")
    assert h.path("N2b") == ("N2b", "N2", "North", "Total")
    assert h.path("N1") == ("N1", "North", "North", "Total")
    assert h.path("South") == ("South", "South", "South", "Total")


def test_hrc_blanks_leads_and_odd_line_ends(file):
    text = "Nr\r\r\n@ 1\r\r\n@ 2\r\r\nOs \r\r\n@ 3\r\r\n"
    assert hierarchy.read_hrc(file("a.hrc", text)).path("1") == ("1", "Nr", "*")
    assert hierarchy.read_hrc(file("b.hrc", text), strip=False).path(" 3") == (" 3", "Os", "*")
    assert hierarchy.read_hrc(file("c.hrc", "A\n..a\n..b\n"), lead="..").path("b") == (
        "b",
        "A",
        "*",
    )
    assert hierarchy.read_hrc(file("d.hrc", "A\nB\n")).height == 1


def test_hrc_faults_with_lines(file):
    with pytest.raises(HierarchyError) as error:
        hierarchy.read_hrc(file("a.hrc", "A\n@@a\n@\n\nB\n@a\n"))
    assert error.value.faults == (
        "line 2: its depth is 2 after 0; depth may grow by one a line",
        "line 3: the code is missing",
        "line 6: its code stands on line 2 already",
    )
    with pytest.raises(HierarchyError, match="lead"):
        hierarchy.read_hrc(file("b.hrc", "A\n"), lead="")


# -- grc -------------------------------------------------------------------------------------------------


TENS = (
    '// ages\n1: -19\n2: 20-39\n\n3:40 - 59 , 60\n4: 61-\n<missing> 98, 99\n<CODELIST> "tens.cdl"\n'
)
HALVES = "1:-39\n2:40-\n<MISSING> 9\n"


def test_grc_makes_a_level_a_file(file):
    rule = hierarchy.read_grc([file("tens.grc", TENS), file("halves.grc", HALVES)])
    h = rule.build(list(range(100)))
    assert h.names == ("code", "tens", "halves", "suppressed")
    assert h.path(19) == ("19", "tens 1", "halves 1", "*")
    assert h.path(60) == ("60", "tens 3", "halves 2", "*")
    assert h.path(61) == ("61", "tens 4", "halves 2", "*")
    assert hierarchy.load(rule.to_dict()) == rule


def test_grc_labels_come_from_the_code_list(file):
    path = file("tens.grc", TENS)
    with pytest.raises(UnreadableFile, match=r"tens\.cdl"):
        hierarchy.read_grc(path, labels=True)
    codes = file("tens.cdl", '1, under 20\n2,"20, to 39"\n\n3,40 to 60\n')
    assert hierarchy.read_cdl(codes) == {"1": "under 20", "2": "20, to 39", "3": "40 to 60"}
    h = hierarchy.read_grc(path, labels=True).build([5, 25, 70])
    assert [h.path(v)[1] for v in (5, 25, 70)] == ["under 20", "20, to 39", "4"]
    with pytest.raises(UnreadableFile, match="CODELIST"):
        hierarchy.read_grc(file("halves.grc", HALVES), labels=True)


def test_grc_codes_that_are_not_named(file):
    path = file("m.grc", "1:1,2\n3:3,4\n<MISSING> 9\n")
    with pytest.raises(HierarchyError, match=r"'m\.grc' does not cover 1 of the 4"):
        hierarchy.read_grc(path).build(["1", "4", "5", "9"])
    h = hierarchy.read_grc(path, keep=True).build(["1", "4", "5", "9"])
    assert [h.path(v)[1] for v in ("1", "4", "5", "9")] == ["1", "3", "5", "9"]


def test_grc_numbers_and_words_do_not_mix(file):
    path = file("n.grc", "young:-29\nold:30-\n")
    assert hierarchy.read_grc(path).build([7, 30]).path(30)[1] == "old"
    with pytest.raises(HierarchyError, match="does not cover 1 of the 2"):
        hierarchy.read_grc(path).build(["7", "unknown"])
    assert len(hierarchy.read_grc(path).build([])) == 0


def test_grc_codes_have_one_meaning(file):
    path = file("k.grc", "20:1-3\n")
    h = hierarchy.read_grc(path, keep=True).build(["2", "20"])
    assert [h.path(v)[1] for v in ("2", "20")] == ["k 20", "20"]
    assert hierarchy.read_grc(path).build(["2"]).path("2")[1] == "20"


def test_grc_text_codes_compare_right_justified(file):
    rule = hierarchy.read_grc(file("t.grc", 'low:A1-A9\nhigh: A10-\n"x-y": "p-q"\n'))
    with pytest.raises(HierarchyError, match="lines 2 and 3: both take"):
        rule.build(["A2", "p-q"])
    h = hierarchy.read_grc(file("u.grc", 'low:A1-A9\nhigh: A10-A99\n"x-y": "p-q"\n')).build(
        ["A2", "A10", "p-q"]
    )
    assert [h.path(v)[1] for v in ("A2", "A10", "p-q")] == ["low", "high", "x-y"]


def test_grc_levels_must_nest(file):
    rule = hierarchy.read_grc([file("a.grc", "1:1-5\n2:6-9\n"), file("b.grc", "1:1-4\n2:5-9\n")])
    with pytest.raises(HierarchyError, match=r"'a\.grc', 'b\.grc'.*\n.*level 1: 1 of its labels"):
        rule.build(list(range(1, 10)))


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (
            "1:2\nnonsense\n:3\n4:\n5:1,,2\n6:-\n",
            ["line 2", "line 3", "line 4", "line 5", "line 6"],
        ),
        ("<TREERECODE>\nA\n", ["line 1: a tree recode"]),
        ("<FOO> 1\n1:1\n", ["line 1: unknown keyword"]),
        ("// nothing\n", ["it recodes nothing"]),
    ],
)
def test_grc_faults(file, text, faults):
    with pytest.raises(HierarchyError) as error:
        hierarchy.read_grc(file("f.grc", text))
    assert len(error.value.faults) == len(faults)
    assert all(said.startswith(f) for said, f in zip(error.value.faults, faults, strict=True))


# -- trees and levels ----------------------------------------------------------------------------------------


COUNTRIES = """\
"*":
  Europe:
    Nordic: [NO, DK]
    Other: [FR, "DE"]
  Asia:
    East:
      - JP
      - 01
"""


def test_yaml_reads_everything_as_text(file):
    h = hierarchy.read_yaml(file("c.yaml", COUNTRIES))
    assert h.path("NO") == ("NO", "Nordic", "Europe", "*")
    assert h.path("01") == ("01", "East", "Asia", "*")


def test_yaml_faults_carry_lines(file):
    with pytest.raises(HierarchyError) as error:
        hierarchy.read_yaml(file("a.yaml", "'*':\n  G: [a, b]\n  H:\n    - a\n    - c: [d]\n"))
    assert error.value.faults == ("line 4: its value already has a path",)
    with pytest.raises(HierarchyError, match="line 4: 2 levels where others have 3"):
        hierarchy.read_yaml(file("b.yaml", "'*':\n  G:\n    - a\n  b:\n"))
    with pytest.raises(HierarchyError, match="2 tops"):
        hierarchy.read_yaml(file("c.yaml", "G: [a]\nH: [b]\n"))
    assert hierarchy.read_yaml(file("c.yaml", "G: [a]\nH: [b]\n"), top=True).path("b") == (
        "b",
        "H",
        "*",
    )
    with pytest.raises(UnreadableFile, match="line 2"):
        hierarchy.read_yaml(file("d.yaml", "a: [\n}"))
    with pytest.raises(UnreadableFile, match="empty"):
        hierarchy.read_yaml(file("e.yaml", "# only words\n"))


def test_tree_and_levels_agree():
    tree = hierarchy.from_tree({"World": {"Europe": ["FR", "DE"], "Asia": ["JP"]}})
    levels = hierarchy.from_levels(
        [{"FR": "Europe", "DE": "Europe", "JP": "Asia"}, {"Europe": "World", "Asia": "World"}]
    )
    assert tree.paths() == levels.paths()
    named = hierarchy.from_levels({"continent": {1: "Europe", 2: "Asia"}}, top=True)
    assert named.names == ("value", "continent", "suppressed")
    assert named.path(2) == ("2", "Asia", "*")
    with pytest.raises(HierarchyError, match="level 2: 1 labels"):
        hierarchy.from_levels([{"a": "G", "b": "H"}, {"G": "*"}])
    with pytest.raises(HierarchyError, match="ground value 2"):
        hierarchy.from_tree({"*": ["a", "a"]})
    with pytest.raises(HierarchyError, match="no level"):
        hierarchy.from_levels([])


# -- plan forms ------------------------------------------------------------------------------------------------


def test_load_by_ending_and_by_kind(file):
    csv, hrc, yaml = (
        file("a.csv", "a;*\nb;*\n"),
        file("a.hrc", "a\nb\n"),
        file("a.yml", "'*': [a, b]\n"),
    )
    paths = [hierarchy.load(p).paths() for p in (csv, str(hrc), yaml)]
    assert paths[0] == paths[1] == paths[2]
    assert hierarchy.load({"path": str(csv), "separator": ";"}).paths() == paths[0]
    assert hierarchy.load("a.csv", base=csv.parent).paths() == paths[0]
    assert hierarchy.load({"kind": "csv", "path": "a.csv"}, base=csv.parent).paths() == paths[0]
    assert hierarchy.load([file("x.grc", "1:1-9\n")]).build([3]).path(3) == ("3", "1", "*")
    assert hierarchy.load({"kind": "digits", "length": "5"}) == hierarchy.digits(5)
    assert hierarchy.load({"kind": "tree", "tree": {"*": ["a", "b"]}}).paths() == paths[0]
    assert hierarchy.load({"kind": "levels", "levels": [{"a": "*", "b": "*"}]}).paths() == paths[0]


def test_to_dict_is_the_inverse(file):
    h = hierarchy.read_csv(ADULT / "adult_hierarchy_workclass.csv")
    again = hierarchy.load(hierarchy.to_dict(h))
    assert again.paths() == h.paths()
    assert hierarchy.to_dict("x/age.csv") == {"kind": "csv", "path": "x/age.csv"}
    assert hierarchy.to_dict(["a.grc", "b.grc"]) == {"kind": "grc", "path": ["a.grc", "b.grc"]}
    assert hierarchy.to_dict({"kind": "flat"}) == {"kind": "flat"}
    assert hierarchy.to_dict(hierarchy.dates("%Y")) == {"kind": "dates", "format": "%Y"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "datse"}, "no kind of hierarchy 'datse'. Did you mean 'dates'"),
        ({"kind": "dates", "fromat": "%Y"}, "no option 'fromat'. Did you mean 'format'"),
        ({"kind": "digits"}, "option 'length' is missing"),
        ({"kind": "digits", "length": "five"}, "length: Input should be a valid integer"),
        ({"kind": "intervals", "cuts": ["a"]}, "cuts: Input should be a valid number"),
        ({"kind": "flat", "top": ["*"]}, "top: Input should be a valid string"),
        ({"format": "%Y"}, "needs 'kind' or 'path'"),
        ({"kind": "paths", "paths": [["a", "*"]], "where": "x"}, "no option 'where'"),
        ("age.xlsx", "Known extensions"),
        ("nowhere.csv", "no file"),
        (["a.csv", "b.csv"], "only .grc files"),
        (7, "is given as a rule"),
    ],
)
def test_plan_faults(given, message):
    with pytest.raises(tacit.errors.InputError, match=message):
        hierarchy.load(given)


def test_read_names_the_column_at_fault():
    with pytest.raises(
        HierarchyError,
        match=r"column 'education': dates\('%Y'\): 16 of 16|column 'education': dates",
    ) as error:
        tacit.read(
            ADULT / "adult.csv", hierarchies={"education": {"kind": "dates", "format": "%Y"}}
        )
    assert "Bachelors" not in str(error.value)
    with pytest.raises(HierarchyError) as error:
        tacit.read(
            ADULT / "adult.csv", hierarchies={"age": {"kind": "intervals", "width": 5, "cuts": [1]}}
        )
    assert error.value.faults == ("give either width or cuts",)


def test_everything_public_is_there():
    assert all(hasattr(hierarchy, name) for name in hierarchy.__all__)


def test_a_label_with_two_meanings_gets_its_level(tmp_path):
    file = tmp_path / "status.csv"
    file.write_text("0;8;8\n1;7;8\n2;8;8\n5;7;8")
    with pytest.warns(tacit.SdcWarning, match="1 of its groups bear the label of a different"):
        found = tacit.hierarchy.read_csv(file)
    assert found.paths() == [
        ("0", "8", "8 (level 2)"),
        ("1", "7", "8 (level 2)"),
        ("2", "8", "8 (level 2)"),
        ("5", "7", "8 (level 2)"),
    ]


def test_a_label_of_another_branch_gets_its_level_and_keeps_it(tmp_path):
    file = tmp_path / "region.csv"
    file.write_text("1;2;2;*\n2;1;1;*\n3;1;1;*\n4;1 (level 1);1;*\n")
    with pytest.warns(tacit.SdcWarning, match="3 of its groups"):
        found = tacit.hierarchy.read_csv(file)
    assert found.labels[1] == ("2 (level 1)", "1 (level 1)'", "1 (level 1)")
    assert found.labels[2] == ("2 (level 1)", "1 (level 2)")


def test_the_same_group_on_two_levels_keeps_its_label(tmp_path):
    file = tmp_path / "age.csv"
    file.write_text("1;low;low;*\n2;low;low;*\n90;90;old;*\n95;old;old;*\n")
    with pytest.warns(tacit.SdcWarning, match="1 of its groups"):
        found = tacit.hierarchy.read_csv(file)
    assert found.labels[1] == ("low", "90", "old")
    assert found.labels[2] == ("low", "old (level 2)")
    assert tacit.hierarchy.read_csv(file, pad=True).labels[2] == ("low", "old")
