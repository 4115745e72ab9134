"""Dimension: one spanning variable of a table, its codes and the sums that bind them."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Ints
from tacit.data.hierarchy import Hierarchy
from tacit.errors import HierarchyError

#: The code of the grand total where the source names none.
TOTAL = "Total"


class Sum(NamedTuple):
    """One relation of a dimension: the parent's code is the (signed) sum of the children's."""

    parent: int
    children: tuple[int, ...]
    #: +1 or -1 a child; empty when all are +1.
    signs: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Dimension:
    """The codes of one spanning variable, totals included, and the relations between them.

    A dimension need not be a tree: several groupings over the same ground codes may stand side by
    side (region within county, region within trade zone), each giving relations of its own.

    Attributes
    ----------
    name
        The variable.
    codes
        Every code, in the order of the table's axis.
    sums
        The relations parent = sum of children, as positions in ``codes``.
    labels
        Longer names of codes, for printing.
    """

    name: str
    codes: tuple[str, ...]
    sums: tuple[Sum, ...]
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        faults = dimension_faults(self)
        if faults:
            raise HierarchyError(f"the dimension {self.name!r} is not valid", faults)

    # -- making -------------------------------------------------------------------------------

    @classmethod
    def flat(
        cls,
        name: str,
        codes: Iterable[str],
        *,
        total: str = TOTAL,
        last: bool = False,
        labels: Mapping[str, str] | None = None,
    ) -> Dimension:
        """Make a dimension of ground codes under one total, which stands first (or ``last``)."""
        ground = tuple(map(str, codes))
        everything = (*ground, total) if last else (total, *ground)
        parent = len(ground) if last else 0
        children = tuple(i for i in range(len(everything)) if i != parent)
        return cls(name, everything, (Sum(parent, children),) if ground else (), labels or {})

    @classmethod
    def from_relations(
        cls,
        name: str,
        relations: Iterable[tuple[str, Sequence[str]]],
        *,
        codes: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Dimension:
        """Make one from pairs (parent, children); a child written ``-code`` is subtracted.

        ``codes`` fixes the order of the axis; by default parents come before their children.
        """
        pairs = [(p, list(c)) for p, c in relations]
        given = set(codes or ())
        order: dict[str, None] = dict.fromkeys(codes or ())
        parsed = []
        for parent, children in pairs:
            order.setdefault(parent)
            signed = []
            for child in children:
                minus = child.startswith("-") and child not in given
                code = child[1:] if minus else child
                order.setdefault(code)
                signed.append((code, -1 if minus else 1))
            parsed.append((parent, signed))
        return cls(name, tuple(order), sums_between(parsed, list(order)), labels or {})

    @classmethod
    def from_tree(
        cls,
        name: str,
        lines: Iterable[tuple[int, str]],
        *,
        total: str = TOTAL,
        labels: Mapping[str, str] | None = None,
    ) -> Dimension:
        """Make one from (depth, code) lines in pre-order, depth 0 just below the total."""
        codes, children = [total], {0: list[int]()}
        stack = [0]
        for line, (depth, code) in enumerate(lines, 1):
            if depth + 1 > len(stack):
                raise HierarchyError(
                    f"hierarchy of {name!r}, line {line}: the depth grows by more than one"
                )
            del stack[depth + 1 :]
            children.setdefault(stack[-1], []).append(len(codes))
            stack.append(len(codes))
            codes.append(code)
        sums = tuple(Sum(p, tuple(c)) for p, c in sorted(children.items()) if c)
        return cls(name, tuple(codes), sums, labels or {})

    @classmethod
    def from_hierarchy(
        cls,
        name: str,
        hierarchy: Hierarchy,
        *,
        total: str = TOTAL,
        labels: Mapping[str, str] | None = None,
    ) -> Dimension:
        """Make one from a generalisation hierarchy; its top becomes the total.

        A label that only repeats its single child (a short path that was filled up) adds nothing.
        """
        paths = hierarchy.paths()
        children: dict[str, dict[str, None]] = {}
        order: dict[str, None] = {total: None}
        for path in paths:
            steps = [total]
            for label in reversed(path[:-1]):
                if label != steps[-1]:
                    steps.append(label)
            for above, below in itertools.pairwise(steps):
                children.setdefault(above, {})[below] = None

        def visit(code: str) -> None:
            order.setdefault(code)
            for child in children.get(code, ()):
                visit(child)

        visit(total)
        return cls.from_relations(
            name,
            [(p, list(children[p])) for p in order if p in children],
            codes=list(order),
            labels=labels,
        )

    # -- shape --------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.codes)

    @functools.cached_property
    def position(self) -> Mapping[str, int]:
        """Return the position of each code."""
        return {code: i for i, code in enumerate(self.codes)}

    @functools.cached_property
    def parents(self) -> frozenset[int]:
        """Return the codes that are the parent of some relation."""
        return frozenset(s.parent for s in self.sums)

    @functools.cached_property
    def leaves(self) -> Ints:
        """Return the ground codes: those that are the parent of no relation."""
        return np.array([i for i in range(len(self)) if i not in self.parents], dtype=np.int64)

    @functools.cached_property
    def roots(self) -> tuple[int, ...]:
        """Return the codes that are the child of no relation."""
        below = {c for s in self.sums for c in s.children}
        return tuple(i for i in range(len(self)) if i not in below)

    @property
    def total(self) -> int:
        """Return the position of the total: the only code that is nobody's child."""
        if len(self.roots) != 1:
            raise HierarchyError(f"the dimension {self.name!r} has {len(self.roots)} totals, not 1")
        return self.roots[0]

    @functools.cached_property
    def is_tree(self) -> bool:
        """Return True when every code has at most one parent and one relation of its own."""
        children = [c for s in self.sums for c in s.children]
        return len(set(children)) == len(children) and len(self.parents) == len(self.sums)

    @functools.cached_property
    def is_flat(self) -> bool:
        """Return True when there is one relation only: ground codes and their total."""
        return len(self.sums) <= 1

    @functools.cached_property
    def depth(self) -> Ints:
        """Return the shortest distance of each code from a root."""
        return steps_below(self, self.roots)

    @functools.cached_property
    def equations(self) -> sparse.csr_array:
        """Return the relations as a matrix: -1 at the parent, +1 (or the sign) at the children."""
        rows, columns, values = [], [], []
        for i, s in enumerate(self.sums):
            rows += [i] * (1 + len(s.children))
            columns += [s.parent, *s.children]
            values += [-1.0, *(s.signs or (1.0,) * len(s.children))]
        return sparse.csr_array((values, (rows, columns)), shape=(len(self.sums), len(self)))

    @functools.cached_property
    def closure(self) -> sparse.csr_array:
        """Return, for each code, its expansion into ground codes (codes x leaves)."""
        return expand(self)

    def __repr__(self) -> str:
        shape = "flat" if self.is_flat else "a tree" if self.is_tree else "several groupings"
        return f"Dimension({self.name!r}: {len(self)} codes, {len(self.sums)} sums, {shape})"


def sums_between(
    relations: Iterable[tuple[str, Sequence[tuple[str, int]]]], codes: Sequence[str]
) -> tuple[Sum, ...]:
    """Return relations of codes, each a parent with its signed children, by the positions of the codes."""
    position = {c: i for i, c in enumerate(codes)}
    return tuple(
        Sum(
            position[parent],
            tuple(position[c] for c, _ in children),
            tuple(s for _, s in children) if any(s < 0 for _, s in children) else (),
        )
        for parent, children in relations
    )


def steps_below(dimension: Dimension, tops: Iterable[int]) -> Ints:
    """Return the shortest distance of each code from some codes that it is below of; -1: of none."""
    front = list(tops)
    steps = np.full(len(dimension), -1, dtype=np.int64)
    steps[front] = 0
    below: dict[int, list[int]] = {}
    for s in dimension.sums:
        below.setdefault(s.parent, []).extend(s.children)
    while front:
        following = []
        for code in front:
            for child in below.get(code, ()):
                if steps[child] < 0:
                    steps[child] = steps[code] + 1
                    following.append(child)
        front = following
    return steps


def keep_codes(dimension: Dimension, keep: Flags, *, sums: bool = True) -> Dimension:
    """Return the dimension of some of its codes, with the sums (or without) that hold no others."""
    place = np.cumsum(keep) - 1
    kept = tuple(
        Sum(int(place[s.parent]), tuple(int(place[c]) for c in s.children), s.signs)
        for s in dimension.sums
        if sums and keep[[s.parent, *s.children]].all()
    )
    codes = tuple(itertools.compress(dimension.codes, keep))
    return Dimension(dimension.name, codes, kept, dimension.labels)


def expand(dimension: Dimension) -> sparse.csr_array:
    """Expand every code into ground codes, children before parents."""
    n, leaves = len(dimension), dimension.leaves
    start = sparse.csr_array(
        (np.ones(len(leaves)), (leaves, np.arange(len(leaves)))), shape=(n, len(leaves))
    )
    rows: list[sparse.csr_array | None] = [None] * n
    for leaf in leaves:
        rows[leaf] = start[[leaf]]
    first: dict[int, Sum] = {}
    for s in dimension.sums:
        first.setdefault(s.parent, s)
    for code in children_first(dimension):
        s = first[code]
        signs = s.signs or (1,) * len(s.children)
        parts = [rows[c] * float(g) for c, g in zip(s.children, signs, strict=True)]  # type: ignore[operator]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        rows[code] = total
    return sparse.csr_array(sparse.vstack(rows)) if n else start


def children_first(dimension: Dimension) -> list[int]:
    """Return the parents in an order in which every parent comes after its children."""
    needs: dict[int, set[int]] = {}
    for s in dimension.sums:
        needs.setdefault(s.parent, set()).update(c for c in s.children if c in dimension.parents)
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError:
        raise HierarchyError(f"the dimension {dimension.name!r} has a cycle") from None


def dimension_faults(dimension: Dimension) -> list[str]:
    """Return what is wrong with a dimension: duplicates, cycles, overlapping or unequal groupings."""
    codes = dimension.codes
    faults = [f"the code {c!r} stands twice" for c, n in Counter(codes).items() if n > 1]
    for s in dimension.sums:
        if not s.children:
            faults.append(f"{codes[s.parent]!r} has no children")
        if s.parent in s.children:
            faults.append(f"{codes[s.parent]!r} is its own child")
        if len(set(s.children)) < len(s.children):
            faults.append(f"{codes[s.parent]!r} counts a child twice")
    if faults:
        return faults
    try:
        closure = expand(dimension)
    except HierarchyError as error:
        return [str(error)]
    signed = any(s.signs for s in dimension.sums)
    if not signed and closure.nnz and closure.data.max() > 1:
        twice = np.unique(closure.tocoo().coords[0][closure.tocoo().data > 1])
        faults += [
            f"{codes[i]!r} counts a ground code twice: its children overlap" for i in twice[:10]
        ]
    gaps = dimension.equations @ closure
    wrong = np.unique(gaps.tocoo().coords[0][np.abs(gaps.tocoo().data) > 0])
    faults += [
        f"two groupings of {codes[dimension.sums[i].parent]!r} do not hold the same ground codes"
        for i in wrong[:10]
    ]
    return faults
