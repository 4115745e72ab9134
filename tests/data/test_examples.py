"""The hospital example: its known answers, its shape, and its files."""

import collections
import datetime as dt

import pyarrow.compute as pc
import pytest
import yaml

import tacit
from tacit import examples
from tacit.examples import town

N, SEED = 3_000, 5


@pytest.fixture(scope="module")
def table():
    return town.patient_table(*town.draw(N, SEED))


@pytest.fixture(scope="module")
def facts():
    return examples.hospital_facts(N, SEED)


@pytest.fixture(scope="module")
def people():
    return town.register_table(town.draw(N, SEED)[0])


def triples(table):
    return list(zip(*(table.column(c).to_pylist() for c in ("sex", "birth", "zip")), strict=True))


def test_facts_by_brute_force(table, facts, people):
    ours, theirs = collections.Counter(triples(table)), collections.Counter(triples(people))
    assert facts.records == table.num_rows == N
    assert facts.residents == people.num_rows
    assert facts.classes == len(ours)
    assert facts.uniques == sum(ours[t] == 1 for t in triples(table))
    assert facts.register_uniques == sum(theirs[t] == 1 for t in triples(table))
    assert facts.diagnoses == {
        **dict.fromkeys(facts.diagnoses, 0),
        **collections.Counter(table.column("diagnosis").to_pylist()),
    }


def test_planted(table, facts):
    assert table.column("occupation").null_count == facts.missing_occupation == 120
    jobs = collections.Counter(table.column("occupation").to_pylist())
    assert jobs[town.RARE_TRADE] == facts.rare_trade == 3
    births = [b for b in table.column("birth").to_pylist() if b < "1925"]
    assert len(births) == len(set(births)) == facts.centenarians == 4
    cost = table.column("cost")
    assert pc.sum(pc.greater(cost, town.OUTLIER_COST)).as_py() == facts.outlier_costs
    assert pc.sum(pc.less(cost, town.COST_LIMIT)).as_py() == N - facts.outlier_costs


def test_every_patient_is_in_the_register(table, people):
    whole = set(zip(people.column("name").to_pylist(), triples(people), strict=True))
    assert set(zip(table.column("name").to_pylist(), triples(table), strict=True)) <= whole


def test_nobody_is_admitted_before_birth_or_outside_the_year(table):
    admission, birth = (table.column(c).to_pylist() for c in ("admission", "birth"))
    assert all(b <= a for a, b in zip(admission, birth, strict=True))
    assert {dt.date.fromisoformat(a).year for a in admission} == {town.YEAR}


def test_diagnoses_depend_on_age_and_sex(table):
    rows = table.select(["diagnosis", "sex", "birth"]).to_pylist()
    assert {r["sex"] for r in rows if r["diagnosis"] in ("O80", "O82")} == {"F"}
    assert {r["sex"] for r in rows if r["diagnosis"] == "C61"} == {"M"}
    years = {d: [int(r["birth"][:4]) for r in rows if r["diagnosis"] == d] for d in ("J21", "S72")}
    assert min(years["J21"]) > max(years["S72"])


def test_cost_follows_length_of_stay(table):
    days, cost = table.column("length_of_stay").to_numpy(), table.column("cost").to_numpy()
    assert (days >= 1).all()
    short, long = cost[days <= 2], cost[days >= 10]
    assert short.mean() < long.mean() / 2


def test_equal_seeds_give_equal_data():
    assert town.patient_table(*town.draw(200, 9)) == town.patient_table(*town.draw(200, 9))
    assert town.patient_table(*town.draw(200, 9)) != town.patient_table(*town.draw(200, 8))


@pytest.mark.parametrize(("n", "seed"), [(100, s) for s in range(5)] + [(1_001, 3)])
def test_planted_in_small_files(n, seed):
    facts, table = examples.hospital_facts(n, seed), town.patient_table(*town.draw(n, seed))
    assert table.column("occupation").to_pylist().count(town.RARE_TRADE) == facts.rare_trade
    assert sum(b < "1925" for b in table.column("birth").to_pylist()) == facts.centenarians
    assert (
        sum(c > town.OUTLIER_COST for c in table.column("cost").to_pylist()) == facts.outlier_costs
    )


def test_too_few_patients():
    with pytest.raises(tacit.errors.InputError, match="at least 100"):
        examples.hospital(n=99)


def test_default_size_known_answers():
    facts = examples.hospital_facts()
    assert (facts.records, facts.residents, facts.missing_occupation) == (25_000, 120_000, 1_000)
    assert facts.uniques / facts.records > 0.95


def test_tacit_agrees(engine, facts):
    data = examples.hospital(N, SEED, engine)
    assert data.identifiers == ("patient_id", "name")
    assert data.sensitive == ("diagnosis",)
    on_triple = tacit.read(data, keys=["sex", "birth", "zip"])
    measured = tacit.KAnonymity(k=2).measure(on_triple)
    assert measured.uniques == facts.uniques
    assert measured.summary()["classes"] == facts.classes


def test_datafly_keeps_something_useful():
    released = tacit.Datafly(k=5, max_drop=0.01).apply(examples.hospital())
    details = released.history[-1].details
    assert details["levels"] == {"sex": 0, "birth": 4, "zip": 2, "ethnicity": 0}
    assert details["dropped"] <= 250


def test_files(tmp_path, facts):
    plan = examples.write_hospital(tmp_path / "new", N, SEED)
    names = {
        "hospital.csv",
        "register.csv",
        "occupation.csv",
        "region.csv",
        "hospital.yaml",
        "hospital-strict.yaml",
    }
    assert {p.name for p in plan.parent.iterdir()} == names
    data = tacit.read(plan.parent / "hospital.csv")
    assert data.to_arrow().equals(town.patient_table(*town.draw(N, SEED)))
    for name in ("hospital.yaml", "hospital-strict.yaml"):
        loaded = yaml.safe_load((plan.parent / name).read_text())
        assert loaded["tacit"] == 1
        assert (plan.parent / loaded["source"]["path"]).exists()


def test_hierarchy_files_are_hierarchies(tmp_path):
    folder = examples.write_hospital(tmp_path, 100).parent
    for name, values in (
        ("region.csv", len(town.ZIPS)),
        ("occupation.csv", len(town.OCCUPATION_NAMES)),
    ):
        paths = [line.split(";") for line in (folder / name).read_text().splitlines()]
        assert len(tacit.Hierarchy.from_paths(paths)) == values


def test_register():
    people = examples.hospital_register(200, 2)
    assert len(people) == 960
    assert people.keys == ("sex", "birth", "zip")
