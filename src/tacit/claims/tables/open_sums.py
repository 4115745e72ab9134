"""The claim that no sum of the unsafe parts of a total tells of fewer contributors than a rule asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats
from tacit.claims import Claim, check_for
from tacit.claims.attack.attacker import room_of, with_own_cells, within_intervals
from tacit.claims.attack.needs import SMALLEST_SHARE, Needs, find_unmet_needs
from tacit.claims.view import TableView


@check_for("open-sums", of="table")
def sums_stay_open(table: TableView, claim: Claim) -> bool:
    """Return True when no such sum follows from what outsiders know."""
    room = within_intervals(table, *room_of(table))
    return not count_closed_sums(table, claim.parameters, table.hidden, room)


def count_closed_sums(
    table: TableView, parameters: Mapping[str, Any], unknown: Flags, room: tuple[Floats, Floats]
) -> int:
    """Return how many sums of unsafe parts with fewer than n contributors together cannot move by one unit."""
    groups = list_small_groups(table, parameters)
    if not groups:
        return 0
    n, more = len(table.value), len(groups)
    # Each sum is a cell of its own that is never published.
    own = sparse.lil_array((more, n + more))
    for i, group in enumerate(groups):
        own[i, list(group)] = 1.0
        own[i, n + i] = -1.0
    far = np.full(more, np.inf)
    system = with_own_cells(table, own, unknown, room, (far, far))
    size = np.abs(np.array([table.value[list(g)].sum() for g in groups]))
    least = np.ones(more) if table.frequency else SMALLEST_SHARE * np.maximum(1.0, size)
    nothing = np.zeros(more)
    short, _ = find_unmet_needs(system, Needs(np.arange(n, n + more), nothing, nothing, least))
    return len(short)


def list_small_groups(table: TableView, parameters: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """Return, by total, its unsafe parts when there are several with fewer than n contributors together."""
    count = count_contributors(table, parameters)
    matrix = sparse.csr_array(table.equations)
    found = set()
    for row in range(matrix.shape[0]):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        cells = matrix.indices[span][matrix.data[span] > 0]
        group = [int(c) for c in cells if table.primary[c] and count[c] > 0]
        if len(group) > 1 and sum(count[c] for c in group) < parameters["n"]:
            found.add(tuple(sorted(group)))
    return sorted(found)


def count_contributors(table: TableView, parameters: Mapping[str, Any]) -> Floats:
    """Return the contributors of each cell, by holding where the rule counts them."""
    if parameters.get("level", "auto") != "record" and table.holdings is not None:
        return table.holdings.count.astype(np.float64)
    if parameters.get("weighted", True) and "weighted_count" in table.extra:
        return np.asarray(table.extra["weighted_count"], dtype=np.float64)
    count = table.count.astype(np.float64)
    return np.where(count < 0, table.value, count) if table.frequency else count
