"""Robust location, scale and covariance: published numbers, brute force, breakdown and equivariance."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from tacit.errors import InputError
from tacit.stats import projection, robust
from tacit.stats.projection import first_component, orient_direction, pursue_directions, scales_of

FIXTURE = Path(__file__).parents[1] / "fixtures" / "psd29-sdc-in-r" / "mad_onestep.json"
METHODS = ["mcd", "mve", "ogk", "m_estimate"]


def generator():
    return np.random.default_rng(7)


def test_mad_and_one_step_mean_of_the_paper():
    case = json.loads(FIXTURE.read_text())
    x, expected = np.array(case["input"]["x"]), case["expected"]
    assert robust.mad(x, constant=1.0) == expected["raw_mad"]
    assert robust.mad(x, constant=robust.MAD_CONSTANT_TEMPL) == pytest.approx(expected["mad_1.486"])
    assert robust.mad(x) == pytest.approx(expected["mad_1.4826"])
    assert robust.one_step_mean(x) == pytest.approx(
        expected["onestep_c=3/1.486_mad1.4826"], abs=1e-9
    )
    assert robust.one_step_mean(x, 1.486, constant=1.486) == pytest.approx(
        expected["onestep_c=1.486_mad1.486"], abs=1e-9
    )
    assert robust.one_step_mean(x, 3) == pytest.approx(expected["onestep_c=3_mad1.4826"], abs=1e-9)


def test_columns_are_estimated_one_by_one():
    x = generator().normal(size=(31, 4))
    for function in (robust.mad, robust.one_step_mean, robust.huber_mean):
        assert function(x) == pytest.approx([float(function(column)) for column in x.T])


def test_huber_mean_balances_the_clipped_residuals():
    x = np.append(generator().normal(size=40), [50.0, 80.0])
    centre, reach = robust.huber_mean(x), robust.HUBER_LIMIT * robust.mad(x)
    assert np.clip(x - centre, -reach, reach).sum() == pytest.approx(0, abs=1e-8)
    assert robust.huber_mean(np.array([1.0, 2.0, 2.0, 2.0, 90.0])) == 2.0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-20, 20), min_size=2, max_size=30))
def test_qn_is_the_order_statistic_of_pair_distances(values):
    x = np.array(values, dtype=float)
    n, h = len(x), len(x) // 2 + 1
    gaps = sorted(abs(a - b) for a, b in itertools.combinations(values, 2))
    expected = 2.21914446598508 * robust.qn_correction(n) * gaps[h * (h - 1) // 2 - 1]
    assert robust.qn(x) == pytest.approx(expected, rel=1e-12)


def test_qn_of_one_number_is_zero():
    assert robust.qn(generator().normal(size=1)) == 0.0


def test_scales_estimate_the_standard_deviation_of_normal_data():
    x = 3.0 * generator().normal(size=200_001) + 10
    assert robust.qn(x) == pytest.approx(3, rel=0.01)
    assert robust.mad(x) == pytest.approx(3, rel=0.01)
    centre, spread = robust.tau_scale(x)
    assert (centre, spread) == pytest.approx((10, 3), rel=0.01)


def test_spatial_median_minimises_the_sum_of_distances():
    x = generator().normal(size=(40, 3)) ** 3
    best = optimize.minimize(lambda m: np.sqrt(((x - m) ** 2).sum(axis=1)).sum(), x.mean(axis=0))
    assert robust.spatial_median(x) == pytest.approx(best.x, abs=1e-4)
    corner = np.array([[0.0, 0.0]] * 3 + [[1.0, 0.0], [0.0, 5.0]])
    assert robust.spatial_median(corner) == pytest.approx([0.0, 0.0])


# -- covariance ------------------------------------------------------------------------------------


def test_mcd_finds_the_best_half_of_all():
    x = np.vstack([generator().normal(size=(9, 2)), generator().normal(size=(4, 2)) + 40])
    h = robust.choose_subset_size(*x.shape)
    halves = [x[list(rows)] for rows in itertools.combinations(range(len(x)), h)]
    best = min(halves, key=lambda part: np.linalg.det(np.cov(part.T)))
    centre, covariance = robust.mcd(x, generator())
    expected = robust.scale_and_reweight(x, *robust.moments(best))
    assert centre == pytest.approx(expected[0])
    assert covariance == pytest.approx(expected[1])


def test_mcd_of_one_column_is_the_shortest_half():
    x = np.append(generator().normal(size=14), [30.0, 31.0, 32.0, 33.0])
    h = robust.choose_subset_size(len(x), 1)
    best = min(itertools.combinations(sorted(x), h), key=np.var)
    centre, variance = robust.shortest_half(x)
    assert (centre[0], variance[0, 0]) == pytest.approx((np.mean(best), np.var(best)))


def test_mve_is_no_larger_than_any_resampled_ellipsoid():
    x = np.vstack([generator().normal(size=(9, 2)), generator().normal(size=(4, 2)) + 40])
    every = [
        robust.ellipsoid(x, robust.moments(x[list(rows)]))[0]
        for rows in itertools.combinations(range(13), 3)
    ]
    volume, (centre, covariance) = robust.smallest_ellipsoid(x, generator())
    assert volume <= min(every) + 1e-9
    assert volume == pytest.approx(np.linalg.slogdet(covariance)[1])
    covered = robust.mahalanobis_squared(x, centre, covariance) <= 1 + 1e-9
    assert covered.sum() >= robust.choose_subset_size(*x.shape)
    assert not covered[9:].any()


@pytest.mark.parametrize("n", [400, 3000, 30_000])
@pytest.mark.parametrize("method", METHODS)
def test_estimates_are_consistent_for_normal_data(method, n):
    mixing = np.array([[2.0, 0, 0], [1, 1, 0], [0.5, -1, 0.3]])
    x = generator().normal(size=(n, 3)) @ mixing.T + [5, -100, 1e4]
    centre, covariance = robust.robust_covariance(x, method, generator())
    # The MVE converges with the cube root of n only.
    tolerance = 8 / np.sqrt(n) if method != "mve" else 4 / np.cbrt(n)
    unit = np.sqrt(np.diag(mixing @ mixing.T))
    assert np.abs(centre - [5, -100, 1e4]) / unit == pytest.approx(0, abs=tolerance)
    inverse = np.linalg.inv(mixing)
    assert inverse @ covariance @ inverse.T == pytest.approx(np.eye(3), abs=tolerance)


@pytest.mark.parametrize("method", ["mcd", "mve", "ogk"])
def test_a_third_of_wild_records_does_not_move_them(method):
    rng = generator()
    x = rng.normal(size=(900, 4))
    x[:300] = rng.normal(size=(300, 4)) * 0.1 + [100, -50, 20, 400]
    centre, covariance = robust.robust_covariance(x, method, rng)
    assert np.abs(centre).max() < 0.6
    assert 0.3 < np.linalg.eigvalsh(covariance).min() < np.linalg.eigvalsh(covariance).max() < 4
    away = robust.robust_distances(x, method, rng)
    assert away[:300].min() > away[300:].max()


@pytest.mark.parametrize("method", ["mcd", "mve", "m_estimate"])
def test_affine_equivariance(method):
    x = generator().normal(size=(120, 3))
    x[:20] += 15
    mixing, shift = np.array([[2.0, 1, 0], [0, 300, 5], [1, 0, 0.02]]), np.array([1e3, -5.0, 0.1])
    one = robust.robust_covariance(x, method, generator())
    two = robust.robust_covariance(x @ mixing.T + shift, method, generator())
    assert two[0] == pytest.approx(mixing @ one[0] + shift, rel=1e-5)
    assert two[1] == pytest.approx(mixing @ one[1] @ mixing.T, rel=1e-4)


def test_mcd_agrees_with_scikit_learn():
    sklearn = pytest.importorskip("sklearn.covariance")
    rng = generator()
    x = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4))
    x[:100] += 60
    theirs = sklearn.MinCovDet(random_state=1).fit(x)
    centre, covariance = robust.robust_covariance(x, "mcd", rng)
    assert centre == pytest.approx(theirs.location_, abs=0.1)
    ratio = np.linalg.eigvals(np.linalg.solve(theirs.covariance_, covariance)).real
    assert np.ptp(np.log(ratio)) < 0.05  # one shape; the consistency factors differ
    assert ratio == pytest.approx(1.0, abs=0.12)


def test_classical_distances_average_to_the_number_of_columns():
    x = generator().normal(size=(50, 3))
    squared = robust.mahalanobis_squared(x, *robust.robust_covariance(x, "classical", generator()))
    assert squared.sum() == pytest.approx(49 * 3)


def test_what_has_no_robust_covariance_is_refused():
    x = generator().normal(size=(30, 3))
    with pytest.raises(InputError, match="needs more than 6 complete records"):
        robust.robust_covariance(x[:6], "mcd", generator())
    with pytest.raises(InputError, match="at least 2 records"):
        robust.robust_covariance(x[:1], "classical", generator())
    constant = np.column_stack([x, np.ones(30)])
    with pytest.raises(InputError, match="share one value"):
        robust.robust_covariance(constant, "ogk", generator())


@pytest.mark.parametrize("method", METHODS)
def test_a_column_that_is_the_sum_of_others_changes_no_distance(method):
    x = generator().normal(size=(200, 3)) * [1.0, 30.0, 1000.0]
    x[:30] += [0.0, 900.0, 0.0]
    sums = np.column_stack([x, x.sum(axis=1)])
    centre, covariance = robust.robust_covariance(sums, method, generator())
    assert centre[:3].sum() == pytest.approx(centre[3])
    assert np.linalg.matrix_rank(covariance, hermitian=True, tol=1e-6 * covariance.max()) <= 3
    away = robust.robust_distances(sums, method, generator())
    alone = robust.robust_distances(x, method, generator())
    # The OGK is the only one that depends on the axes.
    assert away == pytest.approx(alone, rel=0.3 if method == "ogk" else 0.05)


def test_half_of_the_records_in_one_plane():
    x = generator().normal(size=(100, 3))
    x[:70, 2] = x[:70, 0]
    centre, covariance = robust.robust_covariance(x, "mcd", generator())
    flat = np.linalg.eigh(covariance)[1][:, 0]
    assert np.abs(flat) == pytest.approx([np.sqrt(0.5), 0, np.sqrt(0.5)], abs=1e-6)
    with pytest.raises(InputError, match="lie in one plane"):
        robust.mahalanobis_squared(x, centre, covariance)


# -- projections -----------------------------------------------------------------------------------


def test_directions_stand_upright():
    assert orient_direction(np.array([0.5, -2.0])) == pytest.approx([-0.5, 2.0])
    assert first_component(np.diag([1.0, 5.0, 2.0])) == pytest.approx([0, 1, 0])


def test_scales_of_rows():
    rows = generator().normal(size=(3, 51))
    assert scales_of(rows, "mad") == pytest.approx(robust.mad(rows.T))
    assert scales_of(rows, "sd") == pytest.approx(rows.std(axis=1, ddof=1))
    assert scales_of(rows, "qn") == pytest.approx([robust.qn(r) for r in rows])


@pytest.mark.parametrize("scale", ["mad", "qn", "sd"])
@pytest.mark.parametrize("n", [300, 3000])
def test_pursued_directions_are_orthogonal_and_find_the_long_axis(scale, n, monkeypatch):
    monkeypatch.setattr(projection, "CANDIDATES", 500)
    monkeypatch.setattr(projection, "SCREEN_RECORDS", 400)
    x = generator().normal(size=(n, 3)) * [1.0, 6.0, 2.5] + 50
    directions, scales = pursue_directions(x, generator(), scale=scale, components=3)
    assert directions @ directions.T == pytest.approx(np.eye(3), abs=1e-8)
    assert abs(directions[0, 1]) > 0.97
    assert scales == pytest.approx([6, 2.5, 1], rel=0.15)


@pytest.mark.parametrize("middle", ["median", "spatial"])
def test_pursuit_ignores_outliers_that_turn_the_classical_component(middle):
    x = generator().normal(size=(400, 2)) * [5.0, 1.0]
    x[:40] = [0.0, 200.0]
    assert abs(first_component(np.cov(x.T))[1]) > 0.99
    assert abs(pursue_directions(x, generator(), middle=middle)[0][0][0]) > 0.95


def test_pursuit_refuses_records_that_are_all_alike():
    with pytest.raises(InputError, match="share one value"):
        pursue_directions(np.ones((20, 2)), generator())
    mostly = np.vstack([np.zeros((15, 2)), np.eye(2)])
    with pytest.raises(InputError, match="share one value"):
        pursue_directions(mostly, generator())


@pytest.mark.parametrize("method", ["mcd", "mve", "ogk"])
def test_columns_that_are_mostly_constant_are_refused(method):
    """Rounding of the mean left a variance of 1e-32, and distances of 1e16."""
    x = np.random.default_rng(5).normal(size=(100, 2))
    x[:70, 1] = 0
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    with pytest.raises(InputError, match="more than half of the records share one value"):
        robust.robust_distances(z, method, generator())


def test_rank_without_eigenvalues_is_that_of_the_eigenvalues():
    rng = np.random.default_rng(1)
    for _ in range(400):
        p = int(rng.integers(1, 9))
        x = rng.normal(size=(p + int(rng.integers(0, 5)), p)) * 10.0 ** rng.integers(-4, 3, size=p)
        if p > 1 and rng.random() < 0.4:
            x[:, 0] = x[:, 1:].sum(axis=1) + rng.normal(size=len(x)) * 10.0 ** rng.integers(-9, 0)
        covariance = np.cov(x.T, bias=True).reshape(p, p)
        smallest = np.linalg.eigvalsh(covariance)[0]
        if not 0.9 < smallest / robust.TOLERANCE < 1.1:
            assert robust.has_full_rank(covariance) == (smallest > robust.TOLERANCE)
