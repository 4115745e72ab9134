"""Winkler's list: means and covariances on subdomains, and margins."""

import numpy as np
import pytest

import tacit

NAMES = [f"v{j}" for j in range(6)]


def survey(n=500, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n, p=[0.4, 0.6])
    return {"sex": sex, **{c: rng.normal(10 * (sex == "m"), 2) for c in NAMES}}


def test_original_is_valid_and_interesting():
    data = tacit.read(survey())
    found = tacit.AnalyticValidity(columns=NAMES, by=["sex"]).measure(data, original=data)
    assert found.value == 0
    assert found.valid
    assert found.numbers["analytically interesting"]
    # Everybody and two sexes: six means and twenty-one covariances each; one margin.
    assert found.numbers["checks"] == 3 * (6 + 21) + 1


def test_changes_are_found_where_they_are():
    columns = survey()
    data = tacit.read(columns)
    men = columns["sex"] == "m"
    moved = columns["v0"] + np.where(men, 0.5, 0.0)
    masked = data.replace({"v0": moved})
    found = tacit.AnalyticValidity(columns=NAMES, by=["sex"]).measure(masked, original=data)
    failed = [c for c in found.checks if not c.passed]
    assert {c.subdomain for c in failed} <= {"all", "sex m"}
    mean = next(c for c in failed if (c.subdomain, c.what, c.about) == ("sex m", "mean", "v0"))
    assert mean.change == pytest.approx(0.5 / columns["v0"][men].std())
    assert found.sound == tuple(NAMES[1:])
    assert not found.numbers["analytically interesting"]
    assert found.value == len(failed) / found.numbers["checks"]
    assert found.plot().svg().startswith("<svg")


def test_margins_and_small_subdomains():
    data = tacit.read({"g": list("aaab"), "h": list("xyxy"), "v": [1.0, 2.0, 3.0, 4.0]})
    masked = data.replace({"g": list("aabb")})
    found = tacit.AnalyticValidity(
        by=["g"], margins=[["g"], ["g", "h"]], least=2, columns=["v"]
    ).measure(masked, original=data)
    margins = {c.about: c.change for c in found.checks if c.what == "margin"}
    assert margins == {"g": 0.25, "g, h": 0.25}
    assert found.numbers["checks that could not be made"] == 1


def test_weights_count():
    data = tacit.read({"g": ["a", "b"], "v": [1.0, 2.0], "w": [1.0, 3.0]}, weight="w")
    masked = data.replace({"g": ["b", "b"]})
    found = tacit.AnalyticValidity(columns=["v"], by=["g"]).measure(masked, original=data)
    assert next(c.change for c in found.checks if c.what == "margin") == 0.25
