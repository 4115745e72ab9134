"""Pathology reports."""

SPLIT = "calibrate"
COUNTRY = "us"
LOOKS = {"as written": 0.75, "caps": 0.2, "crlf": 0.05}
RULES = {
    "start": [
        "{top}\n\nSPECIMEN: {spec}\n\nCLINICAL DATA: {clin}\n\nGROSS: {gross}\n\nMICROSCOPIC: {2-4*micro}\n\nDIAGNOSIS:\n{1-3/diag}\n\n{end}\n",
        "{top}\nReceived {date}, {gross}\n{2-4*micro}\n{1-3/diag}\n{end}\n",
    ],
    "top": [
        "SURGICAL PATHOLOGY {idno}\n{p.LISTED}   {dob}   {MF}\nSubmitting: {d2.full}, MD\nCollected {date}",
        "Pathology No. {idno}\nPatient {p.full} (Hosp. No. {mrn})\nPhysician(s): {d2.init}; {d3.init}\nTaken: {date}  Received: {date}",
        "{hospital}, Department of Pathology, {address}\nCase: {idno}\nPatient: {p.listed}",
    ],
    "spec": [
        "[Skin, left arm|Colon polyp|Cervix biopsy|Lymph node, axilla|Prostate needle cores|Breast, right]",
        "A. Gallbladder. B. Liver, wedge.",
    ],
    "clin": [
        "{agesex}, {dx}.",
        "Mr. {p.last} has a history of {dx}, per {d2.last}.",
        "? {eponym}",
        "{hx}, biopsy by Dr. {d2.last} on {date}",
    ],
    "gross": [
        'labeled "{p.last}, {p.first}" and "left", is a {n:1-9} x {n:1-9} x {n:1-4} cm fragment.',
        "In formalin, labeled with the name {p.plain} and {mrn}, are {n:2-12} cores.",
        'Labeled "{p.LAST} - polyp". {n:3-9} tan fragments in [one|two] cassettes (A1-A{n:2-9}).',
    ],
    "micro": [
        "<Reed-Sternberg cells> are not seen.",
        "Sections show {dx}.",
        "<Gleason 3+{n:3-5}>.",
        "<Gram> and <Giemsa> stains negative.",
        "<Ki-67> {n:2-80}%.",
        "<ER> positive, <PR> negative, <HER2> 1+.",
        "<Congo red> negative.",
        "Margins free by {n:1-9} mm.",
        "<Barrett> mucosa present.",
        "<Breslow> depth {x:0.3-4.0} mm, <Clark> level IV.",
        "Reviewed with Dr. {d3.last}, who concurs.",
    ],
    "diag": [
        "- {dx}",
        "- {eponym}",
        "- Negative for malignancy",
        "- {term.dx}, see comment",
        "- Chronic inflammation, <Grade {n:1-3}>",
    ],
    "end": [
        "{d.full}, M.D., Pathologist\n{date}",
        "Pathologist: {d.caps}\nResident: {o.full}",
        "Dr. {d2.last} notified by {d.last} on {shortdate} at {time}.",
        "Intraoperative consult: {d3.init}. Outside review: {hospital2} ({idno}).",
    ],
}
