"""German findings of imaging and pathology."""

SPLIT = "test"
COUNTRY = "de"
LANGUAGE = "de"
RULES = {
    "start": [
        "{kopf}\n\nFragestellung: {frage}\n\nBefund: {3-5*satz}\n\nBeurteilung: {1-3*satz}\n\n{ende}\n"
    ],
    "kopf": [
        "{hospital}\nPatient: {p.listed}   geb. am {dob}\nUntersuchung vom {date}, Überweiser: {d2.titled}",
        "Befundbericht Nr. {idno}\nName: {p.full}, {address}\nPat.-ID: {mrn}",
        "{p.title} {p.full} (geboren {dob})\nMRT [LWS|Schädel|Knie] vom {date}",
    ],
    "frage": [
        "V. a. <Morbus Scheuermann>?",
        "Ausschluss <Pneumothorax>.",
        "Z. n. Sturz am {date} in {town}.",
        "<Baker-Zyste>? Bitte von {d2.titled}.",
    ],
    "satz": [
        "Kein Nachweis einer <Raumforderung>.",
        "<Schmorl-Knötchen> in <L{n:1-5}>.",
        "Vergleich mit der Voraufnahme aus {monthyear}.",
        "Leber und Milz unauffällig.",
        "Größe <{n:4-40} mm>.",
        "Das Ergebnis wurde {d2.titled} telefonisch ({phone}) mitgeteilt.",
        "<Kreuzband> intakt.",
        "<Haglund-Exostose>.",
        "Material von Frau {o.last} entnommen, eingegangen am {date}.",
    ],
    "ende": [
        "{d.titled}\nFacharzt für Radiologie",
        "gez. {d.full}",
        "Mit kollegialen Grüßen\n{d.titled}\n{hospital}, Tel. {phone}",
    ],
}
