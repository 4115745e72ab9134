"""Server and Client: one way to use every retrieval scheme, with the sizes of what went over the wire.

What the server learns: that a query was made, and its version of the table. What the client learns: its record; with
the matrix layouts of "simple" also the other records in the same column of the table, so that a table must be public as a
whole (see :mod:`tacit.private.retrieval.policy`).
"""

from __future__ import annotations

import hashlib
import operator
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.errors import InputError, InvalidParameter, ProtocolError, Slow, near_match
from tacit.private.parties.wire import Body, Message, decode, encode, take
from tacit.private.retrieval import homomorphic, phi_hiding, residuosity, simple, two_servers
from tacit.private.retrieval.scheme import (
    MOST_RECORDS,
    MOST_STUDIED,
    ClientHalf,
    Parameters,
    ServerHalf,
    digest_table,
)

#: The server's and the client's half of each scheme.
HALVES: dict[str, tuple[Callable[..., ServerHalf], Callable[..., ClientHalf]]] = {
    "simple": (simple.Server, simple.Client),
    "ko": (residuosity.Server, residuosity.Client),
    "stern": (homomorphic.Server, homomorphic.Client),
    "lipmaa": (homomorphic.LipmaaServer, homomorphic.LipmaaClient),
    "cms": (phi_hiding.CmsServer, phi_hiding.CmsClient),
    "gr": (phi_hiding.GrServer, phi_hiding.GrClient),
    "chor": (two_servers.Server, two_servers.Client),
}
#: Bytes from which the study schemes take minutes per query.
STUDY_LIMIT = 1_000_000
LENGTH_BYTES = 4
#: The part of the parameters with a digest of every record, and the bytes of one.
DIGESTS = "digests"
DIGEST_BYTES = 16


@dataclass(frozen=True)
class Query:
    """A query, as it goes to the server; the secret that reads its answer stays with the client."""

    version: str
    number: int
    body: Body = field(repr=False)

    def to_bytes(self) -> bytes:
        """Return the query as it travels."""
        return encode(Message(self.version, "client", "server", f"query {self.number}", self.body))

    @classmethod
    def from_bytes(cls, data: bytes) -> Query:
        """Read a query that has travelled, or refuse it."""
        message = decode(data)
        return cls(message.run, number_of(message.step, "query"), message.body)

    @property
    def n_bits(self) -> int:
        """Return the bits of the query itself, without its envelope."""
        return body_bits(self.body)


@dataclass(frozen=True)
class Answer:
    """An answer, as it goes to the client."""

    version: str
    number: int
    body: Body = field(repr=False)

    def to_bytes(self) -> bytes:
        """Return the answer as it travels."""
        return encode(Message(self.version, "server", "client", f"answer {self.number}", self.body))

    @classmethod
    def from_bytes(cls, data: bytes) -> Answer:
        """Read an answer that has travelled, or refuse it."""
        message = decode(data)
        return cls(message.run, number_of(message.step, "answer"), message.body)

    @property
    def n_bits(self) -> int:
        """Return the bits of the answer itself, without its envelope."""
        return body_bits(self.body)


class Server:
    """A table that clients read without telling what they read.

    Parameters
    ----------
    records
        Texts or bytes, one per record, or one column of released data. They are padded to one length. The whole table
        counts as public: serve only what has been protected for release. Data with roles (``tacit.Microdata``) are refused; use
        :func:`tacit.private.retrieval.serve_release`, which verifies the release first.
    scheme
        "simple" for use; "ko", "stern", "lipmaa", "cms", "gr" and "chor" for study and comparison.
    options
        Of the scheme: ``depth``, ``s``, ``key_bits``, ``insecure_ok``.
    """

    def __init__(
        self, records: Iterable[bytes | str], scheme: str = "simple", **options: Any
    ) -> None:
        half, _ = pick(scheme)
        table, self.length = pad_records(records)
        size = len(table) * self.length
        if scheme not in ("simple", "chor") and size > STUDY_LIMIT:
            warnings.warn(
                f"scheme {scheme!r} is for study: a query over {size / 1e6:,.0f} MB takes long; use 'simple'",
                Slow,
                stacklevel=2,
            )
        try:
            self.half = half(table, self.length, **options)
        except TypeError as error:
            raise InvalidParameter(f"scheme {scheme!r}: {option_fault(error)}") from None
        public = self.half.public
        hint_bits = body_bits(public)
        public = {**public, DIGESTS: b"".join(digest_record(i, r) for i, r in enumerate(table))}
        packed = encode(Message("", "server", "client", "parameters", public))
        version = digest_table(scheme, table, self.length, packed)
        self.parameters = Parameters(scheme, len(table), self.length, version, public)
        if scheme == "simple" and hint_bits > 8 * size:
            warnings.warn(
                "the hint is larger than the table: downloading the whole table is cheaper and as private",
                Slow,
                stacklevel=2,
            )

    def answer(self, query: Query) -> Answer:
        """Answer a query, touching every record."""
        if not isinstance(query, Query):
            raise InputError("an answer needs a query: make one with client.query(index)")
        if query.version != self.parameters.version:
            raise ProtocolError(
                "a query is for another version of the table: make a new client from server.parameters"
            )
        return Answer(query.version, query.number, self.half.answer(query.body))


class Client:
    """Reads records of a server's table without telling which.

    Parameters
    ----------
    parameters
        ``server.parameters``.
    options
        Of the scheme: ``key_bits``, ``insecure_ok``.
    """

    def __init__(self, parameters: Parameters, **options: Any) -> None:
        self.parameters = parameters
        try:
            self.half = pick(parameters.scheme)[1](parameters, **options)
        except TypeError as error:
            raise InvalidParameter(f"scheme {parameters.scheme!r}: {option_fault(error)}") from None
        self._digests = take(parameters.public, DIGESTS, bytes, (DIGEST_BYTES * parameters.n,))
        self._secrets: dict[int, tuple[int, Any]] = {}
        self._made = 0

    def query(self, index: int) -> Query:
        """Return a query for one record, with fresh randomness."""
        try:
            place = -1 if isinstance(index, bool) else operator.index(index)
        except TypeError:
            place = -1
        if not 0 <= place < self.parameters.n:
            raise InvalidParameter(
                f"index must be a whole number from 0 to {self.parameters.n - 1}"
            )
        body, secret = self.half.query(place)
        self._made += 1
        self._secrets[self._made] = (place, secret)
        return Query(self.parameters.version, self._made, body)

    def decode(self, answer: Answer) -> bytes:
        """Return the record of an answer; every answer is read once."""
        if answer.version != self.parameters.version:
            raise ProtocolError("an answer is for another version of the table")
        if answer.number not in self._secrets:
            raise ProtocolError("an answer belongs to no open query of this client")
        place, secret = self._secrets[answer.number]
        record = self.half.decode(secret, answer.body)
        del self._secrets[answer.number]
        start = DIGEST_BYTES * place
        if digest_record(place, record) != self._digests[start : start + DIGEST_BYTES]:
            raise ProtocolError(
                "a record is not the one that the server's parameters promise: the answer is damaged, or the server changed it"
            )
        return unpad(record)


def digest_record(index: int, record: bytes) -> bytes:
    """Return the digest of a record at its place; the table is public as a whole, so that it hides nothing."""
    return hashlib.sha256(b"tacit/record/1" + index.to_bytes(8, "big") + record).digest()[
        :DIGEST_BYTES
    ]


def pick(scheme: str) -> tuple[Callable[..., ServerHalf], Callable[..., ClientHalf]]:
    """Return the halves of a scheme."""
    if scheme not in HALVES:
        hint = near_match(scheme, HALVES) or f"Schemes: {', '.join(HALVES)}."
        raise InvalidParameter(f"there is no scheme {scheme!r}. {hint}")
    return HALVES[scheme]


def pad_records(records: Iterable[bytes | str]) -> tuple[Sequence[bytes], int]:
    """Return the records with their length before them, padded to one length."""
    if hasattr(records, "frame"):
        raise InputError(
            "data with roles are not served as they are: write a release, and serve it with "
            "tacit.private.retrieval.serve_release(folder)"
        )
    plain = [r.encode() if isinstance(r, str) else r for r in records]
    if not plain:
        raise InputError("a table to be served needs at least one record")
    if not all(isinstance(r, bytes) for r in plain):
        raise InputError("records to be served must be texts or bytes")
    longest = max(map(len, plain))
    return [
        len(r).to_bytes(LENGTH_BYTES, "big") + r.ljust(longest, b"\0") for r in plain
    ], longest + LENGTH_BYTES


def unpad(record: bytes) -> bytes:
    """Return a record without its padding."""
    length = int.from_bytes(record[:LENGTH_BYTES], "big")
    if length > len(record) - LENGTH_BYTES:
        raise ProtocolError("a record is damaged: its length is wrong")
    return record[LENGTH_BYTES : LENGTH_BYTES + length]


def body_bits(body: Body) -> int:
    """Return the bits of the binary parts of a message."""
    parts = (v for v in body.values() if not isinstance(v, int | str))
    return 8 * sum(v.nbytes if hasattr(v, "nbytes") else len(v) for v in parts)


def number_of(step: str, word: str) -> int:
    """Return the number in the name of a step."""
    name, _, digits = step.partition(" ")
    if name != word or not digits.isascii() or not digits.isdigit() or len(digits) > 18:
        raise ProtocolError(f"a message is no {word}")
    return int(digits)


def option_fault(error: TypeError) -> str:
    """Return what Python says about a wrong option, in our words."""
    text = str(error)
    _, _, named = text.rpartition("argument ")
    unknown = "unexpected keyword" in text
    return f"there is no option {named}" if unknown else "an option is of the wrong type"


def read_parameters(data: bytes) -> Parameters:
    """Read parameters that have travelled."""
    message = decode(data)
    body = dict(message.body)
    scheme, n, length = (
        take(body, k, t) for k, t in (("_scheme", str), ("_n", int), ("_length", int))
    )
    public = {k: v for k, v in body.items() if not k.startswith("_")}
    most = MOST_RECORDS if scheme in ("simple", "chor") else MOST_STUDIED
    if not 1 <= n <= most or not 1 <= length <= 1 << 32 or n * length > 1 << 44:
        raise ProtocolError("the server's parameters do not fit its table")
    return Parameters(scheme, n, length, message.run, public)


def write_parameters(parameters: Parameters) -> bytes:
    """Return parameters as they travel."""
    named = {"_scheme": parameters.scheme, "_n": parameters.n, "_length": parameters.length}
    body = {**parameters.public, **named}
    return encode(Message(parameters.version, "server", "client", "parameters", body))
