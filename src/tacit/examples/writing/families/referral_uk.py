"""Letters between general practice and hospital, UK."""

SPLIT = "test"
COUNTRY = "uk"
RULES = {
    "start": [
        "{head}\n\nOur ref: {idno}   Clinic date: {date}   Typed: {date}\n\n{addressee}\n\n{dear}\n\n{subject}\n\n{body}\n\n{close}\n",
        "{addressee}\n\n{today}\n\n{dear}\n\n{subject}\n\n{body}\n\n{close}\n",
    ],
    "head": [
        "{hospital}\n{street}\n{region}\nTel: {phone}",
        "Department of [Rheumatology|Cardiology|Paediatrics]\n{hospital}\nSecretary: {o.full} {phone}\nEmail: {o.email}",
        "{hospital} NHS Foundation Trust\nConsultant: {d.titled}",
    ],
    "addressee": [
        "Dr {d2.full}\n{hospital2}\n{street}\n{region}",
        "{d2.titled}\nThe Surgery\n{street}\n{town}\n",
        "PRIVATE AND CONFIDENTIAL\nDr {d2.init}\n{address}",
    ],
    "dear": [
        "Dear Dr {d2.last}",
        "Dear Dr {d2.last},",
        "Dear {d2.first}",
        "Dear Colleague,",
        "Dear {d2.first},",
    ],
    "subject": [
        "{p.title} {p.caps} d.o.b. {dob}\n{address}\nNHS No: {ssn}",
        "Re: {p.full}, DOB {dob}, Hosp No {mrn}",
        "RE: {p.caps} - {dob}\n{street}, {region}",
        "Patient: {p.full} ({dob}), {address}, tel {phone}",
    ],
    "body": [
        "Diagnosis: {hx}\nMedication: {drug}, {drug}\n\n{1-2*a} {1-3*b}\n\n{1-3*c} {1-2*finding}\n\n{1-2*z}",
        "{1-2*a} {2-4*c} {1-2*b}\n\n{1-3*finding} {1-2*plan} {z}",
        "{a} {1-3*narrative} {1-3*c}\n\n{1-2*b} {1-2*z}",
    ],
    "a": [
        "Many thanks for referring this pleasant <{age} year old {woman}>.",
        "I reviewed {p.title} {p.last} in the outpatient clinic today accompanied by {his} {f.rel}, {f.first}.",
        "Thank you for seeing {p.first}, whom I have known for years.",
        "I would be grateful for your opinion on {p.first} {p.last}, who has {dx}.",
        "It was nice to meet {p.title} {p.last} and {f.first}.",
    ],
    "b": [
        "{p.title} {p.last} lives in {town} with {his} {f.rel} {f.first} and two dogs.",
        "{He} used to drive lorries for {employer}.",
        "{p.first} is a keen member of {club}.",
        "{His} {f2.rel}, also called {f2.first}, had {eponym}.",
        "My registrar, Dr {d3.full}, went through the consent form.",
        "{He} was under the care of Mr {d3.last} at {hospital2} until {monthyear}.",
        "The district nurse, {n.full}, visits weekly.",
        "{p.nick} tells me that {he} feels grand.",
        "Sister {n.last} kindly arranged transport from {town}.",
        "{His} carer {o.first} {o.last} telephoned on {shortdate}.",
    ],
    "c": [
        "{narrative}",
        "{His} {lab} was noted.",
        "{sign} was unremarkable.",
        "I found no {sign}.",
        "{He} takes {drug}, {drug} and occasional {drug}.",
        "{score}.",
        "A {tool} was fitted {reltime}.",
        "There is a family history of {eponym}.",
        "The {acronym} of {date} was reassuring.",
    ],
    "z": [
        "I have asked Miss {o.last} to see {him} on {date}.",
        "I shall see {him} again {reltime}.",
        "Could you kindly prescribe {drug}?",
        "Do ring my secretary {o.first} on {phone} if {p.title} {p.last} worsens.",
        "We have not arranged further review.",
        "I have copied this to {d3.titled} and to {p.first}.",
    ],
    "close": [
        "Yours sincerely\n\n\n{d.titled}\nConsultant [Physician|Surgeon|Paediatrician]\n\ncc {p.title} {p.last}, {address}",
        "With kind regards,\n\nYours sincerely,\n\nDr {d.full}\nMB ChB MRCGP",
        "Yours sincerely\nDictated but not signed\n{d.full}\nSpecialty Registrar to {d3.titled}",
        "Kind regards\n{d.first}\nDr {d.init} FRCP, GMC {license}",
    ],
}
