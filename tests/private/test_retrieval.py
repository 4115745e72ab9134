"""Private retrieval: fixtures to the digit, every scheme on random tables, refusals, and what queries look like."""

import json
import math
import secrets
from itertools import pairwise
from pathlib import Path

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import tacit
from tacit.errors import DisclosureRefused, InputError, InvalidParameter, ProtocolError, Slow
from tacit.numerics.kernels import run_kernels
from tacit.private import retrieval
from tacit.private.retrieval import (
    homomorphic,
    phi_hiding,
    residuosity,
    service,
    simple,
    two_servers,
)
from tacit.private.retrieval.damgard_jurik import PrivateKey, PublicKey, log_of_one_plus_n
from tacit.private.retrieval.scheme import cube_place, cube_side

FIXTURES = Path(__file__).parent.parent / "fixtures" / "psd22-private-information-retrieval"
TINY = {"key_bits": 256, "insecure_ok": True}
OPTIONS = {
    "simple": {},
    "chor": {},
    "ko": TINY,
    "stern": TINY,
    "lipmaa": TINY,
    "cms": TINY,
    "gr": TINY,
}
pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.Slow")


def fixture(name):
    return json.loads((FIXTURES / f"{name}.json").read_text())


def numbers(values):
    return [int(v) for v in values]


# -- fixtures ----------------------------------------------------------------------------------------


def test_chor_fixture():
    f = fixture("chor_two_server")
    rows = np.array(f["database_bits"], np.uint8)[:, None]
    for side in "12":
        subset = np.packbits(f[f"query_server{side}"]).tobytes()
        assert two_servers.xor_subset(rows, subset)[0] == f[f"answer{side}"]


def test_residuosity_fixtures():
    f = fixture("ko_quadratic_residuosity")
    answer = residuosity.answer_bits(f["database_bits"], [numbers(f["query"])], int(f["N"]), 48)
    assert answer == numbers(f["answer"])
    decoded = [residuosity.decode_bits([z], int(f["p"]), 48) for z in answer]
    assert decoded == f["decoded_column"]
    f = fixture("ko_recursive_L2")
    vectors = [numbers(f["query_level1_columns"]), numbers(f["query_level2_rows"])]
    answer = residuosity.answer_bits(f["database_bits"], vectors, int(f["N"]), f["k_bits"])
    assert answer == numbers(f["answer"])
    assert residuosity.decode_bits(answer, int(f["p"]), f["k_bits"]) == f["bit"]


def test_damgard_jurik_fixtures():
    f = fixture("damgard_jurik_vectors")
    key = PrivateKey(PublicKey(int(f["n"])), int(f["lam"]))
    for v in f["vectors"]:
        m, r, c = (int(v[x]) for x in "mrc")
        assert key.public.encrypt(m, v["s"], r) == c
        assert key.decrypt(c, v["s"]) == m
        assert key.decrypt(key.encrypt(m, v["s"]), v["s"]) == m
    first, second = (int(v["c"]) for v in f["vectors"][:2])
    total = key.public.add([first, second])
    assert total == int(f["sum_of_first_two_s1"]["c"])
    assert key.decrypt(total) == int(f["sum_of_first_two_s1"]["m"])
    times = int(gmpy2.powmod(first, 7, key.public.n**2))
    assert times == int(f["scalar_7_times_first"]["c"])
    assert key.decrypt(times) == int(f["scalar_7_times_first"]["m"])


def test_stern_and_lipmaa_fixtures():
    f = fixture("stern_L2")
    key = PrivateKey(PublicKey(int(f["n"])), int(f["lam"]))
    vectors = [numbers(f["query_dim1"]), numbers(f["query_dim2"])]
    answer = homomorphic.answer_cut(numbers(f["database"]), vectors, key.public, 1)
    base = key.public.n
    assert [z for c in answer for z in (c % base, c // base)] == numbers(f["answer_digits"])
    inner = sum(key.decrypt(c) * base**i for i, c in enumerate(answer))
    assert key.decrypt(inner) == int(f["value"])
    f = fixture("lipmaa_L2")
    vectors = [numbers(f["query_dim1_s1"]), numbers(f["query_dim2_s2"])]
    (answer,) = homomorphic.answer_growing(numbers(f["database"]), vectors, key.public, 1)
    assert answer == int(f["answer"])
    assert key.decrypt(answer, 2) == int(f["inner_ciphertext"])
    assert key.decrypt(key.decrypt(answer, 2)) == int(f["value"])


def test_phi_hiding_fixtures():
    f = fixture("cms_phi_hiding")
    primes, m = numbers(f["primes"]), int(f["m"])
    assert phi_hiding.primes_from(4096, len(primes)) == primes
    answer = phi_hiding.answer_cms(f["database_bits"], primes, int(f["x"]), m)
    assert answer == int(f["answer"])
    phi = (int(f["Q0"]) - 1) * (int(f["Q1"]) - 1)
    assert phi_hiding.decode_cms(answer, phi, primes[f["index"]], m) == f["bit"]
    f = fixture("gentry_ramzan")
    powers = [(int(p), e, int(pi)) for p, e, pi in f["prime_powers"]]
    assert phi_hiding.prime_powers(len(powers), 12) == powers
    e = phi_hiding.combine_remainders(f["chunks"], [pi for _, _, pi in powers])
    assert e == int(f["crt_value_e"])
    m, g = int(f["m"]), int(f["g"])
    assert int(gmpy2.powmod(g, e, m)) == int(f["answer"])
    p, exponent, _ = powers[f["index"]]
    found = phi_hiding.decode_gr(int(f["answer"]), g, int(f["phi"]), p, exponent, m)
    assert found == f["chunk"]


def test_private_mean_fixture():
    f = fixture("private_mean")
    key = PrivateKey(PublicKey(int(f["n"])), int(f["lam"]))
    (total,) = homomorphic.fold_lines(f["values"], numbers(f["query"]), key.public.n**2)
    assert total == int(f["answer"])
    assert key.decrypt(total) == int(f["sum"])
    found = retrieval.PrivateSum(int(f["sum"]), f["count"])
    assert found.mean == f["mean"]


def test_simple_fixtures():
    f = fixture("simplepir_parameters")
    for log_m, p in f["p_by_log2_m"].items():
        assert simple.largest_modulus(2 ** int(log_m)) == p
    f = fixture("simplepir_tiny")
    A, D = np.array(f["A"], np.uint32), np.array(f["D"], np.uint32)
    s = np.array(f["secret"], np.uint32)
    hint = (D @ A).astype(np.uint32)
    np.testing.assert_array_equal(hint, np.array(f["hint"], np.uint32))
    # The same product by bytes taken around zero, as the scheme does it.
    centred = (D.astype(np.int64) - 128) @ A.astype(np.int64) % 2**32
    padded = np.zeros((len(A), simple.DIMENSION), np.uint32)
    padded[:, : A.shape[1]] = A
    made = simple.make_hint(D.astype(np.uint8), padded)[:, : A.shape[1]]
    np.testing.assert_array_equal(made, centred.astype(np.uint32))
    np.testing.assert_array_equal(
        simple.multiply_words(A, s),
        (A.astype(np.int64) * s.astype(np.int64) % 2**32).sum(1) % 2**32,
    )


def test_cost_model_fixture():
    f = fixture("cost_model")
    for row in f["grid"]:
        for name, cell in row.items():
            if not isinstance(cell, dict):
                continue
            scheme, _, s = name.lower().partition("_s")
            cost = retrieval.model_cost(
                scheme, row["n"], 1, k=f["k"], s=int(s or 2), depth=row["L"], K=cell.get("K")
            )
            for what in ("setup", "query", "reply", "chunk"):
                assert getattr(cost, what) == pytest.approx(cell[what], rel=1e-12)


def test_sizing_examples_of_the_survey():
    lipmaa = retrieval.model_cost("lipmaa", 1e4, 1)
    assert lipmaa.query == 30_716_928
    assert lipmaa.expansion == 1.5
    stock = retrieval.model_cost("gr", 1e5, 2048)
    assert (stock.query, stock.download, stock.setup) == (2048, 10_240, 102.4e6)
    deep = retrieval.model_cost("gr", 1e5, 2048, depth=2)
    assert (deep.query, deep.download) == (4096, 51_200)
    assert deep.setup == pytest.approx(323.8e3, rel=1e-3)
    # Printed: 170 kbit, which has s in place of s + 1; and "over 512 kbit for any L", true up to L = 8.
    stern = retrieval.model_cost("stern", 2e8, 5 * 1024, depth=8)
    assert stern.query / 1024 == pytest.approx(261.7, abs=0.05)
    totals = {
        d: retrieval.model_cost("lipmaa", 2e8, 5 * 1024, depth=d).total / 1e3 for d in range(1, 20)
    }
    assert min(totals.values()) < 512


# -- every scheme ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", list(OPTIONS))
def test_records_come_back(scheme):
    rng = np.random.default_rng(3)
    for n in (1, 2, 7, 12):
        records = [rng.bytes(int(rng.integers(0, 4))) for _ in range(n)]
        server = retrieval.Server(records, scheme=scheme, **OPTIONS[scheme])
        client = retrieval.Client(server.parameters, **OPTIONS[scheme])
        for index in {0, n - 1, n // 2}:
            query = retrieval.Query.from_bytes(client.query(index).to_bytes())
            answer = retrieval.Answer.from_bytes(server.answer(query).to_bytes())
            assert client.decode(answer) == records[index]


@pytest.mark.parametrize(("scheme", "depth", "s"), [
    ("ko", 2, None), ("stern", 2, 1), ("stern", 3, 2), ("lipmaa", 2, 2), ("lipmaa", 3, 1), ("gr", 2, None),
])  # fmt: skip
def test_deeper_cubes(scheme, depth, s):
    options = {**TINY, "key_bits": 64 if scheme == "ko" else 256, "depth": depth}
    records = [bytes([i]) for i in range(10)]
    server = retrieval.Server(records, scheme=scheme, **options, **({"s": s} if s else {}))
    client = retrieval.Client(server.parameters, insecure_ok=True)
    for index in (0, 4, 9):
        assert client.decode(server.answer(client.query(index))) == records[index]


def test_the_lines_of_the_guide():
    records = [f"record {i}" for i in range(100)]
    server = tacit.private.retrieval.Server(records, scheme="simple")
    client = tacit.private.retrieval.Client(server.parameters)
    query = client.query(17)
    assert client.decode(server.answer(query)) == b"record 17"


@given(st.integers(1, 3000), st.integers(1, 6))
def test_cubes_hold_every_record(n, depth):
    side = cube_side(n, depth)
    assert side**depth >= n
    assert side == 1 or (side - 1) ** depth < n
    place = cube_place(n - 1, side, depth)
    assert sum(at * side**i for i, at in enumerate(place)) == n - 1


@given(st.integers(0, 2**200), st.integers(1, 4))
@settings(max_examples=30)
def test_logarithm_of_one_plus_n(m, s):
    n = 1000003 * 1000033
    m %= n**s
    assert log_of_one_plus_n(n, pow(1 + n, m, n ** (s + 1)), s) == m


@pytest.mark.parametrize("mode", ["plain", "compiled"])
def test_products_of_bytes_and_words(mode):
    rng = np.random.default_rng(5)
    matrix = rng.integers(0, 256, (37, 6000), dtype=np.uint8)
    queries = rng.integers(0, 2**32, (6, 6000), dtype=np.uint32)
    exact = (matrix.astype(object) - 128) @ queries.T.astype(object) % 2**32
    with run_kernels(mode):
        np.testing.assert_array_equal(
            simple.multiply(matrix, queries[0]), exact[:, 0].astype(np.uint32)
        )
        np.testing.assert_array_equal(
            simple.multiply_many(matrix, queries), exact.T.astype(np.uint32)
        )


def test_errors_of_simple_are_gaussian():
    drawn = simple.draw_errors(simple.Randomness(bytes(32)), 100_000).astype(np.int32)
    assert abs(drawn.mean()) < 0.1
    assert drawn.std() == pytest.approx(math.sqrt(simple.SIGMA**2), rel=0.02)


def test_parameters_fail_less_than_once_in_2_to_the_40():
    for n, length in ((10, 3), (1000, 100), (1_000_000, 40), (10_000, 5000)):
        deep, columns = simple.choose_shape(n, length)
        assert deep * columns >= n
        assert simple.failure_probability(columns, length) <= 2**-40


# -- what the server sees ----------------------------------------------------------------------------


def test_queries_for_two_records_look_alike():
    records = [bytes([i]) for i in range(16)]
    server = retrieval.Server(records, scheme="simple")
    client = retrieval.Client(server.parameters)
    top = [[int(client.query(i).body["query"][0]) >> 24 for _ in range(400)] for i in (0, 15)]
    assert stats.ks_2samp(*top).pvalue > 0.001
    ko = retrieval.Server(records, scheme="ko", **TINY)
    asker = retrieval.Client(ko.parameters, insecure_ok=True)
    body = asker.query(3).body
    n, size = int.from_bytes(body["modulus"], "big"), 32
    sent = [int.from_bytes(body["numbers"][i : i + size], "big") for i in range(0, 16 * size, size)]
    assert all(gmpy2.jacobi(y, n) == 1 for y in sent)
    lipmaa = retrieval.Server(records, scheme="lipmaa", **TINY)
    asker = retrieval.Client(lipmaa.parameters, insecure_ok=True)
    small = [
        [int.from_bytes(asker.query(i).body["dimension_0"][:64], "big") % 7 for _ in range(300)]
        for i in (0, 15)
    ]
    table = [np.bincount(x, minlength=7) for x in small]
    assert stats.chi2_contingency(table).pvalue > 0.001


# -- sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", list(OPTIONS))
def test_real_messages_have_the_sizes_of_the_model(scheme):
    records = [secrets.token_bytes(20) for _ in range(30)]
    server = retrieval.Server(records, scheme=scheme, **OPTIONS[scheme])
    client = retrieval.Client(server.parameters, **OPTIONS[scheme])
    query = client.query(5)
    cost = retrieval.real_cost(scheme, 30, 8 * server.length, k=256)
    key = 0 if scheme in ("simple", "chor", "gr") else 256
    if scheme == "cms":
        key = 0
    assert query.n_bits - key == pytest.approx(cost.query, rel=0.02)
    assert server.answer(query).n_bits == pytest.approx(cost.download, rel=0.02)
    if scheme in ("ko", "gr"):
        model = retrieval.model_cost(scheme, 30, 8 * server.length, k=256)
        assert cost.query == pytest.approx(model.query, rel=0.02)


def test_advice_always_has_the_download():
    small = retrieval.advise(10, 80)
    assert small.best == "download"
    large = retrieval.advise(10**7, 800, queries=100)
    assert large.best == "simple"
    assert "download" in [c.scheme for c in large.costs]
    assert "simple" in str(large)
    assert "simple" in large.plot().svg()
    poor = retrieval.advise(10**7, 800, queries=100, client_storage=8e6)
    assert "simple" not in [c.scheme for c in poor.costs]
    assert "chor" in [c.scheme for c in retrieval.advise(10**6, 80, two_servers=True).costs]


# -- refusals ----------------------------------------------------------------------------------------


def test_refusals_of_servers_and_clients():
    with pytest.raises(InputError, match="at least one record"):
        retrieval.Server([])
    with pytest.raises(InvalidParameter, match="no scheme"):
        retrieval.Server([b"x"], scheme="sterm")
    with pytest.raises(InvalidParameter, match="no option 'dept'"):
        retrieval.Server([b"x"], scheme="ko", dept=2)
    with pytest.raises(InvalidParameter, match="at least 2048"):
        retrieval.Server([b"x"], scheme="ko", key_bits=1024)
    with pytest.raises(InputError, match="serve_release"):
        retrieval.Server(tacit.read({"a": [1]}))
    with pytest.raises(InputError, match="texts or bytes"):
        retrieval.Server([1, 2])
    server = retrieval.Server([b"a", b"b"])
    client = retrieval.Client(server.parameters)
    for index in (-1, 2, True):
        with pytest.raises(InvalidParameter, match="from 0 to 1"):
            client.query(index)
    other = retrieval.Server([b"a", b"c"])
    with pytest.raises(ProtocolError, match="another version"):
        other.answer(client.query(0))
    answer = server.answer(client.query(0))
    client.decode(answer)
    with pytest.raises(ProtocolError, match="no open query"):
        client.decode(answer)


@pytest.mark.parametrize("scheme", list(OPTIONS))
def test_wrong_messages_are_refused_in_a_sentence(scheme):
    """Changed lengths, zeros and noise in every part of a query and an answer: a sentence or a wrong record."""
    rng = np.random.default_rng(8)
    records = [bytes([i]) for i in range(6)]
    server = retrieval.Server(records, scheme=scheme, **OPTIONS[scheme])
    client = retrieval.Client(server.parameters, **OPTIONS[scheme])

    def spoil(value):
        if isinstance(value, np.ndarray):
            changes = (value[:-1], value.astype(np.float64), np.zeros_like(value), value[None])
        else:
            changes = (value[:-1], b"", bytes(len(value)), value + b"\0", b"\xff" * len(value), 7)
        return changes[rng.integers(len(changes))]

    refused = 0
    for _ in range(60):
        query = client.query(1)
        body = dict(query.body)
        name = sorted(body)[rng.integers(len(body))]
        body[name] = spoil(body[name])
        try:
            server.answer(retrieval.Query(query.version, query.number, body))
        except ProtocolError:
            refused += 1
        answer = server.answer(query)
        body = dict(answer.body)
        name = sorted(body)[rng.integers(len(body))]
        body[name] = spoil(body[name])
        try:
            client.decode(retrieval.Answer(answer.version, answer.number, body))
        except ProtocolError:
            refused += 1
    assert refused > 40


# -- sums, words, releases ---------------------------------------------------------------------------


def test_private_sums():
    server = retrieval.SumServer([310, 42, 57, 1200, 88], largest_weight=10)
    client = retrieval.SumClient(server.parameters, **TINY)
    found = client.decode(server.answer(client.query([1, 0, 1, 1, 0])))
    assert (found.total, found.mean) == (1567, 1567 / 3)
    found = client.decode(server.answer(client.query([0, 3, 0, 0, 2])))
    assert (found.total, found.weight) == (3 * 42 + 2 * 88, 5)
    with pytest.raises(InvalidParameter, match="whole numbers"):
        client.query([1, 0])
    with pytest.raises(InputError, match="at least 0"):
        retrieval.SumServer([-1])
    with pytest.raises(InputError, match="at least one record"):
        _ = client.decode(server.answer(client.query([0] * 5))).mean


def test_records_by_keyword():
    words = {f"word {i}": f"content {i}" for i in range(200)}
    server = retrieval.KeywordServer(words)
    client = retrieval.KeywordClient(server.parameters)
    for word in ("word 0", "word 199"):
        assert client.decode(server.answer(client.query(word))) == words[word].encode()
    assert client.decode(server.answer(client.query("absent"))) is None


def test_only_a_release_that_verifies_is_served(tmp_path):
    data = tacit.read({"age": [30, 30, 40, 40], "job": ["a", "a", "b", "b"]}, keys=["age", "job"])
    plan = tacit.Plan([tacit.LocalSuppression(k=2)], measures=[tacit.KAnonymity(k=2)])
    folder = tmp_path / "release"
    plan.run(data).write(folder)
    server = retrieval.serve_release(folder, columns=["age"])
    client = retrieval.Client(server.parameters)
    got = {json.loads(client.decode(server.answer(client.query(i))))["age"] for i in range(4)}
    assert got == {30, 40}
    with pytest.raises(InputError, match="no column 'wage'"):
        retrieval.serve_release(folder, columns=["wage"])
    with pytest.raises(DisclosureRefused, match="query set size control needs"):
        retrieval.serve_release(folder, protection=["noise", "query set size control"])
    file = next(folder.glob("data.*"))
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(DisclosureRefused, match="not served"):
        retrieval.serve_release(folder)


def test_parameters_travel():
    server = retrieval.Server([b"one", b"two"])
    again = retrieval.read_parameters(retrieval.write_parameters(server.parameters))
    client = retrieval.Client(again)
    assert client.decode(server.answer(client.query(1))) == b"two"
    damaged = {**again.public, "hint": again.public["hint"] + np.uint32(1)}
    with pytest.raises(ProtocolError, match="digest"):
        retrieval.Client(retrieval.Parameters("simple", 2, again.length, again.version, damaged))


def test_a_hint_larger_than_the_table_is_said():
    with pytest.warns(Slow, match="downloading the whole table"):
        retrieval.Server([b"one", b"two"])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", list(OPTIONS))
def test_a_thousand_random_trials(scheme):
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(20):
        n = int(rng.integers(1, 40))
        records = [rng.bytes(2) for _ in range(n)]
        server = retrieval.Server(records, scheme=scheme, **OPTIONS[scheme])
        client = retrieval.Client(server.parameters, **OPTIONS[scheme])
        for _ in range(50):
            index = int(rng.integers(n))
            wrong += client.decode(server.answer(client.query(index))) != records[index]
    assert wrong == 0


def test_orders_of_magnitude_in_the_cost_model():
    """The optimal depth exchanges no more than its neighbours."""
    costs = [retrieval.real_cost("stern", 10**6, 4096, depth=d).total for d in range(1, 12)]
    best = retrieval.best_depth("stern", 10**6, 4096)
    assert best.total == min(costs)
    falls = [b < a for a, b in pairwise(costs)]
    assert falls == sorted(falls, reverse=True)
    grouped = retrieval.group_records(retrieval.model_cost("lipmaa", 1e6, 100))
    assert grouped.n == 1e6 / 20


def test_large_weights_read_nothing_more_than_one_sum():
    """Weights 1, 2^60, 2^120 would carry three values in one answer."""
    values = [5, 9, 3, 14]
    server = retrieval.SumServer(values)
    client = retrieval.SumClient(server.parameters, key_bits=1024, insecure_ok=True)
    assert client.decode(server.answer(client.query([1, 0, 1, 1]))).total == 22
    packed = [1, 1 << 60, 1 << 120, 1 << 180]
    query = client.query(packed)
    raw = client.key.decrypt(int.from_bytes(server.answer(query)["total"], "big"))
    modulus = server.parameters["bound"] + 1
    assert raw % modulus == sum(w * v for w, v in zip(packed, values, strict=True)) % modulus
    read = [(raw >> (60 * i)) % (1 << 60) for i in range(4)]
    assert read[1:] != values[1:]
    # The same query answered again gives other high digits: they are noise.
    again = client.key.decrypt(int.from_bytes(server.answer(query)["total"], "big"))
    assert again // modulus != raw // modulus


@pytest.mark.filterwarnings("ignore::tacit.errors.Slow")
def test_a_record_that_the_server_changes_for_one_client_is_found():
    honest = retrieval.Server(
        [f"record {i}" for i in range(40)], "stern", key_bits=512, insecure_ok=True
    )
    other = retrieval.Server(
        [f"Record {i}" for i in range(40)], "stern", key_bits=512, insecure_ok=True
    )
    client = retrieval.Client(honest.parameters, key_bits=512, insecure_ok=True)
    query = client.query(7)
    answer = service.Answer(query.version, query.number, other.half.answer(query.body))
    with pytest.raises(ProtocolError, match="not the one that the server's parameters promise"):
        client.decode(answer)
