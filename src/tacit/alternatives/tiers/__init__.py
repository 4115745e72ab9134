"""Products for users with different access, each within the next."""

from __future__ import annotations

from tacit.alternatives.tiers.tiers import Tiers, TiersResult, UserGroup

__all__ = ["Tiers", "TiersResult", "UserGroup"]
