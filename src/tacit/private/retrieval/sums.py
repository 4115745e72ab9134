"""Private sums: the sum, mean or weighted mean of records that the server does not learn.

The client sends one encrypted weight per record (Paillier); the server multiplies the encryptions raised to its values and
returns an encryption of the weighted sum. Weights and values are whole numbers; the sum must stay below the message space, which
both sides check beforehand. The server cannot see the weights. It adds a random multiple of one more than the largest sum that was
agreed on, so that a client learns one number up to that sum whatever its weights are: with weights such as 1, 2^60, 2^120 it would
otherwise read several values out of one answer.

References
----------
Aguilar Melchor, Deswarte (2006), PSD 2006, LNCS 4302, 257-265, section 4.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.errors import InputError, InvalidParameter, ProtocolError
from tacit.private.parties.wire import Body, take
from tacit.private.retrieval.damgard_jurik import PrivateKey, PublicKey
from tacit.private.retrieval.homomorphic import fold_lines
from tacit.private.retrieval.scheme import USUAL_KEY, pack_numbers, require_key, unpack_numbers

#: Bits by which the message space exceeds a sum, so that the random multiple hides how often the bound was passed.
HIDING = 64


@dataclass(frozen=True)
class PrivateSum:
    """What a client learns: a weighted sum, and the sum of its own weights."""

    total: int
    weight: int

    @property
    def mean(self) -> float:
        """Return the weighted mean."""
        if not self.weight:
            raise InputError("a mean needs at least one record with a weight")
        return self.total / self.weight


class SumServer:
    """Holds whole numbers, of which clients take sums.

    ``largest_weight`` bounds the weights that clients may use: the sum with larger ones comes modulo the largest that is allowed, and
    is of no use. The server cannot see which records a client sums, and so cannot refuse a sum over one: the values must be fit for
    release one by one (protected once and for all).
    """

    def __init__(self, values: Sequence[int], *, largest_weight: int = 1) -> None:
        if not len(values) or any(isinstance(v, bool) or int(v) != v or v < 0 for v in values):
            raise InputError(
                "values to be summed must be whole numbers of at least 0; scale and shift them first"
            )
        self.values = [int(v) for v in values]
        self.largest_weight = largest_weight
        #: What clients must know: how many values there are, and how large a sum can be.
        self.parameters = {"n": len(values), "bound": sum(self.values_bound()) * largest_weight}

    def values_bound(self) -> list[int]:
        """Return a public bound of every value: the next power of two above the largest."""
        return [1 << max(self.values).bit_length()] * len(self.values)

    def answer(self, query: Body) -> Body:
        """Return an encryption of the weighted sum."""
        key = PublicKey(int.from_bytes(take(query, "modulus", bytes), "big"))
        if self.parameters["bound"] >= key.n >> HIDING:
            raise ProtocolError("the key of a query is too short for a sum of these values")
        size = key.size(1)
        weights = unpack_numbers(take(query, "weights", bytes, (size * len(self.values),)), size)
        for c in weights:
            key.require_ciphertext(c, 1)
        (total,) = fold_lines(self.values, weights, key.n**2)
        # A fresh encryption hides how the sum was made; the multiple hides all but the sum modulo the bound.
        modulus = self.parameters["bound"] + 1
        mask = modulus * secrets.randbelow(key.n // modulus)
        return {"total": key.add([total, key.encrypt(mask)]).to_bytes(size, "big")}


class SumClient:
    """Asks for sums with weights that stay secret."""

    def __init__(
        self,
        parameters: dict[str, int],
        *,
        key_bits: int = USUAL_KEY,
        insecure_ok: bool = False,
    ) -> None:
        self.n = parameters["n"]
        self.key = PrivateKey.make(require_key(key_bits, insecure_ok=insecure_ok))
        self.modulus = parameters["bound"] + 1
        if parameters["bound"] >= self.key.public.n >> HIDING:
            raise InvalidParameter(
                "key_bits are too few for a sum of these values; take a longer key"
            )
        self._weight: int | None = None

    def query(self, weights: Sequence[int]) -> Body:
        """Encrypt one weight per record: 1 for the chosen ones and 0 for the others, or any whole numbers."""
        if len(weights) != self.n or any(int(w) != w or w < 0 for w in weights):
            raise InvalidParameter(f"weights must be {self.n} whole numbers of at least 0")
        public = self.key.public
        self._weight = sum(int(w) for w in weights)
        return {
            "modulus": public.n.to_bytes((public.bits + 7) // 8, "big"),
            "weights": pack_numbers([self.key.encrypt(int(w)) for w in weights], public.size(1)),
        }

    def decode(self, answer: Body) -> PrivateSum:
        """Return the sum."""
        if self._weight is None:
            raise ProtocolError("an answer belongs to no open query of this client")
        total = take(answer, "total", bytes, (self.key.public.size(1),))
        weight, self._weight = self._weight, None
        found = self.key.decrypt(int.from_bytes(total, "big")) % self.modulus
        return PrivateSum(found, weight)
