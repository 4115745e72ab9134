"""The order in which records are released, and the numbers of their households: both are drawn.

Whoever holds two releases in the order of the source joins them line by line, and numbers that were given along
streets or by date of entry tell the order as well. The numbers of households that a step has given on
purpose, such as pseudonyms that link two files, stay as they are.
"""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import drop_stale_descriptions
from tacit.engine.base import ROW
from tacit.engine.names import aggregate
from tacit.records.swapping.scramble import scrambled_order

FIRST = "__first__"
#: Steps after which the values of their columns have nothing to do with the order of the source.
GIVES_NEW_VALUES = frozenset({"pseudonymise", "substitute"})


def released_order(data: Microdata, ctx: Context) -> Microdata:
    """Return the records in a drawn order, and the households numbered in that order."""
    drawn = data if renumbered_columns(data) else scrambled_order(data, ctx)
    home = data.household
    return (
        drawn if home is None or home in replaced_columns(data) else number_households(drawn, home)
    )


def renumbered_columns(data: Microdata) -> set[str]:
    """Return the household columns that a step has numbered in an order of its own, which the release keeps."""
    return {c for a in data.history for c in a.details.get("new_numbers", ())}


def replaced_columns(data: Microdata) -> set[str]:
    """Return the columns whose values a step has replaced by others that tell nothing of the source's order."""
    given = {
        c for a in data.history if a.kind in GIVES_NEW_VALUES for c in a.details.get("columns", ())
    }
    return given | renumbered_columns(data)


def number_households(data: Microdata, home: str) -> Microdata:
    """Return the data with households numbered 1, 2, ... as they first occur; a missing one stays missing."""
    known = data.frame.filter(~nw.col(home).is_null())
    firsts = aggregate(known.select(home, ROW), [home], nw.col(ROW).min().alias(FIRST))
    found = data.engine.to_arrow(firsts.select(home, FIRST)).sort_by(FIRST)
    number = pa.array(np.arange(1, found.num_rows + 1, dtype=np.int64))
    mapping = pa.table({"old": found.column(home), "new": number})
    return drop_stale_descriptions(data.recode(home, mapping).materialise(), [home])
