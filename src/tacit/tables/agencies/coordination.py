"""Several agencies that publish parts of one table: their parts, the federal step, and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.cells.dimension import Dimension, Sum, keep_codes, steps_below
from tacit.data.cells.linked import LEVELS
from tacit.data.cells.status import Status
from tacit.data.table import Contributors, Table
from tacit.errors import HierarchyError, Infeasible, InputError, near_match
from tacit.tables.suppress.problem import Problem, inner_rows, problem_of
from tacit.tables.suppress.repair import suppress
from tacit.tables.suppress.suppression import Suppression, protect_from_respondents

#: The code of the total that the agencies of a block have in common; it is never published.
BLOCK_TOTAL = "(block)"
#: Cells named in a message.
NAMED = 10


@dataclass(frozen=True, eq=False)
class Regions:
    """Which codes of the region dimension belong to which agency."""

    #: The position of the region among the table's dimensions.
    axis: int
    #: The code of each agency: its own total.
    tops: tuple[int, ...]
    #: For each code the number of its agency; -1 for codes above or across all agencies, which are
    #: called federal here.
    own: Ints
    #: For each code 0 when it is federal, 1 for an agency's total, 2 and more below it.
    level: Ints

    def of(self, table: Table) -> Ints:
        """Return the agency of each cell of a table, -1 for federal cells."""
        return np.asarray(self.own[table.places[:, self.axis]])

    def levels(self, table: Table) -> Ints:
        """Return the region level of each cell of a table."""
        return np.asarray(self.level[table.places[:, self.axis]])


def regions_of(table: Table, region: str, agencies: Sequence[str] | None = None) -> Regions:
    """Return the agencies of a table: codes of one dimension, by default the parts of the total in its first relation."""
    if region not in table.names:
        known = ", ".join(map(repr, table.names)) or "none: it is a bare list of equations"
        raise InputError(f"the table has no dimension {region!r}; its dimensions: {known}")
    axis = table.names.index(region)
    d = table.dimensions[axis]
    tops = locate_agencies(d, agencies)
    own = np.full(len(d), -1, dtype=np.int64)
    level = np.zeros(len(d), dtype=np.int64)
    for i, top in enumerate(tops):
        steps = steps_below(d, [top])
        below = np.flatnonzero(steps >= 0)
        for code in below[np.argsort(steps[below], kind="stable")].tolist():
            if own[code] >= 0:
                raise InputError(
                    f"the code {d.codes[code]!r} of {region!r} belongs to two agencies, "
                    f"{d.codes[tops[own[code]]]!r} and {d.codes[top]!r}"
                )
            own[code], level[code] = i, 1 + steps[code]
    return Regions(axis, tops, own, level)


def locate_agencies(dimension: Dimension, agencies: Sequence[str] | None) -> tuple[int, ...]:
    """Return the codes of the agencies as positions."""
    if agencies is not None:
        for code in agencies:
            if code not in dimension.position:
                raise InputError(
                    f"the dimension {dimension.name!r} has no code {code!r}. "
                    f"{near_match(code, dimension.codes)}".strip()
                )
        return tuple(dimension.position[c] for c in agencies)
    for s in dimension.sums:
        if s.parent == dimension.total:
            return s.children
    raise InputError(f"the dimension {dimension.name!r} has no parts that could be agencies")


# -- parts -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Part:
    """Some cells of a table as a table, and where each of them stands; -1 for cells added to it."""

    table: Table
    cells: Ints


def part_of(table: Table, axis: int, codes: Flags) -> Part:
    """Return the part of a table with some codes of one dimension, and the relations inside it."""
    d = table.dimensions[axis]
    try:
        kept, whole = keep_codes(d, codes), table.is_product
    except HierarchyError:
        # Groupings cut off above their ground codes no longer match: the equations stand alone.
        kept, whole = keep_codes(d, codes, sums=False), False
    dimensions = (*table.dimensions[:axis], kept, *table.dimensions[axis + 1 :])
    cells = np.flatnonzero(codes[table.places[:, axis]])
    if whole:
        return Part(take_cells(table, cells, dimensions=dimensions), cells)
    places = table.places[cells].copy()
    places[:, axis] = (np.cumsum(codes) - 1)[places[:, axis]]
    lengths = np.diff(table.equations.indptr)
    given = inner_rows(sparse.csc_array(table.equations), lengths, cells)
    return Part(
        take_cells(table, cells, dimensions=dimensions, coordinates=places, given=given), cells
    )


def take_cells(table: Table, cells: Ints, **shape: Any) -> Table:
    """Return some cells of a table with everything known of them."""

    def pick(a: Any) -> Any:
        return None if a is None else np.asarray(a)[cells]

    arrays = ("value", "count", "status", "lower", "upper", "weight", *LEVELS)
    extra = {
        k: v[cells]
        for k, v in table.extra.items()
        if isinstance(v, np.ndarray) and len(v) == len(table)
    }
    return table.with_(
        **{name: pick(getattr(table, name)) for name in arrays},
        contributors=None if table.contributors is None else table.contributors.take(cells),
        holdings=None if table.holdings is None else table.holdings.take(cells),
        changed=None,
        interval=None,
        history=(),
        extra=extra,
        **shape,
    )


def block_of(table: Table, regions: Regions, members: Sequence[int]) -> Part:
    """Return the part of several agencies, with a total of their own on top that is not published."""
    codes = np.isin(regions.own, list(members))
    part = part_of(table, regions.axis, codes)
    inner = part.table
    d = inner.dimensions[regions.axis]
    names = table.dimensions[regions.axis].codes
    tops = [d.position[names[regions.tops[m]]] for m in members]
    code = BLOCK_TOTAL
    while code in d.position:
        code += "'"
    kept = Dimension(d.name, (*d.codes, code), (*d.sums, Sum(len(d), tuple(tops))), d.labels)
    dimensions = (*inner.dimensions[: regions.axis], kept, *inner.dimensions[regions.axis + 1 :])
    group, places = rest_of(inner, regions.axis, tops)
    return with_totals(part, dimensions, regions.axis, group, places)


def rest_of(table: Table, axis: int, tops: Sequence[int]) -> tuple[Ints, npt.NDArray[np.int32]]:
    """Return, for each cell of some codes, which of the distinct other coordinates it has; -1: none."""
    at = np.flatnonzero(np.isin(table.places[:, axis], tops))
    others = np.delete(table.places[at], axis, axis=1)
    places, own = np.unique(others, axis=0, return_inverse=True)
    group = np.full(len(table), -1, dtype=np.int64)
    group[at] = own.ravel()
    return group, places.astype(np.int32)


def with_totals(
    part: Part,
    dimensions: tuple[Dimension, ...],
    axis: int,
    group: Ints,
    places: npt.NDArray[np.int32],
) -> Part:
    """Return a part with one more cell for each group: the sum of the group's cells."""
    table, m = part.table, len(places)
    under = group >= 0
    add = sparse.csr_array(
        (np.ones(int(under.sum())), (group[under], np.flatnonzero(under))), shape=(m, len(table))
    )
    count = np.where(table.count < 0, 0, table.count)
    total, counts = add @ table.value, (add @ count).astype(np.int64)
    empty = np.asarray(add @ (~table.empty).astype(float) == 0)
    new = {
        "value": total,
        "count": counts,
        "status": np.where(empty, Status.EMPTY, Status.SAFE).astype(np.int8),
        "lower": add @ table.lower,
        "upper": add @ table.upper,
        **{name: np.zeros(m) for name in LEVELS},
    }
    fields: dict[str, Any] = {
        k: np.concatenate([np.asarray(getattr(table, k)), v]) for k, v in new.items()
    }
    if table.weight is not None:
        fields["weight"] = np.concatenate([table.weight, add @ table.weight])
    for name in ("contributors", "holdings"):
        fields[name] = add_sum_contributors(getattr(table, name), add)
    last = len(dimensions[axis]) - 1
    above = np.insert(places, axis, last, axis=1)
    every = np.concatenate([table.places, above]).astype(np.int32)
    cells = np.concatenate([part.cells, np.full(m, -1, dtype=np.int64)])
    if table.is_product:
        order = np.lexsort(every.T[::-1])
        plain = table.with_(**fields, dimensions=dimensions, extra={}, coordinates=every)
        return Part(take_cells(plain, order, dimensions=dimensions, coordinates=None), cells[order])
    given = sparse.block_array(
        [
            [table.equations, None],
            [add, -sparse.eye_array(m)],
            [None, total_rows(table.equations, group, m)],
        ],
        format="csr",
    )
    made = table.with_(
        **fields,
        dimensions=dimensions,
        coordinates=every,
        given=sparse.csr_array(given),
        extra={},
    )
    return Part(made, cells)


def add_sum_contributors(behind: Contributors | None, add: sparse.csr_array) -> Contributors | None:
    """Return contributors with those of sums added: how many, and who where there is only one."""
    if behind is None:
        return None
    count = (add @ np.maximum(behind.count, 0)).astype(np.int64)
    nobody = np.full((add.shape[0], behind.t), -1, dtype=behind.who.dtype)

    def more(name: str, array: Any) -> Any:
        rest = {"count": count, "who": nobody}.get(name, np.zeros(nobody.shape, array.dtype))
        return np.concatenate([array, rest])

    found = behind.map(more)
    if behind.t:
        lone = behind.count == 1
        one = np.flatnonzero(count == 1)
        at = len(behind.count) + one
        # Numbers of respondents may be too large for sums of floats: take them by position.
        part = np.rint(add[one] @ np.where(lone, np.arange(len(lone)), 0)).astype(np.int64)
        found.top[at, 0], found.who[at, 0] = behind.top[part, 0], behind.who[part, 0]
    return found


def total_rows(matrix: sparse.csr_array, group: Ints, m: int) -> sparse.csr_array:
    """Return the relations that every member of a block has among its own totals, for their sums."""
    found: dict[tuple[tuple[int, float], ...], int] = {}
    members: dict[int, int] = {}
    for cell in group[group >= 0].tolist():
        members[cell] = members.get(cell, 0) + 1
    for row in range(matrix.shape[0]):
        at = slice(matrix.indptr[row], matrix.indptr[row + 1])
        cells = group[matrix.indices[at]]
        if len(cells) and (cells >= 0).all() and len(np.unique(cells)) == len(cells):
            key = tuple(sorted(zip(cells.tolist(), matrix.data[at].tolist(), strict=True)))
            found[key] = found.get(key, 0) + 1
    # A relation that some member lacks does not hold for the sums.
    rows = [key for key, n in found.items() if all(members[c] == n for c, _ in key)]
    out = sparse.lil_array((len(rows), m))
    for i, key in enumerate(rows):
        for cell, sign in key:
            out[i, cell] = sign
    return sparse.csr_array(out)


# -- engines -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Work:
    """The protection of a table by its agencies: whose cells are whose, and how patterns are chosen."""

    table: Table
    regions: Regions
    engine: Suppression
    ctx: Context

    @property
    def quiet(self) -> Context:
        """Return the context of a part of the work, whose notes are not kept."""
        return replace(self.ctx, details={})

    def name(self, i: int) -> str:
        """Return an agency in words."""
        return f"the agency {self.table.dimensions[self.regions.axis].codes[self.regions.tops[i]]}"

    def run(self, table: Table, where: str) -> Flags:
        """Return the pattern that the engine finds for a table; errors say whose table it is."""
        self.engine.check(table)
        try:
            return self.engine._apply(table, self.quiet).hidden
        except Infeasible as error:
            raise Infeasible(f"{where}: {error}") from None

    def problem(self) -> Problem:
        """Return the problem of the whole table, with what hiding costs the engine."""
        engine = self.engine
        return problem_of(
            self.table, cost=engine.cost, power=engine.power, singletons=engine.singletons
        )

    def patterns_alone(self) -> Flags:
        """Return the patterns of all agencies, each of which protects its own part alone."""
        hidden = self.table.hidden.copy()
        for i in range(len(self.regions.tops)):
            self.ctx.tick(self.name(i), i / len(self.regions.tops))
            part = part_of(self.table, self.regions.axis, self.regions.own == i)
            hidden = insert_pattern(hidden, part, self.run(part.table, self.name(i)))
        return hidden

    def federal_step(self, hidden: Flags, *, mend: bool = False) -> tuple[Flags, Ints]:
        """Hide federal cells until every unsafe cell is safe, with all agencies' cells as they are.

        What ``hidden`` says of federal cells is not looked at. Where federal cells alone cannot do it, ``mend`` hides
        cells of agencies as well, which come second; without it the error names those that would make it possible.
        """
        lower, where = self.regions.of(self.table) >= 0, "the federal step"
        try:
            pattern = self.run(fix_decided_cells(self.table, hidden, lower), where)
            return pattern, np.zeros(0, dtype=np.int64)
        except Infeasible:
            found = self.helpful_cells(hidden, lower)
            if found is None:
                raise
            if not mend:
                raise make_refusal_error(self.table, self.regions, found) from None
        wider = hidden.copy()
        wider[found] = True
        return self.run(fix_decided_cells(self.table, wider, lower), where), found

    def helpful_cells(self, hidden: Flags, lower: Flags) -> Ints | None:
        """Return agencies' cells which, hidden as well, would let the federal step succeed; few of them.

        The whole problem is solved once more with the agencies' published cells free, at a price that
        makes every federal cell cheaper than any of them. None when that does not help either.
        """
        status = self.table.status.copy()
        status[lower & hidden & ~self.table.primary] = Status.SECONDARY
        decided = self.table.with_(status=status)
        problem = problem_of(decided, singletons=self.engine.singletons)
        scale = problem.cost / problem.cost.max(initial=1.0)
        cost = np.where(lower, 1.0 + 1e-2 * scale, 1e-4 * (1.0 + scale))
        problem, quiet = replace(problem, cost=cost), self.quiet
        try:
            pattern, _ = suppress(problem, quiet)
            _, pattern = protect_from_respondents(problem, pattern, quiet)
        except Infeasible:
            return None
        return np.flatnonzero(pattern & ~hidden & lower)


def insert_pattern(hidden: Flags, part: Part, found: Flags) -> Flags:
    """Return a pattern with that of a part in its place."""
    out = hidden.copy()
    real = part.cells >= 0
    out[part.cells[real]] = found[real]
    return out


def scale_hiding_costs(
    table: Table, engine: Suppression, factor: Floats
) -> tuple[Table, Suppression]:
    """Return a table and an engine for which hiding costs some multiple of what it did."""
    if (factor == 1).all():
        return table, engine
    weight = table.costs(engine.cost, engine.power) * factor
    return table.with_weight(weight), engine.model_copy(update={"cost": "weight", "power": 1.0})


def fix_decided_cells(table: Table, hidden: Flags, cells: Flags) -> Table:
    """Return a table in which some cells are decided: hidden ones stay so, others are published."""
    status = table.status.copy()
    unsafe = table.primary
    status[cells & hidden & ~unsafe] = Status.SECONDARY
    status[cells & ~hidden & ~unsafe & ~table.empty] = Status.PROTECTED
    return table.with_(status=status)


def make_refusal_error(table: Table, regions: Regions, cells: Ints) -> Infeasible:
    """Return the error that names the agencies' cells which would repair the federal step."""
    codes = table.dimensions[regions.axis].codes
    whose = regions.of(table)[cells]
    names = "; ".join(
        f"{table.describe_cell(int(c))} ({codes[regions.tops[a]]})"
        for c, a in zip(cells[:NAMED].tolist(), whose[:NAMED].tolist(), strict=True)
    )
    return Infeasible(
        "the federal step has no solution: federal cells alone cannot protect what the agencies have "
        f"hidden. Hiding {len(cells):,} more cells of agencies would repair it: {names}. Ask the "
        "agencies, or let conflict='mend' do so."
    )


def causes(table: Table, pattern: Flags, regions: Regions, depth: int | None) -> Ints:
    """Return the agencies that alone made a federal cell secondary.

    A federal cell whose position exactly one agency hides must be hidden because of that agency.
    ``depth`` leaves out positions further down another dimension.
    """
    group, places = rest_of(table, regions.axis, list(regions.tops))
    at = pattern & (group >= 0)
    n = np.bincount(group[at], minlength=len(places))
    federal = positions(table, regions, group)
    second = pattern & ~table.primary & (federal >= 0)
    if depth is not None:
        second &= other_depth(table, regions.axis).max(axis=1, initial=0) <= depth
    caused = np.zeros(len(places), dtype=bool)
    caused[federal[second]] = True
    guilty = at & caused[group] & (n[group] == 1)
    return np.unique(regions.of(table)[guilty])


def positions(table: Table, regions: Regions, group: Ints) -> Ints:
    """Return each federal cell's position, its place in the other dimensions, as :func:`rest_of` numbers those of agencies.

    -1 stands for agencies' cells, and for positions that no agency has.
    """
    own = number_others(table, regions)
    number = np.full(own.max(initial=0) + 1, -1)
    number[own[group >= 0]] = group[group >= 0]
    return np.where(regions.of(table) < 0, number[own], -1)


def number_others(table: Table, regions: Regions) -> Ints:
    """Return a number for each cell's place in the dimensions other than the region, equal where places are."""
    others = np.delete(table.places, regions.axis, axis=1)
    return np.unique(others, axis=0, return_inverse=True)[1].ravel()


def other_depth(table: Table, axis: int) -> Ints:
    """Return the depth of each cell's code in every other dimension: cells x dimensions."""
    columns = [
        d.depth[table.places[:, i]] for i, d in enumerate(table.dimensions) if i != axis
    ] or [np.zeros(len(table), dtype=np.int64)]
    return np.stack(columns, axis=1)


def forbid_hiding(problem: Problem, cells: Flags, hidden: Flags) -> Problem:
    """Return a problem in which some cells that are not hidden may not become so."""
    return replace(problem, fixed=problem.fixed | (cells & ~hidden & ~problem.primary))
