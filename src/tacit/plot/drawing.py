"""Charts are drawn in a process of their own: the library that draws them ends its process when memory is short.

It needs 64 GB of address space, of which it uses little; under a limit on the address space (``ulimit -v``) there are no
drawings, and an error says so instead of the end of everything. One process draws all charts, and ends with this one.
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from tacit.errors import EngineError
from tacit.events import can_interrupt
from tacit.limits import address_limit, in_words

#: The address space that the library reserves, in bytes.
NEEDED = 66 << 30
#: How often a chart is asked for: where memory is short for a moment, the system ends the process that draws first.
TRIES = 3

_lock = threading.Lock()
_pencil: tuple[int, subprocess.Popen[str]] | None = None


class NotDrawn(EngineError):
    """A chart could not be drawn: memory is short, or its description is wrong."""


def draw(verb: str, *given: Any, **named: Any) -> Any:
    """Return what a function of the drawing library gives, as text or bytes."""
    limit = address_limit()
    if limit is not None and limit < NEEDED:
        raise NotDrawn(
            f"the chart was not drawn: drawing reserves 66 GB of address space, and the limit is {in_words(limit)} (ulimit -v)"
        )
    request = json.dumps({"verb": verb, "given": given, "named": named})
    with _lock:
        line = next(filter(None, (ask(request) for _ in range(TRIES))), "")
    if not line:
        raise NotDrawn(
            "the chart was not drawn: the process that draws ended, most likely for want of memory"
        )
    made = json.loads(line)
    if "failed" in made:
        raise NotDrawn("the chart was not drawn: its description is not one that can be drawn")
    return base64.b64decode(made["bytes"]) if "bytes" in made else made["text"]


def ask(request: str) -> str:
    """Return the answer of the process that draws; nothing where it ended instead."""
    try:
        process = find_pencil()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(request + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except OSError:
        line = ""
    except BaseException:
        # What it answers later belongs to nobody.
        put_down()
        raise
    if line.endswith("\n"):
        return line
    put_down()
    return ""


def find_pencil() -> subprocess.Popen[str]:
    """Return the process that draws; started when first needed, and again by a process that was forked from ours."""
    global _pencil  # noqa: PLW0603 - one process draws for all
    if _pencil is not None and (_pencil[0] != os.getpid() or _pencil[1].poll() is not None):
        put_down()
    if _pencil is None:
        started = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", str(Path(__file__).with_name("pencil.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            errors="surrogatepass",
            # An interruption is for us; the other ends when we do.
            start_new_session=True,
        )
        _pencil = (os.getpid(), started)
    return _pencil[1]


def take_own_lock() -> None:
    """Have a process that was forked from ours wait for none of our threads."""
    global _lock  # noqa: PLW0603 - locks are of one process
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=take_own_lock)


class Pencil:
    """The process that draws, as a job that is to stop sees it."""

    def interrupt(self) -> None:
        """End what is being drawn."""
        if _pencil is not None and _pencil[0] == os.getpid():
            _pencil[1].kill()


PENCIL = Pencil()
can_interrupt(PENCIL)


@atexit.register
def put_down() -> None:
    """End the process that draws, and let go of one that has ended."""
    global _pencil
    held, _pencil = _pencil, None
    if held is None:
        return
    owner, process = held
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with suppress(OSError):
            pipe.close()
    if owner == os.getpid():
        process.kill()
        process.wait()
    else:
        # It draws for the process that we were forked from, which waits for it.
        process.returncode = 0
