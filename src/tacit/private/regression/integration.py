"""Secure data integration: all parties end with all records, and none knows whose they are.

A growing file goes round through a relay that sees ciphertext only and chooses the order of the parties anew in every lap. Each
time a party adds a random number of its records and shuffles the whole. The file starts with dummy records, so that the first
batch cannot be told; they are removed at the end. Only sound when the records themselves do not tell who holds them.

References
----------
Karr, Lin, Sanil, Reiter (2005), Secure regression on distributed databases, Journal of Computational and Graphical
Statistics 14, 263-279.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.errors import ProtocolError
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Receive, Role, Send, agree, receive_all, send_all
from tacit.private.parties.wire import take
from tacit.private.regression.sums import pair_secret, public_key, seal, unseal

#: The mark of a record that belongs to nobody.
NOBODY = "\x00nobody"


def play_owner(
    me: str,
    parties: Sequence[str],
    relay: str,
    rows: Sequence[Mapping[str, Any]],
    laps: int,
    random: Randomness,
) -> Role[list[dict[str, Any]]]:
    """Play a party that brings records; every party is asked once in every lap.

    What is left after the last lap but one is added in the last.
    """
    terms = {"protocol": "integration-1", "laps": laps, "order": list(parties)}
    yield from agree(me, parties, terms)
    key = yield from share_group_key(me, parties, random)
    if me == parties[0]:
        first = [{NOBODY: random.below(1 << 62)} for _ in range(random.between(5, 20))]
        yield Send(relay, "start", {"file": close(key, first, random)})
    left = random.shuffle([dict(r) for r in rows])
    most = max(1, math.ceil(len(left) / 5))
    for lap in range(1, laps + 1):
        received = take((yield Receive(relay, f"lap {lap}")), "file", bytes)
        file = open_file(key, received)
        n = len(left) if lap == laps else min(len(left), random.between(1, most))
        file += left[:n]
        left = left[n:]
        yield Send(relay, f"lap {lap}", {"file": close(key, random.shuffle(file), random)})
    final = open_file(key, take((yield Receive(relay, "end")), "file", bytes))
    return random.shuffle([row for row in final if NOBODY not in row])


def play_relay(me: str, parties: Sequence[str], laps: int, random: Randomness) -> Role[None]:
    """Play the relay: it passes ciphertext on, in an order that the parties do not know."""
    del me
    file = take((yield Receive(parties[0], "start")), "file", bytes)
    for lap in range(1, laps + 1):
        for party in random.shuffle(list(parties)):
            yield Send(party, f"lap {lap}", {"file": file})
            file = take((yield Receive(party, f"lap {lap}")), "file", bytes)
    yield from send_all(parties, "end", {"file": file})


def share_group_key(me: str, parties: Sequence[str], random: Randomness) -> Role[bytes]:
    """Give all parties, and nobody else, one key: the first draws it and seals it for each other one."""
    private = random.draw(32)
    public = public_key(private)
    lead, others = parties[0], [p for p in parties if p != me]
    if me == lead:
        key = random.draw(32)
        for party, body in (yield from receive_all(others, "public key")).items():
            secret = pair_secret(private, take(body, "key", bytes, (32,)))
            yield Send(party, "group key", {"key": public, "sealed": seal(secret, "group", key)})
        return key
    yield Send(lead, "public key", {"key": public})
    body = yield Receive(lead, "group key")
    secret = pair_secret(private, take(body, "key", bytes, (32,)))
    return unseal(secret, "group", take(body, "sealed", bytes))


def close(key: bytes, file: Sequence[Mapping[str, Any]], random: Randomness) -> bytes:
    """Encrypt the file under the group key, with a name of its own every time."""
    mark = random.draw(16)
    text = json.dumps(list(file), default=str, ensure_ascii=False).encode()
    return mark + seal(key, f"file {mark.hex()}", text)


def open_file(key: bytes, data: bytes) -> list[dict[str, Any]]:
    """Decrypt the file."""
    text = unseal(key, f"file {data[:16].hex()}", data[16:])
    try:
        file = json.loads(text)
    except ValueError:
        file = None
    if not isinstance(file, list) or not all(isinstance(row, dict) for row in file):
        raise ProtocolError("the file that came round cannot be read")
    return file
