"""Population thresholds: published cases, brute force over everything that can be subtracted, refusals."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.claims import Claim
from tacit.errors import InputError, InvalidParameter, SdcError
from tacit.records.census.geography_threshold import Geography, protect_residual

FIXTURE = Path(__file__).parents[1] / "fixtures" / "psd31-ipums-international"
CASE = json.loads((FIXTURE / "geography_threshold.json").read_text())
UNITS = [tuple(u) for u in CASE["input"]["units"]]


@pytest.mark.parametrize("threshold", ["20000", "100000"])
@pytest.mark.parametrize("region", ["R1", "R2", "R3"])
def test_published_cases_region_by_region(threshold, region):
    """The fixture judges each region by itself; a region below the threshold is not shown at all."""
    want = CASE["expected"][threshold][region]
    names = [d for r, d, _ in UNITS if r == region]
    people = np.array([n for r, _, n in UNITS if r == region])
    assert people.sum() == want["region_population"]
    assert (people.sum() >= int(threshold)) == want["region_identifiable"]
    shown, merged = protect_residual(people, int(threshold))
    assert [n for n, s in zip(names, shown, strict=True) if s] == want["identifiable"]
    assert int(people[~shown].sum()) == want["residual_population"]
    if want["region_identifiable"]:
        assert [n for n, m in zip(names, merged, strict=True) if m] == want["merged_to_protect_residual"]  # fmt: skip
        labels, _ = Geography(
            ("region", "district"), {(r, d): n for r, d, n in UNITS if r == region}
        ).labels(int(threshold), "other")
        hidden = {label[1] for unit, label in labels.items() if len(unit) == 2 and label[1] != unit[1]}  # fmt: skip
        assert hidden == {want["residual_label"]}


def test_the_country_is_a_parent_too(engine):
    """R3 has 18,000: shown alone, the country minus R1 and R2 would be it, so the smaller of them joins it."""
    data = tacit.read({"region": [u[0] for u in UNITS], "district": [u[1] for u in UNITS]}, engine=engine)  # fmt: skip
    population = {"region": [u[0] for u in UNITS], "district": [u[1] for u in UNITS], "population": [u[2] for u in UNITS]}  # fmt: skip
    found = tacit.GeographyThreshold(columns=["region", "district"], population=population, at_least=20_000).apply(data)  # fmt: skip
    assert found.column("region").to_pylist() == ["R1"] * 4 + ["other"] * 5
    assert found.column("district").to_pylist() == ["R1a", "R1_other", "R1c", "R1_other"] + ["other"] * 5  # fmt: skip
    assert found.history[-1].claims[0].holds(found.claim_view())


@st.composite
def countries(draw):
    depth = draw(st.integers(1, 3))
    units = {}
    for r in range(draw(st.integers(1, 4))):
        for d in range(draw(st.integers(1, 3)) if depth > 1 else 1):
            for a in range(draw(st.integers(1, 3)) if depth > 2 else 1):
                codes = (f"r{r}", f"d{d}", f"a{a}")[:depth]
                units[codes] = draw(st.integers(0, 30))
    return depth, units


def parts_told(labels):
    """The smallest sets of ground units that the release tells.

    Whatever unions, intersections and differences of published sets give is a union of these: the units that lie in the
    same published sets, each set being what shares the labels of some columns.
    """
    ground = sorted(labels)
    depth = len(ground[0])
    shared = [c for k in range(1, depth + 1) for c in itertools.combinations(range(depth), k)]
    sets = {
        frozenset(u for u in ground if all(labels[u][i] == labels[v][i] for i in columns))
        for columns in shared
        for v in ground
    }
    parts = {}
    for u in ground:
        parts.setdefault(tuple(sorted(i for i, s in enumerate(sets) if u in s)), set()).add(u)
    return list(parts.values())


@settings(max_examples=150, deadline=None)
@given(countries(), st.integers(1, 40))
def test_no_small_unit_can_be_had_by_subtraction(country, threshold):
    depth, units = country
    labels, told = Geography(tuple("xyz"[:depth]), units).labels(threshold, "other")
    final = {u: labels[u] for u in units}
    whole = sum(units.values())
    for found in parts_told(final):
        people = sum(units[u] for u in found)
        assert people == 0 or people >= threshold or people == whole
    assert told["shown"] + told["hidden"] == sum(1 for u in labels if u)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=7), st.integers(1, 40))
def test_as_many_units_are_shown_as_any_choice_could(people, threshold):
    """Brute force: no safe choice shows more units of one parent."""
    inhabitants = np.array(people)
    if inhabitants.sum() < threshold:
        return
    shown, merged = protect_residual(inhabitants, threshold)
    best = 0
    for choice in itertools.product((False, True), repeat=len(people)):
        kept = np.array(choice)
        rest = inhabitants[~kept].sum()
        if (inhabitants[kept] >= threshold).all() and (rest == 0 or rest >= threshold):
            best = max(best, int(kept.sum()))
    assert int(shown.sum()) == best
    assert not (merged & shown).any()


@settings(max_examples=20, deadline=None)
@given(countries(), st.integers(1, 40))
def test_the_claim_holds_and_notices_a_small_unit(country, threshold):
    depth, units = country
    columns = ["region", "district", "area"][:depth]
    lived = [u for u in units if units[u]]
    if not lived:
        return
    data = tacit.read({c: [u[i] for u in lived] for i, c in enumerate(columns)})
    table = {c: [u[i] for u in units] for i, c in enumerate(columns)}
    population = {**table, "population": list(units.values())}
    spec = tacit.GeographyThreshold(columns=columns, population=population, at_least=threshold)
    result = spec.apply(data)
    (claim,) = result.history[-1].claims
    assert claim.holds(result.claim_view())
    small = [u for u in lived if units[u] < threshold]
    if small:
        assert not Claim(claim.model, claim.parameters, "", tuple(columns)).holds(data.claim_view())


def test_the_check_sees_a_rest_that_is_too_small():
    units = [["R1", "a", 50], ["R1", "b", 30], ["R1", "c", 5]]
    claim = Claim("geography-threshold", {"at_least": 20, "units": units}, "", ("region", "district"))  # fmt: skip
    bad = tacit.read({"region": ["R1"] * 3, "district": ["a", "b", "R1_other"]})
    good = tacit.read({"region": ["R1"] * 3, "district": ["a", "R1_other", "R1_other"]})
    leaking = tacit.read({"region": ["other"] * 3, "district": ["a", "b", "c"]})
    assert not claim.holds(bad.claim_view())
    assert claim.holds(good.claim_view())
    assert not claim.holds(leaking.claim_view())


def test_a_file_of_the_latest_census_decides_and_old_codes_are_harmonised(tmp_path):
    (tmp_path / "population.csv").write_text(
        "year,region,district,population\n2001,N,01,90000\n2001,N,02,10000\n2001,S,03,50000\n"
        "2021,N,01,40000\n2021,N,02,60000\n2021,S,03,50000\n"
    )
    (tmp_path / "codes.csv").write_text("column,code,harmonised\ndistrict,7,02\n")
    columns = ["region", "district"]
    new = tacit.read({"region": list("NNS"), "district": ["01", "02", "03"]})
    old = tacit.read({"region": list("NNS"), "district": ["01", "7", "03"]})
    common = {"columns": columns, "population": str(tmp_path / "population.csv")}
    first = tacit.GeographyThreshold(**common).apply(new)
    second = tacit.GeographyThreshold(**common, harmonised=str(tmp_path / "codes.csv")).apply(old)
    third = tacit.GeographyThreshold(**common, harmonised={"district": {"7": "02"}}).apply(old)
    assert first.to_arrow() == second.to_arrow() == third.to_arrow()
    assert first.column("district").to_pylist() == ["01", "02", "03"]


def test_presets():
    data = tacit.read({"region": ["N", "S", "N"], "area": [1, 2, 3]})
    population = {"region": ["N", "S"], "population": [99_999, 20_000]}
    for name, want in (("standard", ["N", "S", "N"]), ("us", ["other"] * 3)):
        found = tacit.GeographyThreshold(columns=["region"], population=population, at_least=name)
        assert found.apply(data).column("region").to_pylist() == want
    none = tacit.GeographyThreshold(columns=["region"], at_least="none_shown", remove=["area"])
    with pytest.raises(SdcError):
        none.apply(tacit.read({"region": ["N"]}))
    third = tacit.read({"region": ["N"], "area": [1], "x": [1]})
    assert list(none.apply(third).columns) == ["x"]
    shown = tacit.GeographyThreshold(columns=["region"], at_least=0).apply(data)
    assert shown.column("region").to_pylist() == ["N", "S", "N"]


def test_inhabitants_from_weights_only_where_allowed():
    data = tacit.read({"region": ["N", "N", "S"], "w": [15.0, 10.0, 4.0]}, weight="w")
    found = tacit.GeographyThreshold(columns=["region"], estimate=True, at_least=20).apply(data)
    assert found.column("region").to_pylist() == ["other"] * 3
    assert "estimated" in found.history[-1].details["inhabitants"]
    with pytest.raises(InvalidParameter, match="or allow estimate"):
        tacit.GeographyThreshold(columns=["region"], at_least=20)


def test_missing_codes_tell_nothing_below_them():
    data = tacit.read({"region": ["N", None, "N"], "district": ["a", "a", None]})
    population = {"region": ["N", "S"], "district": ["a", "b"], "population": [30, 30]}
    found = tacit.GeographyThreshold(columns=["region", "district"], population=population, at_least=20).apply(data)  # fmt: skip
    assert found.column("region").to_pylist() == ["N", None, "N"]
    assert found.column("district").to_pylist() == ["a", None, None]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("region,population\nN,5\nN,6\n", "names a unit more than once"),
        ("region,people\nN,5\n", "no column 'population'"),
        ("region,population\nN,-5\n", "whole numbers from 0"),
        ("region,population\nN,many\n", "whole numbers from 0"),
        ("region,population\nN,\n", "whole numbers from 0"),
        ("region,population\n", "has no units"),
        ("region,population\nS,50\n", "lacks, or says that nobody lives in"),
        ("region,population\nS,50\nN,0\n", "lacks, or says that nobody lives in"),
        ("region,population\nN,50\nother,30\n", "what the residual would be called"),
    ],
)
def test_bad_population_files_are_refused_in_a_sentence(tmp_path, table, said):
    (tmp_path / "population.csv").write_text(table)
    data = tacit.read({"region": ["N"]})
    spec = tacit.GeographyThreshold(columns=["region"], population=str(tmp_path / "population.csv"), at_least=10)  # fmt: skip
    with pytest.raises(InputError, match=said) as caught:
        spec.apply(data)
    assert len(str(caught.value)) < 300


def test_a_plan_finds_its_population_file(tmp_path, monkeypatch):
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "population.csv").write_text("region,population\nN,500\nS,300\n")
    (folder / "data.csv").write_text("region,age\nN,3\nS,4\n")
    (folder / "plan.yaml").write_text(
        "source: data.csv\nsteps:\n  - kind: geography_threshold\n    columns: [region]\n    population: population.csv\n    at_least: 200\n"
    )
    monkeypatch.chdir(tmp_path)
    plan = tacit.Plan.load(folder / "plan.yaml")
    release = plan.run()
    assert release.data.column("region").to_pylist() == ["N", "S"]
    assert "population" not in str(plan.to_dict(public=True)["steps"])
