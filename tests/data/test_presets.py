"""Presets for researchers and for the public: rules, thresholds, and plans that run."""

import itertools
import math

import numpy as np
import pytest

import tacit
from tacit.cli import main
from tacit.errors import InputError


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    rng = np.random.default_rng(3)
    n = 2000
    columns = {
        "person_id": np.arange(n) + 10_000,
        "name": [f"Name {i}" for i in range(n)],
        "sex": rng.choice(["f", "m"], n),
        "age": rng.integers(18, 90, n),
        "region": rng.choice(list("NESW"), n),
        "diagnosis": rng.choice(["flu", "gout", "none"], n),
        "income": rng.lognormal(10, 1, n).round(),
    }
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def preset(path, users, **more):
    return tacit.preset_plan(tacit.profile(tacit.read(path)), path, users, **more)


def keys_of(plan):
    return plan["roles"]["keys"]


def test_no_seed_and_the_access_class(survey):
    for users, access in (("researcher", "SPr"), ("public", "Pu")):
        plan = preset(survey, users)
        assert plan["access"] == access
        assert "seed" not in str(plan)


def test_thresholds_follow_the_share_drawn(survey):
    found = preset(survey, "researcher", population=20_000)
    assert found["steps"][-1] == {"kind": "mu_argus", "k": 10, "max_dim": 3}  # 100 of 20,000
    assert preset(survey, "researcher", population=10**9)["steps"][-1]["k"] == 2
    public = preset(survey, "public", population=4_000_000)["steps"][-1]
    sets = {tuple(c["columns"]): c["k"] for c in public["combinations"]}
    keys = keys_of(found)
    assert set(sets) == {*((k,) for k in keys), *itertools.combinations(keys, 2)}
    assert {sets[k,] for k in keys} == {math.ceil(200_000 * 2000 / 4_000_000)}
    assert {sets[k] for k in itertools.combinations(keys, 2)} == {2}
    with pytest.raises(InputError, match="smaller than the number of records"):
        preset(survey, "public", population=5)


def test_the_office_decides_on_the_numbers(survey):
    found = preset(survey, "researcher", population=20_000, triple=50)
    assert found["steps"][-1]["k"] == 5
    public = preset(survey, "public", population=20_000, single=1_000, pair=70)["steps"][-1]
    assert {c["k"] for c in public["combinations"] if len(c["columns"]) == 1} == {100}
    assert {c["k"] for c in public["combinations"] if len(c["columns"]) == 2} == {7}
    with pytest.raises(InputError, match="at least 1"):
        preset(survey, "public", pair=0)


def test_what_goes(survey):
    researcher, public = preset(survey, "researcher"), preset(survey, "public")
    assert "name" in researcher["steps"][0]["columns"]
    assert "diagnosis" not in researcher["steps"][0]["columns"]
    assert "diagnosis" in public["steps"][0]["columns"]


@pytest.mark.parametrize("users", ["researcher", "public"])
def test_the_plans_run_and_hold(survey, users):
    release = tacit.Plan.from_dict(preset(survey, users)).run()
    models = {c.model for a in release.data.history for c in a.claims}
    assert models >= ({"k-combinations"} if users == "researcher" else {"k-anonymity"})
    assert "name" not in release.data.columns


def test_the_shell(survey, tmp_path, capsys):
    out = tmp_path / "plan.yaml"
    assert main(["profile", str(survey), "--for", "public", "--out", str(out)]) == 0
    assert "at least a year old" in capsys.readouterr().out
    assert "seed" not in out.read_text()
    assert main(["check", str(out)]) == 0
    capsys.readouterr()
    assert main(["profile", str(survey), "--for", "public"]) == 2
    assert "--out" in capsys.readouterr().err
    assert main(["profile", str(survey), "--population", "9"]) == 2


def test_notes_name_what_a_plan_cannot_decide(survey):
    found = tacit.profile(tacit.read(survey))
    assert any("agreement" in n for n in tacit.preset_notes(found, "researcher"))
    many = {f"k{i}": ["a", "b"] for i in range(17)}
    data = tacit.read(
        {**many, "h": [1, 1], "w": [2, 3]}, keys=list(many), weight="w", household="h"
    )
    notes = " ".join(tacit.preset_notes(tacit.profile(data), "public"))
    assert "at most 15 keys" in notes
    assert "weight_noise" in notes
    assert "household" in notes
    bare = tacit.profile(tacit.read({"x": [1.5, 2.5]}))
    with pytest.raises(InputError, match="needs keys"):
        tacit.preset_plan(bare, "x.csv", "public")
