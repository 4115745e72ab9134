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
    Parameters,
    StudyClient,
    StudyServer,
    gmp,
    join_bits,
    pack_numbers,
    random_prime,
    random_unit,
    take_bounded,
    unpack_numbers,
)

# -- Cachin, Micali, Stadler ------------------------------------------------------------------------


class CmsServer(StudyServer):
    """Knows the primes of the records, from a published start."""

    def __init__(
        self,
        table: Sequence[bytes],
        length: int,
        *,
        key_bits: int = USUAL_KEY,
        insecure_ok: bool = False,
    ) -> None:
        super().__init__(table, length, key_bits=key_bits, insecure_ok=insecure_ok)
        self.start = secrets.randbits(60) | (1 << 59) if key_bits >= 512 else 4096
        self.primes = primes_from(self.start, len(table))

    @property
    def public(self) -> Body:
        """Return where the primes start, and the length of keys."""
        return {"start": self.start, "key_bits": self.key_bits}

    def answer(self, query: Body) -> Body:
        """Raise x to the primes of the ones, for every bit of a record."""
        parts = (take(query, name, bytes, (self.size,)) for name in ("modulus", "x"))
        m, x = (int.from_bytes(part, "big") for part in parts)
        self.require_units([(m, x)])
        answers = [answer_cms(ones, self.primes, x, m) for ones in self.bits()]
        return {"numbers": pack_numbers(answers, self.size)}


class CmsClient(StudyClient):
    """Makes a modulus for every query."""

    deep: ClassVar[bool] = False

    def __init__(self, parameters: Parameters, **options: Any) -> None:
        super().__init__(parameters, **options)
        self.primes = primes_from(take_bounded(parameters.public, "start"), parameters.n)
        if max(self.primes).bit_length() * 4 > self.key_bits:
            raise InvalidParameter(
                "the primes are too large for this key: a factor of phi could be found"
            )

    def query(self, index: int) -> tuple[Body, Any]:
        """Return a modulus whose phi the wanted prime divides, and a number that is no such power."""
        prime = self.primes[index]
        m, phi = hide_factor(prime, self.key_bits)
        numbers = {"modulus": m, "x": no_power(m, phi, prime)}
        return {k: v.to_bytes(self.size, "big") for k, v in numbers.items()}, (m, phi, prime)

    def decode(self, secret: Any, answer: Body) -> bytes:
        """Read every bit."""
        m, phi, prime = secret
        numbers = self.numbers(answer, 8 * self.length)
        return join_bits([decode_cms(z, phi, prime, m) for z in numbers])


def no_power(m: int, phi: int, prime: int) -> int:
    """Return a random unit that is no power of a prime that divides phi."""
    while True:
        x = random_unit(m)
        if gmp().powmod(x, phi // prime, m) != 1:
            return x


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


class GrServer(StudyServer):
    """Holds one number for all records, per chunk; in depth L the answers of one level are the records of the next."""

    def __init__(self, table: Sequence[bytes], length: int, **options: Any) -> None:
        super().__init__(table, length, **options)
        self.room = self.key_bits // 5 // 8
        self.powers = prime_powers(self.side, 8 * self.room)
        self.chunks = self.cut(self.room)

    def answer(self, query: Body) -> Body:
        """Return the generator of every dimension to the power of the table."""
        packed = take(query, "pairs", bytes, (2 * self.size * self.depth,))
        numbers = unpack_numbers(packed, self.size)
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
        self.require_units(pairs)
        found = [z for chunk in self.chunks for z in self._answer(chunk, pairs)]
        return {"numbers": pack_numbers(found, self.size)}

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


class GrClient(StudyClient):
    """Makes a modulus and a generator per dimension."""

    def __init__(self, parameters: Parameters, **options: Any) -> None:
        super().__init__(parameters, **options)
        self.room = self.key_bits // 5 // 8
        self.powers = prime_powers(self.side, 8 * self.room)

    def query(self, index: int) -> tuple[Body, Any]:
        """Return a modulus that hides the wanted prime power, and a generator, per dimension."""
        secret, numbers = [], []
        for at in self.place(index):
            prime, exponent, pi = self.powers[at]
            m, phi = hide_factor(pi, self.key_bits)
            generator = no_power(m, phi, prime)
            secret.append((m, phi, generator, prime, exponent))
            numbers += [m, generator]
        return {"pairs": pack_numbers(numbers, self.size)}, secret

    def decode(self, secret: Any, answer: Body) -> bytes:
        """Take discrete logarithms in the small subgroups, from the outermost dimension in."""
        n_digits = -(-self.key_bits // (8 * self.room))

        def read(level: list[int]) -> int:
            for m, phi, generator, prime, exponent in reversed(secret):
                opened = [decode_gr(z, generator, phi, prime, exponent, m) for z in level]
                groups = [opened[k : k + n_digits] for k in range(0, len(opened), n_digits)]
                level = [sum(d << (8 * self.room * j) for j, d in enumerate(g)) for g in groups]
                if len(opened) == 1:
                    level = opened
            return level[0]

        per_chunk = n_digits ** (self.depth - 1)
        return self.join(answer, self.room, self.size, per_chunk, read)


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
