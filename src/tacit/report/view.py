"""What a report says about a release, whatever the kind of data; kinds say more where they know more.

:class:`View` answers the questions of a report for any release. A kind of data adds its own tables and
charts in a subclass and registers it with :func:`view_class`; a kind without one still gets a full report.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.plot.chart import Chart
from tacit.plot.registry import added_charts
from tacit.registry import lookup
from tacit.report import document as doc
from tacit.report import words
from tacit.report.public_figures import (
    is_public,
    public_attention,
    public_results,
    withheld_measures,
)
from tacit.result import Result, format_number

MAX_CHARTS = 4
RISK_BOTH = "Risk before and after"


@dataclass(frozen=True)
class Judged:
    """A claim in words, recomputed on what is released."""

    claim: Any
    name: str
    sentence: str
    holds: bool


class View:
    """The facts of one release, in the words and tables of a report."""

    #: What claims were recomputed on.
    judged_on = "the released data"

    def __init__(self, release: Any) -> None:
        self.release = release

    # -- claims and thresholds -------------------------------------------------------------------

    @functools.cached_property
    def claims(self) -> tuple[Judged, ...]:
        """Return every claim with the verdict of its check."""
        return tuple(
            Judged(c, self.claim_name(c), words.claim_sentence(c), self.holds(c))
            for c in self.release.claims
            if self.release.kind.name in c.about
        )

    def holds(self, claim: Any) -> bool:
        """Recompute a claim."""
        return bool(claim.holds(self.release.data.claim_view()))

    def claim_name(self, claim: Any) -> str:
        """Return a claim as a short name."""
        return words.claim_name(claim)

    def missed(self, *, public: bool = False) -> list[str]:
        """Return a sentence for each measure that misses its own threshold."""
        results = public_results(self.release) if public else self.release.after
        return [f"{result.shortfall}." for result in results if result.shortfall]

    def noted(self, *, public: bool = False) -> list[str]:
        """Return what else must not be overlooked: requirements not met, measures left out, a given seed."""
        known = set(self.release.shortfalls)
        told = public_attention(self.release) if public else self.release.attention
        return [words.sentence(text) for text in told if text not in known]

    def cautions(self) -> list[str]:
        """Return what tempers the claims, in sentences."""
        return []

    #: What a heading says when there are cautions.
    caution = "but risks remain"

    # -- the first page --------------------------------------------------------------------------

    def tiles(self, *, public: bool) -> list[doc.Tile]:
        """Return the few numbers at the top."""
        del public
        done, claims = len(self.release.history), len(self.release.claims)
        return [doc.Tile(str(done), "steps of protection"), doc.Tile(str(claims), "claims")]

    def size(self) -> str:
        """Return what is released, in a sentence."""
        return f"{self.release.size}."

    def lost(self) -> list[str]:
        """Return what the release lost against the original, in sentences."""
        return [
            f"{result.title}: {result.label(label)} {format_result_number(value)}."
            for result in self.release.utility.after.values()
            for label, value in itertools.islice(result.numbers.items(), 2)
        ]

    def limits(self) -> list[str]:
        """Return what the release does not promise."""
        return [words.OTHER_RELEASES, words.NO_FORECAST]

    # -- the body --------------------------------------------------------------------------------

    def opening(self) -> Sequence[doc.Section | None]:
        """Return the sections that show what is released."""
        return ()

    def public_blocks(self) -> Sequence[doc.Section | None]:
        """Return what was measured, as far as the public may know it."""
        return self.measured_blocks(public=True)

    def board_blocks(self) -> Sequence[doc.Section | None]:
        """Return what only the board may see: losses and risks in detail, and every number measured."""
        return self.measured_blocks(public=False)

    def measured_blocks(self, *, public: bool) -> list[doc.Section | None]:
        """Return what the kind itself has to say, then risk and utility."""
        own = self.release.kind.report_blocks(self.release, "public" if public else "board")
        return [
            *own,
            self.results_section("Risk" if public else RISK_BOTH, "risk", public=public),
            self.results_section("Utility", "utility", public=public),
            self.withheld_section() if public else None,
        ]

    def withheld_section(self) -> doc.Section | None:
        """Return what was measured and is not for the public, and why."""
        found = withheld_measures(self.release)
        told = (doc.Paragraph(words.WITHHELD), doc.ItemList(tuple(found)))
        return doc.Section("Measured and withheld", told, "withheld") if found else None

    def check_blocks(self) -> list[doc.Block]:
        """Return how a recipient checks the release."""
        return [
            doc.Paragraph(
                (
                    "The file ",
                    doc.Mark("manifest.json", "code"),
                    " beside this report lists the SHA-256 of every file, and ",
                    doc.Mark("statement.json", "code"),
                    " the claims in a form that a program can check. With tacit, in the folder of this report:",
                )
            ),
            doc.Code("tacit verify ."),
        ]

    def terms(self) -> tuple[tuple[str, doc.Words], ...]:
        """Return the terms that the report uses, with what they mean."""
        return ()

    # -- results ---------------------------------------------------------------------------------

    def results_section(self, title: str, family: str, *, public: bool) -> doc.Section | None:
        """Return every result of a family, before and after."""
        panel = self.release.panel(family)
        parts = [
            self.result_section(result, panel.before.get(key), public=public)
            for key, result in panel.after.items()
            if not public
            or (
                is_public(self.release, result)
                and (added_charts(result) or not self.told_already(result))
            )
        ]
        return doc.Section(title, tuple(parts), family) if parts else None

    def result_section(self, result: Result, before: Result | None, *, public: bool) -> doc.Section:
        """Return one result: what it means, its numbers, its charts; to the public nothing of what was before."""
        compared = before is not None and not public
        old = before.numbers if before else {}
        rows = [
            (result.label(name), format_result_number(old.get(name)), format_result_number(value))
            for name, value in result.numbers.items()
        ]
        heads = doc.numbers("before", "after") if compared else doc.numbers("value")
        other = "Measured on the released data" if public else "Release compared with the original"
        table = doc.DataTable.of(
            ["measure", *heads],
            [r if compared else (r[0], r[2]) for r in rows],
            "Before and after protection" if compared else other,
        )
        plain = type(result).plot is Result.plot and type(result).charts is Result.charts
        # Charts that say more than the table of numbers does, and those that packages add.
        own = () if plain or self.told_already(result) else result.charts()
        charts = (*itertools.islice(own, MAX_CHARTS), *added_charts(result).values())
        figures = [doc.Figure(c) for c in charts if not is_blank(c)]
        explanation = result.explanation or f"{lookup(result.kind).title()}."
        return doc.Section(result.title, (doc.Paragraph(explanation), table, *figures))

    def told_already(self, result: Result) -> bool:
        """Return True for a result that another part of the report tells."""
        del result
        return False

    def remarks(self) -> list[str]:
        """Return what the board should know and the public must not, in sentences."""
        return []


@functools.singledispatch
def view_class(data: Any) -> type[View]:
    """Return the view of a kind of data; kinds register their own with ``view_class.register``."""
    del data
    return View


def view_of(release: Any) -> View:
    """Return the view of a release, one for all of its reports: what they share is worked out once."""
    if release.data.kind == "records":
        from tacit.report import records  # noqa: F401 - it registers itself
    elif release.data.kind == "table":
        from tacit.report import tables  # noqa: F401
    elif release.data.kind == "corpus":
        from tacit.report import texts  # noqa: F401
    known = vars(release)
    if "_view" not in known:
        known["_view"] = view_class(release.data)(release)
    view: View = known["_view"]
    return view


# -- the judgement -----------------------------------------------------------------------------------


def judge(view: View, *, public: bool) -> doc.Callout:
    """Return the box at the top: do the claims hold, and what tempers them."""
    mood, title = choose_verdict(view, public=public)
    points = tuple(
        doc.Point((doc.Mark(claim.name), f". {claim.sentence}"), claim.holds)
        for claim in view.claims
    )
    note = (
        f"Each claim was recomputed from its definition on {view.judged_on}, apart from the methods that made it."
        if points
        else "The steps of this release guarantee nothing by themselves. Judge it by the measured risk below."
    )
    told = (*view.cautions(), *view.missed(public=public), *view.noted(public=public))
    return doc.Callout(mood, title, told, points, note)


#: Claims that keep others from being undone, and protect nobody by themselves.
OF_TEXTS = frozenset({"no-known-values", "no-formatted-identifiers", "no-original-identifiers"})
SUPPORTING = frozenset(
    {
        *("absent-columns", "suppressed-together", "constant-in-households"),
        *("whole-households", "constant-value", "numbered-in-order", "rules-kept"),
    }
)


def choose_verdict(view: View, *, public: bool) -> tuple[Any, str]:
    """Return the mood and the heading of the judgement."""
    claims = view.claims
    if not all(claim.holds for claim in claims):
        return "bad", "A claim does not hold: do not release"
    if not claims:
        return "attention", "No protection is claimed"
    if all(judged.claim.model == "absent-columns" for judged in claims):
        # Removing names is not anonymity (Sweeney 2000): the keys may still single people out.
        return "attention", "Identifiers are removed; no anonymity is claimed"
    if all(judged.claim.model in {*OF_TEXTS, *SUPPORTING} for judged in claims):
        if any(judged.claim.model in OF_TEXTS for judged in claims):
            return "attention", "The texts are de-identified; no anonymity is claimed"
        return "attention", "Nothing was undone; no anonymity is claimed"
    heading = {1: "The claim holds", 2: "Both claims hold"}.get(
        len(claims), f"All {len(claims)} claims hold"
    )
    if view.cautions():
        return "attention", f"{heading}, {view.caution}"
    if view.missed(public=public):
        return "attention", f"{heading}, but a measure misses its threshold"
    if view.noted(public=public):
        return "attention", f"{heading}, with a remark"
    return "good", heading


# -- numbers and charts of results -------------------------------------------------------------------


def format_result_number(value: Any) -> str:
    """Return a number of a result for a table."""
    text = format_number(value)
    return words.shorten_text(text) if isinstance(value, Mapping) else text


def is_blank(chart: Chart) -> bool:
    """Return True for a chart on which every number is nought: the table says it better."""
    data = chart.spec.get("data", {})
    found = [
        value
        for row in data.get("values", ())
        if isinstance(row, Mapping)
        for value in row.values()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return bool(found) and not any(found)
