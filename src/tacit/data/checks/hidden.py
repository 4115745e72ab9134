"""The values that a release hides: which they are, where they are hidden, and what their order means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Flags, Ints
from tacit.data.checks.readings import as_amounts, in_numbers
from tacit.data.microdata import Microdata
from tacit.data.values import is_number
from tacit.engine.coded import Coded

#: Whole numbers that lie between running numbers and are none of them, to each of these, at most.
GAPS = 1.0
#: Originals among the records with a changed value, to each of these, that leave it open which are changed.
SELDOM = 0.1


@dataclass(frozen=True, eq=False)
class Hidden:
    """The hidden values of a column: codes of the originals for each released record, and where they are hidden."""

    name: str
    #: codes, values: the originals: codes in the order of what the values mean, and the values themselves.
    codes: Ints
    values: pa.Array
    #: Where the release does not show the original.
    at: Flags
    #: Where there is an original.
    known: Flags
    #: Where a relation must hold: where the original is hidden, and where nobody can see that it is not.
    judged: Flags
    #: True for running numbers of records: they are told only where few are left.
    running: bool = False
    #: Whether the released column holds changed values, which may still stand in the order of the originals.
    masked: bool = True


def hidden_values(
    original: Microdata,
    released: Microdata,
    column: str,
    place: Ints,
    both: Flags,
    *,
    later: bool = False,
) -> Hidden | None:
    """Return the hidden values of a column, or all values where some are hidden ``later``; None where all are shown."""
    old = original.codes(column)
    codes = old.codes[place].astype(np.int64)
    known = both & (codes != old.null)
    at = judged = known
    if column in released.columns and not later:
        shown = released.codes(column)
        at = known & (codes != codes_among(shown, old.values))
        judged = at | (known & in_doubt(shown, at, known))
    if at.sum() < 2:
        return None
    single = len(old.values) == (old.codes != old.null).sum()
    running = single and are_running(old.values)
    codes, values = by_meaning(codes, old.values)
    return Hidden(column, codes, values, at, known, judged, running, masked=not later)


def are_running(values: pa.Array) -> bool:
    """Return True for different whole numbers, or texts that say such, most of which follow each other."""
    if pa.types.is_integer(values.type):
        numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
    else:
        found = as_amounts(values) if pa.types.is_string(values.type) and len(values) else None
        if found is None:
            return False
        numbers = found
    whole = bool((numbers == np.floor(numbers)).all())
    return whole and len(numbers) > 0 and np.ptp(numbers) + 1 <= (1 + GAPS) * len(numbers)


def in_doubt(shown: Coded, at: Flags, known: Flags) -> Flags:
    """Return the records whose shown value is sometimes the original and sometimes not, as after a swap.

    A missing value or a limit at which values were cut is seldom the original: whoever reads it knows that something is hidden.
    """
    changed = np.bincount(shown.codes[at], minlength=shown.size)
    true = np.bincount(shown.codes[known & ~at], minlength=shown.size)
    doubtful = (changed > 0) & (true > SELDOM * changed)
    doubtful[shown.null] = False
    found: Flags = doubtful[shown.codes]
    return found


def by_meaning(codes: Ints, values: pa.Array) -> tuple[Ints, pa.Array]:
    """Return codes and values in the order of the numbers or dates that texts say; as they are where these say none."""
    numbers = in_numbers(values) if pa.types.is_string(values.type) else None
    if numbers is None:
        return codes, values
    order = np.argsort(numbers, kind="stable")
    rank = np.append(np.argsort(order, kind="stable"), len(values))
    return rank[codes], values.take(pa.array(order))


def codes_among(new: Coded, values: pa.Array) -> Ints:
    """Return released values as codes of the original ones; -1 for what is none of them."""
    shown = new.values
    if shown.type != values.type:
        number = is_number(shown.type) and is_number(values.type)
        common = pa.float64() if number else pa.string()
        shown, values = shown.cast(common, safe=False), values.cast(common, safe=False)
    found = pc.fill_null(pc.index_in(shown, value_set=values), -1).to_numpy(zero_copy_only=False)
    return np.append(found.astype(np.int64), -1)[new.codes]


def drawn_labels(data: Microdata) -> set[str]:
    """Return the columns whose values are drawn names for groups: they tell nothing by themselves."""
    noted = {
        c
        for a in data.history
        for n in ("drawn_labels", "new_numbers")
        for c in a.details.get(n, ())
    }
    named = {
        c
        for a in data.history
        if a.kind in ("pseudonymise", "substitute")
        for c in a.details.get("columns", ())
    }
    roles = {c for c in (data.household, data.copies) if c is not None}
    return noted | named | roles
