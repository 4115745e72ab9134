"""Random tables of every kind, each method's claim proven by an attacker written here alone.

The attacker builds the relations from the codes of the dimensions and solves one unreduced linear program
a question; it shares nothing with the modules under test but the table that it reads.
"""

import copy
import itertools
import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

import tacit
from tacit import registry
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.status import Status
from tacit.data.table import Contributors
from tacit.errors import Infeasible, InputError
from tacit.tables.suppress.suppression import Suppression

#: The shape of a table is drawn by hypothesis; slow examples are not errors.
CALM = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=CALM)

ENGINES = sorted(
    kind
    for kind, spec in registry.specs().items()
    if isinstance(spec, type) and issubclass(spec, Suppression)
)
#: What an engine is asked besides its defaults.
VARIANTS = [
    *((kind, {}) for kind in ENGINES),
    ("suppress_exact", {"cost": "unit"}),
    ("suppress_gauss", {"intervals": False}),
    ("suppress_hypercube", {"variant": "exact"}),
    ("suppress_hypercube", {"variant": "sequence", "choose": "cheapest"}),
    ("suppress_linear", {"singletons": False, "clean": False}),
]


# -- random tables -----------------------------------------------------------------------------------


@st.composite
def dimensions(draw, name, most=4):
    """Flat codes, a tree, or two groupings over the same ground codes."""
    codes = [f"{name}{i}" for i in range(draw(st.integers(2, most)))]
    shape = draw(st.sampled_from(["flat", "tree", "groups"]))
    if shape == "flat" or len(codes) < 3:
        return Dimension.flat(name, codes)
    cut = draw(st.integers(1, len(codes) - 1))
    sums = [
        ("Total", [f"{name}g", f"{name}h"]),
        (f"{name}g", codes[:cut]),
        (f"{name}h", codes[cut:]),
    ]
    if shape == "groups":
        sums += [
            ("Total", [f"{name}p", f"{name}q"]),
            (f"{name}p", codes[::2]),
            (f"{name}q", codes[1::2]),
        ]
    return Dimension.from_relations(name, sums)


@dataclass
class World:
    """Cells by name with their relations, values and respondents: what a table is made from."""

    dimensions: tuple
    cells: list
    rows: list
    value: np.ndarray
    behind: list
    table: tacit.Table = field(default=None)

    @property
    def count(self):
        return np.array([len(r) for r in self.behind])


def descent(dimension):
    """Return the ground codes below every code, by following the sums down."""
    below = {s.parent: s.children for s in reversed(dimension.sums)}

    def leaves(i):
        return frozenset([i]) if i not in below else frozenset().union(*map(leaves, below[i]))

    return [leaves(i) for i in range(len(dimension.codes))]


def relations_by_name(dimensions):
    """Return every sum of a product table as {cell of codes: coefficient}."""
    rows = []
    for axis, d in enumerate(dimensions):
        others = [range(len(e.codes)) if i != axis else [None] for i, e in enumerate(dimensions)]
        for s, place in itertools.product(d.sums, itertools.product(*others)):
            cell = [c if c is None else dimensions[i].codes[c] for i, c in enumerate(place)]
            row = {}
            for code, sign in ((s.parent, -1), *((c, 1) for c in s.children)):
                cell[axis] = d.codes[code]
                row[tuple(cell)] = sign
            rows.append(row)
    return rows


@st.composite
def worlds(draw, negative=None, most=4):
    """Respondents with contributions in the ground cells of a product, all cells added up."""
    dims = tuple(
        draw(dimensions(n, most=most)) for n in "abc"[: draw(st.sampled_from([1, 2, 2, 2, 3]))]
    )
    if len(dims) == 3:
        dims = tuple(draw(dimensions(d.name, most=3)) for d in dims)
    grounds = list(itertools.product(*(d.leaves.tolist() for d in dims)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sign = draw(st.booleans()) if negative is None else negative
    crowd = draw(st.sampled_from([3, 8, 50]))
    scale = draw(st.sampled_from([1.0, 1.0, 1e-3, 1e5]))
    inside = {}
    for cell in grounds:
        n = int(rng.choice([0, 1, 1, 2, 3, 5]))
        who = rng.choice(crowd, size=min(n, crowd), replace=False)
        inside[cell] = {int(w): scale * int(rng.integers(-6 if sign else 1, 20)) for w in who}
    below = [descent(d) for d in dims]
    cells, values, behind = [], [], []
    for place in itertools.product(*(range(len(d.codes)) for d in dims)):
        gifts = {}
        for ground in itertools.product(*(below[i][c] for i, c in enumerate(place))):
            for who, amount in inside[ground].items():
                gifts[who] = gifts.get(who, 0.0) + amount
        cells.append(tuple(d.codes[c] for d, c in zip(dims, place, strict=True)))
        values.append(sum(gifts.values()))
        behind.append(gifts)
    return World(dims, cells, relations_by_name(dims), np.array(values), behind)


def contributors(world, cells):
    """Return who stands behind cells, with their two largest contributions."""
    ranked = [sorted(world.behind[c].items(), key=lambda g: -abs(g[1]))[:2] for c in cells]
    top = np.array([[*(a for _, a in r), 0.0, 0.0][:2] for r in ranked])
    who = np.array([[*(w for w, _ in r), -1, -1][:2] for r in ranked])
    return Contributors(world.count[cells], top, who)


@st.composite
def tables(draw, kinds=("product", "linked", "equations"), negative=None, most=4):
    """A world with its table: bounds, unsafe cells with levels of all kinds, cells to publish."""
    world = draw(worlds(negative=negative, most=most))
    kind = draw(st.sampled_from(kinds))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = len(world.cells)
    size = np.abs(world.value).max(initial=1.0)
    known = {}
    bounds = draw(st.sampled_from(["usual", "share", "mixed"]))
    if (world.value < 0).any():
        known = {"lower": world.value - size * rng.integers(0, 4, n) / 2}
        known["upper"] = np.where(rng.random(n) < 0.5, np.inf, world.value + size)
    elif bounds == "share":
        known = {"lower": 0.5 * world.value, "upper": 1.5 * world.value}
    elif bounds == "mixed":
        known = {"lower": np.where(rng.random(n) < 0.3, 0.8, 0.0) * world.value}
        known["upper"] = np.where(rng.random(n) < 0.3, 1.2 * world.value + 1, np.inf)
    every = np.arange(n)
    owners = draw(st.booleans())
    facts = {
        "count": world.count,
        **({"contributors": contributors(world, every)} if owners else {}),
    }
    table = tacit.Table.from_cells(world.dimensions, world.value, **known, **facts)
    if kind == "linked" and len(world.dimensions) > 1:
        world, table = linked(world, table)
    elif kind == "equations":
        table = bare(world, table, rng)
    table = with_needs(table, rng, draw(st.integers(1, 4)))
    table = with_frozen(table, rng, draw(st.sampled_from([0, 0, 1, 3])))
    world.table = table
    return world


def linked(world, table):
    """The margins of a product as separate tables that share cells, without the cells inside."""
    dims = world.dimensions
    parts, kept, rows = [], {}, []
    for axes in itertools.combinations(range(len(dims)), len(dims) - 1):
        at = [
            i
            for i, c in enumerate(world.cells)
            if all(c[a] == "Total" for a in range(len(dims)) if a not in axes)
        ]
        mine = tuple(dims[a] for a in axes)
        part = tacit.Table.from_cells(
            mine,
            table.value[at],
            count=table.count[at],
            lower=table.lower[at],
            upper=table.upper[at],
            contributors=None
            if table.contributors is None
            else table.contributors.take(np.array(at)),
        )
        parts.append(part)
        kept.update((world.cells[i], i) for i in at)
        wide = lambda cell, axes=axes: tuple(  # noqa: E731
            cell[axes.index(a)] if a in axes else "Total" for a in range(len(dims))
        )
        rows += [{wide(c): s for c, s in row.items()} for row in relations_by_name(mine)]
    joined = tacit.Table.link(*parts)
    names = [
        tuple(dict(zip(joined.names, joined.codes(i), strict=True))[d.name] for d in dims)
        for i in range(len(joined))
    ]
    chosen = [kept[c] for c in names]
    new = World(dims, names, rows, world.value[chosen], [world.behind[i] for i in chosen])
    return new, joined


def bare(world, table, rng):
    """The same cells with nothing but a list of equations, some of them scaled."""
    number = {c: i for i, c in enumerate(world.cells)}
    order = rng.permutation(len(world.rows))
    entries = [
        (r, number[c], s * f)
        for r, i in enumerate(order)
        for f in [float(rng.choice([1.0, 1.0, 2.0, 0.5]))]
        for c, s in world.rows[i].items()
    ]
    row, column, data = zip(*entries, strict=True)
    matrix = sparse.csr_array((data, (row, column)), shape=(len(order), len(world.cells)))
    return tacit.Table.from_cells(
        (),
        table.value,
        count=table.count,
        lower=table.lower,
        upper=table.upper,
        equations=matrix,
        contributors=table.contributors,
    )


def with_needs(table, rng, n):
    """Call cells unsafe: few, small ones first, with levels of every kind."""
    open_cells = np.flatnonzero(~table.empty)
    lone = open_cells[table.count[open_cells] == 1]
    pool = lone if len(lone) and rng.random() < 0.7 else open_cells
    if not len(pool):
        return table
    unsafe = rng.choice(pool, size=min(n, len(pool)), replace=False)
    size = np.abs(table.value[unsafe])
    room = table.upper[unsafe] - table.value[unsafe]
    pick = rng.integers(0, 4, (3, len(unsafe)))
    upper = np.minimum(0.1 * pick[1] * size, room)
    return table.with_protection(
        unsafe, lower=0.1 * pick[0] * size, upper=upper, sliding=0.15 * (pick[2] // 2) * size
    )


def with_frozen(table, rng, n):
    """Say that some safe cells must be published."""
    safe = np.flatnonzero(~table.primary & ~table.empty)
    return table.freeze(rng.choice(safe, size=min(n, len(safe)), replace=False)) if n else table


# -- the attacker --------------------------------------------------------------------------------------


class Attacker:
    """Knows what is published, all sums and the bounds; asks one linear program at a time."""

    def __init__(self, world, hidden):
        t = world.table
        self.world, self.hidden = world, np.asarray(hidden)
        self.cells = np.flatnonzero(hidden)
        number = {c: i for i, c in enumerate(world.cells)}
        at = {c: k for k, c in enumerate(self.cells.tolist())}
        lines = {
            tuple(sorted((at[number[c]], s) for c, s in row.items() if number[c] in at))
            for row in world.rows
        }
        self.matrix = np.zeros((len(lines), len(self.cells)))
        for r, line in enumerate(lines):
            for k, s in line:
                self.matrix[r, k] = s
        self.place = at
        self.scale = max(1e-9, float(np.abs(t.value).max(initial=0.0)))
        self.low = (t.lower - t.value)[self.cells] / self.scale
        self.high = (t.upper - t.value)[self.cells] / self.scale

    def reach(self, cell, sense, known=()):
        """Return how far a cell can lie on one side of its value."""
        if cell not in self.place:
            return 0.0
        low, high = np.minimum(self.low, 0.0), np.maximum(self.high, 0.0)
        still = [self.place[k] for k in known if k in self.place]
        low[still] = high[still] = 0.0
        cost = np.zeros(len(self.cells))
        cost[self.place[cell]] = -sense
        found = linprog(
            cost,
            A_eq=self.matrix,
            b_eq=np.zeros(len(self.matrix)),
            bounds=np.stack([low, high], axis=1),
            method="highs",
        )
        if found.status == 3:
            return np.inf
        assert found.status == 0, found.message
        return -float(found.fun) * self.scale

    def width(self, cell, known=()):
        """Return the width of a cell's interval."""
        return self.reach(cell, 1, known) + self.reach(cell, -1, known)

    def free(self, cell, known=()):
        """Return True when the sums alone, without bounds, do not determine a cell."""
        if cell not in self.place:
            return False
        inside = [self.place[k] for k in known if k in self.place]
        m = np.concatenate([self.matrix, np.eye(len(self.cells))[inside]])
        unit = np.eye(len(self.cells))[[self.place[cell]]]
        rank = np.linalg.matrix_rank(m) if m.size else 0
        return bool(np.linalg.matrix_rank(np.concatenate([m, unit])) > rank)


def least(table, cell):
    """Return the movement from which on a value counts as not deducible."""
    return 1.0 if table.frequency else 1e-3 * max(1.0, abs(table.value[cell]))


def exposed(attacker):
    """Return the unsafe cells whose levels are not reached."""
    t = attacker.world.table
    short = []
    for cell in np.flatnonzero(t.primary).tolist():
        down, up = attacker.reach(cell, -1), attacker.reach(cell, 1)
        slack = 1e-6 * max(abs(t.value[cell]), 1e-6 * attacker.scale)
        need = min(t.lower_level[cell], t.value[cell] - t.lower[cell])
        width = t.sliding_level[cell]
        if t.lower_level[cell] == t.upper_level[cell] == width == 0:
            width = least(t, cell)
        if down < need - slack or up < t.upper_level[cell] - slack or down + up < width - slack:
            short.append(cell)
    return short


def owners(world):
    """Return a name for the only respondent of each cell, None elsewhere; unknown ones by logic alone."""
    lone = [next(iter(b)) if len(b) == 1 else None for b in world.behind]
    if world.table.contributors is not None:
        return lone
    # A total of one respondent and its parts have the same one; nothing else is known.
    name = {i: i for i, who in enumerate(lone) if who is not None}
    number = {c: i for i, c in enumerate(world.cells)}

    def root(i):
        while name[i] != i:
            i = name[i]
        return i

    for row in world.rows:
        parent = next(number[c] for c, s in row.items() if s < 0)
        if parent in name:
            for c in row:
                if number[c] in name:
                    name[root(number[c])] = root(parent)
    return [root(i) if i in name else None for i in range(len(lone))]


def betrayed(attacker, test):
    """Return pairs (own cell, unsafe cell of another) where one respondent's cell gives the other away."""
    t, who = attacker.world.table, owners(attacker.world)
    hidden = attacker.cells.tolist()
    return [
        (own, cell)
        for own in hidden
        if who[own] is not None
        for cell in np.flatnonzero(t.primary).tolist()
        if cell != own and who[cell] != who[own] and attacker.free(cell) and not test(own, cell)
    ]


# -- suppression -----------------------------------------------------------------------------------------


def outcome(kind, options, world):
    """Return the protected table, or the error that says why there is none."""
    before = copy.deepcopy(
        {f: getattr(world.table, f) for f in ("value", "status", "lower", "upper")}
    )
    spec = registry.lookup(kind)(**options)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = spec.apply(world.table, seed=1)
    except (Infeasible, InputError) as error:
        result = error
    for name, array in before.items():
        assert np.array_equal(array, getattr(world.table, name)), f"the input's {name} changed"
    return result


def prove(kind, options, world):
    """Check one engine on one table, from the definition of its claim alone."""
    table = world.table
    result = outcome(kind, options, world)
    intervals = options.get("intervals", True) and options.get("variant") != "exact"
    # Cubes keep cells from exact deduction within the bounds, elimination from deduction by sums alone.
    bounded = intervals or kind == "suppress_hypercube"
    if isinstance(result, Infeasible):
        refute(world, options, intervals=intervals, bounded=bounded)
        return None
    if isinstance(result, InputError):
        assert kind in ("suppress_network", "suppress_hypercube", "suppress_modular"), result
        assert len(str(result)) > 30
        assert "suppress_linear" in str(result)
        return None
    hidden = result.hidden
    assert hidden[table.primary].all()
    assert not hidden[(table.status == Status.PROTECTED) | table.empty].any()
    assert np.array_equal(result.value, table.value)
    assert np.isnan(result.published[hidden]).all()
    assert np.array_equal(result.published[~hidden], table.value[~hidden])
    attacker = Attacker(world, hidden)
    unsafe = np.flatnonzero(table.primary).tolist()
    assert all(attacker.free(c) for c in unsafe)
    if intervals:
        assert not exposed(attacker)
    elif bounded:
        assert not stuck(attacker)
    if options.get("singletons", True):
        assert not betrayed(attacker, lambda own, cell: attacker.free(cell, [own]))
        if bounded:
            near = neighbours(world)
            pairs = betrayed(attacker, lambda own, cell: attacker.width(cell, [own]) > 0)
            assert not [p for p in pairs if p in near and table.primary[p[0]]]
    return result


def neighbours(world):
    """Return the pairs of cells that share a sum."""
    number = {c: i for i, c in enumerate(world.cells)}
    return {
        pair for row in world.rows for pair in itertools.permutations([number[c] for c in row], 2)
    }


def stuck(attacker):
    """Return the unsafe cells that cannot move as far as counts as not deducible."""
    t = attacker.world.table
    unsafe = np.flatnonzero(t.primary).tolist()
    return [c for c in unsafe if attacker.width(c) < least(t, c) * (1 - 1e-5)]


def refute(world, options, *, intervals, bounded):
    """Confirm that no pattern is safe: not even the one that hides whatever may be hidden.

    Hiding more never helps an attacker, so that pattern stands for all others.
    """
    table = world.table
    attacker = Attacker(world, ~table.fixed)
    assert not table.fixed[table.primary].any()
    unsafe = np.flatnonzero(table.primary).tolist()
    lost = [c for c in unsafe if not attacker.free(c)]
    if lost or (intervals and exposed(attacker)) or (bounded and not intervals and stuck(attacker)):
        return
    assert options.get("singletons", True), "a safe pattern exists"

    def kept(own, cell):
        if not attacker.free(cell, [own]):
            return False
        reach = max(attacker.reach(cell, 1, [own]), attacker.reach(cell, -1, [own]))
        # A pair that some smaller pattern ties needs a movement within the bounds as well.
        return not bounded or reach >= least(table, cell) * (1 - 1e-5)

    assert betrayed(attacker, kept), "a safe pattern exists"


def name_variant(part):
    return part if isinstance(part, str) else "-".join(map(str, part.values()))


#: A proof of optimality takes a second or two a table: a few in the ordinary suite, all in the slow one.
HEURISTICS = [v for v in VARIANTS if v[0] != "suppress_exact"]
PROVEN = [v for v in VARIANTS if v[0] == "suppress_exact"]


@pytest.mark.parametrize(("kind", "options"), HEURISTICS, ids=name_variant)
@FEW
@given(data=st.data())
def test_the_claim_of_every_suppression_method_holds(kind, options, data):
    prove(kind, options, data.draw(tables()))


@pytest.mark.parametrize(("kind", "options"), PROVEN, ids=name_variant)
@settings(FEW, max_examples=6)
@given(data=st.data())
def test_the_claim_of_exact_suppression_holds(kind, options, data):
    prove(kind, options, data.draw(tables()))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "options"), PROVEN, ids=name_variant)
@settings(FEW, max_examples=50)
@given(data=st.data())
def test_the_claim_of_exact_suppression_holds_on_many_tables(kind, options, data):
    prove(kind, options, data.draw(tables()))
