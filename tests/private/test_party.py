"""Parties as processes: settings, a trial of three, a union over the network, refusals before work."""

import json
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import yaml

import tacit
from tacit.cli import main
from tacit.errors import DisclosureRefused, InputError, InvalidParameter, PartyMissing
from tacit.graphics.likeness import sketch_columns
from tacit.private.example import HOSPITALS, free_ports, run_trial, write_parties
from tacit.private.parties.certificates import make_certificates
from tacit.private.parties.journal import RunLog
from tacit.private.party import run_party, table_fingerprint
from tacit.private.settings import read_party


@pytest.fixture
def folder(tmp_path):
    return write_parties(tmp_path / "parties", n=120)


def edit(file, **changes):
    document = yaml.safe_load(file.read_text())
    document.update(changes)
    file.write_text(yaml.safe_dump(document, sort_keys=False))


def run_threads(files):
    """Run parties in threads of this process; return their results, or what they raised."""
    found = {}

    def run(file):
        try:
            found[file.stem] = run_party(file)
        except tacit.SdcError as error:
            found[file.stem] = error

    threads = [threading.Thread(target=run, args=(f,)) for f in files]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return found


def test_a_trial_of_three_processes_gives_the_pooled_fit(folder, capsys):
    found = run_trial(folder)
    assert found.largest_difference < 1e-8
    for name in HOSPITALS:
        out = folder / f"{name}-result"
        facts = json.loads((out / "result.json").read_text())
        assert facts["coefficients"] == pytest.approx(found.pooled, abs=1e-8)
        assert "of no single one of them" in facts["statement"]
        assert (out / "result.json").stat().st_mode & 0o777 == 0o600
        transcript = (out / "transcript.csv").read_text()
        assert "sum 1" in transcript
        assert "<svg" in (out / "result.html").read_text()
    assert main(["party", "run", str(folder / "riverside.yaml")]) == 1
    assert "holds a result already" in capsys.readouterr().err


def test_a_second_run_on_the_same_data_needs_a_word(folder):
    files = [folder / f"{n}.yaml" for n in HOSPITALS]
    found = run_threads(files)
    assert all(isinstance(r, tacit.Result) for r in found.values()), found
    edit(folder / "agreement.yaml", run="trial-2")
    for f in files:
        edit(f, out=f"{f.stem}-second", patience=3.0)
    refused = run_threads(files)
    assert all(isinstance(r, DisclosureRefused) for r in refused.values())
    for f in files:
        edit(f, confirm=True)
    found = run_threads(files)
    assert all(isinstance(r, tacit.Result) for r in found.values()), found


def test_a_missing_party_is_named_and_the_run_goes_on(folder):
    files = [folder / f"{n}.yaml" for n in HOSPITALS]
    for f in files:
        edit(f, patience=1.5)
    found = run_threads(files[:2])
    assert all(isinstance(r, PartyMissing) for r in found.values())
    assert "eastgate" in str(found["northfield"]) or "riverside" in str(found["northfield"])
    for f in files:
        edit(f, patience=30.0)
    found = run_threads(files)
    assert all(isinstance(r, tacit.Result) for r in found.values()), found


def test_a_union_over_the_network(tmp_path):
    names = ["alice", "bob"]
    make_certificates(tmp_path / "certificates", names)
    ports = free_ports(2)
    (tmp_path / "agreement.yaml").write_text(
        yaml.safe_dump(
            {
                "run": "u1",
                "task": {"kind": "union", "identifying": [["id"]], "data": ["x"]},
                "parties": {n: f"127.0.0.1:{p}" for n, p in zip(names, ports, strict=True)},
            },
            sort_keys=False,
        )
    )
    rows = {"alice": "id,x\n1,a\n2,b\n3,c\n", "bob": "id,x\n3,d\n4,e\n"}
    for n in names:
        (tmp_path / f"{n}.csv").write_text(rows[n])
        settings = {
            "name": n, "data": f"{n}.csv", "authority": "certificates/authority.pem",
            "certificate": f"certificates/{n}.pem", "key": f"certificates/{n}.key",
            "journal": f"{n}-journal", "out": f"{n}-result", "at_least": {"only_mine": 1},
        }  # fmt: skip
        (tmp_path / f"{n}.yaml").write_text(yaml.safe_dump(settings))
    found = run_threads([tmp_path / "alice.yaml", tmp_path / "bob.yaml"])
    assert sorted(r["x"] for r in found["alice"].rows) == ["a", "b", "c", "e"]
    assert found["bob"].rows == ()
    assert (tmp_path / "alice-result" / "union.csv").exists()
    assert not (tmp_path / "bob-result" / "union.csv").exists()
    assert json.loads((tmp_path / "bob-result" / "result.json").read_text())["sizes"]["union"] == 4


def test_settings_are_checked_at_once(folder):
    own = folder / "riverside.yaml"
    read_party(own)
    edit(own, patience=-1, colour="red")
    with pytest.raises(InvalidParameter, match=r"patience.*colour"):
        read_party(own)
    shutil.rmtree(folder)
    write_parties(folder, n=120)
    edit(folder / "agreement.yaml", parties={"riverside": "nowhere"})
    with pytest.raises(InvalidParameter, match=r"host:port.*at least two"):
        read_party(own)
    shutil.rmtree(folder)
    write_parties(folder, n=120)
    document = yaml.safe_load((folder / "agreement.yaml").read_text())
    del document["task"]["levels"]
    edit(folder / "agreement.yaml", **document)
    with pytest.raises(InputError, match="no levels for the category 'ward'"):
        run_party(own)
    shutil.rmtree(folder)
    write_parties(folder, n=120)
    edit(folder / "agreement.yaml", task={"kind": "cox", "formula": "stay ~ age"})
    with pytest.raises(InvalidParameter, match="event and task"):
        read_party(own)
    shutil.rmtree(folder)
    write_parties(folder, n=120)
    edit(own, key="certificates/nobody.key")
    with pytest.raises(InputError, match="cannot be read"):
        run_party(own)
    edit(own, name="westgate")
    with pytest.raises(InvalidParameter, match="names no party 'westgate'"):
        read_party(own)


def test_parties_with_other_agreements_stop(folder):
    files = [folder / f"{n}.yaml" for n in HOSPITALS]
    document = yaml.safe_load((folder / "agreement.yaml").read_text())
    document["task"]["threshold"] = 5
    (folder / "other.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    edit(files[0], agreement="other.yaml")
    for f in files:
        edit(f, patience=5.0)
    found = run_threads(files)
    assert "threshold differ" in str(found["riverside"])
    assert not any(isinstance(r, tacit.Result) for r in found.values())


def test_nothing_confidential_in_what_a_party_prints(folder):
    edit(folder / "riverside.yaml", patience=0.3)
    done = subprocess.run(
        [sys.executable, "-m", "tacit", "party", "run", str(folder / "riverside.yaml")],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert "R0000" not in done.stdout + done.stderr
    assert "could not reach" in done.stderr


def write_stay(folder, **values):
    """Give hospitals lengths of stay with these distinct values, in turn."""
    for name, chosen in values.items():
        rows = [line.split(",") for line in (folder / f"{name}.csv").read_text().split()]
        for i, row in enumerate(rows[1:]):
            row[2] = str(chosen[i % len(chosen)])
        (folder / f"{name}.csv").write_text("\n".join(map(",".join, rows)) + "\n")


def test_few_values_at_one_party_need_no_levels(folder):
    write_stay(folder, eastgate=[1, 2, 3])
    found = run_threads([folder / f"{n}.yaml" for n in HOSPITALS])
    assert all(isinstance(r, tacit.Result) for r in found.values())


def test_few_values_at_all_others_are_named_in_the_agreement(folder):
    write_stay(folder, eastgate=[1, 2, 3], northfield=[2, 3, 4])
    files = [folder / f"{n}.yaml" for n in HOSPITALS]
    found = run_threads(files)
    assert all(isinstance(r, DisclosureRefused) for r in found.values()), found
    told = {str(r).partition("ends the run: ")[2] for r in found.values()}
    assert len(told) == 1
    assert "'stay' has at most 12 distinct values" in told.pop()
    document = yaml.safe_load((folder / "agreement.yaml").read_text())
    document["task"]["levels"]["stay"] = [1, 2, 3, 4]
    document["task"]["tol"] = 1e-4  # fewer rounds: only the ages of the others are unknown now
    edit(folder / "agreement.yaml", run="trial-2", task=document["task"])
    for f in files:
        edit(f, confirm=True)
    found = run_threads(files)
    assert all(isinstance(r, tacit.Result) for r in found.values()), found


def test_peers_are_told_that_a_party_cannot_begin(folder):
    files = [folder / f"{n}.yaml" for n in HOSPITALS]
    (folder / "eastgate.csv").rename(folder / "kept.csv")
    (folder / "eastgate.csv").write_text("patient,age\nE1,3\n")
    found = {}
    waiting = threading.Thread(target=lambda: found.update(run_threads(files[:2])))
    begun = time.monotonic()
    waiting.start()
    while waiting.is_alive() and time.monotonic() - begun < 50:
        assert isinstance(run_threads(files[2:])["eastgate"], InputError)
    waiting.join()
    assert time.monotonic() - begun < 50
    assert "could not begin" in str(found["riverside"]) + str(found["northfield"])
    (folder / "kept.csv").replace(folder / "eastgate.csv")
    found = run_threads(files)
    assert all(isinstance(r, tacit.Result) for r in found.values()), found


def test_nearly_the_same_data_and_other_parties_need_a_word(tmp_path):
    """Totals of two runs subtracted are the record, or the party, that is in one of them only."""
    rng = np.random.default_rng(3)
    rows = [f"person {rng.integers(10**6)},{rng.normal():.6f},{rng.integers(3)}" for _ in range(60)]
    log = RunLog(tmp_path / "runs.jsonl", limit=2)

    def admit(run, peers, lines, **options):
        (tmp_path / "d.csv").write_text("\n".join(["id,x,g", *lines]) + "\n")
        data = tacit.read(tmp_path / "d.csv")
        columns = sketch_columns(data, log.salt())
        log.admit(run, peers, "linear", table_fingerprint(data), columns, **options)

    admit("r1", ["b", "c"], rows)
    admit("r1", ["b", "c"], rows)  # the same run, after a crash
    admit("r2", ["b", "c"], rows[::-1])
    with pytest.raises(DisclosureRefused, match="as many runs"):
        admit("r3", ["b", "c"], rows[1:])
    with pytest.raises(DisclosureRefused, match=r"other parties \(c, d took part"):
        admit("r3", ["b", "d"], rows[2:])
    with pytest.raises(DisclosureRefused, match=r"other parties \(c took part"):
        admit("r3", ["b"], rows)
    admit("r3", ["b"], rows, confirmed=True)
    fresh = [
        f"person {rng.integers(10**6)},{rng.normal():.6f},{rng.integers(3)}" for _ in range(60)
    ]
    admit("r4", ["b", "d"], fresh)
    assert (tmp_path / "runs.jsonl").stat().st_mode & 0o777 == 0o600
    assert not any(row.split(",")[0] in (tmp_path / "runs.jsonl").read_text() for row in rows)
