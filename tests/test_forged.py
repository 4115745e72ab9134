"""Forged releases: whatever somebody changes in either folder, verify says it, in a sentence and with its exit code."""

import dataclasses
import json
import random
import shutil

import pytest

import tacit
from conftest import FOUNDATIONS
from tacit.cli.app import main
from tacit.errors import DisclosureRefused, InputError
from tacit.plan import Plan
from tacit.release.folders import LOG, Manifest, file_hashes
from tacit.release.seals import seal_of
from tacit.release.signing import make_key, trust_key
from tacit.storage.chained_log import hash_of, line_of
from test_plan import PLAN


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a place with the source, a key, an older release kept aside, and a newer one that is signed."""
    place = tmp_path_factory.mktemp("made")
    (place / "fig28.csv").write_bytes((FOUNDATIONS / "fig28_data.csv").read_bytes())
    make_key(place / "office")
    release = Plan.from_dict(PLAN, base=place).run()
    release.write(place / "out", sign=place / "office")
    shutil.copytree(place / "out", place / "older")
    release.write(place / "out", sign=place / "office", force=True)
    release.write(place / "plain")
    return place


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_KEYS", str(tmp_path / "keys"))
    shutil.copytree(made, tmp_path / "p", symlinks=True)
    return tmp_path / "p"


def ledger_of(target):
    return target.with_name(f"{target.name}-confidential") / Manifest.read(target).release


def change(file, *path, to):
    """Set one field of a JSON file."""
    facts = inner = json.loads(file.read_text())
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    file.write_text(json.dumps(facts, indent=2, ensure_ascii=False))


def says(target, word, **options):
    found = tacit.verify(target, **options)
    assert not found.holds
    assert word in repr(found), found


def test_what_was_written_verifies(place, capsys):
    assert main(["verify", str(place / "out")]) == 0
    assert main(["verify", str(place / "plain")]) == 0
    assert main(["verify", str(place / "plain"), "--recipient"]) == 0
    assert "nobody signed" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["../planted", "/etc", "..", "planted", ""])
def test_the_release_is_an_id_and_never_a_path(place, path, monkeypatch):
    shutil.copytree(ledger_of(place / "plain"), place / "planted")
    monkeypatch.setattr(Plan, "load", lambda *_: pytest.fail("a planted plan was read"))
    change(place / "plain" / "manifest.json", "release", to=path)
    says(place / "plain", "manifest.json")


@pytest.mark.parametrize(
    "name", ["../fig28.csv", "/etc/passwd", "a/../../x", "a\\b", "..", "", "a\0b"]
)
def test_names_are_plain_names_inside_the_folder(place, name):
    change(place / "plain" / "manifest.json", "names", "data", to=name)
    says(place / "plain", "manifest.json")


@pytest.mark.parametrize(
    ("field", "value"), [("kind", "table"), ("tacit", "9.9"), ("ledger", "0" * 64), ("signer", "0" * 64)]
)  # fmt: skip
def test_every_field_of_the_manifest_is_bound(place, field, value):
    change(place / "plain" / "manifest.json", field, to=value)
    says(place / "plain", "changed")


@pytest.mark.parametrize(
    "field", ["seed", "source_fingerprint", "data_fingerprint", "written", "records"]
)
def test_every_field_of_the_ledger_is_bound(place, field):
    change(ledger_of(place / "plain") / "ledger.json", field, to=1)
    says(place / "plain", "NOT  ledger is the one written with it")


def test_a_changed_plan_in_the_confidential_folder_is_not_run(place, monkeypatch):
    plan = ledger_of(place / "plain") / "plan.yaml"
    plan.write_text(plan.read_text().replace("fig28.csv", "other.csv"))
    monkeypatch.setattr(Plan, "load", lambda *_: pytest.fail("a changed plan was read"))
    says(place / "plain", "not used")


def test_a_missing_ledger_is_said_unless_one_is_a_recipient(place, capsys):
    shutil.rmtree(ledger_of(place / "plain"))
    assert main(["verify", str(place / "plain")]) == 1
    assert "with the ledger is not here" in capsys.readouterr().out
    shutil.rmtree(place / "plain-confidential")
    assert main(["verify", str(place / "plain")]) == 1
    assert main(["verify", str(place / "plain"), "--recipient"]) == 0


@pytest.mark.parametrize("gone", [["manifest.sig"], ["signer.pub"], ["manifest.sig", "signer.pub"]])
def test_a_stripped_or_halved_signature_is_said(place, gone):
    for name in gone:
        (place / "out" / name).unlink()
    says(place / "out", "is missing")
    says(place / "out", "is missing", recipient=True)


def test_a_signature_by_another_key_is_said(place):
    make_key(place / "forger")
    says(place / "out", "not trusted here", signer=place / "forger.pub")
    shutil.copy(place / "forger.pub", place / "out" / "signer.pub")
    says(place / "out", "not the key that the manifest names", recipient=True)


def test_an_older_release_put_back_is_said(place):
    shutil.rmtree(place / "out")
    shutil.copytree(place / "older", place / "out")
    assert tacit.verify(place / "out", recipient=True), "it is whole in itself"
    says(place / "out", "an older release was put back")
    log = place / "out-confidential" / LOG
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:1]))
    says(place / "out", "entries were taken")


def test_a_changed_or_missing_log_is_said(place):
    log = place / "out-confidential" / LOG
    log.write_text(log.read_text().replace('"number": 1', '"number": 3'))
    says(place / "out", "was changed at entry 1")
    log.write_bytes(b"\xff\xfe")
    says(place / "out", "was changed at entry 1")
    log.unlink()
    says(place / "out", "does not know it")


def test_the_store_of_trusted_keys_is_used_without_being_told(place, capsys, monkeypatch):
    trust_key(place / "office.pub")
    assert main(["verify", str(place / "out")]) == 0
    # A release without a signature could be one from which it was taken, manifest and all.
    assert main(["verify", str(place / "plain"), "--recipient"]) == 1
    assert "not signed, and keys are trusted" in capsys.readouterr().out
    make_key(place / "other")
    assert main(["key", "untrust", "office"]) == 0
    assert main(["key", "trust", str(place / "other.pub"), "--name", "ministry"]) == 0
    assert main(["verify", str(place / "out")]) == 1
    assert "a key that is not trusted here" in capsys.readouterr().out
    assert main(["key", "list"]) == 0
    assert "ministry: " in capsys.readouterr().out
    assert main(["key", "untrust", "nobody"]) == 2
    assert main(["key", "trust", str(place / "fig28.csv")]) == 2
    (place / "store.pub").write_text("x")
    monkeypatch.setenv("TACIT_KEYS", str(place))
    assert main(["verify", str(place / "out")]) == 2
    assert "is not a public key" in capsys.readouterr().err


def test_a_key_of_the_same_name_is_not_replaced(place):
    make_key(place / "other")
    kept = trust_key(place / "office.pub")
    assert trust_key(place / "office.pub", "again") == kept
    with pytest.raises(DisclosureRefused, match="another key is trusted"):
        trust_key(place / "other.pub", "office")
    with pytest.raises(InputError, match="plain word"):
        trust_key(place / "other.pub", "../office")


# -- a forger of both folders ------------------------------------------------------------------------------


def bind_again(target, *, unsigned=False):
    """Make manifest, seal, name and log anew, as somebody can who may write both folders and has no key."""
    manifest, home = Manifest.read(target), target.with_name(f"{target.name}-confidential")
    secret = home / manifest.release
    ledger = json.loads((secret / "ledger.json").read_text())
    files = dict(file_hashes(target))
    if ledger.get("files") == dict(manifest.files):
        change(secret / "ledger.json", "files", to=files)
    if unsigned:
        manifest = dataclasses.replace(manifest, signer="")
        for name in ("manifest.sig", "signer.pub"):
            (target / name).unlink()
    made = dataclasses.replace(manifest, files=files, ledger=seal_of(secret))
    made.write(target)
    secret.rename(home / made.release)
    entries = [json.loads(line) for line in (home / LOG).read_text().splitlines()]
    entries[-1] |= {"release": made.release, "signer": made.signer}
    entries[-1]["hash"] = hash_of(entries[-1])
    (home / LOG).write_bytes(b"".join(map(line_of, entries)))


def replaced(name, old, new):
    """Change a public file."""

    def act(target):
        text = (target / name).read_text(encoding="utf-8")
        assert old in text
        (target / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return act


def told(*path, to):
    """Change the ledger."""
    return lambda target: change(ledger_of(target) / "ledger.json", *path, to=to)


FORGERIES = {
    "data.csv": replaced("data.csv", "obesity", "hypertension"),
    "statement.json": replaced("statement.json", '"k": 2', '"k": 1'),
    "statement.md": replaced("statement.md", "What is claimed", "What is proven"),
    "plan.yaml": replaced("plan.yaml", "k: 2", "k: 3"),
    "report.html": replaced("report.html", "</h1>", " checked by the ministry</h1>"),
    "extra.csv": lambda target: (target / "extra.csv").write_text("a\n1\n"),
    "gone": lambda target: (target / "report.html").unlink(),
    "seed": told("seed", to=11),
    "records": told("records", to=12_000),
    "claims": told("claims", to=[]),
    "attention": told("attention", to=["nothing"]),
    "steps": told("steps", 0, "changes", "dropped", to=0),
    "before": told("before", to=[]),
    "after": told("after", 0, "numbers", "k", to=99),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forger_of_both_folders_is_found_by_the_re_run(place, what):
    """Whoever may write everything can bind everything anew, and cannot have the plan say the same."""
    FORGERIES[what](place / "plain")
    bind_again(place / "plain")
    says(place / "plain", "NOT  re-run ")


def test_what_is_bound_again_unchanged_verifies(place):
    bind_again(place / "plain")
    assert tacit.verify(place / "plain")


def test_a_signature_is_not_made_anew(place):
    FORGERIES["statement.md"](place / "out")
    bind_again(place / "out")
    says(place / "out", "it was not made by this key")


def test_a_release_whose_signature_was_taken_is_found_where_a_key_is_trusted(place):
    trust_key(place / "office.pub")
    bind_again(place / "out", unsigned=True)
    says(place / "out", "not signed, and keys are trusted")


# -- a forger at random ------------------------------------------------------------------------------------


def forge(rng, place):
    """Change one thing in one of the folders, at random; return what it was."""
    target = place / "out"
    homes = [target, ledger_of(target), place / "out-confidential"]
    home = rng.choice(homes)
    files = sorted(p for p in home.iterdir() if p.is_file() and not p.name.endswith(".lock"))
    file, other = rng.choice(files), rng.choice(files)
    act = rng.choice(
        ["byte", "byte", "field", "field", "delete", "swap", "link", "add", "move", "cut", "folder"]
    )
    content = file.read_bytes()
    if act == "byte":
        at = rng.randrange(len(content))
        file.write_bytes(
            content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
        )
    elif act == "field":
        file = rng.choice([f for f in files if f.suffix in (".json", ".jsonl")] or files)
        if file.suffix != ".json":
            file.write_bytes(file.read_bytes() + b" ")
        else:
            facts = json.loads(file.read_text())
            alter(rng, facts)
            file.write_text(json.dumps(facts, indent=2, ensure_ascii=False))
    elif act == "delete":
        file.unlink()
    elif act == "swap":
        if file.read_bytes() == other.read_bytes():
            file.unlink()
        else:
            other_content = other.read_bytes()
            other.write_bytes(content)
            file.write_bytes(other_content)
    elif act == "link":
        moved = place / "elsewhere"
        file.rename(moved)
        file.symlink_to(moved)
        if home == homes[2]:
            moved.write_bytes(moved.read_bytes()[:-1])
    elif act == "add":
        home = rng.choice(homes[:2])
        (home / rng.choice(["extra.csv", ".hidden", "é\udcff", "new\nline"])).write_text("x")
    elif act == "move":
        file.rename(file.with_name(file.name + "x"))
    elif act == "cut":
        file.write_bytes(content[: rng.randrange(len(content))])
    else:
        file.unlink()
        file.mkdir()
    return act, home.name, file.name


def alter(rng, node):
    """Change one leaf of nested data, delete it, or add a key."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    deep = [k for k in keys if isinstance(node[k], dict | list) and node[k]]
    if deep and rng.random() < 0.6:
        return alter(rng, node[rng.choice(deep)])
    key = rng.choice(keys)
    if rng.random() < 0.2:
        del node[key]
    else:
        node[key] = rng.choice([0, -1, "x", None, [], {}, 10**30, "../planted", [node[key]]])
    return None


def judge(made, tmp_path, seed, capsys):
    """Forge once and verify from the shell: nonzero, a sentence, no traceback and no message about the inside."""
    rng = random.Random(seed)
    place = tmp_path / str(seed)
    shutil.copytree(made, place, symlinks=True)
    done = forge(rng, place)
    code = main(["verify", str(place / "out")])
    told = capsys.readouterr()
    assert code in (1, 2), (seed, done, told.out)
    assert "went wrong inside" not in told.err, (seed, done, told.err)
    assert "NOT" in told.out or told.err.strip(), (seed, done)
    shutil.rmtree(place)


@pytest.mark.parametrize("block", range(4))
def test_a_forger_is_found(made, tmp_path, block, capsys):
    for seed in range(15 * block, 15 * block + 15):
        judge(made, tmp_path, seed, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_a_tireless_forger_is_found(made, tmp_path, block, capsys):
    for seed in range(1000 + 60 * block, 1060 + 60 * block):
        judge(made, tmp_path, seed, capsys)
