"""The schemes that hide a factor of phi(m): Cachin, Micali and Stadler's, and Gentry and Ramzan's. For study.

The server knows one small prime (or prime power) per record. The client's modulus m is made so that the wanted one divides phi(m), which
nobody else can see. CMS: the answer x^(product of the primes of ones) is a p_i-th power exactly when bit i is 1. GR: the
table is one number e with e = C_i modulo pi_i (Chinese remainders); the answer g^e gives C_i as a discrete logarithm in the
small subgroup of order pi_i. Prime powers are those of the first odd primes, so that both sides know them without a message.

The primes must stay below about m^(1/4), as larger factors of phi(m) can be found.

References
----------
Cachin, Micali, Stadler (1999), Computationally private information retrieval with polylogarithmic communication,
EUROCRYPT 1999, 402-414.
Gentry, Ramzan (2005), Single-database private information retrieval with constant communication rate, ICALP 2005, 803-815.
Aguilar Melchor, Deswarte (2006), PSD 2006, LNCS 4302, 257-265.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, ClassVar

from tacit.errors import InvalidParameter, ProtocolError
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
    random_prime,
    random_unit,
    require_bounded,
    require_key,
    take_bounded,
    unpack_numbers,
)

# -- Cachin, Micali, Stadler ------------------------------------------------------------------------


class CmsServer(ServerHalf):
    """Knows the primes of the records, from a published start."""

    name: ClassVar[str] = "cms"

    def __init__(
        self,
        table: Sequence[bytes],
        length: int,
        *,
        key_bits: int = USUAL_KEY,
        insecure_ok: bool = False,
    ) -> None:
        self.table, self.length = table, length
        self.key_bits = require_key(key_bits, insecure_ok=insecure_ok)
        self.start = secrets.randbits(60) | (1 << 59) if key_bits >= 512 else 4096
        self.primes = primes_from(self.start, len(table))

    @property
    def public(self) -> Body:
        """Return where the primes start, and the length of keys."""
        return {"start": self.start, "key_bits": self.key_bits}

    def answer(self, query: Body) -> Body:
        """Raise x to the primes of the ones, for every bit of a record."""
        size = (self.key_bits + 7) // 8
        m, x = (int.from_bytes(take(query, n, bytes, (size,)), "big") for n in ("modulus", "x"))
        if m.bit_length() != self.key_bits or not 1 < x < m or gmp().gcd(x, m) != 1:
            raise ProtocolError("a query lies outside of the group")
        answers = []
        for bit in range(8 * self.length):
            ones = [r[bit // 8] >> (7 - bit % 8) & 1 for r in self.table]
            answers.append(answer_cms(ones, self.primes, x, m))
        return {"numbers": pack_numbers(answers, size)}


class CmsClient(ClientHalf):
    """Makes a modulus for every query."""

    name: ClassVar[str] = "cms"

    def __init__(
        self, parameters: Parameters, *, key_bits: int | None = None, insecure_ok: bool = False
    ) -> None:
        told = take_bounded(parameters.public, "key_bits")
        self.key_bits = require_key(key_bits or told, insecure_ok=insecure_ok)
        self.length = parameters.length
        self.primes = primes_from(take_bounded(parameters.public, "start"), parameters.n)
        if max(self.primes).bit_length() * 4 > self.key_bits:
            raise InvalidParameter(
                "the primes are too large for this key: a factor of phi could be found"
            )

    def query(self, index: int) -> tuple[Body, Any]:
        """Return a modulus whose phi the wanted prime divides, and a number that is no such power."""
        prime = self.primes[index]
        m, phi = hide_factor(prime, self.key_bits)
        while True:
            x = random_unit(m)
            if gmp().powmod(x, phi // prime, m) != 1:
                break
        size = (self.key_bits + 7) // 8
        return {"modulus": m.to_bytes(size, "big"), "x": x.to_bytes(size, "big")}, (m, phi, prime)

    def decode(self, secret: Any, answer: Body) -> bytes:
        """Read every bit."""
        m, phi, prime = secret
        size = (self.key_bits + 7) // 8
        packed = take(answer, "numbers", bytes, (size * 8 * self.length,))
        bits = [decode_cms(z, phi, prime, m) for z in unpack_numbers(packed, size)]
        return bytes(int("".join(map(str, bits[i : i + 8])), 2) for i in range(0, len(bits), 8))


def primes_from(start: int, n: int) -> list[int]:
    """Return the n primes after a number."""
    g = gmp()
    found, value = [], g.mpz(start)
    for _ in range(n):
        value = g.next_prime(value)
        found.append(int(value))
    return found


def answer_cms(ones: Sequence[int], primes: Sequence[int], x: int, m: int) -> int:
    """Return x to the product of the primes of the ones; powers for zeros are computed and dropped."""
    g = gmp()
    value = g.mpz(x)
    for one, prime in zip(ones, primes, strict=True):
        raised = g.powmod(value, prime, m)
        value = raised if one else value
    return int(value)


def decode_cms(answer: int, phi: int, prime: int, m: int) -> int:
    """Return the bit: 1 when the answer is a power of the wanted prime."""
    return int(gmp().powmod(answer, phi // prime, m) == 1)


# -- Gentry, Ramzan --------------------------------------------------------------------------------


class GrServer(ServerHalf):
    """Holds one number for all records, per chunk; in depth L the answers of one level are the records of the next."""

    name: ClassVar[str] = "gr"

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
        self.depth, self.key_bits = depth, require_key(key_bits, insecure_ok=insecure_ok)
        self.side = cube_side(len(table), depth)
        self.room = key_bits // 5 // 8
        self.powers = prime_powers(self.side, 8 * self.room)
        padded = [*table, *([bytes(length)] * (self.side**depth - len(table)))]
        self.chunks = [
            [int.from_bytes(r[i : i + self.room], "big") for r in padded]
            for i in range(0, length, self.room)
        ]

    @property
    def public(self) -> Body:
        """Return depth and length of keys; the prime powers follow from them."""
        return {"depth": self.depth, "key_bits": self.key_bits}

    def answer(self, query: Body) -> Body:
        """Return the generator of every dimension to the power of the table."""
        size = (self.key_bits + 7) // 8
        packed = take(query, "pairs", bytes, (2 * size * self.depth,))
        numbers = unpack_numbers(packed, size)
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
        if any(
            m.bit_length() != self.key_bits or not 1 < x < m or gmp().gcd(x, m) != 1
            for m, x in pairs
        ):
            raise ProtocolError("a query lies outside of the group")
        found = [z for chunk in self.chunks for z in self._answer(chunk, pairs)]
        return {"numbers": pack_numbers(found, size)}

    def _answer(self, values: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[int]:
        (m, generator), rest = pairs[0], pairs[1:]
        moduli = [pi for _, _, pi in self.powers]
        lines = [
            int(gmp().powmod(generator, combine_remainders(values[i : i + self.side], moduli), m))
            for i in range(0, len(values), self.side)
        ]
        if not rest:
            return lines
        mask = (1 << (8 * self.room)) - 1
        n_digits = -(-self.key_bits // (8 * self.room))
        digits = [[z >> (8 * self.room * d) & mask for z in lines] for d in range(n_digits)]
        return [z for column in digits for z in self._answer(column, rest)]


class GrClient(ClientHalf):
    """Makes a modulus and a generator per dimension."""

    name: ClassVar[str] = "gr"

    def __init__(
        self, parameters: Parameters, *, key_bits: int | None = None, insecure_ok: bool = False
    ) -> None:
        told = take_bounded(parameters.public, "key_bits")
        self.key_bits = require_key(key_bits or told, insecure_ok=insecure_ok)
        self.depth, self.length = take_bounded(parameters.public, "depth"), parameters.length
        self.side = cube_side(parameters.n, self.depth)
        self.room = self.key_bits // 5 // 8
        self.powers = prime_powers(self.side, 8 * self.room)

    def query(self, index: int) -> tuple[Body, Any]:
        """Return a modulus that hides the wanted prime power, and a generator, per dimension."""
        size = (self.key_bits + 7) // 8
        secret, numbers = [], []
        for at in cube_place(index, self.side, self.depth):
            prime, exponent, pi = self.powers[at]
            m, phi = hide_factor(pi, self.key_bits)
            while True:
                generator = random_unit(m)
                if gmp().powmod(generator, phi // prime, m) != 1:
                    break
            secret.append((m, phi, generator, prime, exponent))
            numbers += [m, generator]
        return {"pairs": pack_numbers(numbers, size)}, secret

    def decode(self, secret: Any, answer: Body) -> bytes:
        """Take discrete logarithms in the small subgroups, from the outermost dimension in."""
        size = (self.key_bits + 7) // 8
        n_digits = -(-self.key_bits // (8 * self.room))
        per_chunk = n_digits ** (self.depth - 1)
        sizes = [min(self.room, self.length - i) for i in range(0, self.length, self.room)]
        packed = take(answer, "numbers", bytes, (size * per_chunk * len(sizes),))
        numbers = unpack_numbers(packed, size)
        record = b""
        for i, n_bytes in enumerate(sizes):
            level = numbers[i * per_chunk : (i + 1) * per_chunk]
            for m, phi, generator, prime, exponent in reversed(secret):
                opened = [decode_gr(z, generator, phi, prime, exponent, m) for z in level]
                level = [
                    sum(d << (8 * self.room * j) for j, d in enumerate(opened[k : k + n_digits]))
                    for k in range(0, len(opened), n_digits)
                ] if len(opened) > 1 else opened  # fmt: skip
            if level[0].bit_length() > 8 * n_bytes:
                raise ProtocolError("an answer holds more than a record can")
            record += level[0].to_bytes(n_bytes, "big")
        return record


def prime_powers(n: int, bits: int) -> list[tuple[int, int, int]]:
    """Return the first n odd primes, each with the smallest power of at least that many bits."""
    found = []
    for prime in primes_from(2, n):
        exponent, power = 1, prime
        while power < 1 << bits:
            exponent, power = exponent + 1, power * prime
        found.append((prime, exponent, power))
    return found


def combine_remainders(values: Sequence[int], moduli: Sequence[int]) -> int:
    """Return the number with these remainders, by halves (Chinese remainder theorem)."""
    return combine(list(values), list(moduli))[0]


def combine(values: list[int], moduli: list[int]) -> tuple[int, int]:
    """Return the number and the product of the moduli."""
    if len(values) == 1:
        return values[0] % moduli[0], moduli[0]
    half = len(values) // 2
    (a, m), (b, n) = combine(values[:half], moduli[:half]), combine(values[half:], moduli[half:])
    return int(a + m * ((b - a) * gmp().invert(m, n) % n)), m * n


def hide_factor(factor: int, bits: int) -> tuple[int, int]:
    """Return a modulus Q0 Q1 of that many bits and its phi, where the factor divides Q0 - 1."""
    g = gmp()
    half = bits // 2
    if factor.bit_length() > half - 16:
        raise InvalidParameter(
            "the key is too short for this table: use a longer one or a deeper cube"
        )
    while True:
        q0 = secrets.randbits(half - factor.bit_length()) | 1
        first = 2 * q0 * factor + 1
        if first.bit_length() == half and g.is_prime(first, 40):
            break
    while True:
        second = random_prime(bits - half)
        # The factor must stand in one half only: in both, every element would be a power.
        apart = second != first and g.gcd(factor, second - 1) == 1
        if apart and (first * second).bit_length() == bits:
            return first * second, (first - 1) * (second - 1)


def decode_gr(answer: int, generator: int, phi: int, prime: int, exponent: int, m: int) -> int:
    """Return the logarithm of the answer in the subgroup of order prime^exponent (Pohlig and Hellman).

    One digit in base prime after the other; all powers of the subgroup's element of prime order are kept.
    """
    g = gmp()
    pi = prime**exponent
    base = g.powmod(generator, phi // pi, m)
    rest = g.powmod(answer, phi // pi, m)
    small = g.powmod(base, pi // prime, m)
    powers, value = {}, g.mpz(1)
    for digit in range(prime):
        powers[value] = digit
        value = value * small % m
    found, step = 0, 1
    inverse = g.invert(base, m)
    for i in range(exponent):
        head = g.powmod(rest, prime ** (exponent - 1 - i), m)
        if head not in powers:
            raise ProtocolError("an answer lies outside of the group")
        digit = powers[head]
        found += digit * step
        rest = rest * g.powmod(inverse, digit * step, m) % m
        step *= prime
    return found
