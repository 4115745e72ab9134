import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import DisclosureRefused, InputError, InvalidParameter
from tacit.records.classes.query_restriction import OVERLAP, isolates


def session(n=12, minimum=2, engine="duckdb"):
    data = tacit.read(
        {
            "i": list(range(n)),
            "x": [float(i) for i in range(n)],
            "y": [None, *range(1, n)],
            "t": ["a"] * n,
        },
        engine=engine,
    )
    return tacit.QueryRestriction(min_query_set=minimum).open(data)


def test_answers(engine):
    s = session(engine=engine)
    assert s.count() == 12
    assert s.count("i < 5") == 5
    assert s.sum("x", "i < 5") == 10.0
    assert s.sum("y", "1 <= i < 7") == 21
    assert s.mean("x") == 5.5


def test_difference_of_nested_sets_is_refused():
    s = session()
    s.count("i < 5")
    with pytest.raises(DisclosureRefused, match="earlier answers") as error:
        s.sum("x", "i < 6")
    assert "5" not in str(error.value)
    assert s.count("i < 7") == 7
    assert s.count("i < 5") == 5
    assert s.n_answered == 2


def test_a_tracker_of_three_queries_is_refused():
    s = session()
    s.count("i < 6")
    s.count("3 <= i < 9 or i == 0")
    assert s.ask("i < 9").allowed
    assert s.ask("3 <= i < 6 or i == 0").allowed
    s = session()
    s.count("i < 6")
    s.count("i >= 5 and i < 9")
    assert s.ask("i < 9").reason == OVERLAP


def test_missing_values_make_the_set_of_a_mean_smaller():
    s = session()
    s.sum("x")
    with pytest.raises(DisclosureRefused):
        s.mean("y")


def combination_exists(sets, minimum):
    """Is some nonzero combination of the rows zero outside fewer than ``minimum`` records?"""
    n = len(sets[0])
    rows = np.vstack([np.array(sets, dtype=float), np.ones(n)])
    rank = np.linalg.matrix_rank(rows)
    for size in range(1, minimum):
        for some in itertools.combinations(range(n), size):
            if np.linalg.matrix_rank(np.delete(rows, some, axis=1)) < rank:
                return True
    return False


@settings(max_examples=120, deadline=None)
@given(
    st.integers(3, 8).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=4)
    ),
    st.integers(2, 4),
)
def test_audit_against_brute_force(sets, minimum):
    flags = [np.array(s) for s in sets]
    assert isolates(flags, minimum) == combination_exists(sets, minimum)


def test_measure_and_faults():
    data = tacit.read({"i": list(range(10))})
    found = tacit.QueryRestriction(queries=("i < 5", "i < 6", "i < 1", "i < 9")).measure(data)
    assert found.frame["answer"].to_list() == ["allowed", "refused", "refused", "refused"]
    assert found.value == 0.75
    assert tacit.QueryRestriction().measure(data).value == 0
    with pytest.raises(InvalidParameter):
        tacit.QueryRestriction(queries=("i <",))
    with pytest.raises(InputError):
        tacit.QueryRestriction(queries=("j < 1",)).measure(data)
    with pytest.raises(InputError):
        session().sum("t")
