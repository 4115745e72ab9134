"""Certificates, consent forms and forms of registration."""

SPLIT = "train"
COUNTRY = ("us", "uk")
LOOKS = {"as written": 0.6, "caps": 0.32, "lower": 0.05, "crlf": 0.03}
RULES = {
    "start": ["{title}\n{5-9/field}\n{end}\n", "{title}\n\n{text}\n\n{3-6/field}\n{end}\n", "{title}\n{4-8*box}\n{end}\n"],
    "title": ["CERTIFICATE OF DEATH", "Consent to {tool}", "REGISTRATION OF BIRTH", "Fit note", "Power of attorney", "Vaccination record", "AUTHORIZATION FOR RELEASE OF INFORMATION", "Organ donor card", "{hospital}\nADMISSION FORM"],
    "field": ["Surname: {p.last}", "Last name {p.LAST}", "Forename(s): {p.first}", "First name {p.first}   Middle initial", "Name of deceased: {p.full}", "Known as: {p.nick}", "Name of mother: {f.full}", "Father {f2.plain}", "Place of birth: {town}", "Place of death: {hospital}", "Date {date}", "Cause (a) {dx}", "(b) {eponym}", "(c) {dx}", "Informant: {f.full}, {f.rel}", "Usual address: {address}", "Occupation and employer: [clerk|driver|farmer], {employer}", "Certifier: {d.full}, MD", "Witness 1: {o.full}", "Witness 2 {n.plain}", "I, {p.full}, consent to {tool}.", "Registrar {o.init}", "No. {idno}", "NHS/SSN {ssn}", "Telephone {phone}", "Lot {idno}, site left deltoid, by {n.init}", "Signature of patient: {p.plain}", "Guardian's name {f.plain}", "Attorney: {o.full}, {street}, {town}", "ZIP/Postcode: see above", "Age <{age}>", "Sex {MF}", "Interpreter {o.first} {o.last}", "School {school}"],
    "box": ["Name {p.full}.", "Born {dob}.", "Of {address}.", "Tel {phone}.", "Doctor {d.full}.", "Next of kin {f.full}.", "Allergies none.", "Faith {club}.", "Reason {dx}.", "Works {employer}.", "E-mail {p.email}.", "Insurer no {idno}."],
    "text": ["This is to certify that {p.full}, born {dob}, has been [under my care|unfit for work] from {date} to {date} because of {dx}.", "I authorize {hospital} to release records of {p.full} to {o.full}, {address}.", "We, {p.plain} and {f.plain}, appoint {o.full} as attorney."],
    "end": ["Signed {d.full} {date}", "{d.init}   {date}", "X ______ {p.plain}", "Stamp: {hospital}", "{n.full}, witness, {date}", "{d.LAST} {license}"],
}  # fmt: skip
