"""Recommendations: which plan keeps a cap on risk and the most utility, and why."""

from __future__ import annotations

from tacit.alternatives.recommendation.advice import recommend
from tacit.alternatives.recommendation.result import Choice, Recommendation

__all__ = ["Choice", "Recommendation", "recommend"]
