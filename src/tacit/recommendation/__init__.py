"""Recommendations: which plan keeps a cap on risk and the most utility, and why."""

from __future__ import annotations

from tacit.recommendation.advice import recommend
from tacit.recommendation.result import Choice, Recommendation

__all__ = ["Choice", "Recommendation", "recommend"]
