"""The report of a recommendation: the choice with its reasons, the plans in order, the map, every candidate.

It shows the settings of every candidate, also those that are secret in a release: it stays with the
data holder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tacit
from tacit.report.document import (
    Callout,
    Column,
    DataTable,
    Document,
    ItemList,
    Paragraph,
    Row,
    Section,
    Tiles,
)
from tacit.report.map import format_with_interval, picture, tiles

if TYPE_CHECKING:
    from tacit.alternatives.recommendation.result import Recommendation

HEADS = ("method", "setting", Column("risk", "number"), Column("utility", "number"))


def recommendation_document(found: Recommendation) -> Document:
    """Return the report of a recommendation."""
    best = found.best
    told = found.reasons[0] if best is None else best.reason[:1].upper() + best.reason[1:]
    return Document(
        title=found.title,
        subtitle="Recommendation",
        audience="holder",
        blocks=(
            Callout("bad" if best is None else "good", found.title, (told,)),
            Tiles(tuple(tiles(found.map))),
            Section("Why", (ItemList(found.reasons),), "why"),
            *([] if best is None else [ranking(found)]),
            picture(found.map),
            candidates(found),
        ),
        about=(f"tacit {tacit.__version__}", "shows the settings of protection"),
        footer=(
            "The map: Duncan, Keller-McNulty and Stokes (2001), Disclosure risk vs. data utility: the R-U "
            "confidentiality map."
        ),
    )


def ranking(found: Recommendation) -> Section:
    """Return the plans in order."""
    intro = "All of them keep the cap, and no candidate is at once safer and more useful than one of them."
    rows = [
        Row(
            (
                c.rank,
                c.name,
                format_with_interval(c.risk, c.point.risk_interval),
                format_with_interval(c.utility, c.point.utility_interval),
                c.reason,
            ),
            strong=c.rank == 1,
        )
        for c in found.choices
    ]
    columns = (Column("rank", "number"), "plan", *HEADS[2:], "what it offers")
    return Section(
        "The plans",
        (Paragraph(intro), DataTable.of(columns, rows, "The plans, best first")),
        "plans",
    )


def candidates(found: Recommendation) -> Section:
    """Return every candidate and what became of it."""
    assert found.frame is not None
    rows = [
        Row(
            (
                r["method"],
                r["setting"],
                "-" if r["risk"] is None else format_with_interval(r["risk"]),
                "-" if r["utility"] is None else format_with_interval(r["utility"]),
                r["records"],
                ": ".join(part for part in (r["status"], r["reason"]) if part),
            ),
            strong=r["rank"] == 1,
        )
        for r in found.frame.rows(named=True)
    ]
    columns = (*HEADS, Column("records", "number"), "remark")
    note = "Numbers of a sample are not those of the file; they only decided what was tried on it."
    return Section(
        "All candidates",
        (DataTable.of(columns, rows, "All candidates"), Paragraph(note)),
        "candidates",
    )
