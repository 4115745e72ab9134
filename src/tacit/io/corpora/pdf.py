"""PDF: the text layer of the pages. A scanned page has none, and is refused rather than passed as empty."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from tacit.data.corpus import Document
from tacit.errors import UnreadableFile, require
from tacit.io.corpora.decode import shown, without_unseen
from tacit.io.formats import FileFormat

FORMAT = FileFormat("corpus", reads=(".pdf",), rank=5)


def read(file: Path, name: str, encoding: str) -> Iterator[Document]:
    """Yield the words of all pages."""
    del encoding
    try:
        from pypdf import PdfReader
    except ImportError:
        raise require("pypdf", "text", "reading PDF files") from None
    # What its log says of a damaged file may quote it.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        with file.open("rb") as handle:
            pages = [page.extract_text() for page in PdfReader(handle, strict=False).pages]
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a damaged file may fail in any way, and the message may quote it
        raise UnreadableFile(
            f"{shown(file)} is damaged or locked: its text cannot be read"
        ) from None
    if pages and not any(page.strip() for page in pages):
        raise UnreadableFile(
            f"{shown(file)} holds no text: its pages are pictures. Recognise the text first, and read that."
        )
    yield Document(name, without_unseen("\n".join(pages)))
