"""The status of a table's cell, numbered as in tau-ARGUS output files."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags


class Status(IntEnum):
    """What is known and decided about a cell.

    The numbers are those of tau-ARGUS' code-value files (7 and 8 are unused there).
    """

    SAFE = 1
    SAFE_MANUAL = 2
    UNSAFE = 3
    UNSAFE_REQUEST = 4
    UNSAFE_FREQUENCY = 5
    UNSAFE_ZERO = 6
    UNSAFE_SINGLETON = 7
    UNSAFE_MULTI_SINGLETON = 8
    UNSAFE_MANUAL = 9
    PROTECTED = 10
    SECONDARY = 11
    SECONDARY_MANUAL = 12
    EMPTY_NON_STRUCTURAL = 13
    EMPTY = 14

    @property
    def word(self) -> str:
        """Return the status in a word or two."""
        return WORDS[self]


WORDS = {
    Status.SAFE: "safe",
    Status.SAFE_MANUAL: "safe (manual)",
    Status.UNSAFE: "unsafe (rule)",
    Status.UNSAFE_REQUEST: "unsafe (request)",
    Status.UNSAFE_FREQUENCY: "unsafe (frequency)",
    Status.UNSAFE_ZERO: "unsafe (zero)",
    Status.UNSAFE_SINGLETON: "unsafe (singleton)",
    Status.UNSAFE_MULTI_SINGLETON: "unsafe (multi-singleton)",
    Status.UNSAFE_MANUAL: "unsafe (manual)",
    Status.PROTECTED: "must be published",
    Status.SECONDARY: "secondary",
    Status.SECONDARY_MANUAL: "secondary (manual)",
    Status.EMPTY_NON_STRUCTURAL: "empty (not structural)",
    Status.EMPTY: "empty",
}

Statuses = npt.NDArray[np.int8]


def is_primary(status: Statuses) -> Flags:
    """Return which cells a rule, a request or a person has called unsafe."""
    return (status >= Status.UNSAFE) & (status <= Status.UNSAFE_MANUAL)


def is_secondary(status: Statuses) -> Flags:
    """Return which cells are hidden to protect others."""
    return (status == Status.SECONDARY) | (status == Status.SECONDARY_MANUAL)


def is_hidden(status: Statuses) -> Flags:
    """Return which cells a suppression pattern hides."""
    return is_primary(status) | is_secondary(status)


def is_empty(status: Statuses) -> Flags:
    """Return which cells are known to be empty."""
    return status >= Status.EMPTY_NON_STRUCTURAL


def is_fixed(status: Statuses) -> Flags:
    """Return which cells may not be hidden: empty ones and those that must be published."""
    return (status == Status.PROTECTED) | is_empty(status)
