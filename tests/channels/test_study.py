"""Input channels from microdata, and answers in the words of the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import ColumnNotFound, InputError
from tacit.records.channels.study import parse_proposal
from tacit.records.channels.table import ChannelTable, group

PEOPLE = {
    "site": ["b", "a", "b", None, "a", "b"],
    "age": [40, 40, 40, 40, 30, 40],
    "ill": ["flu", None, "gout", "gout", "flu", "flu"],
    "more": [None, None, "mrsa", None, None, None],
}


def people(engine="duckdb", **columns):
    return tacit.read({**PEOPLE, **columns}, engine=engine)


def test_channels_are_numbered_by_first_appearance(engine):
    table = group(people(engine), ["site", "age"], ["ill"], ["gout"], na="category")
    assert table.texts == [("b", "40"), ("a", "40"), ("missing", "40"), ("a", "30")]
    assert table.m.tolist() == [3, 1, 1, 1]
    assert table.counts.tolist() == [[1], [0], [1], [0]]
    assert table.frame.columns == ["channel", "site", "age", "subjects", "count of gout"]


def test_several_confidential_columns_make_one_value(engine):
    table = group(people(engine), ["age"], ["ill", "more"], ["gout|mrsa", "gout"])
    assert table.counts.tolist() == [[1, 1], [0, 0]]


def test_missing_related_values_are_refused():
    with pytest.raises(InputError, match="related values are missing in 'site'; na='category'"):
        group(people(), ["site"], ["ill"], ["gout"])


def test_unknown_values_are_named_by_entry_and_nothing_of_the_data_is_quoted():
    with pytest.raises(InputError, match=r"u entry 2 names a value .* or leave it out$"):
        group(people(), ["age"], ["ill"], ["flu", "gouty"])


def test_unknown_columns():
    with pytest.raises(ColumnNotFound, match="Did you mean 'site'"):
        group(people(), ["sit"], ["ill"], ["flu"])


def test_codes_for_missing_answers_are_refused_unless_named():
    from dataclasses import replace

    data = people()
    coded = data.with_columns_described({"ill": replace(data.columns["ill"], missing=("flu",))})
    with pytest.raises(InputError, match="codes for missing answers"):
        group(coded, ["age"], ["ill"], ["gout"])
    assert group(coded, ["age"], ["ill"], ["flu"]).counts.tolist() == [[2], [1]]


def test_numbers_as_confidential_values():
    table = group(people(ill=[1, 2, 2, 1, 1, 3]), ["age"], ["ill"], ["2"])
    assert table.counts.tolist() == [[2], [0]]


@pytest.mark.parametrize(
    ("m", "counts", "message"),
    [
        ([2], [[3]], "input channel 1: the counts of its values add up to more"),
        ([2], [[1, 1]], "there are 1 values but 2 counts"),
        ([0], [[0]], "must be positive"),
    ],
)
def test_grouped_tables_are_checked(m, counts, message):
    with pytest.raises(InputError, match=message):
        ChannelTable.of(m, counts, ["x"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[]], "output channel 1 has no members"),
        ([[1], [7]], "output channel 2 names input channel 7; they are numbered 1 to 2"),
        ([{1: -1}], "negative number of subjects"),
        ([[1], {1: 1}], "input channel 1 gives away more subjects than it has"),
    ],
)
def test_proposals_are_checked(given, message):
    with pytest.raises(InputError, match=message):
        parse_proposal(ChannelTable.of([2, 3], [[0], [1]], ["x"]), given)


def test_a_proposal_may_split_and_name_without_giving():
    table = ChannelTable.of([4, 6, 5], [[2], [0], [0]], ["x"])
    study = tacit.ChannelExpansion(related=["channel"], confidential="x", u={"x": 0.3})
    judged = study.evaluate(table, [{1: 2, 2: 4, 3: 0}, {1: 2, 3: 5}])
    assert judged.sets == ((0, 1, 2), (0, 2), (1,))
    assert judged.assignment == {(1, 1): 2, (2, 1): 4, (1, 2): 2, (3, 2): 5, (2, 3): 2}
    assert judged.subjects.tolist() == [6, 7, 2]
    assert judged.cost == 6 * 15 + 7 * 9
    assert judged.composition.get_column("subjects").to_list() == [2, 4, 0, 2, 5, 2]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 12), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6
    )
)
def test_every_answer_is_safe_complete_and_no_better_than_its_bound(channels):
    m = np.array([n for n, _, _ in channels])
    first = np.array([round(n * p) for n, p, _ in channels])
    second = np.array([round((n - f) * q) for (n, _, q), f in zip(channels, first, strict=True)])
    table = ChannelTable.of(m, np.stack([first, second], axis=1), ["x", "y"])
    shares = table.counts.sum(axis=0) / m.sum()
    u = {v: float(min(1, s + 0.15)) for v, s in zip(table.values, shares, strict=True)}
    study = tacit.ChannelExpansion(related=["channel"], confidential="v", u=u)
    try:
        answer = study.solve(table)
    except InputError as error:
        assert "no input channel is safe" in str(error)
        return
    assert answer.safe
    assert answer.output_safe.all()
    assert np.asarray(answer.x.sum(axis=1)).tolist() == m.tolist()
    assert answer.cost >= answer.bound - 1e-6
    assert 0 <= answer.loss <= 1
