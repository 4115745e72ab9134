"""Microaggregation as a Spec: what every grouping method keeps, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import Infeasible, InputError, InvalidParameter, RoleMissing
from tacit.records.microaggregation.base import GroupingMethod
from tacit.registry import specs

FIXTURES = Path(__file__).parents[1] / "fixtures"
CASC = FIXTURES / "casc"
SIX = json.loads((FIXTURES / "psd29-sdc-in-r" / "microaggregation_methods.json").read_text())

METHODS = {kind: cls for kind, cls in specs().items() if issubclass(cls, GroupingMethod)}
AGGREGATES = ["mean", "median", "trimmed", "one_step", "m_estimate"]


def spec(method, **options):
    """A Spec of that kind; clusters by medoids, the cheapest way."""
    k = 2 if method == "two_approximation" else options.pop("k", 3)
    if method == "influence_groups":
        options.setdefault("cluster", "medoids")
    if method == "learning_automaton":
        options.setdefault("restarts", 2)
    return METHODS[method](**(options | {"k": k}))


def table(data, columns):
    return np.column_stack([data.column(c).to_numpy() for c in columns])


def sizes(rows):
    return np.unique(rows, axis=0, return_counts=True)[1]


def columns_of(method):
    """Combinations of columns that a method makes k records share."""
    return [["x"], ["y"], ["z"]] if METHODS[method].each_column else [["x", "y", "z"]]


def drawn(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.lognormal(size=(n, 3)) * [1, 100, 1e4]
    return dict(zip("xyz", np.round(x, int(rng.integers(0, 4))).T, strict=True))


# -- what every method keeps -----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::tacit.errors.LowUtility")
@pytest.mark.filterwarnings("ignore:learning_automaton:tacit.errors.Approximate")
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(6, 11))
def test_groups_have_k_records_and_means_stay(method, seed, n):
    columns = drawn(seed, n)
    assume(all(len(set(v)) > n // 2 for v in columns.values()))
    data = tacit.read(columns)
    chosen = spec(method)
    masked = chosen.apply(data, seed=seed)
    for together in columns_of(method):
        assert sizes(table(masked, together)).min() >= chosen.k
    before, after = table(data, "xyz"), table(masked, "xyz")
    assert after.mean(axis=0) == pytest.approx(before.mean(axis=0), rel=1e-12)
    details = masked.history[-1].details
    assert details["smallest_group"] >= chosen.k
    scaled = (before - before.mean(axis=0)) / before.std(axis=0)
    lost = ((after - before) / before.std(axis=0)) ** 2
    assert details["sse_percent"] == pytest.approx(100 * lost.sum() / (scaled**2).sum())


@pytest.mark.parametrize("method", METHODS)
def test_strata_weights_and_missing_values(method):
    rng = np.random.default_rng(11)
    n = 33
    columns = drawn(5, n) | {"w": rng.uniform(1, 9, n), "g": rng.permutation(["a", "b", "c"] * 11)}
    columns["x"] = [None if i in (4, 20) else v for i, v in enumerate(columns["x"])]
    data = tacit.read(columns, weight="w")
    chosen = spec(method, columns=["x", "y", "z"], by=["g"], weighted=True, missing="keep")
    masked = chosen.apply(data, seed=1)
    whole = np.array([i not in (4, 20) for i in range(n)])
    group = np.array(columns["g"])
    before, after = table(data, "xyz"), table(masked, "xyz")
    for c, old, new in zip("xyz", before.T, after.T, strict=True):
        # Column by column only the records without that very value are left out.
        rows = whole if not METHODS[method].each_column or c == "x" else np.full(n, True)
        for g in "abc":
            there = rows & (group == g)
            weights = np.array(columns["w"])[there]
            expected = np.average(old[there], weights=weights)
            assert np.average(new[there], weights=weights) == pytest.approx(expected, rel=1e-12)
        assert (new[~rows] == old[~rows]).all() or c == "x"
    assert masked.column("x").null_count == 2
    for together in columns_of(method):
        rows = table(masked, together)
        complete = ~np.isnan(rows).any(axis=1) & (whole if len(together) > 1 else True)
        for g in "abc":
            assert sizes(rows[complete & (group == g)]).min() >= chosen.k


@pytest.mark.parametrize("method", METHODS)
def test_households_stay_whole(method):
    rng = np.random.default_rng(2)
    columns = {c: np.repeat(v, 2) for c, v in drawn(3, 10).items()} | {"h": np.repeat(range(10), 2)}
    order = rng.permutation(20)
    data = tacit.read({c: np.asarray(v)[order] for c, v in columns.items()}, household="h")
    masked = spec(method, columns=["x", "y", "z"], unit="household").apply(data, seed=1)
    rows = table(masked, "hxyz")
    assert len(np.unique(rows, axis=0)) == 10
    k = 2 if method == "two_approximation" else 3
    for together in columns_of(method):
        assert sizes(table(masked, together)).min() >= 2 * k


@pytest.mark.parametrize("how", AGGREGATES)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_aggregate_through_the_spec(how, weighted):
    data = tacit.read(drawn(1, 40) | {"w": np.linspace(1, 5, 40)}, weight="w")
    masked = spec("sort_by_component", k=5, aggregate=how, weighted=weighted, trim=0.2).apply(data)
    assert sizes(table(masked, "xyz")).min() >= 5
    within = table(data, "xyz")
    assert (table(masked, "xyz") >= within.min(axis=0) - 1e-9).all()
    assert (table(masked, "xyz") <= within.max(axis=0) + 1e-9).all()


@pytest.mark.parametrize("cluster", ["gmm", "kmeans", "medoids", "hierarchical"])
@pytest.mark.parametrize(
    "method",
    [
        "sort_by_component",
        "sort_by_robust_component",
        "sort_by_projection_pursuit",
        "influence_groups",
        "mdav",
    ],
)
def test_clusters_first(cluster, method):
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 2, 60)
    columns = {c: np.exp(rng.normal(size=60) * 0.3 + 7 * kind) for c in "xyz"}
    chosen = spec(method, cluster=cluster, clusters=2, transform="log")
    masked = chosen.apply(tacit.read(columns), seed=3)
    rows = table(masked, "xyz")
    assert sizes(rows).min() >= 3
    low, high = ({tuple(r) for r in rows[kind == g]} for g in (0, 1))
    assert not low & high


# -- published and derived numbers -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("simple", "file_order_groups"),
        ("single", "sort_by_column"),
        ("onedims", "individual_ranking"),
        ("pca", "sort_by_component"),
        ("pppca", "sort_by_projection_pursuit"),
        ("mdav", "mdav"),
    ],
)
def test_twelve_records_six_ways(name, method):
    x = np.array(SIX["input"]["X"])
    data = tacit.read({f"v{j}": x[:, j] for j in range(3)})
    masked = METHODS[method](k=3).apply(data, seed=1)
    rows = table(masked, ["v0", "v1", "v2"])
    expected = SIX["expected"][name]
    assert rows == pytest.approx(np.array(expected["masked"]), abs=1e-6)
    il1 = np.abs(x - rows) / (np.sqrt(2) * x.std(axis=0, ddof=1))
    assert il1.mean() == pytest.approx(expected["IL1_mean"])


def test_loss_of_the_census_file_by_method():
    data = tacit.read(CASC / "census.csv")
    losses = {
        method: METHODS[method](k=3).apply(data, seed=1).history[-1].details["sse_percent"]
        for method in ("mdav", "sort_by_component", "file_order_groups")
    }
    assert losses["mdav"] == pytest.approx(5.69219, abs=1e-5)
    assert losses["mdav"] < losses["sort_by_component"] < losses["file_order_groups"]


def summary(x, y):
    """The loss measures that the findings are about."""

    def relative(f):
        return float((np.abs(f(x) - f(y)) / np.abs(f(x))).sum())

    from tacit.stats.robust import mad, one_step_mean

    correlations = [np.corrcoef(v.T) for v in (x, y)]
    spread = np.sqrt(2) * x.std(axis=0, ddof=1)
    inside = np.abs(x - y) <= 0.05 * y.std(axis=0, ddof=1)
    p = x.shape[1]
    return {
        "amean": relative(lambda v: v.mean(axis=0)),
        "amedian": relative(lambda v: np.median(v, axis=0)),
        "aonestep": relative(one_step_mean),
        "amad": relative(mad),
        "acor": float(np.abs((correlations[1] - correlations[0]) / correlations[0]).sum() / 2 / p),
        "il1": float((np.abs(x - y) / spread).mean()),
        "risk": float(inside.all(axis=1).mean()),
    }


def simulated(seed, n=200):
    """Five lognormal variables driven by a mixture of three kinds, 60, 30 and 10 % of the records."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, size=n, p=[0.6, 0.3, 0.1])
    driver = kind + 0.5 * rng.normal(size=n)
    return np.exp(0.8 * driver[:, None] + 0.5 * rng.normal(size=(n, 5)))


def measured(x, method, k):
    names = [f"v{j}" for j in range(x.shape[1])]
    data = tacit.read(dict(zip(names, x.T, strict=True)))
    masked = METHODS[method](k=k).apply(data, seed=1)
    return summary(x, table(masked, names))


@pytest.mark.slow
def test_findings_of_the_paper_in_simulation():
    methods = (
        *("sort_by_column", "individual_ranking", "sort_by_component"),
        *("sort_by_projection_pursuit", "mdav"),
    )
    found = {m: [measured(simulated(seed), m, 3) for seed in range(10)] for m in methods}
    middle = {
        m: {name: np.median([run[name] for run in runs]) for name in runs[0]}
        for m, runs in found.items()
    }
    assert max(run["amean"] for runs in found.values() for run in runs) <= 1e-10
    for measure in ("amedian", "aonestep", "amad"):
        assert min(middle, key=lambda m: middle[m][measure]) == "individual_ranking"
    for m in ("sort_by_component", "sort_by_projection_pursuit", "mdav"):
        assert middle["individual_ranking"]["acor"] < middle[m]["acor"]
    for m in (
        *("mdav", "sort_by_component"),
        *("sort_by_projection_pursuit", "individual_ranking"),
    ):
        coarse = [measured(simulated(seed), m, 11) for seed in range(10)]
        for fine, rough in zip(found[m], coarse, strict=True):
            assert rough["il1"] > fine["il1"]
        assert np.mean([run["risk"] for run in coarse]) < np.mean([r["risk"] for r in found[m]])


def test_one_row_a_group_overstates_the_harm_of_individual_ranking():
    """Templ's table pairs the g-th smallest group of every variable, which forces correlations to 1."""
    for seed in range(3):
        x = np.exp(np.random.default_rng(seed).normal(size=(300, 5)))
        full = measured(x, "individual_ranking", 3)["acor"]
        rows = np.sort(x, axis=0).reshape(100, 3, 5).mean(axis=1)
        true, reduced = np.corrcoef(x.T), np.corrcoef(rows.T)
        assert np.abs((reduced - true) / true).sum() / 10 > 5 * full


# -- options ---------------------------------------------------------------------------------------


def test_single_sorts_by_the_column_named_with_and_without_columns():
    columns = drawn(8, 30)
    data = tacit.read(columns)
    by_z = tacit.SortByColumn(sort_by="z", k=3)
    expected = np.sort(columns["z"]).reshape(10, 3).mean(axis=1)
    assert np.unique(by_z.apply(data).column("z").to_numpy()) == pytest.approx(expected)
    swapped = tacit.SortByColumn(sort_by="z", k=3, columns=["z", "x"])
    assert np.unique(swapped.apply(data).column("z").to_numpy()) == pytest.approx(expected)


def test_whole_numbers_stay_whole_when_asked():
    data = tacit.read({"x": [1, 2, 4, 10, 11, 13]})
    masked = tacit.Mdav(k=3, whole=True).apply(data)
    assert masked.column("x").to_pylist() == [2, 2, 2, 11, 11, 11]
    assert tacit.Mdav(k=3).apply(data).column("x").to_pylist()[0] == pytest.approx(7 / 3)


def test_records_without_a_household_stand_alone():
    data = tacit.read(
        {"h": [1, 1, None, None, 2, 2], "x": [1.0, 1.0, 2.0, 8.0, 9.0, 9.0]}, household="h"
    )
    masked = tacit.Mdav(k=2, unit="household").apply(data).column("x").to_pylist()
    assert masked == [1.5, 1.5, 1.5, 8.5, 8.5, 8.5]


def test_small_strata_are_one_group():
    data = tacit.read({"g": ["a"] * 4 + ["b"] * 5, "x": np.arange(9.0)})
    masked = tacit.Mdav(k=3, by=["g"]).apply(data)
    assert set(masked.column("x").to_pylist()) == {1.5, 6.0}


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, "k must be at least 2"),
        ({"trim": 0.5}, "trim must be less than 0.5"),
        ({"trim": -0.1}, "trim must be at least 0"),
        ({"one_step": 0}, "one_step must be greater than 0"),
        ({"aggregate": "mode"}, "aggregate must be one of"),
        ({"sort_by": "x"}, "there is no parameter 'sort_by'"),
        ({"gamma": 1.0}, "there is no parameter 'gamma'"),
        ({"transform": "log"}, "belong to clustering"),
        ({"clusters": 3}, "belong to clustering"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(InvalidParameter, match=message):
        tacit.WardGroups(**options)


def test_two_approximation_is_for_two():
    with pytest.raises(InvalidParameter, match="k = 2 only"):
        tacit.TwoApproximation(k=3)
    assert tacit.TwoApproximation().k == 2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": ["q"]}, InputError, "no column 'q'"),
        ({"by": ["q"]}, InputError, "no column 'q'"),
        ({"columns": ["t"]}, InputError, "column 't' does not hold numbers"),
        ({"columns": ["x", "x"]}, InputError, "each column once"),
        ({"columns": ["x"], "by": ["x"]}, InputError, "cannot be masked as well"),
        ({"weighted": True}, RoleMissing, "need a weight column"),
        ({"unit": "household"}, RoleMissing, "needs a household column"),
        ({"k": 6}, Infeasible, "at least 12 complete records"),
        ({"by": ["t"]}, Infeasible, "a class of 'by' has fewer than 3"),
        ({"columns": ["x", "holed"]}, InputError, "'holed' has missing values"),
        ({"columns": ["x", "endless"]}, InputError, "'endless' holds infinite numbers"),
        (
            {"method": "sort_by_column", "sort_by": "y", "columns": ["x", "still"]},
            InputError,
            "'y' is not a masked column",
        ),
        (
            {"cluster": "medoids", "clusters": 4, "columns": ["x", "y"]},
            InputError,
            "4 clusters of at least 3 records need 12",
        ),
        (
            {"cluster": "kmeans", "transform": "log", "columns": ["x", "y"]},
            InputError,
            "column 'y' has others",
        ),
        *(
            ({"method": m, "columns": ["x", "still"]}, InputError, "'still' is constant")
            for m in METHODS
            if METHODS[m].projects
        ),
    ],
)
def test_bad_data(options, error, message):
    data = tacit.read(
        {
            "x": np.arange(1.0, 11.0),
            "y": np.arange(10.0),
            "t": list("aaaaaaaabb"),
            "still": np.ones(10),
            "holed": [None, *range(9)],
            "endless": [np.inf, *map(float, range(9))],
        }
    )
    options = {"columns": ["x", "y"]} | options
    with pytest.raises(error, match=message):
        METHODS[options.pop("method", "ward_groups")](**options).apply(data, seed=1)


def test_weights_must_be_positive():
    data = tacit.read({"x": np.arange(8.0), "w": np.ones(8)}, weight="w")
    data = data.replace({"w": np.array([0.0] + [1.0] * 7)})
    with pytest.raises(InputError, match="weights above 0"):
        tacit.Mdav(weighted=True).apply(data)


def test_members_of_a_household_must_agree():
    data = tacit.read({"h": [1, 1, 2, 2, 3, 3, 4, 4], "x": np.arange(8.0)}, household="h")
    with pytest.raises(InputError, match="same for all members"):
        tacit.Mdav(k=2, unit="household").apply(data)


def test_a_constant_column_is_left_to_mdav():
    data = tacit.read({"x": np.arange(9.0), "still": np.ones(9)})
    masked = tacit.Mdav(k=3).apply(data)
    assert masked.column("still").to_pylist() == [1.0] * 9
    assert sizes(table(masked, ["x", "still"])).tolist() == [3, 3, 3]


def test_no_complete_record_changes_nothing():
    data = tacit.read({"x": [1.0, None, 3.0], "y": [None, 2.0, None]})
    masked = tacit.Mdav(k=2, missing="keep").apply(data)
    assert masked.to_arrow().equals(data.to_arrow())
