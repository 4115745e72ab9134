"""The attacker of a published table: who knows relations, published cells, intervals and bounds."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats
from tacit.claims.attack.movements import System
from tacit.claims.attack.needs import Needs, find_unmet_needs
from tacit.claims.attack.respondents import is_deducible_exactly, is_deducible_nearby
from tacit.claims.outsiders import outsider_bounds, solves_in_whole_numbers
from tacit.claims.view import CellView, TableView


def room_of(table: TableView) -> tuple[Floats, Floats]:
    """Return how far outsiders think that a cell could lie below and above its true value."""
    low, high = outsider_bounds(table)
    return np.maximum(table.value - low, 0.0), np.maximum(high - table.value, 0.0)


def within_intervals(table: TableView, down: Floats, up: Floats) -> tuple[Floats, Floats]:
    """Return the room that published intervals leave; where there is none, all of it."""
    if table.interval is None:
        return down, up
    low, high = np.asarray(table.interval).T
    has = ~np.isnan(low)
    below = np.where(has, np.maximum(table.value - low, 0.0), np.inf)
    above = np.where(has, np.maximum(high - table.value, 0.0), np.inf)
    return np.minimum(down, below), np.minimum(up, above)


def with_own_cells(
    table: TableView,
    own: sparse.sparray,
    unknown: Flags,
    room: tuple[Floats, Floats],
    own_room: tuple[Floats, Floats],
) -> System:
    """Return the relations of a table with further cells, which are never published, and their relations (``own``)."""
    more = len(own_room[0])
    none = sparse.csr_array((table.equations.shape[0], more))
    every = sparse.vstack([sparse.hstack([table.equations, none]), own], format="csr")
    return System.over(
        sparse.csr_array(every),
        np.concatenate([unknown, np.ones(more, dtype=bool)]),
        np.concatenate([room[0], own_room[0]]),
        np.concatenate([room[1], own_room[1]]),
        whole=solves_in_whole_numbers(table),
    )


def levels_of(table: TableView) -> Needs:
    """Return what the levels of a table ask for, within its external bounds."""
    return Needs.of(table, room_of(table)[0])


def is_protected(
    table: CellView,
    unknown: Flags,
    room: tuple[Floats, Floats],
    needs: Needs,
    *,
    singletons: bool,
    whole: bool = False,
    far: bool = True,
    targets: Flags | None = None,
) -> bool:
    """Return True when neither outsiders nor single respondents learn too much of an unsafe cell.

    ``unknown`` and ``room``: which cells an attacker does not know, and how far these could lie below and above their
    true value; ``whole``: they are known to be whole numbers. With ``singletons``, single respondents are attackers, who
    must not learn the ``targets`` (all unsafe cells), by all relations together (``far``) or those that two cells share.
    """
    system = System.over(table.equations, unknown, *room, whole=whole)
    short, parts = find_unmet_needs(system, needs.in_whole_units() if whole else needs)
    if len(short):
        return False
    if not singletons:
        return True
    return not (
        is_deducible_nearby(table, system, parts, targets)
        or (far and is_deducible_exactly(table, unknown, targets))
    )
