"""Several ways of protecting the same data, side by side: :func:`compare` and what it returns."""

from __future__ import annotations

from tacit.alternatives.comparison.compare import compare
from tacit.alternatives.comparison.outcome import Outcome
from tacit.alternatives.comparison.result import ComparisonResult
from tacit.alternatives.comparison.systems import System, protect

__all__ = ["ComparisonResult", "Outcome", "System", "compare", "protect"]
