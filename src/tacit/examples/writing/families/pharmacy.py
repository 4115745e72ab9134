"""Pharmacy reviews and prescriptions."""

SPLIT = "calibrate"
COUNTRY = "uk"
RULES = {
    "start": ["{top}\n{3-6/rx}\n{1-3*say}\n{end}\n", "{top}\n\n{2-4*say}\n\n{end}\n"],
    "top": [
        "Medication review - {p.full} - {dob}\nSurgery: {hospital}",
        "Rx for {p.titled}, {address}\n{date}",
        "Reconciliation {date}. Patient {p.UKlisted}, hospital number {mrn}. Sources: GP record, {f.rel} {f.first}.",
        "{p.caps}\n{street}\n{region}\nNHS {ssn}",
    ],
    "rx": [
        "{drug}",
        "{drug} nocte",
        "{drug} mane, {n:28-56} tabs",
        "- {drug} PRN",
        "{drug} (started by Dr {d2.last} {date})",
        "STOPPED {drug}",
        "<Calpol> 5 ml QDS",
        "<Fortisip> 200 ml",
        "{drug} TTO",
        "<Adcal-D3> BD",
    ],
    "say": [
        "{p.titled} cannot swallow {drug}.",
        "{f.first} fills the dosette box.",
        "Dr {d.last} asked for levels: {lab}.",
        "Interaction of {drug} with {drug} discussed with {d.titled}.",
        "Collected by {f.full} ({f.rel}), ID {idno}.",
        "Delivery to {address}, ring {phone}.",
        "{p.first} has {dx}.",
        "Steroid card issued {date}.",
        "Message left for {o.first} at {hospital}, {phone}.",
        "Batch {idno} recalled.",
        "Renal dosing by <Cockcroft-Gault>.",
        "<Yellow Card> sent for {drug}.",
        "Allergy to <Septrin> per {f.rel}.",
    ],
    "end": [
        "{o.full}, pharmacist, GPhC {license}",
        "Checked {o.initials} {date}",
        "{o.first} {o.last} MRPharmS",
        "Signed Dr {d.init}",
        "Dispensed by {n.plain}",
    ],
}
