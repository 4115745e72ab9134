"""A command in a process of its own, under a limit on memory: however that process ends, the shell gets a sentence.

Libraries in C++ and Rust end the whole process when memory cannot be had, and so does the operating system. The
process that was started forks before it loads anything, waits, and removes what the other left unfinished.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tacit.limits import address_limit, be_frugal, call_library, in_words, memory_limit
from tacit.storage import own_folders

#: Asks to stop, which are passed on.
PASSED_ON = ("SIGTERM", "SIGHUP", "SIGINT")
#: The option of Linux's prctl for the signal that a process gets when its parent ends.
WHEN_PARENT_ENDS = 1


def is_called_for() -> bool:
    """Return True where memory is limited and processes can be forked."""
    return hasattr(os, "fork") and hasattr(os, "memfd_create") and memory_limit() is not None


def run_supervised(work: Callable[[], int]) -> int:
    """Return the exit code of the work, done in another process; a sentence and 1 where that process broke down."""
    diary = os.memfd_create("tacit")
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        return do_work(work, diary)
    for name in PASSED_ON:
        signal.signal(getattr(signal, name), lambda number, _frame: pass_on(child, number))
    _, status = os.waitpid(child, 0)
    done, unfinished = read_diary(diary)
    if done is not None:
        return done
    for path in unfinished:
        remove(path)
    return say_end(os.waitstatus_to_exitcode(status))


def do_work(work: Callable[[], int], diary: int) -> int:
    """Do the work in the child, and note its exit code: what fails after that is no longer of interest."""
    call_library("prctl", WHEN_PARENT_ENDS, int(signal.SIGTERM))
    own_folders.report_to = diary
    keep_libraries_quiet()
    be_frugal()
    code = work()
    for stream in (sys.stdout, sys.stderr):
        # A reader that has gone away, or a full disk, is told by the code of the work or by the interpreter.
        with suppress(OSError, ValueError):
            stream.flush()
    os.write(diary, b"done %d\0" % code)
    return code


def keep_libraries_quiet() -> None:
    """Keep for our own words the place where errors go: what a library prints when it breaks down may hold data."""
    if os.environ.get("TACIT_DEBUG"):
        return
    own = os.dup(2)
    sys.stderr = os.fdopen(
        own, "w", encoding=sys.stderr.encoding, errors="backslashreplace", buffering=1
    )
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    os.close(nothing)


def pass_on(child: int, number: int) -> None:
    """Pass a request to stop on; a terminal sends an interruption to both by itself."""
    if number != signal.SIGINT:
        with suppress(ProcessLookupError):
            os.kill(child, number)


def read_diary(diary: int) -> tuple[int | None, list[Path]]:
    """Return the exit code that was noted, if any, and what was begun."""
    os.lseek(diary, 0, os.SEEK_SET)
    with os.fdopen(diary, "rb") as file:
        entries = file.read().split(b"\0")[:-1]
    codes = [int(e[5:]) for e in entries if e.startswith(b"done ")]
    begun = [Path(os.fsdecode(e[6:])) for e in entries if e.startswith(b"begun ")]
    return (codes[-1] if codes else None), begun


def remove(path: Path) -> None:
    """Remove a file or folder that is not finished."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def say_end(code: int) -> int:
    """Say how the process ended; return the exit code of the command."""
    if code in (-signal.SIGTERM, -signal.SIGHUP, -signal.SIGINT):
        sys.stderr.write("error: stopped from outside; nothing was written\n")
        return 128 - code
    if code == -signal.SIGBUS:
        sys.stderr.write(
            "error: a file could not be read or written as it was needed: a full disk, or a file that was cut short. Nothing was released.\n"
        )
        return 1
    sys.stderr.write(f"error: {memory_sentence()}\n")
    return 1


def memory_sentence() -> str:
    """Return what is said where memory did not suffice."""
    limit = memory_limit()
    within = f" within the limit of {in_words(limit)}" if limit is not None else ""
    how = "'ulimit -v'" if address_limit() == limit else "of the container or control group"
    raised = f"a higher limit ({how}), " if limit is not None else ""
    return f"not enough memory{within}. Nothing was released. Use {raised}fewer columns or records, or a larger machine."
