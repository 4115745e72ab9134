"""Bytes to text, with nothing changed but the encoding."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from tacit.data.paths import require_file
from tacit.errors import UnreadableFile

#: Marks at the start of a file that tell its encoding; a longer one goes before its own beginning.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Encodings in which any bytes are a text.
ONE_BYTE = ("iso8859-1", "cp1252")
#: Bytes that are control characters in Latin-1, which no text holds, and quotation marks and dashes in Windows-1252.
WINDOWS = re.compile(rb"[\x80-\x9f]")
#: Soft hyphens and marks of no width within a word, the hyphen perhaps at the end of a line.
UNSEEN = re.compile(r"(?<=\w)(?:[\u00ad\u200b-\u200f\u2060\ufeff]+|\u00ad\r?\n)(?=\w)")
#: Files above this many bytes are refused: one text is held in memory, and searched as a whole.
LARGEST = 256 * 2**20


def existing(source: str | Path) -> Path:
    """Return the path of a file or folder that is there, or say that it is not."""
    path = Path(source)
    require_file(path)
    return path


def read_text(file: Path, encoding: str) -> str:
    """Return the text of a file, line ends as they are."""
    try:
        if file.stat().st_size > LARGEST:
            raise UnreadableFile(
                f"{shown(file)} has more than {LARGEST // 2**20} MB; one text is searched as a whole. Split the file."
            )
        content = file.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{shown(file)} cannot be read: {error.strerror}") from None
    marked = next((name for mark, name in MARKS if content.startswith(mark)), encoding)
    text = decode(content, marked, file)
    if "\0" in text:
        # Names with a null character between their letters would not be found.
        raise UnreadableFile(
            f"{shown(file)} is no text, or its encoding is another: it holds null characters, as binary files do"
        )
    return text


def decode(content: bytes, encoding: str, file: Path) -> str:
    """Return bytes as text, or say that the encoding is another."""
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise UnreadableFile(
            f"there is no encoding {encoding!r}; common ones are utf-8 and latin-1"
        ) from None
    other = "utf-8"
    if name in ONE_BYTE:
        if not content.isascii() and is_utf8(content):
            # Read letter by letter, Müller would become MÃ¼ller, which no search finds.
            raise UnreadableFile(wrong_encoding(file, encoding, other))
        # As browsers do: what says Latin-1 and holds quotation marks of Windows is Windows-1252.
        name = "cp1252" if WINDOWS.search(content) else name
    elif name.startswith("utf-8"):
        other = "latin-1"
    try:
        return content.decode(name)
    except ValueError:
        raise UnreadableFile(wrong_encoding(file, encoding, other)) from None


def is_utf8(content: bytes) -> bool:
    """Return True for bytes that are a text in UTF-8."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def wrong_encoding(file: Path, encoding: str, other: str) -> str:
    """Return the sentence about a file that is encoded otherwise."""
    return f"{shown(file)} is not encoded as {encoding}. Say how it is, for example encoding={other!r}."


def without_unseen(text: str) -> str:
    """Return words as they are seen: without soft hyphens and marks of no width, which hide a name from a search."""
    return UNSEEN.sub("", text)


def shown(file: Path) -> str:
    """Return what an error calls a file: its ending, as names of files may name people."""
    return f"a {file.suffix.lower() or 'nameless'} file (number {position(file)} in its folder)"


def position(file: Path) -> int:
    """Return the place of a file in its folder, in order of names."""
    try:
        return sorted(file.parent.iterdir()).index(file) + 1
    except (OSError, ValueError):
        return 1
