"""The claim that households were taken whole: as many of each size as they have among all records."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame
from tacit.engine.names import aggregate

MEMBERS, HOMES = "__members__", "__homes__"


@check_for("whole-households")
def has_whole_households(frame: Frame, claim: Claim) -> bool:
    """Return True when the households of the output have the sizes that their members in the source give.

    Nobody can tell households any more where their column is gone.
    """
    (home,) = claim.columns
    if home not in frame.collect_schema().names():
        return True
    known = frame.select(home).filter(~nw.col(home).is_null())
    homes = aggregate(known, [home], nw.len().cast(nw.Int64).alias(MEMBERS))
    told = aggregate(homes.select(MEMBERS), [MEMBERS], nw.len().cast(nw.Int64).alias(HOMES))
    rows = told.select(MEMBERS, HOMES).collect("pyarrow").rows()
    found = {int(members): int(n) for members, n in rows}
    return found == {int(members): int(n) for members, n in claim.parameters["sizes"]}
