"""Messages, roles, journals and the network between parties."""

import multiprocessing
import os
import socket
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import DisclosureRefused, PartyMissing, ProtocolError
from tacit.private.parties.certificates import make_certificates
from tacit.private.parties.journal import Journal, RunLog
from tacit.private.parties.network import Member, play_role
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Receive, Send, agree, run_together
from tacit.private.parties.wire import Message, decode, encode, take

BODY = {
    "n": 3,
    "word": "ö",
    "raw": b"\x00\xff",
    "words": np.arange(6, dtype=np.uint64).reshape(2, 3),
    "reals": np.array([0.1, -2.5]),
    "empty": np.zeros((0, 4), np.uint8),
}


def test_messages_round_trip():
    message = Message("r", "a", "b", "one", BODY)
    again = decode(encode(message))
    assert (again.run, again.sender, again.receiver, again.step) == ("r", "a", "b", "one")
    assert again.body["n"] == 3
    assert again.body["raw"] == b"\x00\xff"
    np.testing.assert_array_equal(again.body["words"], BODY["words"])
    assert again.body["empty"].shape == (0, 4)
    assert encode(again) == encode(message)


def test_damaged_messages_are_refused_in_a_sentence():
    data = encode(Message("r", "a", "b", "one", BODY))
    rng = np.random.default_rng(1)
    for _ in range(3000):
        raw = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            match rng.integers(3):
                case 0:
                    raw[rng.integers(len(raw))] = rng.integers(256)
                case 1:
                    del raw[rng.integers(len(raw)) :]
                    raw = raw or bytearray(b"x")
                case 2:
                    raw.insert(rng.integers(len(raw)), rng.integers(256))
        try:
            decode(bytes(raw))
        except ProtocolError as error:
            assert str(error).startswith(("a message", "what was"))


@given(st.binary(max_size=200))
@settings(max_examples=50)
def test_any_bytes_are_refused(data):
    with pytest.raises(ProtocolError):
        decode(data)


def test_parts_are_taken_with_type_and_length():
    assert take(BODY, "raw", bytes, (2,)) == b"\x00\xff"
    assert take(BODY, "words", "u8", (None, 3)).shape == (2, 3)
    for name, kind, shape in (
        ("raw", bytes, (3,)),
        ("words", "u8", (2, 2)),
        ("words", "f8", None),
        ("n", str, None),
        ("none", int, None),
    ):
        with pytest.raises(ProtocolError):
            take(BODY, name, kind, shape)
    with pytest.raises(ProtocolError):
        take({"n": True}, "n", int)
    with pytest.raises(ProtocolError):
        take({"x": np.array([np.nan])}, "x", "f8")


def test_randomness_repeats_from_its_secret_and_is_even():
    one, two = Randomness(bytes(32)), Randomness(bytes(32))
    assert one.draw(40) == two.draw(40)
    assert one.child("x").draw(8) != one.child("y").draw(8)
    assert Randomness().draw(16) != Randomness().draw(16)
    drawn = np.bincount([one.below(5) for _ in range(5000)], minlength=5)
    assert ((drawn - 1000) ** 2 / 1000).sum() < 25
    assert sorted(one.order(100).tolist()) == list(range(100))


def ping(rand, me="a", other="b", rounds=3):
    """Send a random number each round; return the sum of what came back."""
    yield from agree(me, [me, other], {"rounds": rounds})
    total = 0
    for i in range(rounds):
        yield Send(other, f"ping-{i}", {"n": rand.below(1000)})
        total += take((yield Receive(other, f"pong-{i}")), "n", int)
    return total


def pong(rand, me="b", other="a", rounds=3):
    yield from agree(me, [me, other], {"rounds": rounds})
    total = 0
    for i in range(rounds):
        got = take((yield Receive(other, f"ping-{i}")), "n", int)
        total += got + 1
        yield Send(other, f"pong-{i}", {"n": got + 1})
    return total


def test_roles_run_together():
    seen = []
    done = run_together({"a": ping(Randomness()), "b": pong(Randomness())}, watch=seen.append)
    assert done.results["a"] == done.results["b"]
    assert done.transcript.n_messages == 8 == len(seen)
    assert done.transcript.n_bytes == sum(done.transcript.bytes_by_sender().values())


def test_parties_that_did_not_agree_stop():
    with pytest.raises(ProtocolError, match="rounds differ"):
        run_together({"a": ping(Randomness()), "b": pong(Randomness(), rounds=2)})


def test_who_waits_for_whom_is_told():
    def waits(other):
        yield Receive(other, "never")

    with pytest.raises(ProtocolError, match="'a' waits for 'b'"):
        run_together({"a": waits("b"), "b": waits("a")})


# -- over the network --------------------------------------------------------------------------------


def free_ports(n):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("certificates"), ["a", "b", "stranger"])


def member(name, ports, folder, **changes):
    addresses = {n: ("127.0.0.1", p) for n, p in zip("ab", ports, strict=True)}
    options = {"patience": 20.0, "linger": 0.3, **changes}
    return Member(
        name,
        addresses,
        folder / "authority.pem",
        folder / f"{options.pop('shows', name)}.pem",
        folder / f"{options.pop('holds', name)}.key",
        "run-1",
        **options,
    )


def test_roles_play_over_tls(certificates, tmp_path):
    ports = free_ports(2)
    played = {}

    def play(name, role):
        journal = Journal(tmp_path / name)
        played[name] = play_role(member(name, ports, certificates), journal, role)

    threads = [threading.Thread(target=play, args=x) for x in (("a", ping), ("b", pong))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert played["a"].result == played["b"].result
    assert played["a"].transcript.n_messages == 8
    with pytest.raises(DisclosureRefused, match="has ended"):
        Journal(tmp_path / "a")
    assert sorted(f.name for f in (tmp_path / "a").iterdir()) == ["ended", "terms"]


def crash_after(orders, role):
    """Play a role, and end the process as a power cut would after that many orders."""

    def play(rand):
        inner = role(rand)
        answer = None
        for _ in range(orders):
            try:
                order = inner.send(answer)
            except StopIteration as stop:
                return stop.value
            answer = yield order
        os._exit(9)

    return play


def run_party(name, ports, certificates, folder, orders, results):
    role = {"a": ping, "b": pong}[name]
    journal = Journal(folder / name)
    make = role if orders is None else crash_after(orders, role)
    results.put((name, play_role(member(name, ports, certificates), journal, make).result))


@pytest.mark.parametrize("orders", [0, 1, 2, 3, 5, 7])
def test_a_party_that_crashed_goes_on(certificates, tmp_path, orders):
    ports = free_ports(2)
    spawn = multiprocessing.get_context("fork")
    results = spawn.Queue()

    def start(name, after):
        process = spawn.Process(
            target=run_party, args=(name, ports, certificates, tmp_path, after, results)
        )
        process.start()
        return process

    other, crashed = start("b", None), start("a", orders)
    crashed.join(30)
    assert crashed.exitcode == 9
    again = start("a", None)
    got = dict(results.get(timeout=30) for _ in range(2))
    again.join(30)
    other.join(30)
    assert got["a"] == got["b"]


def test_who_is_missing_is_named(certificates, tmp_path):
    ports = free_ports(2)
    with pytest.raises(PartyMissing, match="could not reach 'b'"):
        play_role(member("a", ports, certificates, patience=0.5), Journal(tmp_path / "a"), ping)


def test_a_stranger_is_not_heard(certificates, tmp_path):
    """A certificate of the authority under another name reaches no role."""
    ports = free_ports(2)

    def intrude():
        wrong = member("a", ports, certificates, shows="stranger", holds="stranger", patience=0.5)
        with pytest.raises(ProtocolError):
            play_role(wrong, Journal(tmp_path / "x"), ping)

    thread = threading.Thread(target=intrude)
    thread.start()
    with pytest.raises(ProtocolError):
        play_role(member("b", ports, certificates, patience=1.5), Journal(tmp_path / "b"), pong)
    thread.join()


def test_changed_data_and_repeated_runs_are_refused(tmp_path):
    Journal(tmp_path / "j", "one")
    with pytest.raises(DisclosureRefused, match="have changed"):
        Journal(tmp_path / "j", "two")
    log = RunLog(tmp_path / "runs.jsonl")
    log.admit("r1", ["b"], "union", "f")
    log.admit("r1", ["b"], "union", "f")
    with pytest.raises(DisclosureRefused, match="as many runs"):
        log.admit("r2", ["b"], "union", "f")
    log.admit("r2", ["b"], "union", "f", confirmed=True)
    with pytest.raises(DisclosureRefused, match="other parties"):
        log.admit("r3", ["c"], "union", "f")
    log.admit("r3", ["c"], "union", "g")
    assert [r["run"] for r in log.runs()] == ["r1", "r2", "r3"]
    assert (tmp_path / "runs.jsonl").stat().st_mode & 0o777 == 0o600
