"""Ward round entries of a UK hospital."""

SPLIT = "calibrate"
COUNTRY = "uk"
LOOKS = {"as written": 0.75, "lower": 0.2, "caps": 0.05}
RULES = {
    "start": [
        "{top}\n{2-5/line}\nPlan\n{2-4/todo}\n{end}\n",
        "{top}\n{2-4*line} {2-3*line}\n{1-3/todo}\n{end}\n",
    ],
    "top": [
        "{date} {time} WR {d.titled}",
        "WARD ROUND Mr {d.last} / {o.full} (SpR)\n{p.UKlisted}  {mrn}  DOB {dob}",
        "{shortdate} S/B Dr {d.last}, SHO {o.first}, bed {n:1-30}",
        "Consultant ward round - {d.full}\nPt: {p.full}, NHS no. {ssn}",
        "PTWR {date}: {p.titled}, {agesex}",
    ],
    "line": [
        "{p.titled} comfortable, obs stable.",
        "D{n:2-9} post {tool}",
        "{lab}, {lab}, {score}",
        "Imp: {dx}",
        "PMH {hx}",
        "{f.Rel} {f.first} here, concerned re discharge.",
        "D/W {f.rel} ({f.full}) on {phone}",
        "Lives alone in {town}, carer {o.first} TDS",
        "O/E {sign} negative",
        "Seen by Dr {d2.last} (micro): {drug}",
        "From {hospital2} care of {d2.titled}",
        "HS I+II+0, chest clear",
        "?{eponym}",
        "{p.first} asking to go home",
        "NOK: {f.plain}, {f.rel}",
        "Bloods: {lab}; {lab}",
        "{vitals}",
        "Previously a fitter at {employer}",
        "GP: Dr {d3.full}, {hospital2}",
    ],
    "todo": [
        "- {drug}",
        "- chase {acronym}",
        "- d/w {d2.last}",
        "1. Home {shortdate}",
        "- ref to {o.plain}, SALT",
        "- TTOs, f/u {d.last} clinic {reltime}",
        "- bleep {ext} if spikes",
        "- {f.first} to bring meds",
        "- repeat {lab}",
        "- TCI {date} {hospital}",
        "- OT home visit {street}",
    ],
    "end": [
        "{o.full} FY1 bleep {ext}",
        "{o.init} {time}",
        "{o.last}, CT2, GMC {license}",
        "Dr {o.full}",
        "{o.initials}",
    ],
}
