"""Several classifications of one variable in linked tables, as one dimension.

Regions by county, groups of regions and counties are three classifications of one variable. They are brought
together by their codes: by the ground codes that they have in common, by a dimension that holds the codes of
all of them, or by the records, in which the code of one column tells the code of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.data.cells.cell_names import at_totals
from tacit.data.cells.dimension import Dimension, sums_between
from tacit.data.hierarchy import ground_labels
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.engine import codes as coding
from tacit.errors import HierarchyError, InputError

Relation = tuple[str, tuple[tuple[str, int], ...]]
#: Name, members, further relations, and the members whose codes are marked with their name.
Variable = tuple[str, tuple[str, ...], tuple[Dimension, ...], frozenset[str]]
#: Margins this near to each other, relatively, are the same.
SAME = 1e-6


@dataclass(frozen=True, eq=False)
class Joint:
    """One dimension that stands for those of several tables."""

    #: The codes and relations of all of them.
    dimension: Dimension
    #: By the name of a table's dimension: its codes to codes of ``dimension``.
    codes: Mapping[str, Mapping[str, str]]


def join_dimensions(
    tables: Sequence[Table],
    variables: Mapping[str, Dimension] | None = None,
    data: Microdata | None = None,
) -> list[Joint]:
    """Return the dimensions of linked tables, one for each variable; ``variables`` and ``data`` as in :func:`link`.

    Refused where classifications of one variable cannot be brought together.
    """
    own: dict[str, list[Dimension]] = {}
    for table in tables:
        for d in table.dimensions:
            own.setdefault(d.name, []).append(d)
    joined: list[Joint] = []
    left = dict(own)
    for name, members, more, marked in declared(own, variables, data):
        bring_apart = [t for t in tables if len(set(members) & set(t.names)) > 1]
        if bring_apart:
            if variables is not None and set(members) <= set(variables):
                raise InputError(
                    f"a table is spanned by {' and '.join(map(repr, members))}: classifications of one "
                    "variable can be linked when each table has one of them"
                )
            continue  # the table that is spanned by both binds them
        joined.append(unite(name, {m: left.pop(m) for m in members}, more, marked))
    for name, members in with_common_codes(left, tables):
        joined.append(unite(name, {m: left[m] for m in members}))
    order = {n: i for i, n in enumerate(own)}
    return sorted(joined, key=lambda j: min(order[n] for n in j.codes))


def declared(
    own: Mapping[str, list[Dimension]],
    variables: Mapping[str, Dimension] | None,
    data: Microdata | None,
) -> list[Variable]:
    """Return the variables that are declared, or found in records."""
    found: list[Variable] = []
    given = dict(variables or {})
    unknown = sorted(set(given) - set(own))
    if unknown:
        raise InputError(
            f"variables names the dimension {unknown[0]!r}, which no table has; there are "
            f"{', '.join(map(repr, own))}"
        )
    for name, dimension in given.items():
        members = tuple(n for n in own if given.get(n) is dimension)
        if members and members[0] == name:
            found.append((name, members, (dimension,), frozenset()))
    if data is not None:
        free = [n for n in own if n not in given]
        found += from_records(data, {n: own[n] for n in free})
    return found


# -- by codes ----------------------------------------------------------------------------------------


def with_common_codes(
    own: Mapping[str, list[Dimension]], tables: Sequence[Table]
) -> list[tuple[str, tuple[str, ...]]]:
    """Return the groups of dimensions whose codes, and margins, are part of those of another."""
    together = {frozenset((a, b)) for t in tables for a in t.names for b in t.names if a != b}
    margins = {name: margins_of(tables, name) for name in own}
    groups: dict[str, list[str]] = {}
    for name in sorted(own, key=lambda n: -len(margins[n])):
        for head, members in groups.items():
            apart = not any(frozenset((name, m)) in together for m in members)
            if apart and is_part(margins[name], margins[head]):
                members.append(name)
                break
        else:
            groups[name] = [name]
    return [(head, tuple(n for n in own if n in members)) for head, members in groups.items()]


def margins_of(tables: Sequence[Table], name: str) -> dict[str, float]:
    """Return the value of each code of a dimension, but its total, where all others stand at theirs."""
    found: dict[str, float] = {}
    for table in tables:
        if name not in table.names or any(len(d.roots) != 1 for d in table.dimensions):
            continue
        axis = table.names.index(name)
        total = at_totals(table)
        top = ~total[:, axis] & np.delete(total, axis, axis=1).all(axis=1)
        codes = table.dimensions[axis].codes
        found |= {codes[table.places[c, axis]]: float(table.value[c]) for c in np.flatnonzero(top)}
    return found


def is_part(few: Mapping[str, float], many: Mapping[str, float]) -> bool:
    """Return True when all codes of one are codes of the other, which has more, with the same margins."""
    return 0 < len(few) < len(many) and all(
        code in many and abs(many[code] - value) <= SAME * max(1.0, abs(value))
        for code, value in few.items()
    )


# -- by records ----------------------------------------------------------------------------------------


def from_records(data: Microdata, own: Mapping[str, list[Dimension]]) -> list[Variable]:
    """Return the columns that tell each other, with the relations between their codes."""
    names = [n for n in own if n in data.columns]
    if len(names) < 2:
        return []
    seen = data.engine.to_arrow(data.frame.select(*names).unique())
    texts: dict[str, npt.NDArray[np.object_]] = {}
    for n in names:
        coded = coding.encode(seen.column(n))
        labels = np.array([*ground_labels(coded.values).to_pylist(), ""], dtype=object)
        texts[n] = labels[coded.codes]
    found: list[Variable] = []
    left = sorted(names, key=lambda n: -len(set(texts[n])))
    while left:
        fine = left.pop(0)
        told = [n for n in left if tells(texts[fine], texts[n])]
        if not told:
            continue
        more = []
        for n in told:
            pairs = dict(zip(texts[fine], texts[n], strict=True))
            groups: dict[str, list[str]] = {}
            for code, group in pairs.items():
                groups.setdefault(own_code(n, group), []).append(code)
            more.append(Dimension.from_relations(n, [(g, sorted(c)) for g, c in groups.items()]))
            left.remove(n)
        members = tuple(n for n in own if n == fine or n in told)
        found.append((fine, members, tuple(more), frozenset(told)))
    return found


def tells(fine: npt.NDArray[np.object_], coarse: npt.NDArray[np.object_]) -> bool:
    """Return True when the code of one column tells the code of another."""
    return len(set(zip(fine, coarse, strict=True))) == len(set(fine))


def own_code(name: str, code: str) -> str:
    """Return a code that no other dimension has."""
    return f"{name}: {code}"


# -- one dimension of several ----------------------------------------------------------------------------


def unite(
    name: str,
    members: Mapping[str, Sequence[Dimension]],
    more: Sequence[Dimension] = (),
    marked: frozenset[str] = frozenset(),
) -> Joint:
    """Return one dimension for all, their totals as one, with the relations that follow from two groupings.

    Codes of ``marked`` dimensions get its name: two columns of records may use one code for different things.
    """
    first = members[name][0] if name in members else next(iter(members.values()))[0]
    total = root_of(first, name)
    inner = {
        (own_code(n, c) if n in marked else c)
        for n, each in members.items()
        for d in each
        for c in d.codes
        if c != root_of(d, n)
    } | {c for d in more for c in d.codes if d.roots != (d.position[c],)}
    codes: dict[str, dict[str, str]] = {}
    order: dict[str, None] = {total: None}
    relations: list[Relation] = []
    labels: dict[str, str] = {}
    for n, each in members.items():
        own = codes.setdefault(n, {})
        for d in each:
            top = root_of(d, n)
            for c in d.codes:
                mine = own_code(n, c) if n in marked else c
                # The top of a table of one part of the whole is a code of the others.
                own[c] = total if c == top and mine not in inner else mine
                order.setdefault(own[c])
            relations += relations_of(d, own)
            labels = {**{own[c]: text for c, text in d.labels.items() if c in own}, **labels}
    for d in more:
        same = {
            c: total if d.roots == (i,) and c not in inner else c for i, c in enumerate(d.codes)
        }
        order |= dict.fromkeys(same.values())
        relations += relations_of(d, same)
    relations = [r for r in infer_relations(relations) if r[0] in order]
    try:
        dimension = Dimension(name, tuple(order), sums_between(relations, list(order)), labels)
        _ = dimension.total
    except HierarchyError as error:
        faults = error.faults or (str(error),)
        raise InputError(
            f"the tables classify {name!r} in ways that cannot be linked ({faults[0]}); give the "
            "records as data=, or variables= with a dimension that holds the codes of all tables"
        ) from None
    return Joint(dimension, codes)


def root_of(dimension: Dimension, name: str) -> str:
    """Return the code of the total; refuse a dimension without one."""
    if len(dimension.roots) != 1:
        raise InputError(
            f"the dimension {name!r} has {len(dimension.roots)} totals; linked tables need one each"
        )
    return dimension.codes[dimension.roots[0]]


def relations_of(dimension: Dimension, codes: Mapping[str, str]) -> list[Relation]:
    """Return the sums of a dimension by the codes of another."""
    return [
        (
            codes[dimension.codes[s.parent]],
            tuple(
                (codes[dimension.codes[c]], sign)
                for c, sign in zip(s.children, s.signs or (1,) * len(s.children), strict=True)
            ),
        )
        for s in dimension.sums
    ]


def infer_relations(given: Iterable[Relation]) -> list[Relation]:
    """Return relations once each, with those that follow: in two sums of one code all but one part is shared."""
    found: dict[tuple[str, frozenset[tuple[str, int]]], Relation] = {}
    for parent, children in given:
        if children != ((parent, 1),):
            found.setdefault((parent, frozenset(children)), (parent, children))
    while True:
        new: dict[tuple[str, frozenset[tuple[str, int]]], Relation] = {}
        parents = {p for p, _ in found}
        for parent, parts in found:
            for other, rest in found:
                if other != parent or rest == parts:
                    continue
                alone, against = parts - rest, rest - parts
                if len(alone) != 1 or not against:
                    continue
                (code, sign), signed = next(iter(alone)), [(c, s) for c, s in against]
                # Of two codes that are the same, one is written as the other.
                twin = len(signed) == 1 and code > signed[0][0]
                plain = sign == 1 and all(s == 1 for _, s in signed)
                if plain and code not in parents and not twin:
                    new.setdefault((code, frozenset(signed)), (code, tuple(sorted(signed))))
        if not new:
            return list(found.values())
        found |= new
