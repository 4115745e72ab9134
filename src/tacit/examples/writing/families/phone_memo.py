"""Memos of telephone calls."""

SPLIT = "calibrate"
COUNTRY = "us"
LOOKS = {"as written": 0.6, "lower": 0.35, "caps": 0.05}
RULES = {
    "start": [
        "{top}\n{2-5*msg}\n{end}\n",
        "{2-4*msg} {end}\n",
        "While you were out\nFor: {d.titled}\nCaller: {f.full}\nPhone: {phone}\nRe: {p.full}\nMessage: {2-4*msg}\nTaken by {n.first} {time}\n",
    ],
    "top": [
        "TELEPHONE ENCOUNTER {date} {time}",
        "Phone message for Dr {d.last} - {date}",
        "T/C {shortdate} {time} from {f.plain} ({f.rel} of {p.plain})",
        "Call from {hospital2} pharmacy re {p.listed}",
    ],
    "msg": [
        "{f.first} called about {p.first}'s {dx}.",
        "Caller says {p.nick} threw up twice and has {lab}.",
        "{p.titled} needs refill {drug}.",
        "Wants Dr {d.last} to call back {phone} after {time}.",
        "Best # is {phone}.",
        "Pharmacist {o.first} at {phone} says insurance denied {drug}.",
        "Told {f.first} to go to {hospital2}.",
        "Advised {drug} and fluids.",
        "{d2.last} on call, will see {shortdate}.",
        "No {sign}, no fever.",
        "Left voicemail for {p.first} at {phone}, ext {ext}.",
        "Spoke w {o.plain} from {employer} re FMLA form.",
        "School nurse {o.last} at {school} needs note by {date}.",
        "Verified dob {dob} and address {street}.",
        "{f.first} wants results e-mailed: {f.email}",
        "Pt worried about {eponym}.",
        "Booked {date} {time}.",
        "{His} ride is {f2.first}.",
        "Fax to {phone} attn {o.first}.",
    ],
    "end": [
        "{n.first}",
        "{n.initials}",
        "{n.init}, MA",
        "msg taken by {n.plain}",
        "routed to {d.last}",
        "ok per {d.last}/{n.initials}",
        "",
    ],
}
