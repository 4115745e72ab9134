"""Charts of original against masked numbers: what they draw and say."""

import itertools

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.plot import paired

RNG = np.random.default_rng(0)
X = np.exp(RNG.multivariate_normal([1, 2, 0], [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], 3000))
Y = X + RNG.normal(size=X.shape)
W = RNG.uniform(0.5, 2, 3000)
NAMES = ["income", "wealth", "debt"]

CHARTS = {
    "scatter": lambda: paired.scatter(X[:, 0], Y[:, 0], name="income"),
    "two columns": lambda: paired.two_columns(X, Y, names=NAMES),
    "ellipse": lambda: paired.ellipses(X[:, :2], Y[:, :2], names=NAMES[:2]),
    "ellipses": lambda: paired.ellipses(X, Y, names=NAMES, correlation=True),
    "densities": lambda: paired.densities(X[:, 0], Y[:, 0], name="income", weights=W),
    "deciles": lambda: paired.deciles(X[:, 0], Y[:, 0], name="income", masked_weights=W),
    "constant": lambda: paired.densities(np.ones(9), np.ones(9), name="one"),
    "constant ellipse": lambda: paired.ellipses(np.ones((5, 2)), X[:5, :2], names=NAMES[:2]),
    "missing": lambda: paired.scatter(np.array([1.0, np.nan]), np.array([2.0, 3.0]), name="x"),
}


@pytest.mark.parametrize("name", CHARTS)
def test_drawn_and_described(name):
    chart = CHARTS[name]()
    assert chart.svg().startswith("<svg")
    assert len(chart.alt) > 20


def test_scatter_is_thinned_with_both_extremes():
    rows = paired.scatter(X[:, 0], Y[:, 0], name="income").spec["layer"][1]["data"]["values"]
    assert len(rows) == paired.POINTS
    assert {X[:, 0].min(), X[:, 0].max()} <= {r["x"] for r in rows}
    at = {float(x): float(y) for x, y in zip(X[:, 0], Y[:, 0], strict=True)}
    assert all(at[r["x"]] == r["y"] for r in rows)


def test_ellipse_holds_its_share_of_normal_records():
    z = np.random.default_rng(1).multivariate_normal([1, 2], [[4, 1.5], [1.5, 1]], 40_000)
    line = paired.outline(z, 0.975)
    centre, inverse = z.mean(axis=0), np.linalg.inv(np.cov(z, rowvar=False))
    reach = np.einsum("ij,jk,ik->i", line - centre, inverse, line - centre)
    assert reach == pytest.approx(np.full(len(line), 7.377759), rel=1e-6)
    inside = np.einsum("ij,jk,ik->i", z - centre, inverse, z - centre) <= reach[0]
    assert inside.mean() == pytest.approx(0.975, abs=0.004)


def test_density_integrates_to_one_and_follows_weights():
    at = np.linspace(-6, 6, paired.GRID_POINTS)
    x = np.random.default_rng(2).normal(size=5000)
    flat = paired.density(x, np.ones(5000), at)
    assert flat.sum() * (at[1] - at[0]) == pytest.approx(1, abs=1e-3)
    assert np.abs(flat - np.exp(-(at**2) / 2) / np.sqrt(2 * np.pi)).max() < 0.03
    right = paired.density(x, np.where(x > 0, 9.0, 1.0), at)
    assert right[at > 0].sum() / right.sum() == pytest.approx(0.9, abs=0.03)


def test_deciles_lie_on_the_line_when_nothing_changed():
    layers = paired.deciles(X[:, 0], X[:, 0], name="income").spec["layer"]
    rows = layers[1]["data"]["values"]
    assert [r["label"] for r in rows] == list("123456789")
    assert all(r["x"] == r["y"] for r in rows)
    assert all(a["x"] < b["x"] for a, b in itertools.pairwise(rows))


def test_refusals():
    with pytest.raises(InputError, match="1 or more records"):
        paired.scatter(np.array([np.nan]), np.array([1.0]), name="x")
    with pytest.raises(InputError, match="at least two columns"):
        paired.ellipses(X[:, :1], Y[:, :1], names=["income"])
