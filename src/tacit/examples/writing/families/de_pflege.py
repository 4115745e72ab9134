"""German nursing reports."""

SPLIT = "calibrate"
COUNTRY = "de"
LANGUAGE = "de"
LOOKS = {"as written": 0.8, "lower": 0.2}
RULES = {
    "start": ["{3-6/zeile}\n", "Pflegebericht {p.listed}, geb. {dob}\n{3-6/zeile}\n"],
    "zeile": [
        "{shortdate} {time} {p.title} {p.last} klagt über Schmerzen, {med} gegeben. {n.initials}",
        "{date}: Visite durch {d.titled}, {med} abgesetzt. Hz {n.last}",
        "{time} {f.rel} {f.first} zu Besuch.",
        "Blutzucker <{n:70-320} mg/dl>, <{n:4-20} IE Actrapid> nach Schema. Sr. {n.first}",
        "{p.title} {p.last} gewaschen und mobilisiert, Haut intakt.",
        "Verband gewechselt, Wunde reizlos. Pfleger {o.first}",
        "Anruf von {f.first} {f.last}, Tel. {phone}.",
        "<RR {n:100-190}/{n:60-110}>, <Puls {n:50-120}>, <Temp. {x:36.0-39.5}>.",
        "{d2.titled} informiert, Rücksprache {shortdate}.",
        "Verlegung ins {hospital2} geplant.",
        "Wohnt {address}, Schlüssel bei Nachbarin {o.last}.",
    ],
    "med": [
        "<Paracetamol 1 g>",
        "<Novalgin 30 Tropfen>",
        "<Lasix 40 mg>",
        "<Tavor 0,5 mg>",
        "<Heparin 5000 IE>",
    ],
}
