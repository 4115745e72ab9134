"""Which values an error is about: shown to the person who holds the data when asked, and to nobody else.

One rule for every error: its sentence says what is wrong, where and how often, and never holds a value of
the data, because errors end up in logs, tickets and ledgers. Whoever holds the data may ask which values
they are, with ``--show-values`` in the shell or inside ``tacit.show_values()``: they are then printed on
standard error when the error arises, and stay out of the error itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Values printed for one error.
MOST = 20

_asked: ContextVar[bool] = ContextVar("tacit_show_values", default=False)


@contextmanager
def show_values() -> Iterator[None]:
    """Print, on standard error, the values that errors inside this block are about."""
    token = _asked.set(True)
    try:
        yield
    finally:
        _asked.reset(token)


def reveal(what: str, values: Iterable[object]) -> str:
    """Print values if the person asked for them; return the last sentence of the error."""
    if not _asked.get():
        return "--show-values (in Python: with tacit.show_values()) lists them on your screen."
    found = list(values)
    lines = [f"  {value!r}" for value in found[:MOST]]
    if len(found) > MOST:
        lines.append(f"  ... and {len(found) - MOST:,} more")
    print(f"{what}:", *lines, sep="\n", file=sys.stderr)
    return "They are listed above."
