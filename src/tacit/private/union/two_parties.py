"""The union of two files without duplicates: Alice, who gets the rows, and Bob.

The nine steps of the paper; every list is shuffled before it is sent.

1. Alice sends her hashed identifiers with her encrypted rows. Bob keeps that list.
2. Bob returns the identifiers, hashed once more.
3. Bob sends his own hashed identifiers with his encrypted rows.
4. Alice hashes and encrypts them once more: both files now have comparable tokens.
5. Alice sends the union of the tokens, with Bob's doubly encrypted rows where he has them and random elements elsewhere.
6. Bob takes his layer off the rows; random elements stay random.
7. Bob puts Alice's own encrypted rows, which he kept, where the tokens are hers.
8. Bob drops the tokens and returns the rows.
9. Alice decrypts: her own rows, and Bob's of persons whom only he has.

What the paper leaves open: fillers must be elements of the group (other random bits would be recognised); all lists must be
shuffled (file order identifies people); rows are salted (equal rows would give equal ciphertexts).

With several ways of matching, every record carries one token for each; records that share one belong together.

References
----------
Segre, Wildenberg, Vieland, Zhang (2006), Privacy-preserving data set union, PSD 2006, LNCS 4302, 266-276.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from tacit.errors import DisclosureRefused, InputError, InvalidParameter, ProtocolError
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Receive, Role, Send, agree
from tacit.private.parties.wire import take
from tacit.private.union.groups import Group, group_named
from tacit.private.union.records import RULE, Records, blocks_per_row, decode_row, encode_row


@dataclass(frozen=True)
class Terms:
    """What both sides must have agreed on."""

    group: str
    keys: tuple[tuple[str, ...], ...]
    record_bytes: int
    #: How many rows of nobody a party may add at most.
    dummies: int = 0
    protocol: str = "union-2"

    def people(self, rows: int) -> int:
        """Return how many people a file of so many rows holds at least."""
        return max(0, rows - self.dummies)

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as they are compared."""
        return {
            "protocol": self.protocol,
            "group": self.group,
            "identifying columns": [list(k) for k in self.keys],
            "rule for identifiers": RULE,
            "bytes of a row": self.record_bytes,
            "rows of nobody, at most": self.dummies,
        }


@dataclass(frozen=True)
class Consent:
    """The smallest sizes that a party is ready to reveal; a run that would show less is ended.

    People count, not rows of nobody: of what the other side sends, as many as the terms allow are taken off. What the consent
    cannot see is a file of made-up people, which is no longer honest.
    """

    only_mine: int = 0
    only_theirs: int = 0
    both: int = 0

    def require_possible(self, me: str, mine: int, theirs: int) -> None:
        """End the run when no overlap of files of these sizes would do: before any overlap can be learnt.

        A probe of few records is turned away here, without an answer.
        """
        largest = min(mine, theirs)
        if mine < self.only_mine or theirs < self.only_theirs or largest < self.both:
            self.refuse(me)

    def require(self, me: str, mine: int, theirs: int, both: int) -> None:
        """End the run when a size is too small."""
        alone = (max(0, mine - both), max(0, theirs - both))
        if alone[0] < self.only_mine or alone[1] < self.only_theirs or both < self.both:
            self.refuse(me)

    def refuse(self, me: str) -> NoReturn:
        """End the run."""
        raise DisclosureRefused(
            f"{me!r} ends the run: the sizes of the files and their overlap are below the minimum that it is ready to reveal"
        )


@dataclass(frozen=True)
class Sizes:
    """What both sides learn. ``own`` and ``other`` include rows of nobody that were added."""

    own: int
    other: int
    union: int

    @property
    def both(self) -> int:
        """Return the number of records in both files, as far as sizes tell it."""
        return self.own + self.other - self.union


@dataclass(frozen=True)
class Outcome:
    """What one side holds at the end: sizes, and at Alice the rows without identifiers."""

    sizes: Sizes
    rows: tuple[dict[str, Any], ...] | None


@dataclass(frozen=True)
class Entry:
    """One record as it is sent: a token for each way of matching, and the blocks of its row."""

    tokens: tuple[bytes, ...]
    blocks: tuple[bytes, ...]


def play_alice(
    me: str, other: str, records: Records, terms: Terms, random: Randomness,
    *, consent: Consent | None = None, dummies: int = 0,
) -> Role[Outcome]:  # fmt: skip
    """Play the initiator, who gets the rows."""
    group = group_named(terms.group)
    yield from agree(me, (me, other), terms.to_dict())
    hashing = group.draw_exponent(random, invertible=False)
    cipher = group.draw_exponent(random)
    own = random.shuffle(make_entries(group, records, terms, hashing, cipher, random, dummies, me))
    yield Send(other, "1 tokens and rows", pack_entries(group, own))
    again = take((yield Receive(other, "2 tokens again")), "tokens", bytes)
    hers = unpack_tokens(group, again, len(terms.keys), len(own))
    message = yield Receive(other, "3 tokens and rows")
    his = raise_entries(group, unpack_entries(group, message, terms), hashing, cipher)
    union = merge(group, hers, his, blocks_per_row(group, terms.record_bytes), random)
    sizes = Sizes(len(own), len(his), len(union))
    (consent or Consent()).require(me, len(records), terms.people(sizes.other), sizes.both)
    union = random.shuffle(union)
    body = {"tokens": group.pack([e.tokens[0] for e in union]), "rows": pack_blocks(group, union)}
    yield Send(other, "5 union", body)
    packed = take((yield Receive(other, "8 rows")), "rows", bytes)
    per_row = blocks_per_row(group, terms.record_bytes)
    blocks = group.unpack(packed)
    if len(blocks) != per_row * len(union):
        raise ProtocolError(f"{other!r} returned another number of rows than the union has")
    opened = raise_all(group, blocks, group.invert(cipher))
    rows = [decode_row(group, opened[i : i + per_row]) for i in range(0, len(opened), per_row)]
    return Outcome(sizes, tuple(random.shuffle([r for r in rows if r is not None])))


def play_bob(
    me: str, other: str, records: Records, terms: Terms, random: Randomness,
    *, consent: Consent | None = None, dummies: int = 0,
) -> Role[Outcome]:  # fmt: skip
    """Play the side that learns sizes only."""
    group = group_named(terms.group)
    yield from agree(me, (me, other), terms.to_dict())
    hashing = group.draw_exponent(random, invertible=False)
    cipher = group.draw_exponent(random)
    kept = unpack_entries(group, (yield Receive(other, "1 tokens and rows")), terms)
    if len(kept) + len(records) + dummies == 0:
        raise InputError("both files are empty: there is nothing to unite")
    consent = consent or Consent()
    consent.require_possible(me, len(records), terms.people(len(kept)))
    again = [raise_all(group, e.tokens, hashing) for e in kept]
    tokens = group.pack([t for each in random.shuffle(again) for t in each])
    yield Send(other, "2 tokens again", {"tokens": tokens})
    own = random.shuffle(make_entries(group, records, terms, hashing, cipher, random, dummies, me))
    yield Send(other, "3 tokens and rows", pack_entries(group, own))
    message = yield Receive(other, "5 union")
    union_tokens = group.unpack(take(message, "tokens", bytes))
    per_row = blocks_per_row(group, terms.record_bytes)
    packed = take(message, "rows", bytes, (len(union_tokens) * per_row * group.size,))
    sizes = Sizes(len(own), len(kept), len(union_tokens))
    # A union is not shorter than the larger file, nor longer than both, and has no doubles.
    least = max(sizes.own, sizes.other) if len(terms.keys) == 1 else sizes.other
    possible = least <= sizes.union <= sizes.own + sizes.other
    if not possible or len(set(union_tokens)) < sizes.union:
        raise ProtocolError(f"{other!r} sent a list that is no union of the two files")
    consent.require(me, len(records), terms.people(sizes.other), sizes.both)
    opened = raise_all(group, group.unpack(packed), group.invert(cipher))
    hers = {tokens[0]: e.blocks for tokens, e in zip(again, kept, strict=True)}
    if len(hers.keys() - set(union_tokens)):
        raise ProtocolError(f"{other!r} left records of its own out of the union")
    rows = [
        hers.get(token, opened[i * per_row : (i + 1) * per_row])
        for i, token in enumerate(union_tokens)
    ]
    shuffled = group.pack([b for row in random.shuffle(rows) for b in row])
    yield Send(other, "8 rows", {"rows": shuffled})
    return Outcome(sizes, None)


def hash_once(group: Group, way: int, identifier: str, hashing: int) -> bytes:
    """Return the token of an identifier under one party's key."""
    return group.power(group.hash_identifier(f"{way}\0{identifier}".encode()), hashing)


def make_entries(
    group: Group, records: Records, terms: Terms, hashing: int, cipher: int,
    random: Randomness, dummies: int, who: str,
) -> list[Entry]:  # fmt: skip
    """Hash the identifiers and encrypt the rows; missing identifiers and rows of nobody get random tokens."""
    if dummies > terms.dummies:
        raise InvalidParameter(
            f"{who!r} adds {dummies} rows of nobody, and {terms.dummies} at most were agreed on"
        )
    entries = []
    nobody: tuple[str | None, ...] = (None,) * len(terms.keys)
    rows = [*zip(records.identifiers, records.rows, strict=True), *([(nobody, None)] * dummies)]
    for identifiers, row in rows:
        tokens = tuple(
            group.draw_element(random)
            if identifier is None
            else hash_once(group, way, identifier, hashing)
            for way, identifier in enumerate(identifiers)
        )
        blocks = encode_row(group, row, terms.record_bytes, random, who)
        entries.append(Entry(tokens, raise_all(group, blocks, cipher)))
    return entries


def merge(
    group: Group,
    hers: Sequence[tuple[bytes, ...]],
    his: Sequence[Entry],
    per_row: int,
    random: Randomness,
) -> list[Entry]:
    """Return one entry per record of the union: all of hers, with fillers, and those of his that share no token.

    Where several ways of matching link records of his with each other, the first of them stands for all.
    """
    known = {token: i for i, tokens in enumerate(hers) for token in tokens}
    parent = list(range(len(hers) + len(his)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for j, entry in enumerate(his, len(hers)):
        for token in entry.tokens:
            parent[root(j)] = root(known.setdefault(token, j))
    taken = {root(i) for i in range(len(hers))}
    union = []
    his_rows: dict[int, tuple[bytes, ...]] = {}
    for j, entry in enumerate(his, len(hers)):
        his_rows.setdefault(root(j), entry.blocks)
    for i, tokens in enumerate(hers):
        # Where he has the person too, his row goes along: a filler there would be no different.
        blocks = his_rows.pop(root(i), None)
        fillers = blocks or tuple(group.draw_element(random) for _ in range(per_row))
        union.append(Entry(tokens, fillers))
    for j, entry in enumerate(his, len(hers)):
        if root(j) not in taken:
            taken.add(root(j))
            union.append(entry)
    return union


def raise_all(group: Group, elements: Sequence[bytes], exponent: int) -> tuple[bytes, ...]:
    """Raise elements to one exponent."""
    return tuple(group.power(e, exponent) for e in elements)


def raise_entries(group: Group, entries: Sequence[Entry], hashing: int, cipher: int) -> list[Entry]:
    """Hash and encrypt the entries of another party once more."""
    return [
        Entry(raise_all(group, e.tokens, hashing), raise_all(group, e.blocks, cipher))
        for e in entries
    ]


def pack_entries(group: Group, entries: Sequence[Entry]) -> dict[str, bytes]:
    """Return entries as they are sent."""
    tokens = group.pack([t for e in entries for t in e.tokens])
    return {"tokens": tokens, "rows": pack_blocks(group, entries)}


def pack_blocks(group: Group, entries: Sequence[Entry]) -> bytes:
    """Return the rows of entries as they are sent."""
    return group.pack([b for e in entries for b in e.blocks])


def unpack_tokens(group: Group, packed: bytes, n_ways: int, n: int) -> list[tuple[bytes, ...]]:
    """Return the tokens of n records."""
    tokens = group.unpack(packed)
    if len(tokens) != n_ways * n:
        raise ProtocolError("a list of tokens that was received has the wrong length")
    return [tuple(tokens[i : i + n_ways]) for i in range(0, len(tokens), n_ways)]


def unpack_entries(group: Group, message: Any, terms: Terms) -> list[Entry]:
    """Return entries that were received."""
    packed = take(message, "tokens", bytes)
    n_ways, per_row = len(terms.keys), blocks_per_row(group, terms.record_bytes)
    n, rest = divmod(len(packed), group.size * n_ways)
    if rest:
        raise ProtocolError("a list of tokens that was received has the wrong length")
    tokens = unpack_tokens(group, packed, n_ways, n)
    if len({t for each in tokens for t in each}) < n * n_ways:
        raise ProtocolError("a list that was received holds a token twice")
    blocks = group.unpack(take(message, "rows", bytes, (n * per_row * group.size,)))
    return [Entry(t, tuple(blocks[i * per_row : (i + 1) * per_row])) for i, t in enumerate(tokens)]


# -- sizes only --------------------------------------------------------------------------------------


def play_count(
    me: str, other: str, records: Records, terms: Terms, random: Randomness, *, consent: Consent | None = None,
) -> Role[Sizes]:  # fmt: skip
    """Count the records in both files, and nothing else: tokens only, both sides alike.

    Each side hashes the other's tokens once more and returns them shuffled; both count the tokens that are equal.
    """
    group = group_named(terms.group)
    yield from agree(me, (me, other), {**terms.to_dict(), "protocol": "count-1"})
    hashing = group.draw_exponent(random, invertible=False)
    known = (each[0] for each in records.identifiers if each[0] is not None)
    tokens = [hash_once(group, 0, identifier, hashing) for identifier in known]
    yield Send(other, "1 tokens", {"tokens": group.pack(random.shuffle(tokens))})
    theirs = group.unpack(take((yield Receive(other, "1 tokens")), "tokens", bytes))
    consent = consent or Consent()
    consent.require_possible(me, len(tokens), len(theirs))
    twice = raise_all(group, theirs, hashing)
    yield Send(other, "2 tokens again", {"tokens": group.pack(random.shuffle(list(twice)))})
    mine = group.unpack(take((yield Receive(other, "2 tokens again")), "tokens", bytes))
    if len(mine) != len(tokens) or len(set(mine)) < len(mine) or len(set(twice)) < len(twice):
        raise ProtocolError(f"{other!r} returned a list of the wrong length or with doubles")
    sizes = Sizes(len(tokens), len(theirs), len(set(mine) | set(twice)))
    consent.require(me, sizes.own, sizes.other, sizes.both)
    return sizes
