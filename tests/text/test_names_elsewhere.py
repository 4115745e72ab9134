"""Names where no letter has them: tables, boards, chats, initials; and words that only look like names."""

import pytest

from tacit.text.detect.names.tables import read_letters, read_tables
from tacit.text.detect.registry import Candidate, run_detectors
from tacit.text.engine import Settings, find_spans
from tacit.text.medicine import medical_evidence
from tacit.text.reading.page import Page, load_lexicon


def page_of(text):
    return Page(text, load_lexicon("en"))


def evidence_of(text, part):
    """Return the strongest evidence of the rules, without the trained voter, for a name that covers a part of a text."""
    found: list[Candidate] = []
    run_detectors(page_of(text), found)
    start = text.index(part)
    end = start + len(part)
    kinds = ("name", "nickname")
    covering = [c for c in found if c.start <= start and c.end >= end and c.kind in kinds]
    return max((c.evidence for c in covering), default=0.0)


def against(text, word):
    page = page_of(text)
    return medical_evidence(page, page.words.index(word))


BOARD = """bed  patient        named nurse  plan
1    Kvistad, R     Orla         home
2    vacant
3    Mac an tSneachta  JW        scan"""


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (BOARD, "Kvistad, R"),
        (BOARD, "Orla"),
        (BOARD, "JW"),
        (BOARD, "Mac an tSneachta"),
        ("time|pt|seen by\n0900|Quested, Ann|TB\n0915|Lark, J. K.|TB", "TB"),
        ("time|pt|seen by\n0900|Quested, Ann|TB\n0915|Lark, J. K.|TB", "Lark, J. K."),
        ("2. Thistlewick 71F – NOF, for theatre", "Thistlewick"),
        ("FIADH R. – SEALANTS DONE", "FIADH R."),
        ("[09:14] wee jock: bed 4 is free", "wee jock"),
        ("09:15 oksana: thanks", "oksana"),
        ("hello this is marguerite calling from the clinic", "marguerite"),
        ("F2 KP to see. Jobs: KP to chase CT and ring micro.", "KP"),
        ("Jobs: DW to chase bloods.", "DW"),
        ("Film reported normal. – QLT", "QLT"),
        ("seen at home with wife tzvetelina and a friend", "tzvetelina"),
        ("give it to miss finch in the office, she knows", "finch"),
        ("handed over to sn oluchukwu at eight, all well", "oluchukwu"),
        ("DC WOODCOCK PRESENT. DR SUMMERS INFORMED. BODY REMOVED AT NOON.", "WOODCOCK"),
        ("DC WOODCOCK PRESENT. DR SUMMERS INFORMED. BODY REMOVED AT NOON.", "SUMMERS"),
        ('ARRESTED 0300. ALIAS "BADGER". NO INJURIES SEEN ON EXAMINATION.', "BADGER"),
        ('His mate, "Big Stu", came along.', "Big Stu"),
        ("he is known as sparrow to his friends and eats well.", "sparrow"),
        ("Pt says Ida, surname ?Marsh, was alone.", "Marsh"),
        ("Seen with Mr. Wi11oughby today.", "Wi11oughby"),
        ("Told Radiographer Perdita about it.", "Perdita"),
        ("I rang Mac Giolla Easpaig twice.", "Mac Giolla Easpaig"),
        ("We will see her again in June. Rosalind", "Rosalind"),
        ("Dictated and typed.\nD: 4 May   T: 5 May   kq/vbw", "vbw"),
        ("BROCKLEBANK, DEAN M 41. FELL FROM LADDER AT HOME TODAY.", "BROCKLEBANK, DEAN"),
    ],
)
def test_rules_find(text, part):
    assert evidence_of(text, part) >= 0.5


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Social: cleans for the van Zweegbergh family in town.", "van Zweegbergh"),
        ("Here with significant other Dov, who drove.", "Dov"),
        ("BROUGHT IN BY POLICE. UNCLE (NEPHEW WILL) IN THE WAITING AREA.", "WILL"),
        ("Here with husband Oom Gerrit, who drove.", "Gerrit"),
        ("Seen today: Smt. Lalitha Bai w/o Sh. Gopal Rao, 51/F.", "Gopal Rao"),
        ("Last name Quyen, Q-U-Y-E-N, as in queen.", "Q-U-Y-E-N"),
        ("Belongings and dog (Biscuit) with a neighbour.", "Biscuit"),
        ("Her cat Marmalade is fed by the warden.", "Marmalade"),
        ("Typed 11/02/24 qv\n", "qv"),
        ("Dictated RV / transcribed bnk   Job 112\n", "bnk"),
        ("reviewed at home, dressing changed. rv fri\no.tolley rn\n", "o.tolley"),
        ("Absent: Lord, Jeremy (court)", "Lord, Jeremy"),
        ("van der Zweeg, Petronella (Nella)  66 F", "van der Zweeg, Petronella"),
        ("His wife (Mrs K) has gone home.", "K"),
        ("Seen by Dr M. Day (radiology).", "M. Day"),
        ("Kia ora Wiremu,\n\nGood to see you.", "Wiremu"),
        ("BED 4 BROWN, J STILL ON NORADRENALINE TODAY, LINES OUT", "BROWN, J"),
        ("BELONGINGS TO SECURITY LOCKER. M. FAIR RN.", "M. FAIR"),
        ("Pilar: Good day.\nme: hello\nPilar: How is he?\nme: well", "Pilar"),
    ],
)
def test_rules_are_sure(text, part):
    assert evidence_of(text, part) >= 0.7


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("CT head w/o contrast, c/o pain, s/o sepsis.", "contrast"),
        ("HER2 1+ by IHX (in house), Ki-67 low.", "IHX"),
        ("CAT scan done, dog bite clean, hot dog eaten.", "bite"),
        ("Valid REV. March 2023", "March"),
        ("A-B-C-D approach used, X-R-A-Y done.", "A-B-C-D"),
        ("the whole family came, her immediate family too.", "immediate"),
        ("Re: SAE – subject 4 in the study arm", "SAE"),
        ("Groups A, B, C, G. Vitek used.", "G. Vitek"),
        ("Told the stroke nurse. Cat fed by neighbour.", "Cat"),
        ("Mild MR. Dilated left ventricle.", "Dilated"),
        ("Ex Port drinker.", "Port"),
        ("Plan\nHb     92\nCRP    14\nNa     138", "Hb"),
        ("drug  dose\nSenna  15 mg\nGaviscon  10 ml", "Senna"),
        ("Plan: review in clinic. Skin: intact. Mood: low.", "Skin"),
        ("DC summary sent. DC home today.", "summary"),
        ("This is normal. It is better.", "normal"),
        ("Pat1ent seen in Hosp1tal for a Rev1ew.", "Hosp"),
    ],
)
def test_rules_leave(text, part):
    assert evidence_of(text, part) < 0.5


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Braden 14, heels red.", "Braden"),
        ("Bethesda II, benign.", "Bethesda"),
        ("Known Raynaud's, on nifedipine.", "Raynaud"),
        ("The orphan Lewin 4/5 was poor.", "Lewin"),
        ("No Marcus Gunn pupil.", "Marcus"),
        ("A stray Jack Russell bit him.", "Russell"),
        ("No Li-Fraumeni features.", "Li"),
        ("Mobilising FWB today.", "FWB"),
        ("Went by PVX to the ED.", "PVX"),
        ("Hope to avoid theatre.", "Hope"),
        ("Mark any change.", "Mark"),
        ("Max dose given.", "Max"),
        ("Better since last autumn, he says.", "autumn"),
        ("We don't know.", "don"),
        ("Weber and Rinne not done.", "Weber"),
        ("Pat1ent stable.", "Pat"),
        ("Not a Jones, so boot.", "Jones"),
        ("Known PVD, Fontaine IIb, on aspirin.", "Fontaine"),
        ("Set: Kocher x6, Lahey x2, Roberts x2, Langenbeck pair.", "Roberts"),
        ("Used a Tiger 4.0 catheter.", "Tiger"),
        ("Duodenal biopsy (Marsh) normal.", "Marsh"),
        ("Thank you for the Rose bush.", "Rose"),
    ],
)
def test_medicine_counts_against(text, word):
    assert against(text, word) >= 0.5


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Braden 14F came in.", "Braden"),
        ("Raynaud's wife came.", "Raynaud"),
        ("Told Hope that he is well.", "Hope"),
        ("Spoke to Grace again.", "Grace"),
        ("Max is well.", "Max"),
    ],
)
def test_people_are_no_medicine(text, word):
    assert against(text, word) <= 0.7


@pytest.mark.parametrize("strict", [False, True])
def test_a_note_without_people_stays(strict):
    text = (
        "Gartland III. Wagner 2 ulcer, Braden 14. Grocott and Ziehl-Neelsen stains negative. "
        "Sputum grew Moraxella. Ranson 3, EDSS 3.5. Mepilex on, Nutrison 60 ml/h."
    )
    spans = find_spans(text, Settings(strict=strict)).spans
    assert [text[s.start : s.end] for s in spans if s.kind in ("name", "nickname", "other")] == []


def test_ends_of_a_name_that_are_no_name_are_left():
    text = "The vet, Ms Drake MRCVS, has swabbed the rest and will write to Mr Peters senior."
    words = {text[s.start : s.end] for s in find_spans(text, Settings()).spans}
    assert "Drake" in words
    assert not any("MRCVS" in w or "senior" in w for w in words)


def test_tables_are_read_by_bars_and_gaps():
    barred = next(iter(read_tables("a|b||d\n1|2|3|4")))
    assert [[c.column for c in row] for row in barred] == [[0, 1, 3], [0, 1, 2, 3]]
    spaced = next(iter(read_tables("no  name     ward\n1   Moss     4\n2            5")))
    assert [[c.column for c in row] for row in spaced] == [[0, 1, 2], [0, 1, 2], [0, 2]]


def test_misread_letters():
    assert "Willow" in read_letters("Wi11ow")
    assert len(read_letters("1" * 30)) <= 4


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Seen with grandmother Gogo Nomvula, who came by bus.", "Nomvula"),
        ("I am grateful that Deputy Warden Strong supports it.", "Strong"),
        ("Requesting: Hospitalist Choe.\nThank you for asking us.", "Choe"),
        ("Referral of Alhaja Folashade Ogunbiyi, aged 50.", "Folashade Ogunbiyi"),
    ],
)
def test_what_stands_before_a_name_stays(text, name):
    found = find_spans(text, Settings()).spans
    assert [text[s.start : s.end] for s in found] == [name]


def test_a_name_that_the_line_breaks_is_whole():
    text = "Dear Mrs. P. Thiruvenka-\n  tasamy,\n\nThank you."
    assert [text[s.start : s.end] for s in find_spans(text, Settings()).spans] == [
        "P. Thiruvenka-\n  tasamy"
    ]
