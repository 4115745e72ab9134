"""Protection models against Sweeney's figures 13 and 15 to 17, and her examples of identifiers."""

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.engine.base import ROW
from tacit.records.register.k_map import average_k

CASES = [
    "identity_release",
    "de_identified",
    "complete_suppression",
    "strong_encryption",
    "generalised_year_zip4",
    "generalised_year_zip3",
    "unit_swap",
    "added_tuples",
]
COLUMNS = ["name", "birth", "zip", "diagnosis"]


def people(published, engine):
    figure = published("ads0_protection_models")["input"]
    everyone = figure["population_P"]
    register = tacit.read(
        pa.table(
            {
                "name": list(everyone),
                "birth": [birth for birth, _ in everyone.values()],
                "zip": [code for _, code in everyone.values()],
            }
        ),
        keys=["name", "birth", "zip"],
        hierarchies={
            "birth": tacit.hierarchy.dates("%m/%d/%y"),
            "zip": tacit.hierarchy.digits(5, mask=[1, 2]),
        },
        engine=engine,
    )
    subjects = figure["subjects_S"]
    original = tacit.read(
        pa.table(
            {
                "name": subjects,
                "birth": [everyone[s][0] for s in subjects],
                "zip": [everyone[s][1] for s in subjects],
                "diagnosis": [figure["diagnosis"][s] for s in subjects],
            }
        ),
        keys=["name", "birth", "zip"],
        engine=engine,
    )
    return original, register


def release(original, rows):
    """The released tuples with the record numbers of the original; added tuples get new ones."""
    numbers = original.to_arrow([], with_row=True).column(ROW).to_pylist()
    extra = range(max(numbers) + 1, max(numbers) + 1 + len(rows) - len(numbers))
    columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    return original.with_table(pa.table({**columns, ROW: pa.array([*numbers, *extra], pa.int64())}))


@pytest.mark.parametrize("case", CASES)
def test_eight_releases(case, published, engine):
    expected = published("ads0_protection_models")["expected"][case]
    original, register = people(published, engine)
    released = release(original, expected["released"])
    against = {"original": original, "register": register}
    k_map = tacit.KMap(subject="name").measure(released, **against)
    assert k_map.frame["candidates"].to_list() == [len(c) for c in expected["candidates"]]
    assert k_map.k == expected["k_map"]
    assert tacit.NullMap(subject="name").measure(released, **against).holds is expected["null_map"]
    assert (
        tacit.WrongMap(subject="name").measure(released, **against).holds is expected["wrong_map"]
    )
    ads0 = tacit.Ads0(subject="name").measure(released, **against)
    assert list(ads0.categories) == expected["property9"]
    assert ads0.holds is expected["ads0"]
    violated = [i for i, c in enumerate(expected["property9"]) if c == "violated"]
    assert list(ads0.violating) == violated


def test_all_eight_are_covered(published):
    assert set(CASES) == set(published("ads0_protection_models")["expected"])


def test_untrue_facts_satisfy_condition_c(published, engine):
    original, register = people(published, engine)
    rows = [
        list(r)
        for r in published("ads0_protection_models")["expected"]["identity_release"]["released"]
    ]
    rows[0][3], rows[1][3] = "cancer", "*"
    result = tacit.Ads0().measure(release(original, rows), original=original, register=register)
    assert result.categories == ("c", "c", "violated")


def test_gic_average_k(published):
    example = published("average_k")
    n, years = example["input"]["persons"], example["input"]["birth_years"]
    genders, days = example["input"]["genders"], example["input"]["days_per_year"]
    assert average_k(n, genders, years) == example["expected"]["average_k_year_gender"]
    assert average_k(n, ["f", "m"], years, days) == example["expected"]["average_k_date_gender"]


def test_figure_13_by_simulation(published):
    """The voter list is not public; a population of its size and age spread meets the bands."""
    figure = published("uniqueness_figure13")
    n = figure["published"]["n"]
    rng = np.random.default_rng(13)
    ages = 18 + rng.gamma(1.4, 17, 2 * n)
    birth = ages[ages <= 100][:n].astype(int) * 365 + rng.integers(0, 365, n)
    voters = tacit.read(
        {"birth": birth, "gender": (rng.random(n) < 0.53).astype(int)}, keys=["birth", "gender"]
    )
    result = tacit.Uniqueness(max_size=2).measure(voters)
    bands = figure["simulation"]["acceptance"]
    assert bands["birth"][0] <= result.share("birth") <= bands["birth"][1]
    assert bands["birth+gender"][0] <= result.share("gender", "birth") <= bands["birth+gender"][1]
    assert result.value == result.share("birth", "gender")


def register_of_contacts(engine):
    """Households share a telephone and an address; two people share a name, none all three."""
    return tacit.read(
        pa.table(
            {
                "name": ["Ann", "Abe", "Al", "Dan", "Don", "Ann"],
                "address": ["1 Elm", "1 Elm", "2 Oak", "2 Oak", "3 Ash", "4 Fir"],
                "phone": ["111", "111", "222", "222", "333", "444"],
                "email": ["a@x", "b@x", "c@x", "d@x", "e@x", "f@x"],
                "ssn": ["1", "2", "3", "4", "5", "6"],
            }
        ),
        engine=engine,
    )


def test_examples_of_identifiers(published, engine):
    examples = published("quasi_identifier_examples")
    sets = [tuple(s) for s in examples["explicit_identifiers"] + examples["quasi_not_explicit"]]
    # A telephone reaches a household: whom to ask for takes a name, and a number is no name.
    ways = [("email",), ("name", "address"), ("name", "phone")]
    measure = tacit.ExplicitIdentifier(sets=sets, contact=ways)
    result = measure.measure(register_of_contacts(engine))
    assert set(result.explicit) == {tuple(s) for s in examples["explicit_identifiers"]}
    assert set(result.quasi) == {tuple(s) for s in examples["quasi_not_explicit"]}


def test_weld_chain(published):
    chain = published("quasi_identifier_examples")["weld_chain"]
    people_ = {
        "birth": ["7/31/45"] * chain["same_birth_date"],
        "sex": ["m"] * chain["men_among_them"]
        + ["f"] * (chain["same_birth_date"] - chain["men_among_them"]),
        "zip": ["02138", "02139", "02140", "02138", "02139", "02139"],
    }
    everyone = tacit.read(people_, keys=["birth", "sex", "zip"])
    for keys, size in ((["birth"], 6), (["birth", "sex"], 3), (["birth", "sex", "zip"], 1)):
        known = tacit.read({k: people_[k][:1] for k in keys}, keys=keys)
        assert (
            tacit.KMap().measure(known, register=everyone).k
            == size
            == chain[{6: "same_birth_date", 3: "men_among_them", 1: "in_his_zip"}[size]]
        )
