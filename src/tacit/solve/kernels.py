"""Compiling kernels: plain functions on arrays that run as they are, and faster where numba is there."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any


def has_numba() -> bool:
    """Return True when kernels can be compiled."""
    return importlib.util.find_spec("numba") is not None


def compile_all(kernels: Iterable[Callable[..., Any]], home: Mapping[str, Any]) -> dict[str, Any]:
    """Return a module's names with its kernels compiled; they call each other's compiled selves.

    Machine code is kept beside the module, so that it is made once only. Kernels touch arrays alone and
    let other threads run meanwhile. ``home`` is the module's
    ``globals()``; kernels that are called come before those that call them.
    """
    import numba

    names: dict[str, Any] = dict(home)
    for function in kernels:
        assert isinstance(function, FunctionType)
        copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        copy.__module__ = home["__name__"]
        try:
            names[function.__name__] = numba.njit(copy, cache=True, nogil=True)
        except RuntimeError:  # no place to keep it
            names[function.__name__] = numba.njit(copy, nogil=True)
    return names
