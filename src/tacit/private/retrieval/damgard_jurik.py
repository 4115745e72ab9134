"""Damgard-Jurik encryption: sums of encrypted numbers, of any length s times the key. Paillier's is the case s = 1.

c = (1 + n)^m r^(n^s) modulo n^(s+1), for messages m < n^s and a fresh random r; E(a) E(b) = E(a + b), E(a)^x = E(a x).

The owner of the key draws r as h^a with a short exponent a from a table of powers of h, an n^s-th residue (Damgard, Jurik and
Nielsen, section 4.2): about ten times faster, under the assumption that such short powers cannot be told from all.

References
----------
Damgard, Jurik (2001), A generalisation, a simplification and some applications of Paillier's probabilistic public-key
system, PKC 2001, LNCS 1992, 119-136.
Damgard, Jurik, Nielsen (2010), A generalization of Paillier's public-key system with applications to electronic voting,
International Journal of Information Security 9, 371-385.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

from tacit.errors import InvalidParameter, ProtocolError
from tacit.private.retrieval.scheme import gmp, random_modulus, random_unit

#: Bits of an exponent that one table look-up serves.
WINDOW = 5


@dataclass(frozen=True)
class PublicKey:
    """The modulus n; whoever has it can encrypt and add."""

    n: int

    @property
    def bits(self) -> int:
        """Return the length of the modulus."""
        return self.n.bit_length()

    def size(self, s: int) -> int:
        """Return the bytes of a ciphertext."""
        return ((s + 1) * self.bits + 7) // 8

    def room(self, s: int) -> int:
        """Return the bytes of a message that are sure to fit."""
        return (s * (self.bits - 1)) // 8

    def encrypt(self, m: int, s: int = 1, r: int | None = None) -> int:
        """Encrypt a number; ``r`` is for worked examples only."""
        self.require_message(m, s)
        g = gmp()
        modulus = self.n ** (s + 1)
        blind = g.powmod(random_unit(self.n) if r is None else r, self.n**s, modulus)
        return int(power_of_one_plus_n(self.n, m, s) * blind % modulus)

    def add(self, values: Iterable[int], s: int = 1) -> int:
        """Return an encryption of the sum."""
        g = gmp()
        modulus = g.mpz(self.n ** (s + 1))
        total = g.mpz(1)
        for value in values:
            total = total * value % modulus
        return int(total)

    def require_message(self, m: int, s: int) -> None:
        """Refuse a number that is outside of the message space."""
        if s < 1:
            raise InvalidParameter(f"s must be at least 1 (got {s})")
        if not 0 <= m < self.n**s:
            raise InvalidParameter("a number is larger than the message space of this key and s")

    def require_ciphertext(self, c: int, s: int) -> None:
        """Refuse what is no ciphertext: zero, too large, or without an inverse."""
        if not 0 < c < self.n ** (s + 1) or gmp().gcd(c, self.n) != 1:
            raise ProtocolError("an element is no ciphertext under the given key")


@dataclass(frozen=True)
class PrivateKey:
    """The key pair: decrypts, and encrypts faster."""

    public: PublicKey
    #: The least common multiple of p - 1 and q - 1.
    exponent: int = field(repr=False)

    @classmethod
    def make(cls, bits: int) -> PrivateKey:
        """Make a key pair from the operating system's randomness."""
        n, p, q = random_modulus(bits)
        return cls(PublicKey(n), int(gmp().lcm(p - 1, q - 1)))

    def decrypt(self, c: int, s: int = 1) -> int:
        """Decrypt: c^d with d = 0 modulo the exponent and 1 modulo n^s, then the logarithm to base 1 + n."""
        g = gmp()
        n = self.public.n
        self.public.require_ciphertext(c, s)
        d = self.exponent * g.invert(self.exponent, n**s)
        return log_of_one_plus_n(n, int(g.powmod(c, d, n ** (s + 1))), s)

    def encrypt(self, m: int, s: int = 1) -> int:
        """Encrypt a number, with a random power from the table."""
        self.public.require_message(m, s)
        modulus = self.public.n ** (s + 1)
        return int(power_of_one_plus_n(self.public.n, m, s) * blind(self.public.n, s) % modulus)


def power_of_one_plus_n(n: int, m: int, s: int) -> int:
    """Return (1 + n)^m modulo n^(s+1) by the binomial theorem."""
    g = gmp()
    modulus = g.mpz(n) ** (s + 1)
    total, term = g.mpz(1), g.mpz(1)
    for k in range(1, s + 1):
        # C(m, k) n^k; the division by k is one by a unit, as all factors of n are larger than s.
        term = term * (m - k + 1) % modulus * n % modulus
        term = term * g.invert(k, modulus) % modulus
        total = (total + term) % modulus
    return int(total)


def log_of_one_plus_n(n: int, a: int, s: int) -> int:
    """Return m for a = (1 + n)^m modulo n^(s+1), digit by digit (the paper's section 3)."""
    g = gmp()
    found = g.mpz(0)
    for j in range(1, s + 1):
        modulus = g.mpz(n) ** j
        t1 = (g.mpz(a) % (modulus * n) - 1) // n
        t2 = found
        for k in range(2, j + 1):
            found = found - 1
            t2 = t2 * found % modulus
            t1 = (t1 - t2 * g.mpz(n) ** (k - 1) * g.invert(g.fac(k), modulus)) % modulus
        found = t1 % modulus
    return int(found)


@functools.lru_cache(maxsize=8)
def blinding_table(n: int, s: int) -> list[list[int]]:
    """Return powers of a random n^s-th residue: entry [i][d] is h^(d 2^(WINDOW i))."""
    g = gmp()
    modulus = g.mpz(n) ** (s + 1)
    # Minus a square generates the group with overwhelming probability (DJN, section 4.2).
    x = random_unit(n)
    base = g.powmod(-x * x % n, g.mpz(n) ** s, modulus)
    table = []
    for _ in range((n.bit_length() // 2 + WINDOW - 1) // WINDOW):
        row = [g.mpz(1)]
        for _ in range((1 << WINDOW) - 1):
            row.append(row[-1] * base % modulus)
        base = row[-1] * base % modulus
        table.append(row)
    return table


def blind(n: int, s: int) -> int:
    """Return a random n^s-th residue: a power of the table's base with an exponent of half the key's length."""
    modulus = gmp().mpz(n) ** (s + 1)
    total = gmp().mpz(1)
    for row in blinding_table(n, s):
        total = total * row[secrets.randbits(WINDOW)] % modulus
    return int(total)
