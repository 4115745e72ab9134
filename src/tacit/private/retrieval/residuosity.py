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
from typing import Any, ClassVar

from tacit.errors import ProtocolError
from tacit.private.parties.wire import Body, take
from tacit.private.retrieval.scheme import (
    USUAL_KEY,
    ClientHalf,
    Parameters,
    ServerHalf,
    cube_place,
    cube_side,
    gmp,
    pack_numbers,
    random_modulus,
    random_unit,
    require_bounded,
    require_key,
    take_bounded,
    unpack_numbers,
)


class Server(ServerHalf):
    """Holds the records as bits."""

    name: ClassVar[str] = "ko"

    def __init__(
        self,
        table: Sequence[bytes],
        length: int,
        *,
        depth: int = 1,
        key_bits: int = USUAL_KEY,
        insecure_ok: bool = False,
    ) -> None:
        require_bounded(depth=depth)
        self.table, self.length, self.depth = table, length, depth
        self.key_bits = require_key(key_bits, insecure_ok=insecure_ok)
        self.side = cube_side(len(table), depth)

    @property
    def public(self) -> Body:
        """Return the depth and the length of keys."""
        return {"depth": self.depth, "key_bits": self.key_bits}

    def answer(self, query: Body) -> Body:
        """Answer for every bit of a record, with the same query."""
        n = int.from_bytes(take(query, "modulus", bytes), "big")
        size = (self.key_bits + 7) // 8
        if n.bit_length() != self.key_bits or n % 2 == 0:
            raise ProtocolError("the modulus of a query has the wrong length, or is even")
        numbers = unpack_numbers(
            take(query, "numbers", bytes, (size * self.side * self.depth,)), size
        )
        if any(not 0 < y < n or gmp().jacobi(y, n) != 1 for y in numbers):
            raise ProtocolError("a number of a query does not have the Jacobi symbol +1")
        vectors = [numbers[i * self.side : (i + 1) * self.side] for i in range(self.depth)]
        cells = self.side**self.depth
        answers: list[int] = []
        for bit in range(8 * self.length):
            column = [record[bit // 8] >> (7 - bit % 8) & 1 for record in self.table]
            column += [0] * (cells - len(column))
            answers += answer_bits(column, vectors, n, self.key_bits)
        return {"numbers": pack_numbers(answers, size)}


class Client(ClientHalf):
    """Holds the factors of N."""

    name: ClassVar[str] = "ko"

    def __init__(
        self, parameters: Parameters, *, key_bits: int | None = None, insecure_ok: bool = False
    ) -> None:
        self.length = parameters.length
        self.depth = take_bounded(parameters.public, "depth")
        told = take_bounded(parameters.public, "key_bits")
        self.key_bits = require_key(key_bits or told, insecure_ok=insecure_ok)
        self.side = cube_side(parameters.n, self.depth)
        self.n, self.p, self.q = random_modulus(self.key_bits)

    def query(self, index: int) -> tuple[Body, Any]:
        """Return one number per column and dimension; the wanted ones are no squares."""
        numbers = [
            draw_residue(self.n, self.p, self.q, square=j != at)
            for at in cube_place(index, self.side, self.depth)
            for j in range(self.side)
        ]
        size = (self.key_bits + 7) // 8
        return {
            "modulus": self.n.to_bytes(size, "big"),
            "numbers": pack_numbers(numbers, size),
        }, None

    def decode(self, secret: Any, answer: Body) -> bytes:
        """Read every bit, from the outermost dimension in."""
        del secret
        size = (self.key_bits + 7) // 8
        per_bit = self.key_bits ** (self.depth - 1)
        numbers = unpack_numbers(
            take(answer, "numbers", bytes, (size * per_bit * 8 * self.length,)), size
        )
        if any(not 0 < z < self.n or gmp().gcd(z, self.n) != 1 for z in numbers):
            raise ProtocolError("an answer lies outside of the group")
        bits = [
            decode_bits(numbers[i : i + per_bit], self.p, self.key_bits)
            for i in range(0, len(numbers), per_bit)
        ]
        return bytes(int("".join(map(str, bits[i : i + 8])), 2) for i in range(0, len(bits), 8))


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
