"""Verification: a release is what it was when it was written, its claims hold, and the plan gives it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.claims import Claim
from tacit.data.base import Data, claims_of
from tacit.errors import DisclosureRefused, InputError, SdcError
from tacit.folders import Manifest, confidential_folder, file_hashes, identity_of, read_json
from tacit.graphics.base import make_claim
from tacit.graphics.publish import read_plot_records
from tacit.kinds import Kind, kind_named, kind_of
from tacit.ledger import Ledger
from tacit.plan import Plan
from tacit.signing import signature_check

Check = tuple[str, bool, str]


@dataclass(frozen=True, repr=False)
class Verification:
    """What verifying a release found: (check, holds, remark)."""

    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Return True when every check holds."""
        return all(ok for _, ok, _ in self.checks)

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        return "\n".join(
            f"{'ok ' if ok else 'NOT'}  {name}{': ' + remark if remark else ''}"
            for name, ok, remark in self.checks
        )


def verify(
    folder: str | Path, data: Data | None = None, *, signer: str | Path | None = None
) -> Verification:
    """Check a release: files unchanged, claims hold on the file, and a re-run gives the same data.

    Parameters
    ----------
    folder
        The release. What needs the confidential folder or the source is left out, and said so, where
        they are not at hand.
    data
        The data before protection, needed when the plan was run on data given in Python.
    signer
        File of the public key that must have signed the release.
    """
    target = Path(folder).absolute()
    manifest = Manifest.read(target)
    secret = confidential_folder(target) / manifest.release
    checks = [*file_checks(target, manifest, secret)]
    signature = signature_check(target, signer)
    if signature is not None:
        checks.append(signature)
    # A release of plots alone has no data that could be read back or made again.
    if manifest.kind != "plots":
        checks += claim_checks(target, manifest, kind_named(manifest.kind), secret)
    checks += plot_checks(target)
    if manifest.kind != "plots":
        checks += rerun_checks(secret, data)
    return Verification(tuple(checks))


def file_checks(target: Path, manifest: Manifest, secret: Path) -> list[Check]:
    """Compare every entry of the folder with the manifest, and the manifest with the ledger."""
    found = dict(file_hashes(target))
    names = {*found, *manifest.files}
    odd = sorted(n for n in names if found.get(n) != manifest.files.get(n))
    if manifest.release != identity_of(manifest.files):
        odd.append("manifest.json")
    checks = [("files are as released", not odd, ", ".join(odd))]
    ledger = secret / "ledger.json"
    if ledger.exists():
        kept = read_json(ledger).get("files") or {}
        same = kept == dict(manifest.files)
        remark = "" if same else "the manifest is not the one that was written"
        checks.append(("files are those of the ledger", same, remark))
    return checks


def claim_checks(target: Path, manifest: Manifest, kind: Kind[Any], secret: Path) -> list[Check]:
    """Recompute every claim of the statement on the released file."""
    full = kind.read_private(secret) if secret.exists() else None
    try:
        view = kind.read_back(full, target, manifest.names)
    except (SdcError, KeyError, OSError) as error:
        remark = str(error) if isinstance(error, SdcError) else "it cannot be read"
        return [("the file shows what was released", False, remark)]
    if view is None:
        return [("claims", True, "left out: they need the confidential folder, which is not here")]
    checks: list[Check] = []
    if full is not None:
        refusals = kind.check(full)
        checks.append(("nothing is released that may not be", not refusals, "; ".join(refusals)))
        claims = list(claims_of(full))
    else:
        claims = [Claim.from_dict(entry) for entry in list_claims(target, secret)]
    for claim in claims:
        if not claim.complete:
            remark = (
                "left out: the counts behind it are in the confidential ledger, which is not here"
            )
            checks.append((f"claim: {claim.sentence()}", True, remark))
            continue
        try:
            checks.append((f"claim holds: {claim.sentence()}", claim.holds(view), ""))
        except (SdcError, KeyError) as error:
            remark = str(error) if isinstance(error, SdcError) else "it cannot be recomputed here"
            checks.append((f"claim holds: {claim.sentence()}", False, remark))
    return checks


def plot_checks(target: Path) -> list[Check]:
    """Recompute what is claimed of every protected plot, from its public record."""
    try:
        records = read_plot_records(target)
        told = read_statement(target).get("plots") or []
        same = [p["rho"] for p in told] == [r["rho"] for r in records]
    except (SdcError, KeyError, TypeError) as error:
        remark = str(error) if isinstance(error, SdcError) else "they do not hold what they should"
        return [("plots can be read", False, remark)]
    if not records and not told:
        return []
    checks: list[Check] = [("the statement tells what every plot spent", same, "")]
    for record in records:
        try:
            claim = make_claim(record)
            checks.append(
                (f"claim holds: {claim.sentence()}", claim.holds(record), record["title"])
            )
        except (KeyError, TypeError, ValueError):
            checks.append(("claim of a plot", False, "its record is damaged"))
    return checks


def list_claims(target: Path, secret: Path) -> list[dict[str, Any]]:
    """Return the claims of the statement, with what it withholds where the ledger is at hand."""
    claims: list[dict[str, Any]] = read_statement(target)["claims"]
    if not any(entry.get("withheld") for entry in claims) or not (secret / "ledger.json").exists():
        return claims
    kept = read_json(secret / "ledger.json").get("claims")
    return kept if isinstance(kept, list) and len(kept) == len(claims) else claims


def read_statement(folder: str | Path) -> dict[str, Any]:
    """Return the statement of a release as data."""
    file = Path(folder) / "statement.json"
    if not file.exists():
        raise InputError(f"{Path(folder).name!r} is not a release: it has no statement.json")
    facts = read_json(file)
    if not isinstance(facts.get("claims"), list):
        raise InputError("'statement.json' is damaged: it does not hold what it should")
    return facts


def rerun_checks(secret: Path, data: Data | None) -> list[Check]:
    """Run the plan again and compare fingerprints."""
    if not (secret / "ledger.json").exists():
        return [("re-run", True, "left out: the confidential ledger is not here")]
    ledger = read_json(secret / "ledger.json")
    try:
        plan = Plan.load(secret / "plan.yaml")
    except SdcError as error:
        return [("the confidential plan can be read", False, str(error))]
    if data is None and plan.source is None:
        remark = "left out: the data were given in Python; pass them, tacit.verify(folder, data)"
        return [("re-run", True, remark)]
    try:
        source = plan.read() if data is None else data
        same = kind_of(source).fingerprint(source) == ledger.get("source_fingerprint")
    except SdcError as error:
        return [("source can be read", False, str(error))]
    remark = "" if same else "the source has changed since"
    checks: list[Check] = [("source is the one protected", same, remark)]
    if same:
        try:
            again = plan.run(source).ledger
        except DisclosureRefused as error:
            return [*checks, ("re-run gives the same data", False, str(error))]
        checks += register_checks(ledger, again)
        same = again.last_fingerprint == ledger.get("data_fingerprint")
        checks.append(("re-run gives the same data", same, ""))
    return checks


def register_checks(ledger: Mapping[str, Any], again: Ledger) -> list[Check]:
    """Compare the population registers that steps used, if any did."""
    used = [step["details"].get("register") for step in ledger["steps"]]
    if not any(used):
        return []
    same = used == [entry.details.get("register") for entry in again.entries]
    remark = "" if same else "the register has changed since"
    return [("register is the one used", same, remark)]
