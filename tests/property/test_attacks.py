"""Attacks and utility measures against their definitions, recomputed by brute force on small data."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import tacit
from tacit.errors import DisclosureRefused

pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")

FEW = settings(max_examples=5, deadline=None)
seeds = st.integers(0, 2**32 - 1)
NAMES = ["a", "b", "c"]


def file(x, **more):
    return tacit.read({**dict(zip(NAMES, x.T, strict=False)), **more})


def masked_pair(seed, n=30, p=3, noise=0.4):
    """An original with correlated columns, and a noisy copy."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) @ (np.eye(p) + 0.5) * [1.0, 20.0, 300.0][:p] + 5
    return x, x + noise * x.std(axis=0) * rng.normal(size=x.shape)


def expected_share(distance):
    """Records whose own partner is nearest, sharing ties."""
    best = distance.min(axis=1)
    ties = np.isclose(distance, best[:, None], rtol=1e-9, atol=1e-12)
    return float((ties.diagonal() / ties.sum(axis=1)).mean())


def squared(a, b):
    return ((a[:, None] - b[None]) ** 2).sum(axis=2)


def whitened(a, b, s):
    w = np.linalg.cholesky(np.linalg.inv(s))
    return squared(a @ w, b @ w)


def z(x):
    return (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)


ATTACKS = [
    tacit.DistanceLinkage(columns=NAMES),
    tacit.DistanceLinkage(columns=NAMES, metric="distance_standardised"),
    tacit.DistanceLinkage(columns=NAMES, metric="mahalanobis"),
    tacit.DistanceLinkage(columns=NAMES, metric="kernel"),
    tacit.DistanceLinkage(columns=NAMES, metric="kernel", kernel="rbf"),
    tacit.DistanceLinkage(columns=NAMES, one_to_one=True),
    tacit.ProbabilisticLinkage(columns=NAMES),
    tacit.ConditionalLinkage(columns=NAMES),
    tacit.IntervalDisclosure(columns=NAMES),
    tacit.IntervalDisclosure(columns=NAMES, interval="rank"),
    tacit.Reidentification(columns=NAMES, subsets="all"),
]
LOSSES = [
    tacit.InformationLoss(columns=NAMES),
    tacit.DistanceTable(columns=NAMES),
    tacit.EstimateChange(columns=NAMES, statistics=["mean", "median", "total", "sd"]),
    tacit.RegressionChange(response="a", covariates=["b", "c"]),
    tacit.CorrelationChange(columns=NAMES),
    tacit.CorrelationChange(columns=NAMES, correlation="pearson"),
    tacit.MomentChange(columns=NAMES),
    tacit.DecileChange(columns=NAMES),
    tacit.DecileChange(columns=NAMES, estimate="kernel"),
    tacit.Propensity(columns=NAMES, degree=1),
]


def ident(spec):
    return "-".join([spec.kind, *map(str, spec.model_dump(exclude_defaults=True).values())])[:60]


# -- what holds for all ----------------------------------------------------------------------


@pytest.mark.parametrize("attack", ATTACKS, ids=ident)
def test_identity_release_is_found_with_certainty(attack):
    x, _ = masked_pair(3)
    data = file(x)
    assert attack.measure(data, original=data, seed=1).value == pytest.approx(1)


@pytest.mark.parametrize("loss", LOSSES, ids=ident)
def test_identity_release_has_no_loss(loss):
    x, _ = masked_pair(4, n=60)
    data = file(x)
    assert loss.measure(data, original=data, seed=1).value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("spec", [*ATTACKS, *LOSSES], ids=ident)
def test_order_of_records_does_not_matter(spec):
    x, y = masked_pair(5, n=40)
    order = np.random.default_rng(0).permutation(len(x))
    once = spec.measure(file(y), original=file(x), seed=1).value
    again = spec.measure(file(y[order]), original=file(x[order]), seed=1).value
    assert again == pytest.approx(once, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("spec", ATTACKS, ids=ident)
def test_risk_is_a_share_and_falls_with_noise_on_average(spec):
    levels = []
    for noise in (0.05, 5.0):
        found = []
        for seed in range(3):
            x, y = masked_pair(seed, n=40, noise=noise)
            found.append(spec.measure(file(y), original=file(x), seed=1).value)
        assert all(0 <= f <= 1 + 1e-12 for f in found)
        levels.append(np.mean(found))
    assert levels[1] < levels[0]


@pytest.mark.parametrize("spec", LOSSES, ids=ident)
def test_loss_is_not_negative_and_grows_with_noise_on_average(spec):
    levels = []
    for noise in (0.02, 3.0):
        found = []
        for seed in range(3):
            x, y = masked_pair(seed, n=60, noise=noise)
            found.append(spec.measure(file(y), original=file(x), seed=1).value)
        assert min(found) >= 0
        levels.append(np.mean(found))
    if spec.kind != "propensity":  # main effects see means alone
        assert levels[0] < levels[1]


@pytest.mark.parametrize(
    "spec",
    [
        *ATTACKS,
        tacit.InformationLoss(columns=NAMES),
        tacit.CorrelationChange(columns=NAMES),
        tacit.MomentChange(columns=NAMES),
        tacit.Propensity(columns=NAMES, degree=2),
    ],
    ids=ident,
)
def test_units_do_not_matter(spec):
    x, y = masked_pair(6, n=40)
    scale, shift = np.array([1e-3, 7.0, 1e4]), np.array([5.0, -300.0, 0.1])
    once = spec.measure(file(y), original=file(x), seed=1).value
    again = spec.measure(file(y * scale + shift), original=file(x * scale + shift), seed=1).value
    assert again == pytest.approx(once, rel=1e-5, abs=1e-8)


# -- distance linkage ------------------------------------------------------------------------


@FEW
@given(seeds, st.sampled_from(["original_to_released", "released_to_original"]))
def test_euclidean_linkage_is_the_nearest_record(seed, direction):
    x, y = masked_pair(seed)
    d = squared(z(x), z(y))
    d = d if direction == "original_to_released" else d.T
    found = tacit.DistanceLinkage(columns=NAMES, direction=direction).measure(
        file(y), original=file(x)
    )
    assert found.share == pytest.approx(expected_share(d))
    assert found.correct == pytest.approx(found.share * len(x))
    rows = found.frame.to_native().to_pylist()
    assert len(rows) == len(x)


@FEW
@given(seeds)
def test_standardised_differences(seed):
    x, y = masked_pair(seed)
    for pairing in ("all", "true"):
        diff = (x[:, None] - y[None]).reshape(-1, 3) if pairing == "all" else x - y
        d = squared(x / diff.std(axis=0), y / diff.std(axis=0))
        spec = tacit.DistanceLinkage(columns=NAMES, metric="distance_standardised", pairing=pairing)
        assert spec.measure(file(y), original=file(x)).share == pytest.approx(expected_share(d))


@FEW
@given(seeds, st.sampled_from(["zero", "true"]))
def test_mahalanobis_linkage(seed, reading):
    x, y = masked_pair(seed)
    both = np.cov(np.column_stack([x, y]).T)
    c = both[:3, 3:] if reading == "true" else np.zeros((3, 3))
    s = both[:3, :3] + both[3:, 3:] - c - c.T
    spec = tacit.DistanceLinkage(columns=NAMES, metric="mahalanobis", cross_covariance=reading)
    share = spec.measure(file(y), original=file(x)).share
    assert share == pytest.approx(expected_share(whitened(x, y, s)))
    mix = np.random.default_rng(seed).normal(size=(3, 3)) + 3 * np.eye(3)
    assert spec.measure(file(y @ mix), original=file(x @ mix)).share == pytest.approx(share)
    strongest = tacit.DistanceLinkage(columns=NAMES, metric="mahalanobis")
    assert strongest.measure(file(y), original=file(x)).share >= share - 1e-12


@FEW
@given(seeds, st.integers(1, 3))
def test_polynomial_kernel_linkage(seed, degree):
    x, y = masked_pair(seed)
    a, b = z(x), z(y)
    k = lambda u, v: (u @ v.T + 1) ** degree  # noqa: E731
    d = k(a, a).diagonal()[:, None] - 2 * k(a, b) + k(b, b).diagonal()[None]
    spec = tacit.DistanceLinkage(columns=NAMES, metric="kernel", degree=degree)
    assert spec.measure(file(y), original=file(x)).share == pytest.approx(expected_share(d))


@FEW
@given(seeds)
def test_pairing_of_least_total_distance(seed):
    x, y = masked_pair(seed)
    rows, columns = optimize.linear_sum_assignment(squared(z(x), z(y)))
    spec = tacit.DistanceLinkage(columns=NAMES, one_to_one=True)
    found = spec.measure(file(y), original=file(x))
    assert found.share == pytest.approx(np.mean(rows == columns))


@FEW
@given(seeds, st.integers(2, 4))
def test_ties_share_a_hit(seed, values):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, values, (20, 2)).astype(float)
    x[:2] = [[0, 1], [1, 0]]
    data = file(x)
    groups = (x[:, None] == x[None]).all(axis=2).sum(axis=1)
    found = tacit.DistanceLinkage(columns=["a", "b"]).measure(data, original=data)
    assert found.share == pytest.approx(np.mean(1 / groups))
    assert found.by_rule["any"] == len(x)
    assert found.by_rule["unique"] == (groups == 1).sum()
    assert found.by_rule["expected"] == pytest.approx((1 / groups).sum())
    assert found.any_parent == pytest.approx(1)


@FEW
@given(seeds)
def test_dropped_records_are_targets_but_not_counted(seed):
    x, _ = masked_pair(seed)
    data = file(x)
    kept = tacit.Blank(response="a", rule="plain", upper=0.8).apply(data)
    for attack in (
        tacit.DistanceLinkage(columns=["b", "c"], metric="distance_standardised"),
        tacit.ConditionalLinkage(columns=["b", "c"]),
    ):
        found = attack.measure(kept, original=data)
        assert found.value == pytest.approx(1)
    loss = tacit.InformationLoss(columns=["b", "c"]).measure(kept, original=data)
    assert loss.value == pytest.approx(0, abs=1e-12)
    inside = tacit.IntervalDisclosure(columns=["b", "c"]).measure(kept, original=data)
    assert inside.value == pytest.approx(1)


@FEW
@given(seeds)
def test_block_narrows_the_search(seed):
    x, y = masked_pair(seed)
    g = np.random.default_rng(seed).integers(0, 4, len(x))
    d = squared(z(x), z(y)) + np.where(g[:, None] == g[None], 0, np.inf)
    spec = tacit.DistanceLinkage(columns=NAMES, block=["g"])
    found = spec.measure(file(y, g=g), original=file(x, g=g))
    assert found.share == pytest.approx(expected_share(d))


def test_mean_microaggregated_group_is_the_parent():
    x, _ = masked_pair(1, n=60)
    data = file(x)
    masked = tacit.Mdav(columns=NAMES, k=3).apply(data)
    found = tacit.DistanceLinkage(columns=NAMES).measure(masked, original=data)
    assert found.share <= 1 / 3 + 1e-12
    assert found.any_parent == pytest.approx(3 * found.share)


# -- other attacks ---------------------------------------------------------------------------


@FEW
@given(seeds)
def test_conditional_linkage(seed):
    x, y = masked_pair(seed)
    s = np.cov(np.column_stack([x, y]).T)
    h = s[3:, :3] @ np.linalg.inv(s[:3, :3])
    e = s[3:, 3:] - h @ s[:3, 3:]
    q = whitened((x - x.mean(axis=0)) @ h.T, y - y.mean(axis=0), e)
    p = np.exp(-(q - q.min(axis=1, keepdims=True)) / 2)
    found = tacit.ConditionalLinkage(columns=NAMES).measure(file(y), original=file(x), seed=1)
    assert found.rate == pytest.approx(expected_share(q))
    assert found.chance == pytest.approx(1 / len(x))
    mean = (p.diagonal() / p.sum(axis=1)).mean()
    assert found.mean_probability == pytest.approx(mean, rel=0.05)


@FEW
@given(seeds, st.floats(0.01, 2))
def test_intervals_of_standard_deviations(seed, width):
    x, y = masked_pair(seed)
    for spread, of in (("released", y), ("original", x)):
        spec = tacit.IntervalDisclosure(columns=NAMES, width=width, spread=spread)
        found = spec.measure(file(y), original=file(x))
        inside = np.abs(x - y) <= width * of.std(axis=0, ddof=1)
        assert found.share == pytest.approx(inside.all(axis=1).mean())
        assert [found.by_column[c] for c in NAMES] == pytest.approx(inside.mean(axis=0))


@FEW
@given(seeds, st.floats(0.5, 100))
def test_intervals_of_ranks(seed, width):
    x, y = masked_pair(seed)
    w = int(len(x) * width / 100 + 1e-9)
    inside = np.empty(x.shape, dtype=bool)
    for j in range(3):
        values = np.sort(y[:, j])
        for i in range(len(x)):
            r = int(np.flatnonzero(values == y[i, j])[0])
            low, high = values[max(r - w, 0)], values[min(r + w, len(x) - 1)]
            inside[i, j] = low <= x[i, j] <= high
    found = tacit.IntervalDisclosure(columns=NAMES, interval="rank", width=width).measure(
        file(y), original=file(x)
    )
    assert found.share == pytest.approx(inside.all(axis=1).mean())


@FEW
@given(seeds)
def test_interval_shares_grow_with_the_width(seed):
    x, y = masked_pair(seed)
    rows = (
        tacit.IntervalDisclosure(columns=NAMES)
        .measure(file(y), original=file(x))
        .frame.to_native()
        .to_pylist()
    )
    for kind in ("sd", "rank"):
        for column in {r["column"] for r in rows}:
            line = [r for r in rows if r["interval"] == kind and r["column"] == column]
            shares = [r["share"] for r in sorted(line, key=lambda r: r["width"])]
            assert shares == sorted(shares)


def r_squared(target, predictors):
    design = np.column_stack([np.ones(len(target)), predictors])
    rest = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return 1 - rest @ rest / ((target - target.mean()) ** 2).sum()


@FEW
@given(seeds)
def test_value_disclosure_is_explained_variance(seed):
    x, y = masked_pair(seed, n=50)
    y[:, 2] = x[:, 2]
    found = tacit.ValueDisclosure(columns=["a", "b"], given=["c"]).measure(
        file(y), original=file(x)
    )
    for j, c in enumerate("ab"):
        part = found.parts[c]
        whole, alone = r_squared(x[:, j], y), r_squared(x[:, j], y[:, 2:])
        assert part.own == pytest.approx(r_squared(x[:, j], y[:, [j]]))
        assert part.all == pytest.approx(whole)
        assert part.given == pytest.approx(alone)
        assert part.added == pytest.approx((whole - alone) / (1 - alone))
        assert 0 <= part.given <= part.all <= 1 + 1e-12


@FEW
@given(seeds)
def test_reidentification_reports_its_strongest_attack(seed):
    x, y = masked_pair(seed, n=25)
    found = tacit.Reidentification(columns=NAMES).measure(file(y), original=file(x), seed=1)
    linked = [f for f in found.findings if f.attacker != "interval"]
    assert found.value == pytest.approx(max(f.share for f in linked))
    assert found.worst.share == pytest.approx(found.value)
    assert all(0 <= f.share <= 1 and 0 < f.chance <= 1 for f in linked)
    alone = tacit.DistanceLinkage(columns=NAMES).measure(file(y), original=file(x))
    nearest = [f for f in linked if f.attacker == "nearest" and len(f.knowledge.columns) == 3]
    assert [f.share for f in nearest] == pytest.approx([alone.share])


@FEW
@given(seeds)
def test_probabilistic_patterns_count_every_pair(seed):
    rng = np.random.default_rng(seed)
    n = 25
    columns = {
        "a": rng.normal(size=n),
        "t": rng.choice(list("uvw"), n),
        "s": rng.choice(["f", "m"], n),
    }
    other = {**columns, "a": columns["a"] + rng.normal(0, 0.1, n)}
    found = tacit.ProbabilisticLinkage(columns=["a", "t", "s"], interpolate=False).measure(
        tacit.read(other), original=tacit.read(columns), seed=1
    )
    patterns = found.patterns.to_native()
    assert sum(patterns.column("pairs").to_pylist()) == n * n
    assert 0 <= found.share <= 1
    assert found.correct == pytest.approx(found.share * n)
    assert found.by_rule["unique"] <= found.by_rule["expected"] <= found.by_rule["any"]


@FEW
@given(seeds)
def test_cell_spread_by_hand(seed):
    rng = np.random.default_rng(seed)
    v, g = rng.normal(0, 10, 40), rng.integers(0, 4, 40)
    found = tacit.CellSpread(column="v", by=["g"], above=5).measure(tacit.read({"v": v, "g": g}))
    cells = [v[g == k] for k in np.unique(g)]
    assert found.value == pytest.approx(min(np.ptp(c) for c in cells))
    share = found.numbers["largest share above the limit"]
    assert share == pytest.approx(max((c > 5).mean() for c in cells))


@FEW
@given(seeds, st.floats(0.5, 0.95))
def test_blanking_risk_counts_who_is_left(seed, upper):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=200)
    data = tacit.read({"y": y})
    released = tacit.Blank(response="y", sd=0.5, upper=upper).apply(data, seed=seed % 1000)
    limit = float(np.quantile(y, upper)) + 1e-9
    found = tacit.BlankingRisk(columns=["y"], limits={"y": (None, limit)}).measure(
        released, original=data
    )
    left = released.column("y").to_numpy()
    part = found.parts["y"]
    assert part.risky == (y > limit).sum()
    dropped = (y > limit).sum() - (left > limit).sum()
    assert part.dropped_percent == pytest.approx(100 * dropped / (y > limit).sum())
    assert found.value == pytest.approx((left > limit).sum() / (y > limit).sum())


# -- utility ---------------------------------------------------------------------------------


@FEW
@given(seeds)
def test_information_loss_by_hand(seed):
    x, y = masked_pair(seed)
    sd = x.std(axis=0, ddof=1)
    found = tacit.InformationLoss(columns=NAMES).measure(file(y), original=file(x), seed=1)
    il1 = (np.abs(x - y) / (np.sqrt(2) * sd)).mean()
    assert found.il1 == pytest.approx(il1)
    sse = 100 * (((x - y) / sd) ** 2).sum() / (z(x) ** 2).sum()
    assert found.sse_percent == pytest.approx(sse)


@FEW
@given(seeds, st.integers(2, 6))
def test_loss_noted_by_microaggregation_is_the_loss_measured(seed, k):
    x, _ = masked_pair(seed)
    data = file(x)
    masked = tacit.Mdav(columns=NAMES, k=k).apply(data)
    found = tacit.InformationLoss(columns=NAMES).measure(masked, original=data, seed=1)
    assert masked.history[-1].details["sse_percent"] == pytest.approx(found.sse_percent, abs=1e-3)


@FEW
@given(seeds)
def test_distance_table_by_hand(seed):
    x, y = masked_pair(seed)
    found = tacit.DistanceTable(columns=NAMES).measure(file(y), original=file(x)).distances
    upper, strict = np.triu_indices(3), np.triu_indices(3, 1)
    for name, old, new in (
        ("data", x, y),
        ("covariance", np.cov(x.T)[upper], np.cov(y.T)[upper]),
        ("correlation", np.corrcoef(x.T)[strict], np.corrcoef(y.T)[strict]),
    ):
        assert found[name].mse == pytest.approx(((old - new) ** 2).mean())
        assert found[name].mae == pytest.approx(np.abs(old - new).mean())
        assert found[name].mv == pytest.approx(np.abs((old - new) / old).mean())


@FEW
@given(seeds)
def test_correlations_and_moments_by_hand(seed):
    x, y = masked_pair(seed)
    change = tacit.CorrelationChange(columns=NAMES).measure(file(y), original=file(x))
    gap = stats.spearmanr(y).statistic - stats.spearmanr(x).statistic
    assert np.allclose(change.change["spearman"], gap)
    assert np.allclose(change.change["pearson"], np.corrcoef(y.T) - np.corrcoef(x.T))
    assert change.value == pytest.approx(np.abs(gap[np.triu_indices(3, 1)]).mean())
    moments = tacit.MomentChange(columns=NAMES).measure(file(y), original=file(x))
    old, new = np.cov(x.T), np.cov(y.T)
    size = np.sqrt(np.outer(np.diag(old), np.diag(old)))
    upper = np.triu_indices(3)
    assert moments.value == pytest.approx((np.abs(new - old) / size)[upper].mean())


@FEW
@given(seeds)
def test_estimates_by_group_by_hand(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.gamma(3, 5, 60), rng.gamma(3, 5, 60)
    g, w = rng.choice(list("uv"), 60), rng.uniform(1, 9, 60)
    both = [tacit.read({"x": v, "g": g, "w": w}, weight="w") for v in (x, y)]
    found = tacit.EstimateChange(columns=["x"], by=["g"], statistics=["mean", "total"]).measure(
        both[1], original=both[0]
    )
    wanted = []
    for who in (np.ones(60, dtype=bool), g == "u", g == "v"):
        old, new = (np.average(v[who], weights=w[who]) for v in (x, y))
        wanted += [100 * abs(old - new) / old] * 2  # totals change as means do
    assert found.value == pytest.approx(np.mean(wanted))


@FEW
@given(seeds)
def test_regression_by_hand(seed):
    x, y = masked_pair(seed, n=50)
    found = tacit.RegressionChange(response="a", covariates=["b", "c"], value="percent").measure(
        file(y), original=file(x)
    )
    old, new = (
        np.linalg.lstsq(np.column_stack([np.ones(50), v[:, 1:]]), v[:, 0], rcond=None)[0]
        for v in (x, y)
    )
    assert [c.old.value for c in found.coefficients] == pytest.approx(list(old))
    assert [c.new.value for c in found.coefficients] == pytest.approx(list(new))


@FEW
@given(seeds)
def test_deciles_by_hand(seed):
    rng = np.random.default_rng(seed)
    x, y, w = rng.gamma(3, 5, 80), rng.gamma(3, 5, 80), rng.uniform(1, 9, 80)
    both = [tacit.read({"x": v, "w": w}, weight="w") for v in (x, y)]

    def deciles(v):
        order = np.argsort(v)
        share = np.cumsum(w[order]) / w.sum()
        return v[order][[np.flatnonzero(share >= q / 10 - 1e-12)[0] for q in range(1, 10)]]

    found = tacit.DecileChange(columns=["x"]).measure(both[1], original=both[0])
    old, new = deciles(x), deciles(y)
    assert found.value == pytest.approx((np.abs(new - old) / np.abs(old)).max())


@FEW
@given(seeds)
def test_propensity_lies_between_its_bounds(seed):
    x, y = masked_pair(seed, n=80, noise=1)
    found = tacit.Propensity(columns=NAMES, degree=1).measure(file(y), original=file(x), seed=1)
    assert 0 <= found.pmse <= 0.25 + 1e-12
    assert found.u == pytest.approx(found.pmse * 160)
    assert found.null_mean * found.ratio == pytest.approx(found.u) or found.ratio == pytest.approx(
        found.u / (found.terms * 0.25)
    )
    assert found.histogram.sum() == 160
    far = tacit.Propensity(columns=NAMES, degree=1).measure(
        file(x + 50 * x.std(axis=0)), original=file(x), seed=1
    )
    assert far.pmse > 0.24


# -- PRAM and SIMEX --------------------------------------------------------------------------


def regions(seed, n=400):
    rng = np.random.default_rng(seed)
    return rng.choice(list("nsew"), n, p=[0.5, 0.3, 0.15, 0.05])


@FEW
@given(seeds, st.floats(0.3, 0.95))
def test_pram_risk_and_estimate_from_the_published_matrix(seed, stay):
    v = regions(seed)
    data = tacit.read({"v": v}, keys=["v"])
    released = tacit.Pram(column="v", matrix="equal", stay=stay).apply(data, seed=seed % 999)
    levels, t = np.unique(v, return_counts=True)
    m = len(levels)
    p = np.full((m, m), (1 - stay) / (m - 1))
    np.fill_diagonal(p, stay)
    seen = released.column("v").to_numpy(zero_copy_only=False)
    tx = np.array([(seen == c).sum() for c in levels])
    if abs(np.linalg.det(p)) > 1e-3:
        table = tacit.PramEstimate().measure(released).tables[("v",)]
        back = np.linalg.inv(p).T @ tx
        assert np.ravel(table.values) == pytest.approx(back)
        assert back.sum() == pytest.approx(len(v))
    risk = tacit.PramRisk(tau=100).measure(released, original=data)
    r = stay * t / (p.T @ t)
    assert risk.before[("v",)] == (t < 100).sum()
    assert risk.after[("v",)] == ((t < 100) & (r > t / 100 + 1e-12)).sum()


@FEW
@given(seeds)
def test_pram_that_moves_nobody_is_refused_and_a_little_loses_little(seed):
    data = tacit.read({"v": regions(seed)}, keys=["v"])
    with pytest.raises(DisclosureRefused, match="changed nothing"):
        tacit.Pram(column="v", matrix="equal", stay=1.0).apply(data, seed=1)
    losses = [
        tacit.PramLoss()
        .measure(
            tacit.Pram(column="v", matrix="equal", stay=stay).apply(data, seed=1), original=data
        )
        .value
        for stay in (0.95, 0.5)
    ]
    assert losses[0] < losses[1]


def test_simex_without_noise_is_least_squares_and_with_noise_takes_it_off():
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000)
    y = 1 + 2 * x + rng.normal(size=3000)
    noisy = tacit.read({"x": x + rng.normal(0, 0.7, 3000), "y": y})
    spec = tacit.Simex(
        response="y", covariates=["x"], noise={"x": 0.49}, bootstrap=0, extrapolant="rational"
    )
    found = spec.measure(noisy, seed=1)
    slope = found.terms.index("x")
    assert found.naive[slope] == pytest.approx(2 / 1.49, abs=0.1)
    assert found.fit.corrected[slope] == pytest.approx(2, abs=0.2)


def test_missing_values_are_left_out_or_refused():
    x, y = masked_pair(9, n=40)
    x[3, 1] = np.nan
    y[7, 0] = np.nan
    data, released = (
        tacit.read(
            {
                c: [None if np.isnan(e) else float(e) for e in v]
                for c, v in zip(NAMES, m.T, strict=True)
            }
        )
        for m in (x, y)
    )
    ok = ~(np.isnan(x).any(axis=1) | np.isnan(y).any(axis=1))
    part = tacit.InformationLoss(columns=NAMES).measure(released, original=data, seed=1)
    whole = (np.abs(x - y)[ok] / (np.sqrt(2) * x[ok].std(axis=0, ddof=1))).mean()
    assert part.il1 == pytest.approx(whole, rel=0.02)
    with pytest.raises(tacit.SdcError, match="missing"):
        tacit.DistanceLinkage(columns=NAMES).measure(released, original=data)
    kept = tacit.DistanceLinkage(columns=NAMES, missing="drop_pair_attribute")
    assert 0 < kept.measure(released, original=data).share <= 1
    inside = tacit.IntervalDisclosure(columns=NAMES, width=100).measure(released, original=data)
    assert inside.by_column["a"] == pytest.approx(39 / 40)


def test_measures_warn_without_values(recwarn):
    del recwarn
    x, y = masked_pair(2)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for spec in (*ATTACKS, *LOSSES):
            spec.measure(file(y), original=file(x), seed=1)
    text = " ".join(str(w.message) for w in seen)
    assert not any(f"{v:.5g}" in text for v in [*x.ravel(), *y.ravel()])
