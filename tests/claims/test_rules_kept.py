"""The check of rules, read anew, against the module that methods read them with."""

import pyarrow as pa
import pytest

import tacit
from tacit.claims import Claim
from tacit.claims.values.rules_kept import holds
from tacit.records.synthesis.sequential.rules import holds as holds_for_methods

TABLE = pa.table(
    {
        "age": [3, 17, None, 90],
        "a b`c": [1.5, -2.0, 0.0, None],
        "job": ["x", None, "it's", "y"],
        "old": [False, None, True, True],
    }
)


@pytest.mark.parametrize(
    "text",
    [
        "age < 16", "not age < 16", "age != 17", "16 <= age < 90", "`a b``c` > -1 and job in ['x', 'y']",
        "job == None or age is None", "job not in ['x']", "job == 'it\\'s'", "old", "not old", "old == True",
        "age > `a b``c`", "5 < age", "job != None",
    ],
)  # fmt: skip
def test_both_readings_agree(text):
    assert holds(text, TABLE).tolist() == holds_for_methods(text, TABLE).tolist()


@pytest.mark.parametrize(
    ("settings", "forbid", "sums", "kept"),
    [
        ([{"when": "a > 1", "set": {"b": 0}}], [], {}, True),
        ([{"when": "a > 0", "set": {"b": 0}}], [], {}, False),
        ([{"when": "a == 1", "set": {"c": None}}], [], {}, True),
        ([], ["a == 1 and b == 5"], {}, False),
        ([], ["a == 2 and b == 5"], {}, True),
        ([], [], {"a": ["b", "c"]}, False),
        ([], [], {"d": ["a", "b"]}, True),
    ],
)
def test_broken_rules_are_found(settings, forbid, sums, kept):
    data = tacit.read({"a": [1, 2], "b": [5.0, 0.0], "c": [None, 3.0], "d": [6.0, 2.0]})
    claim = Claim(
        "rules-kept",
        {"settings": settings, "forbid": forbid, "sums": sums},
        "rules",
        ("a", "b", "c", "d"),
    )
    assert claim.holds(data.frame) is kept
