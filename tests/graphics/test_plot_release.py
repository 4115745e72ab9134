"""Protected plots in plans and releases, in Python and in the shell."""

import json
import subprocess
import sys

import numpy as np
import pytest

import tacit
from tacit.cli import main
from tacit.errors import DisclosureRefused, InputError
from tacit.graphics.budget import BudgetLedger

N = 400


def columns(seed=1):
    rng = np.random.default_rng(seed)
    return {
        "name": [f"person {i}" for i in range(N)],
        "sex": rng.choice(["f", "m"], N).tolist(),
        "income": np.round(rng.lognormal(7, 0.5, N), 2).tolist(),
        "home": np.repeat(np.arange(N), 2)[:N].tolist(),
    }


@pytest.fixture
def source(tmp_path):
    import pyarrow as pa
    from pyarrow import csv

    file = tmp_path / "people.csv"
    csv.write_csv(pa.table(columns()), file)
    return file


PLAN = """
tacit: 1
source: {path: people.csv}
roles: {identifiers: [name], keys: [sex], household: home}
steps: [{kind: deidentify}]
measures:
  - {kind: k_anonymity, k: 2}
  - {kind: protected_histogram, column: income, range: [0, 5000], bins: 10, members: 2}
  - {kind: protected_quantiles, column: income, range: [0, 5000], members: 2, rho: 0.2}
output: {folder: out}
"""


def test_a_plan_publishes_plots_and_a_verification_spends_nothing(source, tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN)
    release = tacit.Plan.load(tmp_path / "plan.yaml").run()
    assert [p.kind for p in release.plots] == ["protected_histogram", "protected_quantiles"]
    assert [r.kind for r in release.after] == ["k_anonymity"]
    assert not release.for_study
    folder = release.write()
    names = {f.name for f in folder.iterdir()}
    assert {"plots.json", "plot-1.svg", "plot-2.json", "report.html"} <= names
    told = json.loads((folder / "statement.json").read_text())
    assert [p["rho"] for p in told["plots"]] == pytest.approx([0.5, 0.2])
    assert "Protected histogram of income" in (folder / "statement.md").read_text()
    assert "Protected histogram of income" in (folder / "report.html").read_text()
    spent = sum(a.spent for a in BudgetLedger.open().accounts().values())
    found = tacit.verify(folder)
    assert found, found
    assert sum("zcdp" in name for name, _, _ in found.checks) == 2
    assert sum(a.spent for a in BudgetLedger.open().accounts().values()) == pytest.approx(spent)
    records = json.loads((folder / "plots.json").read_text())
    records[0]["queries"][0]["amplitude"] /= 2
    (folder / "plots.json").write_text(json.dumps(records))
    broken = {name: ok for name, ok, _ in tacit.verify(folder).checks}
    assert not all(ok for name, ok in broken.items() if "zcdp" in name)
    assert not broken["files are as released"]


def test_a_given_seed_publishes_no_plots(source, tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN)
    release = tacit.Plan.load(tmp_path / "plan.yaml").run(seed=3)
    assert release.for_study
    assert all(p.study and p.claim is None for p in release.plots)
    folder = release.write(tmp_path / "study")
    assert not (folder / "plots.json").exists()


def test_plots_alone_are_a_release(tmp_path):
    data = tacit.read(columns(), identifiers=["name"])
    plots = [
        tacit.ProtectedHistogram(column="income", range=(0, 5000), bins=10).measure(data),
        tacit.ProtectedTable(columns="sex", categories={"sex": ["f", "m"]}).measure(data),
    ]
    folder = tacit.release_plots(plots, tmp_path / "plots", title="Income & sex")
    assert {f.name for f in folder.iterdir()} == {
        *("plot-1.svg", "plot-1.json", "plot-2.svg", "plot-2.json", "plots.json"),
        *("report.html", "statement.json", "statement.md", "manifest.json"),
    }
    assert tacit.verify(folder)
    assert "spend rho = 1 together" in (folder / "statement.md").read_text()
    everything = " ".join(f.read_text() for f in folder.iterdir())
    assert "person " not in everything
    assert not any(f"{v}" in everything for v in columns()["income"] if v > 1000)
    with pytest.raises(DisclosureRefused, match="already"):
        tacit.release_plots(plots, tmp_path / "plots")
    (folder / "plot-1.svg").write_text("<svg/>")
    assert not tacit.verify(folder)
    with pytest.raises(InputError, match="at least one"):
        tacit.release_plots([], tmp_path / "none")


def test_the_shell_measures_releases_and_shows_the_budget(source, tmp_path, capsys):
    given = [
        "measure",
        "protected-histogram",
        str(source),
        "--column",
        "income",
        "--range",
        "0",
        "5000",
    ]
    given += ["--bins", "8", "--dataset", "town"]
    assert (
        main([*given, "--release", str(tmp_path / "plots"), "--plot", str(tmp_path / "a.svg")]) == 0
    )
    assert "spent (rho, zCDP)" in capsys.readouterr().out
    assert (tmp_path / "a.svg").exists()
    assert main(["verify", str(tmp_path / "plots")]) == 0
    assert main([*given, "--seed", "1", "--release", str(tmp_path / "no")]) == 1
    assert "seed was given" in capsys.readouterr().err
    for _ in range(5):
        main(given)
    capsys.readouterr()
    assert main(given) == 1
    assert "does not suffice" in capsys.readouterr().err
    assert main(["budget"]) == 0
    assert "town: 3 of 3 spent" in capsys.readouterr().out
    assert main(["budget", "town", "--limit", "4"]) == 0
    assert main(given) == 0
    assert main(["budget", "--limit", "4"]) == 2


@pytest.mark.filterwarnings("ignore::tacit.errors.LowUtility")
def test_hostile_names_are_drawn():
    for name in ('a"b', "a.b", "a[0]", "é\\n", "select", "<b>x</b>", "datum['x']"):
        data = tacit.read({name: np.arange(100.0), "u": np.arange(100.0)})
        for spec in (
            tacit.ProtectedHistogram(column=name, range=(0, 100), bins=5),
            tacit.ProtectedDensity(columns=[name, "u"], points=11),
            tacit.ProtectedBoxPlot(column=name, range=(0, 100)),
        ):
            assert spec.measure(data, seed=1).plot().svg().startswith("<svg")


def test_importing_the_package_does_not_load_plots():
    code = "import tacit, sys; print('tacit.graphics.base' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
