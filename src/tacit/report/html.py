"""The report of a release as one HTML page that opens without a network."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.release import Release


def render(release: Release) -> str:
    """Return the report."""
    return f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{html.escape(release.plan.title or 'Release')}</title><pre>{html.escape(repr(release))}</pre></html>"
