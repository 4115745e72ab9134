"""Proposed roles: from names, types, values and counts; the same on every engine."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.data.profiling.profile import ProfileResult, profile, starting_plan, words_of

N = 400


@pytest.fixture
def hospital():
    rng = np.random.default_rng(3)
    day = dt.date(1930, 1, 1)
    return pa.table(
        {
            "patientId": [f"p{i:05d}" for i in range(N)],
            "contact": [f"person{i}@example.org" for i in range(N)],
            "reg": np.arange(N) * 7 + 100000,
            "hh_id": rng.integers(0, 150, N),
            "Age": np.where(rng.random(N) < 0.05, 999, rng.integers(0, 95, N)),
            "sex": rng.choice(["m", "f", "unknown"], N),
            "ZIP": [f"{z:05d}" for z in rng.integers(2100, 2200, N)],
            "seen_on": [
                (day + dt.timedelta(days=int(d))).strftime("%d.%m.%Y")
                for d in rng.integers(0, 9000, N)
            ],
            "born": pa.array([day + dt.timedelta(days=int(d)) for d in rng.integers(0, 9000, N)]),
            "diagnosis": rng.choice(["a", "b", "NA", "d"], N),
            "sampling_weight": rng.random(N) + 1,
            "other_weight": rng.random(N) + 1,
            "floor": rng.integers(1, 9, N),
            "reading": rng.normal(size=N),
            "same": ["x"] * N,
            "nothing": pa.nulls(N, pa.string()),
        }
    )


def test_roles_are_proposed(hospital, engine):
    found = profile(tacit.read(hospital, engine=engine))
    assert isinstance(found, ProfileResult)
    assert dict(found.roles) == {
        "identifiers": ["patientId", "contact", "reg"],
        "keys": ["Age", "sex", "ZIP", "seen_on", "born"],
        "sensitive": ["diagnosis"],
        "weight": "sampling_weight",
        "household": "hh_id",
    }
    assert found.hierarchies == {
        "Age": {"kind": "intervals", "width": 5, "levels": 3},
        "sex": {"kind": "flat"},
        "ZIP": {"kind": "digits", "length": 5},
        "seen_on": {"kind": "dates", "format": "%d.%m.%Y"},
        "born": {"kind": "dates"},
    }
    by_name = {c.name: c for c in found.columns}
    assert by_name["Age"].missing_codes == (999,)
    assert by_name["sex"].missing_codes == ("unknown",)
    assert by_name["diagnosis"].missing_codes == ("NA",)
    assert by_name["floor"].missing_codes == ()
    assert (by_name["floor"].role, by_name["floor"].confidence) == ("keys", "low")
    assert by_name["reading"].role == by_name["same"].role == by_name["nothing"].role == "free"
    assert by_name["nothing"].missing == N
    assert by_name["patientId"].uniqueness == 1.0


def test_uniques_of_all_subsets_against_counting(hospital):
    found = profile(tacit.read(hospital))
    keys = found.roles["keys"]
    assert len(found.uniques) == 2 ** len(keys) - 1
    rows = hospital.to_pylist()
    for subset, share in found.uniques.items():
        tuples = [tuple(r[k] for k in subset) for r in rows]
        counts = dict.fromkeys(tuples, 0)
        for t in tuples:
            counts[t] += 1
        assert share == sum(counts[t] == 1 for t in tuples) / N
    assert found.value == max(found.uniques.values())
    assert found.plot().spec["data"]["values"]


def test_the_proposal_can_be_read_and_planned(hospital, tmp_path):
    from tacit.io import write

    path = write(tacit.read(hospital), tmp_path / "hospital.csv")
    found = profile(tacit.read(path))
    plan = starting_plan(found, path)
    assert list(plan) == [
        "tacit",
        "source",
        "roles",
        "hierarchies",
        "steps",
        "measures",
        "output",
        "engine",
    ]
    assert plan["source"] == {"path": str(path), "missing": ["NA", "unknown"]}
    data = tacit.read(
        plan["source"].pop("path"),
        **plan["source"],
        **plan["roles"],
        hierarchies=plan["hierarchies"],
    )
    assert data.keys == ("Age", "sex", "ZIP", "seen_on", "born")
    assert set(data.hierarchies) == set(data.keys)


def test_figure_28(fig28):
    bare = tacit.read(fig28.to_arrow())
    found = profile(bare)
    assert dict(found.roles) == {
        "identifiers": ["SSN"],
        "keys": ["Ethnicity", "Birth", "Sex", "ZIP"],
        "sensitive": ["Problem"],
    }
    assert found.hierarchies["Birth"] == {"kind": "dates", "format": "%m/%d/%y"}
    assert found.hierarchies["ZIP"] == {"kind": "digits", "length": 5}


def test_declared_roles_stay():
    found = profile(
        tacit.read({"sex": ["m", "f"] * 20, "job": ["a", "b"] * 20}, sensitive="sex", keys="job")
    )
    assert dict(found.roles) == {
        "keys": ["job"],
        "sensitive": ["sex"],
        "links": [["sex", "job"]],
    }
    assert found.columns[0].confidence == "declared"


def test_no_value_is_quoted(hospital):
    found = profile(tacit.read(hospital))
    shown = repr(found) + str(found.to_dict()) + str(found.frame.rows()) + found._repr_html_()
    for secret in ("p00001", "@example.org", "02150"):
        assert secret not in shown


@pytest.mark.parametrize("rows", [0, 1])
def test_few_records(rows, engine):
    table = pa.table(
        {"age": pa.array([5] * rows, pa.int64()), "x": pa.array(["a"] * rows, pa.string())}
    )
    found = profile(tacit.read(table, engine=engine))
    assert found.numbers["records"] == rows
    assert len(found.columns) == 2


def test_words_of_names():
    assert words_of("hhID") == words_of("HH_id") == ["hh", "id"]
    assert words_of("DateOfBirth") == ["date", "of", "birth"]
    assert words_of("marital-status") == ["marital", "status"]


def test_code_numbers_are_not_measured():
    rng = np.random.default_rng(1)
    found = profile(
        tacit.read(
            {
                "region": rng.integers(1, 90, 300),
                "zip": rng.integers(10000, 99999, 300),
                "age": rng.integers(0, 90, 300),
            }
        )
    )
    assert found.hierarchies == {
        "region": {"kind": "flat"},
        "zip": {"kind": "digits", "length": 5},
        "age": {"kind": "intervals", "width": 5, "levels": 3},
    }
