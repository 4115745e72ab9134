"""The claim that every complete value of some combinations of columns occurs in at least k records."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals.stable.v2 as nw
import numpy as np

from tacit.arrays import Ints
from tacit.claims import Claim, check_for
from tacit.claims.classes import SIZE, Frame, class_sizes, number_values, smallest_class

#: From this many combinations on, classes on all columns are counted once, if there are not too many.
MANY = 16
MOST_CLASSES = 200_000


@check_for("k-combinations")
def has_frequent_combinations(frame: Frame, claim: Claim) -> bool:
    """Return True when every complete value of each listed combination occurs in at least k records."""
    combinations, k = claim.parameters["combinations"], int(claim.parameters["k"])
    columns = list(dict.fromkeys(c for one in combinations for c in one))
    if len(combinations) >= MANY:
        classes = class_sizes(frame, columns)
        number = classes.select(nw.len().alias(SIZE)).collect("pyarrow").item(0, SIZE)
        if number <= MOST_CLASSES:
            return are_frequent(classes, columns, combinations, k)
    for combination in combinations:
        complete = frame
        for column in combination:
            complete = complete.filter(~nw.col(column).is_null())
        size = smallest_class(complete, combination)
        if size is not None and size < k:
            return False
    return True


def are_frequent(
    classes: Frame, columns: Sequence[str], combinations: Sequence[Sequence[str]], k: int
) -> bool:
    """Return the same from the classes on all columns, in memory."""
    found = classes.collect("pyarrow")
    size = found.get_column(SIZE).to_numpy().astype(np.int64)
    codes = {c: number_values(found.get_column(c).to_list()) for c in columns}
    for combination in combinations:
        complete = np.ones(len(size), dtype=bool)
        for column in combination:
            complete &= codes[column] >= 0
        ids = number_rows([codes[column][complete] for column in combination])
        counts = np.bincount(ids, weights=size[complete]).astype(np.int64)
        if (counts[counts > 0] < k).any():
            return False
    return True


def number_rows(columns: Sequence[Ints]) -> Ints:
    """Return a number for each row, equal for equal rows."""
    ids = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, ids = np.unique(ids * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
    return ids.astype(np.int64)
