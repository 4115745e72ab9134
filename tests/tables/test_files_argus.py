"""tau-ARGUS metadata, hierarchies and ready tables."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.argus.outputs import Choices
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.relations import roll_up
from tacit.data.cells.status import Status, is_primary
from tacit.data.table import Contributors
from tacit.errors import DisclosureRefused, HierarchyError, InputError, NotAdditive, UnreadableFile
from tacit.io.hrc import digit_dimension, digit_paths, hrc_dimension, write_hrc
from tacit.io.rda import read_rda, write_rda
from tacit.tables import read_tab, write_argus

FORMATS = json.loads(
    (Path(__file__).parents[1] / "fixtures/psd28-argus-software/file_formats.json").read_text()
)

RDA = """<SEPARATOR> ";"
<SAFE> "S"
<UNSAFE> "U"
<PROTECT> "P"
Branch "99"
  <RECODEABLE>
  <TOTCODE> "All"
  <HIERARCHICAL>
  <HIERCODELIST> "C:\\data\\BRANCH.HRC"
  <HIERLEADSTRING> "@"
Size
  <RECODABLE>
  <TOTCODE> "Total"
Turnover
  <NUMERIC>
  <DECIMALS> 1
N
  <FREQUENCY>
Shade
  <NUMERIC> <SHADOW>
Price
  <NUMERIC> <COST>
Big1
  <MAXSCORE>
Big2
  <MAXSCORE>
St
  <STATUS>
Low
  <NUMERIC> <LOWERPL>
Up
  <NUMERIC> <UPPERPL>
"""
HRC = "N\n@ N1\n@ N2\nS\n"
TAB = """"All";"Total";20,5;8;20;20,5;6;5;S;0;0
"All";"s";12,5;5;12;12,5;6;4;S;0;0
"All";"b";8;3;8;8;5;1;S;0;0
"N";"Total";14,5;5;14;14,5;6;5;S;0;0
"N";"s";9,5;3;9;9,5;6;2;S;0;0
"N";"b";5;2;5;5;5;0;P;0;0
" N1";"Total";11;3;11;11;6;5;S;0;0
" N1";"s";6;1;6;6;6;0;U;1,5;2
" N1";"b";5;2;5;5;5;0;M;0;0
" N2";"Total";3,5;2;3;3,5;2;1;S;0;0
" N2";"s";3,5;2;3;7;2;1;S;0;0
"S";"Total";6;3;6;6;4;1;S;0;0
"S";"s";3;2;3;3;2;1;S;0;0
"S";"b";3;1;3;3;3;0;S;0;0
"""


def firms(folder, tab=TAB, rda=RDA, hrc=HRC, encoding="utf-8", newline="\n"):
    for name, text in (("t.tab", tab), ("t.rda", rda), ("branch.hrc", hrc)):
        (folder / name).write_bytes(text.replace("\n", newline).encode(encoding))
    return folder / "t.tab"


def without_counts(tab):
    """Return the table without rows of totals."""
    return "".join(
        line + "\n"
        for line in tab.splitlines()
        if '"Total"' not in line and not line.startswith(('"All"', '"N"'))
    )


# -- metadata ------------------------------------------------------------------------------------


def dimension(tmp_path, text):
    path = tmp_path / "d.hrc"
    path.write_text(text)
    return hrc_dimension(path, "d")


def test_repeated_codes_are_read_as_tau_argus_reads_them(tmp_path):
    made = dimension(tmp_path, "N\n@N1\n@N2\nI\n@I\n@@I1\n@@I2\nS\n@N2\n@S1\n")
    assert made.codes == ("Total", "N", "N1", "N2", "I", "I1", "I2", "S", "S1")
    sums = {made.codes[s.parent]: [made.codes[c] for c in s.children] for s in made.sums}
    assert sums == {"Total": ["N", "I", "S"], "N": ["N1", "N2"], "I": ["I1", "I2"], "S": ["S1"]}
    assert dimension(tmp_path, "A\n@A\nB\n").codes == ("Total", "A", "B")
    with pytest.raises(HierarchyError, match="already"):
        dimension(tmp_path, "A\n@A\n@B\n")
    with pytest.raises(HierarchyError, match="already"):
        dimension(tmp_path, "A\n@B\nC\n@A\n@D\n")


def test_fixed_and_free_descriptions(tmp_path):
    path = tmp_path / "a.rda"
    path.write_text(FORMATS["rda_fixed"]["text"])
    region, var2 = read_rda(path).variables
    first, second = FORMATS["rda_fixed"]["expected"]
    assert (region.name, region.start, region.length) == ("Region", first["start"], first["length"])
    assert list(region.missing) == first["missing"]
    assert region.spans
    assert region.word("CODELIST") == first["codelist"]
    assert region.word("HIERCODELIST") == first["hierarchy_file"]
    assert region.word("HIERLEADSTRING") == first["lead"]
    assert (var2.start, var2.decimals, var2.has("NUMERIC")) == (second["start"], 2, True)
    path.write_text(FORMATS["rda_free"]["text"])
    free = read_rda(path)
    expected = FORMATS["rda_free"]["expected"]
    assert not free.tabular
    assert free.separator == expected["separator"]
    assert [v.name for v in free.variables] == expected["variables"]
    assert free.first("WEIGHT").name == expected["weight"]


def test_a_description_survives_writing(tmp_path):
    file = firms(tmp_path)
    read = read_rda(file.with_suffix(".rda"))
    assert read.tabular
    write_rda(read, tmp_path / "b.rda")
    again = read_rda(tmp_path / "b.rda")
    assert again.variables == read.variables
    assert again.letters == read.letters


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<NUMERIC>\nA 1 2\n", "line 1: <NUMERIC> is not known"),
        ("A one 2\n<RECODEABLE>\nB 3 1\n", "line 1: a variable is described"),
        ("A 1 2 999\n", "line 1: a missing code"),
        ("A 1 2\nA 3 2\n", "more than once"),
        ("// nothing\n", "no variables"),
        ('<SAFE> "S"\nA\n<RECODEABLE>\n', "neither a cell value"),
        ('<SAFE> "S"\nA\n<STATUS>\nB\n<STATUS>\nC\n<NUMERIC>\n', "more than one <STATUS>"),
    ],
)  # fmt: skip
def test_faulty_descriptions(tmp_path, text, said):
    (tmp_path / "a.rda").write_text(text)
    with pytest.raises(UnreadableFile, match=said):
        read_rda(tmp_path / "a.rda")


def test_hierarchies(tmp_path):
    case = FORMATS["hrc"]
    (tmp_path / "h.hrc").write_text(case["text"])
    made = hrc_dimension(tmp_path / "h.hrc", lead=case["lead"], strip=False)
    parents = {made.codes[c]: made.codes[s.parent] for s in made.sums for c in s.children}
    assert parents == case["expected_parent"]
    stripped = hrc_dimension(tmp_path / "h.hrc", extra=["99"])
    assert stripped.codes[-1] == "99"
    write_hrc(made, tmp_path / "i.hrc")
    assert (tmp_path / "i.hrc").read_text() == case["text"]
    (tmp_path / "j.hrc").write_text("A\n@@B\n")
    with pytest.raises(HierarchyError, match="line 2"):
        hrc_dimension(tmp_path / "j.hrc")
    (tmp_path / "k.hrc").write_text("A\nTotal\n")
    with pytest.raises(HierarchyError, match="lists the total"):
        hrc_dimension(tmp_path / "k.hrc")


def test_digits():
    case = FORMATS["hierlevels"]
    assert ["Total", *digit_paths(case["code"], case["levels"])] == case["expected_path"]
    made = digit_dimension("d", ["121", "122", "211", "999"], [1, 1, 1], missing=["999"])
    assert made.codes == ("Total", "1", "12", "121", "122", "2", "21", "211", "999")
    with pytest.raises(HierarchyError, match="longer than"):
        digit_dimension("d", ["1234"], [1, 1])


def test_several_groupings_cannot_be_an_hrc_file(tmp_path):
    both = Dimension.from_relations("d", [("T", ["a", "b"]), ("T", ["c", "d"]), ("a", ["x", "y"]),
                                          ("b", ["z"]), ("c", ["x"]), ("d", ["y", "z"])])  # fmt: skip
    with pytest.raises(HierarchyError, match="not a plain tree"):
        write_hrc(both, tmp_path / "x.hrc")


# -- ready tables --------------------------------------------------------------------------------


@pytest.mark.parametrize(("encoding", "newline"), [("utf-8", "\n"), ("utf-8-sig", "\r\n"),
                                                   ("cp1252", "\r\n"), ("utf-16", "\n")])  # fmt: skip
def test_a_ready_table(tmp_path, encoding, newline):
    rda = RDA.replace("Branch", "Bränche").replace("BRÄNCHE", "BRANCH")
    table = read_tab(firms(tmp_path, rda=rda, encoding=encoding, newline=newline))
    assert table.names == ("Bränche", "Size")
    assert table.dimensions[0].codes == ("All", "N", "N1", "N2", "S")
    assert table.dimensions[1].codes == ("Total", "s", "b")
    assert table.response == "Turnover"
    cell = table.index(("N1", "s"))
    assert table.status[cell] == Status.UNSAFE_MANUAL
    assert (table.lower_level[cell], table.upper_level[cell]) == (1.5, 2)
    assert table.status[table.index(("N1", "b"))] == Status.SECONDARY
    assert table.status[table.index(("N", "b"))] == Status.PROTECTED
    assert table.status[table.index(("N2", "b"))] == Status.EMPTY
    assert table.count[table.index(("", ""))] == 8
    assert table.contributors.top[table.index(("N", "Total"))].tolist() == [6, 5]
    assert table.weight[table.index(("N2", "s"))] == 7
    assert table.extra["shadow"][0] == 20


def test_the_only_contributor_of_a_total_is_that_of_its_part(tmp_path):
    tab = TAB.replace('" N1";"b";5;2;', '" N1";"b";5;1;').replace('"N";"b";5;2;', '"N";"b";5;1;')
    table = read_tab(firms(tmp_path, tab))
    owner = table.owner
    assert owner[table.index(("N1", "b"))] == owner[table.index(("N", "b"))] >= 0
    assert owner[table.index(("N1", "s"))] != owner[table.index(("N1", "b"))]


def test_totals_are_recomputed(tmp_path):
    full = read_tab(firms(tmp_path))
    part = read_tab(firms(tmp_path, without_counts(TAB)), additivity=1)
    np.testing.assert_allclose(part.value, full.value)
    assert part.count.tolist() == full.count.tolist()
    np.testing.assert_allclose(part.extra["shadow"], full.extra["shadow"])
    top = part.contributors.top[part.index(("All", "Total"))]
    assert top.tolist() == [6, 5]
    assert (part.status[~part.ground & ~part.empty] == Status.SAFE).all()
    trusted = read_tab(tmp_path / "t.tab", additivity=1, trust_totals=True)
    assert (trusted.status[~trusted.ground & ~trusted.empty] == Status.SAFE_MANUAL).all()


def test_totals_that_do_not_add_up(tmp_path):
    wrong = firms(tmp_path, TAB.replace('"Total";20,5', '"Total";21,5'))
    with pytest.raises(NotAdditive, match="All x Total"):
        read_tab(wrong)
    table = read_tab(wrong, additivity=1)
    assert table.value[0] == 20.5
    assert table.extra["recomputed"] == 1
    free = read_tab(wrong, additivity=2)
    assert free.value[0] == 21.5
    assert free.equations.shape[0] == 0
    lonely = TAB.replace('"S";"s";3;2;3;3;2;1;S;0;0\n"S";"b";3;1;3;3;3;0;S;0;0\n', "")
    with pytest.raises(InputError, match="S x Total cannot be recomputed"):
        read_tab(firms(tmp_path, lonely), additivity=1)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('" N2";"s"', '" N3";"s"', "record 11: the dimension|1 codes of 'Branch'"),
        ('" N2";"s"', '" N1";"s"', "records 8 and 11 are the same cell"),
        (";7;2;1;S", ";7;2;1;Q", "record 11: 'Q' is no status"),
        ("3,5;2;3;7", "3,5;2;three;7", "column 'Shade', record 11: a number"),
        ("3,5;2;3;7;", "3,5;2;3;7;8;9;", "record 11: 11 fields are described and 13 found"),
        ("3,5;2;3;7", "x;2;3;7", "record 11: a number"),
    ],
)
def test_faulty_tables(tmp_path, old, new, said):
    assert old in TAB
    with pytest.raises(InputError, match=said):
        read_tab(firms(tmp_path, TAB.replace(old, new)))


def test_choices_of_reading(tmp_path):
    file = firms(tmp_path)
    counts = read_tab(file, response="<freq>")
    assert counts.frequency
    assert counts.value[0] == 8
    one = read_tab(file, dimensions=["Branch"])
    assert one.shape == (5,)
    assert one.value[0] == 20.5
    turned = read_tab(file, dimensions=["Size", "Branch"])
    assert turned.names == ("Size", "Branch")
    with pytest.raises(InputError, match="additivity is 0"):
        read_tab(file, additivity=3)
    with pytest.raises(InputError, match="not described as a spanning"):
        read_tab(file, dimensions=["Turnover"])
    file.with_suffix(".rda").unlink()
    with pytest.raises(UnreadableFile, match="pass metadata="):
        read_tab(file)


def test_levels_by_hand(tmp_path):
    tab = TAB.replace("U;1,5;2", "U;0;0")
    table = read_tab(firms(tmp_path, tab), manual_range=20)
    assert table.upper_level[table.index(("N1", "s"))] == pytest.approx(1.2)


# -- outputs -------------------------------------------------------------------------------------


def protected():
    tree = Dimension.from_tree("Area", [(0, "N"), (1, "N1"), (1, "N2"), (0, "S")])
    flat = Dimension.flat("Size", ["s", "b"])
    ground = np.array([[6.0, 5], [3.5, 0], [3, 3]])
    counts = roll_up(np.array([[1.0, 2], [2, 0], [2, 1]]), [tree, flat])
    value = roll_up(ground, [tree, flat]).ravel()
    top = np.stack([value / 2, value / 4], axis=1)
    who = np.full(top.shape, -1)
    table = tacit.Table.from_cells(
        [tree, flat],
        value,
        count=counts,
        response="Turnover",
        contributors=Contributors(counts.ravel().astype(np.int64), top, who),
    )
    table = table.with_protection([("N1", "s")], 1.5, 2, status=Status.UNSAFE_FREQUENCY)
    return table.with_hidden([("N1", "b"), ("S", "s"), ("S", "b"), ("N", "s"), ("N", "b")])


def written(folder, kind, options="", **more):
    write_argus(protected(), folder / "o.txt", kind, options, **more)
    return (folder / "o.txt").read_text().splitlines()


def test_code_value(tmp_path):
    plain = written(tmp_path, "code_value")
    assert plain[0] == "Total,Total,20.5"
    assert "N1,s,x" in plain
    assert "N2,b,-" in plain
    assert len(plain) == 15
    full = written(tmp_path, 3, "AS+FL+QU+SE+")
    assert full[0] == '"Area","Size","Turnover","Status"'
    assert '"N1","s",x,5' in full
    assert '"N1","b",x,11' in full
    assert not any("N2" in line and '"b"' in line for line in full)
    inside = written(tmp_path, 3, "AS+", confidential=True)
    assert "N1,s,6.0,5" in inside


def test_pivot_block_and_sbs(tmp_path):
    assert written(tmp_path, "pivot")[0] == "Area,Size,Turnover"
    block = written(tmp_path, "csv")
    assert block[0] == "Area,Total,s,b"
    assert block[3] == "N1,11.0,x,x"
    assert block[4] == "N2,3.5,3.5,-"
    sbs = written(tmp_path, "sbs", "HL+")
    assert "Total,Total,0,0,20.5,8,V," in sbs
    assert "N1,s,2,1,x,x,A," in sbs
    assert "S,b,1,1,x,x,D," in sbs
    assert "N1,s,6.0,1,A,0.500" in written(tmp_path, "sbs", confidential=True)


def test_blocks_of_three_dimensions(tmp_path):
    table = tacit.Table.from_array(np.arange(8.0).reshape(2, 2, 2) + 1, totals=False)
    write_argus(table, tmp_path / "o.csv", "csv")
    lines = (tmp_path / "o.csv").read_text().splitlines()
    assert lines[:5] == ["axis 1,1", "axis 2,1,2,Total", "1,1,2,3", "2,3,4,7", "Total,4,6,10"]
    assert len(lines) == 15


def test_cell_key_output(tmp_path):
    table = protected().with_(status=np.ones(15, dtype=np.int8))
    table = table.with_changed(np.round(table.value)).with_(extra={"cell_key": np.arange(15) / 16})
    write_argus(table, tmp_path / "o.csv", "ckm", "FL+")
    assert (tmp_path / "o.csv").read_text().splitlines()[1] == "Total,Total,20"
    with pytest.raises(DisclosureRefused, match="undo the perturbation"):
        write_argus(table, tmp_path / "o.csv", "ckm", "AO+AC+")
    write_argus(table, tmp_path / "o.csv", 7, "FL+AO+AD+AC+", confidential=True, decimals=1)
    lines = (tmp_path / "o.csv").read_text().splitlines()
    assert lines[0] == "Area,Size,Turnover,Orig,Diff,CellKey"
    assert lines[2] == "Total,s,12.0,12.5,-0.5,0.0625"


def test_true_values_do_not_leave_by_mistake(tmp_path):
    for kind in ("intermediate", "jj"):
        with pytest.raises(DisclosureRefused, match="confidential=True"):
            write_argus(protected(), tmp_path / "o", kind)
    assert list(tmp_path.iterdir()) == []


def test_linked_tables_are_written_one_by_one(tmp_path):
    one = tacit.Table.from_array([[1.0, 2], [3, 4]], totals=False, names=["a", "b"])
    two = tacit.Table.from_array([[1.0, 3], [2, 4]], totals=False, names=["b", "c"])
    linked = tacit.Table.link(one, two)
    with pytest.raises(InputError, match="one by one"):
        write_argus(linked, tmp_path / "o.tab", 5, confidential=True)
    write_argus(linked, tmp_path / "o.jj", "jj", confidential=True)
    assert tacit.tables.read_jj(tmp_path / "o.jj").is_additive()
    write_argus(linked, tmp_path / "o.csv", "code_value", "FL+")
    assert (tmp_path / "o.csv").read_text().startswith("a,b,c,value")


def test_unknown_words(tmp_path):
    with pytest.raises(InputError, match="no output format"):
        written(tmp_path, "pivott")
    with pytest.raises(InputError, match="no option 'XX'"):
        written(tmp_path, 3, "XX+")
    with pytest.raises(InputError, match="two letters"):
        Choices.parse("AS+ 7")
    assert str(Choices.parse("as+ FL SE-")) == "AS+FL+"


def test_intermediate_files_can_be_read_again(tmp_path):
    table = protected().with_weight(np.arange(15) + 0.5)
    files = write_argus(table, tmp_path / "o.tab", 5, "AR+QU+", confidential=True)
    assert {f.name for f in files} == {"o.tab", "o.rda", "o_Area.hrc"}
    again = read_tab(tmp_path / "o.tab")
    np.testing.assert_allclose(again.value, table.value)
    assert again.count.tolist() == table.count.tolist()
    np.testing.assert_allclose(again.weight, table.weight)
    np.testing.assert_allclose(again.contributors.top, table.contributors.top)
    assert is_primary(again.status).tolist() == table.primary.tolist()
    assert again.secondary.tolist() == table.secondary.tolist()
    np.testing.assert_allclose(again.upper_level, table.upper_level)
    line = (tmp_path / "o.tab").read_text().splitlines()[7]
    assert line.startswith('"N1";"s";6.0;1;7.5;3;1.5;U;1.5;2;')
    low, high = map(float, line.split(";")[10:12])
    assert low <= 6 - 1.5
    assert high >= 6 + 2
    write_argus(table, tmp_path / "s.tab", 5, "SO+", confidential=True)
    assert (tmp_path / "s.tab").read_text().splitlines()[7] == "N1;s;U"


CODES = st.text(
    st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), min_size=1, max_size=5
)


@given(st.lists(CODES, min_size=2, max_size=5, unique=True),
       st.lists(st.integers(0, 999), min_size=10, max_size=10),
       st.integers(0, 3), st.lists(st.sampled_from([1, 3, 10, 11]), min_size=10, max_size=10))  # fmt: skip
@settings(max_examples=30, deadline=None)
def test_intermediate_round_trip(tmp_path_factory, codes, cells, places, states):
    codes = [c for c in codes if '"' not in c and c not in {"Total", ""}] or ["a"]
    folder = tmp_path_factory.mktemp("inter")
    n = len(codes)
    dims = [Dimension.flat("V", codes), Dimension.flat("W", ["p", "q"])]
    ground = np.array(cells[: 2 * n], dtype=float).reshape(n, 2) / 10**places
    value = roll_up(ground, dims).ravel()
    status = np.where(value > 0, np.resize(states, len(value)), Status.EMPTY).astype(np.int8)
    level = np.where(is_primary(status), value / 4, 0.0)
    table = tacit.Table.from_cells(
        dims, value, count=(value > 0) * 3, status=status, lower_level=level, upper_level=2 * level
    )
    write_argus(table, folder / "t.tab", 5, confidential=True)
    again = read_tab(folder / "t.tab")
    order = [again.index(table.codes(i)) for i in range(len(table))]
    np.testing.assert_allclose(again.value[order], table.value)
    letters = {1: 2, 3: 9, 10: 10, 11: 11, 14: 14}
    assert again.status[order].tolist() == [letters[int(s)] for s in table.status]
    np.testing.assert_allclose(again.upper_level[order], table.upper_level)


@given(st.lists(CODES, min_size=1, max_size=4, unique=True), st.booleans())
@settings(max_examples=30, deadline=None)
def test_code_value_round_trip(tmp_path_factory, codes, quotes):
    """A code-value file is a long CSV file, whatever its codes hold."""
    codes = [c for c in codes if c not in {"Total", "x", "-"}] or ["a"]
    folder = tmp_path_factory.mktemp("cv")
    dims = [Dimension.flat("V", codes), Dimension.flat("W", ["p", "q"])]
    value = roll_up(np.arange(2.0 * len(codes)).reshape(-1, 2) + 0.25, dims)
    table = tacit.Table.from_cells(dims, value, count=value)
    write_argus(table, folder / "t.csv", "code_value", "FL+QU+" if quotes else "FL+")
    again = tacit.tables.read_table(
        folder / "t.csv", ["V", "W"], "value", total="Total", separator=","
    )
    order = [again.index(table.codes(i)) for i in range(len(table))]
    np.testing.assert_allclose(again.value[order], table.value)


def test_repeated_codes_of_a_hierarchy_file_as_tau_argus_reads_them(tmp_path):
    path = tmp_path / "region.hrc"
    # N2 stands twice without children: records belong to the first place. S is its own only child.
    path.write_text("N\n@N1\n@N2\nS\n@S\nW\n@N2\n@W1\n")
    found = hrc_dimension(path)
    assert found.codes == ("Total", "N", "N1", "N2", "S", "W", "W1")
    sums = {found.codes[s.parent]: [found.codes[c] for c in s.children] for s in found.sums}
    assert sums == {"Total": ["N", "S", "W"], "N": ["N1", "N2"], "W": ["W1"]}
    # A group that is listed twice has no meaning.
    path.write_text("N\n@N1\nS\n@S1\nN\n@N3\n")
    with pytest.raises(tacit.errors.HierarchyError, match="line 5"):
        hrc_dimension(path)
