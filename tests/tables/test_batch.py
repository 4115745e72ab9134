"""tau-ARGUS batch files: parsed, run with our methods, and written."""

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.argus.arb import Command
from tacit.data.cells.status import Status
from tacit.errors import Cancelled, Infeasible, InputError, UnknownMethod, UnreadableFile
from tacit.registry import lookup
from tacit.tables import parse_batch, read_tab, run_batch, write_batch

FIXTURES = Path(__file__).parents[1] / "fixtures/psd28-argus-software"

RDA = """Area 1 2 99
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERCODELIST> "area.hrc"
  <HIERLEADSTRING> "@"
Size 3 1 9
  <RECODEABLE>
  <TOTCODE> "All"
Group 4 2
  <HOLDING>
Weight 6 3
  <NUMERIC>
  <DECIMALS> 1
  <WEIGHT>
Turnover 9 6 999999
  <NUMERIC>
  <DECIMALS> 1
Asked 15 1
  <REQUEST> "J" "K"
Price 16 3
  <NUMERIC>
Key 19 6
  <NUMERIC>
  <RECORDKEY>
  <DECIMALS> 4
  <PFILE> "p.txt"
"""
HRC = "N\n@ 1\n@ 2\nS\n@ 3\n@ 4\n"
PTABLE = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n2;1;0.5;-1;0.5\n2;3;0.5;1;1\n"


def record(area, size, group, weight, turnover, asked, price, key):
    return f"{area:>2}{size}{group:>2}{weight:3.1f}{turnover:6.1f}{asked}{price:3d}{key:6.4f}"


def records():
    rng = np.random.default_rng(4)
    lines = []
    for i in range(300):
        area, size = rng.integers(1, 5), rng.integers(1, 4)
        if (area, size) == (1, 1) and i > 20:
            area = 2
        turnover = float(np.round(rng.lognormal(3, 1.2), 1))
        asked = "J" if i % 40 == 0 else "K" if i % 50 == 0 else " "
        lines.append(record(area, size, i // 3 % 60, 1.5, turnover, asked, int(rng.integers(1, 99)), rng.random() * 0.99))  # fmt: skip
    return lines


LINES = records()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "firms.asc").write_bytes(("\r\n".join(LINES) + "\r\n").encode("cp1252"))
    (tmp_path / "FIRMS.RDA").write_text(RDA)
    (tmp_path / "Area.hrc").write_text(HRC)
    (tmp_path / "p.txt").write_text(PTABLE)
    return tmp_path


HEAD = """// a comment
\\\\ another
<OPENMICRODATA> "D:\\old\\firms.asc"
<openmetadata>\t"firms.rda"
"""


def batch(folder, text, head=HEAD, name="job.arb"):
    path = folder / name
    path.write_bytes((head + text).replace("\n", "\r\n").encode())
    return path


def columns():
    """Return area, size, group, turnover of the records."""
    return [(x[:2].strip(), x[2], x[3:5].strip(), float(x[8:14])) for x in LINES]


# -- parsing -------------------------------------------------------------------------------------


def test_the_published_batch():
    expected = json.loads((FIXTURES / "batch_parse.json").read_text())["expected"]
    assert [c.plain for c in parse_batch(FIXTURES / "paper_batch.arb")] == expected


def test_the_printed_form_without_marks(tmp_path):
    text = (FIXTURES / "paper_batch.arb").read_text()
    expected = [c.plain for c in parse_batch(FIXTURES / "paper_batch.arb")]
    for blanks in ('"Size""Region" "Var2" "" ""', '"Size" "Region" "Var2" "" ""'):
        printed = text.replace('"Size""Region"|"Var2"|""|""', blanks)
        printed = printed.replace("NK(3,75)|FREQ(3,30)", "nk (3, 75) Freq(3,30)").replace(
            "<SUPP", "<Supp"
        )
        path = batch(tmp_path, printed, head="// printed\n\n")
        assert [c.plain for c in parse_batch(path)] == expected


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ('<SPECIFYTABLE> "a""b"|<FREQ>||-1,0.5', ["SPECIFYTABLE", {"explanatory": ["a", "b"],
         "response": "<FREQ>", "shadow": None, "cost": "-1", "lambda": 0.5}]),
        ('<SPECIFYTABLE> "a"|"x"|"y"|"z"|2', ["SPECIFYTABLE", {"explanatory": ["a"],
         "response": "x", "shadow": "y", "cost": "z", "lambda": 2}]),
        ("<SAFETYRULE>", ["SAFETYRULE", []]),
        ("<SAFETYRULE> P(10,50,1)|", ["SAFETYRULE", [["P", [10, 50, 1]]]]),
        ("<READTABLE> 1T", ["READTABLE", [1, "T"]]),
        ("<READTABLE>", ["READTABLE", []]),
        ('<APRIORY> "a.hst", 1, ",", 0, 1', ["APRIORI", ["a.hst", 1, ",", 0, 1]]),
        ('<SOLVER> cplex, "l.txt"', ["SOLVER", ["CPLEX", "l.txt"]]),
        ('<SUPPRESS> CKM(1) "a.txt"|"b.txt"|1.5', ["SUPPRESS", ["CKM", [1], ["a.txt", "b.txt", 1.5]]]),
        ("<RECODE> 1, Size, 2", ["RECODE", [1, "Size", 2]]),
        ('<WRITETABLE> (1, 5, , "my table, 2.tab")', ["WRITETABLE", [1, 5, "", "my table, 2.tab"]]),
        ("<LOGBOOK> my log.txt", ["LOGBOOK", ["my log.txt"]]),
    ],
)  # fmt: skip
def test_commands(tmp_path, line, plain):
    (command,) = parse_batch(batch(tmp_path, line + "\n", head=""))
    assert isinstance(command, Command)
    assert command.plain == plain


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("<SUPRESS> MOD(1)", "line 2: there is no command <SUPRESS>.*SUPPRESS"),
        ("SUPPRESS MOD(1)", "line 2: a command stands"),
        ("<SUPPRESS> FOO(1)", "line 2, <SUPPRESS>: a method"),
        ("<SUPPRESS> MOD()", "needs the number of a table"),
        ("<SAFETYRULE> NK(3)", "NK takes 2 numbers, not 1"),
        ("<SAFETYRULE> XY(3)", "no rule XY"),
        ("<SAFETYRULE> NK(3,x)", "a number is expected"),
        ("<SAFETYRULE> NK(3,4", "a bracket is not closed"),
        ("<SAFETYRULE> (3,4)", "a bracket opens"),
        ('<OPENMETADATA> "a.rda', "a quotation mark"),
        ("<OPENMETADATA>", "the name of a file"),
        ("<READTABLE> 3", "0, 1 or 2"),
        ("<RECODE> 1, Size", "table, variable"),
        ("<WRITETABLE> (1)", "is expected"),
        ("<SOLVER> GUROBI", "a solver is expected"),
        ('<SPECIFYTABLE> |"x"', "at least one spanning"),
    ],
)
def test_faulty_lines_are_named(tmp_path, line, said):
    with pytest.raises(UnreadableFile, match=said):
        parse_batch(batch(tmp_path, f"<SILENT>\n{line}\n", head=""))


# -- running -------------------------------------------------------------------------------------

TABLE = """<SPECIFYTABLE> "Area""Size"|"Turnover"|""|""
<SAFETYRULE> P(15,1)|FREQ(3,30)|MAN(20)
<READMICRODATA>
"""


def test_records_are_tabulated_judged_and_protected(folder):
    path = batch(folder, '<LOGBOOK> "log.txt"\n' + TABLE + """<SOLVER> FREE
<SUPPRESS> GH(1,100,0,1)
<WRITETABLE> (1,3,AS+FL+,"out\\safe.csv")
<WRITETABLE> (1,5,,"inside.tab")
<VERSIONINFO> "version.txt"
""")  # fmt: skip
    (folder / "out").mkdir()
    result = tacit.tables.run_batch(str(path))
    (table,) = result.tables
    assert table.names == ("Area", "Size")
    assert table.dimensions[0].codes == ("Total", "N", "1", "2", "S", "3", "4")
    data = columns()
    assert table.value[0] == pytest.approx(sum(x[3] for x in data))
    cell = table.index(("N", "2"))
    own = sorted((x[3] for x in data if x[0] in "12" and x[1] == "2"), reverse=True)
    assert table.value[cell] == pytest.approx(sum(own))
    assert table.count[cell] == len(own)
    for i in np.flatnonzero(table.ground):
        area, size = table.codes(int(i))
        top = sorted((x[3] for x in data if x[0] == area and x[1] == size), reverse=True)
        unsafe = 0.15 * top[0] > sum(top[2:]) + 1e-9 or len(top) < 3
        assert bool(table.primary[i]) == unsafe
    assert {f.name for f in result.files} >= {"safe.csv", "inside.tab", "inside.rda", "log.txt"}
    lines = (folder / "out" / "safe.csv").read_text().splitlines()
    assert lines[0] == "Area,Size,Turnover,Status"
    assert sum(",x," in line for line in lines) == int(table.hidden.sum())
    again = read_tab(folder / "inside.tab")
    np.testing.assert_allclose(again.value, table.value)
    assert "HiGHS" in (folder / "log.txt").read_text()
    assert (folder / "version.txt").read_text().startswith("tacit ")
    assert not list(folder.glob(".*"))


def test_written_elsewhere_and_with_true_values(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    path = batch(folder, TABLE + '<WRITETABLE> (1,3,AS+,"safe.csv")\n<WRITETABLE> (1,4,,"a.sbs")\n')
    result = run_batch(path, folder=out, confidential=True)
    assert {f.parent for f in result.files} == {out}
    assert ",x," not in (out / "safe.csv").read_text()
    assert not (folder / "safe.csv").exists()


def test_holdings_weights_requests_and_missing_codes(folder):
    path = batch(folder, """<SPECIFYTABLE> "Area"|"Turnover"|""|"Price"
<SAFETYRULE> P(0,0)|P(0,0)|P(90,1)|FREQ(0,0)|FREQ(3,30)|WGT(1)|MIS(1)
<SPECIFYTABLE> "Size"|"Turnover"|"Price"|"-2"
<SAFETYRULE> REQ(1,1,3,20)|ZERO(10)
<READMICRODATA>
""")  # fmt: skip
    weighted, asked = run_batch(path).tables
    data = columns()
    assert weighted.value[0] == pytest.approx(1.5 * sum(x[3] for x in data))
    assert weighted.holdings.count[0] == 60
    assert weighted.weight is not None
    assert asked.value[0] == pytest.approx(sum(x[3] for x in data))
    assert asked.contributors.asked is not None


def test_counts_and_their_rules(folder):
    text = '<SPECIFYTABLE> "Area""Size"|"<freq>"||-1\n<SAFETYRULE> {}\n<READMICRODATA>\n'
    (table,) = run_batch(batch(folder, text.format("FREQ(25,30)"))).tables
    assert table.frequency
    assert table.value[0] == 300
    assert (table.status[table.primary] == Status.UNSAFE_FREQUENCY).all()
    with pytest.raises(InputError, match="do not apply to a table of counts"):
        run_batch(batch(folder, text.format("P(10,1)")))


def test_blank_and_missing_fields(folder):
    lines = [*LINES, record("99", "9", 1, 1.0, 10.0, " ", 5, 0.1), "  " + record("", "", 1, 1.0, 5.0, " ", 5, 0.1)[2:]]  # fmt: skip
    lines[0] = LINES[0][:8] + "999999" + LINES[0][14:]
    lines[-1] = "   " + lines[-2][3:]
    (folder / "firms.asc").write_text("\n".join(lines))
    result = run_batch(batch(folder, TABLE.replace("MAN(20)", "MIS(1)")))
    (table,) = result.tables
    assert table.dimensions[0].codes[-1] == "99"
    assert table.count[table.index(("99", "All"))] == 2
    assert not table.primary[table.index(("99", "All"))]
    assert any("contribute 0" in line for line in result.log)
    assert any("no code of 'Area'" in line for line in result.log)


@pytest.mark.parametrize("mark", [";", "\t"])
def test_free_format_with_names_and_decimal_commas(tmp_path, mark):
    rda = f'<SEPARATOR> "{mark}"\n<NAMESINFRONT>\nArea 2\n<RECODEABLE>\nTurnover 6\n<NUMERIC>\n<DECIMALS> 1\n'
    (tmp_path / "firms.rda").write_bytes(rda.encode())
    lines = ["Area;Turnover", "Ö1;12,5", '"a;b";7', "Ö1;3"]
    text = "\r\n".join(lines).replace(";", mark).replace(f"a{mark}b", "a;b")
    (tmp_path / "firms.asc").write_bytes(text.encode("cp1252"))
    job = '<SPECIFYTABLE> "Area"|"Turnover"||\n<SAFETYRULE> FREQ(2,30)\n<READMICRODATA>\n'
    (table,) = run_batch(batch(tmp_path, job)).tables
    assert table.dimensions[0].codes == ("Total", "Ö1", "a;b")
    assert table.value.tolist() == [22.5, 15.5, 7]


def test_recodes_start_from_the_original_codes(folder):
    (folder / "size.grc").write_text("a: 1-2\n")
    (folder / "wide.grc").write_text("b: 2-\n")
    (folder / "tree.grc").write_text("<TREERECODE>\nN\n")
    text = (
        TABLE
        + '<RECODE> 1, size, "size.grc"\n<RECODE> 1, Size, "wide.grc"\n<RECODE> 1, Area, "TREE.GRC"\n'
    )
    (table,) = run_batch(batch(folder, text)).tables
    assert set(table.dimensions[1].codes) == {"All", "1", "b"}
    assert set(table.dimensions[0].codes) == {"Total", "N", "S", "3", "4"}
    (table,) = run_batch(batch(folder, TABLE + "<RECODE> 1, Area, 1\n")).tables
    assert set(table.dimensions[0].codes) == {"Total", "N", "S"}
    with pytest.raises(InputError, match="hierarchical: recode it by"):
        run_batch(batch(folder, TABLE + '<RECODE> 1, Area, "size.grc"\n'))
    with pytest.raises(InputError, match="no dimension 'Year'"):
        run_batch(batch(folder, TABLE + "<RECODE> 1, Year, 1\n"))


def test_apriori(folder):
    (folder / "a.hst").write_text('N;1;u\n"";"";p\n2;3;w;7\nQ;1;p\n')
    with pytest.raises(InputError, match=r"line 8, <APRIORI>: 'a.hst', line 4 \(Q x 1\)"):
        run_batch(batch(folder, TABLE + '<APRIORI> "a.hst", 1, ";"\n'))
    result = run_batch(batch(folder, TABLE + '<APRIORI> "a.hst", 1, ";", 1, 1\n'))
    (table,) = result.tables
    assert table.status[table.index(("N", "1"))] == Status.UNSAFE_MANUAL
    assert table.status[0] == Status.PROTECTED
    assert "3 a-priori lines applied, 1 passed over" in result.log[-1]


def test_ready_tables(folder):
    head = '<OPENTABLEDATA> "inside.tab"\n<OPENMETADATA> "inside.rda"\n'
    run_batch(batch(folder, TABLE + '<WRITETABLE> (1,5,,"inside.tab")\n'))
    text = '<SPECIFYTABLE> "Area""Size"|"Turnover"||\n<SAFETYRULE> {}\n<READTABLE> {}\n<SUPPRESS> GH(1,100)\n'
    (given,) = run_batch(batch(folder, text.format("", 0), head=head, name="b.arb")).tables
    (judged,) = run_batch(batch(folder, text.format("P(15,1)|FREQ(3,30)", "1F"), head=head, name="b.arb")).tables  # fmt: skip
    assert given.primary.tolist() == judged.primary.tolist()
    assert given.secondary.any()
    with pytest.raises(InputError, match="READTABLE 2"):
        run_batch(batch(folder, text.format("", 2), head=head, name="b.arb"))


def test_linked_tables(folder):
    text = """<SPECIFYTABLE> "Area"|"Turnover"||
<SAFETYRULE> P(15,1)|FREQ(70,30)
<SPECIFYTABLE> "Size"|"Turnover"||
<SAFETYRULE> FREQ(3,30)
<READMICRODATA>
<SUPPRESS> GH(0,0)
<WRITETABLE> (2,1,,"two.csv")
"""
    result = run_batch(batch(folder, text.replace("GH(0,0)", "MOD(0,1)")))
    one, two = result.tables
    assert one.shape == (7,)
    assert two.shape == (4,)
    assert one.hidden.any()
    with pytest.raises(InputError, match="OPT does not take linked"):
        run_batch(batch(folder, text.replace("GH(0,0)", "OPT(0,1)")))


def test_every_method_that_is_there(folder):
    words = {
        "suppress_hypercube": "GH(1,100,0,1)",
        "suppress_modular": "MOD(1,1,1,1,1)",
        "suppress_exact": "OPT(1,1)",
        "suppress_network": "NET(1)",
        "controlled_rounding": "RND(1,5,0,1,0,2,0)",
        "adjust": "CTA(1)",
    }
    ran = 0
    for kind, word in words.items():
        try:
            lookup(kind)
        except UnknownMethod:
            continue
        text = TABLE + f'<SUPPRESS> {word}\n<WRITETABLE> (1,3,AS+,"safe.csv")\n'
        (table,) = run_batch(batch(folder, text)).tables
        assert table.history[-1].kind == kind
        ran += 1
    assert ran


def test_methods_start_from_the_judged_table(folder):
    text = TABLE + "<SUPPRESS> GH(1,100)\n"
    once = run_batch(batch(folder, text)).tables[0]
    twice = run_batch(batch(folder, text + "<SUPPRESS> GH(1,100)\n")).tables[0]
    assert once.status.tolist() == twice.status.tolist()


def test_a_file_may_be_written_more_than_once(folder):
    text = TABLE + "".join(f'<WRITETABLE> (1,{k},,"safe.csv")\n' for k in (1, 2, 3))
    result = run_batch(batch(folder, text))
    assert [f.name for f in result.files] == ["safe.csv"]
    assert len((folder / "safe.csv").read_text().splitlines()) == 28


def test_clear_and_gointeractive(folder):
    text = TABLE + "<CLEAR>\n" + HEAD + TABLE + '<GOINTERACTIVE>\n<WRITETABLE> (9,1,,"x")\n'
    result = run_batch(batch(folder, text))
    assert len(result.tables) == 2
    assert result.log[-1].endswith("the batch ends here")
    assert "2 tables" in repr(result)


def test_a_failing_batch_names_the_command_and_leaves_nothing(folder):
    before = sorted(p.name for p in folder.iterdir())
    text = TABLE + '<WRITETABLE> (1,3,,"safe.csv")\n<WRITETABLE> (2,3,,"other.csv")\n'
    path = batch(folder, text)
    with pytest.raises(InputError, match=r"'job\.arb', line 9, <WRITETABLE>: there is no table 2"):
        run_batch(path)
    assert sorted(p.name for p in folder.iterdir()) == sorted([*before, "job.arb"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<SPECIFYTABLE> "Where"|"Turnover"||\n', "line 5, <SPECIFYTABLE>: .* no variable 'Where'"),
        ('<SPECIFYTABLE> "Turnover"|"Turnover"||\n', "not described as a spanning"),
        ("<READMICRODATA>\n", "SPECIFYTABLE must come before"),
        ("<SAFETYRULE> P(10,1)\n", "SPECIFYTABLE must come before"),
        ('<SPECIFYTABLE> "Area"|"Turnover"||\n<READTABLE>\n', "the data are records"),
        ('<SPECIFYTABLE> "Area"|"Turnover"||\n<SUPPRESS> GH(1,1)\n', "READMICRODATA or READTABLE must"),
        (TABLE + '<SPECIFYTABLE> "Area"|"Turnover"||\n', "before the data are read"),
        (TABLE + "<READMICRODATA>\n", "read already"),
        (TABLE + '<WRITETABLE> (1,3,,"firms.asc")\n', "cannot be written by it"),
        (TABLE + '<WRITETABLE> (1,3,,"none/x.csv")\n', "there is no folder"),
        (TABLE + '<WRITETABLE> (1,9,,"x.csv")\n', "no output format"),
        (TABLE.replace('|""\n', '|"-3"\n') + "<SUPPRESS> GH(1,1)\n", "known to MOD only"),
        (TABLE.replace('|""\n', '|"-3"\n') + "<SUPPRESS> MOD(1,1)\n", "the same <DISTANCE>"),
        ('<OPENMETADATA> "gone.rda"\n', "no file 'gone.rda'"),
        ('<SPECIFYTABLE> "Area"|"Size"||\n<READMICRODATA>\n', "not described as a number"),
    ],
)  # fmt: skip
def test_errors_name_line_and_command(folder, text, said):
    with pytest.raises(InputError, match=said):
        run_batch(batch(folder, text))
    assert not list(folder.glob(".*"))


def test_metadata_before_data(folder):
    with pytest.raises(InputError, match="OPENMICRODATA or OPENTABLEDATA must come before"):
        run_batch(batch(folder, '<OPENMETADATA> "firms.rda"\n', head=""))


def test_what_cannot_be_protected_says_so(folder):
    text = '<SPECIFYTABLE> "Area""Size"|"Turnover"||\n<SAFETYRULE> MAN(20)\n<READMICRODATA>\n'
    (folder / "b.hst").write_text(
        "".join(f"{a},{s},p\n" for a in ("Total", *"NS234") for s in ("All", *"123")) + "1,1,u\n"
    )
    text += '<APRIORI> "b.hst", 1, ","\n<SUPPRESS> GH(1,100)\n'
    with pytest.raises(Infeasible, match="line 9, <SUPPRESS>"):
        run_batch(batch(folder, text))


def test_progress_and_stopping(folder):
    seen = []
    path = batch(folder, TABLE)
    run_batch(path, on_event=seen.append)
    assert (seen[-1].text, seen[-1].share) == ("Writing the files of the batch", 1.0)
    with pytest.raises(Cancelled):
        run_batch(path, should_stop=lambda: True)


# -- writing -------------------------------------------------------------------------------------


def test_a_batch_repeats_what_was_done(folder):
    text = TABLE + "<SUPPRESS> GH(1,100,0,1)\n"
    (table,) = run_batch(batch(folder, text)).tables
    files = {"data": "firms.asc", "metadata": "firms.rda"}
    steps = [tacit.PPercent(p=15), tacit.MinimumFrequency(range=30), tacit.SuppressHypercube()]
    outputs = [("pivot", "AS+SE+", "p.csv"), (1, "", "b.csv")]
    write_batch(folder / "again.arb", steps, explanatory=table.names, response=table.response,
                outputs=outputs, logbook="l.txt", **files)  # fmt: skip
    (again,) = run_batch(folder / "again.arb").tables
    assert again.status.tolist() == table.status.tolist()
    np.testing.assert_allclose(again.upper_level, table.upper_level)
    assert (folder / "p.csv").is_file()
    with pytest.raises(InputError, match="does not hold p of p_percent"):
        write_batch(folder / "again.arb", table, **files)


def test_a_batch_from_a_history(folder):
    text = TABLE.replace("P(15,1)|FREQ(3,30)|", "ZERO(5)|") + "<SUPPRESS> GH(1,50,0,1)\n"
    (table,) = run_batch(batch(folder, text)).tables
    write_batch(folder / "again.arb", table, data="firms.asc", metadata="firms.rda")
    commands = {c.name: c.arguments for c in parse_batch(folder / "again.arb")}
    assert commands["SAFETYRULE"] == [["ZERO", [5]]]
    assert commands["SUPPRESS"] == ["GH", [1, 50, 0, 1]]
    assert commands["SPECIFYTABLE"]["explanatory"] == ["Area", "Size"]


def test_specs_as_commands(tmp_path):
    steps = [
        tacit.PPercent(p=10, n=2),
        tacit.Pq(p=10, q=60, level="holding"),
        tacit.Dominance(n=2, k=80),
        tacit.MinimumFrequency(n=4, range=25, level="holding"),
        tacit.Request(share=60, minimum=3, range=15),
        tacit.ZeroCells(range=5),
        tacit.SuppressHypercube(apriori=50),
    ]
    write_batch(tmp_path / "j.arb", steps, data="a.tab", metadata="a.rda", explanatory=["x", "y"],
                response="v", cost="unit", power=0.5, tabular=True, additivity=1, apriori="a.hst")  # fmt: skip
    commands = {c.name: c.arguments for c in parse_batch(tmp_path / "j.arb")}
    assert commands["SPECIFYTABLE"]["cost"] == "-2"
    assert commands["SPECIFYTABLE"]["lambda"] == 0.5
    assert commands["SAFETYRULE"] == [
        ["P", [10, 2]], ["P", [0, 0]], ["P", [0, 0]], ["P", [10, 60, 1]], ["NK", [2, 80]],
        ["FREQ", [0, 0]], ["FREQ", [4, 25]], ["REQ", [60, 60, 3, 15]], ["ZERO", [5]],
    ]  # fmt: skip
    assert commands["SUPPRESS"] == ["GH", [1, 50, 0, 1]]
    assert commands["APRIORI"][0] == "a.hst"
    with pytest.raises(InputError, match="suppress_linear has no command"):
        write_batch(tmp_path / "k.arb", [tacit.SuppressLinear()], data="a", metadata="b", explanatory=["x"])  # fmt: skip
    with pytest.raises(InputError, match="needs the spanning variables"):
        write_batch(tmp_path / "k.arb", steps, data="a", metadata="b")
    assert not (tmp_path / "k.arb").exists()
