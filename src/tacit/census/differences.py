"""Two agreements compared, in words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from tacit.numbers import format_number

#: Which way a number protects more: up or down.
STRICTER_UP = ("sample.interval", "geography.at_least")
STRICTER_DOWN = ("sample.fraction", "top_codes.", "digits.")
#: Thresholds by name, so that names and numbers compare.
NAMED = {"standard": 20_000, "us": 100_000}


def differences(
    old: Mapping[str, Any], new: Mapping[str, Any], secrets: Collection[str] = ()
) -> Iterator[str]:
    """Yield a sentence for each setting that differs; of secret ones only that they do."""
    ours, theirs = flatten(old), flatten(new)
    for path in dict.fromkeys([*ours, *theirs]):
        before, after = ours.get(path), theirs.get(path)
        if before == after:
            continue
        if path in secrets:
            yield f"{path} was changed (it is secret and not shown)"
        elif isinstance(before, list) or isinstance(after, list):
            yield from list_difference(path, before, after)
        elif before is None:
            yield f"{path} is new: {show(after)}"
        elif after is None:
            yield f"{path} is gone (it was {show(before)})"
        else:
            yield f"{path} was {show(before)} and is {show(after)}{direction(path, before, after)}"


def flatten(document: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return nested settings by path."""
    found: dict[str, Any] = {}
    for name, value in document.items():
        here = f"{path}.{name}" if path else str(name)
        if isinstance(value, Mapping) and value:
            found |= flatten(value, here)
        else:
            found[here] = value
    return found


def list_difference(path: str, before: Any, after: Any) -> Iterator[str]:
    """Yield what was added to a list and taken from it."""
    ours, theirs = as_list(before), as_list(after)
    added = [v for v in theirs if v not in ours]
    taken = [v for v in ours if v not in theirs]
    if added:
        yield f"{path} has {', '.join(map(show, added))} in addition"
    if taken:
        yield f"{path} no longer has {', '.join(map(show, taken))}"
    if not added and not taken:
        yield f"{path} is in another order: {', '.join(map(show, theirs))}"


def as_list(value: Any) -> list[Any]:
    """Return a value as a list."""
    return [] if value is None else value if isinstance(value, list) else [value]


def show(value: Any) -> str:
    """Return a setting in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_number(value) if isinstance(value, int | float) else str(value)


def direction(path: str, before: Any, after: Any) -> str:
    """Return whether a change protects more or less, where that is known."""
    old, new = NAMED.get(before, before), NAMED.get(after, after)
    if old == "none_shown" or new == "none_shown":
        return ", which is stricter" if new == "none_shown" else ", which is less strict"
    if not all(isinstance(v, int | float) for v in (old, new)) or old == new:
        return ""
    stricter: Callable[[], bool]
    if path in STRICTER_UP or path.startswith("bottom_codes."):
        stricter = lambda: new > old  # noqa: E731 - one of two comparisons
    elif path.startswith(STRICTER_DOWN):
        stricter = lambda: new < old  # noqa: E731
    else:
        return ""
    return ", which is stricter" if stricter() else ", which is less strict"
