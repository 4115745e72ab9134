"""Parties as processes: settings, a trial of three, a union over the network, refusals before work."""

import json
import subprocess
import sys
import threading

import pytest
import yaml

import tacit
from tacit.cli import main
from tacit.errors import DisclosureRefused, InputError, InvalidParameter, PartyMissing
from tacit.private.example import HOSPITALS, free_ports, run_trial, write_parties
from tacit.private.parties.certificates import make_certificates
from tacit.private.party import run_party
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
        assert "No party learnt" in facts["statement"]
        assert (out / "result.json").stat().st_mode & 0o777 == 0o600
        transcript = (out / "transcript.csv").read_text()
        assert "sum 1" in transcript
        assert "<svg" in (out / "result.html").read_text()
    assert main(["party", "run", str(folder / "riverside.yaml")]) == 1
    assert "holds a result already" in capsys.readouterr().err


def test_a_second_run_on_the_same_data_needs_a_word(folder):
    files = [folder / f"{n}.yaml" for n in HOSPITALS]
    assert all(isinstance(r, tacit.Result) for r in run_threads(files).values())
    edit(folder / "agreement.yaml", run="trial-2")
    for f in files:
        edit(f, out=f"{f.stem}-second", patience=3.0)
    refused = run_threads(files)
    assert all(isinstance(r, DisclosureRefused) for r in refused.values())
    for f in files:
        edit(f, confirm=True)
    assert all(isinstance(r, tacit.Result) for r in run_threads(files).values())


def test_a_missing_party_is_named_and_the_run_goes_on(folder):
    files = [folder / f"{n}.yaml" for n in HOSPITALS]
    for f in files:
        edit(f, patience=1.5)
    found = run_threads(files[:2])
    assert all(isinstance(r, PartyMissing) for r in found.values())
    assert "eastgate" in str(found["northfield"]) or "riverside" in str(found["northfield"])
    for f in files:
        edit(f, patience=30.0)
    assert all(isinstance(r, tacit.Result) for r in run_threads(files).values())


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
    write_parties(folder, n=120)
    edit(folder / "agreement.yaml", parties={"riverside": "nowhere"})
    with pytest.raises(InvalidParameter, match=r"host:port.*at least two"):
        read_party(own)
    write_parties(folder, n=120)
    document = yaml.safe_load((folder / "agreement.yaml").read_text())
    del document["task"]["levels"]
    edit(folder / "agreement.yaml", **document)
    with pytest.raises(InputError, match="no levels for the category 'ward'"):
        run_party(own)
    write_parties(folder, n=120)
    edit(folder / "agreement.yaml", task={"kind": "cox", "formula": "stay ~ age"})
    with pytest.raises(InvalidParameter, match="event and task"):
        read_party(own)
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
