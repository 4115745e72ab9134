"""Distributions from arrays, tables, frames, files and microdata, in one layout."""

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError
from tacit.tables.compare.distributions import from_array
from tacit.tables.compare.table_comparison import laid_out

PEOPLE = {
    "area": ["b", "a", "a", None, "b", "b"],
    "sex": ["f", "m", "f", "f", "f", "f"],
    "age": [1, 2, 1, 1, 1, 2],
    "pay": [10.0, 20.0, 30.0, 40.0, 50.0, None],
}


def laid(source, other=None, **reading):
    """One source as distributions, or two of one layout."""
    sources = {"": source} if other is None else {"": source, "v": other}
    found = laid_out(sources, tacit.TableComparison(**reading))
    return found[""] if other is None else (found[""], found["v"])


def wide():
    return pd.DataFrame({"area": ["x", "y"], "c1": [1, 4], "c2": [2, 5], "c3": [3, 6]})


def test_array():
    table = laid([[1, 2], [3, 4]])
    assert table.layout.shape == (2, 2)
    assert table.layout.rows.labels() == ["1", "2"]
    assert table.hidden is None
    holes = laid([[float("nan"), float("nan")], [3, 4]])
    assert holes.hidden.tolist() == [[True, True], [False, False]]
    assert holes.cells.tolist() == [[0, 0], [3, 4]]
    assert laid([1, 2, 3]).layout.shape == (1, 3)


def test_declared_variables():
    table = from_array(
        np.arange(12).reshape(2, 6), rows={"area": 2}, columns={"sex": ["f", "m"], "age": 3}
    )
    layout = table.layout
    assert layout.columns.labels()[:4] == ["f / 1", "f / 2", "f / 3", "m / 1"]
    turned = layout.rearrange_cells(table.cells, ["sex"], ["area"])
    assert turned.tolist() == [[0 + 1 + 2, 6 + 7 + 8], [3 + 4 + 5, 9 + 10 + 11]]
    assert layout.columns.pick({"sex": "m", "age": [1, 3]}).tolist() == [False] * 3 + [
        True,
        False,
        True,
    ]
    assert layout.columns.pick(["f / 2", 5]).sum() == 2


def test_a_table_gives_its_true_values_as_the_original_and_what_it_publishes_as_a_version():
    table = tacit.Table.from_array(
        np.arange(12).reshape(2, 2, 3) + 1, totals=False, names=["area", "sex", "age"]
    )
    hidden = table.with_hidden([(0, 0, 1), (1, 0, 1), (1, 2, 3), (0, 2, 3)])
    first, second = laid(table, hidden)
    assert first.layout.rows.names == ("area",)
    assert first.layout.columns.labels()[:4] == ["1 / 1", "1 / 2", "1 / 3", "2 / 1"]
    assert first.cells.tolist() == (np.arange(12).reshape(2, 6) + 1).tolist()
    assert first.hidden is None
    assert second.hidden.sum() == 2
    assert np.isnan(second.row_totals).all()
    assert second.column_totals.tolist() == first.cells.sum(axis=0).tolist()
    turned = laid(table, rows=["sex"])
    assert turned.layout.variables == ("sex", "area", "age")
    assert laid(table, rows=["sex"], columns=["area"]).cells.tolist() == [[6, 24], [15, 33]]


def test_contributors_of_a_magnitude_table():
    table = tacit.Table.from_array([[1.5, 2.5], [3.0, 4.0]], totals=False, count=[[1, 2], [3, 4]])
    assert laid(table).units_behind().tolist() == [[1, 2], [3, 4]]
    counts = tacit.Table.from_array([[1, 2], [3, 4]], totals=False)
    assert laid(counts).units_behind().tolist() == [[1, 2], [3, 4]]


def test_wide_and_long_frames_and_files_agree(tmp_path):
    frame = wide()
    long = frame.melt("area", var_name="column", value_name="n")
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    named = {"rows": ["area"], "columns": ["column"], "value": "n"}
    for other in (
        laid(frame, rows="area"),
        laid(tmp_path / "t.csv", rows="area"),
        laid(tmp_path / "t.xlsx", rows="area"),
        laid(long.sample(frac=1, random_state=1), **named),
    ):
        assert other.cells.tolist() == [[1, 2, 3], [4, 5, 6]]
        assert other.layout.columns.labels() == ["c1", "c2", "c3"]


def test_margins_and_marks_in_a_file(tmp_path):
    (tmp_path / "t.csv").write_text("area,c1,c2,all\nx,1,..,9\ny,4,5,..\nall,5,7,12\n")
    table = laid(tmp_path / "t.csv", rows="area", total="all", marks=[".."])
    assert table.cells.tolist() == [[1, 0], [4, 5]]
    assert table.hidden.tolist() == [[False, True], [False, False]]
    assert table.row_totals.tolist()[0] == 9
    assert np.isnan(table.row_totals[1])
    assert table.column_totals.tolist() == [5, 7]
    assert table.layout.rows.is_full


def test_margins_in_long_form():
    frame = pd.DataFrame(
        {"a": ["x", "x", "T", "T"], "b": ["p", "T", "p", "T"], "n": [3, 4, 5, 9], "k": [1, 1, 1, 1]}
    )
    table = laid(frame, rows=["a"], columns=["b"], value="n", contributors="k", total="T")
    assert table.cells.tolist() == [[3]]
    assert table.row_totals.tolist() == [4]
    assert table.column_totals.tolist() == [5]
    assert not table.counts
    assert table.units_behind().tolist() == [[1]]


def test_microdata(engine):
    data = tacit.read(PEOPLE, engine=engine)
    table = laid(data, rows=["area"], columns=["sex", "age"])
    assert table.layout.rows.labels() == ["a", "b", "(missing)"]
    assert table.layout.columns.labels() == ["f / 1", "f / 2", "m / 1", "m / 2"]
    assert table.cells.tolist() == [[1, 0, 0, 1], [2, 1, 0, 0], [1, 0, 0, 0]]
    sums = laid(data, rows=["area"], columns=["sex"], value="pay")
    assert sums.cells.tolist() == [[30, 20], [60, 0], [40, 0]]
    assert sums.units.tolist() == [[1, 1], [3, 0], [1, 0]]
    assert not sums.counts


def test_microdata_share_one_layout():
    one = tacit.read({"a": ["x", "y"], "b": [1, 2]})
    two = tacit.read({"a": ["y", "z"], "b": [2, 3]})
    first, second = laid(one, two, rows=["a"], columns=["b"])
    assert first.layout.rows.labels() == ["x", "y", "z"]
    assert first.cells.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert second.cells.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    alone = laid(one, columns=["a", "b"])
    assert alone.cells.tolist() == [[1, 0, 0, 1]]


def test_versions_are_put_in_the_order_of_the_original():
    turned = wide().iloc[::-1][["c3", "area", "c1", "c2"]]
    assert laid(turned, rows="area").cells[0, 0] == 6
    first, second = laid(wide(), turned, rows="area")
    assert second.cells.tolist() == first.cells.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert laid(wide(), [[9, 2, 3], [4, 5, 6]], rows="area")[1].cells[0, 0] == 9


OTHER = pd.DataFrame({"area": ["x", "z"], "c1": [1, 4], "c2": [2, 5], "c3": [3, 6]})
REFUSED = [
    (lambda: laid([[1, -2]]), "must not be negative"),
    (lambda: laid([["a", "b"]]), "must be numbers"),
    (lambda: laid([[1, float("inf")]]), "finite"),
    (lambda: laid([[]]), "no cells"),
    (lambda: laid([[1, 2]], columns={"sex": 3}), "multiply to 3"),
    (lambda: laid([[1, 2]], columns=["sex", "age"]), "numbers of categories"),
    (lambda: laid([[1, 2]], contributors=[[1]]), "another shape"),
    (lambda: laid(wide()), "not numbers"),
    (lambda: laid(wide(), rows="aera"), "Did you mean 'area'"),
    (lambda: laid(pd.concat([wide(), wide()]), rows="area"), "same labels"),
    (lambda: laid([[1, 2]], [[1, 2, 3]]), "differ in shape"),
    (lambda: laid(wide(), OTHER, rows="area"), "row labels"),
    (lambda: laid(wide(), wide().rename(columns={"c1": "d1"}), rows="area"), "column labels"),
    (lambda: laid([[1, 2]], cells="magnitude").units_behind(), "contributors"),
    (lambda: laid(tacit.read(PEOPLE), rows=["sex"], columns=["sex"]), "both in the rows"),
    (lambda: laid(tacit.read(PEOPLE)), "needs rows= and columns="),
    (lambda: laid(tacit.read(PEOPLE), columns=["sexe"]), "Did you mean 'sex'"),
    (lambda: laid(tacit.read(PEOPLE), columns=["area"], value="sex"), "not numeric"),
    (lambda: laid(tacit.Table.from_array([[1, 2]], totals=False), rows=["x"]), "no column 'x'"),
    (lambda: laid([[1, 2]]).layout.columns.pick(7), "no line 7"),
    (lambda: laid([[1, 2]]).layout.columns.pick({"column": "9"}), "no category"),
    (lambda: laid([[1, 2]]).layout.columns.pick({"sex": "9"}), "no column 'sex'"),
    (lambda: laid([[1, 2]]).layout.rearrange_cells(np.ones((1, 2)), ["x"], ["row"]), "no column 'x'"),
    (lambda: laid(pd.DataFrame({"a": [1, 1], "b": [2, 2], "n": [3, 4]}), rows=["a"], columns=["b"], value="n"), "listed twice"),
    (lambda: laid(pd.DataFrame({"a": [1], "n": [3]}), rows=["a"], value="n"), "needs columns="),
    (lambda: laid(pd.DataFrame({"a": ["T"], "b": ["T"], "n": [3]}), rows=["a"], columns=["b"], value="n", total="T"), "nothing but totals"),
]  # fmt: skip


@pytest.mark.parametrize(("action", "words"), REFUSED, ids=[w for _, w in REFUSED])
def test_refusals_are_one_sentence(action, words):
    with pytest.raises((InputError, ColumnNotFound), match=words) as refused:
        action()
    assert len(str(refused.value)) < 300
