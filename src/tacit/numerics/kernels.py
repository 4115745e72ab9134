"""Kernels: loops on arrays, written once in Python and compiled by numba where that pays.

A kernel gives the same result either way, to the last bit, so whether it is compiled is a question of time
alone: never with numba missing; with machine code kept from an earlier run when the work outweighs
loading it; else when the work outweighs compiling. The environment variable ``TACIT_KERNELS`` (``auto``,
``plain`` or ``compiled``) decides for a whole process, :func:`run_kernels` for a block of code.

What makes both forms agree: sums are written as loops, in one order; powers, logarithms and exponentials
come from :mod:`math` or from outside; integers stay within 64 bits; ties are broken by an index.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FunctionType
from typing import Any, Literal

from tacit.errors import Slow

Mode = Literal["auto", "plain", "compiled"]
Functions = dict[str, Callable[..., Any]]

#: Seconds for one turn of an innermost loop in Python, for importing numba, for loading kept machine code, and
#: for compiling one byte of Python's code.
TURN, IMPORT, LOAD, COMPILE = 5e-7, 0.45, 0.2, 1.3e-3
#: Seconds in plain Python from which numba is recommended.
PATIENCE = 120.0

_named = os.environ.get("TACIT_KERNELS", "auto")
_mode: Mode = _named if _named in ("auto", "plain", "compiled") else "auto"  # type: ignore[assignment]
_lock = threading.RLock()
#: Every set of kernels that was loaded, by module.
REGISTERED: dict[str, Kernels] = {}


class Kernels:
    """The kernels of one module, whose ``globals()`` are its home.

    ``functions`` holds those that are called before those that call them, ``needs`` the kernels of other modules that these
    call.
    """

    def __init__(
        self, home: Mapping[str, Any], *functions: Callable[..., Any], needs: Sequence[Kernels] = ()
    ) -> None:
        self.home, self.functions, self.needs = home, functions, tuple(needs)
        self.module = str(home["__name__"])
        self._compiled: Functions | None = None
        self._turns = 0.0
        REGISTERED[self.module] = self

    def pick(self, turns: float) -> Functions:
        """Return the kernels by name, compiled or not, for loops of about this many turns in all."""
        return self.compiled() if self.pays(turns) else self.plain()

    def pays(self, turns: float) -> bool:
        """Return True when compiled kernels finish this many turns sooner, loading or compiling included."""
        if _mode == "plain":
            return False
        if not has_numba():
            warn_of_slowness(turns)
            return False
        if _mode == "compiled" or self._compiled is not None:
            return True
        # Many small calls add up: work done so far is the best forecast of work to come.
        self._turns += turns
        start = 0.0 if "numba" in sys.modules else IMPORT
        return self._turns * TURN > start + (LOAD if self.is_kept else COMPILE * self.size)

    def plain(self) -> Functions:
        """Return the kernels as they are written."""
        return {f.__name__: f for f in self.functions}

    def compiled(self) -> Functions:
        """Return the kernels compiled; they call each other's compiled selves."""
        with _lock:
            if self._compiled is None:
                self._compiled = self._compile()
            return self._compiled

    def _compile(self) -> Functions:
        names = {**self.home}
        for other in self.needs:
            other._compiled = other._compiled or other._compile()
            names |= other._compiled
        with cache_directory(self.directory()):
            return {f.__name__: compile_kernel(f, names) for f in self.functions}

    @functools.cached_property
    def size(self) -> int:
        """Return the bytes of Python's code in all kernels."""
        own = sum(len(f.__code__.co_code) for f in self.functions if isinstance(f, FunctionType))
        return own + sum(other.size for other in self.needs)

    @functools.cached_property
    def is_kept(self) -> bool:
        """Return True when machine code of these sources is kept from an earlier run."""
        place = self.directory()
        return place is not None and next(place.rglob("*.nbi"), None) is not None

    def directory(self) -> Path | None:
        """Return where machine code is kept; its name changes with the sources of all kernels in it."""
        place = cache_home()
        return None if place is None else place / f"{self.module}-{self.stamp()}"

    def stamp(self) -> str:
        """Return a short name for the present state of the sources."""
        parts = [importlib.metadata.version("numba"), sys.version]
        for group in (self, *self.needs):
            status = Path(group.home["__file__"]).stat()
            parts.append(f"{status.st_mtime_ns} {status.st_size}")
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:12]


@functools.cache
def has_numba() -> bool:
    """Return True when kernels can be compiled."""
    return importlib.util.find_spec("numba") is not None


def warn_of_slowness(turns: float) -> None:
    """Say that numba would help when work in Python takes minutes."""
    seconds = turns * TURN
    if seconds > PATIENCE:
        warnings.warn(
            f"this takes about {seconds / 60:,.0f} minutes in plain Python; with numba installed "
            "(tacit[fast]) it is faster and gives the same result.",
            Slow,
            stacklevel=3,
        )


@contextmanager
def run_kernels(mode: Mode) -> Iterator[None]:
    """Let kernels run ``plain`` or ``compiled`` within a block, in every thread."""
    global _mode  # noqa: PLW0603 - one switch for the process, threads included
    before, _mode = _mode, mode
    try:
        yield
    finally:
        _mode = before


def compile_kernel(function: Callable[..., Any], names: dict[str, Any]) -> Callable[..., Any]:
    """Compile one kernel so that it finds others in ``names``, and add it there."""
    import numba

    assert isinstance(function, FunctionType)
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    copy.__module__ = function.__module__
    # Other threads run meanwhile: kernels touch arrays alone.
    try:
        keep = bool(vars(numba.config)["CACHE_DIR"])
        made = numba.njit(copy, cache=keep, nogil=True)
    except RuntimeError:  # no place to keep it
        made = numba.njit(copy, nogil=True)
    names[function.__name__] = made
    return made


@contextmanager
def cache_directory(place: Path | None) -> Iterator[None]:
    """Let numba keep machine code in a directory; what older sources left beside it is removed."""
    import numba

    settings = vars(numba.config)
    before, settings["CACHE_DIR"] = settings["CACHE_DIR"], "" if place is None else str(place)
    if place is not None and not place.exists():
        module = place.name.rsplit("-", 1)[0]
        for old in place.parent.glob(f"{module}-*"):
            shutil.rmtree(old, ignore_errors=True)
    try:
        yield
    finally:
        settings["CACHE_DIR"] = before


@functools.cache
def cache_home() -> Path | None:
    """Return the first directory that can be written: numba's own, beside the package, the user's."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    beside = Path(__file__).parent / "__pycache__"
    for place in [Path(named)] if named else [beside, user_cache()]:
        home = place / "kernels"
        with suppress(OSError):
            home.mkdir(parents=True, exist_ok=True)
            if os.access(home, os.W_OK | os.X_OK):
                return home
    return None


def user_cache() -> Path:
    """Return the user's cache directory of this version, by the custom of the system."""
    version = importlib.metadata.version("tacit")
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", home / ".cache"))
    return base / "tacit" / version
