"""Secure sums: several parties learn the total of their vectors, and nothing else about them.

Reals are whole numbers of 2^-f modulo m = 2^b (fixed point), so that the sum is exact and masks can be uniform; every party
checks that the sum cannot overflow. Three protocols:

* ``ring``: a mask of the first party travels round with the running sum. Two neighbours of a party who collude recover its vector.
* ``pairwise_masks``: every pair of parties shares a secret (X25519), whose stream one adds and the other subtracts. Safe
  against all but two parties colluding. With ``drop_outs`` keys are made anew for every sum, and every party shares its key and the
  seed of a mask of its own among the others (Shamir), so that the sum survives parties that go; then fewer than
  K - drop_outs colluders learn nothing. Keys that lived longer would open earlier vectors of a party that goes later.
* ``shamir``: vectors are shared among all parties; any K - drop_outs of them recover the total.

Two rules keep a party that goes from being given away. Before anything is opened, the parties tell each other the list of those whose
vectors are in, and stop where two lists differ: a lead that showed two could recover both secrets of one party. Lists have more
than half of the parties and one to spare (drop_outs is at most K/2 - 1), so that any two share somebody besides the lead. And all
totals of a run are over the same parties: a total before minus a total after would be the vector of the party that went.

References
----------
Benaloh (1987), Secret sharing homomorphisms: keeping shares of a secret secret, CRYPTO 1986, 251-260.
Bonawitz et al. (2017), Practical secure aggregation for privacy-preserving machine learning, CCS 2017, 1175-1191.
Shamir (1979), How to share a secret, Communications of the ACM 22, 612-613.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.errors import InvalidParameter, PartyMissing, ProtocolError
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import (
    Receive,
    Role,
    Send,
    digest_terms,
    receive_all,
    send_all,
)
from tacit.private.parties.wire import Body, take
from tacit.private.regression.fixed_point import (
    PRIME,
    FixedPoint,
    add_modulo,
    recover_secret,
    share_secret,
    subtract_modulo,
)

#: Bytes of a share.
WIDTH = 66

Protocol = Literal["ring", "pairwise_masks", "shamir"]


@dataclass
class SumSettings:
    """How sums are taken; one object per party and run, as it numbers the sums and keeps keys between them."""

    me: str
    parties: Sequence[str]
    random: Randomness
    protocol: Protocol = "pairwise_masks"
    point: FixedPoint = field(default_factory=FixedPoint)
    #: How many parties may go without ending the run.
    drop_outs: int = 0
    n_sums: int = 0
    #: Secrets shared with each other party, made with the first sum.
    pairs: dict[str, bytes] = field(default_factory=dict)
    keys: dict[str, bytes] = field(default_factory=dict)
    private: bytes = b""
    gone: set[str] = field(default_factory=set)
    #: The parties whose vectors are in the totals, once there is one.
    included: tuple[str, ...] = ()
    #: Shares of the seeds and keys of the parties, of the present sum.
    shares: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.protocol not in ("ring", "pairwise_masks", "shamir"):
            raise InvalidParameter(
                f"there is no protocol {self.protocol!r}; there are ring, pairwise_masks and shamir"
            )
        n = len(self.parties)
        most = max(0, (n - 2) // 2)
        if not 0 <= self.drop_outs <= most:
            raise InvalidParameter(
                f"drop_outs must lie between 0 and {most} for {n} parties: with more, the first party could show two of "
                "them different lists of those who are there, and open the vector of one"
            )
        if self.drop_outs and self.protocol == "ring":
            raise InvalidParameter(
                "a ring does not survive a party that goes; use pairwise_masks or shamir"
            )

    @property
    def lead(self) -> str:
        """Return the party that adds up and announces."""
        return self.parties[0]

    @property
    def others(self) -> list[str]:
        """Return the other parties that are still there."""
        return [p for p in self.parties if p != self.me and p not in self.gone]

    @property
    def needed(self) -> int:
        """Return how many parties recover what was shared."""
        return len(self.parties) - self.drop_outs

    def terms(self) -> dict[str, Any]:
        """Return what parties must have agreed on."""
        return {
            "protocol of sums": self.protocol,
            "fixed point": [self.point.modulus_bits, self.point.frac_bits],
            "drop-outs": self.drop_outs,
            "parties": list(self.parties),
        }


def add_securely(settings: SumSettings, values: npt.ArrayLike) -> Role[Floats]:
    """Return the total of all parties' vectors; every party learns it."""
    settings.n_sums += 1
    vector = np.asarray(values, np.float64).ravel()
    numbers = settings.point.encode(vector.tolist(), len(settings.parties))
    step = f"sum {settings.n_sums}"
    if settings.gone & set(settings.included):
        end_without(settings)
    run = {"ring": ring_sum, "pairwise_masks": masked_sum, "shamir": shared_sum}[settings.protocol]
    total = yield from run(settings, step, numbers)
    return settings.point.decode(total)


# -- ring ------------------------------------------------------------------------------------------


def ring_sum(settings: SumSettings, step: str, numbers: list[int]) -> Role[list[int]]:
    """Pass a masked running sum round; the first party takes its mask off and announces the total."""
    point, parties = settings.point, settings.parties
    settings.included = tuple(parties)
    place = list(parties).index(settings.me)
    following = parties[(place + 1) % len(parties)]
    size = point.size * len(numbers)
    if place == 0:
        masks = point.unpack(settings.random.draw(size))
        yield Send(following, step, {"sum": point.pack(add_modulo(point, numbers, masks))})
        received = take((yield Receive(parties[-1], step)), "sum", bytes, (size,))
        total = subtract_modulo(point, point.unpack(received), masks)
        yield from send_all(settings.others, f"{step}, total", {"total": point.pack(total)})
        return total
    received = take((yield Receive(parties[place - 1], step)), "sum", bytes, (size,))
    running = add_modulo(point, point.unpack(received), numbers)
    yield Send(following, step, {"sum": point.pack(running)})
    told = take((yield Receive(settings.lead, f"{step}, total")), "total", bytes, (size,))
    return point.unpack(told)


# -- pairwise masks --------------------------------------------------------------------------------


def masked_sum(settings: SumSettings, step: str, numbers: list[int]) -> Role[list[int]]:
    """Send the vector under masks that cancel in the sum; the first party adds up and announces the total."""
    if settings.drop_outs:
        return (yield from surviving_sum(settings, step, numbers))
    if not settings.pairs:
        yield from exchange_keys(settings, "keys")
    point, lead = settings.point, settings.lead
    masked = mask_vector(settings, step, numbers, settings.others)
    size = point.size * len(numbers)
    settings.included = tuple(settings.parties)
    if settings.me != lead:
        yield Send(lead, step, {"sum": point.pack(masked)})
        told = yield Receive(lead, f"{step}, total")
        return point.unpack(take(told, "total", bytes, (size,)))
    total = masked
    for body in (yield from receive_all(settings.others, step)).values():
        total = add_modulo(point, total, point.unpack(take(body, "sum", bytes, (size,))))
    yield from send_all(settings.others, f"{step}, total", {"total": point.pack(total)})
    return total


def surviving_sum(settings: SumSettings, step: str, numbers: list[int]) -> Role[list[int]]:
    """Take a sum that goes on when parties go.

    Only parties whose shares everybody holds take part, so that all mask with the same ones; a party that goes after that is
    made up for by its key, which the others recover together.
    """
    point, me, lead = settings.point, settings.me, settings.lead
    yield from exchange_keys(settings, f"{step}, keys")
    own_seed = settings.random.draw(32)
    yield from share_seeds(settings, step, own_seed)
    members = yield from agree_on_dealers(settings, step, settings.shares)
    masked = mask_vector(settings, step, numbers, [p for p in members if p != me])
    masked = add_modulo(point, masked, mask_stream(point, own_seed, step, len(numbers)))
    size = point.size * len(numbers)
    if me != lead:
        yield Send(lead, step, {"sum": point.pack(masked)})
        yield from reveal_shares(settings, step, members)
        told = yield Receive(lead, f"{step}, total")
        return point.unpack(take(told, "total", bytes, (size,)))
    total, sent = masked, {me}
    for peer in members:
        if peer == me or peer in settings.gone:
            continue
        body = yield Receive(peer, step, or_none=True)
        if body is not None:
            total = add_modulo(point, total, point.unpack(take(body, "sum", bytes, (size,))))
            sent.add(peer)
    total = yield from unmask(settings, step, total, members, sent, own_seed)
    yield from tell_all(settings, f"{step}, total", {"total": point.pack(total)})
    return total


def mask_vector(
    settings: SumSettings, step: str, numbers: list[int], peers: Iterable[str]
) -> list[int]:
    """Add the masks shared with some peers, each of which the peer subtracts or the other way round."""
    masked = numbers
    for peer in peers:
        mask = mask_stream(settings.point, settings.pairs[peer], step, len(numbers))
        combine = add_modulo if settings.me < peer else subtract_modulo
        masked = combine(settings.point, masked, mask)
    return masked


def exchange_keys(settings: SumSettings, step: str) -> Role[None]:
    """Agree on a new secret with every other party that is there."""
    settings.private = settings.random.draw(32)
    settings.keys, settings.pairs = {}, {}
    yield from tell_all(settings, step, {"key": public_key(settings.private)})
    for peer in settings.others:
        body = yield Receive(peer, step, or_none=bool(settings.drop_outs))
        if body is None:
            settings.gone.add(peer)
            continue
        settings.keys[peer] = take(body, "key", bytes, (32,))
        settings.pairs[peer] = pair_secret(settings.private, settings.keys[peer])


def public_key(private: bytes) -> bytes:
    """Return the public key of a private one."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def pair_secret(private: bytes, public: bytes) -> bytes:
    """Return the secret of two parties, from one's private and the other's public key."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    try:
        secret = X25519PrivateKey.from_private_bytes(private).exchange(
            X25519PublicKey.from_public_bytes(public)
        )
    except ValueError:
        raise ProtocolError("a public key that was received is not valid") from None
    return hashlib.sha3_256(b"tacit/pair/1" + secret).digest()


def mask_stream(point: FixedPoint, secret: bytes, step: str, n: int) -> list[int]:
    """Return the masks of one secret for one sum: ChaCha20, keyed by secret and step."""
    return point.unpack(Randomness(secret).child(step).draw(point.size * n))


def share_seeds(settings: SumSettings, step: str, own_seed: bytes) -> Role[None]:
    """Share the seed of this party's own mask, and its private key, among all parties, sealed for each."""
    secrets = [int.from_bytes(own_seed, "big"), int.from_bytes(settings.private, "big")]
    shares = [
        share_secret(s, len(settings.parties), settings.needed, settings.random) for s in secrets
    ]
    settings.shares = {}
    for i, peer in enumerate(settings.parties):
        pair = (shares[0][i], shares[1][i])
        if peer == settings.me:
            settings.shares[peer] = pair
        elif peer not in settings.gone:
            packed = pack_shares(pair)
            sealed = seal(settings.pairs[peer], f"{step} {settings.me} {peer}", packed)
            yield Send(peer, f"{step}, shares", {"shares": sealed}, or_none=True)
    for peer in settings.others:
        body = yield Receive(peer, f"{step}, shares", or_none=True)
        if body is None:
            settings.gone.add(peer)
            continue
        sealed = take(body, "shares", bytes)
        packed = unseal(settings.pairs[peer], f"{step} {peer} {settings.me}", sealed)
        if len(packed) != 2 * WIDTH:
            raise ProtocolError("shares that were received have the wrong length")
        seed, key = unpack_shares(packed)
        settings.shares[peer] = (seed, key)
    require_enough(settings)


def pack_shares(shares: Iterable[int]) -> bytes:
    """Return shares as bytes."""
    return b"".join(s.to_bytes(WIDTH, "big") for s in shares)


def unpack_shares(packed: bytes) -> list[int]:
    """Return the shares in bytes."""
    return [int.from_bytes(packed[i : i + WIDTH], "big") for i in range(0, len(packed), WIDTH)]


def require_enough(settings: SumSettings) -> None:
    """End the run when more parties have gone than it survives."""
    if len(settings.gone) > settings.drop_outs:
        raise PartyMissing(
            f"{', '.join(map(repr, sorted(settings.gone)))} have gone, more than the run survives; begin a new run without them"
        )


def reveal_shares(settings: SumSettings, step: str, members: Sequence[str]) -> Role[None]:
    """Tell the lead, for every party, one of its two shares: of its seed when it has sent, of its key when it has gone.

    Never both, at nobody: together they would unmask a vector that arrived late.
    """
    body = yield Receive(settings.lead, f"{step}, who has sent")
    sent = take(body, "there", list)
    possible = set(sent) <= set(members) and len(set(sent)) == len(sent) >= settings.needed
    if not possible or settings.me not in sent:
        raise ProtocolError("the list of parties that have sent is not possible")
    yield from compare_lists(settings, step, members, sent)
    shares, settings.shares = settings.shares, {}
    chosen = [shares[p][0 if p in sent else 1] for p in members]
    yield Send(settings.lead, f"{step}, revealed", {"shares": pack_shares(chosen)})


def compare_lists(
    settings: SumSettings, step: str, members: Sequence[str], sent: Sequence[str]
) -> Role[None]:
    """Go on only when all parties on the list of those in the total were shown this same list.

    Two lists of K - drop_outs parties share at least two, of which one is not the lead and tells both sides.
    """
    settings.gone |= set(settings.parties) - set(sent)
    included = tuple(p for p in members if p in sent)
    if settings.included and included != settings.included:
        end_without(settings)
    if settings.drop_outs:
        own, agreed = digest_terms([list(members), list(included)]), 1
        yield from tell_all(settings, f"{step}, list", {"digest": own}, among=included)
        for peer in included:
            if peer == settings.me:
                continue
            body = yield Receive(peer, f"{step}, list", or_none=True)
            if body is not None and take(body, "digest", str) != own:
                raise ProtocolError(
                    f"{settings.me!r} ends the run: it and {peer!r} were shown different lists of the parties that are there"
                )
            agreed += body is not None
        if agreed < settings.needed:
            raise PartyMissing("more parties have gone than the run survives; begin a new run")
    settings.included = included


def end_without(settings: SumSettings) -> None:
    """End a run that has lost a party whose vector is in a total already."""
    lost = sorted(settings.gone & set(settings.included)) or sorted(settings.gone)
    raise PartyMissing(
        f"{', '.join(map(repr, lost))} has gone, and totals with its statistics were shown: totals without it would give them away "
        "by subtraction. Begin a new run when it is back."
    )


def unmask(
    settings: SumSettings,
    step: str,
    total: list[int],
    members: Sequence[str],
    sent: set[str],
    own_seed: bytes,
) -> Role[list[int]]:
    """Take the masks of seeds off, and those that parties which have gone would have cancelled."""
    point, n, me = settings.point, len(total), settings.me
    settings.gone |= set(members) - sent
    require_enough(settings)
    present = [p for p in members if p in sent]
    yield from tell_all(settings, f"{step}, who has sent", {"there": present}, among=present)
    yield from compare_lists(settings, step, members, present)
    place = {p: i for i, p in enumerate(settings.parties, 1)}
    held = {p: {place[me]: settings.shares[p][0 if p in sent else 1]} for p in members}
    for peer in present:
        if peer == me:
            continue
        body = yield Receive(peer, f"{step}, revealed", or_none=True)
        if body is None:
            continue
        packed = take(body, "shares", bytes, (WIDTH * len(members),))
        for name, share in zip(members, unpack_shares(packed), strict=True):
            held[name][place[peer]] = share
    for p in present:
        seed = own_seed if p == me else recover_bytes(held[p], settings.needed)
        total = subtract_modulo(point, total, mask_stream(point, seed, step, n))
    for p in members:
        if p in sent:
            continue
        private = recover_bytes(held[p], settings.needed)
        for q in present:
            key = public_key(settings.private) if q == me else settings.keys[q]
            mask = mask_stream(point, pair_secret(private, key), step, n)
            total = (subtract_modulo if q < p else add_modulo)(point, total, mask)
    return total


def recover_bytes(shares: Mapping[int, int], needed: int) -> bytes:
    """Return the 32 bytes behind shares."""
    value = recover_secret(shares, needed)
    if value.bit_length() > 256:
        raise ProtocolError("shares that were received do not fit together")
    return value.to_bytes(32, "big")


def seal(secret: bytes, context: str, data: bytes) -> bytes:
    """Encrypt for one peer; every context is used once."""
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    cipher = ChaCha20Poly1305(hashlib.sha3_256(secret + context.encode()).digest())
    return cipher.encrypt(bytes(12), data, None)


def unseal(secret: bytes, context: str, data: bytes) -> bytes:
    """Decrypt what a peer sealed."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    try:
        cipher = ChaCha20Poly1305(hashlib.sha3_256(secret + context.encode()).digest())
        return cipher.decrypt(bytes(12), data, None)
    except InvalidTag:
        raise ProtocolError("a sealed message is damaged or was not meant for this party") from None


# -- Shamir ----------------------------------------------------------------------------------------


def shared_sum(settings: SumSettings, step: str, numbers: list[int]) -> Role[list[int]]:
    """Share the vector among all parties; each adds the shares that it got, and enough of the sums give the total."""
    point, parties, me, lead = settings.point, settings.parties, settings.me, settings.lead
    signed = [n - point.modulus if n >= point.modulus // 2 else n for n in numbers]
    per_party: list[list[int]] = [[] for _ in parties]
    for value in signed:
        shares = share_secret(value % PRIME, len(parties), settings.needed, settings.random)
        for mine, share in zip(per_party, shares, strict=True):
            mine.append(share)
    got: dict[str, list[int]] = {}
    for peer, shares in zip(parties, per_party, strict=True):
        if peer == me:
            got[me] = shares
        elif peer not in settings.gone:
            packed = pack_shares(shares)
            yield Send(
                peer, f"{step}, shares", {"shares": packed}, or_none=bool(settings.drop_outs)
            )
    for peer in settings.others:
        body = yield Receive(peer, f"{step}, shares", or_none=bool(settings.drop_outs))
        if body is not None:
            packed = take(body, "shares", bytes, (WIDTH * len(numbers),))
            got[peer] = unpack_shares(packed)
    included = yield from agree_on_dealers(settings, step, got)
    yield from compare_lists(settings, step, included, included)
    summed = [sum(column) % PRIME for column in zip(*(got[p] for p in included), strict=True)]
    if me != lead:
        packed = pack_shares(summed)
        yield Send(lead, step, {"sum": packed})
        told = yield Receive(lead, f"{step}, total")
        return point.unpack(take(told, "total", bytes, (point.size * len(numbers),)))
    held = {list(parties).index(me) + 1: summed}
    for peer in settings.others:
        body = yield Receive(peer, step, or_none=bool(settings.drop_outs))
        if body is not None:
            packed = take(body, "sum", bytes, (WIDTH * len(numbers),))
            held[list(parties).index(peer) + 1] = unpack_shares(packed)
    total = []
    for i in range(len(numbers)):
        value = recover_secret({x: shares[i] for x, shares in held.items()}, settings.needed)
        total.append((value - PRIME if value > PRIME // 2 else value) % point.modulus)
    yield from tell_all(settings, f"{step}, total", {"total": point.pack(total)})
    return total


def agree_on_dealers(settings: SumSettings, step: str, got: Mapping[str, Any]) -> Role[list[str]]:
    """Return the parties whose shares everybody has: those that take part in the sum."""
    if not settings.drop_outs:
        return list(settings.parties)
    me, lead = settings.me, settings.lead
    if me != lead:
        yield Send(lead, f"{step}, got", {"names": sorted(got)})
        body = yield Receive(lead, f"{step}, who is there")
        names = take(body, "there", list)
        possible = set(names) <= set(got) and len(set(names)) == len(names) >= settings.needed
        if not possible:
            raise ProtocolError("the list of parties that are there is not possible")
        if me not in names:
            raise PartyMissing(
                f"the other parties went on without {me!r}, of which they heard nothing in time"
            )
        settings.gone |= set(settings.parties) - set(names)
        return [p for p in settings.parties if p in names]
    have = set(got)
    for peer in settings.others:
        body = yield Receive(peer, f"{step}, got", or_none=True)
        if body is None:
            settings.gone.add(peer)
        else:
            have &= set(take(body, "names", list))
    if len(have) < settings.needed:
        raise PartyMissing("more parties have gone than the run survives; begin a new run")
    names = [p for p in settings.parties if p in have]
    # Parties that are left out are told so too.
    yield from tell_all(settings, f"{step}, who is there", {"there": names})
    settings.gone |= set(settings.parties) - have
    return names


def tell_all(
    settings: SumSettings, step: str, body: Body, among: Sequence[str] | None = None
) -> Role[None]:
    """Tell all parties that are still there."""
    for peer in settings.others:
        if among is None or peer in among:
            yield Send(peer, step, body, or_none=bool(settings.drop_outs))
