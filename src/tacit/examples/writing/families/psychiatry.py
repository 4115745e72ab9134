"""Notes of psychotherapy and psychiatry."""

SPLIT = "test"
COUNTRY = "us"
LOOKS = {"as written": 0.8, "lower": 0.15, "crlf": 0.05}
RULES = {
    "start": [
        "{top}\n\n{3-6*session}\n\n{2-4*mse}\n\n{1-3*session} {1-3*plan}\n\n{end}\n",
        "{top} {3-5*session} {2-3*mse} {1-2*plan} {end}\n",
    ],
    "top": [
        "Session {n:2-60}, {date}, {p.first} {p.last[0]}.".replace("{p.last[0]}.", "({mrn})"),
        "PSYCHIATRIC EVALUATION\n{p.caps}\n{dob}\nSeen {date} by {d.full}, PsyD",
        "Intake {date}: {p.full}, {agesex}, self-referred[ via {o.full}|]",
        "Group note {date}: attended {p.first}, {o.first}, {n.first}.",
    ],
    "session": [
        "{p.first} spoke about {his} {f.rel} {f.first} and the move to {town}.",
        "{He} dreamed that {f2.first} had died.",
        "{p.first} is angry with {o.first}, a coworker at {employer}.",
        '"{f.first} never calls me {p.nick} any more," {he} said.',
        "{p.titled} arrived late, {drug} not taken.",
        "Since {monthyear} {he} has had {dx}.",
        "We returned to the night of {date}.",
        "{He} compares me with Dr. {d2.last}.",
        "{f.first} joined for ten minutes.",
        "Coach {o.last} of the {club} wrote to us.",
        "{p.first}, {f.first} and {f2.first} will spend {shortdate} together.",
        "{His} sponsor, {o.first}, texts daily ({phone}).",
        "{p.last} had been at {hospital2} for {dx}.",
        "{He} threatened to leave {school}.",
    ],
    "mse": [
        "<Oriented x3>.",
        "Affect constricted.",
        "{score}.",
        "Denies SI/HI.",
        "<MMSE {n:20-30}/30>.",
        "Speech normal in rate.",
        "<Beck> {n:3-40}.",
        "Insight fair.",
        "No <Capgras> or <Cotard> delusion.",
        "<Rorschach> deferred; <Wechsler> scheduled.",
        "Thought process linear.",
    ],
    "end": [
        "{d.full}, Ph.D.",
        "{d.last}",
        "{d.init}, MD; next {date}",
        "Supervised by {d2.full}",
        "{d.first} {d.last}, LMFT {license}",
    ],
}
