"""Routes: for every need of the unsafe cells a movement that meets it, and the cells these hide.

The pattern is what the movements use, so it is safe at every moment; improving it means finding
movements that share more, or cheaper, cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.errors import SolverError
from tacit.numerics.elementary import exp
from tacit.tables.attack.attacker import Attacker
from tacit.tables.suppress.moves.caps import Caps
from tacit.tables.suppress.moves.flows import NOISE, Flows, Movement
from tacit.tables.suppress.problem import Problem
from tacit.time_limits import is_past

#: A movement is accepted when no relation is out by more than this share of the amount asked for.
EXACT = 1e-6
#: Cleaning up goes on, for so many passes at most, while a pass lowers the price by this share.
PASSES, WORTH = 3, 0.005
#: It ends when its linear programs have had this many columns, and this many a cell of the table.
LEAST_WORK, WORK = 150_000, 250
#: Later passes leave cells that more needs than this use.
MANY = 40
#: Needs that are taken up together, how far prices go astray meanwhile, and the draws' seed.
TOGETHER, ASTRAY, TRIES_SEED = 12, 0.3, 20010701


@dataclass(frozen=True)
class Need:
    """One need of an unsafe cell."""

    cell: int
    #: Alternatives, each a tuple of signed amounts by all of which the cell must be able to move.
    options: tuple[tuple[float, ...], ...]
    #: A cell that stands still: its only respondent is the attacker; -1 for an outsider.
    known: int = -1

    @property
    def size(self) -> float:
        """Return the largest amount."""
        return max(abs(a) for option in self.options for a in option)


def needs_of(problem: Problem) -> list[Need]:
    """Return every need of a table, largest first; those of singletons last."""
    needs = []
    for cell in np.flatnonzero(problem.primary).tolist():
        half = float(problem.need_width[cell]) / 2
        most = max(float(problem.need_up[cell]), float(problem.need_down[cell]))
        for amounts in list_missing_movements(problem, cell):
            options: list[tuple[float, ...]] = [(amount,) for amount in amounts]
            if len(amounts) > 1 and half > most > 0:
                options.append((half, -half))
            needs.append(Need(cell, tuple(options)))
    needs.sort(key=lambda need: -need.size)
    for known, target in problem.pairs.tolist():
        ((up, down),) = list_missing_movements(problem, target, known=known)
        needs.append(Need(target, ((up,), (down,)), known))
    return needs


def list_missing_movements(
    problem: Problem, cell: int, down: float = 0.0, up: float = 0.0, known: int = -1
) -> list[tuple[float, ...]]:
    """Return the movements that a cell still needs when it can move so far; each as alternatives."""
    if known >= 0:
        tiny = float(problem.tiny([cell])[0])
        return [(tiny, -tiny)]
    needs: list[tuple[float, ...]] = []
    need_up, need_down = float(problem.need_up[cell]), float(problem.need_down[cell])
    if up < need_up:
        needs.append((need_up,))
    if down < need_down:
        needs.append((-need_down,))
    up, down = max(up, need_up), max(down, need_down)
    width = float(problem.need_width[cell])
    if up + down < width:
        needs.append((width - down, -(width - up)))
    return needs


class Routes:
    """Movements that meet needs, over cells of which ``base`` are hidden in any case and cost nothing.

    ``allowed`` are the cells that may be hidden, and the needs by default all of the problem's.
    """

    def __init__(
        self, problem: Problem, base: Flags, allowed: Flags, needs: list[Need] | None = None
    ) -> None:
        self.problem = problem
        self.base = base
        self.cost = np.where(base, 0.0, problem.cost)
        self.tariff = self.cost.copy()
        self.used = np.zeros(problem.n, dtype=np.int64)
        self.flows = Flows(problem, allowed | base, self.cost.copy(), self.cost)
        self.nearby = False
        self.caps: Caps | None = None
        self.needs = needs_of(problem) if needs is None else needs
        self.movements: dict[int, Movement] = {}
        self.serving: dict[int, set[int]] = {}
        self.through: dict[int, set[int]] = {}
        self.met: list[tuple[int, ...]] = [()] * len(self.needs)
        self.journal: list[tuple[int, tuple[int, ...]]] = []
        self.total = 0.0
        self.next = 0

    # -- state ---------------------------------------------------------------------------------

    @property
    def pattern(self) -> Flags:
        """Return the cells that are hidden."""
        return self.base | (self.used > 0)

    def assign(self, need: int, by: tuple[int, ...]) -> None:
        """Let a need be met by other movements; those that meet none no longer hide anything."""
        old = self.met[need]
        self.journal.append((need, old))
        self.met[need] = by
        for m in by:
            mine = self.serving[m]
            if not mine:
                self._take(m)
            mine.add(need)
        # One movement may meet both sides of a width; it is left once.
        for m in dict.fromkeys(old):
            if m not in by:
                mine = self.serving[m]
                mine.discard(need)
                if not mine:
                    self._leave(m)

    def _take(self, m: int) -> None:
        cells = self.movements[m].cells
        new = cells[self.used[cells] == 0]
        self.used[cells] += 1
        self.total += float(self.cost[new].sum())
        self.flows.price[new] = 0.0
        for cell in cells.tolist():
            self.through.setdefault(cell, set()).add(m)

    def _leave(self, m: int) -> None:
        cells = self.movements[m].cells
        self.used[cells] -= 1
        free = cells[self.used[cells] == 0]
        self.total -= float(self.cost[free].sum())
        self.flows.price[free] = self.tariff[free]
        for cell in cells.tolist():
            self.through[cell].discard(m)

    def undo(self, mark: int) -> None:
        """Go back to an earlier length of the journal."""
        while len(self.journal) > mark:
            need, old = self.journal.pop()
            self.assign(need, old)
            self.journal.pop()

    def forget(self) -> None:
        """Keep the present state: drop the journal and movements that meet no need."""
        self.journal.clear()
        idle = [m for m, serves in self.serving.items() if not serves]
        for m in idle:
            del self.movements[m], self.serving[m]

    # -- meeting needs -------------------------------------------------------------------------

    def meet(self, need: int) -> bool:
        """Meet one need as cheaply as its options allow; False when it cannot be met."""
        options = self.needs[need].options
        for option in options:
            ready = self._find_ready_movements(need, option)
            if ready is not None:
                self.assign(need, ready)
                return True
        found = (
            self._route_needs(need, options[0]) if len(options) == 1 else self._find_cheapest(need)
        )
        if found is None:
            return False
        self.assign(need, found)
        return True

    def _find_cheapest(self, need: int) -> tuple[int, ...] | None:
        best, least = None, np.inf
        for option in self.needs[need].options:
            mark, before = len(self.journal), self.total
            found = self._route_needs(need, option)
            if found is None:
                continue
            self.assign(need, found)
            price = self.total - before
            self.undo(mark)
            if price < least:
                best, least = found, price
            if price <= 0:
                break
        return best

    def _find_ready_movements(self, need: int, option: tuple[float, ...]) -> tuple[int, ...] | None:
        """Return movements in use that meet an option already."""
        one = self.needs[need]
        found = []
        for amount in option:
            for m in sorted(self.through.get(one.cell, ())):
                if self.movements[m].can_serve(one.cell, amount, one.known):
                    found.append(m)
                    break
            else:
                return None
        return tuple(found)

    def _route_needs(self, need: int, option: tuple[float, ...]) -> tuple[int, ...] | None:
        one = self.needs[need]
        found = []
        for amount in option:
            movement = self.flows.find(one.cell, amount, one.known, nearby=self.nearby)
            if movement is None or movement.forward < 1 - EXACT:
                return None
            if self.flows.gap(movement) > EXACT * abs(amount):
                return None
            self.movements[self.next] = movement
            self.serving[self.next] = set()
            found.append(self.next)
            self.next += 1
        return tuple(found)

    def meet_all(self, ctx: Context) -> list[int]:
        """Meet every need that is not met; return those that cannot be."""
        failed = []
        todo = [n for n, met in enumerate(self.met) if not met]
        for k, need in enumerate(todo):
            if k % 50 == 0:
                ctx.tick("routing what unsafe cells need", k / len(todo))
            if not self.meet(need) and not self._split(need):
                failed.append(need)
        self.forget()
        return failed

    def _split(self, need: int) -> bool:
        """Divide a width between up and down as the table allows, when no option does."""
        one, p = self.needs[need], self.problem
        if one.known >= 0 or len(one.options) == 1:
            return False
        attacker = Attacker(p, self.flows.allowed)
        up, down = (attacker.reach(one.cell, up=flag) for flag in (True, False))
        width = float(p.need_width[one.cell])
        if up + down < width * (1 - EXACT):
            return False
        above = min(max(width / 2, width - down), up)
        self.needs[need] = Need(one.cell, ((above, -(width - above)),))
        return self.meet(need)

    def set_tariff(self, tariff: Floats) -> None:
        """Change what hiding a cell seems to cost; ``total`` keeps counting what it does cost."""
        self.tariff = tariff
        self.flows.price[:] = np.where(self.used > 0, 0.0, tariff)

    # -- improving -----------------------------------------------------------------------------

    def improve(self, ctx: Context, *, until: float | None = None, work: float = 1.0) -> int:
        """Publish secondaries again, most expensive first, where other ways cost less; return how many.

        ``work`` multiplies the columns of linear programs after which it ends: the same on every machine.
        """
        self.caps = Caps(self.problem, self.flows.allowed)
        gone, end = 0, self.flows.work + work * max(LEAST_WORK, WORK * self.problem.n)
        for turn in range(PASSES):
            before = self.total
            cells = np.flatnonzero((self.used > 0) & ~self.base)
            cells = cells[np.argsort(-self.cost[cells], kind="stable")]
            for k, cell in enumerate(cells.tolist()):
                if k % 20 == 0:
                    ctx.tick(f"cleaning up, pass {turn + 1}", k / len(cells))
                if self.flows.work > end or is_past(until):
                    return gone
                if self.used[cell] > 0 and (turn == 0 or len(self.find_needs_using(cell)) <= MANY):
                    gone += self.publish_secondary(cell)
            if self.total >= before * (1 - WORTH):
                break
        return gone

    def reinsert_parts(self, ctx: Context, *, tries: int, until: float | None = None) -> int:
        """Remove parts of the pattern and re-insert them, in another order and with prices a little off.

        What is cheaper in truth is kept; return how often. Draws are the same in every run.
        """
        rng = np.random.default_rng(TRIES_SEED)
        kept = 0
        self.nearby = True
        for k in range(tries):
            if k % 10 == 0:
                ctx.tick("trying other ways", k / tries)
            if is_past(until):
                break
            cells = np.flatnonzero((self.used > 0) & ~self.base)
            if not len(cells):
                break
            chance = self.cost[cells] / self.cost[cells].sum()
            needs = self.pick_interacting_needs(int(rng.choice(cells, p=chance)), rng)
            kept += self.reinsert_needs([needs[i] for i in rng.permutation(len(needs))], rng)
        self.nearby = False
        return kept

    def find_needs_using(self, cell: int) -> set[int]:
        """Return the needs whose movements use a cell."""
        return {n for m in self.through.get(cell, ()) for n in self.serving[m]}

    def pick_interacting_needs(self, cell: int, rng: np.random.Generator) -> list[int]:
        """Return needs whose movements use a cell, and some that share other cells with them."""
        needs = self.find_needs_using(cell)
        beside = sorted({c for m in self.through[cell] for c in self.movements[m].cells.tolist()})
        for i in rng.permutation(len(beside)):
            if len(needs) >= TOGETHER:
                break
            if not self.base[beside[i]]:
                needs |= self.find_needs_using(beside[i])
        return sorted(needs)

    def reinsert_needs(self, needs: list[int], rng: np.random.Generator) -> bool:
        """Meet some needs in another way if that is cheaper."""
        price, mark = self.total, len(self.journal)
        for n in needs:
            self.assign(n, ())
        self.set_tariff(self.cost * exp(ASTRAY * rng.standard_normal(len(self.cost))))
        done = all(self.meet(n) and self.total < price * (1 - NOISE) for n in needs)
        if not done:
            self.undo(mark)
        self.set_tariff(self.cost)
        self.forget_if_long()
        return done

    def publish_secondary(self, cell: int) -> bool:
        """Publish one secondary if everything it served can go another way for less."""
        price = self.total
        order = sorted(self.find_needs_using(cell), key=lambda n: -self.needs[n].size)
        if self.needs_cell(cell, order):
            return False
        mark = len(self.journal)
        for n in order:
            self.assign(n, ())
        self.flows.allowed[cell], self.nearby = False, True
        done = self.total < price
        for n in order:
            done = done and self.meet(n) and self.total < price * (1 - NOISE)
            if not done:
                break
        self.flows.allowed[cell], self.nearby = True, False
        if not done:
            self.undo(mark)
        self.forget_if_long()
        return done

    def needs_cell(self, cell: int, needs: list[int]) -> bool:
        """Return True when, by the limits of single relations, a need cannot do without the cell."""
        if self.caps is None:
            return False
        asked = [
            (n, o, self.needs[n].cell, amount)
            for n in needs
            for o, option in enumerate(self.needs[n].options)
            for amount in option
        ]
        over = self.caps.find_exceeded_cells(cell, [a[2] for a in asked], [a[3] for a in asked])
        out = {(n, o) for (n, o, _, _), beyond in zip(asked, over.tolist(), strict=True) if beyond}
        return any(all((n, o) in out for o in range(len(self.needs[n].options))) for n in needs)

    def forget_if_long(self) -> None:
        """Drop what is no longer needed now and then."""
        self.journal.clear()
        if len(self.movements) > 4 * len(self.needs) + 100:
            self.forget()

    # -- proof ---------------------------------------------------------------------------------

    def require_proof(self) -> None:
        """Check every movement in use against all relations and bounds, and every need against them."""
        p = self.problem
        live = [m for m, serves in self.serving.items() if serves]
        place = {m: i for i, m in enumerate(live)}
        moves = [self.movements[m] for m in live]
        if not moves:
            return
        cells = np.concatenate([m.cells for m in moves])
        by = np.concatenate([m.by for m in moves])
        ends = np.cumsum([0, *(len(m.cells) for m in moves)])
        d = sparse.csc_array((by, cells, ends), shape=(p.n, len(moves)))
        rest = sparse.csc_array(p.equations @ d)
        out = np.zeros(len(moves))
        np.maximum.at(out, np.repeat(np.arange(len(moves)), np.diff(rest.indptr)), abs(rest.data))
        least = np.full(len(moves), np.inf)
        for need, by_these in enumerate(self.met):
            one = self.needs[need]
            if not by_these:
                raise SolverError("a need was left without a movement")
            for m in by_these:
                times = abs(self.movements[m].moves[one.cell])
                least[place[m]] = min(least[place[m]], times)
        bad = out > EXACT * least
        if bad.any() or not self.pattern[cells].all():
            raise SolverError("a movement breaks a relation; the table's scales are too far apart")
