"""Noise before tabulation: Massell, Zayatz and Funk (2006)."""

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import InputError, InvalidParameter, WeakProtection
from tacit.records.noise.noise_before_tabulation import (
    D1,
    D2,
    SplitNoise,
    balance_directions,
    multipliers,
)
from tacit.tables.noise.noise_study import (
    calibrate,
    companies_of,
    judge_cells,
    noise_study,
    random_group_cv,
)


def noisy_cells(cell, company, x, multiplier, *, weight=1.0, known_weight=1.0, **rule):
    """Cells before and after noise, judged by the extended p% rule."""
    own, w = x * np.asarray(known_weight), np.broadcast_to(weight, x.shape)
    pre, post = np.bincount(cell, own * w), np.bincount(cell, own * (multiplier + w - 1))
    return judge_cells(pre, post, companies_of(cell, company, own), **{"p": 10.0, **rule})


HOME = Path(__file__).parents[1] / "fixtures/psd26-noise-before-tabulation"


def load(name):
    return json.loads((HOME / f"{name}.json").read_text())


@pytest.mark.parametrize(("name", "noise"), [("D1", D1), ("D2", D2)])
def test_distribution(name, noise):
    case = load("split_triangular")[name]
    assert noise.pdf(case["x"]) == pytest.approx(case["pdf"])
    assert noise.cdf(case["x"]) == pytest.approx(case["cdf"])
    assert noise.ppf(case["u"]) == pytest.approx(case["ppf"])
    assert noise.mean_change == pytest.approx(case["mean_abs_change"])
    assert noise.sd == pytest.approx(case["sd"])


@pytest.mark.parametrize("shape", ["triangular", "uniform", "normal"])
def test_every_shape_is_a_distribution(shape):
    noise = SplitNoise(1.07, 1.3, shape)
    u = np.linspace(0.001, 0.999, 999)
    assert noise.cdf(noise.ppf(u)) == pytest.approx(u, abs=1e-9)
    grid = np.linspace(0.6, 1.4, 200_001)
    assert np.trapezoid(noise.pdf(grid), grid) == pytest.approx(1, abs=1e-3)
    m = noise.ppf(np.random.default_rng(1).random(200_000))
    assert np.abs(m - 1).mean() == pytest.approx(noise.mean_change, rel=0.01)
    assert m.std() == pytest.approx(noise.sd, rel=0.01)
    assert np.abs(m - 1).min() >= 0.07 - 1e-12


@pytest.mark.parametrize(
    "result", load("micro_example")["results"], ids=lambda r: f"{r['p']}-{r['round_base']}"
)
def test_worked_example(result):
    records = load("micro_example")["records"]
    names = sorted({r["cell"] for r in records})
    companies = sorted({r["company"] for r in records})
    cells = noisy_cells(
        np.array([names.index(r["cell"]) for r in records]),
        np.array([companies.index(r["company"]) for r in records]),
        np.array([r["x"] for r in records]),
        np.array([r["mult"] for r in records]),
        weight=[r["w_unknown"] for r in records],
        known_weight=[r["w_known"] for r in records],
        p=result["p"],
        round_base=result["round_base"],
    )
    for i, name in enumerate(names):
        expected = result["cells"][name]
        assert cells.pre[i] == pytest.approx(expected["TA"])
        assert cells.post[i] == pytest.approx(expected["post"])
        assert cells.companies[i] == expected["n_companies"]
        assert (cells.first[i], cells.second[i]) == pytest.approx((expected["X1"], expected["X2"]))
        assert cells.prot[i] == pytest.approx(expected["prot"])
        assert bool(cells.sensitive[i]) == expected["sensitive"]
    errors = result["errors"]
    assert cells.multiplier == pytest.approx(errors["protection_multipliers"])
    assert int((cells.multiplier < 1).sum()) == errors["n_under"]
    assert cells.alpha == pytest.approx(errors["alpha"])
    assert cells.beta == pytest.approx(errors["beta"])
    assert cells.beta_approximate == pytest.approx(errors["beta_all_cells_approx"])


def test_weights_protect():
    for case in load("rules")["weights_and_p_rule"]:
        cells = noisy_cells(
            np.array([0, 0]), np.array([0, 1]), np.array([case["X1"], case["X2"]]), np.ones(2),
            weight=[case["w1"], case["w2"]], p=case["p"],
        )  # fmt: skip
        assert cells.prot[0] == pytest.approx(case["prot"])
    for case in load("rules")["joint_multiplier"]:
        cells = noisy_cells(
            np.zeros(1, dtype=int), np.zeros(1, dtype=int), np.ones(1), np.array([case["noise"]]),
            weight=case["weight"],
        )  # fmt: skip
        assert cells.post[0] == pytest.approx(case["joint"])
        assert cells.relative[0] == pytest.approx(case["rel_change"])


def test_two_largest_companies_by_brute_force():
    rng = np.random.default_rng(3)
    cell, company = rng.integers(0, 6, 300), rng.integers(0, 9, 300)
    x = rng.random(300)
    found = companies_of(cell, company, x)
    for c in range(6):
        totals = sorted(
            (x[(cell == c) & (company == f)].sum() for f in set(company[cell == c])), reverse=True
        )
        assert found.count[c] == len(totals)
        assert (found.first[c], found.second[c]) == pytest.approx((totals[0], totals[1]))


def survey(seed, companies=250):
    """Shipments of establishments of companies, after the generator of the study, smaller."""
    rng = np.random.default_rng(seed)
    establishments = np.minimum(rng.geometric(0.55, companies), 8)
    owner = np.repeat(np.arange(companies), establishments)
    scale = rng.lognormal(0, 1.1, companies)[owner]
    weight = np.where(
        rng.random(len(owner)) < 0.12, 1.0,
        np.maximum(1.0, 1 + rng.gamma(1.2, 6, len(owner)) * rng.uniform(0.8, 1.2, len(owner))),
    )  # fmt: skip
    n = rng.integers(8, 30, len(owner))
    at = np.repeat(np.arange(len(owner)), n)
    return tacit.read(
        {
            "company": [f"c{i}" for i in owner[at]],
            "value": scale[at] * rng.lognormal(7, 1, len(at)),
            "weight": weight[at],
            "origin": rng.integers(0, 25, len(owner))[at],
            "destination": rng.integers(0, 25, len(at)),
            "commodity": rng.integers(0, 20, len(at)),
        },
        weight="weight",
    )


TABLES = {
    "commodity": ["commodity"],
    "origin x commodity": ["origin", "commodity"],
    "origin x destination x commodity": ["origin", "destination", "commodity"],
}


def test_the_findings_of_the_study():
    data = survey(1)
    one = noise_study(data, TABLES, "value", "company", noise=D1, p=5, draws=5, seed=2).frame
    two = noise_study(data, TABLES, "value", "company", noise=D2, p=5, draws=5, seed=2).frame
    betas = one.get_column("beta").to_list()
    assert betas == sorted(betas)
    for a, b in zip(one.rows(named=True), two.rows(named=True), strict=True):
        assert a["alpha"] <= 0.02
        assert b["alpha"] <= 0.03
        if a["cells"] >= 100:
            assert 1.3 < a["beta"] / b["beta"] < 1.9
    detail = one.rows(named=True)[-1]
    assert 0.11 < detail["median change of sensitive"] < 0.15
    assert detail["of one or two companies"] > 0.9


def test_single_company_cells_always_move_enough():
    rng = np.random.default_rng(5)
    company = rng.integers(0, 40, 400)
    cell = company // 2 * 3 + rng.integers(0, 3, 400)
    _, cell = np.unique(cell, return_inverse=True)
    x = rng.lognormal(3, 1, 400)
    for _ in range(50):
        up = (rng.random(40) < 0.5)[company]
        m = multipliers(SplitNoise(1.1, 1.2), up, np.arange(400), rng)
        cells = noisy_cells(cell, company, x, m, p=10)
        alone = cells.sensitive & (cells.companies == 1)
        assert (cells.moved[alone] >= cells.prot[alone] * (1 - 1e-9)).all()


def test_the_method_and_the_study_agree():
    data = survey(2, companies=40)
    noisy = tacit.NoiseBeforeTabulation(columns=["value"], company="company").apply(data, seed=4)
    before = tacit.Table.from_microdata(data, ["origin", "commodity"], "value")
    after = tacit.Table.from_microdata(noisy, ["origin", "commodity"], "value")
    change = np.abs(after.value - before.value)[before.value > 0] / before.value[before.value > 0]
    assert 0 < change.mean() < 0.2
    assert after.is_additive()


def test_noise_is_unbiased():
    data = survey(3, companies=30)
    total = np.array(data.column("value")) @ np.array(data.column("weight"))
    found = []
    for seed in range(60):
        noisy = tacit.NoiseBeforeTabulation(columns=["value"], company="company").apply(
            data, seed=seed
        )
        found.append(np.array(noisy.column("value")) @ np.array(noisy.column("weight")))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - total) < 4 * error


def test_a_key_keeps_directions_across_years():
    first, second = survey(4, companies=20), survey(5, companies=20)
    spec = tacit.NoiseBeforeTabulation(columns=["value"], company="company", key="a secret text")

    def directions(data, seed):
        noisy = spec.apply(data, seed=seed)
        up = np.array(noisy.column("value")) > np.array(data.column("value"))
        return dict(zip(data.column("company").to_pylist(), up.tolist(), strict=True))

    one, two = directions(first, 1), directions(second, 2)
    assert all(one[c] == two[c] for c in set(one) & set(two))
    assert "a secret text" not in repr(spec)


def test_columns_share_their_factor_unless_told():
    data = tacit.read({"c": ["a", "b", "c"], "x": [1.0, 2.0, 3.0], "y": [10.0, 20.0, 30.0]})
    spec = tacit.NoiseBeforeTabulation(columns=["x", "y"], company="c")
    out = spec.apply(data, seed=1)
    ratio = np.array(out.column("y")) / np.array(out.column("x"))
    assert ratio == pytest.approx(10)
    apart = spec.model_copy(update={"separate": ("y",)}).apply(data, seed=1)
    assert np.array(apart.column("y")) / np.array(apart.column("x")) != pytest.approx(10)


def test_balanced_directions_cancel():
    rng = np.random.default_rng(6)
    company = np.arange(200)
    cell = rng.integers(0, 4, 200)
    x = rng.lognormal(0, 1, 200)
    up = balance_directions(company, cell, x, rng)
    drift = np.abs(np.bincount(cell, weights=np.where(up, x, -x)))
    coin = np.abs(np.bincount(cell, weights=np.where(rng.random(200) < 0.5, x, -x)))
    assert drift.sum() < coin.sum()


def test_random_groups_by_definition():
    cell, group = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 1, 0, 1])
    x = np.array([1.0, 2.0, 3.0, 4.0, 4.0])
    cv = random_group_cv(cell, group, x, 2)
    assert cv[0] == pytest.approx(np.sqrt(((2 * 1 - 6) ** 2 + (2 * 5 - 6) ** 2) / 2) / 6)
    assert cv[1] == 0


def test_calibration_respects_the_limit():
    data = survey(6, companies=60)
    chosen, rows = calibrate(
        data, {"t": ["origin", "commodity"]}, "value", "company", draws=3, seed=1, alpha_limit=0.5
    )
    assert chosen.a in [r["a"] for r in rows]
    with pytest.raises(InputError, match="no candidate"):
        calibrate(
            data,
            {"t": ["origin", "destination"]},
            "value",
            "company",
            draws=2,
            seed=1,
            alpha_limit=-1.0,
        )


def test_refusals():
    with pytest.raises(InvalidParameter, match="a must be less than b"):
        tacit.NoiseBeforeTabulation(columns=["x"], company="c", a=1.3, b=1.2)
    data = tacit.read({"c": ["a", None], "x": [1.0, -2.0]})
    with pytest.raises(InputError, match="no 'c'"):
        tacit.NoiseBeforeTabulation(columns=["x"], company="c").apply(data)
    data = tacit.read({"c": ["a", "b"], "x": [1.0, -2.0]})
    with pytest.raises(InputError, match="negative"):
        tacit.NoiseBeforeTabulation(columns=["x"], company="c").apply(data)
    data = tacit.read({"c": ["a", "b"], "x": [1.0, 2.0], "w": [0.5, 2.0]}, weight="w")
    with pytest.raises(InputError, match="below 1"):
        tacit.NoiseBeforeTabulation(columns=["x"], company="c").apply(data)
    with pytest.warns(WeakProtection):
        tacit.NoiseBeforeTabulation(columns=["x"], company="c", small_weights=True).apply(data)
    with pytest.raises(InvalidParameter):
        noisy_cells(np.zeros(1, dtype=int), np.zeros(1, dtype=int), np.ones(1), np.ones(1), p=0)
