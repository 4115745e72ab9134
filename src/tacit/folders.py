"""The two folders of a release: written aside, moved into place in one step, listed in a manifest."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EACCES, ENOTDIR
from pathlib import Path
from typing import Any, Protocol

import tacit
from tacit.errors import DisclosureRefused, InputError, SdcError, explain_target
from tacit.own_folders import make_own_folder

MANIFEST = "manifest.json"
#: Files that speak of the manifest and so cannot stand in it.
OUTSIDE = (MANIFEST, "manifest.sig", "signer.pub")


@dataclass(frozen=True)
class Manifest:
    """What a release folder holds: the SHA-256 of every file, and which of them are the data."""

    release: str
    kind: str
    names: Mapping[str, str]
    files: Mapping[str, str]
    tacit: str = tacit.__version__

    @classmethod
    def of(cls, folder: Path, kind: str, names: Mapping[str, str]) -> Manifest:
        """Return the manifest of a folder as it stands."""
        files = dict(file_hashes(folder))
        return cls(identity_of(files), kind, dict(names), files)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a release, or say why there is none."""
        file = folder / MANIFEST
        if not file.exists():
            raise InputError(f"{folder.name!r} is not a release: it has no {MANIFEST}")
        facts = read_json(file)
        try:
            names = {str(k): str(v) for k, v in facts["names"].items()}
            files = {str(k): str(v) for k, v in facts["files"].items()}
            return cls(str(facts["release"]), str(facts["kind"]), names, files, str(facts["tacit"]))
        except (KeyError, AttributeError, TypeError):
            raise InputError(f"the {MANIFEST} of {folder.name!r} is damaged") from None

    def write(self, folder: Path) -> None:
        """Write the manifest."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        (folder / MANIFEST).write_text(text, encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest as plain data."""
        return {
            "release": self.release,
            "tacit": self.tacit,
            "kind": self.kind,
            "names": dict(self.names),
            "files": dict(self.files),
        }


def identity_of(files: Mapping[str, str]) -> str:
    """Return the name of a release: it follows from its files."""
    return hashlib.sha256(json.dumps(dict(files), sort_keys=True).encode()).hexdigest()[:16]


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object, or say that the file is damaged."""
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{file.name!r} is damaged: it cannot be read as JSON") from None
    if not isinstance(facts, dict):
        raise InputError(f"{file.name!r} is damaged: it does not hold what it should")
    return facts


def file_hashes(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every entry of a folder but the manifest, with the SHA-256 of files.

    Folders and links are entries as well: a release has none, so that one which does was changed.
    """
    for file in sorted(folder.rglob("*")):
        name = str(file.relative_to(folder))
        if name in OUTSIDE and file.is_file() and not file.is_symlink():
            continue
        if file.is_symlink() or not file.is_file():
            yield name, "a link" if file.is_symlink() else "a folder"
            continue
        with file.open("rb") as handle:
            yield name, hashlib.file_digest(handle, "sha256").hexdigest()


class Written(Protocol):
    """A release that can write its two folders."""

    def write_public(self, folder: Path, form: str) -> Manifest:
        """Write what may be given away."""

    def write_private(self, folder: Path, manifest: Manifest, form: str) -> None:
        """Write what must stay with the data holder."""


def write_folders(
    release: Written, target: Path, form: str, finish: Callable[[Path], None] = lambda _: None
) -> Path:
    """Write both folders beside the target, let ``finish`` sign the public one, and move them into place."""
    confidential = confidential_folder(target)
    with scratch(target) as work:
        public, secret = work / "public", work / "secret"
        public.mkdir()
        secret.mkdir(mode=0o700)
        manifest = release.write_public(public, form)
        manifest.write(public)
        finish(public)
        release.write_private(secret, manifest, form)
        for file in secret.rglob("*"):
            file.chmod(0o700 if file.is_dir() else 0o600)
        confidential.mkdir(mode=0o700, exist_ok=True)
        place = confidential / manifest.release
        # The ledger goes first: whichever release stands at the target, its ledger exists.
        if place.exists():
            shutil.rmtree(place)
        secret.replace(place)
        swap_into(public, target)
    return target


def confidential_folder(target: Path) -> Path:
    """Return the folder beside a release that is never given away."""
    return target.with_name(f"{target.name}-confidential")


def refuse_target(target: Path, source: str, *, force: bool) -> None:
    """Refuse a target that would destroy the source, somebody's files, or an earlier release."""
    with explain_target(target):
        there = target.exists()
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
        if home.is_dir() and home in target.resolve().parents:
            raise DisclosureRefused(
                "the release folder lies in the folder of the source data, and would be read with them next time; choose "
                "another folder"
            )
    if not there or not any(target.iterdir()):
        return
    if not (target / "manifest.json").exists():
        raise DisclosureRefused(
            f"the folder {target.name!r} holds other files and is not a release; choose another folder"
        )
    if not force:
        raise DisclosureRefused(
            f"there is a release in {target.name!r} already; use --force (force=True) to replace it"
        )


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
    finally:
        os.close(in_use)
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
