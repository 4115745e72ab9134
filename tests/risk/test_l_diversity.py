"""l-diversity: the three definitions against brute force, and on every engine."""

import math
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from conftest import filled
from tacit.errors import ColumnNotFound, InvalidParameter, RoleMissing

# Figure 3 of Machanavajjhala et al.: an inpatient table that is 4-anonymous and 3-diverse.
PAPER = {
    "zip": ["1305*"] * 4 + ["1485*"] * 4 + ["1306*"] * 4,
    "age": ["<=40"] * 4 + [">40"] * 4 + ["<=40"] * 4,
    "disease": [
        *["heart", "virus", "cancer", "cancer"],
        *["cancer", "heart", "virus", "virus"],
        *["heart", "virus", "cancer", "cancer"],
    ],
}


def twin(keys, values, variant, c, missing):
    """Diversity of each class, straight from the definitions."""
    classes = defaultdict(Counter)
    for key, value in zip(keys, values, strict=True):
        if missing == "category" or value is not None:
            classes[key][value] += 1
    return {key: diversity(counts, variant, c) for key, counts in classes.items()}, classes


def diversity(counts, variant, c):
    if variant == "distinct":
        return len(counts)
    n = sum(counts.values())
    if variant == "entropy":
        return math.exp(-sum(x / n * math.log(x / n) for x in counts.values()))
    r = sorted(counts.values(), reverse=True)
    return max(i for i in range(1, len(r) + 1) if i == 1 or r[0] < c * sum(r[i - 1 :]))


def read(keys, values, **options):
    table = pa.table(
        {
            "a": pa.array([k[0] for k in keys], pa.string()),
            "b": pa.array([k[1] for k in keys], pa.int64()),
            "s": pa.array(values, pa.string()),
        }
    )
    return tacit.read(table, keys=["a", "b"], sensitive=["s"], **options)


records = st.lists(
    st.tuples(
        st.sampled_from(["x", "y", None]),
        st.sampled_from([1, None]),
        st.sampled_from(["p", "q", "r", "é", None]),
    ),
    max_size=25,
).filter(filled(0, 1))


@settings(max_examples=40, deadline=None)
@given(
    records,
    st.sampled_from(["distinct", "entropy", "recursive"]),
    st.sampled_from([0.5, 1.0, 2.0, 3.0]),
    st.sampled_from([1, 2, 3]),
    st.sampled_from(["category", "ignore"]),
)
def test_agrees_with_the_definitions(rows, variant, c, asked, missing):
    keys, values = [(a, b) for a, b, _ in rows], [s for _, _, s in rows]
    expected, classes = twin(keys, values, variant, c, missing)
    found = tacit.LDiversity(l=asked, variant=variant, c=c, missing=missing).measure(
        read(keys, values)
    )
    assert found.l == pytest.approx(min(expected.values(), default=0))
    below = [k for k, v in expected.items() if v < asked - 1e-9]
    assert found.violations == sum(sum(classes[k].values()) for k in below)
    table = {(r["a"], r["b"]): r["l"] for r in found.frame.rows(named=True)}
    assert table == pytest.approx(expected)


def test_paper(engine):
    data = tacit.read(PAPER, keys=["zip", "age"], sensitive="disease", engine=engine)
    assert tacit.LDiversity(l=3).measure(data).l == 3
    entropy = tacit.LDiversity(l=2.8, variant="entropy").measure(data)
    assert entropy.l == pytest.approx(math.exp(1.5 * math.log(2)))
    assert entropy.violations == 0
    # Counts 2, 1, 1: 2 < c (1 + 1) and 2 < c 1.
    assert tacit.LDiversity(l=3, variant="recursive", c=2.1).measure(data).l == 3
    assert tacit.LDiversity(l=3, variant="recursive", c=2.0).measure(data).l == 2
    assert tacit.LDiversity(l=3, variant="recursive", c=1.0).measure(data).l == 1


def test_equality_does_not_pass_for_less():
    # 11 < 1.1 * 10 is false, though 1.1 * 10 > 11 in binary.
    data = tacit.read({"k": ["x"] * 21, "s": ["a"] * 11 + ["b"] * 10}, keys="k", sensitive="s")
    assert tacit.LDiversity(variant="recursive", c=1.1).measure(data).l == 1


def test_equal_shares_reach_whole_entropy_diversity():
    data = tacit.read(
        {"k": ["x"] * 30, "s": [str(i % 3) for i in range(30)]}, keys="k", sensitive="s"
    )
    found = tacit.LDiversity(l=3, variant="entropy").measure(data)
    assert found.violations == 0
    assert found.l == 3
    assert found.numbers["smallest diversity (l)"] == 3


def test_figure_28_is_not_diverse(engine, fig28):
    data = tacit.read(
        fig28.to_arrow(), keys=["Ethnicity", "Sex"], sensitive=["Problem", "ZIP"], engine=engine
    )
    found = tacit.LDiversity(l=2).measure(data)
    # Black women: 02138 only; the one Caucasian woman is alone.
    assert found.by_column == {"Problem": 1, "ZIP": 1}
    assert found.violations == 7
    assert tacit.LDiversity(l=2, column="Problem").measure(data).violations == 1
    assert found.numbers["largest share of one value in a class"] == 1.0
    assert found.value == pytest.approx(7 / 12)


def test_several_quasi_identifiers_take_the_worst():
    data = tacit.read(
        {"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"], "s": ["1", "2", "1", "1"]},
        keys={"by a": ["a"], "by b": ["b"]},
        sensitive="s",
    )
    assert tacit.LDiversity().measure(data).violations == 2
    assert tacit.LDiversity(quasi="by b").measure(data).l == 1
    assert {p.quasi for p in tacit.LDiversity().measure(data).parts} == {"by a", "by b"}


def test_key_that_is_sensitive_and_names_that_clash():
    data = tacit.read(
        {"records": ["x", "x", "y"], "s": [1.5, 2.5, None]}, keys="records", sensitive=["records"]
    )
    found = tacit.LDiversity().measure(data)
    assert found.l == 1
    assert found.frame.columns == ["records", "records_", "l", "largest share"]


def test_no_records_and_one():
    data = tacit.read({"k": ["x"], "s": ["a"]}, keys="k", sensitive="s")
    for variant in ("distinct", "entropy", "recursive"):
        assert tacit.LDiversity(variant=variant).measure(data).l == 1
        empty = tacit.LDiversity(variant=variant).measure(
            data.take(pa.array([], pa.int64()).to_numpy())
        )
        assert (empty.l, empty.violations, empty.value) == (0, 0, 0.0)


def test_refusals(fig28):
    with pytest.raises(RoleMissing, match="needs sensitive columns"):
        tacit.LDiversity().measure(fig28)
    with pytest.raises(ColumnNotFound, match="Problem"):
        tacit.LDiversity(column="Problm").measure(fig28)
    with pytest.raises(InvalidParameter, match="l must be at least 1"):
        tacit.LDiversity(l=0)


def test_prints_and_plots():
    data = tacit.read(PAPER, keys=["zip", "age"], sensitive="disease")
    found = tacit.LDiversity(l=4).measure(data)
    assert "smallest diversity (l)" in repr(found)
    assert "3: 12 records" in found.plot().alt
    assert found.plot().svg().startswith("<svg")


@pytest.mark.parametrize("variant", ["distinct", "entropy", "recursive"])
@pytest.mark.parametrize("alpha", [0.0, 0.4, 1.0])
def test_missing_keys_as_wildcards_count_in_part(variant, alpha):
    """Against the definition, pair by pair."""
    rng = np.random.default_rng(4)
    a = [None if rng.random() < 0.2 else int(rng.integers(3)) for _ in range(40)]
    b = [None if rng.random() < 0.2 else int(rng.integers(2)) for _ in range(40)]
    s = [int(v) for v in rng.integers(0, 3, 40)]
    data = tacit.read({"a": a, "b": b, "s": s}, keys=["a", "b"], sensitive=["s"])
    spec = tacit.LDiversity(variant=variant, missing_keys="wildcard", alpha=alpha)
    found = {(r["a"], r["b"]): r for r in spec.measure(data).frame.rows(named=True)}
    for i in range(40):
        amounts = [0.0] * 3
        for j in range(40):
            same = (a[i], b[i]) == (a[j], b[j])
            agrees = all(x is None or y is None or x == y for x, y in ((a[i], a[j]), (b[i], b[j])))
            whole = same or None not in (a[j], b[j]) or (a[i] is None and b[i] is None)
            amounts[s[j]] += agrees * (1.0 if whole else alpha)
        kept = sorted((x for x in amounts if x > 0), reverse=True)
        total = sum(kept)
        if variant == "distinct":
            wanted = len(kept)
        elif variant == "entropy":
            wanted = np.exp(-sum(x / total * np.log(x / total) for x in kept))
        else:
            wanted = max(
                [m for m in range(1, len(kept) + 1) if kept[0] < 3 * sum(kept[m - 1 :])], default=1
            )
        row = found[(a[i], b[i])]
        assert row["l"] == pytest.approx(wanted)
        assert row["largest share"] == pytest.approx(kept[0] / total)
    assert sum(r["records"] for r in found.values()) == 40


def test_alpha_needs_wildcards():
    with pytest.raises(InvalidParameter, match="alpha goes with"):
        tacit.LDiversity(alpha=0.5)
