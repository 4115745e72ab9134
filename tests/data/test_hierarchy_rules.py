# ruff: noqa: DTZ001 - columns of data hold times without a zone
"""Rules that build a hierarchy from the values of the data."""

import datetime as dt

import pytest

import tacit
from tacit import hierarchy
from tacit.errors import HierarchyError

RULES = [
    hierarchy.flat(),
    hierarchy.flat(top="all"),
    hierarchy.digits(5, mask=[1, 2]),
    hierarchy.prefix([2, 1, 1]),
    hierarchy.prefix([2, 3], ragged=True),
    hierarchy.dates("%m/%d/%y", levels=["quarter", "year"], century=1900),
    hierarchy.dates(),
    hierarchy.intervals(5, levels=3, lower=10, upper=90, origin=1),
    hierarchy.intervals(cuts=[[1, 2, 3], [2]], integers=False),
    hierarchy.intervals(0.5),
    hierarchy.icd(9, titles=True, other="?"),
    hierarchy.icd(10),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.to_dict()["kind"])
def test_rules_round_trip_and_build_on_no_values(rule):
    assert hierarchy.load(rule.to_dict()) == rule
    assert hierarchy.load(rule) is rule
    assert isinstance(rule, hierarchy.Rule)
    empty = rule.build([])
    assert len(empty) == 0
    assert empty.top


def test_flat_and_digits():
    assert hierarchy.flat().build(["m", "f"]).path("f") == ("f", "*")
    assert hierarchy.digits(5).build(["02138"]).path("02138") == (
        "02138",
        "0213*",
        "021**",
        "02***",
        "0****",
        "*****",
    )
    assert hierarchy.digits(5, mask=[2]).build([2138]).path(2138) == ("2138", "021**", "*****")
    with pytest.raises(HierarchyError, match="1 of 2 different values are longer"):
        hierarchy.digits(4).build(["02138", "1"])
    for mask in ([0], [6], [2, 1], [1, 1]):
        with pytest.raises(HierarchyError, match="mask must rise"):
            hierarchy.digits(5, mask=mask)


def test_prefix_takes_digit_groups():
    h = hierarchy.prefix([2, 1, 1, 0, 0]).build(["1234", "1235", "1244"])
    assert h.path("1235") == ("1235", "123", "12", "*")
    assert hierarchy.prefix([1]).build(["a"]).path("a") == ("a", "*")
    with pytest.raises(HierarchyError, match="leading zeros"):
        hierarchy.prefix([2, 2]).build([123])
    assert hierarchy.prefix([2, 2], ragged=True).build(["A", "0111"]).path("A") == ("A", "A", "*")
    with pytest.raises(HierarchyError, match="widths"):
        hierarchy.prefix([0])


def test_dates_of_every_type():
    path = ("month", "year", "5 years", "10 years")
    expected = ("05/1964", "1964", "1960-1964", "1960-1969", "*")
    for value, form in [
        ("05/09/64", "%m/%d/%y"),
        (dt.date(1964, 5, 9), "%Y-%m-%d"),
        (dt.datetime(1964, 5, 9, 13, 30), "%Y-%m-%d"),
        ("9 May 1964", "%d %B %Y"),
    ]:
        h = hierarchy.dates(form).build([value])
        assert h.path(value)[1:] == expected
        assert h.names == ("day", *path, "suppressed")


def test_date_levels():
    moment = dt.datetime(2021, 1, 3, 23, 59)
    h = hierarchy.dates(levels=["day", "month", "quarter", "20 years"]).build([moment])
    assert h.path(moment) == (
        "2021-01-03T23:59:00",
        "2021-01-03",
        "01/2021",
        "2021-Q1",
        "2020-2039",
        "*",
    )
    assert hierarchy.dates(levels=["week"]).build([moment]).path(moment)[1] == "2020-W53"


def test_two_digit_years_and_leap_days():
    assert hierarchy.dates("%m/%d/%y").build(["02/29/00"]).path("02/29/00")[2] == "2000"
    with pytest.raises(HierarchyError, match="1 of 1 different values are not dates"):
        hierarchy.dates("%m/%d/%y", century=1850).build(["02/29/00"])


@pytest.mark.parametrize(
    ("levels", "fault"),
    [
        (["yaer"], "Did you mean 'year'"),
        (["year", "month"], "not in the order"),
        (["week", "year"], "weeks cross"),
        ([], "no level"),
    ],
)
def test_date_levels_that_do_not_nest(levels, fault):
    with pytest.raises(HierarchyError, match=fault):
        hierarchy.dates(levels=levels)


def test_intervals_of_whole_numbers():
    h = hierarchy.intervals(width=5, levels=3, factor=2, lower=10, upper=90).build(
        [3, 10, 23, 89, 90, 120]
    )
    assert h.path(23) == ("23", "20-24", "20-29", "20-39", "*")
    assert h.path(3) == ("3", "<10", "<10", "<10", "*")
    assert h.path(120) == ("120", "90+", "90+", "90+", "*")
    assert h.path(10)[1:4] == ("10-14", "10-19", "10-19")
    assert h.path(89)[1:4] == ("85-89", "80-89", "80-89")


def test_intervals_below_zero_and_of_width_one():
    assert hierarchy.intervals(5).build([-3]).path(-3)[1] == "-5 to -1"
    assert hierarchy.intervals(1).build([7]).path(7)[1] == "7"
    assert hierarchy.intervals(10, origin=3).build([2]).path(2)[1] == "-7 to 2"


def test_intervals_of_reals_have_decimal_edges():
    h = hierarchy.intervals(0.1, levels=2, factor=5).build([0.3, 0.7, 2.25, 0.1 + 0.2])
    assert h.path(0.3)[1:3] == ("[0.3, 0.4)", "[0, 0.5)")
    assert h.path(0.7)[1:3] == ("[0.7, 0.8)", "[0.5, 1)")
    assert h.path(2.25)[1] == "[2.2, 2.3)"
    assert hierarchy.intervals(5).build([2.5, 7]).path(7)[1] == "[5, 10)"


def test_intervals_read_text_and_refuse_the_rest():
    assert hierarchy.intervals(10).build(["007", "12"]).path("007")[1] == "0-9"
    with pytest.raises(HierarchyError, match="3 of 4 different values are not numbers"):
        hierarchy.intervals(10).build(["x", True, float("inf"), 1])
    with pytest.raises(HierarchyError, match="not whole"):
        hierarchy.intervals(10, integers=True).build([1.5])
    with pytest.raises(HierarchyError, match="too small"):
        hierarchy.intervals(0.5).build([1e300])


def test_intervals_beyond_64_bits():
    large = 2**70
    assert (
        hierarchy.intervals(10).build([large]).path(large)[1]
        == f"{large // 10 * 10}-{large // 10 * 10 + 9}"
    )


def test_interval_cuts():
    h = hierarchy.intervals(cuts=[[18, 30, 65], [30]]).build([17, 18, 64, 65])
    assert [h.path(v)[1] for v in (17, 18, 64, 65)] == ["<18", "18-29", "30-64", "65+"]
    assert [h.path(v)[2] for v in (17, 18, 64, 65)] == ["<30", "<30", "30+", "30+"]
    assert hierarchy.intervals(cuts=[0.5]).build([0.5]).path(0.5)[1] == "0.5+"


@pytest.mark.parametrize(
    ("options", "faults"),
    [
        ({}, ["either width or cuts"]),
        ({"width": 5, "cuts": [1]}, ["either width or cuts"]),
        ({"width": 0}, ["positive"]),
        ({"width": [5, 12, 6]}, ["level 2", "level 3"]),
        (
            {"width": 5, "levels": 0, "factor": 1, "lower": 3, "upper": 3},
            ["levels must", "factor must", "lower must"],
        ),
        ({"cuts": [[1, 2], [3]]}, ["level 2: it is cut where level 1 is not"]),
        ({"cuts": [2, 1]}, ["must rise"]),
        ({"cuts": [1], "upper": 3}, ["go with width"]),
        ({"cuts": ["a"]}, ["numbers"]),
    ],
)
def test_interval_faults_together(options, faults):
    with pytest.raises(tacit.SdcError) as error:
        hierarchy.intervals(**options)
    assert len(error.value.faults) == len(faults)
    for said, expected in zip(error.value.faults, faults, strict=True):
        assert expected in said


ICD10 = {
    "I21.4": ("I21.4", "I21", "I20-I25", "IX"),
    "i214": ("I21.4", "I21", "I20-I25", "IX"),
    "I21": ("I21", "I21", "I20-I25", "IX"),
    "I21.-": ("I21", "I21", "I20-I25", "IX"),
    "A17.0†": ("A17.0", "A17", "A15-A19", "I"),
    "S72.001A": ("S72.0", "S72", "S70-S79", "XIX"),
    "X99.1": ("X99.1", "X99", "X85-Y09", "XX"),
    "D50": ("D50", "D50", "D50-D53", "III"),
    "D48.9": ("D48.9", "D48", "D37-D48", "II"),
    "C50.911": ("C50.9", "C50", "C50", "II"),
    "M1A.09X0": ("M1A.0", "M1A", "M05-M14", "XIII"),
    "I16.0": ("I16.0", "I16", "I16", "IX"),
    "U07.1": ("U07.1", "U07", "U00-U49", "XXII"),
    "Z3A.01": ("Z3A.0", "Z3A", "Z30-Z39", "XXI"),
}

ICD9 = {
    "250.01": ("250.0", "250", "249-259", "3"),
    "25001": ("250.0", "250", "249-259", "3"),
    "410": ("410", "410", "410-414", "7"),
    "38.9": ("038.9", "038", "030-041", "1"),
    "8": ("008", "008", "001-009", "1"),
    "v10.01": ("V10.0", "V10", "V10-V19", "V"),
    "E812.0": ("E812.0", "E812", "E810-E819", "E"),
    "E8120": ("E812.0", "E812", "E810-E819", "E"),
    "042": ("042", "042", "042", "1"),
    "800.1": ("800.1", "800", "800-804", "17"),
}


@pytest.mark.parametrize(("version", "codes"), [(10, ICD10), (9, ICD9)])
def test_icd(version, codes):
    h = hierarchy.icd(version).build(list(codes))
    assert h.names == ("code", "subcategory", "category", "block", "chapter", "suppressed")
    for code, expected in codes.items():
        assert h.path(code) == (code, *expected, "*")


def test_icd_numbers_unknown_codes_and_titles():
    assert hierarchy.icd(9).build([250.1, 8.0]).path(8.0)[2] == "008"
    with pytest.raises(
        HierarchyError, match="2 of 3 different values are not codes of ICD-10"
    ) as error:
        hierarchy.icd(10).build(["I21.4", "hello", "D99"])
    assert "hello" not in str(error.value)
    h = hierarchy.icd(10, other="unknown", titles=True).build(["I21.4", "?"])
    assert h.path("?") == ("?", "unknown", "unknown", "unknown", "unknown", "*")
    assert h.path("I21.4")[4] == "IX Diseases of the circulatory system"
    with pytest.raises(HierarchyError, match="version"):
        hierarchy.icd(11)


@pytest.mark.parametrize("version", [9, 10])
def test_icd_blocks_are_ordered_disjoint_and_inside_their_chapter(version):
    from tacit.data.hierarchies.icd import TABLES, blocks

    for chapter in TABLES[version]:
        firsts, lasts, _ = blocks(chapter)
        ends = [e for pair in zip(firsts, lasts, strict=True) for e in pair]
        assert ends == sorted(ends)
        assert all(a < b for a, b in zip(lasts[:-1], firsts[1:], strict=True))
        assert chapter.first <= ends[0]
        assert ends[-1] <= chapter.last
