"""Presence: from the cells of a register to the released records that could be a member of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.records.register.matching import (
    Scale,
    level_vectors,
    reduce_register,
    require,
    sum_where_equal,
)


@dataclass(frozen=True)
class Presence:
    """The presence of the members of each cell of the register.

    Attributes
    ----------
    n
        Members of each cell.
    presence
        The probability that a member of the cell is in the release.
    records, unmatched
        Released records, and those among them that match nobody.
    """

    n: Ints
    presence: Floats
    records: int
    unmatched: int


def count_presence(
    data: Microdata, register: Microdata, keys: Sequence[str], ctx: Context
) -> Presence:
    """Sum 1 / F over the released records that cover each cell, level vector by level vector."""
    require(register, keys, "the register")
    released = data.to_arrow(list(keys), with_row=True)
    rows = len(released.column(ROW))
    scales = {k: Scale.of(k, released.column(k), data, register) for k in keys}
    live = [k for k in keys if not scales[k].only_top]
    ctx.tick("reducing the register to cells")
    members, n = reduce_register(register, live, scales)
    presence, matched = np.zeros(len(n)), 0
    for levels, here in level_vectors(scales, live, rows):
        ctx.tick("counting candidates")
        records = [scales[k].code[here] for k in levels]
        lifted = [scales[k].lift(level, members[k]) for k, level in levels.items()]
        candidates = sum_where_equal(records, lifted, n, len(here))
        found = candidates > 0
        matched += int(found.sum())
        sure = 1 / candidates[found]
        presence += sum_where_equal(lifted, [r[found] for r in records], sure, len(n))
    return Presence(n, np.minimum(presence, 1.0), rows, rows - matched)
