"""HIPAA Safe Harbor: columns that look like one of the eighteen identifiers, by name and by values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.relational import fetch_distinct
from tacit.fields import ColumnNames
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

# -- what the identifiers of 45 CFR 164.514(b)(2) look like: words in names of columns, forms of values -----

#: The identifiers of the rule by letter.
IDENTIFIERS = {
    "A": "names",
    "B": "places smaller than a state",
    "C": "dates finer than years, ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "electronic mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan beneficiary numbers",
    "J": "account numbers",
    "K": "certificate and licence numbers",
    "L": "vehicle identifiers and plates",
    "M": "device identifiers and serial numbers",
    "N": "web addresses",
    "O": "internet protocol addresses",
    "P": "biometric identifiers",
    "Q": "photographs of faces",
    "R": "other unique numbers, characteristics or codes",
}


def words_of(*groups: str) -> tuple[frozenset[str], ...]:
    """Return sets of words that must all occur in a name."""
    return tuple(frozenset(group.split()) for group in groups)


#: Words that give a column away by its name; each group must occur as a whole.
NAME_WORDS = (
    ("A", words_of("name", "names", "surname", "firstname", "lastname", "forename", "fullname")),
    (
        "B",
        words_of(
            "address", "addr", "street", "city", "town", "county", "precinct", "geocode", "latitude",
            "longitude", "lat", "lon", "lng", "parish", "village", "municipality", "neighbourhood",
            "neighborhood", "postcode", "postal",
        ),
    ),
    ("D", words_of("phone", "telephone", "tel", "mobile", "cellphone")),
    ("E", words_of("fax")),
    ("F", words_of("email", "mail", "e mail")),
    ("G", words_of("ssn", "social security")),
    ("H", words_of("mrn", "medical record", "chart number", "patient number")),
    ("I", words_of("beneficiary", "member number", "member id", "policy number", "plan number")),
    ("J", words_of("account", "acct", "iban")),
    ("K", words_of("license", "licence", "certificate", "passport")),
    ("L", words_of("vin", "vehicle", "plate")),
    ("M", words_of("serial", "imei", "device id", "device number")),
    ("N", words_of("url", "website", "homepage")),
    ("O", words_of("ip", "ipaddress")),
    ("P", words_of("fingerprint", "voiceprint", "biometric", "retina")),
    ("Q", words_of("photo", "photograph", "image", "picture", "portrait")),
    ("R", words_of("id", "identifier", "uuid", "guid")),
)  # fmt: skip

#: Names whose columns are judged by their values.
ZIP_WORDS = frozenset({"zip", "zipcode", "zcta"})
DATE_WORDS = frozenset(
    {"date", "dob", "birth", "birthday", "birthdate", "admission", "discharge", "death", "admitted"}
)
#: Words that count at the end of a longer one, as names are often run together. ("city" also ends ethnicity.)
ENDS = ("name", "address", "phone", "email", "street", "zip", "zipcode", "postcode", "date", "ssn")
#: Older ages must be one category.
OLDEST = 89

#: Letter, evidence, and the form of values (RE2), for text.
PATTERNS = (
    ("F", "mail addresses", r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z]{2,}"),
    ("N", "web addresses", r"(?i)\b(https?://|www\.)[^\s]+"),
    ("O", "internet addresses", r"\b((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\b"),
    ("G", "numbers in the form of social security numbers", r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b"),
    ("D", "telephone numbers", r"(\b|\()[0-9]{3}(\) ?|[-. ])[0-9]{3}[-. ][0-9]{4}\b|\+[0-9]{1,3}[ -]?[0-9][0-9 -]{6,}"),
    ("C", "dates", r"\b[0-9]{4}-[01][0-9](-[0-3][0-9])?\b|(^|[^0-9./])[0-3]?[0-9][/.][0-3]?[0-9][/.]([0-9]{4}|[0-9]{2})($|[^0-9])"),
    ("B", "ZIP codes of nine digits", r"\b[0-9]{5}-[0-9]{4}\b"),
    ("L", "vehicle identification numbers", r"^[A-HJ-NPR-Z0-9]{9}[A-HJ-NPR-TV-Y1-9][A-HJ-NPR-Z0-9]{2}[0-9]{5}$"),
)  # fmt: skip

#: Three-digit ZIP codes with at most 20,000 people in the census of 2000.
SMALL_ZIPS = (
    "036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878", "879",
    "884", "890", "893",
)  # fmt: skip

UNSEEN = (
    "The check sees names of columns and forms of values. It cannot see names of people or places in free text, numbers "
    "without a form of their own, years of birth that tell an age over 89, photographs, or what else identifies a person; nor "
    "whether the publisher knows that somebody can be identified, which the rule asks as well. It is no legal advice."
)


@register
class SafeHarbor(Measure):
    """Columns that look like one of the eighteen identifiers of the HIPAA Safe Harbor rule.

    The rule lists what must be removed before health data count as de-identified: (A) names, (B) places smaller than a
    state except three digits of a ZIP code with more than 20,000 people, (C) dates finer than years and ages over 89, (D) to
    (R) numbers and other marks. A column is reported for its name (words such as "street" or "ssn"), for values in
    a form of their own (addresses of mail, telephone numbers, dates), for the identifier role, or because every record has
    another value. A column whose name says ZIP code, date or age is judged by its values: three digits, years and ages up to 89 are
    allowed.

    References
    ----------
    US Code of Federal Regulations, 45 CFR 164.514(b)(2). US Department of Health and Human Services (2012), Guidance regarding
    methods for de-identification of protected health information; its list of 17 three-digit ZIP codes with at most
    20,000 people in 2000.
    """

    kind: Literal["safe_harbor"] = "safe_harbor"
    columns: ColumnNames | None = Field(default=None, description="the columns; by default all")
    small_zips: tuple[str, ...] = Field(
        default=SMALL_ZIPS,
        description="three-digit ZIP codes with at most 20,000 people, which must be 000; by default those of 2000",
    )

    axis: ClassVar[str] = "share of columns reported"

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> SafeHarborResult:
        del other
        names = tuple(dict.fromkeys(self.columns or data.columns))
        records = len(data)
        findings: list[Finding] = []
        for column in names:
            ctx.tick(f"values of {column}")
            values = fetch_distinct(data.frame, column)
            findings += self.look(column, values, records, column in data.identifiers)
        reported = dict.fromkeys(f.column for f in findings)
        title = "HIPAA Safe Harbor: columns that look like identifiers"
        return SafeHarborResult(
            kind=self.kind,
            title=title,
            value=len(reported) / len(names) if names else 0.0,
            numbers={
                "columns": len(names),
                "columns reported": len(reported),
                "they are": ", ".join(reported) or "none",
                "identifiers of the rule that occur": len({f.letter for f in findings}),
            },
            frame=list_findings(findings),
            explanation=UNSEEN,
            shortfall=(
                f"{title}: {len(reported)} of {len(names)} columns, {', '.join(reported)}"
                if reported
                else ""
            ),
            findings=tuple(findings),
        )

    def look(
        self, column: str, values: pa.Array, records: int, is_identifier: bool
    ) -> Iterator[Finding]:
        """Yield what one column looks like, each identifier of the rule once."""
        if not len(values):
            return
        found: dict[str, Finding] = {}
        for letter, evidence, count in self.evidence(column, values, records, is_identifier):
            found.setdefault(letter, Finding(column, letter, evidence, count))
        yield from found.values()

    def evidence(
        self, column: str, values: pa.Array, records: int, is_identifier: bool
    ) -> Iterator[tuple[str, str, int | None]]:
        """Yield letter, evidence and the number of different values behind it, strongest first."""
        words = name_words(column)
        is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
        if is_identifier:
            yield "R", "declared as identifier", None
        if pa.types.is_temporal(values.type):
            yield "C", "dates", len(values)
        texts = values.cast(pa.string()) if not pa.types.is_temporal(values.type) else None
        if texts is not None and not is_number:
            for letter, evidence, pattern in PATTERNS:
                count = int(pc.sum(pc.match_substring_regex(texts, pattern)).as_py() or 0)
                if count:
                    yield letter, evidence, count
        for letter, listed in NAME_WORDS:
            if any(group <= words for group in listed):
                yield letter, "name of the column", None
        if words & ZIP_WORDS and texts is not None:
            yield from self.zip_evidence(texts)
        if words & DATE_WORDS and texts is not None:
            years = pc.match_substring_regex(texts, r"^(1[89]|20)[0-9]{2}(\.0)?$")
            other = len(texts) - int(pc.sum(years).as_py() or 0)
            if other:
                yield "C", "name of the column, and values that are no years", other
        if "age" in words and is_number:
            old = int(pc.sum(pc.greater(values, OLDEST)).as_py() or 0)
            if old:
                yield "C", "ages over 89", old
        countable = not pa.types.is_floating(values.type)
        if countable and len(values) == records and records > 1:
            yield "R", "every record has another value", len(values)

    def zip_evidence(self, texts: pa.Array) -> Iterator[tuple[str, str, int]]:
        """Yield what is wrong with ZIP codes: more than three digits, or three of a small area."""
        fine = pc.match_substring_regex(texts, r"^[0-9]{4,}|^[0-9]{3}[^0-9]+[0-9]")
        count = int(pc.sum(fine).as_py() or 0)
        if count:
            yield "B", "ZIP codes with more than three digits", count
        small = pc.is_in(
            pc.utf8_slice_codeunits(texts, 0, 3), pa.array(self.small_zips, pa.string())
        )
        count = int(pc.sum(small).as_py() or 0)
        if count:
            yield "B", "ZIP codes of areas with at most 20,000 people", count


@dataclass(frozen=True)
class Finding:
    """One column that looks like one identifier of the rule; ``values`` counts different values."""

    column: str
    letter: str
    evidence: str
    values: int | None

    @property
    def identifier(self) -> str:
        """Return the identifier in words."""
        return IDENTIFIERS[self.letter]


@dataclass(frozen=True, repr=False)
class SafeHarborResult(Result):
    """What was found, by column."""

    findings: tuple[Finding, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that were reported."""
        return tuple(dict.fromkeys(f.column for f in self.findings))

    def plot(self) -> Chart:
        """Return how many columns look like each identifier."""
        items = [
            (f"({letter}) {text}", float(sum(f.letter == letter for f in self.findings)))
            for letter, text in IDENTIFIERS.items()
        ]
        return bars(items, title="Columns by identifier of the Safe Harbor rule", y="columns")


def list_findings(findings: Sequence[Finding]) -> nw.DataFrame[Any]:
    """Return one row per finding."""
    columns = {
        "column": pa.array([f.column for f in findings], pa.string()),
        "letter": pa.array([f.letter for f in findings], pa.string()),
        "identifier": pa.array([f.identifier for f in findings], pa.string()),
        "evidence": pa.array([f.evidence for f in findings], pa.string()),
        "values": pa.array([f.values for f in findings], pa.int64()),
    }
    return as_frame(columns)


def name_words(name: str) -> frozenset[str]:
    """Return the words of a column's name, in lower case, split at signs, digits and capitals; with their ends.

    >>> sorted(name_words("patientZIP_code2"))
    ['code', 'patient', 'zip']
    >>> sorted(name_words("UTILNAME"))
    ['name', 'utilname']
    """
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    words = re.findall(r"[a-z]+", split.lower())
    ends = [end for word in words for end in ENDS if word.endswith(end)]
    return frozenset([*words, *ends])
