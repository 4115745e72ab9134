"""The numbers of Heitzig (2006), and where the paper's own do not follow from its formulas."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from studies import plot_attacks as attacks
from studies import protected_plots as efficiency
from tacit.graphics import kde
from tacit.graphics import scale as curves
from tacit.plot.protected_maps import classify
from tacit.stats import concentrated as accounting

FOLDER = Path(__file__).parents[1] / "fixtures" / "psd13-jackknife-plots"


def fixture(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


CASES = {c["id"]: c for c in fixture("fig4_density")["cases"]}
X = np.array(CASES["bandwidth_rules"]["input"]["x"])
CONSTANTS = {c["id"]: c for c in fixture("protection_constants")}


def test_likelihood_ratio_and_its_inverse():
    case = CONSTANTS["likelihood_ratio"]
    for a, expected in zip(case["a"], case["expected"], strict=True):
        assert accounting.likelihood_ratio(a) == pytest.approx(expected, rel=1e-14)
        assert accounting.amplitude_for_ratio(expected) == pytest.approx(a, rel=1e-12)


def test_sensitivity_bounds_of_the_paper():
    figure6 = CONSTANTS["figure6_amplitude"]
    bound = kde.point_bound(2, figure6["input"]["h0"], figure6["input"]["gamma"])
    assert bound == pytest.approx(figure6["expected"], rel=1e-13)
    constant = CONSTANTS["sensitivity_constant_bandwidth"]
    given = constant["input"]
    assert kde.point_bound(given["N"], given["h"]) == pytest.approx(constant["expected"], rel=1e-13)
    local = CONSTANTS["sensitivity_local_1d"]
    given = local["input"]
    assert kde.point_bound(given["N"], given["h0"], given["gamma"]) == pytest.approx(
        local["expected"], rel=1e-13
    )
    assert kde.AFFECTED[2] + 1 == CONSTANTS["sensitivity_local_2d_factor"]["expected"]


def test_bandwidth_rules_and_the_printed_one_that_does_not_follow():
    expected = CASES["bandwidth_rules"]["expected"]
    sd, (q1, q3) = X.std(ddof=1), np.quantile(X, [0.25, 0.75])
    assert kde.normal_reference(sd, 13) == pytest.approx(expected["h_s"], rel=1e-9)
    assert kde.silverman(sd, q3 - q1, 13) == pytest.approx(expected["h_t"], rel=1e-9)
    assert abs(kde.silverman(sd, q3 - q1, 13) - expected["paper_h_t"]) > 0.2
    case = CONSTANTS["figure1_binwidth"]
    given = case["input"]
    width = 2 * (given["q3"] - given["q1"]) * given["N"] ** (-1 / 3)
    assert width == pytest.approx(case["expected"], rel=1e-12)


@pytest.mark.parametrize("h", [8.32, 16.64, 4.16])
def test_constant_bandwidth(h):
    case = CASES[f"density_constant_{h}"]
    grid = np.array(case["input"]["grid"])
    assert kde.kernel_sums(X, grid, h) / 13 == pytest.approx(case["expected"]["f"], rel=1e-12)
    trimmed = kde.kernel_sums(X, grid, h, trim=1) / 12
    assert trimmed == pytest.approx(case["expected"]["f_trim1"], rel=1e-12)


def test_local_bandwidths():
    case = CASES["density_local_beta2_h0_2"]
    grid, expected = np.array(case["input"]["grid"]), case["expected"]
    h = kde.local_bandwidths(X, 2, 2)
    assert h.tolist() == expected["h"]
    assert kde.kernel_sums(X, grid, h) / 13 == pytest.approx(expected["f"], rel=1e-12)
    assert kde.kernel_sums(X, grid, h, 1) / 12 == pytest.approx(expected["f_trim1"], rel=1e-12)
    assert kde.kernel_sums(X, grid, h, 3) / 10 == pytest.approx(expected["f_trim3"], rel=1e-12)


def modes(values):
    return int(((values[1:-1] > values[:-2]) & (values[1:-1] > values[2:])).sum())


def test_modes_of_figure_4():
    grid, expected = np.linspace(-60, 90, 3001), CASES["figure4_shape"]["expected"]
    for h in (16.64, 8.32, 4.16):
        assert modes(kde.kernel_sums(X, grid, h)) == expected[f"modes_h_{h}"]
    h = kde.local_bandwidths(X, 2, 2)
    assert modes(kde.kernel_sums(X, grid, h)) == expected["modes_local_beta2_h0_2"]
    assert modes(kde.kernel_sums(X, grid, h, 1)) == expected["modes_local_trim1"]


def test_posterior_smoothing():
    case = fixture("posterior_smoothing")
    v = np.array(case["v"], dtype=float)
    assert curves.smooth(v, 1) == pytest.approx(case["once"], abs=1e-12)
    assert curves.smooth(v, 5) == pytest.approx(case["five_times"], abs=1e-12)
    kept = curves.smoothed_amplitude((101,), 1)
    assert kept == pytest.approx(math.sqrt(sum(w**2 for w in case["impulse_response_once"])))


def test_attack_on_a_histogram():
    case = fixture("attack_examples")["histogram"]
    told, breaks = case["attack"], np.array(case["boundaries"])
    known = np.delete(case["x"], told["target_index"])
    found = attacks.attack_histogram(np.array(case["published"]), known, breaks)
    assert found.likelihood == pytest.approx(told["difference"], abs=1e-12)
    assert (found.best, found.estimate) == (told["ml_bin"], pytest.approx(told["ml_estimate"]))


def test_attack_on_a_density():
    case = fixture("attack_examples")["kde"]
    grid, x = np.array(case["grid"]), np.array(case["x"])
    f = (kde.kernel_sums(x, grid, case["h"]) + np.array(case["epsilon"])) / len(x)
    assert f == pytest.approx(case["published"], abs=1e-12)
    assert curves.as_shares(f) == pytest.approx(case["normalised"], abs=1e-12)
    told = case["attack"]
    known = np.delete(x, told["target_index"])
    found = attacks.attack_density(f, known, grid, case["h"])
    assert found.likelihood == pytest.approx(told["log_likelihood"], abs=1e-10)
    assert found.estimate == pytest.approx(told["ml_grid_point"])


BINS = np.linspace(-2.88, 2.88, 10)


@pytest.mark.parametrize("a", [0.5, 1.0])
def test_efficiencies_lie_in_their_bands(a):
    bands = fixture("histogram_efficiency")["acceptance"][f"a={a:g}"]
    found = efficiency.histogram_efficiency(
        lambda rng: rng.standard_normal(100), norm.cdf, BINS, a, draws=1500, seed=1
    )
    assert bands["eff_true"][0] <= found.against_truth <= bands["eff_true"][1]
    assert bands["eff_empirical"][0] <= found.against_sample <= bands["eff_empirical"][1]


def test_standard_errors_of_the_attack():
    for name, expected in fixture("histogram_efficiency")["ml_standard_error_9_bins"].items():
        a = float(name.removeprefix("a="))
        found = attacks.histogram_attack_error(a, BINS, draws=20_000, seed=2)
        assert found == pytest.approx(expected, abs=0.08)


def test_required_amplitude_falls_with_the_bandwidth():
    grid = np.linspace(-3, 3, 61)
    found = [
        attacks.amplitude_for_error(
            lambda a, h=h: attacks.density_attack_error(a, grid, h, seed=3), 1.0
        )
        for h in (0.4, 0.6, 1.0, 1.5)
    ]
    assert found == sorted(found, reverse=True)
    assert found == pytest.approx([1.2, 1.0, 0.7, 0.45], rel=0.25)
    assert attacks.density_attack_error(found[0], grid, 0.4, seed=3) >= 1.0


def test_a_noiseless_curve_gives_its_records_away():
    grid = np.arange(0, 100, 0.5)
    x = np.array([20.0, 33.5, 61.0])
    spikes = attacks.invert_density(kde.kernel_sums(x, grid, 1.0), 0.5, 1.0)
    assert sorted(grid[np.argsort(spikes)[-3:]].tolist()) == x.tolist()
    assert spikes.max() == pytest.approx(1.0, abs=0.05)


def test_contours_by_mass():
    values = np.array([[4.0, 3.0], [2.0, 1.0]])
    assert curves.mass_level(values, 0.4) == pytest.approx(0.4)
    assert curves.mass_level(values, 0.41) == pytest.approx(0.3)
    assert curves.mass_level(values, 0.95) == pytest.approx(0.1)
    assert classify(values, 4).tolist() == [[3, 3], [2, 1]]
