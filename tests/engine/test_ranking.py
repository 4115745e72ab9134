"""The largest rows of every group are the same by aggregate, by window and by sorting, on every engine."""

import numpy as np
import pyarrow as pa
import pytest

from tacit.engine.base import ROW
from tacit.engine.ranking import keep_largest, window_largest

TABLE = pa.table(
    {
        "a": ["x", None, "x", "x", None, 'q"', "x", "x"],
        "b": [1, 2, 1, 1, 2, 3, 1, None],
        "v": [5.0, 2.0, 7.0, 5.0, 2.0, 6.0, 5.0, 1.0],
        "note": ["p", None, "q", "r", "s", None, "t", "u"],
    }
)


def picked(frame):
    table = frame.collect("pyarrow").to_native()
    assert table.column_names == ["a", "b", "v", "note", ROW]
    return sorted((r[ROW], r["a"], r["b"], r["v"], r["note"]) for r in table.to_pylist())


@pytest.fixture
def frame(engine):
    return engine.number_rows(engine.from_arrow(TABLE))


def test_ties_go_to_the_smaller_row_and_a_null_key_is_a_group(frame):
    # Group (x, 1) has 7 and three fives; group (None, 2) two twos, and both stay.
    rows = [row[0] for row in picked(keep_largest(frame, ["a", "b"], "v", 2))]
    numbers = sorted(frame.collect("pyarrow").get_column(ROW).to_list())
    assert rows == [numbers[i] for i in (0, 1, 2, 4, 5, 7)]


@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_aggregate_and_window_agree(frame, n):
    found = picked(keep_largest(frame, ["a", "b"], "v", n))
    assert found == picked(window_largest(frame, ["a", "b"], "v", n))


def test_against_sorting_with_many_ties(engine):
    rng = np.random.default_rng(3)
    table = pa.table(
        {"a": rng.integers(0, 7, 500), "b": rng.integers(0, 3, 500), "v": rng.integers(0, 5, 500)}
    ).append_column("note", pa.array(["n"] * 500))
    frame = engine.number_rows(engine.from_arrow(table))
    held = frame.collect("pyarrow").to_native().sort_by(ROW)
    row, a, b, v = (held.column(c).to_numpy() for c in (ROW, "a", "b", "v"))
    expected = []
    for group in {*zip(a, b, strict=True)}:
        mine = np.flatnonzero((a == group[0]) & (b == group[1]))
        expected += row[mine[np.lexsort((row[mine], -v[mine]))[:3]]].tolist()
    found = keep_largest(frame, ["a", "b"], "v", 3)
    assert [r[0] for r in picked(found)] == sorted(expected)
