"""The sentences about records: what became of them, limits, a check by SQL, and what the terms mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tacit.report.words import NO_FORECAST, OTHER_RELEASES, claim_name, join_column_names
from tacit.result import format_number

if TYPE_CHECKING:
    from tacit.data.roles import Column
    from tacit.report.facts import Changes


ROLE_WORDS = {
    "identifiers": "identifier",
    "keys": "key",
    "sensitive": "sensitive",
    "weight": "weight",
    "household": "household",
    "stratum": "stratum",
    "copy_number": "number of the copy",
}


def role(column: Column) -> str:
    """Return the roles of a column in the singular."""
    return ", ".join(ROLE_WORDS.get(r, r) for r in sorted(column.roles)) or "free"


def records_sentence(found: Changes) -> str:
    """Return what became of the records, in a sentence."""
    parts = [f"{format_number(found.records_before)} records came in"]
    parts.append(
        f"{format_number(found.dropped)} were dropped" if found.dropped else "none was dropped"
    )
    if found.added:
        parts.append(f"{format_number(found.added)} were added")
    return f"{', '.join(parts)}, and {format_number(found.records_after)} are released."


def dealt_sentence(details: Mapping[str, Any]) -> str:
    """Return how the shares among people as dealt compare with the limits that hold for expected ones."""
    above, shares = details["shares_above_limit"], details["shares_dealt"]
    told = (
        f"{format_number(above)} of {format_number(shares)} shares of risky values in output channels lie above "
        f"their limit, by up to {format_number(details['largest_excess'])}"
        if above
        else f"none of the {format_number(shares)} shares of risky values in output channels lies above its limit"
    )
    return (
        f"The limits of channel expansion hold for the shares to be expected. Among the people as dealt, {told}. "
        "Publishing the shares as dealt would void the claim."
    )


def limits(release: Any, kinds: Sequence[str]) -> list[str]:
    """Return what the release does not promise."""
    data = release.data
    found = []
    free = [
        c
        for c, column in data.columns.items()
        if not column.roles & {"keys", "weight", "sensitive"}
    ]
    if data.keys and free:
        beside = (
            f"column {free[0]} is" if len(free) == 1 else f"columns {join_column_names(free)} are"
        )
        found.append(
            f"Only the declared keys are protected against linking. The {beside} released beside "
            "them; whoever knows a person's values there can narrow the search further."
        )
    if data.sensitive and not {"l_diversity", "t_closeness"} & set(kinds):
        found.append(
            "Records of one class may agree on a sensitive value, which then becomes known without "
            "singling out a record. This was not measured here."
        )
    if data.keys:
        found.append(
            "Class sizes count records of this file. Where one person has several records, a class "
            "holds fewer people than records."
        )
    if release.plan.population:
        found.append(
            "Measures against the population register are as complete and as current as the register."
        )
    return [*found, OTHER_RELEASES, NO_FORECAST]


def sql_check(release: Any) -> list[dict[str, str]]:
    """Return, for each claim of k-anonymity, a query that recomputes it with any SQL engine."""
    form = release.plan.output.format or "csv"
    file = f"'data.{form}'" if form in ("csv", "parquet") else "data"
    checks = []
    for claim in release.claims:
        if claim.model == "k-anonymity":
            columns = ", ".join('"' + c.replace('"', '""') + '"' for c in claim.columns)
            query = (
                f"SELECT min(n) AS smallest_class\nFROM (SELECT count(*) AS n\n      FROM {file}\n"
                f"      GROUP BY {columns});"
            )
            checks.append(
                {
                    "name": claim_name(claim, of_many=len(release.data.quasi) > 1),
                    "query": query,
                    "at_least": str(claim.parameters["k"]),
                }
            )
    return checks


ALWAYS = ("key", "quasi-identifier", "class", "claim")

GLOSSARY: dict[str, str] = {
    "access class": "How freely the release may be given away: private (insiders only), semi-private "
    "(limited access), semi-public (deniable access) or public.",
    "claim": "A statement about the released file that anyone who holds the file can recompute.",
    "class": "All records that have the same values on every key of a quasi-identifier.",
    "generalisation": "Replacing a value by a broader one that includes it: a date by its year, a ZIP code "
    "by its first digits.",
    "hierarchy, level": "How the values of a column generalise, step by step: level 0 is the value as "
    "collected, the highest level is the same for every record.",
    "k-anonymity": "Every class has at least k records, so that the keys alone never point to fewer than k.",
    "k-map": "Every released record agrees with at least k people of the population register.",
    "key": "A column whose value an intruder may know about a person: birth date, sex, place of residence.",
    "l-diversity": "Every class holds at least l well-represented values of a sensitive column.",
    "precision": "One minus the average share of its hierarchy that a value was raised: 1 when nothing was "
    "changed, 0 when everything was suppressed.",
    "quasi-identifier": "A set of keys that an intruder may know together.",
    "sensitive column": "A column whose value about a person must not become known.",
    "suppression": "Leaving out a value, a record or a column.",
    "t-closeness": "In every class a sensitive column is distributed almost as in the whole file: its "
    "distance to it is at most t.",
    "unique record": "A record that is alone in its class.",
}


def glossary(release: Any, kinds: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the terms that this report uses, in alphabetical order."""
    used = {*ALWAYS, "unique record"}
    used |= {kind.replace("_", "-") for kind in kinds}
    used |= {claim.model for claim in release.claims}
    history = release.data.history
    techniques = " ".join(t for action in history for t in action.techniques)
    used |= {"generalisation"} if "generalis" in techniques else set()
    used |= {"suppression"} if "suppress" in techniques else set()
    used |= {"hierarchy, level"} if any("levels" in a.details for a in history) else set()
    used |= {"sensitive column"} if release.data.sensitive else set()
    used |= {"access class"} if release.plan.access else set()
    return tuple((term, text) for term, text in GLOSSARY.items() if term in used)
