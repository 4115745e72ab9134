"""Private union: the paper's nine steps to the digit, set logic on random files, refusals, and what a curious side sees."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import DisclosureRefused, InputError, InvalidParameter, ProtocolError, SdcError
from tacit.private import union
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import run_together
from tacit.private.parties.wire import MAGIC
from tacit.private.union import groups
from tacit.private.union.groups import Modp, ike_prime
from tacit.private.union.records import canonical_identifier, decode_row, encode_row

FIXTURES = Path(__file__).parent.parent / "fixtures" / "psd23-private-set-union"
pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")


def fixture(name):
    return json.loads((FIXTURES / f"{name}.json").read_text())


def multiset(rows):
    return Counter(json.dumps(row, sort_keys=True, default=str) for row in rows)


def people(ids, tag):
    return [{"id": f"person {i}", "x": f"{tag}{i % 3}"} for i in ids]


# -- fixtures ----------------------------------------------------------------------------------------


def test_transcript_in_a_toy_group():
    """Every message of one run with fixed keys, number for number."""
    f = fixture("transcript_toy_group")
    p = int(f["group"]["p"])
    group = Modp(p, "toy")
    keys = {k: int(v) for k, v in f["keys"].items()}

    def hashed(identifier):
        mark = int.from_bytes(hashlib.sha256(identifier.encode()).digest(), "big")
        return group.to_bytes(pow(mark, 2, p))

    def number(element):
        return str(int.from_bytes(element, "big"))

    def power(e, key):
        return group.power(e, keys[key])

    a = [
        (power(hashed(i), "hash_a"), power(group.encode_number(m), "cipher_a"))
        for i, m in f["A"].items()
    ]
    assert sorted([number(x), number(y)] for x, y in a) == sorted(f["step1_alice_to_bob"])
    again = [power(t, "hash_b") for t, _ in a]
    assert sorted(map(number, again)) == sorted(f["step2_bob_to_alice"])
    b = [
        (power(hashed(i), "hash_b"), power(group.encode_number(m), "cipher_b"))
        for i, m in f["B"].items()
    ]
    assert sorted([number(x), number(y)] for x, y in b) == sorted(f["step3_bob_to_alice"])
    twice = [(power(t, "hash_a"), power(d, "cipher_a")) for t, d in b]
    assert sorted([number(x), number(y)] for x, y in twice) == sorted(f["step4_alice"])
    inverse = group.invert(keys["cipher_b"])
    sent = [(group.to_bytes(int(t)), group.to_bytes(int(d))) for t, d in f["step5_alice_to_bob"]]
    assert all(group.is_element(e) for pair in sent for e in pair)
    opened = [(t, group.power(d, inverse)) for t, d in sent]
    assert [[number(t), number(d)] for t, d in opened] == f["step6_bob"]
    hers = dict(zip(again, (d for _, d in a), strict=True))
    replaced = [(t, hers.get(t, d)) for t, d in opened]
    assert [[number(t), number(d)] for t, d in replaced] == f["step7_bob"]
    undo = group.invert(keys["cipher_a"])
    result = [
        group.decode_number(group.power(group.to_bytes(int(d)), undo))
        for d in f["step8_bob_to_alice"]
    ]
    assert result == f["step9_alice"]
    assert sorted(result) == f["sorted_result"]


@pytest.mark.parametrize("group", ["ristretto255", "modp2048"])
def test_two_party_fixture(group):
    f = fixture("two_party_union")
    options = {"identifying": f["identifying"], "data": f["data"], "group": group}
    found = union.simulate(f["A"], f["B"], **options)
    assert multiset(found.rows) == multiset(f["alice_result_sorted"])
    assert (found.sizes.own, found.sizes.other) == (f["sizes"]["A"], f["sizes"]["B"])
    assert (found.sizes.union, found.sizes.both) == (
        f["sizes"]["union"],
        f["sizes"]["intersection"],
    )
    assert f"chance of {f['prob_given_B_record_is_shared']:.2f}" in found.statement
    reverse = union.simulate(f["B"], f["A"], **options)
    assert multiset(reverse.rows) == multiset(f["bob_result_if_roles_reversed_sorted"])


def test_three_party_fixture():
    f = fixture("three_party_union")
    tables = [f[p] for p in "ABC"]
    found = union.simulate(*tables, identifying=["id"], data=["dx", "age"], names=["A", "B", "C"])
    assert multiset(found.rows) == multiset(f["initiator_result_sorted"])
    assert found.sizes.union == f["size"]


def test_identifier_fixture():
    for case in fixture("identifier_normalisation")["cases"]:
        row = dict(enumerate(case["raw"]))
        assert canonical_identifier(row, [0, 1]) == case["canonical"]


def test_groups_are_what_they_claim():
    for bits in (2048, 3072):
        p = ike_prime(bits)
        assert p.bit_length() == bits
        assert gmpy2.is_prime(p)
        assert gmpy2.is_prime((p - 1) // 2)
    # The first and last words of group 14 as RFC 3526 prints it.
    text = f"{ike_prime(2048):X}"
    assert text.startswith("FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD1")
    assert text.endswith("15728E5A8AACAA68FFFFFFFFFFFFFFFF")


@pytest.mark.parametrize("name", ["ristretto255", "modp2048"])
def test_exponents_commute_and_blocks_come_back(name):
    group, random = union.group_named(name), Randomness()
    a, b = (group.draw_exponent(random) for _ in "ab")
    point = group.hash_identifier(b"somebody")
    assert group.power(group.power(point, a), b) == group.power(group.power(point, b), a)
    content = random.draw(group.salt + group.room)
    element = group.encode(content, random)
    assert group.is_element(element)
    sealed = group.power(element, a)
    assert group.decode(group.power(sealed, group.invert(a))) == content
    assert group.is_element(group.draw_element(random))
    row = {"x": "ö" * 30, "y": None, "z": 1.5}
    assert decode_row(group, encode_row(group, row, 120, random, "a")) == row
    assert decode_row(group, encode_row(group, None, 120, random, "a")) is None


# -- set logic ---------------------------------------------------------------------------------------


@given(
    st.sets(st.integers(0, 12), max_size=8),
    st.sets(st.integers(0, 12), max_size=8),
    st.integers(0, 3),
)
@settings(max_examples=15, deadline=None)
def test_union_is_the_clear_text_union(a, b, dummies):
    if not a and not b:
        return
    first, second = people(a, "a"), people(b, "b")
    columns = {"id": [], "x": []}
    found = union.simulate(
        first or columns, second or columns, identifying=["id"], data=["x"], dummies=(dummies, 1)
    )
    assert multiset(found.rows) == multiset(
        union.unite_at_third_party([first, second], ["id"], ["x"])
    )
    assert found.sizes.union == len(a | b) + dummies + 1


def test_three_and_four_parties():
    files = [
        people(range(6), "a"),
        people(range(4, 9), "b"),
        people([0, 8, 20], "c"),
        people([], "d"),
    ]
    for n in (3, 4):
        tables = [f or {"id": [], "x": []} for f in files[:n]]
        found = union.simulate(*tables, identifying=["id"], data=["x"], dummies=[1] * n)
        assert multiset(found.rows) == multiset(
            union.unite_at_third_party(files[:n], ["id"], ["x"])
        )


def test_records_that_agree_on_one_of_several_keys():
    a = [
        {"name": "Ann", "born": "1950", "phone": "1", "x": 1},
        {"name": "Bo", "born": "1960", "phone": None, "x": 2},
    ]
    b = [
        {"name": "Anne", "born": "1950", "phone": "1", "x": 3},  # the phone is Ann's
        {"name": "BO ", "born": "1960", "phone": "9", "x": 4},  # name and birth are Bo's
        {"name": "Cy", "born": "1970", "phone": "7", "x": 5},
    ]
    found = union.simulate(a, b, identifying=[["name", "born"], ["phone"]], data=["x"])
    assert sorted(r["x"] for r in found.rows) == [1, 2, 5]
    plain = union.simulate(a, b, identifying=["name", "born"], data=["x"])
    assert sorted(r["x"] for r in plain.rows) == [1, 2, 3, 5]


def test_overlap_alone():
    found = union.count_overlap(
        people(range(10), "a"), people(range(7, 20), "b"), identifying=["id"]
    )
    assert (found.sizes.both, found.sizes.union) == (3, 20)
    assert found.rows == ()


def test_columns_may_differ_and_frames_are_taken():
    a = tacit.read({"id": ["1", "2"], "x": [1, 2]})
    b = {"id": ["2", "3"], "y": [9.5, None]}
    found = union.simulate(a, b, identifying=["id"], data=[["x"], ["y"]])
    assert multiset(found.rows) == multiset([{"x": 1}, {"x": 2}, {"y": None}])
    assert set(found.frame.columns) == {"x", "y"}
    assert "Private union" in repr(found)
    assert "bytes" in found.plot().svg()


def test_baselines():
    a, b = people(range(4), "a"), people(range(3, 6), "b")
    with pytest.warns(tacit.errors.WeakProtection, match="count several times"):
        assert len(union.concatenate([a, b], ["id"], ["x"])) == 7
    openly = union.unite_openly([a, b], ["id", "x"])
    assert multiset(openly) == multiset({json.dumps(r): r for r in [*a, *b]}.values())


# -- refusals ----------------------------------------------------------------------------------------


def test_refusals():
    ids = {"identifying": ["id"], "data": ["x"]}
    with pytest.raises(InputError, match="more than once"):
        union.simulate(people([1, 2, 2], "a"), people([1], "b"), **ids)
    kept = union.drop_duplicates(people([1, 2, 2], "a"), ["id"])
    assert len(kept) == 2
    with pytest.raises(InputError, match="longer than the 10 bytes"):
        union.simulate([{"id": "1", "x": "y" * 300}], people([1], "b"), record_bytes=10, **ids)
    with pytest.raises(InputError, match="identifying field is missing"):
        union.simulate([{"id": " ", "x": 1}], people([1], "b"), **ids)
    with pytest.raises(InputError, match="nothing to unite"):
        union.simulate({"id": [], "x": []}, {"id": [], "x": []}, **ids)
    with pytest.raises(tacit.errors.ColumnNotFound):
        union.simulate(people([1], "a"), [{"id": "1"}], **ids)
    with pytest.raises(InputError, match="both as identifying and as data"):
        union.simulate(people([1], "a"), people([1], "b"), identifying=["id"], data=["id"])
    with pytest.raises(InvalidParameter, match="no group"):
        union.simulate(people([1], "a"), people([1], "b"), group="modp1024", **ids)
    with pytest.raises(DisclosureRefused, match="below the minimum"):
        union.simulate(
            people(range(5), "a"),
            people(range(5), "b"),
            consent={"bob": union.Consent(only_mine=1)},
            **ids,
        )
    with pytest.warns(tacit.errors.WeakProtection, match="sizes tell of every record"):
        union.simulate(people(range(5), "a"), people(range(5), "b"), **ids)


def test_wrong_elements_are_refused():
    group = union.group_named("ristretto255")
    for element in (bytes(32), b"\xff" * 32, b"\x01" + bytes(31)):
        with pytest.raises(ProtocolError, match="not in the group"):
            group.unpack(element)
    modp = union.group_named("modp2048")
    for y in (0, 1, modp.p - 1, modp.p, modp.p + 4):
        with pytest.raises(ProtocolError, match="not in the group"):
            modp.require_elements([int(y).to_bytes(modp.size, "big")])
    with pytest.raises(ProtocolError, match="wrong length"):
        group.unpack(bytes(33))


def roles_of(n=4, tamper=None):
    terms = union.Terms("ristretto255", (("id",),), 20)
    a = union.make_records(people(range(n), "a"), [["id"]], ["x"], "alice")
    b = union.make_records(people(range(2, n + 2), "b"), [["id"]], ["x"], "bob")
    return {
        "alice": union.play_alice("alice", "bob", a, terms, Randomness()),
        "bob": union.play_bob("bob", "alice", b, terms, Randomness()),
    }


def change(step, field, edit):
    """Return what changes one part of one message on its way."""
    from tacit.private.parties.wire import Message, decode, encode

    def between(data):
        message = decode(data)
        if message.step != step:
            return data
        body = {**message.body, field: edit(message.body[field])}
        return encode(Message(message.run, message.sender, message.receiver, message.step, body))

    return between


@pytest.mark.parametrize(("step", "field", "edit"), [
    ("1 tokens and rows", "tokens", lambda b: b + b[:32]),
    ("1 tokens and rows", "rows", lambda b: b[:-32]),
    ("1 tokens and rows", "tokens", lambda b: bytes(32) + b[32:]),
    ("2 tokens again", "tokens", lambda b: b[32:]),
    ("5 union", "tokens", lambda b: b[: 32 * 3]),
    ("5 union", "tokens", lambda b: b[:32] + b[:-32]),
    ("5 union", "rows", lambda b: b[:-1]),
    ("8 rows", "rows", lambda b: b[:-32]),
    ("8 rows", "rows", lambda b: b + b[:32]),
    ("8 rows", "rows", lambda b: 7),
])  # fmt: skip
def test_lists_of_the_wrong_length_are_refused(step, field, edit):
    with pytest.raises(ProtocolError):
        run_together(roles_of(), between=change(step, field, edit))


def test_spoilt_messages_never_crash_a_party():
    """Random damage anywhere: a sentence, or a result; never another error."""
    rng = np.random.default_rng(2)
    for _ in range(150):
        target, count = rng.integers(7), 0

        def between(data, target=target):
            nonlocal count
            count += 1
            if count != target + 1:
                return data
            raw = bytearray(data)
            raw[rng.integers(len(MAGIC), len(raw))] ^= 1 << rng.integers(8)
            return bytes(raw)

        try:
            run_together(roles_of(n=2), between=between)
        except SdcError as error:
            assert "person" not in str(error)


def test_parties_with_other_settings_stop():
    a = union.make_records(people([1], "a"), [["id"]], ["x"], "alice")
    terms = union.Terms("ristretto255", (("id",),), 20)
    other = union.Terms("ristretto255", (("id",),), 40)
    with pytest.raises(ProtocolError, match="bytes of a row differ"):
        run_together({
            "alice": union.play_alice("alice", "bob", a, terms, Randomness()),
            "bob": union.play_bob("bob", "alice", a, other, Randomness()),
        })  # fmt: skip


# -- what a curious side sees ------------------------------------------------------------------------


def test_equal_rows_give_different_ciphertexts_and_order_tells_nothing():
    seen = {}
    rows = [{"id": f"p{i}", "x": "same"} for i in range(40)]
    others = [{"id": f"p{i}", "x": "same"} for i in range(30, 70)]
    correlations = []
    for _ in range(8):
        seen.clear()
        union.simulate(
            rows,
            others,
            identifying=["id"],
            data=["x"],
            watch=lambda m: seen.update({m.step: m.body}),
        )
        for step in ("1 tokens and rows", "3 tokens and rows", "5 union", "8 rows"):
            blocks = [seen[step]["rows"][i : i + 32] for i in range(0, len(seen[step]["rows"]), 32)]
            assert len(set(blocks)) == len(blocks)
        tokens = seen["1 tokens and rows"]["tokens"]
        again = seen["2 tokens again"]["tokens"]
        order = [np.argsort([t[i : i + 32] for i in range(0, len(t), 32)]) for t in (tokens, again)]
        correlations.append(np.corrcoef(*order)[0, 1])
    assert abs(np.mean(correlations)) < 0.3
    assert set(seen["8 rows"]) == {"rows"}


def test_fillers_look_like_rows():
    """After step 6 fillers and rows are elements alike: no symbol, size or range tells them apart."""
    group = groups.group_named("modp2048")
    random = Randomness()
    key = group.draw_exponent(random)
    real = [
        group.power(group.encode(random.draw(group.salt + group.room), random), key)
        for _ in range(40)
    ]
    fake = [group.draw_element(random) for _ in range(40)]
    for elements in (real, fake):
        assert all(len(e) == group.size and group.is_element(e) for e in elements)
    top = [np.mean([e[0] > 127 for e in elements]) for elements in (real, fake)]
    assert all(0.2 < share < 0.8 for share in top)


def test_no_identifier_in_any_message():
    said = []
    union.simulate(
        [{"id": "Rumpelstiltskin", "x": 1}, {"id": "b", "x": 2}], [{"id": "Rumpelstiltskin", "x": 5}, {"id": "c", "x": 6}],
        identifying=["id"], data=["x"], watch=said.append,
    )  # fmt: skip
    text = repr([m.body for m in said]).lower()
    assert "rumpel" not in text


# -- what a curious party adds ----------------------------------------------------------------------------


def test_rows_of_nobody_do_not_count_towards_consent():
    """One candidate among 99 rows of nobody would learn whether the other side has the person."""
    one, many = [{"id": "x1", "x": 1}], [{"id": f"x{i}", "x": i} for i in range(50)]
    seen = []
    with pytest.raises(DisclosureRefused, match="below the minimum"):
        union.simulate(
            one, many, identifying=["id"], data=["x"], dummies=(99, 0),
            consent={"second": union.Consent(only_theirs=10, both=5)}, names=("first", "second"),
            watch=lambda m: seen.append(m.step),
        )  # fmt: skip
    assert not [s for s in seen if s.startswith(("2", "3"))], "turned away before an answer"


def test_more_rows_of_nobody_than_agreed_are_refused():
    from tacit.private.union.groups import group_named
    from tacit.private.union.records import make_records
    from tacit.private.union.two_parties import make_entries

    terms = union.Terms("ristretto255", (("id",),), 20, dummies=2)
    records = make_records([{"id": "a", "x": 1}], [["id"]], ["x"], "a")
    with pytest.raises(InvalidParameter, match="2 at most were agreed on"):
        make_entries(group_named("ristretto255"), records, terms, 3, 3, Randomness(), 3, "a")


def test_ways_of_matching_are_named_in_the_statement():
    """The initiator compares the tokens of every way, and can count each."""
    left = [{"a": f"a{i}", "b": f"b{i}", "x": i} for i in range(4)]
    right = [{"a": f"a{i}", "b": f"c{i}", "x": i} for i in range(2, 6)]
    found = union.simulate(left, right, identifying=[["a"], ["b"]], data=["x"])
    assert "by which ways of matching they agree" in found.statement
    one = union.simulate(left, right, identifying=["a"], data=["x"])
    assert "ways of matching" not in one.statement


def test_an_element_has_one_form():
    """The highest bit, an odd number, a number above p and every form of the identity are refused."""
    from tacit.private.union.groups import FIELD, group_named

    group = group_named("ristretto255")
    for _ in range(40):
        element = group.draw_element(Randomness())
        assert group.is_element(element)
        number = int.from_bytes(element, "little")
        others = [number + (1 << 255), number ^ 1, FIELD - number]
        others += [number + FIELD] if number + FIELD < 1 << 256 else []
        for other in others:
            assert not group.is_element(other.to_bytes(32, "little"))
    for zero in (0, 1 << 255, FIELD, FIELD + (1 << 255)):
        with pytest.raises(ProtocolError, match="not in the group"):
            group.unpack(zero.to_bytes(32, "little"))
    with pytest.raises(ProtocolError, match="not in the group"):
        group.power(bytes(32), 5)
