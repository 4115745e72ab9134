"""Reports: a document of blocks for the public or the board, as HTML, PDF or Word."""

from __future__ import annotations

from tacit.report.document import Document
from tacit.report.for_board import board
from tacit.report.for_public import build_public_report

__all__ = ["Document", "board", "build_public_report"]
