"""Lists of patients, rotas and theatre lists."""

SPLIT = "train"
COUNTRY = ("us", "uk")
LOOKS = {"as written": 0.75, "caps": 0.12, "lower": 0.1, "crlf": 0.03}
RULES = {
    "start": ["{title}\n{4-8/row}\n{end}\n", "{title}\n{5-9/row2}\n", "{title}\n{3-5/row3}\n\n{3-5/row}\n{end}\n"],
    "title": ["[THEATRE|OR|CLINIC] LIST {date}  {d.titled}", "On call {shortdate}: {d.last} / {d2.last}", "{hospital}  Handover list  {date}", "Rota week of {date}", "Patients for {d.full}, {date}", "DUTY ROSTER", "{d.initials} / {d2.initials} {date}"],
    "row": ["{time}  {p.listed}  {dob}  {dx}", "{time} {o.full} ({mrn}) {acronym}", "Bed {n:1-30}: {f.plain}, {agesex}, {dx}", "{n:1-9}. {n.listed}  {idno}  {tool}", "{d3.LISTED}\t{idno}\t{eponym}", "{f2.full} - {dx} - ph {phone}", "{n:1-9}  {o.UKlisted}  {idno}  {score}", "{time}  Cancelled", "{time}  {d2.plain}  new  (ref {d3.last})", "{p.init}   {dx}   {drug}", "{n:1-9}) {f.init} s/b {d.initials}", "Side room: {f.last}, {dx}"],
    "row2": ["[Mon|Tue|Wed|Thu|Fri]  {d.last}  {d2.last}  {d3.last}", "{shortdate}  {n.first} (days), {o.first} (nights)", "[Ward|Unit] {n:1-12}: {n.plain}, ext {ext}", "Bleep {ext}  {o.full}", "{d3.initials}  annual leave {shortdate} - {shortdate}", "Swap: {o.first} with {n.first}", "Locum {d2.full} from {date}", "Cover: {d.first} / {d2.first}", "{f.full}, {f2.full}, {o.full}"],
    "row3": ["- {p.first} {p.last}: {plan}", "- {o.titled}: {lab}", "* {f.last}, {f.first}: chase {acronym}", "- ?{dx} {n.init}"],
    "end": ["Compiled by {n.full}", "{o.initials}", "Queries: {o.first} {phone}", "page 1 of {n:1-4}", "checked {n.initials} {date}"],
}  # fmt: skip
