"""A column as codes and numbers: what models are fitted to and drawn from.

A categorical column has a code for each value, and one for a missing value where there is one. A column of numbers
has a code for its state (0 for an ordinary number, 1 for a missing one, 2, 3, ... for the codes that the file
declares to stand for a missing answer) and the number itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Flags, Floats, Ints
from tacit.data.block import LARGEST, WHOLE_LIMIT
from tacit.data.decimals import decimals_of
from tacit.data.fingerprint import plain_array
from tacit.data.microdata import Microdata
from tacit.data.values import is_number
from tacit.engine.codes import encode
from tacit.errors import InputError

#: Distinct values beyond which a column of text is no category any more.
MOST_CATEGORIES = 5_000


@dataclass(frozen=True)
class Variable:
    """What a column's codes mean.

    ``labels`` are for a categorical column its values in the order of their codes, a missing one as null; for numbers the
    values behind the states 1, 2, ... ``decimals`` are those in which numbers are written, None for a measurement with all
    digits.
    """

    name: str
    type: pa.DataType
    labels: pa.Array
    numeric: bool
    decimals: int | None = None

    @property
    def size(self) -> int:
        """Return the number of codes."""
        return len(self.labels) + self.numeric

    def with_value(self, value: Any) -> Variable:
        """Return the variable with one more category, where it is not there yet."""
        if self.numeric and not (value is None or isinstance(value, int | float)):
            raise self.wrong_type()
        if self.numeric or value in self.labels.to_pylist():
            return self
        try:
            more = pa.array([value]).cast(self.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise self.wrong_type() from None
        if more[0].as_py() != value:  # Arrow casts 1 to "1", which no rule would find again
            raise self.wrong_type()
        return replace(self, labels=pa.concat_arrays([self.labels, more]))

    def wrong_type(self) -> InputError:
        """Return the refusal of a rule whose value the column cannot hold."""
        return InputError(
            f"synthesise: a rule sets column {self.name!r} to a value of another type"
        )

    def restore(self, values: Values) -> pa.Array:
        """Return values as an Arrow array of the column's own type."""
        if not self.numeric:
            return self.labels.take(pa.array(values.codes)).cast(self.type)
        assert values.numbers is not None
        ordinary = values.codes == 0
        array = from_numbers(values.numbers, ordinary, self.type)
        if not (values.codes > 1).any():
            return array
        states = self.labels.take(pa.array(np.maximum(values.codes - 1, 0)))
        return pc.if_else(pa.array(ordinary), array, states.cast(self.type))

    def tidy(self, numbers: Floats) -> Floats:
        """Return numbers in the decimals of the column."""
        return numbers if self.decimals is None else np.round(numbers, self.decimals) + 0.0


@dataclass(frozen=True)
class Values:
    """The codes of some records, and their numbers where the column has numbers."""

    codes: Ints
    numbers: Floats | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, at: Ints | Flags | slice) -> Values:
        """Return some of the records."""
        return Values(self.codes[at], None if self.numbers is None else self.numbers[at])

    def put(self, at: Ints | Flags, new: Values) -> Values:
        """Return the records with others at some places."""
        codes = self.codes.copy()
        codes[at] = new.codes
        if self.numbers is None or new.numbers is None:
            return Values(codes)
        numbers = self.numbers.copy()
        numbers[at] = new.numbers
        return Values(codes, numbers)

    def keys(self) -> Floats:
        """Return one number a record that is equal for equal values; states lie below all numbers."""
        if self.numbers is None:
            return self.codes.astype(np.float64)
        return np.where(self.codes == 0, self.numbers, -1e300 * self.codes)


#: Predictors: what their codes mean, and their values.
Given = Sequence[tuple[Variable, Values]]


def read_variable(
    data: Microdata, name: str, column: pa.ChunkedArray, *, categorical: bool
) -> tuple[Variable, Values]:
    """Return a column as codes and numbers."""
    described = data.columns[name]
    kind = column.type
    # Dates and times are days and instants.
    number = is_number(kind) or pa.types.is_decimal(kind) or pa.types.is_temporal(kind)
    if categorical or not number or is_labelled(column, described):
        return read_categories(name, column)
    return read_states(name, column, described.missing, decimals_of, unused=False)


def read_states(
    name: str,
    column: pa.ChunkedArray,
    missing: Iterable[Any],
    decimals: Callable[[Floats], int | None],
    *,
    unused: bool,
) -> tuple[Variable, Values]:
    """Return a column of numbers with its states: missing, and the codes for it that occur, or all of them."""
    numbers, known = as_floats(column.combine_chunks(), name)
    codes = np.where(known, 0, 1).astype(np.int64)
    labels: list[Any] = []
    for value in missing:
        stands = special(value, numbers, known)
        if stands is not None and (unused or stands.any()):
            labels.append(value)
            codes[stands] = 1 + len(labels)
    kept = pa.array(labels).cast(column.type) if labels else pa.nulls(0, column.type)
    states = pa.concat_arrays([pa.nulls(1, column.type), kept])
    digits = decimals(numbers[codes == 0]) if pa.types.is_floating(column.type) else 0
    variable = Variable(name, column.type, states, True, digits)
    return variable, Values(codes, np.where(codes == 0, numbers, 0.0))


def read_categories(name: str, column: pa.ChunkedArray) -> tuple[Variable, Values]:
    """Return a categorical column."""
    coded = encode(column)
    if coded.size > MOST_CATEGORIES:
        raise InputError(
            f"synthesise: column {name!r} has more than {MOST_CATEGORIES:,} categories. Recode it, or leave it out."
        )
    codes = coded.codes.astype(np.int64)
    values = coded.values
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if (codes == coded.null).any():
        values = pa.concat_arrays([values.cast(column.type), pa.nulls(1, column.type)])
    return Variable(name, column.type, values, False), Values(codes)


def read_public(
    data: Microdata, name: str, column: pa.ChunkedArray, listed: Sequence[Any], decimals: int
) -> tuple[Variable, Values]:
    """Return a column as codes and numbers that mean the same whatever the data are.

    Values that are not among the listed categories count as the last. Numbers may be missing in each way that the file
    declares, whether or not one is.
    """
    if listed:
        return read_listed(name, column, listed)
    return read_states(name, column, data.columns[name].missing, lambda _: decimals, unused=True)


def read_listed(
    name: str, column: pa.ChunkedArray, listed: Sequence[Any]
) -> tuple[Variable, Values]:
    """Return a column as codes of listed categories, the last of which stands for all others."""
    plain = plain_array(column)
    try:
        labels = pa.array(list(listed)).cast(plain.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise InputError(
            f"synthesise: the categories of column {name!r} are not of the type of its values"
        ) from None
    place = pc.fill_null(pc.index_in(plain, value_set=labels), len(labels) - 1)
    codes = place.to_numpy(zero_copy_only=False).astype(np.int64)
    return Variable(name, column.type, labels, False), Values(codes)


def is_labelled(column: pa.ChunkedArray, described: Any) -> bool:
    """Return True for numbers that are codes: every value but those for a missing answer has a label."""
    if not described.labels:
        return False
    named = {*described.labels, *described.missing}
    return all(v is None or v in named for v in pc.unique(column).to_pylist())


def as_floats(array: pa.Array, name: str) -> tuple[Floats, Flags]:
    """Return numbers, and where they are known."""
    known = pc.is_valid(array).to_numpy(zero_copy_only=False).astype(bool)
    if pa.types.is_temporal(array.type):
        array = array.cast(pa.int32() if array.type.bit_width == 32 else pa.int64())
    try:
        plain = pc.fill_null(array.cast(pa.float64(), safe=False), 0.0)
    except pa.ArrowInvalid:
        raise InputError(
            f"synthesise: column {name!r} holds numbers that cannot be computed with"
        ) from None
    numbers = plain.to_numpy(zero_copy_only=False)
    if (np.abs(numbers) > LARGEST).any():
        raise InputError(
            f"synthesise: column {name!r} holds infinite numbers, or numbers beyond 1e100. Clean or leave out such columns."
        )
    if not pa.types.is_floating(array.type) and (np.abs(numbers) > WHOLE_LIMIT).any():
        raise InputError(
            f"synthesise: column {name!r} holds whole numbers beyond 2^53, which arithmetic would change. Use another unit, or leave out such columns."
        )
    return numbers, known


def from_numbers(numbers: Floats, ordinary: Flags, kind: pa.DataType) -> pa.Array:
    """Return numbers in a column's own type."""
    if pa.types.is_floating(kind):
        return pa.array(numbers, mask=~ordinary).cast(kind)
    if pa.types.is_decimal(kind):
        return pa.array(numbers, mask=~ordinary).cast(kind, safe=False)
    whole = np.rint(np.where(ordinary, numbers, 0.0)).astype(np.int64)
    if pa.types.is_integer(kind):
        signed = not str(kind).startswith("u")
        low = -(2 ** (kind.bit_width - 1)) if signed else 0
        whole = np.clip(whole, low, min(2 ** (kind.bit_width - signed) - 1, 2**63 - 1))
        return pa.array(whole, mask=~ordinary).cast(kind)
    plain = pa.int32() if kind.bit_width == 32 else pa.int64()
    return pa.array(whole, mask=~ordinary).cast(plain).cast(kind)


def special(value: Any, numbers: Floats, known: Flags) -> Flags | None:
    """Return where a code for a missing answer stands; None for one that is no number."""
    try:
        return np.asarray(known & (numbers == float(value)))
    except (TypeError, ValueError):
        return None
