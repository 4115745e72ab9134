"""The command line: the same verbs, defaults and errors as the library."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; an interruption at any moment ends with one line."""
    try:
        from tacit.cli.app import main as run_command

        return run_command(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted; nothing was written\n")
        return 130
