"""Letters between physicians, US."""

SPLIT = "train"
COUNTRY = "us"
RULES = {
    "start": [
        "{today}\n\n{to}\n\nRE: {about}\n\nDear {dear}\n\n{body}\n\n{close}\n",
        "{head}\n\n{today}\n\n{to}\nRe: {about}\n\nDear {dear}\n\n{body}\n\n{close}\n",
        "{to}    RE: {p.full}\n{hospital2}    CH#{mrn}\n{street}    DOB {dob}\n{region}\n\nDear {dear}\n\n{body}\n\n{d.full}, M.D. {license}\n",
    ],
    "head": [
        "{hospital}\n{street}\n{region}\n{phone}",
        "{d.full}, M.D., [F.A.C.P.|P.C.|FACS]\n{pobox}, {region}\nTelephone {phone}   Fax {phone}",
        "{hospital}, [Department|Division] of [Neurology|Endocrinology|Orthopedics]",
    ],
    "to": [
        "{d2.full}, M.D.\n{hospital2}\n{street}\n{region}",
        "{d2.full}, M.D.\n{address}",
        "Dr. {d2.full}\n{street}\n{region}",
        "{d2.full}, MD\n{pobox}\n{region}",
    ],
    "about": [
        "{p.full}",
        "{p.full}   DOB: {dob}",
        "{p.full}, MRN {mrn}",
        "{p.listed}\nChart {mrn}",
        "{p.caps} ({dob})",
    ],
    "dear": ["Dr. {d2.last}:", "Dr. {d2.last},", "{d2.first},", "{d2.first}:", "Doctor {d2.last}:"],
    "body": [
        "{thanks} {1-3*narrative} {1-2*person_line}\n\n{1-3*finding} {1-2*person_line} {1-2*plan}",
        "{opening} {2-4*narrative}\n\n{1-3*person_line} {2-4*finding}\n\n{2-3*plan} {wrap}",
        "{opening} {1-3*person_line} {1-3*narrative} {1-3*finding} {1-3*plan} {wrap}",
    ],
    "thanks": [
        "Thank you for [referring|asking me to see] {p.titled}, a {agesex}, for evaluation of {dx}.",
        "I had the pleasure of seeing {p.full} [in my office|in consultation] on {date}.",
        "Your patient {p.first} {p.last} returned today with {his} {f.rel} {f.first}.",
    ],
    "opening": [
        "{p.titled}, a {agesex}, [returned|came] with {his} {f.rel} {f.first}.",
        "I feel much better after seeing {p.first} this time. As you know, {p.nick} is a {agesex} in follow up for {dx} diagnosed in {monthyear} by Dr. {d3.last} at {hospital2}.",
        "It was a pleasure to see {p.first} and {his} {f.rel} again on {date}.",
        "{p.full} was seen on {date} for {dx}. {p.nick}, as {he} likes to be called, is doing well.",
    ],
    "person_line": [
        "{p.titled} works [as a welder|in shipping|as a clerk] at {employer}.",
        "{p.nick} still plays with the {club}.",
        "{He} hopes to rejoin the {club} {reltime}.",
        "{His} {f.rel} {f.first}, who lives in {town}, drove {him} here.",
        "{p.titled} was hospitalized at {hospital2} in {monthyear} under Dr. {d3.last}.",
        "Dr. {d3.last} kindly sent the films from {hospital2}.",
        "I spoke with Dr. {d3.last}, who doubts {eponym}.",
        "{p.first} moved here from {town} in {monthyear}.",
        "{His} {f.rel}, {f.titled}, has {dx}.",
        "{p.first}'s {f.rel} {f.first} [asked|is worried] about {eponym}.",
        "We can reach {him} at {phone}[ or through {his} {f.rel} {f.first}|].",
        "{He} is a parishioner at {club} and sings there.",
        "We will contact {f.titled} {reltime} at {employer} {phone} to schedule a follow-up visit.",
    ],
    "wrap": [
        "Please call {phone} with any questions.",
        "Please [call|page] me at {phone}.",
        "Thank you for letting me share in {p.first}'s care.",
        "I will see {p.titled} again on {date}.",
        "My nurse, {n.first}, will call.",
    ],
    "close": [
        "Sincerely,\n\n{d.full}, M.D.",
        "Sincerely yours,\n\n\n{d.full}, MD\n{hospital}\ncc: {d3.full}, M.D.",
        "With best regards,\n{d.first}\n\n{d.full}, M.D. {license}",
        "Best,\n{d.init}, M.D.\n{d.first}/{o.initials}",
        "{d.full}, M.D., Ph.D.\nEnclosure\ncc: Dr. {d3.last}, {p.titled}",
    ],
}
