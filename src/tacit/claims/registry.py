"""The registry of checks: found by file name, so that recomputing a claim imports one file."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

from tacit.errors import UnknownClaim, near_match

#: A check looks at the released frame, or at the table whose published part was read back.
Check = Callable[[Any, Any], bool]
C = TypeVar("C", bound=Check)

_checks: dict[str, Check] = {}
_data: dict[str, tuple[str, ...]] = {}


def check_for(model: str, *, of: str | tuple[str, ...] = "records") -> Callable[[C], C]:
    """Name the function that recomputes claims of a model, and the kinds of data that it looks at."""

    def keep(check: C) -> C:
        _checks[model] = check
        _data[model] = (of,) if isinstance(of, str) else of
        return check

    return keep


def find_check(model: str) -> Check:
    """Return the check of a model, or say what was probably meant."""
    if model not in _checks and (module := files().get(model.replace("-", "_"))):
        importlib.import_module(module)
    if model not in _checks:
        load_third_parties()
    if model not in _checks:
        hint = near_match(model, models()) or "Name it with @check_for in tacit.claims."
        raise UnknownClaim(f"nothing can recompute claims of {model!r}. {hint}")
    return _checks[model]


def data_of(model: str) -> tuple[str, ...]:
    """Return the kinds of data that claims of a model are about: ``records``, ``table``, ``corpus``."""
    find_check(model)
    return _data[model]


def models() -> list[str]:
    """Return every model that can be recomputed."""
    for module in files().values():
        importlib.import_module(module)
    load_third_parties()
    return sorted(_checks)


@functools.cache
def files() -> Mapping[str, str]:
    """Return the files of this package and of its topics by name, with their modules; nothing is imported."""
    return dict(walk("tacit.claims", importlib.import_module("tacit.claims").__path__))


def walk(package: str, folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the files of a package and of those in it, without importing them."""
    for found in pkgutil.iter_modules(folders):
        name = f"{package}.{found.name}"
        if found.ispkg:
            yield from walk(name, [str(Path(folder) / found.name) for folder in folders])
        else:
            yield found.name, name


@functools.cache
def load_third_parties() -> None:
    """Import every module of the entry-point group ``tacit.claims``, once."""
    for entry in entry_points(group="tacit.claims"):
        entry.load()
