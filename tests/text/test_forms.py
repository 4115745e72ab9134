"""Forms in which people write ages, dates, numbers, addresses and the names of things, and forms that are none of these."""

import pytest

from tacit.data.corpus import Span
from tacit.text.dates import is_near_weekday, near_month, read_day_month, read_scanned
from tacit.text.engine import Settings, find_spans
from tacit.text.packs import load_pack
from tacit.text.reading.page import Page, load_lexicon
from tacit.text.tidy import tidy_spans
from text.scoring import without_crf

ENGLISH = load_pack("en")


def found(text, kind):
    """Return what the rules find of a kind, without the trained voter."""
    with without_crf():
        spans = find_spans(text, Settings()).spans
    return [text[s.start : s.end] for s in spans if s.kind == kind]


@pytest.mark.parametrize(
    "text",
    [
        "She is 93 and walks with a frame.",
        "He's 94 now.",
        "Granny (97) slipped on the step.",
        "MOTHER AGNES (98) CONFUSED",
        "Cards for Winnie, 100 today!",
        "Lockyer 91F neck of femur",
        "Seen: 95/M, from home",
        "| Voss, E | 92 | F |",
        "Age/Sex: 94/F",
        "Her father died at 96 of a stroke.",
        "His aunt lived to be 102.",
        "II-3 reached 99",
        "for his 90th birthday",
        "a lady of 95 from the next street",
        "the tenant, now 91, sings",
        "He will be 100 next week.",
    ],
)
def test_great_ages(text):
    assert len(found(text, "age")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "She is 88 and lives alone.",
        "Pulse is 96 and regular.",
        "He is 96 kg.",
        "She is 94 on air.",
        "Temp 101F, HR 98, BP 110/70",
        "Glucose (96), chloride (101)",
        "The rate reached 110 on the treadmill.",
        "Walked 100 m with a frame.",
        "Hb 104, plt 95, fasting glucose 101.",
        "Bed 92, page 101, peak flow 95",
        "Flexion to 95, he is 95 percent weight bearing.",
        "Mr Smith, 95 Main Street",
    ],
)
def test_values_are_no_ages(text):
    assert found(text, "age") == []


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Scan booked Tues 14th.", "Tues 14th"),
        ("Come in monday the twenty seventh at ten.", "monday the twenty seventh"),
        ("Attended on the 9th inst. at noon.", "the 9th inst"),
        ("Review on the 19th, then home.", "the 19th"),
        ("Due the 5th of this month.", "the 5th"),
        ("on the 22nd day of January 2020 at home", "the 22nd day of January 2020"),
        ("14th - bloods normal", "14th"),
        ("pacing check 8 febuary with the team", "8 febuary"),
        ("Clinic 22nd Ocober please.", "22nd Ocober"),
        ("Janurary 4th was the fall.", "Janurary 4th"),
        ("thrusday 2nd june", "thrusday 2nd june"),
        ("wound clinic 10/11 8:30 AM", "10/11"),
        ("08/06 DNA, letter sent", "08/06"),
        ("CPA with the team 14/11, mum invited", "14/11"),
        ("I put one in 8-14 and 8-20.", "8-14"),
        ("Collected ...... 28.04 at 08:50", "28.04"),
        ("D.O.B. O7/l1/1952", "O7/l1/1952"),
        ("copied 30 Aug 0745", "30 Aug"),
        ("seen July the 9th, 2009", "July the 9th, 2009"),
    ],
)
def test_dates(text, date):
    assert date in found(text, "date")


@pytest.mark.parametrize(
    "text",
    [
        "Pain 3/10, power 4/5, MMSE 25/30.",
        "VA 6/9 and 6/12, 20/40 on the left",
        "Review in 3/12, course of 5/7, 2/52 later",
        "six weeks, 3/12",
        "give 1/2 tablet, 2-4 puffs, 10-15 min",
        "C5/6 and L4/5 discs",
        "on the 2nd floor, the 3rd and 4th toes, 9th centile",
        "R -2.25/-0.75 x 90",
        "Hb 10.12, at 10.30, by 11.15",
        "falls since Janurary",
        "from Monday, since 1998, in June 2004",
    ],
)
def test_scores_and_durations_are_no_dates(text):
    assert found(text, "date") == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("A. Quint, nurse, lic. RN.407711-NP", "RN.407711-NP"),
        ("Our Ref: TLB/NEG/22/0931", "TLB/NEG/22/0931"),
        ("police log 0931 of 22/9.", "0931 of 22/9"),
        ("Rang participant QD-204 twice", "QD-204"),
        ("bib T-408 at the start", "T-408"),
        ("gold card NX 551 803.", "NX 551 803"),
        ("SSN: xxx-xx-5120 on file", "xxx-xx-5120"),
        ("card ending in 5120", "5120"),
        ("Rec. No. QQ471-B", "QQ471-B"),
        ("part plate WK19 seen", "WK19"),
        ("s/n 77-10412", "77-10412"),
        ("lot no. 55A21 given", "55A21"),
        ("Interpreter #50713 called", "50713"),
        ("participant 014 withdrew", "014"),
    ],
)
def test_numbers_with_a_label(text, number):
    assert number in found(text, "id")


@pytest.mark.parametrize(
    "text",
    [
        "CPT 22633 and HCPCS J1885",
        "ICD-10 C50.911",
        "Item 30071 skin biopsy",
        "Unit: C-2-114",
        "log roll 2 assist, card 3 of 5, lot of 500 patients",
        "Tooth #18",
        "subject 10 minutes late",
    ],
)
def test_codes_that_many_share_stay(text):
    assert found(text, "id") == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("fast bleeped 1107.", "1107"),
        ("Paged surgery p. 40718, no reply", "p. 40718"),
        ("ext 4471 or 4472", "4472"),
        ("call 98400 55512 after six", "98400 55512"),
        ("1300 555 012 all hours", "1300 555 012"),
        ("Rang 0491 570 156 x3, no answer", "0491 570 156"),
    ],
)
def test_phones(text, number):
    assert number in found(text, "phone")


@pytest.mark.parametrize(
    "text", ["bleeped the registrar at 0310", "09/11/2015 2354", "3 x 250", "Text 24 hours before"]
)
def test_times_and_counts_are_no_phones(text):
    assert found(text, "phone") == []


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("came all the way from Marforth-on-Tarn by bus", "Marforth-on-Tarn"),
        ("born at Lot 12, Mill Track, via Dorrin Well that year", "Lot 12, Mill Track, via Dorrin Well"),
        ("moved to Plot 31, Osei Nagar last year", "Plot 31, Osei Nagar"),
        ("45/26 Lake Vihar, second floor", "45/26 Lake Vihar"),
        ("1200 W. 5th St. Apt 4", "1200 W. 5th St. Apt 4"),
        ("RR 2 Box 118", "RR 2 Box 118"),
        ("County Road 14 at the mill", "County Road 14"),
        ("He drove home to Flintle Creek.", "Flintle Creek"),
        ("lives 11b tannery terrace, tolworthy.", "11b tannery terrace, tolworthy"),
        ("she lives on priory road now", "priory road"),
        ("neighbour (Ron, no 40) rang", "no 40"),
        ("Flat 3/1, 12 Marden Rd", "Flat 3/1, 12 Marden Rd"),
        ("Suite 4, 310 Banyan Parade, Werrabeen NSW 2999", "Suite 4, 310 Banyan Parade, Werrabeen NSW 2999"),
    ],
)  # fmt: skip
def test_addresses(text, address):
    assert address in found(text, "address")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Study from Marden Fork Imaging was late.", "Marden Fork Imaging"),
        ("Results of Wexley Diagnostics", "Wexley Diagnostics"),
        ("Provider: Tarnbrook Spine & Joint", "Tarnbrook Spine & Joint"),
        ("Nurse from Kestrel Ward rang.", "Kestrel Ward"),
        ("Ward: Wattle 3", "Wattle 3"),
        ("Report owing to Tarrow Creek Meats.", "Tarrow Creek Meats"),
        ("hours with Pennymore Solicitors", "Pennymore Solicitors"),
        ("rep from Ostrander Implants", "Ostrander Implants"),
        ("Employer: Grantley Precision Castings", "Grantley Precision Castings"),
        ("his regiment (2nd Barshire Fusiliers)", "2nd Barshire Fusiliers"),
        ("communion from Fr Moss of St Jude's.", "St Jude's"),
        ("at three, at Our Lady of Sorrows, in town", "Our Lady of Sorrows"),
        ("licence from HMP Stannerby today", "HMP Stannerby"),
        ("Dorrin Creek Correctional HEALTH REQUEST", "Dorrin Creek Correctional"),
        ("training for the Dorrin Well Magpies again", "Dorrin Well Magpies"),
        ("plays second row for Old Marfordians", "Old Marfordians"),
        ("SNF: Golden Acres", "Golden Acres"),
    ],
)
def test_names_of_things(text, name):
    with without_crf():
        spans = find_spans(text, Settings()).spans
    kinds = {"hospital", "employer", "organisation", "address"}
    assert name in [text[s.start : s.end] for s in spans if s.kind in kinds]


@pytest.mark.parametrize(
    "text",
    [
        "Mayo Clinic criteria met.",
        "Referred to Vascular Surgery and Interventional Radiology.",
        "Under Community Mental Health and the Pain Service.",
        "Admit to Medical Assessment Unit, then Stroke Ward.",
        "The World Health Organization checklist was done.",
        "NNU HIGH DEPENDENCY, primary tumour, progress Thera-Band",
        "St John's wort stopped.",
        "House officer to chase. Ward Round today.",
    ],
)
def test_general_words_are_no_names_of_things(text):
    with without_crf():
        spans = find_spans(text, Settings()).spans
    assert [s.kind for s in spans if s.kind in {"hospital", "employer", "organisation"}] == []


@pytest.mark.parametrize(
    ("text", "voted", "kind", "left"),
    [
        ("Acct 7700-4418-02 due", "Acct 7700-4418-02", "id", ["7700-4418-02"]),
        ("mobile 0491 570 156 now", "mobile 0491 570 156", "phone", ["0491 570 156"]),
        ("29+4    1180    CPAP", "+4    1180", "phone", []),
        ("03/01/22  99214 visit", "03/01/22  99214", "date", ["03/01/22"]),
        ("1 Apr 2022 to 5 Apr 2022", "1 Apr 2022 to 5 Apr 2022", "date", ["1 Apr 2022", "5 Apr 2022"]),
        ("Pain VAS 2/10 today", "2/10", "date", []),
        ("meals from monday on", "monday", "date", []),
        ("seen at memory clinic", "memory clinic", "hospital", []),
        ("mail December. a@b.example", "December. a@b.example", "email", ["a@b.example"]),
        ("Madrid B2 fracture", "Madrid", "address", []),
        ("CPT 22633 upheld", "22633", "id", []),
    ],
)  # fmt: skip
def test_votes_are_tidied(text, voted, kind, left):
    page = Page(text, load_lexicon("en"))
    start = text.index(voted)
    span = Span(start, start + len(voted), kind, 0.99, "crf")
    assert [text[s.start : s.end] for s in tidy_spans(page, [span])] == left


def test_readers_of_dates():
    assert near_month("febuary", ENGLISH.month_names) == 2
    assert not near_month("match", ENGLISH.month_names)
    assert is_near_weekday("thrusday")
    assert not is_near_weekday("thunder")
    assert read_scanned("O7/l1/1952", 0).month == 11
    assert read_scanned("12/05/1949", 0) is None
    written = read_day_month("30 Aug 0745", 0, ENGLISH)
    assert (written.end, written.year_text) == (6, "")


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("seen 09MAR21 by the optician", "date", "09MAR21"),
        ("begun 7.xi.21 at noon", "date", "7.xi.21"),
        ("Date of birth: 11|02|1987", "date", "11|02|1987"),
        ("DOB 11 02 1987", "date", "11 02 1987"),
        ("admitted 14 Sep-\ntember 2018 with croup", "date", "14 Sep-\ntember 2018"),
        ("stay 03.05. to 09.05.2020", "date", "03.05"),
        ("meeting on Monday the ninth of June", "date", "Monday the ninth of June"),
        ("born May the third, eighty-one", "date", "May the third, eighty-one"),
        ("birthday four nineteen sixty two", "date", "four nineteen sixty two"),
        ("LABS (11/9): sodium 140", "date", "11/9"),
        ("Mob 97XXX 11806", "phone", "97XXX 11806"),
        ("ID: 7103250XXX081", "id", "7103250XXX081"),
        ("Your ref: KB/204", "id", "KB/204"),
        ("last4 8130 on file", "id", "8130"),
        ("(bag 7702/C) given", "id", "7702/C"),
        ("seen with form WQ 0481 done", "id", "WQ 0481"),
        ("URN 904417 noted", "id", "904417"),
        ("mrn 5510338 dob 4/1/60", "id", "5510338"),
        ("Crash on the A52 near Wold Barrow today", "address", "A52 near Wold Barrow"),
        ("She is still at thirty-two Larkspur Lane now", "address", "thirty-two Larkspur Lane"),
        ("2207 Camino Verdoso is her home", "address", "2207 Camino Verdoso"),
        (
            "r/o Vill. Dhanora Kalan, P.O. Mirzaganj, for review",
            "address",
            "Vill. Dhanora Kalan, P.O. Mirzaganj",
        ),
        ("She left Baie-aux-Loutres, ON", "address", "Baie-aux-Loutres, ON"),
        ("Father Ignatius d. 97, mother d. 62", "age", "97"),
        ("Heron Point Medical\nDear Dr Ames", "hospital", "Heron Point Medical"),
        ("Red Butte Health Plan\nPO Box 8", "employer", "Red Butte Health Plan"),
        ("Copy: Dr Quill (Northshore IVF)", "hospital", "Northshore IVF"),
        ("TPA CareMantle says no.", "employer", "CareMantle"),
        ("delivered by Veltrix Direct each week", "employer", "Veltrix Direct"),
        (
            "He served in the 2nd Bn 41st Engineers until then.",
            "organisation",
            "2nd Bn 41st Engineers",
        ),
        ("two students from the Uni of Wolder today", "organisation", "Uni of Wolder"),
        ("coffee at the Co-op daily", "employer", "Co-op"),
        ("he fought with the Fusiliers there", "organisation", "Fusiliers"),
        ("write to a@b.example or see www.larks-home.example now", "url", "www.larks-home.example"),
    ],
)
def test_odd_forms(text, kind, wanted):
    assert wanted in found(text, kind)


@pytest.mark.parametrize(
    "text",
    [
        "rv 6/12",
        "See again 3/12 please",
        "memory 14/26, fluency 9/14",
        "pneumonitis, P/F 118, proned",
        "Fick CO 4.4",
        "Imms UTD inc MMR",
    ],
)
def test_durations_and_scores(text):
    assert not any(found(text, kind) for kind in ("date", "age", "employer"))


@pytest.mark.parametrize(
    ("text", "part", "kind"),
    [
        ("CP x 40 min, 8/10. Rests.", "8/10", "date"),
        ("VA 6/9 R 6/18 L", "6/18", "date"),
        ("VBG 7.31/52/28. Chest clear", "31/52/28", "date"),
        ("LOST PROPERTY June 2021", "June 2021", "date"),
        ("rooms 11-20) all settled", "11-20", "date"),
        ("| Disp 1407 | Enr 1408 |", "Disp 1407", "id"),
        ("Li-Fraumeni (TP53) negative", "TP53", "id"),
    ],
)
def test_voter_is_corrected(text, part, kind):
    page = Page(text, load_lexicon("en"))
    at = text.index(part)
    assert tidy_spans(page, [Span(at, at + len(part), kind, 0.99, "crf")]) == []
