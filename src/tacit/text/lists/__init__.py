"""The knowledge lists: names, words, drugs and places with scores, read when first needed."""

from __future__ import annotations

import functools
import lzma
from pathlib import Path

from tacit.errors import UnreadableFile

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
