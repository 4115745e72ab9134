"""The claim that no unsafe cell follows from published ones by the relations alone."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Ints
from tacit.claims import Claim, check_for
from tacit.claims.attack.attacker import is_protected, room_of
from tacit.claims.attack.movements import System, places_of
from tacit.claims.attack.needs import Needs
from tacit.claims.attack.respondents import (
    NEAR,
    drop_bounds,
    find_guarded_cells,
    is_deducible_exactly,
    is_immovable,
    kernel_vectors,
)
from tacit.claims.outsiders import has_whole_counts, solves_in_whole_numbers
from tacit.claims.view import TableView


@check_for("not-deducible", of="table")
def leaves_unsafe_cells_free(table: TableView, claim: Claim) -> bool:
    """Return True when the relations leave every unsafe cell free to move.

    Bounds are used in a table of counts, where a cell at its least of 1 cannot fall. With ``singletons``, it must be free as well for the only respondent of another hidden cell.
    """
    system = drop_bounds(table.equations, table.hidden)
    unsafe = system.at(np.flatnonzero(table.primary))
    if (unsafe < 0).any() or any_determined(system, unsafe):
        return False
    guarded = bool(claim.parameters.get("singletons"))
    targets = find_guarded_cells(table, claim)
    if has_whole_counts(table):
        return is_protected(
            table,
            table.hidden,
            room_of(table),
            Needs.least(table),
            whole=solves_in_whole_numbers(table),
            singletons=guarded,
            targets=targets,
        )
    return not (guarded and is_deducible_exactly(table, table.hidden, targets))


def any_determined(system: System, places: Ints) -> bool:
    """Return True when a cell is 0 in every movement: drawn ones first, a program where in doubt."""
    size = np.abs(kernel_vectors(system.matrix)).max(axis=1)
    doubtful = places[size[places] <= NEAR]
    if not len(doubtful):
        return False
    parts = list(system.parts())
    part_of, column = places_of(system, parts)
    return any(is_immovable(parts[int(part_of[p])], int(column[p])) for p in doubtful.tolist())
