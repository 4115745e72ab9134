"""Rules over columns: what can be said, what is refused, and what a missing value means."""

import datetime as dt
import functools

import pytest

import tacit
from tacit.data.where import columns_of, where
from tacit.errors import ColumnNotFound, InputError, InvalidParameter


def data(engine="duckdb"):
    return tacit.read(
        {
            "age": [10, 70, None, 95],
            "other": [70, 70, 1, 2],
            "region": ["N", "S", "N", None],
            "home town": ["A'b", "é", "A'b", "x"],
            "smoker": [True, False, None, True],
            "born": [dt.date(2000, 1, 1), dt.date(1940, 5, 5), None, dt.date(1930, 1, 1)],
        },
        engine=engine,
    )


CASES = {
    "age > 60": [2, 4],
    "not age > 60": [1, 3],
    "18 <= age < 95": [2],
    "age == None": [3],
    "age is not None": [1, 2, 4],
    "age != 10": [2, 3, 4],
    "age == -1 or age in [10, 95]": [1, 4],
    "age not in [10, 95]": [2, 3],
    "region in ['S', None]": [2, 4],
    "age in []": [],
    "age == other": [2],
    "other > age": [1],
    '`home town` == "A\'b"': [1, 3],
    "`home town` == 'é'": [2],
    "smoker and age > 60": [4],
    "not smoker": [2, 3],
    "smoker == False": [2],
    "born < '1950-01-01'": [2, 4],
    "region == 'N'\n  and age < 60.5": [1],
    "region == 'N; drop'": [],
}


@functools.cache
def numbered(engine_name):
    return data(engine_name).replace({"i": [1, 2, 3, 4]})


@pytest.mark.parametrize("text", CASES)
def test_meaning(text, engine):
    rows = numbered(engine.name)
    expr = where(text, rows.frame.collect_schema()).expr
    assert rows.filter(expr).column("i").to_pylist() == CASES[text]
    assert rows.filter(~expr).column("i").to_pylist() == [
        i for i in (1, 2, 3, 4) if i not in CASES[text]
    ]


REFUSED = [
    "",
    "age >",
    "age + 1 > 2",
    "__import__('os').system('x') == 1",
    "age.real > 1",
    "age[0] > 1",
    "age",
    "1 < 2",
    "1 in [1]",
    "age in other",
    "age in [other]",
    "age > None",
    "lambda: 1",
    "(x := 1) == 1",
    "f'{age}' == '1'",
    "age if smoker else other",
    "age == 1j",
    "age == b'x'",
    "True",
    "age > 1 # note",
    "x" * 20_000,
]


@pytest.mark.parametrize(
    "text", [r for r in REFUSED if r not in ("age", "age > 1 # note", "x" * 20_000)]
)
def test_not_a_rule(text):
    with pytest.raises(InvalidParameter):
        where(text, data().frame.collect_schema())
    with pytest.raises(InvalidParameter):
        tacit.Suppress(level="tuple", where=text)


def test_too_long_or_deep():
    for text in ("x" * 20_000, "not " * 2400 + "age > 1"):
        with pytest.raises(InvalidParameter):
            where(text, data().frame.collect_schema())


@pytest.mark.parametrize(
    "text",
    [
        "age",
        "age == 'x'",
        "region == 1",
        "smoker == 1",
        "born > 'soon'",
        "region == age",
        "age in ['x']",
    ],
)
def test_kinds_must_agree(text):
    with pytest.raises(InputError):
        where(text, data().frame.collect_schema())


def test_columns():
    assert columns_of("b > 1 and (`a c` == 'd' or b < 3)") == ("b", "a c")
    assert columns_of(None) == ()
    with pytest.raises(ColumnNotFound, match="Did you mean 'age'"):
        where("agee > 1", data().frame.collect_schema())
