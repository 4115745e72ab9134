"""Progress notes in four parts: subjective, objective, assessment, plan."""

SPLIT = "train"
COUNTRY = ("us", "uk")
LOOKS = {"as written": 0.78, "lower": 0.1, "caps": 0.08, "crlf": 0.04}
RULES = {
    "start": [
        "{top}\nS: {s}\nO: {o_}\nA: {a}\nP: {pl}\n{end}\n",
        "{top}\n\nSUBJECTIVE: {s}\n\nOBJECTIVE: {o_}\n\nASSESSMENT: {a}\n\nPLAN: {pl}\n\n{end}\n",
        "{date}\nS> {s}\nO> {o_}\nA/P> {a} {pl} {end}\n",
        "{top}\nSubjective:\n{s}\nObjective:\n{o_}\nAssessment/Plan:\n1) {a}\n2) {pl}\n{end}\n",
    ],
    "top": [
        "{p.full}  {date}",
        "Progress note {date} - {p.last}, {p.first} - {mrn}",
        "Pt: {p.plain}   DOB {dob}   Visit {date}",
        "{date} {time}  {p.listed}  Rm {n:1-20}",
        "HD #{n:2-9}, {p.titled}",
    ],
    "s": [
        "{p.first} [reports|states|says] {his} [pain|cough|mood|sleep] is better. {1-3*narrative} {1-2*who}",
        "{p.titled} here for {dx}. {1-2*who} {1-2*narrative}",
        "{agesex} c/o [fatigue|knee pain|dizziness] {reltime}. {1-2*who}",
        "Feels ok. {1-2*who} {narrative}",
        "{p.nick} slept well. {f.Rel} {f.first} present. {1-2*narrative}",
    ],
    "who": [
        "{f.Rel} {f.first} with {him}.",
        "Saw Dr. {d2.last} {reltime}.",
        "Was at {hospital2} {shortdate}.",
        "Quit job at {employer}.",
        "Still coaches {club}.",
        "Lives w/ {f.rel} {f.first} in {town}.",
        "{f.first} called {phone} w/ concerns.",
        "New grandchild, {f2.first}, born {shortdate}.",
        "Starts at {school} this fall.",
        "{d2.first} {d2.last} (PT) thinks {he} is improving.",
        "Argued w/ {f2.rel} {f2.first}.",
        "Mail to {address}.",
        "Using {p.email} for portal.",
    ],
    "o_": ["{vitals}. {1-4*finding}", "{2-5*finding}", "{vitals}; {lab}; {lab}. {1-2*finding}"],
    "a": [
        "{dx}, [stable|improving|uncontrolled].",
        "{dx}; {dx}. Doubt {eponym}.",
        "{hx}.",
        "1. {dx} 2. {eponym} 3. {dx}",
    ],
    "pl": [
        "{2-4*plan}",
        "{1-3*plan} F/u {date} w/ {d.last}.",
        "{1-2*plan} Refer to Dr. {d2.full} ({phone}). RTC {reltime}.",
        "{plan} D/w {d2.last} and {f.first}. {plan}",
        "{1-2*plan} Letter to {d2.titled} at {hospital2}.",
    ],
    "end": [
        "{d.full}, MD",
        "{d.init} MD {time}",
        "-{d.last}",
        "{d.first} {d.last}, NP {license}",
        "signed: {d.initials}",
        "{d.last}/{n.last}",
        "{d.caps}, M.D.",
        "",
    ],
}
