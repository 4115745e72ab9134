"""The combined protocol from the data user's side, and the published Monte Carlo."""

import csv

import numpy as np
import pytest

import tacit
from conftest import FIXTURES
from tacit.errors import Approximate
from tacit.stats.correction.retention import retention_probability
from tacit.stats.correction.simex_fit import linear_simex

PAPER = FIXTURES / "psd14-blanking-and-noise"
PARAMETERS = ("alpha", "beta", "gamma")


def table(name):
    return list(csv.DictReader((PAPER / f"{name}.csv").read_text().splitlines()))


def population(n, rng):
    x = rng.multivariate_normal([0, 0], [[1, 0.25], [0.25, 1]], n)
    return x, 0.5 + x[:, 0] - x[:, 1] + rng.normal(size=n)


def released(n=4000, seed=1):
    """Noise on a covariate, blanking on the response, probabilities beside."""
    x, y = population(n, np.random.default_rng(seed))
    data = tacit.read({"y": y, "x1": x[:, 0], "x2": x[:, 1]})
    noisy = tacit.AddNoise(columns=["x1"], sd=np.sqrt(0.5)).apply(data, seed=seed)
    return tacit.Blank(response="y", sd=1.0, upper=0.9).apply(noisy, seed=seed)


def test_the_analyst_gets_the_truth_back():
    spec = tacit.Simex(
        response="y",
        covariates=["x1", "x2"],
        noise={"x1": 0.5},
        probability="retention",
        extrapolant="rational",
        bootstrap=30,
    )
    found = spec.measure(released(seed=2), seed=1)
    truth = dict(zip(("(constant)", "x1", "x2"), (0.5, 1, -1), strict=True))
    for i, (term, value) in enumerate(truth.items()):
        assert abs(found.corrected[term] - value) < 4 * found.errors[i]
    assert found.naive[1] < 0.65
    assert found.frame["term"].to_list() == list(truth)
    assert found.plot().spec["facet"]


def test_without_noise_it_is_plain_weighting():
    kept = released()
    spec = tacit.Simex(response="y", covariates=["x2"], probability="retention", bootstrap=0)
    found = spec.measure(kept)
    y, x, p = (kept.column(c).to_numpy() for c in ("y", "x2", "retention"))
    design = np.column_stack([np.ones(len(x)), x]) / np.sqrt(p)[:, None]
    expected = np.linalg.lstsq(design, y / np.sqrt(p), rcond=None)[0]
    assert list(found.corrected.values()) == pytest.approx(expected)
    assert found.errors is None


def test_heavy_weights_are_told():
    data = tacit.read({"y": np.arange(9.0), "x": np.arange(9.0) ** 2, "p": [0.01] + [1.0] * 8})
    spec = tacit.Simex(response="y", covariates=["x"], probability="p", bootstrap=0)
    with pytest.warns(Approximate, match="weigh more than 50"):
        spec.measure(data)
    calm = tacit.Simex(response="y", covariates=["x"], probability="p", bootstrap=0, max_weight=10)
    assert calm.measure(data).value is not None


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"noise": {"z": 1}}, "no covariates"),
        ({"noise": {"x": -1}}, "at least 0"),
        ({"lambdas": [0.5, 1]}, "must hold 0"),
        ({"lambdas": [0, -1]}, "must hold 0"),
        ({"covariates": ["y"]}, "cannot be a covariate"),
    ],
)
def test_refusals(parameters, words):
    with pytest.raises(tacit.SdcError, match=words):
        tacit.Simex(**{"response": "y", "covariates": ["x"], **parameters})


def test_bad_data_are_refused():
    few = tacit.read({"y": [1.0, 2.0], "x": [1.0, 3.0]})
    with pytest.raises(tacit.SdcError, match="too few records"):
        tacit.Simex(response="y", covariates=["x"]).measure(few)
    off = tacit.read({"y": np.arange(9.0), "x": np.arange(9.0), "p": np.zeros(9)})
    with pytest.raises(tacit.SdcError, match="above 0"):
        tacit.Simex(response="y", covariates=["x"], probability="p").measure(off)


def one_replication(n, noise, theta, rng):
    """One draw of a design: naive and corrected estimates, records dropped, risky dropped."""
    x, y = population(n, rng)
    seen = x[:, 0] + rng.normal(0, np.sqrt(noise), n)
    qx, qy = np.quantile(seen, theta), np.quantile(y, theta)
    keep = (seen + rng.normal(size=n) < qx) & (y + rng.normal(size=n) < qy)
    p = retention_probability(y[keep], -np.inf, qy, 1.0)
    z = np.column_stack([seen, x[:, 1]])[keep]
    naive = np.linalg.lstsq(np.column_stack([np.ones(keep.sum()), z]), y[keep], rcond=None)[0]
    fixed = linear_simex(z, y[keep], 1 / p, np.diag([noise, 0.0]), rng=rng).corrected
    risky = [100 * ((v > q) & ~keep).sum() / (n * (1 - theta)) for v, q in ((y, qy), (x[:, 0], qx))]
    return naive, fixed, (~keep).sum(), risky


@pytest.mark.slow
@pytest.mark.parametrize("design", ["1", "2", "3", "4"])
@pytest.mark.parametrize("n", [100, 1000])
def test_published_monte_carlo(design, n):
    rows = [r for r in table("tables2_5") if r["design"] == design and int(r["n"]) == n]
    noise, theta = float(rows[0]["sigma_u2"]), float(rows[0]["theta_u"])
    rng = np.random.default_rng(int(design))
    runs = [one_replication(n, noise, theta, rng) for _ in range(1500)]
    truth = np.array([0.5, 1, -1])
    found = {"naive": np.array([r[0] for r in runs]), "bsimex": np.array([r[1] for r in runs])}
    within = 0.012 if n == 1000 else 0.03
    for r in rows:
        if r["estimator"] not in found:
            continue
        values = found[r["estimator"]][:, PARAMETERS.index(r["parameter"])]
        rmse = np.sqrt(((values - truth[PARAMETERS.index(r["parameter"])]) ** 2).mean())
        assert values.mean() == pytest.approx(float(r["pub_mean"]), abs=within)
        assert rmse == pytest.approx(float(r["pub_rmse"]), rel=0.18)
    dropped = next(r for r in table("risky_dropped") if r["design"] == design and int(r["n"]) == n)
    assert np.mean([r[2] for r in runs]) == pytest.approx(
        float(dropped["pub_obs_dropped"]), rel=0.02
    )
    risky = np.mean([r[3] for r in runs], axis=0)
    assert risky[0] == pytest.approx(float(dropped["pub_ry_percent"]), abs=2)
    assert risky[1] == pytest.approx(float(dropped["pub_rx_percent"]), abs=3)
