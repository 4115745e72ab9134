"""Warnings of a library silenced while several threads use it."""

from __future__ import annotations

import threading
import warnings
from types import TracebackType

from tacit.errors import SdcWarning


class Silence:
    """Ignores all warnings but tacit's own while any thread is within it; the last one out restores the filters.

    ``warnings.catch_warnings`` puts back what it found: of two threads the one that ends last would put back the
    other's silence, for the whole process and for ever.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._filters = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            self._within += 1
            if self._within == 1:
                self._filters = warnings.catch_warnings()
                self._filters.__enter__()
                warnings.simplefilter("ignore")
                warnings.simplefilter("always", SdcWarning)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._within -= 1
            if not self._within:
                self._filters.__exit__(kind, error, trace)
