"""The two reports of a release: the one that goes out with the data, and the confidential one for the board.

The public report holds claims, public parameters, and figures that follow from what is released (see
:mod:`tacit.report.public_figures`); no values of records, no seed and no secret parameter. That for the board has one page
to decide on, then everything behind it: parameters, secret ones too, and aggregates of the original. It holds no records,
no seed and no key: those are in the ledger alone.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

import tacit
from tacit.governance import AccessClass
from tacit.registry import lookup
from tacit.report import document as doc
from tacit.report import words
from tacit.report.charts import plots_section
from tacit.report.controls import describe_techniques
from tacit.report.view import View, judge, view_of

#: What is open is told in this many points on the first page; the rest stands further down.
MOST_OPEN = 6


def build_public_report(release: Any) -> doc.Document:
    """Return the public report of a release, whatever its kind of data."""
    view = view_of(release)
    found = view.terms()
    return build_report(
        view,
        "public",
        *view.opening(),
        steps_section(view),
        *view.public_blocks(),
        plots_section(release.plots),
        limits_section(view),
        doc.section("How to verify", *view.check_blocks(), key="verify"),
        doc.section("Terms", doc.Definitions(found) if found else None, key="glossary"),
    )


def board_document(release: Any) -> doc.Document:
    """Return the confidential report of a release, whatever its kind of data."""
    view = view_of(release)
    return build_report(
        view,
        "board",
        brief(view),
        doc.PageBreak(),
        parameters_section(view),
        *view.board_blocks(),
        plots_section(release.plots),
        warnings_section(release),
        limits_section(view),
        build_made_section(release),
    )


#: What sort of report each audience gets, and the sentence at its end.
REPORTS: dict[doc.Audience, tuple[str, str]] = {
    "public": (
        "Protection report",
        "This report holds no record and refers to nothing outside itself.",
    ),
    "board": (
        "Report for the board",
        "This report holds parameters and aggregates of the original: keep it inside.",
    ),
}


def build_report(view: View, audience: doc.Audience, *blocks: doc.Block | None) -> doc.Document:
    """Return the report for an audience: the judgement and the few numbers at the top, then its blocks."""
    public = audience == "public"
    access, written = view.release.plan.access, view.release.written_at
    subtitle, footer = REPORTS[audience]
    top = (judge(view, public=public), doc.Tiles(tuple(view.tiles(public=public))))
    return doc.Document(
        title=view.release.title,
        subtitle=subtitle,
        audience=audience,
        blocks=(*top, *(b for b in blocks if b is not None)),
        about=(
            f"tacit {tacit.__version__}",
            *([f"Access class {access} ({access_words(access)})"] if access else []),
        ),
        footer=footer,
        date=dt.datetime.fromisoformat(written).date() if written else doc.today(),
    )


def access_words(name: str) -> str:
    """Return an access class in words."""
    level = AccessClass.parse(name)
    return f"{level.title}: {level.rule}"


# -- for the public --------------------------------------------------------------------------------------


def steps_section(view: View) -> doc.Section | None:
    """Return what was done, with public parameters."""
    rows = [step_cells(i, action) for i, action in enumerate(view.release.history, 1)]
    caption = "Steps, in order, with their public parameters"
    table = doc.DataTable.of(["step", "parameters", "techniques"], rows, caption)
    told = describe_techniques(action.kind for action in view.release.history)
    blocks: tuple[doc.Block, ...] = (table, *(doc.Paragraph(sentence) for sentence in told))
    return doc.Section("What was done", blocks, "done") if rows else None


def step_cells(i: int, action: Any) -> tuple[doc.Words, doc.Words, doc.Words]:
    """Return the method, public parameters and techniques of one step."""
    cls = lookup(action.kind)
    secret = cls.secret_fields()
    told = [
        (doc.Mark(name, "code"), f" = {words.parameter(value)}")
        for name, value in action.parameters.items()
        if name not in {"kind", *secret}
    ]
    lines: list[tuple[str | doc.Mark, ...]] = [*told]
    if secret:
        lines.append((doc.Mark("Parameters that would help an intruder are withheld.", "soft"),))
    elif not told:
        lines.append(("defaults",))
    name = (doc.Mark(f"{i}. {action.kind.replace('_', ' ')}"), "\n", doc.Mark(cls.title(), "soft"))
    return name, words.on_lines(lines), ", ".join(action.techniques) or "-"


def limits_section(view: View) -> doc.Section:
    """Return on what the claims rest and what is not promised."""
    assumed = list(dict.fromkeys(t for claim in view.release.claims for t in claim.assumptions))
    blocks: list[doc.Block] = []
    if assumed:
        blocks += [doc.Heading("The claims protect if"), doc.ItemList(tuple(assumed))]
    blocks += [doc.Heading("What is not promised"), doc.ItemList(tuple(view.limits()))]
    return doc.Section("Assumptions and limits", tuple(blocks), "limits")


# -- for the board: the first page ----------------------------------------------------------------------------------


def brief(view: View) -> doc.Section:
    """Return the page to decide on: what, to whom, with which promise, what was lost, what is open."""
    access, whom = view.release.plan.access, "No access class was chosen."
    if access:
        whom = f"{access} ({access_words(access)}). {AccessClass.parse(access).meaning}"
    promised = [(doc.Mark(claim.name), f". {claim.sentence}") for claim in view.claims]
    items: list[tuple[str, doc.Words]] = [
        ("What is released", view.size()),
        ("To whom", whom),
        ("With which promise", words.on_lines(promised) or "No protection is claimed."),
        ("What was lost", words.on_lines(view.lost()) or "Nothing was measured."),
        ("What is open", words.on_lines(f"{i}. {s}" for i, s in enumerate(open_points(view), 1))),
    ]
    return doc.Section("In brief", (doc.Definitions(tuple(items)),), "brief")


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


def parameters_section(view: View) -> doc.Section:
    """Return every parameter of every step and measure, defaults marked."""
    plan = view.release.plan
    intro = "Every parameter of every step and measure. Those that were not set have their default."
    tables = (parameter_table("Steps", plan.steps), parameter_table("Measures", plan.measures))
    return doc.Section(
        "Parameters", (doc.Paragraph(intro), *(t for t in tables if t is not None)), "parameters"
    )


def parameter_table(caption: str, specs: Sequence[Any]) -> doc.DataTable | None:
    """Return the parameters of specs, one row each."""
    rows = [row for i, spec in enumerate(specs, 1) for row in parameter_rows(i, spec)]
    columns = ["parameter", "value", "set by", "meaning"]
    return doc.DataTable.of(columns, rows, caption) if rows else None


def parameter_rows(i: int, spec: Any) -> Iterator[doc.Row]:
    """Yield a row with the name of a spec, then one row per parameter."""
    yield doc.Row((f"{i}. {spec.kind.replace('_', ' ')}", "", "", spec.title()), strong=True)
    values = spec.model_dump(mode="json", by_alias=False)
    chosen = spec.model_fields_set
    secret = spec.secret_fields()
    for name, info in type(spec).model_fields.items():
        if name != "kind":
            value = values.get(name)
            # A secret text is a key, and stays in the ledger.
            kept = name in secret and isinstance(value, str | bytes) and value
            text = "set; kept in the ledger" if kept else words.parameter(value) or "-"
            by = "plan" if name in chosen else doc.Mark("default", "soft")
            yield doc.Row((name, text, by, info.description or "-"), indent=1)


# -- how it was made -----------------------------------------------------------------------------------


def warnings_section(release: Any) -> doc.Section | None:
    """Return what the steps warned of."""
    found = tuple(
        f"{entry.kind.replace('_', ' ')}: {text}"
        for entry in release.ledger.entries
        for text in entry.warnings
    )
    return doc.Section("Warnings", (doc.ItemList(found),), "warnings") if found else None


def build_made_section(release: Any) -> doc.Section:
    """Return what is needed to make the release again."""
    ledger = release.ledger
    steps = doc.DataTable.of(
        ["step", *doc.numbers("seconds"), "fingerprint of the output"],
        [
            (e.title, round(float(e.seconds), 2), doc.Mark(str(e.output)[:16], "code"))
            for e in ledger.entries
        ],
        "Steps as they ran",
    )
    used = doc.DataTable.of(
        ["package", "version"], list(ledger.versions.items()), "Versions that were used"
    )
    words_ = (
        f"The source had the fingerprint {str(ledger.source_fingerprint)[:16]} and ran on the engine "
        f"{ledger.engine}. Seed, keys and the full fingerprints are in the ledger."
    )
    return doc.Section("How it was made", (doc.Paragraph(words_), steps, used), "made")
