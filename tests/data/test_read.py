"""Roles, and what is refused when they do not fit the data."""

import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError

DATA = {
    "id": [1, 2],
    "sex": ["m", "f"],
    "empty": [None, None],
    "w": [1.0, 2.0],
    "h": [1, 1],
    "bad": [0.0, None],
}


@pytest.mark.parametrize(
    ("roles", "error", "message"),
    [
        ({"keys": ["sax"]}, ColumnNotFound, "Did you mean 'sex'"),
        ({"keys": ["id", "empty"]}, InputError, "key column 'empty' has no values at all"),
        ({"keys": "sex", "identifiers": "sex"}, InputError, "both an identifier and a key"),
        ({"weight": "sex"}, InputError, "not numeric"),
        ({"weight": "bad"}, InputError, "missing, zero or negative"),
        ({"hierarchies": {"sax": tacit.hierarchy.flat()}}, ColumnNotFound, "Did you mean 'sex'"),
        ({"colour": 1}, InputError, "no option 'colour'"),
    ],
)
def test_bad_roles(engine, roles, error, message):
    with pytest.raises(error, match=message):
        tacit.read(DATA, engine=engine, **roles)


def test_named_quasi_identifiers(engine):
    data = tacit.read(
        DATA,
        keys={"public": ["sex"], "census": ["sex", "h"]},
        weight="w",
        household="h",
        engine=engine,
    )
    assert data.keys == ("sex", "h")
    assert (data.weight, data.household) == ("w", "h")
    assert "w" not in data.keys


def test_no_records_are_data(engine):
    data = tacit.read({"a": [], "b": []}, keys=["a"], engine=engine)
    assert len(data) == 0
