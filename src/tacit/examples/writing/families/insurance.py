"""Letters to and from health insurers."""

SPLIT = "train"
COUNTRY = "us"
RULES = {
    "start": [
        "{head}\n\n{today}\n\n{to}\n\n{refs}\n\n{dear}\n\n{text}\n\n{close}\n",
        "{today}\n\n{refs}\n\n{dear}\n\n{text}\n\n{close}\n",
    ],
    "head": [
        "{employer}\n[Claims Department|Member Services|Utilization Review]\n{pobox}\n{region}\n{phone}",
        "{employer} HEALTH PLAN\n{address}\n{url}",
        "{hospital}\nPatient Accounts\n{street}\n{region}",
    ],
    "to": [
        "{p.full}\n{street}\n{region}",
        "{p.titled}\n{address}",
        "{d.full}, MD\n{hospital}\n{street}, {region}",
        "{p.caps}\n{street}\n{region}",
    ],
    "refs": [
        "Member: {p.full}\nMember ID: {idno}\nClaim number: {idno}\nDate of service: {date}\nProvider: {d.full}, MD",
        "RE: Policy {idno}, Insured: {p.full}, Group No. {idno}",
        "Re: {p.listed}\nSubscriber: {f.full}\nPolicy #: {idno}\nDOB: {dob}\nReference: {idno}",
        "Patient: {p.full}   Account No: {mrn}   Statement date: {date}   Amount due: <${n:40-9400}.{n:10-99}>",
    ],
    "dear": [
        "Dear {p.titled}:",
        "Dear {d.titled}:",
        "Dear Sir or Madam:",
        "To Whom It May Concern:",
        "Dear {p.plain},",
        "Dear Claims Reviewer:",
        "Dear Medical Director:",
    ],
    "text": ["{3-5*line}", "{2-3*line}\n\n{2-3*line}", "{1-2*line} {1-3*narrative}\n\n{2-3*line}"],
    "line": [
        "We have reviewed the request from {d.full}, MD for <{term.tool}>.",
        "{p.titled} has been under my care since {monthyear} for {dx}.",
        "Coverage for {drug} is [approved|denied] from {date} through {date}.",
        "Your employer, {employer}, [sponsors|administers] this plan.",
        "Services at {hospital} on {date} totalled <${n:100-9400}>.",
        "The dependent, {f.first}, is covered under {p.titled}.",
        "{His} {f.rel} {f.plain} is the policyholder.",
        "Please call {o.full} at {phone}, [extension|ext.] {ext}.",
        "You may appeal in writing to {o.full}, {pobox}, {region}.",
        "ICD-10 code <E11.{n:1-9}> and CPT <99{n:200-499}> were billed.",
        "Checks were mailed to {address}.",
        "{p.first} cannot return to work at {employer} before {date}.",
        "In my opinion {p.titled} needs {tool}.",
        "Dr. {d2.last} at {hospital2} concurs.",
        "{He} failed {drug} and {drug}.",
        "The diagnosis of {eponym} was confirmed by {d2.full}, MD, in {monthyear}.",
        "Social Security number on file: {ssn}.",
        "Visit {url} or e-mail {o.email}.",
        "Bank account {idno} was debited on {date}.",
        "Our nurse reviewer, {n.full}, RN, will contact {him}.",
        "The deductible is <${n:250-5000}>.",
    ],
    "close": [
        "Sincerely,\n\n{o.full}\n[Claims Examiner|Appeals Coordinator|Case Manager]\n{phone}",
        "Sincerely,\n\n{d.full}, M.D.\nNPI {license}",
        "Very truly yours,\n{o.full}\nMember Services",
        "{d.full}, MD\ncc: {p.titled}, {f.titled}",
    ],
}
