"""What a curious party sees: transcripts of two inputs of equal sizes cannot be told apart by a simple classifier."""

import numpy as np
import pytest
from scipy.special import expit

from tacit.private import retrieval, union
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import run_together
from tacit.private.parties.wire import encode
from tacit.private.regression.sums import SumSettings, add_securely

pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
N = 240


def features(data):
    """Byte histogram, and the first bytes as they are."""
    raw = np.frombuffer(data, np.uint8)
    counts = np.bincount(raw, minlength=256) / len(raw)
    return np.concatenate([counts * 16, raw[:64] / 255])


def accuracies(views, labels, seed=1):
    """Cross-validated accuracy of the nearest mean and of logistic regression, in five folds."""
    x, y = np.array(views), np.array(labels)
    x = (x - x.mean(0)) / (x.std(0) + 1e-9)
    folds = np.random.default_rng(seed).permutation(len(y)) % 5
    right = np.zeros((2, len(y)))
    for fold in range(5):
        train, test = folds != fold, folds == fold
        means = np.array([x[train & (y == c)].mean(0) for c in (0, 1)])
        near = ((x[test, None, :] - means[None]) ** 2).sum(2).argmin(1)
        beta = np.zeros(x.shape[1])
        for _ in range(200):
            chance = expit(x[train] @ beta)
            beta += 0.1 * (x[train].T @ (y[train] - chance) / train.sum() - 0.05 * beta)
        right[:, test] = [near == y[test], (x[test] @ beta > 0) == y[test]]
    return right.mean(1)


def require_chance(views, labels):
    # Four standard deviations of a coin.
    assert np.abs(accuracies(views, labels) - 0.5).max() < 4 * 0.5 / np.sqrt(len(labels))


def test_the_classifier_works():
    """It tells apart what can be told apart: the same masks over bytes that are not quite even."""
    rng = np.random.default_rng(1)
    views = [features(bytes(rng.integers(0, 256 - 25 * (i % 2), 2000, dtype=np.uint8))) for i in range(N)]  # fmt: skip
    assert accuracies(views, [i % 2 for i in range(N)]).min() > 0.9


@pytest.mark.parametrize("scheme", ["simple", "chor", "stern"])
def test_queries(scheme):
    options = {} if scheme != "stern" else {"key_bits": 256, "insecure_ok": True}
    server = retrieval.Server([f"r{i}" for i in range(40)], scheme, **options)
    client = retrieval.Client(server.parameters, **({"insecure_ok": True} if options else {}))
    views, labels = [], []
    for i in range(N):
        body = client.query((3, 37)[i % 2]).body
        seen = {"simple": "query", "chor": "two", "stern": "dimension_0"}[scheme]
        part = body[seen]
        views.append(features(part if isinstance(part, bytes) else part.tobytes()))
        labels.append(i % 2)
    require_chance(views, labels)


STEPS = ("1 tokens and rows", "3 tokens and rows", "5 union", "8 rows")


def test_lists_of_a_union():
    """Other people and other values; the same sizes."""
    views, labels, sizes = {step: [] for step in STEPS}, [], set()
    for i in range(N // 2):
        kind = i % 2
        files = [
            [{"id": f"{'ab'[kind]}{j}", "x": str(kind) * 8} for j in range(4)],
            [{"id": f"{'ab'[kind]}{j}", "x": "92"[kind] * 8} for j in range(2, 6)],
        ]

        def watch(message):
            if message.step in STEPS:
                views[message.step].append(features(b"".join(message.body.values())))
                sizes.add((message.step, len(encode(message))))

        union.simulate(*files, identifying=["id"], data=["x"], record_bytes=20, watch=watch)
        labels.append(kind)
    assert len(sizes) == len(STEPS)
    for step in STEPS:
        require_chance(views[step], labels)


@pytest.mark.parametrize(("protocol", "drop_outs"), [("ring", 0), ("pairwise_masks", 0), ("pairwise_masks", 1), ("shamir", 1)])  # fmt: skip
def test_masked_sums(protocol, drop_outs):
    """One party's vector is zero or large while the total stays: nobody else sees a difference."""
    views, labels = [], []

    def play(me, own):
        settings = SumSettings(me, list("abcd"), Randomness(), protocol, drop_outs=drop_outs)
        return (yield from add_securely(settings, own))

    for i in range(N):
        kind = i % 2
        hidden = np.full(20, 1e6 * kind)
        seen = []
        run_together(
            {
                "a": play("a", np.zeros(20)),
                "b": play("b", hidden),
                "c": play("c", -hidden),
                "d": play("d", np.zeros(20)),
            },
            watch=lambda m, seen=seen: seen.append(m) if m.receiver == "a" else None,
        )
        binary = [v for m in seen for v in m.body.values() if isinstance(v, bytes) and len(v) > 66]
        views.append(features(b"".join(binary)))
        labels.append(kind)
    require_chance(views, labels)


def test_lengths_of_transcripts_do_not_depend_on_values():
    def total_bytes(tag):
        files = [[{"id": f"{tag}{j}", "x": tag * 3} for j in range(n)] for n in (3, 4)]
        found = union.simulate(*files, identifying=["id"], data=["x"], record_bytes=30)
        return [line.n_bytes for line in found.transcript.lines]

    assert total_bytes("a") == total_bytes("b")


def test_a_party_that_goes_later_keeps_its_earlier_vector():
    """The key that opens the masks of a party that has gone is good for one sum only."""
    keys = {}

    def watch(message):
        if message.sender == "b" and message.step.endswith("keys"):
            keys.setdefault(message.step, message.body["key"])

    def play(me, rounds):
        settings = SumSettings(me, list("abcd"), Randomness(), "pairwise_masks", drop_outs=1)
        for _ in range(rounds):
            yield from add_securely(settings, [1.0])

    run_together({p: play(p, 3) for p in "abcd"}, watch=watch)
    assert len(keys) == 3 == len(set(keys.values()))
