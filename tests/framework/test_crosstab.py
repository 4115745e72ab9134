"""Tables from arrays, frames, files and microdata."""

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError
from tacit.tables.compare import cross_classify, crosstab

PEOPLE = {
    "area": ["b", "a", "a", None, "b", "b"],
    "sex": ["f", "m", "f", "f", "f", "f"],
    "age": [1, 2, 1, 1, 1, 2],
    "pay": [10.0, 20.0, 30.0, 40.0, 50.0, None],
}


def wide():
    return pd.DataFrame({"area": ["x", "y"], "c1": [1, 4], "c2": [2, 5], "c3": [3, 6]})


def test_array():
    table = crosstab([[1, 2], [3, 4]])
    assert table.shape == (2, 2)
    assert table.rows.labels() == ["1", "2"]
    assert table.suppressed is None
    holes = crosstab([[1, float("nan")], [3, 4]], suppressed=[[True, False], [False, False]])
    assert holes.suppressed.tolist() == [[True, True], [False, False]]
    assert holes.cells.tolist() == [[0, 0], [3, 4]]
    assert crosstab([1, 2, 3]).shape == (1, 3)


def test_declared_variables():
    table = crosstab(
        np.arange(12).reshape(2, 6), rows={"area": 2}, columns={"sex": ["f", "m"], "age": 3}
    )
    assert table.columns.labels()[:4] == ["f / 1", "f / 2", "f / 3", "m / 1"]
    turned = table.arranged(["sex"], ["area"])
    assert turned.cells.tolist() == [[0 + 1 + 2, 6 + 7 + 8], [3 + 4 + 5, 9 + 10 + 11]]
    assert crosstab(table, rows=["sex"]).variables == ("sex", "area", "age")
    assert table.columns.pick({"sex": "m", "age": [1, 3]}).tolist() == [False] * 3 + [
        True,
        False,
        True,
    ]
    assert table.columns.pick(["f / 2", 5]).sum() == 2


def test_wide_and_long_frames_and_files_agree(tmp_path):
    frame = wide()
    long = frame.melt("area", var_name="column", value_name="n")
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    first = crosstab(frame, rows="area")
    for other in (
        crosstab(tmp_path / "t.csv", rows="area"),
        crosstab(tmp_path / "t.xlsx", rows="area"),
        crosstab(long.sample(frac=1, random_state=1), rows=["area"], columns=["column"], value="n"),
    ):
        assert other.aligned(first).cells.tolist() == [[1, 2, 3], [4, 5, 6]]
        assert other.columns.labels() == ["c1", "c2", "c3"]


def test_margins_and_marks_in_a_file(tmp_path):
    (tmp_path / "t.csv").write_text("area,c1,c2,all\nx,1,..,9\ny,4,5,..\nall,5,7,12\n")
    table = crosstab(tmp_path / "t.csv", rows="area", total="all", marks=[".."])
    assert table.cells.tolist() == [[1, 0], [4, 5]]
    assert table.suppressed.tolist() == [[False, True], [False, False]]
    assert table.row_totals.tolist()[0] == 9
    assert np.isnan(table.row_totals[1])
    assert table.column_totals.tolist() == [5, 7]
    assert table.rows.is_full


def test_margins_in_long_form():
    frame = pd.DataFrame(
        {"a": ["x", "x", "T", "T"], "b": ["p", "T", "p", "T"], "n": [3, 4, 5, 9], "k": [1, 1, 1, 1]}
    )
    table = crosstab(frame, rows=["a"], columns=["b"], value="n", contributors="k", total="T")
    assert table.cells.tolist() == [[3]]
    assert table.row_totals.tolist() == [4]
    assert table.column_totals.tolist() == [5]
    assert table.kind == "magnitude"
    assert table.units().tolist() == [[1]]


def test_microdata(engine):
    data = tacit.read(PEOPLE, engine=engine)
    table = crosstab(data, rows=["area"], columns=["sex", "age"])
    assert table.rows.labels() == ["a", "b", "(missing)"]
    assert table.columns.labels() == ["f / 1", "f / 2", "m / 1", "m / 2"]
    assert table.cells.tolist() == [[1, 0, 0, 1], [2, 1, 0, 0], [1, 0, 0, 0]]
    sums = crosstab(data, rows=["area"], columns=["sex"], value="pay")
    assert sums.cells.tolist() == [[30, 20], [60, 0], [40, 0]]
    assert sums.contributors.tolist() == [[1, 1], [3, 0], [1, 0]]
    assert sums.kind == "magnitude"


def test_microdata_share_one_layout():
    one = tacit.read({"a": ["x", "y"], "b": [1, 2]})
    two = tacit.read({"a": ["y", "z"], "b": [2, 3]})
    first, second = cross_classify([one, two], ["a"], ["b"])
    assert first.rows.labels() == ["x", "y", "z"]
    assert first.cells.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert second.cells.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    alone = cross_classify([one], (), ["a", "b"])[0]
    assert alone.cells.tolist() == [[1, 0, 0, 1]]


def test_aligned_puts_lines_in_order():
    first = crosstab(wide(), rows="area")
    turned = crosstab(wide().iloc[::-1][["c3", "area", "c1", "c2"]], rows="area")
    assert turned.cells[0, 0] == 6
    assert turned.aligned(first).cells.tolist() == first.cells.tolist()


REFUSED = [
    (lambda: crosstab([[1, -2]]), "must not be negative"),
    (lambda: crosstab([["a", "b"]]), "must be numbers"),
    (lambda: crosstab([[1, float("inf")]]), "finite"),
    (lambda: crosstab([[]]), "no cells"),
    (lambda: crosstab([[1, 2]], columns={"sex": 3}), "multiply to 3"),
    (lambda: crosstab([[1, 2]], columns=["sex", "age"]), "numbers of categories"),
    (lambda: crosstab([[1, 2]], suppressed=[[True]]), "another shape"),
    (lambda: crosstab([[1, 2]], contributors=[[1]]), "another shape"),
    (lambda: crosstab([[1, 2]], row_totals=[1, 2]), "margin has 2"),
    (lambda: crosstab([[1, 2]], row_totals=[-1]), "must not be negative"),
    (lambda: crosstab(wide()), "not numbers"),
    (lambda: crosstab(wide(), rows="aera"), "Did you mean 'area'"),
    (lambda: crosstab(pd.concat([wide(), wide()]), rows="area"), "same labels"),
    (lambda: crosstab([[1, 2]]).aligned(crosstab([[1, 2, 3]])), "differ in shape"),
    (lambda: crosstab(wide(), rows="area").aligned(crosstab([[1, 2, 3], [4, 5, 6]])), "row labels"),
    (lambda: crosstab([[1, 2]], kind="magnitude").units(), "contributors"),
    (lambda: crosstab(tacit.read(PEOPLE), rows=["sex"], columns=["sex"]), "both in the rows"),
    (lambda: crosstab(tacit.read(PEOPLE)), "needs rows= and columns="),
    (lambda: crosstab(tacit.read(PEOPLE), columns=["sexe"]), "Did you mean 'sex'"),
    (lambda: crosstab(tacit.read(PEOPLE), columns=["area"], value="sex"), "not numeric"),
    (lambda: crosstab([[1, 2]]).columns.pick(7), "no line 7"),
    (lambda: crosstab([[1, 2]]).columns.pick({"column": "9"}), "no category"),
    (lambda: crosstab([[1, 2]]).columns.pick({"sex": "9"}), "no column 'sex'"),
    (lambda: crosstab([[1, 2]]).arranged(["x"], ["row"]), "no column 'x'"),
    (lambda: crosstab(pd.DataFrame({"a": [1, 1], "b": [2, 2], "n": [3, 4]}), rows=["a"], columns=["b"], value="n"), "listed twice"),
    (lambda: crosstab(pd.DataFrame({"a": [1], "n": [3]}), rows=["a"], value="n"), "needs columns="),
    (lambda: crosstab(pd.DataFrame({"a": ["T"], "b": ["T"], "n": [3]}), rows=["a"], columns=["b"], value="n", total="T"), "nothing but totals"),
]  # fmt: skip


@pytest.mark.parametrize(("action", "words"), REFUSED, ids=[w for _, w in REFUSED])
def test_refusals_are_one_sentence(action, words):
    with pytest.raises((InputError, ColumnNotFound), match=words) as refused:
        action()
    assert len(str(refused.value)) < 300
