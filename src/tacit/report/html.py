"""The report of a release as one HTML page that opens without a network.

The page is public: it goes out with the data. It holds aggregates, public parameters and claims; no
values of records, no seed, no secret parameter, and no count that would tell a secret parameter.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tacit
from tacit.governance import AccessClass
from tacit.plot.chart import Chart
from tacit.plot.families import class_sizes_before_after, column_changes, levels
from tacit.plot.parts import share_text
from tacit.plot.svg import inline
from tacit.registry import lookup
from tacit.report import facts, words
from tacit.result import Result, format_number

if TYPE_CHECKING:
    import jinja2

    from tacit.release import Panel, Release


def render(release: Release) -> str:
    """Return the report of a release as a self-contained HTML page."""
    return templates().get_template("report.html").render(**view(release))


@functools.cache
def templates() -> jinja2.Environment:
    """Return the templates; everything that is put into them is escaped."""
    import jinja2

    loader = jinja2.PackageLoader("tacit.report")
    return jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def view(release: Release) -> dict[str, Any]:
    """Return what the template shows."""
    drawing = Drawing()
    today = dt.datetime.now(tz=dt.UTC).date()
    classes = facts.class_sizes(release)
    claims = [claim_view(release, claim) for claim in release.claims]
    kinds = [r.kind for r in release.after]
    return {
        "title": release.plan.title or "Release of protected data",
        "date": f"{today.day} {today:%B %Y}",
        "iso_date": today.isoformat(),
        "version": tacit.__version__,
        "access": release.plan.access,
        "access_words": access_words(release.plan.access),
        "tiles": tiles(release, classes),
        "claims": claims,
        "verdict": words.verdict(
            release.claims, hold=all(c["holds"] for c in claims), classes=classes
        ),
        "steps": list(steps_view(release)),
        "classes": [classes_view(part, drawing) for part in classes],
        "levels": levels_view(release, drawing),
        "changes": changes_view(release, drawing),
        "risk": results_view(release.risk, drawing, classes),
        "utility": results_view(release.utility, drawing, classes),
        "assumptions": list(
            dict.fromkeys(text for claim in release.claims for text in claim.assumptions)
        ),
        "limits": words.limits(release, kinds),
        "sql": words.sql_check(release),
        "glossary": words.glossary(release, kinds),
    }


def access_words(name: str) -> str:
    """Return an access class in words; nothing where none was chosen."""
    if not name:
        return ""
    level = AccessClass.parse(name)
    return f"{level.title}: {level.rule}"


@dataclass
class Drawing:
    """Draws charts into the page, each with identifiers of its own."""

    drawn: int = 0

    def __call__(self, chart: Chart) -> dict[str, Any]:
        self.drawn += 1
        return {"svg": inline(chart, f"c{self.drawn}-"), "alt": chart.alt}


# -- the parts of the page -----------------------------------------------------------------------


def tiles(release: Release, classes: list[facts.ClassSizes]) -> list[dict[str, str]]:
    """Return the few numbers at the top."""
    before, after = release.ledger.records, len(release.data)
    shown = [
        tile(
            format_number(after),
            "records released",
            f"of {format_number(before)}" if before >= after else "",
        )
    ]
    if classes:
        worst = min(classes, key=lambda part: part.smallest_after)
        shown.append(
            tile(
                format_number(worst.smallest_after),
                "records in the smallest class",
                f"before: {format_number(worst.smallest_before)}",
            )
        )
        shown.append(
            tile(
                words.percent(worst.unique_share_after),
                "of records are unique on the keys",
                f"before: {words.percent(worst.unique_share_before)}",
            )
        )
    precise = [r.value for r in release.after if r.kind == "precision"][:1]
    return shown + [
        tile(f"{p:.2f}", "precision kept", "1 is unchanged, 0 is lost") for p in precise
    ]


def tile(number: str, what: str, note: str) -> dict[str, str]:
    """Return one of the numbers at the top."""
    return {"number": number, "what": what, "note": note}


def claim_view(release: Release, claim: Any) -> dict[str, Any]:
    """Return a claim in words, recomputed on the released data."""
    return {
        "name": words.claim_name(claim, of_many=len(release.data.quasi) > 1),
        "sentence": words.claim_sentence(claim),
        "holds": claim.holds(release.data.frame),
    }


def steps_view(release: Release) -> Iterator[dict[str, Any]]:
    """Yield the steps with their public parameters."""
    for action in release.data.history:
        cls = lookup(action.kind)
        yield {
            "name": action.kind.replace("_", " "),
            "title": cls.title(),
            "techniques": ", ".join(action.techniques),
            "parameters": [
                (name, words.parameter(value))
                for name, value in action.parameters.items()
                if name not in {"kind", *cls.secret_fields()}
            ],
            "withheld": bool(cls.secret_fields()),
        }


def classes_view(part: facts.ClassSizes, drawing: Drawing) -> dict[str, Any]:
    """Return the class sizes of one quasi-identifier before and after, as table and chart."""
    chart = class_sizes_before_after(
        part.before,
        part.after,
        k=part.k,
        title=f"Records by class size: {part.name}",
        subtitle=", ".join(part.columns),
    )
    rows: list[tuple[str, Any, Any]] = [
        ("records", part.records(part.before), part.records(part.after)),
        ("classes", part.classes(part.before), part.classes(part.after)),
        ("smallest class", part.smallest_before, part.smallest_after),
        ("average class", part.average(part.before), part.average(part.after)),
        ("unique records", part.below(part.before, 2), part.below(part.after, 2)),
    ]
    if part.k and part.k > 2:
        rows.append(
            (
                f"records in classes below {part.k}",
                part.below(part.before, part.k),
                part.below(part.after, part.k),
            )
        )
    return {
        "name": part.name,
        "columns": ", ".join(part.columns),
        "chart": drawing(chart),
        "rows": [(label, number(old), number(new)) for label, old, new in rows],
    }


def levels_view(release: Release, drawing: Drawing) -> dict[str, Any] | None:
    """Return the level that each column was raised to."""
    reached = facts.levels(release)
    if not reached:
        return None
    return {
        "rows": [
            {"column": c, "level": f"{lv:.2g}", "height": h, "meaning": meaning or "-"}
            for c, lv, h, meaning in reached
        ],
        "chart": drawing(levels(reached)),
    }


def changes_view(release: Release, drawing: Drawing) -> dict[str, Any]:
    """Return what was dropped, removed and changed, by column."""
    found = facts.changes(release)
    every = {**release.original.columns, **release.data.columns}
    told = {c: n for c, n in found.cells.items() if n is None or n >= words.SMALL}
    return {
        "sentence": words.records_sentence(found),
        "linked": found.linked,
        "rows": [(name, words.role(column), fate(name, found)) for name, column in every.items()],
        "chart": drawing(column_changes((c, n, found.records_after) for c, n in told.items()))
        if told
        else None,
    }


def fate(column: str, found: facts.Changes) -> str:
    """Return what became of a column, in words."""
    if column in found.removed:
        return "left out"
    if column in found.new:
        return "new"
    if not found.linked:
        return "released"
    changed = found.cells[column]
    if changed is None:
        return "changed; the count is withheld"
    if changed == 0:
        return "as collected"
    if changed < words.SMALL:
        return f"fewer than {words.SMALL} values changed"
    return f"{share_text(changed, found.records_after)} changed"


def results_view(
    panel: Panel, drawing: Drawing, classes: list[facts.ClassSizes]
) -> list[dict[str, Any]]:
    """Return each result of a family with its numbers before and after, and its charts."""
    return [
        result_view(result, panel.before.get(key), drawing)
        for key, result in panel.after.items()
        if not told_by_classes(result, classes)
    ]


def result_view(result: Result, before: Result | None, drawing: Drawing) -> dict[str, Any]:
    """Return one result."""
    old = before.numbers if before else {}
    return {
        "title": result.title,
        "explanation": result.explanation or f"{lookup(result.kind).title()}.",
        "compared": before is not None,
        "rows": [(name, number(old.get(name)), number(v)) for name, v in result.numbers.items()],
        "charts": [drawing(chart) for chart in charts_of(result)],
    }


def told_by_classes(result: Result, classes: list[facts.ClassSizes]) -> bool:
    """Return True for class sizes that the report tells anyway, quasi-identifier by quasi-identifier."""
    if result.kind != "k_anonymity":
        return False
    return any(
        result.numbers.get("classes") == part.classes(part.after)
        and result.numbers.get("smallest class (k)") == part.smallest_after
        for part in classes
    )


MAX_CHARTS = 4


def charts_of(result: Result) -> list[Chart]:
    """Return the charts that say more than the table of numbers does."""
    if type(result).plot is Result.plot and type(result).charts is Result.charts:
        return []
    return [c for c in itertools.islice(result.charts(), MAX_CHARTS) if not is_blank(c)]


def is_blank(chart: Chart) -> bool:
    """Return True for a chart on which every number is nought: the table says it better."""
    data = chart.spec.get("data", {})
    numbers = [
        value
        for row in data.get("values", ())
        if isinstance(row, Mapping)
        for value in row.values()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return bool(numbers) and not any(numbers)


# -- numbers ---------------------------------------------------------------------------------------


def number(value: Any) -> str:
    """Return a number of a result for a table."""
    if isinstance(value, Mapping):
        return words.shortened(format_number(value))
    return format_number(value)


__all__ = ["render"]
