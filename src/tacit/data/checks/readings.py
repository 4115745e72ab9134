"""What a column of text says in numbers or dates: amounts with signs around them, dates in the usual forms, numbers in parts."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Floats

#: One number in a text, with commas or with points between thousands; signs, words and units may stand around it.
AROUND = r"^[^0-9+-]*([+-]?[0-9][0-9.,' ]*)[^0-9]*$"
#: How digits are grouped, and what is to be taken out and put in for a number that a computer reads.
FORMS = (
    (r"^[+-]?([0-9]+|[0-9]{1,3}([,' ][0-9]{3})+)(\.[0-9]+)?$", "[,' ]", ""),
    (r"^[+-]?([0-9]+|[0-9]{1,3}([.' ][0-9]{3})+)(,[0-9]+)?$", "[.' ]", ","),
)
DATES = ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%d %B %Y", "%d %b %Y",
         "%B %d, %Y", "%b %d, %Y", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")  # fmt: skip


def in_numbers(texts: pa.Array) -> Floats | None:
    """Return texts as numbers, of which the order is that of what they mean; None where some say no number or date.

    >>> in_numbers(pa.array(["EUR 12,345", "EUR 9", "EUR 1,000.5"])).tolist()
    [12345.0, 9.0, 1000.5]
    >>> in_numbers(pa.array(["1.234,5 kg", "7,25 kg"])).tolist()
    [1234.5, 7.25]
    >>> in_numbers(pa.array(["31/12/1999", "01/01/2000"])).tolist()
    [10956.0, 10957.0]
    >>> in_numbers(pa.array(["2019/12", "2020/2", "2020/11"])).tolist()
    [0.0, 1.0, 2.0]
    >>> in_numbers(pa.array(["a1b2", "c"])) is None
    True
    """
    if not len(texts):
        return None
    for reading in (as_amounts, as_dates, as_places):
        found = reading(texts)
        if found is not None:
            return found
    return None


def as_amounts(texts: pa.Array) -> Floats | None:
    """Return texts with one number each as these numbers."""
    if not pc.all(pc.match_substring_regex(texts, AROUND)).as_py():
        return None
    plain = pc.utf8_rtrim(pc.replace_substring_regex(texts, AROUND, r"\1"), " .,'")
    for form, grouping, point in FORMS:
        if pc.all(pc.match_substring_regex(plain, form)).as_py():
            bare = pc.replace_substring_regex(plain, grouping, "")
            bare = pc.replace_substring(bare, point, ".") if point else bare
            bare = pc.replace_substring_regex(bare, r"^\+", "")
            return np.asarray(bare.cast(pa.float64()).to_numpy(zero_copy_only=False))
    return None


def as_dates(texts: pa.Array) -> Floats | None:
    """Return texts that are dates in one form as days."""
    for form in DATES:
        read = pc.strptime(texts, format=form, unit="s", error_is_null=True)
        if not read.null_count:
            return np.asarray(read.cast(pa.int64()).to_numpy(zero_copy_only=False) / 86_400)
    return None


def as_places(texts: pa.Array) -> Floats | None:
    """Return the places in order of texts with several numbers in one form, such as year and running number."""
    forms = pc.unique(pc.replace_substring_regex(texts, "[0-9]+", "0"))
    if len(forms) != 1 or (forms[0].as_py() or "").count("0") <= 1:
        return None
    parts = [tuple(map(int, re.findall("[0-9]+", text))) for text in texts.to_pylist()]
    place = {p: float(i) for i, p in enumerate(sorted(set(parts)))}
    return np.array([place[p] for p in parts])
