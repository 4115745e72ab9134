"""Tables that stay in memory give what the engine gives."""

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.data.fingerprint import fingerprint
from tacit.data.paired import shared_positions
from tacit.engine.duckdb import DuckDbEngine
from tacit.engine.memory import held_table
from tacit.io import Options
from tacit.io.text import column_kind, infer, infer_kinds
from tacit.records.generalisation import entropy_distortion, precision

COLUMNS = {
    "whole": ["1", "-2", "0", "30"],
    "marked": ["1", "NA", ".", None],
    "number": ["1", "2.5", "-.5", "1e3"],
    "late": ["1"] * 3 + ["x"],
    "zeros": ["01", "2", "3", "4"],
    "plus": ["+1", "2", "3", "4"],
    "marks alone": ["NA", "NaN", ".", None],
    "nothing": [None] * 4,
    "huge": ["1e400", "1", "2", "3"],
    "line": ["1\n", "2", "3", "4"],
    "digits": ["1234567890123456789", "2", "3", "4"],
}


@pytest.mark.parametrize("times", [1, 3000])
def test_types_are_inferred_alike(times):
    table = pa.table({n: pa.array(v * times, pa.string()) for n, v in COLUMNS.items()})
    held = tacit.read(table).frame
    assert held_table(held) is not None
    lazy = held.with_columns(nw.col("whole").str.slice(0))
    assert held_table(lazy) is None
    names = list(COLUMNS)
    assert infer_kinds(held, names, {}) == infer_kinds(lazy, names, {})
    engine = tacit.read(table).engine
    both = [
        engine.to_arrow(infer(f, names, Options(), engine)).sort_by("whole") for f in (held, lazy)
    ]
    assert both[0].schema.types == both[1].schema.types
    assert column_kind(table.column("late")) == "text"


def test_what_is_read_stays_in_memory_and_is_put_right():
    data = tacit.read(
        pa.table(
            {
                "x": [0.0, -0.0, float("nan"), 1.5],
                "i": pa.array([1, 2, 3, 4], pa.int16()),
                "f": pa.array([1, 2, 3, 4], pa.float32()),
            }
        )
    )
    held = held_table(data.frame)
    assert held is not None
    assert held.column("x").to_pylist() == [0.0, 0.0, None, 1.5]
    assert not np.signbit(held.column("x")[1].as_py())
    assert held.schema.field("i").type == pa.int64()
    assert held.schema.field("f").type == pa.float64()


def people(engine):
    rng = np.random.default_rng(5)
    n = 5000
    return tacit.read(
        {
            "a": rng.choice(["x", "y", "z"], n),
            "b": rng.integers(0, 40, n),
            "t": [f"p{i}" for i in range(n)],
            "v": rng.normal(size=n),
        },
        keys=["a", "b"],
        hierarchies={"a": tacit.hierarchy.flat(), "b": tacit.hierarchy.intervals([5, 20])},
        engine=engine,
    )


def test_records_are_scrambled_alike_in_memory_and_in_files():
    here = tacit.Scramble().apply(people("duckdb"), seed=3)
    engine = DuckDbEngine()
    engine._scratch.in_memory = 1 << 10
    data = people(engine)
    there = tacit.Scramble().apply(
        data.with_frame(data.frame.with_columns(nw.col("b") + 0)), seed=3
    )
    assert fingerprint(here) == fingerprint(there)
    assert here.column("t").to_pylist() != people("duckdb").column("t").to_pylist()
    engine.close()


@pytest.mark.parametrize("step", [tacit.Datafly(k=5), tacit.Generalise(columns=["b"], level=1)])
def test_measures_of_values_agree_in_memory_and_on_the_engine(step, monkeypatch):
    original = people("duckdb")
    released = step.apply(original)
    found = [m.measure(released, original=original) for m in MEASURES]
    for module in (precision, entropy_distortion):
        monkeypatch.setattr(module, "pair_values", lambda *_: None)
    again = [m.measure(released, original=original) for m in MEASURES]
    for one, two in zip(found, again, strict=True):
        assert one.numbers == pytest.approx(two.numbers)


MEASURES = (tacit.Precision(), tacit.EntropyDistortion())


def test_shared_positions():
    old, new = np.array([1, 3, 5, 9]), np.array([0, 3, 9, 12])
    assert [p.tolist() for p in shared_positions(old, new)] == [[1, 3], [1, 2]]
    assert [p.tolist() for p in shared_positions(old, np.zeros(0, dtype=np.int64))] == [[], []]
    assert [p.tolist() for p in shared_positions(np.zeros(0, dtype=np.int64), new)] == [[], []]
