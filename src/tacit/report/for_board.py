"""The report for the board: confidential, one page to decide on, then everything behind it.

It holds parameters, secret ones too, and aggregates of the original. It holds no records, no seed and no
key: those are in the ledger alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tacit.governance import AccessClass
from tacit.report import words
from tacit.report.document import (
    Block,
    Column,
    DataTable,
    Definitions,
    Document,
    ItemList,
    Mark,
    PageBreak,
    Paragraph,
    Row,
    Section,
    Tiles,
    Words,
)
from tacit.report.for_public import limits_section, list_release_facts
from tacit.report.plots import plots_section
from tacit.report.view import View, judge, view_of

#: What is open is told in this many points on the first page; the rest stands further down.
MOST_OPEN = 6


def board_document(release: Any) -> Document:
    """Return the confidential report of a release, whatever its kind of data."""
    view = view_of(release)
    blocks: list[Block | None] = [
        judge(view, public=False),
        Tiles(tuple(view.tiles(public=False))),
        brief(view),
        PageBreak(),
        parameters_section(view),
        *view.board_blocks(),
        plots_section(release.plots),
        warnings_section(release),
        limits_section(view),
        build_made_section(release),
    ]
    return Document(
        title=release.title,
        subtitle="Report for the board",
        audience="board",
        blocks=tuple(b for b in blocks if b is not None),
        about=list_release_facts(release),
        footer="This report holds parameters and aggregates of the original: keep it inside.",
    )


# -- the first page ----------------------------------------------------------------------------------


def brief(view: View) -> Section:
    """Return the page to decide on: what, to whom, with which promise, what was lost, what is open."""
    promised = [(Mark(claim.name), f". {claim.sentence}") for claim in view.claims]
    items: list[tuple[str, Words]] = [
        ("What is released", view.size()),
        ("To whom", audience_words(view.release.plan.access)),
        ("With which promise", words.on_lines(promised) or "No protection is claimed."),
        (
            "What was lost",
            words.on_lines((text,) for text in view.lost()) or "Nothing was measured.",
        ),
        (
            "What is open",
            words.on_lines((f"{i}. {text}",) for i, text in enumerate(open_points(view), 1)),
        ),
    ]
    return Section("In brief", (Definitions(tuple(items)),), "brief")


def audience_words(access: str) -> str:
    """Return who may have the release."""
    if not access:
        return "No access class was chosen."
    level = AccessClass.parse(access)
    return f"{access} ({level.title}: {level.rule}). {level.meaning}"


def open_points(view: View) -> list[str]:
    """Return what the board should ask about before it agrees."""
    release = view.release
    found = [*view.noted(), *view.missed(), *view.cautions(), *view.remarks()]
    if not release.plan.access:
        found.append("Who may have the release is not decided: choose an access class.")
    warned = sum(len(entry.warnings) for entry in release.ledger.entries)
    if warned:
        found.append(
            f"{warned} warning{'s' if warned > 1 else ''} came up during the run; see Warnings."
        )
    if not release.after:
        found.append("Nothing was measured after protection.")
    return [*found, *view.limits()][: max(MOST_OPEN, len(found))]


# -- parameters ----------------------------------------------------------------------------------------


def parameters_section(view: View) -> Section:
    """Return every parameter of every step and measure, defaults marked."""
    plan = view.release.plan
    intro = "Every parameter of every step and measure. Those that were not set have their default."
    tables = (parameter_table("Steps", plan.steps), parameter_table("Measures", plan.measures))
    return Section(
        "Parameters", (Paragraph(intro), *(t for t in tables if t is not None)), "parameters"
    )


def parameter_table(caption: str, specs: Sequence[Any]) -> DataTable | None:
    """Return the parameters of specs, one row each."""
    rows = [row for i, spec in enumerate(specs, 1) for row in parameter_rows(i, spec)]
    columns = ["parameter", "value", "set by", "meaning"]
    return DataTable.of(columns, rows, caption) if rows else None


def parameter_rows(i: int, spec: Any) -> Iterator[Row]:
    """Yield a row with the name of a spec, then one row per parameter."""
    yield Row((f"{i}. {spec.kind.replace('_', ' ')}", "", "", spec.title()), strong=True)
    values = spec.model_dump(mode="json", by_alias=False)
    chosen = spec.model_fields_set
    secret = spec.secret_fields()
    for name, info in type(spec).model_fields.items():
        if name != "kind":
            value = parameter_text(values.get(name), secret=name in secret)
            by = "plan" if name in chosen else Mark("default", "soft")
            yield Row((name, value, by, info.description or "-"), indent=1)


def parameter_text(value: Any, *, secret: bool) -> str:
    """Return a parameter as it would be typed; a secret text is a key, and stays in the ledger."""
    if secret and isinstance(value, str | bytes) and value:
        return "set; kept in the ledger"
    return words.parameter(value) or "-"


# -- how it was made -----------------------------------------------------------------------------------


def warnings_section(release: Any) -> Section | None:
    """Return what the steps warned of."""
    found = tuple(
        f"{entry.kind.replace('_', ' ')}: {text}"
        for entry in release.ledger.entries
        for text in entry.warnings
    )
    return Section("Warnings", (ItemList(found),), "warnings") if found else None


def build_made_section(release: Any) -> Section:
    """Return what is needed to make the release again."""
    ledger = release.ledger
    steps = DataTable.of(
        ["step", Column("seconds", "number"), "fingerprint of the output"],
        [
            (e.title, round(float(e.seconds), 2), Mark(str(e.output)[:16], "code"))
            for e in ledger.entries
        ],
        "Steps as they ran",
    )
    used = DataTable.of(
        ["package", "version"], list(ledger.versions.items()), "Versions that were used"
    )
    words_ = (
        f"The source had the fingerprint {str(ledger.source_fingerprint)[:16]} and ran on the engine "
        f"{ledger.engine}. Seed, keys and the full fingerprints are in the ledger."
    )
    return Section("How it was made", (Paragraph(words_), steps, used), "made")
