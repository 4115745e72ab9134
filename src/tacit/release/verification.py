"""Verification: a release is what it was when it was written, its claims hold, and the plan gives it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.claims import Claim
from tacit.data.base import Data, claims_of
from tacit.errors import Cancelled, InputError, SdcError
from tacit.events import Job, Listener, Phase, Stop, ignore_event, never
from tacit.graphics.base import make_claim
from tacit.graphics.publish import read_plot_records
from tacit.kinds import Kind, kind_named, kind_of
from tacit.plan import Plan
from tacit.release.folders import (
    FOLDER_ENTRY,
    ID,
    MANIFEST,
    Manifest,
    confidential_folder,
    file_hashes,
    read_json,
    read_log,
    resolve_target,
)
from tacit.release.ledger import Ledger
from tacit.release.repetition import Check, as_dict, repeated_checks
from tacit.release.seals import seal_of
from tacit.release.signing import signature_check
from tacit.time_limits import LIMIT_REACHED

UNSIGNED = (
    "nobody signed the release, so that this shows that the folder is whole, and not who wrote it"
)
#: A step that ended at a limit of time may end elsewhere, on another machine or on a busy one.
OTHER_MACHINE = (
    "{step} ended at its limit of time, and this run of it ended elsewhere: another machine, or a busy one, gives another "
    "answer within the same time, which is no sign of a forgery; "
)
BY_SIGNATURE = "that the data are those released is vouched for by the signature alone"
UNDECIDED = "whether the data are those released can be told only by a signature, or by a plan that sets no such limit"


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
    folder: str | Path,
    data: Data | None = None,
    *,
    signer: str | Path | None = None,
    recipient: bool = False,
    on_event: Listener = ignore_event,
    should_stop: Stop = never,
) -> Verification:
    """Check a release: nothing was changed, claims hold on the file, and a re-run gives the same data.

    Parameters
    ----------
    folder
        The release, with its confidential folder beside it.
    data
        The data before protection, needed when the plan was run on data given in Python.
    signer
        File of the public key that must have signed the release; by default the keys of the store
        (``tacit key trust``), where it holds any.
    recipient
        Check what somebody can who was given the public folder alone: files, claims and signature. Without this, a
        confidential folder that is missing is a fault.
    on_event, should_stop
        Called with events, and asked whether to stop, while working; see :mod:`tacit.events`.
    """
    job = Job(on_event, should_stop, VERIFYING)

    def check() -> Verification:
        job.begin("verify")
        target = resolve_target(folder, "read")
        if not (target / MANIFEST).exists():
            raise InputError(f"{target.name!r} is not a release: it has no {MANIFEST}")
        try:
            manifest = Manifest.read(target)
        except InputError as error:
            return Verification((("manifest is as written", False, str(error)),))
        secret = confidential_folder(target) / manifest.release
        checks = [file_check(target, manifest)]
        signature = signature_check(target, manifest, signer)
        if signature is not None:
            checks.append(signature)
        elif recipient:
            checks.append(("signature", True, UNSIGNED))
        kept: list[Check] = []
        if not recipient:
            kept = [ledger_check(secret, manifest), place_check(target, manifest)]
        checks += kept
        job.begin("verify")
        # Nothing is read or run that was not written with this release.
        sealed = bool(kept) and kept[0][1]
        plain = [n for n, h in manifest.files.items() if h != FOLDER_ENTRY]
        if all(is_plain_file(target / name) for name in plain):
            checks += statement_checks(target, manifest, secret if sealed else None)
        if sealed and manifest.kind != "plots":
            # A trusted key has nothing to remark on.
            vouched = signature is not None and signature[1:] == (True, "")
            checks += rerun_checks(target, manifest, secret, data, job, vouched=vouched)
        return Verification(tuple(checks))

    return job.watch(check)


#: What verifying a release consists of; a recipient does the first two.
VERIFYING = (
    Phase("verify", "Comparing every file with the manifest", 2),
    Phase("verify", "Recomputing the claims on the released file", 4),
    Phase("read", "Reading the source", 2),
    Phase("verify", "Running the plan again", 12),
    Phase("verify", "Comparing the release with what the plan gives", 4),
)


def file_check(target: Path, manifest: Manifest) -> Check:
    """Compare every entry of the folder with the manifest."""
    name = "files are as released"
    try:
        found = dict(file_hashes(target))
    except OSError as error:
        return name, False, f"a file cannot be read: {error.strerror}"
    odd = sorted(n for n in {*found, *manifest.files} if found.get(n) != manifest.files.get(n))
    return name, not odd, ", ".join(map(printable, odd))


def printable(name: str) -> str:
    """Return a name of a file for a terminal: nothing in it steers one, and it is not endless."""
    shown = "".join(c if c.isprintable() else "?" for c in name)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def ledger_check(secret: Path, manifest: Manifest) -> Check:
    """Compare everything in the confidential folder with its seal in the manifest."""
    name = "ledger is the one written with it"
    if secret.is_symlink() or not secret.is_dir():
        why = (
            f"there is none: the folder {printable(secret.parent.name)!r} with the ledger is not here, or not that of this "
            "release. Who was given the public folder alone verifies it with --recipient (recipient=True)"
        )
        return name, False, why
    try:
        same = seal_of(secret) == manifest.ledger
    except OSError as error:
        return name, False, f"it cannot be read: {error.strerror}"
    return name, same, "" if same else "the confidential folder was changed; it is not used"


def place_check(target: Path, manifest: Manifest) -> Check:
    """Look the release up in the log of its place: it must be the newest one written there."""
    name = "release is the newest written here"
    try:
        numbered = [str(entry.get("release")) for entry in read_log(target)]
        ledgers = [p.name for p in confidential_folder(target).iterdir() if ID.fullmatch(p.name)]
    except SdcError as error:
        return name, False, str(error)
    except OSError as error:
        return name, False, f"the log of releases is not here: {error.strerror}"
    if not numbered or manifest.release not in numbered:
        return name, False, "the log of releases does not know it"
    if {*ledgers} - {*numbered}:
        why = "entries were taken from the log of releases: a ledger is here that it does not know"
        return name, False, why
    newer = len(numbered) - 1 - numbered.index(manifest.release)
    if newer:
        return name, False, f"an older release was put back, or the writing of a newer one was cut short: {newer} came later"  # fmt: skip
    return name, True, ""


def is_plain_file(file: Path) -> bool:
    """Return True for a file that is no link, pipe or folder, and is reached through none."""
    return file.is_file() and not file.is_symlink() and not file.parent.is_symlink()


def statement_checks(target: Path, manifest: Manifest, secret: Path | None) -> list[Check]:
    """Recompute what the statement claims, of data and of plots; files that cannot be read are said."""
    try:
        # A release of plots alone has no data that could be read back or made again.
        if manifest.kind == "plots":
            return plot_checks(target)
        return [
            *claim_checks(target, manifest, kind_named(manifest.kind), secret),
            *plot_checks(target),
        ]
    except SdcError as error:
        return [("claims can be recomputed", False, str(error))]
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - files of others, whatever they hold; a library's message may quote them
        return [("claims can be recomputed", False, "a file is damaged: it cannot be read")]


def claim_checks(
    target: Path, manifest: Manifest, kind: Kind[Any], secret: Path | None
) -> list[Check]:
    """Recompute every claim of the statement on the released file."""
    full = kind.read_private(secret) if secret is not None else None
    try:
        view = kind.read_back(full, target, manifest.names)
    except (SdcError, KeyError, OSError) as error:
        remark = str(error) if isinstance(error, SdcError) else "it cannot be read"
        return [("the file shows what was released", False, remark)]
    if view is None:
        return [("claims", True, "left out: they need the confidential folder")]
    checks: list[Check] = []
    if full is not None:
        refusals = kind.check(full)
        checks.append(("nothing is released that may not be", not refusals, "; ".join(refusals)))
        claims = list(claims_of(full))
    else:
        claims = [Claim.from_dict(entry) for entry in list_claims(target, secret)]
    for claim in claims:
        if not claim.complete:
            remark = "left out: the counts behind it are in the confidential ledger"
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


def list_claims(target: Path, secret: Path | None) -> list[dict[str, Any]]:
    """Return the claims of the statement, with what it withholds where the ledger is at hand."""
    claims: list[dict[str, Any]] = read_statement(target)["claims"]
    if secret is None or not any(entry.get("withheld") for entry in claims):
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


def rerun_checks(
    target: Path, manifest: Manifest, secret: Path, data: Data | None, job: Job, *, vouched: bool
) -> list[Check]:
    """Run the plan again and compare fingerprints, released files and ledger."""
    try:
        ledger = read_json(secret / "ledger.json")
        plan = Plan.load(secret / "plan.yaml")
    except SdcError as error:
        return [("the confidential plan can be read", False, str(error))]
    if data is None and plan.source is None:
        remark = "left out: the data were given in Python; pass them, tacit.verify(folder, data)"
        return [("re-run", True, remark)]
    job.begin("read")
    try:
        source = plan.read() if data is None else data
        same = kind_of(source).fingerprint(source) == ledger.get("source_fingerprint")
    except SdcError as error:
        return [("source can be read", False, str(error))]
    remark = "" if same else "the source has changed since"
    checks: list[Check] = [("source is the one protected", same, remark)]
    if not same:
        return checks
    told = ledger.get("steps")
    work = job.begin("verify")
    try:
        again = plan.run(source, on_event=work.listener, should_stop=job.should_stop)
    except Cancelled:
        raise
    except SdcError as error:
        late = stopped_early(told)
        found = late_check(late, vouched=vouched) if late else None
        return [*checks, found or ("re-run gives the same data", False, str(error))]
    checks += register_checks(ledger, again.ledger)
    same = again.ledger.last_fingerprint == ledger.get("data_fingerprint")
    late = stopped_early(told) or stopped_early(again.ledger.to_dict()["steps"])
    if not same and late:
        return [*checks, late_check(late, vouched=vouched)]
    checks.append(("re-run gives the same data", same, ""))
    job.begin("verify")
    return [*checks, *(repeated_checks(target, manifest, ledger, again) if same else ())]


def late_check(step: str, *, vouched: bool) -> Check:
    """Return what a re-run says where a limit of time decided: nothing, but that a trusted signature must vouch for the data."""
    end = BY_SIGNATURE if vouched else UNDECIDED
    return "re-run", vouched, OTHER_MACHINE.format(step=step) + end


def stopped_early(steps: Any) -> str | None:
    """Return the first step of a ledger that a limit of time ended; None where every step came to its own end."""
    for number, step in enumerate(steps if isinstance(steps, list) else (), 1):
        if LIMIT_REACHED in as_dict(as_dict(step).get("details")):
            return f"step {number} ({printable(str(step.get('kind')))})"
    return None


def register_checks(ledger: Mapping[str, Any], again: Ledger) -> list[Check]:
    """Compare the population registers that steps used, if any did."""
    used = [step["details"].get("register") for step in ledger["steps"]]
    if not any(used):
        return []
    same = used == [entry.details.get("register") for entry in again.entries]
    remark = "" if same else "the register has changed since"
    return [("register is the one used", same, remark)]
