"""Linked columns: declared in Python, plans and the shell, and proposed by a profile."""

import pytest

import tacit
from tacit.data.links import counts_members, determines
from tacit.data.profiling.profile import profile, starting_plan
from tacit.errors import InputError

FILE = {
    "hid": [1, 1, 2, 3, 3, 3, 4, 4, 5, 6, 6, 6],
    "hsize": [2, 2, 1, 3, 3, 3, 2, 2, 1, 3, 3, 3],
    "region": ["N", "N", "S", "N", "N", "N", "W", "W", "S", "W", "W", "W"],
    "nuts": ["AT1", "AT1", "AT2", "AT1", "AT1", "AT1", "AT3", "AT3", "AT2", "AT3", "AT3", "AT3"],
    "age": [3, 4, 3, 5, 6, 3, 4, 5, 6, 3, 4, 5],
}


def test_groups_are_kept_and_those_that_share_a_column_become_one():
    data = tacit.read(
        FILE, links=[["region", "nuts"], ["hid", "hsize"], ["nuts", "age"]], household="hid"
    )
    assert data.links == (("hid", "hsize"), ("region", "nuts", "age"))
    assert data.linked_with("nuts") == ("region", "age")
    assert data.counting == ("hsize",)
    both = tacit.read(FILE, links=[["hid", "hsize"], ["hsize", "age"]], household="hid")
    assert both.links == (("hid", "hsize"), ("hsize", "age"))
    assert both.counting == ("hsize",)
    assert data.drop(["nuts", "age"]).links == (("hid", "hsize"),)
    assert "linked: hid, hsize" in repr(data)
    assert tacit.read(FILE, links=["region", "nuts"]).links == (("region", "nuts"),)


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ([["region"]], "at least two columns"),
        ("region", "alone is linked with nothing"),
        ([["region", "nust"]], "Did you mean 'nuts'"),
        ([["hid", "age"]], "not the number of records in most households"),
    ],
)
def test_wrong_links_are_refused_in_a_sentence(links, said):
    with pytest.raises(InputError, match=said):
        tacit.read(FILE, links=links, household="hid")


def test_identifiers_are_not_linked():
    with pytest.raises(InputError, match="'nuts' is an identifier"):
        tacit.read(FILE, links=["region", "nuts"], identifiers="nuts")


def test_what_the_data_show():
    data = tacit.read(FILE, household="hid")
    assert determines(data, "region", "nuts")
    assert determines(data, "hid", "region")
    assert not determines(data, "region", "hid")
    assert counts_members(data, ["hsize", "age", "region"]) == ("hsize",)


def test_a_profile_proposes_links_and_the_plan_has_them(tmp_path):
    found = profile(tacit.read(FILE))
    assert found.roles["links"] == [["region", "nuts"], ["hid", "hsize"]]
    why = dict(zip(found.frame["column"], found.frame["why"], strict=True))
    assert "linked with nuts" in why["region"]
    document = starting_plan(found, tmp_path / "file.csv")
    assert tacit.Plan.from_dict(document).roles.links == (("region", "nuts"), ("hid", "hsize"))


def test_a_plan_takes_links_and_keeps_those_of_the_data():
    plan = tacit.Plan.from_dict({"roles": {"links": ["region", "nuts"]}, "steps": ["scramble"]})
    assert plan.roles.links == (("region", "nuts"),)
    data = tacit.read(FILE, links=[["region", "nuts"]])
    release = tacit.Plan([tacit.Scramble()]).run(data, seed=1)
    assert release.plan.to_dict()["roles"]["links"] == [["region", "nuts"]]
