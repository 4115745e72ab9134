"""Two servers that do not collude: each sees a random subset and answers the XOR of its records. For study.

The second subset differs from the first in the wanted record alone, so that the XOR of both answers is the record. No
assumption about computing power is needed; that the servers do not compare their queries is.

References
----------
Chor, Goldreich, Kushilevitz, Sudan (1995), Private information retrieval, FOCS 1995, 41-50.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.errors import ProtocolError
from tacit.private.parties.wire import Body, take
from tacit.private.retrieval.scheme import Parameters


class Server:
    """One process that can play both servers, for study; in real use each server gets its own half of a query."""

    def __init__(self, table: Sequence[bytes], length: int) -> None:
        self.rows = np.frombuffer(b"".join(table), np.uint8).reshape(len(table), length)

    @property
    def public(self) -> Body:
        """Return nothing: the scheme has no parameters."""
        return {}

    def answer(self, query: Body) -> Body:
        """Answer the halves of a query that are there, ``one``, ``two`` or both."""
        n_bytes = (len(self.rows) + 7) // 8
        halves = [half for half in ("one", "two") if half in query]
        if not halves:
            raise ProtocolError("a query names no subset")
        return {h: xor_subset(self.rows, take(query, h, bytes, (n_bytes,))) for h in halves}


class Client:
    """Draws the subsets."""

    def __init__(self, parameters: Parameters) -> None:
        self.n, self.length = parameters.n, parameters.length

    def query(self, index: int) -> tuple[Body, Any]:
        """Return both subsets; ``one`` goes to the first server and ``two`` to the second."""
        subset = np.frombuffer(secrets.token_bytes((self.n + 7) // 8), np.uint8).copy()
        if self.n % 8:
            subset[-1] &= (0xFF << (8 - self.n % 8)) & 0xFF
        other = subset.copy()
        other[index // 8] ^= 1 << (7 - index % 8)
        return {"one": subset.tobytes(), "two": other.tobytes()}, None

    def decode(self, secret: Any, answer: Body) -> bytes:
        """Return the XOR of both answers."""
        del secret
        one, two = (take(answer, half, bytes, (self.length,)) for half in ("one", "two"))
        return bytes(a ^ b for a, b in zip(one, two, strict=True))


def xor_subset(rows: np.ndarray[Any, np.dtype[np.uint8]], subset: bytes) -> bytes:
    """Return the XOR of the rows in a subset, given as bits; all rows are touched."""
    chosen = np.unpackbits(np.frombuffer(subset, np.uint8), count=len(rows))
    masked = rows & (np.uint8(0) - chosen)[:, None]
    return bytes(np.bitwise_xor.reduce(masked, axis=0, initial=0).astype(np.uint8))
