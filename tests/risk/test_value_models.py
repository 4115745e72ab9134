"""delta-disclosure, beta-likeness, (alpha, k)-anonymity, LKC and joint diversity against their definitions."""

import itertools
import math
from collections import Counter, defaultdict

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.claims import Claim
from tacit.errors import InvalidParameter, RoleMissing

records = st.lists(
    st.tuples(
        st.sampled_from(["x", "y", "z"]),
        st.sampled_from([1, 2]),
        st.sampled_from(["flu", "cold", "gout", None]),
    ),
    min_size=1,
    max_size=25,
)


def read(rows, **options):
    rows = [*rows, ("x", 1, "flu")]  # a column without any value is refused
    table = pa.table(
        {
            "a": pa.array([r[0] for r in rows], pa.string()),
            "b": pa.array([r[1] for r in rows], pa.int64()),
            "s": pa.array([r[2] for r in rows], pa.string()),
        }
    )
    return tacit.read(table, keys=["a", "b"], sensitive=["s"], **options), rows


def classes_of(rows, missing="category"):
    classes = defaultdict(list)
    for a, b, s in rows:
        if missing == "category" or s is not None:
            classes[a, b].append(s)
    return classes


def violating(rows, passes, missing="category"):
    """Records in classes that fail, straight from the definition."""
    classes = classes_of(rows, missing)
    everyone = Counter(v for values in classes.values() for v in values)
    n = sum(everyone.values())
    whole = {v: c / n for v, c in everyone.items()}
    return sum(
        len(values)
        for values in classes.values()
        if not passes({v: values.count(v) / len(values) for v in whole}, whole, values)
    )


def claimed(model, parameters, data):
    """Whether a check that shares no code with the measure finds the claim to hold."""
    claim = Claim(model, {"sensitive": "s", **parameters}, "q", ("a", "b"))
    return claim.holds(data.claim_view())


def close_in_logs(delta, absent):
    def passes(p, q, _):
        for v, share in q.items():
            if p[v] == 0:
                if absent == "violates":
                    return False
            elif not abs(math.log2(p[v] / share)) < delta - 1e-12:
                return False
        return True

    return passes


def gains_little(beta, variant):
    def passes(p, q, _):
        for v, share in q.items():
            limit = beta if variant == "basic" else min(beta, -math.log(share))
            if p[v] > share and (p[v] - share) / share > limit + 1e-9:
                return False
        return True

    return passes


@settings(max_examples=40, deadline=None)
@given(
    records,
    st.sampled_from([0.3, 1.0, 2.0]),
    st.sampled_from(["violates", "ignored"]),
    st.sampled_from(["category", "ignore"]),
)
def test_delta_disclosure(rows, delta, absent, missing):
    data, rows = read(rows)
    found = tacit.DeltaDisclosure(delta=delta, absent=absent, missing=missing).measure(data)
    wanted = violating(rows, close_in_logs(delta, absent), missing)
    assert found.violations == wanted
    assert bool(found.shortfall) == bool(wanted)
    told = {"delta": delta, "absent": absent, "missing": missing}
    assert claimed("delta-disclosure", told, data) == (wanted == 0)


@settings(max_examples=40, deadline=None)
@given(
    records,
    st.sampled_from([0.3, 1.0, 2.0]),
    st.sampled_from(["basic", "enhanced"]),
    st.sampled_from(["category", "ignore"]),
)
def test_beta_likeness(rows, beta, variant, missing):
    data, rows = read(rows)
    found = tacit.BetaLikeness(beta=beta, variant=variant, missing=missing).measure(data)
    wanted = violating(rows, gains_little(beta, variant), missing)
    assert found.violations == wanted
    assert found.value == pytest.approx(wanted / sum(map(len, classes_of(rows, missing).values())))
    told = {"beta": beta, "variant": variant, "missing": missing}
    assert claimed("beta-likeness", told, data) == (wanted == 0)


@settings(max_examples=40, deadline=None)
@given(
    records,
    st.sampled_from([0.25, 0.5, 1.0]),
    st.integers(1, 4),
    st.sampled_from([None, ("flu", "gout")]),
    st.sampled_from(["category", "ignore"]),
)
def test_alpha_k(rows, alpha, k, values, missing):
    data, rows = read(rows)
    found = tacit.AlphaK(alpha=alpha, k=k, values=values, missing=missing).measure(data)

    def passes(p, q, members):
        counts = {
            v: share
            for v, share in p.items()
            if (values is None or v in values) and (v is not None or missing == "category")
        }
        return len(members) >= k and max(counts.values(), default=0) <= alpha + 1e-9

    assert found.violations == violating(rows, passes)
    told = {"alpha": alpha, "missing": missing} | ({"values": list(values)} if values else {})
    both = claimed("bounded-share", told, data) and claimed("k-anonymity", {"k": k}, data)
    assert both == (found.violations == 0)


@settings(max_examples=30, deadline=None)
@given(records, st.integers(1, 3), st.integers(1, 4), st.sampled_from([0.4, 0.5, 1.0]))
def test_lkc(rows, size, k, confidence):
    data, rows = read(rows)
    found = tacit.Lkc(known=size, k=k, confidence=confidence).measure(data)
    bad = set()
    for n in range(1, min(size, 2) + 1):
        for subset in itertools.combinations(range(2), n):
            classes = defaultdict(list)
            for i, row in enumerate(rows):
                classes[tuple(row[j] for j in subset)].append(i)
            for members in classes.values():
                top = max(Counter(rows[i][2] for i in members).values()) / len(members)
                if len(members) < k or top > confidence + 1e-9:
                    bad.update(members)
    assert found.violations == len(bad)
    assert bool(found.shortfall) == bool(bad)
    told = {"known": size, "k": k, "confidence": confidence}
    assert claimed("lkc-privacy", told, data) == (not bad)
    limits = {"average": confidence, "highest": 1 / k, "at_risk": 0.3, "threshold": 0.4}
    risk = tacit.AttackRisk(**limits).measure(data)
    assert claimed("attack-risk", limits, data) == (not risk.shortfall)


def test_numbers_by_hand():
    # Eight of twelve have flu; class x has four records, all flu, and y eight, four of them flu.
    rows = [("x", 1, "flu")] * 3 + [("y", 2, "flu")] * 4 + [("y", 2, "cold")] * 4
    data, _ = read(rows)
    gain = tacit.BetaLikeness(beta=0.5, variant="basic").measure(data)
    assert gain.largest == pytest.approx(0.5)  # 1 against 2/3, and 1/2 against 1/3
    assert gain.violations == 0
    # -ln(2/3) = 0.405 is less than the gain of flu in x.
    assert tacit.BetaLikeness(beta=0.5).measure(data).largest == math.inf
    assert tacit.BetaLikeness(beta=0.5).measure(data).violations == 4
    logs = tacit.DeltaDisclosure(delta=1, absent="ignored").measure(data)
    assert logs.largest == pytest.approx(math.log2(1.5))
    assert tacit.DeltaDisclosure(delta=1).measure(data).violations == 4  # nobody in x has a cold
    share = tacit.AlphaK(alpha=0.5, k=5).measure(data)
    assert (share.largest, share.violations) == (1.0, 4)
    assert tacit.AlphaK(alpha=0.5, values=["cold"], k=4).measure(data).violations == 0
    assert (
        tacit.AlphaK(values=["cold", "tumour"]).measure(data).numbers["named values that occur"]
        == "1 of 2"
    )
    assert "share of one value" in share.plot().alt
    assert share.by_column == {"s": 1.0}


def test_a_ratio_of_exactly_delta_violates():
    rows = [("x", 1, "flu")] * 1 + [
        ("y", 1, "cold")
    ] * 2  # with one more: x is all flu, half of all
    data, _ = read(rows)
    found = tacit.DeltaDisclosure(delta=1, absent="ignored").measure(data)
    assert found.largest == 1
    assert found.violations == 4


def test_joint_values_count_as_one_value():
    table = pa.table(
        {
            "a": ["x"] * 4 + ["y"] * 2,
            "s": ["flu", "flu", "cold", "cold", "flu", None],
            "t": ["p", "q", "p", "p", "q", "q"],
        }
    )
    data = tacit.read(table, keys=["a"], sensitive=["s", "t"])
    assert tacit.LDiversity(l=2).measure(data).l == 1  # t is the same in y
    joint = tacit.LDiversity(l=3, together=True).measure(data)
    assert dict(joint.by_column) == {"s x t": 2}
    assert joint.violations == 2
    ignoring = tacit.LDiversity(l=3, together=True, missing="ignore").measure(data)
    assert (ignoring.l, ignoring.violations) == (1, 1)


def test_several_quasi_identifiers_and_mistakes():
    data, _ = read([("x", 1, "flu"), ("y", 2, "cold")])
    with pytest.raises(InvalidParameter, match="beta must be greater than 0"):
        tacit.BetaLikeness(beta=0)
    bare = tacit.read(pa.table({"a": ["x"], "s": ["y"]}), keys=["a"])
    for model in (tacit.DeltaDisclosure, tacit.BetaLikeness, tacit.AlphaK, tacit.Lkc):
        with pytest.raises(RoleMissing, match="needs sensitive columns"):
            model().measure(bare)
        assert model().measure(data).shortfall == ""
