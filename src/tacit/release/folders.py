"""The two folders of a release: written aside, moved into place in one step, bound together by a manifest."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from errno import EACCES, ENOTDIR
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tacit
from tacit.errors import DisclosureRefused, InputError, SdcError, explain_target
from tacit.events import Job, Phase, never_interrupted
from tacit.limits import call_library
from tacit.release.seals import entry_hashes, seal_folder
from tacit.storage.chained_log import append_entry, read_chain
from tacit.storage.locks import hold_alone
from tacit.storage.own_folders import make_own_folder

if TYPE_CHECKING:
    from tacit.release.plots import PlotRelease
    from tacit.release.release import Release
    from tacit.release.signing import OfficeKey

MANIFEST = "manifest.json"
#: What a manifest says of itself, so that no other file of that name is taken for one.
FORMAT = "tacit release 2"
#: Files that speak of the manifest and so cannot stand in it.
OUTSIDE = (MANIFEST, "manifest.sig", "signer.pub")
#: What writing a release consists of.
WRITING = (
    Phase("check", "Checking what may be published", 2),
    Phase("write", "Writing the data", 5),
    Phase("write", "Recomputing the claims on the files as written", 3),
    Phase("write", "Writing the report and the statement", 4),
    Phase("write", "Writing what stays inside", 3),
    Phase("write", "Moving the release into place", 1),
)
#: The log of all releases written to one place, in the confidential folder.
LOG = "releases.jsonl"
ID = re.compile(r"[0-9a-f]{32}")
HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Manifest:
    """What a release folder holds: the SHA-256 of every file, which of them are the data, and its ledger."""

    #: The kind of data released.
    kind: str
    #: The files that hold the data.
    names: Mapping[str, str]
    #: Every entry of the folder with its SHA-256.
    files: Mapping[str, str]
    #: The seal of the confidential folder written with it; it tells nothing about what is sealed.
    ledger: str = ""
    #: Fingerprint of the key that signed the release; empty where none did.
    signer: str = ""
    #: The version that wrote it.
    tacit: str = tacit.__version__

    @classmethod
    def of(cls, folder: Path, kind: str, names: Mapping[str, str]) -> Manifest:
        """Return the manifest of a public folder as it stands, before the ledger is written."""
        return cls(kind, dict(names), dict(file_hashes(folder)))

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a release, or say why there is none; one that was changed is refused."""
        file = folder / MANIFEST
        if file.is_symlink() or not file.is_file():
            raise InputError(f"{folder.name!r} is not a release: it has no {MANIFEST}")
        facts = read_json(file)
        if facts.get("format") != FORMAT:
            raise InputError(
                f"the {MANIFEST} of {folder.name!r} is not one that this version of tacit writes: it was changed, or the release "
                "is older than version 0.3; write the release again"
            )
        try:
            own = {k: v for k, v in facts.items() if k not in ("format", "release")}
            found = cls(**own)
            found.require_plain()
            whole = found.to_bytes() == file.read_bytes()
        except (KeyError, AttributeError, TypeError, ValueError, OSError):
            raise InputError(f"the {MANIFEST} of {folder.name!r} is damaged") from None
        if not whole:
            raise InputError(f"the {MANIFEST} of {folder.name!r} was changed after it was written")
        return found

    @property
    def release(self) -> str:
        """Return the name of the release, which follows from everything else that the manifest says."""
        text = json.dumps(self.facts(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def require_plain(self) -> None:
        """Raise ValueError unless every field has its form, and every name lies inside the folder."""
        texts = [self.kind, self.tacit, *self.names.values(), *self.names]
        plain = all(map(is_plain, [self.kind, *self.names.values()]))
        inside = all(is_plain(part) for name in self.files for part in name.split("/"))
        hashes = [h for h in self.files.values() if h != FOLDER_ENTRY]
        formed = all(map(HASH.fullmatch, [*hashes, self.ledger, *filter(None, [self.signer])]))
        if not (plain and inside and formed and all(isinstance(t, str) for t in texts)):
            raise ValueError(MANIFEST)

    def write(self, folder: Path) -> None:
        """Write the manifest."""
        (folder / MANIFEST).write_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the manifest as its file holds it, to the byte."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        return text.encode()

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest as plain data."""
        return {"release": self.release, **self.facts()}

    def facts(self) -> dict[str, Any]:
        """Return everything that the name of the release follows from."""
        return {
            "format": FORMAT,
            "tacit": self.tacit,
            "kind": self.kind,
            "names": {k: self.names[k] for k in sorted(self.names)},
            "files": {k: self.files[k] for k in sorted(self.files)},
            "ledger": self.ledger,
            "signer": self.signer,
        }


#: What stands for a folder among the hashes of files.
FOLDER_ENTRY = "a folder"


def is_plain(name: str) -> bool:
    """Return True for a name of something inside a folder: no separator, no way up, no control character."""
    return name not in ("", ".", "..") and not re.search(r"[/\\\x00-\x1f\ud800-\udfff]", name)


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object, or say that the file is damaged."""
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{file.name!r} is damaged: it cannot be read as JSON") from None
    if not isinstance(facts, dict):
        raise InputError(f"{file.name!r} is damaged: it does not hold what it should")
    return facts


def to_yaml(document: Mapping[str, Any]) -> str:
    """Return YAML in the order of the sections."""
    import yaml

    return str(yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=100))


def file_hashes(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every entry of a public folder but the manifest, with the SHA-256 of files."""
    for name, found in entry_hashes(folder):
        if name not in OUTSIDE or not HASH.fullmatch(found):
            yield name, found


def write_folders(
    release: Release | PlotRelease,
    target: Path,
    form: str,
    job: Job,
    signer: OfficeKey | None = None,
    *,
    force: bool = False,
) -> Path:
    """Write both folders beside the target, seal and sign them, and move them into place."""
    with scratch(target) as work:
        public, secret = work / "public", work / "secret"
        public.mkdir()
        secret.mkdir(mode=0o700)
        draft = release.write_public(public, form, job)
        job.begin("write")
        release.write_private(secret, draft)
        ledger = seal_folder(secret)
        manifest = replace(draft, ledger=ledger, signer=signer.fingerprint if signer else "")
        manifest.write(public)
        if signer:
            signer.sign(public)
        for file in secret.rglob("*"):
            file.chmod(0o700 if file.is_dir() else 0o600)
        bring_to_disk(public)
        job.begin("write")
        move_into_place(public, secret, target, manifest, force=force)
        job.settled = True
    return target


@never_interrupted
def move_into_place(
    public: Path, secret: Path, target: Path, manifest: Manifest, *, force: bool
) -> None:
    """Enter a release in the log and move both its folders into place, or leave everything as it was."""
    confidential = confidential_folder(target)
    confidential.mkdir(mode=0o700, exist_ok=True)
    with logged(confidential, manifest):
        place = confidential / manifest.release
        secret.rename(place)
        try:
            # Somebody may have put files there while the release was made.
            refuse_folder(target, force=force)
            swap_into(public, target)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise


@contextmanager
def logged(confidential: Path, manifest: Manifest) -> Iterator[None]:
    """Enter a release in the log of its place, which is held alone meanwhile; take it back when it fails.

    The entry comes first: whichever release stands at the target, the log knows it.
    """
    log = confidential / LOG
    with hold_alone(log, "the log of releases"):
        size = log.stat().st_size if log.exists() else 0
        entry = {
            "time": dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds"),
            "release": manifest.release,
            "signer": manifest.signer,
        }
        append_entry(log, entry)
        try:
            yield
        except BaseException:
            os.truncate(log, size)
            raise


def read_log(target: Path) -> list[dict[str, Any]]:
    """Return the log of releases written to a target."""
    return read_chain(confidential_folder(target) / LOG, "the log of releases")


def confidential_folder(target: Path) -> Path:
    """Return the folder beside a release that is never given away."""
    return target.with_name(f"{target.name}-confidential")


def resolve_target(folder: str | Path, verb: str = "write") -> Path:
    """Return where a release really goes or lies: without links and ``..``, which would hide a folder that is there."""
    try:
        with explain_target(folder, verb):
            target = Path(folder).resolve()
            target.exists()
    except RuntimeError:
        raise InputError("the path of the release is a circle of links") from None
    if not target.name:
        raise DisclosureRefused("a release cannot take the place of the whole disk; name a folder")
    return target


def refuse_target(folder: Path, source: str, *, force: bool) -> None:
    """Refuse a target that would destroy the source, somebody's files, or an earlier release."""
    target = resolve_target(folder)
    if target.exists() and not target.is_dir():
        raise DisclosureRefused(
            f"{target.name!r} is a file; a release is a folder. Choose another name."
        )
    refuse_source(target, source)
    secret = confidential_folder(target).resolve()
    if secret == target or target in secret.parents:
        raise DisclosureRefused(
            f"{confidential_folder(target).name!r} is a link into the release, so that the ledger would be given away; "
            "choose another folder"
        )
    refuse_folder(target, force=force)


def refuse_source(target: Path, source: str) -> None:
    """Refuse a target that is, holds or lies in the source."""
    origin = Path(source)
    if source == "memory" or not origin.exists():
        return
    home = origin.resolve()
    if home == target or target in home.parents:
        raise DisclosureRefused("the release folder holds the source data; choose another folder")
    if home.is_dir() and home in target.parents:
        raise DisclosureRefused(
            "the release folder lies in the folder of the source data, and would be read with them next time; choose "
            "another folder"
        )


def refuse_folder(target: Path, *, force: bool) -> None:
    """Refuse to replace a folder unless it is a release that was written there, and this was asked for."""
    if not target.exists() or not any(target.iterdir()):
        return
    if not is_release_of(target):
        raise DisclosureRefused(
            f"the folder {target.name!r} holds other files and is not a release that was written there; choose another folder"
        )
    if not force:
        raise DisclosureRefused(
            f"there is a release in {target.name!r} already; use --force (force=True) to replace it"
        )
    listed = {*Manifest.read(target).files, *OUTSIDE}
    strange = sorted(name for name, _ in entry_hashes(target) if name not in listed)
    if strange:
        raise DisclosureRefused(
            f"the folder {target.name!r} holds files that are not of the release, such as {strange[0][:60]!r}; move them away "
            "first, or choose another folder"
        )


def is_release_of(target: Path) -> bool:
    """Return True when a folder holds a manifest that tacit wrote, and its log says that it was written there."""
    try:
        release = Manifest.read(target).release
        return any(entry.get("release") == release for entry in read_log(target))
    except SdcError:
        return False


def require_writable(target: Path) -> None:
    """Raise where a target cannot be made: a file stands in its path, or nobody may write there."""
    place = next(p for p in (target, *target.parents) if p.exists())
    if not place.is_dir():
        raise NotADirectoryError(ENOTDIR, f"{place.name!r} is a file")
    if not os.access(place, os.W_OK):
        raise PermissionError(EACCES, "permission denied")


@contextmanager
def scratch(target: Path) -> Iterator[Path]:
    """Give a private folder beside the target that is gone afterwards, whatever happens."""
    with explain_target(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        work, in_use = make_own_folder(f".{target.name}-", target.parent)
    try:
        yield work
    except OSError as error:
        raise SdcError(
            f"the release could not be written: {error.strerror}. Nothing was changed."
        ) from error
    except UnicodeEncodeError:
        raise InputError(
            "a title, name or text of the plan holds a character that no file can hold (a lone surrogate). Nothing was changed."
        ) from None
    finally:
        os.close(in_use)
        shutil.rmtree(work, ignore_errors=True)


def bring_to_disk(folder: Path) -> None:
    """Wait until every file of a folder is on the disk."""
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as handle:
                os.fsync(handle.fileno())


def swap_into(new: Path, target: Path) -> None:
    """Put a finished folder at the target in one step."""
    if not target.exists():
        new.rename(target)
    elif not exchange(new, target):
        # Without an atomic exchange, the old folder steps aside first, to where no tidying finds it, and comes back on failure.
        aside = target.with_name(f".{target.name}-replaced-{secrets.token_hex(4)}")
        target.rename(aside)
        try:
            new.rename(target)
        except BaseException:
            aside.rename(target)
            raise
        shutil.rmtree(aside, ignore_errors=True)


def exchange(one: Path, two: Path) -> bool:
    """Exchange two folders atomically (Linux renameat2); False where that does not exist."""
    at_fdcwd, rename_exchange = -100, 2
    places = at_fdcwd, os.fsencode(one), at_fdcwd, os.fsencode(two)
    return call_library("renameat2", *places, rename_exchange) == 0
