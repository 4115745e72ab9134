"""The claim that every record agrees with at least k records, a missing value agreeing with all."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Flags, Ints
from tacit.claims.claim import Claim
from tacit.claims.classes import SIZE, Frame, class_sizes, number_values
from tacit.claims.registry import check_for


@check_for("k-agreement")
def agrees_with_enough(frame: Frame, claim: Claim) -> bool:
    """Return True when every record agrees with at least k records on the columns.

    With ``in_full`` a record that shows all of the columns needs k records that show the same. With
    ``combinations`` the claim is about each of several sets of columns.
    """
    k, in_full = int(claim.parameters["k"]), bool(claim.parameters.get("in_full"))
    sets = claim.parameters.get("combinations") or [claim.columns]
    return all(set_is_shared(frame, tuple(columns), k, in_full=in_full) for columns in sets)


def set_is_shared(frame: Frame, columns: tuple[str, ...], k: int, *, in_full: bool) -> bool:
    """Return True when every record agrees with at least k records on one set of columns."""
    found = class_sizes(frame, columns).collect("pyarrow")
    size = found.get_column(SIZE).to_numpy().astype(np.int64)
    if not len(size):
        return True
    codes = np.stack([number_values(found.get_column(c).to_list()) for c in columns], axis=1)
    if in_full and (size[(codes >= 0).all(axis=1)] < k).any():
        return False
    return bool((count_agreeing(codes, size, size < k) >= k).all())


def count_agreeing(codes: Ints, size: Ints, asked: Flags) -> Ints:
    """Return how many records agree with each class that is asked about.

    Two classes agree when they are equal wherever both are known, so classes are compared by which
    columns they know.
    """
    known, of = np.unique(codes >= 0, axis=0, return_inverse=True)
    groups = [np.flatnonzero(of.ravel() == g) for g in range(len(known))]
    total = np.zeros(len(codes), dtype=np.int64)
    for mine, rows in zip(known, groups, strict=True):
        own = rows[asked[rows]]
        if not len(own):
            continue
        for theirs, others in zip(known, groups, strict=True):
            total[own] += sum_matching_sizes(codes[own], codes[others], size[others], mine & theirs)
    return total[asked]


def sum_matching_sizes(rows: Ints, others: Ints, size: Ints, columns: Flags) -> Ints:
    """Return for each row the total size of the others that equal it on some columns."""
    both = np.concatenate([rows, others])[:, columns]
    if not both.shape[1]:
        return np.full(len(rows), int(size.sum()), dtype=np.int64)
    _, label = np.unique(both, axis=0, return_inverse=True)
    label = label.ravel()
    sums = np.bincount(label[len(rows) :], weights=size, minlength=int(label.max()) + 1)
    return sums[label[: len(rows)]].astype(np.int64)
