"""What is refused, and what is not passed over in silence."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

import tacit
from tacit.errors import DisclosureRefused, Infeasible, InputError, InvalidParameter, ProtocolError
from tacit.private import regression, retrieval, union
from tacit.private.example import run_trial, write_parties
from tacit.private.parties.certificates import make_certificates
from tacit.private.parties.journal import Journal
from tacit.private.parties.network import hand_over
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import run_together
from tacit.private.parties.wire import Message, decode, encode
from tacit.private.settings import read_party
from tacit.private.union.run import one_type

CASES = json.loads(
    (
        Path(__file__).parent.parent / "fixtures" / "psd23-private-set-union" / "must_refuse.json"
    ).read_text()
)["cases"]
pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")


def people(ids, tag="x"):
    return [{"id": str(i), "x": f"{tag}{i}"} for i in ids]


def run_union(a, b, *, change=None, step="", group="ristretto255", consent=None, watch=None):
    terms = union.Terms(group, (("id",),), 24)
    made = [union.make_records(t, [["id"]], ["x"], p) for t, p in ((a, "alice"), (b, "bob"))]

    def between(data):
        message = decode(data)
        if change is None or message.step != step:
            return data
        body = change(dict(message.body))
        return encode(Message(message.run, message.sender, message.receiver, message.step, body))

    return run_together(
        {
            "alice": union.play_alice("alice", "bob", made[0], terms, Randomness()),
            "bob": union.play_bob("bob", "alice", made[1], terms, Randomness(), consent=consent),
        },
        between=between,
        watch=watch,
    )


def drop_last(n_bytes):
    return lambda body: {k: v[:-n_bytes] for k, v in body.items()}


def refuse_duplicates(case, tmp_path):
    del tmp_path
    with pytest.raises(InputError, match="more than once"):
        run_union(people(case["A_ids"]), people(["9"]))


def refuse_long_rows(case, tmp_path):
    del tmp_path
    terms = union.Terms("modp2048", (("id",),), case["max_bytes"])
    rows = [{"id": "1", "x": "y" * case["record_bytes"]}]
    records = union.make_records(rows, [["id"]], ["x"], "alice")
    sent = []
    with pytest.raises(InputError, match="longer than the 236 bytes"):
        run_together(
            {
                "alice": union.play_alice("alice", "bob", records, terms, Randomness()),
                "bob": union.play_bob("bob", "alice", records, terms, Randomness()),
            },
            watch=lambda m: sent.append(m.step),
        )
    assert set(sent) <= {"agree"}


def refuse_elements(case, tmp_path):
    del case, tmp_path
    group = union.group_named("modp2048")
    wrong = [group.to_bytes(v) for v in (group.p - 1, 0, 1, group.p, group.p + 4)]
    for name, elements in (("modp2048", wrong), ("ristretto255", [bytes(32), b"\xff" * 32])):
        for bad in elements:
            for step in ("1 tokens and rows", "2 tokens again", "5 union", "8 rows"):

                def change(body, bad=bad):
                    return {k: bad + v[len(bad) :] for k, v in body.items()}

                with pytest.raises(ProtocolError, match="not in the group"):
                    run_union(people("1"), people("12"), change=change, step=step, group=name)


def refuse_lengths_of_the_union(case, tmp_path):
    del case, tmp_path
    size, per_row = 32, -(-26 // 20)

    def longer(body):
        group, random = union.group_named("ristretto255"), Randomness()
        extra = [group.draw_element(random) for _ in range(8 * (1 + per_row))]
        return {
            "tokens": body["tokens"] + b"".join(extra[:8]),
            "rows": body["rows"] + b"".join(extra[8:]),
        }

    def shorter(body):
        return {"tokens": body["tokens"][: -2 * size], "rows": body["rows"][: -2 * per_row * size]}

    for change in (longer, shorter):
        with pytest.raises(ProtocolError, match="no union of the two files"):
            run_union(people("12"), people("23"), change=change, step="5 union")


def refuse_lengths_of_rows(case, tmp_path):
    del case, tmp_path
    with pytest.raises(ProtocolError, match="another number of rows"):
        run_union(people("12"), people("23"), change=drop_last(64), step="8 rows")


def refuse_keys_again(case, tmp_path):
    del case
    journal = Journal(tmp_path / "run")
    journal.end()
    assert not (tmp_path / "run" / "secret").exists()
    with pytest.raises(DisclosureRefused, match="never used again"):
        Journal(tmp_path / "run")


@pytest.mark.parametrize(
    ("case", "refuse"),
    list(
        zip(
            CASES,
            [
                refuse_duplicates,
                refuse_long_rows,
                refuse_elements,
                refuse_lengths_of_the_union,
                refuse_lengths_of_rows,
                refuse_keys_again,
            ],
            strict=True,
        )
    ),
    ids=[c["why"] for c in CASES],
)
def test_must_refuse(case, refuse, tmp_path):
    refuse(case, tmp_path)


# -- union --------------------------------------------------------------------------------------------


def test_a_probe_is_turned_away_before_it_learns_anything():
    seen = []
    with pytest.raises(DisclosureRefused, match="'bob' ends the run"):
        run_union(
            people("1"), people("12345"), consent=union.Consent(both=2), watch=lambda m: seen.append(m.step)
        )  # fmt: skip
    assert "2 tokens again" not in seen
    assert "3 tokens and rows" not in seen


def test_consent_of_a_ring_is_not_passed_over():
    files = [people("12"), people("23"), people("34")]
    options = {"identifying": ["id"], "data": ["x"]}
    with pytest.raises(InvalidParameter, match="two parties"):
        union.simulate(*files, consent={"alice": union.Consent(both=1)}, **options)
    with pytest.raises(InvalidParameter, match="must belong to"):
        union.simulate(*files[:2], consent={"eve": union.Consent(both=1)}, **options)


def test_columns_of_two_types_become_texts():
    found = union.simulate(
        [{"id": "1", "x": 5}, {"id": "3", "x": None}],
        [{"id": "2", "x": "five"}],
        identifying=["id"],
        data=["x"],
    )
    assert sorted(v for v in found.frame["x"].to_list() if v) == ["5", "five"]
    assert one_type([1, 2.5]) == [1, 2.5]
    assert one_type([2**80, None]) == [str(2**80), None]


# -- fits ----------------------------------------------------------------------------------------------


def owner(rng, n, events=None):
    x = rng.normal(size=n)
    y = (rng.uniform(size=n) < 0.5).astype(float)
    if events is not None:
        y = np.zeros(n)
        y[:events] = 1
    return {"x": x, "y": y}


def test_a_single_case_among_the_others_ends_the_run():
    """X'y less one's own part would be the record of that case."""
    rng = np.random.default_rng(3)
    files = {"a": owner(rng, 50), "b": owner(rng, 50, 1), "c": owner(rng, 50, 0)}
    with pytest.raises(DisclosureRefused, match="a category"):
        regression.logistic(files, "y ~ x")
    assert regression.logistic(files, "y ~ x", threshold=0).n_records == 150


def test_a_category_that_one_owner_has_only_is_counted():
    rng = np.random.default_rng(4)
    files = {p: {**owner(rng, 40), "g": np.zeros(40)} for p in "abc"}
    files["a"]["g"] = np.ones(40)
    files["b"]["g"][:2] = 1
    with pytest.raises(DisclosureRefused, match=r"a category \(g\) holds"):
        regression.linear(files, "y ~ x + g")


def test_columns_too_small_for_the_fixed_point_are_refused():
    rng = np.random.default_rng(5)
    files = {p: owner(rng, 60) for p in "abc"}
    for own in files.values():
        own["x"] = own["x"] * 1e-7
    with pytest.raises(Infeasible, match="so small"):
        regression.logistic(files, "y ~ x")
    fine = regression.logistic(files, "y ~ x", modulus_bits=256, frac_bits=120)
    assert np.isfinite(list(fine.standard_errors.values())).all()


def test_units_of_columns_do_not_matter():
    rng = np.random.default_rng(7)
    files = {p: owner(rng, 60) for p in "abc"}
    plain = regression.logistic(files, "y ~ x").coefficients["x"]
    for own in files.values():
        own["x"] = own["x"] * 1e8
    assert regression.logistic(files, "y ~ x").coefficients["x"] * 1e8 == pytest.approx(plain)


def test_statistics_of_any_kind():
    rng = np.random.default_rng(6)
    files = {p: owner(rng, 30) for p in "abc"}
    found = regression.add_statistics(files, lambda own: [own["x"].sum(), (own["x"] ** 2).sum()])
    x = np.concatenate([f["x"] for f in files.values()])
    np.testing.assert_allclose(found.values, [x.sum(), x @ x], atol=1e-10)
    assert "learnt the number of records" in found.statement
    with pytest.raises(DisclosureRefused, match="too few records"):
        regression.add_statistics(
            {"a": owner(rng, 9), "b": owner(rng, 1), "c": owner(rng, 1)}, lambda own: own["x"].sum()
        )
    with pytest.raises(ProtocolError, match="numbers of the statistic differ"):
        regression.add_statistics(
            {"a": owner(rng, 9), "b": owner(rng, 8), "c": owner(rng, 7)}, lambda own: own["x"]
        )


def test_persons_of_several_owners_are_counted():
    files = {"a": people("123"), "b": people("34"), "c": people("456")}
    found = regression.count_shared(files, identifying=["id"])
    assert found.numbers == {"records": 8, "persons": 6, "counted more than once": 2}
    with pytest.raises(InputError, match="count_overlap"):
        regression.count_shared([people("1"), people("2")], identifying=["id"])


# -- retrieval -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::tacit.errors.Slow")
def test_symmetric_retrieval_opens_one_record():
    server = retrieval.SymmetricServer([f"record {i}" for i in range(20)])
    client = retrieval.SymmetricClient(server.parameters)
    one, two = client.query(3), client.query(4)
    answers = [server.answer(q) for q in (one, two)]
    assert client.decode(answers[0]) == b"record 3"
    # The key of another record does not open this one.
    crossed = retrieval.Answer(answers[1].version, answers[1].number, {**answers[1].body, "element": answers[0].body["element"]})  # fmt: skip
    with pytest.raises(ProtocolError, match="does not open"):
        client.decode(crossed)
    assert server.n_answered == 2
    with pytest.raises(ProtocolError, match="not in the group"):
        server.answer(retrieval.Query(one.version, 9, {**one.body, "element": bytes(32)}))
    with pytest.raises(ProtocolError, match="lacks"):
        server.answer(retrieval.Client(server.parameters.table).query(1))


def test_costs_along_one_size():
    found = retrieval.compare_costs(["stern", "lipmaa"], n=10_000, length=1024, depth=range(1, 7))
    best = min(found.costs, key=lambda c: c.total)
    assert found.numbers["depth"] == best.depth
    assert retrieval.best_depth(best.scheme, 10_000, 1024).total == best.total
    assert "<svg" in found.plot().svg()
    assert "<svg" in retrieval.compare_costs(["ko", "gr"], n=[10, 1000], length=8).plot().svg()
    for wrong in ({"n": 10, "length": 8}, {"n": [1, 2], "length": [8, 9]}, {"n": [], "length": 8}):
        with pytest.raises(InvalidParameter, match="exactly one"):
            retrieval.compare_costs(["ko"], **wrong)


@pytest.mark.filterwarnings("ignore::tacit.errors.Slow")
def test_an_index_is_a_whole_number():
    client = retrieval.Client(retrieval.Server(["a", "b", "c"]).parameters)
    for wrong in (1.0, "1", None, True, 3, -1):
        with pytest.raises(InvalidParameter, match="whole number"):
            client.query(wrong)
    client.query(np.int64(1))


# -- settings and names ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["..", ".", "a/b", "-x", ""])
def test_names_of_runs_are_no_paths(name, tmp_path):
    folder = write_parties(tmp_path / "p", n=60)
    document = yaml.safe_load((folder / "agreement.yaml").read_text())
    (folder / "agreement.yaml").write_text(yaml.safe_dump({**document, "run": name}))
    with pytest.raises(InvalidParameter, match="run"):
        read_party(folder / "riverside.yaml")


@pytest.mark.parametrize("names", [["authority"], ["../x"], ["a", "a"]])
def test_names_of_parties_are_names_of_files(names, tmp_path):
    with pytest.raises(InputError, match="another name"):
        make_certificates(tmp_path / "c", names)


def test_settings_without_a_meaning_are_told(tmp_path):
    folder = write_parties(tmp_path / "p", n=60)
    document = yaml.safe_load((folder / "agreement.yaml").read_text())
    document["task"] |= {"event": "y", "record_bytes": 9}
    (folder / "agreement.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    with pytest.raises(InvalidParameter, match=r"task\.event means nothing.*task\.record_bytes"):
        read_party(folder / "riverside.yaml")
    document["task"] = {"kind": "count", "identifying": [["patient"]]}
    (folder / "agreement.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    with pytest.raises(InvalidParameter, match="exactly two parties"):
        run_trial(folder)


def test_words_of_a_peer_are_not_repeated_when_they_are_not_plain(monkeypatch):
    from tacit.private.parties import network

    class Fake:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def settimeout(self, _):
            return None

        def sendall(self, _):
            return None

        def wrap_socket(self, _):
            return self

    monkeypatch.setattr(network.socket, "create_connection", lambda *_, **__: Fake())
    monkeypatch.setattr(network, "peer_name", lambda _: "b")
    monkeypatch.setattr(network, "read_exactly", lambda *_: b"n")
    monkeypatch.setattr(network, "read_frame", lambda *_: b"\x1b[31mstolen")
    member = type("M", (), {"addresses": {"b": ("h", 1)}, "patience": 1.0})
    with pytest.raises(ProtocolError, match="for no good reason"):
        hand_over(member, Fake(), "b", b"")


def test_one_import_is_enough():
    assert tacit.private.union.simulate is union.simulate
    with pytest.raises(AttributeError, match="nothing"):
        tacit.private.nothing  # noqa: B018
