"""The union of three or more files: every list travels round the ring once, and the merged rows once more.

After the first lap every token carries all hash keys and every row all cipher keys. The second party merges the lists, an earlier
party's row before a later one's, and drops the tokens; on the second lap every party takes its layer off, the first party last,
who reads the rows. The second party learns the sizes of all overlaps, the others total sizes; it must not collude with others.

The paper says that its protocol is "easily extended" and gives no details: this design is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.errors import InvalidParameter, ProtocolError
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Receive, Role, Send, agree
from tacit.private.parties.wire import take
from tacit.private.union.groups import group_named
from tacit.private.union.records import Records, blocks_per_row, decode_row
from tacit.private.union.two_parties import (
    Entry,
    Outcome,
    Sizes,
    Terms,
    make_entries,
    pack_entries,
    raise_all,
    raise_entries,
    unpack_entries,
)


def play_ring(
    me: str,
    parties: Sequence[str],
    records: Records,
    terms: Terms,
    random: Randomness,
    *,
    dummies: int = 0,
) -> Role[Outcome]:
    """Play one party of a ring; ``parties`` is the order of precedence, the initiator first."""
    if len(parties) < 3 or len(set(parties)) < len(parties) or me not in parties:
        raise InvalidParameter(
            "a ring needs at least three different parties; for two, use the protocol of two parties"
        )
    if len(terms.keys) != 1:
        raise InvalidParameter("with three or more parties records are matched in one way only")
    yield from agree(me, parties, {**terms.to_dict(), "protocol": "ring-1", "order": list(parties)})
    group = group_named(terms.group)
    hashing = group.draw_exponent(random, invertible=False)
    cipher = group.draw_exponent(random)
    place, n = list(parties).index(me), len(parties)
    merger = parties[1]
    lists: dict[str, list[Entry]] = {}
    own = make_entries(group, records, terms, hashing, cipher, random, dummies, me)
    entries = random.shuffle(own)
    for hop in range(n):
        # After hop h this party holds the list of the party h places before it.
        origin = parties[(place - hop) % n]
        if hop:
            message = yield Receive(parties[place - 1], f"lap 1, list of {origin}")
            received = unpack_entries(group, message, terms)
            entries = random.shuffle(raise_entries(group, received, hashing, cipher))
        last = hop == n - 1
        target = merger if last else parties[(place + 1) % n]
        step = f"full list of {origin}" if last else f"lap 1, list of {origin}"
        if target == me:
            lists[origin] = entries
        else:
            yield Send(target, step, pack_entries(group, entries))
    per_row = blocks_per_row(group, terms.record_bytes)
    sizes = {me: len(own)}
    rows: list[tuple[bytes, ...]]
    if me == merger:
        for origin in parties:
            if origin not in lists:
                sender = parties[list(parties).index(origin) - 1]
                message = yield Receive(sender, f"full list of {origin}")
                lists[origin] = unpack_entries(group, message, terms)
        sizes = {p: len(lists[p]) for p in parties}
        merged: dict[bytes, tuple[bytes, ...]] = {}
        for entry in (entry for p in parties for entry in lists[p]):
            # Of several rows of a token the first party's stays.
            merged.setdefault(entry.tokens[0], entry.blocks)
        rows = list(merged.values())
    else:
        message = yield Receive(parties[place - 1], "lap 2, rows")
        blocks = group.unpack(take(message, "rows", bytes))
        if len(blocks) % per_row:
            raise ProtocolError("a list of rows that was received has the wrong length")
        rows = [tuple(blocks[i : i + per_row]) for i in range(0, len(blocks), per_row)]
    opened = [raise_all(group, row, group.invert(cipher)) for row in rows]
    outcome = Sizes(sizes[me], sum(sizes.values()) - sizes[me], len(opened))
    if place:
        shuffled = random.shuffle(opened)
        packed = group.pack([b for row in shuffled for b in row])
        yield Send(parties[(place + 1) % n], "lap 2, rows", {"rows": packed})
        return Outcome(outcome, None)
    decoded = (decode_row(group, row) for row in opened)
    return Outcome(outcome, tuple(random.shuffle([r for r in decoded if r is not None])))
