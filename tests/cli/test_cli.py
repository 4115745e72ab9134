"""The command line in process: answers, exit codes, and one sentence for each mistake."""

import json
import subprocess
import sys

import pytest
import yaml

from conftest import FIXTURES, FOUNDATIONS
from tacit.cli import main
from test_plan import PLAN


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "fig28.csv").write_bytes((FOUNDATIONS / "fig28_data.csv").read_bytes())
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(PLAN, sort_keys=False))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("warnings.showwarning", None)
    return tmp_path


def said(capsys):
    return " ".join(" ".join(capsys.readouterr()).split())


def test_run_prints_what_was_done_and_where_to_look(folder, capsys):
    assert main(["run", "plan.yaml"]) == 0
    out = said(capsys)
    for part in (
        "Figure 29: 12 records in, 11 out",
        "1. datafly",
        "holds: k-anonymity with k = 2",
        "before",
        "after",
        "report.html",
    ):
        assert part in out
    assert (folder / "release" / "report.html").exists()


def test_run_refuses_a_release_that_is_there_before_it_works(folder, capsys):
    assert main(["run", "plan.yaml"]) == 0
    assert main(["run", "plan.yaml"]) == 1
    assert "use --force" in said(capsys)
    assert main(["run", "plan.yaml", "--force", "--seed", "3"]) == 0


def test_check_verify_schema_methods(folder, capsys):
    assert main(["check", "plan.yaml"]) == 0
    assert main(["run", "plan.yaml", "--out", "out"]) == 0
    assert main(["verify", "out"]) == 0
    capsys.readouterr()
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "A tacit plan"
    assert main(["methods"]) == 0
    assert "datafly" in said(capsys)
    assert main(["methods", "datafly"]) == 0
    assert "max_drop" in said(capsys)


def test_verify_fails_on_a_changed_file(folder, capsys):
    main(["run", "plan.yaml", "--out", "out"])
    (folder / "out" / "statement.md").write_text("all is well")
    assert main(["verify", "out"]) == 1
    assert "statement.md" in said(capsys)


def test_apply_and_measure_come_from_the_registry(folder, capsys):
    code = main(
        ["apply", "datafly", "fig28.csv", "--k", "2", "--max-drop", "1", "--identifiers", "SSN", "--keys", "Ethnicity", "Birth", "Sex", "ZIP",
         "--hierarchy", "Ethnicity=flat", "Sex=flat", "Birth={kind: dates, format: '%m/%d/%y'}", "ZIP={kind: digits, length: 5, mask: [1, 2]}",
         "--out", "safe.csv"]
    )  # fmt: skip
    assert code == 0
    assert "wrote 11 records" in said(capsys)
    assert (
        main(
            [
                "measure",
                "k-anonymity",
                "safe.csv",
                "--keys",
                "Ethnicity,Birth,Sex,ZIP",
                "--plot",
                "classes.svg",
            ]
        )
        == 0
    )
    assert "smallest class (k) 2" in said(capsys)
    assert (folder / "classes.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "code", "parts"),
    [
        (["measure", "k-anonymity", "fig28.csv", "--keys", "Sxe", "ZIP"], 2, ["no column 'Sxe'", "Did you mean 'Sex'?"]),
        (["measure", "k-anonymity", "fig28.csv"], 2, ["needs keys"]),
        (["measure", "k-anonimity", "fig28.csv"], 2, ["Did you mean 'k_anonymity'?"]),
        (["measure", "k-anonymity", "fig28.csv", "--k", "0", "--keys", "Sex"], 2, ["k must be at least 1"]),
        (["measure", "k-anonymity", "fig82.csv", "--keys", "Sex"], 2, ["no file", "Did you mean 'fig28.csv'?"]),
        (["measure", "k-anonymity", "fig28.csv", "--keys", "Sex", "--weight", "ZIP"], 2, ["not numeric"]),
        (["apply", "datafly", "fig28.csv", "--k", "20", "--keys", "Sex", "--hierarchy", "Sex=flat", "--out", "x.csv"], 1, ["cannot be met"]),
        (["apply", "datafly", "fig28.csv", "--k", "2", "--keys", "Sex", "--out", "x.csv"], 2, ["has no hierarchy"]),
        (["apply", "datafly", "fig28.csv", "--k", "2", "--keys", "Sex", "--hierarchy", "Sex=flatt", "--out", "x.csv"], 2, ["flat"]),
        (["run", "nothing.yaml"], 2, ["no plan file"]),
        (["verify", "."], 2, ["not a release"]),
    ],
)  # fmt: skip
def test_one_sentence_for_each_mistake(folder, capsys, arguments, code, parts):
    before = sorted(p.name for p in folder.iterdir())
    assert main(arguments) == code
    text = said(capsys)
    assert text.startswith("error:")
    for part in parts:
        assert part in text
    assert "Traceback" not in text
    assert "02141" not in text
    assert sorted(p.name for p in folder.iterdir()) == before


def test_a_plan_with_several_faults_lists_them_all(folder, capsys):
    (folder / "bad.yaml").write_text(
        yaml.safe_dump({**PLAN, "roles": {"keis": []}, "steps": [{"kind": "datafli"}]})
    )
    assert main(["check", "bad.yaml"]) == 2
    text = said(capsys)
    assert "Did you mean 'keys'?" in text
    assert "Did you mean 'datafly'?" in text


def test_ctrl_c_writes_nothing(folder, capsys, monkeypatch):
    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.release.release.Release.write_public", interrupt)
    assert main(["run", "plan.yaml"]) == 130
    assert "interrupted; nothing was written" in said(capsys)
    assert sorted(p.name for p in folder.iterdir()) == ["fig28.csv", "plan.yaml"]


def test_an_unexpected_error_does_not_show_its_message(folder, capsys, monkeypatch):
    def explode(*_args, **_kwargs):
        raise RuntimeError("record of 819181496")

    monkeypatch.setattr("tacit.plan.Plan.read", explode)
    assert main(["run", "plan.yaml"]) == 1
    text = said(capsys)
    assert "819181496" not in text
    assert "TACIT_DEBUG" in text


def test_compare_and_agreement(folder, capsys):
    similar = {
        **PLAN,
        "steps": [{"kind": "deidentify"}, {"kind": "k_similar", "k": 2, "method": "greedy"}],
    }
    (folder / "similar.yaml").write_text(yaml.safe_dump(similar))
    assert main(["compare", "plan.yaml", "similar.yaml", "--k", "2", "--plot", "compare.svg"]) == 0
    out = said(capsys)
    for part in ("plan", "similar", "0.7091", "0.7958"):
        assert part in out
    assert main(["run", "plan.yaml", "--out", "out"]) == 0
    assert (
        main(
            [
                "agreement",
                "out",
                "--provider",
                "City Hospital",
                "--could-link",
                "Birth",
                "--out",
                "dua.md",
            ]
        )
        == 0
    )
    assert "City Hospital" in (folder / "dua.md").read_text()
    assert "Ethnicity" in (folder / "dua.md").read_text()


def test_tables_map_and_experiment(folder, capsys):
    tables = FIXTURES / "psd07-risk-utility-framework"
    names = [str(tables / f"table_{n}.csv") for n in ("original", "rounded", "swapped")]
    assert (
        main(["tables", *names, "--rows", "row", "--max-risk", "50", "--out", "report.html"]) == 0
    )
    assert "HD" in said(capsys)
    assert (folder / "report.html").exists()
    mapped = {
        **PLAN,
        "map": {
            "candidates": {"Datafly": {"kind": "datafly", "k": [2, 3], "max_drop": 4}},
            "risk": "k_anonymity",
            "utility": "precision",
        },
    }
    del mapped["steps"]
    (folder / "map.yaml").write_text(yaml.safe_dump(mapped))
    assert main(["map", "map.yaml", "--out", "map"]) == 0
    assert "Datafly" in said(capsys)
    assert (folder / "map" / "map.html").exists()
    (chosen,) = (folder / "map").glob("*.yaml")
    assert main(["check", str(chosen)]) == 0
    assert main(["experiment", "channels", "--out", "sweeps"]) == 0
    assert (folder / "sweeps" / "figure_7.svg").exists()


def test_profile_writes_a_plan_that_checks(folder, capsys):
    assert main(["profile", "fig28.csv", "--out", "start.yaml"]) == 0
    assert main(["check", "start.yaml"]) == 0
    assert main(["profile", "fig28.csv", "--out", "start.yaml"]) == 1


def test_the_installed_command_starts():
    done = subprocess.run(
        [sys.executable, "-m", "tacit", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "0.2.0"
