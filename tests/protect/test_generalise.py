import pytest

import tacit
from tacit.errors import HierarchyError, InvalidParameter, RoleMissing


def column(result, name):
    return result.column(name).to_pylist()


def data(engine="duckdb", zips=("02138", "02138", "02139", "02141", None)):
    return tacit.read(
        {"zip": list(zips), "s": ["m"] * len(zips)},
        keys=["zip", "s"],
        hierarchies={"zip": tacit.hierarchy.digits(5, mask=[1, 2]), "s": tacit.hierarchy.flat()},
        engine=engine,
    )


def test_levels(engine):
    result = tacit.Generalise(level={"zip": 1, "s": 0}).apply(data(engine))
    assert column(result, "zip") == ["0213*", "0213*", "0213*", "0214*", None]
    assert column(result, "s") == ["m"] * 5
    assert column(tacit.Generalise(level=1).apply(data(engine)), "s") == ["*"] * 5


def test_raising_again_and_not_lowering():
    once = tacit.Generalise(columns=("zip",), level=1).apply(data())
    assert column(tacit.Generalise(columns=("zip",), level=2).apply(once), "zip") == [
        "021**"
    ] * 4 + [None]
    assert column(tacit.Generalise(columns=("zip",), level=0).apply(once), "zip") == column(
        once, "zip"
    )


def test_rare_cells(engine):
    result = tacit.Generalise(columns=("zip",), threshold=2).apply(data(engine))
    assert column(result, "zip") == ["02138", "02138", "021**", "021**", None]


def test_rare_cells_stop_at_the_top():
    result = tacit.Generalise(columns=("zip",), threshold=3).apply(
        data(zips=("02138", "02139", "99999"))
    )
    assert column(result, "zip") == ["*****"] * 3


def test_whole_numbers_become_labels():
    ages = tacit.read({"age": [5, 15, 5]}, hierarchies={"age": tacit.hierarchy.flat("any")})
    assert column(tacit.Generalise(columns=("age",), threshold=2).apply(ages), "age") == [
        "5",
        "any",
        "5",
    ]


def test_faults():
    for wrong in (
        {},
        {"level": 1, "threshold": 2},
        {"columns": ("zip",), "level": {"zip": 1}},
        {"level": -1},
    ):
        with pytest.raises(InvalidParameter):
            tacit.Generalise(**wrong)
    with pytest.raises(HierarchyError):
        tacit.Generalise(columns=("zip",), level=9).apply(data())
    with pytest.raises(RoleMissing):
        tacit.Generalise(columns=("x",), level=1).apply(tacit.read({"x": [1]}))
    strange = tacit.Substitute(columns=("zip",)).apply(data(), seed=1)
    with pytest.raises(HierarchyError):
        tacit.Generalise(columns=("zip",), level=1).apply(strange)
