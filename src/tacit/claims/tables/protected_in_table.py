"""The claim that all relations together leave every unsafe cell what was asked for."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats
from tacit.claims import Claim, check_for
from tacit.claims.attack.attacker import is_protected, room_of
from tacit.claims.attack.needs import Needs
from tacit.claims.attack.respondents import find_guarded_cells
from tacit.claims.outsiders import solves_in_whole_numbers
from tacit.claims.view import TableView


@check_for("protected-in-table", of="table")
def leaves_what_was_asked(table: TableView, claim: Claim) -> bool:
    """Return True when hidden cells leave every unsafe cell its levels, or any movement at all.

    Without ``intervals`` unsafe cells must be able to move; ``apriori`` is how closely, in per cent,
    outsiders know every value beforehand. Single respondents use relations that two cells share.
    """
    room = narrow_possible_range(table, claim.parameters.get("apriori"))
    return is_protected(
        table,
        table.hidden,
        room,
        Needs.of(table, room[0]) if claim.parameters.get("intervals") else Needs.least(table),
        whole=solves_in_whole_numbers(table),
        singletons=bool(claim.parameters.get("singletons")),
        far=False,
        targets=find_guarded_cells(table, claim),
    )


def narrow_possible_range(table: TableView, apriori: float | None) -> tuple[Floats, Floats]:
    """Return how far outsiders think that a cell could lie from its value, at most a percentage."""
    down, up = room_of(table)
    if apriori is None:
        return down, up
    around = apriori / 100 * np.abs(table.value)
    return np.minimum(down, around), np.minimum(up, around)
