"""What is there stays there: no command deletes or replaces files that it did not write, unless asked by name."""

import contextlib
import json
import random
import shutil
from dataclasses import replace

import pytest

import tacit
from common.cases import people
from conftest import FOUNDATIONS
from tacit.cli.app import main
from tacit.errors import DisclosureRefused, SdcError
from tacit.plan import Plan
from tacit.release import folders
from test_plan import PLAN


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    place = tmp_path_factory.mktemp("source")
    (place / "fig28.csv").write_bytes((FOUNDATIONS / "fig28_data.csv").read_bytes())
    return Plan.from_dict(PLAN, base=place).run()


@pytest.fixture
def victim(tmp_path):
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "thesis.txt").write_text("mine")
    return tmp_path / "victim"


def snapshot(folder):
    """Return every entry of a folder with its content."""
    return {p.relative_to(folder): p.is_file() and p.read_bytes() for p in folder.rglob("*")}


def refuses(release, target):
    for force in (False, True):
        with pytest.raises(SdcError):
            release.write(target, force=force)


def test_a_way_up_through_a_folder_that_is_not_there(release, victim, tmp_path):
    before = snapshot(tmp_path)
    refuses(release, tmp_path / "w" / ".." / "victim")
    assert snapshot(tmp_path) == before


def test_links_to_other_folders(release, victim, tmp_path):
    (tmp_path / "link").symlink_to(victim)
    (tmp_path / "deep").symlink_to(tmp_path)
    before = snapshot(victim)
    refuses(release, tmp_path / "link")
    refuses(release, tmp_path / "deep" / "victim")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    refuses(release, tmp_path / "circle")
    assert snapshot(victim) == before


@pytest.mark.parametrize(
    "text", ["{}", "", "[]", '{"release": "x", "files": {}}', "copied", "empty"]
)
def test_a_file_called_manifest_makes_no_release(release, victim, tmp_path, text):
    if text in ("copied", "empty"):
        made = release.write(tmp_path / "other")
        shutil.copy(made / "manifest.json", victim / "manifest.json")
    else:
        (victim / "manifest.json").write_text(text)
    if text == "empty":
        (victim / "thesis.txt").unlink()
    before = snapshot(victim)
    refuses(release, victim)
    assert snapshot(victim) == before


def test_files_put_into_a_release_are_not_lost_with_it(release, tmp_path):
    target = release.write(tmp_path / "out")
    (target / "notes.txt").write_text("mine")
    with pytest.raises(DisclosureRefused, match=r"notes\.txt"):
        release.write(target, force=True)
    assert (target / "notes.txt").read_text() == "mine"
    (target / "notes.txt").unlink()
    release.write(target, force=True)


def test_a_ledger_that_would_lie_in_the_release(release, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out-confidential").symlink_to(tmp_path / "out")
    with pytest.raises(DisclosureRefused, match="would be given away"):
        release.write(tmp_path / "out")


def test_a_folder_that_appears_meanwhile(release, tmp_path, monkeypatch):
    def late(*args):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "thesis.txt").write_text("mine")
        return inner(*args)

    inner = folders.seal_folder
    monkeypatch.setattr(folders, "seal_folder", late)
    with pytest.raises(DisclosureRefused, match="other files"):
        release.write(tmp_path / "out")
    assert (tmp_path / "out" / "thesis.txt").read_text() == "mine"
    assert not list((tmp_path / "out-confidential").glob("*/"))


def test_what_was_there_comes_back_when_the_move_fails(release, tmp_path, monkeypatch):
    target = release.write(tmp_path / "out")
    before = snapshot(tmp_path)
    inner = type(tmp_path).rename

    def fail(self, place):
        if self.name == "public":
            raise OSError(5, "Input/output error")
        return inner(self, place)

    monkeypatch.setattr(type(tmp_path), "rename", fail)
    monkeypatch.setattr(folders, "exchange", lambda *_: False)
    with pytest.raises(SdcError, match="Nothing was changed"):
        release.write(target, force=True)
    assert snapshot(tmp_path) == before
    assert tacit.verify(target)


def test_data_never_replace_a_folder_of_other_files(tmp_path):
    (tmp_path / "x.csv").mkdir()
    (tmp_path / "x.csv" / "thesis.txt").write_text("mine")
    with pytest.raises(DisclosureRefused, match="folder with other files"):
        tacit.io.write(people(), tmp_path / "x.csv", overwrite=True)
    with pytest.raises(DisclosureRefused, match="folder with other files"):
        tacit.io.write_frame({"a": [1]}, tmp_path / "x.csv", overwrite=True)
    assert (tmp_path / "x.csv" / "thesis.txt").read_text() == "mine"


def test_a_folder_of_parts_is_replaced_when_asked(tmp_path):
    parts = tmp_path / "x.parquet"
    parts.mkdir()
    (parts / "part-00000.snappy.parquet").write_bytes(b"")
    (parts / "_SUCCESS").write_bytes(b"")
    tacit.io.write(people(), parts, overwrite=True)
    assert parts.is_file()
    assert [p.name for p in tmp_path.iterdir()] == ["x.parquet"]


def test_a_folder_much_like_our_own_is_not_cleared(release, tmp_path):
    for name in (".out-thesis", ".out-thesis-of-mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".in-use").write_text("")
    release.write(tmp_path / "out")
    assert (tmp_path / ".out-thesis").exists()
    assert (tmp_path / ".out-thesis-of-mine").exists()


# -- the shell -------------------------------------------------------------------------------------------


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().to_pandas().to_csv("people.csv", index=False)
    (tmp_path / "mine").write_text("mine")
    return tmp_path


COMMANDS = [
    ["schema", "--out", "mine"],
    ["key", "mine"],
    ["profile", "people.csv", "--out", "mine"],
    ["measure", "k-anonymity", "people.csv", "--keys", "sex", "--plot", "mine"],
    ["apply", "add-noise", "people.csv", "--columns", "income", "--sd", "2", "--out", "mine"],
    ["tables", "people.csv", "people.csv", "--out", "mine"],
    ["agreement", "nowhere", "--out", "mine"],
    ["compare", "nowhere.yaml", "--plot", "mine"],
    ["example", "mine"],
    ["experiment", "pram", "--out", "mine"],
    [
        "recommend",
        "people.csv",
        "--risk",
        "k_anonymity",
        "--utility",
        "information_loss",
        "--cap",
        "1",
        "--out",
        "mine",
    ],
    ["census", "licence", "--out", "mine"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[0])
def test_no_command_writes_over_a_file(command, shell, capsys):
    assert main(command) in (1, 2)
    assert (shell / "mine").read_text() == "mine"
    assert "went wrong inside" not in capsys.readouterr().err


def test_an_example_replaces_nothing(shell, capsys):
    (shell / "demo").mkdir()
    (shell / "demo" / "hospital.yaml").write_text("mine")
    assert main(["example", "demo", "--records", "100"]) == 1
    assert {p.name for p in (shell / "demo").iterdir()} == {"hospital.yaml"}
    assert (shell / "demo" / "hospital.yaml").read_text() == "mine"
    assert main(["example", "other", "--records", "100"]) == 0
    assert "tacit run other/hospital.yaml" in capsys.readouterr().out
    assert main(["example", "other", "--records", "100"]) == 1


def test_certificates_are_never_written_over(shell):
    assert main(["party", "certificates", "c", "a", "b"]) == 0
    before = snapshot(shell / "c")
    assert main(["party", "certificates", "c", "a", "b"]) == 1
    assert snapshot(shell / "c") == before


def test_a_map_and_a_recommendation_leave_other_plans_alone(shell):
    from tacit.rumap import RUMapResult
    from tacit.rumap.points import Point

    from tacit.alternatives.recommendation.result import refuse_replacing

    (shell / "plan.yaml").write_text("mine")
    (shell / "plan-2024.yaml").write_text("mine")
    points = [Point("a", "x", {}, 0.1, 0.5), Point("b", "x", {}, 0.2, 0.7)]
    found = RUMapResult.from_points(points)
    for force in (False, True):
        with pytest.raises(DisclosureRefused, match=r"plan\.yaml"):
            found.write(shell, force=force)
        with pytest.raises(DisclosureRefused, match=r"plan-2024\.yaml"):
            refuse_replacing(shell, force=force)
    found.write(shell / "map")
    with pytest.raises(DisclosureRefused, match="force"):
        found.write(shell / "map")
    found.write(shell / "map", force=True)
    assert (shell / "plan.yaml").read_text() == "mine"


# -- targets at random --------------------------------------------------------------------------------------


def test_targets_at_random_cost_nobody_a_file(release, tmp_path):
    """Paths with ways up and links, over folders that look like releases: files that are not ours all stay."""
    rng = random.Random(22)
    lean = replace(release, before=(), after=())
    for trial in range(12):
        place = tmp_path / str(trial)
        for name in ("a", "b", "a/c"):
            (place / name).mkdir(parents=True)
            for file in rng.sample(
                ["manifest.json", "data.csv", "thesis.txt", ".in-use"], rng.randint(1, 3)
            ):
                (place / name / file).write_text(
                    rng.choice(["mine", "{}", json.dumps({"format": folders.FORMAT})])
                )
        (place / "link").symlink_to(rng.choice(["a", "b", "a/c", "nowhere"]))
        before = snapshot(place)
        parts = [
            rng.choice(["a", "b", "c", "..", "link", "new", "."]) for _ in range(rng.randint(1, 5))
        ]
        with contextlib.suppress(SdcError):
            lean.write(place.joinpath(*parts), force=rng.random() < 0.7)
        after = snapshot(place)
        assert all(after.get(name) == content for name, content in before.items() if content), parts
