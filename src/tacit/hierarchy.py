"""Hierarchies: builders and readers, the public face of :mod:`tacit.data.hierarchy`.

Builders return rules that wait for the data's values; readers return hierarchies at once. Both are
given to ``tacit.read(..., hierarchies={column: ...})`` and may stand in a plan.
"""

from __future__ import annotations

from tacit.data.hierarchies.rules import dates, digits, flat
from tacit.data.hierarchy import Hierarchy, Rule

__all__ = ["Hierarchy", "Rule", "dates", "digits", "flat"]
