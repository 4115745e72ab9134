"""Products within products: treatments, nesting, published tables, user groups."""

import numpy as np
import pytest

import tacit


@pytest.fixture
def data():
    return tacit.read(
        {
            "name": list("abcdefgh"),
            "zip": ["0213", "0214", "0223", "0224", "0313", "0314", "0323", "0324"],
            "sex": list("fmfmfmfm"),
            "rent": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        },
        identifiers=["name"],
        keys=["zip", "sex"],
        hierarchies={"zip": tacit.hierarchy.digits(4)},
    )


def closed(data):
    return tacit.Suppress(level="attribute", columns=["sex"]).apply(data).drop(["name", "sex"])


def research(data):
    return tacit.Generalise(columns=["zip"], level=1).apply(data).drop(["name"])


def public(data):
    coarse = tacit.Generalise(columns=["zip"], level=2).apply(data).drop(["name"])
    return tacit.AddNoise(columns=["rent"], sd=1).apply(coarse, seed=1)


def test_nested_products(data):
    group = tacit.UserGroup("everybody", "teaching", ("electoral roll",), "public")
    found = tacit.Tiers({"public": public, "research": research}, (group,)).check(data)
    assert found.nested
    found.require()
    assert found.treatments["public"] == {
        "name": "dropped",
        "zip": "recoded, 2 categories",
        "sex": "as it is",
        "rent": "masked",
    }
    assert found.treatments["research"]["rent"] == "as it is"
    assert found.groups == (group,)
    assert "recoded, 2 categories" in repr(found)


def test_breaks_of_nesting_are_named(data):
    found = tacit.Tiers({"open": research, "closed": public}).check(data)
    assert found.faults == (
        "'zip' in open is no coarsening of what it is in closed.",
        "closed masks 'rent', and open does not.",
    )
    with pytest.raises(tacit.SdcError, match="not nested"):
        found.require()
    dropped = tacit.Tiers({"open": research, "closed": closed}).check(data)
    assert "open releases 'sex', which closed drops." in dropped.faults


def test_more_records_break_it_too(data):
    fewer = research(data).take(np.arange(5))
    found = tacit.Tiers({"open": research, "closed": fewer}).check(data)
    assert found.faults[0] == "open holds records that closed does not."


def test_published_tables_must_come_out_again(data):
    tables = {"by area": {"zip": 2, "sex": 0}, "by town": ["zip"]}
    found = tacit.Tiers({"public": public, "research": research}).check(data, published=tables)
    assert found.unrecovered == (
        "public cannot give the table 'by town' again: 'zip' differs from what is published.",
        "research cannot give the table 'by town' again: 'zip' differs from what is published.",
    )


def test_partial_suppression_is_told_from_masking(data):
    part = tacit.LocalSuppression(k=2, combinations=[{"columns": ["zip", "sex"], "k": 2}])
    found = tacit.Tiers({"one": part, "all": lambda d: d}).check(data)
    assert "suppressed in part" in found.treatments["one"].values()


def test_refusals(data):
    with pytest.raises(tacit.SdcError, match="at least one product"):
        tacit.Tiers({})
    with pytest.raises(tacit.SdcError, match="which is no product"):
        tacit.Tiers({"a": research}, (tacit.UserGroup("g", "", (), "b"),))
    with pytest.raises(tacit.SdcError, match="town"):
        tacit.Tiers({"a": research}).check(data, published={"t": ["town"]})
