"""Queries on the release: nobody is missed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import ColumnNotFound, InputError
from tacit.records.channels.query import query
from tacit.records.channels.table import ChannelTable

COLUMNS = {
    "name": [f"n{i}" for i in range(12)],
    "bp": ["H", "H", "H", "L", "L", "L", "N", "N", "N", "N", "N", "N"],
    "age": [50, 50, 50, 50, 50, 60, 60, 60, 60, 60, 60, 60],
    "ill": ["x", "x", None, None, None, None, "x", None, None, None, None, None],
}
STUDY = tacit.ChannelExpansion(related=["bp", "age"], confidential="ill", u={"x": 0.4})


@pytest.fixture
def data():
    return tacit.read(COLUMNS, identifiers="name")


@pytest.mark.parametrize(
    "rule", ["bp == 'H'", "bp == 'N'", "age >= 60", "bp in ['H', 'L']", "age < 0"]
)
def test_rules_return_a_superset(rule, data, rows):
    answer = STUDY.solve(data)
    found = answer.query(rule)
    assert found.recall == 1
    assert found.returned == found.true + found.spurious
    released = STUDY.apply(data, seed=3)
    returned = {name for (name,) in rows(query(released, rule), ["name"])}
    assert len(returned) == found.returned
    true = [
        name
        for name, bp, age in zip(COLUMNS["name"], COLUMNS["bp"], COLUMNS["age"], strict=True)
        if eval(rule, {"bp": bp, "age": age})
    ]
    assert returned.issuperset(true)
    assert found.true == len(true)


def test_channels_by_number(data):
    found = STUDY.solve(data).query(channels=[1])
    assert (found.returned, found.true, found.spurious) == (5, 3, 2)
    assert found.precision == pytest.approx(0.6)
    assert "spurious   2" in repr(found)


@settings(max_examples=30, deadline=None)
@given(
    st.sets(st.integers(1, 4), min_size=1),
    st.lists(st.sets(st.integers(1, 4), min_size=1), max_size=3),
)
def test_recall_is_one_for_any_assignment(wanted, sets):
    table = ChannelTable.of([5, 4, 3, 2], [[1], [0], [1], [0]], ["x"])
    seen, disjoint = set(), []
    for members in sets:
        if members - seen:
            disjoint.append(sorted(members - seen))
            seen |= members
    study = tacit.ChannelExpansion(related=["channel"], confidential="v", u={"x": 0.9})
    found = study.evaluate(table, disjoint).query(channels=sorted(wanted))
    assert found.recall == 1
    assert found.spurious >= 0


def test_bad_questions(data):
    answer = STUDY.solve(data)
    with pytest.raises(
        InputError, match="a rule on the related columns, or channels, and not both"
    ):
        answer.query()
    with pytest.raises(InputError, match="no input channel 9; they are numbered 1 to"):
        answer.query(channels=[9])
    with pytest.raises(ColumnNotFound):
        answer.query("ill == 'x'")
    with pytest.raises(InputError, match="no release by channel expansion"):
        query(data, "bp == 'H'")
