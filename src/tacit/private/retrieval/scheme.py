"""What every retrieval scheme offers: a server's half, a client's half, and the sizes of what they exchange.

A scheme works on records of one length in bytes. Its server half makes public parameters and answers queries; its client
half makes a query for one index, with a secret that it keeps, and reads the answer with it. Queries and answers are
bodies of messages (:mod:`tacit.private.parties.wire`): plain parts of declared types, checked by whoever receives them.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

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


class ServerHalf:
    """Base of the server's half: holds the table, answers any query with the same work."""

    name: ClassVar[str]

    def __init__(self, table: Sequence[bytes], length: int, **options: Any) -> None:
        raise NotImplementedError

    @property
    def public(self) -> Body:
        """Return the scheme's own public parameters."""
        raise NotImplementedError

    def answer(self, query: Body) -> Body:
        """Answer a query, or refuse one that is not well formed."""
        raise NotImplementedError


class ClientHalf:
    """Base of the client's half."""

    name: ClassVar[str]

    def __init__(self, parameters: Parameters, **options: Any) -> None:
        raise NotImplementedError

    def query(self, index: int) -> tuple[Body, Any]:
        """Return a query for one record, and the secret that reads its answer."""
        raise NotImplementedError

    def decode(self, secret: Any, answer: Body) -> bytes:
        """Return the record."""
        raise NotImplementedError


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


def random_below(n: int) -> int:
    """Return a whole number in [0, n) from the operating system."""
    return secrets.randbelow(n)


def random_unit(n: int) -> int:
    """Return a random number that has an inverse modulo n."""
    g = gmp()
    while True:
        value = 1 + random_below(n - 1)
        if g.gcd(value, n) == 1:
            return value


def random_prime(bits: int, *, residue: tuple[int, int] | None = None) -> int:
    """Return a random prime of exactly that many bits with its two highest bits set.

    ``residue`` (r, m) asks for a prime that is r modulo m.
    """
    g = gmp()
    while True:
        value = secrets.randbits(bits) | (3 << (bits - 2)) | 1
        if residue is not None:
            value += (residue[0] - value) % residue[1]
        if value.bit_length() == bits and g.is_prime(value, 40):
            return int(value)


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
