"""``tacit recommend``: the printed answer, the folder, exit codes and mistakes."""

import numpy as np
import pytest

from tacit.cli import main
from tacit.plan import Plan

ROLES = ["--identifiers", "id", "--keys", "sex,zip", "--hierarchy", "sex=flat", "zip={kind: digits, length: 3}"]  # fmt: skip
ASKED = ["--risk", "{kind: k_anonymity, k: 3}", "--utility", "precision", "--workers", "1", "--seed", "1",
         "--budget", "24", "--methods", "local-suppression", "datafly"]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    lines = [f"{i},{rng.choice(['f', 'm'])},1{rng.integers(5)}{rng.integers(5)}" for i in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["id,sex,zip", *lines]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("warnings.showwarning", None)
    return tmp_path


def said(capsys):
    return " ".join(" ".join(capsys.readouterr()).split())


def test_from_a_file_to_a_release(folder, capsys):
    command = ["recommend", "people.csv", *ROLES, *ASKED, "--cap", "0.05", "--out", "advice"]
    assert main(command) == 0
    out = said(capsys)
    for part in (
        "Recommended:",
        "runner-up",
        "What it costs",
        "Next: tacit run advice/plan-1.yaml",
    ):
        assert part in out
    assert {p.suffix for p in (folder / "advice").iterdir()} == {".html", ".svg", ".png", ".csv", ".yaml"}  # fmt: skip
    assert Plan.load("advice/plan-1.yaml").source.path == str(folder.resolve() / "people.csv")
    assert main(["run", "advice/plan-1.yaml", "--out", "release"]) == 0
    assert main(command) == 1
    assert "use --force" in said(capsys)
    # The plan is itself something to start from: its steps come first then.
    assert main(["recommend", "advice/plan-1.yaml", *ASKED, "--cap", "0.05"]) == 0
    assert "keep the cap" in said(capsys)


def test_mistakes_get_one_sentence(folder, capsys):
    asked = [*ASKED, "--cap", "0.05"]
    unfit = ["--cap", "0.05", "--risk", "{kind: datafly, k: 2}", "--utility", "precision"]
    assert main(["recommend", "people.csv", *ROLES, *unfit]) == 2
    assert "--risk: give a measure" in said(capsys)
    misspelt = ["--cap", "0.05", "--risk", "k-anonymity", "--utility", "precison"]
    assert main(["recommend", "people.csv", *ROLES, *misspelt]) == 2
    assert "precision" in said(capsys)
    (folder / "plan.yaml").write_text("source: people.csv\nsteps: [deidentify]\n")
    assert main(["recommend", "plan.yaml", "--keys", "sex", *asked]) == 2
    assert "'plan.yaml' is a plan: say in it" in said(capsys)


def test_nothing_keeps_the_cap(folder, capsys):
    asked = [*ASKED[:-2], "pram", "--cap", "0"]
    assert main(["recommend", "people.csv", *ROLES, *asked]) == 1
    assert "No candidate keeps the cap" in said(capsys)
