"""Microdata: whole columns replaced and records taken, without fetching what stays as it is."""

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.engine.base import ROW
from tacit.engine.memory import ROUND_TRIPS, held_table
from tacit.errors import InputError

TABLE = pa.table({"a": ["x", "y", None, "z"], "b": [4, 3, 2, 1], "c": [0.5, None, 2.5, 3.5]})


@pytest.fixture(params=["lazy", "materialised"])
def data(engine, request):
    read = tacit.read(TABLE, keys=["a"], engine=engine.name)
    # A frame that sorts the other way round: the row number alone says what the order is.
    turned = read.with_frame(read.frame.sort(ROW, descending=True))
    return turned.materialise() if request.param == "materialised" else turned


def test_replace_keeps_order_columns_and_roles(data):
    new = data.replace({"b": np.array([10, 20, 30, 40]), "d": pa.array([True, None, False, True])})
    assert list(new.columns) == ["a", "b", "c", "d"]
    assert new.keys == ("a",)
    assert new.to_arrow().to_pydict() == {
        "a": ["x", "y", None, "z"],
        "b": [10, 20, 30, 40],
        "c": [0.5, None, 2.5, 3.5],
        "d": [True, None, False, True],
    }
    assert data.to_arrow().equals(tacit.read(TABLE).to_arrow())


def test_replace_of_every_column(data):
    new = data.replace(
        {"c": pa.array([1.0, 2.0, 3.0, None]), "a": pa.array(list("pqrs")), "b": [0] * 4}
    )
    assert new.to_arrow().to_pydict() == {
        "a": list("pqrs"),
        "b": [0] * 4,
        "c": [1.0, 2.0, 3.0, None],
    }


def test_replace_after_a_filter_counts_the_records_that_are_left(data):
    left = data.take(np.array([0, 2, 3]))
    assert left.replace({"b": [7, 8, 9]}).to_arrow(["a", "b"]).to_pydict() == {
        "a": ["x", None, "z"],
        "b": [7, 8, 9],
    }
    with pytest.raises(InputError, match="column 'b': 4 values for 3 records"):
        left.replace({"b": [1, 2, 3, 4]})


def test_take_keeps_numbers_and_repeats(data):
    numbers = data.to_arrow([], with_row=True).column(ROW).to_pylist()
    taken = data.take(np.array([3, 1, 1])).to_arrow(with_row=True)
    assert taken.column("b").to_pylist() == [3, 3, 1]
    assert taken.column(ROW).to_pylist() == [numbers[i] for i in (1, 1, 3)]


def test_replace_does_not_fetch_what_stays(engine, monkeypatch):
    data = tacit.read(TABLE, engine=engine.name)
    fetched = []
    fetch = type(engine).to_arrow
    monkeypatch.setattr(
        type(engine),
        "to_arrow",
        lambda self, frame: fetched.append(frame.collect_schema().names()) or fetch(self, frame),
    )
    data.replace({"b": [5, 6, 7, 8]})
    assert fetched in ([], [[ROW]])


def test_a_table_stands_for_its_frame_only_while_types_are_kept(engine):
    coded = TABLE.set_column(0, "a", TABLE.column("a").dictionary_encode())
    assert held_table(engine.from_arrow(coded)) is None
    data = tacit.read(coded, engine=engine.name).materialise().replace({"b": [1, 1, 1, 1]})
    assert data.column("a").to_pylist() == ["x", "y", None, "z"]


def test_types_that_stand_for_a_frame_come_back_as_they_went():
    table = pa.table({f"c{i}": pa.array([None, None], t) for i, t in enumerate(ROUND_TRIPS)})
    engine = tacit.get_engine("duckdb")
    frame = engine.from_arrow(table)
    assert held_table(frame) is table
    assert engine.to_arrow(frame).schema.equals(table.schema)


def test_recode_where_the_table_is_not_in_order(data):
    mixed = data.with_table(data.to_arrow(with_row=True).take(pa.array([2, 0, 3, 1])))
    recoded = mixed.recode("a", pa.table({"old": ["x", "y", "z"], "new": ["1", "2", "3"]}))
    assert recoded.to_arrow(["a", "b"]).to_pydict() == {
        "a": ["1", "2", None, "3"],
        "b": [4, 3, 2, 1],
    }


def test_a_column_that_is_asked_for_twice_is_there_once():
    data = tacit.read({"a": [1.0, 2.0], "b": ["x", "y"]})
    assert data.to_arrow(["a", "b", "a"]).column_names == ["a", "b"]
