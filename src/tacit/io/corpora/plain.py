"""Plain text: one document a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tacit.data.corpus import Document
from tacit.io.corpora.decode import read_text
from tacit.io.formats import FileFormat

FORMAT = FileFormat("corpus", reads=(".txt", ".text", ".md"), rank=1)


def read(file: Path, name: str, encoding: str) -> Iterator[Document]:
    """Yield the one document of a file."""
    yield Document(name, read_text(file, encoding))
