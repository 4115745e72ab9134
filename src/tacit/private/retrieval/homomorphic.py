"""Stern's and Lipmaa's schemes: one encrypted unit vector per dimension, by Damgard-Jurik encryption. For study.

The server raises the encryptions to the records and multiplies: an encryption of the wanted one. In further dimensions
the ciphertexts are themselves the records: Stern cuts them into digits below n^s, each answered by itself (two per level; the factor
(s + 1) / s of the survey's Table 1 would need digits of several ciphertexts packed together); Lipmaa uses a longer message space in every
dimension, so that a ciphertext fits whole, and leaves out the last element of every vector, which the server makes itself.

References
----------
Stern (1998), A new and efficient all-or-nothing disclosure of secrets protocol, ASIACRYPT 1998, 357-371.
Lipmaa (2005), An oblivious transfer protocol with log-squared communication, ISC 2005, 314-328.
Aguilar Melchor, Deswarte (2006), PSD 2006, LNCS 4302, 257-265.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tacit.errors import ProtocolError
from tacit.private.parties.wire import Body, take
from tacit.private.retrieval.damgard_jurik import PrivateKey, PublicKey
from tacit.private.retrieval.scheme import (
    USUAL_KEY,
    Parameters,
    StudyClient,
    StudyServer,
    gmp,
    pack_numbers,
    require_bounded,
    take_bounded,
    unpack_numbers,
)


class Server(StudyServer):
    """Holds the records in chunks, each a number below n^s."""

    #: True where ciphertexts grow with the dimension and are never cut.
    grows: ClassVar[bool] = False

    def __init__(
        self,
        table: Sequence[bytes],
        length: int,
        *,
        s: int = 1,
        key_bits: int = USUAL_KEY,
        **options: Any,
    ) -> None:
        require_bounded(s=s)
        super().__init__(table, length, key_bits=key_bits, **options)
        self.s = s
        self.chunks = self.cut(s * (key_bits - 1) // 8)

    @property
    def public(self) -> Body:
        """Return depth, s and the length of keys."""
        return {**super().public, "s": self.s}

    def answer(self, query: Body) -> Body:
        """Answer every chunk with the same query."""
        key = PublicKey(int.from_bytes(take(query, "modulus", bytes), "big"))
        if key.bits != self.key_bits:
            raise ProtocolError("the modulus of a query has the wrong length")
        vectors = []
        for i in range(self.depth):
            s = self.s + i if self.grows else self.s
            n_sent = self.side - 1 if self.grows else self.side
            packed = take(query, f"dimension_{i}", bytes, (key.size(s) * n_sent,))
            vector = unpack_numbers(packed, key.size(s))
            for c in vector:
                key.require_ciphertext(c, s)
            if self.grows:
                # The last element of the unit vector: E(1) divided by the product of the others.
                modulus = key.n ** (s + 1)
                inverse = gmp().invert(key.add(vector, s), modulus)
                vector.append(int((1 + key.n) * inverse % modulus))
            vectors.append(vector)
        fold = answer_growing if self.grows else answer_cut
        answers = [z for chunk in self.chunks for z in fold(chunk, vectors, key, self.s)]
        size = key.size(self.s + self.depth - 1) if self.grows else key.size(self.s)
        return {"numbers": pack_numbers(answers, size)}


class Client(StudyClient):
    """Holds the key pair."""

    grows: ClassVar[bool] = False

    def __init__(self, parameters: Parameters, **options: Any) -> None:
        super().__init__(parameters, **options)
        self.s = take_bounded(parameters.public, "s")
        self.key = PrivateKey.make(self.key_bits)

    def query(self, index: int) -> tuple[Body, Any]:
        """Return an encrypted unit vector per dimension."""
        public = self.key.public
        body: dict[str, Any] = {"modulus": public.n.to_bytes(self.size, "big")}
        for i, at in enumerate(self.place(index)):
            s = self.s + i if self.grows else self.s
            n_sent = self.side - 1 if self.grows else self.side
            vector = [self.key.encrypt(int(j == at), s) for j in range(n_sent)]
            body[f"dimension_{i}"] = pack_numbers(vector, public.size(s))
        return body, None

    def decode(self, secret: Any, answer: Body) -> bytes:
        """Decrypt, from the outermost dimension in."""
        del secret
        last = self.s + self.depth - 1 if self.grows else self.s
        size = self.key.public.size(last)
        per_chunk = 1 if self.grows else 2 ** (self.depth - 1)
        return self.join(answer, self.s * (self.key_bits - 1) // 8, size, per_chunk, self._open)

    def _open(self, level: list[int]) -> int:
        if self.grows:
            value = level[0]
            for i in reversed(range(self.depth)):
                value = self.key.decrypt(value, self.s + i)
            return value
        digits = [self.key.decrypt(c, self.s) for c in level]
        while len(digits) > 1:
            base = self.key.public.n**self.s
            inner = [digits[i] + base * digits[i + 1] for i in range(0, len(digits), 2)]
            digits = [self.key.decrypt(c, self.s) for c in inner]
        return digits[0]


class LipmaaServer(Server):
    """Lipmaa's scheme, the server's half; Stern's is the base."""

    grows: ClassVar[bool] = True


class LipmaaClient(Client):
    """Lipmaa's scheme, the client's half."""

    grows: ClassVar[bool] = True


def fold_lines(values: Sequence[int], vector: Sequence[int], modulus: int) -> list[int]:
    """Return, for every line of the table, the product of the encryptions raised to its values."""
    g = gmp()
    side = len(vector)
    m = g.mpz(modulus)
    found = []
    for start in range(0, len(values), side):
        total = g.mpz(1)
        for c, x in zip(vector, values[start : start + side], strict=True):
            # Also for x = 0: the work does not tell what the table holds.
            total = total * g.powmod(c, x, m) % m
        found.append(int(total))
    return found


def answer_cut(
    values: Sequence[int], vectors: Sequence[Sequence[int]], key: PublicKey, s: int
) -> list[int]:
    """Answer with a fixed s: ciphertexts are cut into two digits below n^s, the low one first."""
    lines = fold_lines(values, vectors[0], key.n ** (s + 1))
    if len(vectors) == 1:
        return lines
    base = key.n**s
    low, high = [z % base for z in lines], [z // base for z in lines]
    return [z for digits in (low, high) for z in answer_cut(digits, vectors[1:], key, s)]


def answer_growing(
    values: Sequence[int], vectors: Sequence[Sequence[int]], key: PublicKey, s: int
) -> list[int]:
    """Answer with an s that grows by one in every dimension: ciphertexts are the messages of the next."""
    for i, vector in enumerate(vectors):
        values = fold_lines(values, vector, key.n ** (s + i + 1))
    return list(values)
