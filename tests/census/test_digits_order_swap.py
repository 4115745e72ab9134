"""Digit deletion, columns left out, random order of households, and the exchange of places."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import Infeasible, InputError, SdcError
from tacit.records.census.shuffle_households import shuffled
from tacit.records.swapping.swap_households import check_exchange, near_pairs, partners

FIXTURE = Path(__file__).parents[1] / "fixtures" / "psd31-ipums-international"


@pytest.mark.parametrize("case", json.loads((FIXTURE / "digit_deletion.json").read_text())["cases"])
def test_published_digits(case):
    data = tacit.read({"code": [case["code"], "9999"]})
    cut = tacit.DeleteDigits(keep={"code": case["keep"]}).apply(data)
    assert cut.column("code").to_pylist()[0] == case["result"]
    assert cut.history[-1].claims[0].holds(cut.claim_view())
    if case["keep"] < 4:
        assert not cut.history[-1].claims[0].holds(data.claim_view())


def test_numbers_get_their_zeros_back():
    data = tacit.read({"code": [110, 2411, None]})
    cut = tacit.DeleteDigits(keep={"code": 2}, width={"code": 4}).apply(data)
    assert cut.column("code").to_pylist() == ["01", "24", None]
    for parameters, said in (
        ({"keep": {"code": 2}}, "lost their leading zeros"),
        ({"keep": {"code": 2}, "width": {"code": 3}}, "longer than its width"),
    ):
        with pytest.raises(InputError, match=said):
            tacit.DeleteDigits(**parameters).apply(data)
    with pytest.raises(InputError, match="must hold codes"):
        tacit.DeleteDigits(keep={"x": 1}).apply(tacit.read({"x": [1.5]}))


def test_columns_are_left_out():
    data = tacit.read({"a": [1], "b": [2], "c": [3]}, sensitive=["c"])
    assert list(tacit.RemoveColumns(columns=["a"], sensitive=True).apply(data).columns) == ["b"]
    with pytest.raises(InputError, match="nothing to leave out"):
        tacit.RemoveColumns(sensitive=True).apply(tacit.read({"a": [1]}))
    with pytest.raises(InputError, match="no column would be left"):
        tacit.RemoveColumns(columns=["a"]).apply(tacit.read({"a": [1]}))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=20), st.integers(0, 1000))
def test_households_are_shuffled_whole_and_renumbered(sizes, seed):
    home = np.repeat(np.arange(len(sizes)) + 700, sizes)
    data = tacit.read({"home": home, "n": np.arange(len(home))}, household="home")
    found = tacit.ShuffleHouseholds().apply(data, seed=seed).to_arrow().to_pydict()
    assert found["home"] == sorted(found["home"])
    assert set(found["home"]) == set(range(1, len(sizes) + 1))
    members = {}
    for h, n in zip(found["home"], found["n"], strict=True):
        members.setdefault(h, []).append(n)
    want = {tuple(np.flatnonzero(home == h)) for h in set(home)}
    assert {tuple(m) for m in members.values()} == want


def test_every_order_is_as_likely():
    homes = np.array([5, 5, 6, 7])
    seen = Counter(tuple(shuffled(homes, np.random.default_rng(s))[0]) for s in range(600))
    assert len(seen) == 6
    assert min(seen.values()) > 60


def test_a_release_keeps_the_drawn_order_of_households(tmp_path):
    home = np.repeat(np.arange(40), 3)
    data = tacit.read({"home": home, "x": np.arange(120)}, household="home", keys=["x"])
    plan = tacit.Plan([tacit.SampleHouseholds(interval=2), tacit.ShuffleHouseholds()])
    release = plan.run(data)
    release.write(tmp_path / "release", format="csv")
    back = tacit.read(tmp_path / "release" / "data.csv")
    assert back.column("home").to_pylist() == sorted(back.column("home").to_pylist())
    x = back.column("x").to_pylist()
    assert x != sorted(x)
    assert tacit.verify(tmp_path / "release")


def test_shuffling_refuses_records_without_household():
    with pytest.raises(InputError, match="no household in column 'h'"):
        tacit.ShuffleHouseholds().apply(tacit.read({"h": [1, None]}, household="h"))


def test_published_exchange_keeps_every_count():
    case = json.loads((FIXTURE / "geographic_swapping.json").read_text())
    homes = case["input"]["households"]
    name = [h[0] for h in homes]
    place = np.unique([h[1] for h in homes], return_inverse=True)[1]
    size = np.array([h[2] for h in homes])
    partner = np.arange(len(homes))
    for a, b in case["input"]["pairs"]:
        i, j = name.index(a), name.index(b)
        partner[i], partner[j] = j, i
    check_exchange(partner, size, place)
    after = [homes[i][1] for i in partner]
    assert after == case["expected"]["geography_after"]
    persons = Counter()
    for g, (_, _, n) in zip(after, homes, strict=True):
        persons[g] += n
    assert Counter(after) == case["expected"]["households_by_geography_unchanged"]
    assert persons == case["expected"]["persons_by_geography_unchanged"]
    with pytest.raises(Infeasible, match="would not keep the number"):
        check_exchange(np.array([1, 2, 0]), np.array([1, 1, 1]), np.array([0, 1, 2]))
    with pytest.raises(Infeasible):
        check_exchange(np.array([1, 0]), np.array([1, 2]), np.array([0, 1]))


def test_what_belongs_to_a_place_moves_with_it():
    rng = np.random.default_rng(2)
    home = np.repeat(np.arange(60), 2)
    place = rng.integers(0, 4, 60)
    data = tacit.read(
        {
            "home": home,
            "district": place[home],
            "pair": (place * 100 + np.arange(60) // 2)[home],
            "x": rng.integers(0, 9, 120),
        },
        household="home",
    )
    spec = tacit.SwapHouseholds(columns=["district"], along=["pair"], share=0.5, size_band=99)
    moved = spec.apply(data, seed=1).to_arrow().to_pydict()
    assert moved["district"] != data.column("district").to_pylist()
    assert all(p // 100 == d for p, d in zip(moved["pair"], moved["district"], strict=True))
    assert Counter(moved["district"]) == Counter(data.column("district").to_pylist())
    assert "share" not in str(spec.apply(data, seed=1).history[-1].parameters)


def test_nearest_partners_differ_less_and_keep_every_count():
    rng = np.random.default_rng(5)
    n = 400
    group, place = rng.integers(0, 3, n), rng.integers(0, 5, n)
    near = rng.normal(size=(n, 2))
    risky = np.zeros(n, dtype=bool)
    far = []
    for chosen in (None, near):
        partner = partners(group, place, 0.2, risky, np.random.default_rng(1), chosen)
        check_exchange(partner, group, place)
        moved = partner != np.arange(n)
        assert moved.sum() == 80
        far.append(np.linalg.norm(near - near[partner], axis=1)[moved].mean())
    assert far[1] < far[0] / 4


def test_the_first_household_drawn_gets_its_nearest_by_brute_force():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = 60
        group, place, near = rng.integers(0, 2, n), rng.integers(0, 3, n), rng.normal(size=(n, 2))
        risky = np.arange(n) == 7
        first, second = near_pairs(group, place, 1, risky, np.random.default_rng(0), near, n)
        fits = (group == group[7]) & (place != place[7])
        distance = np.where(fits, np.linalg.norm(near - near[7], axis=1), np.inf)
        assert (first.tolist(), second.tolist()) == ([7], [int(distance.argmin())])


def test_nearness_that_cannot_tell_still_swaps_the_share():
    n = 300
    place = (np.arange(n) >= 290).astype(np.int64)
    partner = partners(np.zeros(n, dtype=np.int64), place, 0.05, np.zeros(n, dtype=bool), np.random.default_rng(2), np.zeros((n, 1)))  # fmt: skip
    assert (partner != np.arange(n)).sum() == 16
    check_exchange(partner, np.zeros(n, dtype=np.int64), place)


def test_households_swap_with_those_of_like_income():
    census = tacit.examples.census(4_000, seed=3)
    spec = tacit.SwapHouseholds(columns=["district"], along=["region", "area"], near=["income", "age"], share=0.1, size_band=1000)  # fmt: skip
    moved = spec.apply(census, seed=1)
    assert moved.column("district").to_pylist() != census.column("district").to_pylist()
    assert Counter(moved.column("district").to_pylist()) == Counter(census.column("district").to_pylist())  # fmt: skip
    with pytest.raises(SdcError, match="'sex'"):
        tacit.SwapHouseholds(columns=["district"], near=["sex"]).apply(census)
