"""The claim that published intervals are wide enough for every unsafe cell."""

from __future__ import annotations

import numpy as np

from tacit.claims import Claim, check_for
from tacit.claims.attack.attacker import is_protected, levels_of, room_of, within_intervals
from tacit.claims.outsiders import solves_in_whole_numbers
from tacit.claims.view import TableView


@check_for("protected-by-published-intervals", of="table")
def has_wide_intervals(table: TableView, claim: Claim) -> bool:
    """Return True when an attacker who uses the published intervals learns no more than allowed.

    A hidden cell is published as an interval; one without counts as known.
    """
    if table.interval is None:
        return not table.primary.any()
    return is_protected(
        table,
        table.hidden & ~np.isnan(np.asarray(table.interval)[:, 0]),
        within_intervals(table, *room_of(table)),
        levels_of(table),
        whole=solves_in_whole_numbers(table),
        singletons=bool(claim.parameters.get("singletons")),
        far=False,
    )
