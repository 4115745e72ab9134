"""A process that dies at any step: the run goes on, or ends with a sentence that names who is missing."""

import multiprocessing
import os
import queue

import numpy as np
import pytest

from tacit.errors import SdcError
from tacit.private import union
from tacit.private.example import free_ports
from tacit.private.parties.certificates import make_certificates
from tacit.private.parties.journal import Journal
from tacit.private.parties.network import Member, play_role
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import run_together
from tacit.private.regression.families import Logistic
from tacit.private.regression.newton import Newton, play_fit
from tacit.private.regression.sums import SumSettings

SPAWN = multiprocessing.get_context("fork")


def fit_role(name, names, drop_outs=0):
    rng = np.random.default_rng(sorted(names).index(name))
    x = np.column_stack([np.ones(40), rng.normal(size=40)])
    model = Logistic(x, (rng.uniform(size=40) < 0.4 + 0.2 * (x[:, 1] > 0)).astype(float))

    def make(random):
        settings = SumSettings(name, list(names), random, "pairwise_masks", drop_outs=drop_outs)
        return play_fit(settings, model, Newton(), {"columns": ["1", "x"]})

    return make


def union_role(name, names):
    rows = [{"id": i, "x": f"{name}{i}"} for i in (range(4) if name == "alice" else range(2, 7))]
    records = union.make_records(rows, [["id"]], ["x"], name)
    terms = union.Terms("ristretto255", (("id",),), 24)
    (other,) = (n for n in names if n != name)
    play = union.play_alice if name == "alice" else union.play_bob
    return lambda random: play(name, other, records, terms, random)


def count_orders(make, names, who):
    """How many orders a role gives in an undisturbed run."""
    n = 0

    def counted(role):
        nonlocal n
        answer = None
        while True:
            try:
                order = role.send(answer)
            except StopIteration as stop:
                return stop.value
            n += 1
            answer = yield order

    roles = {p: make(p, names)(Randomness()) for p in names}
    roles[who] = counted(roles[who])
    run_together(roles)
    return n


def crash_after(orders, make):
    def play(random):
        inner, answer = make(random), None
        for _ in range(orders):
            try:
                order = inner.send(answer)
            except StopIteration as stop:
                return stop.value
            answer = yield order
        os._exit(9)

    return play


def plain(result):
    if isinstance(result, union.Outcome):
        return (result.sizes.union, sorted(r["x"] for r in result.rows or ()))
    return (result.n_records, [round(b, 8) for b in result.beta])


def run(name, addresses, folder, base, make, orders, told, patience):
    member = Member(
        name, addresses, folder / "authority.pem", folder / f"{name}.pem", folder / f"{name}.key", "r",
        patience=patience, linger=0.2,
    )  # fmt: skip
    try:
        role = make if orders is None else crash_after(orders, make)
        told.put((name, plain(play_role(member, Journal(base / name), role).result)))
    except SdcError as error:
        told.put((name, str(error)))


def play_with_a_kill(make, names, victim, orders, folder, base, *, again=True, patience=4.0):
    """Kill one party after some orders, start it again, and return what every party ended with."""
    addresses = {n: ("127.0.0.1", p) for n, p in zip(names, free_ports(len(names)), strict=True)}
    told = SPAWN.Queue()

    def start(name, after):
        process = SPAWN.Process(
            target=run,
            args=(name, addresses, folder, base, make(name, names), after, told, patience),
        )
        process.start()
        return process

    running = [start(n, orders if n == victim else None) for n in names]
    running[names.index(victim)].join(60)
    assert running[names.index(victim)].exitcode in (0, 9)
    if again and running[names.index(victim)].exitcode == 9:
        running.append(start(victim, None))
    ended = {}
    try:
        for _ in names if again else names[1:]:
            name, result = told.get(timeout=60)
            ended[name] = result
    except queue.Empty:
        pass
    finally:
        for p in running:
            p.join(30)
            if p.is_alive():
                p.kill()
    return ended


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("c"), ["alice", "bob", "x", "y", "z", "w"])


def check_ended(ended, expected, names):
    assert set(ended) == set(names), "a party neither ended nor said why"
    for result in ended.values():
        assert result in expected or (isinstance(result, str) and "Start that party" in result)


CASES = {"fit": (fit_role, ["x", "y", "z"]), "union": (union_role, ["alice", "bob"])}


def expected_of(make, names):
    done = run_together({p: make(p, names)(Randomness()) for p in names})
    return [plain(r) for r in done.results.values()]


@pytest.mark.parametrize(("case", "victim", "orders"), [
    ("fit", "x", 6), ("fit", "z", 11), ("union", "alice", 3), ("union", "bob", 5),
])  # fmt: skip
def test_a_party_that_dies_goes_on(case, victim, orders, certificates, tmp_path):
    make, names = CASES[case]
    ended = play_with_a_kill(make, names, victim, orders, certificates, tmp_path)
    assert set(ended) == set(names)
    assert all(r in expected_of(make, names) for r in ended.values())


@pytest.mark.slow
@pytest.mark.parametrize(("case", "victim"), [
    ("fit", "x"), ("fit", "y"), ("union", "alice"), ("union", "bob"),
])  # fmt: skip
def test_a_party_that_dies_at_every_step(case, victim, certificates, tmp_path):
    make, names = CASES[case]
    expected = expected_of(make, names)
    for orders in range(count_orders(make, names, victim) + 1):
        base = tmp_path / str(orders)
        base.mkdir()
        check_ended(
            play_with_a_kill(make, names, victim, orders, certificates, base), expected, names
        )


@pytest.mark.parametrize("orders", [20, 33])
def test_a_fit_that_loses_a_party_ends(orders, certificates, tmp_path):
    """Totals without it, after totals with it, would be its statistics by subtraction."""
    names = ["x", "y", "z", "w"]

    def make(name, names):
        return fit_role(name, names, drop_outs=1)

    ended = play_with_a_kill(
        make, names, "w", orders, certificates, tmp_path, again=False, patience=1.0
    )
    assert set(ended) == {"x", "y", "z"}
    assert all(isinstance(r, str) for r in ended.values())


def test_a_message_that_was_given_up_stays_given_up(tmp_path):
    journal = Journal(tmp_path / "j")
    assert not journal.was_given_up(3)
    journal.give_up(3)
    assert Journal(tmp_path / "j").was_given_up(3)
    journal.end()
    assert sorted(f.name for f in (tmp_path / "j").iterdir()) == ["ended", "terms"]
