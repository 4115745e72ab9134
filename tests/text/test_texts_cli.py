"""``tacit scrub``, ``tacit review``, the example, and plans of texts from the shell."""

import contextlib
import json
import os
import stat
import subprocess
import sys
from dataclasses import replace

import pytest

import tacit
from letters import write_letters
from tacit.cli import main
from tacit.text.review import (
    Entry,
    Lists,
    Queue,
    decide,
    queue_of,
    read_decisions,
    read_queue,
    save_decisions,
    write_over,
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
    assert main(["scrub", str(notes / "notes"), "--out", str(notes / "notes" / "below")]) == 1
    assert "lies in the folder" in capsys.readouterr().err
    assert len(list((notes / "notes").iterdir())) == 2


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
    words = [e.word for e in read_queue(queue).entries]
    number = words.index("Zorbla") + 1
    assert main(["review", str(queue), "--accept", str(number)]) == 0
    assert "1 accepted" in capsys.readouterr().out
    assert scrub() == 0
    assert "1 decisions honoured" in capsys.readouterr().out
    assert all(
        "Zorbla" not in f.read_text(encoding="utf-8") for f in (notes / "out" / "texts").iterdir()
    )
    assert main(["verify", str(notes / "out")]) == 0
    number = [e.word for e in read_queue(queue).entries].index("Zorbla") + 1
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
    decided = [
        Entry("noon", "name", 0.4, 1, "", "accept"),
        Entry("Lang", "name", 0.9, 1, "", "reject"),
    ]
    write_queue(queue, Queue(decided))
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
    assert "medical terms kept" in capsys.readouterr().out
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
    assert main(["scrub", str(notes / "notes"), "--mode", "list"]) == 0
    printed = capsys.readouterr().out
    assert "texts" in printed
    assert "Townsend" not in printed
    file = notes / "t.csv"
    file.write_text("name,note\nBo Li,Bo Li slept\n", encoding="utf-8")
    assert (
        main(["scrub", str(file), "--mode", "list", "--columns", "note", "--identifiers", "name"])
        == 0
    )
    assert "not certain enough" in capsys.readouterr().out
    for more in (["--out", str(notes / "o")], ["--review"]):
        assert main(["scrub", str(notes / "notes"), "--mode", "list", *more]) == 2
        assert f"leave {more[0]} out" in capsys.readouterr().err
    assert not (notes / "o").exists()
    assert main(["scrub", str(notes / "notes")]) == 2
    assert "--out" in capsys.readouterr().err


#: Places and a nickname that the evidence speaks for, and not for certain.
DOUBTFUL = "They called it Vornholm for years."


@pytest.mark.parametrize("where", ["here", "processes"])
def test_review_of_a_text_column(notes, capsys, monkeypatch, where):
    file = notes / "t.csv"
    file.write_text(
        "pid,name,note\n"
        f'P90412,Virginia Townsend,"{DOUBTFUL} Mayor of Ashwick in 1998."\n'
        f'P90413,Bo Li,"{DOUBTFUL} Bo Li slept."\n',
        encoding="utf-8",
    )
    if where == "processes":
        monkeypatch.setattr("tacit.text.work.WORTH_STARTING", 1)
        monkeypatch.setattr("tacit.text.work.worker_count", lambda: 2)

    def scrub():
        common = ["--columns", "note", "--identifiers", "pid,name", "--threshold", "0.99"]
        return main(["scrub", str(file), "--out", str(notes / "o"), "--force", "--review", *common])

    assert scrub() == 0
    said = capsys.readouterr().out
    queue = notes / "o-confidential" / "review.json"
    found = read_queue(queue)
    word = found.entries[0]
    assert word.times == 2
    assert word.word not in said
    assert "P90412" not in queue.read_text(encoding="utf-8")
    assert stat.S_IMODE(queue.stat().st_mode) == 0o600
    records = notes / "o-confidential" / "review-records.json"
    assert stat.S_IMODE(records.stat().st_mode) == 0o600
    tokens = json.loads(records.read_text(encoding="utf-8"))
    assert {n["document"].removeprefix("record ") for n in found.narratives} == set(tokens)
    assert list(tokens.values()) == [1]
    assert main(["review", str(queue), "--accept", "1"]) == 0
    assert scrub() == 0
    assert "1 decisions honoured" in capsys.readouterr().out
    assert word.word not in (notes / "o" / "data.csv").read_text(encoding="utf-8")
    assert main(["verify", str(notes / "o")]) == 0


def test_a_damaged_queue_is_refused_before_any_work(notes, capsys):
    queue = notes / "q.json"
    queue.write_text("{}", encoding="utf-8")
    given = ["scrub", str(notes / "notes"), "--out", str(notes / "o"), "--review", str(queue)]
    assert main(given) == 2
    assert "no review queue" in capsys.readouterr().err
    assert not (notes / "o").exists()


@pytest.mark.parametrize("form", ["jsonl", "html", "brat"])
@pytest.mark.parametrize("mode", ["substitute", "mask", "tag"])
def test_marks_show_what_was_put_in(notes, form, mode, capsys):
    out = notes / "o"
    given = ["--out", str(out), "--format", form, "--marks", "--mode", mode]
    assert main(["scrub", str(notes / "notes"), "--record", str(notes / "known.csv"), *given]) == 0
    assert main(["verify", str(out)]) == 0
    content = "".join(
        f.read_text(encoding="utf-8")
        for f in out.rglob("*")
        if f.suffix in (".ann", ".jsonl", ".html")
    )
    assert "Townsend" not in content
    kind = {"jsonl": '"kind": "name"', "html": "data-kind='name'", "brat": "\tNAME "}[form]
    assert kind in content
    assert 'certainty":' not in content


def test_a_format_that_cannot_be_written_is_refused_before_any_work(notes, monkeypatch, capsys):
    monkeypatch.setattr("tacit.Plan.run", lambda *_given, **_named: pytest.fail("it ran"))
    assert main(["scrub", str(notes / "notes"), "--out", str(notes / "o"), "--format", "docx"]) == 2
    assert "txt, jsonl, html, brat" in capsys.readouterr().err


def test_marks_have_their_place(notes, capsys):
    assert main(["scrub", str(notes / "notes"), "--out", str(notes / "o"), "--marks"]) == 2
    assert "--format" in capsys.readouterr().err
    with pytest.raises(tacit.SdcError, match="no place"):
        tacit.Scrub(columns=["note"], marks=True).apply(tacit.read({"note": ["x"]}))


def test_marks_lie_on_what_is_new():
    """Outside of the marks the released text is the original one, piece by piece and in order."""
    corpus = write_letters(40, seed=11)
    known = [{"name": d.text[s.start : s.end]} for d in corpus for s in (d.gold or ())[:1]]
    corpus = corpus.with_documents(
        replace(d, record=r) for d, r in zip(corpus, known, strict=False)
    )
    released = tacit.Scrub(marks=True, mode="tag").apply(corpus, seed=2)
    assert sum(len(d.marks) for d in released) > 100
    for document in released:
        at = place = 0
        original = document.origin.text
        for mark in document.marks:
            assert mark.start >= at
            same = document.text[at : mark.start]
            place = original.index(same, place) + len(same)
            at = mark.end
        assert original.endswith(document.text[at:])


def test_review_on_a_terminal(notes):
    """The questions are asked on a terminal of its own, and the answers land in the queue."""
    pty = pytest.importorskip("pty")
    queue = notes / "q.json"
    words = [Entry(w, "name", 0.5, 1, f"saw >>{w}<< today") for w in ("Aaa", "Bbb", "Ccc", "Ddd")]
    write_queue(queue, Queue(words, [{"document": "x", "reason": "y"}], 3))
    control, line = pty.openpty()
    command = [sys.executable, "-m", "tacit", "review", str(queue)]
    with subprocess.Popen(command, stdin=line, stdout=line, stderr=line) as running:
        os.close(line)
        os.write(control, b"a\nwhat\nr\n\nq\n")
        shown = b""
        with contextlib.suppress(OSError):
            while part := os.read(control, 4096):
                shown += part
        assert running.wait(60) == 0
    os.close(control)
    text = shown.decode()
    assert "saw >>Aaa<< today" in text
    assert "1 accepted, 1 rejected, 2 open" in text
    found = read_queue(queue)
    assert [e.decision for e in found.entries] == ["accept", "reject", "", ""]
    assert len(found.narratives) == 1
    assert found.left_out == 3


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
    corpus = write_letters(12, seed=9)
    tacit.write_texts(corpus, tmp_path / "brat", "brat")
    with pytest.raises(tacit.SdcError):
        tacit.read_texts(tmp_path / "brat" / "nothing")
    release = tacit.Plan([tacit.Scrub()]).run(tacit.read_texts(tmp_path / "brat", gold=True))
    risk, utility = release.after
    assert risk.numbers["spans marked by people"] == sum(len(d.gold) for d in corpus)
    assert 0.5 < risk.numbers["found of them"] <= 1
    assert 0.5 < utility.numbers["rightly replaced (precision)"] <= 1


@pytest.mark.parametrize("where", ["out/review.json", "out/below/q.json"])
def test_the_queue_never_goes_into_the_release(notes, where, capsys):
    given = ["--out", str(notes / "out"), "--review", str(notes / where)]
    assert main(["scrub", str(notes / "notes"), *given]) == 2
    assert "confidential" in capsys.readouterr().err
    assert not (notes / "out").exists()


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
    file.write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(tacit.SdcError, match="no review queue"):
        read_queue(file)
    write_queue(file, Queue([Entry("x", "nose", 0.5, 1, "", "accept")]))
    with pytest.raises(tacit.SdcError, match="entry 1 of the review queue has no known kind"):
        read_queue(file)
    assert decide([Entry("x", "name", 0.5, 1, "")], [1], [])[0].decision == "accept"
    with pytest.raises(tacit.SdcError, match="both"):
        decide([Entry("x", "name", 0.5, 1, "")], [1], [1])
    assert not queue_of(tacit.Corpus.of(["x"])).entries


def test_decisions_of_others_stay(tmp_path):
    """Two people have the queue open; a scrub writes it anew meanwhile."""
    file = tmp_path / "q.json"
    words = [Entry(w, "name", 0.5, 1, "") for w in ("Aaa", "Bbb", "Ccc")]
    write_queue(file, Queue(words))
    mine = decide(words, [1], [])[:1]
    save_decisions(file, decide(words, [], [2])[1:2])
    write_over(file, Queue(words[1:]))
    save_decisions(file, mine)
    found = {e.word: e.decision for e in read_queue(file).entries}
    assert found == {"Aaa": "accept", "Bbb": "reject", "Ccc": ""}
    assert {stat.S_IMODE(f.stat().st_mode) for f in tmp_path.iterdir()} == {0o600}


def test_answers_given_before_an_interrupt_stay(tmp_path, monkeypatch, capsys):
    file = tmp_path / "q.json"
    write_queue(file, Queue([Entry(w, "name", 0.5, 1, "") for w in ("Aaa", "Bbb")]))
    answers = iter(["a"])

    def answer(_question):
        try:
            return next(answers)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("builtins.input", answer)
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(getattr(sys, stream), "isatty", lambda: True)
    assert main(["review", str(file)]) == 0
    assert "1 accepted, 0 rejected, 1 open" in capsys.readouterr().out
    assert [e.decision for e in read_queue(file).entries] == ["accept", ""]


def test_a_queue_is_whole_or_as_it_was(tmp_path, monkeypatch):
    file = tmp_path / "q.json"
    write_queue(file, Queue([Entry("Aaa", "name", 0.5, 1, "", "accept")]))

    def stop(*_given, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.text.review.json.dump", stop)
    with pytest.raises(KeyboardInterrupt):
        write_queue(file, Queue([]))
    assert [e.decision for e in read_queue(file).entries] == ["accept"]
    assert list(tmp_path.iterdir()) == [file]
