"""Reports: one self-contained HTML page a release."""

from __future__ import annotations

from tacit.report.html import render

__all__ = ["render"]
