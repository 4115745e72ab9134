"""The claim that records which cannot be told apart have at least l different sensitive values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame

Row = tuple[Hashable, ...]
Values = Mapping[Row, frozenset[Hashable]]


@check_for("l-agreement")
def has_different_values(frame: Frame, claim: Claim) -> bool:
    """Return True when those who could be meant by a record have l different known sensitive values.

    With ``missing`` of ``value`` these are the records of its class. With ``agrees`` they are all that agree with it, a
    missing key agreeing with everything; with ``in_full`` as well, a record that shows all keys needs l values among
    those that show the same. ``combinations`` lists several sets of columns.
    """
    wanted = int(claim.parameters["l"])
    sets = claim.parameters.get("combinations") or [claim.columns]
    for columns in sets:
        values = values_by_class(frame, list(columns), claim.parameters["sensitive"])
        narrow = {row for row, seen in values.items() if len(seen) < wanted}
        if claim.parameters["missing"] == "value" and narrow:
            return False
        if claim.parameters.get("in_full") and any(None not in row for row in narrow):
            return False
        if narrow and not all_see_enough(narrow, values, wanted):
            return False
    return True


def values_by_class(frame: Frame, columns: list[str], sensitive: str) -> Values:
    """Return the known sensitive values of each class."""
    distinct = frame.select(*columns, sensitive).unique().collect("pyarrow")
    found: dict[Row, set[Hashable]] = defaultdict(set)
    keys = list(zip(*(distinct.get_column(c).to_list() for c in columns), strict=True))
    for row, value in zip(keys, distinct.get_column(sensitive).to_list(), strict=True):
        found[row].update(() if value is None else (value,))
    return {row: frozenset(seen) for row, seen in found.items()}


def all_see_enough(narrow: set[Row], values: Values, wanted: int) -> bool:
    """Return True when each row agrees with classes that have enough values together.

    Classes are looked up by the columns that both show, one index for each pair of patterns.
    """
    by_pattern: dict[Row, list[Row]] = defaultdict(list)
    for row in values:
        by_pattern[shown(row)].append(row)
    asked: dict[Row, list[Row]] = defaultdict(list)
    for row in narrow:
        asked[shown(row)].append(row)
    for mine, rows in asked.items():
        seen: dict[Row, set[Hashable]] = {row: set() for row in rows}
        for theirs, others in by_pattern.items():
            common = [i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a and b]
            index: dict[Row, set[Hashable]] = defaultdict(set)
            for other in others:
                index[part(other, common)].update(values[other])
            for row in rows:
                seen[row] |= index.get(part(row, common), set())
        if any(len(found) < wanted for found in seen.values()):
            return False
    return True


def shown(row: Row) -> Row:
    """Return which columns of a row are known."""
    return tuple(value is not None for value in row)


def part(row: Row, columns: Sequence[int]) -> Row:
    """Return some columns of a row."""
    return tuple(row[i] for i in columns)
