"""Columns that nobody has declared and that are direct identifiers all the same: by name and by values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.engine.relational import fetch_distinct
from tacit.records.identifiers.columns.safe_harbor import Finding, SafeHarbor
from tacit.records.identifiers.columns.safe_harbor_rules import name_words
from tacit.records.identifiers.columns.value_forms import form_of

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
        hits += any(
            (given in first or is_initial(given, text)) and family in last for given, family in ends
        )
    return hits >= NAMED * len(some)


def is_initial(letter: str, text: str) -> bool:
    """Return True for a letter with a full stop after it, as in J. Smith: plain letters are codes as well."""
    return len(letter) == 1 and f"{letter}." in text.lower()
