"""Reports: one self-contained HTML page per release."""

from __future__ import annotations

from typing import Any

__all__ = ["render"]


def render(release: Any) -> str:
    """Return the public report of a release."""
    if release.kind.name == "table":
        from tacit.report.table import render as render_table

        return render_table(release)
    from tacit.report.html import render as render_records

    return render_records(release)
