"""Reports: a document of blocks for the public or the board, as HTML, PDF or Word."""

from __future__ import annotations

from typing import Any

from tacit.report.document import Document

__all__ = ["Document", "board", "public"]


def public(release: Any) -> Document:
    """Return the report that goes out with a release."""
    from tacit.report.audiences import build_public_report

    return build_public_report(release)


def board(release: Any) -> Document:
    """Return the confidential report on a release for the board."""
    from tacit.report.audiences import board_document

    return board_document(release)
