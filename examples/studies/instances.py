"""Tables with the shapes of the instances on which cell suppression is commonly measured.

The files of CSPLIB are not distributed with the paper that reports on them. These are product tables with
the same number of cells, relations and entries as its Table 1, where such a product exists, and two of the
size of its largest ones (named ``..._like``). Their hierarchies are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tacit.data.cells.dimension import Dimension, Sum
from tacit.data.cells.relations import roll_up
from tacit.errors import InputError, InvalidParameter, near_match

if TYPE_CHECKING:
    from tacit.data.table import Table

#: A relation as its parent and its children.
Relations = tuple[tuple[int, ...], ...]


def heap(codes: int, parents: int) -> Relations:
    """Return a tree: the first ``parents`` codes have two children each, the rest is dealt out in turn.

    The total keeps its two children; the codes that are left over go to the other parents.
    """
    below = {p: [2 * p + 1, 2 * p + 2] for p in range(parents)}
    for i, code in enumerate(range(2 * parents + 1, codes)):
        below[1 + i % (parents - 1)].append(code)
    return tuple((p, *children) for p, children in below.items())


def flat(codes: int) -> Relations:
    """Return one total and its parts."""
    return (tuple(range(codes)),)


#: 13 codes under two groupings of six ground codes: by two and by three, one of which has a sub-total.
TWO_BY_THREE: Relations = (
    (0, 1, 2),
    (1, 3, 4, 5),
    (2, 6, 7, 8),
    (9, 3, 6),
    (10, 4, 7),
    (11, 5, 8),
    (12, 9, 10),
)
#: 16 codes: nine ground codes in a square, summed along rows (with a total) and along columns.
THREE_BY_THREE: Relations = (
    (0, 1, 2, 3),
    (1, 4, 5, 6),
    (2, 7, 8, 9),
    (3, 10, 11, 12),
    (13, 4, 7, 10),
    (14, 5, 8, 11),
    (15, 6, 9, 12),
)

SHAPES: dict[str, Callable[[], tuple[Relations, ...]]] = {
    "targus": lambda: (heap(18, 5), flat(9)),
    "jjtabeltest": lambda: (heap(55, 15), heap(55, 15)),
    "toy3dsarah": lambda: (flat(10), heap(17, 4), heap(17, 4)),
    "hier13x7x7d": lambda: (TWO_BY_THREE, flat(7), flat(7)),
    "hier13x13x7d": lambda: (TWO_BY_THREE, TWO_BY_THREE, flat(7)),
    "hier13x13x13a": lambda: (TWO_BY_THREE, TWO_BY_THREE, TWO_BY_THREE),
    "hier16x16x16a": lambda: (THREE_BY_THREE, THREE_BY_THREE, THREE_BY_THREE),
    "bts4_like": lambda: (heap(53, 18), heap(30, 9), heap(23, 8)),
    "five20b_like": lambda: (heap(35, 12), heap(10, 4), heap(10, 4), heap(10, 4)),
}

#: The names that :func:`instance` knows.
NAMES = tuple(SHAPES)


def dimensions_of(name: str) -> tuple[Dimension, ...]:
    """Return the dimensions of a named instance."""
    if name not in SHAPES:
        raise InputError(
            f"there is no instance {name!r}. {near_match(name, NAMES)} Names: {', '.join(NAMES)}."
        )
    return tuple(
        dimension(f"d{axis + 1}", relations) for axis, relations in enumerate(SHAPES[name]())
    )


def dimension(name: str, relations: Relations) -> Dimension:
    """Return a dimension from relations between numbered codes."""
    size = 1 + max(max(r) for r in relations)
    sums = tuple(Sum(parent, tuple(children)) for parent, *children in relations)
    return Dimension(name, tuple(f"{name}.{i}" for i in range(size)), sums)


def instance(name: str, *, unsafe: float = 0.05, level: float = 0.15, seed: int = 1) -> Table:
    """Return a random suppression instance with the relations of a named one.

    Parameters
    ----------
    name
        One of :data:`NAMES`.
    unsafe
        Share of the ground cells that are unsafe; small ones are chosen more often.
    level
        Protection needed on both sides, as a share of the cell's value.
    seed
        Seed of values and choice.

    Returns
    -------
    Table
        Skewed whole numbers with a fifth of the ground cells empty. ``tacit.tables.write_jj`` writes
        it for other programs.
    """
    if not 0 <= unsafe <= 1 or not level >= 0:
        raise InvalidParameter("unsafe must be a share from 0 to 1, and level at least 0")
    from tacit.data.table import Table

    rng = np.random.default_rng(seed)
    dimensions = dimensions_of(name)
    ground = [len(d.leaves) for d in dimensions]
    base = (np.round(rng.lognormal(4.0, 1.5, ground)) + 1) * (rng.random(ground) > 0.2)
    table = Table.from_cells(dimensions, roll_up(base, dimensions))
    cells = np.flatnonzero(table.ground & ~table.empty)
    if not len(cells) or not unsafe:
        return table
    chance = table.value[cells] ** -0.5
    wanted = max(1, round(unsafe * len(cells)))
    picked = np.sort(rng.choice(cells, wanted, replace=False, p=chance / chance.sum()))
    need = level * table.value[picked]
    return table.with_protection(picked, lower=need, upper=need)
