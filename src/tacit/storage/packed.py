"""Packed files (zip archives of Word, Excel and OpenDocument): how much they unpack to, before anything is opened.

A few kilobytes can unpack to more than any machine holds. The sizes that an archive declares are summed, and each part is
unpacked once, piece by piece, without being kept: what it declares need not be true. ``TACIT_LARGEST_UNPACKED``
(in MB) raises the limit for a file that is known to be sound.
"""

from __future__ import annotations

import lzma
import os
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import IO

from tacit.errors import InvalidParameter, SdcError, UnreadableFile
from tacit.limits import in_words

#: Bytes that the parts of a file may unpack to in all.
LARGEST = 1 << 30
#: Cells of a sheet that may lie between its first and its last: all of them are held, empty ones too.
MOST_CELLS = 50_000_000
#: Bytes unpacked at a time.
PIECE = 1 << 20
#: What reading a damaged, locked or unknown part raises: whoever needs the part says so.
DAMAGED = (OSError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)
SETTING = "TACIT_LARGEST_UNPACKED"


def largest_unpacked() -> int:
    """Return the bytes that a packed file may unpack to."""
    given = os.environ.get(SETTING)
    if not given:
        return LARGEST
    if not given.isascii() or not given.isdigit() or len(given) > 12 or int(given) == 0:
        raise InvalidParameter(f"{SETTING} is a whole number of MB, such as 4096")
    return int(given) << 20


def refuse_bomb(path: Path, packed: IO[bytes] | None = None) -> None:
    """Refuse an archive, perhaps one inside a file, that unpacks to more than the limit; what is no archive passes.

    An archive that is given open is left where it stood, so that its reader finds it untouched.
    """
    begun = packed.tell() if packed else 0
    try:
        with zipfile.ZipFile(packed or path) as archive:
            refuse_large_parts(archive, path)
    except SdcError:  # some are ValueErrors too
        raise
    except (OSError, ValueError, zipfile.BadZipFile):
        # A path may also hold what no path can.
        refuse_broken(path)
    finally:
        if packed:
            packed.seek(begun)


def refuse_large_parts(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse by the sizes that are declared, then by those that are true."""
    parts = archive.infolist()
    limit = largest_unpacked()
    if sum(part.file_size for part in parts) > limit:
        raise make_refusal(path, limit)
    unpacked = 0
    for part in parts:
        # What is declared would end the reading; a damaged part must not end the counting of the others.
        declared, part.file_size = part.file_size, limit + 2 * PIECE
        with suppress(*DAMAGED), archive.open(part) as file:
            while unpacked <= limit and (piece := file.read(PIECE)):
                unpacked += len(piece)
        part.file_size = declared
        if unpacked > limit:
            raise make_refusal(path, limit)


def refuse_broken(path: Path) -> None:
    """Refuse an archive that we cannot look into, and that another reader might read all the same."""
    start = b""
    with suppress(OSError, ValueError), path.open("rb") as file:
        start = file.read(2)
    if start == b"PK":
        raise UnreadableFile(f"{path.name!r} is damaged: it cannot be unpacked")


def make_refusal(path: Path, limit: int) -> UnreadableFile:
    """Return the error for a file that unpacks to too much."""
    return UnreadableFile(
        f"{path.name!r} unpacks to more than {in_words(limit)}, and was not opened; save it as CSV or Parquet, split it, or, where "
        f"you know it to be sound, raise the limit ({SETTING}, in MB)"
    )


def refuse_wide_sheet(path: Path, sheet: str, rows: int, columns: int) -> None:
    """Refuse a sheet whose first and last cells lie so far apart that what is between them fills the memory."""
    if rows * columns > MOST_CELLS * (largest_unpacked() / LARGEST):
        raise UnreadableFile(
            f"sheet {sheet!r} of {path.name!r} spans {rows:,} rows and {columns:,} columns, nearly all of them empty or far more than "
            f"memory should hold; remove the cells far off, save it as CSV, or raise the limit ({SETTING}, in MB)"
        )
