"""What every masking method promises, proved on random data from the definitions."""

import re
import warnings
from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.registry import specs

pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")

FEW = settings(max_examples=5, deadline=None)
seeds = st.integers(0, 2**32 - 1)
C = ["x", "y"]
GROUPING = [
    *(tacit.Mdav, tacit.VMdav, tacit.TwoApproximation, tacit.MuApproximation, tacit.PathGroups),
    *(tacit.SpanningTreeGroups, tacit.WardGroups, tacit.FileOrderGroups, tacit.SortByColumn),
    *(tacit.SortByZscores, tacit.SortByComponent, tacit.SortByRobustComponent),
    *(tacit.SortByProjectionPursuit, tacit.InfluenceGroups, partial(tacit.Mdav, seeds=1)),
]
COLUMNWISE = [tacit.IndividualRanking, tacit.OptimalUnivariate]


def columns(seed, n=36, **more):
    """Columns with two skewed numbers, a whole number, text, a class, households and weights."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(2, 10, n)
    return {
        "id": [f"p{i}" for i in range(n)],
        "x": x,
        "y": 0.5 * x + rng.normal(0, 6, n) + 40,
        "i": rng.integers(1000, 9000, n),
        "t": rng.choice(["née", "ß", "漢字"], n).tolist(),
        "g": np.array(["u", "v"])[np.arange(n) % 2].tolist(),
        "w": rng.uniform(1, 9, n),
        **more,
    }


def people(seed, n=36, **more):
    return tacit.read(columns(seed, n, **more), identifiers=["id"], keys=["t", "g"], weight="w")


def values(data, names=C):
    return np.column_stack([data.column(c).to_numpy() for c in names]).astype(float)


def sizes(rows):
    return Counter(map(tuple, np.asarray(rows).tolist()))


ALL = [
    tacit.Mdav(columns=C),
    tacit.Mdav(columns=C, improve=True),
    *[m(columns=C, k=2) for m in (*GROUPING, *COLUMNWISE)],
    tacit.MicroaggregateMixed(columns=["x", "t"]),
    tacit.MicroaggregatedSwap(columns=["x"], by=["g"]),
    tacit.RankSwap(columns=C),
    tacit.Shuffle(columns=["x"], given=["y", "g"]),
    tacit.Shuffle(columns=C, engine="lhs"),
    tacit.SwapRecords(hierarchy=["g"], similar=[["t"], []], risk_columns=["t"], k=3, swap_rate=0.2),
    tacit.Pram(column="t"),
    tacit.LocalSuppression(k=3),
    tacit.TopBottomCode(column="x", top_share=0.2, replace="mean"),
    tacit.Recode(column="x", breaks=[10, 20]),
    tacit.RoundTiers(columns=C, tiers=[[10, 5]]),
    tacit.SimulateBounded(columns=C, given=["g"], unusual=0.2),
    tacit.Impute(columns=["x"]),
    tacit.AddNoise(columns=C, relative=0.1),
    tacit.MultiplicativeNoise(columns=C),
    tacit.RestrictedNoise(columns=C),
    tacit.OutlierNoise(columns=C, detector="share", share=0.2),
    tacit.Romm(columns=C, acknowledged=True),
    tacit.WeightNoise(),
    tacit.RestoringNoise(columns=C),
    tacit.LocalNoise(columns=C, partitions=4),
    tacit.TwoStage(columns=C, second=tacit.Mdav(k=3)),
    tacit.MultiStage(columns=C, stages=[tacit.Mdav(k=3), tacit.RankSwap(percent=10)]),
    tacit.Ipso(columns=["x"], given=["y", "g"]),
    tacit.CorrelatedNoise(columns=C, lambda_squared=0.1),
]
TOUCHED = {
    "microaggregate_mixed": {"x", "t"},
    "swap_records": {"g"},
    "pram": {"t"},
    "local_suppression": {"t", "g"},
    "weight_noise": {"w"},
}


def ident(spec):
    return "-".join([spec.kind, getattr(spec, "method", ""), str(getattr(spec, "engine", ""))])


# -- what holds for all ----------------------------------------------------------------------


@pytest.mark.parametrize("method", ALL, ids=ident)
def test_other_columns_and_the_order_stay_and_the_seed_decides(method):
    data = people(11)
    released = method.apply(data, seed=5)
    touched = TOUCHED.get(method.kind, {"x", "y"})
    assert released.columns == data.columns
    for c in data.columns:
        if c not in touched:
            assert released.column(c).equals(data.column(c)), c
    again = method.apply(data, seed=5)
    assert again.to_arrow().equals(released.to_arrow())
    if not any(c in touched for c in ("t", "g", "w")) and method.kind != "recode":
        assert np.isfinite(values(released)).all()


def told(data):
    """Every number of a file as it might be printed."""
    for c in ("x", "y", "w", "i"):
        for v in data.column(c).to_pylist():
            yield from {str(v), f"{v:g}", f"{v:.4f}", f"{v:.6g}"}


@pytest.mark.parametrize("method", ALL, ids=ident)
def test_history_and_warnings_hold_no_record_values(method):
    data = people(12)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        released = method.apply(data, seed=5)
    text = " ".join([repr(released.history[-1]), *(str(w.message) for w in seen)])
    words = set(re.findall(r"-?\d[\d.e+-]*\d", text))
    assert not words & {t for t in told(data) if sum(map(str.isdigit, t)) >= 4}


def test_secrets_stay_out_of_public_plans_and_of_print():
    hidden = {
        tacit.RankSwap(columns=C, percent=17.125): "17.125",
        tacit.SwapRecords(hierarchy=["g"], k=4, swap_rate=0.1625): "0.1625",
        tacit.SimulateBounded(columns=C, unusual=0.0625, bound=0.0875): "0.0625",
        tacit.MultiplicativeNoise(columns=C, distribution="two_sided", gap=0.0625): "0.0625",
        tacit.RestrictedNoise(columns=C, limit=0.4375): "0.4375",
        tacit.Romm(columns=C, magnitude=0.3125, acknowledged=True): "0.3125",
    }
    for spec, value in hidden.items():
        assert value not in repr(spec.to_dict(public=True)), spec.kind
        assert value in repr(spec.to_dict()), spec.kind
        assert not set(spec.secret_fields()) & set(spec.to_dict(public=True))
        assert value not in repr(spec.apply(people(1), seed=1).history[-1].parameters)


def test_secrets_of_stages_stay_out_of_public_plans():
    spec = tacit.TwoStage(columns=C, first=tacit.Mdav(), second=tacit.RankSwap(percent=17.125))
    assert "17.125" not in repr(spec.to_dict(public=True))
    assert "17.125" not in repr(spec.apply(people(1), seed=1).history[-1].parameters)


# -- microaggregation ------------------------------------------------------------------------


@pytest.mark.parametrize("method", GROUPING)
@settings(max_examples=2, deadline=None)
@given(seeds, st.integers(2, 5))
def test_groups_have_k_records_and_their_means(method, seed, k):
    k = 2 if method is tacit.TwoApproximation else k
    data = people(seed)
    released = method(columns=C, k=k).apply(data, seed=1)
    old, new = values(data), values(released)
    assert min(sizes(new).values()) >= k
    for row in set(map(tuple, new.tolist())):
        who = (new == row).all(axis=1)
        assert old[who].mean(axis=0) == pytest.approx(row, rel=1e-9)
    inside = np.cov((old - new).T, bias=True)
    assert np.allclose(np.cov(old.T, bias=True), np.cov(new.T, bias=True) + inside)


@pytest.mark.parametrize("method", COLUMNWISE)
@FEW
@given(seeds, st.integers(2, 5))
def test_columnwise_groups_are_runs_of_k(method, seed, k):
    data = people(seed)
    released = method(columns=C, k=k).apply(data, seed=1)
    old, new = values(data), values(released)
    for j in range(2):
        order = np.argsort(old[:, j])
        assert (np.diff(new[order, j]) >= -1e-12).all()
        assert min(Counter(new[:, j].tolist()).values()) >= k
    assert new.mean(axis=0) == pytest.approx(old.mean(axis=0))


@FEW
@given(seeds, st.integers(2, 4))
def test_optimal_univariate_has_the_least_loss(seed, k):
    x = np.random.default_rng(seed).gamma(2, 10, 12)
    data = tacit.read({"x": x})
    made = tacit.OptimalUnivariate(columns=["x"], k=k).apply(data)
    s = np.sort(x)
    best = [0.0] + [np.inf] * 12
    for end in range(k, 13):
        for size in range(k, min(2 * k - 1, end) + 1):
            group = s[end - size : end]
            best[end] = min(best[end], best[end - size] + ((group - group.mean()) ** 2).sum())
    loss = ((x - made.column("x").to_numpy()) ** 2).sum()
    assert loss == pytest.approx(best[12])


def loss(data, released):
    old = values(data)
    return float((((old - values(released)) / old.std(axis=0)) ** 2).sum())


@settings(max_examples=4, deadline=None)
@given(seeds)
def test_no_method_beats_the_optimum_and_improving_never_hurts(seed):
    data = people(seed, n=9)
    best = loss(data, tacit.OptimalGroups(columns=C, k=3).apply(data, seed=1))
    for method in (m for m in GROUPING if m is not tacit.TwoApproximation):
        made = method(columns=C, k=3).apply(data, seed=1)
        assert loss(data, made) >= best - 1e-9
    larger = people(seed)
    plain = tacit.Mdav(columns=C).apply(larger)
    better = tacit.Mdav(columns=C, improve=True).apply(larger)
    assert loss(larger, better) <= loss(larger, plain) + 1e-9
    assert min(sizes(values(better)).values()) >= 3


@settings(max_examples=4, deadline=None)
@given(seeds)
def test_two_approximation_keeps_its_bound(seed):
    data = people(seed, n=10)
    best = tacit.OptimalGroups(columns=C, k=2).apply(data, seed=1)
    made = tacit.TwoApproximation(columns=C, k=2).apply(data, seed=1)
    assert loss(data, made) <= 2 * loss(data, best) + 1e-9


@FEW
@given(seeds, st.sampled_from([tacit.Mdav, tacit.SortByComponent, tacit.VMdav]))
def test_strata_weights_and_missing_values(seed, method):
    rng = np.random.default_rng(seed)
    full = columns(seed, n=40)
    full["x"] = [
        None if b else float(v) for b, v in zip(rng.random(40) < 0.15, full["x"], strict=True)
    ]
    data = tacit.read(full, identifiers=["id"], weight="w")
    spec = method(columns=C, k=3, by=["g"], weighted=True, missing="keep")
    released = spec.apply(data, seed=1)
    hole = np.array([v is None for v in full["x"]])
    new = np.array([np.nan if v is None else v for v in released.column("x").to_pylist()])
    old = np.array([np.nan if v is None else v for v in full["x"]])
    assert (np.isnan(new) == hole).all()
    y_new, y_old = released.column("y").to_numpy(), data.column("y").to_numpy()
    assert (y_new[hole] == y_old[hole]).all()
    g, w = np.array(full["g"]), np.asarray(full["w"])
    for stratum in "uv":
        who = (g == stratum) & ~hole
        for a, b in ((old, new), (y_old, y_new)):
            assert np.average(b[who], weights=w[who]) == pytest.approx(
                np.average(a[who], weights=w[who])
            )
        assert min(Counter(new[who].tolist()).values()) >= 3
    with pytest.raises(tacit.SdcError, match="missing"):
        method(columns=C).apply(data)


@FEW
@given(seeds, st.integers(2, 4))
def test_households_stay_together(seed, k):
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(14), rng.integers(1, 4, 14))
    rent = rng.gamma(2, 300, 14)[home]
    data = tacit.read({"home": home, "rent": rent}, household="home")
    new = tacit.Mdav(columns=["rent"], k=k, unit="household").apply(data).column("rent").to_numpy()
    for value in set(new.tolist()):
        assert len(set(home[new == value].tolist())) >= k
    assert all(len(set(new[home == h].tolist())) == 1 for h in range(14))


@pytest.mark.parametrize("aggregate", ["median", "trimmed", "one_step", "m_estimate"])
@FEW
@given(seeds)
def test_aggregates_lie_within_their_group(aggregate, seed):
    data = people(seed)
    plain = values(tacit.Mdav(columns=C, k=4).apply(data))
    new = values(tacit.Mdav(columns=C, k=4, aggregate=aggregate).apply(data))
    old = values(data)
    for row in set(map(tuple, plain.tolist())):
        who = (plain == row).all(axis=1)
        inside = old[who]
        assert (new[who] == new[who][0]).all()
        assert (new[who][0] >= inside.min(axis=0) - 1e-9).all()
        assert (new[who][0] <= inside.max(axis=0) + 1e-9).all()
        if aggregate == "median":
            assert new[who][0] == pytest.approx(np.median(inside, axis=0))


@FEW
@given(seeds, st.integers(2, 5))
def test_mixed_microaggregation_makes_k_equal_records(seed, k):
    data = people(seed)
    spec = tacit.MicroaggregateMixed(columns=["x", "t", "g"], k=k)
    released = spec.apply(data, seed=1)
    rows = Counter(zip(*(released.column(c).to_pylist() for c in ("x", "t", "g")), strict=True))
    assert min(rows.values()) >= k
    assert set(released.column("t").to_pylist()) <= set(data.column("t").to_pylist())
    assert released.column("x").to_numpy().mean() == pytest.approx(
        data.column("x").to_numpy().mean()
    )


@FEW
@given(seeds)
def test_microaggregated_swap_keeps_weighted_cell_means(seed):
    data = people(seed)
    new = tacit.MicroaggregatedSwap(columns=["x", "i"], by=["g"]).apply(data, seed=seed % 997)
    w, g = data.column("w").to_numpy(), np.array(data.column("g").to_pylist())
    for c in ("x", "i"):
        a, b = data.column(c).to_numpy(), new.column(c).to_numpy()
        for cell in "uv":
            who = g == cell
            assert np.average(b[who], weights=w[who]) == pytest.approx(
                np.average(a[who], weights=w[who])
            )
            assert a[who].min() - 1e-9 <= b[who].min()
            assert b[who].max() <= a[who].max() + 1e-9
    even = tacit.read(columns(seed))
    moved = tacit.MicroaggregatedSwap(columns=["x"], by=["g"]).apply(even, seed=1)
    for cell in "uv":
        assert np.sort(moved.column("x").to_numpy()[g == cell]) == pytest.approx(
            np.sort(even.column("x").to_numpy()[g == cell])
        )


# -- swapping and shuffling ------------------------------------------------------------------


@FEW
@given(seeds, st.floats(1, 100))
def test_ranks_move_within_the_window(seed, percent):
    data = people(seed)
    released = tacit.RankSwap(columns=["x", "i"], percent=percent).apply(data, seed=seed % 991)
    n = len(data)
    window = max(1, int(percent * n / 100))
    for c in ("x", "i"):
        old, new = data.column(c).to_numpy(), released.column(c).to_numpy()
        assert new.dtype == old.dtype
        assert (np.sort(old) == np.sort(new)).all()
        s = np.sort(old)
        # ties may be ranked in any order: the nearest ranks of the two values must be within reach
        low_o, high_o = np.searchsorted(s, old), np.searchsorted(s, old, side="right") - 1
        low_n, high_n = np.searchsorted(s, new), np.searchsorted(s, new, side="right") - 1
        gap = np.maximum(0, np.maximum(low_n - high_o, low_o - high_n))
        assert gap.max() <= window


@FEW
@given(seeds)
def test_rank_swap_leaves_missing_values(seed):
    full = columns(seed)
    full["x"] = [None if i % 5 == 0 else float(v) for i, v in enumerate(full["x"])]
    data = tacit.read(full)
    released = tacit.RankSwap(columns=["x"], missing="keep").apply(data, seed=1)
    old, new = data.column("x").to_pylist(), released.column("x").to_pylist()
    assert [v is None for v in old] == [v is None for v in new]
    assert sorted(v for v in old if v is not None) == sorted(v for v in new if v is not None)


@pytest.mark.parametrize("way", ["conditional", "lhs"])
@pytest.mark.parametrize("correlation", ["spearman", "pearson"])
@FEW
@given(seeds)
def test_shuffles_keep_every_value(way, correlation, seed):
    if way == "lhs" and correlation == "pearson":
        return
    data = people(seed)
    spec = tacit.Shuffle(columns=["x", "i"], given=["y", "g"], engine=way, correlation=correlation)
    released = spec.apply(data, seed=seed % 991)
    for c in ("x", "i"):
        assert sorted(released.column(c).to_pylist()) == sorted(data.column(c).to_pylist())
        assert released.column(c).type == data.column(c).type


@FEW
@given(seeds, st.floats(0, 0.5))
def test_record_swaps_keep_margins_and_households(seed, rate):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 4, 40)
    home = np.repeat(np.arange(40), size)
    town = rng.integers(0, 6, 40)[home]
    full = {
        "home": home,
        "region": town // 3,
        "town": town,
        "sex": rng.choice(["f", "m"], len(home)),
        "job": rng.geometric(0.5, len(home)),
    }
    data = tacit.read(full, keys=["sex", "job"], household="home")
    spec = tacit.SwapRecords(hierarchy=["region", "town"], similar=[["sex"]], k=2, swap_rate=rate)
    released = spec.apply(data, seed=seed % 991)
    new = {c: np.array(released.column(c).to_pylist()) for c in full}
    assert (new["town"] // 3 == new["region"]).all()
    for h in range(40):
        assert len(set(new["town"][home == h].tolist())) == 1
    assert Counter(new["town"].tolist()) == Counter(town.tolist())

    def makeup(where):
        rows = []
        for h in range(40):
            who = home == h
            rows.append((int(where[who][0]), tuple(sorted(full["sex"][who].tolist()))))
        return Counter(rows)

    assert makeup(new["town"]) == makeup(town)
    for c in ("sex", "job", "home"):
        assert (new[c] == full[c]).all()


# -- categories ------------------------------------------------------------------------------


@FEW
@given(seeds, st.floats(0.1, 0.99))
def test_invariant_matrices_keep_expected_counts(seed, stay):
    data = people(seed, n=60)
    for kind in ("invariant", "one_parameter", "even"):
        spec = tacit.Pram(column="t", matrix=kind, stay=stay)
        released = spec.apply(data, seed=seed % 991)
        (variable,) = tacit.pram.from_history(released.history)
        m = variable.parts[0].matrix
        t = np.array([data.column("t").to_pylist().count(v) for v in variable.levels[0]], float)
        rows = np.array([m.forward(e) for e in np.eye(len(t))])
        assert rows.sum(axis=1) == pytest.approx(1)
        assert (rows >= -1e-12).all()
        assert rows.T @ t == pytest.approx(t)
        assert rows.diagonal().min() >= stay - 1e-9
        assert set(released.column("t").to_pylist()) <= set(variable.levels[0])


@FEW
@given(seeds)
def test_pram_by_strata_and_forbidden_moves(seed):
    rng = np.random.default_rng(seed)
    full = {
        "v": [
            None if b else s
            for b, s in zip(rng.random(80) < 0.1, rng.choice(list("abc"), 80), strict=True)
        ],
        "g": rng.choice(["u", "v"], 80),
        "age": rng.integers(0, 90, 80),
    }
    data = tacit.read(full)
    spec = tacit.Pram(
        column="v",
        matrix="equal",
        stay=0.3,
        by=["g"],
        forbidden=[{"from": ["a"], "to": ["c"]}],
    )
    new = spec.apply(data, seed=seed % 991).column("v").to_pylist()
    for old, now in zip(full["v"], new, strict=True):
        assert (old is None) == (now is None)
        assert not (old == "a" and now == "c")


def agree(a, b):
    return all(p is None or q is None or p == q for p, q in zip(a, b, strict=True))


@FEW
@given(seeds, st.integers(2, 5), st.sampled_from(["each", "shared", "strict"]))
def test_local_suppression_only_removes_and_makes_safe(seed, k, rule):
    rng = np.random.default_rng(seed)
    names = ["p", "q", "r"]
    full = {c: rng.choice(list("abcd"), 40, p=[0.5, 0.3, 0.15, 0.05]).tolist() for c in names}
    data = tacit.read(full, keys=names)
    released = tacit.LocalSuppression(k=k, rule=rule).apply(data)
    old = list(zip(*(full[c] for c in names), strict=True))
    new = list(zip(*(released.column(c).to_pylist() for c in names), strict=True))
    assert all(agree(a, b) and None not in a for a, b in zip(old, new, strict=True))
    if rule == "strict":
        assert min(Counter(new).values()) >= k
    else:
        assert min(sum(agree(a, b) for b in new) for a in new) >= k
    if rule == "each":
        whole = Counter(old)
        assert all(whole[a] >= k for a in new if None not in a)


# -- coding ----------------------------------------------------------------------------------


@FEW
@given(seeds, st.floats(0.02, 0.4), st.sampled_from(["limit", "mean", "median"]))
def test_top_coding_touches_the_tail_alone(seed, share, replace):
    data = people(seed)
    spec = tacit.TopBottomCode(column="x", top_share=share, bottom_share=share, replace=replace)
    old = data.column("x").to_numpy()
    w = data.column("w").to_numpy()
    new = spec.apply(data).column("x").to_numpy()
    assert (new != old).sum() <= 2 * share * len(old) + 1e-9
    n_tail = int(share * len(old) + 1e-9)
    order = np.argsort(old)
    middle = order[n_tail : len(old) - n_tail]
    assert (new[middle] == old[middle]).all()
    for tail in (order[len(old) - n_tail :], order[:n_tail]):
        if n_tail:
            assert len(set(new[tail].tolist())) == 1
            if replace == "mean":
                assert new[tail][0] == pytest.approx(np.average(old[tail], weights=w[tail]))
            if replace == "median":
                assert old[tail].min() <= new[tail][0] <= old[tail].max()


@FEW
@given(seeds, st.integers(2, 12))
def test_recoding(seed, least):
    data = people(seed)
    old = data.column("t").to_pylist()
    new = tacit.Recode(column="t", least=least, into="rest").apply(data).column("t").to_pylist()
    count = Counter(old)
    assert new == [v if count[v] >= least else "rest" for v in old]
    cut = tacit.Recode(column="x", breaks=[10, 20], labels=["l", "m", "h"]).apply(data)
    x = data.column("x").to_numpy()
    assert cut.column("x").to_pylist() == [["l", "m", "h"][int(v >= 10) + int(v >= 20)] for v in x]


@FEW
@given(seeds, st.sampled_from(["random", "nearest", "down", "up"]))
def test_rounding_by_tiers(seed, direction):
    rng = np.random.default_rng(seed)
    x = rng.lognormal(8, 3, 60) * rng.choice([-1, 1], 60)
    data = tacit.read({"x": x})
    new = (
        tacit.RoundTiers(columns=["x"], direction=direction)
        .apply(data, seed=1)
        .column("x")
        .to_numpy()
    )
    size = np.abs(x)
    base = np.where(size >= 1e6, 1e4, np.where(size >= 1e4, 1e3, 0.0))
    assert (new[base == 0] == x[base == 0]).all()
    b, far, near = base[base > 0], new[base > 0], x[base > 0]
    assert np.allclose(far / b, np.round(far / b))
    assert (np.abs(far - near) < b + 1e-6).all()
    if direction == "nearest":
        assert (np.abs(far - near) <= b / 2 + 1e-6).all()


@FEW
@given(seeds, st.sampled_from(["truncated", "clip"]))
def test_simulated_amounts_stay_within_their_bound(seed, draw):
    rng = np.random.default_rng(seed)
    x = rng.lognormal(3, 1, 60) * rng.choice([-1, 1], 60)
    x[::7] = 0
    data = tacit.read({"x": x, "y": rng.lognormal(3, 1, 60)})
    spec = tacit.SimulateBounded(
        columns=C, unusual=0.3, decoys=0.2, bound=0.1, spread=0.5, draw=draw
    )
    new = values(spec.apply(data, seed=seed % 991))
    old = values(data)
    assert (np.abs(new - old) <= 0.15 * np.abs(old) + 1e-9).all()
    assert (np.sign(new) == np.sign(old)).all()
    assert (new != old).any(axis=1).mean() <= 0.3 + 0.2 + 2 / 60


@FEW
@given(seeds, st.floats(0.6, 0.95))
def test_blanking_leaves_the_rest_alone_and_tells_the_truth(seed, upper):
    data = people(seed, n=80)
    y = data.column("y").to_numpy()
    plain = tacit.Blank(response="y", rule="plain", upper=upper).apply(data)
    left = plain.column("y").to_numpy()
    assert (left == y[np.isin(y, left)]).all()
    assert set(left.tolist()) == set(np.sort(y)[: len(left)].tolist())
    blurred = tacit.Blank(response="y", sd=2, upper=upper).apply(data, seed=1)
    p = blurred.column("retention").to_numpy()
    assert ((p > 0) & (p <= 1)).all()
    order = np.argsort(blurred.column("y").to_numpy())
    assert (np.diff(p[order]) <= 1e-12).all()


@FEW
@given(seeds, st.sampled_from(["hot_deck", "nearest", "regression", "mean", "median"]))
def test_imputation_fills_and_keeps(seed, method):
    full = columns(seed)
    hole = np.random.default_rng(seed).random(36) < 0.2
    full["x"] = [None if h else float(v) for h, v in zip(hole, full["x"], strict=True)]
    extra = {"given": ["y"]} if method in ("nearest", "regression") else {"by": ["g"]}
    data = tacit.read(full)
    new = tacit.Impute(columns=["x"], method=method, **extra).apply(data, seed=1).column("x")
    assert new.null_count == 0
    known = {v for v in full["x"] if v is not None}
    for h, old, now in zip(hole, full["x"], new.to_pylist(), strict=True):
        assert h or old == now
        if h and method in ("hot_deck", "nearest"):
            assert now in known


# -- noise -----------------------------------------------------------------------------------


@FEW
@given(seeds)
def test_exact_methods_keep_two_moments(seed):
    data = people(seed)
    old = values(data)
    for spec in (
        tacit.Romm(columns=C, acknowledged=True),
        tacit.Romm(columns=C, acknowledged=True, partner="records", magnitude=0.6),
        tacit.RestoringNoise(columns=C),
        tacit.RestoringNoise(first=tacit.Mdav(columns=C, k=4)),
    ):
        new = values(spec.apply(data, seed=seed % 991))
        assert new.mean(axis=0) == pytest.approx(old.mean(axis=0), rel=1e-8)
        assert np.allclose(np.cov(new.T), np.cov(old.T), rtol=1e-6)
        assert not np.allclose(new, old)


@FEW
@given(seeds, st.floats(0.05, 1))
def test_rotation_correlates_as_told(seed, magnitude):
    data = people(seed)
    new = values(tacit.Romm(columns=C, magnitude=magnitude, acknowledged=True).apply(data, seed=1))
    old = values(data)
    for j in range(2):
        r = np.corrcoef(old[:, j], new[:, j])[0, 1]
        assert r == pytest.approx(np.sqrt(1 - magnitude), abs=1e-6)


@FEW
@given(seeds)
def test_stages_keep_means(seed):
    data = people(seed)
    for spec in (
        tacit.LocalNoise(columns=C, partitions=4),
        tacit.TwoStage(columns=C, second=tacit.Mdav(k=4)),
        tacit.TwoStage(columns=C, first=tacit.Mdav(k=3), second=tacit.RankSwap(percent=20)),
        tacit.MultiStage(
            columns=C, stages=[tacit.Mdav(k=3), tacit.RankSwap(percent=9), tacit.Mdav(k=5)]
        ),
    ):
        new = values(spec.apply(data, seed=seed % 991))
        assert new.mean(axis=0) == pytest.approx(values(data).mean(axis=0), rel=1e-9)


@FEW
@given(seeds, st.sampled_from(["truncated", "two_sided", "lognormal"]), st.booleans())
def test_factors_keep_zeros_signs_and_limits(seed, distribution, shared):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 50, 60)
    x[::6] = 0
    data = tacit.read({"x": x, "y": rng.gamma(2, 9, 60) + 1})
    spec = tacit.MultiplicativeNoise(
        columns=C, distribution=distribution, shared=shared, gap=0.1, limit=0.3
    )
    old, new = values(data), values(spec.apply(data, seed=1))
    assert ((new == 0) == (old == 0)).all()
    assert (np.sign(new) == np.sign(old)).all()
    ok = old[:, 0] != 0
    f = new[ok] / old[ok]
    if distribution != "lognormal":
        assert (np.abs(f - 1) <= 0.3 + 1e-9).all()
    if distribution == "two_sided":
        assert (np.abs(f - 1) >= 0.1 - 1e-9).all()
    if shared:
        assert f[:, 0] == pytest.approx(f[:, 1])


@FEW
@given(seeds, st.floats(0.05, 1))
def test_restricted_noise_keeps_its_limit(seed, limit):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 50, 60)
    x[::6] = 0
    data = tacit.read({"x": x})
    new = (
        tacit.RestrictedNoise(columns=["x"], limit=limit).apply(data, seed=1).column("x").to_numpy()
    )
    assert (np.abs(new - x) <= limit * np.abs(x) + 1e-9).all()


@FEW
@given(seeds, st.sampled_from(["share", "mahalanobis", "univariate", "influence"]))
def test_noise_on_outliers_leaves_others(seed, detector):
    data = people(seed, n=60)
    spec = tacit.OutlierNoise(columns=C, detector=detector, share=0.1, cut=0.99)
    old, new = values(data), values(spec.apply(data, seed=1))
    moved = (old != new).any(axis=1)
    if detector == "share":
        assert moved.sum() <= 0.1 * 60 + 1
        assert moved.any()
    assert moved.mean() < 0.5


@FEW
@given(seeds, st.floats(1, 60))
def test_weight_noise_keeps_totals_by_class(seed, percent):
    data = people(seed)
    old = data.column("w").to_numpy()
    g = np.array(data.column("g").to_pylist())
    new = tacit.WeightNoise(percent=percent, by=["g"]).apply(data, seed=1).column("w").to_numpy()
    for cell in "uv":
        assert new[g == cell].sum() == pytest.approx(old[g == cell].sum())
    free = tacit.WeightNoise(percent=percent, keep_total=False).apply(data, seed=1)
    assert (np.abs(free.column("w").to_numpy() / old - 1) <= percent / 100 + 1e-9).all()


@FEW
@given(seeds, st.sampled_from(["A", "B", "C"]))
def test_ipso_keeps_the_regression(seed, variant):
    data = people(seed)
    released = tacit.Ipso(columns=["x", "i"], given=["y", "g"], variant=variant).apply(data, seed=1)
    design = np.column_stack(
        [np.ones(36), data.column("y").to_numpy(), np.array(data.column("g").to_pylist()) == "u"]
    ).astype(float)
    old, new = values(data, ["x", "i"]), values(released, ["x", "i"])
    fit = [np.linalg.lstsq(design, v, rcond=None)[0] for v in (old, new)]
    assert np.allclose(*fit, rtol=1e-6, atol=1e-6)
    if variant == "C":
        rest = [v - design @ b for v, b in zip((old, new), fit, strict=True)]
        assert np.allclose(rest[0].T @ rest[0], rest[1].T @ rest[1], rtol=1e-6)


@FEW
@given(seeds, st.integers(10, 80))
def test_latin_hypercube_stays_in_range(seed, n):
    data = people(seed)
    empirical = tacit.LatinHypercube(columns=["x", "i"], n=n).apply(data, seed=1)
    between = tacit.LatinHypercube(columns=["x", "i"], n=n, margins="interpolated").apply(
        data, seed=1
    )
    assert len(empirical) == len(between) == n
    for c in ("x", "i"):
        old = data.column(c).to_numpy()
        assert set(empirical.column(c).to_pylist()) <= set(old.tolist())
        new = between.column(c).to_numpy()
        assert old.min() <= new.min()
        assert new.max() <= old.max()
        assert between.column(c).type == data.column(c).type


# -- whole numbers, extremes -----------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        tacit.AddNoise(columns=["i"], sd=3),
        tacit.MultiplicativeNoise(columns=["i"]),
        tacit.RestrictedNoise(columns=["i"]),
        tacit.CorrelatedNoise(columns=["i"], lambda_squared=0.1),
        tacit.RankSwap(columns=["i"]),
        tacit.Shuffle(columns=["i"]),
        tacit.Mdav(columns=["i"], whole=True),
        tacit.SimulateBounded(columns=["i"], given=["y"], unusual=0.5),
        tacit.OutlierNoise(columns=["i"], detector="share", share=0.5),
        tacit.RoundTiers(columns=["i"], tiers=[[1, 10]]),
        tacit.LatinHypercube(columns=["i"]),
    ],
    ids=ident,
)
def test_whole_numbers_stay_whole(spec):
    data = people(5)
    released = spec.apply(data, seed=1)
    assert released.column("i").type == data.column("i").type


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e12])
def test_a_large_offset_moves_no_group(offset):
    # whole numbers, so that adding the offset loses no digit
    rng = np.random.default_rng(4)
    x = rng.integers(0, 4000, (40, 2)).astype(float)
    plain = tacit.Mdav(k=3).apply(tacit.read({"x": x[:, 0], "y": x[:, 1]}))
    moved = tacit.Mdav(k=3).apply(tacit.read({"x": x[:, 0] + offset, "y": x[:, 1] - offset}))
    same = [values(d)[:, None, 0] == values(d)[None, :, 0] for d in (plain, moved)]
    assert (same[0] == same[1]).all()


def test_every_protecting_method_with_numbers_refuses_text_in_one_sentence():
    data = tacit.read(
        {"x": [f"secret{i}" for i in range(20)], "y": [f"hidden{i}" for i in range(20)]}
    )
    for kind in (
        "mdav",
        "sort_by_zscores",
        "individual_ranking",
        "rank_swap",
        "add_noise",
        "romm",
        "restricted_noise",
        "multiplicative_noise",
        "outlier_noise",
        "latin_hypercube",
        "local_noise",
        "restoring_noise",
        "round_tiers",
    ):
        spec = specs()[kind](columns=C, **({"sd": 1} if kind == "add_noise" else {}))
        with pytest.raises(tacit.SdcError) as caught:
            spec.apply(data, seed=1)
        assert "secret" not in str(caught.value)
        assert "hidden" not in str(caught.value)
