"""Columns that nobody has declared and that are direct identifiers all the same: by name and by values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.engine.relational import fetch_distinct
from tacit.records.identifiers.columns.safe_harbor import Finding, SafeHarbor, name_words

#: Letters of the Safe Harbor list that name or reach one person.
PERSON = frozenset("ADEFGHIJKLMNOP")
#: Names of columns that place one home; a town or a county holds many.
HOME = frozenset(
    ["address", "addr", "street", "latitude", "longitude", "lat", "lon", "lng", "geocode"]
)
#: A name alone says little of a column with few values, such as account_type: more than this many, or than a tenth
#: of the records, must differ.
FEW, TENTH = 50, 0.1
#: Text that differs in every record counts as a number of the record in files of this size and larger.
MANY_RECORDS = 20
#: Of so many different values, this share must look like names of people.
LOOKED_AT, NAMED = 200, 0.5
#: Words for people, firms and homes, and for numbers: a column named by one of each numbers them.
NUMBERED = frozenset([
    "patient", "person", "people", "individual", "customer", "client", "employee", "worker", "staff", "member",
    "respondent", "subject", "participant", "student", "pupil", "user", "insured", "taxpayer", "citizen", "case",
    "record", "household", "hh", "home", "family", "firm", "company", "enterprise", "establishment", "utility",
    "operator", "supplier", "owner",
])  # fmt: skip
NUMBERS = frozenset(["id", "identifier", "number", "no", "nr", "num", "key", "ref", "reference"])
RUN_TOGETHER = re.compile(
    f"({'|'.join(NUMBERED)}|p|h|pers|resp|emp|cust|indiv|idno|ident)(id|nr|no|num|number)?"
)
MARKS = frozenset(
    ["uuid", "guid", "pid", "pidp", "hid", "hhid", "idhh", "idpers", "caseid", "idno", "serialno"]
)
#: What a column of names or addresses, and one of numbers of people, is called in other languages.
NAMES_ELSEWHERE = frozenset([
    "nachname", "familienname", "vorname", "rufname", "geburtsname", "prenom", "nom", "apellido", "apellidos",
    "nombre", "cognome", "nome", "voornaam", "achternaam", "naam", "sobrenome", "efternamn", "fornamn", "etternavn",
    "fornavn", "sukunimi", "etunimi", "nazwisko", "imie", "adresse", "anschrift", "strasse", "hausnummer", "rue",
    "direccion", "indirizzo", "endereco", "adres", "adress", "gatuadress", "osoite",
])  # fmt: skip
NUMBERS_ELSEWHERE = frozenset([
    "telefon", "telefonnummer", "handynummer", "telefono", "telefone", "puhelin", "dni", "nie", "nif", "nir", "bsn",
    "svnr", "ahv", "steuernummer", "ausweisnummer", "personnummer", "fodselsnummer", "cpr", "hetu", "henkilotunnus",
    "codicefiscale", "pesel", "oib", "egn", "cpf", "kundennummer", "patientennummer", "mitarbeiternummer",
])  # fmt: skip
#: Numbers in the order of a file are those of its records or households where more differ than ages do.
AGES = 120
#: Steps after which a column holds made-up values in place of those that named people.
REPLACES = frozenset(("pseudonymise", "substitute", "scrub", "record_keys", "shuffle_households"))
#: What may stand before a name: it is left out.
TITLE = re.compile(r"(?i)^(?:(?:mrs?|ms|miss|dr|prof|sir|herr|frau)\b\.? )+")
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def undeclared_identifiers(
    data: Microdata, allowed: Collection[str] = (), original: Microdata | None = None
) -> dict[str, str]:
    """Return the columns without a role that are direct identifiers, with the evidence.

    Columns that a step has filled with made-up values, those that name people on purpose (channel expansion), and those
    that are ``allowed`` by name, are not looked at. ``original`` are the data in the order of the source.
    The check goes by names of columns and forms of values, and says nothing of what it does not know.
    """
    replaced = {c for a in data.history if a.kind in REPLACES for c in columns_of(a.details)}
    named = {c for a in data.history for c in a.details.get("names_kept", ())}
    declared = {*data.keys, *replaced, *named, *allowed}
    names = [n for n, c in data.columns.items() if not c.roles and n not in declared]
    records = len(data) if names else 0
    schema = data.frame.collect_schema()
    found = {}
    for name in names:
        if schema[name] == nw.String or schema[name].is_numeric() or words_in(name) & HOME:
            values = in_whole_numbers(fetch_distinct(data.frame, name))
            evidence = evidence_of(name, values, records)
            source = data if original is None or name not in original.columns else original
            if not evidence and numbers_records(source, name, values):
                evidence = "numbers of records or households in the order of the file"
            found.update({name: evidence} if evidence else {})
    return found


def in_whole_numbers(values: pa.Array) -> pa.Array:
    """Return floats as integers where all are whole: a file with gaps holds its numbers as floats."""
    if not pa.types.is_floating(values.type):
        return values
    known = values.drop_null()
    inside = pc.less(pc.abs(known), 2.0**53)
    if not len(known) or not pc.all(pc.and_(pc.equal(pc.floor(known), known), inside)).as_py():
        return values
    return known.cast(pa.int64())


def numbers_records(data: Microdata, name: str, values: pa.Array) -> bool:
    """Return True for whole numbers that rise with the records of a file, or that number groups of them without a gap."""
    records = len(data)
    if records < MANY_RECORDS or not data.frame.collect_schema()[name].is_integer():
        return False
    values = values.drop_null()
    # The column of a large file is fetched only where it may hold such numbers.
    few = len(values) <= AGES and records * TENTH > AGES
    if not len(values) or few or not pa.types.is_integer(values.type):
        return False
    coded = data.codes(name)
    values = values.cast(coded.values.type, safe=False)
    if (coded.codes == coded.null).any() or len(coded.values) < TENTH * records:
        return False
    step = np.diff(coded.codes)
    if (step < 0).any() or not pc.all(pc.is_in(values, coded.values)).as_py():
        return False
    ends = pc.min_max(coded.values).as_py()
    dense = ends["min"] in (0, 1) and ends["max"] - ends["min"] + 1 == len(coded.values)
    return bool((step > 0).all() or (dense and len(coded.values) > AGES))


def undeclared_dimensions(table: Table, allowed: Collection[str] = ()) -> dict[str, str]:
    """Return the dimensions of a table whose codes name people, with the evidence."""
    found = {}
    for dimension in table.dimensions:
        if dimension.name not in allowed:
            codes = pa.array([str(c) for c in dimension.codes], pa.string())
            # A dimension lists each code once: that they differ says nothing.
            evidence = evidence_of(dimension.name, codes, records=10 * len(codes))
            found.update({dimension.name: evidence} if evidence else {})
    return found


def sentences(found: Mapping[str, str]) -> list[str]:
    """Return why the columns may not be released, one sentence for all."""
    if not found:
        return []
    listed = ", ".join(f"{c!r} ({evidence})" for c, evidence in found.items())
    return [
        (
            f"columns without a role look like direct identifiers: {listed}; declare them as identifiers and remove or "
            "replace them, or name those that may be released in the plan's output: {allowed: [...]}"
        )
    ]


def columns_of(details: Mapping[str, object]) -> Iterator[str]:
    """Yield the columns that the notes of a step name."""
    for name in ("columns", "scrubbed"):
        value = details.get(name, ())
        yield from value if isinstance(value, list | tuple) else ()


def evidence_of(name: str, values: pa.Array, records: int) -> str:
    """Return why a column is a direct identifier; an empty text where nothing says so."""
    values = values.drop_null()
    for finding in SafeHarbor().look(name, values, records, is_identifier=False):
        if counts(finding, values, records):
            return finding.evidence
    text = pa.types.is_string(values.type)
    if is_apart(values, records) and names_people(name, text=text):
        return "name of the column"
    if not text:
        return form_of(values.cast(pa.string())) if pa.types.is_integer(values.type) else ""
    return form_of(values) or ("names of people" if are_names(values) else "")


def is_apart(values: pa.Array, records: int) -> bool:
    """Return True for so many different values that they tell people apart."""
    return len(values) > min(FEW, TENTH * records)


def names_people(name: str, *, text: bool) -> bool:
    """Return True for the name of a column that holds numbers of people, also such as occur in several records."""
    words = words_in(name)
    if words & (MARKS | NUMBERS_ELSEWHERE) or (text and words & NAMES_ELSEWHERE):
        return True
    if words == {"id"} or (words & NUMBERED and words & NUMBERS):
        return True
    return any((m := RUN_TOGETHER.fullmatch(w)) is not None and m[2] for w in words)


def words_in(name: str) -> frozenset[str]:
    """Return the words of a column's name, accents left out.

    >>> sorted(words_in("Prénom_2"))
    ['prenom']
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    return name_words("".join(c for c in plain if not unicodedata.combining(c)))


def counts(finding: Finding, values: pa.Array, records: int) -> bool:
    """Return True for a finding that tells persons or homes, where the values can tell them apart."""
    by_name = finding.values is None
    words = name_words(finding.column)
    apart = is_apart(values, records)
    if finding.letter in PERSON:
        return apart or not by_name
    if finding.letter == "B":
        return by_name and apart and bool(words & HOME)
    if finding.letter == "R":
        different = len(values) == records and records > 1
        text = pa.types.is_string(values.type) and records >= MANY_RECORDS
        return different and (by_name or text)
    return False


def are_names(values: pa.Array) -> bool:
    """Return True when most of some values are a first name or initial and a last name of the lists that Scrub has."""
    from tacit.data.word_lists import read_list

    some = pa.array([TITLE.sub("", text) for text in values[:LOOKED_AT].to_pylist()], pa.string())
    spaced = pc.sum(pc.match_substring_regex(some, r"^\S+,? \S+( \S+)?$")).as_py() or 0
    if len(some) < 2 or spaced < NAMED * len(some):
        return False
    first, last = read_list("first_names"), read_list("last_names")
    hits = 0
    for text in some.to_pylist():
        words = [w.lower() for w in WORD.findall(text)]
        ends = {(words[0], words[-1]), (words[-1], words[0])} if 2 <= len(words) <= 4 else set()
        # A letter with a full stop after it, as in J. Smith, is an initial: plain letters are codes as well.
        initials = {w for w in words if len(w) == 1 and f"{w}." in text.lower()}
        hits += any(
            (given in first or given in initials) and family in last for given, family in ends
        )
    return hits >= NAMED * len(some)


# -- forms of values that reach one person or one home, whatever their column is called --------------


#: The share of the different values looked at that must have a form.
SHARE = 0.5
#: Values in the form of a number for people, in their usual spellings: the whole value, without the spaces in it.
TELEPHONE = re.compile(r"(\+|00)[1-9][0-9]{7,14}|0[1-9][0-9]{8,10}")
INSURANCE = re.compile(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][0-9]{6}[A-D]")
POSTCODE = re.compile(r"[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}")
IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
CARD = re.compile(r"[0-9]{13,19}")
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
#: Degrees of latitude and longitude to ten metres.
PLACE = re.compile(r"\(?[+-]?[0-9]{1,2}\.[0-9]{4,}[,;]? ?[+-]?[0-9]{1,3}\.[0-9]{4,}\)?")
#: Numbers that states give to people: Italy, Spain (with its letter), Finland (with its sign).
FISCAL = re.compile(r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]")
SPANISH = re.compile(r"[XYZ0-9][0-9]{7}[A-Z]")
FINNISH = re.compile(r"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-Y]")
#: A house number before or after a word for a street.
STREETS = "street|st|road|rd|avenue|ave|lane|ln|drive|close|court|crescent|terrace|boulevard|blvd|way|place|square|gardens"
STRASSEN = "straße|strasse|str|weg|allee|gasse|platz|ring|damm|ufer"
STREET = re.compile(
    rf"(?i)\b[0-9]+[a-z]?,? (?:[^\W\d_]+\.? ){{1,3}}(?:{STREETS})\b"
    rf"|(?:{STRASSEN})\.? [0-9]+[a-z]?\b"
    r"|\b(?:rue|via|calle|avenida|viale) .*\b[0-9]+\b|\b[0-9]+,? (?:rue|avenue|boulevard)\b"
)


def form_of(values: pa.Array) -> str:
    """Return what most different values of a text column are, in words; an empty text where that is unknown.

    >>> form_of(pa.array(["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000"]))
    'bank account numbers'
    >>> form_of(pa.array(["DE89370400440532013001", "AB12"]))
    ''
    """
    some = [text.strip() for text in values[:LOOKED_AT].to_pylist()]
    if len(some) < 2:
        return ""
    for what, has_form in FORMS:
        if sum(bool(has_form(text)) for text in some) >= SHARE * len(some):
            return what
    return ""


def is_telephone(text: str) -> bool:
    """Return True for a telephone number that begins with its country or a zero, signs between digits left out."""
    return bool(TELEPHONE.fullmatch(re.sub(r"[\s()/.-]", "", text)))


def is_iban(text: str) -> bool:
    """Return True for an international bank account number whose check digits hold (ISO 13616)."""
    plain = text.replace(" ", "").upper()
    if not IBAN.fullmatch(plain):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """Return True for a number of a payment card whose check digit holds (Luhn)."""
    plain = re.sub(r"[ -]", "", text)
    if not CARD.fullmatch(plain):
        return False
    digits = [int(c) for c in reversed(plain)]
    doubled = (sum(divmod(2 * d, 10)) for d in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def is_insurance_number(text: str) -> bool:
    """Return True for a number of the British national insurance."""
    return bool(INSURANCE.fullmatch(text.replace(" ", "").upper()))


def is_personal_number(text: str) -> bool:
    """Return True for a number that a state gives to one person, where its last sign checks the others.

    >>> [is_personal_number(t) for t in ("12345678Z", "12345678A", "131052-308T")]
    [True, False, True]
    """
    plain = text.replace(" ", "").upper()
    if FISCAL.fullmatch(plain):
        return True
    if SPANISH.fullmatch(plain):
        number = int(str("XYZ".find(plain[0]) if plain[0] in "XYZ" else plain[0]) + plain[1:8])
        return plain[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]
    if FINNISH.fullmatch(plain):
        return plain[-1] == "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(plain[:6] + plain[7:10]) % 31]
    return False


FORMS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("bank account numbers", is_iban),
    ("numbers of payment cards", is_card),
    ("national insurance numbers", is_insurance_number),
    ("numbers of people", is_personal_number),
    ("marks that are given once", UUID.fullmatch),
    ("places of homes", PLACE.fullmatch),
    ("telephone numbers", is_telephone),
    ("addresses", STREET.search),
    ("postcodes of a few homes", POSTCODE.fullmatch),
)
