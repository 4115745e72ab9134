"""Beside shifted dates no word of the calendar tells by how much: a judge that knows the calendar finds no shift."""

import datetime as dt

import numpy as np
import pytest

import tacit
from tacit.text.dates import to_month
from tacit.text.packs import load_pack

FIXED = {"Christmas Day": (12, 25), "New Year's Eve": (12, 31), "Boxing Day": (12, 26), "Halloween": (10, 31), "Valentine's Day": (2, 14), "Independence Day": (7, 4)}  # fmt: skip
MOVABLE = ("Easter", "Easter Monday", "Good Friday", "Thanksgiving", "Ash Wednesday", "Labor Day", "Pentecost", "Ramadan", "Mother's Day", "Yom Kippur")  # fmt: skip


def shifted(text, seed=1, **options):
    scrub = tacit.Scrub(mode="substitute", dates="shift", **options)
    (document,) = scrub.apply(tacit.Corpus.of({"a": text}), seed=seed)
    return document.text


def test_christmas_day_in_may():
    told = shifted("He fell on Christmas Day, May 5, 2020.")
    assert "Christmas" not in told
    assert told.startswith("He fell on that day, ")
    assert "May 5" not in told


@pytest.mark.parametrize("name", [*FIXED, *MOVABLE, "CHRISTMAS EVE", "New Year’s Day", "Xmas"])
def test_no_holiday_is_left_beside_a_date(name):
    told = shifted(f"She was seen on 5 May 2020 and came back at {name} with pain.")
    assert name.lower() not in told.lower()


def test_what_sounds_like_a_holiday_stays():
    text = "Christmas disease was found on 5 May 2020."
    assert "Christmas disease" in shifted(text)


def test_months_keep_no_holiday_either():
    scrub = tacit.Scrub(mode="substitute", dates="month")
    corpus = tacit.Corpus.of({"a": "On Christmas Day, December 25, 2019, he fell on a Wednesday."})
    (document,) = scrub.apply(corpus, seed=1)
    assert "Christmas" not in document.text
    assert "December, 2019" in document.text


@pytest.mark.parametrize("seed", range(12))
def test_weekdays_months_and_seasons_move_with_the_dates(seed):
    rng = np.random.default_rng(seed)
    day = dt.date(2018, 1, 1) + dt.timedelta(days=int(rng.integers(1500)))
    weekday, month = day.strftime("%A"), day.strftime("%B %Y")
    text = f"Seen {day.month}/{day.day}/{day.year}, a {weekday}. Pain since {month}, worse in {day.strftime('%B')} and {day.month:02d}/{day.year}."
    told = shifted(text, seed)
    moved = dt.datetime.strptime(told.split("Seen ")[1].split(",")[0], "%m/%d/%Y").date()  # noqa: DTZ007 - a day
    assert moved != day
    assert f", a {moved.strftime('%A')}. " in told
    # A month moves as its middle does: at most half a month off the date itself.
    since = dt.datetime.strptime(told.split("since ")[1].split(",")[0], "%B %Y").date()  # noqa: DTZ007 - a day
    assert abs((since.replace(day=15) - moved).days) <= 31
    numbered = dt.datetime.strptime(told.rsplit(" ", 1)[1], "%m/%Y.").date()  # noqa: DTZ007 - a day
    assert numbered == since
    assert f"in {since.strftime('%B')} " in told


def test_seasons_move_as_well():
    seen = {shifted("In winter 2019 he was well; on 3 June 2020 he fell.", seed).split()[1] for seed in range(12)}  # fmt: skip
    assert len(seen) > 1
    assert seen <= {"winter", "spring", "summer", "autumn"}
    assert "he had a fall" in shifted("On 3 June 2020 he had a fall.")


def test_eight_digits_that_no_calendar_has_are_no_date():
    pack = load_pack("en")
    assert to_month("20230415", pack) == "202304"
    assert to_month("20231345", pack) == ""
