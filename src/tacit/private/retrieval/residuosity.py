"""Kushilevitz and Ostrovsky's scheme: one bit per number, by quadratic residues. For study and comparison.

The client sends one number with Jacobi symbol +1 per column, all of them squares modulo N = p q except at the wanted
column. The server multiplies, row by row, y_j where the bit is 1 and y_j^2 where it is 0 (squares keep the work independent of the data; the survey
leaves them out): the product is a square exactly when the wanted bit is 0. With depth L the answers are themselves taken as bits of
tables of one dimension less.

References
----------
Kushilevitz, Ostrovsky (1997), Replication is not needed: single database, computationally-private information
retrieval, FOCS 1997, 364-373.
Aguilar Melchor, Deswarte (2006), Single-database private information retrieval schemes: overview, performance study, and
usage with statistical databases, PSD 2006, LNCS 4302, 257-265.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.errors import ProtocolError
from tacit.private.parties.wire import Body, take
from tacit.private.retrieval.scheme import (
    Parameters,
    StudyClient,
    StudyServer,
    gmp,
    join_bits,
    pack_numbers,
    random_modulus,
    random_unit,
    unpack_numbers,
)


class Server(StudyServer):
    """Holds the records as bits."""

    def answer(self, query: Body) -> Body:
        """Answer for every bit of a record, with the same query."""
        n = int.from_bytes(take(query, "modulus", bytes), "big")
        if n.bit_length() != self.key_bits or n % 2 == 0:
            raise ProtocolError("the modulus of a query has the wrong length, or is even")
        packed = take(query, "numbers", bytes, (self.size * self.side * self.depth,))
        numbers = unpack_numbers(packed, self.size)
        if any(not 0 < y < n or gmp().jacobi(y, n) != 1 for y in numbers):
            raise ProtocolError("a number of a query does not have the Jacobi symbol +1")
        vectors = [numbers[i * self.side : (i + 1) * self.side] for i in range(self.depth)]
        cells = self.side**self.depth
        answers: list[int] = []
        for column in self.bits():
            column += [0] * (cells - len(column))
            answers += answer_bits(column, vectors, n, self.key_bits)
        return {"numbers": pack_numbers(answers, self.size)}


class Client(StudyClient):
    """Holds the factors of N."""

    def __init__(self, parameters: Parameters, **options: Any) -> None:
        super().__init__(parameters, **options)
        self.n, self.p, self.q = random_modulus(self.key_bits)

    def query(self, index: int) -> tuple[Body, Any]:
        """Return one number per column and dimension; the wanted ones are no squares."""
        numbers = [
            draw_residue(self.n, self.p, self.q, square=j != at)
            for at in self.place(index)
            for j in range(self.side)
        ]
        modulus = self.n.to_bytes(self.size, "big")
        return {"modulus": modulus, "numbers": pack_numbers(numbers, self.size)}, None

    def decode(self, secret: Any, answer: Body) -> bytes:
        """Read every bit, from the outermost dimension in."""
        del secret
        per_bit = self.key_bits ** (self.depth - 1)
        numbers = self.numbers(answer, per_bit * 8 * self.length)
        if any(not 0 < z < self.n or gmp().gcd(z, self.n) != 1 for z in numbers):
            raise ProtocolError("an answer lies outside of the group")
        return join_bits([
            decode_bits(numbers[i : i + per_bit], self.p, self.key_bits)
            for i in range(0, len(numbers), per_bit)
        ])  # fmt: skip


def draw_residue(n: int, p: int, q: int, *, square: bool) -> int:
    """Draw a number with Jacobi symbol +1 that is a square, or none."""
    g = gmp()
    while True:
        value = random_unit(n)
        if square:
            return value * value % n
        if g.jacobi(value, p) == -1 and g.jacobi(value, q) == -1:
            return value


def answer_bits(
    bits: Sequence[int], vectors: Sequence[Sequence[int]], n: int, key_bits: int
) -> list[int]:
    """Answer a table of bits, a cube with one query vector per dimension; bits of numbers go lowest first."""
    g = gmp()
    first, rest = vectors[0], vectors[1:]
    side = len(first)
    pairs = [(g.mpz(y) * y % n, g.mpz(y)) for y in first]
    rows = []
    for start in range(0, len(bits), side):
        total = g.mpz(1)
        for pair, bit in zip(pairs, bits[start : start + side], strict=True):
            total = total * pair[bit] % n
        rows.append(int(total))
    if not rest:
        return rows
    return [
        z
        for b in range(key_bits)
        for z in answer_bits([row >> b & 1 for row in rows], rest, n, key_bits)
    ]


def decode_bits(numbers: Sequence[int], p: int, key_bits: int) -> int:
    """Return the bit behind nested answers."""
    g = gmp()
    level = [int(g.jacobi(z, p) == -1) for z in numbers]
    while len(level) > 1:
        inner = [
            sum(bit << b for b, bit in enumerate(level[i : i + key_bits]))
            for i in range(0, len(level), key_bits)
        ]
        level = [int(g.jacobi(z, p) == -1) for z in inner]
    return level[0]
