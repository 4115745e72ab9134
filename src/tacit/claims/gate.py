"""The gate of tables: what must be true of a table before anything of it is written.

Every unsafe cell of the table as published must be covered by what protects it there:

- a cell that is hidden, or is published with an interval, by a claim about patterns; without one, an attacker
  is sent at the table here;
- a cell that is published rounded, by an interval around the published value that reaches its levels, alone and,
  in tables that are not too large, with all relations together;
- a cell that was changed by its cell key, by an interval of the largest change that is as wide as its levels;
- a cell that is published changed in another way, by the claim of the method that changed it.

Where a rule names differences of cells, these must be open as well.

Claims are recomputed beside this, on the same table, so a claim that is named here is one that holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tacit.arrays import Flags, Floats, Ints

if TYPE_CHECKING:
    from tacit.claims.claim import Claim
    from tacit.claims.view import TableView

#: The technique that every rule names in the history of a table.
RULE = "sensitivity rule"
#: What set_status notes when it calls an unsafe cell safe.
FREED = "unsafe_called_safe"
#: The rule that names differences of cells.
DIFFERENCES = "k_disclosure"
#: The rule on contributors, the parameter that says which sums it names, and the contributors that it asks for.
FREQUENCY, GUARD, LEAST = "minimum_frequency", "singletons", 3
#: The coalition against which it guards where it does not say so.
COALITION = 1
#: Claims about hidden cells and published intervals, on all unsafe cells.
PATTERNS = frozenset(
    {
        "protected-intervals",
        "protected-in-table",
        "protected-in-subtables",
        "protected-with-intervals",
        "protected-by-published-intervals",
        "not-deducible",
    }
)
#: Claims of methods that promise a change, and no interval that outsiders could know.
CHANGES = frozenset({"moved-far-enough"})
#: The claim of a method whose largest change is known, at least inside.
KEYS = "cell-keys"
#: Claims that tell outsiders how near the truth is to the published value.
ROUNDINGS = frozenset({"rounded", "adjacent-multiples"})
#: Cells of a rounded table up to which an attacker uses all relations together.
ATTACKED = 5_000
#: Share of a value below which a difference is one of floating-point sums.
LAST_BITS = 1e-9
#: The first status of cells that are empty.
EMPTY = 13


def table_gate(table: TableView) -> list[str]:
    """Return why a table may not be published, one sentence each; nothing when it may.

    It is the confidential table, with hidden cells, changed values and intervals as they are published.
    """
    return [
        *refuse_unjudged(table),
        *refuse_freed(table),
        *refuse_uncovered(table),
        *refuse_closed(table),
    ]


def claims_of(table: TableView) -> list[Claim]:
    """Return every claim in the history of a table."""
    return [claim for action in table.history for claim in action.claims]


def refuse_unjudged(table: TableView) -> Iterator[str]:
    """Refuse a table that is published as it is though nobody has looked for unsafe cells."""
    judged = any(RULE in action.techniques for action in table.history)
    # What is left out of the publication hides nothing of what is in it.
    hidden = table.hidden & ~np.asarray(table.extra.get("unpublished", False), dtype=bool)
    as_it_is = table.changed is None and table.interval is None and not hidden.any()
    if as_it_is and not judged:
        yield (
            "no rule has judged this table, and all of it would be published as it is; apply a rule "
            "first (p_percent, dominance, minimum_frequency, ...)"
        )


def refuse_freed(table: TableView) -> Iterator[str]:
    """Refuse a table in which cells were called safe that a step before had protected."""
    protected = False
    for action in table.history:
        if protected and action.details.get(FREED):
            yield (
                f"{action.details[FREED]:,} unsafe cells were called safe after the table had been "
                "protected; call cells safe before the first step that protects"
            )
        protected |= any("table" in claim.about for claim in action.claims)


def refuse_uncovered(table: TableView) -> Iterator[str]:
    """Refuse a table with unsafe cells that nothing protects as published."""
    unsafe = table.primary
    if not unsafe.any():
        return
    veiled = find_veiled_cells(table)
    models = {claim.model for claim in claims_of(table)}
    if (unsafe & veiled).any() and not models & PATTERNS:
        short = int(find_attacked_cells(table, veiled).sum())
        if short:
            yield (
                f"{short:,} unsafe cells are hidden or given as intervals, and follow from the rest "
                "more closely than their protection levels allow; protect the table by a "
                "suppression method"
            )
    shown = unsafe & ~veiled
    if not shown.any() or models & CHANGES:
        return
    if models & ROUNDINGS:
        down, up = rounding_steps(table)
        bare = shown & ~find_cells_covered_by_steps(table, down, up, wide=table.frequency)
        if len(table.value) <= ATTACKED:
            bare |= shown & find_cells_rounded_too_closely(table, down, up)
        if bare.any():
            yield (
                f"{int(bare.sum()):,} unsafe cells would be published rounded, and the interval that "
                "the base leaves does not reach their protection levels; take a larger base, "
                "controlled_rounding with protection, or hide them"
            )
    elif KEYS in models:
        from tacit.claims.tables.cell_keys import key_reach

        reach = key_reach(table)
        bare = shown & ~find_cells_covered_by_steps(table, reach, reach, wide=True)
        if bare.any():
            yield (
                f"{int(bare.sum()):,} unsafe cells would be published with noise, and the largest change "
                "does not reach their protection levels; take more noise, or hide them"
            )
    elif "no-small-counts" in models:
        short = int((find_attacked_cells(table, veiled) & shown).sum())
        if short:
            yield (
                f"{short:,} unsafe cells follow from the rounded counts more closely than their "
                "protection levels allow; take a larger base, or hide them"
            )
    else:
        same = int((shown & ~find_changed_cells(table)).sum())
        if same:
            yield f"{same:,} unsafe cells would be published unchanged; protect the table first"
        other = int(np.count_nonzero(shown)) - same
        if other:
            yield (
                f"{other:,} unsafe cells would be published changed, and no claim says that the "
                "change protects them; use a method that makes one"
            )


def refuse_closed(table: TableView) -> Iterator[str]:
    """Refuse a table that tells what a rule forbids: how few units of a total lie outside a part, or a sum of few."""
    named = [action for action in table.history if action.kind == DIFFERENCES]
    summed = [a for a in table.history if a.kind == FREQUENCY and a.parameters.get(GUARD) == "sums"]
    if not (named or summed) or {claim.model for claim in claims_of(table)} & CHANGES:
        return
    from tacit.claims.tables.k_disclosure import find_closed_differences
    from tacit.claims.tables.open_sums import count_closed_sums

    unknown, room = find_uncertain_cells(table)
    for rule in named:
        closed = len(find_closed_differences(table, rule.parameters, unknown, room))
        if closed:
            yield (
                f"{closed:,} groups fall nearly whole into one category, and the table tells it; hide it "
                "by a suppression method"
            )
    for rule in summed:
        closed = count_closed_sums(table, {"n": LEAST} | dict(rule.parameters), unknown, room)
        if closed:
            yield (
                f"{closed:,} sums of unsafe cells with too few contributors together follow from the table; hide them by "
                "a suppression method, or take singletons='guard' in minimum_frequency"
            )


def find_uncertain_cells(table: TableView) -> tuple[Flags, tuple[Floats, Floats]]:
    """Return which cells outsiders are not sure of, and how far these could lie from the truth.

    They know published cells that were not changed; a rounded one to within what rounding allows.
    """
    from tacit.claims.attack.attacker import room_of, within_intervals

    down, up = within_intervals(table, *room_of(table))
    unknown = find_veiled_cells(table)
    if table.changed is None:
        return unknown, (down, up)
    below = above = np.full(len(table.value), np.inf)
    if {claim.model for claim in claims_of(table)} & ROUNDINGS:
        below, above = rounding_steps(table)
    shown = ~unknown
    gap = table.published - table.value
    low = np.where(shown, np.maximum(below - gap, 0.0), np.inf)
    high = np.where(shown, np.maximum(above + gap, 0.0), np.inf)
    moves = shown & (below + above > 0)
    return unknown | moves, (np.minimum(down, low), np.minimum(up, high))


def find_veiled_cells(table: TableView) -> Flags:
    """Return the cells that are hidden, or are published with an interval of some width."""
    if table.interval is None:
        return table.hidden
    low, high = np.asarray(table.interval).T
    return np.asarray(table.hidden | (high > low), dtype=bool)


def find_changed_cells(table: TableView) -> Flags:
    """Return the published cells that differ from the truth by more than rounding of floats, and hidden ones."""
    return np.asarray(
        ~(np.abs(table.published - table.value) <= LAST_BITS * np.abs(table.value)), dtype=bool
    )


def find_attacked_cells(table: TableView, veiled: Flags) -> Flags:
    """Return the unsafe cells that outsiders can place too closely, by all relations together.

    They know published cells that were not changed, rounded counts to within what rounding allows, and
    of changed cells no more than the external bounds.
    """
    from tacit.claims.attack.attacker import levels_of, room_of, within_intervals
    from tacit.claims.attack.movements import System
    from tacit.claims.attack.needs import find_unmet_needs
    from tacit.claims.outsiders import solves_in_whole_numbers

    down, up = within_intervals(table, *room_of(table))
    unknown = veiled | find_changed_cells(table)
    small = next((c for c in claims_of(table) if c.model == "no-small-counts"), None)
    if small is not None:
        low, high = small_count_room(table, float(small.parameters["base"]))
        shown = ~table.hidden
        down, up = (
            np.where(shown, np.minimum(down, low), down),
            np.where(shown, np.minimum(up, high), up),
        )
        unknown |= shown & (down + up > 0)
    needs = levels_of(table)
    if small is not None:
        needs = needs.anywhere()
    whole = solves_in_whole_numbers(table)
    system = System.over(table.equations, unknown, down, up, whole=whole)
    needs = needs.in_whole_units() if whole else needs
    return flag_cells(table, find_unmet_needs(system, needs)[0])


def small_count_room(table: TableView, base: float) -> tuple[Floats, Floats]:
    """Return how far the truth could lie from a ground count of which small ones became 0 or the base.

    A published 0 was less than the base, a published base at least 1; larger counts are true. Totals are
    sums of what is published and tell nothing more.
    """
    from tacit.claims.tables.rounded import is_total

    total = is_total(table.equations)
    low = np.where(table.published == base, 1.0, table.published)
    high = np.where(table.published == 0, base - 1, table.published)
    down = np.where(total, np.inf, np.maximum(table.value - low, 0.0))
    up = np.where(total, np.inf, np.maximum(high - table.value, 0.0))
    return down, up


def find_cells_covered_by_steps(table: TableView, down: Floats, up: Floats, *, wide: bool) -> Flags:
    """Return the unsafe cells whose levels the interval around the published value reaches.

    A reader knows that the truth lies within some steps below and above it, and its bounds. That interval must
    reach both levels; with ``wide`` the truth can lie anywhere in it, whatever was published, so that it must be as
    wide as both levels together.
    """
    from tacit.claims.attack.attacker import levels_of

    needs = levels_of(table)
    at = needs.cells
    low = np.maximum(table.published[at] - down[at], table.lower[at])
    high = np.minimum(table.published[at] + up[at], table.upper[at])
    if wide:
        enough = high - low >= needs.together() * (1 - 1e-9)
    else:
        enough = needs.met_by(table.value[at] - low, high - table.value[at])
    return flag_cells(table, at[enough])


def find_cells_rounded_too_closely(table: TableView, down: Floats, up: Floats) -> Flags:
    """Return the unsafe cells that rounded values and all relations together place too closely."""
    from tacit.claims.attack.attacker import levels_of, room_of
    from tacit.claims.attack.movements import System
    from tacit.claims.attack.needs import find_unmet_needs

    below, above = room_of(table)
    shown = ~table.hidden
    low = np.where(shown, np.maximum(table.value - table.published + down, 0.0), np.inf)
    high = np.where(shown, np.maximum(table.published + up - table.value, 0.0), np.inf)
    below, above = np.minimum(below, low), np.minimum(above, high)
    needs = levels_of(table)
    if table.frequency:
        needs = needs.anywhere()
    # An empty cell is known to be so.
    unknown = (below + above > 0) & (table.status < EMPTY)
    system = System.over(table.equations, unknown, below, above)
    return flag_cells(table, find_unmet_needs(system, needs)[0])


def flag_cells(table: TableView, cells: Ints) -> Flags:
    """Return some cells as flags over all."""
    flags = np.zeros(len(table.value), dtype=bool)
    flags[cells] = True
    return flags


def rounding_steps(table: TableView) -> tuple[Floats, Floats]:
    """Return how far below and above each rounded value the truth may lie, as the last rounding says."""
    from tacit.claims.tables.rounded import is_total

    action, claim = [
        (action, claim)
        for action in table.history
        for claim in action.claims
        if claim.model in ROUNDINGS
    ][-1]
    base = float(claim.parameters["base"])
    whole = table.frequency and base.is_integer()
    # A multiple that may leave its place can be a whole base away.
    edge = 1.0 if whole and not claim.parameters.get("free_zeros") else 0.0
    total = is_total(table.equations)
    shift, y = int(claim.parameters.get("max_shift", 1)), int(claim.parameters.get("y", 0))
    bases = np.where(total, y + 1, shift)
    below = above = bases * base - edge
    rule = action.parameters.get("rule", action.parameters.get("mode"))
    alone = (bases == 1) & ~(total & (action.parameters.get("totals") == "sum"))
    if rule == "conventional":
        # Halves go up: of counts, [-2, 2] around a multiple of 5 and [-2, 1] around one of 4.
        low, high = (base // 2, -(-base // 2) - 1) if edge else (base / 2, base / 2)
        return np.where(alone, low, below), np.where(alone, high, above)
    if rule == "up":
        return below, np.where(alone, 0.0, above)
    if rule == "down":
        return np.where(alone, 0.0, below), above
    return below, above
