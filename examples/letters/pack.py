"""Write the letters that ``tacit.examples.letters`` takes from; ``scripts/letters`` calls it."""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from letters import Family, all_families
from tacit.data.corpus import Document
from tacit.examples.letters import PACKED

#: Documents of each family, of seed 1.
EACH = 20


def pack(families: Iterable[Family]) -> dict[str, Any]:
    """Return what is packed: for each family its split, its language and its documents."""
    return {
        f.name: {
            "split": f.split,
            "language": f.language,
            "letters": [pack_document(f.write(1, number)) for number in range(EACH)],
        }
        for f in families
    }


def pack_document(document: Document) -> list[Any]:
    """Return text, gold, keep and record of a document; its name follows from its place."""
    return [
        document.text,
        [[s.start, s.end, s.kind, s.source, s.entity] for s in document.gold or ()],
        [[s.start, s.end] for s in document.keep],
        dict(document.record),
    ]


def main(file: Path = PACKED) -> None:
    """Write the file."""
    text = json.dumps(
        pack(all_families().values()), ensure_ascii=False, separators=(",", ":")
    ).encode()
    file.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))
    print(f"{file.name}: {file.stat().st_size:,} bytes, unpacked {len(text):,}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
