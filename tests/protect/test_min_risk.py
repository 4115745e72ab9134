"""MinRisk as users meet it: fixtures, claims, roles, notes and refusals."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import (
    Approximate,
    DisclosureRefused,
    Infeasible,
    InputError,
    InvalidParameter,
    WeakProtection,
)

CASES = Path(__file__).parents[1] / "fixtures" / "psd19-beyond-k-anonymity"


def load(name):
    return json.loads((CASES / f"{name}.json").read_text())


def columns(rows, names):
    return {c: [r[i] for r in rows] for i, c in enumerate(["id", *names])}


def with_weights(given):
    names = given["attributes"]
    table = columns(given["records"], names)
    for a in names:
        table[f"w_{a}"] = [given["w_attribute_record"][r[0]][a] for r in given["records"]]
    return tacit.read(table, identifiers=["id"], keys=names)


def shown(data, names):
    return [[a for a in names if row[a] is not None] for row in data.to_arrow().to_pylist()]


@pytest.mark.parametrize("k", [1, 2])
def test_known_bayes_and_minimax_to_the_digit(k):
    case = load("optimal_rules")
    given, names = case["input"], case["input"]["attributes"]
    held = {t: columns(rows, names) for t, rows in given["dictionaries"].items()}
    data = with_weights(given)
    asked = {f"known_{t}": {"dictionaries": {t: d}} for t, d in held.items()}
    asked |= {
        "bayes": {"dictionaries": held, "prior": given["prior"]},
        "minimax": {"dictionaries": held},
    }
    for name, more in asked.items():
        method = tacit.MinRisk(k=k, weight_columns={a: f"w_{a}" for a in names}, **more)
        released = method.apply(data)
        wanted, notes = case["expected"][f"k={k}"], released.history[-1].details
        assert shown(released, names) == wanted[name]["rule"]
        assert notes["risk_of_rule"] == pytest.approx(wanted[name]["risk"], abs=1e-12)
        assert notes["proven"]
        assert notes["rules"] == wanted["number_of_rules"]


def test_algorithm_1_on_a_dictionary_that_factorises():
    case = load("minrisk_independent")
    given, names = case["input"], case["input"]["attributes"]
    values = [
        [v for v, n in given["dictionary_marginals"][a].items() for _ in range(n)] for a in names
    ]
    rows = list(itertools.product(*values))
    held = {"d": {a: [r[j] for r in rows] for j, a in enumerate(names)}}
    data = with_weights(given)
    for k in (1, 2):
        wanted = case["expected"][f"k={k}"]
        for search in ("independence", "exact"):
            method = tacit.MinRisk(
                k=k,
                search=search,
                dictionaries=held,
                weight_columns={a: f"w_{a}" for a in names},
            )
            released = apply_quietly(method, data)
            notes = released.history[-1].details
            assert shown(released, names) == [w["selected"] for w in wanted]
            risk = np.mean([w["loss"] for w in wanted])
            assert notes["risk_of_rule"] == pytest.approx(risk, abs=1e-12)
            if search == "independence":
                assert notes["departure_from_independence"] < 1e-12
                assert notes["risk_if_independent"] == pytest.approx(risk, abs=1e-12)
                assert notes["lower_bound"] <= risk


def apply_quietly(method, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        return method.apply(data)


def town(n=60, seed=4):
    rng = np.random.default_rng(seed)
    job = rng.choice(["a", "b", "c"], n)
    return {
        "sex": rng.choice(["f", "m"], n).tolist(),
        "job": job.tolist(),
        "field": [f"{j}{s}" for j, s in zip(job, rng.integers(0, 2, n), strict=True)],
        "zip": rng.choice(["1", "2", "3", "4"], n).tolist(),
    }


NAMES = ["sex", "job", "field", "zip"]


def test_where_attributes_depend_the_difference_is_told():
    data = tacit.read(town(), keys=NAMES)
    with pytest.warns(Approximate, match="is not proven"):
        quick = tacit.MinRisk(k=2, search="independence").apply(data).history[-1].details
    best = tacit.MinRisk(k=2).apply(data).history[-1].details
    assert quick["departure_from_independence"] > 0.1
    assert quick["lower_bound"] <= best["risk_of_rule"] <= quick["risk_of_rule"]
    assert best["proven"]


@pytest.mark.parametrize(("per", "k"), [("record", 2), ("total", 70), ("attribute", 25)])
def test_the_set_is_kept_and_claimed(per, k):
    data = tacit.read(town(), keys=NAMES)
    method = tacit.MinRisk(k=k, per=per)
    released = method.apply(data)
    table = released.to_arrow().to_pydict()
    cells = np.array([[v is not None for v in table[c]] for c in NAMES]).T
    counts = {"record": cells.sum(axis=1), "attribute": cells.sum(axis=0)}.get(per, cells.sum())
    assert np.all(counts == k)
    (claim,) = released.history[-1].claims
    assert claim.model == "disclosed-cells"
    assert not claim.holds(data.claim_view())
    measured = tacit.DecisionRisk().measure(released, original=data)
    assert measured.value == pytest.approx(released.history[-1].details["risk_of_rule"])


def test_the_risk_is_claimed_and_recomputed():
    people = town()
    data = tacit.read(people, keys=NAMES)
    held = {"one": people, "two": {c: v[:40] for c, v in town(seed=9).items() if c != "zip"}}
    method = tacit.MinRisk(
        k=2,
        dictionaries=held,
        weights={"zip": 0.5, "sex": 0},
        interactions=[{"columns": ["sex", "zip"], "weight": 0.3}],
    )
    released = method.apply(data)
    claim = released.history[-1].claims[1]
    assert claim.model == "decision-risk"
    spec = tacit.DecisionRisk(
        dictionaries=held, weights=method.weights, interactions=method.interactions
    )
    assert claim.parameters["risks"] == pytest.approx(dict(spec.measure(released).risks))
    assert not claim.holds(data.claim_view())
    assert "dictionaries" not in claim.to_dict(public=True)["parameters"]
    assert "dictionaries" not in method.to_dict(public=True)
    with pytest.raises(DisclosureRefused):
        claim.require(data.claim_view(), where="test")


def test_households_and_links_go_together():
    people = town(40)
    people["home"] = [f"h{i // 2}" for i in range(40)]
    people["w"] = [1.0 + i % 3 for i in range(40)]
    people["stratum"] = people["zip"]
    data = tacit.read(
        people,
        keys=NAMES,
        household="home",
        weight="w",
        stratum="stratum",
        links=[["job", "field"], ["zip", "stratum"]],
    )
    released = tacit.MinRisk(k=2).apply(data)
    for row in released.to_arrow().to_pylist():
        assert sum(row[c] is not None for c in NAMES) <= 2
        assert (row["job"] is None) == (row["field"] is None)
        assert (row["zip"] is None) == (row["stratum"] is None)
    assert all(c.holds(released.claim_view()) for c in released.history[-1].claims)


def test_refusals():
    data = tacit.read({"a": ["x", None], "b": ["y", "z"]}, keys=["a", "b"])
    with pytest.raises(Infeasible, match="record 2 has fewer than k values"):
        tacit.MinRisk(k=2).apply(data)
    with pytest.raises(Infeasible, match="column 'a' has fewer than k"):
        tacit.MinRisk(k=2, per="attribute").apply(data)
    with pytest.raises(Infeasible, match="more than the values"):
        tacit.MinRisk(k=4, per="total").apply(data)
    with pytest.raises(InvalidParameter, match="k must be at least 0"):
        tacit.MinRisk(k=-1)
    with pytest.raises(InvalidParameter, match="search 'independence' goes with"):
        tacit.MinRisk(k=1, search="independence", sensitivity="phi1")
    with pytest.raises(InputError, match="declare keys"):
        tacit.MinRisk(k=1).apply(tacit.read({"a": ["x"]}))
    wide = tacit.read({f"c{i}": ["x", "y"] for i in range(30)}, keys=[f"c{i}" for i in range(30)])
    with pytest.raises(InputError, match="too many sets"):
        tacit.MinRisk(k=15, search="exact").apply(wide)
    with pytest.raises(InputError, match="too many sets"):
        tacit.MinRisk(k=15, sensitivity="phi3").apply(wide)
    notes = tacit.MinRisk(k=15).apply(wide).history[-1].details
    assert notes["proven"]  # the values are all alike, so that the bound is reached
    assert notes["how"].startswith("Algorithm 1")


def test_records_that_fit_nobody_are_told_of():
    data = tacit.read(town(), keys=NAMES)
    strange = {"d": {"zip": ["01", "02", "03"]}}
    with pytest.raises(DisclosureRefused, match="no record fits anybody"):
        tacit.MinRisk(k=2, dictionaries=strange).apply(data)
    code = data.column("zip")[0].as_py()
    fitting = data.column("zip").to_pylist().count(code)
    left = 60 - fitting
    with pytest.warns(WeakProtection, match=f"{left} of 60 records fit nobody in dictionary 'd'"):
        released = tacit.MinRisk(k=2, dictionaries={"d": {"zip": [code]}}).apply(data)
    assert released.history[-1].details["records_without_candidates"] == {"dictionary 1": left}


@pytest.mark.filterwarnings("ignore:min_risk. dictionary 'd' is empty")
def test_a_dictionary_that_lists_nobody_is_refused():
    data = tacit.read(town(), keys=NAMES)
    empty = {"d": {"zip": []}}
    with pytest.raises(DisclosureRefused, match="a dictionary lists nobody"):
        tacit.MinRisk(k=2, dictionaries=empty).apply(data)


def test_nothing_and_everything():
    data = tacit.read(town(), keys=NAMES)
    none = tacit.MinRisk(k=0).apply(data)
    assert shown(none, NAMES) == [[]] * 60
    assert none.history[-1].details["risk_of_rule"] == pytest.approx(1 / 60)
    every = tacit.MinRisk(k=4).apply(data)
    assert every.to_arrow().to_pydict() == data.to_arrow().to_pydict()


def test_in_a_plan_with_other_steps(tmp_path):
    """An infinite weight comes back from the file of the plan; names of dictionaries stay inside."""
    book = {"BOOK": {c: v for c, v in town(seed=2).items() if c != "zip"}}
    plan = tacit.Plan.from_dict(
        {
            "roles": {"keys": NAMES},
            "steps": [
                {"kind": "suppress", "level": "cell", "threshold": 3},
                {
                    "kind": "min_risk",
                    "k": 60,
                    "per": "total",
                    "dictionaries": book,
                    "weights": {"zip": float("inf")},
                },
            ],
            "measures": [{"kind": "decision_risk", "at_most": 5, "dictionaries": book}],
        }
    )
    plan.save(tmp_path / "plan.yaml")
    again = tacit.Plan.load(tmp_path / "plan.yaml")
    assert again.steps == plan.steps
    release = again.run(tacit.read(town(), keys=NAMES))
    release.write(tmp_path / "out")
    assert [f for f in (tmp_path / "out").rglob("*") if b"BOOK" in f.read_bytes()] == []
