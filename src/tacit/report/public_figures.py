"""Which figures of a release the public may see: the one rule that every public file keeps.

A figure may stand in a public file when it follows from what is published: the released data as they are written, the
plan without its secrets, and the claims. Whoever holds the release could compute it, so that it tells nothing more.

- A result is public when its measure looked at the released data alone (``Result.alone``) and data of that kind hold
  nothing but what is written (``Kind.shows_all``). A table holds its true values and a text what was known of a person,
  so that nothing measured on them is public by itself.
- What the data were before, how many records were dropped or values changed, and whatever compares with the original,
  a register or control records stays in the board's report. The public report names the measures and says so.
- What became of a column is told as the plan says it, not as the values came out.

Rounding would not do: a figure to two digits still differs between two files of which one has a value just beyond the
edge, and many such figures together narrow a value down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.registry import lookup
from tacit.result import Result

#: What stands in a public file in place of the requirements that a release does not keep.
NOT_KEPT = "a requirement of the plan is not kept: do not release"


def public_results(release: Any) -> list[Result]:
    """Return the results that follow from the released data alone."""
    return [r for r in release.after if is_public(release, r)]


def is_public(release: Any, result: Result) -> bool:
    """Return True for a result that whoever holds the release could compute."""
    return release.kind.shows_all and result.alone


def withheld_measures(release: Any) -> list[str]:
    """Return what the measures are called whose results stay with the data holder."""
    kinds = dict.fromkeys(r.kind for r in release.after if not is_public(release, r))
    return [lookup(kind).title() for kind in kinds]


def public_attention(release: Any) -> list[str]:
    """Return what a reader must not overlook, as far as it follows from the release."""
    missed = [r.shortfall for r in public_results(release) if r.shortfall]
    return [*([NOT_KEPT] if release.unmet else []), *missed, *release.remarks]


def columns_in_reach(release: Any) -> set[str]:
    """Return the columns whose values the steps may change, whether or not any value came to be changed."""
    before = release.original
    steps: Sequence[Any] = [s for s in release.plan.steps if isinstance(before, s.data_types())]
    aimed = {c for step in steps for c in step.targets(before)}
    # What is suppressed in one column of a group goes with it in the others.
    linked = {c for group in before.links if aimed & set(group) for c in group}
    return aimed | linked
