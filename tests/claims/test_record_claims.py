"""Claims on records, recomputed in plain Python on random frames with missing values."""

from collections import Counter

import numpy as np
import pytest

import tacit
from tacit.claims import Claim
from tacit.errors import SdcError

KEYS = ("a", "b", "c")


def frame_of(rng):
    n = int(rng.integers(0, 25))
    pick = [None, "x", "y", "z"]
    return {k: [pick[i] for i in rng.integers(0 if rng.random() < 0.6 else 1, 4, n)] for k in KEYS}


def lazy(columns):
    import pyarrow as pa

    return tacit.read(pa.table({k: pa.array(v, pa.string()) for k, v in columns.items()})).frame


def rows_of(columns, names=KEYS):
    return list(zip(*(columns[k] for k in names), strict=True))


def agree(one, other):
    return all(x is None or y is None or x == y for x, y in zip(one, other, strict=True))


@pytest.mark.parametrize("seed", range(60))
def test_checks_agree_with_the_definition(seed):
    rng = np.random.default_rng(seed)
    columns, k = frame_of(rng), int(rng.integers(1, 5))
    frame, rows = lazy(columns), rows_of(columns)
    classes = Counter(rows).values()
    assert Claim("k-anonymity", {"k": k}, "q", KEYS).holds(frame) == all(n >= k for n in classes)
    near = all(sum(agree(r, s) for s in rows) >= k for r in rows)
    assert Claim("k-agreement", {"k": k}, "q", KEYS).holds(frame) == near
    sets = [["a"], ["a", "b"], ["b", "c"]]
    complete = all(
        n >= k
        for names in sets
        for row, n in Counter(rows_of(columns, names)).items()
        if None not in row
    )
    claim = Claim("k-combinations", {"k": k, "combinations": sets}, "q", KEYS)
    assert claim.holds(frame) == complete
    allowed = {"x", "y"}
    inside = all(v is None or v in allowed for v in columns["a"])
    assert Claim("categories", {"allowed": ["x", "y"]}, "q", ("a",)).holds(frame) == inside


@pytest.mark.parametrize("seed", range(30))
def test_limits_agree_with_the_definition(seed):
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    values = [None if rng.random() < 0.2 else float(v) for v in rng.integers(0, 9, 6)]
    frame = tacit.read(pa.table({"v": pa.array(values, pa.float64())})).frame
    low, high = int(rng.integers(0, 4)), int(rng.integers(4, 9))
    known = [v for v in values if v is not None]
    expected = all(low <= v <= high for v in known)
    assert Claim("within-limits", {"low": low, "high": high}, "v", ("v",)).holds(frame) == expected


def people(rng, n=60):
    return {
        "sex": rng.choice(["f", "m"], n).tolist(),
        "age": rng.integers(20, 30, n).tolist(),
        "zip": rng.choice(["1011", "1012", "1020", "1030"], n).tolist(),
        "income": rng.integers(1, 9, n).astype(float).tolist(),
        "wealth": rng.normal(size=n).round(2).tolist(),
    }


def methods():
    return [
        tacit.LocalSuppression(k=3),
        tacit.LocalSuppression(k=2),
        tacit.MuArgus(k=2),
        tacit.Mdav(k=3, columns=["income", "wealth"]),
        tacit.Suppress(level="tuple", k=3),
        tacit.AddNoise(columns=["wealth"], relative=0.1),
        tacit.TopBottomCode(column="income", top=6.0),
    ]


def recomputed(claim, columns):
    """The claim from its definition, in plain Python."""
    k = claim.parameters.get("k")
    if claim.model in ("k-anonymity", "k-agreement"):
        rows = rows_of(columns, claim.columns)
        if claim.model == "k-anonymity":
            return all(n >= k for n in Counter(rows).values())
        return all(sum(agree(r, s) for s in rows) >= k for r in rows)
    if claim.model == "k-combinations":
        return all(
            n >= k
            for names in claim.parameters["combinations"]
            for row, n in Counter(rows_of(columns, names)).items()
            if None not in row
        )
    if claim.model == "within-limits":
        high = claim.parameters["high"]
        return all(v is None or v <= high for c in claim.columns for v in columns[c])
    assert claim.model == "absent-columns"
    return not set(claim.columns) & set(columns)


@pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
@pytest.mark.parametrize("seed", range(12))
def test_claims_of_random_steps_hold_or_are_seen_to_fail(seed):
    rng = np.random.default_rng(seed)
    import pyarrow as pa

    data = tacit.read(pa.table(people(rng)), keys=["sex", "age", "zip"])
    choices = methods()
    for i in rng.integers(len(choices), size=3).tolist():
        try:
            data = choices[i].apply(data, seed=seed)
        except SdcError:
            continue
    columns = data.to_arrow().to_pydict()
    for claim in (c for a in data.history for c in a.claims):
        assert claim.holds(data.frame) == recomputed(claim, columns)


def test_a_claim_about_a_column_that_is_gone_is_refused_in_a_sentence():
    data = tacit.read({"a": [1.0, 2.0, 3.0, 4.0], "b": ["p", "q", "r", "s"]})
    masked = tacit.Mdav(columns=["a"], k=2).apply(data)
    left = tacit.Deidentify(columns=["a"]).apply(masked)
    (claim,) = masked.history[-1].claims
    with pytest.raises(SdcError, match="no longer there"):
        claim.require(left.claim_view(), where="release")


def test_limits_of_a_column_that_became_text_do_not_hold():
    data = tacit.read({"a": ["100 or more", "-20"]})
    assert not Claim("within-limits", {"low": None, "high": 500}, "a", ("a",)).holds(data.frame)


def test_many_combinations_are_judged_as_few_are():
    """Counted once on all columns or one combination after another: the same answer."""
    from itertools import combinations

    rng = np.random.default_rng(4)
    import pyarrow as pa

    names = list("abcdef")
    for n in (0, 30, 300):
        table = pa.table(
            {c: pa.array(rng.choice([0, 1, 2, None], n).tolist(), pa.int64()) for c in names}
        )
        frame = tacit.read(table).frame
        sets = [list(c) for c in combinations(names, 3)]
        for k in (1, 2, 4):
            single = [
                Claim("k-combinations", {"k": k, "combinations": [c]}, "q", tuple(c)).holds(frame)
                for c in sets
            ]
            many = Claim("k-combinations", {"k": k, "combinations": sets}, "q", tuple(names))
            assert many.holds(frame) == all(single)
