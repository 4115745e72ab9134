"""Retrieval by keyword: records are found by a word instead of a number.

Words are hashed, with a published key, into buckets that hold a few records each; every bucket is padded to the same number.
A client computes the bucket of its word itself, retrieves it, and looks for the word's tag in it. That a word is not in the
table is learnt the same way; the server does not learn it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.errors import InputError, ProtocolError
from tacit.private.retrieval.scheme import Parameters
from tacit.private.retrieval.service import Answer, Client, Query, Server

TAG = 16
#: Records per bucket that are aimed at; the fullest bucket decides the padding.
AIM = 4


@dataclass(frozen=True)
class KeywordParameters:
    """What clients must know: the table's parameters, the published key and the number of buckets."""

    table: Parameters
    key: bytes
    n_buckets: int


class KeywordServer:
    """A table that clients read by keyword."""

    def __init__(
        self, records: Mapping[str, bytes | str], scheme: str = "simple", **options: Any
    ) -> None:
        if not records:
            raise InputError("a table to be served needs at least one record")
        key = secrets.token_bytes(16)
        n_buckets = max(1, len(records) // AIM)
        buckets: list[list[bytes]] = [[] for _ in range(n_buckets)]
        for word, record in records.items():
            raw = record.encode() if isinstance(record, str) else record
            entry = tag_of(key, word) + len(raw).to_bytes(4, "big") + raw
            buckets[bucket_of(key, word, n_buckets)].append(entry)
        self.server = Server([b"".join(b) for b in buckets], scheme, **options)
        self.parameters = KeywordParameters(self.server.parameters, key, n_buckets)

    def answer(self, query: Query) -> Answer:
        """Answer a query."""
        return self.server.answer(query)


class KeywordClient:
    """Reads records by keyword."""

    def __init__(self, parameters: KeywordParameters, **options: Any) -> None:
        self.parameters = parameters
        self.client = Client(parameters.table, **options)
        self._words: dict[int, str] = {}

    def query(self, word: str) -> Query:
        """Return a query for a word."""
        p = self.parameters
        made = self.client.query(bucket_of(p.key, word, p.n_buckets))
        self._words[made.number] = word
        return made

    def decode(self, answer: Answer) -> bytes | None:
        """Return the record of the word, or None when the table has no such word."""
        bucket = self.client.decode(answer)
        wanted = tag_of(self.parameters.key, self._words.pop(answer.number))
        found, place = None, 0
        while place < len(bucket):
            tag, place = bucket[place : place + TAG], place + TAG
            length, place = int.from_bytes(bucket[place : place + 4], "big"), place + 4
            if place + length > len(bucket):
                raise ProtocolError("a bucket of the table is damaged")
            if secrets.compare_digest(tag, wanted):
                found = bucket[place : place + length]
            place += length
        return found


def tag_of(key: bytes, word: str) -> bytes:
    """Return the tag under which a word's record is kept; 128 bits, so that two words do not meet."""
    return hashlib.blake2b(word.encode(), key=key, digest_size=TAG, person=b"tacit-tag").digest()


def bucket_of(key: bytes, word: str, n_buckets: int) -> int:
    """Return the bucket of a word."""
    mark = hashlib.blake2b(word.encode(), key=key, digest_size=8, person=b"tacit-bucket").digest()
    return int.from_bytes(mark, "big") % n_buckets
