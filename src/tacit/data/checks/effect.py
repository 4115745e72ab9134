"""Whether a step that was to protect did: what changed nothing is refused, what changed too little is said.

A step that perturbs (noise, swapping, rounding, PRAM, sampling) protects by what it changes and by nothing else. It is
judged as an intruder would who holds the original: a category is as it was, or a number still stands between the
same neighbours, so that whoever sorts the file finds its record again. A step that looks for what needs protection
(local suppression, top coding, recoding to a threshold) may find nothing, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Flags, Floats
from tacit.data.fingerprint import digests
from tacit.data.microdata import Microdata
from tacit.data.paired import has_twins, shared_positions, thin_out
from tacit.data.values import is_number
from tacit.engine.base import ROW

#: Techniques that protect only by changing values, in the words of the methods.
PERTURBS = frozenset(
    (
        "additive noise",
        "multiplicative noise",
        "masking in stages",
        "random orthogonal matrix masking",
        "perturbation",
        "swap values",
        "substitution at random",
        "rounding",
        "synthetic values",
        "sampling",
    )
)
#: Of these, those that are to change most values of their columns, or a stated share: how much can be judged.
JUDGED = PERTURBS - {"sampling", "synthetic values"}
#: Of these, those that leave many records as they are: that some may have changed makes all doubtful.
SOME_CHANGE = frozenset(("swap values", "substitution at random"))
#: Techniques that protect by groups as well, so that small changes may do.
NOT_JUDGED = frozenset(("microaggregation",))
#: Fewer records may be left as they are by chance alone.
FEWEST = 20
#: Less than this share of categories changed, or of the file between a number's old and new place on average, is weak.
SHARE, PLACES = 0.01, 0.002
#: Rounding is to make values equal; where it made none equal, it must have moved them by this share of their spread.
MOVED = 1e-4
#: Where only some records are to change, fewer than that share may by chance alone: how improbable it must be to be weak.
BY_CHANCE = 0.05
#: So many different numbers at most are codes of categories.
CATEGORIES = 50

NOTHING = (
    "{kind} changed nothing: with these parameters it cannot protect {what} of these data, which would be released as they "
    "are. Choose stronger parameters, or leave the step out."
)
WEAK = "{kind}: {what} hardly changed, so that most records can be told by it as before; choose stronger parameters"


def perturbs(techniques: Sequence[str]) -> bool:
    """Return True for a step that protects by changing values alone, and not only the outliers that it finds."""
    return bool(PERTURBS.intersection(techniques)) and "outlier protection" not in techniques


def is_unchanged(before: Microdata, after: Microdata, targets: Sequence[str]) -> bool:
    """Return True when a step left every record and every value of its columns as it was."""
    if list(before.columns) != list(after.columns) or len(before) != len(after):
        return False
    names = [c for c in targets if c in before.columns] or list(before.columns)
    old, new = (d.to_arrow(names, with_row=True) for d in thin_out(before, after))
    if not all(same_values(old.column(c), new.column(c)) for c in (*names, ROW)):
        return False
    return len(old) == len(before) or same_digests(before, after, names)


def same_digests(before: Microdata, after: Microdata, names: Sequence[str]) -> bool:
    """Return True when the columns and the row numbers of two large files are the same, read batch by batch."""
    wanted = [*names, ROW]
    schemas = [d.frame.collect_schema() for d in (before, after)]
    numbers = [c for c in names if all(s[c].is_numeric() for s in schemas)]
    plain = [nw.col(c).cast(nw.Float64) if c in numbers else nw.col(c) for c in wanted]
    one, other = (digests(d.with_frame(d.frame.select(*plain))) for d in (before, after))
    return one == other


def same_values(old: pa.ChunkedArray, new: pa.ChunkedArray) -> bool:
    """Return True when two columns hold the same values, whatever their types of number."""
    if old.type != new.type:
        if not (is_number(old.type) and is_number(new.type)):
            return False
        old, new = as_floats(old), as_floats(new)
        return bool(np.array_equal(old, new, equal_nan=True))
    return bool(old.equals(new))


def weak_columns(
    before: Microdata,
    after: Microdata,
    targets: Sequence[str],
    techniques: Sequence[str],
    stated: float | None = None,
) -> Iterator[str]:
    """Yield the columns whose values a step has hardly changed; ``stated`` is the share that it was to change, where it says so."""
    some_change = bool(SOME_CHANGE.intersection(techniques))
    # What was asked for is too little: that few changed is no accident.
    by_chance = some_change and (stated is None or stated >= SHARE)
    together = changed_together(before, techniques) if some_change else 1.0
    names = [c for c in targets if c in before.columns and c in after.columns]
    if not names:
        return
    old, new = (d.to_arrow(names, with_row=True) for d in thin_out(before, after))
    if has_twins(new):
        return
    here, there = shared_positions(*(t.column(ROW).to_numpy() for t in (old, new)))
    if len(here) < FEWEST:
        return
    for name in names:
        a, b = old.column(name).take(pa.array(here)), new.column(name).take(pa.array(there))
        if len(pc.unique(a.drop_null())) < 2:
            continue  # one value for all tells nobody apart
        if "rounding" in techniques:
            weak = is_number(a.type) and is_number(b.type) and is_fine(as_floats(a), as_floats(b))
        elif is_number(a.type) and is_number(b.type):
            draws = together if by_chance else None
            weak = is_weak_noise(as_floats(a), as_floats(b), some_change, draws)
        else:
            known = len(a) - a.null_count
            weak = are_few(share_changed(a, b), known / together if by_chance else None)
        if weak:
            yield name


def changed_together(data: Microdata, techniques: Sequence[str]) -> float:
    """Return how many records change at a time: both of a pair, and every member of a household on average."""
    pair = 2 if "swap values" in techniques else 1
    if data.household is None or not len(data):
        return pair
    homes = data.to_arrow([data.household]).column(0)
    return pair * max(1.0, len(homes) / max(1, pc.count_distinct(homes).as_py()))


def are_few(share: float, draws: float | None) -> bool:
    """Return True when less than ``SHARE`` changed, and so few as chance does not explain where each draw may change one.

    >>> are_few(0.0, None), are_few(0.0, 50), are_few(0.0, 400)
    (True, False, True)
    """
    if share >= SHARE or draws is None:
        return share < SHARE
    # Chernoff's bound on the probability that a Poisson number with this mean is so small.
    found, mean = share * draws, SHARE * draws
    return found - mean + (found * math.log(mean / found) if found else 0.0) < math.log(BY_CHANCE)


def is_weak_noise(
    old: Floats, new: Floats, some_change: bool = False, together: float | None = None
) -> bool:
    """Return True when numbers hardly move; codes of a few categories are judged by the nearest code.

    Where only some records are to change, enough of them must, and these are judged by how far they move. Where as many
    change ``together``, that few did may be chance.
    """
    known = ~np.isnan(old)
    draws = None if together is None else known.sum() / together
    codes = np.unique(old[~np.isnan(old)])
    if len(codes) > min(CATEGORIES, len(old) / 10):
        if some_change:
            changed = known & (old != new)
            if are_few(changed.sum() / max(1, known.sum()), draws):
                return True
            if not changed.any():
                return False
            return places_moved(old, new, changed) < PLACES
        return places_moved(old, new) < PLACES
    middles = (codes[1:] + codes[:-1]) / 2
    same = np.searchsorted(middles, old[known]) == np.searchsorted(middles, new[known])
    moved = float((~same | np.isnan(new[known])).mean()) if known.any() else 1.0
    return are_few(moved, draws)


def is_fine(old: Floats, new: Floats) -> bool:
    """Return True when rounding left all numbers different and hardly moved them.

    >>> is_fine(np.array([1.2, 700.4, 9000.1]), np.array([1.0, 700.0, 9000.0]))
    True
    >>> is_fine(np.array([1.2, 700.4, 9000.1]), np.array([0.0, 1000.0, 9000.0]))
    False
    """
    known = ~np.isnan(old) & ~np.isnan(new)
    if not known.any() or len(np.unique(new[known])) < len(np.unique(old[known])):
        return False
    return bool(np.abs(new - old)[known].mean() < MOVED * old[known].std())


def places_moved(old: Floats, new: Floats, asked: Flags | None = None) -> float:
    """Return the mean share of the file between a number's place in the sorted column and its new one.

    A number that stays between its neighbours has not moved. The mean is that of all records, or of those asked for.

    >>> places_moved(np.array([1.0, 2, 3, 4]), np.array([1.4, 1.6, 3.2, 3.9]))
    0.0
    >>> places_moved(np.array([1.0, 2, 3, 4]), np.array([2.5, 2, 3, 4]))
    0.0625
    """
    known = ~np.isnan(old)
    if not known.any():
        return 1.0
    ordered = np.sort(old[known])
    judged = known if asked is None else asked
    x, y = old[judged], new[judged]
    low, high = np.searchsorted(ordered, x, "left"), np.searchsorted(ordered, x, "right")
    first, last = np.searchsorted(ordered, y, "left"), np.searchsorted(ordered, y, "right")
    moved = np.maximum(np.maximum(first - high, low - last), 0) / len(ordered)
    # A value that is gone tells nothing.
    return float(np.where(np.isnan(y), 1.0, moved).mean())


def share_changed(old: pa.ChunkedArray, new: pa.ChunkedArray) -> float:
    """Return the share of known values that differ from what they were."""
    known = old.is_valid()
    if not pc.any(known).as_py():
        return 1.0
    a, b = (c.cast(pa.string()).filter(known) for c in (old, new))
    same = pc.sum(pc.fill_null(pc.equal(a, b), False)).as_py() or 0
    return 1 - float(same) / len(a)


def as_floats(column: pa.ChunkedArray) -> Floats:
    """Return numbers as floats, NaN where missing."""
    plain = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(plain.to_numpy(zero_copy_only=False), dtype=np.float64)
