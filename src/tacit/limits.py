"""What memory this process may use, and how to work within it.

A limit on the address space (``ulimit -v``) counts what is reserved, not what is used: a thread reserves 72 MB and
more, Arrow's own allocator a gigabyte. Where such a limit is set, libraries that cannot reserve end the whole process
by a signal, so threads and reservations are kept few before they are made. Results do not depend on either.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

try:
    import resource
except ImportError:  # pragma: no cover - Windows has no such limits
    resource = None  # type: ignore[assignment]

#: What a thread is taken to need under a limit on the address space, with its share of the data.
PER_THREAD = 1 << 30
#: Where a control group keeps its limit (versions 2 and 1), as seen from within a container.
GROUPS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
#: What libraries are told before they are loaded, unless the user has told them otherwise.
FRUGAL = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
#: The parameter of glibc's mallopt that bounds the arenas, of 64 MB or more each.
ARENAS = -8


def address_limit() -> int | None:
    """Return the bytes of address space that this process may reserve; None without a limit."""
    if resource is None:  # pragma: no cover
        return None
    soft, _hard = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else int(soft)


def group_limit() -> int | None:
    """Return the bytes that the control group of this process may use; None where that is the whole machine."""
    for file in GROUPS:
        with suppress(OSError, ValueError, MemoryError):
            limit = int(file.read_text(encoding="ascii"))
            machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            return limit if limit < machine else None
    return None


def memory_limit() -> int | None:
    """Return the smaller of both limits; None without any."""
    found = [limit for limit in (address_limit(), group_limit()) if limit is not None]
    return min(found, default=None)


def thread_count() -> int | None:
    """Return how many threads fit under the limit on the address space; None without one."""
    limit = address_limit()
    return None if limit is None else max(1, min(os.cpu_count() or 1, limit // PER_THREAD))


def be_frugal() -> None:
    """Under a limit on the address space, have libraries reserve little; what is loaded already is told now."""
    threads = thread_count()
    if threads is None:
        return
    for name, value in FRUGAL.items():
        os.environ.setdefault(name, value)
    # All threads share one arena of the C library.
    call_library("mallopt", ARENAS, 1)
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and hasattr(arrow, "set_cpu_count"):
        arrow.set_memory_pool(arrow.system_memory_pool())
        arrow.set_cpu_count(threads)
        arrow.set_io_thread_count(threads)


def call_library(name: str, *given: int | bytes) -> int | None:
    """Return what a function of the C library gives; None where there is none of that name."""
    import ctypes

    with suppress(OSError, AttributeError):
        return int(getattr(ctypes.CDLL(None, use_errno=True), name)(*given))
    return None


def in_words(size: int) -> str:
    """Return a size for people."""
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size // 2**20} MB"
