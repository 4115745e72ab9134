"""Rules for codes: flat, digits masked from the right, digit groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.data.hierarchy import TOP, Hierarchy, PlainRule, ground_label
from tacit.errors import HierarchyError
from tacit.reveal import reveal


@dataclass(frozen=True)
class Flat(PlainRule):
    """Every value, then the top: the column is either as it is or suppressed."""

    kind: ClassVar[str] = "flat"

    top: str = TOP

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the two-level hierarchy of the values."""
        return Hierarchy.from_columns([[ground_label(v) for v in values]], top=self.top)


def flat(top: str = TOP) -> Flat:
    """Return the rule "as it is, or suppressed"."""
    return Flat(top)


@dataclass(frozen=True)
class Digits(PlainRule):
    """Mask characters from the right: 02138, 0213*, 021**, *****."""

    kind: ClassVar[str] = "digits"

    length: int
    mask: tuple[int, ...]
    pad: str = "0"

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of codes of a fixed length."""
        texts = [ground_label(v) for v in values]
        long = sum(len(t) > self.length for t in texts)
        if long:
            raise HierarchyError(
                f"digits({self.length}): {long} of {len(texts)} different values are longer than "
                f"{self.length} characters"
            )
        # A number read as an integer has lost its leading zeros; masking counts places, not digits.
        codes = [t.rjust(self.length, self.pad) for t in texts]
        masks = [m for m in self.mask if m < self.length]
        columns = [[code[: self.length - m] + "*" * m for code in codes] for m in masks]
        return Hierarchy.from_columns([texts, *columns], top="*" * self.length)


def digits(length: int, mask: Sequence[int] | None = None) -> Digits:
    """Return the rule that masks codes of ``length`` characters from the right.

    Parameters
    ----------
    length
        Characters in a code.
    mask
        How many characters each level hides; by default 1, 2, ..., length - 1. The top, with all
        characters hidden, is added.
    """
    chosen = tuple(range(1, length) if mask is None else mask)
    rises = list(chosen) == sorted(set(chosen))
    if length < 1 or any(m < 1 or m > length for m in chosen) or not rises:
        raise HierarchyError(
            "digits: mask must rise from 1 to at most the length, e.g. digits(5, mask=[1, 2])"
        )
    return Digits(length, chosen)


@dataclass(frozen=True)
class Prefix(PlainRule):
    """Codes made of digit groups: 1234 belongs to 123, which belongs to 12."""

    kind: ClassVar[str] = "prefix"

    lengths: tuple[int, ...]
    ragged: bool = False

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of the codes: one group less at each level."""
        texts = [ground_label(v) for v in values]
        length = sum(self.lengths)
        wrong = [t for t in texts if (len(t) > length if self.ragged else len(t) != length)]
        if wrong:
            hint = " (numbers lose leading zeros: read the column as text; ragged=True allows shorter codes)"
            advice = "" if self.ragged else hint
            raise HierarchyError(
                f"prefix({list(self.lengths)}): {len(wrong)} of {len(texts)} different values do not have "
                f"{length} characters{advice}. {reveal('Values of another length', wrong)}"
            )
        kept = [sum(self.lengths[:n]) for n in range(len(self.lengths) - 1, 0, -1)]
        return Hierarchy.from_columns([texts, *([t[:n] for t in texts] for n in kept)])


def prefix(lengths: Sequence[int], *, ragged: bool = False) -> Prefix:
    """Return the rule for codes made of digit groups, as tau-ARGUS's ``<HIERLEVELS>`` gives them.

    Parameters
    ----------
    lengths
        Characters in each group, from the left: ``[2, 1, 1]`` takes ``1234`` to ``123``, then to
        ``12``, then to the top. Groups of no characters are left out.
    ragged
        Allow codes that are shorter than the sum; they stand for themselves at the lower levels.
    """
    groups = tuple(n for n in lengths if n)
    if not groups or any(n < 0 for n in groups):
        raise HierarchyError(
            "prefix: lengths are the positive widths of the digit groups, e.g. prefix([2, 1, 1])"
        )
    return Prefix(groups, ragged)
