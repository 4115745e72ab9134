"""Global recoding by groups, breaks, truncation and rarity."""

import pytest

import tacit


@pytest.fixture
def data():
    return tacit.read(
        {
            "job": ["baker", "cook", "judge", "cook", None],
            "code": [1101, 1102, 2201, 2202, 2203],
            "age": [17, 18, 64, 65, 90],
        }
    )


def test_groups(data):
    groups = {"food": ["baker", "cook"], "law": ["judge"]}
    made = tacit.Recode(column="job", groups=groups).apply(data)
    assert made.column("job").to_pylist() == ["food", "food", "law", "food", None]
    assert made.history[-1].claims[0].holds(made.frame)
    assert not made.history[-1].claims[0].holds(data.frame)
    assert made.history[-1].details == {"categories_before": 3, "categories_after": 2}


def test_what_groups_leave_out(data):
    with pytest.raises(tacit.SdcError, match="leaves 1 categories"):
        tacit.Recode(column="job", groups={"food": ["baker", "cook"]}).apply(data)
    for rest, expected in (("keep", "judge"), ("missing", None)):
        made = tacit.Recode(column="job", groups={"food": ["baker", "cook"]}, rest=rest).apply(data)
        assert made.column("job").to_pylist()[2] == expected


def test_breaks(data):
    made = tacit.Recode(column="age", breaks=[18, 65], labels=["child", "adult", "old"]).apply(data)
    assert made.column("age").to_pylist() == ["child", "adult", "adult", "old", "old"]
    unnamed = tacit.Recode(column="age", breaks=[18, 65]).apply(data)
    assert unnamed.column("age").to_pylist()[0] == "under 18"


def test_truncation(data):
    made = tacit.Recode(column="code", truncate=2).apply(data)
    assert made.column("code").to_pylist() == ["11", "11", "22", "22", "22"]
    with pytest.raises(tacit.SdcError, match="truncate less"):
        tacit.Recode(column="code", truncate=4).apply(data)


def test_rare_categories(data):
    made = tacit.Recode(column="job", least=2, into="other").apply(data)
    assert made.column("job").to_pylist() == ["other", "cook", "other", "cook", None]


def test_a_hierarchy_of_the_old_values_is_let_go():
    data = tacit.read(
        {"z": ["021", "022"]}, keys=["z"], hierarchies={"z": tacit.hierarchy.digits(3)}
    )
    made = tacit.Recode(column="z", truncate=1).apply(data)
    with pytest.raises(tacit.SdcError, match="hierarchy"):
        tacit.Generalise(columns=["z"], level=1).apply(made)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "give one of"),
        ({"least": 3}, "go together"),
        ({"breaks": [2, 1]}, "ascending"),
        ({"breaks": [1], "labels": ["a"]}, "one more than breaks"),
        ({"groups": {"a": ["x"], "b": ["x"]}}, "each old category once"),
    ],
)
def test_refusals(parameters, words):
    with pytest.raises(tacit.SdcError, match=words):
        tacit.Recode(column="x", **parameters)
