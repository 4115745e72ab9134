"""The claim that no unsafe cell follows from published ones by the relations alone."""

from __future__ import annotations

import numpy as np

from tacit.claims.attack.movements import System
from tacit.claims.attack.respondents import (
    NEAR,
    drop_bounds,
    find_guarded_cells,
    is_deducible_exactly,
    is_immovable,
    kernel_vectors,
    places_of,
)
from tacit.claims.claim import Claim
from tacit.claims.registry import check_for
from tacit.claims.view import Ints, TableView


@check_for("not-deducible", of="table")
def leaves_unsafe_cells_free(table: TableView, claim: Claim) -> bool:
    """Return True when the relations leave every unsafe cell free to move; bounds are not used.

    With ``singletons``, it must be free as well for the only respondent of another hidden cell.
    """
    system = drop_bounds(table.equations, table.hidden)
    unsafe = system.at(np.flatnonzero(table.primary))
    if (unsafe < 0).any() or any_determined(system, unsafe):
        return False
    return not (
        claim.parameters.get("singletons")
        and is_deducible_exactly(table, table.hidden, find_guarded_cells(table, claim))
    )


def any_determined(system: System, places: Ints) -> bool:
    """Return True when a cell is 0 in every movement: drawn ones first, a program where in doubt."""
    size = np.abs(kernel_vectors(system.matrix)).max(axis=1)
    doubtful = places[size[places] <= NEAR]
    if not len(doubtful):
        return False
    parts = list(system.parts())
    part_of, column = places_of(system, parts)
    return any(is_immovable(parts[int(part_of[p])], int(column[p])) for p in doubtful.tolist())
