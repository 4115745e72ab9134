"""k-map and delta-presence as models of Anonymise: every node against plain Python, claims, plan and shell."""

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from tests.protect.test_anonymise import TREES, draw, every_node, judge, label, loss, read

import tacit
from tacit.errors import ColumnNotFound, Infeasible, InputError, PlanError


def population(table, seed, more):
    """Return a register: the people of the table and some others."""
    rng = np.random.default_rng(seed)
    drawn = {k: [list(TREES[k])[i] for i in rng.integers(0, len(TREES[k]), more)] for k in TREES}
    return {k: [*table[k], *drawn[k]] for k in TREES}


def members(people, levels):
    rows = zip(*(people[k] for k in TREES), strict=True)
    return Counter(
        tuple(label(k, v, levels[k]) for k, v in zip(TREES, row, strict=True)) for row in rows
    )


def compare(spec, table, people, passes, limit, whole=None):
    """Judge every node by ``passes(f, F)`` and, all register classes together, ``whole``."""
    data, register = read(table), read(people)
    nodes = []
    for levels in every_node():
        found = members(people, levels)

        def of(rows, levels=levels, found=found):
            return found[tuple(label(k, table[k][rows[0]], levels[k]) for k in TREES)]

        def ok(rows, released, of=of):
            return passes(len(rows), of(rows))

        safe, cost, gone = judge(table, levels, ok, limit, loss)
        if whole is not None:
            # A class that is suppressed leaves its people with presence 0: nothing may be suppressed.
            mine = Counter(
                tuple(label(k, table[k][i], levels[k]) for k in TREES)
                for i in range(len(table["a"]))
            )
            if gone or not all(whole(mine[c], n) for c, n in found.items()):
                safe, cost, gone = False, 1.0, len(table["a"])
        nodes.append((levels, safe, cost, gone))
    able = [n for n in nodes if n[1]]
    if not able:
        with pytest.raises(Infeasible):
            spec.search(data, register=register)
        return False
    lattice = spec.search(data, register=register)
    assert lattice.proven
    assert lattice.best.value == pytest.approx(min(n[2] for n in able))
    assert lattice.n_safe == len(able)
    for levels, safe, cost, gone in nodes:
        node = lattice.at(levels)
        assert (node.safe, node.suppressed) == (safe, gone)
        assert node.value == pytest.approx(cost)
    released = spec.apply(data, seed=1, register=register)
    assert released.history[-1].details["register"] == tacit.data.fingerprint.fingerprint(register)
    assert all(claim.holds(released.claim_view()) for claim in released.history[-1].claims)
    return True


@pytest.mark.parametrize("seed", range(6))
def test_finds_the_optimum_for_k_map(seed):
    table = draw(seed, n=25)
    people = population(table, seed + 100, 40)
    for k, limit in ((3, 0.0), (4, 0.2)):
        spec = tacit.Anonymise(models=[tacit.KMap(k=k)], suppression=limit)
        assert compare(spec, table, people, lambda f, many, k=k: many >= k, limit)


@pytest.mark.parametrize("seed", range(6))
def test_finds_the_optimum_for_delta_presence(seed):
    table = draw(seed, n=25)
    people = population(table, seed + 100, 40)
    for most, limit in ((0.5, 0.0), (0.4, 0.3)):
        spec = tacit.Anonymise(models=[tacit.DeltaPresence(delta_max=most)], suppression=limit)
        compare(
            spec,
            table,
            people,
            lambda f, many, m=most: Fraction(f, many) <= Fraction(str(m)),
            limit,
        )


@pytest.mark.parametrize("seed", range(6))
def test_nobody_may_be_known_to_be_absent(seed):
    table = draw(seed, n=25)
    people = population(table, seed + 100, 40)
    model = tacit.DeltaPresence(delta_min=0.2, delta_max=0.7)
    for limit in (0.0, 0.5, 1.0):
        spec = tacit.Anonymise(models=[model], suppression=limit)
        compare(
            spec,
            table,
            people,
            lambda f, many: Fraction(f, many) <= Fraction(7, 10),
            limit,
            whole=lambda f, many: Fraction(f, many) >= Fraction(1, 5),
        )


def test_the_models_agree_with_the_measures_on_the_release():
    table = draw(3, n=40)
    data, register = read(table), read(population(table, 9, 80))
    models = [tacit.KMap(k=6), tacit.DeltaPresence(delta_max=0.6), tacit.KAnonymity(k=2)]
    released = tacit.Anonymise(models=models, suppression=0.3).apply(data, register=register)
    assert tacit.KMap(k=6).measure(released, original=data, register=register).holds
    assert tacit.DeltaPresence(delta_max=0.6).measure(released, register=register).largest <= 0.6
    assert [c.model for c in released.history[-1].claims] == [
        "k-map",
        "delta-presence",
        "k-anonymity",
    ]


def test_people_of_other_values_climb_by_their_own_hierarchy():
    rule = tacit.hierarchy.intervals([10, 100])
    data = tacit.read({"age": [21, 22, 25, 31]}, keys=["age"], hierarchies={"age": rule})
    register = tacit.read(
        {"age": [21, 22, 23, 25, 28, 31, 33, 47, 47, 47]}, keys=["age"], hierarchies={"age": rule}
    )
    lattice = tacit.Anonymise(models=[tacit.KMap(k=2)]).search(data, register=register)
    assert lattice.best.levels == {"age": 1}
    assert (
        not tacit.Anonymise(models=[tacit.KMap(k=3)]).search(data, register=register).at([1]).safe
    )
    bare = tacit.read({"age": [21, 47]}, keys=["age"])
    with pytest.raises(
        InputError, match="does not cover 1 of the 2 different values in the register"
    ):
        tacit.Anonymise(models=[tacit.KMap(k=2)]).search(data, register=bare)


def test_a_missing_key_of_the_data_is_no_candidate_too_many():
    table = draw(5, n=30, nulls=True)
    people = population(draw(5, n=30), 7, 60)
    data, register = read(table), read(people)
    released = tacit.Anonymise(models=[tacit.KMap(k=3)], suppression=0.5).apply(
        data, register=register
    )
    assert tacit.KMap(k=3).measure(released, register=register).numbers["fewest candidates"] >= 3


def test_mistakes_get_one_sentence():
    table = draw(1, n=20)
    data, register = read(table), read(population(table, 1, 20))
    with pytest.raises(InputError, match="k_map counts the people of a population register"):
        tacit.Anonymise(models=[tacit.KMap(k=2)]).apply(data)
    with pytest.raises(InputError, match="leave out subject="):
        tacit.Anonymise(models=[tacit.KMap(k=2, subject="s")]).search(data, register=register)
    with pytest.raises(ColumnNotFound, match="the register"):
        tacit.Anonymise(models=[tacit.KMap(k=2)]).search(data, register=register.drop(["a"]))
    spec = tacit.Anonymise(models=[tacit.DeltaPresence(delta_max=0.5)])
    nulls, part = (
        read(draw(1, n=20, nulls=True)),
        tacit.Generalise(columns=["a"], level=1).apply(data),
    )
    with pytest.raises(InputError, match="has missing values, which could be anybody"):
        spec.search(nulls, register=register)
    with pytest.raises(InputError, match="generalised in part already"):
        spec.search(part, register=register)
    with pytest.raises(InputError, match="Use anonymise for them"):
        tacit.LocalRecode(models=[tacit.KMap(k=2)]).apply(data)
    with pytest.raises(InputError, match="with register= works on microdata"):
        tacit.Anonymise(models=[tacit.KMap(k=2)]).apply(data, register=table)


def test_a_false_claim_is_found_out():
    table = draw(3, n=40)
    data, register = read(table), read(population(table, 9, 80))
    models = [tacit.KMap(k=6), tacit.DeltaPresence(delta_min=0.01, delta_max=0.6)]
    released = tacit.Anonymise(models=models).apply(data, register=register)
    for claim in released.history[-1].claims:
        assert claim.holds(released.claim_view())
        assert not claim.holds(data.claim_view())
        public = claim.to_dict(public=True)
        assert "people" not in public["parameters"]
        assert public["withheld"] == ["people"]


def test_plan_release_and_verification(tmp_path):
    rng = np.random.default_rng(4)
    towns = ["02138", "02139", "02141", "10115"]
    people = {
        "zip": [towns[i] for i in rng.integers(0, 4, 400)],
        "age": [int(v) for v in rng.integers(20, 40, 400)],
    }
    sample = {k: v[:120] for k, v in people.items()} | {"s": ["x", "y"] * 60}
    for name, table in (("people", people), ("sample", sample)):
        csv.write_csv(pa.table(table), tmp_path / f"{name}.csv")
    plan = {
        "source": {"path": "sample.csv", "types": {"zip": "text"}},
        "register": {"path": "people.csv", "types": {"zip": "text"}},
        "roles": {"keys": ["zip", "age"], "sensitive": ["s"]},
        "hierarchies": {
            "zip": {"kind": "prefix", "lengths": [3, 1, 1]},
            "age": {"kind": "intervals", "width": [5, 10]},
        },
        "steps": [
            {
                "kind": "anonymise",
                "models": [{"kind": "k_map", "k": 8}, {"kind": "delta_presence", "delta_max": 0.6}],
                "suppression": 0.1,
            },
        ],
        "output": {"folder": "out"},
    }
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    loaded = tacit.Plan.load(file)
    assert loaded.faults() == []
    release = loaded.run(seed=3)
    release.write(tmp_path / "out")
    found = tacit.verify(tmp_path / "out")
    assert found, repr(found)
    assert "register is the one used" in repr(found)
    public = "".join(
        f.read_text()
        for f in sorted((tmp_path / "out").rglob("*"))
        if f.suffix in (".json", ".md", ".yaml")
    )
    assert str(tmp_path) not in public
    assert release.ledger.entries[0].details["register"] not in public
    file.write_text(json.dumps({k: v for k, v in plan.items() if k != "register"}))
    with pytest.raises(PlanError, match="it needs a population register"):
        tacit.Plan.load(file).run()
