"""What a plan asks for and does not get is said: in summary, statement, report, ledger, shell and exit code."""

import json
import warnings

import pyarrow as pa
import pytest
import yaml

import tacit
from tacit.cli.app import main
from tacit.errors import PlanError, SdcWarning
from tacit.io import write
from tacit.report import board, public

STEPS = ["deidentify", {"kind": "datafly", "k": 2, "max_drop": 0}]
SHORT = "l-diversity (distinct) of disease: 2 of 6 records fall short of what was asked for (2)"
CUT = "it follows single records, and a step has cut the link to the original"


def patients():
    # The two records of zip b have one disease, so that the diversity is 1.
    table = pa.table(
        {
            "name": ["p", "q", "r", "s", "t", "u"],
            "zip": ["a", "a", "b", "b", "c", "c"],
            "disease": ["flu", "cold", "flu", "flu", "flu", "cold"],
        }
    )
    return tacit.read(
        table,
        identifiers=["name"],
        keys=["zip"],
        sensitive=["disease"],
        hierarchies={"zip": tacit.hierarchy.flat()},
    )


def in_folder(folder, **sections):
    write(patients(), folder / "patients.csv", overwrite=True)
    document = {
        "tacit": 1,
        "source": "patients.csv",
        "roles": {"identifiers": ["name"], "keys": ["zip"], "sensitive": ["disease"]},
        "hierarchies": {"zip": {"kind": "flat"}},
        "steps": STEPS,
        **sections,
    }
    file = folder / "plan.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    return str(file)


# -- thresholds ----------------------------------------------------------------------------------------


def test_a_missed_threshold_is_said_everywhere_and_in_the_exit_code(tmp_path, capsys):
    file = in_folder(tmp_path, measures=[{"kind": "l_diversity", "l": 2}])
    assert main(["run", file]) == 3
    assert "fall short of what was asked for (2)" in capsys.readouterr().out
    out = tmp_path / "release"
    assert SHORT in (out / "statement.md").read_text()
    assert SHORT in json.loads((out / "statement.json").read_text())["attention"]
    ledger = next((tmp_path / "release-confidential").glob("*/ledger.json"))
    assert SHORT in json.loads(ledger.read_text())["attention"]


def test_a_missed_threshold_is_in_the_summary_and_the_head_of_both_reports():
    release = tacit.Plan(STEPS, [tacit.LDiversity(l=2)]).run(patients())
    assert release.shortfalls == (SHORT,)
    assert SHORT in release.summary()["attention"]
    for made in (public(release), board(release)):
        assert made.blocks[0].mood == "attention"
        assert any(SHORT in str(s) for s in made.blocks[0].sentences)


def test_a_default_that_nobody_asked_for_is_no_promise(tmp_path):
    release = tacit.Plan(STEPS, [tacit.LDiversity()]).run(patients())
    assert release.after[0].l == 1
    assert not release.shortfalls
    assert main(["run", in_folder(tmp_path, measures=["l_diversity"])]) == 0


@pytest.mark.parametrize(
    ("kept", "missed"),
    [
        (tacit.KAnonymity(k=2), tacit.KAnonymity(k=3)),
        (tacit.LDiversity(l=1), tacit.LDiversity(l=2)),
        (tacit.TCloseness(t=0.9), tacit.TCloseness(t=0.1)),
        (tacit.KMap(k=2), tacit.KMap(k=3)),
    ],
)
def test_each_measure_with_a_threshold_says_when_it_is_missed(kept, missed):
    assert not kept.measure(patients()).shortfall
    assert "asked for" in missed.measure(patients()).shortfall
    assert not type(missed)().measure(patients()).shortfall


def test_a_requirement_refuses_from_the_shell(tmp_path, capsys):
    bound = [{"kind": "l_diversity", "l": 2, "at_most": 0}]
    assert main(["run", in_folder(tmp_path, require=bound)]) == 1
    assert "and at most 0 is required" in capsys.readouterr().err.replace("\n", " ")
    assert not (tmp_path / "release").exists()
    enough = [{"kind": "k_anonymity", "k": 2, "at_most": 0}]
    assert main(["run", in_folder(tmp_path, require=enough)]) == 0


# -- links that were cut -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step",
    [
        tacit.Scramble(),
        tacit.AddTuples(n=2, scramble=True),
    ],
    ids=lambda s: s.kind,
)
def test_a_measure_that_can_never_be_taken_is_refused_before_work(step):
    assert step.cuts_links
    plan = tacit.Plan([*STEPS, step], [tacit.KAnonymity(), tacit.Precision()])
    with pytest.raises(PlanError) as refused:
        plan.check(patients())
    why = f"it follows single records, and step 3 ({step.kind}) cuts their links to the original"
    assert list(refused.value.faults) == [f"measure 2 (precision): {why}; leave one of them out"]
    tacit.Plan([*STEPS, step], [tacit.KAnonymity()]).check(patients())
    tacit.Plan(STEPS, [tacit.Precision()]).check(patients())


def test_only_steps_that_cut_links_say_so():
    assert not tacit.AddTuples(n=2, scramble=False).cuts_links
    shuffled, kept = (
        tacit.ChannelExpansion(**tacit.ChannelExpansion.example, shuffle=s) for s in (True, False)
    )
    assert shuffled.cuts_links
    assert not kept.cuts_links
    assert not tacit.Datafly(k=2).cuts_links


def test_the_shell_checks_it(tmp_path, capsys):
    file = in_folder(tmp_path, steps=[*STEPS, "scramble"], measures=["precision"])
    assert main(["check", file]) == 2
    assert "cuts their links" in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.filterwarnings("default::tacit.errors.SdcWarning")
def test_what_is_taken_by_default_and_left_out_is_said_in_shell_report_and_ledger(tmp_path, capsys):
    file = in_folder(tmp_path, steps=[*STEPS, "scramble"])
    assert main(["run", file]) == 0
    shown = capsys.readouterr()
    assert "precision was left out" in " ".join((shown.err + shown.out).split())
    ledger = next((tmp_path / "release-confidential").glob("*/ledger.json"))
    assert f"precision was left out: {CUT}" in json.loads(ledger.read_text())["attention"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SdcWarning)
        release = tacit.Plan([*STEPS, "scramble"]).run(patients())
    assert any(CUT in str(w.message) for w in caught)
    for made in (public(release), board(release)):
        assert any(CUT in str(s) for s in made.blocks[0].sentences)


def test_tables_say_what_they_miss():
    table = tacit.Table.from_array([[9, 4], [1, 8]], totals=False)
    given = tacit.MarginDisclosure(tau_approx=20).measure(table)
    assert given.shortfall == "Disclosure by totals: cells are disclosed (approximation)"
    assert not tacit.MarginDisclosure().measure(table).shortfall
    judged = table.with_protection([(1, 0)], sliding=6)
    assert tacit.Audit().measure(judged).shortfall.endswith("unsafe cells are exposed")
    assert not tacit.Audit().measure(table).shortfall
