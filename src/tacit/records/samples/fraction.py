"""The size of the population from which a sample was drawn, in whichever way it was given."""

from __future__ import annotations

from tacit.errors import InputError


def population_size(
    kind: str, records: int, population: int | None, fraction: float | None
) -> int | None:
    """Return N from ``population`` or ``sampling_fraction``; None when neither was given."""
    if population is not None and fraction is not None:
        raise InputError(f"{kind}: give population= or sampling_fraction=, not both.")
    if records == 0:
        raise InputError(f"{kind}: there are no records.")
    if fraction is not None:
        return max(round(records / fraction), records)
    if population is not None and population < records:
        raise InputError(
            f"{kind}: population = {population:,} is smaller than the file. "
            "Give the number of people from whom the sample was drawn."
        )
    return population
