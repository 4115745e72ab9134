"""Social work assessments: stories of families."""

SPLIT = "test"
COUNTRY = "us"
RULES = {
    "start": [
        "{top}\n\n{3-6*bio} {2-4*bio}\n\n{3-5*now}\n\n{2-4*todo}\n\n{end}\n",
        "{top}\n{4-7*bio}\n{3-5*now} {end}\n",
    ],
    "top": [
        "PSYCHOSOCIAL ASSESSMENT\nClient: {p.full}  DOB: {dob}  Case #: {idno}\nWorker: {d.full}, LCSW  Date: {date}",
        "SW consult, {date}, {p.titled}, {agesex}, rm {n:100-700}",
        "Home visit to {p.full}, {address}, on {date}. Present: {f.first}, {f2.first}, and this worker.",
        "Confidential report to {o.full}, [Department of Children and Families|Family Court], {region}",
    ],
    "bio": [
        "{p.first} was raised in {town} by {his} {f2.rel} {f2.first}.",
        "{He} and {f.first} married in {monthyear} and separated {reltime}.",
        "{f.first} works nights at {employer}.",
        "{p.first} dropped out of {school} in {monthyear}.",
        "The children, {f.first}, <{n:5-9}>, and {f2.first}, <{n:10-17}>, stay with {his} {f2.rel}.",
        "{p.titled} retired from the {employer} plant.",
        "{His} {f.rel} {f.first} has {eponym} and cannot help.",
        "{p.nick}, as the family calls {him}, is close to {f2.first}.",
        "{He} attends {club} most Sundays.",
        "{p.first} served in the Navy until {monthyear}.",
        "{p.first}'s landlord, {o.full}, has given notice.",
        "They rent at {address}.",
        "{He} lost {his} {f2.rel}, {f2.first}, to {dx} {reltime}.",
    ],
    "now": [
        "{p.first} [reports|denies] feeling hopeless; {score}.",
        "{f.first} [was tearful|appeared tired] and asked about respite.",
        "{p.titled} is on {drug} for {dx}.",
        "Income is <${n:600-2400}> a month from SSI; Medicaid number {idno}.",
        "{d2.titled} believes {he} can return home.",
        "A call to {f2.first} at {phone} was not answered.",
        "{n.titled} reported that {p.last} refused supper.",
        "Ms. {o.last} of {hospital2} has a bed {shortdate}.",
        "{He} has had {dx} since {monthyear}.",
        "{p.first} has no {dx} and needs {tool} teaching.",
        "Police (report {idno}) visited the home on {date}.",
    ],
    "todo": [
        "Referral to {club} food bank.",
        "Worker will call {f.first} on {shortdate}.",
        "Meeting with {f.titled}, {d2.titled} and {o.plain} set for {date}.",
        "Apply for Section 8 with {o.first} at the housing office, {phone}.",
        "Transport through {employer}.",
        "E-mail {o.email} for the form.",
        "Lifeline pendant ordered {reltime}.",
        "{hospital2} to send records.",
    ],
    "end": [
        "{d.full}, LCSW, pager {ext}",
        "Respectfully submitted,\n{d.full}, MSW\nLicense {license}",
        "{d.first} {d.last}, social worker, {phone}",
        "{d.init}, LICSW {date}",
    ],
}
