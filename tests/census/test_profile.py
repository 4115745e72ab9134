"""Control profiles: vintage rules, plans, versions, differences in words; nothing secret in public."""

import datetime as dt

import pytest

import tacit
from tacit.census import Profile, describe_controls, same_units, techniques_used
from tacit.errors import InvalidParameter, PlanError
from tacit.examples.country import write_census

TODAY = dt.date(2026, 6, 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    target = tmp_path_factory.mktemp("census")
    write_census(target, n=6_000, seed=1)
    return target


@pytest.fixture
def profile(folder):
    return Profile.load(folder / "profile.yaml")


def test_the_plan_of_the_profile_runs_and_verifies(folder, profile, tmp_path):
    assert profile.faults(TODAY) == []
    plan = profile.plan("census.parquet", today=TODAY, base=folder)
    written = tacit.Plan.load(folder / "census.yaml")
    assert [s.to_dict() for s in plan.steps] == [s.to_dict() for s in written.steps]
    release = plan.run()
    release.write(tmp_path / "release")
    assert tacit.verify(tmp_path / "release")
    public = "".join(p.read_text(errors="ignore") for p in (tmp_path / "release").glob("*.*") if p.suffix != ".parquet")  # fmt: skip
    for secret in ("0.02", '"share"', "share = 0"):
        assert secret not in public
    columns = list(release.data.columns)
    assert not {"name", "address", "area", "person", "religion"} & set(columns)


def test_a_recent_census_must_say_how_it_is_controlled(profile):
    bare = profile.revise("no swapping", swap={})
    with pytest.raises(PlanError, match="swap is missing"):
        bare.check(TODAY)
    light = profile.revise("lighter", swap={}, controls="light")
    assert any("not enough" in f for f in light.faults(TODAY))
    old = light.revise("an older census", census=1980)
    assert old.faults(TODAY) == []
    assert any("46 years old" in s for s in old.cautions(TODAY))
    kinds = [entry["kind"] for _, entry in old.entries()]
    assert "swap_households" not in kinds
    assert "sample is missing" in " ".join(old.revise("x", sample={}).faults(TODAY))
    assert any("future" in f for f in profile.revise("x", census=2030).faults(TODAY))


def test_faults_of_the_parts_are_all_named(profile):
    wrong = profile.revise(
        "wrong",
        sample={"interval": 0.5},
        geography={"columns": ["region"], "at_least": 20000},
        roles={"household": "household"},
    )
    found = " ".join(wrong.faults(TODAY))
    for words in ("sample: ", "geography: ", "name the identifiers"):
        assert words in found


def test_differences_are_words_and_secrets_are_not_told(profile):
    new = profile.revise(
        "the office asks for more",
        sample={"interval": 50, "sort_by": ["region", "district", "area"]},
        swap={**profile.swap, "share": 0.0725},
        top_codes={"age": 80},
        remove=["person", "birthplace"],
    )
    said = profile.diff(new)
    assert "sample.interval was 20 and is 50, which is stricter" in said
    assert "swap.share was changed (it is secret and not shown)" in said
    assert "top_codes.age was 85 and is 80, which is stricter" in said
    assert "top_codes.income is gone (it was 200,000)" in said
    assert "remove has birthplace in addition" in said
    assert "0.0725" not in " ".join(said)
    assert new.version == 2
    assert profile.diff(profile) == []
    sneaky = Profile(**(new.to_dict() | {"version": 1}))
    assert "count it up" in profile.diff(sneaky)[-1]
    assert "share" not in str(new.to_dict(public=True))
    with pytest.raises(InvalidParameter, match="needs a note"):
        profile.revise(" ")


def test_files_round_trip_and_fingerprints_tell_versions(profile, tmp_path):
    for name in ("p.yaml", "p.toml"):
        profile.save(tmp_path / name)
        again = Profile.load(tmp_path / name)
        assert again.to_dict() == profile.to_dict()
        assert again.fingerprint() == profile.fingerprint()
    assert profile.revise("x", remove=["age"]).fingerprint() != profile.fingerprint()
    (tmp_path / "bad.yaml").write_text("country: XA\ncensus: 2021\nsampel: {}\n")
    with pytest.raises(PlanError, match="Did you mean 'sample'"):
        Profile.load(tmp_path / "bad.yaml")


def test_censuses_of_a_country_show_the_same_places(folder, profile):
    older = profile.revise("the census before", census=2011)
    assert same_units([older, profile], folder) == []
    other = older.revise("finer", geography={**profile.geography, "at_least": 120})
    assert "would show other units" in same_units([other, profile], folder)[0]


def test_the_public_text_names_techniques_and_no_rate(profile, folder):
    plan = profile.plan("census.parquet", today=TODAY, base=folder)
    used = techniques_used(plan)
    assert used == {"sampling": True, "recoding": True, "swapping": True, "microaggregation": False, "PRAM": False}  # fmt: skip
    text = describe_controls(plan)
    assert "5 per cent" in text
    assert "Nobody can claim with certainty" in text
    assert "| PRAM | no |" in text
    assert "0.02" not in text
    more = tacit.Plan([tacit.Mdav(columns=["a"]), tacit.Pram(column="b"), tacit.RankSwap(columns=["a"])])  # fmt: skip
    assert techniques_used(more)["microaggregation"]
    assert techniques_used(more)["PRAM"]
    assert techniques_used(more)["swapping"]
    assert not techniques_used(more)["sampling"]
