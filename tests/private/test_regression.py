"""Regression across owners: fixtures to the digit, pooled fits by independent code, secure sums, refusals, what a party sees."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import expit

import tacit
from tacit.errors import (
    DisclosureRefused,
    Infeasible,
    InputError,
    InvalidParameter,
    PartyMissing,
    ProtocolError,
    SdcError,
)
from tacit.private import regression
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import run_together
from tacit.private.regression import loglinear
from tacit.private.regression.design import parse_formula
from tacit.private.regression.fixed_point import FixedPoint, recover_secret, share_secret
from tacit.private.regression.sums import SumSettings, add_securely

FIXTURES = Path(__file__).parent.parent / "fixtures" / "psd24-secure-distributed-regression"
AXES = {"status": ["1", "2"], "treatment": ["1", "2"], "response": ["1", "2"]}
PAIRS = [["status", "treatment"], ["status", "response"], ["treatment", "response"]]
PROTOCOLS = [
    ("ring", 0),
    ("pairwise_masks", 0),
    ("pairwise_masks", 1),
    ("shamir", 0),
    ("shamir", 1),
]
pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")


def fixture(name):
    return json.loads((FIXTURES / f"{name}.json").read_text())


def agencies():
    with (FIXTURES / "horizontal_60.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = {}
    for row in rows:
        found.setdefault(row["agency"], []).append(
            {k: float(v) for k, v in row.items() if k != "agency"}
        )
    return found


def trial():
    """The clinical trial as grouped records: two agencies, and a third without records of its own."""
    f = fixture("clinical_trial")
    return f, np.array(f["agency_tables"], float)


# -- secure sums -------------------------------------------------------------------------------------


def test_ring_fixture():
    f = fixture("secure_sum_ring")
    m = int(f["modulus"])
    running, messages = int(f["mask"]), []
    for value in f["values"]:
        running = (running + value) % m
        messages.append(str(running))
    assert messages == f["messages_party1_to_K_then_back"]
    assert (running - int(f["mask"])) % m == f["result"]
    assert (int(messages[1]) - int(messages[0])) % m == f["recovered_by_neighbours_of_party2"]
    point = FixedPoint(64, f["fixed_point"]["scale_bits"])
    (encoded,) = point.encode([f["fixed_point"]["example_value"]], 4)
    assert str(encoded) == f["fixed_point"]["encoded"]


def play_sums(me, names, values, protocol, drop_outs):
    own = SumSettings(me, names, Randomness(), protocol, drop_outs=drop_outs)
    totals = []
    for v in values:
        totals.append((yield from add_securely(own, v)))  # noqa: PERF401 - a generator cannot be in a comprehension
    return totals


@pytest.mark.parametrize(("protocol", "drop_outs"), PROTOCOLS)
def test_sums_are_exact(protocol, drop_outs):
    rng = np.random.default_rng(1)
    names = list("abcd")
    values = {n: [rng.normal(size=5) * 10**k for k in (0, 6, -3)] for n in names}
    roles = {n: play_sums(n, names, values[n], protocol, drop_outs) for n in names}
    done = run_together(roles)
    for i in range(3):
        whole = [
            sum(round(v * 2.0**48) for v in column)
            for column in zip(*(values[n][i] for n in names), strict=True)
        ]
        exact = np.array([w / 2**48 for w in whole])
        for n in names:
            np.testing.assert_array_equal(done.results[n][i], exact)


def stop_after(orders, role):
    """Play a role and go away after some orders, as a party that drops out does."""
    answer = None
    for _ in range(orders):
        try:
            order = role.send(answer)
        except StopIteration as stop:
            return stop.value
        answer = yield order
    return None


@pytest.mark.parametrize("protocol", ["pairwise_masks", "shamir"])
@pytest.mark.parametrize("orders", range(0, 60, 3))
def test_all_totals_are_over_the_same_parties(protocol, orders):
    """Before minus after would be the vector of a party that went: the run ends, or its vector is in every total."""
    names = list("abcdef")
    values = {n: [np.array([10.0**i + k, -i]) for k in range(3)] for i, n in enumerate(names)}
    roles = {n: play_sums(n, names, values[n], protocol, 2) for n in names}
    roles["c"] = stop_after(orders, roles["c"])
    shown = []

    def watch(message):
        if message.step.endswith("total"):
            shown.append((message.step, message.body["total"]))

    try:
        run_together(roles, watch=watch)
    except (PartyMissing, ProtocolError) as error:
        assert "1000" not in str(error)  # ended cleanly, without a value
    point = FixedPoint()
    sets = set()
    for step, data in shown:
        k = int(step.split()[1].rstrip(",")) - 1
        total = point.decode(point.unpack(data))
        for left_out in ((), ("c",)):
            if np.allclose(total, sum(values[n][k] for n in names if n not in left_out)):
                sets.add(left_out)
    assert len(sets) <= 1
    assert bool(sets) == bool(shown)


def test_sums_refuse_what_overflows():
    point = FixedPoint(64, 48)
    for bad in (1e6, float("nan"), float("inf")):
        with pytest.raises(InputError):
            point.encode([bad], 3)
    with pytest.raises(InvalidParameter):
        FixedPoint(100)
    with pytest.raises(InvalidParameter, match="no protocol"):
        SumSettings("a", ["a", "b", "c"], Randomness(), "rink")
    with pytest.raises(InvalidParameter, match="does not survive"):
        SumSettings("a", list("abcd"), Randomness(), "ring", drop_outs=1)
    for names, many in (("abc", 1), ("abcd", 2), ("abcdef", 3)):
        with pytest.raises(InvalidParameter, match="different lists"):
            SumSettings("a", list(names), Randomness(), drop_outs=many)


@given(st.integers(0, 2**300), st.integers(2, 7), st.data())
@settings(max_examples=25)
def test_shares_recover_the_secret(secret, n, data):
    needed = data.draw(st.integers(1, n))
    shares = share_secret(secret, n, needed, Randomness())
    places = data.draw(st.permutations(range(1, n + 1)))[:needed]
    assert recover_secret({x: shares[x - 1] for x in places}, needed) == secret
    if needed > 1:
        with pytest.raises(PartyMissing):
            recover_secret({x: shares[x - 1] for x in places[:-1]}, needed)


@pytest.mark.parametrize("protocol", ["ring", "pairwise_masks", "shamir"])
def test_what_a_party_sees_is_uniform(protocol):
    """The top byte of every masked number: flat over 16 bins, whatever the inputs."""
    top = []

    def watch(message):
        for part in ("sum", "shares"):
            # One party's view: along a ring the same mask comes by several times.
            if (
                message.receiver != "b"
                or message.step.endswith("total")
                or part not in message.body
            ):
                continue
            data = message.body[part]
            # Shares lie in a field of 521 bits: the byte below the top two is even.
            width = 66 if protocol == "shamir" else 16
            top.extend(
                data[i + (3 if protocol == "shamir" else width - 1)]
                for i in range(0, len(data), width)
            )

    names = list("bac") if protocol == "pairwise_masks" else list("abc")
    values = {n: [np.full(400, 7.0)] for n in names}
    run_together({n: play_sums(n, names, values[n], protocol, 0) for n in names}, watch=watch)
    assert len(top) >= 400
    counts = np.bincount(np.array(top) // 16, minlength=16)
    assert stats.chisquare(counts).pvalue > 1e-4


# -- the paper's example -----------------------------------------------------------------------------


def trial_records(tables):
    """Grouped records of the agencies, with 0/1 columns that are 1 in the first category."""
    found = {}
    for k, table in enumerate(tables):
        found[f"agency {k}"] = [
            {
                "status": float(i == 0),
                "active": float(j == 0),
                "poor": table[i, j, 0],
                "n": table[i, j].sum(),
            }
            for i in range(2)
            for j in range(2)
        ]
    return found


def test_clinical_trial_by_margins():
    f, tables = trial()
    options = {"categories": AXES, "allow_two_party": True, "disclosure_check": False}
    fit = regression.log_linear(list(tables), PAIRS, **options)
    for got, name in zip(fit.margins, ("n_ij", "n_ik", "n_jk"), strict=True):
        np.testing.assert_array_equal(got, f["margins"][name])
    np.testing.assert_allclose(fit.fitted, f["recomputed"]["fitted_counts_exact"], atol=1e-8)
    odds = np.log(fit.fitted[..., 0] / fit.fitted[..., 1]).ravel()
    np.testing.assert_allclose(odds, f["recomputed"]["log_odds_exact"], atol=1e-8)
    early = regression.log_linear(list(tables), PAIRS, cycles=3, **options)
    odds = np.log(early.fitted[..., 0] / early.fitted[..., 1]).ravel()
    np.testing.assert_array_equal(
        np.round(odds, 6), f["published_log_odds"]["loglinear_ipf_3_cycles"]
    )
    pooled = tables.sum(0)
    assert loglinear.pearson(pooled, fit.fitted) == pytest.approx(0.38196332, abs=1e-8)
    assert loglinear.deviance(pooled, fit.fitted) == pytest.approx(0.38487418, abs=1e-8)
    u = fixture("u_terms_to_beta")
    terms = fit.u_terms()
    assert float(terms[()]) == pytest.approx(u["u"], abs=1e-9)
    assert terms["response",][0] == pytest.approx(u["u3_1"], abs=1e-9)
    assert terms["status", "response"][0, 0] == pytest.approx(u["u13_11"], abs=1e-9)
    assert terms["treatment", "response"][0, 0] == pytest.approx(u["u23_11"], abs=1e-9)
    logit = fit.logit("response")
    np.testing.assert_allclose(list(logit.values()), u["beta"], atol=1e-8)
    full = regression.log_linear(list(tables), [list(AXES)], **options)
    test = regression.compare_tables(fit, full)
    assert test.value == pytest.approx(0.38487418, abs=1e-8)
    assert test.numbers["df"] == 1


def test_clinical_trial_by_newton():
    f, tables = trial()
    fit = regression.logistic(
        trial_records(tables),
        "poor ~ status + active",
        sizes="n",
        allow_two_party=True,
        threshold=0,
        tol=1e-9,
    )
    exact = [-1.02438215, 0.71866479, -0.68351275]
    np.testing.assert_allclose(list(fit.coefficients.values()), exact, atol=1e-8)
    np.testing.assert_allclose(
        list(fit.standard_errors.values()), [0.30056601, 0.33770586, 0.33001543], atol=1e-8
    )
    # Iteration 4 from zero, as the paper prints it.
    beta = fit.history[4]
    odds = [beta[0] + beta[1] * (i == 0) + beta[2] * (j == 0) for i in range(2) for j in range(2)]
    np.testing.assert_array_equal(np.round(odds, 6), f["published_log_odds"]["newton_raphson"])
    assert fit.likelihood == pytest.approx(-110.72872407, abs=1e-8)


def test_clinical_trial_fit_statistics():
    """X2 and G2 of the pooled four groups, by the sums that parties add."""
    from tacit.private.regression.families import Logistic

    _, tables = trial()
    rows = trial_records([tables.sum(0)])["agency 0"]
    x = np.array([[1.0, r["status"], r["active"]] for r in rows])
    model = Logistic(x, np.array([r["poor"] for r in rows]), np.array([r["n"] for r in rows]))
    beta = np.array([-1.0243821512333555, 0.7186647948337274, -0.6835127509651625])
    x2, g2 = model.fit_statistics(beta)
    assert x2 == pytest.approx(0.38196332, abs=1e-8)
    assert g2 == pytest.approx(0.38487418, abs=1e-8)


def test_margin_disclosure_fixture():
    _, tables = trial()
    bounds = fixture("margin_disclosure_bounds")
    spec = loglinear.TableSpec({a: tuple(c) for a, c in AXES.items()})
    generators = [tuple(g) for g in PAIRS]
    margins = [spec.sum_over(tables.sum(0), g) for g in generators]
    report = loglinear.check_margins(spec, generators, margins)
    np.testing.assert_array_equal(report.lower, bounds["integer_lower"])
    np.testing.assert_array_equal(report.upper, bounds["integer_upper"])
    assert report.n_tables == bounds["number_of_tables"]
    assert not report.exposed.any()


def test_existence_fixture():
    f = fixture("mle_existence")
    names = {a: ["1", "2"] for a in "ijk"}
    pairs = [["i", "j"], ["i", "k"], ["j", "k"]]
    tables = [np.array(t, float) for t in f["agency_tables"]]
    alone = regression.exists_by_party(tables, pairs, categories=names)
    assert list(alone.values()) == f["exists_per_agency"]
    fit = regression.log_linear(tables, pairs, categories=names, disclosure_check=False)
    np.testing.assert_allclose(fit.fitted, f["pooled_fitted"], atol=1e-8)
    zero = np.zeros((2, 2, 2))
    with pytest.raises(InputError, match="does not exist"):
        regression.log_linear(
            [tables[0], zero, zero], pairs, categories=names, disclosure_check=False
        )


def test_sparse_fixture():
    f = fixture("sparse_nonzero_cells")
    names = {f"agency {i}": cells for i, cells in enumerate(f["cells_by_agency"])}
    with pytest.raises(DisclosureRefused, match="so few records"):
        regression.sparse_table(names)
    found = regression.sparse_table(names, threshold=0)
    assert list(found) == f["nonzero_cell_list"]
    assert found == f["pooled"]


# -- joint fits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["ring", "pairwise_masks", "shamir"])
def test_horizontal_fixture(protocol):
    f = fixture("horizontal_60_expected")
    fit = regression.logistic(agencies(), "y_binary ~ x1 + x2 + x3", protocol=protocol, threshold=0)
    want = f["logistic"]
    np.testing.assert_allclose(list(fit.coefficients.values()), want["beta"], atol=1e-8)
    np.testing.assert_allclose(list(fit.standard_errors.values()), want["std_errors"], atol=1e-8)
    assert fit.likelihood == pytest.approx(want["loglik"], abs=1e-8)
    assert pytest.approx(want["pearson_X2"], abs=1e-8) == fit.X2
    assert pytest.approx(want["deviance"], abs=1e-8) == fit.G2
    for got, expected in zip(fit.history[1:5], want["iterates_from_zero"], strict=False):
        np.testing.assert_allclose(got, expected, atol=1e-8)
    assert "By subtracting its own part" in fit.statement
    assert "No party learnt the statistics of another" not in fit.statement


def test_starts_and_linear_fixture():
    f = fixture("horizontal_60_expected")
    ols = regression.logistic(agencies(), "y_binary ~ x1 + x2 + x3", start="ols", threshold=0)
    np.testing.assert_allclose(ols.history[0], f["logistic"]["start_from_ols"], atol=1e-8)
    np.testing.assert_allclose(list(ols.coefficients.values()), f["logistic"]["beta"], atol=1e-8)
    linear = f["linear"]
    fit = regression.linear(agencies(), "y_linear ~ x1 + x2 + x3")
    beta = next(v for k, v in linear.items() if "beta" in k)
    np.testing.assert_allclose(list(fit.coefficients.values()), beta, atol=1e-8)
    errors = next(v for k, v in linear.items() if "err" in k)
    np.testing.assert_allclose(list(fit.standard_errors.values()), errors, atol=1e-8)


def split(frame, n, rng):
    """Cut a mapping of columns into n parties."""
    party = rng.integers(0, n, len(next(iter(frame.values()))))
    return {f"p{k}": {c: v[party == k] for c, v in frame.items()} for k in range(n)}


def maximise(value, start):
    """Return the maximum of a function by a method that shares nothing with ours."""
    found = optimize.minimize(
        lambda b: -value(b), start, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}
    )
    return found.x


def sample(seed, n=400):
    rng = np.random.default_rng(seed)
    x1, x2 = rng.normal(size=n), rng.uniform(-1, 2, size=n)
    region = rng.choice(["north", "south", "west"], n)
    return rng, {"x1": x1, "x2": x2, "region": region}


def test_logistic_with_categories_and_products():
    rng, frame = sample(4)
    south = (frame["region"] == "south").astype(float)
    west = (frame["region"] == "west").astype(float)
    eta = 0.3 + frame["x1"] - 0.5 * south + 0.4 * west * frame["x1"]
    frame["y"] = (rng.uniform(size=len(eta)) < expit(eta)).astype(float)
    fit = regression.logistic(split(frame, 4, rng), "y ~ x1 + region + x1:region")
    x = np.column_stack(
        [np.ones_like(eta), frame["x1"], south, west, frame["x1"] * south, frame["x1"] * west]
    )

    def likelihood(b):
        return np.sum(frame["y"] * (x @ b) - np.logaddexp(0, x @ b))

    expected = maximise(likelihood, np.zeros(6))
    assert list(fit.coefficients) == [
        "(constant)", "x1", "region=south", "region=west", "x1:region=south", "x1:region=west",
    ]  # fmt: skip
    np.testing.assert_allclose(list(fit.coefficients.values()), expected, atol=1e-5)
    weights = expit(x @ expected) * expit(-(x @ expected))
    errors = np.sqrt(np.diag(np.linalg.inv((x * weights[:, None]).T @ x)))
    np.testing.assert_allclose(list(fit.standard_errors.values()), errors, rtol=1e-4)


def test_poisson_and_nested_test():
    rng, frame = sample(5)
    frame["y"] = rng.poisson(np.exp(0.2 + 0.5 * frame["x1"])).astype(float)
    parties = split(frame, 3, rng)
    larger = regression.poisson(parties, "y ~ x1 + x2")
    smaller = regression.poisson(parties, "y ~ x1")
    x = np.column_stack([np.ones(400), frame["x1"], frame["x2"]])
    expected = maximise(lambda b: np.sum(frame["y"] * (x @ b) - np.exp(x @ b)), np.zeros(3))
    np.testing.assert_allclose(list(larger.coefficients.values()), expected, atol=1e-5)
    test = regression.compare(smaller, larger)
    assert test.numbers["df"] == 1
    assert test.value == pytest.approx(2 * (larger.likelihood - smaller.likelihood))
    with pytest.raises(InvalidParameter):
        regression.compare(larger, smaller)


def test_multinomial():
    rng, frame = sample(6)
    eta = np.column_stack([np.zeros(400), 0.5 + frame["x1"], -0.3 - 0.7 * frame["x1"]])
    chance = np.exp(eta) / np.exp(eta).sum(1, keepdims=True)
    frame["y"] = np.array([rng.choice(["a", "b", "c"], p=p) for p in chance])
    fit = regression.multinomial(split(frame, 3, rng), "y ~ x1")
    x = np.column_stack([np.ones(400), frame["x1"]])
    codes = np.array(["abc".index(v) for v in frame["y"]])

    def likelihood(b):
        e = np.column_stack([np.zeros(400), x @ b[:2], x @ b[2:]])
        return np.sum(e[np.arange(400), codes] - np.log(np.exp(e).sum(1)))

    np.testing.assert_allclose(
        list(fit.coefficients.values()), maximise(likelihood, np.zeros(4)), atol=1e-5
    )
    assert fit.likelihood == pytest.approx(
        likelihood(np.array(list(fit.coefficients.values()))), abs=1e-8
    )
    assert next(iter(fit.coefficients)) == "b: (constant)"


def test_cox():
    rng, frame = sample(7, 300)
    time = np.ceil(rng.exponential(10 / np.exp(0.6 * frame["x1"])))
    frame["time"], frame["died"] = time, (rng.uniform(size=300) < 0.7).astype(float)
    fit = regression.cox(split(frame, 3, rng), "time ~ x1 + x2", event="died")
    x = np.column_stack([frame["x1"], frame["x2"]])
    assert 2 <= len(fit.times) < len(np.unique(time))
    assert f"{len(fit.times)} steps of time" in fit.statement
    time = np.searchsorted(fit.times, time, side="right")

    def likelihood(b):
        """Breslow's partial likelihood on the steps of time, one death after the other."""
        eta = x @ b
        return sum(
            eta[i] - np.log(np.exp(eta[time >= time[i]]).sum())
            for i in np.flatnonzero(frame["died"])
        )

    expected = maximise(likelihood, np.zeros(2))
    np.testing.assert_allclose(list(fit.coefficients.values()), expected, atol=1e-5)
    assert fit.likelihood == pytest.approx(likelihood(expected), abs=1e-6)


def test_ridge_and_firth():
    rng, frame = sample(8)
    frame["y"] = (frame["x1"] > 0).astype(float)  # separated
    parties = split(frame, 3, rng)
    with pytest.raises(Infeasible, match=r"separated|inverted"):
        regression.logistic(parties, "y ~ x1")
    x = np.column_stack([np.ones(400), frame["x1"]])
    y = frame["y"]

    def penalised(b):
        return np.sum(y * (x @ b) - np.logaddexp(0, x @ b)) - 0.5 * 2.0 * b @ b

    fit = regression.logistic(parties, "y ~ x1", ridge=2.0)
    np.testing.assert_allclose(
        list(fit.coefficients.values()), maximise(penalised, np.zeros(2)), atol=1e-5
    )

    def jeffreys(b):
        weights = expit(x @ b) * expit(-(x @ b))
        information = (x * weights[:, None]).T @ x
        return (
            np.sum(y * (x @ b) - np.logaddexp(0, x @ b)) + 0.5 * np.linalg.slogdet(information)[1]
        )

    frame["y"] = (rng.uniform(size=400) < expit(-2 + frame["x1"])).astype(float)
    y = frame["y"]
    fit = regression.logistic(split(frame, 3, rng), "y ~ x1", firth=True)
    np.testing.assert_allclose(
        list(fit.coefficients.values()), maximise(jeffreys, np.zeros(2)), atol=1e-4
    )


@pytest.mark.parametrize("drop_outs", [0, 1])
def test_random_partitions_give_the_pooled_fit(drop_outs):
    rng = np.random.default_rng(12)
    x = rng.normal(size=(500, 7))
    y = (rng.uniform(size=500) < expit(x @ rng.normal(size=7) * 0.5)).astype(float)
    frame = {f"x{i}": x[:, i] for i in range(7)} | {"y": y}
    formula = "y ~ " + " + ".join(f"x{i}" for i in range(7))
    design = np.column_stack([np.ones(500), x])
    beta = np.zeros(8)
    for _ in range(20):
        p = expit(design @ beta)
        beta = beta + np.linalg.solve(
            (design * (p * (1 - p))[:, None]).T @ design, design.T @ (y - p)
        )
    for n in (3, 5, 10) if not drop_outs else (4, 6):
        fit = regression.logistic(split(frame, n, rng), formula, drop_outs=drop_outs)
        np.testing.assert_allclose(list(fit.coefficients.values()), beta, atol=1e-8)


def test_vertical_linear():
    rng = np.random.default_rng(3)
    n = 200
    a, b, c = rng.normal(size=(n, 2)), rng.normal(size=(n, 1)), rng.normal(size=(n, 1))
    y = 1 + a @ [0.5, -1] + 2 * b[:, 0] - c[:, 0] + rng.normal(size=n)
    parties = {
        "a": {"a1": a[:, 0], "a2": a[:, 1]},
        "b": {"b1": b[:, 0], "y": y},
        "c": {"c1": c[:, 0]},
    }
    fit = regression.vertical_linear(parties, response="y")
    x = np.column_stack([np.ones(n), b, a, c])
    expected, *_ = np.linalg.lstsq(x, y, rcond=None)
    assert list(fit.coefficients) == ["(constant)", "b1", "a1", "a2", "c1"]
    np.testing.assert_allclose(list(fit.coefficients.values()), expected, atol=1e-8)
    rest = y - x @ expected
    errors = np.sqrt(np.diag(np.linalg.inv(x.T @ x)) * (rest @ rest) / (n - 5))
    np.testing.assert_allclose(list(fit.standard_errors.values()), errors, rtol=1e-8)
    with pytest.raises(DisclosureRefused, match="too few"):
        regression.vertical_linear(
            {k: {c: v[:12] for c, v in t.items()} for k, t in parties.items()}, response="y"
        )


def test_integration_hides_whose_records_are():
    parties = {p: [{"v": f"{p}{i}"} for i in range(20)] for p in "abc"}
    seen = []
    rows, transcript = regression.integrate(parties, watch=seen.append)
    assert sorted(r["v"] for r in rows) == sorted(r["v"] for t in parties.values() for r in t)
    to_relay = [m for m in seen if "relay" in (m.receiver, m.sender)]
    assert to_relay
    assert all(b'"v"' not in m.body["file"] for m in to_relay)
    assert transcript.n_messages > 30


def test_tables_are_added():
    rng = np.random.default_rng(2)
    tables = [rng.integers(0, 50, (3, 2)).astype(float) for _ in range(3)]
    total, _ = regression.contingency_table(
        tables, categories={"a": ["1", "2", "3"], "b": ["1", "2"]}
    )
    np.testing.assert_array_equal(total, sum(tables))
    records = [{"a": ["1", "2", "2"], "b": ["1", "1", "2"]}] * 3
    with pytest.raises(DisclosureRefused, match="a x b"):
        regression.contingency_table(records, categories={"a": ["1", "2"], "b": ["1", "2"]})
    total, _ = regression.contingency_table(
        records, categories={"a": ["1", "2"], "b": ["1", "2"]}, threshold=0
    )
    np.testing.assert_array_equal(total, [[3, 0], [3, 3]])


# -- refusals ----------------------------------------------------------------------------------------


def test_refusals():
    parties = agencies()
    formula = "y_binary ~ x1 + x2"
    two = dict(list(parties.items())[:2])
    with pytest.raises(DisclosureRefused, match="with two parties"):
        regression.logistic(two, formula)
    with pytest.warns(tacit.errors.WeakProtection, match="two parties"):
        fit = regression.logistic(two, formula, allow_two_party=True, threshold=0)
    assert "two parties" in fit.statement
    with pytest.raises(InvalidParameter, match="at least two"):
        regression.logistic(dict(list(parties.items())[:1]), formula)
    with pytest.raises(tacit.errors.ColumnNotFound):
        regression.logistic(parties, "y_binary ~ x9")
    with pytest.raises(InputError, match="between 0 and the number of trials"):
        regression.logistic(parties, "y_linear ~ x1")
    holes = {p: [{**r, "x1": None} for r in rows] for p, rows in parties.items()}
    with pytest.raises(InputError, match="missing values"):
        regression.logistic(holes, formula)
    endless = {p: [{**r, "x1": float("inf")} for r in rows] for p, rows in parties.items()}
    with pytest.raises(InputError, match="no finite number"):
        regression.logistic(endless, formula)
    twins = {p: [{**r, "x4": 2 * r["x1"]} for r in rows] for p, rows in parties.items()}
    with pytest.raises(Infeasible, match="depend on each other"):
        regression.logistic(twins, "y_binary ~ x1 + x4")
    few = {**parties, "1": parties["1"], "2": parties["2"][:1], "3": parties["3"][:1]}
    with pytest.raises(DisclosureRefused, match="too few records"):
        regression.logistic(few, formula)
    with pytest.raises(InputError, match="whole numbers"):
        regression.log_linear(
            [[[0.5, 1]], [[1, 1]], [[1, 1]]], [["a"]], categories={"a": ["1"], "b": ["1", "2"]}
        )
    with pytest.raises(InvalidParameter, match="different axes"):
        regression.log_linear(
            [np.ones((2, 2))] * 3, [["z"]], categories={"a": ["1", "2"], "b": ["1", "2"]}
        )
    for text in ("y", "y ~", "~ x", "y ~ x1 - x2", "y ~ C(x"):
        with pytest.raises(InvalidParameter):
            parse_formula(text)


def test_small_categories_of_others_are_not_told():
    rng = np.random.default_rng(9)
    frame = {"y": (rng.uniform(size=90) < 0.5).astype(float), "rare": np.zeros(90)}
    parties = {
        f"p{k}": {c: v[k * 30 : (k + 1) * 30].copy() for c, v in frame.items()} for k in range(3)
    }
    parties["p0"]["rare"][:12] = 1
    parties["p1"]["rare"][0] = 1
    with pytest.raises(DisclosureRefused, match="Merge categories"):
        regression.logistic(parties, "y ~ rare")


def test_spoilt_messages_never_crash_a_fit(monkeypatch):
    """Random damage anywhere: a sentence, or a result; never another error."""
    rng = np.random.default_rng(21)
    damage = {}

    def between(data):
        damage["count"] += 1
        if damage["count"] != damage["target"]:
            return data
        raw = bytearray(data)
        raw[rng.integers(20, len(raw))] ^= 1 << rng.integers(8)
        return bytes(raw)

    monkeypatch.setattr(
        regression.run,
        "run_together",
        lambda roles, watch=None: run_together(roles, between=between),
    )
    refused = 0
    for target in range(1, 61):
        damage.update(count=0, target=target)
        try:
            regression.logistic(agencies(), "y_binary ~ x1 + x2", max_iter=8, threshold=0)
        except SdcError:
            refused += 1
    assert refused > 5


def test_hostile_column_names():
    rng = np.random.default_rng(5)
    names = ["x.1", "select", "köln", "a b"]
    frame = {n: rng.normal(size=90) for n in names} | {
        "y": (rng.uniform(size=90) < 0.5).astype(float)
    }
    fit = regression.logistic(split(frame, 3, rng), "y ~ x.1 + select + köln + a b")
    assert list(fit.coefficients) == ["(constant)", *names]


def test_the_lines_of_the_guide():
    parties = agencies()
    fit = tacit.private.regression.logistic(
        parties, formula="y_binary ~ x1 + x2", protocol="pairwise_masks", tol=1e-3
    )
    assert fit.coefficients["x1"] == pytest.approx(0.6, abs=0.3)
    assert fit.statement
    assert "coefficient" in fit.plot().svg()
    assert "Joint logistic fit" in repr(fit)
