"""Designs of regressions: polynomials with interactions, dummies, and terms written as text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import InputError, InvalidParameter
from tacit.numerics import elementary
from tacit.stats.moments import Scale, scale_of

FUNCTIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "abs": np.abs,
    "asinh": np.arcsinh,
}

FACTOR = re.compile(r"\A\s*(?P<body>.+?)\s*(?:\^\s*(?P<power>\d+)\s*)?\Z", re.DOTALL)
CALL = re.compile(r"\A(?P<function>[a-z0-9]+)\(\s*(?P<column>.+?)\s*\)\Z", re.DOTALL)
#: A column whose name would be read as part of a term stands in backticks, a backtick in it doubled.
QUOTED = re.compile(r"`((?:[^`]|``)+)`", re.DOTALL)
#: Private code points stand for quoted columns while a term is read.
FIRST = 0xF0000


# -- polynomials -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Polynomial:
    """All products of up to ``degree`` columns; calling it expands rows."""

    #: The columns that each term multiplies, by position and with repetition.
    terms: tuple[tuple[int, ...], ...]
    #: What standardises the columns first, so that high powers keep their digits.
    scale: Scale

    def __call__(self, x: Floats) -> Floats:
        """Return the rows of the design, without the constant."""
        z = self.scale.there(x).T
        out = np.empty((len(self.terms), x.shape[0]))
        place = {term: i for i, term in enumerate(self.terms)}
        for i, term in enumerate(self.terms):
            if len(term) == 1:
                out[i] = z[term[0]]
            else:
                np.multiply(out[place[term[:-1]]], z[term[-1]], out=out[i])
        return out.T


def polynomial(x: Floats, degree: int, groups: Sequence[int] | None = None) -> Polynomial:
    """Return the polynomial of a degree in the columns of x, whose means and standard deviations it takes.

    ``groups`` holds a number a column, -1 for numbers: the dummies of one categorical column share theirs, and are neither
    squared nor multiplied with each other, which would add nothing.
    """
    labels = list(groups) if groups is not None else [-1] * x.shape[1]
    terms = tuple(
        term
        for size in range(1, degree + 1)
        for term in itertools.combinations_with_replacement(range(x.shape[1]), size)
        if not has_clashing_dummies([labels[j] for j in term])
    )
    numeric = np.array(labels) < 0
    scale = scale_of(x)
    # Dummies stay 0 and 1: a shifted dummy times itself would not be a dummy.
    return Polynomial(
        terms, Scale(np.where(numeric, scale.centre, 0.0), np.where(numeric, scale.spread, 1.0))
    )


def has_clashing_dummies(labels: Sequence[int]) -> bool:
    """Return True when two columns of a product are dummies of the same categorical column."""
    dummies = [g for g in labels if g >= 0]
    return len(set(dummies)) < len(dummies)


def dummies(codes: Ints, size: int) -> Floats:
    """Return an indicator a category but the first; codes are 0 .. size - 1."""
    return (codes[:, None] == np.arange(1, size)).astype(np.float64)


# -- terms as text ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Factor:
    """A column, under a function and to a power."""

    column: str
    function: str = ""
    power: int = 1

    def values(self, columns: Mapping[str, Floats]) -> Floats:
        """Return the factor of every record; NaN where it is not defined."""
        x = columns[self.column]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            y = FUNCTIONS[self.function](x) if self.function else x
            y = elementary.power(y, self.power) if self.power > 1 else y
        return np.where(np.isfinite(y), y, np.nan)


@dataclass(frozen=True)
class Term:
    """A product of factors, as it was written."""

    text: str
    factors: tuple[Factor, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that the term uses."""
        return tuple(dict.fromkeys(f.column for f in self.factors))

    @property
    def is_column(self) -> bool:
        """Return True for a column as it stands, without function, power or product."""
        return self.factors == (Factor(self.factors[0].column),)

    def values(self, columns: Mapping[str, Floats]) -> Floats:
        """Return the term of every record; NaN where it is not defined."""
        out = self.factors[0].values(columns)
        for factor in self.factors[1:]:
            out = out * factor.values(columns)
        return out


def parse_term(text: str) -> Term:
    """Read a term: ``age``, ``age^2``, ``log(income)``, ``age * log(income)``, `` `a*b`^2 ``."""
    names: list[str] = []

    def stand_in(found: re.Match[str]) -> str:
        names.append(found[1].replace("``", "`"))
        return chr(FIRST + len(names) - 1)

    parts = [part.strip() for part in QUOTED.sub(stand_in, text).split("*")]
    if not all(parts):
        raise InvalidParameter(
            f"a term must be a product of columns; a name with * or ^ stands in `backticks` (got {text!r})"
        )
    factors = (parse_factor(part) for part in parts)
    return Term(text.strip(), tuple(replace(f, column=unquote(f.column, names)) for f in factors))


def unquote(column: str, names: Sequence[str]) -> str:
    """Return the name behind a stand-in, or the column as it was written."""
    at = ord(column) - FIRST if len(column) == 1 else -1
    return names[at] if 0 <= at < len(names) else column


def parse_factor(text: str) -> Factor:
    """Read a column under a function and to a power."""
    found = FACTOR.match(text)
    if found is None:
        raise InvalidParameter(f"a term must be a product of columns (got {text!r})")
    body, power = found["body"], int(found["power"] or 1)
    if power < 1:
        raise InvalidParameter(f"the power of a term must be at least 1 (got {text!r})")
    call = CALL.match(body)
    if call is None:
        return Factor(body, "", power)
    if call["function"] not in FUNCTIONS:
        raise InvalidParameter(
            f"no function {call['function']!r} in terms; functions: {', '.join(FUNCTIONS)}"
        )
    return Factor(call["column"], call["function"], power)


def design_matrix(terms: Sequence[Term], columns: Mapping[str, Floats]) -> Floats:
    """Return one column per term, NaN where it is not defined."""
    if not terms:
        raise InputError("a regression needs at least one covariate")
    return np.column_stack([term.values(columns) for term in terms])
