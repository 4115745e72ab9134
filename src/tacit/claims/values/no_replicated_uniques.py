"""The claim that no record repeats an original one that is like no other."""

from __future__ import annotations

import numpy as np

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame
from tacit.engine.record_hash import hash_records


@check_for("no-replicated-uniques")
def repeats_no_unique(frame: Frame, claim: Claim) -> bool:
    """Return True when no record is one of the listed ones, which are known by a number only."""
    table = frame.select(*claim.columns).collect("pyarrow").to_native()
    sought = np.array([int(text, 16) for text in claim.parameters["uniques"]], dtype=np.uint64)
    return not bool(np.isin(hash_records(table), sought).any())
