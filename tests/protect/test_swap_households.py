"""Household swapping: who exchanges with whom, and what stays as it is."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import (
    DisclosureRefused,
    InputError,
    InvalidParameter,
    RoleMissing,
    WeakProtection,
)
from tacit.records.swapping.swap_households import composition, households, partners


def town(n_homes=300, seed=1, engine="duckdb"):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 4, n_homes)
    home = np.repeat(np.arange(n_homes), size)
    area = rng.integers(0, 12, n_homes)[home]
    n = len(home)
    columns = {
        "home": home,
        "area": np.array([f"a{a:02}" for a in area]),
        "broad": area // 4,
        "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
        "job": rng.integers(0, 5, n),
        "w": rng.random(n) + 1,
    }
    return tacit.read(
        columns, keys=["area", "sex", "job"], household="home", weight="w", engine=engine
    )


def swap(**parameters):
    return tacit.SwapHouseholds(
        **({"columns": ["area"], "within": ["broad"], "match": ["sex"]} | parameters)
    )


def by_home(data):
    found = defaultdict(list)
    for row in data.to_arrow().to_pylist():
        found[row["home"]].append(row)
    return found


def test_everything_but_the_place_stays():
    data = town()
    swapped = swap(share=0.2).apply(data, seed=1)
    rest = [c for c in data.columns if c != "area"]
    assert swapped.to_arrow(rest) == data.to_arrow(rest)
    assert sorted(swapped.column("area").to_pylist()) == sorted(data.column("area").to_pylist())
    before, after = (tacit.Table.from_microdata(d, ["area", "sex"]) for d in (data, swapped))
    assert np.array_equal(before.count, after.count)


def test_households_move_as_one_within_their_broad_area():
    data = town()
    swapped = swap(share=0.2).apply(data, seed=1)
    old, new = by_home(data), by_home(swapped)
    moved = [h for h in old if old[h][0]["area"] != new[h][0]["area"]]
    assert len(moved) == 60
    for rows in new.values():
        assert len({r["area"] for r in rows}) == 1
        assert int(rows[0]["area"][1:]) // 4 == rows[0]["broad"]

    def key(rows, area):
        return (rows[0]["broad"], area, tuple(sorted(Counter(r["sex"] for r in rows).items())))

    gave = Counter(key(old[h], old[h][0]["area"]) for h in moved)
    got = Counter(key(new[h], new[h][0]["area"]) for h in moved)
    assert gave == got


def test_targeted_swapping_moves_risky_households_first():
    data = town(200)
    chosen, random = (swap(share=0.1, targeted=t).apply(data, seed=3) for t in (True, False))
    risk = tacit.SmallCells(columns=("area", "sex", "job"))
    assert risk.measure(chosen, original=data).value < risk.measure(random, original=data).value


def test_engines_and_seeds_agree(engine):
    one = swap(share=0.3).apply(town(engine=engine), seed=4)
    two = swap(share=0.3).apply(town(), seed=4)
    assert one.to_arrow().to_pydict() == two.to_arrow().to_pydict()
    assert swap(share=0.3).apply(town(), seed=5).to_arrow() != two.to_arrow()


def test_secrets_stay_secret():
    swapped = swap(share=0.3).apply(town(), seed=4)
    action = swapped.history[-1]
    assert "share" not in action.parameters
    assert "0.3" not in str(action.details)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), min_size=1, max_size=40
    ),
    st.floats(0, 1),
    st.integers(0, 99),
)
def test_partners_exchange_in_pairs(homes, share, seed):
    group, place = (np.array([h[i] for h in homes], dtype=np.int64) for i in (0, 1))
    risky = np.array([h[2] for h in homes])
    partner = partners(group, place, share, risky, np.random.default_rng(seed))
    own = np.arange(len(homes))
    assert np.array_equal(partner[partner], own)
    moved = partner != own
    assert np.array_equal(group[partner], group)
    assert np.all(place[partner][moved] != place[moved])
    assert moved.sum() <= share * len(homes) + 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=40),
    st.integers(1, 4),
)
def test_composition_is_the_multiset_of_members(people, band):
    home, kind = (np.array([p[i] for p in people], dtype=np.int64) for i in (0, 1))
    homes = households(home, np.zeros(len(home), dtype=bool))
    ours = composition(homes, kind, band)
    naive = []
    for h in range(homes.n):
        members = [k for k, o in zip(kind, homes.of, strict=True) if o == h]
        counts = {k: min(c, band) for k, c in Counter(members).items()}
        naive.append((min(len(members), band), tuple(sorted(counts.items()))))
    for i in range(homes.n):
        for j in range(homes.n):
            assert (ours[i] == ours[j]) == (naive[i] == naive[j])


def test_a_record_without_household_stands_alone():
    data = tacit.read({"h": [None, None, "x"], "area": ["a", "b", "a"]}, household="h")
    swapped = tacit.SwapHouseholds(columns=["area"], share=0.7).apply(data, seed=1)
    assert sorted(swapped.column("area").to_pylist()) == ["a", "a", "b"]
    homes = households(np.array([1, 1, 0]), np.array([True, True, False]))
    assert homes.n == 3


def test_too_few_partners_are_said():
    data = tacit.read({"h": range(6), "area": list("aaaaaa")}, household="h")
    with pytest.raises(DisclosureRefused, match="can swap nothing: no household has a partner"):
        tacit.SwapHouseholds(columns=["area"], share=1.0).apply(data, seed=1)
    some = tacit.read({"h": range(6), "area": list("aaaaab")}, household="h")
    with pytest.raises(DisclosureRefused, match="less than two households"):
        tacit.SwapHouseholds(columns=["area"], share=0.01).apply(some, seed=1)
    with pytest.warns(WeakProtection, match="fewer households"):
        tacit.SwapHouseholds(columns=["area"], share=1.0).apply(some, seed=1)


def test_refusals():
    data = tacit.read({"h": [1, 1], "area": ["a", "b"], "s": [1, 2]}, household="h")
    with pytest.raises(InputError, match="differ in columns"):
        tacit.SwapHouseholds(columns=["area"]).apply(data, seed=1)
    with pytest.raises(RoleMissing, match="household"):
        tacit.SwapHouseholds(columns=["a"]).apply(tacit.read({"a": [1]}), seed=1)
    with pytest.raises(RoleMissing, match="targeted"):
        tacit.SwapHouseholds(columns=["area"], targeted=True).apply(data, seed=1)
    with pytest.raises(InvalidParameter, match="within, match and near"):
        tacit.SwapHouseholds(columns=["area"], match=["area"])
