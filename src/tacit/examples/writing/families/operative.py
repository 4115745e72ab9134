"""Operative reports."""

SPLIT = "train"
COUNTRY = ("us", "uk")
LOOKS = {"as written": 0.75, "caps": 0.2, "crlf": 0.05}
RULES = {
    "start": [
        "{top}\n\n{preop}\n\nINDICATIONS: {indication}\n\n{procedure}\n\n{end}\n",
        "{top}\n{preop}\n\n[PROCEDURE IN DETAIL|DESCRIPTION OF PROCEDURE]: {indication} {procedure}\n\n{end}\n",
    ],
    "top": [
        "OPERATIVE REPORT\n\nPATIENT: {p.caps}\nMRN: {mrn}\nDATE OF OPERATION: {date}\nSURGEON: {d.full}, M.D.\nASSISTANT: {d2.full}, M.D.\nANESTHESIA: [General|Spinal|MAC] ([{d3.full}, M.D.|Dr. {d3.last}])",
        "{hospital}\nOPERATIVE NOTE\nName: {p.listed}   Hosp #: {mrn}   DOB: {dob}\nDate: {date}\nSurgeon: {d.last}\nAssistants: {d2.last}, {d3.last}",
        "Patient: {p.full} ({mrn})\nSurgeon: Dr. {d.full}\nFirst assistant: {d2.init}, PA-C\nScrub nurse: {n.full}\nCirculator: {o.full}, RN",
    ],
    "preop": [
        "PREOPERATIVE DIAGNOSIS: {dx}.\nPOSTOPERATIVE DIAGNOSIS: [Same|{dx}].\nPROCEDURE: {proc}.",
        "Pre-op dx: {dx}\nPost-op dx: {dx}\nOperation: {proc} with {tool}\nEBL: {n:20-900} cc   Specimens: [none|1|2]   Drains: {tool}",
    ],
    "proc": [
        "laparoscopic cholecystectomy",
        "right inguinal hernia repair",
        "<{term.tool}>",
        "total knee arthroplasty",
        "open reduction and internal fixation",
        "coronary artery bypass grafting x{n:2-5}",
        "exploratory laparotomy",
        "carpal tunnel release",
        "tonsillectomy",
    ],
    "indication": [
        "{p.titled} is a {agesex} with {hx}.",
        "This {agesex}, followed by Dr. {d3.last} at {hospital2}, has {dx}.",
        "{p.full} was referred by Dr. {o.full} of {town} for {dx}.",
        "The patient is a {agesex} with {dx} and {eponym}.",
    ],
    "procedure": ["{4-8*step}", "{3-5*step}\n\n{3-5*step}"],
    "step": [
        "The patient was placed in the <{term.sign}>.",
        "A {tool} was inserted.",
        "The fascia was grasped with a {tool}.",
        "Bleeding was controlled with <{term.tool}>.",
        "The wound was irrigated with <Ringer's lactate>.",
        "Dr. {d2.last} assisted with exposure.",
        "A {tool} was used to retract.",
        "The skin was closed with <4-0 Monocryl>.",
        "<{n:2-6}-0 Vicryl> sutures were placed.",
        "Dr. {d3.last} [scrubbed out|arrived] at {time}.",
        "Sponge and needle counts were correct x2.",
        "The specimen was sent to pathology.",
        "{drug} was given.",
        "Frozen section was called back by Dr. {o.last}.",
        "A time-out was performed by {n.full}, RN.",
        "Cholangiogram was normal.",
        "There was no {dx}.",
        "The patient tolerated the procedure well.",
        "Dissection proceeded to <{term.sign}>.",
        "Local anesthetic, <0.5% Marcaine>, was infiltrated.",
        "I discussed the findings with the {f.rel}, {f.plain}, in the waiting room.",
        "Estimated blood loss was {n:20-900} mL.",
        "The {tool} was secured with <2-0 silk>.",
    ],
    "end": [
        "{d.full}, M.D.\n\nDD: {date}  DT: {date}\nJob: {idno}\ncc: {d2.full}, M.D.",
        "Dictated by {d2.full}, M.D., for {d.full}, M.D. I was present for the entire procedure. {d.init}",
        "SURGEON: {d.caps}, MD   {date}",
        "{d.first} {d.last}, MD, FACS\n{hospital}\n{phone}",
    ],
}
