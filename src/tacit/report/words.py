"""The sentences of a report: claims, limits, how to check, and what the terms mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tacit.result import format_number

if TYPE_CHECKING:
    from tacit.claims import Claim
    from tacit.data.roles import Column
    from tacit.release import Release
    from tacit.report.facts import Changes, ClassSizes

#: Counts of changed values below this are not told.
SMALL = 5
LONGEST = 160

Sentence = Callable[["Claim"], str]


def named(columns: Sequence[str]) -> str:
    """Return column names as a list in a sentence."""
    *most, last = columns
    return f"{', '.join(most)} and {last}" if most else last


CLAIMS: dict[str, tuple[str, Sentence]] = {
    "k-anonymity": (
        "{k}-anonymity",
        lambda c: (
            f"Every combination of {named(c.columns)} that occurs in the file occurs in at least "
            f"{c.parameters['k']} records: nobody can be narrowed down to fewer by these columns."
        ),
    ),
    "k-combinations": (
        "Combinations of at least {k}",
        lambda c: (
            (
                f"Every complete combination of {named(c.columns)} that occurs in the file occurs in at least "
                f"{c.parameters['k']} records."
            )
            if len(c.parameters["combinations"]) == 1
            else (
                f"Every value of the {len(c.parameters['combinations'])} checked combinations of "
                f"{named(c.columns)} occurs in at least {c.parameters['k']} records. Combinations that were not "
                "checked may be rarer."
            )
        ),
    ),
    "k-agreement": (
        "Agreement of at least {k}",
        lambda c: (
            f"Every record agrees with at least {c.parameters['k']} records on {named(c.columns)}, where a "
            "missing value agrees with every value."
        ),
    ),
    "within-limits": (
        "Values within limits",
        lambda c: (
            f"No value of {named(c.columns)} lies "
            + " or ".join(
                f"{side} {format_number(c.parameters[name])}"
                for name, side in (("low", "below"), ("high", "above"))
                if c.parameters[name] is not None
            )
            + "."
        ),
    ),
    "categories": (
        "Agreed categories",
        lambda c: (
            f"{named(c.columns)} holds only the {len(c.parameters['allowed'])} categories of the recoding."
        ),
    ),
    "absent-columns": (
        "Columns left out",
        lambda c: (
            f"The {c.quasi_identifier}, {named(c.columns)}, are not in the file."
            if len(c.columns) > 1
            else f"The column {named(c.columns)} ({c.quasi_identifier}) is not in the file."
        ),
    ),
    "channel-safety": (
        "Channel safety",
        lambda c: (
            "Among the people of every output channel the share of each risky value stays within its "
            f"limit, and their weighted sum within {c.parameters['b']:g}: knowing a person's channel "
            "makes no value likelier than that."
        ),
    ),
    "additive": (
        "The table adds up",
        lambda c: "Every total that is published is the sum of its published parts.",  # noqa: ARG005
    ),
    "rounded": (
        "Rounded to base {base:g}",
        lambda c: (
            f"Every published value is a multiple of {c.parameters['base']:g} and near to the true one."
        ),
    ),
    "adjacent-multiples": (
        "Adjacent multiples of {base:g}",
        lambda c: (
            f"Every cell went to one of the two multiples of {c.parameters['base']:g} around it, and "
            "multiples stayed."
        ),
    ),
    "not-deducible": (
        "Nothing follows exactly",
        lambda c: (  # noqa: ARG005
            "No unsafe cell can be computed exactly from the published cells and the relations of the "
            "table. How closely it can be estimated is not claimed."
        ),
    ),
    "moved-far-enough": (
        "Unsafe cells moved",
        lambda c: (  # noqa: ARG005
            "The published value of every unsafe cell is at least as far from the true one as its "
            "protection level asks."
        ),
    ),
    "intervals-hold-the-truth": (
        "Intervals hold the truth",
        lambda c: "Every published interval holds the true value.",  # noqa: ARG005
    ),
    "protected-by-published-intervals": (
        "Protected by the published intervals",
        lambda c: (  # noqa: ARG005
            "Knowing all published values and intervals, an outsider still finds for every unsafe cell an "
            "interval that reaches its protection levels."
        ),
    ),
    "protected-with-intervals": (
        "Protected with the published intervals",
        lambda c: (  # noqa: ARG005
            "Knowing all published values and intervals and all relations of the table, an outsider still "
            "finds for every unsafe cell an interval that reaches its protection levels."
        ),
    ),
    "cell-keys": (
        "Perturbed by cell keys",
        lambda c: (  # noqa: ARG005
            "Every published value is the true one plus what the perturbation table gives for the cell's "
            "key; the same cell has the same value wherever it is published."
        ),
    ),
    "no-small-counts": (
        "No small counts",
        lambda c: (
            f"No published count lies between 1 and {c.parameters['base'] - 1}."
            if "base" in c.parameters
            else "No published count is small."
        ),
    ),
    "protected-in-subtables": (
        "Protected within each subtable",
        lambda c: (  # noqa: ARG005
            "In every subtable of one total and its parts in each dimension, unsafe cells are protected by "
            "a hypercube of hidden cells. Relations across subtables were not used against them."
        ),
    ),
    "protected-in-table": (
        "Protected in the whole table",
        lambda c: (  # noqa: ARG005
            "For every unsafe cell a movement of hidden cells that keeps all relations of the table shows "
            "the protection."
        ),
    ),
    "protected-intervals": (
        "Intervals wide enough",
        lambda c: (
            "For every unsafe cell, the interval that an outsider can compute from all relations of the "
            "table and all published cells reaches the cell's protection levels"
            + (
                "; nor can the only respondent of one cell deduce another."
                if c.parameters.get("singletons")
                else "."
            )
        ),
    ),
}


def claim_name(claim: Claim, *, of_many: bool = False) -> str:
    """Return a claim as a short name, with its quasi-identifier where there are several of them."""
    if claim.model not in CLAIMS:
        return claim.model[:1].upper() + claim.model[1:]
    name = CLAIMS[claim.model][0].format(**claim.parameters)
    return (
        f"{name} on {claim.quasi_identifier}" if of_many and claim.model == "k-anonymity" else name
    )


def claim_sentence(claim: Claim) -> str:
    """Return what a claim says, for people."""
    if claim.model in CLAIMS and claim.columns:
        return CLAIMS[claim.model][1](claim)
    return f"{claim.sentence()[:1].upper()}{claim.sentence()[1:]}."


@dataclass(frozen=True)
class Verdict:
    """The judgement at the top: a colour, a heading, and what tempers it."""

    mood: Literal["good", "none", "bad"]
    heading: str
    cautions: list[str]


def verdict(claims: Sequence[Claim], *, hold: bool, classes: Sequence[ClassSizes]) -> Verdict:
    """Judge the claims in the light of what is left over."""
    if not hold:
        return Verdict("bad", "A claim does not hold: do not release", [])
    unique = [
        f"{percent(part.unique_share_after)} of the released records are unique on {named(part.columns)} together."
        for part in classes
        if part.unique_share_after > 0
    ]
    if not claims:
        return Verdict("none", "No protection is claimed", unique)
    if all(claim.model == "absent-columns" for claim in claims):
        # Removing names is not anonymity (Sweeney 2000): the keys may still single people out.
        return Verdict("none", "Identifiers are removed; no anonymity is claimed", unique)
    heading = {1: "The claim holds", 2: "Both claims hold"}.get(
        len(claims), f"All {len(claims)} claims hold"
    )
    if unique:
        return Verdict("none", f"{heading}, but unique records remain", unique)
    return Verdict("good", heading, [])


def percent(share: float) -> str:
    """Return a share as a percentage that never rounds to none or all."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return "<0.1%" if share < 0.001 else f"{min(share, 0.999):.1%}"


ROLE_WORDS = {
    "identifiers": "identifier",
    "keys": "key",
    "sensitive": "sensitive",
    "weight": "weight",
    "household": "household",
    "stratum": "stratum",
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


def parameter(value: Any) -> str:
    """Return a parameter as it would be typed."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return shortened(", ".join(f"{k}: {parameter(v)}" for k, v in value.items()))
    if isinstance(value, list | tuple):
        return shortened(", ".join(parameter(v) for v in value))
    return shortened(format_number(value))


def shortened(text: str) -> str:
    """Return a text cut to a length that a table can hold."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2].rstrip()} …"


def limits(release: Release, kinds: Sequence[str]) -> list[str]:
    """Return what the release does not promise."""
    data = release.data
    found = []
    free = [
        c
        for c, column in data.columns.items()
        if not column.roles & {"keys", "weight", "sensitive"}
    ]
    if data.keys and free:
        beside = f"column {free[0]} is" if len(free) == 1 else f"columns {named(free)} are"
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
    found.append(
        "Another release of the same records, at other levels or with other columns, can be combined "
        "with this one. Protection must then be measured on both together."
    )
    found.append(
        "The measures describe the data at hand and the knowledge assumed. They do not forecast what "
        "will be published elsewhere later."
    )
    return found


def sql_check(release: Release) -> list[dict[str, str]]:
    """Return, for each claim of k-anonymity, a query that recomputes it with any SQL engine."""
    form = release.plan.output.format or "csv"
    file = f"'data.{form}'" if form in ("csv", "parquet") else "data"
    checks = []
    for claim in release.claims:
        if claim.model == "k-anonymity":
            columns = ", ".join(quoted(c) for c in claim.columns)
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


def quoted(name: str) -> str:
    """Return a column name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


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


def glossary(release: Release, kinds: Sequence[str]) -> list[tuple[str, str]]:
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
    return [(term, text) for term, text in GLOSSARY.items() if term in used]
