"""Old letters as a scanner read them: lines broken anywhere."""

SPLIT = "test"
COUNTRY = "us"
LOOKS = {"broken": 0.85, "caps": 0.1, "as written": 0.05}
RULES = {
    "start": [
        "{top} {3-6*line} {2-4*line} {end}\n",
        "{top}\n{3-5*line}\n\n{3-5*line}\n{end}\n",
        "PAGE 2 OF {n:2-5} -- {p.caps} -- {mrn} {4-7*line} {end}\n",
    ],
    "top": [
        "{hospital} {street} {region}\n\n{today}\n\nRE: {p.caps}\nHOSP NO {mrn}",
        "FAX TRANSMITTAL To: {d2.full} From: {d.full} Pages: {n:2-9} Fax: {phone} Date: {date} Patient: {p.listed}",
        "{d2.full}, M.D. {address} {today} Dear Dr. {d2.last}:",
        "CONSULTATION  {p.UKlisted}  {date}  Requested by {d2.init}",
    ],
    "line": [
        "{p.titled} was admitted to {hospital2} on {date} complaining of [pain|weakness|cough] {reltime}.",
        "{narrative}",
        "{narrative}",
        "{finding}",
        "At the suggestion of Dr. {d3.full} we obtained {acronym} and {acronym}.",
        "The {f.rel}, {f.titled}, signed the consent.",
        "{p.first} [was born in|grew up in|comes from] {town}.",
        "{His} employer, {employer}, has been notified.",
        "Impression: {dx}; {eponym}.",
        "{tool} was employed by Dr. {d3.last}.",
        "Miss {n.last} of the nursing staff noted {sign}.",
        "The boy's teacher at {school}, a Mr. {o.last}, has remarked upon it.",
        "{p.last} was discharged {shortdate} in the care of {his} {f.rel} {f.first}.",
        "We prescribed {drug} and bed rest.",
        "Reports may be had from {d3.full}, {pobox}, {region}.",
        "Telephone {phone}.",
        "{lab}, {lab}.",
        "Social Security {ssn}.",
        "{He} remains an active member of {club}.",
    ],
    "end": [
        "Very truly yours, {d.full}, M.D.",
        "{d.caps}, M.D. {license}",
        "Sincerely, {d.init}, M.D. {d.initials}:{o.initials}",
        "Signed {d.full} Chief of Service {hospital}",
        "Received {date} Records Dept. by {o.full}",
    ],
}
