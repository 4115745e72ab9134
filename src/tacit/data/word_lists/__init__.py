"""The knowledge lists: names, words, drugs and places with scores, read when first needed."""

from __future__ import annotations

import functools
import lzma
from pathlib import Path

from tacit.errors import InputError, UnreadableFile

OWN = Path(__file__).parent


@functools.lru_cache(maxsize=64)
def read_list(name: str, folder: str = "") -> dict[str, str]:
    """Return one list as score by word; a file of that name in ``folder`` replaces ours."""
    found: dict[str, str] = {}
    for line in _text(name, folder).splitlines():
        score, _, words = line.partition("\t")
        found.update(dict.fromkeys(words.split(" "), score))
    return found


@functools.lru_cache(maxsize=8)
def read_pairs(name: str, folder: str = "") -> dict[str, tuple[str, ...]]:
    """Return a list whose words have several scores: all of them by word."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _text(name, folder).splitlines():
        score, _, words = line.partition("\t")
        for word in words.split(" "):
            found[word] = (*found.get(word, ()), score)
    return found


@functools.lru_cache(maxsize=8)
def check_folder(folder: str) -> None:
    """Refuse a folder without any list, and files that are none: names would no longer be found, and nobody would know."""
    known = {file.name.partition(".")[0] for file in OWN.glob("*.txt.xz")}
    there = {file.name.partition(".")[0] for file in Path(folder).glob("*.txt*")}
    if not there or there - known:
        raise InputError(
            f"scrub: knowledge must be a folder of list files, and each must be called as one of {', '.join(sorted(known))}, "
            "with the ending .txt"
        )
    for name in there:
        lines = _text(name, folder).splitlines()
        wrong = next((i for i, line in enumerate(lines, 1) if not all(line.partition("\t"))), 0)
        if wrong or not lines:
            raise UnreadableFile(
                f"line {wrong or 1} of the list {name!r} is not a score, a tab and words; the README of the bundled "
                "lists tells their scores"
            )


def _text(name: str, folder: str) -> str:
    for place in (Path(folder), OWN) if folder else (OWN,):
        plain, packed = place / f"{name}.txt", place / f"{name}.txt.xz"
        try:
            if plain.exists():
                return plain.read_text(encoding="utf-8")
            if packed.exists():
                return lzma.decompress(packed.read_bytes()).decode()
        except (OSError, UnicodeDecodeError, lzma.LZMAError) as error:
            raise UnreadableFile(
                f"the list {name!r} in {str(place)!r} cannot be read; write lines of a score, a tab and words in UTF-8"
            ) from error
    return ""
