"""Folders for work in progress: marked as in use while their process lives, cleared by the next when it died.

A process that is killed cannot tidy up, and its folders hold confidential records. A lock that the operating
system lets go with the process, however it ends, tells the folders of the living from those of the dead.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: nothing is cleared there
    fcntl = None  # type: ignore[assignment]

from tacit.errors import DisclosureRefused, explain_target

LOCK = ".in-use"

#: Where a supervised process notes what it has begun, so that it is removed should the process break down.
report_to: int | None = None


def note_begun(path: str | Path) -> None:
    """Note a file or folder that is only there while work goes on."""
    if report_to is not None:
        os.write(report_to, b"begun " + os.fsencode(Path(path).absolute()) + b"\0")


def make_own_folder(prefix: str, parent: Path) -> tuple[Path, int]:
    """Return a new private folder and the file descriptor that marks it as in use while it is open.

    Folders of the same prefix whose processes have died are cleared first.
    """
    clear_abandoned(prefix, parent)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    note_begun(folder)
    # Locked under another name first: whoever finds the mark finds it locked.
    draft = folder / f"{LOCK}-draft"
    handle = os.open(draft, os.O_RDWR | os.O_CREAT, 0o600)
    if fcntl is not None:
        # Some network folders have no locks: then nobody else clears this folder, and that is all.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft.replace(folder / LOCK)
    return folder, handle


def write_whole(target: str | Path, content: str | bytes) -> None:
    """Write a file wholly or not at all: beside its place first, so that a full disk leaves nothing behind."""
    path = Path(target)
    with explain_target(path):
        draft = path.resolve().with_name(f".{secrets.token_hex(4)}.partial")
        note_begun(draft)
        try:
            draft.write_bytes(content.encode() if isinstance(content, str) else content)
            draft.replace(path.resolve())
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


def refuse_existing(path: Path | None, hint: str = "choose another name") -> None:
    """Refuse a file or folder that is there already, a link that leads nowhere included; None is nothing to write."""
    if path is None:
        return
    with explain_target(path):
        there = path.is_symlink() or path.exists()
    if there:
        raise DisclosureRefused(f"{path.name!r} exists already; {hint}")


def refuse_files(folder: Path, names: Iterable[str], mark: str, *, force: bool) -> None:
    """Refuse to write over files of a folder, or to remove them; with ``force``, only those that no earlier run wrote.

    An earlier run left its ``mark``, the one of the names that nobody else is likely to have written.
    """
    with explain_target(folder):
        there = [n for n in names if (folder / n).is_symlink() or (folder / n).exists()]
    if there and not force:
        raise DisclosureRefused(
            f"{there[0]!r} is in {folder.name!r} already; use --force (force=True) to replace it, or choose another folder"
        )
    if there and mark not in there:
        raise DisclosureRefused(
            f"the folder {folder.name!r} holds a {there[0]!r} that no earlier run wrote; choose another folder"
        )


def move_files(draft: Path, folder: Path) -> None:
    """Move every file of a draft into a folder, below the same names; refuse, before any, where one would be replaced."""
    made = sorted(f for f in draft.rglob("*") if f.is_file())
    for file in made:
        place = folder / file.relative_to(draft)
        if place.is_symlink() or place.exists():
            raise DisclosureRefused(
                f"{place.name!r} is in {place.parent.name!r} already, and nothing there is replaced; choose another folder"
            )
    for file in made:
        place = folder / file.relative_to(draft)
        place.parent.mkdir(parents=True, exist_ok=True)
        file.rename(place)


def clear_abandoned(prefix: str, parent: Path) -> None:
    """Remove folders of a prefix that belong to this user and are in use by nobody."""
    if fcntl is None:
        return
    # The names that mkdtemp gives: a folder that somebody called much the same is not ours.
    own = re.compile(re.escape(prefix) + "[a-z0-9_]{8}")
    with suppress(OSError):
        for folder in [f for f in parent.iterdir() if own.fullmatch(f.name)]:
            if is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def is_abandoned(folder: Path) -> bool:
    """Return True for a folder with a mark that no living process holds."""
    mark = folder / LOCK
    try:
        if folder.is_symlink() or mark.is_symlink() or folder.stat().st_uid != os.getuid():
            return False
        with mark.open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
