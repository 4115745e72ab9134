import datetime as dt
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import Infeasible, InputError
from tacit.records.identifiers.substitute import substitute_values, template


def rng():
    return np.random.default_rng(5)


@settings(max_examples=80, deadline=None)
@given(
    st.sets(
        st.one_of(
            st.from_regex(r"[0-9]{3}-[0-9]{2}", fullmatch=True),
            st.from_regex(r"[A-Z][a-zé]{3,6} [0-9]{2}", fullmatch=True),
        ),
        max_size=30,
    )
)
def test_one_to_one_same_format_nothing_old(values):
    old = pa.array(sorted(values), pa.string())
    new = substitute_values(old, rng(), "x").to_pylist()
    assert len(set(new)) == len(new)
    assert not set(new) & values
    assert [template(t) for t in new] == [template(t) for t in old.to_pylist()]


@settings(max_examples=40, deadline=None)
@given(st.sets(st.integers(-10_000, 10_000).filter(lambda v: abs(v) > 99), max_size=20))
def test_whole_numbers_keep_sign_and_length(values):
    old = pa.array(sorted(values), pa.int32())
    new = substitute_values(old, rng(), "x")
    assert new.type == pa.int32()
    assert [len(str(a)) for a in new.to_pylist()] == [len(str(a)) for a in old.to_pylist()]


def test_tight_space_is_used_to_the_last_value():
    new = substitute_values(pa.array([str(i) for i in range(5)]), rng(), "x").to_pylist()
    assert sorted(new) == ["5", "6", "7", "8", "9"]


@pytest.mark.parametrize("values", [[str(i) for i in range(6)], ["-"], [""]])
def test_refused_when_the_format_has_too_few_values(values):
    with pytest.raises(Infeasible):
        substitute_values(pa.array(values), rng(), "x")


def test_spec(engine):
    data = tacit.read(
        {"id": ["A1b", "C2d", None, "A1b"], "n": [123, 456, 789, 123]},
        identifiers=["id", "n"],
        engine=engine,
    )
    result = tacit.Substitute(columns=("id", "n")).apply(data, seed=1)
    new = result.column("id").to_pylist()
    assert new[2] is None
    assert new[0] == new[3]
    assert result.identifiers == ()
    assert Counter(data.identifiers) == Counter(["id", "n"])
    again = tacit.Substitute(columns=("id", "n")).apply(data, seed=1)
    assert again.to_arrow() == result.to_arrow()
    assert tacit.Substitute(columns=("id",)).apply(data, seed=2).column("id").to_pylist() != new


def test_other_types_are_refused():
    with pytest.raises(InputError):
        tacit.Substitute(columns=("d",)).apply(tacit.read({"d": [dt.date(2020, 1, 1)]}))
