"""Roles: what one party sends and waits for, in order, without a word about networks.

A role is a generator. It yields :class:`Send` to tell another party something and :class:`Receive` to wait for what
another party tells; the runner hands it the content. All that a role does follows from its own data, its
:class:`~tacit.private.parties.randomness.Randomness` and the messages that it received: a party that crashed plays its role again
from a journal and comes to the same place.

:func:`run_together` runs all roles in one process; :mod:`tacit.private.parties.network` runs one role over mutual TLS.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tacit.errors import ProtocolError
from tacit.private.parties.wire import Body, Line, Message, Transcript, decode, encode, take

T = TypeVar("T")


@dataclass(frozen=True)
class Send:
    """Tell another party something; with ``or_none`` a party that has gone is no end of the run."""

    receiver: str
    step: str
    body: Body
    or_none: bool = False


@dataclass(frozen=True)
class Receive:
    """Wait for what another party tells in a step; the content comes back from ``yield``.

    With ``or_none`` a party that has gone is no end of the run: None comes back in place of its message.
    """

    sender: str
    step: str
    or_none: bool = False


Role = Generator[Send | Receive, Any, T]


def send_all(receivers: Iterable[str], step: str, body: Body) -> Role[None]:
    """Tell several parties the same."""
    for receiver in receivers:
        yield Send(receiver, step, body)


def receive_all(senders: Iterable[str], step: str) -> Role[dict[str, Body]]:
    """Wait for one message of each of several parties."""
    received: dict[str, Body] = {}
    for sender in senders:
        received[sender] = yield Receive(sender, step)
    return received


def agree(
    me: str, parties: Iterable[str], terms: Mapping[str, Any], step: str = "agree"
) -> Role[None]:
    """Compare the terms of a run (protocol, parameters, codebook) by their hash; refuse to go on where they differ.

    Every party names the parts in which another differs, never their content.
    """
    others = [p for p in parties if p != me]
    own = {name: digest_terms(value) for name, value in sorted(terms.items())}
    body = {"names": list(own), "digests": list(own.values())}
    yield from send_all(others, step, body)
    for other, theirs in (yield from receive_all(others, step)).items():
        names, digests = take(theirs, "names", list), take(theirs, "digests", list)
        if not all(isinstance(x, str) for x in (*names, *digests)) or len(names) != len(digests):
            raise ProtocolError(f"{other!r} sent terms that cannot be read")
        told = dict(zip(names, digests, strict=True))
        differ = sorted(n for n in {*own, *told} if own.get(n) != told.get(n))
        if differ:
            listed = ", ".join(d if d in own else "a term unknown here" for d in differ)
            raise ProtocolError(
                f"{me!r} and {other!r} have not agreed on the same run: {listed} differ. Use the same "
                "settings at every party."
            )


def digest_terms(value: Any) -> str:
    """Return the SHA-256 of plain data."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Together:
    """What came of roles that ran together: each party's result, and all that was told."""

    results: Mapping[str, Any]
    transcript: Transcript


@dataclass
class _Player:
    role: Role[Any]
    waiting: Receive | None = None
    mailbox: dict[tuple[str, str], Body] = field(default_factory=dict)
    done: bool = False
    result: Any = None


def run_together(
    roles: Mapping[str, Role[Any]],
    *,
    run: str = "study",
    watch: Callable[[Message], None] | None = None,
    between: Callable[[bytes], bytes] | None = None,
) -> Together:
    """Run all roles in this process, each message through the wire form.

    ``watch`` sees every message, as its receiver does; ``between`` may change its bytes on the way, to test what a party does
    with a damaged one.
    """
    players = {name: _Player(role) for name, role in roles.items()}
    lines: list[Line] = []

    def deliver(sender: str, order: Send) -> None:
        if order.receiver not in players or order.receiver == sender:
            raise ProtocolError(f"{sender!r} has nobody to tell in step {order.step!r}")
        data = encode(Message(run, sender, order.receiver, order.step, order.body))
        lines.append(Line(sender, order.receiver, order.step, len(data)))
        message = decode(data if between is None else between(data))
        named = (message.run, message.sender, message.receiver)
        if named != (run, sender, order.receiver):
            raise ProtocolError("a message names another run or another party")
        if watch is not None:
            watch(message)
        mailbox = players[order.receiver].mailbox
        if (sender, message.step) in mailbox:
            raise ProtocolError(f"{sender!r} sent two messages for the step {message.step!r}")
        mailbox[sender, message.step] = message.body

    def play(name: str) -> bool:
        """Let one party go on until it waits; return False when it could not move."""
        player = players[name]
        moved, answer = False, None
        while not player.done:
            if player.waiting is not None:
                place = (player.waiting.sender, player.waiting.step)
                gone = players[place[0]].done if place[0] in players else True
                if place not in player.mailbox and not (player.waiting.or_none and gone):
                    return moved
                answer = player.mailbox.pop(place, None)
                player.waiting = None
            moved = True
            try:
                order = player.role.send(answer)
            except StopIteration as stop:
                player.done, player.result = True, stop.value
                return True
            answer = None
            if isinstance(order, Receive):
                player.waiting = order
            else:
                deliver(name, order)
        return moved

    while not all(p.done for p in players.values()):
        if not any(play(name) for name in players):
            stuck = [f"{n!r} waits for {p.waiting.sender!r} in step {p.waiting.step!r}"
                     for n, p in players.items() if p.waiting is not None]  # fmt: skip
            raise ProtocolError("the parties do not go on: " + "; ".join(stuck))
    return Together({n: p.result for n, p in players.items()}, Transcript(tuple(lines)))
