"""Results kept: a measure taken a second time of the same data costs nothing.

Within ``with keep_results():`` every measure first looks whether it was taken before: of data, original, register and
control with the same content, roles and history, with the same parameters, the same numbers of chance and by the same
version of tacit. Results are kept in memory while the block lasts; with a folder, for the next time too.

A folder holds results as a whole, and so values of the data: every file in it is encrypted and authenticated (Fernet), under
a name that says nothing, with a key that lies in a file of its own in a folder that only its owner may read. Keep both
inside, with the data, and the key apart from any backup of the folder.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from tacit import errors
from tacit.data.fingerprint import digests
from tacit.data.microdata import Microdata
from tacit.errors import InvalidParameter, SdcError, UnreadableFile, explain_target
from tacit.result import Result
from tacit.storage.locks import hold_alone
from tacit.storage.own_folders import write_whole
from tacit.storage.values import pack

#: Results held in memory, and bytes held in a folder, before the least recently used go.
MOST, LARGEST = 1000, 1 << 28
#: What differs between two runs with the same content, or lives in memory only.
PASSING = {"Microdata": {"frame", "engine", "to_own", "source"}, "Action": {"seconds"}}


@dataclasses.dataclass(frozen=True)
class Found:
    """A result, what its measure noted, and the warnings that it gave."""

    result: Result
    details: Mapping[str, Any]
    warned: tuple[tuple[type[Warning], str], ...] = ()


class KeptResults:
    """Results by what they were taken of; the least recently used go first.

    Parameters
    ----------
    folder
        Where results are kept for the next time; by default in memory alone.
    key
        The file of the key that they are encrypted with; made when it is not there. It may not lie in the folder.
    most, largest
        How many results are held in memory, and how many bytes in the folder.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        key: str | Path | None = None,
        most: int = MOST,
        largest: int = LARGEST,
    ) -> None:
        if (folder is None) != (key is None):
            raise InvalidParameter(
                "give folder and key together: results in a folder are encrypted"
            )
        self.most = most
        self.taken = self.reused = 0
        self._memory: OrderedDict[str, Found] = OrderedDict()
        self._vault = None if folder is None else Vault(Path(folder), Path(key or ""), largest)

    def take(self, name: str, measure: Callable[[], Found]) -> Found:
        """Return what is kept under a name, or what the measure finds now."""
        found = self._memory.get(name)
        if found is None and self._vault is not None:
            found = self._vault.read(name)
        if found is None:
            self.taken += 1
            found = measure()
            if self._vault is not None:
                self._vault.write(name, found)
        else:
            self.reused += 1
        self._memory[name] = found
        self._memory.move_to_end(name)
        while len(self._memory) > self.most:
            self._memory.popitem(last=False)
        return found


class Vault:
    """Encrypted results in a folder that only its owner may read."""

    def __init__(self, folder: Path, key: Path, largest: int) -> None:
        from cryptography.fernet import Fernet

        if folder.resolve() in key.resolve().parents:
            raise InvalidParameter("the key of kept results must lie outside their folder")
        with explain_target(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
        self._folder, self._largest = folder, largest
        secret = read_key(key)
        try:
            self._box = Fernet(secret)
        except ValueError:
            raise UnreadableFile(f"{key.name!r} holds no key of kept results") from None
        self._secret = secret

    def place(self, name: str) -> Path:
        """Return the file of a result: what it was taken of cannot be guessed from its name."""
        return self._folder / hashlib.sha256(self._secret + name.encode()).hexdigest()

    def read(self, name: str) -> Found | None:
        """Return a result; None when it is not there, damaged, or another's."""
        from cryptography.fernet import InvalidToken

        place = self.place(name)
        with suppress(OSError, InvalidToken, SdcError, ValueError, KeyError, TypeError):
            document = json.loads(self._box.decrypt(place.read_bytes()))
            if document["name"] == name:
                os.utime(place)
                warned = tuple((SORTS[sort], text) for sort, text in document["warned"])
                return Found(Result.from_dict(document["result"]), document["details"], warned)
        return None

    def write(self, name: str, found: Found) -> None:
        """Keep a result; one that holds what lives in memory only is not kept."""
        try:
            document = {
                "name": name,
                "result": found.result.stored(),
                "details": found.details,
                "warned": [[sort.__name__, text] for sort, text in found.warned],
            }
            content = self._box.encrypt(json.dumps(document).encode())
        except (SdcError, TypeError, ValueError):
            return
        if any(sort.__name__ not in SORTS for sort, _ in found.warned):
            return
        with hold_alone(self._folder / "results", "the folder of kept results"):
            place = self.place(name)
            write_whole(place, content)
            place.chmod(0o600)
            self._make_room()

    def _make_room(self) -> None:
        """Remove the least recently used files until the others fit."""
        files = [f for f in self._folder.iterdir() if len(f.name) == 64]
        facts = sorted(((f.stat().st_mtime_ns, f.stat().st_size, f) for f in files), reverse=True)
        held = 0
        for _, size, file in facts:
            held += size
            if held > self._largest:
                file.unlink(missing_ok=True)


def read_key(file: Path) -> bytes:
    """Return the key of a file; make one that only its owner may read where there is none."""
    from cryptography.fernet import Fernet

    with explain_target(file):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as target:
                target.write(Fernet.generate_key())
        return file.read_bytes().strip()


#: Our own warnings by name, and those of Python's computations.
SORTS: dict[str, type[Warning]] = {
    sort.__name__: sort
    for sort in (*vars(errors).values(), RuntimeWarning, UserWarning)
    if isinstance(sort, type) and issubclass(sort, Warning)
}
_current: ContextVar[KeptResults | None] = ContextVar("kept_results", default=None)


@contextmanager
def keep_results(kept: KeptResults | None = None) -> Iterator[KeptResults]:
    """Keep the results of every measure taken in this block.

    Within another such block, without ``kept``, the results go where those of the other go.
    """
    chosen = kept or _current.get() or KeptResults()
    token = _current.set(chosen)
    try:
        yield chosen
    finally:
        _current.reset(token)


def reuse(spec: Any, data: Mapping[str, Any], ctx: Any, measure: Callable[[], Result]) -> Result:
    """Return the result that is kept of the same data, or measure; the same notes and warnings are given."""
    kept = _current.get()
    name = None if kept is None else name_of(spec, data, ctx)
    if kept is None or name is None:
        return measure()
    found = kept.take(name, lambda: listen(ctx, measure))
    ctx.note(**found.details)
    for sort, text in found.warned:
        warnings.warn(text, sort, stacklevel=4)
    return found.result


def listen(ctx: Any, measure: Callable[[], Result]) -> Found:
    """Measure, and keep what is noted and warned of."""
    before = dict(ctx.details)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = measure()
    noted = {k: v for k, v in ctx.details.items() if k not in before or before[k] is not v}
    told = dict.fromkeys((w.category, str(w.message)) for w in caught)
    return Found(result, noted, tuple(told))


def name_of(spec: Any, data: Mapping[str, Any], ctx: Any) -> str | None:
    """Return the digest of all that a result depends on; None where that cannot be known.

    A plot that is published spends a budget whenever it is drawn, and a file that a parameter names may change.
    """
    import tacit

    if spec.publishes or any(getattr(spec, name) is not None for name in spec.file_fields):
        return None
    try:
        text = json.dumps(
            {
                "version": tacit.__version__,
                "spec": spec.to_dict(),
                "asked": sorted(spec.model_fields_set),
                "chance": describe_chance(ctx) if spec.random else None,
                "data": {role: describe(one) for role, one in data.items()},
            },
            sort_keys=True,
        )
    except (SdcError, TypeError, ValueError, AttributeError, KeyError, NotImplementedError):
        return None
    return hashlib.sha256(text.encode()).hexdigest()


def describe_chance(ctx: Any) -> Any:
    """Return what the numbers of a context depend on: its seed and path, and how many were drawn."""
    source = ctx.rng.bit_generator
    return [str(ctx.seed), source.seed_seq.generate_state(8).tolist(), pack(source.state, known)]


def describe(value: Any) -> Any:
    """Return data as plain data: the content of records as digests of its columns, everything else as it is."""
    if isinstance(value, Microdata):
        found = digests(value)
        content = {n: [kind, digest.hex()] for n, (kind, digest) in found.columns.items()}
        return [found.records, content, list(value.columns), describe_parts(value)]
    return None if value is None else describe_parts(value)


def describe_parts(value: Any) -> Any:
    """Return what a dataclass holds, but for what passes; the steps in its history likewise."""
    passing = PASSING.get(type(value).__name__, set())
    held = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return {
        k: [describe_parts(step) for step in v] if k == "history" else pack(v, known)
        for k, v in held.items()
        if k not in passing
    }


def known(part: type) -> str:
    """Return the whole name of a type."""
    return f"{part.__module__}.{part.__qualname__}"
