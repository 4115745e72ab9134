"""Uniques in population and sample, links that would be wrong, and names that were left in."""

import numpy as np
import pytest

import tacit
from tacit.errors import InputError, InvalidParameter
from tacit.records.samples.posterior import expected_inverse
from tacit.records.samples.sampling_uniqueness import expected_shares


def test_expected_uniques_by_simulation():
    sizes = np.array([1] * 30 + [2] * 20 + [5] * 10 + [40] * 2)
    told = expected_shares(sizes, 0.2)
    rng = np.random.default_rng(1)
    alone, both = [], []
    for _ in range(4000):
        n = rng.binomial(sizes, 0.2)
        alone.append((n == 1).sum())
        both.append(((n == 1) & (sizes == 1)).sum())
    assert told.alone == pytest.approx(np.mean(alone), rel=0.02)
    assert told.both == pytest.approx(np.mean(both), rel=0.03)
    assert told.share == pytest.approx(6 / told.alone)


def test_sampling_makes_uniques_uncertain():
    census = tacit.examples.census(4_000, seed=2)
    found = {i: tacit.SamplingUniqueness(interval=i).measure(census).value for i in (1, 10, 50)}
    assert found[1] == 1.0
    assert found[1] > found[10] > found[50]
    sample = tacit.SampleHouseholds(interval=5).apply(census, seed=1)
    estimated = tacit.SamplingUniqueness(interval=5).measure(sample)
    assert 0 < estimated.value <= 1
    assert "are estimated" in estimated.explanation
    assert tacit.SamplingUniqueness(interval=5, threshold=0.0).measure(sample).shortfall
    with pytest.raises(InvalidParameter, match="either interval or fraction"):
        tacit.SamplingUniqueness()


def test_links_by_hand():
    register = tacit.read({"a": ["x"] * 4 + ["y", "z"]}, keys=["a"])
    sample = tacit.read({"a": ["x", "x", "y", "q"]}, keys=["a"])
    found = tacit.LinkageFutility().measure(sample, register=register)
    assert found.numbers["links that would be made"] == 3
    assert found.value == pytest.approx((2 / 4 + 1) / 3)
    assert found.false_positives == pytest.approx(0.5)
    assert found.numbers["links that seem certain"] == 1
    assert found.numbers["expected share of false positives among these"] == 0
    worse = tacit.LinkageFutility(coverage=0.5, divergence=0.2).measure(sample, register=register)
    assert worse.value == pytest.approx(found.value * 0.4)
    assert "divergence" not in tacit.LinkageFutility(divergence=0.2).to_dict(public=True)


def test_links_by_weights_and_without_either():
    sample = tacit.read({"a": ["x", "x", "y"], "w": [10.0] * 3}, keys=["a"], weight="w")
    found = tacit.LinkageFutility().measure(sample)
    want = (2 * expected_inverse(2, 0.1) + expected_inverse(1, 0.1)) / 3
    assert found.value == pytest.approx(float(want))
    with pytest.raises(InputError, match="needs a register"):
        tacit.LinkageFutility().measure(tacit.read({"a": ["x"]}, keys=["a"]))
    with pytest.raises(InputError, match="the register has no column 'a'"):
        tacit.LinkageFutility().measure(sample, register=tacit.read({"b": ["x"]}))


def test_expected_right_links_by_simulation():
    """An intruder who links each record of a sample to one of its equals in the census, over and over."""
    census = tacit.examples.census(3_000, seed=4)
    sample = tacit.SampleHouseholds(interval=10).apply(census, seed=1)
    keys = ["age", "sex"]
    sample = tacit.read(sample.to_arrow(), keys=keys)
    register = tacit.read(census.to_arrow(), keys=keys)
    found = tacit.LinkageFutility().measure(sample, register=register)
    sizes = {}
    for key in zip(*(census.column(k).to_pylist() for k in keys), strict=True):
        sizes[key] = sizes.get(key, 0) + 1
    own = [1 / sizes[k] for k in zip(*(sample.column(k).to_pylist() for k in keys), strict=True)]
    assert found.value == pytest.approx(np.mean(own))


def test_names_and_fine_places_are_found():
    census = tacit.examples.census(1_000)
    spec = tacit.DirectIdentifiers(allowed=["region", "district"], gone=["area"])
    assert set(spec.measure(census).found) == {"name", "address", "area"}
    bare = tacit.read(census.to_arrow().drop_columns(["area"]), household="household")
    assert set(spec.measure(bare).found) == {"name", "address"}
    clean = tacit.read(census.to_arrow().drop_columns(["area", "name", "address"]), household="household")  # fmt: skip
    assert spec.measure(clean).value == 0
    assert not spec.measure(clean).shortfall
    free = tacit.read({"remark": [f"text {i}" for i in range(9)]})
    assert tacit.DirectIdentifiers().measure(free).found == {"remark": "every record has another value"}  # fmt: skip


def test_records_without_a_household_are_households_of_their_own():
    one = {"h": ["a", None, "b", None, "a"], "x": [1.0, 2.0, 3.0, 4.0, 5.0]}
    other = {**one, "h": ["a", "c", "b", "d", "a"]}
    found = [
        tacit.DesignEffect(columns=["x"]).measure(tacit.read(c, household="h"))
        for c in (one, other)
    ]
    assert found[0].numbers == found[1].numbers
    assert found[0].numbers["households"] == 4


def test_members_of_one_household_in_two_strata_are_refused():
    columns = {"h": list("aabbcc"), "s": list("uvuuvv"), "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    data = tacit.read(columns, household="h", stratum="s")
    with pytest.raises(InputError, match="different strata of 's'"):
        tacit.DesignEffect(columns=["x"]).measure(data)
