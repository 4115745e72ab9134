"""Threads of e-mail between clinicians and offices."""

SPLIT = "train"
COUNTRY = ("us", "uk")
RULES = {
    "start": ["{mail}\n\n{quoted}\n", "{mail}\n\n{quoted}\n\n{quoted2}\n", "{mail}\n"],
    "mail": [
        "From: {d.plain} <<{d.email}>>\nTo: {d2.plain} <<{d2.email}>>\nCc: {o.plain}\nDate: {date} {time}\nSubject: {subject}\n\n{hello}\n\n{text}\n\n{bye}".replace(
            "<<", "\\<"
        ).replace(">>", "\\>"),
        "From: {d.email}\nSent: {date} {time}\nTo: {d2.listed}\nSubject: [RE|FW]: {subject}\n\n{hello}\n{text}\n{bye}",
        "To: {d2.email}\nFrom: {o.email}\nSubject: {subject}\n\n{hello}\n\n{text}\n\n{bye}",
    ],
    "subject": [
        "{p.last} [consult|follow up|labs|appointment]",
        "Pt {mrn}",
        "question about {p.first} {p.last}",
        "{dx} case",
        "tumor board {shortdate}",
        "{p.init} - {acronym} results",
        "FYI {eponym}",
    ],
    "hello": [
        "Hi {d2.first},",
        "Hello {d2.first} -",
        "{d2.first},",
        "Dear {d2.first},",
        "Dr. {d2.last},",
        "Hey {d2.first}",
        "Good morning {d2.first} and {o.first},",
    ],
    "text": ["{2-4*say}", "{1-3*say}\n\n{1-3*say}", "{1-2*say} {1-2*narrative} {1-2*say}"],
    "say": [
        "Saw {p.first} {p.last} in clinic today, {lab}.",
        "Can you squeeze {p.titled} in on {shortdate}?",
        "{p.first}'s {f.rel} {f.first} keeps calling, her number is {phone}.",
        "I talked to {o.first} in scheduling.",
        "{p.last} needs {acronym} before {date}.",
        "The {dx} is worse; {drug} is not holding.",
        "Please loop in {o.plain} ({o.email}).",
        "Ask {d3.first} about the {tool}.",
        "{d3.last} thinks it is {eponym}.",
        "Chart is {mrn} if you need it.",
        "{He} goes by {p.nick}.",
        "Let's use {drug}.",
        "{f.first} ({f.rel}) works at {employer} and can bring {him} after 5.",
        "Images are at {url}.",
        "{He} got {his} films at {hospital2}.",
        "Thx for seeing {p.first}!",
        "My cell is {phone}.",
        "I'm out {shortdate}, {n.first} covers.",
        "Has anyone heard from {d3.first} {d3.last}?",
        "{He} is the kid from {school} who has {dx}.",
        "No {sign} on exam, {score}.",
        "Address is {address}.",
        "{p.first} wants to play for the {club} again.",
    ],
    "bye": [
        "Thanks,\n{d.first}",
        "Best,\n{d.first} {d.last}, MD\n{hospital}\n{phone}",
        "- {d.first}",
        "Regards,\n\n{d.full}\n[Director, Cardiology|Clinic manager|Nurse coordinator]\n{phone} | {d.email} | {url}",
        "{d.initials}",
        "Sent from my phone",
        "Cheers, {d.first}",
    ],
    "quoted": [
        "On {date}, at {time}, {d2.plain} wrote:\n> {hello}\n> {1-2*say}\n> {d2.first}",
        "-----Original Message-----\nFrom: {d2.plain} [mailto:{d2.email}]\nSent: {date}\n\n{1-3*say}\n{d2.first}".replace(
            "[mailto:{d2.email}]", "\\[mailto:{d2.email}\\]"
        ),
    ],
    "quoted2": [
        "> > {o.plain} \\<{o.email}\\> wrote:\n> > {1-2*say}",
        ">> {1-2*say}\n>> -- {o.first}",
    ],
}
