"""The public statement of a release: what was done, what is claimed, on which assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import tacit
from tacit.governance import AccessClass
from tacit.result import format_number, plain

if TYPE_CHECKING:
    from tacit.release import Release


def statement(release: Release) -> dict[str, Any]:
    """Return the statement as data."""
    return {
        "title": release.plan.title or "Release",
        "tacit": tacit.__version__,
        "access": release.plan.access,
        "records": len(release.data),
        "columns": list(release.data.columns),
        "quasi_identifiers": {name: list(columns) for name, columns in release.data.quasi.items()},
        "steps": [
            {
                "kind": a.kind,
                "techniques": list(a.techniques),
                "public_parameters": {k: v for k, v in a.parameters.items() if k != "kind"},
            }
            for a in release.data.history
        ],
        "claims": [plain(claim.to_dict()) for claim in release.claims],
    }


def statement_text(facts: Mapping[str, Any]) -> str:
    """Return the statement for people, in Markdown."""
    lines = [f"# {facts['title']}: statement of protection", ""]
    what = f"{facts['cells']:,} cells" if "cells" in facts else f"{facts['records']:,} records"
    lines.append(f"{what}, {len(facts['columns'])} columns: {', '.join(facts['columns'])}.")
    if facts["access"]:
        lines += ["", f"Access: {AccessClass.parse(facts['access'])}."]
    lines += ["", "## What is claimed", ""]
    if facts["claims"]:
        for claim in facts["claims"]:
            values = ", ".join(
                f"{k} = {format_number(v)}"
                for k, v in claim["parameters"].items()
                if not isinstance(v, list)
            )
            lines.append(
                f"- **{claim['model']}**{' with ' + values if values else ''}, on {claim['quasi_identifier']}: {', '.join(claim['columns'])}."
            )
            lines += [f"  Assumed: {text}" for text in claim["assumptions"]]
        lines += ["", "Each claim was recomputed on the released file before it was released."]
    else:
        lines.append("No protection model is claimed.")
    lines += ["", "## What was done", ""]
    for i, step in enumerate(facts["steps"], 1):
        values = ", ".join(
            f"{k} = {format_number(v)}" for k, v in step["public_parameters"].items()
        )
        techniques = f" ({'; '.join(step['techniques'])})" if step["techniques"] else ""
        lines.append(f"{i}. {step['kind']}{techniques}{': ' + values if values else ''}")
    lines += ["", f"Made with tacit {facts['tacit']}.", ""]
    return "\n".join(lines)
