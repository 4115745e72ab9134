"""Scoring of de-identified texts, against cases small enough to count by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letters import write_letters
from tacit.data.corpus import Document, Span
from tacit.errors import InputError
from tacit.text.evaluate import align, evaluate_texts, score_document, wilson


def spans_of(text, *words, kind="name", **more):
    return tuple(Span(text.index(w), text.index(w) + len(w), kind, **more) for w in words)


def found(text, gold_word, kind, *covered):
    document = Document("d-1", text, spans_of(text, gold_word, kind=kind))
    return score_document(document, spans_of(text, *covered)).clean


def test_wilson_of_a_textbook_case():
    # Wilson (1927) as in Agresti and Coull (1998): 0 of 10 gives 0 to 0.2775, 5 of 10 gives 0.2366 to 0.7634.
    assert wilson(0, 10) == pytest.approx((0, 0.2775), abs=5e-5)
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=5e-5)
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(0, 200), st.integers(0, 200))
def test_wilson_holds_the_share(hits, more):
    low, high = wilson(hits, hits + more)
    if hits + more:
        assert 0 <= low <= hits / (hits + more) <= high <= 1


def test_names_must_go_whole_and_other_kinds_mostly():
    assert found("seen by Ann Lee today", "Ann Lee", "name", "Ann Lee")
    assert found("seen by Ann Lee today", "Ann Lee", "name", "Ann", "Lee")
    assert not found("seen by Ann Lee today", "Ann Lee", "name", "Lee")
    # Generic words of a hospital or firm may stay; the rest may not.
    assert found(
        "at Oakdale Memorial Hospital now", "Oakdale Memorial Hospital", "hospital", "Oakdale"
    )
    assert not found(
        "at Oakdale Memorial Hospital now", "Oakdale Memorial Hospital", "hospital", "Memorial"
    )


def test_of_an_address_state_and_three_digits_may_stay():
    text = "lives at 12 Elm Road, Ashby, MA 02151 since"
    gold = "12 Elm Road, Ashby, MA 02151"
    document = Document("d-1", text, spans_of(text, gold, kind="address"))
    last = text.index("02151") + 3
    cover = (*spans_of(text, "12 Elm", "Ashby"), Span(last, last + 2, "address"))
    assert score_document(document, cover).clean
    assert not score_document(document, cover[:1]).clean


@pytest.mark.parametrize(
    ("date", "covered", "expected"),
    [
        ("Wednesday, February 2, 1994", ("Wednesday", "2"), True),
        ("Wednesday, February 2, 1994", ("2",), False),
        ("05/26/86", ("26",), True),
        ("05/06/86", ("05",), False),
        ("05/06/86", ("05/06",), True),
        ("4 May 1971", ("4",), True),
        ("21st of March, 2004", ("21",), True),
        ("2004-03-21", ("21",), True),
        ("17 Nov 10", ("17",), True),
        ("17. Oktober 2010", ("17",), True),
    ],
)
def test_of_a_date_day_and_weekday_must_go(date, covered, expected):
    assert found(f"on {date} he", date, "date", *covered) is expected


def test_precision_counts_letters_and_titles_are_neutral():
    text = "Then Dr. Ann Lee gave aspirin"
    document = Document(
        "d-1", text, spans_of(text, "Ann Lee"), spans_of(text, "aspirin", kind="other")
    )
    exact = score_document(document, spans_of(text, "Ann Lee"))
    assert (exact.changed, exact.right, exact.violated) == (6, 6, 0)
    titled = score_document(document, spans_of(text, "Dr. Ann Lee"))
    assert (titled.changed, titled.right) == (6, 6)
    wrong = score_document(document, spans_of(text, "Ann Lee gave aspirin"))
    assert (wrong.changed, wrong.right, wrong.violated) == (17, 6, 1)
    assert wrong.tokens == (2, 2, 4, 2)


def test_a_span_that_left_its_text_alone_counts_as_nothing():
    text = "Ann met Bob"
    document = Document("d-1", text, spans_of(text, "Ann", "Bob"))
    spans = spans_of(text, "Ann", "Bob")
    assert score_document(document, spans, "Eva met Bob").spans[1].found is False
    assert score_document(document, spans, "Eva met Tim").clean
    assert align(text, spans, "Evangeline met T") == ["Evangeline", "T"]
    with pytest.raises(InputError, match="does not agree"):
        score_document(document, spans, "Eva saw Tim")


def test_groups_and_numbers_of_a_result():
    text = "Ann, DOB 4 May 1971"
    gold = (Span(0, 3, "name", entity="patient"), Span(9, 19, "date", source="birth"))
    documents = [Document("memo-1", text, gold), Document("memo-2", text, gold)]
    result = evaluate_texts(documents, [gold, gold[:1]])
    rows = {(r["by"], r["group"]): (r["found"], r["spans"]) for r in result.frame.rows(named=True)}
    assert rows["all", "all"] == (3, 4)
    assert rows["kind", "date"] == (1, 2)
    assert rows["role", "patient"] == (2, 2)
    assert rows["family", "memo"] == (3, 4)
    assert rows["style", "birth"] == (1, 2)
    assert result.value == 0.75
    assert result.numbers["share_without_miss"] == 0.5
    assert result.numbers["precision"] == 1.0
    assert "date (2)" in str(result.plot().spec)
    assert "de-identified, not anonymous" in repr(result)
    with pytest.raises(InputError, match="no marks"):
        evaluate_texts([Document("x", "text")], [()])


def test_gold_itself_scores_full_marks():
    documents = write_letters(120, seed=3, language=None).documents
    numbers = evaluate_texts(documents, [d.gold for d in documents]).numbers
    assert (numbers["recall"], numbers["precision"], numbers["keep_violated"]) == (1.0, 1.0, 0)
    nothing = evaluate_texts(documents, [() for _ in documents]).numbers
    assert (nothing["recall"], nothing["keep_violated"]) == (0.0, 0)
