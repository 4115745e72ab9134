"""Plans: files, faults, schema and runs."""

import json
import tomllib

import jsonschema
import pytest
import yaml

import tacit
from conftest import FOUNDATIONS
from tacit.errors import InputError, PlanError, PlanVersion
from tacit.plan import Plan, schema

PLAN = {
    "tacit": 1,
    "title": "Figure 29",
    "source": {"path": "fig28.csv"},
    "roles": {
        "identifiers": ["SSN"],
        "keys": ["Ethnicity", "Birth", "Sex", "ZIP"],
        "sensitive": ["Problem"],
    },
    "hierarchies": {
        "Birth": {"kind": "dates", "format": "%m/%d/%y"},
        "ZIP": {"kind": "digits", "length": 5, "mask": [1, 2]},
        "Ethnicity": {"kind": "flat"},
        "Sex": {"kind": "flat"},
    },
    "steps": [{"kind": "datafly", "k": 2, "max_drop": 1}],
    "measures": [{"kind": "k_anonymity"}, {"kind": "precision", "accounting": "legacy"}],
    "output": {"folder": "release", "format": "csv"},
    "seed": 7,
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "fig28.csv").write_bytes((FOUNDATIONS / "fig28_data.csv").read_bytes())
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(PLAN, sort_keys=False))
    return tmp_path


def test_runs_from_a_file(folder):
    release = Plan.load(folder / "plan.yaml").run()
    assert len(release.data) == 11
    assert release.risk.after["k_anonymity#0"].k == 2
    assert release.utility.after["precision#0"].value == pytest.approx(0.709091, abs=1e-6)
    assert "0 " not in str(release.plan.seed)


def test_the_same_plan_in_python(folder, fig28):
    from_file = Plan.load(folder / "plan.yaml").run()
    in_python = tacit.Plan([tacit.Datafly(k=2, max_drop=1)]).run(fig28, seed=7)
    assert in_python.data.to_arrow() == from_file.data.to_arrow()


@pytest.mark.parametrize("ending", ["yaml", "toml"])
def test_round_trip(folder, ending):
    plan = Plan.load(folder / "plan.yaml")
    plan.save(folder / f"again.{ending}")
    again = Plan.load(folder / f"again.{ending}")
    assert again == plan
    assert again.to_dict() == plan.to_dict()
    if ending == "toml":
        tomllib.loads((folder / "again.toml").read_text())


def test_public_form_has_no_seed_and_no_folders(folder):
    public = Plan.load(folder / "plan.yaml").to_dict(public=True)
    assert "seed" not in public
    assert "output" not in public
    assert public["source"] == {"path": "fig28.csv"}


def test_every_fault_at_once():
    bad = {
        **PLAN,
        "stepps": [],
        "roles": {"keis": ["Sex"]},
        "steps": [
            {"kind": "dataflie"},
            {"kind": "datafly", "k": 0, "max_dorp": 1},
            {"k": 3},
            {"kind": "k_anonymity"},
        ],
        "output": {"folder": "x", "format": "doc"},
        "seed": -1,
        "engine": "sparc",
    }
    with pytest.raises(PlanError) as caught:
        Plan.from_dict(bad)
    text = str(caught.value)
    for part in (
        "'stepps'. Did you mean 'steps'?", "'keis'. Did you mean 'keys'?", "no method 'dataflie'. Did you mean 'datafly'?",
        "step 2 (datafly): Datafly: k must be at least 1", "there is no parameter 'max_dorp'", "step 3: it has no kind",
        "belongs under measures", "format must be one of", "seed must be", "engine must be",
    ):  # fmt: skip
        assert part in text, part


def test_faults_that_need_the_data_are_found_together(folder):
    bad = {
        **PLAN,
        "roles": {"keys": ["Ethnicity", "Brth", "Sex"], "weight": "ZIP", "sensitive": ["Problm"]},
        "hierarchies": {"Birth": {"kind": "dates", "format": "%Y-%m-%d"}, "Zip": {"kind": "flat"}},
    }
    faults = Plan.from_dict(bad, base=folder).faults()
    text = "\n".join(faults)
    assert len(faults) == 5
    for part in (
        "Did you mean 'Birth'?",
        "Did you mean 'Problem'?",
        "weight",
        "hierarchy of Birth",
        "Did you mean 'ZIP'?",
    ):
        assert part in text
    assert "02141" not in text
    assert "09/20/65" not in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steps: [", "line 1"),
        ("- a\n- b\n", "is not a plan"),
        ("tacit: 2\nsteps: [datafly]\n", "format 2"),
        ("source: a.csv\n", "there are no steps"),
    ],
)
def test_broken_files(tmp_path, text, message):
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises((PlanError, PlanVersion), match=message):
        Plan.load(tmp_path / "p.yaml")


def test_missing_file_suggests_the_near_one(folder):
    with pytest.raises(InputError, match=r"Did you mean 'plan.yaml'\?"):
        Plan.load(folder / "plann.yaml")


def test_schema_accepts_plans_and_refuses_others():
    validator = jsonschema.Draft202012Validator(schema())
    validator.check_schema(schema())
    validator.validate(PLAN)
    json.dumps(schema())
    for bad in (
        {**PLAN, "steps": [{"kind": "datafly", "k": 0}]},
        {**PLAN, "nothing": 1},
        {**PLAN, "steps": []},
    ):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(bad)


def test_a_step_that_cannot_start_is_named(fig28):
    with pytest.raises(PlanError, match=r"step 1 \(datafly\): .*k = 13 cannot be met"):
        tacit.Plan([tacit.Datafly(k=13, max_drop=0)]).run(fig28, seed=1)


def test_a_step_that_fails_in_the_middle_is_named(fig28):
    with pytest.raises(tacit.errors.Infeasible, match=r"step 2 \(datafly\)"):
        tacit.Plan([tacit.Datafly(k=2, max_drop=2), tacit.Datafly(k=11)]).run(fig28, seed=1)


def test_seeds_of_steps_do_not_depend_on_other_steps():
    from tacit.context import Context

    one, two = Context.start(7, step=1), Context.start(7, step=2)
    assert one.rng.random() == Context.start(7, step=1).rng.random()
    assert two.rng.random() != Context.start(7, step=1).rng.random()


def test_the_public_plan_does_not_name_the_register():
    given = {
        "source": "survey.csv",
        "register": {"path": "secret/patients_clinic_b.parquet"},
        "roles": {"keys": ["a"]},
        "steps": [{"kind": "local_suppression", "k": 2}],
    }
    plan = tacit.Plan.from_dict(given)
    assert plan.to_dict()["register"]["path"].endswith("patients_clinic_b.parquet")
    told = plan.to_dict(public=True)
    assert told["register"]["path"] == "register.parquet"
    assert "clinic" not in str(told)
