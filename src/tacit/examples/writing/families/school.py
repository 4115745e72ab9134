"""Letters to and from schools."""

SPLIT = "test"
COUNTRY = "uk"
RULES = {
    "start": [
        "{head}\n\n{today}\n\n{dear}\n\n{2-4*text}\n\n{2-4*text}\n\n{close}\n",
        "{today}\n\nTo {school}\n\n{about}\n\n{dear}\n\n{3-6*text}\n\n{close}\n",
    ],
    "head": [
        "{school}\n{street}\n{region}\nHeadteacher: {d2.titled}\nTel. {phone}",
        "School Health Service\n{hospital}, {address}",
        "{school}\n{url}",
    ],
    "about": [
        "Pupil: {p.full}, born {dob}, Year {n:1-11}",
        "Concerning {p.first} {p.last} (class {n:1-11}B)",
        "{p.full}, UPN {idno}",
    ],
    "dear": [
        "Dear {f.titled},",
        "Dear {d2.titled}",
        "Dear Parents of {p.first},",
        "Dear Headteacher,",
        "Dear {f.titled} and {f2.titled},",
    ],
    "text": [
        "{p.first} has been absent since {date} because of {dx}.",
        "I examined {p.first} at {hospital} together with {his} {f.rel} {f.first}.",
        "{He} carries {drug} and may need it before sport.",
        "Please ring {f.first} on {phone} or me on {phone}.",
        "{p.first}'s friend {o.first} {o.last} helps {him} with {his} books.",
        "The class teacher, {d3.titled}, has noticed that {p.first} squints.",
        "{He} swims for {club} and hopes to compete {reltime}.",
        "{His} {f2.rel} {f2.first} will collect {him} at {time}.",
        "{p.nick} must not climb until {shortdate}.",
        "{p.first} had {eponym} as a toddler, diagnosed in {monthyear}.",
        "Dr {d.last} advises extra time in examinations.",
        "{score}; hearing normal.",
        "We discussed {p.first} with Mrs {n.last}, the SENCO.",
        "{f.first} {f.last} works at {employer} and is hard to reach.",
        "The family has moved from {town} to {address}.",
        "{p.first} is a cheerful <{age} year old>.",
        "Kindly return the form to {o.full} by {date}.",
        "A care plan for {eponym} is attached.",
    ],
    "close": [
        "Yours sincerely\n\n{d.titled}\nCommunity Paediatrician",
        "Yours faithfully,\n{d2.full}\nHeadteacher",
        "With best wishes\n{n.full}\nSchool Nurse\n{n.email}",
        "{o.full}\nFor {school}",
    ],
}
