"""One party as a process of its own: it plays its role with its peers over mutual TLS.

A party listens on its address and connects to the addresses of its peers. Every message is confirmed after the receiver
has written it to its journal, so that a party that crashed can be started again and goes on. Who cannot be reached in
time is named. Nothing that comes from a stranger, for another run, twice with other content, or beyond the limits
reaches the role.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tacit.errors import InputError, PartyMissing, ProtocolError
from tacit.private.parties.certificates import peer_name, tls_context
from tacit.private.parties.journal import Journal, digest
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Role, Send
from tacit.private.parties.wire import Body, Line, Message, Transcript, decode, encode

T = TypeVar("T")
#: Connections of one peer served at once, and messages of one peer that may wait unread.
MAX_CONNECTIONS, MAX_UNREAD = 32, 256
#: Connections that have not shown a certificate yet.
MAX_UNKNOWN = 64
#: Seconds for a handshake, and between two tries to reach a peer.
HANDSHAKE, RETRY = 10.0, 0.2
CONFIRMED, REFUSED = b"y", b"n"
#: The step in which a party tells that it has ended the run before its time, or that it could not begin.
END, NOT_BEGUN = "end of the run", "not begun"


@dataclass(frozen=True)
class Member:
    """The party's own name and credentials, and where every party of the run listens."""

    name: str
    addresses: Mapping[str, tuple[str, int]]
    authority: Path
    certificate: Path
    key: Path
    run: str
    #: Seconds without any word of a peer after which it counts as missing.
    patience: float = 60.0
    #: Seconds for which the party still answers after its role has ended, for peers that crashed.
    linger: float = 1.0
    max_message: int = 1 << 30

    def __post_init__(self) -> None:
        if self.name not in self.addresses:
            raise InputError(f"no address is given for the party {self.name!r} itself")


@dataclass(frozen=True)
class Played:
    """What came of a role, and what this party sent and received."""

    result: Any
    transcript: Transcript


def play_role(
    member: Member,
    journal: Journal,
    make_role: Callable[[Randomness], Role[T]],
    keep: Callable[[Played], None] | None = None,
) -> Played:
    """Play a role until it ends; begin again where the journal stopped.

    ``keep`` writes down what came of it before the journal is closed: a party that crashes in between plays again.
    """
    client = tls_context(member.authority, member.certificate, member.key, server=False)
    mailbox = Mailbox(member, journal, client)
    server = Server(member, mailbox)
    server.start()
    try:
        result, lines = follow_role(member, client, journal, mailbox, make_role(journal.randomness))
        played = Played(result, Transcript(tuple(lines)))
        if keep is not None:
            keep(played)
        journal.end()
        mailbox.ended.set()
        time.sleep(member.linger)
    except PartyMissing:
        raise
    except Exception:
        journal.end()
        tell_end(member, client)
        raise
    finally:
        server.stop()
    return played


def tell_end(member: Member, client: ssl.SSLContext, step: str = END) -> None:
    """Tell the peers that can be reached that the run has ended, without a word about why."""
    for peer in member.addresses:
        if peer != member.name:
            data = encode(Message(member.run, member.name, peer, step, {}))
            with contextlib.suppress(ProtocolError, PartyMissing):
                deliver(member, client, peer, data, patience=0.0)


def tell_not_begun(member: Member) -> None:
    """Tell the peers that wait already that this party could not begin, so that they do not wait until their patience ends."""
    with contextlib.suppress(InputError):
        client = tls_context(member.authority, member.certificate, member.key, server=False)
        tell_end(member, client, NOT_BEGUN)


def follow_role(
    member: Member, client: ssl.SSLContext, journal: Journal, mailbox: Mailbox, role: Role[Any]
) -> tuple[Any, list[Line]]:
    """Do what a role orders, one thing after the other."""
    lines: list[Line] = []
    answer: Body | None = None
    n_sent = n_received = 0
    while True:
        try:
            order = role.send(answer)
        except StopIteration as stop:
            return stop.value, lines
        answer = None
        if isinstance(order, Send):
            data = encode(Message(member.run, member.name, order.receiver, order.step, order.body))
            try:
                if not journal.was_sent(n_sent):
                    needed = None if order.or_none else mailbox
                    deliver(member, client, order.receiver, data, member.patience, needed)
                    journal.keep_sent(n_sent)
            except PartyMissing:
                if not order.or_none:
                    raise
                journal.keep_sent(n_sent)
            n_sent += 1
            lines.append(Line(member.name, order.receiver, order.step, len(data)))
        else:
            try:
                if not journal.was_given_up(n_received):
                    answer, size = mailbox.wait(order.sender, order.step, alone=order.or_none)
                    lines.append(Line(order.sender, member.name, order.step, size))
            except PartyMissing:
                if not order.or_none:
                    raise
                journal.give_up(n_received)
            n_received += 1


@dataclass
class Mailbox:
    """Messages that have arrived and wait for the role."""

    member: Member
    journal: Journal
    client: ssl.SSLContext
    ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._messages: dict[tuple[str, str], tuple[Body, int]] = {}
        self._seen: dict[tuple[str, str], str] = {}
        self._taken: set[tuple[str, str]] = set()
        self._heard: dict[str, float] = {}
        self._not_begun: set[str] = set()
        for number, (message, mark) in enumerate(self.journal.received()):
            self._number = number + 1
            place = (message.sender, message.step)
            self._seen[place] = mark
            self._messages[place] = (message.body, len(encode(message)))
        self._number = len(self._seen)

    def accept(self, sender: str, data: bytes) -> None:
        """Take a message from a peer whose certificate names it, or refuse it."""
        message = decode(data)
        named = (message.run, message.sender, message.receiver)
        if named != (self.member.run, sender, self.member.name):
            raise ProtocolError("a message names another run or another party")
        place, mark = (sender, message.step), digest(data)
        with self._changed:
            self._heard[sender] = time.monotonic()
            if message.step == NOT_BEGUN:
                # Not kept: the party may begin later.
                self._not_begun.add(sender)
                self._changed.notify_all()
                return
            self._not_begun.discard(sender)
            if place in self._seen:
                if self._seen[place] != mark:
                    raise ProtocolError("a second message for one step has other content")
                return
            if self.ended.is_set():
                raise ProtocolError("the run has ended")
            seen, taken = (sum(s == sender for s, _ in x) for x in (self._seen, self._taken))
            unread = seen - taken
            if unread >= MAX_UNREAD:
                raise ProtocolError("too many messages wait unread")
            self.journal.keep_received(self._number, data)
            self._number += 1
            self._seen[place] = mark
            self._messages[place] = (message.body, len(data))
            self._changed.notify_all()

    def wait(self, sender: str, step: str, *, alone: bool = False) -> tuple[Body, int]:
        """Return the message of a step, when it has come; name the sender when it does not come.

        A sender that says nothing but answers at its address is at work, or waits for somebody else itself. With ``alone`` the
        run can do without a sender, and it does not matter that another could not begin.
        """
        place, begun = (sender, step), time.monotonic()
        while True:
            with self._changed:
                while place not in self._messages:
                    self.require_present(sender, alone=alone)
                    heard = max(begun, self._heard.get(sender, begun))
                    left = heard + self.member.patience - time.monotonic()
                    if left <= 0:
                        break
                    self._changed.wait(min(left, 1.0))
                else:
                    self._taken.add(place)
                    return self._messages.pop(place)
            if not answers(self.member, self.client, sender):
                raise PartyMissing(
                    f"{self.member.name!r} waited for {sender!r} in step {step!r} and heard nothing for "
                    f"{self.member.patience:g} seconds. Start that party, then this one again: the run goes on."
                )
            begun = time.monotonic()

    def require_present(self, peer: str, *, alone: bool = False) -> None:
        """Say that a peer has ended the run, or that one could not begin.

        That another peer has ended it does not matter here: parties that refuse a run together each come to that from what they
        receive, and none must take the word of the quickest.
        """
        if (peer, END) in self._messages:
            raise ProtocolError(f"{peer!r} has ended the run; ask its owner why")
        for missing in sorted(self._not_begun & ({peer} if alone else set(self.member.addresses))):
            raise PartyMissing(
                f"{missing!r} could not begin its part, and its owner has been told why. When that is mended, start that party, "
                "then this one again: the run goes on."
            )


class Server:
    """Listens on the party's address and hands what peers send to the mailbox."""

    def __init__(self, member: Member, mailbox: Mailbox) -> None:
        self.member, self.mailbox = member, mailbox
        self.context = tls_context(member.authority, member.certificate, member.key, server=True)
        self.places = {p: threading.Semaphore(MAX_CONNECTIONS) for p in member.addresses}
        #: Connections whose certificate has not been seen yet, the oldest first.
        self.unknown: dict[ssl.SSLSocket, None] = {}
        self.unknown_lock = threading.Lock()
        self.stopped = threading.Event()
        try:
            self.socket = socket.create_server(member.addresses[member.name])
        except OSError as error:
            host, port = member.addresses[member.name]
            raise InputError(
                f"{member.name!r} cannot listen on {host}:{port}: {error.strerror or 'the address is not known'}"
            ) from None
        self.socket.settimeout(0.2)
        self.thread = threading.Thread(target=self._listen, daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self.thread.start()

    def stop(self) -> None:
        """Stop listening."""
        self.stopped.set()
        self.thread.join()
        self.socket.close()

    def _listen(self) -> None:
        while not self.stopped.is_set():
            try:
                raw, _ = self.socket.accept()
            except OSError:
                continue
            threading.Thread(target=self._serve, args=(raw,), daemon=True).start()

    def _make_room(self, raw: ssl.SSLSocket) -> None:
        """Note a connection of somebody yet unknown; the oldest that has shown nothing gives way, so that idle ones keep nobody out."""
        with self.unknown_lock:
            self.unknown[raw] = None
            while len(self.unknown) > MAX_UNKNOWN:
                oldest = next(iter(self.unknown))
                del self.unknown[oldest]
                with contextlib.suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)

    def _serve(self, raw: socket.socket) -> None:
        """Take one message. Whatever a peer does, this ends quietly: its own log tells it what was refused."""
        taken: threading.Semaphore | None = None
        try:
            raw.settimeout(HANDSHAKE)
            with self.context.wrap_socket(
                raw, server_side=True, do_handshake_on_connect=False
            ) as connection:
                self._make_room(connection)
                try:
                    connection.do_handshake()
                finally:
                    with self.unknown_lock:
                        self.unknown.pop(connection, None)
                name = peer_name(connection)
                if name not in self.member.addresses or name == self.member.name:
                    return
                if not self.places[name].acquire(blocking=False):
                    return
                taken = self.places[name]
                connection.settimeout(self.member.patience)
                data = read_frame(connection, self.member.max_message)
                try:
                    self.mailbox.accept(name, data)
                except ProtocolError as error:
                    connection.sendall(REFUSED + frame(str(error).encode()))
                else:
                    connection.sendall(CONFIRMED + frame(digest(data).encode()))
        except (OSError, ProtocolError):
            pass
        finally:
            raw.close()
            if taken is not None:
                taken.release()


def deliver(
    member: Member,
    context: ssl.SSLContext,
    receiver: str,
    data: bytes,
    patience: float,
    mailbox: Mailbox | None = None,
) -> None:
    """Send one message and wait until it is confirmed; try again while the peer cannot be reached."""
    if receiver not in member.addresses:
        raise InputError(f"no address is given for the party {receiver!r}")
    if len(data) > member.max_message:
        raise ProtocolError(
            f"a message to {receiver!r} has {len(data):,} bytes, more than the {member.max_message:,} allowed"
        )
    end = time.monotonic() + patience
    while True:
        with contextlib.suppress(OSError):
            return hand_over(member, context, receiver, data)
        if mailbox is not None:
            mailbox.require_present(receiver)
        if time.monotonic() > end:
            raise PartyMissing(
                f"{member.name!r} could not reach {receiver!r} for {patience:g} seconds. Start that party, then "
                "this one again: the run goes on."
            )
        time.sleep(RETRY)


def answers(member: Member, context: ssl.SSLContext, peer: str) -> bool:
    """Return True when a peer can be reached at its address and shows its certificate."""
    try:
        with (
            socket.create_connection(member.addresses[peer], timeout=HANDSHAKE) as raw,
            context.wrap_socket(raw) as connection,
        ):
            return peer_name(connection) == peer
    except OSError:
        return False


def hand_over(member: Member, context: ssl.SSLContext, receiver: str, data: bytes) -> None:
    """Connect once and hand a message over; raise when the peer refuses it."""
    with (
        socket.create_connection(member.addresses[receiver], timeout=HANDSHAKE) as raw,
        context.wrap_socket(raw) as connection,
    ):
        if peer_name(connection) != receiver:
            raise ProtocolError(f"who answers at the address of {receiver!r} is another party")
        connection.settimeout(member.patience)
        connection.sendall(frame(data))
        mark = read_exactly(connection, 1)
        told = read_frame(connection, 1 << 16).decode("utf-8", "replace")
        if mark != CONFIRMED or told != digest(data):
            # The words are the peer's: none but plain ones are repeated.
            plain = told if told.isprintable() and len(told) <= 200 else "for no good reason"
            raise ProtocolError(f"{receiver!r} has refused a message: {plain}")


def frame(data: bytes) -> bytes:
    """Return bytes with their length before them."""
    return len(data).to_bytes(8, "big") + data


def read_frame(connection: ssl.SSLSocket, limit: int) -> bytes:
    """Read bytes with their length before them."""
    length = int.from_bytes(read_exactly(connection, 8), "big")
    if length > limit:
        raise ProtocolError("a message is larger than allowed")
    return read_exactly(connection, length)


def read_exactly(connection: ssl.SSLSocket, length: int) -> bytes:
    """Read that many bytes, in pieces, so that a false length takes no memory."""
    pieces: list[bytes] = []
    while length:
        piece = connection.recv(min(length, 1 << 20))
        if not piece:
            raise ConnectionError("a connection ended in the middle of a message")
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)
