"""Files held alone: other processes and threads wait, and the operating system lets go when a process dies."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tacit.errors import SdcError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

#: Seconds to wait for another process.
PATIENCE = 60.0


@contextmanager
def hold_alone(file: Path, what: str) -> Iterator[None]:
    """Hold a file alone, by a lock on a file beside it that stays there; OSError where that cannot be made.

    ``what`` is its name in the message when another process holds it for too long, such as ``the access log``.
    """
    handle = os.open(file.with_name(file.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + PATIENCE
        while not try_lock(handle):
            if time.monotonic() > end:
                raise SdcError(f"{what} is in use by another process for too long; try again")
            time.sleep(0.01)
        yield
    finally:
        os.close(handle)


def try_lock(handle: int) -> bool:
    """Return True when the lock is ours."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:  # pragma: no cover - Windows
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True
