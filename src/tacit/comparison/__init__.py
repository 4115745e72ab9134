"""Several ways of protecting the same data, side by side: :func:`compare` and what it returns."""

from __future__ import annotations

from tacit.comparison.compare import compare
from tacit.comparison.outcome import Outcome
from tacit.comparison.result import ComparisonResult
from tacit.comparison.systems import System, protect

__all__ = ["ComparisonResult", "Outcome", "System", "compare", "protect"]
