"""What every retrieval scheme offers: a server's half, a client's half, and the sizes of what they exchange.

A scheme works on records of one length in bytes. Its server half makes public parameters and answers queries; its client
half makes a query for one index, with a secret that it keeps, and reads the answer with it. Queries and answers are
bodies of messages (:mod:`tacit.private.parties.wire`): plain parts of declared types, checked by whoever receives them.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from tacit.errors import EngineMissing, InvalidParameter, ProtocolError
from tacit.private.parties.wire import Body, take

#: Smaller keys can be broken; they are for tests and need ``insecure_ok=True``.
LEAST_KEY, USUAL_KEY = 2048, 3072
#: What options and a server's parameters may be.
BOUNDS = {"depth": (1, 40), "s": (1, 16), "key_bits": (64, 16_384), "start": (2, 1 << 62)}
#: Records of a table, and of one under the schemes of study.
MOST_RECORDS, MOST_STUDIED = 1 << 40, 1 << 24


@dataclass(frozen=True)
class Parameters:
    """What a server tells everybody about its table."""

    scheme: str
    #: Records, and the bytes of each after padding.
    n: int
    length: int
    #: Changes with the table and with the scheme's own parameters; a query for another version is refused.
    version: str
    public: Body = field(repr=False)


class ServerHalf(Protocol):
    """The server's half, made of a table and the length of its records: answers any query with the same work."""

    @property
    def public(self) -> Body:
        """Return the scheme's own public parameters."""

    def answer(self, query: Body) -> Body:
        """Answer a query, or refuse one that is not well formed."""


class ClientHalf(Protocol):
    """The client's half, made of a server's parameters."""

    def query(self, index: int) -> tuple[Body, Any]:
        """Return a query for one record, and the secret that reads its answer."""

    def decode(self, secret: Any, answer: Body) -> bytes:
        """Return the record."""


class StudyServer:
    """A server's half for study: the records lie in a cube, and numbers have the length of a key."""

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
        self.size = (key_bits + 7) // 8
        self.side = cube_side(len(table), depth)

    @property
    def public(self) -> Body:
        """Return the depth and the length of keys."""
        return {"depth": self.depth, "key_bits": self.key_bits}

    def bits(self) -> Iterator[list[int]]:
        """Yield, for every bit of a record, that of each record."""
        for bit in range(8 * self.length):
            yield [record[bit // 8] >> (7 - bit % 8) & 1 for record in self.table]

    def cut(self, room: int) -> list[list[int]]:
        """Return the records in chunks of so many bytes, as numbers; the rest of the cube holds zeros."""
        padded = [*self.table, *([bytes(self.length)] * (self.side**self.depth - len(self.table)))]
        return [
            [int.from_bytes(record[i : i + room], "big") for record in padded]
            for i in range(0, self.length, room)
        ]

    def require_units(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Refuse a modulus of another length, and numbers without an inverse."""
        for m, x in pairs:
            if m.bit_length() != self.key_bits or not 1 < x < m or gmp().gcd(x, m) != 1:
                raise ProtocolError("a query lies outside of the group")


class StudyClient:
    """The client's half for study."""

    #: Whether the cube may have several dimensions.
    deep: ClassVar[bool] = True

    def __init__(
        self, parameters: Parameters, *, key_bits: int | None = None, insecure_ok: bool = False
    ) -> None:
        self.length = parameters.length
        self.depth = take_bounded(parameters.public, "depth") if self.deep else 1
        told = take_bounded(parameters.public, "key_bits")
        self.key_bits = require_key(key_bits or told, insecure_ok=insecure_ok)
        self.size = (self.key_bits + 7) // 8
        self.side = cube_side(parameters.n, self.depth)

    def place(self, index: int) -> list[int]:
        """Return where a record lies in the cube."""
        return cube_place(index, self.side, self.depth)

    def numbers(self, answer: Body, count: int, size: int | None = None) -> list[int]:
        """Return so many numbers of an answer."""
        size = size or self.size
        return unpack_numbers(take(answer, "numbers", bytes, (size * count,)), size)

    def join(
        self, answer: Body, room: int, size: int, per_chunk: int, read: Callable[[list[int]], int]
    ) -> bytes:
        """Return the record of an answer in chunks of so many bytes and numbers, each of which is read by itself."""
        sizes = [min(room, self.length - i) for i in range(0, self.length, room)]
        numbers = self.numbers(answer, per_chunk * len(sizes), size)
        record = b""
        for i, n_bytes in enumerate(sizes):
            value = read(numbers[i * per_chunk : (i + 1) * per_chunk])
            if value.bit_length() > 8 * n_bytes:
                raise ProtocolError("an answer holds more than a record can")
            record += value.to_bytes(n_bytes, "big")
        return record


def join_bits(bits: Sequence[int]) -> bytes:
    """Return a record from its bits."""
    return bytes(int("".join(map(str, bits[i : i + 8])), 2) for i in range(0, len(bits), 8))


def take_bounded(public: Body, name: str) -> int:
    """Return a whole number of a server's parameters, within bounds: a client works as long as they tell it to."""
    value = take(public, name, int)
    low, high = BOUNDS[name]
    if not low <= value <= high:
        raise ProtocolError(f"the server's parameter {name!r} lies outside of its bounds")
    return int(value)


def require_bounded(**values: int) -> None:
    """Refuse options outside of the same bounds."""
    for name, value in values.items():
        low, high = BOUNDS[name]
        if not low <= value <= high:
            raise InvalidParameter(f"{name} must lie between {low} and {high} (got {value})")


def require_key(key_bits: int, *, insecure_ok: bool) -> int:
    """Refuse keys that can be broken, unless it is said that this is a test."""
    require_bounded(key_bits=key_bits)
    if key_bits < LEAST_KEY and not insecure_ok:
        raise InvalidParameter(
            f"key_bits must be at least {LEAST_KEY} (got {key_bits}): smaller keys can be broken. For a test, pass "
            "insecure_ok=True."
        )
    return key_bits


def gmp() -> Any:
    """Return gmpy2, or say which extra brings it."""
    try:
        import gmpy2
    except ImportError:
        raise EngineMissing("this needs gmpy2: pip install 'tacit[private]'") from None
    return gmpy2


def random_unit(n: int) -> int:
    """Return a random number that has an inverse modulo n."""
    g = gmp()
    while True:
        value = 1 + secrets.randbelow(n - 1)
        if g.gcd(value, n) == 1:
            return value


def random_prime(bits: int) -> int:
    """Return a random prime of exactly that many bits with its two highest bits set."""
    g = gmp()
    while True:
        value = secrets.randbits(bits) | (3 << (bits - 2)) | 1
        if g.is_prime(value, 40):
            return value


def random_modulus(bits: int) -> tuple[int, int, int]:
    """Return n = p q of exactly that many bits, with p and q of half of them."""
    while True:
        p, q = random_prime(bits // 2), random_prime(bits - bits // 2)
        if p != q and (p * q).bit_length() == bits and gmp().gcd(p * q, (p - 1) * (q - 1)) == 1:
            return p * q, p, q


def cube_side(n: int, depth: int) -> int:
    """Return the side of the smallest cube of that dimension with room for n records."""
    side = max(1, round(n ** (1 / depth)))
    while side**depth < n:
        side += 1
    while side > 1 and (side - 1) ** depth >= n:
        side -= 1
    return side


def cube_place(index: int, side: int, depth: int) -> list[int]:
    """Return where an index lies in the cube, the dimension that is answered first at the front."""
    place = []
    for _ in range(depth):
        index, at = divmod(index, side)
        place.append(at)
    return place


def pack_numbers(values: Sequence[int], size: int) -> bytes:
    """Return numbers as bytes, each of the same size."""
    return b"".join(int(v).to_bytes(size, "big") for v in values)


def unpack_numbers(data: bytes, size: int) -> list[int]:
    """Return the numbers in bytes of :func:`pack_numbers`."""
    return [int.from_bytes(data[i : i + size], "big") for i in range(0, len(data), size)]


def digest_table(scheme: str, table: Sequence[bytes], length: int, public: bytes) -> str:
    """Return the version of a table under a scheme."""
    mark = hashlib.sha256(f"tacit/retrieval/1\0{scheme}\0{len(table)}\0{length}\0".encode())
    mark.update(public)
    for record in table:
        mark.update(record)
    return mark.hexdigest()
