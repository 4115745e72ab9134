"""Profile: look at data whose roles nobody has declared yet, and propose them.

A proposal is a proposal: it comes from names, types and counts, and a person decides. What is shown are
counts, shares and our own words; values of the data are never quoted.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.data.links import find_links
from tacit.data.microdata import Microdata
from tacit.result import Result

if TYPE_CHECKING:
    from tacit.plot.chart import Chart

Confidence = Literal["declared", "high", "low"]
Form = Literal["text", "integer", "number", "date", "boolean", "other"]


def join_words(text: str) -> frozenset[str]:
    """Return a list of words."""
    return frozenset(text.split())


#: Words in a column's name, by the role they point to; looked up in this order.
WORDS: Mapping[str, frozenset[str]] = {
    "identifiers": join_words(
        "id ident identifier pid uid ssn sin bsn nin nhs mrn name surname forename firstname lastname fullname "
        "initials phone telephone tel mobile fax email mail address street passport iban account licence license "
        "plate url ip username login signature"
    ),
    "weight": join_words("weight weights wgt wt wgts pweight pwgt hweight w"),
    "stratum": join_words("stratum strata stratification"),
    "sensitive": join_words(
        "diagnosis diagnoses disease illness problem condition symptom disorder icd icd9 icd10 medication drug "
        "treatment therapy hiv std test result income salary wage wages earnings pay debt debts assets wealth savings "
        "expend expenditure benefit religion faith party political politics vote union crime conviction offence "
        "sexual orientation abuse disability"
    ),
    "keys": join_words(
        "age birth born dob birthday birthdate birthyear yob sex gender zip zipcode postal postcode plz region county "
        "state city town municipality province district nuts country nationality citizenship marital marstat civil "
        "hhcivil race ethnicity ethnic etni ethnicgroup education educ degree occupation job profession employment "
        "workclass industry language native relat relationship urbrur date admission discharge death"
    ),
}

#: A household is named by one of these alone, or by a group and a number together.
HOUSEHOLD = join_words("hhid hid hhnum hhnr hhno famid householdid familyid")
GROUP = join_words("household hh househ family dwelling")
NUMBERED = join_words("id num nr no number key")

#: A name of these words is geography in digits, even when it was read as a number.
PLACES = join_words("zip zipcode postal postcode plz")
#: Keys whose numbers measure something; the numbers of all other named keys are codes.
MEASURED = join_words("age birth born birthyear yob date")

#: What values look like, by the share of values that match.
EMAIL = r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}\z"
PHONE = r"^(\+|00|\()[0-9][-0-9 ()./]{6,17}\z"
SOCIAL = r"^[0-9]{3}-[0-9]{2}-[0-9]{4}\z"
CODE = r"^[0-9]+\z"

DAY, MONTH, YEAR = r"(0[1-9]|[12][0-9]|3[01])", r"(0[1-9]|1[0-2])", r"(1[89]|20)[0-9]{2}"
DATES: Mapping[str, str] = {
    "%Y-%m-%d": rf"^{YEAR}-{MONTH}-{DAY}\z",
    "%m/%d/%y": rf"^{MONTH}/{DAY}/[0-9]{{2}}\z",
    "%m/%d/%Y": rf"^{MONTH}/{DAY}/{YEAR}\z",
    "%d/%m/%y": rf"^{DAY}/{MONTH}/[0-9]{{2}}\z",
    "%d/%m/%Y": rf"^{DAY}/{MONTH}/{YEAR}\z",
    "%d.%m.%Y": rf"^{DAY}\.{MONTH}\.{YEAR}\z",
    "%d-%m-%Y": rf"^{DAY}-{MONTH}-{YEAR}\z",
    "%Y/%m/%d": rf"^{YEAR}/{MONTH}/{DAY}\z",
    "%Y%m%d": rf"^{YEAR}{MONTH}{DAY}\z",
}

#: Texts that usually stand for a missing answer.
MARKS = (
    "NA",
    "N/A",
    "n/a",
    "NaN",
    ".",
    "-",
    "?",
    "unknown",
    "Unknown",
    "UNKNOWN",
    "missing",
    "NULL",
    "null",
    "None",
)
#: Numbers that usually do, when they lie apart at an end of the range.
HIGH_CODES = (9, 99, 999, 9999, 99999, 999999, 99999999)
LOW_CODES = (-1, -9, -99, -999, -9999)

#: Below this many records, nearly every column is nearly unique.
FEW_RECORDS = 20
NEARLY_UNIQUE = 0.95
#: A column without a telling name is a possible key up to this many values.
MODERATE = 100
#: Numbers with more different values than this are put into intervals.
MANY = 12
#: Work spent on subsets of keys: cells times subsets.
SUBSET_WORK = 2e8
MOST_KEYS = 12


@dataclass(frozen=True)
class ColumnProfile:
    """What was found about one column."""

    name: str
    form: Form
    n: int
    values: int
    distinct: int
    role: str = "free"
    confidence: Confidence = "low"
    why: str = ""
    missing_codes: tuple[Any, ...] = ()
    hierarchy: Mapping[str, Any] | None = None

    @property
    def missing(self) -> int:
        """Return the records without a value."""
        return self.n - self.values

    @property
    def uniqueness(self) -> float:
        """Return distinct values as a share of the values."""
        return self.distinct / self.values if self.values else 0.0


@dataclass(frozen=True, repr=False)
class ProfileResult(Result):
    """Proposed roles, hierarchies and missing codes, and how identifying the proposed keys are.

    Attributes
    ----------
    columns
        What was found about each column.
    roles
        The proposed roles, linked columns among them, as ``tacit.read`` takes them.
    hierarchies
        A proposed rule for each proposed key, as a plan holds it.
    uniques
        For subsets of the proposed keys: the share of records that are alone with their values.
    """

    columns: tuple[ColumnProfile, ...] = ()
    roles: Mapping[str, Any] = field(default_factory=dict)
    hierarchies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    uniques: Mapping[tuple[str, ...], float] = field(default_factory=dict)

    def worst(self) -> dict[int, tuple[tuple[str, ...], float]]:
        """Return, for each size, the subset of keys that makes most records unique."""
        found: dict[int, tuple[tuple[str, ...], float]] = {}
        for subset, share in self.uniques.items():
            if len(subset) not in found or share > found[len(subset)][1]:
                found[len(subset)] = (subset, share)
        return found

    def plot(self) -> Chart:
        """Return the share of unique records for the most identifying subset of each size."""
        from tacit.plot.families import bars

        items = [(", ".join(subset), share) for _, (subset, share) in sorted(self.worst().items())]
        return bars(
            items,
            title="Records that are unique on the most identifying keys",
            y="share of records",
        )


def profile(data: Microdata) -> ProfileResult:
    """Propose roles, hierarchies, missing codes and linked columns.

    Parameters
    ----------
    data
        Microdata; roles that are already declared are kept.

    Returns
    -------
    ProfileResult
        ``.frame`` has one row per column; ``.roles`` and ``.hierarchies`` go into ``tacit.read`` or, with
        :func:`starting_plan`, into a plan.
    """
    facts = count_all(data)
    found = [profile_column(data, name, facts, j) for j, name in enumerate(data.columns)]
    found = single_roles(found)
    roles = propose_roles(found)
    links = propose_links(data, found, roles)
    if links:
        roles["links"] = links
        found = [say_links(c, links) for c in found]
    keys = [c for c in found if c.name in roles.get("keys", ())]
    hierarchies = {c.name: dict(c.hierarchy) for c in keys if c.hierarchy}
    uniques = subset_uniques(
        data, [c.name for c in sorted(keys, key=lambda c: -c.distinct)][:MOST_KEYS]
    )
    share = max(uniques.values(), default=0.0)
    numbers: dict[str, Any] = {"records": facts["n"], "columns": len(found)}
    numbers |= {role: len(names) if isinstance(names, list) else 1 for role, names in roles.items()}
    if links:
        numbers["links"] = "; ".join(", ".join(group) for group in links)
    numbers["unique on the proposed keys (share)"] = share
    return ProfileResult(
        "profile",
        "Profile",
        share,
        numbers,
        nw.from_native(as_table(found), eager_only=True),
        "Roles are proposed from names, types and counts; a person who knows the data decides.",
        columns=tuple(found),
        roles=roles,
        hierarchies=hierarchies,
        uniques=uniques,
    )


def starting_plan(profile: ProfileResult, source_path: str | Path) -> dict[str, Any]:
    """Return a plan to begin with: the proposed roles and rules, Datafly with k = 5, and two measures."""
    marks = sorted(
        {code for c in profile.columns for code in c.missing_codes if isinstance(code, str)}
    )
    source: dict[str, Any] = {"path": str(source_path), **({"missing": marks} if marks else {})}
    measures = [{"kind": "k_anonymity", "k": 5}, {"kind": "precision"}]
    return {
        "tacit": 1,
        "source": source,
        "roles": dict(profile.roles),
        "hierarchies": {name: dict(rule) for name, rule in profile.hierarchies.items()},
        "steps": [{"kind": "datafly", "k": 5, "max_drop": 0.01}],
        "measures": measures,
        "output": {"folder": "release", "format": "csv"},
        "engine": "duckdb",
    }


# -- counting: one pass on the engine ------------------------------------------------------------


def count_all(data: Microdata) -> dict[str, Any]:
    """Return every count that the proposals need, computed in one query."""
    schema = data.frame.collect_schema()
    wanted = [nw.len().cast(nw.Int64).alias("n")]
    for j, name in enumerate(data.columns):
        counts = column_counts(name, form_of(schema[name]))
        wanted += [expression.alias(f"{key}|{j}") for key, expression in counts.items()]
    row: dict[str, Any] = data.frame.select(*wanted).collect("pyarrow").rows(named=True)[0]
    row["forms"] = [form_of(schema[name]) for name in data.columns]
    return row


def form_of(kind: Any) -> Form:
    """Return the form of a column's values."""
    if kind == nw.String:
        return "text"
    if kind == nw.Boolean:
        return "boolean"
    if kind.is_integer():
        return "integer"
    if kind.is_numeric():
        return "number"
    return "date" if kind.is_temporal() else "other"


def column_counts(name: str, form: Form) -> dict[str, nw.Expr]:
    """Return the counts of one column."""
    column = nw.col(name)
    counts = {"values": column.count().cast(nw.Int64), "distinct": column.n_unique().cast(nw.Int64)}
    if form == "text":
        patterns = {"email": EMAIL, "phone": PHONE, "social": SOCIAL, "code": CODE, **DATES}
        counts |= {key: tally(column.str.contains(pattern)) for key, pattern in patterns.items()}
        counts |= {f"mark {mark}": tally(column == mark) for mark in MARKS}
        length = column.str.len_chars().cast(nw.Int64)
        counts |= {"shortest": length.min(), "longest": length.max()}
    if form in {"integer", "number"}:
        counts |= {"min": column.min(), "max": column.max()}
        counts |= {
            f"below {code}": nw.when(column < code).then(column).max() for code in HIGH_CODES
        }
        counts |= {f"above {code}": nw.when(column > code).then(column).min() for code in LOW_CODES}
    return counts


def tally(condition: nw.Expr) -> nw.Expr:
    """Return how many records meet a condition."""
    return nw.when(condition).then(nw.lit(1)).sum().cast(nw.Int64)


# -- judging: plain functions on counts ----------------------------------------------------------


def profile_column(data: Microdata, name: str, facts: Mapping[str, Any], j: int) -> ColumnProfile:
    """Return the profile of one column."""
    form: Form = facts["forms"][j]
    own = {key.rpartition("|")[0]: value for key, value in facts.items() if key.endswith(f"|{j}")}
    n, values = facts["n"], own["values"]
    # The engine counts null as one more value.
    distinct = (own["distinct"] or 0) - (1 if values < n else 0)
    codes = (*data.columns[name].missing, *missing_codes(form, own))
    plain = ColumnProfile(
        name, form, n, values, distinct, missing_codes=tuple(dict.fromkeys(codes))
    )
    declared = data.columns[name].roles
    role, confidence, why = propose(plain, own)
    if declared:
        role, confidence, why = min(declared), "declared", "declared"
    rule = hierarchy_rule(plain, own) if role == "keys" else None
    return replace(plain, role=role, confidence=confidence, why=why, hierarchy=rule)


def words_of(name: str) -> list[str]:
    """Return the words of a name: ``hhId`` and ``HH_ID`` are both ``hh`` and ``id``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [w for w in re.split(r"[^0-9a-zà-ÿ]+", spaced.lower()) if w]


def propose(column: ColumnProfile, own: Mapping[str, Any]) -> tuple[str, Confidence, str]:
    """Return a role, how sure it is, and why."""
    if not column.values:
        return "free", "high", "no values"
    looks = looks_like(column, own)
    if looks:
        return "identifiers", "high", looks
    named = role_by_name(column)
    if named:
        return named
    if column.distinct == 1:
        return "free", "high", "one value only"
    is_date = column.form == "date" or date_format(column, own) is not None
    if is_date:
        return "keys", "high", "dates can be known to others"
    if (
        column.n >= FEW_RECORDS
        and column.form in {"text", "integer"}
        and column.uniqueness >= NEARLY_UNIQUE
    ):
        return "identifiers", "low", "nearly every value occurs once"
    if column.form in {"text", "integer", "boolean"} and column.distinct <= min(
        MODERATE, max(2, column.values // 4)
    ):
        return "keys", "low", "few different values, which others may know"
    return "free", "low", ""


def looks_like(column: ColumnProfile, own: Mapping[str, Any]) -> str:
    """Return what most values look like, if that identifies a person."""
    kinds = {
        "email": "e-mail addresses",
        "phone": "telephone numbers",
        "social": "social security numbers",
    }
    for key, words in kinds.items():
        if column.form == "text" and (own[key] or 0) >= column.values / 2:
            return f"most values look like {words}"
    return ""


def role_by_name(column: ColumnProfile) -> tuple[str, Confidence, str] | None:
    """Return the role that the name points to, when the values can play it."""
    parts = words_of(column.name)
    said = {*parts, "".join(parts)}
    if HOUSEHOLD & said or (GROUP & said and NUMBERED & said):
        return ("household", "high", "its name") if column.form in {"integer", "text"} else None
    for role, known in WORDS.items():
        numeric = column.form in {"integer", "number"}
        if known & said and (role != "weight" or numeric):
            return role, "high", "its name"
    return None


def single_roles(found: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """Return profiles in which a weight, household or stratum is proposed once: the first, surest one."""
    taken: set[str] = {c.role for c in found if c.confidence == "declared"}
    result = []
    for column in found:
        if column.role in {"weight", "household", "stratum"} and column.confidence != "declared":
            if column.role in taken:
                column = replace(
                    column, role="free", confidence="low", why=f"another {column.role} is proposed"
                )
            taken.add(column.role)
        result.append(column)
    return result


def missing_codes(form: Form, own: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return codes that seem to stand for a missing answer: marks, and lone numbers at an end."""
    if form == "text":
        marks = tuple(mark for mark in MARKS if own[f"mark {mark}"])
        return marks if sum(own[f"mark {m}"] for m in marks) < own["values"] else ()
    if form not in {"integer", "number"} or own["max"] is None:
        return ()
    high = [c for c in HIGH_CODES if own["max"] == c and stands_apart(own[f"below {c}"], c)]
    low = [c for c in LOW_CODES if own["min"] == c and (own[f"above {c}"] or -1) >= 0]
    return (*high, *low)


def stands_apart(below: float | None, code: int) -> bool:
    """Return True when a code of nines lies apart from the next smaller value."""
    return below is not None and code - below > max(1, code / 20)


# -- hierarchies ---------------------------------------------------------------------------------


def hierarchy_rule(column: ColumnProfile, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule to generalise a key, as a plan holds it."""
    pattern = date_format(column, own)
    if column.form == "date" or pattern:
        return {"kind": "dates", **({"format": pattern} if pattern else {})}
    if column.form == "text" and is_code(column, own):
        return {"kind": "digits", "length": int(own["longest"])}
    if column.form in {"integer", "number"}:
        said = set(words_of(column.name))
        if PLACES & said and column.form == "integer":
            return {"kind": "digits", "length": len(str(abs(int(own["max"]))))}
        codes = bool(said & WORDS["keys"]) and not said & MEASURED
        if column.distinct > MANY and not codes:
            return {"kind": "intervals", "width": interval_width(column, own), "levels": 3}
    return {"kind": "flat"}


def date_format(column: ColumnProfile, own: Mapping[str, Any]) -> str | None:
    """Return the first date format that every value fits."""
    if column.form != "text" or not column.values:
        return None
    return next((pattern for pattern in DATES if own[pattern] == column.values), None)


def is_code(column: ColumnProfile, own: Mapping[str, Any]) -> bool:
    """Return True for codes of digits of one length, as postal codes are."""
    return bool(
        own["code"] == column.values
        and own["shortest"] == own["longest"]
        and 3 <= own["longest"] <= 10
    )


def interval_width(column: ColumnProfile, own: Mapping[str, Any]) -> float:
    """Return a round width (1, 2 or 5 times a power of ten) that makes about twenty intervals."""
    top = next((own[f"below {c}"] for c in column.missing_codes if c in HIGH_CODES), own["max"])
    spread = float(top) - float(own["min"])
    if spread <= 0:
        return 1
    rough = spread / 20
    power = 10.0 ** np.floor(np.log10(rough))
    width = power * min((step for step in (1, 2, 5, 10) if step * power >= rough), default=10)
    if column.form == "integer":
        return max(1, round(width))
    return float(f"{width:.3g}")


# -- putting together ----------------------------------------------------------------------------


def propose_roles(found: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Return roles as ``tacit.read`` takes them; unsure keys count only when there are no sure ones."""
    sure = any(c.role == "keys" and c.confidence != "low" for c in found)
    roles: dict[str, Any] = {}
    for role in ("identifiers", "keys", "sensitive"):
        names = [
            c.name
            for c in found
            if c.role == role and not (role == "keys" and sure and c.confidence == "low")
        ]
        if names:
            roles[role] = names
    for role in ("weight", "household", "stratum"):
        name = next((c.name for c in found if c.role == role), None)
        if name is not None:
            roles[role] = name
    return roles


def propose_links(
    data: Microdata, found: Sequence[ColumnProfile], roles: Mapping[str, Any]
) -> list[list[str]]:
    """Return the declared links, or groups of columns that the data show to tell each other."""
    if data.links:
        return [list(group) for group in data.links]
    apart = {*roles.get("identifiers", ()), roles.get("weight")}
    values = {c.name: c.distinct for c in found if c.name not in apart}
    return find_links(data, values, roles.get("household"))


def say_links(column: ColumnProfile, links: Sequence[Sequence[str]]) -> ColumnProfile:
    """Return the profile with the columns that it is linked with among its reasons."""
    others = [c for group in links if column.name in group for c in group if c != column.name]
    if not others:
        return column
    said = f"linked with {', '.join(others)}"
    return replace(column, why=f"{column.why}; {said}" if column.why else said)


def subset_uniques(data: Microdata, keys: Sequence[str]) -> dict[tuple[str, ...], float]:
    """Return the share of unique records for subsets of the keys, as many sizes as the work allows."""
    if not keys:
        return {}
    cells = data.cells(tuple(keys))
    total = cells.total
    if not total:
        return {}
    subsets: list[tuple[str, ...]] = [(k,) for k in keys]
    for size in range(2, len(keys)):
        more = list(itertools.combinations(keys, size))
        if (len(subsets) + len(more)) * len(cells) > SUBSET_WORK:
            break
        subsets += more
    if len(keys) > 1:
        subsets.append(tuple(keys))
    alone = {subset: int((cells.class_sizes(subset) == 1).sum()) for subset in subsets}
    return {subset: n / total for subset, n in alone.items()}


def as_table(found: Sequence[ColumnProfile]) -> pa.Table:
    """Return the profile as a table, one row per column of the data."""
    columns: dict[str, list[Any]] = {
        "column": [c.name for c in found],
        "type": [c.form for c in found],
        "distinct": [c.distinct for c in found],
        "missing": [c.missing for c in found],
        "uniqueness": [c.uniqueness for c in found],
        "role": [c.role for c in found],
        "confidence": [c.confidence for c in found],
        "why": [c.why for c in found],
        "missing_codes": [", ".join(map(str, c.missing_codes)) for c in found],
        "hierarchy": [c.hierarchy["kind"] if c.hierarchy else None for c in found],
    }
    kinds = {"distinct": pa.int64(), "missing": pa.int64(), "uniqueness": pa.float64()}
    return pa.table({n: pa.array(v, kinds.get(n, pa.string())) for n, v in columns.items()})
