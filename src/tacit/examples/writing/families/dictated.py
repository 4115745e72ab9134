"""Dictation as a typist or a machine wrote it down: spoken marks, no layout."""

SPLIT = "test"
COUNTRY = "us"
LOOKS = {"as written": 0.6, "lower": 0.35, "caps": 0.05}
RULES = {
    "start": [
        "{open} {3-6*talk} {1-3*narrative} {2-4*talk} {stop}\n",
        "{open} {2-4*talk}\n{2-4*talk} {1-2*finding}\n{1-3*talk} {stop}\n",
    ],
    "open": [
        "This is Dr. {d.last} dictating on {p.full}, that's {spelled}, medical record number {mrn}, date of service {date}.",
        "Dictating a [clinic note|letter|consult] on {p.full}, date of birth {dob}. Copy to {d2.full} please.",
        "{d.full} here, [Monday|Tuesday] clinic at {hospital}. Next patient is {p.last}, first name {p.first}.",
        "Okay so next one, {p.first} {p.last}, {agesex}, comma, followed for {dx}, period.",
    ],
    "spelled": ["spelled the usual way", "with two Ls", "as it sounds", "no middle name"],
    "talk": [
        "New paragraph.",
        "{p.titled} tells me the {dx} is about the same, period.",
        "{His} {f.rel} {f.first} was in the room, comma, so was {f2.first}, period.",
        "Send a copy to Doctor {d2.last} over at {hospital2}.",
        "We talked about {eponym}, and {he} understands.",
        "On exam today, {vitals}.",
        "{He} is off the {drug}, uh, started {drug} instead.",
        "Correction, {drug}.",
        "I called {d3.first} {d3.last} about the {acronym} and {he3} agreed.",
        "{He} drives a truck for {employer} out of {town}.",
        "Let {his} {f.rel} know at {phone}, ask for {f.first}.",
        "Heading, assessment and plan.",
        "Number one, {dx}. Number two, {eponym}.",
        "{p.first} will be back on {date}, no make that {date}.",
        "{He} had {his} {tool} out {reltime}.",
        "{lab} and {lab}, both fine.",
        "{p.nick}, that's what everybody calls {him}, wants to ride with the {club} again.",
        "Quote {f.first} says I look terrible unquote.",
        "Since {monthyear} no {sign}.",
        "Please have {n.first} at the front desk mail this to {address}.",
        "{score}, semicolon, {sign} negative.",
        "Open parenthesis see my note of {shortdate} close parenthesis.",
    ],
    "he3": ["he", "she"],
    "stop": [
        "End of dictation. {d.full}, M.D.",
        "Thank you, {d.first} {d.last}.",
        "That's all on {p.titled}. Dr. {d.last}.",
        "Dictated by {d.full}, transcribed {date} by {o.plain}, job {idno}.",
    ],
}
