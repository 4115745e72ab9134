"""Several processes: what parents of them share."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager

#: How often a waiting parent asks whether to stop.
POLL = 0.2


@contextmanager
def bare_main() -> Iterator[None]:
    """Let processes start without running the user's script again.

    A spawned process imports the main module of its parent; a script without the customary guard would
    then start the whole work again. What the script itself defines is not found in the other process, so
    it must not travel: pickling it fails here, and the work is done in this process instead.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
