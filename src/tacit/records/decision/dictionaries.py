"""Dictionaries of attackers, and records coded against them.

Values are compared as texts, as hierarchies do, so that 7 and "7" are the same. With a hierarchy a value is consistent
with all that stand below or above it; without one with itself, or with similar texts. With the original at hand it
also is with what it was made from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Floats
from tacit.data.hierarchy import Hierarchy, ground_labels
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.engine.codes import encode
from tacit.errors import InputError
from tacit.io.read import read
from tacit.records.decision.sensitivity import MISSING, Codes, Consistent, Dictionary

Columns = Mapping[str, pa.Array]
#: By column and released value: the values that it was made from.
Recoded = Mapping[str, Mapping[str, Sequence[str]]]
#: A dictionary as a plan can hold it: a file, or its columns.
Given = str | Mapping[str, Sequence[Any]]


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
    table = data.to_arrow([c for c in dict.fromkeys(names) if c in data.columns])
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
    threshold: float | None = None,
    title: str = "",
    recoded: Recoded = MappingProxyType({}),
    *,
    by_record: bool = False,
) -> Dictionary:
    """Return a dictionary on codes; what it does not know of the records' attributes is null in it.

    Texts are compared by equality, or by a similarity that reaches a threshold; with ``by_record`` its mean over a
    record must.
    """
    n = len(next(iter(known.values()))) if known else 0
    columns, lists, tables = [], [], []
    for name, mine in records.items():
        theirs = (
            code_values(known[name])
            if name in known
            else Values(np.full(n, MISSING, dtype=np.int32), [], is_text=True)
        )
        require_covered(mine, theirs, hierarchies.get(name), name, title)
        columns.append(theirs.codes)
        alike = threshold is not None and mine.is_text and name not in hierarchies
        place = {text: code for code, text in enumerate(theirs.texts)}
        made_from = [recoded.get(name, {}).get(text, ()) for text in mine.texts]
        sources = [[place[u] for u in texts if u in place] for texts in made_from]
        if by_record and threshold is not None:
            # How similar values are: texts by Jaro, else 1 for consistent ones and 0.
            if alike:
                table = jaro(mine.texts, theirs.texts)
            else:
                table = np.zeros((len(mine.texts), len(theirs.texts)))
                found = consistent_texts(mine.texts, theirs.texts, hierarchies.get(name))
                row_of = np.repeat(np.arange(len(mine.texts)), np.diff(found.start))
                table[row_of, found.index] = 1.0
            tables.append(table)
            lists.append(Consistent.equal(0))
            for row, codes_of in enumerate(sources):
                table[row, codes_of] = 1.0
            continue
        if alike and threshold is not None:
            found = similar_texts(mine.texts, theirs.texts, threshold)
        else:
            found = consistent_texts(mine.texts, theirs.texts, hierarchies.get(name))
        if name in recoded:
            own = np.split(found.index, found.start[1:-1]) if len(mine.texts) else []
            found = Consistent.of([np.union1d(*both) for both in zip(own, sources, strict=True)])
        lists.append(found)
    codes = np.stack(columns, axis=1) if columns else np.zeros((n, 0), dtype=np.int32)
    return Dictionary.of(codes, lists, tables, threshold or 1.0)


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


def learn_recoding(data: Microdata, original: Microdata, names: Sequence[str]) -> Recoded:
    """Return what released values were made from, for columns in which equal values were changed alike.

    Whoever reads the release can tell as much from its labels ("30 to 39"). Columns in which a value became several
    others, by chance or by record, are left out.
    """
    both = [c for c in names if c in original.columns]
    after, before = (d.to_arrow(both, with_row=True) for d in (data, original))
    at = pc.index_in(after.column(ROW), value_set=before.column(ROW).combine_chunks())
    at = at.fill_null(-1).to_numpy()
    found: dict[str, dict[str, list[str]]] = {}
    for name in both:
        new, old = code_values(after.column(name)), code_values(before.column(name))
        own = old.codes[at]
        told = (at >= 0) & (new.codes >= 0) & (own >= 0)
        pairs = np.unique(np.stack([own[told], new.codes[told]], axis=1), axis=0)
        if len(pairs) and len(np.unique(pairs[:, 0])) == len(pairs):
            changed = [(new.texts[v], old.texts[u]) for u, v in pairs]
            for label, value in changed:
                if label != value:
                    found.setdefault(name, {}).setdefault(label, []).append(value)
    return found


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


def jaro(mine: Sequence[str], theirs: Sequence[str]) -> Floats:
    """Return Jaro similarities of two lists of texts."""
    from rapidfuzz import process
    from rapidfuzz.distance import Jaro

    if not len(mine) or not len(theirs):
        return np.zeros((len(mine), len(theirs)))
    return np.asarray(process.cdist(mine, theirs, scorer=Jaro.similarity, dtype=np.float64))
