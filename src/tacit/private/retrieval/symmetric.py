"""Retrieval that gives the client one record and no more.

Every record is encrypted under a key of its own before the table is served, and the key of record i is a hash of h(i)^k, with k
the server's secret. A client blinds h(i) by a random exponent r, the server raises the result to k without knowing i, and the client
takes r off again: one key per query, for a record that the server does not learn. What else the client retrieves it cannot open.

The client checks that its record opens; that the server uses the same k for everybody it cannot check. A server that
did not would learn which records fail to open, if clients complain.

References
----------
Jarecki, Kiayias, Krawczyk (2014), Round-optimal password-protected secret sharing and T-PAKE in the password-only model,
ASIACRYPT 2014, 233-253 (the oblivious function).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tacit.errors import InvalidParameter, ProtocolError
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.wire import take
from tacit.private.retrieval.scheme import Parameters
from tacit.private.retrieval.service import Answer, Client, Query, Server, pad_records, unpad
from tacit.private.union.groups import Group, group_named

LABEL = b"tacit/symmetric/1"


@dataclass(frozen=True)
class SymmetricParameters:
    """What clients must know: the parameters of the encrypted table, and its name."""

    table: Parameters
    name: bytes


class SymmetricServer:
    """A table of which a client opens one record per query.

    ``n_answered`` counts the answers, and with them the records that clients can have opened.
    """

    def __init__(
        self, records: Iterable[bytes | str], scheme: str = "simple", **options: Any
    ) -> None:
        self.group = group_named("ristretto255")
        self._key = self.group.draw_exponent(Randomness())
        name = secrets.token_bytes(16)
        # Padded before they are encrypted: lengths of ciphertexts would tell lengths of records.
        table, _ = pad_records(records)
        sealed = [
            encrypt_record(record_key(name, i, self.group.power(point_of(self.group, name, i), self._key)), r)
            for i, r in enumerate(table)
        ]  # fmt: skip
        self.server = Server(sealed, scheme, **options)
        self.parameters = SymmetricParameters(self.server.parameters, name)
        self.n_answered = 0

    def answer(self, query: Query) -> Answer:
        """Answer with the encrypted part of the table, and one blinded key."""
        found = self.server.answer(query)
        element = take(query.body, "element", bytes, (self.group.size,))
        self.group.require_elements([element])
        self.n_answered += 1
        raised = self.group.power(element, self._key)
        return Answer(found.version, found.number, {**found.body, "element": raised})


class SymmetricClient:
    """Reads one record per query."""

    def __init__(self, parameters: SymmetricParameters, **options: Any) -> None:
        self.parameters = parameters
        self.group = group_named("ristretto255")
        self.client = Client(parameters.table, **options)
        self._open: dict[int, tuple[int, int]] = {}

    def query(self, index: int) -> Query:
        """Return a query for one record."""
        made = self.client.query(index)
        blind = self.group.draw_exponent(Randomness())
        element = self.group.power(point_of(self.group, self.parameters.name, index), blind)
        self._open[made.number] = (index, blind)
        return Query(made.version, made.number, {**made.body, "element": element})

    def decode(self, answer: Answer) -> bytes:
        """Return the record; every answer is read once."""
        element = take(answer.body, "element", bytes, (self.group.size,))
        self.group.require_elements([element])
        sealed = self.client.decode(answer)
        index, blind = self._open.pop(answer.number)
        key = record_key(
            self.parameters.name, index, self.group.power(element, self.group.invert(blind))
        )
        return unpad(decrypt_record(key, sealed))


def point_of(group: Group, name: bytes, index: int) -> bytes:
    """Return the element of a record of a table."""
    if index < 0:
        raise InvalidParameter("index must be a whole number of at least 0")
    return group.hash_identifier(LABEL + name + int(index).to_bytes(8, "big"))


def record_key(name: bytes, index: int, element: bytes) -> bytes:
    """Return the key of a record."""
    return hashlib.sha3_256(LABEL + name + int(index).to_bytes(8, "big") + element).digest()


def encrypt_record(key: bytes, record: bytes) -> bytes:
    """Encrypt a record; its key is used for nothing else."""
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    return ChaCha20Poly1305(key).encrypt(bytes(12), record, None)


def decrypt_record(key: bytes, sealed: bytes) -> bytes:
    """Decrypt a record, or refuse one that does not open."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    try:
        return ChaCha20Poly1305(key).decrypt(bytes(12), sealed, None)
    except InvalidTag:
        raise ProtocolError("a record does not open: the answer is damaged") from None
