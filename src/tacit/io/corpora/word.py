"""Word files (.docx): the words of the body, of headers and footers, notes and comments.

Read with the standard library: a document is XML in an archive. Headers and comments often name people, and so
they are read as well; pictures are not.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from tacit.data.corpus import Document
from tacit.errors import UnreadableFile
from tacit.io.corpora.decode import LARGEST, shown

SPACE = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
#: The parts that hold words, in the order of reading.
PARTS = ("header", "document", "footnotes", "endnotes", "comments", "footer")


def read(file: Path, name: str, encoding: str) -> Iterator[Document]:
    """Yield the words of a document."""
    del encoding
    try:
        with zipfile.ZipFile(file) as archive:
            text = "\n".join(part for part in parts_of(archive, file) if part)
    except (zipfile.BadZipFile, ET.ParseError, KeyError, EOFError, NotImplementedError):
        raise UnreadableFile(
            f"{shown(file)} is damaged, or no Word file: it cannot be read"
        ) from None
    yield Document(name, text)


def parts_of(archive: zipfile.ZipFile, file: Path) -> Iterator[str]:
    """Yield the words of each part of an archive."""
    held = {i.filename: i for i in archive.infolist()}
    if "word/document.xml" not in held:
        raise KeyError("word/document.xml")
    for stem in PARTS:
        for inside in sorted(
            n for n in held if n.startswith(f"word/{stem}") and n.endswith(".xml")
        ):
            if held[inside].file_size > LARGEST:
                raise UnreadableFile(
                    f"{shown(file)} unpacks to more than {LARGEST // 2**20} MB; split it"
                )
            with archive.open(inside) as part:
                yield "".join(words_of(part)).strip("\n")


def words_of(part: object) -> Iterator[str]:
    """Yield the words of a part, paragraphs on lines of their own."""
    for _, element in ET.iterparse(part):  # type: ignore[call-overload]  # noqa: S314 - entities are refused
        tag = element.tag
        if tag in (f"{SPACE}t", f"{SPACE}delText"):
            yield element.text or ""
        elif tag == f"{SPACE}tab":
            yield "\t"
        elif tag in (f"{SPACE}br", f"{SPACE}cr", f"{SPACE}p"):
            yield "\n"
            if tag == f"{SPACE}p":
                element.clear()
