"""Governance: access classes, the agreement of Figure 35, storage per person."""

import datetime as dt
import re

import pytest

from tacit.errors import InputError
from tacit.governance import AccessClass, data_use_agreement


def test_access_classes_of_figure_8(published):
    figure = published("access_levels")
    assert [[a.value, a.rule, a.title] for a in AccessClass] == figure["levels"]
    order = [AccessClass(code) for code in re.findall(r"\w+", figure["ordering"].split(" in ")[0])]
    assert order == sorted(AccessClass)
    assert AccessClass.Pr < AccessClass.SPr <= AccessClass.SPu < AccessClass.Pu
    assert max(AccessClass) is AccessClass.Pu
    with pytest.raises(TypeError):
        assert AccessClass.Pr < "Pu"


def test_access_class_by_any_name():
    assert AccessClass.parse("spr") is AccessClass.SPr
    assert AccessClass.parse("Semi-Public") is AccessClass.SPu
    assert AccessClass.parse("no restrictions") is AccessClass.Pu
    assert AccessClass.parse(AccessClass.Pr) is AccessClass.Pr
    assert str(AccessClass.SPr) == "SPr (semi-private: limited access)"
    with pytest.raises(InputError, match="Did you mean 'semi-private'"):
        AccessClass.parse("semiprivate")


CLAUSE_WORDS = [
    ["legitimate", "attributes"],
    ["security", "answers"],
    ["identifiers"],
    ["could link", "will"],
    ["review"],
    ["destroys every copy"],
    ["pass the data to anyone else"],
]


def test_agreement_has_the_seven_clauses(published):
    text = data_use_agreement(
        "Hospital",
        "University",
        "a study of asthma",
        {"ZIP": "distance to roads", "Birth": "age | effects"},
        "SPr",
        could_link=["ZIP", "Birth"],
        will_link=["ZIP"],
        destroy_by=dt.date(2030, 1, 31),
        review_days=45,
    )
    clauses = re.findall(r"^\d\. .*$", text, re.MULTILINE)
    assert len(clauses) == len(published("access_levels")["agreement_clauses"]) == 7
    for clause, words in zip(clauses, CLAUSE_WORDS, strict=True):
        assert all(word in clause for word in words)
    assert "a study of asthma" in clauses[0]
    assert "45 days" in clauses[4]
    assert "2030-01-31" in clauses[5]
    assert "| ZIP | distance to roads | yes | yes |" in text
    assert r"| Birth | age \| effects | yes | no |" in text
    assert "SPr, semi-private" in text


def test_agreement_leaves_lines_to_fill_in_and_no_markup():
    text = data_use_agreement("A", "B <script>", "", ["ZIP"])
    assert "&lt;script&gt;" in text
    assert "purpose: ______________." in text
    assert "no later than ______________" in text


def test_agreement_refusals():
    with pytest.raises(InputError, match="does not fit public data"):
        data_use_agreement("A", "B", "c", ["ZIP"], "Pu")
    with pytest.raises(InputError, match="name the attributes"):
        data_use_agreement("A", "B", "c", [])
    with pytest.raises(InputError, match="not among the attributes"):
        data_use_agreement("A", "B", "c", ["ZIP"], could_link=["Sex"])
    with pytest.raises(InputError, match="name it in could_link too"):
        data_use_agreement("A", "B", "c", ["ZIP"], will_link=["ZIP"])
    with pytest.raises(InputError, match="at least 0"):
        data_use_agreement("A", "B", "c", ["ZIP"], review_days=-1)
