"""The reports of a risk-utility map and of a recommendation: the choice, a chart to point at, every candidate.

They show the settings of every candidate, also those that are secret in a release: they stay with the
data holder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.report import document as doc
from tacit.report.charts import MAP_SIZE
from tacit.result import format_number

if TYPE_CHECKING:
    from tacit.alternatives.recommendation.result import Recommendation
    from tacit.alternatives.rumap.points import Interval, Point
    from tacit.alternatives.rumap.result import RUMapResult

FOOTER = "The map: Duncan, Keller-McNulty and Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map."
SHOWN = "shows the settings of protection"
SETTING = ("method", "setting", *doc.numbers("risk", "utility"))


def map_document(ru: RUMapResult) -> doc.Document:
    """Return the report of a map."""
    top = choice(ru), doc.Tiles(tuple(tiles(ru)))
    blocks = (*top, picture(ru), frontier(ru), candidates(ru))
    return doc.for_holder(ru.title, "Risk-utility map", blocks, FOOTER, SHOWN)


def choice(ru: RUMapResult) -> doc.Callout:
    """Return the chosen candidate and why, or that there is none."""
    if ru.chosen is None:
        told = "No candidate keeps to the limits. Add stronger candidates, or move the cap or the floor."
        return doc.Callout("bad", "Nothing can be chosen", (told,))
    if ru.max_risk is not None:
        why = "Of all candidates whose risk is at most the cap, it keeps the most utility."
    elif ru.min_utility is not None:
        why = "Of all candidates that keep to the floor of utility, it has the least risk."
    else:
        why = (
            "It is the knee of the frontier: beyond it, a little more utility costs much more risk."
        )
    return doc.Callout("good", f"Chosen: {ru.chosen.name}", (why,))


def tiles(ru: RUMapResult) -> list[doc.Tile]:
    """Return the few numbers at the top."""
    methods = f"{len(ru.methods)} method{'' if len(ru.methods) == 1 else 's'}"
    shown = [
        doc.Tile(format_number(len(ru.points)), "candidates", methods),
        doc.Tile(format_number(len(ru.frontier)), "on the frontier", "no other is better in both"),
    ]
    if ru.chosen is not None:
        cap = "" if ru.max_risk is None else f"allowed: {format_with_interval(ru.max_risk)}"
        ref = ru.reference
        before = "" if ref is None else f"no masking: {format_with_interval(ref.utility)}"
        shown += [
            doc.Tile(format_with_interval(ru.chosen.risk), "risk of the choice", cap),
            doc.Tile(format_with_interval(ru.chosen.utility), "utility of the choice", before),
        ]
    return shown


def picture(ru: RUMapResult) -> doc.Section:
    """Return the map itself."""
    intro = (
        "Each marker is one candidate. To the right is more useful, downwards is safer. On a screen: point at "
        "a marker for its numbers; drag to move, scroll to zoom, double-click to go back."
    )
    less = "" if ru.higher_utility_is_better else " (a distortion: less is better)"
    several = any(p.risk_interval for p in ru.points)
    lines = " Thin lines are confidence intervals over replicates." if several else ""
    labels = f"Risk: {ru.risk_label}. Utility: {ru.utility_label}{less}.{lines}"
    figure = doc.Figure(ru.plot(), live=ru.plot(interactive=True), narrow=ru.plot(size=MAP_SIZE))
    return doc.Section(
        "The map", (doc.Paragraph(intro), figure, doc.Paragraph(labels, soft=True)), "picture"
    )


def frontier(ru: RUMapResult) -> doc.Section:
    """Return the candidates that no other beats."""
    intro = "No candidate is at once safer and more useful than one of these. They are in order of rising risk."
    rows = [doc.Row(setting(p), strong=p is ru.chosen or p == ru.chosen) for p in ru.frontier]
    table = doc.DataTable.of(SETTING, rows, "The frontier, safest first")
    return doc.Section("The frontier", (doc.Paragraph(intro), table), "frontier")


def candidates(ru: RUMapResult) -> doc.Section:
    """Return every candidate, with what was measured and what became of it."""
    everything = [*([ru.reference] if ru.reference else []), *ru.points]
    detail = list(everything[0].detail) if everything else []
    rows = []
    for point, told in zip(everything, ru.rows(), strict=True):
        of = point.detail
        more = [format_with_interval(of[name]) if name in of else "-" for name in detail]
        remark = point.reason or str(told["status"])
        cells = (*setting(point), *more, point.replicates, remark)
        rows.append(doc.Row(cells, strong=told["status"] == "chosen"))
    table = doc.DataTable.of(
        [*SETTING, *doc.numbers(*detail, "runs"), "remark"],
        rows,
        "All candidates",
    )
    blocks: list[doc.Block] = [table]
    if ru.notes:
        blocks += [doc.Heading("Notes"), doc.ItemList(tuple(ru.notes))]
    return doc.Section("All candidates", tuple(blocks), "candidates")


def setting(point: Point) -> tuple[doc.Cell, ...]:
    """Return a candidate for a table."""
    return (
        point.method,
        point.label,
        format_with_interval(point.risk, point.risk_interval),
        format_with_interval(point.utility, point.utility_interval),
    )


def format_with_interval(value: float, interval: Interval | None = None) -> str:
    """Return a number for readers, with half the width of its interval."""
    text = format_number(float(value))
    if interval is None:
        return text
    half = (interval[1] - interval[0]) / 2
    return f"{text} ± {format_number(float(half))}" if half > 0 else text


# -- a recommendation ------------------------------------------------------------------------------------


def recommendation_document(found: Recommendation) -> doc.Document:
    """Return the report of a recommendation."""
    best = found.best
    told = found.reasons[0] if best is None else best.reason[:1].upper() + best.reason[1:]
    blocks = (
        doc.Callout("bad" if best is None else "good", found.title, (told,)),
        doc.Tiles(tuple(tiles(found.map))),
        doc.Section("Why", (doc.ItemList(found.reasons),), "why"),
        None if best is None else ranking(found),
        picture(found.map),
        all_candidates(found),
    )
    return doc.for_holder(found.title, "Recommendation", blocks, FOOTER, SHOWN)


def ranking(found: Recommendation) -> doc.Section:
    """Return the plans in order."""
    intro = "All of them keep the cap, and no candidate is at once safer and more useful than one of them."
    rows = [
        doc.Row((c.rank, c.name, *setting(c.point)[2:], c.reason), strong=c.rank == 1)
        for c in found.choices
    ]
    columns = (*doc.numbers("rank"), "plan", *SETTING[2:], "what it offers")
    table = doc.DataTable.of(columns, rows, "The plans, best first")
    return doc.Section("The plans", (doc.Paragraph(intro), table), "plans")


def all_candidates(found: Recommendation) -> doc.Section:
    """Return every candidate and what became of it."""
    assert found.frame is not None
    rows = [
        doc.Row(
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
    columns = (*SETTING, *doc.numbers("records"), "remark")
    note = "Numbers of a sample are not those of the file; they only decided what was tried on it."
    table = doc.DataTable.of(columns, rows, "All candidates")
    return doc.Section("All candidates", (table, doc.Paragraph(note)), "candidates")
