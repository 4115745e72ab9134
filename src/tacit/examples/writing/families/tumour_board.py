"""Minutes of case conferences."""

SPLIT = "train"
COUNTRY = ("us", "uk")
RULES = {
    "start": ["{top}\n\n{2-4/case_}\n\n{end}\n", "{top}\n{1-3/case_}\n{2-4*remark}\n{end}\n"],
    "top": ["MDT [lung|breast|colorectal] {date}\nPresent: {d.full}, {d2.full}, {d3.init}, {n.first} {n.last} (CNS)\nApologies: {o.full}", "Tumor board, {hospital}, {date}. Attending: Drs. {d.last}, {d2.last} and {d3.last}.", "Case conference re {p.full}\nChair {d.titled}; minutes {o.plain}"],
    "case_": ["{n:1-9}. {p.full}, {dob}, {mrn}. {agesex}. {dx}. {score}. {d2.last} to see {shortdate}.", "{p.UKlisted} ({mrn}): {dx}, <T{n:1-4}N{n:0-2}M0>. {remark}", "Pt {o.last} (Dr {d3.last}): {eponym} excluded, {acronym} {reltime}. {remark}", "{f.full} / {idno} / {d.last}: {dx}; {drug}.", "Case {n:1-9} - {f2.init}: {agesex}; {remark}"],
    "remark": ["{d.last} felt {tool} unsafe.", "{d2.first} will phone {f.first}, the {f.rel}.", "{n.first} to support {p.first} at home in {town}.", "Agreed {drug}, then {acronym}.", "{d3.titled} queried {eponym}.", "Histology by {o.full} of {hospital2}: {dx}.", "{p.titled} wishes treatment near {town}.", "Trial number {idno} discussed; {o.first} to consent.", "{p.first} declined; GP {d3.full} told {date}.", "Images from {hospital2} reviewed by {d2.init}.", "<Ki-67> {n:2-80}%, <Gleason {n:6-9}>, <{term.score}>.", "PET in {monthyear}: no change."],
    "end": ["Next meeting {date}.", "Minutes: {o.full}", "{d.full}, chair", "Circulation: {d.first}, {d2.first}, {d3.first}, {n.first}", "{o.initials} {date}"],
}  # fmt: skip
