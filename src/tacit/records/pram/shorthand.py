"""De Wolf's shorthand for transition matrices: ``89B(0.6;2)``, ``Block(3;1;4E(0.8);3E(0.6))``.

=================  ===============================================================================
``nE(p)``          diagonal p, the rest shared equally
``nB(p;b)``        diagonal p, the rest shared equally by the categories less than b places away
``nB(p;1.5)*``     diagonal p, the rest to the next category; from the last to the one before
``nF(p)``          diagonal p, the rest by the frequencies of the block
``1``              one category that stays as it is
``Block(m;...)``   m matrices along the diagonal
=================  ===============================================================================
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.errors import InvalidParameter
from tacit.records.pram.matrices import (
    as_counts,
    band,
    blocks,
    equal,
    frequency,
    half_band,
    identity,
)
from tacit.records.pram.transition import Transition

PART = re.compile(r"(\d+)([EBF])\(([^;()]+)(?:;([^;()]+))?\)(\*?)")
BLOCK = re.compile(r"Block\((\d+);(.+)\)", re.IGNORECASE)
HELP = "Write it like '89B(0.6;2)', '3E(0.8)', '7F(0.75)' or 'Block(3;1;4E(0.8);3E(0.6))'"


def parse(text: str, counts: npt.ArrayLike | None = None) -> Transition:
    """Return the matrix that a shorthand stands for.

    Parameters
    ----------
    text
        The shorthand; spaces do not matter.
    counts
        Frequencies of the categories in their order; needed for F, whose blocks use their own part.

    Raises
    ------
    InvalidParameter
        When the text cannot be read, or its sizes do not fit the number of frequencies.
    """
    pieces = parts(text)
    sizes = [size_of(p) for p in pieces]
    t = None if counts is None else np.asarray(counts, dtype=np.float64)
    if t is not None and sum(sizes) != len(t):
        raise InvalidParameter(
            f"the shorthand is for {sum(sizes)} categories, and the variable has {len(t)}"
        )
    edges = np.concatenate([[0], np.cumsum(sizes)])
    built = [
        parse_block(piece, None if t is None else t[a:b])
        for piece, a, b in zip(pieces, edges[:-1], edges[1:], strict=True)
    ]
    return blocks(built)


def size(text: str) -> int:
    """Return the number of categories of a shorthand."""
    return sum(size_of(p) for p in parts(text))


def uses_frequencies(text: str) -> bool:
    """Return True when the matrix depends on the frequencies of the categories."""
    return any("F" in piece for piece in parts(text))


def parts(text: str) -> list[str]:
    """Return the blocks of a shorthand."""
    bare = re.sub(r"\s+", "", text)
    found = BLOCK.fullmatch(bare)
    pieces = [bare] if found is None else re.split(r";(?![^()]*\))", found.group(2))
    if found is not None and len(pieces) != int(found.group(1)):
        raise InvalidParameter(
            f"the shorthand announces {found.group(1)} blocks and lists {len(pieces)}"
        )
    wrong = [p for p in pieces if p != "1" and PART.fullmatch(p) is None]
    if wrong:
        raise InvalidParameter(f"the matrix shorthand {wrong[0]!r} cannot be read. {HELP}")
    return pieces


def size_of(piece: str) -> int:
    """Return the number of categories of one block."""
    found = PART.fullmatch(piece)
    n = 1 if found is None else int(found.group(1))
    if n < 1:
        raise InvalidParameter(f"the matrix shorthand {piece!r} has no categories")
    return n


def parse_block(piece: str, counts: Floats | None) -> Transition:
    """Return the matrix of one block."""
    found = PART.fullmatch(piece)
    if found is None:
        return identity(1)
    n, family = int(found.group(1)), found.group(2)
    stay, width = parse_number(found.group(3), piece), found.group(4)
    if (width is not None) != (family == "B") or (found.group(5) and family != "B"):
        raise InvalidParameter(f"the matrix shorthand {piece!r} cannot be read. {HELP}")
    if family == "E":
        return equal(n, stay)
    if family == "F":
        if counts is None:
            raise InvalidParameter(f"the matrix {piece!r} needs the frequencies of its categories")
        return equal(n, stay) if counts.sum() <= 0 else frequency(as_counts(counts), stay)
    assert width is not None
    return half_band(n, stay) if found.group(5) else band(n, stay, parse_number(width, piece))


def parse_number(text: str, piece: str) -> float:
    """Return a number of a shorthand."""
    try:
        return float(text)
    except ValueError:
        raise InvalidParameter(f"the matrix shorthand {piece!r} cannot be read. {HELP}") from None
