"""Every claim that tacit can make has a sentence of its own, with the numbers of the claim in it."""

import pytest

import tacit
from claims.test_guarantees import own_models
from tacit.claims import Claim
from tacit.report.words import CLAIM_NAMES, CLAIM_SENTENCES, claim_name, claim_sentence

PEOPLE = ("sex", "zip")
SENSITIVE = {"sensitive": "illness"}
#: A claim of each of the models on records that limit what can be learnt, and words that its sentence must hold.
TOLD = [
    ("weighted-k-anonymity", {"k": 50, "weight": "w"}, "sum to at least 50"),
    ("l-diversity", {"l": 3.0, "variant": "distinct"}, "at least 3 different values of illness"),
    ("l-diversity", {"l": 2.5, "variant": "entropy"}, "as mixed as 2.5 equally frequent"),
    ("l-diversity", {"l": 3.0, "variant": "recursive", "c": 2.0}, "less than 2 times"),
    ("l-diversity", {"l": 2.0, "variant": "recursive", "c": 4.0}, "all its other values together"),
    ("t-closeness", {"t": 0.2, "distance": "equal"}, "at most 0.2 from that of all"),
    ("t-closeness", {"t": 0.2, "distance": "ordered"}, "along the order"),
    ("t-closeness", {"t": 0.2, "distance": "hierarchical", "paths": {}}, "through the hierarchy"),
    ("beta-likeness", {"beta": 1.0, "variant": "basic"}, "more than 2 times as frequent"),
    ("beta-likeness", {"beta": 1.0, "variant": "enhanced"}, "the limit is lower"),
    ("delta-disclosure", {"delta": 1.0, "absent": "violates"}, "every value of illness is less"),
    ("delta-disclosure", {"delta": 2.0, "absent": "ignored"}, "that occurs is less than 4 times"),
    ("bounded-share", {"alpha": 0.5}, "more than 0.5 of the class"),
    ("bounded-share", {"alpha": 0.5, "values": ["x"]}, "named as sensitive"),
    ("lkc-privacy", {"known": 2, "k": 5, "confidence": 0.6}, "at least 5 records"),
    ("lkc-privacy", {"known": 2, "k": 5, "confidence": 0.6, "k_weight": "w"}, "weights that sum"),
    ("attack-risk", {"attacker": "prosecutor", "highest": 0.05}, "above 0.05"),
    (
        "attack-risk",
        {"attacker": "marketer", "average": 0.1, "at_risk": 0.02, "threshold": 0.2},
        "at most 0.1 and at most 0.02 of the records are found with a probability above 0.2",
    ),
    (
        "population-uniques",
        {"population": 12000, "threshold": 0.01, "estimate": "dankar"},
        "at most 0.01 of the 12,000 people",
    ),
    ("k-map", {"k": 20, "people": {}}, "at least 20 people of the population register"),
    ("delta-presence", {"delta_min": 0.0, "delta_max": 0.5}, "a probability of at most 0.5."),
    ("delta-presence", {"delta_min": 0.1, "delta_max": 0.5}, "at most 0.5 and at least 0.1."),
    ("zcdp", {"rho": 0.1, "unit": "record", "members": 1}, "rho = 0.1 for every record"),
    ("zcdp", {"rho": 0.1, "unit": "household", "members": 4}, "household of up to 4 records"),
    ("regression-output", {"residual_df": 10}, "at least 10 residual degrees"),
    ("disclosed-cells", {"k": 3, "per": "record"}, "no record shows more than 3"),
    ("disclosed-cells", {"k": 30, "per": "attribute"}, "no column shows more than 30"),
    ("disclosed-cells", {"k": 300, "per": "total"}, "whole file does not show more than 300"),
]


def test_every_model_has_a_name_and_a_sentence():
    assert own_models() <= CLAIM_NAMES.keys() == CLAIM_SENTENCES.keys()


@pytest.mark.parametrize(("model", "parameters", "words"), TOLD, ids=lambda v: str(v)[:40])
def test_sentences_tell_the_numbers(model, parameters, words):
    claim = Claim(model, parameters | SENSITIVE, "people", PEOPLE)
    sentence = claim_sentence(claim)
    assert words in sentence
    assert "sex and zip" in sentence
    assert sentence.endswith(".")
    assert "{" not in claim_name(claim)


def test_what_is_withheld_is_not_told():
    """The loss and the dictionaries are for the ledger, and reports are read by others."""
    claim = Claim(
        "decision-risk",
        {"risks": {"d": 0.1234}, "weights": [0.77], "dictionaries": {"d": {"sex": ["f"]}}},
        "attributes",
        PEOPLE,
        withheld=("risks", "weights", "dictionaries"),
    )
    told = claim_sentence(claim) + claim_name(claim)
    assert not any(secret in told for secret in ("0.1234", "0.77"))


def test_the_head_box_tells_the_sentence(tmp_path):
    data = tacit.read(
        {"sex": ["f", "m"] * 6, "illness": ["a", "a", "b", "b"] * 3},
        keys=["sex"],
        sensitive=["illness"],
        hierarchies={"sex": tacit.hierarchy.flat()},
    )
    plan = tacit.Plan(
        [tacit.Anonymise(models=[tacit.KAnonymity(k=2), tacit.LDiversity(l=2)])],
    )
    target = plan.run(data, seed=1).write(tmp_path / "out")
    report = (target / "report.html").read_text(encoding="utf-8")
    assert "at least 2 different values of illness occur" in report
    assert "variant = distinct" not in report
