"""The command line: the same verbs, defaults and errors as the library."""

from __future__ import annotations

from tacit.cli.app import main

__all__ = ["main"]
