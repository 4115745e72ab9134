"""Limits of time, and whether one was reached: another machine may then end with another answer, so that the ledger says it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

#: What the ledger notes of a step that ended at a limit of time.
LIMIT_REACHED = "time_limit_reached"


@dataclass
class Watch:
    """Whether a limit of time was reached while it was looked at."""

    reached: bool = False


_WATCHES: ContextVar[tuple[Watch, ...]] = ContextVar("watches", default=())


@contextmanager
def watch_limits() -> Iterator[Watch]:
    """Give a watch that notices every limit of time reached within the block, by this thread.

    >>> with watch_limits() as watch:
    ...     late = is_past(time.monotonic() - 1.0)
    >>> late, watch.reached
    (True, True)
    """
    own = Watch()
    before = _WATCHES.set((*_WATCHES.get(), own))
    try:
        yield own
    finally:
        _WATCHES.reset(before)


def limit_reached() -> None:
    """Say that something ended early because of a limit of time."""
    for watch in _WATCHES.get():
        watch.reached = True


def is_past(end: float | None) -> bool:
    """Return True when the moment ``end`` (``time.monotonic``) is over, which is then noticed; None never is."""
    late = end is not None and time.monotonic() > end
    if late:
        limit_reached()
    return late


def seconds_left(end: float) -> float:
    """Return the seconds until a moment, at least 0; that none are left is noticed."""
    left = end - time.monotonic()
    if left <= 0:
        limit_reached()
    return max(0.0, left)
