"""The claim that an attacker's interval for every unsafe cell reaches its protection levels."""

from __future__ import annotations

from tacit.claims import Claim, check_for
from tacit.claims.attack.attacker import is_protected, levels_of, room_of
from tacit.claims.attack.respondents import find_guarded_cells
from tacit.claims.outsiders import solves_in_whole_numbers
from tacit.claims.view import TableView


@check_for("protected-intervals", of="table")
def reaches_levels(table: TableView, claim: Claim) -> bool:
    """Return True when hidden cells leave every unsafe cell the room that it needs.

    An attacker knows the relations, the published cells and the external bounds of hidden ones; with
    ``singletons``, the only respondent of a cell is an attacker too.
    """
    guarded = bool(claim.parameters.get("singletons"))
    return is_protected(
        table,
        table.hidden,
        room_of(table),
        levels_of(table),
        whole=solves_in_whole_numbers(table),
        singletons=guarded,
        targets=find_guarded_cells(table, claim),
    )
