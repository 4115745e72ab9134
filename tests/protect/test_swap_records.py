"""Targeted record swapping: who must move does, margins stay, nobody moves twice."""

import functools
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import (
    DisclosureRefused,
    Infeasible,
    InputError,
    InvalidParameter,
    RoleMissing,
    WeakProtection,
)
from tacit.records.swapping.record_pairs import add, find, quotas, sum_weights_before, swap_partners
from tacit.records.swapping.swap_records import check_partners


def town(n_homes=600, seed=1, towns=12):
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(n_homes), rng.integers(1, 5, n_homes))
    place = rng.integers(0, towns, n_homes)[home]
    n = len(home)
    return tacit.read(
        {
            "home": home,
            "region": place // 4,
            "town": place,
            "post": 1000 + place,
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
            "job": rng.geometric(0.5, n),
            "owner": (home * 7 % 3 == 0),
            "pay": rng.normal(size=n),
        },
        keys=["region", "town", "sex", "job"],
        household="home",
    )


def swap(**parameters):
    defaults = {"hierarchy": ["region", "town"], "similar": [["sex"]], "k": 3, "swap_rate": 0.1}
    return tacit.SwapRecords(**(defaults | parameters))


def by_home(data):
    found = defaultdict(list)
    for row in data.to_arrow().to_pylist():
        found[row["home"]].append(row)
    return found


def at_risk(data, level, k):
    rows = data.to_arrow().to_pylist()
    names = ["region", "town"][: level + 1]
    cell = Counter((*(r[c] for c in names), r["sex"], r["job"]) for r in rows)
    return {r["home"] for r in rows if cell[(*(r[c] for c in names), r["sex"], r["job"])] < k}


def test_everything_but_the_place_stays():
    data = town()
    released = swap().apply(data, seed=1)
    rest = [c for c in data.columns if c not in ("region", "town")]
    assert released.to_arrow(rest) == data.to_arrow(rest)


def test_whoever_is_at_risk_crosses_the_level():
    data = town()
    released = swap().apply(data, seed=1)
    old, new = by_home(data), by_home(released)
    for level, name in enumerate(("region", "town")):
        risky = at_risk(data, level, 3)
        assert risky
        assert all(old[h][0][name] != new[h][0][name] for h in risky)
        noted = released.history[-1].details["by_area"][name]
        assert noted["at risk"] == len(risky)
        assert noted["at risk and not moved across"] == 0


@pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
def test_its_release_has_reports(tmp_path):
    release = tacit.Plan([swap()]).run(town(), seed=1)
    assert (release.write(tmp_path / "out") / "report.html").exists()


def test_margins_of_the_similarity_columns_stay_exact():
    data = town()
    released = swap(similar=[["sex", "job"], ["sex"]], k=2).apply(data, seed=1)
    for columns in (["town", "sex"], ["region", "sex"]):
        old, new = (
            Counter(zip(*(d.column(c).to_pylist() for c in columns), strict=True))
            for d in (data, released)
        )
        assert old == new
    sizes = [
        Counter(
            (rows[0]["town"], tuple(sorted(r["sex"] for r in rows))) for rows in by_home(d).values()
        )
        for d in (data, released)
    ]
    assert sizes[0] == sizes[1]


def test_places_move_as_a_whole_and_households_as_one():
    data = town()
    released = swap(carry_along=["post"]).apply(data, seed=1)
    for rows in by_home(released).values():
        assert len({(r["region"], r["town"], r["post"]) for r in rows}) == 1
        assert rows[0]["post"] == 1000 + rows[0]["town"]
        assert rows[0]["region"] == rows[0]["town"] // 4


def test_the_rate_is_reached_without_anyone_at_risk():
    data = town(2000)
    released = swap(k=0, swap_rate=0.2).apply(data, seed=1)
    old, new = by_home(data), by_home(released)
    moved = [h for h in old if old[h][0]["town"] != new[h][0]["town"]]
    assert len(moved) == released.history[-1].details["swapped"]
    assert abs(len(moved) - 400) <= 2
    # Partners are found in the same region, so that its tables stay.
    assert released.column("region") == data.column("region")


def test_a_later_profile_serves_those_whom_the_first_leaves():
    data = town(60)
    with pytest.warns(WeakProtection, match="no similar partner"):
        narrow = swap(similar=[["sex", "job"]]).apply(data, seed=1)
    wide = swap(similar=[["sex", "job"], ["sex"], []], size_band=1).apply(data, seed=1)
    counts = wide.history[-1].details["by_profile"]
    assert sum(counts) == wide.history[-1].details["swapped"]
    assert counts[1] + counts[2] > 0
    assert narrow.history[-1].details["by_profile"] == [narrow.history[-1].details["swapped"]]


def test_too_high_a_rate_is_warned_of():
    data = tacit.read({"town": ["a", "b", "b", "b"], "sex": ["f", "f", "f", "m"]})
    with pytest.warns(WeakProtection, match="fewer households than asked"):
        swap(hierarchy=["town"], k=0, swap_rate=1.0).apply(data, seed=1)


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
def test_ready_risks():
    n = 200
    rng = np.random.default_rng(1)
    place = rng.integers(0, 8, n)
    risk = np.where(np.arange(n) % 10 == 0, 0.9, 0.1)
    data = tacit.read({"region": place // 4, "town": place, "r1": risk / 2, "r2": risk})
    released = swap(similar=[[]], risk=["r1", "r2"], threshold=0.8, swap_rate=0).apply(data, seed=1)
    moved = released.column("town").to_numpy() != place
    assert moved[risk > 0.8].all()
    assert released.column("region") == data.column("region")
    bad = tacit.read({"town": [1, 2, 3], "r": [0.1, None, 0.2]})
    with pytest.raises(InputError, match="must be complete"):
        swap(hierarchy=["town"], similar=[[]], risk=["r"]).apply(bad, seed=1)


# -- pairs -----------------------------------------------------------------------------------------


def most_covered(area, must):
    """The largest number of households that must move and can, by trying everything."""

    @functools.cache
    def best(left):
        if not left:
            return 0
        i, rest = left[0], left[1:]
        found = best(rest)
        for j in rest:
            if area[i] != area[j]:
                others = tuple(x for x in rest if x != j)
                found = max(found, must[i] + must[j] + best(others))
        return found

    return best(tuple(range(len(area))))


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=2, max_size=9),
    st.integers(0, 999),
)
def test_as_many_as_possible_of_those_who_must_move_do(homes, seed):
    area = np.unique([a for a, _ in homes], return_inverse=True)[1]
    must = np.array([m for _, m in homes])
    n = len(area)
    partner, profile, _ = swap_partners(
        area[:, None],
        [np.zeros(n, dtype=np.int64)],
        must[:, None],
        np.ones((n, 1)),
        0.0,
        np.random.default_rng(seed),
        lambda _share: None,
    )
    moved = partner != np.arange(n)
    assert np.array_equal(partner[partner], np.arange(n))
    assert (area[partner][moved] != area[moved]).all()
    assert np.array_equal(profile >= 0, moved)
    assert (must & moved).sum() == most_covered(area.tolist(), must.tolist())


@settings(deadline=None, max_examples=40)
@given(
    st.integers(10, 150),
    st.integers(1, 3),
    st.floats(0, 1),
    st.integers(0, 999),
)
def test_exchanges_are_mutual_and_between_like_households_apart(n, profiles, share, seed):
    rng = np.random.default_rng(seed)
    fine = rng.integers(0, 6, n)
    areas = np.column_stack([fine // 2, fine])
    coarse = rng.integers(0, 2, n)
    make_ups = [coarse * 5 + rng.integers(0, 4 - p, n) for p in range(profiles)]
    must = rng.random((n, 2)) < 0.2
    partner, profile, _ = swap_partners(
        areas, make_ups, must, rng.random((n, 2)) + 0.01, share, rng, lambda _share: None
    )
    moved = np.flatnonzero(partner != np.arange(n))
    assert np.array_equal(partner[partner], np.arange(n))
    assert (fine[partner[moved]] != fine[moved]).all()
    for p, make_up in enumerate(make_ups):
        at = moved[profile[moved] == p]
        assert np.array_equal(make_up[partner[at]], make_up[at])
    check_partners(partner, areas, coarse)


def test_partners_are_drawn_by_risk():
    """One household must move; its three possible partners have weights 1, 2 and 5."""
    areas = np.array([[0], [1], [1], [2]])
    risk = np.array([[8.0], [1.0], [2.0], [5.0]])
    must = np.array([[True], [False], [False], [False]])
    rng, same = np.random.default_rng(1), np.zeros(4, dtype=np.int64)
    found = Counter(
        int(swap_partners(areas, [same], must, risk, 0.0, rng, lambda _s: None)[0][0])
        for _ in range(4000)
    )
    assert [found[j] / 4000 for j in (1, 2, 3)] == pytest.approx([1 / 8, 2 / 8, 5 / 8], abs=0.03)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_tree_of_partial_sums(weights):
    tree = np.zeros(len(weights) + 1, dtype=np.int64)
    for place, weight in enumerate(weights):
        add(tree, place, weight)
    sums = np.r_[0, np.cumsum(weights)]
    assert [sum_weights_before(tree, i) for i in range(len(weights) + 1)] == sums.tolist()
    for amount in range(int(sums[-1])):
        assert find(tree, amount) == np.searchsorted(sums, amount, side="right") - 1


def test_quotas_add_up():
    area = np.repeat(np.arange(50), 7)
    everyone = np.arange(350)
    totals = [quotas(area, everyone, 0.3, np.random.default_rng(s)).sum() for s in range(50)]
    assert set(totals) <= {52, 53}
    assert np.mean(totals) == pytest.approx(52.5, abs=0.3)


def test_a_broken_swap_is_refused():
    areas, make_up = np.array([[0], [0], [1], [1]]), np.array([0, 1, 0, 1])
    check_partners(np.array([2, 1, 0, 3]), areas, make_up)
    for partner in ([2, 1, 1, 3], [1, 0, 2, 3], [3, 1, 2, 0]):
        with pytest.raises(DisclosureRefused, match="broke its own rules"):
            check_partners(np.array(partner), areas, make_up)


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"hierarchy": ["town", "town"]}, "each column once"),
        ({"similar": [["town"]]}, "similar must not hold a column that is exchanged"),
        ({"risk_columns": ["town"]}, "risk_columns must not hold"),
        ({"risk": ["a"]}, "one column for each level"),
        ({"risk": ["a", "b"], "risk_columns": ["sex"]}, "not both"),
        ({"swap_rate": 1.5}, "swap_rate must be at most 1"),
        ({"k": -1}, "k must be at least 0"),
        ({"similar": []}, "similar"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        swap(**parameters)


def test_bad_data():
    with pytest.raises(RoleMissing, match="counts combinations of keys"):
        swap(hierarchy=["town"], similar=[[]]).apply(tacit.read({"town": [1, 2]}), seed=1)
    split = tacit.read({"home": [1, 1, 2], "town": [1, 2, 2]}, household="home")
    with pytest.raises(InputError, match="members of one household differ"):
        swap(hierarchy=["town"], similar=[[]], k=0).apply(split, seed=1)
    one = tacit.read({"town": [1, 1, 1]})
    with pytest.raises(Infeasible, match="live in one area"):
        swap(hierarchy=["town"], similar=[[]], k=0).apply(one, seed=1)
    words = tacit.read({"town": [1, 2], "r": ["a", "b"]})
    with pytest.raises(InputError, match="does not hold numbers"):
        swap(hierarchy=["town"], similar=[[]], risk=["r"]).apply(words, seed=1)
