"""The sentences of every report: claims, thresholds, parameters, numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tacit.report.document import Mark, Words, parts
from tacit.result import Result, format_number

if TYPE_CHECKING:
    from tacit.claims import Claim

LONGEST = 160

Sentence = Callable[["Claim"], str]


def join_column_names(columns: Sequence[str], last_by: str = "and") -> str:
    """Return column names, or other words, as a list in a sentence."""
    *most, last = columns
    return f"{', '.join(most)} {last_by} {last}" if most else last


def name_columns(claim: Claim) -> str:
    """Return the columns of a claim, or how many sets of them it is about."""
    sets = claim.parameters.get("combinations", ())
    of = join_column_names(claim.columns)
    return f"each of {len(sets)} combinations of {of}" if len(sets) > 1 else of


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


def within(claim: Claim) -> str:
    """Return the beginning of a sentence about every class."""
    return f"Among the records that share {join_column_names(claim.columns)},"


def say_diversity(p: Mapping[str, Any]) -> str:
    """Return what a variant of l-diversity says of the records of one class."""
    column, least = p["sensitive"], f"{p['l']:g}"
    if p.get("variant", "distinct") == "entropy":
        return f"the values of {column} are at least as mixed as {least} equally frequent ones (by entropy)."
    if p.get("variant", "distinct") == "recursive":
        others = math.ceil(p["l"]) - 1
        rest = f"all but the {others} most frequent" if others > 1 else "all its other values"
        return f"the most frequent value of {column} is less than {p.get('c', 3.0):g} times as frequent as {rest} together."
    return f"at least {least} different values of {column} occur. How frequent each is, is not claimed."


CLAIMS: dict[str, tuple[str, Sentence]] = {
    "k-anonymity": (
        "{k}-anonymity",
        lambda c: (
            f"Every combination of {join_column_names(c.columns)} that occurs in the file occurs in at least "
            f"{c.parameters['k']} records: nobody can be narrowed down to fewer by these columns."
        ),
    ),
    "k-combinations": (
        "Combinations of at least {k}",
        lambda c: (
            (
                f"Every complete combination of {join_column_names(c.columns)} that occurs in the file occurs in at least "
                f"{c.parameters['k']} records."
            )
            if len(c.parameters["combinations"]) == 1
            else (
                f"Every value of the {len(c.parameters['combinations'])} checked combinations of "
                f"{join_column_names(c.columns)} occurs in at least {c.parameters['k']} records. Combinations that were not "
                "checked may be rarer."
            )
        ),
    ),
    "k-agreement": (
        "Agreement of at least {k}",
        lambda c: (
            f"Every record agrees with at least {c.parameters['k']} records on {name_columns(c)}, where a "
            "missing value agrees with every value."
            + (
                f" A combination without a missing value is shown by at least {c.parameters['k']} records."
                if c.parameters.get("in_full")
                else ""
            )
        ),
    ),
    "l-agreement": (
        "At least {l} different values",
        lambda c: (
            f"Records that cannot be told apart by {name_columns(c)} have at least {c.parameters['l']} different "
            f"values of {c.parameters['sensitive']}."
        ),
    ),
    "weighted-k-anonymity": (
        "Weights of at least {k:g}",
        lambda c: (
            f"In every combination of {join_column_names(c.columns)} that occurs in the file, the weights of the records sum to "
            f"at least {c.parameters['k']:g}: by the weights, at least so many people of the population share it."
        ),
    ),
    "l-diversity": (
        "{l:g}-diversity of {sensitive}",
        lambda c: f"{within(c)} {say_diversity(c.parameters)}",
    ),
    "t-closeness": (
        "Closeness {t:g} of {sensitive}",
        lambda c: (
            f"{within(c)} the distribution of {c.parameters['sensitive']} is at most {c.parameters['t']:g} from that of all "
            f"released records ({MOVED[c.parameters.get('distance', 'equal')]}; 0 is no difference, 1 the largest)."
        ),
    ),
    "beta-likeness": (
        "Small gains on {sensitive}",
        lambda c: (
            f"{within(c)} no value of {c.parameters['sensitive']} is more than {1 + c.parameters['beta']:g} times as frequent as "
            "among all released records"
            + (
                "; for frequent values the limit is lower (a share q may grow to q (1 - ln q))."
                if c.parameters.get("variant", "enhanced") == "enhanced"
                else "."
            )
        ),
    ),
    "delta-disclosure": (
        "Small changes of {sensitive}",
        lambda c: (
            f"{within(c)} every value of {c.parameters['sensitive']} "
            + ("that occurs " if c.parameters.get("absent", "violates") == "ignored" else "")
            + f"is less than {2 ** c.parameters['delta']:.4g} times as frequent, and less than {2 ** c.parameters['delta']:.4g} "
            "times as rare, as among all released records."
        ),
    ),
    "bounded-share": (
        "Shares of {sensitive} of at most {alpha:.4g}",
        lambda c: (
            f"{within(c)} no value of {c.parameters['sensitive']} "
            + ("that was named as sensitive " if c.parameters.get("values") is not None else "")
            + f"belongs to more than {c.parameters['alpha']:.4g} of the class: nobody's value is more certain than that."
        ),
    ),
    "lkc-privacy": (
        "Little to learn from {known} keys",
        lambda c: (
            f"Whoever knows at most {c.parameters['known']} of {join_column_names(c.columns)} of a person is left with "
            + (
                f"weights that sum to at least {c.parameters['k']:g}"
                if c.parameters.get("k_weight")
                else f"at least {c.parameters['k']:g} records"
            )
            + f", of which no value of {c.parameters['sensitive']} has a share above {c.parameters['confidence']:.4g}. "
            "Nothing is said of those who know more."
        ),
    ),
    "attack-risk": (
        "Hard to find",
        lambda c: (
            f"By {join_column_names(c.columns)}, "
            + " and ".join(
                text.format(**c.parameters)
                for name, text in LIMITS_OF_ATTACKS.items()
                if name in c.parameters
            )
            + "."
        ),
    ),
    "population-uniques": (
        "Few are unique in the population",
        lambda c: (
            f"By {ESTIMATES.get(c.parameters['estimate'], 'a model of class sizes')}, at most {c.parameters['threshold']:.4g} of the "
            f"{c.parameters['population']:,} people of the population are estimated to be unique on {join_column_names(c.columns)}."
        ),
    ),
    "k-map": (
        "At least {k} people fit",
        lambda c: (
            f"By {join_column_names(c.columns)}, every record fits at least {c.parameters['k']:,} people of the population "
            "register that was compared. Who holds another register may be able to tell more."
        ),
    ),
    "delta-presence": (
        "Presence stays uncertain",
        lambda c: (
            f"Who knows {join_column_names(c.columns)} of a person in the population register can say that the person is in "
            f"the file with a probability of at most {c.parameters['delta_max']:.4g}"
            + (
                f" and at least {c.parameters['delta_min']:.4g}."
                if c.parameters["delta_min"] > 0
                else "."
            )
        ),
    ),
    "disclosed-cells": (
        "At most {k:,} values shown",
        lambda c: (
            f"Of {join_column_names(c.columns)}, "
            + {"record": "no record shows", "attribute": "no column shows"}.get(
                c.parameters["per"], "the whole file does not show"
            )
            + f" more than {c.parameters['k']:,} values."
        ),
    ),
    "decision-risk": (
        "Expected loss as stated",
        lambda c: (
            f"An intruder with one of the dictionaries that were tried, who picks among its rows that fit a record on "
            f"{join_column_names(c.columns)}, causes on average no more loss than the release's ledger says."
        ),
    ),
    "margins-met": (
        "Weights meet known totals",
        lambda c: (
            f"The weights sum to the known totals by {c.quasi_identifier}; a record that lacks one of these columns may belong to any "
            "category."
        ),
    ),
    "individual-risk": (
        "Risk of re-identification",
        lambda c: (
            "By the estimate of Benedetti and Franconi "
            + " and ".join(
                [
                    *(
                        [
                            f"no record has a risk of re-identification above {c.parameters['threshold']:g}"
                        ]
                        if "threshold" in c.parameters
                        else []
                    ),
                    *(
                        [f"the average risk is at most {c.parameters['average']:g}"]
                        if "average" in c.parameters
                        else []
                    ),
                ]
            )
            + f", on {join_column_names(c.columns)}."
        ),
    ),
    "suppressed-together": (
        "Suppressed together",
        lambda c: (
            f"A missing value of {join_column_names(c.columns)} can be read off neither other members of the household, "
            "nor a linked column, nor the number of records of the household."
        ),
    ),
    "constant-in-households": (
        "Households kept whole",
        lambda c: (
            f"All members of a household show the same {join_column_names(c.columns)}: a vote among them tells nothing of "
            "what was there before."
        ),
    ),
    "whole-households": (
        "Whole households",
        lambda _: (
            "Every household in the file has all its members: none was torn apart by the sampling."
        ),
    ),
    "constant-value": (
        "One value for all",
        lambda c: (
            f"Every record has the same {join_column_names(c.columns)}, {format_number(c.parameters['value'])}, which tells nothing of where it comes from."
        ),
    ),
    "geography-threshold": (
        "No small places",
        lambda c: (
            f"No place with fewer than {format_number(c.parameters['at_least'])} inhabitants can be told by {join_column_names(c.columns)}, also not by "
            "subtracting the places that are shown from those that hold them."
        ),
    ),
    "absent-digits": (
        "Digits cut off",
        lambda c: (
            f"Codes in {join_column_names(c.columns)} have at most {format_number(c.parameters['keep'])} of their leading digits."
        ),
    ),
    "numbered-in-order": (
        "New numbers",
        lambda c: (
            f"Values of {join_column_names(c.columns)} are 1, 2, ... in the order of the file and tell nothing of older numbers."
        ),
    ),
    "rules-kept": (
        "Rules kept",
        lambda c: (
            f"Every record keeps the rules about {join_column_names(c.columns)}: structural values, combinations that "
            "cannot be, sums."
        ),
    ),
    "no-replicated-uniques": (
        "No unique record repeated",
        lambda c: (
            f"No record repeats an original one that is unique on {join_column_names(c.columns)}; records that are nearly "
            "so are not counted."
        ),
    ),
    "zcdp-margins": (
        "Drawn from noisy margins",
        lambda c: (
            f"The records are drawn from {c.parameters['margins']} margins with noise: zero-concentrated differential "
            f"privacy with rho = {format_number(c.parameters['rho'])}."
        ),
    ),
    "zcdp": (
        "Drawn with noise",
        lambda c: (
            f"The plot of {join_column_names(c.columns)} is drawn from values with noise: zero-concentrated differential "
            f"privacy with rho = {c.parameters['rho']:.6g} for "
            + (
                "every record."
                if c.parameters["unit"] == "record"
                else f"every {c.parameters['unit']} of up to {c.parameters['members']:,} records."
            )
        ),
    ),
    "regression-output": (
        "No saturated model",
        lambda c: (
            f"The fit of {join_column_names(c.columns)} leaves at least {c.parameters['residual_df']:,} residual degrees of "
            "freedom, so that no coefficient restates a record, and its standard errors follow from the released covariances."
        ),
    ),
    "within-limits": (
        "Values within limits",
        lambda c: (
            f"No value of {join_column_names(c.columns)} lies "
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
            f"{join_column_names(c.columns)} holds only the {len(c.parameters['allowed'])} categories of the recoding."
        ),
    ),
    "no-known-values": (
        "No known value in its text",
        lambda c: (
            "Nothing of what the holder knows of a person, as far as it was declared, stands in the text about that person"
            + (f" ({join_column_names(c.columns)})." if c.columns else ".")
        ),
    ),
    "no-formatted-identifiers": (
        "No identifiers of a known form",
        lambda c: (
            "No text holds "
            + join_column_names([FORM_WORDS[f] for f in c.parameters["forms"]], "or")
            + " as it is usually written"
            + (f" ({join_column_names(c.columns)})." if c.columns else ".")
        ),
    ),
    "no-original-identifiers": (
        "No original address or number",
        lambda c: (  # noqa: ARG005
            "No e-mail address, web address or phone number of an original text stands in the text made from it; those "
            "that stand there are made up."
        ),
    ),
    "absent-columns": (
        "Columns left out",
        lambda c: (
            f"The {c.quasi_identifier}, {join_column_names(c.columns)}, are not in the file."
            if len(c.columns) > 1
            else f"The column {join_column_names(c.columns)} ({c.quasi_identifier}) is not in the file."
        ),
    ),
    "channel-safety": (
        "Channel safety",
        lambda c: (
            "The share of each risky value that the counts by input channel let one expect among the people "
            "of an output channel is within its limit"
            + (
                ""
                if c.parameters.get("b") is None
                else f", and the weighted sum of these shares within {c.parameters['b']:g}"
            )
            + ". Who is dealt to which channel is drawn, so the shares among the people actually dealt "
            "lie above or below what is expected, some of them perhaps above their limit."
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
    "k-disclosure": (
        "Groups are not given away",
        lambda c: (
            f"No {c.parameters['k']:,} or fewer people, putting the table and what they know of "
            "themselves together, learn from it that all others of a group fall into one category."
            if c.parameters["k"]
            else "The table does not tell of a group that all of it falls into one category."
        ),
    ),
    "open-sums": (
        "Small sums stay open",
        lambda c: (
            f"Where the unsafe parts of a total have fewer than {c.parameters['n']:,} contributors together, their sum cannot be "
            "computed from the published cells and the relations of the table."
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
                "; nor can the only respondent of one cell deduce another"
                + (
                    " that is unsafe for more than its frequency."
                    if c.parameters.get("spared")
                    else "."
                )
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
    """Return what a claim says, for readers."""
    if claim.model in CLAIMS and (claim.columns or "corpus" in claim.about):
        return CLAIMS[claim.model][1](claim)
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


def describe_missed_threshold(result: Result) -> str:
    """Return in which respect a result misses the threshold of its own measure; empty when it does not."""
    return f"{result.shortfall}." if result.shortfall else ""


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
