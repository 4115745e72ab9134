"""Texts that go with a census sample: the licence, and what the public may know of the controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.census.access import CONDITIONS, YEAR
from tacit.governance import BLANK, one_line
from tacit.plan import Plan
from tacit.report.controls import UNCERTAIN_PLACE, families_used

LICENCE = """\
# Licence for restricted census microdata

**{archive}** (the archive) grants **{name}** of **{institution}** (the user) access to extracts of: {data}.

Purpose: {purpose}

The licence begins on {granted} and ends on {expires}. It lasts one year ({days} days) and may be renewed on request. When it ends, every copy is
destroyed and the archive is told so.

## Conditions

{conditions}

## Extracts

Data are given as extracts: countries, censuses, subpopulations and variables that the research needs, never whole files. Each extract
is logged with the user's name, what was asked for and when it expires, and is protected by a password that is not passed on.

## Liability of the institution

The institution stands for what its member does. It has been told of this licence, keeps an office that investigates
misconduct ({ethics}), and takes part in the sanctions: on a violation the archive withdraws access from the user and may
withdraw it from everybody at the institution, tells the institution and the statistical office that owns the data, and the
laws of both countries apply. An allegation that a person can be or has been identified in the data counts as a
violation, whether it is true or not.

## Signatures

| For the archive | The user | For the institution |
|---|---|---|
| Name: {blank} | Name: {blank} | Name: {blank} |
| Date: {blank} | Date: {blank} | Date: {blank} |
| Signature: {blank} | Signature: {blank} | Signature: {blank} |

This is a draft for those who may sign, and no legal advice.
"""


def licence(
    archive: str = "",
    name: str = "",
    institution: str = "",
    data: Sequence[str] = (),
    purpose: str = "",
    granted: str = "",
    expires: str = "",
    ethics: str = "",
) -> str:
    """Return the licence as a Markdown draft: seven conditions, one year, liability of the institution.

    What is not given is left as a line to fill in.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), PSD 2006, LNCS 4302, 375-382, section 4.
    """
    texts = {
        "archive": archive,
        "name": name,
        "institution": institution,
        "data": ", ".join(data),
        "purpose": purpose,
        "granted": granted,
        "expires": expires,
        "ethics": ethics,
    }
    numbered = [f"{i}. {text}" for i, text in enumerate(CONDITIONS.values(), 1)]
    return LICENCE.format(
        **{n: one_line(text) or BLANK for n, text in texts.items()},
        conditions="\n".join(numbered),
        days=YEAR,
        blank=BLANK,
    )


def techniques_used(plan: Plan) -> dict[str, bool]:
    """Return which of sampling, recoding, swapping, microaggregation and PRAM the steps use."""
    return families_used(step.kind for step in plan.steps)


def describe_controls(plan: Plan) -> str:
    """Return what the public may know of the controls, as Markdown; how many households were swapped is not in it."""
    steps: dict[str, list[Any]] = {}
    for step in plan.steps:
        steps.setdefault(step.kind, []).append(step)
    used = techniques_used(plan)
    lines = [
        f"# {plan.title or 'Technical controls'}",
        "",
        *control_lines(steps),
        "",
        "| technique | used |",
        "|---|---|",
        *(f"| {name} | {'yes' if flag else 'no'} |" for name, flag in used.items()),
    ]
    absent = [name for name in ("microaggregation", "PRAM") if not used[name]]
    if absent:
        lines += ["", f"No values were changed by {' or '.join(absent)}."]
    return "\n".join(lines) + "\n"


def control_lines(steps: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return a sentence for each control."""
    found = []
    if "deidentify" in steps:
        found.append("Names, addresses and other direct identifiers were removed.")
    for step in steps.get("sample_households", ()):
        if step.households is not None:
            share, weight = f"{step.households:,} of them", "all households over those taken"
        else:
            share, weight = (
                f"{100 / float(step.step):.3g} per cent of them",
                f"{float(step.step):g}",
            )
        if step.restart:
            weight = "households of each unit over those taken"
        strata = "" if step.group is None else "; pseudo-strata serve variance estimation"
        found.append(
            f"The file is a systematic sample of whole households, {share}, spread over the country by "
            f"geographic order. Every record has the weight {weight}{strata}."
        )
    found += [
        "All administrative geography was removed."
        if step.threshold is None
        else f"Places with fewer than {step.threshold:,} inhabitants are not shown; they were pooled so that none can be told by subtraction."
        for step in steps.get("geography_threshold", ())
    ]
    if "swap_households" in steps:
        found.append(UNCERTAIN_PLACE)
    found += [
        f"Extreme values of {step.column} were coded together."
        for step in steps.get("top_bottom_code", ())
    ]
    for step in steps.get("delete_digits", ()):
        kept = ", ".join(f"{c} ({n})" for c, n in step.keep.items())
        found.append(f"Codes keep only their leading digits: {kept}.")
    for step in steps.get("remove_columns", ()):
        named = ", ".join(step.columns)
        found.append(
            f"Left out: {named}{' and ' if named and step.sensitive else ''}{'variables that the office holds sensitive' if step.sensitive else ''}."
        )
    if "shuffle_households" in steps:
        found.append("Households stand in random order under new numbers.")
    return [f"- {line}" for line in found]
