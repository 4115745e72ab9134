"""Local suppression until no record is at risk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.claims import Claim
from tacit.errors import Infeasible, InvalidParameter, RoleMissing


def survey(n=300, seed=1, holes=0.0):
    rng = np.random.default_rng(seed)
    columns = {
        name: [None if rng.random() < holes else int(v) for v in rng.zipf(1.7, n).clip(1, size)]
        for name, size in (("a", 5), ("b", 6), ("c", 4))
    }
    return tacit.read(
        columns | {"w": rng.uniform(1, 30, n).tolist()}, keys=["a", "b", "c"], weight="w"
    )


def wildcard_risk(data):
    return tacit.IndividualRisk(missing="wildcard").measure(data).risk


def lost(before, after):
    return sum(
        x != y
        for c in ("a", "b", "c")
        for x, y in zip(before.column(c).to_pylist(), after.column(c).to_pylist(), strict=True)
    )


@pytest.mark.parametrize("rule", ["each", "shared"])
@pytest.mark.parametrize("limit", [0.3, 0.1, 0.02])
def test_no_record_stays_above(rule, limit):
    data = survey()
    before = wildcard_risk(data)
    assert (before > limit).any()
    after = tacit.LocalSuppression(risk_above=limit, rule=rule).apply(data)
    assert wildcard_risk(after).max() <= limit * (1 + 1e-9)
    table, released = (d.to_arrow(["a", "b", "c"]).to_pydict() for d in (data, after))
    changed = np.array(
        [any(table[c][i] != released[c][i] for c in table) for i in range(len(before))]
    )
    assert changed[before > limit].all()
    if rule == "each":
        assert not changed[before <= limit].any()
    [claim] = after.history[-1].claims
    assert claim.model == "individual-risk"
    assert not claim.holds(data.frame)
    notes = after.history[-1].details
    assert notes["lower_bound"] <= notes["weight"] == lost(data, after)


def test_names_that_look_like_code_are_names():
    table = survey().to_arrow().rename_columns(["main.t", '"a"', " b ", "select"])
    data = tacit.read(table, keys=["main.t", '"a"', " b "], weight="select")
    after = tacit.LocalSuppression(risk_above=0.1).apply(data)
    assert wildcard_risk(after).max() <= 0.1 + 1e-9


def test_risk_and_k_together_and_importance():
    data = survey()
    both = tacit.LocalSuppression(risk_above=0.1, k=4).apply(data)
    assert {c.model for c in both.history[-1].claims} == {"individual-risk", "k-agreement"}
    assert wildcard_risk(both).max() <= 0.1 + 1e-9
    assert tacit.KAnonymity(missing="wildcard").measure(both).k >= 4
    kept = tacit.LocalSuppression(risk_above=0.1, importance={"a": 5}).apply(data)
    gone = kept.history[-1].details["suppressed"]
    assert gone["a"] <= min(gone["b"], gone["c"])


def test_without_risk_k_is_three_as_ever():
    data = survey()
    assert (
        tacit.LocalSuppression().apply(data).to_arrow()
        == tacit.LocalSuppression(k=3).apply(data).to_arrow()
    )


def test_several_quasi_identifiers():
    data = survey()
    two = tacit.read(data.to_arrow(), keys={"x": ["a", "b"], "y": ["b", "c"]}, weight="w")
    after = tacit.LocalSuppression(risk_above=0.05).apply(two)
    assert wildcard_risk(after).max() <= 0.05 + 1e-9
    assert [c.quasi_identifier for c in after.history[-1].claims] == ["x", "y"]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 0.2, 0.05]), st.sampled_from([0.0, 0.2]))
def test_claims_hold_on_any_data(seed, limit, holes):
    data = survey(40, seed, holes)
    try:
        after = tacit.LocalSuppression(risk_above=limit).apply(data)
    except Infeasible:
        return
    assert wildcard_risk(after).max() <= limit * (1 + 1e-9)


def test_the_check_of_the_claim_is_right_about_the_border():
    data = survey(120, 5, 0.1)
    risk = wildcard_risk(data)
    for change, wanted in ((1.00001, True), (0.99999, False)):
        told = {"threshold": float(risk.max()) * change, "weight": "w", "missing": "wildcard"}
        assert Claim("individual-risk", told, "keys", ("a", "b", "c")).holds(data.frame) is wanted
        told = {"average": float(risk.mean()) * change, "weight": "w", "missing": "wildcard"}
        assert Claim("individual-risk", told, "keys", ("a", "b", "c")).holds(data.frame) is wanted
    whole = tacit.IndividualRisk().measure(data).risk
    for change, wanted in ((1.00001, True), (0.99999, False)):
        told = {"average": float(whole.mean()) * change, "weight": "w"}
        assert Claim("individual-risk", told, "keys", ("a", "b", "c")).holds(data.frame) is wanted


def test_the_check_agrees_with_decimal_values_far_out():
    from tacit.claims.protection.individual_risk import mean_inverse
    from tacit.records.samples.posterior import expected_inverse

    for f in (1, 2, 3, 10, 39, 40, 200, 5000):
        for p in (1e-8, 1e-4, 0.03, 0.5, 0.97, 1.0):
            assert mean_inverse(f, f / p) == pytest.approx(float(expected_inverse(f, p)), rel=1e-9)


def test_what_cannot_be_is_said():
    data = survey()
    with pytest.raises(Infeasible, match=r"risk_above|cannot agree"):
        tacit.LocalSuppression(risk_above=0.02, keep=["a", "b"]).apply(data)
    with pytest.raises(Infeasible, match="stay above"):
        tacit.LocalSuppression(risk_above=1e-9).apply(data)
    with pytest.raises(RoleMissing, match="survey weights"):
        tacit.LocalSuppression(risk_above=0.1).apply(tacit.read({"a": [1, 2]}, keys=["a"]))
    for more in ({"rule": "strict"}, {"sizes": {2: 3}}):
        with pytest.raises(InvalidParameter, match="risk_above"):
            tacit.LocalSuppression(risk_above=0.1, **more)
