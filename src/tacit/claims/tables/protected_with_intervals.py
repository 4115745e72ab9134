"""The claim that hidden cells and published intervals leave every unsafe cell the room it needs."""

from __future__ import annotations

import numpy as np

from tacit.claims import Claim, check_for
from tacit.claims.attack.attacker import is_protected, levels_of, room_of, within_intervals
from tacit.claims.outsiders import solves_in_whole_numbers
from tacit.claims.tables.intervals_hold_the_truth import holds_truth
from tacit.claims.view import TableView


@check_for("protected-with-intervals", of="table")
def leaves_room_within_intervals(table: TableView, claim: Claim) -> bool:
    """Return True when neither outsiders nor single respondents learn too much of an unsafe cell.

    A cell with an interval is known to lie in it; a hidden one within its external bounds; all others
    are known.
    """
    if table.interval is None:
        return not table.primary.any()
    low, high = np.asarray(table.interval).T
    unknown = table.hidden | (high > low)
    if not holds_truth(table).all() or (table.primary & ~unknown).any():
        return False
    return is_protected(
        table,
        unknown,
        within_intervals(table, *room_of(table)),
        levels_of(table),
        whole=solves_in_whole_numbers(table),
        singletons=bool(claim.parameters.get("singletons")),
    )
