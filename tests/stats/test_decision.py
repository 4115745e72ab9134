"""Decision-theoretic risk on codes: against the definitions, pair by pair and rule by rule."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.records.decision import rules
from tacit.records.decision.rules import find_rule
from tacit.records.decision.sensitivity import (
    Consistent,
    Dictionary,
    Sensitivity,
    concentrate,
    count_rules,
    departure,
    gammas,
    hide,
    losses,
    marginal_counts,
    precedes,
    product_candidates,
    risk_of,
    select_smallest,
)

CASES = Path(__file__).parents[1] / "fixtures" / "psd19-beyond-k-anonymity"


def load(name):
    return json.loads((CASES / f"{name}.json").read_text())


def dictionary(rows, size=9):
    rows = np.asarray(rows, dtype=np.int32)
    return Dictionary.of(rows, [Consistent.equal(size)] * rows.shape[1])


def code(records, *dictionaries):
    """Records and dictionaries with equal codes for equal values, null -1."""
    number = {None: -1}
    coded = [
        np.array([[number.setdefault(v, len(number) - 1) for v in r[1:]] for r in rows], np.int32)
        for rows in (records, *dictionaries)
    ]
    return coded[0], [dictionary(d, len(number)) for d in coded[1:]]


def count_pairs(shown, rows):
    """The definition: rows that agree wherever both have a value."""
    return [
        sum(all(a < 0 or b < 0 or a == b for a, b in zip(x, y, strict=True)) for y in rows)
        for x in shown
    ]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_candidates_are_those_of_the_definition(data):
    m = data.draw(st.integers(1, 4))
    cell = st.integers(-1, 3)
    row = st.lists(cell, min_size=m, max_size=m)
    shown = np.array(data.draw(st.lists(row, min_size=1, max_size=12)), dtype=np.int32)
    rows = np.array(data.draw(st.lists(row, min_size=1, max_size=12)), dtype=np.int32)
    assert dictionary(rows).count(shown).tolist() == count_pairs(shown, rows)


def test_long_lists_are_sorted_and_counted_alike():
    rng = np.random.default_rng(3)
    rows = rng.integers(-1, 5, (400, 4)).astype(np.int32)
    shown = rng.integers(-1, 5, (60, 4)).astype(np.int32)
    assert dictionary(rows).count(shown).tolist() == count_pairs(shown, rows)


def test_a_code_may_be_consistent_with_several():
    pair = Consistent.of([[1, 0], [2], []])
    theta = Dictionary.of([[0], [1], [2], [-1]], [pair])
    assert theta.count(np.array([[0], [1], [2], [-1]], np.int32)).tolist() == [3, 2, 1, 4]
    assert theta.count_values(0).tolist() == [3, 2, 1]


def test_mean_similarity_of_a_record():
    alike = np.array([[1.0, 0.7], [0.7, 1.0]])
    theta = Dictionary.of(
        [[0, 0], [1, 0], [1, 1], [-1, 0], [-1, -1]], [Consistent.equal(0)] * 2, [alike, alike], 0.85
    )
    shown = np.array([[0, 0], [0, -1], [-1, -1]], np.int32)
    # (0, 0): equal row, mean 0.85, mean 0.7, one attribute alike, nothing known.
    assert theta.count(shown).tolist() == [4, 3, 5]


def test_basic_risks_to_the_digit():
    case = load("risk_basic")
    given, names = case["input"], case["input"]["attributes"]
    codes, (theta,) = code(given["records"], given["dictionary"])
    ids = [r[0] for r in given["records"]]
    table = np.array([[given["w_attribute_record"][i][a] for a in names] for i in ids])
    by_attribute = np.tile([given["w_attribute"][a] for a in names], (3, 1))
    by_record = np.tile([[given["w_record"][i]] for i in ids], (1, 3))
    pairs = tuple(
        (tuple(names.index(a) for a in pair.split("|")), np.full(3, w))
        for pair, w in given["w_pair"].items()
    )
    forms = {
        "phi1": Sensitivity(by_attribute),
        "phi2": Sensitivity(by_record),
        "phi3": Sensitivity(table),
        "phi4": Sensitivity(table, terms=pairs),
        "phi5": Sensitivity(table, "product"),
    }
    for rule, disclosed in given["rules"].items():
        wanted = case["expected"][rule]
        shown = np.array([[a in d for a in names] for d in disclosed]) & (codes >= 0)
        rho = theta.count(hide(codes, shown))
        assert rho.tolist() == wanted["rho_size"]
        for form, sensitivity in forms.items():
            phi = sensitivity.of(shown)
            assert phi == pytest.approx([p[form] for p in wanted["phi"]], abs=1e-12)
            assert risk_of(losses(rho, phi)) == pytest.approx(wanted["risk"][form], abs=1e-12)


@pytest.mark.parametrize("k", [1, 2])
def test_best_rules_to_the_digit(k):
    case = load("optimal_rules")
    given, names = case["input"], case["input"]["attributes"]
    titles = list(given["dictionaries"])
    codes, thetas = code(given["records"], *given["dictionaries"].values())
    weights = np.array(
        [[given["w_attribute_record"][r[0]][a] for a in names] for r in given["records"]]
    )
    phi5 = Sensitivity(weights, "product")
    wanted = case["expected"][f"k={k}"]
    assert count_rules(codes >= 0, "record", k) == wanted["number_of_rules"]
    prior = [given["prior"][t] for t in titles]
    asked = {f"known_{t}": ([d], (1.0,)) for t, d in zip(titles, thetas, strict=True)}
    asked |= {"bayes": (thetas, prior), "minimax": (thetas, None)}
    for name, (held, chances) in asked.items():
        rule = find_rule(codes, held, phi5, prior=chances, per="record", k=k)
        assert rule.proven
        assert rule.risk == pytest.approx(wanted[name]["risk"], abs=1e-12)
        assert [[a for a, s in zip(names, row, strict=True) if s] for row in rule.shown] == wanted[
            name
        ]["rule"]


def test_min_risk_on_a_dictionary_that_factorises():
    case = load("minrisk_independent")
    given, names = case["input"], case["input"]["attributes"]
    values = [
        [v for v, n in given["dictionary_marginals"][a].items() for _ in range(n)] for a in names
    ]
    rows = [("", *row) for row in itertools.product(*values)]
    codes, (theta,) = code(given["records"], rows)
    weights = np.array(
        [[given["w_attribute_record"][r[0]][a] for a in names] for r in given["records"]]
    )
    gamma = gammas(codes, theta, weights)
    for k in (1, 2):
        shown = select_smallest(gamma, codes >= 0, k)
        exact = theta.count(hide(codes, shown))
        loss = losses(exact, Sensitivity(weights, "product").of(shown))
        best = find_rule(
            codes, [theta], Sensitivity(weights, "product"), prior=None, per="record", k=k
        )
        for i, wanted in enumerate(case["expected"][f"k={k}"]):
            assert gamma[i] == pytest.approx([wanted["gamma"][a] for a in names], abs=1e-12)
            assert [a for a, s in zip(names, shown[i], strict=True) if s] == wanted["selected"]
            assert loss[i] == pytest.approx(wanted["loss"], abs=1e-12)
            assert best.shown[i].tolist() == shown[i].tolist()
        product = product_candidates(marginal_counts(codes, theta), shown, theta.n)
        assert departure(exact, product) < 1e-12


def test_a_value_that_matches_nobody_is_taken_first_and_ties_by_order():
    theta = dictionary([[0, 0, 0], [0, 0, 1]])
    codes = np.array([[0, 1, 0], [0, 0, -1], [0, 0, 0]], np.int32)
    gamma = gammas(codes, theta, np.ones((3, 3)))
    assert gamma[0, 1] == 0
    shown = select_smallest(gamma, codes >= 0, 1)
    assert shown.tolist() == [[False, True, False], [True, False, False], [True, False, False]]
    assert select_smallest(gamma, codes >= 0, 3)[1].tolist() == [True, True, False]


def test_bound_of_theorem_1_for_all_subsets():
    case = load("theorem1_bound")
    given, names = case["input"], case["input"]["attributes"]
    own, true = given["dictionary_estimated"], given["dictionary_true"]

    def columns(rows):
        return {c: [r[i] for r in rows] for i, c in enumerate(["id", *names])}

    assert precedes(columns(own), columns(true), "id").holds
    turned = precedes(columns(true), columns(own), "id")
    assert not turned.holds
    assert set(turned.absent) == {"p4", "p5"}
    assert set(turned.differ) == {"p1", "p2", "p3"}
    assert "p4" not in turned.sentence()
    codes, (theta_hat, theta) = code(given["records"], own, true)
    for title, wanted in case["expected"]["risks_by_disclosed_attributes"].items():
        shown = np.tile([a in title.split("+") for a in names], (3, 1))
        for held, name in ((theta_hat, "risk_estimated"), (theta, "risk_true")):
            rho = held.count(hide(codes, shown))
            assert risk_of(losses(rho, np.ones(3))) == pytest.approx(wanted[name], abs=1e-12)


def test_precedes_refuses_what_has_no_order():
    with pytest.raises(ValueError, match="holds an identifier twice"):
        precedes({"id": [1, 1]}, {"id": [1]}, "id")
    with pytest.raises(ValueError, match="second dictionary has no column"):
        precedes({"id": [1]}, {"name": [1]}, "id")


def test_k_anonymity_is_the_special_case():
    case = load("kanonymity_link")
    codes, (theta,) = code(case["input"]["table"], case["input"]["table"])
    one = Sensitivity(np.ones((5, 2)), "constant")
    for shown, name in (([True, True], "full"), ([False, True], "age_suppressed")):
        flags = np.tile(shown, (5, 1))
        loss = losses(theta.count(hide(codes, flags)), one.of(flags))
        assert loss == pytest.approx(case["expected"][f"loss_{name}"], abs=1e-12)


def test_sizes_of_rule_sets():
    for case in load("rule_set_sizes")["cases"]:
        n, m, k = case["n"], case["m"], case["k"]
        for name, per in (("Delta1", "total"), ("Delta2", "record"), ("Delta3", "attribute")):
            assert count_rules(np.ones((n, m), bool), per, k) == case["paper_formula"][name]
            assert (
                count_rules(np.ones((n, m - 1), bool), per, k) == case["identifier_excluded"][name]
            )


def test_nothing_is_lost_by_an_infinite_sensitivity_without_candidates():
    case = load("infinite_sensitivity")["input"]
    codes, (without, with_match) = code(
        [case["record"]], case["dictionary_without_match"], case["dictionary_with_match"]
    )
    secret = Sensitivity(np.array([[0.0, math.inf]]))
    all_of_it = np.ones((1, 2), bool)
    assert losses(without.count(codes), secret.of(all_of_it)) == [0]
    assert losses(with_match.count(codes), secret.of(all_of_it)) == [math.inf]
    hidden = np.array([[True, False]])
    assert losses(with_match.count(hide(codes, hidden)), secret.of(hidden)) == [0]


def brute_force(codes, thetas, sensitivity, prior, per, k):
    """The least risk over every rule of the set."""
    n, m = codes.shape
    cells = [(i, j) for i in range(n) for j in range(m) if codes[i, j] >= 0]
    best = math.inf
    for some in itertools.product([False, True], repeat=len(cells)):
        shown = np.zeros((n, m), bool)
        for (i, j), s in zip(cells, some, strict=True):
            shown[i, j] = s
        counts = {"record": shown.sum(1), "attribute": shown.sum(0), "total": shown.sum()}[per]
        if not np.all(counts == k):
            continue
        phi = sensitivity.of(shown)
        risks = [risk_of(losses(t.count(hide(codes, shown)), phi)) for t in thetas]
        best = min(best, max(risks) if prior is None else float(np.dot(prior, risks)))
    return best


@pytest.mark.parametrize("per", ["record", "total", "attribute"])
@pytest.mark.parametrize("prior", [None, (0.3, 0.7)])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_rule_is_better(per, prior, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (4, 3)).astype(np.int32)
    codes[0, 1] = -1
    thetas = [dictionary(rng.integers(-1, 3, (7, 3))) for _ in range(2)]
    phi = Sensitivity(rng.random((4, 3)), "product" if seed == 1 else "sum")
    for k in (1, 2):
        rule = find_rule(codes, thetas, phi, prior=prior, per=per, k=k)
        counts = {"record": rule.shown.sum(1), "attribute": rule.shown.sum(0)}.get(
            per, rule.shown.sum()
        )
        assert np.all(counts == k)
        assert not rule.shown[0, 1]
        assert rule.proven
        assert rule.risk == pytest.approx(brute_force(codes, thetas, phi, prior, per, k), abs=1e-9)


@pytest.mark.parametrize("per", ["record", "total", "attribute"])
@pytest.mark.parametrize("prior", [None, (0.5, 0.5)])
def test_heuristics_keep_to_the_set_and_their_bound_is_one(per, prior, monkeypatch):
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 4, (40, 4)).astype(np.int32)
    more = [rng.integers(0, 4, (30, 4)) for _ in range(2)]
    thetas = [dictionary(np.concatenate([codes, rows])) for rows in more]
    phi = Sensitivity(rng.random((40, 4)), "product")
    exact = find_rule(codes, thetas, phi, prior=prior, per=per, k=20 if per != "record" else 2)
    assert exact.proven
    limits = {"EXACT": 0} if prior is None or per == "attribute" else {"STEPS": 0}
    for more in (limits, limits | {"RELAXED": 0}):
        for name, value in more.items():
            monkeypatch.setattr(rules, name, value)
        rule = find_rule(codes, thetas, phi, prior=prior, per=per, k=20 if per != "record" else 2)
        counts = {"record": (1, 2), "attribute": (0, 20)}.get(per)
        shown = rule.shown.sum() if counts is None else rule.shown.sum(axis=counts[0])
        assert np.all(shown == (20 if counts is None else counts[1]))
        assert rule.bound <= exact.risk + 1e-9
        assert exact.risk - 1e-9 <= rule.risk <= exact.risk * 1.1


def test_infinite_losses_are_avoided_while_they_can_be():
    theta = dictionary([[0, 0], [0, 1]])
    codes = np.array([[0, 0], [0, 1]], np.int32)
    phi = Sensitivity(np.array([[math.inf, 1.0], [1.0, 1.0]]))
    for per, k in (("record", 1), ("total", 3), ("attribute", 1)):
        rule = find_rule(codes, [theta], phi, prior=None, per=per, k=k)
        assert not rule.shown[0, 0]
        assert math.isfinite(rule.risk)
    for per, k in (("record", 2), ("total", 4), ("attribute", 2)):
        rule = find_rule(codes, [theta], phi, prior=None, per=per, k=k)
        assert rule.risk == math.inf
        assert rule.shown.all()


def test_few_records_carry_the_loss():
    assert concentrate(np.array([5.0, 1, 1, 1, 1, 1]), 0.5) == 1
    assert concentrate(np.array([5.0, 1, 1, 1, 1, 1]), 0.9) == 5
    assert concentrate(np.zeros(4), 0.5) == 0
    assert concentrate(np.array([math.inf, 1.0]), 0.5) == 1


@pytest.mark.parametrize("per", ["record", "attribute"])
def test_small_risks_are_told_apart(per):
    """Solvers round at a millionth: weights of a billionth must not be rounded away."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (5, 3)).astype(np.int32)
    thetas = [dictionary(np.concatenate([codes, rng.integers(0, 3, (6, 3))])) for _ in range(2)]
    weights = rng.random((5, 3))
    large = find_rule(codes, thetas, Sensitivity(weights), prior=None, per=per, k=2)
    small = find_rule(codes, thetas, Sensitivity(1e-9 * weights), prior=None, per=per, k=2)
    assert small.risk == pytest.approx(1e-9 * large.risk, rel=1e-9, abs=0)
    assert small.proven
