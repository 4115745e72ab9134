"""The public statement of a release: what was done, what is claimed, on which assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import tacit
from tacit.governance import AccessClass
from tacit.graphics.publish import plot_facts, plot_lines
from tacit.kinds import kind_named, kind_of
from tacit.report.public_figures import public_attention
from tacit.result import as_json_number, format_number

if TYPE_CHECKING:
    from tacit.release.release import Release


def statement(release: Release) -> dict[str, Any]:
    """Return the statement as data."""
    kind = kind_of(release.data)
    return {
        "title": release.title,
        "kind": kind.name,
        "tacit": tacit.__version__,
        "access": release.plan.access,
        **kind.describe(release.data),
        "steps": [
            {
                "kind": a.kind,
                "techniques": list(a.techniques),
                "public_parameters": {k: v for k, v in a.parameters.items() if k != "kind"},
            }
            for a in release.history
        ],
        "claims": [as_json_number(claim.to_dict(public=True)) for claim in release.claims],
        "attention": public_attention(release),
        **({"plots": plot_facts(release.plots)} if release.plots else {}),
    }


def statement_text(facts: Mapping[str, Any]) -> str:
    """Return the statement for people, in Markdown."""
    noun = kind_named(facts["kind"]).noun
    size = f"{facts[noun]:,} {noun}, " if noun in facts else ""
    columns = facts.get("columns", [])
    lines = [f"# {facts['title']}: statement of protection", ""]
    counted = f"{size}{len(columns)} columns: {', '.join(columns)}." if columns else size
    lines.append(counted if columns else f"{size.removesuffix(', ')}.")
    if facts["access"]:
        lines += ["", f"Access: {AccessClass.parse(facts['access'])}."]
    if facts.get("warning"):
        lines += ["", facts["warning"]]
    if facts["attention"]:
        lines += ["", "## To be noted", "", *[f"- {sentence}." for sentence in facts["attention"]]]
    lines += ["", "## What is claimed", "", *claim_lines(facts["claims"])]
    if facts.get("plots"):
        lines += ["", "## Protected plots", "", *plot_lines(facts["plots"])]
    lines += ["", "## What was done", ""]
    for i, step in enumerate(facts["steps"], 1):
        given = step["public_parameters"].items()
        values = ", ".join(f"{k} = {format_number(v)}" for k, v in given)
        techniques = f" ({'; '.join(step['techniques'])})" if step["techniques"] else ""
        lines.append(f"{i}. {step['kind']}{techniques}{': ' + values if values else ''}")
    return "\n".join([*lines, "", f"Made with tacit {facts['tacit']}.", ""])


def claim_lines(claims: list[Mapping[str, Any]]) -> list[str]:
    """Return the claims as a list with their assumptions."""
    if not claims:
        return ["No protection model is claimed."]
    lines = []
    for claim in claims:
        simple = {
            k: v
            for k, v in claim["parameters"].items()
            if v is not None and not isinstance(v, list)
        }
        values = ", ".join(f"{k} = {format_number(v)}" for k, v in simple.items())
        columns = f": {', '.join(claim['columns'])}" if claim["columns"] else ""
        lines.append(
            f"- **{claim['model']}**{' with ' + values if values else ''}, on {claim['quasi_identifier']}{columns}."
        )
        lines += [f"  Assumed: {text}" for text in claim["assumptions"]]
        if claim.get("withheld"):
            lines.append("  The counts behind it are confidential and stay with the data holder.")
    return [*lines, "", "Each claim was recomputed on the released file before it was released."]
