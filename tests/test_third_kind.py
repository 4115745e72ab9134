"""A third kind of data in one file: plan, run, release, verification and report come with it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from pydantic import Field

import tacit
from tacit import kinds, registry
from tacit.claims import Claim, check_for
from tacit.claims import registry as claims
from tacit.errors import DisclosureRefused, PlanError
from tacit.kinds import Kind, register_kind
from tacit.result import Result
from tacit.spec import Measure, Method

# -- the kind: what a third party would write --------------------------------------------------------


@dataclass(frozen=True)
class Notes:
    """Short texts, one per person."""

    kind: ClassVar[str] = "notes"
    made_by: ClassVar[str] = "notes: make them with Notes(texts)"

    texts: tuple[str, ...]
    source: str = "memory"
    history: tuple[Any, ...] = field(default=())

    def __len__(self):
        return len(self.texts)

    def with_action(self, action):
        return replace(self, history=(*self.history, action))

    def materialise(self):
        return self

    def claim_view(self):
        return self.texts

    def faults_for(self, spec):
        del spec
        return []


class NotesKind(Kind[Notes]):
    name: ClassVar[str] = "notes"
    noun: ClassVar[str] = "notes"
    formats: ClassVar[tuple[str, ...]] = ("txt",)
    shows_all: ClassVar[bool] = True

    def holds_source(self, plan):
        return plan.source.path.endswith(".notes")

    def read(self, plan):
        path = plan.resolve(plan.source.path)
        return Notes(tuple(Path(path).read_text().splitlines()), str(path))

    def fingerprint(self, data):
        return hashlib.sha256("\n".join(data.texts).encode()).hexdigest()

    def compare(self, before, after):
        return {"changed": sum(a != b for a, b in zip(before.texts, after.texts, strict=True))}

    def describe(self, data):
        return {"notes": len(data), "columns": []}

    def default_measures(self, data):
        return ["longest_note"]

    def write_public(self, data, folder, form):
        (folder / f"data.{form}").write_text("\n".join(data.texts))
        return {"data": f"data.{form}"}

    def read_back(self, data, folder, names):
        return tuple((folder / names["data"]).read_text().splitlines())


class HideWord(Method[Notes]):
    """Replace a word by stars.

    References
    ----------
    None.
    """

    kind: Literal["hide_word"] = "hide_word"
    word: str = Field(min_length=1, description="the word")

    def _apply(self, data, ctx):
        ctx.note(word_length=len(self.word))
        return replace(data, texts=tuple(t.replace(self.word, "***") for t in data.texts))

    def _claims(self, data, result):
        yield Claim("word-absent", {"word": self.word}, "texts", ())


class RestoreWord(Method[Notes]):
    """Put a word in place of the stars: a step that undoes protection.

    References
    ----------
    None.
    """

    kind: Literal["restore_word"] = "restore_word"
    word: str = Field(description="the word")

    def _apply(self, data, ctx):
        return replace(data, texts=tuple(t.replace("***", self.word) for t in data.texts))


class LongestNote(Measure[Notes]):
    """The longest note, in letters.

    References
    ----------
    None.
    """

    kind: Literal["longest_note"] = "longest_note"

    def _measure(self, data, other, ctx):
        longest = max(map(len, data.texts))
        return Result(self.kind, "Longest note", float(longest), {"letters": longest})


@pytest.fixture(autouse=True)
def notes_are_known(monkeypatch):
    monkeypatch.setattr(kinds, "_kinds", dict(kinds._kinds))
    monkeypatch.setattr(registry, "_specs", registry.specs())
    claims.models()  # imported now, and so known after the test as well
    for name, value in vars(claims).items():
        if isinstance(value, dict) and not name.startswith("__"):
            monkeypatch.setattr(claims, name, dict(value))
    register_kind(NotesKind())
    for cls in (HideWord, RestoreWord, LongestNote):
        tacit.register(cls)

    @check_for("word-absent")
    def word_is_absent(texts: tuple[str, ...], claim: Claim) -> bool:
        return not any(claim.parameters["word"] in text for text in texts)


# -- what it gets --------------------------------------------------------------------------------------


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "ward.notes").write_text("Anna slept well\nBert met Anna\n")
    (tmp_path / "plan.yaml").write_text(
        "tacit: 1\nsource: ward.notes\nsteps: [{kind: hide_word, word: Anna}]\n"
    )
    return tacit.Plan.load(tmp_path / "plan.yaml")


def test_run_release_and_verify(plan, tmp_path):
    release = plan.run()
    assert release.data.texts == ("*** slept well", "Bert met ***")
    assert [r.value for r in release.before] == [15.0]
    assert [r.value for r in release.after] == [14.0]
    folder = release.write(tmp_path / "out")
    assert (folder / "data.txt").read_text() == "*** slept well\nBert met ***"
    found = tacit.verify(folder)
    assert found, found
    assert "re-run gives the same data" in repr(found)
    facts = json.loads((folder / "statement.json").read_text())
    assert facts["kind"] == "notes"
    assert facts["claims"][0]["model"] == "word-absent"


def test_reports_for_both_audiences(plan, tmp_path):
    folder = plan.run().write(tmp_path / "out")
    page = (folder / "report.html").read_text()
    assert "Longest note" in page
    assert "Anna" not in (folder / "data.txt").read_text()
    [secret] = (tmp_path / "out-confidential").glob("*/")
    assert "hide" in (secret / "board.html").read_text()


def test_a_step_that_undoes_protection_is_refused(plan, tmp_path):
    undone = plan.with_(steps=(*plan.steps, RestoreWord(word="Anna")))
    with pytest.raises(DisclosureRefused, match="word-absent"):
        undone.run().write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_changed_release_does_not_verify(plan, tmp_path):
    folder = plan.run().write(tmp_path / "out")
    (folder / "data.txt").write_text("Anna slept well\nBert met ***")
    found = repr(tacit.verify(folder))
    assert "NOT  files are as released" in found
    assert "NOT  claim holds" in found


def test_specs_of_another_kind_are_refused_before_work(plan):
    mixed = plan.with_(steps=(tacit.Datafly(k=2),))
    with pytest.raises(PlanError, match="the plan needs records"):
        mixed.run()


def test_saved_plans_are_the_same(plan, tmp_path):
    plan.save(tmp_path / "again.yaml")
    assert tacit.Plan.load(tmp_path / "again.yaml") == plan


def test_requirements_refuse(plan, tmp_path):
    document: Mapping[str, Any] = {
        **plan.to_dict(),
        "require": [{"kind": "longest_note", "at_most": 5}],
    }
    release = tacit.Plan.from_dict(document, base=plan.base).run()
    assert release.unmet == ("Longest note is 14, and at most 5 is required",)
    with pytest.raises(DisclosureRefused, match="at most 5"):
        release.write(tmp_path / "out")
