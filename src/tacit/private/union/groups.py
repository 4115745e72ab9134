"""Groups in which identifiers are hashed and data are encrypted by exponents that commute.

h(id)^a^b = h(id)^b^a: two parties with secret exponents a and b come to the same token for the same identifier, and neither can
compute it alone. Data are encrypted the same way, m^k, and decrypted with the inverse exponent.

``ristretto255`` is a group of prime order on Curve25519 (libsodium's implementation); ``modp2048`` and ``modp3072`` are the squares modulo the safe
primes of RFC 3526, as in Pohlig and Hellman's cipher. Elements travel as bytes of one size, and every received one is checked.

References
----------
Pohlig, Hellman (1978), An improved algorithm for computing logarithms over GF(p), IEEE Trans. Information Theory 24, 106-110.
Kivinen, Kojo (2003), More modular exponential Diffie-Hellman groups, RFC 3526.
de Valence, Grigg, Hamburg, Lovecruft, Tankersley, Valsorda (2023), The ristretto255 and decaf448 groups, RFC 9496.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any

from tacit.errors import EngineMissing, InvalidParameter, ProtocolError, near_match
from tacit.private.parties.randomness import Randomness

LABEL = b"psu-id-v1"


class Group:
    """A group of prime order, with elements as bytes."""

    name: str
    #: Bytes of an element, of the random salt in a block, and of the data that a block holds.
    size: int
    salt: int
    room: int

    def hash_identifier(self, identifier: bytes) -> bytes:
        """Return the element of an identifier; nobody knows its logarithm."""
        raise NotImplementedError

    def draw_exponent(self, random: Randomness, *, invertible: bool = True) -> int:
        """Draw a secret exponent; one that is never inverted may be shorter where that is faster."""
        raise NotImplementedError

    def invert(self, exponent: int) -> int:
        """Return the exponent that undoes another."""
        raise NotImplementedError

    def power(self, element: bytes, exponent: int) -> bytes:
        """Raise an element to an exponent."""
        raise NotImplementedError

    def draw_element(self, random: Randomness) -> bytes:
        """Draw an element, each with the same chance."""
        raise NotImplementedError

    def encode(self, content: bytes, random: Randomness) -> bytes:
        """Return the element of ``salt + room`` bytes, from which they can be read again."""
        raise NotImplementedError

    def decode(self, element: bytes) -> bytes:
        """Return the bytes of an encoded element."""
        raise NotImplementedError

    def is_element(self, element: bytes) -> bool:
        """Return True for an element other than the identity."""
        raise NotImplementedError

    def require_elements(self, elements: list[bytes]) -> None:
        """Refuse what is no element, and the identity."""
        if not all(map(self.is_element, elements)):
            raise ProtocolError("an element that was received is not in the group")

    def pack(self, elements: list[bytes]) -> bytes:
        """Return elements one after the other."""
        return b"".join(elements)

    def unpack(self, data: bytes) -> list[bytes]:
        """Return checked elements of packed ones."""
        if len(data) % self.size:
            raise ProtocolError("a list that was received has the wrong length")
        elements = [data[i : i + self.size] for i in range(0, len(data), self.size)]
        self.require_elements(elements)
        return elements


#: The prime of Curve25519, below which canonical forms of ristretto255 lie.
FIELD = 2**255 - 19


class Ristretto(Group):
    """ristretto255, by libsodium."""

    name = "ristretto255"
    size = 32
    # A block carries 30 bytes. Salts of 10 bytes let two of a million blocks be equal with a chance of 2^-41.
    salt = 10
    room = 20
    order = 2**252 + 27742317777372353535851937790883648493

    def __init__(self) -> None:
        try:
            import rbcl
        except ImportError:
            raise EngineMissing(
                "the group ristretto255 needs rbcl: pip install 'tacit[private]'"
            ) from None
        self._lib = rbcl

    def hash_identifier(self, identifier: bytes) -> bytes:
        """Map a 64-byte hash of the identifier to the group by the standard map."""
        mark = hashlib.shake_256(LABEL + identifier).digest(64)
        return bytes(self._lib.crypto_core_ristretto255_from_hash(mark))

    def draw_exponent(self, random: Randomness, *, invertible: bool = True) -> int:
        """Draw from [2, q - 1]."""
        del invertible
        return random.between(2, self.order - 1)

    def invert(self, exponent: int) -> int:
        """Invert modulo the order."""
        return pow(exponent, -1, self.order)

    def power(self, element: bytes, exponent: int) -> bytes:
        """Multiply the point by the scalar."""
        try:
            return bytes(
                self._lib.crypto_scalarmult_ristretto255(exponent.to_bytes(32, "little"), element)
            )
        except RuntimeError:  # libsodium's word for a result that is the identity
            raise ProtocolError("an element that was received is not in the group") from None

    def draw_element(self, random: Randomness) -> bytes:
        """Map 64 random bytes to the group."""
        return bytes(self._lib.crypto_core_ristretto255_from_hash(random.draw(64)))

    def encode(self, content: bytes, random: Randomness) -> bytes:
        """Put the content between bytes that are drawn until the whole is an element: about four tries."""
        is_valid = self._lib.crypto_core_ristretto255_is_valid_point
        while True:
            first, last = random.draw(2)
            tried = bytes([first & 0xFE]) + content + bytes([last & 0x7F])
            if is_valid(tried):
                return tried

    def decode(self, element: bytes) -> bytes:
        """Return what lies between the first and the last byte."""
        return element[1:31]

    def is_element(self, element: bytes) -> bool:
        """Ask libsodium, and for the one canonical form (RFC 9496, 4.3.1): an even number below p; the identity is 0.

        Some versions of libsodium ignore the highest bit, so that an element would have two forms.
        """
        return (
            len(element) == 32
            and 0 < int.from_bytes(element, "little") < FIELD
            and element[0] % 2 == 0
            and bool(self._lib.crypto_core_ristretto255_is_valid_point(element))
        )


class Modp(Group):
    """The squares modulo a safe prime p = 2 q + 1."""

    salt = 16

    def __init__(self, p: int, name: str, short_bits: int | None = 256) -> None:
        import gmpy2

        self._gmp, self.name = gmpy2, name
        self.p, self.q = gmpy2.mpz(p), gmpy2.mpz(p - 1) // 2
        self.size = (p.bit_length() + 7) // 8
        self.room = (p.bit_length() - 2) // 8 - self.salt
        self.short_bits = short_bits

    def hash_identifier(self, identifier: bytes) -> bytes:
        """Square a hash that is 16 bytes longer than p, so that it is even."""
        mark = hashlib.shake_256(LABEL + identifier).digest(self.size + 16)
        return self.to_bytes(self._gmp.powmod(int.from_bytes(mark, "big"), 2, self.p))

    def draw_exponent(self, random: Randomness, *, invertible: bool = True) -> int:
        """Draw from [2, q - 1]; of 256 bits where the exponent is never inverted.

        Short exponents rest on the assumption that discrete logarithms of that length are as hard (van Oorschot, Wiener 1996).
        """
        if not invertible and self.short_bits is not None:
            return random.between(2, 1 << self.short_bits) | 1
        return random.between(2, int(self.q) - 1)

    def invert(self, exponent: int) -> int:
        """Invert modulo q."""
        return int(self._gmp.invert(exponent, self.q))

    def power(self, element: bytes, exponent: int) -> bytes:
        """Raise modulo p."""
        return self.to_bytes(self._gmp.powmod(int.from_bytes(element, "big"), exponent, self.p))

    def draw_element(self, random: Randomness) -> bytes:
        """Square a random number: raw random bits would be told from elements."""
        return self.to_bytes(self._gmp.powmod(random.between(2, int(self.p) - 2), 2, self.p))

    def encode(self, content: bytes, random: Randomness) -> bytes:
        """Take the number m or p - m, whichever is a square: otherwise the Legendre symbol would leak."""
        del random
        return self.encode_number(int.from_bytes(content, "big") + 1)

    def encode_number(self, m: int) -> bytes:
        """Encode a number in [1, q]."""
        if not 1 <= m <= self.q:
            raise InvalidParameter("a block does not fit into the group")
        return self.to_bytes(m if self._gmp.legendre(m, self.p) == 1 else self.p - m)

    def decode(self, element: bytes) -> bytes:
        """Return the bytes of an encoded element."""
        number = self.decode_number(element) - 1
        size = self.salt + self.room
        if number.bit_length() > 8 * size:
            raise ProtocolError("a block that was received is damaged")
        return number.to_bytes(size, "big")

    def decode_number(self, element: bytes) -> int:
        """Return the smaller of y and p - y."""
        y = int.from_bytes(element, "big")
        return int(min(y, self.p - y))

    def is_element(self, element: bytes) -> bool:
        """Test that the number is a square other than 1."""
        y = int.from_bytes(element, "big")
        return len(element) == self.size and 1 < y < self.p and self._gmp.legendre(y, self.p) == 1

    def to_bytes(self, y: Any) -> bytes:
        """Return a number as bytes."""
        return int(y).to_bytes(self.size, "big")


def ike_prime(bits: int) -> int:
    """Return the safe prime of RFC 3526: 2^b - 2^(b-64) - 1 + 2^64 (floor(2^(b-130) pi) + c)."""
    import gmpy2

    c = {2048: 124476, 3072: 1690314}[bits]
    with gmpy2.context(precision=bits + 64):
        scaled = int(gmpy2.floor(gmpy2.const_pi() * gmpy2.mpz(2) ** (bits - 130)))
    return int(2**bits - 2 ** (bits - 64) - 1 + 2**64 * (scaled + c))


@functools.cache
def group_named(name: str) -> Group:
    """Return a group by its name."""
    known = ("ristretto255", "modp2048", "modp3072")
    if name not in known:
        raise InvalidParameter(
            f"there is no group {name!r}. {near_match(name, known) or 'Groups: ' + ', '.join(known) + '.'}"
        )
    if name == "ristretto255":
        return Ristretto()
    bits = int(name.removeprefix("modp"))
    try:
        return Modp(ike_prime(bits), name)
    except ImportError:
        raise EngineMissing(f"the group {name} needs gmpy2: pip install 'tacit[private]'") from None
