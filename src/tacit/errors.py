"""Every error and warning of tacit.

The whole tree::

    SdcError
      InputError(ValueError)      the data or a file is not what the task needs
        ColumnNotFound            a named column does not exist (with near matches)
        RoleMissing               a method needs keys, a weight, ... that were not declared
        HierarchyError            a generalisation hierarchy is invalid or does not fit the data
        NotAdditive               a table's relations do not hold
        UnreadableFile            a file is missing, empty, undecodable or of an unknown kind
      SpecError(ValueError)       a description of work is wrong
        InvalidParameter          a parameter is outside its bounds
        UnknownMethod             no method of that name (with near matches)
        UnknownClaim              no check can recompute claims of that model (with near matches)
        PlanError                 a plan has faults; all are listed
        PlanVersion               a plan was written for another major version
      Infeasible                  the requirement cannot be met by any allowed change
      SolverError
        LimitReached              no proven answer within the time or size allowed
      EngineError
        EngineMissing             an optional package or runtime is not installed
      DisclosureRefused           would write unprotected data, overwrite, or break a claim
      ProtocolError               a message of another party is not what the protocol allows
        PartyMissing              a party could not be reached, or did not answer in time
      Cancelled                   the user asked to stop
    SdcWarning(UserWarning)
      Approximate                 a heuristic answer; the message gives the bound or gap
      LowUtility                  protection was bought with nearly all information
      WeakProtection              a choice that protects less than it seems
      Slow                        this will take long at this size

A message says what is wrong, where, and what to do next. It never quotes a confidential value, a
record or a small count; which values it is about, ``tacit.show_values()`` prints for the person who holds
the data (see :mod:`tacit.reveal`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, ENOMEM, ENOSPC


class SdcError(Exception):
    """Base of every error that tacit raises on purpose."""


class InputError(SdcError, ValueError):
    """The data or a file is not what the task needs."""


class ColumnNotFound(InputError):
    """A named column does not exist; the message suggests near matches."""

    def __init__(self, missing: Iterable[str], available: Sequence[str], where: str = "") -> None:
        names = list(missing)
        self.missing = tuple(names)
        what = "column" if len(names) == 1 else "columns"
        hints = [near_match(name, available) for name in names]
        hint = " ".join(h for h in hints if h)
        shown = ", ".join(available[:20]) + (" ..." if len(available) > 20 else "")
        place = f" in {where}" if where else ""
        listed = ", ".join(repr(name) for name in names)
        super().__init__(
            f"no {what} {listed}{place}. {hint + ' ' if hint else ''}Columns: {shown}."
        )


def require_columns(wanted: Iterable[str], available: Iterable[str], where: str) -> None:
    """Refuse names of columns that are not there."""
    there = list(available)
    missing = [name for name in wanted if name not in there]
    if missing:
        raise ColumnNotFound(dict.fromkeys(missing), there, where)


class RoleMissing(InputError):
    """A method needs a role (keys, sensitive, weight, ...) that was not declared."""


class HierarchyError(InputError):
    """A generalisation hierarchy is invalid, or does not cover the data.

    ``faults`` lists every fault that was found.
    """

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        self.faults = tuple(faults)
        super().__init__(join_faults(message, self.faults))


class NotAdditive(InputError):
    """A table's relations do not hold."""


class UnreadableFile(InputError):
    """A file is missing, empty, undecodable or of an unknown kind."""


class SpecError(SdcError, ValueError):
    """A description of work is wrong."""


class InvalidParameter(SpecError):
    """A parameter of a method is outside its bounds."""

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        self.faults = tuple(faults)
        super().__init__(message)


class UnknownMethod(SpecError):
    """No method is registered under that name."""


class UnknownClaim(SpecError):
    """No check can recompute claims of that model."""


class PlanError(SpecError):
    """A plan has faults; ``faults`` lists all of them."""

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        self.faults = tuple(faults)
        super().__init__(join_faults(message, self.faults))


class PlanVersion(SpecError):
    """A plan was written for another major version of the plan format."""


class Infeasible(SdcError):
    """No allowed change meets the requirement."""


class SolverError(SdcError):
    """A linear or integer solver failed."""


class LimitReached(SolverError):
    """A time or size limit was reached before the answer was proven."""


class EngineError(SdcError):
    """A relational engine failed."""


class EngineMissing(EngineError):
    """An engine, an optional package or a runtime is not installed."""


class DisclosureRefused(SdcError):
    """The action would disclose: a claim does not hold, or a file would be overwritten."""


class ProtocolError(SdcError):
    """A message of another party is not what the protocol allows; the run has ended."""


class PartyMissing(ProtocolError):
    """A party could not be reached, or did not answer in time; the run may be taken up again."""


class Cancelled(SdcError):
    """The work was stopped on request; nothing was written."""


class SdcWarning(UserWarning):
    """Base of every warning that tacit issues."""


class Approximate(SdcWarning):
    """The answer is heuristic; the message gives its bound or gap."""


class LowUtility(SdcWarning):
    """Protection was bought with nearly all of the information."""


class WeakProtection(SdcWarning):
    """A choice protects less than it seems to."""


class Slow(SdcWarning):
    """The work will take long at this size."""


@contextmanager
def explain_target(target: object, verb: str = "write") -> Iterator[None]:
    """Say in a sentence why a file or folder cannot be written or read: rights, a full disk, a name too long."""
    try:
        yield
    except OSError as error:
        why = error.strerror or "it failed"
    except UnicodeEncodeError:
        why = "its name or its text holds a character that no file can hold (a lone surrogate)"
    except ValueError as error:
        if "null" not in str(error) or isinstance(error, SdcError):
            raise
        why = "its name holds a null character"
    else:
        return
    name = str(target).rsplit("/", 1)[-1]
    shown = name if len(name) <= 60 else name[:57] + "..."
    raise InputError(
        f"cannot {verb} {shown!r}: {why}. Choose a place that you may {verb}{' to' if verb == 'write' else ''}."
    )


def has_lone_surrogate(value: object) -> bool:
    """Return True where a text, in lists and mappings too, holds half a character, which no file or engine takes."""
    if isinstance(value, str):
        return any("\ud800" <= c <= "\udfff" for c in value)
    if isinstance(value, dict):
        return any(map(has_lone_surrogate, (*value, *value.values())))
    return isinstance(value, list | tuple | set) and any(map(has_lone_surrogate, value))


def is_out_of_memory(error: BaseException) -> bool:
    """Return True for what Python, Arrow or an engine raises when memory does not suffice."""
    named = type(error).__name__ in ("ArrowMemoryError", "OutOfMemoryException", "OutOfMemoryError")
    asked = isinstance(error, MemoryError) or getattr(error, "errno", None) == ENOMEM
    text = str(error)[:2000]
    return named or asked or "OutOfMemoryError" in text or "Cannot allocate memory" in text


def is_out_of_disk(error: BaseException) -> bool:
    """Return True for what is raised when a disk is full."""
    text = str(error)[:2000]
    full = getattr(error, "errno", None) in (ENOSPC, EDQUOT, EFBIG)
    return full or any(
        words in text
        for words in ("No space left on device", "Disk quota exceeded", "File too large")
    )


def make_shortage_error(what: str, error: BaseException) -> EngineError:
    """Return the error for work that needs more memory or disk than there is."""
    if is_out_of_disk(error):
        return EngineError(
            f"{what} found no space on the disk for what it keeps in between. Free some, or name another "
            "folder in the environment (TMPDIR)."
        )
    return EngineError(
        f"{what} ran out of memory. Free some, raise the limit (TACIT_DUCKDB_MEMORY, TACIT_SPARK_MEMORY), "
        "read fewer columns, or work on a larger machine or on Spark."
    )


def near_match(name: str, available: Iterable[str]) -> str:
    """Return ``Did you mean 'x'?`` for the closest available name, or an empty string."""
    folded = {str(a).casefold(): str(a) for a in available}
    close = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.6)
    return f"Did you mean {folded[close[0]]!r}?" if close else ""


def join_faults(message: str, faults: Sequence[str]) -> str:
    """Join a heading and its faults, one a line."""
    if not faults:
        return message
    return "\n".join([f"{message}:", *(f"  - {fault}" for fault in faults)])


def require(package: str, extra: str, purpose: str) -> EngineMissing:
    """Return the error that names the extra to install for an optional package."""
    return EngineMissing(
        f"{purpose} needs the package {package!r}, which is not installed. "
        f"Install it with: pip install 'tacit[{extra}]'."
    )


#: The errors and warnings drawn above.
__all__ = [
    name
    for name, thing in list(globals().items())
    if isinstance(thing, type) and issubclass(thing, SdcError | SdcWarning)
]


def __dir__() -> list[str]:
    return sorted(__all__)
