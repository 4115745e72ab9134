"""Files that are to be read: there, and not empty."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import UnreadableFile, near_match

#: Extensions of records that another file describes: they may be empty.
DESCRIBED_ELSEWHERE = {".asc", ".saf"}


def require_file(path: Path) -> None:
    """Say in one sentence why a file cannot be read."""
    try:
        there = path.exists()
    except OSError as error:
        raise UnreadableFile(
            f"the file {path.name[:60]!r} cannot be read: {error.strerror}"
        ) from None
    if not there:
        near = near_match(
            path.name, [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        )
        raise UnreadableFile(f"no file {str(path)!r}. {near}".strip())
    described = path.suffix.lower() in DESCRIBED_ELSEWHERE
    if path.is_file() and path.stat().st_size == 0 and not described:
        raise UnreadableFile(f"the file {path.name!r} is empty")
