"""The engine: kinds, treatments, modes, known records, lists, third parties, languages, offsets."""

import datetime as dt
import json
import re
import socket
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.claims.text.no_known_values import holds_known
from tacit.data.corpus import Span
from tacit.errors import InvalidParameter, UnreadableFile
from tacit.text.board import combine
from tacit.text.detect import registry
from tacit.text.detect.numbers.forms import nhs_holds
from tacit.text.detect.registry import cut, detector, detectors
from tacit.text.engine import Settings, find_spans, replace_spans
from tacit.text.model import crf as calibration
from tacit.text.reading.marks import mark
from tacit.text.reading.page import Page, load_lexicon

DEFAULT = Settings()


def texts(text, settings=DEFAULT, record=None):
    return [text[s.start : s.end] for s in find_spans(text, settings, record).spans]


def kinds(text, settings=DEFAULT):
    return [(text[s.start : s.end], s.kind) for s in find_spans(text, settings).spans]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Seen by Dr. Adeyemi today.", [("Adeyemi", "name")]),
        ("Her mother Philippa was present.", [("Philippa", "name")]),
        ("Letter from Samuel Osei, FRCS.", [("Samuel Osei", "name")]),
        ("Patient: TOWNSEND, VIRGINIA A", [("TOWNSEND, VIRGINIA A", "name")]),
        ("He prefers to be called Gil.", [("Gil", "nickname")]),
        ("Please call (480) 555-0137 x22.", [("(480) 555-0137 x22", "phone")]),
        ("Bleep 2231 if worse.", [("2231", "phone")]),
        ("Ring 020 7946 0018 please.", [("020 7946 0018", "phone")]),
        ("Write to ihb@example.org soon.", [("ihb@example.org", "email")]),
        ("See https://example.org/x?a=1.", [("https://example.org/x?a=1", "url")]),
        ("Seen on 4 May 1971 again.", [("4 May 1971", "date")]),
        ("Seen on 2010-11-17 again.", [("2010-11-17", "date")]),
        ("Seen Wednesday, February 2, 1994.", [("Wednesday, February 2, 1994", "date")]),
        ("SSN 078-05-1120 on file.", [("078-05-1120", "id")]),
        ("NHS No: 943 476 5919.", [("943 476 5919", "id")]),
        ("NI number QQ123456C noted.", [("QQ123456C", "id")]),
        ("MRN 7719034 noted.", [("7719034", "id")]),
        ("Lives at 310 Harbor View Ave. now.", [("310 Harbor View Ave", "address")]),
        ("P.O. Box 77, Boston, MA 02151", [("P.O. Box 77, Boston, MA 02151", "address")]),
        (
            "Send to 18 Tanner's Row, Ashwick, LE4 2AB.",
            [("18 Tanner's Row, Ashwick, LE4 2AB", "address")],
        ),
        ("Moved to St. John's Hospital.", [("St. John's Hospital", "hospital")]),
        ("She works at Marlow Glassworks.", [("Marlow Glassworks", "employer")]),
        ("Plays in the Northcliff Harbor Band.", [("Northcliff Harbor Band", "organisation")]),
        ("A 93 year old man.", [("93", "age")]),
        ("A 66 year old man since June of 1993.", []),
        ("Paget's disease, Foley catheter, BP 122/78, TSH 2.1, strength 5/5, Fosamax 40 mg.", []),
        ("No Babinski sign. Cushing work-up negative. Swan-Ganz catheter placed.", []),
    ],
)
def test_kinds(text, found):
    assert kinds(text) == found


def test_a_disease_is_no_person_and_a_person_no_disease():
    text = "Mr. Reiter drove him. He has Reiter's syndrome."
    assert kinds(text) == [("Reiter", "name")]


def test_memory_finds_parts_short_forms_and_misspellings():
    text = "RE: Gilbert Townsend\n\nWe saw Gil. Later Townsed came, and Gilbert left.\n"
    assert texts(text) == ["Gilbert Townsend", "Gil", "Townsed", "Gilbert"]


def test_one_person_has_one_pseudonym():
    text = "RE: Gilbert Moss\n\nMr. Moss came. Gil is well. MOSS left.\n"
    found = find_spans(text, DEFAULT)
    assert {s.entity for s in found.spans} == {"p1"}
    made = replace_spans(text, found, DEFAULT, b"key")
    first, last = made.split("\n")[0].removeprefix("RE: ").split()
    assert f"Mr. {last} came. {first[:3]}" in made
    assert f"{last.upper()} left" in made
    assert "Moss" not in made


def test_dates_move_together_by_the_key():
    text = "Seen on 01/10/2010 and on 01/20/2010 and 3 March 2010."
    moving = Settings(dates="shift")
    made = replace_spans(text, find_spans(text, moving), moving, b"key")
    first, second = (re.findall(r"(\d\d)/(\d\d)/(\d{4})", made))[:2]
    days = [dt.date(int(y), int(m), int(d)) for m, d, y in (first, second)]
    assert (days[1] - days[0]).days == 10
    assert days[0] != dt.date(2010, 1, 10)
    assert made != replace_spans(text, find_spans(text, moving), moving, b"other")


def test_months_zips_and_ages():
    text = "DOB 05/26/86, Boston, MA 02151; Stowe, VT 05901; a 93 year old."
    made = replace_spans(text, find_spans(text, DEFAULT), DEFAULT, b"key")
    assert "DOB 05/86," in made
    assert "MA 02100" in made
    assert "VT 00000" in made  # 059 has too few people
    assert "90 or older year old" in made


def test_modes():
    text = "Dr. Lang saw Lang on 4 May 1971."
    for mode, expected in (
        ("mask", "Dr. **** saw **** on ****."),
        ("tag", "Dr. [NAME 1] saw [NAME 1] on [DATE 1]."),
        ("list", text),
    ):
        chosen = Settings(mode=mode)
        assert replace_spans(text, find_spans(text, chosen), chosen, b"key") == expected


def test_replacements_are_no_listed_words_and_keep_the_pattern():
    text = "Patient: Virginia Townsend, MRN QL-88-40417, tel 473-1214."
    made = replace_spans(text, find_spans(text, DEFAULT), DEFAULT, b"key")
    original, new = text.split("MRN ")[1], made.split("MRN ")[1]
    shape = "".join("9" if c.isdigit() else "A" if c.isupper() else c for c in original)
    assert "".join("9" if c.isdigit() else "A" if c.isupper() else c for c in new) == shape
    from tacit.text.reading.page import load_knowledge

    known = load_knowledge("en")
    for word in made.split(":")[1].split(",")[0].lower().split():
        assert word not in known.first
        assert word not in known.last
        assert word not in known.common


def test_known_record_is_searched():
    text = "she came w/ chip. virgina was seen 26 May 1986, code 99 B."
    assert "99 B" not in texts(text)
    record = {"name": "Virginia Townsend", "birth date": dt.date(1986, 5, 26), "id": "99-B"}
    assert {"virgina", "26 May 1986", "99 B"} <= set(texts(text, record=record))


def test_reviewers_words_and_kinds():
    text = "The blue heron visited. Dr. Lang left on 4 May 1971."
    assert "blue heron" in texts(text, Settings(accepted={"blue heron": "other"}))
    assert texts(text, Settings(rejected=frozenset(["lang"]))) == ["4 May 1971"]
    assert texts(text, Settings(kinds=("date",))) == ["4 May 1971"]


def test_taggers_vote():
    def site(text):
        yield Span(text.index("heron"), text.index("heron") + 5, "other", 0.9)

    assert texts("A heron.", Settings(taggers=(site,))) == ["heron"]


def test_strict_takes_what_nothing_knows():
    text = "Spoke to zqwertin about pain."
    assert texts(text, Settings(strict=True)) == ["zqwertin"]


def test_lists_of_a_site_replace_ours(tmp_path):
    (tmp_path / "medical.txt").write_text("e\tzwick\n")
    assert texts("Zwick called about pain.", Settings(lists=str(tmp_path))) in ([], ["Zwick"])
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "places.txt").write_bytes(b"\xff\xfe\x00broken")
    with pytest.raises(UnreadableFile, match="places"):
        find_spans("x", Settings(lists=str(broken)))


def test_unknown_language_is_one_sentence():
    with pytest.raises(InvalidParameter, match="There are: de, en"):
        find_spans("x", Settings(language="xx"))


def test_german():
    text = (
        "Betr.: Erika Sommer, geb. 28.01.1951, wohnhaft Lindenstraße 12, 10115 Berlin\n\nSehr geehrter Herr Dr. Brandt,\n\n"
        "Frau Sommer hat einen Morbus Parkinson und nimmt Metformin 500 mg. Tel. 030/349317.\n\nMit freundlichen Grüßen\n\nDr. med. Jens Keller\n"
    )
    german = Settings(language="de")
    found = dict(kinds(text, german))
    assert found["Erika Sommer"] == "name"
    assert found["28.01.1951"] == "date"
    assert found["Lindenstraße 12, 10115 Berlin"] == "address"
    assert found["Brandt"] == found["Sommer"] == found["Jens Keller"] == "name"
    assert found["030/349317"] == "phone"
    made = replace_spans(text, find_spans(text, german), german, b"key")
    assert "Morbus Parkinson und nimmt Metformin 500 mg" in made
    assert "01.1951" in made
    assert "10100" in made


def test_offsets_survive_carriage_returns_and_combining_marks():
    plain = "Dear Dr. Dvořák:\n\nMr. José Peña came on 4 May 1971.\n"
    expected = texts(plain)
    assert expected == ["Dvořák", "José Peña", "4 May 1971"]
    crlf = plain.replace("\n", "\r\n")
    assert texts(crlf) == expected
    parts = unicodedata.normalize("NFD", plain)
    assert [unicodedata.normalize("NFC", t) for t in texts(parts)] == expected


def test_third_parties_add_detectors():
    bit = mark("bicycle")

    @detector("test bicycle", bit)
    def find_bicycles(page, i):
        """Find nothing: the mark is on no word."""
        yield cut(page, i, i + 1, "other", 0.9, "bicycle")

    assert "test bicycle" in detectors()
    registry._detectors.pop("test bicycle")
    registry._calls.clear()
    with pytest.raises(TypeError, match="docstring"):
        detector("nothing", bit)(lambda page, i: ())


def test_every_detector_is_listed_with_a_docstring():
    assert len(detectors()) > 30
    assert all(d.find.__doc__ and d.on for d in detectors().values())


def test_check_digit_of_nhs_numbers():
    assert nhs_holds("9434765919")
    assert not nhs_holds("9434765918")


def test_noisy_or():
    assert combine([0.5, 0.5]) == 0.75
    assert combine([]) == 0.0


def test_calibration_is_linear_between_knots(tmp_path, monkeypatch):
    table = tmp_path / "c.json"
    table.write_text(json.dumps({"voters": {"v": [[0.2, 0.1], [0.8, 0.9]]}}))
    monkeypatch.setattr(calibration, "TABLE", table)
    calibration.read_table.cache_clear()
    assert calibration.calibrate("v", 0.5) == pytest.approx(0.5)
    assert calibration.calibrate("v", 0.1) == 0.1
    assert calibration.calibrate("v", 0.9) == 0.9
    assert calibration.calibrate("other", 0.33) == 0.33
    calibration.read_table.cache_clear()


def test_nothing_is_fetched(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError

    monkeypatch.setattr(socket, "socket", refuse)
    assert texts("Dr. Lang came.") == ["Lang"]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("aeinrstABDMS '.,-@/:()0123456789\n\r\té́Dr"), max_size=120))
def test_any_text_gives_ordered_spans_inside_it(text):
    found = find_spans(text, DEFAULT)
    ends = 0
    for span in found.spans:
        assert ends <= span.start < span.end <= len(text)
        assert 0 <= span.certainty <= 1
        ends = span.end
    made = replace_spans(text, found, DEFAULT, b"k")
    outside = text if not found.spans else text[: found.spans[0].start]
    assert made.startswith(outside)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Routed to Priya Koch-Zhou today.", ["Priya Koch-Zhou"]),
        ("Seen with Virginia Finger today.", ["Virginia Finger"]),
        ("Caller says Pru threw up twice.", ["Pru"]),
        ("Fluids given.\nJ.C.\n", ["J.C."]),
        ("Tube labelled (LARKIN, E) was rejected.", ["LARKIN, E"]),
        (
            "Kayleigh Moss came. Kayls was well, said Kayleigh.",
            ["Kayleigh Moss", "Kayls", "Kayleigh"],
        ),
        ("Gwendolyn keen to go home.", ["Gwendolyn"]),
    ],
)
def test_whole_names(text, names):
    assert [x for x, kind in kinds(text) if kind in ("name", "nickname")] == names


def test_numbers_in_words_and_numbers_seen_before():
    text = "ring five five five, oh one four two on march the ninth"
    assert kinds(text) == [
        ("five five five, oh one four two", "phone"),
        ("march the ninth", "date"),
    ]
    text = "MRN 7719034 noted.\nLabelled with 7719034, in two parts."
    assert texts(text) == ["7719034", "7719034"]


def test_a_first_name_after_a_doctor_is_no_state():
    text = "Dear Dr. Lang, Virginia Townsend was seen."
    made = replace_spans(text, find_spans(text, Settings()), Settings(), b"key")
    assert not {"Lang", "Virginia", "Townsend"} & set(made.replace(",", "").split())


@pytest.mark.parametrize("mark", ["\u200b", "\u00ad", "\u2060", "\ufeff"])
def test_marks_of_no_width_hide_no_name(mark):
    text = f"Mrs. Town{mark}send came. Zorb{mark}latt slept."
    found = find_spans(text, Settings(), {"name": "Ann Zorblatt"})
    assert [text[s.start : s.end] for s in found.spans] == [f"Town{mark}send", f"Zorb{mark}latt"]
    made = replace_spans(text, found, Settings(), b"key").replace(mark, "")
    assert "Townsend" not in made
    assert "Zorblatt" not in made
    assert holds_known(text, {"name": "Ann Zorblatt"})


def test_a_voted_date_goes_on_in_the_next_line():
    pytest.importorskip("pycrfsuite")
    text = "Seen by Dr. Moss on March\n4, 2010 for review."
    found = find_spans(text, Settings()).spans
    assert [text[s.start : s.end] for s in found] == ["Moss", "March\n4, 2010"]


def test_a_title_that_begins_a_line_is_no_part_of_the_name():
    text = "Mr. Moss, a 66 year old man, came."
    assert [text[s.start : s.end] for s in find_spans(text, Settings()).spans] == ["Moss"]


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("Negative Ziehl-Neelsen stain today.", "Ziehl-Neelsen stain"),
        ("She has Behçet's disease.", "Behçet's disease"),
        ("Marcus Gunn pupils were seen.", "Marcus Gunn pupils"),
        ("Addison came with his dog.", ""),
    ],
)
def test_medical_expressions_of_several_words(text, covered):
    page = Page(text, load_lexicon("en"))
    known = sorted(page.known)
    assert text[page.starts[known[0]] : page.ends[known[-1]]] == covered if known else not covered
    assert not known or not find_spans(text, Settings()).spans
