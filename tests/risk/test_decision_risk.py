"""DecisionRisk: dictionaries, sensitivities, bounds and refusals as users meet them."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.errors import InputError, InvalidParameter, SdcError, WeakProtection
from tacit.records.decision.sensitivity import OWN_SENSITIVITIES
from tacit.risk import assumptions_of_kanonymity, name_sensitivity

CASES = Path(__file__).parents[1] / "fixtures" / "psd19-beyond-k-anonymity"


def load(name):
    return json.loads((CASES / f"{name}.json").read_text())


def columns(rows, names):
    return {c: [r[i] for r in rows] for i, c in enumerate(["id", *names])}


def test_basic_case_through_files_columns_and_register(tmp_path):
    case = load("risk_basic")
    given, names = case["input"], case["input"]["attributes"]
    weights = {
        f"w_{a}": [given["w_attribute_record"][r[0]][a] for r in given["records"]] for a in names
    }
    people = columns(given["records"], names) | weights
    people["w"] = [given["w_record"][r[0]] for r in given["records"]]
    book = columns(given["dictionary"], names)
    data = tacit.read(people, identifiers=["id"], keys=names)
    by_record = {"weight_columns": {a: f"w_{a}" for a in names}}
    pairs = [{"columns": p.split("|"), "weight": w} for p, w in given["w_pair"].items()]
    forms = {
        "phi1": {"weights": given["w_attribute"]},
        "phi2": {"record_weight": "w"},
        "phi3": by_record,
        "phi4": {**by_record, "interactions": pairs},
        "phi5": by_record,
    }
    wanted = case["expected"]["full"]
    register = tacit.read(book, keys=names)
    for form, more in forms.items():
        spec = tacit.DecisionRisk(sensitivity=form, **more)
        result = spec.measure(data, register=register)
        assert result.value == pytest.approx(wanted["risk"][form], abs=1e-12)
        assert result.frame.get_column("candidates").to_list() == wanted["rho_size"]
        assert result.frame.get_column("sensitivity").to_list() == pytest.approx(
            [p[form] for p in wanted["phi"]], abs=1e-12
        )
    path = tmp_path / "book.parquet"
    pq.write_table(pa.table(book), path)
    for held in (book, str(path)):
        spec = tacit.DecisionRisk(sensitivity="phi5", dictionaries={"book": held}, **by_record)
        assert spec.measure(data).value == pytest.approx(wanted["risk"]["phi5"], abs=1e-12)


def test_sensitive_values_weigh_but_nobody_is_taken_to_know_them():
    people = {"sex": ["f", "f", "m"], "disease": ["flu", "gout", "flu"]}
    data = tacit.read(people, keys=["sex"], sensitive=["disease"])
    result = tacit.DecisionRisk(sensitivity="phi1", weights={"disease": 5}).measure(data)
    assert result.frame.get_column("candidates").to_list() == [2, 2, 1]
    assert result.frame.get_column("loss").to_list() == [3, 3, 6]
    known = tacit.DecisionRisk(sensitivity="phi1").measure(data, register=data)
    assert known.frame.get_column("candidates").to_list() == [1, 1, 1]
    with pytest.raises(InputError, match="all attributes are sensitive"):
        tacit.DecisionRisk(columns=["disease"]).measure(data)


def test_weights_that_were_not_released_come_from_the_original():
    original = tacit.read({"a": ["x", "y"], "w": [1.0, 3.0]}, keys=["a"])
    spec = tacit.DecisionRisk(sensitivity="phi2", record_weight="w")
    assert spec.measure(original.drop(["w"]), original=original).value == 2.0
    with pytest.raises(InputError, match="w"):
        spec.measure(original.drop(["w"]))


def test_prior_worst_and_sample():
    data = tacit.read({"a": ["x", "y"]}, keys=["a"])
    held = {"one": {"a": ["x", "y"]}, "two": {"a": ["x", "x", "y", "y"]}}

    def run(**more):
        return tacit.DecisionRisk(sensitivity="constant", dictionaries=held, **more).measure(data)

    assert run().value == 1.0
    assert run().risks == {"one": 1.0, "two": 0.5}
    assert run(prior={"one": 0.2, "two": 0.8}).value == pytest.approx(0.6)
    sampled = run(prior="sampled")
    assert sampled.value == 0.75
    assert sampled.numbers["standard error"] == pytest.approx(0.25)
    assert sampled.assumptions["dictionary"].startswith("several")


def test_infinite_weights():
    case = load("infinite_sensitivity")
    given = case["input"]
    names = given["attributes"]
    data = tacit.read(columns([given["record"]], names), keys=names)
    for title in ("without_match", "with_match"):
        spec = tacit.DecisionRisk(
            sensitivity="phi1",
            weights={"first": 0, "diagnosis": "inf"},
            dictionaries={"d": columns(given[f"dictionary_{title}"], names)},
        )
        result = spec.measure(data)
        assert result.value == float(case["expected"][f"risk_{title}"])
        assert result.plot().alt
        assert type(spec)(**{k: v for k, v in spec.to_dict().items() if k != "kind"}) == spec


def test_generalised_values_agree_with_what_stands_below_them():
    rules = {"zip": tacit.hierarchy.digits(5)}
    book = {"zip": ["02138", "02139", "02139", "02141", None]}
    data = tacit.read({"zip": ["02138", "02141"]}, keys=["zip"], hierarchies=rules)
    register = tacit.read(book, keys=["zip"], hierarchies=rules)
    spec = tacit.DecisionRisk(sensitivity="constant")

    def count(released, measure=spec, **other):
        return measure.measure(released, **other).frame.get_column("candidates").to_list()

    assert count(data, register=register) == [2, 2]
    assert count(data.generalise("zip", 1), register=register) == [4, 2]
    assert count(data.generalise("zip", 5), register=register) == [5, 5]
    given = tacit.DecisionRisk(sensitivity="constant", dictionaries={"d": book})
    assert count(data, given) == [2, 2]
    assert count(data.generalise("zip", 5), given) == [5, 5]
    # Of 02139, which is not in the data, their hierarchy does not know that it stands below 0213*.
    with pytest.raises(InputError, match="1 of the different values in column 'zip'") as caught:
        count(data.generalise("zip", 1), given)
    assert "02139" not in str(caught.value)
    coarse = tacit.DecisionRisk(dictionaries={"d": {"zip": ["0213*", "0214*"]}})
    assert count(data, coarse) == [1, 1]


def test_recoded_values_agree_with_what_they_were_made_from():
    original = tacit.read({"age": [31, 35, 42, 48, 42], "zip": list("aabba")}, keys=["age", "zip"])
    released = tacit.Recode(column="age", breaks=(40,)).apply(original)
    spec = tacit.DecisionRisk(sensitivity="constant")

    def count(**other):
        return spec.measure(released, **other).frame.get_column("candidates").to_list()

    assert count(original=original) == [2, 2, 2, 2, 1]
    # 49 is in nobody's file, so nobody can say that it was made into the same label.
    register = tacit.read({"age": [31, 31, 42, 49], "zip": list("aabb")}, keys=["age", "zip"])
    assert count(original=original, register=register) == [2, 2, 1, 1, 0]
    assert count(register=register) == [0] * 5
    by_mean = tacit.DecisionRisk(sensitivity="constant", consistency="jaro", level="record")
    result = by_mean.measure(released, original=original)
    assert result.frame.get_column("candidates").to_list() == [2, 2, 2, 2, 1]


def test_a_value_that_became_several_others_is_compared_as_it_stands():
    original = tacit.read({"sex": ["f", "f", "m", "m"]}, keys=["sex"])
    released = original.replace({"sex": np.array(["f", "m", "m", "m"])})
    result = tacit.DecisionRisk(sensitivity="constant").measure(released, original=original)
    assert result.frame.get_column("candidates").to_list() == [2, 2, 2, 2]


def test_numbers_and_texts_are_the_same_value():
    data = tacit.read({"age": [7, 8]}, keys=["age"])
    spec = tacit.DecisionRisk(sensitivity="constant", dictionaries={"d": {"age": ["7", "7", "8"]}})
    assert spec.measure(data).frame.get_column("candidates").to_list() == [2, 1]


def test_similar_texts_are_candidates():
    for case in load("jaro")["cases"]:
        data = tacit.read({"name": [case["a"]], "age": [3]}, keys=["name", "age"])
        held = {"d": {"name": [case["b"], case["b"], None], "age": [3, 4, 4]}}
        spec = tacit.DecisionRisk(consistency="jaro", dictionaries=held)
        expected = int(case["consistent_at_0.80"])
        assert spec.measure(data).frame.get_column("candidates").to_list() == [expected]
        at_value = tacit.DecisionRisk(
            consistency="jaro", dictionaries=held, threshold=max(case["similarity"], 0.01)
        )
        assert at_value.measure(data).frame.get_column("candidates").to_list() == [
            int(case["similarity"] > 0)
        ]
        mean = tacit.DecisionRisk(
            consistency="jaro",
            dictionaries=held,
            level="record",
            threshold=(1 + case["similarity"]) / 2,
        )
        assert mean.measure(data).frame.get_column("candidates").to_list() == [1]


def test_the_original_bounds_the_risk_where_it_precedes():
    case = load("theorem1_bound")
    given, names = case["input"], case["input"]["attributes"]
    original = tacit.read(columns(given["records"], names), identifiers=["id"], keys=names)
    true = columns(given["dictionary_true"], names)
    released = original.drop(["id"])
    spec = tacit.DecisionRisk(sensitivity="constant", identifier="id", dictionaries={"true": true})
    result = spec.measure(released, original=original)
    assert result.certificates["true"].holds
    assert result.numbers["bound certified"]
    assert result.numbers["risk against the original"] >= result.value
    fewer = {c: v[1:] for c, v in true.items()}
    failed = tacit.DecisionRisk(
        sensitivity="constant", identifier="id", dictionaries={"true": fewer}
    ).measure(released, original=original)
    assert not failed.numbers["bound certified"]
    assert failed.certificates["true"].absent == ("p1",)
    assert "p1" not in repr(failed)
    assert "p1" not in json.dumps(failed.to_dict())
    with pytest.raises(InputError, match="pass original="):
        spec.measure(released)
    twice = {c: [*v, v[0]] for c, v in true.items()}
    with pytest.raises(InputError, match="holds a person twice"):
        tacit.DecisionRisk(identifier="id", dictionaries={"t": twice}).measure(
            released, original=original
        )


def test_k_anonymity_is_the_special_case():
    case = load("kanonymity_link")
    names = case["input"]["attributes"]
    data = tacit.read(columns(case["input"]["table"], names), identifiers=["id"], keys=names)
    result = tacit.DecisionRisk(sensitivity="constant", k=3).measure(data)
    assert result.frame.get_column("loss").to_list() == pytest.approx(
        case["expected"]["loss_full"], abs=1e-12
    )
    assert result.violating(3).tolist() == [3, 4]
    assert result.violating(2).tolist() == []
    assert result.numbers["records with fewer than 3 candidates"] == 2
    assert result.assumptions["dictionary"] == assumptions_of_kanonymity()["dictionary"].replace(
        "table", "file"
    )


def test_a_sensitivity_of_ones_own():
    @name_sensitivity("worst")
    def worst(shown, weights):
        return np.where(shown, weights, 0).max(axis=1)

    try:
        data = tacit.read({"a": ["x", None], "b": ["y", "y"]}, keys=["a", "b"])
        spec = tacit.DecisionRisk(sensitivity="worst", weights={"a": 5, "b": 2})
        assert spec.measure(data).frame.get_column("sensitivity").to_list() == [5, 2]
    finally:
        del OWN_SENSITIVITIES["worst"]
    with pytest.raises(InputError, match="there is no sensitivity 'worst'"):
        spec.measure(data)


def test_an_empty_dictionary_is_warned_of():
    data = tacit.read({"a": ["x", "y"]}, keys=["a"])
    for held in ({}, {"a": []}):
        with pytest.warns(WeakProtection, match="is empty"):
            result = tacit.DecisionRisk(dictionaries={"d": held}).measure(data)
        assert result.value == 0
        assert result.numbers["records without candidates"] == 2


def test_a_cap_is_told_when_it_is_missed():
    data = tacit.read({"a": ["x", "y"]}, keys=["a"])
    assert (
        "at most 0.5"
        in tacit.DecisionRisk(sensitivity="constant", at_most=0.5).measure(data).shortfall
    )
    assert not tacit.DecisionRisk(sensitivity="constant", at_most=1).measure(data).shortfall


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"weights": {"a": -1}}, "a weight is a number from 0 up"),
        ({"weights": {"a": math.nan}}, "a weight is a number from 0 up"),
        ({"prior": {"d": 0.5}, "dictionaries": {"d": {"a": [1]}}}, "prior must sum to 1"),
        ({"prior": {"e": 1}, "dictionaries": {"d": {"a": [1]}}}, "prior must name"),
        ({"prior": "sampled"}, "two or more dictionaries"),
        ({"threshold": 0}, "threshold must be greater than 0"),
        ({"sensitivity": "phi2"}, "needs record_weight"),
        ({"sensitivity": "phi4"}, "needs interactions"),
        ({"sensitivity": "phi1", "record_weight": "a"}, "does not go with"),
        ({"interactions": [{"columns": ["a"], "weight": 1}]}, "two or more different columns"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(parameters, said):
    with pytest.raises(InvalidParameter, match=said):
        tacit.DecisionRisk(**parameters)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"weights": {"c": 1}}, "'c'"),
        ({"sensitivity": "phi9"}, "there is no sensitivity 'phi9'"),
        ({"dictionaries": {"d": {"z": ["secret"]}}}, "has none of the attributes"),
        ({"dictionaries": {"d": {"a": ["x"], "b": []}}}, "differ in length"),
        ({"dictionaries": {"d": "nowhere.csv"}}, "nowhere.csv"),
        ({"weights": {"a": 800}}, "too much for the exponential"),
        ({"record_weight": "b"}, "does not hold numbers"),
        ({"record_weight": "n"}, "missing or negative"),
        ({"identifier": "a"}, "pass original="),
    ],
)
def test_bad_input_is_refused_in_a_sentence(parameters, said):
    data = tacit.read({"a": ["x", "y"], "b": ["p", "q"], "n": [-1.0, None]}, keys=["a"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(SdcError, match=said) as caught:
            tacit.DecisionRisk(**parameters).measure(data)
    assert "secret" not in str(caught.value)


def test_attributes_are_needed():
    with pytest.raises(InputError, match="declare keys"):
        tacit.DecisionRisk().measure(tacit.read({"a": [1]}))


def test_a_person_column_that_is_also_an_attribute_is_refused_in_a_sentence():
    data = tacit.read({"a": list("xyzx"), "b": list("uuvv")}, keys=["a", "b"])
    with pytest.raises(InputError, match="identifier 'a' is among the attributes"):
        tacit.DecisionRisk(identifier="a").measure(data, original=data, register=data)
