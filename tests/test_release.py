"""Releases: what is written, what is refused, and that nothing half-written stays."""

import datetime as dt
import json
import os
from types import SimpleNamespace

import pytest

import tacit
from conftest import FOUNDATIONS
from tacit.errors import DisclosureRefused, InputError, SdcError
from tacit.plan import Plan
from tacit.release import folders
from tacit.release import release as writing
from test_plan import PLAN


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "fig28.csv").write_bytes((FOUNDATIONS / "fig28_data.csv").read_bytes())
    return tmp_path


@pytest.fixture
def release(folder):
    return Plan.from_dict(PLAN, base=folder).run()


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_files_of_a_release(release, folder):
    target = release.write(folder / "out")
    assert {p.name for p in target.iterdir()} == {
        "data.csv", "plan.yaml", "statement.json", "statement.md", "report.html", "manifest.json",
    }  # fmt: skip
    assert sorted(p.name for p in folder.iterdir()) == ["fig28.csv", "out", "out-confidential"]
    [secret] = (folder / "out-confidential").glob("*/")
    ledger = json.loads((secret / "ledger.json").read_text())
    assert ledger["seed"] == 7
    [step] = ledger["steps"]
    assert step["changes"]["dropped"] == 1
    assert step["changes"]["cells"] == {"Birth": 11, "ZIP": 11}
    assert step["changes"]["columns_removed"] == ["SSN"]
    assert oct((folder / "out-confidential").stat().st_mode)[-3:] == "700"


def test_nothing_confidential_is_in_the_public_folder(release, folder):
    target = release.write(folder / "out")
    for name, content in contents(target).items():
        text = content.decode()
        for secret in ("819181496", "02141", "09/20/65", '"seed"', "seed: 7", str(folder)):
            assert secret not in text, (name, secret)


def test_statement_names_model_k_columns_and_assumptions(release, folder):
    target = release.write(folder / "out")
    facts = json.loads((target / "statement.json").read_text())
    [claim] = facts["claims"]
    assert claim["model"] == "k-anonymity"
    assert claim["parameters"] == {"k": 2}
    assert claim["columns"] == ["Ethnicity", "Birth", "Sex", "ZIP"]
    assert claim["assumptions"]
    assert "k-anonymity" in (target / "statement.md").read_text()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_verify(release, folder, form):
    target = release.write(folder / "out", format=form)
    result = tacit.verify(target)
    assert result, result
    assert "re-run gives the same data" in repr(result)


def test_verify_sees_a_changed_file_and_a_changed_source(release, folder):
    target = release.write(folder / "out")
    data = target / "data.csv"
    data.write_text("\n".join(data.read_text().splitlines()[:2]))
    (folder / "fig28.csv").write_text(
        (folder / "fig28.csv").read_text().replace("chest pain", "chest pains")
    )
    result = tacit.verify(target)
    assert not result
    assert "NOT  files are as released: data.csv" in repr(result)
    assert "NOT  claim holds" in repr(result)
    assert "NOT  source is the one protected" in repr(result)


def test_existing_release_needs_force(release, folder):
    target = release.write(folder / "out")
    before = contents(target)
    with pytest.raises(DisclosureRefused, match="force"):
        release.write(folder / "out")
    assert contents(target) == before
    release.write(folder / "out", force=True)
    assert tacit.verify(target)


def test_other_peoples_files_are_never_replaced(release, folder):
    (folder / "out").mkdir()
    (folder / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(DisclosureRefused, match="other files"):
        release.write(folder / "out", force=True)
    assert (folder / "out" / "thesis.txt").read_text() == "mine"


def test_the_source_is_never_written_to(release, folder):
    with pytest.raises(DisclosureRefused, match="source"):
        release.write(folder)
    with pytest.raises(DisclosureRefused, match="is a file"):
        release.write(folder / "fig28.csv")


def test_identifiers_stop_a_release(fig28, folder):
    kept = tacit.Plan([tacit.Datafly(k=2, max_drop=1, identifiers="keep")]).run(fig28, seed=1)
    with pytest.raises(DisclosureRefused, match="identifiers"):
        kept.write(folder / "out")
    assert not (folder / "out").exists()


def test_a_claim_that_a_later_step_breaks_stops_the_release(fig28, folder):
    broken = tacit.Plan([tacit.Datafly(k=2, max_drop=1)]).run(fig28, seed=1)
    from dataclasses import replace

    import numpy as np

    spoiled = replace(broken, data=broken.data.take(np.arange(10)))
    with pytest.raises(DisclosureRefused, match="does not hold"):
        spoiled.write(folder / "out")
    assert sorted(p.name for p in folder.iterdir()) == ["fig28.csv"]


@pytest.mark.parametrize("where", ["write_public", "write_private", "swap"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_crash_leaves_the_old_release(release, folder, monkeypatch, where, error):
    target = release.write(folder / "out")
    before = contents(folder)

    def fail(*_args, **_kwargs):
        raise error

    if where == "swap":
        monkeypatch.setattr(folders, "swap_into", fail)
    else:
        monkeypatch.setattr(type(release), where, fail)
    with pytest.raises((SdcError, KeyboardInterrupt)):
        release.write(folder / "out", force=True)
    after = contents(folder)
    assert {k: v for k, v in after.items() if "confidential" not in str(k)} == {
        k: v for k, v in before.items() if "confidential" not in str(k)
    }
    assert tacit.verify(target)
    assert not [p for p in folder.iterdir() if p.name.startswith(".")]


def test_exchange_without_the_system_call(release, folder, monkeypatch):
    target = release.write(folder / "out")
    monkeypatch.setattr(folders, "exchange", lambda one, two: False)
    release.write(folder / "out", force=True)
    assert tacit.verify(target)
    assert sorted(p.name for p in folder.iterdir()) == ["fig28.csv", "out", "out-confidential"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_target(release, folder):
    folder.chmod(0o500)
    with pytest.raises(InputError, match="cannot write"):
        release.write(folder / "out")
    folder.chmod(0o700)


def test_target_below_a_file(release, folder):
    with pytest.raises(InputError, match="cannot write"):
        release.write(folder / "fig28.csv" / "out")


def test_a_frame_in_memory_can_be_verified(fig28, folder):
    done = tacit.Plan([tacit.Datafly(k=2, max_drop=1)]).run(
        tacit.read(
            fig28.to_pandas(),
            identifiers="SSN",
            keys=list(fig28.keys),
            hierarchies=fig28.hierarchies,
        ),
        seed=3,
    )
    target = done.write(folder / "out")
    assert "left out" in repr(tacit.verify(target))


def test_summary_and_plot(release):
    text = repr(release)
    assert "12 -> 11" in text
    assert release.plot().svg().startswith("<svg")
    assert "k-anonymity" in str(release.risk.summary())


def test_a_randomised_release_brings_its_matrices(tmp_path):
    data = tacit.read({"region": list("aabbbcccc") * 5, "x": [i * 7 % 45 // 2 for i in range(45)]})
    public = {"a": 20.0, "b": 30.0, "c": 50.0}
    plan = tacit.Plan([tacit.Pram(column="region", stay=0.8, frequencies=public)])
    folder = plan.run(data, seed=1).write(tmp_path / "out")
    released = tacit.read(folder / "data.csv")
    spec = tacit.PramEstimate(matrices=str(folder / "matrices.json"))
    assert spec.measure(released).value is not None
    assert tacit.verify(folder)


@pytest.mark.parametrize("matrix", ["invariant", "one_parameter", "even", "frequency"])
def test_a_matrix_made_from_the_original_frequencies_is_not_published(matrix, tmp_path):
    # The frequencies are its left eigenvector, so that the matrix would tell them exactly.
    data = tacit.read({"region": list("aabbbcccc") * 5, "x": [i * 7 % 45 // 2 for i in range(45)]})
    release = tacit.Plan([tacit.Pram(column="region", matrix=matrix, stay=0.8)]).run(data)
    folder = release.write(tmp_path / "out")
    assert not (folder / "matrices.json").exists()
    assert any("stays with the data holder" in remark for remark in release.remarks)
    assert tacit.verify(folder)


class Earlier(dt.datetime):
    """A clock that is a day and a half behind."""

    @classmethod
    def now(cls, tz=None):
        return dt.datetime.now(tz) - dt.timedelta(days=1.5)


def test_a_release_of_another_day_verifies(release, tmp_path, monkeypatch):
    with monkeypatch.context() as clock:
        clock.setattr(writing, "dt", SimpleNamespace(datetime=Earlier, UTC=dt.UTC))
        release.write(tmp_path / "old")
    then = Earlier.now(dt.UTC).date()
    assert f"{then.day} {then:%B %Y}" in (tmp_path / "old" / "report.html").read_text()
    assert tacit.verify(tmp_path / "old").holds
