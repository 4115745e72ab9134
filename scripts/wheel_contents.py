"""Check that a wheel holds every file of the package and nothing else."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tacit"
#: Kinds of files that belong into the package: code, templates, plans of the examples, and the words of free text. Other data would be somebody's, with a licence.
SUFFIXES = {".py", ".pyi", ".html", ".css", ".js", ".typ", ".toml", ".yaml", ".txt", ".xz"}
NEEDED = {"tacit/py.typed", "tacit/__init__.pyi"}
#: Files without such an ending that belong all the same: the mark of a typed package, the list of methods,
#: the calibration of voters, and where the lists of free text come from.
NAMED = {"py.typed", "catalogue.json", "formats.json", "calibration.json", "README.md"}


def faults(names: Iterable[str], sources: Iterable[str]) -> list[str]:
    """Return one sentence for every file of a wheel that is missing, or that should not be there."""
    held, expected = {n for n in names if ".dist-info/" not in n}, set(sources) | NEEDED
    licensed = any(n.endswith(".dist-info/licenses/LICENSE") for n in names)
    return [
        *(f"{n} is missing from the wheel" for n in sorted(expected - held)),
        *(f"{n} is in the wheel and not in src/tacit" for n in sorted(held - expected)),
        *(f"{n} is neither code nor a template" for n in sorted(held) if not belongs(n)),
        *(() if licensed else ("the licence is missing from the wheel",)),
    ]


def belongs(name: str) -> bool:
    """Return True for a file of a kind that is released as part of the package."""
    path = PurePosixPath(name)
    return path.name in NAMED or path.suffix in SUFFIXES


def sources() -> list[str]:
    """Return the files of the package as they are named in a wheel."""
    found = (p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return [p.relative_to(PACKAGE.parent).as_posix() for p in found]


def main(wheel: Path) -> int:
    """Print what is wrong with a wheel; the exit code is 1 when something is."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    wrong = faults(names, sources())
    for sentence in wrong:
        print(f"wheel: {sentence}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
