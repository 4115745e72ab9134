"""A release that was written, read back from its folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from tacit.claims import Claim
from tacit.data.base import Action, Data
from tacit.errors import InputError
from tacit.kinds import kind_named
from tacit.plan import Plan
from tacit.registry import lookup
from tacit.release.folders import Manifest, confidential_folder, read_json, resolve_target
from tacit.release.ledger import Ledger
from tacit.release.release import NotStored, Release
from tacit.release.repetition import left_out, time_written
from tacit.release.seals import seal_of
from tacit.result import Result

ORIGINAL = "the data before protection"
LEDGER = "the ledger: it is in the confidential folder, which is not here"


def load_release(folder: Path) -> Release[Any]:
    """Read a release back; see :meth:`tacit.Release.load`."""
    target = resolve_target(folder, "read")
    manifest = Manifest.read(target)
    if manifest.kind == "plots":
        raise InputError(f"{target.name!r} holds protected plots alone: there are no data to read")
    secret, kind = confidential_folder(target) / manifest.release, kind_named(manifest.kind)
    if not secret.is_dir():
        plan = Plan.load(target / "plan.yaml")
        facts = read_json(target / "statement.json")
        data = kind.reload(plan, target, manifest.names)
        return make_release(plan, with_history(data, facts["steps"], facts["claims"]), facts)
    if secret.is_symlink() or seal_of(secret) != manifest.ledger:
        raise InputError("the confidential folder is not the one written with this release")
    plan = Plan.load(secret / "plan.yaml")
    facts = read_json(secret / "ledger.json")
    kept = kind.read_private(secret)
    data = kind.reload(plan, target, manifest.names) if kept is None else kept
    ledger = Ledger.from_dict(facts)
    if not data.history:
        steps = [vars(entry) for entry in ledger.entries if not entry.is_build]
        data = with_history(data, steps, facts["claims"])
    return make_release(plan, data, facts, ledger)


def make_release(
    plan: Plan, data: Any, facts: Mapping[str, Any], ledger: Ledger | None = None
) -> Release[Any]:
    """Put a release together; what readers must not overlook is said once."""
    found: Release[Any] = Release(
        plan=plan,
        source=cast("Data", NotStored(ORIGINAL)),
        original=cast("Any", NotStored(ORIGINAL)),
        data=data,
        before=tuple(map(stored_result, facts.get("before", ()))),
        after=tuple(map(stored_result, facts.get("after", ()))),
        ledger=cast("Ledger", NotStored(LEDGER)) if ledger is None else ledger,
        omitted=left_out(facts),
        studied=facts.get("studied") is True,
        written_at=time_written(facts),
    )
    return replace(found, noticed=tuple(s for s in facts["attention"] if s not in found.attention))


def stored_result(facts: Mapping[str, Any]) -> Result:
    """Return a result as it is stored: the numbers, under the title of its measure."""
    value = facts["value"]
    return Result(
        facts["kind"],
        lookup(facts["kind"]).title(),
        float("nan") if value is None else float(value),
        facts["numbers"],
    )


def with_history(data: Any, steps: Any, claims: Any) -> Any:
    """Return data with the steps that made them; the claims, which are stored together, go with the last."""
    for number, step in enumerate(steps, 1):
        last = number == len(steps)
        data = data.with_action(
            Action(
                step["kind"],
                step.get("public_parameters") or step.get("parameters") or {},
                tuple(step.get("techniques", ())) or cast("Any", lookup(step["kind"])).techniques,
                step.get("details", {}),
                tuple(map(Claim.from_dict, claims)) if last else (),
                step.get("seconds", 0.0),
            )
        )
    return data
