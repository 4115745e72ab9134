"""Margins of multiway tables: families of supports, their equations, consistency, closed-form bounds.

The *support* of a margin is the set of dimensions that it does not sum over. A release is a family of
supports; every margin on a subset of one of them follows from it, so only maximal supports are kept.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.relations import letters
from tacit.errors import InputError, near_match

Support = tuple[int, ...]
#: What stands for a dimension: its position or its name.
N = TypeVar("N", int, str)
Kind = Literal["decomposable", "two-way", "r x c x 2", "long", "general"]

#: Whole numbers above this are not exact in double precision once they are added up.
LARGEST = 2**52


@dataclass(frozen=True, eq=False)
class Axis:
    """One dimension of a table of ground cells."""

    name: str
    size: int  # number of ground codes
    #: The sums over it that are published where a margin sums over it: rows x ground codes. One row of ones in a flat
    #: dimension.
    groups: sparse.csr_array

    @classmethod
    def flat(cls, name: str, size: int) -> Axis:
        """Make the axis of a flat dimension."""
        return cls(name, size, sparse.csr_array(np.ones((1, size))))

    @classmethod
    def of(cls, dimension: Dimension, *, groups: bool = True) -> Axis:
        """Make the axis of a dimension; with ``groups``, its groups are published, not only totals."""
        parents = sorted(dimension.parents if groups else set(dimension.roots) & dimension.parents)
        closure = dimension.closure[parents]
        size = len(dimension.leaves)
        return cls(dimension.name, size, independent(sparse.csr_array(closure)))

    @property
    def is_flat(self) -> bool:
        """Return True when the only sum over it is the total."""
        return self.groups.shape[0] == 1 and self.groups.nnz == self.size


def independent(rows: sparse.csr_array) -> sparse.csr_array:
    """Return linearly independent rows that span all of them, short rows first."""
    dense = rows.toarray()
    kept: list[int] = []
    rest = np.zeros((0, dense.shape[1]))
    for i in np.argsort((dense != 0).sum(axis=1), kind="stable"):
        left = dense[i] - rest.T @ (rest @ dense[i])
        left -= rest.T @ (rest @ left)
        size = float(np.linalg.norm(left))
        if size > 1e-8 * max(1.0, float(np.linalg.norm(dense[i]))):
            kept.append(int(i))
            rest = np.vstack([rest, left / size])
    return sparse.csr_array(rows[sorted(kept)])


# -- families ------------------------------------------------------------------------------------------


def find_maximal_supports(families: Iterable[Iterable[int]]) -> tuple[Support, ...]:
    """Return the supports of a family that lie in no other one, in order."""
    sets = {frozenset(f) for f in families}
    return tuple(sorted(tuple(sorted(s)) for s in sets if not any(s < t for t in sets)))


def k_margins(d: int, k: int) -> tuple[Support, ...]:
    """Return the supports of all k-margins of a d-way table; the 2-margins of a 3-way one are its line sums."""
    return tuple(itertools.combinations(range(d), k))


def read_families(
    families: Iterable[Iterable[int | str]], names: Sequence[str]
) -> tuple[Support, ...]:
    """Return supports as positions, given by names or positions of dimensions."""
    found = [tuple(find_position(n, names) for n in family) for family in families]
    if not found:
        raise InputError("no margins are named: give at least one list of dimensions")
    return find_maximal_supports(found)


def find_position(name: int | str, names: Sequence[str]) -> int:
    """Return the position of a dimension."""
    if isinstance(name, str):
        if name not in names:
            raise InputError(f"there is no dimension {name!r}. {near_match(name, names)}".strip())
        return list(names).index(name)
    if not 0 <= int(name) < len(names):
        raise InputError(f"there is no dimension {int(name)}: the table has {len(names)}")
    return int(name)


def family_words(families: Sequence[Support], names: Sequence[str]) -> str:
    """Return a family in words: ``a x b, c``."""
    return ", ".join(" x ".join(names[i] for i in f) or "the grand total" for f in families)


def all_families(d: int) -> list[tuple[Support, ...]]:
    """Return every family of maximal supports of a d-way table but the full table, finest first.

    These are the antichains of subsets: 4, 18 and 166 for two, three and four dimensions (without the
    family of the table itself); for more dimensions only families of k-margins, with some of them
    left out one by one, are listed.
    """
    subsets = [s for k in range(d) for s in itertools.combinations(range(d), k)]
    if d <= 4:
        chains: list[tuple[Support, ...]] = []
        grow_antichains(subsets, 0, [], chains)
    else:
        chains = [k_margins(d, k) for k in range(d)]
        chains += [
            tuple(g for g in k_margins(d, k) if g != f)
            for k in range(1, d)
            for f in k_margins(d, k)
        ]
    return sorted(set(chains), key=lambda f: (-len(list_implied_supports(f)), f))


def grow_antichains(
    subsets: Sequence[Support], start: int, chosen: list[Support], found: list[tuple[Support, ...]]
) -> None:
    """Add every antichain that extends the chosen subsets by later ones."""
    if chosen:
        found.append(tuple(sorted(chosen)))
    for i in range(start, len(subsets)):
        s = set(subsets[i])
        if not any(s <= set(t) or set(t) <= s for t in chosen):
            grow_antichains(subsets, i + 1, [*chosen, subsets[i]], found)


def list_implied_supports(family: Sequence[Support]) -> frozenset[Support]:
    """Return every support whose margin follows from a family."""
    return frozenset(
        s for f in family for k in range(len(f) + 1) for s in itertools.combinations(f, k)
    )


# -- equations -----------------------------------------------------------------------------------------


def margin_rows(axes: Sequence[Axis], support: Support) -> sparse.csr_array:
    """Return the matrix that makes the margins of one support from the ground cells in C order."""
    parts = [
        sparse.eye_array(a.size, format="csr") if i in support else a.groups
        for i, a in enumerate(axes)
    ]
    return sparse.csr_array(functools.reduce(lambda a, b: sparse.kron(a, b, format="csr"), parts))


def margin_matrix(axes: Sequence[Axis], families: Sequence[Support]) -> sparse.csr_array:
    """Return the matrix of all margins of a family."""
    return sparse.csr_array(sparse.vstack([margin_rows(axes, f) for f in families], format="csr"))


# -- sets of margins -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MarginSet:
    """Margins of a flat table that need not be known itself.

    Attributes
    ----------
    shape, names
        The dimensions.
    families
        The maximal supports.
    values
        One array of whole numbers per support, with one axis per dimension of it.
    source
        A table with these margins, if one is known.
    """

    shape: tuple[int, ...]
    names: tuple[str, ...]
    families: tuple[Support, ...]
    values: tuple[Ints, ...]
    source: Ints | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        shape: Sequence[int],
        margins: Mapping[Any, npt.ArrayLike],
        *,
        names: Sequence[str] | None = None,
    ) -> MarginSet:
        """Take margins by support: ``{(0, 1): array, (1, 2): array}``; they are checked.

        Raises
        ------
        InputError
            When a margin has the wrong shape, is negative or not whole, or two of them disagree.
        """
        sizes = tuple(map(int, shape))
        labels = tuple(names or letters(len(sizes)))
        if not margins:
            raise InputError("no margins are given: give at least one")
        known: dict[Support, Ints] = {}
        for key, value in margins.items():
            members = (key,) if isinstance(key, str | int) else tuple(key)
            axes = [find_position(n, labels) for n in members]
            order = np.argsort(axes, kind="stable")
            support = tuple(axes[i] for i in order)
            array = np.asarray(value)
            expected = tuple(sizes[i] for i in axes)
            if array.shape != expected:
                raise InputError(
                    f"the margin of {family_words([support], labels)} must have the shape {expected}"
                )
            known[support] = check_whole_numbers(
                array.transpose(order), family_words([support], labels)
            )
        require_consistent(known, labels)
        top = find_maximal_supports(known)
        return cls(sizes, labels, top, tuple(known[f] for f in top))

    @classmethod
    def from_table(
        cls,
        table: npt.ArrayLike,
        families: Iterable[Iterable[int | str]] | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> MarginSet:
        """Take the margins of a table (without totals); by default all that sum over one dimension."""
        array = check_whole_numbers(np.asarray(table), "the table")
        labels = tuple(names or letters(array.ndim))
        d = array.ndim
        top = k_margins(d, d - 1) if families is None else read_families(families, labels)
        values = tuple(array.sum(axis=tuple(i for i in range(d) if i not in f)) for f in top)
        return cls(array.shape, labels, top, tuple(map(np.asarray, values)), array)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Return the dimensions as flat axes."""
        return tuple(Axis.flat(n, s) for n, s in zip(self.names, self.shape, strict=True))

    @property
    def matrix(self) -> sparse.csr_array:
        """Return the equations of the ground cells."""
        return margin_matrix(self.axes, self.families)

    @property
    def right(self) -> Floats:
        """Return the right-hand side of the equations."""
        return np.concatenate([v.ravel() for v in self.values]).astype(np.float64)


def check_whole_numbers(array: npt.NDArray[Any], what: str) -> Ints:
    """Return an array as whole numbers, none of them negative; refuse others."""
    values = np.asarray(array, dtype=np.float64)
    if not np.isfinite(values).all():
        raise InputError(f"{what} has values that are missing or not finite")
    if (np.abs(values - np.rint(values)) > 1e-9).any():
        raise InputError(f"{what} has values that are not whole numbers: this works on counts")
    if (values < 0).any():
        raise InputError(f"{what} has negative values: this works on counts")
    if values.sum() > LARGEST:
        raise InputError(f"{what} has counts too large to be added up exactly")
    return np.rint(values).astype(np.int64)


def require_consistent(margins: Mapping[Support, Ints], names: Sequence[str]) -> None:
    """Refuse two margins that imply different values of a margin that both contain."""
    for (f, a), (g, b) in itertools.combinations(margins.items(), 2):
        shared = tuple(sorted(set(f) & set(g)))
        one = a.sum(axis=tuple(i for i, x in enumerate(f) if x not in shared))
        two = b.sum(axis=tuple(i for i, x in enumerate(g) if x not in shared))
        if not np.array_equal(one, two):
            raise InputError(
                f"the margins {family_words([f], names)} and {family_words([g], names)} disagree on "
                f"{family_words([shared], names)}, which follows from both"
            )


# -- decomposable families -----------------------------------------------------------------------------


def junction(families: Sequence[tuple[N, ...]]) -> list[tuple[tuple[N, ...], tuple[N, ...]]] | None:
    """Return an order of the supports, each with its separator, or None for no decomposable family.

    A family is decomposable when its supports can be ordered so that each meets the union of those
    before it inside one of them (running intersection; Graham's reduction finds the order).
    """
    left = [set(f) for f in families]
    order: list[tuple[tuple[N, ...], tuple[N, ...]]] = []
    while len(left) > 1:
        for i, s in enumerate(left):
            others = [t for j, t in enumerate(left) if j != i]
            shared = s & set().union(*others)
            if any(shared <= t for t in others):
                order.append((tuple(sorted(s)), tuple(sorted(shared))))
                left.pop(i)
                break
        else:
            return None
    order.append((tuple(sorted(left[0])), ()))
    return order[::-1]


def decomposable_bounds(margins: MarginSet, cells: Ints) -> tuple[Floats, Floats] | None:
    """Return the sharp bounds of cells in closed form, or None when the family is not decomposable.

    With cliques C and separators S: max(0, sum n_C - sum n_S) and min n_C (Dobra and Fienberg 2000).
    A dimension in no support leaves the entry free down to 0 unless it has one code only.
    """
    order = junction(margins.families)
    if order is None:
        return None
    at = np.unravel_index(cells, margins.shape)
    by = dict(zip(margins.families, margins.values, strict=True))

    def of(support: Support, within: Support) -> Ints:
        array = by[within].sum(axis=tuple(i for i, x in enumerate(within) if x not in support))
        return np.broadcast_to(np.asarray(array)[tuple(at[i] for i in support)], cells.shape)

    upper = np.min([of(f, f) for f, _ in order], axis=0)
    lower = np.sum([of(f, f) for f, _ in order], axis=0)
    for f, separator in order[1:]:
        lower = lower - of(separator, f)
    used = set().union(*margins.families)
    if any(margins.shape[i] > 1 for i in range(len(margins.shape)) if i not in used):
        lower = np.zeros_like(upper)
    return np.maximum(lower, 0).astype(np.float64), upper.astype(np.float64)


# -- advice --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Advice:
    """How hard it is to bound the entries of a release.

    Attributes
    ----------
    kind
        ``decomposable``, ``two-way``, ``r x c x 2``, ``long`` or ``general``.
    linear_is_exact
        True when linear bounds, rounded inwards, are exact and all values between them occur.
    engine
        The engine to choose.
    text
        The reason in a sentence.
    """

    kind: Kind
    linear_is_exact: bool
    engine: str
    text: str


def margin_advice(
    shape: Sequence[int],
    families: Iterable[Iterable[int]] | None = None,
    *,
    flat: bool = True,
) -> Advice:
    """Say how hard the question of entry uniqueness is for a shape and a family of margins.

    Parameters
    ----------
    shape
        Ground codes of each dimension.
    families
        The supports; by default all margins that sum over one dimension.
    flat
        False when groups of a hierarchy are published as well.
    """
    d = len(shape)
    top = k_margins(d, d - 1) if families is None else find_maximal_supports(families)
    wide = tuple(i for i, s in enumerate(shape) if s > 1)
    used = find_maximal_supports(tuple(set(f) & set(wide)) for f in top)
    if flat and d == 2 and used == ((0,), (1,)):
        return Advice(
            "two-way", True, "closed form", "bounds of a two-way table have a closed form"
        )
    if flat and junction(used) is not None:
        return Advice(
            "decomposable", True, "closed form", "the family is decomposable: bounds in closed form"
        )
    lines = len(wide) == 3 and used == tuple(itertools.combinations(wide, 2))
    if flat and lines and min(shape[i] for i in wide) == 2:
        return Advice(
            "r x c x 2",
            True,
            "lp",
            "one side of 2 makes it a two-way table with bounds: linear is exact",
        )
    sizes = sorted(shape)
    if len(wide) >= 3 and sizes[-1] >= 4 * max(sizes[:-1]) and int(np.prod(sizes[:-1])) <= 16:
        return Advice(
            "long",
            False,
            "mip",
            "one side is long and the others short: polynomial by n-fold programming",
        )
    return Advice(
        "general",
        False,
        "mip",
        "no polynomial method is known: integer programming (coNP-complete in general)",
    )
