"""Bytes to text, with nothing changed but the encoding."""

from __future__ import annotations

import codecs
from pathlib import Path

from tacit.data.paths import require_file
from tacit.errors import UnreadableFile

#: Bytes at the start of a file in which a null character tells that it is no text.
LOOK = 8192
#: Files above this many bytes are refused: one text is held in memory, and searched as a whole.
LARGEST = 256 * 2**20


def existing(source: str | Path) -> Path:
    """Return the path of a file or folder that is there, or say that it is not."""
    path = Path(source)
    require_file(path)
    return path


def read_text(file: Path, encoding: str) -> str:
    """Return the text of a file; line ends and a null-free content stay as they are."""
    if file.stat().st_size > LARGEST:
        raise UnreadableFile(
            f"{shown(file)} has more than {LARGEST // 2**20} MB; one text is searched as a whole. Split the file."
        )
    content = file.read_bytes()
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(mark):
            return decode(content.removeprefix(mark) if name == "utf-8" else content, name, file)
    if b"\0" in content[:LOOK]:
        raise UnreadableFile(
            f"{shown(file)} is no text: it holds null characters, as binary files do"
        )
    return decode(content, encoding, file)


def decode(content: bytes, encoding: str, file: Path) -> str:
    """Return bytes as text, or say that the encoding is another."""
    try:
        return content.decode(encoding)
    except LookupError:
        raise UnreadableFile(
            f"there is no encoding {encoding!r}; common ones are utf-8 and latin-1"
        ) from None
    except UnicodeDecodeError:
        other = (
            "utf-8" if encoding.lower().replace("_", "-") not in ("utf-8", "utf8") else "latin-1"
        )
        raise UnreadableFile(
            f"{shown(file)} is not encoded as {encoding}. Say how it is, for example encoding={other!r}."
        ) from None


def shown(file: Path) -> str:
    """Return what an error calls a file: its ending, as names of files may name people."""
    return f"a {file.suffix.lower() or 'nameless'} file (number {position(file)} in its folder)"


def position(file: Path) -> int:
    """Return the place of a file in its folder, in order of names."""
    try:
        return sorted(file.parent.iterdir()).index(file) + 1
    except (OSError, ValueError):
        return 1
