"""The claim that every record agrees with at least k records, a missing value agreeing with all."""

from __future__ import annotations

import numpy as np

from tacit.claims import Claim, check_for
from tacit.claims.classes import SIZE, Frame, class_sizes, number_values, sum_agreeing


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
    return bool((sum_agreeing(codes, size.astype(np.float64), size < k) >= k).all())
