"""No text makes anything slow: the work grows with the length, whatever stands there; and memory is bounded."""

import gc
import os
import re
import time
import warnings

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import tacit
from letters import write_letters
from tacit.claims.text.no_known_values import holds_known
from tacit.claims.text.no_original_identifiers import identifiers_in
from tacit.claims.texts import FORMS
from tacit.data.corpus import Span
from tacit.text import engine, work
from tacit.text.engine import Settings, find_spans, replace_spans
from tacit.text.guard import guard_text
from tacit.text.model import crf as features
from tacit.text.reading import page as lexicon
from tacit.text.reading.words import tokenise
from tacit.text.text_risk import attributes_of
from tacit.text.text_utility import compare_words
from tacit.text.work import Item, look_batch, scrubbers
from text.scoring import without_crf

#: Enough for quadratic work to take seconds.
N = 100_000 if os.environ.get("TACIT_ALL_EXAMPLES") else 30_000
DISTINCT = [
    f"Mr. Smith{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)}"
    for i in range(N // 13)
]
LINES = {
    name: (unit * N)[:N]
    for name, unit in {
        "digits": "1",
        "spaces": " ",
        "letters": "a",
        "at signs": "@",
        "short addresses": "a@",
        "titles": "Dr. ",
        "open brackets": "(",
        "brackets": "((()))",
        "dashes": "-",
        "dashed digits": "1-",
        "dated": "1/",
        "initials": "A.",
        "surnames": "Smith ",
        "reversed": "Jones, ",
        "web": "www.",
        "links": "http://",
        "saints": "St. ",
        "states": "MA ",
        "streets": "Street ",
        "combining": "e\u0301",
        "marks": "\u0301",
        "fields": "Re: Smith, ",
        "particles": "van der ",
        "firms": "Smith & ",
        "codes": "AB12-",
        "labelled digits": "MRN: " + "7" * 120 + " ",
        "ages": "at age ",
        "lines": "\n",
        "carriage returns": "\r",
    }.items()
} | {"distinct names": " ".join(DISTINCT)}


RECORD = {
    "name": "Anna Maria Smith",
    "birth": "1994-02-02",
    "mrn": "11111111",
    "code": "AB12-AB12-AB13",
    "mail": "a@a.aa",
}


def grows_linearly(work_on, text):
    """Return whether four times the text takes about four times as long; sixteen times would be quadratic."""
    seconds = []
    gc.collect()
    gc.disable()
    try:
        # On a busy machine a few hundredths of a second say nothing.
        for part in (text, text[: len(text) // 4]):
            begun = time.process_time()
            work_on(part)
            seconds.append(time.process_time() - begun)
            if seconds[0] < 5e-6 * N:
                return True
    finally:
        gc.enable()
    return seconds[0] < 10 * max(seconds[1], 0.05)


@pytest.mark.parametrize("name", LINES)
def test_adversarial_lines_take_linear_time(name):
    found = {}

    def find(text):
        found[len(text)] = find_spans(text, Settings())

    def substitute(text):
        replace_spans(text, found[len(text)], Settings(), b"key")

    def tag(text):
        replace_spans(text, found[len(text)], Settings(mode="tag"), b"key")

    find("warm")
    for what in (find, substitute, tag):
        assert grows_linearly(what, LINES[name]), what.__name__


def look_last(text):
    guard_text(text, text, RECORD, FORMS)


def check_claims(text):
    holds_known(text, RECORD)
    list(identifiers_in(text))
    for pattern in FORMS.values():
        pc.match_substring_regex(pa.array([text]), pattern)


def measure(text):
    attributes_of(text)
    compare_words(text, text, "en")


@pytest.mark.parametrize("name", LINES)
def test_the_last_look_checks_and_measures_take_linear_time(name):
    measure("warm")
    for what in (look_last, check_claims, measure):
        assert grows_linearly(what, LINES[name]), what.__name__


def test_a_long_line_is_worked_through_in_parts():
    text = "Mr. Gilbert Moss came. " * 50_000
    with without_crf():
        found = find_spans(text, Settings())
    assert len(found.spans) == 50_000
    assert {text[s.start : s.end] for s in found.spans} == {"Gilbert Moss"}
    assert {s.entity for s in found.spans} == {"p1"}


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(engine, "PART", 2_000)
    monkeypatch.setattr(engine, "SHARED", 500)


def test_no_seam_cuts_a_span(small_parts):
    filler = "the pain was worse at night and better in the morning "
    for shift in range(0, 40, 4):
        before = (filler * 36).ljust(1_975 + shift)
        text = f"{before}Dr. Gilbert Moss, M.D., came. {filler * 40}"
        found = find_spans(text, Settings())
        assert [text[s.start : s.end] for s in found.spans] == ["Gilbert Moss"], shift


def test_a_span_longer_than_a_part_is_covered(small_parts):
    def mark_run(text):
        return [Span(r.start(), r.end(), "id", 0.99) for r in re.finditer("x{50,}", text)]

    text = "The pain was worse. " * 50 + "x" * 5_000 + " The pain was worse." * 50
    found = find_spans(text, Settings(taggers=(mark_run,)))
    covered = {i for s in found.spans for i in range(s.start, s.end)}
    assert covered == set(range(1_000, 6_000))
    assert sum(s.end - s.start for s in found.spans) == 5_000


def test_a_person_is_one_entity_over_all_parts(small_parts):
    names = [f"Mary {a}{b}" for a in ("Wood", "Ash", "Whit", "Har") for b in SURNAME_ENDS]
    told = [f"Mrs. {name} came. The pain was worse at night." for name in names]
    text = " ".join(told * 2)
    found = find_spans(text, Settings())
    entities = {}
    for span in found.spans:
        entities.setdefault(text[span.start : span.end], set()).add(span.entity)
    assert len(text) > 3 * engine.PART
    assert entities.keys() == set(names)
    assert len(set.union(*entities.values())) == len(names)
    assert all(len(found) == 1 for found in entities.values())


SURNAME_ENDS = [
    "ley",
    "ton",
    "ford",
    "wick",
    "ham",
    "worth",
    "man",
    "er",
    "den",
    "by",
    "well",
    "bury",
    "stead",
    "combe",
    "field",
]


def test_warnings_of_a_long_text_name_its_own_places(small_parts):
    text = "The pain was worse at night. " * 150 + "He was U.S. Ambassador to England then."
    (told,) = find_spans(text, Settings()).warnings
    assert f"characters {text.index('U.S.')} to" in told


def test_parts_in_several_processes_give_the_same(small_parts, monkeypatch):
    text = "Mr. Gilbert Moss of 12 Mill Lane rang 555-123-4567. The pain was worse. " * 90
    scrub, key = tacit.Scrub(), b"a secret of sixteen bytes or more"
    alone = scrub.look(text, {"name": "Gilbert Moss"}), scrub.replace(text, key=key)
    monkeypatch.setattr(work, "WORTH_STARTING", 1)
    monkeypatch.setattr(work, "worker_count", lambda: 2)
    assert (scrub.look(text, {"name": "Gilbert Moss"}), scrub.replace(text, key=key)) == alone
    # Short and long texts take turns, and come back in order.
    texts = ["Mr. Moss came.", text, "Nobody came.", text[:5_000], "Mrs. Hill came."]
    marked = scrub.mark(tacit.Corpus.of(texts))
    assert [d.found for d in marked] == [scrub.look(t) for t in texts]


def test_no_more_texts_are_taken_than_keep_the_processes_busy(monkeypatch):
    monkeypatch.setattr(work, "WORTH_STARTING", 1)
    monkeypatch.setattr(work, "worker_count", lambda: 2)
    monkeypatch.setattr(work, "BATCH", 5)
    taken = []

    def items():
        for i in range(1_000):
            taken.append(i)
            yield Item("Mr. Moss came.", {})

    with scrubbers(tacit.Scrub().task(), 10, look_batch) as look:
        made = look(items())
        next(made)
        assert len(taken) <= 5 * (work.AHEAD * 2 + 3)
        assert sum(1 for _ in made) == 199


def test_what_is_remembered_of_words_is_bounded(monkeypatch):
    monkeypatch.setattr(lexicon, "REMEMBERED", 50)
    monkeypatch.setattr(features, "REMEMBERED", 50)
    known = lexicon.Lexicon(lexicon.load_knowledge("en", ""))
    describer = features.Describer(known)
    words = [f"{a}{b}{c}" for a in "bcdf" for b in "aeio" for c in ("x", "," * 3, "y z", "w" * 99)]
    first = describer.describe(tokenise(" ".join(words)))
    assert len(known.words) <= 50
    assert len(describer.kinds) <= 50
    assert len(describer.triples) <= 50
    assert max(map(len, known.words)) <= lexicon.LONGEST
    assert describer.describe(tokenise(" ".join(words))) == first


FIFTY = 50_000_000


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a", "7", "Moss,came.to-12"])
def test_fifty_megabytes_without_a_space_end(unit):
    text = (unit * (FIFTY // len(unit) + 1))[:FIFTY]
    assert tacit.Scrub().replace(text, key=b"a secret of sixteen bytes or more")


@pytest.mark.slow
def test_a_line_of_fifty_megabytes_passes_through_a_plan(tmp_path):
    letters = " ".join(" ".join(d.text.split()) for d in write_letters(1_000, seed=2))
    text = (letters * (FIFTY // len(letters) + 1))[:FIFTY]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = tacit.Plan([tacit.Scrub()]).run(tacit.Corpus.of({"long": text}))
    (document,) = release.data
    assert len(document.done.spans) > 100_000
