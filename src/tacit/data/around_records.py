"""What records do around the work of a method: households, linked columns, copies, sources, and whether it had effect."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.base import Action, Apply, Around, Claims
from tacit.data.changes import count_kept
from tacit.data.checks.effect import (
    FEWEST,
    JUDGED,
    NOT_JUDGED,
    NOTHING,
    WEAK,
    is_unchanged,
    perturbs,
    weak_columns,
)
from tacit.data.copies import split_copies
from tacit.data.microdata import Microdata
from tacit.data.roles import Column
from tacit.data.together import (
    SUPPRESSES,
    Gone,
    Suppressed,
    Ways,
    carry_linked,
    count_suppressed,
    open_ends,
    suppress_together,
)
from tacit.data.values import extreme_columns
from tacit.errors import DisclosureRefused, InputError, WeakProtection
from tacit.treatment import HOUSEHOLD, LINKS, STRATUM, WEIGHT


class AroundRecords(Around[Microdata]):
    """Households, links, copies and sources of records, looked after before and after the work."""

    def check(self) -> None:
        """Refuse a file of several synthetic copies, unless the method says that it takes them."""
        if self.data.copies and not self.spec.takes_copies:
            raise InputError(
                f"{self.spec.kind}: the data hold synthetic copies, numbered in {self.data.copies!r}, and it would take them for records of one file. "
                "Apply it before the synthesis, or make one copy."
            )

    def parts(self) -> Sequence[Microdata]:
        """Return the synthetic copies, for a measure that takes each by itself."""
        each = self.data.copies and self.spec.on_copies == "each"
        return split_copies(self.data) if each else ()

    def extremes(self) -> list[str]:
        """Return the columns that hold numbers whose squares leave the range of a double."""
        return extreme_columns(self.data)

    def cautions(self, elsewhere: frozenset[str] = frozenset()) -> list[str]:
        """Return what is left open on households and linked columns."""
        return open_ends(self.data, replace(self.ways, elsewhere=elsewhere | self.ways.elsewhere))

    @cached_property
    def ways(self) -> Ways:
        """How households and links are treated; what is not said is taken as not treated."""
        data, spec = self.data, self.spec
        return Ways(
            spec.kind,
            spec.treats_household(data),
            spec.treats_links(data),
            tuple(dict.fromkeys(spec.targets(data))),
            frozenset(c for a in data.history for c in a.details.get("changed_columns", ())),
            draws=spec.uses_chance,
        )

    def work(
        self, apply: Apply[Microdata], claims: Claims[Microdata], ctx: Context
    ) -> tuple[Microdata, tuple[Claim, ...]]:
        """Do the work; carry or suppress with it what would still tell what it hid."""
        data, ways = self.data, self.ways
        if data.links:
            ctx.note(changed_columns=list(ways.changed))
        result = apply(data, ctx)
        self._keep_weights_numbers(result)
        done = Suppressed()
        if ways.links in SUPPRESSES and (data.links or data.household is not None):
            result, done = self._suppress_together(result, apply, claims, ctx)
        elif ways.links == "carried" and data.links:
            result, followers = carry_linked(data, result, ways)
            if followers:
                ctx.note(carried_along=followers)
        if not ctx.details.get("links_lost"):
            kept = keep_sources(self.spec.kind, data, result)
            result = with_sources(kept, self.spec.made_from(data))
        return result, (*claims(data, result, ctx), *suppression_claims(data, done))

    def _keep_weights_numbers(self, result: Microdata) -> None:
        """Refuse a result whose weights are no numbers any more: nothing after it could add them up."""
        weight = result.weight
        schema = result.frame.collect_schema()
        if weight is not None and weight in schema and not schema[weight].is_numeric():
            raise InputError(
                f"{self.spec.kind}: the weights in column {weight!r} would not be numbers any more. Leave the column out of "
                "what is replaced, drop it, or do not declare it as the weight."
            )

    def _suppress_together(
        self,
        result: Microdata,
        apply: Apply[Microdata],
        claims: Claims[Microdata],
        ctx: Context,
    ) -> tuple[Microdata, Suppressed]:
        """Suppress what would still stand elsewhere; do the work again where that undid a claim.

        Each round has more missing values than the one before, so that there is a last.
        """
        data, missing = self.data, -1
        while True:
            result, done = suppress_together(data, result, self.ways.changed)
            if not done.columns:
                return result, done
            gone = count_suppressed(data, result)
            claimed = claims(data, result, ctx)
            if gone.cells == missing or all(c.holds(result.claim_view()) for c in claimed):
                break
            missing = gone.cells
            ctx.tick("suppressing again, with households and linked columns", None)
            # The mark in the history tells that values may have been generalised already.
            marked = replace(result, history=(*data.history, Action(self.spec.kind, {})))
            result = replace(apply(marked, ctx), history=data.history)
        note_suppressed(gone, done, ctx)
        return result, done

    def assumptions(self) -> Iterator[str]:
        """Yield how the declared roles were treated."""
        data, spec = self.data, self.spec
        if data.household is not None:
            yield f"Household: {HOUSEHOLD[self.ways.household]}."
        if data.weight is not None and spec.on_weight is not None:
            yield f"Weight: {WEIGHT[spec.on_weight]}."
        if data.stratum is not None and spec.on_stratum is not None:
            yield f"Stratum: {STRATUM[spec.on_stratum]}."
        if data.links:
            yield f"Linked columns: {LINKS[self.ways.links]}."

    def judge(self, result: Microdata, ctx: Context) -> Microdata:
        """Refuse a step that was to change values and changed none; warn of one that hardly changed any."""
        before, spec = self.data, self.spec
        if spec.prepares or not perturbs(spec.techniques):
            return result
        after = result.materialise()
        lost = ctx.details.get("links_lost") or after.copies
        if lost or len(before) < (FEWEST if spec.uses_chance else 1):
            return after
        targets = self.ways.changed
        if is_unchanged(before, after, targets):
            what = ", ".join(map(repr, targets)) or "the records"
            raise DisclosureRefused(NOTHING.format(kind=spec.kind, what=what))
        judged = JUDGED.intersection(spec.techniques) and not NOT_JUDGED.intersection(
            spec.techniques
        )
        weak = (
            list(weak_columns(before, after, targets, spec.techniques, spec.stated_share()))
            if judged
            else []
        )
        if weak and not (spec.moves_together and len(weak) < len(targets)):
            sentence = WEAK.format(kind=spec.kind, what=", ".join(map(repr, weak)))
            ctx.note(weak=sentence)
            warnings.warn(sentence, WeakProtection, stacklevel=8)
        return after


def note_suppressed(gone: Gone, done: Suppressed, ctx: Context) -> None:
    """Correct what the method noted about its own cells by what went with them."""
    noted = ctx.details.get("suppressed", {})
    more = gone.cells > sum(noted.values()) if isinstance(noted, Mapping) else True
    told = {"suppressed": gone.columns, "cells": gone.cells, "records": gone.records}
    # The search was the best for its own cells; of these cells nobody has shown it.
    unproven = dict.fromkeys(("lightest_for_each_record", "proven"), False) if more else {}
    ctx.note(
        suppressed_together=list(done.columns),
        **{n: value for n, value in {**told, **unproven}.items() if n in ctx.details},
    )


def suppression_claims(data: Microdata, done: Suppressed) -> Iterable[Claim]:
    """Yield the claim about what was suppressed together, if anything was."""
    if done.columns:
        yield Claim(
            "suppressed-together",
            {
                **({} if data.household is None else {"household": data.household}),
                "constant": list(done.constant),
                "links": [list(group) for group in done.links],
                "counting": list(done.counting),
            },
            "households and linked columns",
            done.columns,
            ("Columns that are not declared as linked do not tell the missing values.",),
        )


# -- columns computed from original values -----------------------------------------------------------------
#
# Weights and probabilities that are functions of a column give its old values back when a later step masks that column
# alone: such columns are known by their sources, and treated with them.


def with_sources(data: Microdata, made: Mapping[str, tuple[str, ...]]) -> Microdata:
    """Return the data with what some columns were computed from written down."""
    known = {
        n: replace(data.columns.get(n, Column(n)), sources=tuple(dict.fromkeys(sources)))
        for n, sources in made.items()
        if n in data.columns
    }
    return data.with_columns_described(known) if known else data


def keep_sources(kind: str, before: Microdata, after: Microdata) -> Microdata:
    """Refuse a step that masks or removes what another column was computed from and leaves that column as it is.

    A computed column that the step itself has changed, such as probabilities put into classes, counts as treated.
    """
    made = {n: c.sources for n, c in before.columns.items() if c.sources and n in after.columns}
    if not made:
        return after
    asked = {c for n, sources in made.items() for c in (n, *sources)}
    shared = [c for c in asked if c in before.columns and c in after.columns]
    _, changed = count_kept(before, after, shared)
    moved = {c for c in asked if changed.get(c) or c not in after.columns}
    for name, sources in made.items():
        lost = [c for c in sources if c in moved]
        if lost and name not in moved:
            listed = ", ".join(map(repr, lost))
            raise InputError(
                f"{kind}: column {name!r} was computed from the values of {listed} that this step changes or removes, and "
                f"would give them back. Put the step before the one that computes {name!r}, or coarsen or remove "
                f"{name!r} first."
            )
    treated = {n: replace(after.columns[n], sources=()) for n in made if n in moved}
    return after.with_columns_described(treated) if treated else after
