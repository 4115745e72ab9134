"""Which families of techniques a release uses, and what follows for who reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tacit.registry import lookup

#: Families of techniques that the report of a sample answers for: packages of methods, or kinds.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "sampling": ("sample", "sample_households"),
    "recoding": (
        *("tacit.records.generalisation.", "tacit.records.classes.anonymise."),
        *("delete_digits", "geography_threshold", "mu_argus"),
    ),
    "swapping": ("swap_households", "swap_records", "swap", "rank_swap", "microaggregated_swap"),
    "microaggregation": ("tacit.records.microaggregation.", "microaggregated_swap"),
    "PRAM": ("tacit.records.pram.",),
}
#: What a swap of households means.
UNCERTAIN_PLACE = (
    "An undisclosed number of households exchanged their places with households of the same size and make-up elsewhere. "
    "Nobody can claim with certainty that a household lived where the file says."
)


def families_used(kinds: Iterable[str]) -> dict[str, bool]:
    """Return which of sampling, recoding, swapping, microaggregation and PRAM steps of some kinds use."""
    listed = list(kinds)
    return {
        name: any(belongs(kind, family) for kind in listed for family in families)
        for name, families in FAMILIES.items()
    }


def belongs(kind: str, family: str) -> bool:
    """Return True when a step is of a kind, or lives in a package."""
    return lookup(kind).__module__.startswith(family) if family.endswith(".") else kind == family


def describe_techniques(kinds: Iterable[str]) -> list[str]:
    """Return sentences for the public report of a sample of households, or of one whose places were swapped."""
    listed = list(kinds)
    found = []
    if "sample_households" in listed:
        used = families_used(listed)
        told = {flag: [n for n, is_used in used.items() if is_used is flag] for flag in (True, False)}  # fmt: skip
        found.append(f"Used: {', '.join(told[True])}. Not used: {', '.join(told[False]) or 'none'}.")  # fmt: skip
    if "swap_households" in listed:
        found.append(UNCERTAIN_PLACE)
    return found
