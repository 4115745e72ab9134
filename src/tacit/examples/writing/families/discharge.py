"""Discharge summaries of a US hospital."""

SPLIT = "train"
COUNTRY = "us"
RULES = {
    "start": [
        "{banner}{header}\n\n{reason}\n\n{course}\n\n{meds}\n\n{after}\n\n{sign_off}\n",
        "{header}\n\n{diagnoses}\n\n{reason} {course}\n\n{after}\n\n{sign_off}\n",
        "{banner}{header}\n{diagnoses}\n\nHOSPITAL COURSE:\n{course}\n\nCONDITION AT DISCHARGE: {condition}\n\n{after}\n\n{sign_off}\n",
    ],
    "banner": [
        "DISCHARGE SUMMARY\n{hospital}\n",
        "{hospital}\n{street}\n{region}\n\nDISCHARGE SUMMARY\n\n",
        "*** DISCHARGE SUMMARY ***\n\n",
        "{hospital}   Tel {phone}\nDischarge Summary\n",
    ],
    "header": [
        "Patient Name: {p.full}\n[MRN|Medical Record Number|Unit No]: {mrn}\n[DOB|Date of Birth]: {dob}\nAdmission Date: {date}\nDischarge Date: {date}\nAttending: {d.full}, [M.D.|MD|DO]\n[PCP: {d2.full}, MD|]",
        "NAME: {p.LISTED}\nMR#: {mrn}\nADMITTED: {date}\nDISCHARGED: {date}\nATTENDING PHYSICIAN: {d.caps}, M.D.",
        "Pt: {p.listed}    MRN {mrn}    DOB {dob}\nAdm {date}   D/C {date}   Svc: [Medicine|Surgery|Cardiology|Neurology]\nAttg: {d.last}",
        "Patient: {p.full}        Account #: {idno}\nSex: {MF}   Age: <{age}>   SSN: {ssn}\nAdmitting physician: Dr. {d.last}\nDates of stay: {date} [to|through|-] {date}",
    ],
    "diagnoses": [
        "[DISCHARGE DIAGNOSES|Final diagnoses|PRINCIPAL DIAGNOSIS]:\n1. {dx}\n2. {hx}\n3. {dx}",
        "DIAGNOSES: {dx}; {dx}; {eponym}.\nPROCEDURES: {tool}, {acronym}, {acronym}.",
        "Principal diagnosis: {dx}. Secondary: {eponym}, {dx}. Procedures: {acronym} on {date}.",
    ],
    "reason": [
        "[HISTORY OF PRESENT ILLNESS|HPI|REASON FOR ADMISSION]: {p.full} is a {agesex} with {hx} who presented with [chest pain|dyspnea|fever|syncope|abdominal pain|confusion] {reltime}.",
        "{p.titled} is a {agesex} with a history of {hx}, brought in by {his} {f.rel} {f.first}[ {f.last}|].",
        "This {agesex}, [employed at|who works for|a retired foreman of] {employer}, was admitted through the emergency department on {date} with {dx}.",
        "{p.first} {is} a {agesex} transferred from {hospital2} for management of {dx}.",
    ],
    "is": "[is|was]",
    "course": [
        "{2-4*event} {2-4*narrative}",
        "{3-5*narrative} {1-3*event} {1-2*finding}",
        "{1-2*finding} {2-3*event} {1-3*narrative} {1-2*event}",
    ],
    "event": [
        "{p.titled} was seen by Dr. {d2.last} of [cardiology|neurology|renal|infectious disease], who recommended {drug}.",
        "On {date} {he} underwent {tool} placement by Dr. {d3.full} without complication.",
        "[Consultation|Input] from {d2.full}, [MD|M.D.|PhD], was [obtained|appreciated].",
        "{His} {f.rel}, {f.plain}, was updated by phone at {phone}.",
        "Family meeting held {shortdate} with {f.first} and {f2.first}.",
        "{acronym} on {shortdate} showed [no acute process|mild effusion|improvement].",
        "Blood cultures of {date} [remained negative|grew gram-positive cocci].",
        "By {shortdate} {p.first} was walking the hall with {his} {f.rel}.",
        "{He} was followed by {n.titled} and the wound team.",
        "{p.last} had an episode of {dx} overnight, treated with {drug}.",
    ],
    "meds": [
        "DISCHARGE MEDICATIONS:\n{3-6/med}",
        "Medications on discharge: {drug}, {drug}, {drug} and {drug}.",
        "MEDS\n{2-5/med}",
    ],
    "med": [
        "{drug} [daily|bid|qhs|PRN|three times a day]",
        "- {drug}",
        "1. {drug} po",
        "* {drug} (for {dx})",
        "{drug} x {n:5-14} days",
        "Continue {drug}",
        "NEW: {drug}",
    ],
    "condition": [
        "[stable|improved|good|guarded]. {score}.",
        "Stable, ambulating with {tool}.",
        "Good. {vitals}.",
    ],
    "after": [
        "FOLLOW-UP: Dr. {d2.last} on {date} at {hospital}. Call {phone} with questions.",
        "Follow up with {d2.full}, MD in {n:1-4} weeks ({phone}). {1-3*plan}",
        "{1-3*plan} Appointment with {d3.titled} {date}, [suite|room] {n:100-480}.",
        "Discharged to {hospital2} with {his} {f.rel} {f.full}. {1-2*plan}",
        "Disposition: home, {address}, with visiting nurse. Contact: {f.first} ({f.rel}), {phone}.",
    ],
    "sign_off": [
        "{d.full}, M.D. {license}\n\nDictated: {date}\nTranscribed: {date} [by {o.initials}|]\ncc: {d2.full}, M.D.",
        "Electronically signed by {d.full}, MD on {date} {time}",
        "{d.init}, MD\nD: {date} T: {date} Job #{idno}",
        "________________\n{d.caps}, M.D.\n{hospital}\nPager {ext}",
        "Dictated by: {d3.full}, PA-C for {d.full}, MD\nCC: Dr. {d2.last}; Dr. {d3.last}",
    ],
}
