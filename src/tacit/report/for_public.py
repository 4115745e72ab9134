"""The public report: it is released with the data.

It holds claims, public parameters, and figures that follow from what is released (see
:mod:`tacit.report.public_figures`); no values of records, no seed and no secret parameter.
"""

from __future__ import annotations

from typing import Any

import tacit
from tacit.governance import AccessClass
from tacit.registry import lookup
from tacit.report import words
from tacit.report.controls import describe_techniques
from tacit.report.document import (
    Block,
    DataTable,
    Definitions,
    Document,
    Heading,
    ItemList,
    Mark,
    Paragraph,
    Section,
    Tiles,
    Words,
    section,
)
from tacit.report.plots import plots_section
from tacit.report.view import View, judge, view_of


def build_public_report(release: Any) -> Document:
    """Return the public report of a release, whatever its kind of data."""
    view = view_of(release)
    blocks: list[Block | None] = [
        judge(view, public=True),
        Tiles(tuple(view.tiles(public=True))),
        *view.opening(),
        steps_section(view),
        *view.public_blocks(),
        plots_section(release.plots),
        limits_section(view),
        section("How to verify", *view.check_blocks(), key="verify"),
        section("Terms", terms(view), key="glossary"),
    ]
    return Document(
        title=release.title,
        subtitle="Protection report",
        audience="public",
        blocks=tuple(b for b in blocks if b is not None),
        about=list_release_facts(release),
        footer="This report holds no record and refers to nothing outside itself.",
    )


def list_release_facts(release: Any) -> tuple[str, ...]:
    """Return the facts below the title."""
    access = release.plan.access
    return (
        f"tacit {tacit.__version__}",
        *([f"Access class {access} ({access_words(access)})"] if access else []),
    )


def access_words(name: str) -> str:
    """Return an access class in words."""
    level = AccessClass.parse(name)
    return f"{level.title}: {level.rule}"


def steps_section(view: View) -> Section | None:
    """Return what was done, with public parameters."""
    rows = [step_cells(i, action) for i, action in enumerate(view.release.history, 1)]
    table = DataTable.of(
        ["step", "parameters", "techniques"],
        rows,
        "Steps, in order, with their public parameters",
    )
    told = describe_techniques(action.kind for action in view.release.history)
    blocks: tuple[Block, ...] = (table, *(Paragraph(sentence) for sentence in told))
    return Section("What was done", blocks, "done") if rows else None


def step_cells(i: int, action: Any) -> tuple[Words, Words, Words]:
    """Return the method, public parameters and techniques of one step."""
    cls = lookup(action.kind)
    secret = cls.secret_fields()
    told = [
        (Mark(name, "code"), f" = {words.parameter(value)}")
        for name, value in action.parameters.items()
        if name not in {"kind", *secret}
    ]
    lines: list[tuple[str | Mark, ...]] = [*told]
    if secret:
        lines.append((Mark("Parameters that would help an intruder are withheld.", "soft"),))
    elif not told:
        lines.append(("defaults",))
    name = (Mark(f"{i}. {action.kind.replace('_', ' ')}"), "\n", Mark(cls.title(), "soft"))
    return name, words.on_lines(lines), ", ".join(action.techniques) or "-"


def limits_section(view: View) -> Section:
    """Return on what the claims rest and what is not promised."""
    assumed = list(dict.fromkeys(t for claim in view.release.claims for t in claim.assumptions))
    blocks: list[Block] = []
    if assumed:
        blocks += [Heading("The claims protect if"), ItemList(tuple(assumed))]
    blocks += [Heading("What is not promised"), ItemList(tuple(view.limits()))]
    return Section("Assumptions and limits", tuple(blocks), "limits")


def terms(view: View) -> Definitions | None:
    """Return the terms of the report."""
    found = view.terms()
    return Definitions(found) if found else None
