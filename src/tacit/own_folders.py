"""Folders for work in progress: marked as in use while their process lives, cleared by the next when it died.

A process that is killed cannot tidy up, and its folders hold confidential records. A lock that the operating
system lets go with the process, however it ends, tells the folders of the living from those of the dead.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: nothing is cleared there
    fcntl = None  # type: ignore[assignment]

LOCK = ".in-use"


def make_own_folder(prefix: str, parent: Path) -> tuple[Path, int]:
    """Return a new private folder and the file descriptor that marks it as in use while it is open.

    Folders of the same prefix whose processes have died are cleared first.
    """
    clear_abandoned(prefix, parent)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    # Locked under another name first: whoever finds the mark finds it locked.
    draft = folder / f"{LOCK}-draft"
    handle = os.open(draft, os.O_RDWR | os.O_CREAT, 0o600)
    if fcntl is not None:
        # Some network folders have no locks: then nobody else clears this folder, and that is all.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft.replace(folder / LOCK)
    return folder, handle


def clear_abandoned(prefix: str, parent: Path) -> None:
    """Remove folders of a prefix that belong to this user and are in use by nobody."""
    if fcntl is None:
        return
    with suppress(OSError):
        for folder in [f for f in parent.iterdir() if f.name.startswith(prefix)]:
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
