"""Every relational step gives the same answer on every engine, nulls and unicode included."""

import narwhals.stable.v2 as nw
import pyarrow as pa
import pytest

from tacit.engine import relational
from tacit.engine.base import ROW
from tacit.engine.codes import cells

TABLE = pa.table(
    {
        "a": ["x", None, "y", "x", None, "ß", "x", "日"],
        "b": [1, 2, None, 1, 2, 3, None, 3],
        "w": [1.0, 2.0, 3.5, 4.0, 0.5, 6.0, 7.0, 8.0],
        "s": ["p", "q", None, "q", "q", "p", None, "p"],
    }
)


@pytest.fixture
def frame(engine):
    return engine.number_rows(engine.from_arrow(TABLE))


def rows(frame, *order):
    table = frame.collect("pyarrow").to_native()
    return sorted(
        (tuple(r.values()) for r in table.to_pylist()),
        key=lambda r: tuple((v is None, str(v)) for v in r),
    )


def test_counts(frame):
    assert rows(relational.counts(frame, ["a", "b"], "w")) == [
        ("x", 1, 2, 5.0), ("x", None, 1, 7.0), ("y", None, 1, 3.5), ("ß", 3, 1, 6.0), ("日", 3, 1, 8.0), (None, 2, 2, 2.5),
    ]  # fmt: skip


def test_attach_counts(frame):
    attached = relational.attach_counts(frame, ["a", "b"]).sort(ROW).collect("pyarrow")
    assert attached.get_column(relational.N).to_list() == [2, 2, 1, 2, 2, 1, 1, 1]


def test_distinct_is_sorted_and_without_null(frame):
    assert relational.fetch_distinct(frame, "b").to_pylist() == [1, 2, 3]
    assert relational.fetch_distinct(frame, "a").to_pylist() == sorted({"x", "y", "ß", "日"})


def test_recode_keeps_null_and_column_order(frame, engine):
    mapping = pa.table({"old": ["x", "y", "ß", "日"], "new": ["A", "A", "B", "B"]})
    recoded = relational.recode(frame, "a", mapping, engine).sort(ROW).collect("pyarrow")
    assert recoded.get_column("a").to_list() == ["A", None, "A", "A", None, "B", "A", "B"]
    assert recoded.columns == frame.collect_schema().names()


def test_distinct_per_class_counts_null_as_a_value(frame):
    found = rows(relational.distinct_per_class(frame, ["b"], "s"))
    assert found == [(1, 2, 2), (2, 1, 2), (3, 1, 2), (None, 1, 2)]


def test_cells_are_in_a_fixed_order(frame):
    found = cells(frame, ["a", "b"], "w")
    assert found.n.tolist() == [2, 1, 1, 1, 1, 2]
    assert found.keys["a"].decode().to_pylist() == ["x", "x", "y", "ß", "日", None]
    assert found.weight.tolist() == [5.0, 7.0, 3.5, 6.0, 8.0, 2.5]


def test_numbers_of_rows_follow_the_order_given(frame):
    assert (
        frame.sort(ROW).collect("pyarrow").get_column("w").to_list()
        == TABLE.column("w").to_pylist()
    )


def test_parquet_written_and_scanned_again(frame, engine, tmp_path):
    target = tmp_path / "part.parquet"
    engine.write_parquet(frame.select("a", "b", "w"), target)
    again = engine.scan_parquet(target)
    assert rows(again.select("a", "b", "w")) == rows(frame.select("a", "b", "w"))
    assert again.select(nw.col(ROW).n_unique()).collect("pyarrow").item() == len(TABLE)


def test_without_drops_key_tuples_and_a_null_equals_a_null(frame, engine):
    gone = pa.table({"a": pa.array([None, "ß", "x"]), "b": pa.array([2, 3, None], pa.int64())})
    left = relational.drop_matching(frame, ["a", "b"], gone, engine).sort(ROW).collect("pyarrow")
    assert left.get_column("w").to_list() == [1.0, 3.5, 4.0, 8.0]
    assert left.columns == frame.collect_schema().names()
    plain = pa.table({"a": ["y"], "s": ["p"]})
    assert len(
        relational.drop_matching(frame, ["a", "s"], plain, engine).collect("pyarrow")
    ) == len(TABLE)
