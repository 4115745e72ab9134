import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from rumap.closed_forms import (
    correct_covariance,
    correct_slope,
    group_difference_utility,
    mean_utility,
    slope_utility_r2,
)
from studies.additive_noise import AdditiveNoiseMap, Combination, Custom, Slope
from studies.noise_forms import (
    slope_utility,
    smallest_multiplier,
)
from tacit.errors import ColumnNotFound, Infeasible, InvalidParameter

SIGMA = np.array([[4.0, 1.0, 1.5], [1.0, 9.0, -2.0], [1.5, -2.0, 16.0]])
NAMES = ("a", "b", "c")


def model(sensitive=("a", "b"), **options):
    return AdditiveNoiseMap(SIGMA, 100, NAMES, sensitive, **options)


# -- utility -----------------------------------------------------------------------------------------


def test_combinations_split_into_masked_and_unmasked():
    m = model()
    a = np.array([2.0, -1.0, 3.0])
    task = Combination(dict(zip(NAMES, a, strict=True)))
    for l2 in (0.0, 0.3, 2.0):
        assert m.utility(task, l2) == pytest.approx(100 / (a @ m.released_covariance(l2) @ a))
    assert m.utility(Combination.of("b"), 0.3) == pytest.approx(mean_utility(9, 100, 0.3))
    assert m.utility(Combination.of("c"), 0.3) == m.utility(Combination.of("c"), 0.0)
    assert m.utility(Combination.of("b"), 0.3, relative=True) == pytest.approx(1 / 1.3)


def test_difference_of_two_groups_is_the_slope_on_a_dummy():
    rng = np.random.default_rng(0)
    noisy = rng.normal(0, np.sqrt(9 * 1.4), (20_000, 50))
    found = noisy[:, :20].mean(axis=1) - noisy[:, 20:].mean(axis=1)
    assert 1 / np.mean(found**2) == pytest.approx(
        group_difference_utility(9, 20, 30, 0.4), rel=0.05
    )


def test_which_case_a_slope_is():
    assert Slope("a", "b").parts(model())[0] == 1
    assert Slope("c", "b").parts(model())[0] == 2
    assert Slope("b", "c").parts(model())[0] == 3
    free = model(("a",))
    assert Slope("b", "c").parts(free)[0] is None
    assert free.utility(Slope("b", "c"), 5.0) == free.utility(Slope("b", "c"), 0.0)
    with pytest.raises(InvalidParameter):
        model().utility(Slope("a", "a"))


@given(
    r2=st.floats(0.01, 1.0),
    beta=st.floats(0.1, 10),
    variance=st.floats(0.1, 100),
    n=st.integers(4, 1000),
    l2=st.just(0.0) | st.floats(1e-9, 10),
)
@settings(max_examples=60, deadline=None)
def test_both_forms_of_the_slope_agree(r2, beta, variance, n, l2):
    error = beta**2 * variance * (1 - r2) / r2
    for case in (1, 2, 3):
        for known in (False, True):
            sigma_form = slope_utility(case, beta, variance, error, n, l2, known=known)
            r2_form = slope_utility_r2(case, r2, beta, n, l2, known=known)
            assert sigma_form == pytest.approx(r2_form, rel=1e-6)
    told = slope_utility_r2(2, r2, beta, n, l2, known=True)
    assert told == pytest.approx(slope_utility_r2(3, r2, beta, n, l2), rel=1e-12)


def test_utility_falls_and_risk_falls_with_noise():
    m = model()
    for task in (Combination.of("a"), Slope("a", "c"), Slope("c", "a", known=True)):
        assert np.all(np.diff(m.utility(task)) < 0)
    for intruder in ("reads", "bayes", "all"):
        assert np.all(np.diff(m.risk("a", intruder=intruder)) < 0)


@given(st.floats(0.02, 0.98), st.integers(10, 500))
@settings(max_examples=40, deadline=None)
def test_a_little_noise_helps_a_weak_slope(r_squared, n):
    """The derivative of the squared error at 0 is 1 - (1 - R^2) / R^2, in units of beta^2 / (n - 3)."""
    none, little = slope_utility_r2(2, r_squared, 1, n, np.array([0.0, 1e-7]))
    if abs(r_squared - 0.5) > 0.01:
        assert (little > none) == (r_squared < 0.5)
    strong = slope_utility_r2(2, max(r_squared, 0.5), 1, n, np.linspace(0, 5, 200))
    assert np.all(np.diff(strong) < 0)


def test_the_weak_slope_by_simulation():
    m = AdditiveNoiseMap([[1, 0.2], [0.2, 1]], 30, sensitive=("X1",), lambda_squared=(0.0, 0.5))
    none, some = m.simulate([Slope("X2", "X1")], replications=8000, seed=3, level=0.9999)
    assert some.low > none.high
    assert some.low < float(m.utility(Slope("X2", "X1"), 0.5)) < some.high


def test_corrections_undo_the_masking():
    m = model()
    assert correct_covariance(m.released_covariance(0.7), m.masked, 0.7) == pytest.approx(SIGMA)
    assert correct_slope(1.0 / 1.7, 0.7) == pytest.approx(1.0)


# -- risk --------------------------------------------------------------------------------------------


def test_no_noise_has_infinite_risk():
    m = model(lambda_squared=(0.0, 0.1))
    for intruder in ("reads", "bayes", "all"):
        assert math.isinf(m.risk("a", intruder=intruder)[0])
    points = m.points(Combination.of("a"), "a")
    assert math.isinf(points[0].risk)
    chart = m.plot([Combination.of("a")], "a")
    assert "infinite risk and is not drawn" in chart.spec["title"]["subtitle"]
    assert chart.svg().startswith("<svg")


def test_three_intruders_in_order():
    m = model()
    reads, bayes, everything = (m.risk("a", 0.2, intruder=i) for i in ("reads", "bayes", "all"))
    assert reads == pytest.approx(1 / (0.2 * 4))
    assert bayes == pytest.approx(1.2 * reads)
    assert everything > bayes
    assert m.risk("a", 0.2, relative=True) == pytest.approx(5)
    # Other masked columns add nothing: only what is released as it is does.
    assert model(NAMES).risk("a", 0.2, intruder="all") == pytest.approx(bayes)


def test_risk_given_all_columns_is_what_a_regression_leaves():
    rng = np.random.default_rng(3)
    x = rng.multivariate_normal(np.zeros(3), SIGMA, 200_000)
    y = x.copy()
    y[:, :2] += np.sqrt(0.2) * rng.multivariate_normal(np.zeros(2), SIGMA[:2, :2], len(x))
    fit, *_ = np.linalg.lstsq(y, x[:, 0], rcond=None)
    left = np.mean((x[:, 0] - y @ fit) ** 2)
    assert 1 / left == pytest.approx(float(model().risk("a", 0.2, intruder="all")), rel=0.01)


@pytest.mark.parametrize("intruder", ["reads", "bayes", "all"])
def test_multiplier_for_a_cap(intruder):
    m = model()
    caps = {"a": 1.0, "b": 0.5}
    l2 = m.lambda_for_risk(caps, intruder=intruder)
    risks = [float(m.risk(c, l2, intruder=intruder)) / cap for c, cap in caps.items()]
    assert max(risks) == pytest.approx(1, rel=1e-9)
    assert smallest_multiplier(4, 1.0) == pytest.approx(0.25)


def test_caps_that_no_noise_can_meet():
    m = model()
    assert m.lambda_for_risk({"a": 0.1}) == pytest.approx(2.5)
    for intruder in ("bayes", "all"):
        with pytest.raises(Infeasible):
            m.lambda_for_risk({"a": 0.1}, intruder=intruder)


# -- refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: AdditiveNoiseMap([[1, 2], [2, 1]], 10),
        lambda: AdditiveNoiseMap([[1, 2], [0, 5]], 10),
        lambda: AdditiveNoiseMap([[1, 2, 3], [2, 1, 3]], 10),
        lambda: AdditiveNoiseMap([[0, 0], [0, 1]], 10),
        lambda: AdditiveNoiseMap([[1]], 0),
        lambda: AdditiveNoiseMap([[1]], 10, lambda_squared=(-0.1,)),
        lambda: AdditiveNoiseMap([[1]], 10, names=("a", "b")),
        lambda: model().risk("c"),
        lambda: model().utility(Combination.of("a"), -1),
        lambda: AdditiveNoiseMap(SIGMA, 3).utility(Slope("X1", "X2")),
        lambda: slope_utility_r2(2, 0.0, 1, 10, 0.1),
        lambda: slope_utility_r2(2, 1.1, 1, 10, 0.1),
        lambda: slope_utility_r2(2, 0.5, 0, 10, 0.1),
        lambda: smallest_multiplier(1, 0),
        lambda: smallest_multiplier(0, 1),
        lambda: model().lambda_for_risk({"a": -1.0}),
        lambda: model().lambda_for_risk({}),
        lambda: model().lambda_for_error({"a": 0.0}),
        lambda: model().plot([Combination.of("a")], "a", max_risk=0),
        lambda: model().map(Combination.of("a"), "a", max_risk=-1),
        lambda: model().simulate([Combination.of("a")], replications=1),
        lambda: model().simulate([Combination.of("a")], records=np.zeros((3, 2))),
        lambda: model().utility(Custom("median", lambda y: np.median(y[:, :, 0], axis=1), 0.0)),
    ],
)
def test_refusals_are_one_sentence(wrong):
    with pytest.raises(InvalidParameter) as error:
        wrong()
    assert 10 < len(str(error.value)) < 120


def test_unknown_columns():
    with pytest.raises(ColumnNotFound):
        model().utility(Combination.of("z"))
    with pytest.raises(ColumnNotFound):
        model(("z",))


def test_slope_0_is_fine_in_the_sigma_form():
    flat = AdditiveNoiseMap([[1, 0], [0, 2]], 50, sensitive=("X1",))
    assert flat.utility(Slope("X2", "X1"), 0.5) == pytest.approx(47 * 1.5 / 2)


# -- map, simulation, words --------------------------------------------------------------------------


def test_the_map_chooses_the_least_noise_under_the_cap():
    m = model(lambda_squared=(0.0, 0.1, 0.2, 0.25, 0.3))
    chosen = m.map(Combination.of("a"), "a", max_risk=1.0).choose()
    assert chosen.parameters["lambda_squared"] == 0.25
    whole = m.map(Combination.of("a"), "a", intruder="all", max_risk=1.0, relative=True)
    assert "infinite risk" in repr(whole)
    assert whole.plot().svg().startswith("<svg")


def test_simulation_agrees_with_the_closed_forms():
    m = model(lambda_squared=(0.05, 0.5))
    tasks = [
        Combination.of("a", minus="c"),
        Slope("a", "b"),
        Slope("c", "b"),
        Slope("b", "c"),
        Slope("c", "b", known=True),
    ]
    found = m.simulate(tasks, replications=4000, seed=7, level=1 - 1e-4)
    want = np.concatenate([m.utility(task) for task in tasks])
    for ours, u in zip(found, want, strict=True):
        assert ours.low < u < ours.high
    assert found == m.simulate(tasks, replications=4000, seed=7, level=1 - 1e-4)
    biased = found[5]
    assert biased.bias == pytest.approx(Slope("c", "b").truth(m) * (1 / 1.5 - 1), rel=0.05)


def test_tasks_without_closed_form():
    """The median of 101 normal records has about pi/2 times the variance of the mean."""
    m = AdditiveNoiseMap([[1.0]], 101, lambda_squared=(0.0, 1.0))
    median = Custom("median", lambda y: np.median(y[:, :, 0], axis=1), 0.0)
    none, some = m.simulate([median], replications=4000, seed=5)
    assert none.utility == pytest.approx(101 / (np.pi / 2), rel=0.1)
    assert some.utility == pytest.approx(none.utility / 2, rel=0.1)
    points = m.simulated_points(median, "X1", replications=50, seed=5)
    assert points[1].utility_interval[0] < points[1].utility < points[1].utility_interval[1]


def test_simulation_from_records():
    rng = np.random.default_rng(1)
    records = rng.exponential(2.0, (500, 1)) + 40
    m = AdditiveNoiseMap(np.atleast_2d(np.var(records)), 60, lambda_squared=(0.3,))
    (found,) = m.simulate([Combination.of("X1")], replications=4000, seed=2, records=records)
    assert found.utility == pytest.approx(float(m.utility(Combination.of("X1"), 0.3)), rel=0.1)


def test_from_microdata():
    rng = np.random.default_rng(1)
    x = rng.multivariate_normal([0, 0], [[2, 1], [1, 3]], 50)
    a = [*map(float, x[:, 0]), None]
    data = tacit.read({"a": a, "b": [*map(float, x[:, 1]), 1.0], "t": ["x"] * 51})
    m = AdditiveNoiseMap.from_microdata(data, ["a", "b"], ["a"])
    assert m.n == 50
    assert m.sigma == pytest.approx(np.cov(x, rowvar=False))
    assert m.sensitive == ("a",)
    with pytest.raises(tacit.errors.InputError):
        AdditiveNoiseMap.from_microdata(data, ["t"])


def test_what_the_user_is_told():
    told = model().report_to_user(0.15)
    assert "λ² = 0.15" in told
    assert "by 1.15" in told
    assert "0.15" not in model().report_to_user(0.15, reveal=False)


def test_plot_shows_curves_cap_and_reference():
    m = model()
    chart = m.plot(
        [Combination.of("a"), Slope("c", "a")], "a", max_risk=1.0, mark=0.25, relative=True
    )
    svg = chart.svg()
    for text in ("mean a", "slope of c on a", "cap 1", "λ² = 2"):
        assert text in svg
    assert "without masking" in chart.alt
