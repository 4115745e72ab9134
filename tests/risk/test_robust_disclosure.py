"""Intervals that grow with robust distance, against the definition."""

import numpy as np
import pytest

import tacit
from tacit.errors import InputError


def file(x, names="abc"):
    return tacit.read({c: x[:, j] for j, c in enumerate(names[: x.shape[1]])})


def test_the_definition_with_classical_moments():
    rng = np.random.default_rng(1)
    x = rng.lognormal(0, 0.8, (120, 3))
    y = x + rng.normal(0, 0.1, x.shape)
    for rule in ("any", "all"):
        spec = tacit.RobustDisclosure(
            columns=list("abc"),
            covariance="classical",
            width=0.1,
            neighbour=0.2,
            columns_inside=rule,
        )
        found = spec.measure(
            file(x).replace({c: y[:, j] for j, c in enumerate("abc")}), original=file(x)
        )
        zx, zy = ((v - v.mean(axis=0)) / v.std(axis=0, ddof=1) for v in (x, y))
        inverse = np.linalg.inv(np.cov(zx, rowvar=False))
        away = np.sqrt([row @ inverse @ row for row in zx])
        inside = np.abs(zx - zy) <= 0.1 * away[:, None]
        unsafe = getattr(inside, rule)(axis=1)
        gaps = np.sqrt(((zy[:, None] - zy[None]) ** 2).sum(axis=2)) + np.diag(np.full(120, np.inf))
        alone = gaps.min(axis=1) > 0.2
        expected = [
            unsafe.mean(), away[unsafe].sum() / away.sum(),
            (unsafe & alone).mean(), away[unsafe & alone].sum() / away.sum(),
        ]  # fmt: skip
        assert list(found.shares.values()) == pytest.approx(expected)
        assert found.value == pytest.approx(expected[0])


def test_a_group_of_outliers_does_not_hide_itself():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 2))
    x[:60] += 40
    y = x + rng.normal(0, 0.02 * x.std(), x.shape)
    release = file(x).replace({c: y[:, j] for j, c in enumerate("ab")})
    far = {
        how: tacit.RobustDisclosure(covariance=how).measure(release, original=file(x), seed=1)
        .frame["robust_distance"].to_numpy()[:60].mean()
        for how in ("mcd", "classical")
    }  # fmt: skip
    assert far["mcd"] > 5 * far["classical"]


def test_missing_values_are_left_out_and_counted():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(100, 2))
    y = x + rng.normal(0, 0.1, x.shape)
    y[:7, 0] = np.nan
    found = tacit.RobustDisclosure().measure(file(y), original=file(x), seed=1)
    assert found.numbers["records"] == 93
    assert found.numbers["records left out for a missing value"] == 7
    assert found.frame["record"].to_list()[0] == 8


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, 2))
    data, release = file(x), file(x + rng.normal(0, 0.1, x.shape))
    order = rng.permutation(200)
    one = tacit.RobustDisclosure(covariance="ogk").measure(release, original=data)
    two = tacit.RobustDisclosure(covariance="ogk").measure(
        release.take(order), original=data.take(order[::-1])
    )
    assert list(one.shares.values()) == pytest.approx(list(two.shares.values()))


def test_columns_half_constant_are_refused():
    x = np.random.default_rng(5).normal(size=(100, 2))
    x[:70, 1] = 0
    with pytest.raises(InputError, match=r"robust_disclosure: robust estimation: more than half"):
        tacit.RobustDisclosure().measure(file(x + 0.01), original=file(x), seed=1)
