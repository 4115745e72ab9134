"""Emergency department notes, US."""

SPLIT = "train"
COUNTRY = "us"
LOOKS = {"as written": 0.7, "lower": 0.2, "caps": 0.07, "crlf": 0.03}
RULES = {
    "start": [
        "{top}\n{story}\n{exam}\n{mdm}\n{end}\n",
        "{story} {exam} {mdm} {end}\n",
        "{top}\n\nCC: {cc}\nHPI: {story}\nPE: {exam}\nMDM: {mdm}\nDISPO: {dispo}\n{end}\n",
    ],
    "top": [
        "ED NOTE {date} {time}\n{p.listed} {mrn}",
        "{hospital} Emergency Department\nPatient: {p.full}  DOB: {dob}  Arrival: {date} {time}\nMode: [EMS|walk-in|police]",
        "Name {p.plain}  Age <{age}>  Sex {MF}\nVisit # {idno}  PMD {d2.last}\nInsurance: [Medicaid|Medicare|Blue Cross] {idno}",
        "Bed {n:1-40}  {p.LISTED}  {dob}  {ssn}",
    ],
    "cc": [
        "[chest pain|fall|MVC|laceration|fever|overdose|back pain]",
        '"my {f.rel} {f.first} found me on the floor"',
        "abd pain x {n:1-5} days",
    ],
    "story": [
        "{agesex} {p.plain} brought by {f.rel} {f.first} after [a fall|syncope|an MVC] at {employer}. {1-3*narrative}",
        "{p.titled} is a {agesex} who [slipped at work|was struck by a car|collapsed] at {time}. {1-2*who} {1-3*narrative}",
        "Pt {p.last}, {agesex}, {hx}, presents with {cc}. {1-3*who}",
        "{1-2*narrative} {1-3*who} {1-2*narrative}",
    ],
    "who": [
        "EMS crew ({o.last}, {n.last}) reports {score}.",
        "{f.Rel} {f.first} is at bedside.",
        "Witness {o.full} saw {him} fall.",
        "{His} {f.rel} {f.full} can be reached at {phone}.",
        "Old records from {hospital2} reviewed.",
        "{He} lives at {address}.",
        "Officer {o.last}, badge {idno}, took a statement.",
        "Vehicle plate {plate}.",
        "PMD is {d2.full}.",
        "Last seen by Dr. {d2.last} on {date}.",
        "{He} was at practice with the {club}.",
        "Sees Dr. {d3.full} in {town} for {dx}.",
        "{p.first} attends {school}.",
        "Driver's license {idno}.",
        "Emergency contact: {f.full}, {f.rel}, {phone}.",
        "{p.first} and {f.first} were at a restaurant in {town}.",
        "Called {employer}: supervisor {o.first} confirms injury.",
    ],
    "exam": ["{vitals}. {2-4*finding}", "{2-5*finding}", "VS: {vitals}. {score}. {1-3*finding}"],
    "mdm": [
        "{lab}, {lab}. {acronym} neg. D/w Dr. {d2.last} [of ortho|cardiology|, surgery], who [accepts|agrees].",
        "{dx} unlikely. {1-3*plan} Case discussed with {d2.full}, MD.",
        "Dr. {d3.last} [ortho|neuro|GI] notified. {1-2*plan}",
        "DDx: {dx}, {eponym}, {dx}. {acronym} read by Dr. {d3.last}. {1-2*plan}",
        "Sutured by {o.full}, PA. Tetanus given. {1-2*plan}",
        "Poison control (case {idno}) called. {drug} given.",
    ],
    "dispo": [
        "Home with {f.rel} {f.first}. F/u {d2.last} {shortdate}.",
        "Admit to Dr. {d2.last}.",
        "Transfer to {hospital2}, accepting Dr. {d3.full}.",
        "AMA, signed by {p.full}.",
        "Home. {plan}",
    ],
    "end": [
        "{d.full}, MD {time}",
        "Attending: {d.last}",
        "Signed {d.init}, DO {license}",
        "Scribe: {o.full} for {d.full}, M.D.",
        "{d.initials} / {n.init} RN",
        "mrn {mrn}.",
    ],
}
