"""Explicit identifiers."""

import pyarrow as pa
import pytest

import tacit
from tacit.errors import ColumnNotFound


def people(engine="duckdb"):
    return tacit.read(
        pa.table({"mail": ["a", "b", "c", None], "tel": [1, 1, 2, 3], "who": ["p", "q", "r", "s"]}),
        identifiers=["mail"],
        keys=["tel"],
        engine=engine,
    )


def test_reach_by_hand(engine):
    result = tacit.ExplicitIdentifier(sets=[("mail",), ("tel",)]).measure(people(engine))
    mail, tel = result.frame.rows(named=True)
    assert (mail["mean"], mail["deviation"], mail["share"], mail["coverage"]) == (1, 0, 0.75, 0.75)
    assert tel["mean"] == pytest.approx(4 / 3)
    assert tel["deviation"] == pytest.approx((2 / 9) ** 0.5)
    assert tel["share"] == 0.5
    assert result.explicit == (("mail",),)
    assert result.quasi == (("tel",),)


def test_several_records_of_one_person_count_once(engine):
    twice = tacit.read(pa.table({"mail": ["a", "a", "b"], "who": ["p", "p", "q"]}), engine=engine)
    by_record = tacit.ExplicitIdentifier(sets=[("mail",)]).measure(twice)
    by_person = tacit.ExplicitIdentifier(sets=[("mail",)], entity="who").measure(twice)
    assert by_record.explicit == ()
    assert by_person.explicit == (("mail",),)
    assert by_person.numbers["people"] == 2


def test_usual_sets_and_a_register():
    result = tacit.ExplicitIdentifier().measure(people())
    assert [tuple(i.columns) for i in result.identifiers] == [("mail",), ("tel",), ("mail", "tel")]
    bigger = tacit.read({"mail": ["a", "a", "b"], "tel": [1, 2, 3]})
    assert (
        tacit.ExplicitIdentifier(sets=[("mail",)]).measure(people(), register=bigger).explicit == ()
    )
    with pytest.raises(ColumnNotFound, match="the register"):
        tacit.ExplicitIdentifier(sets=[("who",)]).measure(people(), register=bigger)


def test_no_records():
    empty = tacit.read(pa.table({"mail": pa.array([], pa.string())}))
    result = tacit.ExplicitIdentifier(sets=[("mail",)]).measure(empty)
    assert result.value == 0
    assert result.explicit == ()
