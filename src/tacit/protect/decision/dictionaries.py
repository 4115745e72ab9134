"""Dictionaries of attackers, and records coded against them.

Values are compared as texts, as hierarchies do, so that 7 and "7" are the same. With a hierarchy a value is consistent
with all that stand below or above it; without one with itself, or with similar texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.data.hierarchy import Hierarchy, ground_labels
from tacit.data.microdata import Microdata
from tacit.engine.codes import encode
from tacit.errors import InputError
from tacit.io.read import read
from tacit.stats.decision import MISSING, Codes, Consistent, Dictionary, Floats

Columns = Mapping[str, pa.Array]
#: A dictionary as a plan can hold it: a file, or its columns.
Given = str | Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Comparison:
    """How values are compared.

    Attributes
    ----------
    threshold
        The least similarity of texts; None for equality.
    by_record
        True when the mean similarity of a record must reach it, not that of every attribute.
    """

    threshold: float | None = None
    by_record: bool = False


@dataclass(frozen=True)
class Values:
    """One column of the records: codes (-1 missing), the texts of the codes, and whether they are texts by nature."""

    codes: Codes
    texts: list[str]
    is_text: bool


def read_dictionary(given: Given, name: str, kind: str) -> Columns:
    """Return the columns of a dictionary that stands in a file or in the plan itself."""
    if isinstance(given, str):
        table = read(Path(given) if "://" not in given else given).to_arrow()
    else:
        lengths = {len(v) for v in given.values()}
        if len(lengths) > 1:
            raise InputError(f"{kind}: the columns of dictionary {name!r} differ in length")
        table = pa.table({c: pa.array(list(v)) for c, v in given.items()})
    return {c: table.column(c).combine_chunks() for c in table.column_names}


def take_columns(data: Microdata, names: Sequence[str]) -> Columns:
    """Return those of some columns that a register, or the file itself, tells an attacker."""
    table = data.to_arrow([c for c in names if c in data.columns])
    return {c: table.column(c).combine_chunks() for c in table.column_names}


def code_values(column: pa.ChunkedArray | pa.Array) -> Values:
    """Return a column as codes of its texts."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    coded = encode(column)
    texts = ground_labels(coded.values).to_pylist()
    codes = np.where(coded.codes == coded.null, MISSING, coded.codes).astype(np.int32)
    return Values(codes, texts, pa.types.is_string(kind) or pa.types.is_large_string(kind))


def code_dictionary(
    records: Mapping[str, Values],
    known: Columns,
    hierarchies: Mapping[str, Hierarchy],
    how: Comparison,
    title: str = "",
) -> Dictionary:
    """Return a dictionary on codes; what it does not know of the records' attributes is null in it."""
    n = len(next(iter(known.values()))) if known else 0
    columns, lists, tables = [], [], []
    for name, mine in records.items():
        theirs = code_values(known[name]) if name in known else empty(n)
        require_covered(mine, theirs, hierarchies.get(name), name, title)
        columns.append(theirs.codes)
        alike = how.threshold is not None and mine.is_text and name not in hierarchies
        if how.by_record and how.threshold is not None:
            tables.append(similarity_table(mine, theirs, hierarchies.get(name), alike=alike))
            lists.append(Consistent.equal(0))
        elif alike and how.threshold is not None:
            lists.append(similar_texts(mine.texts, theirs.texts, how.threshold))
        else:
            lists.append(consistent_texts(mine.texts, theirs.texts, hierarchies.get(name)))
    codes = np.stack(columns, axis=1) if columns else np.zeros((n, 0), dtype=np.int32)
    return Dictionary.of(codes, lists, tables, how.threshold or 1.0)


def require_covered(
    mine: Values, theirs: Values, hierarchy: Hierarchy | None, name: str, title: str
) -> None:
    """Refuse dictionary values of which nobody can say whether they stand below a generalised value."""
    if hierarchy is None:
        return
    raised = (hierarchy.nodes.get(t, (0, 0))[0] for t in mine.texts)
    if not any(0 < level < hierarchy.height for level in raised):
        return
    strange = sum(t not in hierarchy.nodes for t in theirs.texts)
    if strange:
        raise InputError(
            f"dictionary {title!r}: {strange:,} of the different values in column {name!r} are not in its hierarchy, so that they cannot be compared with generalised ones. Give a hierarchy that covers them, or the dictionary as the register, with hierarchies of its own."
        )


def empty(n: int) -> Values:
    """Return a column in which nothing is known."""
    return Values(np.full(n, MISSING, dtype=np.int32), [], is_text=True)


def consistent_texts(
    mine: Sequence[str], theirs: Sequence[str], hierarchy: Hierarchy | None
) -> Consistent:
    """Return equal texts; with a hierarchy also those that stand below or above in it."""
    place = {text: code for code, text in enumerate(theirs)}
    if hierarchy is None:
        return Consistent.of([[place[t]] if t in place else [] for t in mine])
    nodes = [hierarchy.nodes.get(t) for t in theirs]
    level = np.array([-1 if one is None else one[0] for one in nodes], dtype=np.int64)
    # Where each of their values stands at each level; -1 above it, or when it is no label.
    at = np.full((hierarchy.height + 1, len(theirs)), -1, dtype=np.int64)
    for code, node in enumerate(nodes):
        if node is not None:
            for up in range(node[0], hierarchy.height + 1):
                at[up, code] = hierarchy.climb(node, up)
    found = []
    for text in mine:
        node = hierarchy.nodes.get(text)
        if node is None:
            found.append(np.array([place[text]] if text in place else [], dtype=np.int64))
            continue
        # At the top everything is the same, also what the hierarchy does not know.
        below = at[node[0]] == node[1] if node[0] < hierarchy.height else level > -2
        above = np.zeros(len(theirs), dtype=bool)
        for up in range(node[0] + 1, hierarchy.height + 1):
            above |= (level == up) & (at[up] == hierarchy.climb(node, up))
        found.append(np.flatnonzero(below | above))
    return Consistent.of(found)


def similar_texts(mine: Sequence[str], theirs: Sequence[str], threshold: float) -> Consistent:
    """Return the texts whose Jaro similarity reaches a threshold."""
    step = max(1, 2_000_000 // max(1, len(theirs)))
    found = []
    for begin in range(0, len(mine), step):
        table = jaro(mine[begin : begin + step], theirs)
        found += [np.flatnonzero(row >= threshold - 1e-12) for row in table]
    return Consistent.of(found)


def similarity_table(
    mine: Values, theirs: Values, hierarchy: Hierarchy | None, *, alike: bool
) -> Floats:
    """Return how similar values are: of texts by Jaro, else 1 for consistent ones and 0."""
    if alike:
        return jaro(mine.texts, theirs.texts)
    out = np.zeros((len(mine.texts), len(theirs.texts)))
    lists = consistent_texts(mine.texts, theirs.texts, hierarchy)
    out[np.repeat(np.arange(len(mine.texts)), np.diff(lists.start)), lists.index] = 1.0
    return out


def jaro(mine: Sequence[str], theirs: Sequence[str]) -> Floats:
    """Return Jaro similarities of two lists of texts."""
    from rapidfuzz import process
    from rapidfuzz.distance import Jaro

    if not len(mine) or not len(theirs):
        return np.zeros((len(mine), len(theirs)))
    return np.asarray(process.cdist(mine, theirs, scorer=Jaro.similarity, dtype=np.float64))
