"""The reasons of a recommendation, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.alternatives.rumap.points import Point
from tacit.alternatives.rumap.result import RUMapResult
from tacit.report.words import join_column_names as listed
from tacit.result import format_number

if TYPE_CHECKING:
    from tacit.alternatives.recommendation.result import Choice
    from tacit.alternatives.recommendation.search import Search

#: Columns named in a sentence; the table has them all.
NAMED = 4
#: Below this a number in a sentence is nought.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Account:
    """What a candidate changes."""

    #: Records and cells that differ from the original, as the ledger has them.
    changes: Mapping[str, Any]
    #: Whether another draw would give other data.
    by_chance: bool
    #: What the steps warned of.
    warnings: tuple[str, ...] = ()

    def sentence(self) -> str:
        """Return what is changed, in shares of records."""
        if self.changes.get("links_lost"):
            return "It cuts the link between released and original records, so changed values cannot be counted."
        n, dropped = self.changes["records_before"], self.changes["dropped"]
        kept = max(n - dropped, 1)
        cells = sorted(self.changes["cells"].items(), key=lambda item: -item[1])
        shares = [f"{column} in {share(count / kept)}" for column, count in cells[:NAMED]]
        if len(cells) > NAMED:
            rest = len(cells) - NAMED
            shares.append(f"{rest} further column{'' if rest == 1 else 's'} in fewer")
        which = "the records it keeps" if dropped else "the records"
        parts = [f"changes {listed(shares)} of {which}"] if shares else []
        if dropped:
            parts.append(f"drops {share(dropped / n)} of the records")
        if self.changes.get("columns_removed"):
            parts.append(f"takes out {listed(self.changes['columns_removed'])}")
        return f"It {listed(parts)}." if parts else "It changes no value."


def tell_reasons(
    found: Search,
    choices: list[Choice],
    runner_up: Choice | None,
    accounts: Mapping[str, Account],
    *,
    records: int,
    evaluations: int,
) -> Iterator[str]:
    """Yield why this one, what it costs, what the runner-up was, and how the search went."""
    ru = found.map
    cap, reference = number(ru.max_risk or 0.0), ru.reference
    safe = reference is not None and reference.risk <= (ru.max_risk or 0.0)
    if reference is not None and safe:
        further = "what follows lowers it further" if choices else "and no candidate lowers it"
        yield (
            f"The data as they are have risk {number(reference.risk)} and keep the cap of {cap}: "
            f"for this measure no further protection is needed; {further}."
        )
    if choices:
        best = choices[0]
        yield from praise(ru, best.point, cap)
        yield f"What it costs: {cost(ru, best.point)} {accounts[best.name].sentence()}"
        yield from cautions(ru, best, accounts[best.name])
        if runner_up is not None:
            yield f"The runner-up, the best by other means, is {runner_up.name}: {runner_up.reason}"
        else:
            yield "There is no runner-up: nothing without its methods keeps the cap."
    elif not safe:
        yield nothing_found(ru, cap)
    yield from tell_search(found, records, evaluations)


def praise(ru: RUMapResult, best: Point, cap: str) -> Iterator[str]:
    """Yield why the best is the best."""
    unmasked = math.inf if ru.reference is None else ru.reference.risk
    under = sum(
        p.has_result and p.risk <= (ru.max_risk or 0.0) and p.risk < unmasked for p in ru.points
    )
    before = "" if ru.reference is None else f", against {number(ru.reference.risk)} without protection"  # fmt: skip
    of = f"Of {under} candidates that lower the risk and keep the cap it has" if under > 1 else "It alone lowers the risk and keeps the cap, with"  # fmt: skip
    word = "To lower the risk" if unmasked <= (ru.max_risk or 0.0) else "Recommended"
    yield f"{word}: {best.name}. Its risk ({ru.risk_label}) is {number(best.risk)}{before}; at most {cap} is allowed."
    side = "the best utility" if under > 1 else "utility"
    yield f"{of} {side} ({ru.utility_label}): {number(best.utility)}."


def cost(ru: RUMapResult, point: Point) -> str:
    """Return how far utility falls."""
    if ru.reference is None:
        return ""
    if point.utility == ru.reference.utility:
        return f"the utility stays {number(point.utility)}, as without protection."
    verb = "falls" if ru.higher_utility_is_better else "rises"
    noun = "the utility" if ru.higher_utility_is_better else "the distortion"
    same = (point.utility < ru.reference.utility) == ru.higher_utility_is_better
    verb = verb if same else {"falls": "rises", "rises": "falls"}[verb]
    return f"{noun} {verb} from {number(ru.reference.utility)} to {number(point.utility)}."


def cautions(ru: RUMapResult, best: Choice, account: Account) -> Iterator[str]:
    """Yield what a reader might take for granted and should not."""
    yield from (f"To be noted: {text.rstrip('.')}." for text in account.warnings)
    touched = account.changes.get("cells") or account.changes.get("dropped")
    if touched and ru.reference is not None and best.utility == ru.reference.utility:
        yield (
            "This measure of utility does not notice what the method changes; take one that does before "
            "you trust the choice."
        )
    if account.by_chance:
        runs = best.point.replicates
        drawn = "one draw" if runs == 1 else f"the mean of {runs} draws"
        yield (
            f"It depends on chance: the numbers are of {drawn}. A release is drawn anew, and its plan refuses "
            "one over the cap."
        )


def compare_choices(ru: RUMapResult, point: Point, best: Point | None) -> str:
    """Return what a choice offers beside the best, in a sentence."""
    own = f"risk {number(point.risk)}, {'utility' if ru.higher_utility_is_better else 'distortion'} {number(point.utility)}"
    if best is None:
        return f"{own}; the most useful candidate under the cap."
    gap = abs(point.risk - best.risk)
    if point.risk == best.risk:
        safety = "just as safe"
    else:
        safety = f"{'safer' if point.risk < best.risk else 'riskier'} by {number(gap)}"
    loss = abs(point.utility - best.utility)
    if loss == 0:
        return f"{own}; as useful as the best and {safety}."
    beside = "as safe as the best" if point.risk == best.risk else f"{safety} than the best"
    return f"{own}; {beside}, and less useful by {number(loss)}."


def nothing_found(ru: RUMapResult, cap: str) -> str:
    """Return that nothing keeps the cap, and what comes nearest."""
    with_result = [p for p in ru.points if p.has_result]
    if not with_result:
        return "No candidate gave a result; the table says why."
    safest = min(with_result, key=lambda p: p.risk)
    return (
        f"No candidate keeps the cap of {cap}. The safest, {safest.name}, has risk {number(safest.risk)} "
        f"and utility {number(safest.utility)}. Give hierarchies with higher levels, fewer keys, or another cap."
    )


def tell_search(found: Search, records: int, evaluations: int) -> Iterator[str]:
    """Yield how much was tried, on what, and what was not."""
    tried = len(found.map.points) + len(found.trials)
    if found.samples:
        sizes = listed([f"{n:,}" for n in found.samples])
        yield (
            f"{tried} candidates were tried in {evaluations} evaluations, {len(found.map.points)} of them on all "
            f"{records:,} records. Risks, ranks and the cap are judged on the whole "
            f"file alone; the samples ({sizes} records) only decided what was tried on it, as the risk of a sample "
            "is not the risk of the file."
        )
    else:
        yield f"{tried} candidates were tried in {evaluations} evaluations, all on all {records:,} records."
    untried = f" {found.untried} settings were not tried; a larger budget tries them." if found.untried else ""  # fmt: skip
    yield f"The search is a heuristic: a setting that was not tried, or dropped early, may do better.{untried}"
    failed = [p for p in found.map.points if not p.has_result]
    failed += [t.point for t in found.trials if not t.point.has_result]
    if failed:
        yield f"{len(failed)} candidate{'' if len(failed) == 1 else 's'} gave no result; the table says why."
    if found.left_out:
        yield "Not tried: " + "; ".join(f"{m} ({why})" for m, why in found.left_out.items()) + "."


def number(value: float) -> str:
    """Return a number for a sentence."""
    # A model's rounding error is no distortion.
    return format_number(0.0 if abs(value) < ROUNDING else float(value))


def share(value: float) -> str:
    """Return a share for a sentence."""
    return f"{value:.1%}".replace("%", " %") if value >= 0.001 or value == 0 else "less than 0.1 %"
