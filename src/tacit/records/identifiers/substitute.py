"""Substitution: each value becomes another value of the same format, one-to-one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import drop_stale_descriptions
from tacit.engine.relational import fetch_distinct
from tacit.errors import Infeasible, InputError, SdcError
from tacit.fields import ColumnNames
from tacit.registry import register
from tacit.spec import Method

DIGITS = "0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = UPPER.lower()

#: What may stand where the format has a digit, a leading digit, a capital or another letter.
ALPHABETS = {"d": DIGITS, "n": DIGITS[1:], "U": UPPER, "l": LOWER}

#: A format with no more values than this is listed in full when most of it is needed.
LISTED = 1 << 24


@register
class Substitute(Method):
    """Replace each value by another of the same format, one-to-one and consistently.

    Digits become digits, capitals capitals, letters letters; punctuation and length stay. Equal values
    get equal replacements and different values different ones, and no replacement is a value that
    occurs in the column. The replacements depend on the seed alone, so whoever holds the seed can
    rebuild the table of pairs.

    Text and whole-number columns can be substituted. A column loses the role of identifier.

    References
    ----------
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    """

    kind: Literal["substitute"] = "substitute"
    columns: ColumnNames = Field(
        description="the columns whose values are replaced, each by itself"
    )

    on_household = "by_value"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    techniques: ClassVar[tuple[str, ...]] = ("substitution",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["id"]}

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns that are neither text nor whole numbers."""
        found = super().faults(data)
        schema = data.frame.collect_schema()
        found += [
            InputError(f"substitute: column {c!r} holds neither text nor whole numbers")
            for c in self.columns
            if c in data.columns and not (schema[c] == nw.String or schema[c].is_integer())
        ]
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        result = data
        for c in self.columns:
            ctx.tick(f"substitute {c}")
            values = fetch_distinct(data.frame, c)
            result = result.recode(
                c, pa.table({"old": values, "new": substitute_values(values, ctx.rng, c)})
            )
        ctx.note(columns=list(self.columns))
        return drop_stale_descriptions(result.materialise(), self.columns, lose="identifiers")


def substitute_values(
    values: pa.Array, rng: np.random.Generator, column: str, real: pa.Array | None = None
) -> pa.Array:
    """Return a replacement for each of some values, all different, in the same type.

    No replacement is one of the values, nor of the ``real`` ones if these are more.
    """
    whole = pa.types.is_integer(values.type)
    texts = [str(v) for v in values.to_pylist()]
    groups: dict[str, list[int]] = {}
    for i, text in enumerate(texts):
        groups.setdefault(template(text, whole=whole), []).append(i)
    taken = {*texts, *(str(v) for v in (() if real is None else real.to_pylist()) if v is not None)}
    new: list[str] = [""] * len(texts)
    for form in sorted(groups):
        drawn = fresh_texts(form, len(groups[form]), taken, rng, column)
        for i, text in zip(groups[form], drawn, strict=True):
            new[i] = text
    return pa.array([int(t) for t in new] if whole else new, type=values.type)


def template(text: str, *, whole: bool = False) -> str:
    """Return the format of a value: letters d, n, U, l for what varies, and ``=x`` for a fixed x."""
    marks = [mark(c) for c in text]
    first = next((i for i, m in enumerate(marks) if m == "d"), None)
    if whole and first is not None and len(text) - first > 1:
        marks[first] = "n"
    return "".join(marks)


def mark(character: str) -> str:
    """Return the class of one character."""
    if character.isdecimal():
        return "d"
    if character.isalpha():
        return "U" if character.isupper() else "l"
    return f"={character}"


def list_allowed_characters(form: str) -> list[str]:
    """Return what may stand at each place of a format."""
    found, i = [], 0
    while i < len(form):
        fixed = form[i] == "="
        found.append(form[i + 1] if fixed else ALPHABETS[form[i]])
        i += 2 if fixed else 1
    return found


def fresh_texts(
    form: str, m: int, taken: set[str], rng: np.random.Generator, column: str
) -> list[str]:
    """Return m different texts of a format that are not taken, drawn at random."""
    letters = list_allowed_characters(form)
    space = math.prod(map(len, letters))
    used = sum(fits(t, letters) for t in taken)
    if space - used < m:
        raise Infeasible(
            f"substitute: column {column!r} has a format with too few other values for a one-to-one "
            "replacement. Use pseudonymise, or drop the column."
        )
    if space <= LISTED and 8 * (m + used) > space:
        every = spell_numbers(np.arange(space, dtype=np.int64), letters)
        pool = [t for t in every if t not in taken]
        return [pool[i] for i in rng.choice(len(pool), size=m, replace=False)]
    found: dict[str, None] = {}
    while len(found) < m:
        n = m - len(found)
        drawn = join([np.array(list(c))[rng.integers(len(c), size=n)] for c in letters], n)
        found.update(dict.fromkeys(t for t in drawn if t not in taken))
    return list(found)


def fits(text: str, letters: Sequence[str]) -> bool:
    """Return True when a text could be a replacement of that format."""
    return len(text) == len(letters) and all(
        c in choices for c, choices in zip(text, letters, strict=True)
    )


def spell_numbers(numbers: Ints, letters: Sequence[str]) -> list[str]:
    """Return the texts with those numbers when all texts of a format are counted."""
    columns: list[npt.NDArray[Any]] = []
    for choices in reversed(letters):
        columns.append(np.array(list(choices))[numbers % len(choices)])
        numbers = numbers // len(choices)
    return join(columns[::-1], len(numbers))


def join(columns: Iterable[npt.NDArray[Any]], m: int) -> list[str]:
    """Return the texts whose characters stand in columns."""
    texts = np.full(m, "", dtype=np.str_)
    for column in columns:
        texts = np.strings.add(texts, column)
    return [str(t) for t in texts]
