"""No text makes a detector slow: the work grows with the length, whatever stands there."""

import time

import pytest

from tacit.text.engine import Settings, find_spans, replace_spans
from text.scoring import without_crf

N = 100_000
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
        "ages": "at age ",
        "lines": "\n",
        "carriage returns": "\r",
    }.items()
} | {"distinct names": " ".join(DISTINCT)}


@pytest.mark.parametrize("name", LINES)
def test_adversarial_lines_take_linear_time(name):
    text, settings = LINES[name], Settings()
    find_spans("warm", settings)
    with without_crf():
        begun = time.process_time()
        found = find_spans(text, settings)
        replace_spans(text, found, settings, b"key")
    # A quadratic search would take minutes; the slowest of these takes about two seconds.
    assert time.process_time() - begun < 8


def test_a_long_line_is_worked_through_in_parts():
    text = "Mr. Gilbert Moss came. " * 50_000
    with without_crf():
        found = find_spans(text, Settings())
    assert len(found.spans) == 50_000
    assert {text[s.start : s.end] for s in found.spans} == {"Gilbert Moss"}
    assert {s.entity for s in found.spans} == {"p1"}
