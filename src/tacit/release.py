"""Release: the protected data, what was done, and risk and utility before and after.

On disk a release is a folder that may be given away, and beside it a folder that may not::

    release/                      public
      data.csv                    the protected data
      plan.yaml                   the plan without seed, secrets and folders
      statement.md, .json         techniques, public parameters, protection claims, assumptions
      report.html                 the report, self-contained
      matrices.json               transition matrices, where columns were randomised
      manifest.json               fingerprints of the files above
    release-confidential/<id>/    never released; one folder for each release written there
      ledger.json, plan.yaml      seed, secrets, cells changed, fingerprints, versions, warnings
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import narwhals.stable.v2 as nw

import tacit
from tacit.data.claims import Claim
from tacit.data.fingerprint import fingerprint
from tacit.data.microdata import Action, Microdata
from tacit.data.table import Table
from tacit.errors import DisclosureRefused, InputError, SdcError
from tacit.ledger import Ledger
from tacit.plan import Plan, to_yaml
from tacit.registry import discover, lookup
from tacit.result import Result, Summary, format_number, plain
from tacit.spec import Measure

if TYPE_CHECKING:
    from tacit.plot.chart import Chart

__all__ = ["Ledger", "Panel", "Release", "Verification", "comparable", "verify"]


@dataclass(frozen=True, repr=False)
class Panel:
    """Results of one family, before and after."""

    name: str
    before: Mapping[str, Result]
    after: Mapping[str, Result]

    def rows(self) -> Iterator[tuple[str, str, Any, Any]]:
        """Yield (measure, number, before, after); before is None for what only compares."""
        for key, result in self.after.items():
            old = self.before[key].numbers if key in self.before else {}
            for label, value in result.numbers.items():
                yield result.title, label, old.get(label), value

    def summary(self) -> Summary:
        """Return the numbers before and after."""
        return Summary(
            {
                f"{title}: {label}": format_number(after)
                if before is None
                else f"{format_number(before)} -> {format_number(after)}"
                for title, label, before, after in self.rows()
            }
        )

    def plot(self) -> Chart:
        """Return the compared value of each measure before and after."""
        from tacit.plot.families import bars, before_after

        pairs = [
            (r.title, self.before[k].value, r.value)
            for k, r in self.after.items()
            if k in self.before
        ]
        if pairs:
            return before_after(
                pairs, title=f"{self.name.capitalize()} before and after", y="value"
            )
        return bars(
            [(r.title, r.value) for r in self.after.values()],
            title=self.name.capitalize(),
            x="",
            y="value",
        )

    def __repr__(self) -> str:
        return f"{self.name.capitalize()} before -> after\n{self.summary()}"


@dataclass(frozen=True, repr=False)
class Release:
    """What running a plan gives. Nothing is on disk until :meth:`write`."""

    plan: Plan
    original: Microdata
    data: Microdata
    before: tuple[Result, ...]
    after: tuple[Result, ...]
    ledger: Ledger

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return every claim made by the steps."""
        return tuple(claim for action in self.data.history for claim in action.claims)

    @property
    def history(self) -> tuple[Action, ...]:
        """Return what was done."""
        return self.data.history

    @property
    def size(self) -> str:
        """Return how many records came in and go out, in words."""
        return f"{self.ledger.records:,} records in, {len(self.data):,} out"

    @property
    def risk(self) -> Panel:
        """Return the risk measures before and after."""
        return self.panel("risk")

    @property
    def utility(self) -> Panel:
        """Return the utility measures."""
        return self.panel("utility")

    def panel(self, family: str) -> Panel:
        """Return the results of one family."""
        return Panel(family, keyed(self.before, family), keyed(self.after, family))

    def summary(self) -> Summary:
        """Return what was done in a few lines."""
        numbers: dict[str, Any] = {
            "records": f"{self.ledger.records:,} -> {len(self.data):,}",
            "steps": ", ".join(step.kind for step in self.plan.steps),
            "claims": "; ".join(claim.sentence() for claim in self.claims) or "none",
        }
        return Summary({**numbers, **self.risk.summary(), **self.utility.summary()})

    def plot(self) -> Chart:
        """Return risk before and after."""
        return self.risk.plot()

    def __repr__(self) -> str:
        return f"Release\n-------\n{self.summary()}"

    # -- writing -----------------------------------------------------------------------------

    def write(
        self,
        folder: str | Path | None = None,
        *,
        format: str | None = None,  # noqa: A002 - the word of the plan file
        force: bool = False,
    ) -> Path:
        """Write the release folder and, apart from it, the confidential ledger.

        Everything is written beside the target first and moved into place in one step: a crash or a
        full disk leaves the old release or the new one, never a mixture.

        Raises
        ------
        DisclosureRefused
            When identifiers are still in the data, a claim does not hold on the file as written, the
            target is or holds the source, or a release is there already and ``force`` is not set.
        """
        given = (
            folder
            if folder is not None
            else self.plan.resolve(self.plan.output.get("folder", "release"))
        )
        target = Path(given).absolute()
        form = format or str(self.plan.output.get("format", "csv"))
        refuse_target(target, self.original.source, force=force)
        refuse_identifiers(self.data)
        return write_folders(self, target, form)

    def write_public(self, folder: Path, form: str) -> None:
        """Write what may be given away, then check the claims on the file as written."""
        from tacit.io import write
        from tacit.protect.pram import from_history, write_matrices
        from tacit.report import public
        from tacit.statement import statement

        data_file = folder / f"data.{form}"
        write(self.data, data_file)
        refuse_broken_claims(data_file, self.claims)
        if from_history(self.data.history):
            # Without the matrices randomised columns can be read but not analysed.
            write_matrices(folder / "matrices.json", self.data)
        write_papers(folder, self.plan, statement(self), public(self).to_html(), {"data": data_file.name})

    def write_secret(self, folder: Path, release_id: str, form: str) -> None:
        """Write what must stay with the data holder."""
        plan = self.plan.to_dict()
        source = Path(self.original.source)
        if self.plan.source and source.exists():
            plan["source"]["path"] = str(source.resolve())
        if "hierarchies" in plan:
            plan["hierarchies"] = {
                c: str(self.plan.resolve(h).resolve()) if isinstance(h, str) else h
                for c, h in plan["hierarchies"].items()
            }
        if self.plan.register:
            plan["register"] = {
                **self.plan.register,
                "path": str(self.plan.resolve(self.plan.register["path"])),
            }
        plan["output"] = {**plan.get("output", {}), "format": form}
        (folder / "plan.yaml").write_text(to_yaml(plain(plan)), encoding="utf-8")
        ledger = {
            "release": release_id,
            "written": dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds"),
            "data_fingerprint": fingerprint(self.data),
            **self.ledger.to_dict(),
            "before": [r.to_dict() for r in self.before],
            "after": [r.to_dict() for r in self.after],
        }
        (folder / "ledger.json").write_text(
            json.dumps(plain(ledger), indent=2, ensure_ascii=False, default=str), encoding="utf-8"
        )


# -- measures --------------------------------------------------------------------------------------


def keyed(results: Sequence[Result], family: str) -> dict[str, Result]:
    """Return the results of a family under stable keys (a measure may stand twice in a plan)."""
    found: dict[str, Result] = {}
    for result in results:
        if lookup(result.kind).family == family:
            n = sum(key.startswith(f"{result.kind}#") for key in found)
            found[f"{result.kind}#{n}"] = result
    return found


def comparable(measure: Measure, released: Microdata) -> bool:
    """Return False for a measure that follows single records when a step has cut that link."""
    return not (measure.compares and any(a.details.get("links_lost") for a in released.history))


# -- refusals ----------------------------------------------------------------------------------------


def refuse_target(target: Path, source: str, *, force: bool) -> None:
    """Refuse a target that would destroy the source, somebody's files, or an earlier release."""
    if target.is_file():
        raise DisclosureRefused(
            f"{target.name!r} is a file; a release is a folder. Choose another name."
        )
    origin = Path(source)
    if source != "memory" and origin.exists():
        home = origin.resolve()
        if home == target.resolve() or target.resolve() in home.parents:
            raise DisclosureRefused(
                "the release folder holds the source data; choose another folder"
            )
    if not target.exists() or not any(target.iterdir()):
        return
    if not (target / "manifest.json").exists():
        raise DisclosureRefused(
            f"the folder {target.name!r} holds other files and is not a release; choose another folder"
        )
    if not force:
        raise DisclosureRefused(
            f"there is a release in {target.name!r} already; use --force (force=True) to replace it"
        )


def refuse_identifiers(data: Microdata) -> None:
    """Refuse data with columns that name people or firms."""
    if data.identifiers:
        listed = ", ".join(repr(c) for c in data.identifiers)
        raise DisclosureRefused(
            f"the data still hold identifiers ({listed}); add a step deidentify, pseudonymise or substitute before release"
        )


def refuse_broken_claims(file: Path, claims: Sequence[Claim]) -> None:
    """Recompute every claim on the file as it was written."""
    frame = read_back(file)
    for claim in claims:
        claim.require(frame, where="release")


def read_back(file: Path) -> nw.LazyFrame[Any]:
    """Read a released file as a recipient would; codes for missing answers become null again."""
    from tacit.io.read import read

    data = read(file)
    frame = data.frame
    masks = [
        nw.when(~nw.col(n).is_in(list(c.missing))).then(nw.col(n)).alias(n)
        for n, c in data.columns.items()
        if c.missing and file.suffix in (".asc", ".saf")
    ]
    return frame.with_columns(*masks) if masks else frame


# -- files ---------------------------------------------------------------------------------------------


class Written(Protocol):
    """A release that can write its two folders."""

    def write_public(self, folder: Path, form: str) -> None:
        """Write what may be given away."""

    def write_secret(self, folder: Path, release_id: str, form: str) -> None:
        """Write what must stay with the data holder."""


def write_folders(release: Written, target: Path, form: str) -> Path:
    """Write both folders beside the target and move them into place."""
    confidential = target.with_name(f"{target.name}-confidential")
    with scratch(target) as work:
        public, secret = work / "public", work / "secret"
        public.mkdir()
        secret.mkdir(mode=0o700)
        release.write_public(public, form)
        release_id = str(json.loads((public / "manifest.json").read_text())["release"])
        release.write_secret(secret, release_id, form)
        confidential.mkdir(mode=0o700, exist_ok=True)
        place = confidential / release_id
        # The ledger goes first: whichever release stands at the target, its ledger exists.
        if place.exists():
            shutil.rmtree(place)
        secret.replace(place)
        swap_into(public, target)
    return target


def write_papers(
    folder: Path, plan: Plan, facts: Mapping[str, Any], report: str, names: Mapping[str, str]
) -> None:
    """Write what goes out beside the data: plan, statement, report, and the manifest of all files."""
    from tacit.statement import statement_text

    (folder / "plan.yaml").write_text(to_yaml(plan.to_dict(public=True)), encoding="utf-8")
    (folder / "statement.json").write_text(
        json.dumps(facts, indent=2, ensure_ascii=False), encoding="utf-8"
    )
    (folder / "statement.md").write_text(statement_text(facts), encoding="utf-8")
    (folder / "report.html").write_text(report, encoding="utf-8")
    hashes = dict(file_hashes(folder))
    identity = hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()[:16]
    manifest = {"release": identity, "tacit": tacit.__version__, **names, "files": hashes}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")


@contextmanager
def scratch(target: Path) -> Iterator[Path]:
    """Give a private folder beside the target that is gone afterwards, whatever happens."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise InputError(
            f"cannot write to {str(target.parent)!r}: {error.strerror}. Choose a folder that you may write to."
        ) from None
    try:
        yield work
    except OSError as error:
        raise SdcError(
            f"the release could not be written: {error.strerror}. Nothing was changed."
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def swap_into(new: Path, target: Path) -> None:
    """Put a finished folder at the target in one step."""
    for file in new.rglob("*"):
        if file.is_file():
            with file.open("rb") as handle:
                os.fsync(handle.fileno())
    if not target.exists():
        new.rename(target)
    elif not exchange(new, target):
        # Without an atomic exchange, the old folder steps aside first and comes back on failure.
        aside = new.with_name("old")
        target.rename(aside)
        try:
            new.rename(target)
        except OSError:
            aside.rename(target)
            raise


def exchange(one: Path, two: Path) -> bool:
    """Exchange two folders atomically (Linux renameat2); False where that does not exist."""
    import ctypes

    at_fdcwd, rename_exchange = -100, 2
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(call(at_fdcwd, os.fsencode(one), at_fdcwd, os.fsencode(two), rename_exchange) == 0)


def file_hashes(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the SHA-256 of every file but the manifest."""
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.name != "manifest.json":
            with file.open("rb") as handle:
                yield (
                    str(file.relative_to(folder)),
                    hashlib.file_digest(handle, "sha256").hexdigest(),
                )


# -- verifying -------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Verification:
    """What verifying a release found: (check, holds, remark)."""

    checks: tuple[tuple[str, bool, str], ...]

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


def verify(folder: str | Path, data: Microdata | Table | None = None) -> Verification:
    """Check a release: files unchanged, claims hold on the file, and a re-run gives the same data.

    The re-run needs the confidential folder and the source; where they are not at hand, that check is
    left out and said so. ``data`` are needed when the plan was run on data given in Python.
    """
    target = Path(folder).absolute()
    manifest_file = target / "manifest.json"
    if not manifest_file.exists():
        raise InputError(f"{target.name!r} is not a release: it has no manifest.json")
    manifest = json.loads(manifest_file.read_text(encoding="utf-8"))
    found = dict(file_hashes(target))
    odd = sorted(
        {n for n in {*found, *manifest["files"]} if found.get(n) != manifest["files"].get(n)}
    )
    checks = [("files are as released", not odd, ", ".join(odd))]
    if "table" in manifest:
        from tacit.table_release import verify_checks

        return Verification((*checks, *verify_checks(target, manifest, data)))
    facts = read_statement(target)
    discover()  # a method may bring the check of its own claim
    if isinstance(data, Table):
        raise InputError(f"{target.name!r} is a release of records; pass the records")
    frame = read_back(target / manifest["data"])
    for entry in facts["claims"]:
        claim = Claim(
            entry["model"], entry["parameters"], entry["quasi_identifier"], tuple(entry["columns"])
        )
        checks.append((f"claim holds: {claim.sentence()}", claim.holds(frame), ""))
    secret = target.with_name(f"{target.name}-confidential") / manifest["release"]
    checks += rerun_checks(secret, data)
    return Verification(tuple(checks))


def read_statement(folder: str | Path) -> dict[str, Any]:
    """Return the statement of a release as data."""
    file = Path(folder) / "statement.json"
    if not file.exists():
        raise InputError(f"{Path(folder).name!r} is not a release: it has no statement.json")
    facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return facts


def rerun_checks(secret: Path, data: Microdata | None) -> list[tuple[str, bool, str]]:
    """Run the plan again and compare fingerprints."""
    if not (secret / "ledger.json").exists():
        return [("re-run", True, "left out: the confidential ledger is not here")]
    ledger = json.loads((secret / "ledger.json").read_text(encoding="utf-8"))
    plan = Plan.load(secret / "plan.yaml")
    if data is None and not plan.source:
        remark = "left out: the data were given in Python; pass them, tacit.verify(folder, data)"
        return [("re-run", True, remark)]
    try:
        original = plan.read() if data is None else data
    except SdcError as error:
        return [("source can be read", False, str(error))]
    same_source = fingerprint(original) == ledger["source_fingerprint"]
    checks = [
        (
            "source is the one protected",
            same_source,
            "" if same_source else "the source has changed since",
        )
    ]
    if same_source:
        again = fingerprint(plan.run(original).data)
        checks.append(("re-run gives the same data", again == ledger["data_fingerprint"], ""))
    return checks
