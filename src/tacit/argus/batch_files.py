"""The files of a batch: found beside it, written aside, and moved into place when all has succeeded."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from pathlib import Path

from tacit.errors import InputError, UnreadableFile
from tacit.events import never_interrupted
from tacit.io.lines import file_beside, write_lines


class BatchFiles:
    """The files that a batch reads and writes."""

    def __init__(self, file: Path, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError(f"there is no folder {str(folder)!r}")
        self.file, self.folder = file, folder
        self.room = folder / f".{file.stem}-{secrets.token_hex(4)}.partial"
        self.outputs: dict[Path, Path] = {}
        self.writes = 0
        self.inputs: set[Path] = {file.resolve()}

    def find(self, name: str, *beside: Path) -> Path:
        """Return a file that the batch names: as named, or beside the batch, or in the folder."""
        named = Path(name)
        if named.is_absolute() and named.is_file():
            return named
        relative = self.file.parent / re.sub(r"\\", "/", name)
        if relative.is_file():
            return relative
        for folder in (self.file.parent, self.folder, *beside):
            found = file_beside(folder, name)
            if found is not None:
                return found
        raise UnreadableFile(f"no file {name!r} beside the batch file or in {str(self.folder)!r}")

    def source(self, name: str, *beside: Path) -> Path:
        """Return an input file, which no output may replace."""
        found = self.find(name, *beside)
        self.inputs.add(found.resolve())
        return found

    def target(self, name: str) -> Path:
        """Return the place where a file is to appear; folders of other machines are left out."""
        plain = Path(name)
        if re.match(r"[A-Za-z]:|\\\\", name):
            plain = Path(re.split(r"[\\/]", name)[-1])
        final = plain if plain.is_absolute() else self.folder / re.sub(r"\\", "/", str(plain))
        if not final.parent.is_dir():
            raise InputError(f"there is no folder {str(final.parent)!r} to write {final.name!r} in")
        if final.resolve() in self.inputs:
            raise InputError(f"{final.name!r} is read by this batch and cannot be written by it")
        return final

    def stage_file(self, final: Path) -> Path:
        """Return where to write a file until the batch has succeeded."""
        self.room.mkdir(mode=0o700, exist_ok=True)
        self.writes += 1
        inner = self.room / str(self.writes)
        inner.mkdir()
        return inner / final.name

    def write_at_end(self, final: Path, lines: Sequence[str]) -> None:
        """Write lines that appear under a name when the batch has succeeded."""
        self.outputs[final] = self.stage_file(final)
        write_lines(self.outputs[final], lines)

    @never_interrupted
    def finish(self) -> list[Path]:
        """Move what was written into place."""
        for final, place in self.outputs.items():
            place.replace(final)
        return list(self.outputs)
