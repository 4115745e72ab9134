"""Scrub as a method: the lines of the guide, records with notes, keys, lists, workers, and no network."""

import datetime as dt
import json
import os
import subprocess
import sys
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from letters import write_letters
from tacit.claims import Claim
from tacit.claims.text.no_known_values import holds_known
from tacit.claims.text.no_original_identifiers import identifiers_in
from tacit.claims.texts import FORMS
from tacit.context import Context
from tacit.data.corpus import Span
from tacit.errors import (
    ColumnNotFound,
    DisclosureRefused,
    InputError,
    InvalidParameter,
    WeakProtection,
)
from tacit.text import work
from tacit.text.guard import guard_text
from tacit.text.model import crf
from text.scoring import letters

LETTER = letters()["figure-21"]["text"]
NOTES = {
    "pid": ["P90412", "P90413", "P90414", "P90415"],
    "name": ["Virginia Townsend", "Bert Kowalski", "Ann Long", None],
    "birth": ["1949-03-01", "1950-01-31", "1951-12-24", "1960-01-01"],
    "sex": ["f", "m", "f", "m"],
    "note": [
        "virginia townsend slept well. Mrs. Townsend born March 1, 1949. Long history of diabetes.",
        "Bert K. refuses insulin; KOWALSKI again rude. Call 617-555-0142, bert@example.com",
        "A long history of Hodgkin's disease. Dr. Smith will see Ann on 3/4/2001.",
        None,
    ],
}


def records(columns=None, **roles):
    given = {"identifiers": ["pid", "name"], "keys": ["birth", "sex"], **roles}
    return tacit.read(NOTES if columns is None else columns, **given)


def test_the_lines_of_the_guide_work_as_written(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text(LETTER, encoding="utf-8")
    scrub = tacit.Scrub(threshold=0.8)
    spans = scrub.find(LETTER)
    assert {"Virginia Townsend", "Marjorie Long"} <= {LETTER[s.start : s.end] for s in spans}
    assert all(
        0 <= s.start < s.end <= len(LETTER) and s.kind and 0.8 <= s.certainty <= 1 for s in spans
    )
    known = tacit.Scrub().find("zyx quorl came", record={"name": "Zyx Quorl"})
    assert {i for s in known for i in range(s.start, s.end)} >= {0, 1, 2, 4, 5, 6, 7, 8}
    text = scrub.replace(LETTER, key=b"0123456789abcdef")
    assert "Townsend" not in text
    assert "insulin dependent diabetes mellitus" in text
    assert text == scrub.replace(LETTER, key=b"0123456789abcdef")
    assert text != scrub.replace(LETTER, key=b"another key of 16")
    corpus = tacit.read_texts(notes, gold=None)
    released = scrub.apply(corpus, seed=1)
    assert "Townsend" not in released.documents[0].text
    plan = tacit.Plan(
        [tacit.Scrub(columns=["note"]), tacit.Anonymise(models=[{"kind": "k_anonymity", "k": 2}])]
    )
    data = records(hierarchies={"birth": tacit.hierarchy.flat(), "sex": tacit.hierarchy.flat()})
    release = plan.run(data)
    assert "ownsend" not in str(release.data.to_arrow().column("note").to_pylist()).lower()


def test_thresholds():
    assert tacit.Scrub().least == 0.8
    assert tacit.Scrub(reduction=True).least == 0.7
    assert tacit.Scrub(reduction=True, threshold=0.8).least == 0.8
    assert tacit.Scrub(**tacit.Scrub(reduction=True, threshold=0.8).to_dict()).least == 0.8


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"threshold": 1.5}, "at most 1"),
        ({"mode": "burn"}, "must be one of"),
        ({"kinds": ["nose"]}, "must be one of"),
        ({"lists": {"nose": ["x"]}}, "kinds are"),
        ({"taggers": ["x"]}, "functions"),
    ],
)
def test_wrong_parameters_give_a_sentence(wrong, said):
    with pytest.raises(InvalidParameter, match=said):
        tacit.Scrub(**wrong)


def test_scrub_knows_which_data_it_acts_on():
    assert tacit.Scrub.data_types() == (tacit.Corpus, tacit.Microdata)
    assert tacit.Scrub().acts_on() is tacit.Corpus
    assert tacit.Scrub(columns=["note"]).acts_on() is tacit.Microdata
    with pytest.raises(InputError, match="columns="):
        tacit.Scrub().apply(records())
    with pytest.raises(InputError, match="leave it out"):
        tacit.Scrub(columns=["note"]).apply(tacit.Corpus.of(["x"]))
    with pytest.raises(ColumnNotFound):
        tacit.Scrub(columns=["nota"]).apply(records())
    with pytest.raises(InputError, match="does not hold text"):
        tacit.Scrub(columns=["n"]).apply(tacit.read({"n": [1], "name": ["x"]}, identifiers="name"))


# -- records -------------------------------------------------------------------------------------


def test_the_record_is_searched_in_its_note(engine):
    data = tacit.read(NOTES, identifiers=["pid", "name"], keys=["birth", "sex"], engine=engine)
    result = tacit.Scrub(columns=["note"]).apply(data, seed=1)
    notes = result.column("note").to_pylist()
    assert notes[3] is None
    assert "townsend" not in notes[0].lower()
    assert "kowalski" not in notes[1].lower()
    assert "long history" in notes[2]
    assert "Hodgkin's disease" in notes[2]
    models = [c.model for c in result.history[-1].claims]
    assert models == ["no-formatted-identifiers", "no-known-values"]
    assert result.history[-1].details["known_columns"] == ["pid", "name", "birth"]
    others = [c for c in data.columns if c != "note"]
    assert result.to_arrow(others) == data.to_arrow(others)


def test_a_search_without_anything_known_is_said_aloud():
    with pytest.warns(WeakProtection, match="removed by an earlier step"):
        tacit.Scrub(columns=["note"]).apply(tacit.Deidentify().apply(records(keys=["sex"])))
    with pytest.warns(WeakProtection, match="declare no identifiers"):
        tacit.Scrub(columns=["note"]).apply(tacit.read(NOTES))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tacit.Scrub(columns=["note"], known=()).apply(tacit.read(NOTES))


def test_what_is_kept_of_a_column(engine):
    data = tacit.read(NOTES, identifiers=["pid", "name"], keys=["birth", "sex"], engine=engine)
    released = tacit.Scrub(columns=["note"]).apply(data, seed=1)
    kept = tacit.TextUtility(columns=["note"]).measure(released, original=data)
    assert 0.5 < kept.value <= 1
    assert 0 < kept.numbers["words kept, share"] < 1
    texts = tacit.read_texts(data, text="note", record=["pid", "name", "birth"])
    same = tacit.TextUtility().measure(tacit.Scrub().apply(texts, seed=1), original=texts)
    assert kept.numbers["words"] == same.numbers["words"]
    assert kept.numbers["medical terms"] == same.numbers["medical terms"] > 0
    by_kind = dict(zip(kept.frame["kind"], kept.frame["replaced"], strict=True))
    assert by_kind == released.history[-1].details["found"]
    whole = tacit.TextUtility(columns=["note"]).measure(data, original=data)
    assert whole.numbers["words kept, share"] == 1
    with pytest.raises(ColumnNotFound):
        tacit.TextUtility(columns=["nota"]).measure(released, original=data)
    numbers = tacit.read({"n": [1]})
    with pytest.raises(InputError, match="does not hold text"):
        tacit.TextUtility(columns=["n"]).measure(numbers, original=numbers)


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
def test_german_letters_from_the_plan_to_the_report(tmp_path):
    letters = write_letters(12, seed=4, families=["de_arztbrief"], language="de")
    tacit.write_texts(letters, tmp_path / "briefe", "brat")
    (tmp_path / "plan.yaml").write_text(
        "tacit: 1\nsource: {path: briefe, gold: true}\nsteps: [{kind: scrub, language: de}]\n"
        "measures: [{kind: text_risk, language: de}, {kind: text_utility, language: de}]\n",
        encoding="utf-8",
    )
    release = tacit.Plan.load(tmp_path / "plan.yaml").run()
    risk, kept = release.after
    assert risk.numbers["found of them"] > 0.9
    assert kept.value > 0.9
    folder = release.write(tmp_path / "out")
    assert tacit.verify(folder)
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "Diagnose" in report, "the example of the report is a German letter"
    names = {d.text[s.start : s.end] for d in letters for s in d.gold if s.kind == "name"}
    released = " ".join(d.text for d in release.data)
    assert sum(name in released for name in names) <= 0.1 * len(names)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Heute kamen Hr. Jäger, Sr. Irina und OA Nguyen.", ["Jäger", "Irina", "Nguyen"]),
        ("raucht.\nDr. A. Fuchs", ["A. Fuchs"]),
        ("IBAN DE89 3704 0044 0532 0130 00", ["DE89 3704 0044 0532 0130 00"]),
        ("Personalausweisnummer L01X00T47", ["L01X00T47"]),
        ("wohnt A-5020 Salzburg", ["A-5020 Salzburg"]),
        ("CH-9000 St. Gallen", ["CH-9000 St. Gallen"]),
        ("Adresse: Mühlgraben 3", ["Mühlgraben 3"]),
        ("Leukozyten 7,8 /nl\nNeurologische Praxis", []),
        (
            "Der Patient ist Bauer. Morbus Parkinson, Weber-Fraktur, Child-Pugh A, Ringer-Lösung.",
            [],
        ),
    ],
)
def test_german_words_of_letters(text, found):
    assert [text[s.start : s.end] for s in tacit.Scrub(language="de").find(text)] == found


def test_german_notes_of_a_table():
    notes = {
        "name": ["Sabine Krüger", "Jörg Weiß"],
        "geboren": ["1961-05-03", "1950-01-31"],
        "notiz": [
            "Frau Krüger, geb. 03.05.1961, Tel. 030 1234567, klagt über Dyspnoe. Diabetes mellitus bekannt.",
            "Herr Weiß kam am 4. März 2001 aus Tübingen. Weiße Blutkörperchen erhöht.",
        ],
    }
    data = tacit.read(notes, identifiers=["name", "geboren"])
    made = tacit.Scrub(columns=["notiz"], language="de").apply(data, seed=1)
    one, two = made.column("notiz").to_pylist()
    assert "Krüger" not in one
    assert "03.05.1961" not in one
    assert "1234567" not in one
    assert "Diabetes mellitus" in one
    assert "Herr Weiß " not in two
    assert "4. März" not in two
    assert "Blutkörperchen" in two


def test_texts_of_one_person_share_made_up_names():
    columns = {"who": ["x", "x", "y"], "note": ["Mrs. Marigold Haverstock slept."] * 3}
    data = tacit.read(columns, identifiers="who")
    one, two, three = (
        tacit.Scrub(columns=["note"], person="who").apply(data, seed=3).column("note").to_pylist()
    )
    assert one == two != three
    alone = tacit.Scrub(columns=["note"]).apply(data, seed=3).column("note").to_pylist()
    assert len(set(alone)) == 3


def test_free_text_that_nobody_scrubbed_is_warned_of(tmp_path):
    data = tacit.read(
        {**NOTES, "note": ["a long story about somebody who came in on a day in May"] * 4},
        keys=["sex"],
        identifiers=["pid", "name"],
    )
    plan = tacit.Plan([tacit.Deidentify()], [tacit.KAnonymity(k=2)])
    with pytest.warns(tacit.SdcWarning, match="'note' holds free text"):
        release = plan.run(data)
    assert "no step has searched" in (release.write(tmp_path / "out") / "statement.md").read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tacit.Plan(
            [tacit.Scrub(columns=["note"]), tacit.Deidentify()], [tacit.KAnonymity(k=2)]
        ).run(data)


def test_one_plan_protects_the_table_and_its_notes(tmp_path):
    file = tmp_path / "p.csv"
    from tacit.io import write

    write(records(), file)
    document = {
        "tacit": 1,
        "source": {"path": "p.csv"},
        "roles": {"identifiers": ["pid", "name"], "keys": ["sex"]},
        "hierarchies": {"sex": {"kind": "flat"}},
        "steps": [
            {"kind": "scrub", "columns": ["note"], "mode": "tag"},
            "deidentify",
            {"kind": "datafly", "k": 2},
        ],
    }
    plan = tacit.Plan.from_dict(document, base=tmp_path)
    plan.check()
    folder = plan.run().write(tmp_path / "out")
    assert tacit.verify(folder)
    text = (folder / "data.csv").read_text(encoding="utf-8")
    assert "townsend" not in text.lower()
    assert "[NAME 1]" in text
    facts = json.loads((folder / "statement.json").read_text())
    assert [c["model"] for c in facts["claims"]][:2] == [
        "no-formatted-identifiers",
        "no-known-values",
    ]
    assert facts["claims"][0]["parameters"]["forms"] == ["email", "url", "phone", "ssn", "date"]
    public = (folder / "report.html").read_text(encoding="utf-8")
    board = next((tmp_path / "out-confidential").glob("*/board.html")).read_text(encoding="utf-8")
    for report in (public, board):
        # In the box at the top, not only among the assumptions.
        assert (
            report.index("claims hold, but texts are not anonymous")
            < report.index("The texts are de-identified, not anonymous")
            < report.index("No identifiers of a known form")
        )


# -- keys and chance -----------------------------------------------------------------------------


def test_the_key_of_a_document_is_in_no_public_file(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(work, "person_key", lambda secret, person: made.append(secret) or b"k" * 32)
    monkeypatch.setattr("tacit.text.scrub.person_key", work.person_key)
    corpus = tacit.Corpus.of({"Smith_John.txt": LETTER})
    folder = tacit.Plan([tacit.Scrub()]).run(corpus).write(tmp_path / "out")
    public = b"".join(f.read_bytes() for f in folder.rglob("*") if f.is_file())
    drawn = [secret for secret in made if len(secret) == 32]
    assert drawn
    assert all(s.hex().encode() not in public and s not in public for s in drawn)
    assert b"Smith_John" not in public


def test_drawn_keys_differ_between_runs_and_documents():
    corpus = tacit.Corpus.of([LETTER, LETTER])
    one, two = tacit.Scrub().apply(corpus), tacit.Scrub().apply(corpus)
    assert len({d.text for r in (one, two) for d in r}) == 4


# -- lists, taggers, modes -------------------------------------------------------------------------


def test_words_of_the_site(tmp_path):
    text = "The zorblat ward called. Mr. Haverstock left."
    found = tacit.Scrub(lists={"organisation": ["zorblat"], "keep": ["Haverstock"]}).find(text)
    assert [text[s.start : s.end] for s in found] == ["zorblat"]
    (tmp_path / "lists.yaml").write_text(
        "organisation: [zorblat]\nkeep: [Haverstock]\n", encoding="utf-8"
    )
    assert tacit.Scrub(lists=str(tmp_path / "lists.yaml")).find(text) == found
    (tmp_path / "lists.yaml").write_text("nose: [zorblat]\n", encoding="utf-8")
    with pytest.raises(InputError, match="words by kind"):
        tacit.Scrub(lists=str(tmp_path / "lists.yaml")).find(text)
    assert "zorblat" not in str(
        tacit.Scrub(lists={"organisation": ["zorblat"]}).to_dict(public=True)
    )
    assert "zorblat" not in repr(tacit.Scrub(lists={"organisation": ["zorblat"]}))


def test_a_tagger_of_the_site():
    def tag(text):
        at = text.find("qx7")
        return [Span(at, at + 3, "id", 0.95)] if at >= 0 else []

    scrub = tacit.Scrub(taggers=(tag,))
    assert scrub.find("sample qx7 taken")[0].kind == "id"
    with pytest.warns(tacit.SdcWarning, match="tagger"):
        done = scrub.apply(tacit.Corpus.of(["sample qx7 taken"]), seed=1)
    assert "qx7" not in done.documents[0].text


def quote(text):
    raise ValueError(text)


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        (quote, "failed with ValueError"),
        (lambda _: None, "failed with TypeError"),
        (lambda _: [(0, 4, "name")], "no span"),
        (lambda _: [Span(0, 400, "name")], "no span"),
        (lambda _: [Span(-1, 4, "name")], "no span"),
        (lambda _: [Span(4, 4, "name")], "no span"),
        (lambda _: [Span(0.0, 4.0, "name")], "no span"),
        (lambda _: [Span(0, 4, "nose")], "no span"),
        (lambda _: [Span(0, 4, "name", 7)], "no span"),
        (lambda _: [Span(0, 4, "name", float("nan"))], "no span"),
    ],
)
def test_taggers_that_do_not_fit_are_refused_without_a_word_of_the_text(tag, said):
    with pytest.raises(InputError, match=said) as caught:
        tacit.Scrub(taggers=(tag,)).find("Townsend came")
    assert "Townsend" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_spans_of_taggers_may_overlap_in_any_order():
    spans = [Span(9, 15, "id", 0.95), Span(0, 8, "name", 0.95), Span(0, 4, "name", 0.9)]
    text = "Townsend qx7abc came"
    made = tacit.Scrub(taggers=(lambda _: spans,), mode="tag").replace(
        text, key=b"0123456789abcdef"
    )
    assert made == "[NAME 1] [ID 1] came"


def test_what_is_given_is_checked():
    scrub = tacit.Scrub()
    for wrong in (None, b"Townsend", 3, "half \ud800"):
        with pytest.raises(InputError):
            scrub.find(wrong)
        with pytest.raises(InputError):
            scrub.replace(wrong, key=b"0123456789abcdef")
    for wrong in ("Townsend", {"name": {"first": "Townsend"}}):
        with pytest.raises(InputError) as caught:
            scrub.find("x", record=wrong)
        assert "Townsend" not in str(caught.value)
    with pytest.raises(InputError, match="token_bytes"):
        scrub.replace("x", key="0123456789abcdef")
    with pytest.warns(WeakProtection, match="16 bytes"):
        scrub.replace("x", key=b"abc")
    with pytest.raises(InputError, match="own record"):
        tacit.Scrub(columns=["note"], known=["note"]).apply(records())


def test_what_reviewers_keep_stays_as_it_is_written():
    text = "Call 617-555-0142 or ann@example.com, or 617-555-0199."
    kept = tacit.Scrub(mode="tag", lists={"keep": ["617-555-0142", "Ann@example.com"]})
    assert kept.replace(text, key=b"0123456789abcdef") == (
        "Call 617-555-0142 or ann@example.com, or [PHONE 1]."
    )


def test_an_extension_is_still_called_so():
    text = "Call 617-555-0142 ext. 5496."
    made = tacit.Scrub().replace(text, key=b"0123456789abcdef")
    assert " ext. " in made
    assert "5496" not in made


def test_the_stop_after_a_date_stays():
    text = "Seen on 3 March. Mr. Haverstock left on 5 Feb. 1990."
    made = tacit.Scrub(mode="tag").replace(text, key=b"0123456789abcdef")
    assert made == "Seen on [DATE 1]. Mr. [NAME 1] left on [DATE 2]."


def test_list_mode_marks_and_leaves_the_text(tmp_path):
    corpus = tacit.Corpus.of([LETTER])
    listed = tacit.Scrub(mode="list").apply(corpus, seed=1)
    assert listed.documents[0].text == LETTER
    assert listed.documents[0].found.spans
    assert not listed.history[-1].claims
    with pytest.raises(DisclosureRefused, match="not scrubbed"):
        tacit.Plan([tacit.Scrub(mode="list")]).run(corpus).write(tmp_path / "out")


@pytest.mark.parametrize("mode", ["tag", "mask", "substitute"])
@pytest.mark.parametrize("dates", ["month", "shift"])
def test_modes_keep_their_claims_on_generated_letters(mode, dates):
    corpus = write_letters(27, seed=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = tacit.Scrub(mode=mode, dates=dates).apply(corpus, seed=1)
    for claim in done.history[-1].claims:
        assert claim.holds(done)


def test_baselines_find_less():
    letter = letters()["figure-21"]
    record = {"name": "Virginia Townsend", "number": "32-841-09787", "birth": "1986-05-26"}
    gold = {(g["start"], g["end"]) for g in letter["spans"]}

    def recall(search):
        spans = tacit.Scrub(search=search).find(letter["text"], record)
        hit = sum(any(s.start <= a and b <= s.end for s in spans) for a, b in gold)
        return hit / len(gold)

    assert recall("straight") < recall("cues") < recall("full") == 1.0
    assert recall("straight") < 0.6


# -- workers and the network -------------------------------------------------------------------------


def test_several_processes_give_the_same(monkeypatch):
    corpus = write_letters(30, seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = tacit.Scrub().apply(corpus, seed=1)
        monkeypatch.setattr(work, "WORTH_STARTING", 1)
        monkeypatch.setattr(work, "BATCH", 10)
        monkeypatch.setattr(work, "worker_count", lambda: 2)
        shared = tacit.Scrub().apply(corpus, seed=1)
    assert [d.text for d in alone] == [d.text for d in shared]
    assert alone.history[-1].details == shared.history[-1].details


#: Put before any other module in every process, workers too: whoever asks the network is written down, and ends.
WATCH = """
import os, sys
def watch(event, given):
    asked = event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind")
    if asked or (event == "socket.connect" and isinstance(given[1], tuple)):
        with open({file!r}, "a") as out:
            out.write(event + "\\n")
        os._exit(99)
sys.addaudithook(watch)
with open({file!r} + ".processes", "a") as out:
    out.write("x")
"""
SCRUB_ALL = """
import warnings, tacit
from tacit.text import work
warnings.simplefilter("ignore")
if __name__ == "__main__":
    work.WORTH_STARTING, work.worker_count = 1, lambda: 2
    corpus = tacit.examples.letters(5, seed=3)
    tacit.write_texts(corpus, "notes", "brat")
    plan = tacit.Plan([tacit.Scrub(strict=True)])
    tacit.verify(plan.run(tacit.read_texts("notes", gold=True)).write("out"))
    data = tacit.read({"name": ["Ann Long"], "note": ["Ann Long slept"]}, identifiers="name")
    tacit.Scrub(columns=["note"]).apply(data)
    tacit.Scrub(language="de").find("Herr Weber kam.")
"""


@pytest.mark.parametrize(
    ("code", "asks"),
    [
        (SCRUB_ALL, False),
        ("import urllib.request as u; u.urlopen('http://127.0.0.1:9/')", True),
        ("import socket; socket.create_connection(('example.org', 80), 1)", True),
    ],
)
def test_nothing_asks_the_network(tmp_path, code, asks):
    """In a process of its own and its workers; the watch itself is tried out on code that does ask."""
    asked = tmp_path / "asked"
    (tmp_path / "sitecustomize.py").write_text(WATCH.format(file=str(asked)), encoding="utf-8")
    (tmp_path / "work.py").write_text(code, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "work.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.exists() == asks, done.stderr
    assert done.returncode == (99 if asks else 0), done.stderr
    if not asks:
        assert len((tmp_path / "asked.processes").read_text()) >= 3, "workers were watched too"


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
def test_small_counts_of_texts_stay_out_of_the_public_report(tmp_path):
    telling = "The Mayor of Ashwick fell. Seen by Dr. Lang."
    plan = tacit.Plan([tacit.Scrub()])
    folder = plan.run(tacit.Corpus.of([telling, *["Dr. Lang came."] * 5])).write(tmp_path / "out")
    public = (folder / "report.html").read_text(encoding="utf-8")
    assert "narrative that may identify" not in public.replace("narratives", "narrative")
    board = next((tmp_path / "out-confidential").glob("*/board.html")).read_text(encoding="utf-8")
    assert "a narrative that may identify" in board
    assert "Ashwick" not in public + board


def test_a_missing_voter_is_said_aloud(monkeypatch, tmp_path):
    """Without python-crfsuite rules and lists still work; the user and the board are told."""
    monkeypatch.setattr("tacit.text.model.crf.find_spec", lambda _name: None)
    monkeypatch.setattr("tacit.text.model.crf.read_model", crf.read_model.__wrapped__)
    with pytest.warns(WeakProtection, match=r"tacit\[text\]"):
        assert "Virginia Townsend" in {LETTER[s.start : s.end] for s in tacit.Scrub().find(LETTER)}
    with pytest.warns(WeakProtection, match="trained voter was not asked"):
        release = tacit.Plan([tacit.Scrub()]).run(tacit.Corpus.of([LETTER]))
    assert release.history[-1].details["trained_voter"] is False
    assert "Townsend" not in release.data.documents[0].text
    release.write(tmp_path / "out")
    board = next((tmp_path / "out-confidential").glob("*/board.html"))
    assert "trained voter was not asked" in board.read_text(encoding="utf-8")
    monkeypatch.setattr("tacit.text.engine.crf_voter", lambda: None)
    with pytest.warns(WeakProtection, match=r"tacit\[text\]"):
        assert "Townsend" not in tacit.Scrub().replace(LETTER, key=b"0123456789abcdef")


# -- the last look and the claims ------------------------------------------------------------------

FIRST = ["Ann", "Bert", "Long", "May", "Rose", "Zoë", "O'Brien", "Straße", "van der Berg"]
VALUES = st.one_of(
    st.lists(st.sampled_from(FIRST), min_size=1, max_size=3).map(" ".join),
    st.integers(0, 10**9).map(str),
    st.dates(dt.date(1900, 1, 1), dt.date(2090, 1, 1)).map(str),
    st.dates(dt.date(1900, 1, 1), dt.date(2090, 1, 1)),
    st.from_regex(r"[A-Z]{1,3}-?\d{4,8}", fullmatch=True),
    st.text(max_size=12),
)
TEXTS = st.lists(
    st.one_of(
        VALUES.map(str),
        st.sampled_from(
            [
                "the",
                "history",
                "617-555-0142",
                "12/31/1999",
                "a@b.co",
                "www.x.org",
                "May 3, 2001",
                "3 Mar 1999",
                "\r\n",
                "02138 617",
            ]
        ),
        st.text(max_size=8),
    ),
    max_size=12,
).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(
    text=TEXTS,
    record=st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3),
    extra=st.booleans(),
)
def test_what_the_last_look_leaves_passes_the_checks(text, record, extra):
    text = f"{text} {next(iter(record.values()), '')}" if extra else text
    done, _ = guard_text(text, text, record, tuple(FORMS))
    assert not holds_known(done, record)
    assert not set(identifiers_in(done)) & set(identifiers_in(text))
    view = tacit.Corpus.of([done])
    assert Claim("no-formatted-identifiers", {"forms": list(FORMS)}, "texts", ()).holds(view)


@pytest.mark.parametrize(
    ("text", "record", "held"),
    [
        ("a long history", {"name": "Ann Long"}, False),
        ("Mr. LONG came", {"name": "Ann Long"}, True),
        ("ann  long came", {"name": "Ann Long"}, True),
        ("born in March 1949", {"birth": "1949-03-01"}, False),
        ("born March 1, 1949", {"birth": dt.date(1949, 3, 1)}, True),
        ("born 01.03.1949", {"birth": "1949-03-01"}, True),
        ("chart 328 410 97", {"id": "32-841-097"}, True),
        ("12 Elm Street", {"address": "14 Oak Street"}, False),
        ("St. Mary Hospital", {"hospital": "County Hospital"}, False),
        ("anything", {"age": 45, "x": None, "y": ""}, False),
    ],
)
def test_known_values(text, record, held):
    assert holds_known(text, record) is held
    assert bool(guard_text(text, "", record, ())[1]) is held


@pytest.mark.parametrize(
    "line",
    [
        "a" * 100_000,
        "1" * 100_000,
        "1-" * 50_000,
        "a@" * 50_000,
        "www." * 25_000,
        "(" * 100_000,
        "a.b" * 33_000,
        "1 " * 50_000,
        "Jan " * 25_000,
        "A b " * 25_000,
    ],
)
def test_no_pattern_is_super_linear(line):
    import time

    begun = time.process_time()
    guard_text(line, line, {"name": "Aaa Bbb", "id": "11111", "birth": "2000-01-01"}, tuple(FORMS))
    assert time.process_time() - begun < 3


def test_a_step_that_brings_a_name_back_is_refused(tmp_path):
    corpus = tacit.Corpus(
        (tacit.Document("a", "Virginia slept.", record={"name": "Virginia Townsend"}),)
    )
    release = tacit.Plan([tacit.Scrub()]).run(corpus)
    folder = release.write(tmp_path / "out")
    [file] = (folder / "texts").iterdir()
    file.write_text("Virginia slept.", encoding="utf-8")
    found = repr(tacit.verify(folder, corpus))
    assert "NOT  files are as released" in found
    assert "NOT  claim holds: no-known-values" in found


def test_errors_and_notes_hold_no_word_of_the_texts():
    ctx = Context.start(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tacit.Scrub().apply(tacit.Corpus.of([LETTER]), context=ctx)
    assert "Townsend" not in str(ctx.details)
    assert set(ctx.details) >= {"texts", "found", "certainty", "uncertain", "narratives", "caught"}


def test_a_full_date_tells_its_month_too():
    from tacit.text.text_risk import attributes_of

    for text in ("June 7, 2015", "Jun 2015", "7 June 2015", "6/7/2015", "06/2015"):
        (month,) = attributes_of(f"Seen {text}.")["month"]
        assert month in ("jun 2015", "6 2015")


def test_a_replaced_name_is_no_lost_medicine():
    from tacit.text.text_utility import compare_words

    told = compare_words("Mr. Addison has Addison's disease and asthma.", "Mr. X has asthma.", "en")
    # Of Addison (once), disease and asthma, where medicine is meant.
    assert (told["terms"], told["terms kept"]) == (3, 1)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("", "", "must be a folder"),
        ("firstnames.txt", "f16\tvirginia\n", "called as one of"),
        ("first_names.txt", "Virginia\nAnn\n", "line 1 of the list 'first_names'"),
        ("first_names.txt", "", "line 1"),
        ("words.txt.xz", "no archive", "cannot be read"),
    ],
)
def test_lists_that_would_silently_find_less_are_refused(tmp_path, file, content, said):
    if file:
        (tmp_path / file).write_text(content, encoding="utf-8")
    with pytest.raises(tacit.SdcError, match=said):
        tacit.Scrub(knowledge=str(tmp_path)).find("Virginia came")


def test_own_knowledge_is_used(tmp_path):
    (tmp_path / "first_names.txt").write_text("f16\tzorbla quenby\n", encoding="utf-8")
    assert tacit.Scrub(knowledge=str(tmp_path)).find("Seen with Zorbla Haverstock.")


def test_a_person_that_no_record_names_is_told():
    with pytest.raises(InputError, match="whose text"):
        tacit.Scrub(person="pid").apply(tacit.Corpus.of(["Dr. Lang came."]), seed=1)
