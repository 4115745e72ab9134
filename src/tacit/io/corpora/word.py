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
from tacit.errors import SdcError, UnreadableFile
from tacit.io.corpora.decode import LARGEST, shown, without_unseen
from tacit.io.formats import FileFormat
from tacit.storage.packed import refuse_bomb

FORMAT = FileFormat("corpus", reads=(".docx",), rank=4)

#: The space of names, and that of the strict form.
SPACES = (
    "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}",
    "{http://purl.oclc.org/ooxml/wordprocessingml/main}",
)
#: What older programs show of a drawing; the words stand in it a second time.
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
#: Elements that stand for a sign.
SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "p": "\n", "noBreakHyphen": "-"}
#: The parts that hold words, in the order of reading.
PARTS = ("header", "document", "footnotes", "endnotes", "comments", "footer")


def read(file: Path, name: str, encoding: str) -> Iterator[Document]:
    """Yield the words of a document."""
    del encoding
    refuse_bomb(file)
    try:
        with zipfile.ZipFile(file) as archive:
            text = "\n".join(part for part in parts_of(archive, file) if part)
    except (SdcError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - a damaged file may fail in any way, and the message may quote it
        raise UnreadableFile(
            f"{shown(file)} is damaged, locked, or no Word file: it cannot be read"
        ) from None
    yield Document(name, without_unseen(text))


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
    twice = 0
    for event, element in ET.iterparse(part, ("start", "end")):  # type: ignore[call-overload]  # noqa: S314 - entities that grow are refused by the parser
        space, mark, tag = element.tag.rpartition("}")
        if element.tag == FALLBACK:
            twice += 1 if event == "start" else -1
        if event == "start" or twice or space + mark not in SPACES:
            continue
        if tag in ("t", "delText"):
            yield element.text or ""
        elif tag in SIGNS:
            yield SIGNS[tag]
            if tag == "p":
                element.clear()
