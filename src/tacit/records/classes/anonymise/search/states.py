"""States of nodes kept for reuse: a node is made from the smallest state below it that is at hand."""

from __future__ import annotations

import numpy as np

from tacit.records.classes.anonymise.problem import Levels, Problem, State

#: How many integers all kept states may hold together.
ROOM = 60_000_000


class States:
    """The states of a problem, made on request."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.kept: dict[Levels, int] = {}
        self.slots: list[State] = []
        self.levels = np.full((16, len(problem.keys)), 1 << 14, dtype=np.int16)
        self.sizes = np.zeros(16, dtype=np.int64)
        self.held = 0
        #: Rows that were climbed and merged so far: the work done.
        self.work = 0
        self.keep(problem.base)

    def at(self, levels: Levels, *, keep: bool = True) -> State:
        """Return the state at a node."""
        if levels in self.kept:
            return self.slots[self.kept[levels]]
        below = self.nearest(levels)
        state, _ = self.problem.raise_state(below, levels)
        self.note_work(below)
        if keep:
            self.keep(state)
        return state

    def note_work(self, state: State) -> None:
        """Add the rows of a state to the work: once for each set of keys on which its classes are judged."""
        self.work += len(state) * len(self.problem.groups)

    def nearest(self, levels: Levels) -> State:
        """Return the smallest state at hand at or below a node."""
        used = len(self.slots)
        under = (self.levels[:used] <= np.asarray(levels, dtype=np.int16)).all(axis=1)
        places = np.flatnonzero(under)
        return self.slots[int(places[np.argmin(self.sizes[places])])]

    def keep(self, state: State) -> None:
        """Keep a state, giving up the largest ones first; the base stays."""
        size = state.codes.size + 4 * len(state)
        if self.held + size > ROOM:
            self.give_up(size)
        if (self.held + size > ROOM or 8 * size > ROOM) and self.slots:
            return
        used = len(self.slots)
        if used == len(self.sizes):
            more = np.full_like(self.levels, 1 << 14)
            self.levels = np.concatenate([self.levels, more])
            self.sizes = np.concatenate([self.sizes, np.zeros_like(self.sizes)])
        self.slots.append(state)
        self.levels[used] = state.levels
        self.sizes[used] = len(state)
        self.kept[state.levels] = used
        self.held += size

    def give_up(self, wanted: int) -> None:
        """Forget large states until there is room, and number the others anew."""
        base, *others = self.slots
        others.sort(key=len)
        room = ROOM // 2 - wanted - base.codes.size - 4 * len(base)
        kept = []
        for state in others:
            room -= state.codes.size + 4 * len(state)
            if room < 0:
                break
            kept.append(state)
        self.kept, self.slots, self.held = {}, [], 0
        self.levels[:] = 1 << 14
        for state in (base, *kept):
            self.keep(state)
