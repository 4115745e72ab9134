"""The claim that no coalition of k units learns from a table of counts what all others of a group are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim, check_for
from tacit.claims.attack.attacker import room_of, with_own_cells, within_intervals
from tacit.claims.attack.needs import Needs, find_unmet_needs
from tacit.claims.gate import COALITION
from tacit.claims.view import TableView


@check_for("k-disclosure", of="table")
def differences_stay_open(table: TableView, claim: Claim) -> bool:
    """Return True when every difference of at most k could be k + 1 for all that outsiders know."""
    room = within_intervals(table, *room_of(table))
    return not len(find_closed_differences(table, claim.parameters, table.hidden, room))


def find_closed_differences(
    table: TableView, parameters: Mapping[str, Any], unknown: Flags, room: tuple[Floats, Floats]
) -> Ints:
    """Return the parts of totals outside of which outsiders know that at most k units lie.

    ``parameters`` are the k, the dimensions that disclose (all when empty), and the largest group that is a secret;
    ``unknown`` and ``room``: which cells outsiders do not know, and how far these could lie below and above the truth.
    """
    k = int(parameters.get("k", COALITION))
    totals, parts = list_pairs(table, parameters)
    if not len(parts):
        return parts
    n, more = len(table.value), len(parts)
    rest = table.value[totals] - table.value[parts]
    # rest = total - part is a cell of its own, which is never published.
    own = sparse.csr_array(
        (
            np.repeat([1.0, -1.0, -1.0], more),
            (
                np.tile(np.arange(more), 3),
                np.concatenate([totals, parts, np.arange(n, n + more)]),
            ),
        ),
        shape=(more, n + more),
    )
    system = with_own_cells(table, own, unknown, room, (rest, np.full(more, np.inf)))
    nothing = np.zeros(more)
    needs = Needs(np.arange(n, n + more), nothing, k + 1 - rest, nothing)
    short, _ = find_unmet_needs(system, needs)
    return np.asarray(parts[short - n], dtype=np.int64)


def list_pairs(table: TableView, parameters: Mapping[str, Any]) -> tuple[Ints, Ints]:
    """Return totals and parts, joined by a relation, with at most k units of the total elsewhere."""
    matrix = sparse.csr_array(table.equations)
    names = [d.name for d in table.dimensions]
    axes = [names.index(d) for d in parameters.get("dimensions") or ()]
    k, most = int(parameters.get("k", COALITION)), parameters.get("up_to")
    found = set()
    for row in range(matrix.shape[0]):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        cells, signs = matrix.indices[span], matrix.data[span]
        if (signs < 0).sum() != 1 or (np.abs(signs) != 1).any() or len(cells) < 3:
            continue
        total = int(cells[signs < 0][0])
        parts = cells[signs > 0]
        here = (table.value[parts] > 0) & (table.value[total] - table.value[parts] <= k)
        for part in parts[here].tolist():
            if most is not None and table.value[part] > most:
                continue
            if axes and (table.places[total][axes] == table.places[part][axes]).all():
                continue
            found.add((total, part))
    pairs = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
