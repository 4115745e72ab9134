"""Plain table files, and perturbation tables."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.status import Status
from tacit.errors import ColumnNotFound, DisclosureRefused, InputError, NotAdditive, UnreadableFile
from tacit.io.p_tables import PTable, write_ptable
from tacit.tables import read_ptable, read_table, read_wide, write_table

LONG = """region;size;turnover;n;st
Total;Total;21,5;9;
Total;s;11,5;5;s
Total;b;10;4;
N;Total;15;6;
N;s;9;3;unsafe (rule)
N;b;6;3;1
S;Total;6,5;3;
S;s;2,5;2;
S;b;4;1;u
"""


def saved(folder, text, name="t.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_long_text(tmp_path, encoding):
    text = LONG.replace("region", "région").replace("\n", "\r\n")
    path = saved(tmp_path, text, encoding=encoding)
    table = read_table(path, ["région", "size"], "turnover", count="n", status="st")
    assert table.shape == (3, 3)
    assert table.value[table.index(("Total", "s"))] == 11.5
    assert table.status[table.index(("N", "s"))] == Status.UNSAFE
    assert table.status[table.index(("S", "b"))] == Status.UNSAFE_MANUAL
    assert table.status[table.index(("Total", "s"))] == Status.SAFE_MANUAL


def test_long_parquet_and_excel_and_tabs(tmp_path):
    rows = [line.split(";") for line in LONG.splitlines()]
    columns = {t: [r[i] for r in rows[1:]] for i, t in enumerate(rows[0])}
    columns["turnover"] = [float(x.replace(",", ".")) for x in columns["turnover"]]
    columns["n"] = [int(x) for x in columns["n"]]
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(list(columns))
    for row in zip(*columns.values(), strict=True):
        book.active.append(list(row))
    book.save(tmp_path / "t.xlsx")
    saved(tmp_path, LONG.replace(";", "\t"), "t.tsv")
    for name in ("t.parquet", "t.xlsx", "t.tsv"):
        table = read_table(tmp_path / name, ["region", "size"], "turnover", count="n")
        assert table.value[0] == 21.5
        assert table.count.tolist() == [9, 5, 4, 6, 3, 3, 3, 2, 1]
    with pytest.raises(UnreadableFile, match="no sheet"):
        read_table(tmp_path / "t.xlsx", ["region"], "turnover", sheet="none")


def test_totals(tmp_path):
    wrong = saved(tmp_path, LONG.replace("15;6;", "16;6;"))
    with pytest.raises(NotAdditive, match="N x Total"):
        read_table(wrong, ["region", "size"], "turnover")
    table = read_table(wrong, ["region", "size"], "turnover", totals="recompute")
    assert table.value[table.index(("N", "Total"))] == 15
    ground = "region,size,n\n" + "".join(f"{r},{s},1\n" for r in "NS" for s in "ab")
    path = saved(tmp_path, ground, "g.csv")
    with pytest.raises(InputError, match="no code of 'region' is a total"):
        read_table(path, ["region", "size"], "n")
    assert read_table(path, ["region", "size"], "n", totals="recompute").value[0] == 4
    free = read_table(wrong, ["region", "size"], "turnover", totals="free")
    assert free.equations.shape[0] == 0


def test_dimensions_of_every_kind(tmp_path):
    (tmp_path / "r.hrc").write_text("A\n@N\n@S\nB\n")
    text = "r,v\nTotal,6\nA,3\nN,1\nS,2\nB,3\n"
    path = saved(tmp_path, text)
    tree = Dimension.from_tree("r", [(0, "A"), (1, "N"), (1, "S"), (0, "B")])
    pairs = [("Total", ["A", "B"]), ("A", ["N", "S"])]
    for given_as in (tree, tmp_path / "r.hrc", pairs):
        table = read_table(path, {"r": given_as}, "v")
        assert sorted(table.dimensions[0].codes) == ["A", "B", "N", "S", "Total"]
        assert len(table.dimensions[0].sums) == 2
    minus = [("Total", ["A", "B"]), ("A", ["N", "S"]), ("B", ["Total", "-A"])]
    with pytest.raises(InputError):
        read_table(path, {"r": minus}, "v")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("turnover", "tunover", "no column 'turnover'"),
        ("9;3;unsafe", "nine;3;unsafe", "column 'turnover', record 5: no number"),
        ("unsafe (rule)", "dangerous", "record 5: 'dangerous' is no status"),
        ("N;s;9", "N;b;9", "records 5 and 6 are the same cell"),
        ("N;s;9;3;", "N;s;9;3;7;", "record 5: 6 fields under 5 titles"),
        ("region;size", "size;size", "'size' stands twice"),
    ],
)
def test_faulty_files(tmp_path, old, new, said):
    path = saved(tmp_path, LONG.replace(old, new))
    with pytest.raises((UnreadableFile, ColumnNotFound), match=said):
        read_table(path, ["region", "size"], "turnover", count="n", status="st")


def test_a_quote_that_is_not_closed_swallows_no_cells(tmp_path):
    body = 'a,value\nx,1\n"y,2\nz,3\nTotal,6\n'
    with pytest.raises(UnreadableFile, match="not closed"):
        read_table(saved(tmp_path, body, "t.csv"), ["a"], "value")
    whole = read_table(
        saved(tmp_path, body.replace('"y', '"y, or ""z"""'), "u.csv"), ["a"], "value"
    )
    assert whole.dimensions[0].codes[2] == 'y, or "z"'


def test_unknown_endings(tmp_path):
    with pytest.raises(UnreadableFile, match="no table file"):
        read_table(saved(tmp_path, LONG, "t.doc"), ["region"], "turnover")
    with pytest.raises(UnreadableFile, match="not a spreadsheet"):
        read_table(saved(tmp_path, LONG, "t.xlsx"), ["region"], "turnover")
    with pytest.raises(UnreadableFile, match="no file"):
        read_table(tmp_path / "gone.csv", ["region"], "turnover")
    with pytest.raises(InputError, match="written as"):
        write_table(small(), tmp_path / "t.doc")


# -- wide ----------------------------------------------------------------------------------------


def test_wide(tmp_path):
    path = saved(tmp_path, "sector,1,2,Tot\nA,1,-,1\nB,3,4,7\nTot,4,4,8\n")
    table = read_wide(path, names=("sector", "size"))
    assert table.names == ("sector", "size")
    assert table.value[table.index(("Tot", "Tot"))] == 8
    assert table.empty[table.index(("A", "2"))]
    ground = saved(tmp_path, "sector\t1\t2\nA\t1\t\nB\t3\t4\n", "g.tsv")
    assert read_wide(ground, totals="recompute").value[0] == 8
    counts = saved(tmp_path, "sector,1,2,Tot\nA,2,-,2\nB,3,4,7\nTot,5,4,9\n", "n.csv")
    assert read_wide(path, count=counts).count[0] == 9
    with pytest.raises(InputError, match="other rows or columns"):
        read_wide(path, count=saved(tmp_path, "sector,1,Tot\nA,2,2\nTot,2,2\n", "m.csv"))
    with pytest.raises(UnreadableFile, match="stands twice"):
        read_wide(saved(tmp_path, "s,1,1\nA,1,2\n", "d.csv"))


def test_named_totals(tmp_path):
    path = saved(tmp_path, "s,1,2,zusammen\nA,1,2,3\nB,3,4,7\nalles,4,6,10\n")
    table = read_wide(path, total=("alles", "zusammen"))
    assert table.value[0] == 10


# -- writing -------------------------------------------------------------------------------------


def small():
    table = tacit.Table.from_array(
        [[1.5, 2], [3, 0]], totals=False, names=["a", "b"], count=[[1, 2], [3, 0]]
    )
    return table.with_protection([(0, 0)], 1, 1).with_hidden([(0, 1), (1, 2), (0, 2), (1, 0)])


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "xlsx"])
def test_only_published_values_go_out(tmp_path, ending):
    table = small()
    write_table(table, tmp_path / f"o.{ending}")
    back = read_table(
        tmp_path / f"o.{ending}", {"a": table.dimensions[0], "b": table.dimensions[1]}, "value",
        totals="free",
    )  # fmt: skip
    assert (back.value[table.hidden] == 0).all()
    np.testing.assert_allclose(back.value[~table.hidden], table.value[~table.hidden])


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "xlsx"])
def test_everything_can_be_kept_inside(tmp_path, ending):
    table = small().with_weight(np.arange(9) + 0.5)
    write_table(table, tmp_path / f"o.{ending}", confidential=True)
    back = read_table(
        tmp_path / f"o.{ending}",
        {"a": table.dimensions[0], "b": table.dimensions[1]},
        "value",
        count="count",
        status="status",
        weight="weight",
        lower_level="lower_level",
        upper_level="upper_level",
    )
    for name in ("value", "count", "status", "weight", "lower_level", "upper_level"):
        np.testing.assert_allclose(getattr(back, name), getattr(table, name))


def test_wide_layout_and_decimal_commas(tmp_path):
    write_table(small(), tmp_path / "o.csv", layout="wide", separator=";", decimal=",")
    assert (tmp_path / "o.csv").read_text() == "a;1;2;Total\n1;x;x;x\n2;x;-;x\nTotal;4,5;2;6,5\n"
    with pytest.raises(InputError, match="must not be the same"):
        write_table(small(), tmp_path / "o.csv", decimal=",")
    with pytest.raises(InputError, match="two dimensions"):
        write_table(
            tacit.Table.from_array([1.0, 2], totals=False), tmp_path / "o.csv", layout="wide"
        )
    with pytest.raises(DisclosureRefused):
        write_table(small(), tmp_path / "o.csv", layout="wide", confidential=True)
    assert [p.name for p in tmp_path.iterdir()] == ["o.csv"]


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=4),
                min_size=1, max_size=4, unique_by=str.strip))  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_codes_of_every_kind_survive(tmp_path_factory, codes):
    codes = [c.strip() for c in codes if c.strip() and c.strip().lower() not in {"total", "tot", "all", "sum", "_t", "*"}] or ["a"]  # fmt: skip
    folder = tmp_path_factory.mktemp("plain")
    table = tacit.Table.from_array(
        np.arange(2.0 * len(codes)).reshape(-1, 2) + 1, totals=False, names=["a", "b"],
        codes=[codes, ["p", "q"]],
    )  # fmt: skip
    write_table(table, folder / "t.csv")
    back = read_table(folder / "t.csv", ["a", "b"], "value", separator=",")
    order = [back.index(table.codes(i)) for i in range(len(table))]
    np.testing.assert_allclose(back.value[order], table.value)


# -- perturbation tables -------------------------------------------------------------------------

PTABLE = """"i";"j";"p";"v";"p_int_ub"
0;0;1;0;1
1;0;0,5;-1;0,5
1;2;0,3;1;0,8
1;3;0,2;2;1
2;1;0.25;-1;0.25
2;2;0.5;0;0.75
2;3;0.25;1;1
"""


def test_perturbation_tables(tmp_path):
    table = read_ptable(saved(tmp_path, PTABLE, "p.txt"))
    counts = [0, 1, 1, 1, 1, 2, 7, 7]
    keys = [0.9, 0.0, 0.5, 0.79, 0.8, 0.25, 0.1, 0.75]
    assert table.lookup(counts, keys).tolist() == [0, -1, 1, 1, 2, 0, -1, 1]
    assert (table.largest, table.reach) == (2, 2)
    assert table.interpolate([0.5, 1.5, 9], [0.1, 0.1, 0.1]).tolist() == [-0.5, -1, -1]
    write_ptable(table, tmp_path / "q.txt")
    assert read_ptable(tmp_path / "q.txt").bound.tolist() == table.bound.tolist()


def test_perturbation_tables_with_types(tmp_path):
    text = "i;j;p;v;p_int_ub;type\n0;0;1;0;1;even\n0;1;1;1;1;odd\n"
    table = read_ptable(saved(tmp_path, text, "p.txt"))
    assert table.lookup([0, 0], [0.1, 0.2], "odd").tolist() == [1, 1]
    with pytest.raises(InputError, match="no rows of type 'all'"):
        table.lookup([0], [0.5])
    write_ptable(table, tmp_path / "q.txt")
    assert read_ptable(tmp_path / "q.txt").kind == ("even", "odd")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a;b\n1;2\n", "begins with the titles"),
        (PTABLE.replace("2;1;0.25;-1;0.25", "2;1;0.25;-1"), "record 6: 5 fields"),
        (PTABLE.replace("0,8", "oh"), "record 4: a number"),
        (PTABLE.replace("0,8", "0,4"), "i = 1: the cumulative bounds"),
        (PTABLE.replace("0.25;1;1", "0.25;1;0.9"), "i = 2: the cumulative bounds"),
        ("i;j;p;v;p_int_ub;type\n0;0;1;0;1;some\n", "all, even or odd"),
    ],
)
def test_faulty_perturbation_tables(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        read_ptable(saved(tmp_path, text, "p.txt"))


def test_keys_and_counts_outside(tmp_path):
    table = read_ptable(saved(tmp_path, PTABLE, "p.txt"))
    with pytest.raises(InputError, match=r"\[0, 1\)"):
        table.lookup([1], [1.0])
    with pytest.raises(InputError, match="begins at 0"):
        table.lookup([-1], [0.5])


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=5), min_size=1, max_size=5),
       st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1, exclude_max=True)), max_size=20))  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_lookup_is_the_first_row_whose_bound_exceeds_the_key(shares, cells):
    i = [k for k, own in enumerate(shares) for _ in own]
    v = [m for own in shares for m in range(len(own))]
    p = [x / sum(own) for own in shares for x in own]
    table = PTable.from_rows(i, v, p)
    counts, keys = [c for c, _ in cells], [k for _, k in cells]
    found = table.lookup(counts, keys).tolist()
    for c, k, got in zip(counts, keys, found, strict=True):
        own = [r for r in range(len(i)) if i[r] == min(c, max(i))]
        assert got == next((v[r] for r in own if table.bound[r] > k), v[own[-1]])
