"""What unsafe cells need, and whether an attacker's intervals reach it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.claims.attack.movements import CLOSE, Part, System, places_of
from tacit.claims.view import CellView

#: An unsafe cell without levels must still not be deducible: it needs this share of its value.
SMALLEST_SHARE = 1e-3
#: Rounds in a row that show nearly nothing new before cells are asked for one at a time.
PATIENCE = 2


@dataclass(frozen=True, eq=False)
class Needs:
    """How far unsafe cells must be able to move below and above their value, and in all."""

    cells: Ints
    down: Floats
    up: Floats
    width: Floats

    @classmethod
    def of(cls, table: CellView, down: Floats) -> Needs:
        """Return what the levels of a table ask for; ``down`` is how far cells can lie below.

        Nobody can be made to think that a cell lies below what all know to be its least. A cell whose
        levels ask for nothing must still not be deducible.
        """
        cells = np.flatnonzero(table.primary)
        below = np.minimum(table.lower_level, down)[cells]
        above, width = table.upper_level[cells], table.sliding_level[cells]
        nothing = (below <= 0) & (above <= 0) & (width <= 0)
        return cls(
            cells, below, above, np.where(nothing, compute_least_movement(table, cells), width)
        )

    @classmethod
    def least(cls, table: CellView) -> Needs:
        """Return that no unsafe cell may be deducible, whatever its levels ask for."""
        cells = np.flatnonzero(table.primary)
        nothing = np.zeros(len(cells))
        return cls(cells, nothing, nothing, compute_least_movement(table, cells))

    def met_by(self, down: Floats, up: Floats) -> Flags:
        """Return which needs movements of these sizes meet."""
        keep = 1 - CLOSE
        return np.asarray(
            (down >= self.down * keep) & (up >= self.up * keep) & (down + up >= self.width * keep),
            dtype=bool,
        )

    def in_whole_units(self) -> Needs:
        """Return the needs of counts: a level of 1.2 asks for a movement of 2."""
        down, up, width = (np.ceil(a - CLOSE) for a in (self.down, self.up, self.width))
        return Needs(self.cells, down, up, width)

    def together(self) -> Floats:
        """Return the width that levels ask for on both sides together."""
        return np.maximum(self.down + self.up, self.width)

    def anywhere(self) -> Needs:
        """Return the needs of cells whose truth can lie anywhere in an interval: its width alone counts."""
        nothing = np.zeros(len(self.cells))
        return Needs(self.cells, nothing, nothing, self.together())

    def take(self, some: Ints) -> Needs:
        """Return the needs of some cells."""
        return Needs(self.cells[some], self.down[some], self.up[some], self.width[some])


def compute_least_movement(table: CellView, cells: Ints) -> Floats:
    """Return the least movement that counts: one unit of a count, else a thousandth of the value."""
    if table.frequency:
        return np.ones(len(cells))
    return SMALLEST_SHARE * np.maximum(1.0, np.abs(table.value[cells]))


def find_unmet_needs(system: System, needs: Needs) -> tuple[Ints, list[Part]]:
    """Return the unsafe cells whose needs no possible movement meets, and the parts with what was found."""
    place = system.at(needs.cells)
    parts = list(system.parts())
    part_of, column = places_of(system, parts)
    short = [needs.cells[place < 0]]
    movable = np.flatnonzero(place >= 0)
    owner = part_of[place[movable]]
    for i, part in enumerate(parts):
        own = movable[owner == i]
        if len(own):
            left = unmet_in(part, column[place[own]], needs.take(own))
            short.append(needs.cells[own[left]])
    return np.concatenate(short), parts


def unmet_in(part: Part, columns: Ints, needs: Needs) -> Ints:
    """Return which needs are not met in a part: many cells at once, then one at a time."""
    half = np.ceil(needs.width / 2) if part.whole else needs.width / 2
    down, up = np.maximum(needs.down, half), np.maximum(needs.up, half)
    down, up = np.minimum(down, part.down[columns]), np.minimum(up, part.up[columns])
    move_together(part, columns, down, up)
    met = needs.met_by(part.far_down[columns], part.far_up[columns])
    for k in np.flatnonzero(~met).tolist():
        met[k] = is_met_alone(part, int(columns[k]), needs.take(np.array([k])))
    return np.flatnonzero(~met)


def move_together(part: Part, columns: Ints, down: Floats, up: Floats) -> None:
    """Show what can be shown by programs that push many cells, each to a side drawn at random."""
    rng = np.random.default_rng(len(columns))
    need = np.full(part.n, np.inf)
    need[columns] = np.maximum(down, up)
    wasted = 0
    while wasted < PATIENCE:
        falls = part.far_down[columns] < down * (1 - CLOSE)
        rises = part.far_up[columns] < up * (1 - CLOSE)
        todo = np.flatnonzero(falls | rises)
        if not len(todo):
            return
        rise = rises[todo] & (~falls[todo] | (rng.random(len(todo)) < 0.5))
        amount = np.where(rise, up[todo], down[todo])
        at = columns[todo]
        cost, cap = np.zeros(part.n), np.full(part.n, np.inf)
        unit = float(np.median(amount))
        cost[at] = np.where(rise, 1.0, -1.0) * unit / amount
        cap[at] = amount
        d = part.push(cost, -cap, cap, unit)
        if d is None:
            return
        part.learn(d, need)
        shown = np.where(rise, part.far_up[at], part.far_down[at]) >= amount * (1 - CLOSE)
        wasted = wasted + 1 if shown.sum() < 0.1 * len(todo) else 0


def is_met_alone(part: Part, column: int, need: Needs) -> bool:
    """Return True when the need of one cell is met by programs for this cell alone."""
    found = []
    for sign, least in ((1.0, need.up[0]), (-1.0, need.down[0])):
        wanted = max(float(least), float(need.width[0]))
        found.append(far_alone(part, column, sign, wanted) if wanted > 0 else 0.0)
    up, down = found
    return bool(need.met_by(np.array([down]), np.array([up]))[0])


def far_alone(
    part: Part, column: int, sign: float, wanted: float, still: int | None = None
) -> float:
    """Return how far a cell can move to one side, up to what is wanted; ``still`` cannot move.

    In whole numbers a cell may be able to move by more than is wanted and not by just as much: then by how much at least.
    """
    cost, cap = np.zeros(part.n), np.full(part.n, np.inf)
    cost[column], cap[column] = sign, wanted
    if still is not None:
        cap[still] = 0.0
    far = shown_movement(part, column, sign, wanted, part.push(cost, -cap, cap, wanted))
    room = (part.up if sign > 0 else part.down)[column]
    if not part.whole or room <= wanted or far >= wanted * (1 - CLOSE):
        return far
    cap[column] = np.inf
    low, high = -cap, cap.copy()
    (low if sign > 0 else high)[column] = sign * wanted
    beyond = part.push(-cost, low, high, wanted)
    return max(far, shown_movement(part, column, sign, wanted, beyond))


def shown_movement(part: Part, column: int, sign: float, wanted: float, d: Floats | None) -> float:
    """Return how far a movement takes a cell to one side; 0 where it leaves a relation open."""
    if d is None or np.abs(part.matrix @ d).max(initial=0.0) > CLOSE * wanted:
        return 0.0
    return float(max(sign * d[column], 0.0))
