"""Numbers as people write them: without the dust of binary arithmetic, and without exponents."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats

#: Beyond this many decimals a column is a measurement, not an amount, and keeps all its digits.
MOST_DECIMALS = 9

#: How far, relative to its size, a sum of amounts may lie from the amount that it is.
DUST = 1e-12


def tidy_numbers(values: Floats, decimals: int | None = None) -> Floats:
    """Return numbers rounded to the given decimals, else to the fewest that hold them all."""
    places = decimals_of(values) if decimals is None else decimals
    if places is None:
        return values + 0.0
    return np.round(values, places) + 0.0


def decimals_of(values: Floats) -> int | None:
    """Return the fewest decimals that hold every value up to the error of adding; None: too many."""
    known = values[np.isfinite(values)]
    allowed = DUST * np.maximum(1.0, np.abs(known))
    for places in range(MOST_DECIMALS + 1):
        if bool((np.abs(known - np.round(known, places)) <= allowed).all()):
            return places
    return None


def decimals_needed(values: Floats) -> int:
    """Return the decimals to write, at most nine."""
    places = decimals_of(values)
    return MOST_DECIMALS if places is None else places


def decimals_shown(values: Floats, digits: int = 6) -> int:
    """Return the decimals to print: those of the values, or what leaves about six digits of the largest."""
    places = decimals_of(values)
    if places is not None:
        return places
    largest = float(np.nanmax(np.abs(values)))
    return int(np.clip(digits - 1 - np.floor(np.log10(largest)), 0, MOST_DECIMALS))


def format_all_digits(value: float) -> str:
    """Return a number with all its digits and no exponent."""
    return np.format_float_positional(value + 0.0, trim="-")
