"""The command line: the same verbs, defaults and errors as the library."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; an interruption at any moment ends with one line."""
    from tacit.cli.supervised import is_called_for, run_supervised

    if arguments is None and is_called_for():
        return run_supervised(lambda: run_command(None))
    return run_command(arguments)


def run_command(arguments: list[str] | None) -> int:
    """Run one command in this process."""
    try:
        from tacit.cli.app import main as run

        return run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted; nothing was written\n")
        return 130
    except Exception as error:
        # Only loading can fail here: a library that finds no memory says so in many ways.
        from tacit.cli.supervised import memory_sentence
        from tacit.limits import memory_limit

        if memory_limit() is None and not isinstance(error, MemoryError):
            raise
        sys.stderr.write(f"error: {memory_sentence()}\n")
        return 1
