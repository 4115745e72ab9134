"""Which columns identify: distinction and separation by counting pairs, and the Safe Harbor rule column by column."""

import datetime as dt
import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import RoleMissing
from tacit.records.identifiers.columns.quasi_identifier_search import tell_apart


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=20))
def test_distinction_and_separation_by_counting(rows):
    data = tacit.read({f"c{i}": list(c) for i, c in enumerate(zip(*rows, strict=True))})
    found = tacit.QuasiIdentifierSearch(distinction=0.3, separation=0.5).measure(data)
    reaching = []
    for size in (1, 2, 3):
        for s in itertools.combinations(range(3), size):
            seen = [tuple(r[i] for i in s) for r in rows]
            pairs = list(itertools.combinations(seen, 2))
            distinct, apart = len(set(seen)) / len(rows), sum(a != b for a, b in pairs) / len(pairs)
            assert found.sets[tuple(f"c{i}" for i in s)] == pytest.approx((distinct, apart))
            if (
                distinct >= 0.3
                and apart >= 0.5 - 1e-12
                and not any(set(r) < set(s) for r in reaching)
            ):
                reaching.append(s)
    assert found.minimal == tuple(tuple(f"c{i}" for i in s) for s in reaching)
    assert found.value == max(d for d, _ in found.sets.values())


def test_the_search_leaves_out_roles_that_are_no_keys():
    table = pa.table({"id": [1, 2, 3], "w": [1.0, 2.0, 3.0], "sex": ["f", "m", "m"]})
    data = tacit.read(table, identifiers=["id"], weight="w")
    assert list(tacit.QuasiIdentifierSearch().measure(data).sets) == [("sex",)]
    assert "separation" in tacit.QuasiIdentifierSearch().measure(data).plot().alt
    with pytest.raises(RoleMissing, match="no column to look at"):
        tacit.QuasiIdentifierSearch().measure(tacit.read(table.select(["id"]), identifiers=["id"]))


def test_large_classes_do_not_overflow():
    import numpy as np

    half = 3_000_000_000
    assert tell_apart(np.array([half, half])) == (2 / (2 * half), pytest.approx(0.5))


COLUMNS = {
    "patientName": (["Ann", "Bob", "Bob"], "A"),
    "UTILNAME": (["x", "y", "y"], "A"),
    "ethnicity": (["x", "y", "y"], ""),
    "City": (["x", "y", "y"], "B"),
    "zip": (["02138", "02139", "02139"], "B"),
    "zip_small": (["036", "021", "021"], "B"),
    "zip_coarse": (["021", "000", "000"], ""),
    "born": ([dt.date(1990, 1, 2)] * 3, "C"),
    "note": (["seen on 2024-03-01", "no", "no"], "C"),
    "day": (["31.12.1999", "1.1.00", "1.1.00"], "C"),
    "birth": ([1950, 1951, 1951], ""),
    "birth_month": (["1950-01", "1951-02", "1951-02"], "C"),
    "age": ([40, 91, 91], "C"),
    "age_fine": ([40, 89, 89], ""),
    "contact": (["(617) 555-0100", "none", "none"], "D"),
    "FAX": (["1", "2", "2"], "E"),
    "reach": (["a.b@example.org", "none", "none"], "F"),
    "number": (["078-05-1120", "none", "none"], "G"),
    "medical_record": ([7, 8, 8], "H"),
    "member_id": ([7, 8, 8], "IR"),
    "account_no": ([7, 8, 8], "J"),
    "driver_license": ([7, 8, 8], "K"),
    "car": (["1HGCM82633A004352", "none", "none"], "L"),
    "serial": ([7, 8, 8], "M"),
    "page": (["see https://example.org/me", "none", "none"], "N"),
    "host": (["192.0.2.17", "none", "none"], "O"),
    "fingerprint": ([7, 8, 8], "P"),
    "photo": ([7, 8, 8], "Q"),
    "code": ([7, 8, 9], "R"),
    "income": ([7.5, 8.5, 9.5], ""),
    "sex": (["f", "m", "m"], ""),
    "stage": (["i", "ii", "ii"], ""),
    "version": (["1.2.3", "2.0.1", "2.0.1"], ""),
}


@pytest.mark.parametrize("column", COLUMNS)
def test_each_identifier_of_the_rule(column):
    values, letters = COLUMNS[column]
    found = tacit.SafeHarbor().measure(tacit.read(pa.table({column: values})))
    assert "".join(sorted({f.letter for f in found.findings})) == letters
    assert bool(found.shortfall) == bool(letters)


def test_the_check_says_what_it_cannot_see_and_shows_no_value():
    table = pa.table({c: v for c, (v, _) in COLUMNS.items()} | {"sex2": ["f", "m", "m"]})
    data = tacit.read(table, identifiers=["sex2"])
    found = tacit.SafeHarbor().measure(data)
    assert "cannot see" in found.explanation
    assert "sex2" in found.columns
    shown = repr(found) + str(found.frame.rows()) + found.shortfall
    assert not any(str(v) in shown for v in ("Ann", "02138", "078-05-1120", "192.0.2.17"))
    assert tacit.SafeHarbor(columns=["sex"]).measure(data).value == 0
    assert "names" in found.plot().alt
