"""The sentences of every report: claims, thresholds, parameters, numbers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tacit.report.document import Mark, Words, parts
from tacit.result import format_number

if TYPE_CHECKING:
    from tacit.claims import Claim

LONGEST = 160


def join_column_names(columns: Sequence[str], last_by: str = "and") -> str:
    """Return column names, or other words, as a list in a sentence."""
    *most, last = columns
    return f"{', '.join(most)} {last_by} {last}" if most else last


FORM_WORDS = {
    "email": "an e-mail address",
    "url": "a web address",
    "phone": "a phone number",
    "ssn": "a social security number",
    "date": "the day of a date",
}

#: How the distance between two distributions is measured.
MOVED = {
    "equal": "half the sum of the differences of shares",
    "ordered": "the work of moving shares along the order of the values",
    "hierarchical": "the work of moving shares through the hierarchy",
}
#: Models of the sizes of classes in a population.
ESTIMATES = {
    "pitman": "the model of Pitman",
    "zayatz": "the estimate of Zayatz",
    "snb": "the slide negative binomial model",
    "dankar": "the rule of Dankar and others",
}
LIMITS_OF_ATTACKS = {
    "highest": "no record is found by an attacker with a probability above {highest:.4g}",
    "average": "the mean probability of being found is at most {average:.4g}",
    "at_risk": "at most {at_risk:.4g} of the records are found with a probability above {threshold:.4g}",
}
LIMITS_OF_RISKS = {
    "threshold": "no record has a risk of re-identification above {threshold:g}",
    "average": "the average risk is at most {average:g}",
}
#: The end of the sentence about enhanced likeness.
ENHANCED = "; for frequent values the limit is lower (a share q may grow to q (1 - ln q))."
#: What does not show more than so many values.
PER = {"record": "no record shows", "attribute": "no column shows"}


#: What is known of a claim: its parameters, and its ``columns`` in a sentence, or the ``sets`` of them; ``about`` is its
#: quasi-identifier, and ``within`` begins a sentence about every class.
Known = Mapping[str, Any]


def known_of(claim: Claim) -> Known:
    """Return what the sentence of a claim is made of."""
    columns = join_column_names(claim.columns) if claim.columns else ""
    sets = claim.parameters.get("combinations", ())
    return {
        **claim.parameters,
        "columns": columns,
        "sets": f"each of {len(sets)} combinations of {columns}" if len(sets) > 1 else columns,
        "about": claim.quasi_identifier,
        "within": f"Among the records that share {columns},",
        "several": len(claim.columns) > 1,
    }


def say_combinations(p: Known) -> str:
    """Return how often combinations of columns occur."""
    number = len(p["combinations"])
    if number == 1:
        return f"Every complete combination of {p['columns']} that occurs in the file occurs in at least {p['k']} records."
    return (
        f"Every value of the {number} checked combinations of {p['columns']} occurs in at least {p['k']} records. "
        "Combinations that were not checked may be rarer."
    )


def say_diversity(p: Known) -> str:
    """Return what a variant of l-diversity says of the records of one class."""
    column, least = p["sensitive"], f"{p['l']:g}"
    if p.get("variant", "distinct") == "entropy":
        return f"{p['within']} the values of {column} are at least as mixed as {least} equally frequent ones (by entropy)."
    if p.get("variant", "distinct") == "recursive":
        others = math.ceil(p["l"]) - 1
        rest = f"all but the {others} most frequent" if others > 1 else "all its other values"
        return (
            f"{p['within']} the most frequent value of {column} is less than {p.get('c', 3.0):g} times as frequent as "
            f"{rest} together."
        )
    return f"{p['within']} at least {least} different values of {column} occur. How frequent each is, is not claimed."


def say_few_keys(p: Known) -> str:
    """Return what somebody learns who knows a few keys."""
    least = "weights that sum to at least" if p.get("k_weight") else "at least"
    noun = "" if p.get("k_weight") else " records"
    return (
        f"Whoever knows at most {p['known']} of {p['columns']} of a person is left with {least} {p['k']:g}{noun}, of which no "
        f"value of {p['sensitive']} has a share above {p['confidence']:.4g}. Nothing is said of those who know more."
    )


def say_limits(limits: Mapping[str, str], p: Known) -> str:
    """Return the limits that a claim names."""
    return " and ".join(text.format(**p) for name, text in limits.items() if name in p)


def say_of_texts(sentence: str, p: Known) -> str:
    """Return what is said of texts, and of which columns."""
    return f"{sentence} ({p['columns']})." if p["columns"] else f"{sentence}."


#: The name of a claim, by model.
CLAIM_NAMES: Mapping[str, str] = {
    "k-anonymity": "{k}-anonymity",
    "k-combinations": "Combinations of at least {k}",
    "k-agreement": "Agreement of at least {k}",
    "l-agreement": "At least {l} different values",
    "weighted-k-anonymity": "Weights of at least {k:g}",
    "l-diversity": "{l:g}-diversity of {sensitive}",
    "t-closeness": "Closeness {t:g} of {sensitive}",
    "beta-likeness": "Small gains on {sensitive}",
    "delta-disclosure": "Small changes of {sensitive}",
    "bounded-share": "Shares of {sensitive} of at most {alpha:.4g}",
    "lkc-privacy": "Little to learn from {known} keys",
    "attack-risk": "Hard to find",
    "population-uniques": "Few are unique in the population",
    "k-map": "At least {k} people fit",
    "delta-presence": "Presence stays uncertain",
    "disclosed-cells": "At most {k:,} values shown",
    "decision-risk": "Expected loss as stated",
    "margins-met": "Weights meet known totals",
    "individual-risk": "Risk of re-identification",
    "suppressed-together": "Suppressed together",
    "constant-in-households": "Households kept whole",
    "whole-households": "Whole households",
    "constant-value": "One value for all",
    "geography-threshold": "No small places",
    "absent-digits": "Digits cut off",
    "numbered-in-order": "New numbers",
    "rules-kept": "Rules kept",
    "no-replicated-uniques": "No unique record repeated",
    "zcdp-margins": "Drawn from noisy margins",
    "zcdp": "Drawn with noise",
    "regression-output": "No saturated model",
    "within-limits": "Values within limits",
    "categories": "Agreed categories",
    "no-known-values": "No known value in its text",
    "no-formatted-identifiers": "No identifiers of a known form",
    "no-original-identifiers": "No original address or number",
    "absent-columns": "Columns left out",
    "channel-safety": "Channel safety",
    "additive": "The table adds up",
    "rounded": "Rounded to base {base:g}",
    "adjacent-multiples": "Adjacent multiples of {base:g}",
    "not-deducible": "Nothing follows exactly",
    "k-disclosure": "Groups are not given away",
    "open-sums": "Small sums stay open",
    "moved-far-enough": "Unsafe cells moved",
    "intervals-hold-the-truth": "Intervals hold the truth",
    "protected-by-published-intervals": "Protected by the published intervals",
    "protected-with-intervals": "Protected with the published intervals",
    "cell-keys": "Perturbed by cell keys",
    "no-small-counts": "No small counts",
    "protected-in-subtables": "Protected within each subtable",
    "protected-in-table": "Protected in the whole table",
    "protected-intervals": "Intervals wide enough",
}
#: What a claim says to readers, by model: text with what is known of it, or a function of that.
CLAIM_SENTENCES: Mapping[str, str | Callable[[Known], str]] = {
    "k-anonymity": "Every combination of {columns} that occurs in the file occurs in at least {k} records: nobody can "
    "be narrowed down to fewer by these columns.",
    "k-combinations": say_combinations,
    "k-agreement": lambda p: (
        f"Every record agrees with at least {p['k']} records on {p['sets']}, where a missing value agrees with every value."
        + (
            f" A combination without a missing value is shown by at least {p['k']} records."
            if p.get("in_full")
            else ""
        )
    ),
    "l-agreement": "Records that cannot be told apart by {sets} have at least {l} different values of {sensitive}.",
    "weighted-k-anonymity": "In every combination of {columns} that occurs in the file, the weights of the records sum "
    "to at least {k:g}: by the weights, at least so many people of the population share it.",
    "l-diversity": say_diversity,
    "t-closeness": lambda p: (
        f"{p['within']} the distribution of {p['sensitive']} is at most {p['t']:g} from that of all released records "
        f"({MOVED[p.get('distance', 'equal')]}; 0 is no difference, 1 the largest)."
    ),
    "beta-likeness": lambda p: (
        f"{p['within']} no value of {p['sensitive']} is more than {1 + p['beta']:g} times as frequent as among all released "
        f"records{ENHANCED if p.get('variant', 'enhanced') == 'enhanced' else '.'}"
    ),
    "delta-disclosure": lambda p: (
        f"{p['within']} every value of {p['sensitive']} {'that occurs ' if p.get('absent') == 'ignored' else ''}is less than "
        f"{2 ** p['delta']:.4g} times as frequent, and less than {2 ** p['delta']:.4g} times as rare, as among all released "
        "records."
    ),
    "bounded-share": lambda p: (
        f"{p['within']} no value of {p['sensitive']} "
        f"{'' if p.get('values') is None else 'that was named as sensitive '}belongs to more than {p['alpha']:.4g} of the "
        "class: nobody's value is more certain than that."
    ),
    "lkc-privacy": say_few_keys,
    "attack-risk": lambda p: f"By {p['columns']}, {say_limits(LIMITS_OF_ATTACKS, p)}.",
    "population-uniques": lambda p: (
        f"By {ESTIMATES.get(p['estimate'], 'a model of class sizes')}, at most {p['threshold']:.4g} of the "
        f"{p['population']:,} people of the population are estimated to be unique on {p['columns']}."
    ),
    "k-map": "By {columns}, every record fits at least {k:,} people of the population register that was compared. Who "
    "holds another register may be able to tell more.",
    "delta-presence": lambda p: (
        f"Who knows {p['columns']} of a person in the population register can say that the person is in the file with a "
        f"probability of at most {p['delta_max']:.4g}"
        + (f" and at least {p['delta_min']:.4g}." if p["delta_min"] > 0 else ".")
    ),
    "disclosed-cells": lambda p: (
        f"Of {p['columns']}, {PER.get(p['per'], 'the whole file does not show')} more than {p['k']:,} values."
    ),
    "decision-risk": "An intruder with one of the dictionaries that were tried, who picks among its rows that fit a "
    "record on {columns}, causes on average no more loss than the release's ledger says.",
    "margins-met": "The weights sum to the known totals by {about}; a record that lacks one of these columns may "
    "belong to any category.",
    "individual-risk": lambda p: (
        f"By the estimate of Benedetti and Franconi {say_limits(LIMITS_OF_RISKS, p)}, on {p['columns']}."
    ),
    "suppressed-together": "A missing value of {columns} can be read off neither other members of the household, nor a "
    "linked column, nor the number of records of the household.",
    "constant-in-households": "All members of a household show the same {columns}: a vote among them tells nothing of "
    "what was there before.",
    "whole-households": "Every household in the file has all its members: none was torn apart by the sampling.",
    "constant-value": lambda p: (
        f"Every record has the same {p['columns']}, {format_number(p['value'])}, which tells nothing of where it comes from."
    ),
    "geography-threshold": lambda p: (
        f"No place with fewer than {format_number(p['at_least'])} inhabitants can be told by {p['columns']}, also not by "
        "subtracting the places that are shown from those that hold them."
    ),
    "absent-digits": lambda p: (
        f"Codes in {p['columns']} have at most {format_number(p['keep'])} of their leading digits."
    ),
    "numbered-in-order": "Values of {columns} are 1, 2, ... in the order of the file and tell nothing of older "
    "numbers.",
    "rules-kept": "Every record keeps the rules about {columns}: structural values, combinations that cannot be, sums.",
    "no-replicated-uniques": "No record repeats an original one that is unique on {columns}; records that are nearly "
    "so are not counted.",
    "zcdp-margins": lambda p: (
        f"The records are drawn from {p['margins']} margins with noise: zero-concentrated differential privacy with "
        f"rho = {format_number(p['rho'])}."
    ),
    "zcdp": lambda p: (
        f"The plot of {p['columns']} is drawn from values with noise: zero-concentrated differential privacy with rho = "
        f"{p['rho']:.6g} for every {p['unit']}"
        + ("." if p["unit"] == "record" else f" of up to {p['members']:,} records.")
    ),
    "regression-output": "The fit of {columns} leaves at least {residual_df:,} residual degrees of freedom, so that no "
    "coefficient restates a record, and its standard errors follow from the released covariances.",
    "within-limits": lambda p: (
        f"No value of {p['columns']} lies "
        + " or ".join(
            f"{side} {format_number(p[name])}"
            for name, side in (("low", "below"), ("high", "above"))
            if p[name] is not None
        )
        + "."
    ),
    "categories": lambda p: (
        f"{p['columns']} holds only the {len(p['allowed'])} categories of the recoding."
    ),
    "no-known-values": functools.partial(
        say_of_texts,
        "Nothing of what the holder knows of a person, as far as it was declared, stands in the text about that person",
    ),
    "no-formatted-identifiers": lambda p: say_of_texts(
        f"No text holds {join_column_names([FORM_WORDS[f] for f in p['forms']], 'or')} as it is usually written",
        p,
    ),
    "no-original-identifiers": "No e-mail address, web address or phone number of an original text stands in the text "
    "made from it; those that stand there are made up.",
    "absent-columns": lambda p: (
        f"The {p['about']}, {p['columns']}, are not in the file."
        if p["several"]
        else f"The column {p['columns']} ({p['about']}) is not in the file."
    ),
    "channel-safety": lambda p: (
        "The share of each risky value that the counts by input channel let one expect among the people of an output channel "
        "is within its limit"
        + (
            f", and the weighted sum of these shares within {p['b']:g}"
            if p.get("b") is not None
            else ""
        )
        + ". Who is dealt to which channel is drawn, so the shares among the people actually dealt lie above or below what is "
        "expected, some of them perhaps above their limit."
    ),
    "additive": "Every total that is published is the sum of its published parts.",
    "rounded": "Every published value is a multiple of {base:g} and near to the true one.",
    "adjacent-multiples": "Every cell went to one of the two multiples of {base:g} around it, and multiples stayed.",
    "not-deducible": "No unsafe cell can be computed exactly from the published cells and the relations of the table. "
    "How closely it can be estimated is not claimed.",
    "k-disclosure": lambda p: (
        f"No {p['k']:,} or fewer people, putting the table and what they know of themselves together, learn from it that "
        "all others of a group fall into one category."
        if p["k"]
        else "The table does not tell of a group that all of it falls into one category."
    ),
    "open-sums": "Where the unsafe parts of a total have fewer than {n:,} contributors together, their sum cannot be "
    "computed from the published cells and the relations of the table.",
    "moved-far-enough": "The published value of every unsafe cell is at least as far from the true one as its "
    "protection level asks.",
    "intervals-hold-the-truth": "Every published interval holds the true value.",
    "protected-by-published-intervals": "Knowing all published values and intervals, an outsider still finds for every "
    "unsafe cell an interval that reaches its protection levels.",
    "protected-with-intervals": "Knowing all published values and intervals and all relations of the table, an "
    "outsider still finds for every unsafe cell an interval that reaches its protection levels.",
    "cell-keys": "Every published value is the true one plus what the perturbation table gives for the cell's key; the "
    "same cell has the same value wherever it is published.",
    "no-small-counts": lambda p: (
        f"No published count lies between 1 and {p['base'] - 1}."
        if "base" in p
        else "No published count is small."
    ),
    "protected-in-subtables": "In every subtable of one total and its parts in each dimension, unsafe cells are "
    "protected by a hypercube of hidden cells. Relations across subtables were not used against them.",
    "protected-in-table": "For every unsafe cell a movement of hidden cells that keeps all relations of the table "
    "shows the protection.",
    "protected-intervals": lambda p: (
        "For every unsafe cell, the interval that an outsider can compute from all relations of the table and all published "
        "cells reaches the cell's protection levels"
        + (
            "; nor can the only respondent of one cell deduce another"
            if p.get("singletons")
            else ""
        )
        + (
            " that is unsafe for more than its frequency"
            if p.get("singletons") and p.get("spared")
            else ""
        )
        + "."
    ),
}


def claim_name(claim: Claim, *, of_many: bool = False) -> str:
    """Return a claim as a short name, with its quasi-identifier where there are several of them."""
    if claim.model not in CLAIM_NAMES:
        return claim.model[:1].upper() + claim.model[1:]
    name = CLAIM_NAMES[claim.model].format(**claim.parameters)
    return (
        f"{name} on {claim.quasi_identifier}" if of_many and claim.model == "k-anonymity" else name
    )


def claim_sentence(claim: Claim) -> str:
    """Return what a claim says, for readers."""
    if claim.model in CLAIM_SENTENCES and (claim.columns or "corpus" in claim.about):
        said, known = CLAIM_SENTENCES[claim.model], known_of(claim)
        return said.format(**known) if isinstance(said, str) else said(known)
    return f"{claim.sentence()[:1].upper()}{claim.sentence()[1:]}."


def percent(share: float) -> str:
    """Return a share as a percentage that never rounds to none or all."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return "<0.1%" if share < 0.001 else f"{min(share, 0.999):.1%}"


def parameter(value: Any) -> str:
    """Return a parameter as it would be typed."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return shorten_text(", ".join(f"{k}: {parameter(v)}" for k, v in value.items()))
    if isinstance(value, list | tuple):
        return shorten_text(", ".join(parameter(v) for v in value))
    return shorten_text(format_number(value))


def shorten_text(text: str) -> str:
    """Return a text cut to a length that a table can hold."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2].rstrip()} …"


def on_lines(lines: Iterable[Words]) -> tuple[str | Mark, ...]:
    """Return words that stand on lines of their own."""
    found: list[str | Mark] = []
    for line in lines:
        found += ["\n"] if found else []
        found += parts(line)
    return tuple(found)


def sentence(text: str) -> str:
    """Return a remark as a sentence."""
    begun = text[:1].upper() + text[1:]
    return begun if begun.endswith((".", "!", "?")) else f"{begun}."


WITHHELD = (
    "These measures look at what is not released: the data before protection, a register, or true values. Beside the "
    "released data their figures would tell of what was taken out, so that they stay with the data holder."
)
OTHER_RELEASES = (
    "Another release of the same records, at other levels or with other columns, can be combined with "
    "this one. Protection must then be measured on both together."
)
NO_FORECAST = (
    "The measures describe the data at hand and the knowledge assumed. They do not forecast what will be "
    "published elsewhere later."
)
