"""Microaggregation of numbers and categories together."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import Infeasible, InputError, InvalidParameter, RoleMissing

LEVELS = ["none", "school", "college", "degree"]
MASKED = ["age", "school", "region", "income"]


def survey(seed=1, n=40):
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(18, 90, n),
        "school": rng.choice(LEVELS, n).tolist(),
        "region": rng.choice(["north", "south", "east"], n).tolist(),
        "income": rng.lognormal(3, 1, n),
        "w": rng.uniform(1, 5, n),
        "g": rng.permutation(np.arange(n) % 2),
    }


def mixed(**options):
    return tacit.MicroaggregateMixed(
        **({"columns": MASKED, "ordered": {"school": LEVELS}} | options)
    )


def rows(data, columns=MASKED):
    return list(zip(*(data.column(c).to_pylist() for c in columns), strict=True))


def partition(data, columns=MASKED):
    """The records of each combination of values."""
    found = {}
    for i, row in enumerate(rows(data, columns)):
        found.setdefault(row, []).append(i)
    return found


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(8, 40), k=st.integers(2, 4))
def test_combinations_are_shared_and_values_are_typical(seed, n, k):
    columns = survey(seed, n)
    masked = mixed(k=k).apply(tacit.read(columns), seed=seed)
    groups = partition(masked)
    assert min(map(len, groups.values())) >= k
    for (age, school, region, income), members in groups.items():
        assert age == pytest.approx(np.mean([columns["age"][i] for i in members]))
        assert income == pytest.approx(np.mean([columns["income"][i] for i in members]))
        ranks = sorted(LEVELS.index(columns["school"][i]) for i in members)
        assert school == LEVELS[ranks[(len(ranks) - 1) // 2]]
        regions = [columns["region"][i] for i in members]
        assert region == min(set(regions), key=lambda r: (-regions.count(r), r))
    assert np.mean(masked.column("age").to_numpy()) == pytest.approx(np.mean(columns["age"]))


def test_weights_strata_and_missing_values():
    columns = survey(4)
    columns["school"][7] = None
    columns["income"] = [None if i == 12 else v for i, v in enumerate(columns["income"])]
    data = tacit.read(columns, weight="w")
    chosen = mixed(by=["g"], weighted=True, missing="keep", k=3)
    masked = chosen.apply(data)
    whole = np.array([i not in (7, 12) for i in range(40)])
    assert rows(masked.take(np.flatnonzero(~whole))) == rows(data.take(np.flatnonzero(~whole)))
    for g in (0, 1):
        there = whole & (columns["g"] == g)
        part = masked.take(np.flatnonzero(there))
        assert min(map(len, partition(part).values())) >= 3
        expected = np.average(columns["age"][there], weights=columns["w"][there])
        found = np.average(part.column("age").to_numpy(), weights=columns["w"][there])
        assert found == pytest.approx(expected)


def test_weighted_categories():
    data = tacit.read(
        {"c": ["a", "a", "b", "x", "x", "x"], "w": [1.0, 1.0, 5.0, 1.0, 1.0, 1.0]}, weight="w"
    )
    spec = tacit.MicroaggregateMixed(columns=["c"], k=3, weighted=True)
    masked = spec.apply(data)
    assert masked.column("c").to_pylist() == ["b", "b", "b", "x", "x", "x"]


def test_households_stay_whole():
    columns = {c: np.repeat(np.asarray(v), 2) for c, v in survey(2, 12).items()}
    data = tacit.read(columns | {"h": np.repeat(range(12), 2)}, household="h")
    masked = mixed(unit="household", k=3).apply(data)
    found = rows(masked)
    assert found[::2] == found[1::2]
    assert min(map(len, partition(masked).values())) >= 6


def test_categories_alone_make_keys_k_anonymous():
    rng = np.random.default_rng(5)
    data = tacit.read(
        {c: rng.choice(list("abcd"), 60).tolist() for c in ("one", "two", "three")},
        keys=["one", "two", "three"],
    )
    masked = tacit.MicroaggregateMixed(k=5).apply(data, seed=1)
    assert tacit.KAnonymity(k=5).measure(masked).value >= 0
    assert min(map(len, partition(masked, ["one", "two", "three"]).values())) >= 5
    claim = masked.history[-1].claims[0]
    assert claim.model == "k-combinations"
    assert claim.parameters["combinations"] == [["one", "two", "three"]]


def test_order_comes_from_levels_the_hierarchy_or_the_values():
    columns = {"c": ["low", "low", "mid", "high", "high", "high"], "x": [1.0, 1, 1, 9, 9, 9]}
    given_levels = tacit.MicroaggregateMixed(
        columns=["c", "x"], k=3, ordered={"c": ["low", "mid", "high"]}
    )
    expected = ["low"] * 3 + ["high"] * 3
    assert given_levels.apply(tacit.read(columns)).column("c").to_pylist() == expected
    columns["c"][0] = "high"  # high, low, mid: the middle is mid by level, low by spelling
    assert given_levels.apply(tacit.read(columns)).column("c").to_pylist()[:3] == ["mid"] * 3
    bare = tacit.MicroaggregateMixed(columns=["c", "x"], k=3, ordered={"c": []})
    assert bare.apply(tacit.read(columns)).column("c").to_pylist()[:3] == ["low"] * 3
    tree = tacit.Hierarchy.from_paths([("low", "*"), ("mid", "*"), ("high", "*")])
    data = tacit.read(columns, keys=["c"], hierarchies={"c": tree})
    assert bare.apply(data).column("c").to_pylist()[:3] == ["mid"] * 3


def test_numbers_can_be_names_of_categories():
    data = tacit.read({"code": [1, 9, 1, 4, 4, 7], "x": [1.0, 1, 1, 5, 5, 5]})
    masked = tacit.MicroaggregateMixed(columns=["code", "x"], nominal=["code"], k=3).apply(data)
    assert masked.column("code").to_pylist() == [1, 1, 1, 4, 4, 4]
    assert masked.column("code").type == pa.int64()
    ordered = tacit.MicroaggregateMixed(columns=["code", "x"], ordered={"code": []}, k=3)
    assert ordered.apply(data).column("code").to_pylist() == [1, 1, 1, 4, 4, 4]


def test_importance_decides_what_stays_together():
    columns = {"a": ["u", "u", "u", "v", "v", "v"], "b": ["p", "q", "p", "q", "p", "q"]}
    for column in ("a", "b"):
        spec = tacit.MicroaggregateMixed(columns=["a", "b"], k=3, importance={column: 10})
        masked = spec.apply(tacit.read(columns))
        assert masked.column(column).to_pylist() == columns[column]


def test_ties_first_or_at_random():
    data = tacit.read({"c": ["a", "b"] * 60, "x": np.repeat(np.arange(60.0), 2)})
    options = {"columns": ["c", "x"], "k": 2, "importance": {"x": 1e6}}
    first = tacit.MicroaggregateMixed(**options).apply(data, seed=1)
    assert set(first.column("c").to_pylist()) == {"a"}
    drawn = [
        tacit.MicroaggregateMixed(**options, ties="random")
        .apply(data, seed=s)
        .column("c")
        .to_pylist()
        for s in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert 20 < drawn[0].count("a") < 100


def test_median_and_whole_numbers():
    data = tacit.read({"n": [1, 2, 9, 20, 21, 40], "c": list("aaabbb")})
    median = tacit.MicroaggregateMixed(columns=["n", "c"], k=3, aggregate="median", whole=True)
    assert median.apply(data).column("n").to_pylist() == [2, 2, 2, 21, 21, 21]


def test_history_gives_the_mean_distance():
    data = tacit.read({"x": [0.0, 1, 2, 8, 9, 10], "c": list("aabbbb")})
    details = tacit.MicroaggregateMixed(columns=["x", "c"], k=3).apply(data).history[-1].details
    assert details["groups"] == 2
    assert details["mean_distance_by_column"] == pytest.approx({"x": 4 / 60, "c": 1 / 6})
    assert details["mean_distance"] == pytest.approx((4 / 60 + 1 / 6) / 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, "k must be at least 2"),
        ({"ordered": {"c": []}, "nominal": ["c"]}, "cannot be both ordered and nominal"),
        ({"ordered": {"c": ["a", "a"]}}, "must differ from each other"),
        ({"importance": {"c": 0}}, "must be greater than 0"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(InvalidParameter, match=message):
        tacit.MicroaggregateMixed(**options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": None}, RoleMissing, "name columns, or declare keys"),
        ({"columns": ["q"]}, InputError, "no column 'q'"),
        ({"columns": ["c", "c"]}, InputError, "each column once"),
        ({"columns": ["c"], "by": ["c"]}, InputError, "cannot be masked as well"),
        ({"importance": {"q": 2}}, InputError, "no column 'q' in the masked columns"),
        ({"ordered": {"c": ["a"]}}, InputError, "not among its levels"),
        ({"columns": ["holed"]}, InputError, "'holed' has missing values"),
        ({"columns": ["endless"]}, InputError, "infinite numbers"),
        ({"unit": "household"}, RoleMissing, "needs a household column"),
        ({"weighted": True}, RoleMissing, "need a weight column"),
        ({"k": 4}, Infeasible, "at least 8 complete records"),
        ({"by": ["x"]}, Infeasible, "fewer than 3 complete records"),
    ],
)
def test_bad_data(options, error, message):
    data = tacit.read(
        {
            "c": list("aabbbb"),
            "x": np.arange(6.0),
            "holed": [None, *"abcde"],
            "endless": [np.inf, *map(float, range(5))],
        }
    )
    with pytest.raises(error, match=message):
        tacit.MicroaggregateMixed(**({"columns": ["c"]} | options)).apply(data)


def test_members_of_a_household_must_agree():
    data = tacit.read({"h": [1, 1, 2, 2], "c": list("abab")}, household="h")
    with pytest.raises(InputError, match="same for all members"):
        tacit.MicroaggregateMixed(columns=["c"], k=2, unit="household").apply(data)
