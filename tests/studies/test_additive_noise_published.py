"""The examples and figures of Duncan, Keller-McNulty and Stokes (2001), number for number."""

import csv
import importlib.util
import json

import numpy as np
import pytest

from conftest import FIXTURES
from rumap.closed_forms import attenuation, slope_utility_r2
from studies.additive_noise import AdditiveNoiseMap, Combination, Slope
from studies.noise_forms import (
    slope_moments,
    slope_utility,
)

FOLDER = FIXTURES / "ru-confidentiality-map"
MEAN = Combination.of("salary")
DIFFERENCE = Combination.of("income", minus="salary")


@pytest.fixture(scope="module")
def expected():
    return json.loads((FOLDER / "expected.json").read_text())


def curves(name):
    with (FOLDER / f"{name}.csv").open() as file:
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    return {k: np.array([r[k] for r in rows]) for k in rows[0]}


def teachers(**options):
    sigma = [[17.5**2, 8.3**2], [8.3**2, 13.3**2]]
    return AdditiveNoiseMap(sigma, n=1000, names=("income", "salary"), **options)


def medical(r_squared, **options):
    """Slope 1 on a masked regressor of variance 1; the response is not masked."""
    error = (1 - r_squared) / r_squared
    return AdditiveNoiseMap(
        [[1, 1], [1, 1 + error]], n=200, names=("drink", "drugs"), sensitive=("drink",), **options
    )


def test_example_1(expected):
    want, model = expected["example1"], teachers()
    a = np.array([1, -1])
    assert np.sqrt(a @ model.sigma @ a) == pytest.approx(18.584, abs=5e-4)
    assert a @ model.sigma @ a == pytest.approx(want["var_difference"], rel=1e-12)
    smallest = model.lambda_for_risk({"salary": want["R_max"]})
    assert smallest == pytest.approx(0.14133, abs=5e-6)
    assert smallest == pytest.approx(want["lambda2_min"], rel=1e-12)
    assert model.lambda_for_error({"salary": 5.0}) == pytest.approx(smallest, rel=1e-12)
    at = want["at_lambda2_0_15"]
    assert model.risk("salary", 0.15) == pytest.approx(0.037688, abs=5e-7)
    assert model.risk("salary", 0.15) == pytest.approx(at["R"], rel=1e-9)
    assert model.risk("salary", 0.15) < 0.04
    assert model.utility(MEAN, 0.15) == pytest.approx(4.91585, abs=5e-6)
    assert model.utility(MEAN, 0.15) == pytest.approx(at["U_mean_salary"], rel=1e-9)
    assert model.utility(DIFFERENCE, 0.15) == pytest.approx(2.51785, abs=5e-6)
    assert model.utility(DIFFERENCE, 0.15) == pytest.approx(at["U_mean_difference"], rel=1e-9)
    rounded = 1000 / (1.15 * 18.6**2)  # with the printed standard deviation
    assert rounded == pytest.approx(2.51348, abs=5e-6)
    unmasked = want["unmasked"]
    assert model.utility(MEAN, 0) == pytest.approx(unmasked["U_mean_salary"], rel=1e-9)
    assert model.utility(DIFFERENCE, 0) == pytest.approx(unmasked["U_mean_difference"], rel=1e-9)


def test_both_means_lose_the_same_share_and_salary_lies_to_the_right(expected):
    model = teachers()
    loss = expected["example1"]["relative_utility_loss_at_0_15"]
    for task in (MEAN, DIFFERENCE):
        assert 1 - model.utility(task, 0.15, relative=True) == pytest.approx(loss, rel=1e-12)
    assert np.all(model.utility(MEAN) > model.utility(DIFFERENCE))


def test_figure_1():
    want = curves("figure1_curves")
    model = teachers(lambda_squared=want["lambda2"])
    assert model.risk("salary") == pytest.approx(want["R_salary"], rel=1e-9)
    assert model.utility(MEAN) == pytest.approx(want["U_mean_salary"], rel=1e-9)
    assert model.utility(DIFFERENCE) == pytest.approx(want["U_mean_difference"], rel=1e-9)


@pytest.mark.parametrize(("r_squared", "ratio"), [(0.3, 1.939), (0.5, 3.334)])
def test_example_2(expected, r_squared, ratio):
    want = expected["example2"][f"R2_{r_squared}".replace(".", "_")]
    model = medical(r_squared)
    assert model.risk("drink", 0.15) == pytest.approx(expected["example2"]["R"], rel=1e-9)
    naive, told = Slope("drugs", "drink"), Slope("drugs", "drink", known=True)
    assert model.utility(naive, 0.15) == pytest.approx(want["U_beta2"], rel=1e-9)
    assert model.utility(told, 0.15) == pytest.approx(want["U_betastar"], rel=1e-9)
    assert model.utility(naive, 0) == pytest.approx(want["unmasked"], rel=1e-9)
    assert model.value_of_lambda("drugs", "drink", 0.15) == pytest.approx(want["ratio"], rel=1e-9)
    assert model.value_of_lambda("drugs", "drink", 0.15) == pytest.approx(ratio, abs=5e-4)
    assert slope_utility_r2(2, r_squared, 1, 200, 0.15) == pytest.approx(want["U_beta2"], rel=1e-9)


@pytest.mark.parametrize("r_squared", [0.3, 0.5])
def test_figure_2(r_squared):
    want = curves("figure2_curves")
    model = medical(r_squared, lambda_squared=want["lambda2"])
    assert model.risk("drink") == pytest.approx(want["R"], rel=1e-9)
    naive = model.utility(Slope("drugs", "drink"))
    told = model.utility(Slope("drugs", "drink", known=True))
    assert naive == pytest.approx(want[f"U_beta2_R2_{r_squared}"], rel=1e-9)
    assert told == pytest.approx(want[f"U_betastar_R2_{r_squared}"], rel=1e-9)


def test_case_1_is_unaffected():
    for l2 in (0, 0.15, 3):
        assert slope_utility_r2(1, 0.3, 1, 200, l2) == pytest.approx(84.43, abs=5e-3)
        both = AdditiveNoiseMap([[1, 1], [1, 1 + 7 / 3]], n=200)
        assert both.utility(Slope("X2", "X1"), l2) == pytest.approx(84.42857142857143, rel=1e-12)


def test_moments_of_the_three_cases(expected):
    want = expected["case_moments"]
    given = {"beta": 2, "variance": 1.5**2, "error_variance": 1, "n": 50, "lambda_squared": 0.4}
    assert slope_moments(1, **given)[1] == pytest.approx(want["case1_var"], rel=1e-9)
    assert slope_moments(2, **given)[0] == pytest.approx(want["case2_mean"], rel=1e-9)
    assert slope_moments(2, **given)[1] == pytest.approx(want["case2_var"], rel=1e-9)
    assert slope_moments(3, **given)[1] == pytest.approx(want["case3_var"], rel=1e-9)
    for case in (1, 2, 3):
        u = want[f"U_case{case}"]
        assert slope_utility(case, **given) == pytest.approx(u, rel=1e-9)
        assert slope_utility_r2(case, want["R2"], 2, 50, 0.4) == pytest.approx(u, rel=1e-9)


def test_correlations_shrink(expected):
    for row in expected["correlation_attenuation"]:
        assert attenuation(row["lambda2"]) == pytest.approx(row["factor"], rel=1e-12)


@pytest.mark.parametrize("r_squared", [0.3, 0.5])
def test_simulation_of_figure_2(r_squared):
    """Within the limits of a simulation, 1 in 30,000 a side."""
    model = medical(r_squared, lambda_squared=(0.05, 0.15, 1.0))
    tasks = [Slope("drugs", "drink"), Slope("drugs", "drink", known=True)]
    found = model.simulate(tasks, replications=10_000, seed=1, level=1 - 6e-5)
    want = np.concatenate([model.utility(task) for task in tasks])
    for ours, u in zip(found, want, strict=True):
        assert ours.low < u < ours.high
        assert ours.utility == pytest.approx(u, rel=0.06)


@pytest.mark.slow
def test_simulation_with_100_000_replications():
    for sensitive in (("drink",), ("drugs",), ("drink", "drugs")):
        base = medical(0.3)
        model = AdditiveNoiseMap(base.sigma, 200, base.names, sensitive, (0.15,))
        tasks = [Slope("drugs", "drink"), Slope("drugs", "drink", known=True)]
        for task, found in zip(
            tasks, model.simulate(tasks, replications=100_000, seed=2), strict=True
        ):
            assert found.utility == pytest.approx(float(model.utility(task, 0.15)), rel=0.015)


def test_the_gallery(tmp_path, capsys):
    path = FIXTURES.parents[1] / "examples" / "figures_of_duncan.py"
    spec = importlib.util.spec_from_file_location("figures_of_duncan", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path)
    printed = capsys.readouterr().out
    for number in ("0.14133", "0.037688", "4.91585", "2.51785", "gain 1.939", "gain 3.334"):
        assert number in printed
    assert len(list(tmp_path.glob("*.svg"))) == len(list(tmp_path.glob("*.png"))) == 3
    figure = (tmp_path / "figure-1.svg").read_text()
    for text in (
        "mean salary",
        "mean income − mean salary",
        "cap 0.04",
        "4.92",
        "2.52",
        "λ² = 0.1",
    ):
        assert text in figure
