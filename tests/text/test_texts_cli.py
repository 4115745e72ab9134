"""``tacit scrub``, ``tacit review``, the example, and plans of texts from the shell."""

import json
import stat

import pytest

import tacit
from tacit.cli import main
from tacit.text.review import (
    Entry,
    Lists,
    decide,
    queue_of,
    read_decisions,
    read_queue,
    write_queue,
)

pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
TEXT = "Seen by Chri at noon.\r\nDear Dr. Lang:\r\nI saw Virginia Townsend (born 05/26/1986) has diabetes. Zorbla came."


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("Townsend_V.txt", "b.txt"):
        (folder / name).write_text(TEXT, encoding="utf-8", newline="")
    (tmp_path / "known.csv").write_text(
        "document,name\nTownsend_V.txt,Virginia Townsend\n", encoding="utf-8"
    )
    return tmp_path


def test_scrub_a_folder(notes, capsys):
    assert (
        main(
            [
                "scrub",
                str(notes / "notes"),
                "--out",
                str(notes / "out"),
                "--record",
                str(notes / "known.csv"),
            ]
        )
        == 0
    )
    printed = capsys.readouterr().out
    assert "Townsend" not in printed
    assert "holds: no-known-values on texts" in printed
    names = sorted(f.name for f in (notes / "out" / "texts").iterdir())
    assert names == ["text-0001.txt", "text-0002.txt"]
    assert "\r\n" in (notes / "out" / "texts" / "text-0001.txt").read_bytes().decode()
    assert main(["verify", str(notes / "out")]) == 0
    assert main(["scrub", str(notes / "notes"), "--out", str(notes / "out")]) == 1
    assert main(["scrub", str(notes / "notes"), "--out", str(notes / "notes")]) == 1


@pytest.mark.parametrize("form", ["jsonl", "html", "brat"])
def test_other_formats_verify(notes, form, capsys):
    assert main(["scrub", str(notes / "notes"), "--out", str(notes / "out"), "--format", form]) == 0
    assert main(["verify", str(notes / "out")]) == 0
    assert "NOT" not in capsys.readouterr().out


def test_review_goes_round(notes, capsys, monkeypatch):
    def scrub():
        return main(
            ["scrub", str(notes / "notes"), "--out", str(notes / "out"), "--force", "--review"]
        )

    def doubt(text, settings, record=None, find=tacit.text.engine.find_spans):
        """Find the odd word with little certainty, unless reviewers have decided on it."""
        found, at = find(text, settings, record), text.find("Zorbla")
        if at < 0 or "Zorbla" in (settings.accepted or {}):
            return found
        spans = tuple(s for s in found.spans if not s.start <= at < s.end)
        odd = () if "zorbla" in settings.rejected else (tacit.Span(at, at + 6, "name", 0.5),)
        return type(found)(spans, (*found.uncertain, *odd), found.warnings)

    monkeypatch.setattr("tacit.text.engine.find_spans", doubt)
    assert scrub() == 0
    queue = notes / "out-confidential" / "review.json"
    assert stat.S_IMODE(queue.stat().st_mode) == 0o600
    assert "Zorbla" not in capsys.readouterr().out
    words = [e.word for e in read_queue(queue)]
    number = words.index("Zorbla") + 1
    assert main(["review", str(queue), "--accept", str(number)]) == 0
    assert "1 accepted" in capsys.readouterr().out
    assert scrub() == 0
    assert "1 decisions honoured" in capsys.readouterr().out
    assert all(
        "Zorbla" not in f.read_text(encoding="utf-8") for f in (notes / "out" / "texts").iterdir()
    )
    assert main(["verify", str(notes / "out")]) == 0
    number = [e.word for e in read_queue(queue)].index("Zorbla") + 1
    assert main(["review", str(queue), "--reject", str(number)]) == 0
    assert main(["verify", str(notes / "out")]) == 0, (
        "a release keeps the decisions that it was made with"
    )
    assert scrub() == 0
    assert any(
        "Zorbla" in f.read_text(encoding="utf-8") for f in (notes / "out" / "texts").iterdir()
    )
    assert main(["review", str(queue), "--accept", "999"]) == 2


def test_decisions_stand_in_plans(notes):
    queue = notes / "queue.json"
    write_queue(
        queue,
        [Entry("noon", "name", 0.4, 1, "", "accept"), Entry("Lang", "name", 0.9, 1, "", "reject")],
    )
    (notes / "plan.yaml").write_text(
        "tacit: 1\nsource: notes\nsteps: [{kind: scrub, review: queue.json}]\n", encoding="utf-8"
    )
    plan = tacit.Plan.load(notes / "plan.yaml")
    release = plan.run()
    assert "noon" not in release.data.documents[0].text
    assert "Lang" in release.data.documents[0].text
    folder = release.write(notes / "out")
    queue.unlink()
    assert tacit.verify(folder), "the decisions are in the confidential plan"
    assert any("queue" in fault or "review" in fault for fault in plan.faults())
    assert "noon" not in (folder / "plan.yaml").read_text()


def test_a_table_with_notes(notes, capsys):
    file = notes / "t.csv"
    file.write_text(
        'id,name,note\n1,Virginia Townsend,"Virginia slept"\n2,Bo Li,fine\n', encoding="utf-8"
    )
    common = ["--columns", "note", "--identifiers", "id,name"]
    assert main(["scrub", str(file), "--out", str(notes / "o"), *common]) == 0
    assert "Virginia" not in (notes / "o" / "data.csv").read_text()
    assert main(["verify", str(notes / "o")]) == 0
    capsys.readouterr()
    assert (
        main(["scrub", str(file), "--out", str(notes / "o2"), "--text", "note", "--record", "name"])
        == 0
    )
    assert main(["verify", str(notes / "o2")]) == 0
    assert (
        main(["scrub", str(notes / "notes"), "--out", str(notes / "o3"), "--identifiers", "x"]) == 2
    )


def test_list_only_counts(notes, capsys):
    assert main(["scrub", str(notes / "notes"), "--out", str(notes / "o"), "--mode", "list"]) == 0
    printed = capsys.readouterr().out
    assert "documents" in printed
    assert "Townsend" not in printed
    assert not (notes / "o").exists()


def test_apply_and_measure_on_texts(notes, capsys):
    assert (
        main(["apply", "scrub", str(notes / "notes"), "--out", str(notes / "o"), "--mode", "tag"])
        == 0
    )
    assert sorted(f.name for f in (notes / "o").iterdir()) == ["text-0001.txt", "text-0002.txt"]
    assert main(["measure", "text-risk", str(notes / "notes")]) == 0
    assert "Residual risk" in capsys.readouterr().out


def test_the_example_runs(tmp_path, capsys):
    assert main(["example", str(tmp_path), "--of", "notes", "--records", "30"]) == 0
    for plan in ("letters", "patients"):
        assert main(["check", str(tmp_path / f"{plan}.yaml")]) == 0
        assert main(["run", str(tmp_path / f"{plan}.yaml")]) == 0
        assert main(["verify", str(tmp_path / f"{plan}-release")]) == 0
    capsys.readouterr()


def test_gold_gives_recall_and_precision(tmp_path, capsys):
    corpus = tacit.examples.letters(12, seed=9)
    tacit.write_texts(corpus, tmp_path / "brat", "brat")
    with pytest.raises(tacit.SdcError):
        tacit.read_texts(tmp_path / "brat" / "nothing")
    release = tacit.Plan([tacit.Scrub()]).run(tacit.read_texts(tmp_path / "brat", gold=True))
    risk, utility = release.after
    assert risk.numbers["spans marked by people"] == sum(len(d.gold) for d in corpus)
    assert 0.5 < risk.numbers["found of them"] <= 1
    assert 0.5 < utility.numbers["rightly replaced (precision)"] <= 1


# -- the queue ---------------------------------------------------------------------------------------


def test_lists_join_and_the_later_word_holds():
    one, two = Lists({"a": "name"}, frozenset({"b"})), Lists({"b": "id"}, frozenset({"a"}))
    assert one.joined(two).to_dict() == {"id": ("b",), "keep": ("a",)}


def test_queues_are_checked(tmp_path):
    file = tmp_path / "q.json"
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(tacit.SdcError, match="no review queue"):
        read_queue(file)
    file.write_text(
        json.dumps(
            {
                "queue": [
                    {
                        "word": "x",
                        "kind": "name",
                        "certainty": 0.5,
                        "times": 1,
                        "context": "",
                        "decision": "perhaps",
                    }
                ]
            }
        ),
        encoding="utf-8",
    )
    with pytest.raises(tacit.SdcError, match="entry 1") as caught:
        read_decisions(file)
    assert "x" not in str(caught.value).replace("accept", "")
    with pytest.raises(tacit.SdcError):
        read_queue(tmp_path / "none.json")
    assert decide([Entry("x", "name", 0.5, 1, "")], [1], [])[0].decision == "accept"
    assert queue_of(tacit.Corpus.of(["x"])) == []
