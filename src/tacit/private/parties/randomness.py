"""Randomness of one party in one run: a 256-bit secret of the operating system, stretched by ChaCha20.

Keeping the secret in a confidential journal lets a party that crashed do exactly again what it had done, so that its
peers see the same messages; nobody without the secret can tell them from chance.

References
----------
Nir, Langley (2018), ChaCha20 and Poly1305 for IETF Protocols, RFC 8439.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class Randomness:
    """Random bytes, whole numbers and orders."""

    def __init__(self, secret: bytes | None = None) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

        self.secret = secrets.token_bytes(32) if secret is None else secret
        if len(self.secret) < 16:
            raise ValueError("a secret has at least 16 bytes")
        digest = hashlib.sha3_256(b"tacit/private/1\0" + self.secret).digest()
        self._stream: Any = Cipher(algorithms.ChaCha20(digest, bytes(16)), mode=None).encryptor()

    def child(self, name: str) -> Randomness:
        """Return randomness of its own for one purpose; the same name gives the same."""
        return Randomness(hashlib.sha3_256(self.secret + b"\0" + name.encode()).digest())

    def draw(self, n: int) -> bytes:
        """Return n random bytes."""
        return bytes(self._stream.update(bytes(n)))

    def below(self, n: int) -> int:
        """Return a whole number in [0, n), each with the same chance."""
        if n < 1:
            raise ValueError("nothing lies below 1")
        length = (n - 1).bit_length()
        size = (length + 7) // 8
        while True:
            value = int.from_bytes(self.draw(size), "big") >> (8 * size - length)
            if value < n:
                return value

    def between(self, low: int, high: int) -> int:
        """Return a whole number in [low, high]."""
        return low + self.below(high - low + 1)

    def words(self, shape: int | tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Return random 64-bit words."""
        sizes = (shape,) if isinstance(shape, int) else shape
        count = int(np.prod(sizes, dtype=np.int64))
        return np.frombuffer(self.draw(8 * count), "<u8").astype(np.uint64).reshape(sizes)

    def order(self, n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the numbers 0 to n - 1 in a drawn order.

        They are sorted by 128 random bits each, of which two are equal with a chance below n^2 / 2^129.
        """
        keys = self.words((2, n))
        return np.lexsort((keys[0], keys[1])).astype(np.int64)

    def shuffle(self, items: Sequence[T]) -> list[T]:
        """Return the items in a drawn order."""
        return [items[i] for i in self.order(len(items)).tolist()]
