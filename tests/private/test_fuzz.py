"""Damaged and malicious messages: thousands of them end a run in a sentence, and never with a value."""

import contextlib
import socket
import ssl
import threading
import warnings

import numpy as np
import pytest

from tacit.errors import ProtocolError, SdcError
from tacit.private import retrieval, union
from tacit.private.parties.certificates import make_certificates, tls_context
from tacit.private.parties.journal import Journal
from tacit.private.parties.network import Member, frame, play_role
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Receive, Send, run_together
from tacit.private.parties.wire import Message, decode, encode, take
from tacit.private.regression.families import Logistic
from tacit.private.regression.integration import play_owner, play_relay
from tacit.private.regression.newton import Newton, play_fit
from tacit.private.regression.sums import SumSettings
from tacit.private.regression.vertical import play_vertical

pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
#: Values of the data that no message may repeat.
SECRETS = ("918273", "zyxwv")
MANY = [pytest.param(n, marks=[] if n < 100 else pytest.mark.slow) for n in (40, 300)]


def damage(data, rng):
    """Change a message: its bytes, or one of its parts while its form stays right."""
    raw = bytearray(data)
    match rng.integers(9):
        case 0:
            raw[rng.integers(len(raw))] ^= 1 << rng.integers(8)
        case 1:
            del raw[rng.integers(len(raw)) :]
        case 2:
            raw.insert(rng.integers(len(raw)), rng.integers(256))
        case 3:
            raw = bytearray(rng.bytes(rng.integers(200)))
        case _:
            return damage_part(data, rng)
    return bytes(raw)


def damage_part(data, rng):
    message = decode(data)
    body = dict(message.body)
    if not body:
        return data[:-1]
    name = list(body)[rng.integers(len(body))]
    value = body[name]
    strange = [
        None, -1, 2**70, "x" * 300, [[["a"]]], {"a": 1}, ["unhashable", ["a"]], True, b"", 1.5,
        np.zeros(3), np.full((2, 2), np.inf), rng.bytes(32), bytes(32), [], {},
    ]  # fmt: skip
    match rng.integers(5):
        case 0:
            del body[name]
        case 1:
            body[name] = strange[rng.integers(len(strange))]
        case 2 if isinstance(value, bytes) and value:
            place = rng.integers(len(value))
            body[name] = value[:place] + rng.bytes(1) + value[place + 1 :]
        case 3 if isinstance(value, bytes):
            body[name] = value[: len(value) // 2] + bytes(len(value) - len(value) // 2)
        case _ if isinstance(value, np.ndarray):
            body[name] = (value * 1e300 if value.dtype.kind == "f" else value)[:-1]
        case _:
            body[name + "?"] = value
            del body[name]
    return encode(Message(message.run, message.sender, message.receiver, message.step, body))


def check_quiet(error):
    text = str(error)
    assert isinstance(error, SdcError), text
    assert text
    assert len(text) < 600
    assert not any(s in text for s in SECRETS)


def attack(make_roles, n, seed):
    """Run roles with one message changed on the way, again and again; any message may be it."""
    rng = np.random.default_rng(seed)
    count = run_together(make_roles()).transcript.n_messages
    refused = 0
    for _ in range(n):
        target, seen = rng.integers(count), 0

        def between(data, target=target):
            nonlocal seen
            seen += 1
            return damage(data, rng) if seen - 1 == target else data

        try:
            run_together(make_roles(), between=between)
        except Exception as error:  # noqa: BLE001 - whatever comes must be one of ours
            check_quiet(error)
            refused += 1
    assert refused > n / 2


def people(ids, tag):
    return [{"id": f"zyxwv {i}", "x": f"918273{tag}{i}"} for i in ids]


def union_roles(group="ristretto255"):
    terms = union.Terms(group, (("id",),), 24)
    files = {
        "alice": union.make_records(people(range(3), "a"), [["id"]], ["x"], "alice"),
        "bob": union.make_records(people(range(2, 5), "b"), [["id"]], ["x"], "bob"),
    }
    return {
        "alice": union.play_alice("alice", "bob", files["alice"], terms, Randomness()),
        "bob": union.play_bob("bob", "alice", files["bob"], terms, Randomness()),
    }


def count_roles():
    terms = union.Terms("ristretto255", (("id",),), 1)
    made = {p: union.make_records(people(range(i, i + 3), p), [["id"]], [], p) for i, p in enumerate("ab")}  # fmt: skip
    return {
        p: union.play_count(p, q, made[p], terms, Randomness()) for p, q in (("a", "b"), ("b", "a"))
    }


def ring_roles():
    terms = union.Terms("ristretto255", (("id",),), 24)
    return {
        p: union.play_ring(
            p, "abc", union.make_records(people(range(i, i + 2), p), [["id"]], ["x"], p), terms, Randomness()
        )
        for i, p in enumerate("abc")
    }  # fmt: skip


def fit_roles(protocol, drop_outs=0):
    rng = np.random.default_rng(5)
    roles = {}
    for p in "abcd":
        x = np.column_stack([np.ones(30), rng.normal(size=30)])
        model = Logistic(x, (rng.uniform(size=30) < 0.5).astype(float))
        settings = SumSettings(p, list("abcd"), Randomness(), protocol, drop_outs=drop_outs)
        roles[p] = play_fit(settings, model, Newton(max_iter=6), {"columns": ["1", "x"]})
    return roles


def vertical_roles():
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(40, 1)), rng.normal(size=(40, 1))
    y = a[:, 0] + b[:, 0] + rng.normal(size=40)
    return {
        "a": play_vertical("a", ["a", "b"], ["x"], a, y, Randomness()),
        "b": play_vertical("b", ["a", "b"], ["z"], b, None, Randomness()),
    }


def integration_roles():
    names = list("abc")
    return {
        **{p: play_owner(p, names, "relay", people(range(2), p), 2, Randomness()) for p in names},
        "relay": play_relay("relay", names, 2, Randomness()),
    }


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("n", MANY)
@pytest.mark.parametrize(
    "make",
    [
        union_roles,
        count_roles,
        ring_roles,
        lambda: fit_roles("ring"),
        lambda: fit_roles("pairwise_masks"),
        lambda: fit_roles("pairwise_masks", 1),
        lambda: fit_roles("shamir", 1),
        vertical_roles,
        integration_roles,
    ],
    ids=["union", "count", "ring", "fit ring", "masks", "drop-outs", "shamir", "vertical", "integration"],
)  # fmt: skip
def test_protocols_refuse_damaged_messages(make, n):
    attack(make, n, seed=n)


SCHEMES = {
    "simple": {},
    "chor": {},
    "ko": {"key_bits": 256, "insecure_ok": True},
    "stern": {"key_bits": 256, "insecure_ok": True, "depth": 2},
    "lipmaa": {"key_bits": 256, "insecure_ok": True, "depth": 2},
    "cms": {"key_bits": 256, "insecure_ok": True},
    "gr": {"key_bits": 256, "insecure_ok": True},
}


@pytest.mark.parametrize("n", MANY)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_retrieval_refuses_damaged_messages(scheme, n):
    rng = np.random.default_rng(n)
    records = [f"918273 zyxwv {i}" for i in range(6)]
    server = retrieval.Server(records, scheme, **SCHEMES[scheme])
    client = retrieval.Client(
        server.parameters, **({"insecure_ok": True} if SCHEMES[scheme] else {})
    )
    n = n if scheme in ("simple", "chor") else n // 10
    query = client.query(2)
    sent, told = query.to_bytes(), server.answer(query).to_bytes()
    public = retrieval.write_parameters(server.parameters)
    for _ in range(n):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for work in (
                lambda: server.answer(retrieval.Query.from_bytes(damage(sent, rng))),
                lambda: client.decode(retrieval.Answer.from_bytes(damage(told, rng))),
                lambda: retrieval.Client(
                    retrieval.read_parameters(damage(public, rng)),
                    **({"insecure_ok": True} if SCHEMES[scheme] else {}),
                ),
            ):
                try:
                    work()
                except Exception as error:  # noqa: BLE001
                    check_quiet(error)
        client._secrets.setdefault(query.number, (2, None)) if scheme in ("chor", "ko", "stern", "lipmaa") else None  # fmt: skip


@pytest.mark.parametrize("n", MANY)
def test_sums_and_symmetric_retrieval_refuse_damaged_messages(n):
    rng = np.random.default_rng(n)
    server = retrieval.SumServer([918273, 5, 7])
    client = retrieval.SumClient(server.parameters, key_bits=256, insecure_ok=True)
    symmetric = retrieval.SymmetricServer(["918273 zyxwv", "b", "c"])
    buyer = retrieval.SymmetricClient(symmetric.parameters)
    for _ in range(n // 4):
        sent = encode(Message("s", "c", "s", "q", client.query([1, 1, 0])))
        told = encode(Message("s", "s", "c", "a", server.answer(decode(sent).body)))
        bought = buyer.query(1)
        key = symmetric.answer(bought).to_bytes()
        for work in (
            lambda sent=sent: server.answer(decode(damage(sent, rng)).body),
            lambda told=told: client.decode(decode(damage(told, rng)).body),
            lambda b=bought: symmetric.answer(retrieval.Query.from_bytes(damage(b.to_bytes(), rng))),
            lambda key=key: buyer.decode(retrieval.Answer.from_bytes(damage(key, rng))),
        ):  # fmt: skip
            try:
                work()
            except Exception as error:  # noqa: BLE001
                check_quiet(error)


# -- at the port of a party --------------------------------------------------------------------------


def asks(random):
    yield Send("b", "ask", {"n": random.below(9)})
    return take((yield Receive("b", "told")), "n", int)


def tells(random):
    del random
    n = take((yield Receive("a", "ask")), "n", int)
    yield Send("a", "told", {"n": n})
    return n


def throw(port, data):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as raw:
        raw.settimeout(0.2)
        raw.sendall(data)
        raw.recv(10)


def throw_tls(port, context, data):
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("127.0.0.1", port), 5) as raw,
        context.wrap_socket(raw) as connection,
    ):
        connection.settimeout(0.3)
        connection.sendall(data)
        connection.recv(10)


def test_garbage_at_the_port_changes_nothing(tmp_path):
    from tacit.private.example import free_ports

    folder = make_certificates(tmp_path / "c", ["a", "b", "stranger"])
    ports = dict(zip("ab", free_ports(2), strict=True))
    addresses = {n: ("127.0.0.1", p) for n, p in ports.items()}
    made, rng = {}, np.random.default_rng(8)

    def play(name, role):
        member = Member(
            name, addresses, folder / "authority.pem", folder / f"{name}.pem", folder / f"{name}.key", "r",
            patience=20.0, linger=0.1,
        )  # fmt: skip
        made[name] = play_role(member, Journal(tmp_path / name), role).result

    other = threading.Thread(target=play, args=("b", tells))
    other.start()
    for _ in range(20):
        throw(ports["b"], rng.bytes(rng.integers(1, 300)))
    inside, outside = (
        tls_context(folder / "authority.pem", folder / f"{n}.pem", folder / f"{n}.key", server=False)
        for n in ("a", "stranger")
    )  # fmt: skip
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    nobody.check_hostname, nobody.verify_mode = False, ssl.CERT_NONE
    good = encode(Message("r", "a", "b", "ask", {"n": 3}))
    for context in (inside, outside, nobody):
        for data in (
            rng.bytes(50), (1 << 62).to_bytes(8, "big"), frame(rng.bytes(100)), frame(good[:-1])[:-3],
            frame(encode(Message("other", "a", "b", "ask", {"n": 3}))),
            frame(encode(Message("r", "c", "b", "ask", {"n": 3}))),
        ):  # fmt: skip
            throw_tls(ports["b"], context, data)
    for context in (outside, nobody):
        throw_tls(ports["b"], context, frame(good))
    assert "b" not in made
    play("a", asks)
    other.join()
    assert made["a"] == made["b"]


def test_lists_in_messages_are_lists_of_texts():
    for bad in ([["a"]], [1], [None], [{}]):
        with pytest.raises(ProtocolError):
            take({"names": bad}, "names", list)
