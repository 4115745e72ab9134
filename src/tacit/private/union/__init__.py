"""Private union: unite files about persons without duplicates, and without showing identifiers to anybody.

``simulate`` runs all parties in one process; ``play_alice``, ``play_bob`` and ``play_ring`` are the roles that
``tacit party`` plays over the network. ``count_overlap`` tells only how many persons are in both files.
"""

from tacit.private.union.baselines import concatenate, unite_at_third_party, unite_openly
from tacit.private.union.groups import group_named
from tacit.private.union.records import RULE, canonical_identifier, drop_duplicates, make_records
from tacit.private.union.ring import play_ring
from tacit.private.union.run import UnionResult, count_overlap, simulate
from tacit.private.union.two_parties import (
    Consent,
    Outcome,
    Sizes,
    Terms,
    play_alice,
    play_bob,
    play_count,
)
from tacit.public import publish

__all__ = [
    "RULE",
    "Consent",
    "Outcome",
    "Sizes",
    "Terms",
    "UnionResult",
    "canonical_identifier",
    "concatenate",
    "count_overlap",
    "drop_duplicates",
    "group_named",
    "make_records",
    "play_alice",
    "play_bob",
    "play_count",
    "play_ring",
    "simulate",
    "unite_at_third_party",
    "unite_openly",
]

__getattr__, __dir__ = publish("private.union", names=globals())
