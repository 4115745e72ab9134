"""Reports of incidents, complaints and safeguarding."""

SPLIT = "train"
COUNTRY = ("us", "uk")
RULES = {
    "start": ["{top}\n\n{3-6*tell}\n\n{2-4*tell} {end}\n", "{3-7*tell}\n{end}\n", "{top}\n{2-4*tell}\nACTION TAKEN\n{1-3*then}\n{end}\n"],
    "top": ["INCIDENT REPORT no. {idno}\nDate of incident: {date}   Time: {time}\nLocation: {hospital}, ward {n:1-12}\nReporter: {n.full}", "Complaint from {f.full}, {address}\nReceived {date}, ref {idno}", "Statement of {o.full}, {job}, made on {date}", "SAFEGUARDING REFERRAL\nSubject: {p.full} ({dob})\nReferrer: {d.plain}, {hospital}, {phone}"],
    "job": ["porter", "healthcare assistant", "security guard", "neighbour", "bus driver", "receptionist", "phlebotomist"],
    "tell": ["At about {time} {p.first} was found by {n.first} beside the bed.", "{n.first} {n.last} shouted for help and {o.first} came at once.", "{p.titled} said that {f.first} had pushed {him}.", "I asked {p.first} whether {f.first} knew.", "{d.titled} examined {him} and found {dx}.", "The dose, {drug}, had been given to {p.last} instead of {o.last}.", "{f.titled} rang twice on {shortdate} and spoke to {n.first}.", "According to {f.first}, {his} {f.rel}, {p.nick} had drunk nothing since {reltime}.", "The {tool} had come out.", "CCTV shows {o.first} leaving by the north door.", "{p.first} had argued with {f2.first} over money.", "A taxi ({plate}) took {him} to {address}.", "{o.full} of {employer} saw it too.", "{score}, {vitals}.", "Neither {n.last} nor {d2.last} had been told.", "Mother says teacher {o.last} at {school} noticed bruises on {date}.", "{p.first} is known to have {dx}, takes {drug}.", "When {f.first} arrived, {p.first} was already in {hospital2}.", '"Ask {d2.first}," {n.first} replied.', "Brothers {f.first} and {f2.first} live at {street}, {town}."],
    "then": ["{d2.titled} informed at {time}.", "Line manager: {o.full}, {o.email}.", "Apology sent to {f.titled} on {date}.", "Falls risk repeated: {score}.", "Police reference {idno}, PC {o.last}.", "Duty of candour letter to {p.first} and {f.first}.", "{drug} given."],
    "end": ["{n.full}, RN", "Signed {n.init} {date}", "Reviewed by {d.full}, {date}", "Investigator: {o.plain}", "cc {d2.full}; {d3.full}; {o.first} {o.last}", "{o.initials} / {n.initials}"],
}  # fmt: skip
