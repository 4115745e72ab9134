"""Measures against their definitions, record by record and pair by pair, on random files: no helper of tacit is used."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit

quick = settings(max_examples=30, deadline=None)
rows_of_keys = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from([1, 2]), st.integers(1, 9)),
    min_size=1,
    max_size=18,
)


def read(rows, names, **roles):
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return tacit.read(pa.table(columns), **roles)


# -- three intruders ---------------------------------------------------------------------------------------


def expect(chances, threshold):
    """Highest, mean, share above the threshold, at least one."""
    missed = math.prod(1 - r for r in chances)
    above = sum(r > threshold + 1e-12 for r in chances) / len(chances)
    return max(chances), sum(chances) / len(chances), above, 1 - missed


def told(attack):
    return attack.highest, attack.average, attack.at_risk, attack.at_least_one


@quick
@given(rows_of_keys, st.sampled_from([0.1, 0.34, 0.5]), st.sampled_from(["w", "half", "none"]))
def test_prosecutor_journalist_and_marketer(rows, threshold, source):
    data = read(
        rows, ["a", "b", "w"], keys=["a", "b"], **({"weight": "w"} if source == "w" else {})
    )
    spec = tacit.AttackRisk(threshold=threshold, **({"fraction": 0.5} if source == "half" else {}))
    prosecutor, journalist = [], []
    for a, b, _ in rows:
        mine = [w for c, d, w in rows if (c, d) == (a, b)]
        people = {"w": max(sum(mine), len(mine)), "half": 2 * len(mine), "none": len(mine)}
        prosecutor.append(1 / len(mine))
        journalist.append(1 / people[source])
    found = spec.measure(data)
    assert told(found.prosecutor) == pytest.approx(expect(prosecutor, threshold))
    assert told(found.journalist) == pytest.approx(expect(journalist, threshold))
    # The marketer matches every class at random: the expected correct matches are f (1/F) summed over classes.
    assert found.marketer == pytest.approx(sum(journalist) / len(rows))


@quick
@given(
    rows_of_keys,
    st.lists(st.tuples(st.sampled_from("xyzq"), st.sampled_from([1, 2, 3])), min_size=1),
)
def test_the_journalist_counts_in_a_register(rows, others):
    data = read(rows, ["a", "b", "w"], keys=["a", "b"])
    register = read(others, ["a", "b"], keys=["a", "b"])
    people = [sum(o == (a, b) for o in others) for a, b, _ in rows]
    wanted = [1 / n if n else 0.0 for n in people]
    found = tacit.AttackRisk(threshold=0.4).measure(data, register=register)
    assert found.frame["journalist"].to_list() == pytest.approx(wanted)
    assert told(found.journalist) == pytest.approx(expect(wanted, 0.4))


# -- l-diversity over several sensitive columns --------------------------------------------------------------


def diversity(counts, variant, c):
    r = sorted(counts, reverse=True)
    n = sum(r)
    if variant == "distinct":
        return len(r)
    if variant == "entropy":
        return math.prod((n / x) ** (x / n) for x in r)
    # The most frequent value against the tail from the l-th on, by trying every l from the largest down.
    for tail in range(len(r), 1, -1):
        if r[0] < c * sum(r[tail - 1 :]):
            return tail
    return 1


@quick
@given(
    st.lists(
        st.tuples(
            st.sampled_from("xy"), st.sampled_from("pqr"), st.sampled_from([1, 2]), st.booleans()
        ),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from(["distinct", "entropy", "recursive"]),
    st.sampled_from([0.5, 1.0, 2.0, 4.0]),
    st.sampled_from([1.5, 2, 3]),
    st.booleans(),
)
def test_diversity_of_several_sensitive_columns(rows, variant, c, asked, together):
    data = read(rows, ["k", "s", "t", "u"], keys=["k"], sensitive=["s", "t", "u"])
    looks = [(1, 2, 3)] if together else [(1,), (2,), (3,)]
    smallest, violations = [], []
    for look in looks:
        by_class = {}
        for row in rows:
            by_class.setdefault(row[0], Counter())[tuple(row[j] for j in look)] += 1
        found = {k: diversity(n.values(), variant, c) for k, n in by_class.items()}
        smallest.append(min(found.values()))
        violations.append(
            sum(sum(by_class[k].values()) for k, v in found.items() if v < asked - 1e-9)
        )
    spec = tacit.LDiversity(l=asked, variant=variant, c=c, together=together)
    result = spec.measure(data)
    names = ["s x t x u"] if together else ["s", "t", "u"]
    assert dict(result.by_column) == pytest.approx(dict(zip(names, smallest, strict=True)))
    assert result.l == pytest.approx(min(smallest))
    assert result.violations == max(violations)


# -- fractional wildcards ------------------------------------------------------------------------------------


@quick
@given(
    st.lists(
        st.tuples(*[st.sampled_from([1, 2, None])] * 3, st.integers(1, 50)),
        min_size=1,
        max_size=14,
    ),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)
def test_fractional_wildcards_by_pairs(rows, alpha):
    """The frequencies of sdcMicro's freqCalc: a record with a missing key counts alpha where it agrees with another cell.

    A record that lacks every key is itself a wildcard of all others, each of which then counts in full.
    """
    rows = [(1, 1, 1, 5), *rows]  # a key without any value is refused
    data = read(rows, ["a", "b", "c", "w"], keys=["a", "b", "c"], weight="w")
    f, people = [], []
    for mine in rows:
        count = weight = 0.0
        for other in rows:
            pairs = list(zip(mine[:3], other[:3], strict=True))
            if not all(x is None or y is None or x == y for x, y in pairs):
                continue
            lacking = (
                None in other[:3] and mine[:3] != other[:3] and any(x is not None for x in mine[:3])
            )
            share = alpha if lacking else 1.0
            count += share
            weight += share * other[3]
        f.append(count)
        people.append(weight)
    found = tacit.IndividualRisk(missing="wildcard", alpha=alpha).measure(data)
    assert found.frame["f"].to_list() == pytest.approx(f)
    assert found.frame["population"].to_list() == pytest.approx(people)
    assert tacit.KAnonymity(missing="wildcard", alpha=alpha).measure(data).k == pytest.approx(
        min(f)
    )


# -- individual risk ---------------------------------------------------------------------------------------


@quick
@given(st.integers(1, 6), st.sampled_from([0.05, 0.2, 0.5, 0.9]))
def test_individual_risk_by_summing_the_posterior(f, p):
    """E(1/F) as a sum over population counts; weights make f / sum of weights equal p."""
    data = tacit.read({"a": [1] * f, "w": [1 / p] * f}, keys=["a"], weight="w")
    mass, total, h = p**f, 0.0, f
    while h < 2000:
        total += mass / h
        mass *= h / (h - f + 1) * (1 - p)
        h += 1
    found = tacit.IndividualRisk().measure(data)
    assert found.risk.tolist() == pytest.approx([total] * f)


# -- utilities of ARX -------------------------------------------------------------------------------------


TREES = {"a": {1: "lo", 2: "lo", 3: "hi", 4: "hi"}, "b": {"x": "*", "y": "*"}}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("utility", ["loss", "discernibility", "entropy", "average_class_size"])
def test_granularity_discernibility_entropy_and_class_size_of_every_node(seed, utility):
    """Every node of a lattice of 3 x 2 levels, without suppression."""
    rng = np.random.default_rng(seed)
    from_paths = tacit.hierarchy.Hierarchy.from_paths
    n = 24
    a, b = rng.integers(1, 5, n).tolist(), rng.choice(["x", "y"], n).tolist()
    data = tacit.read(
        {"a": a, "b": b},
        keys=["a", "b"],
        hierarchies={
            "a": from_paths([[str(v), g, "*"] for v, g in TREES["a"].items()]),
            "b": from_paths([["x", "*"], ["y", "*"]]),
        },
    )

    def up(column, value, level):
        if column == "b":
            return value if level == 0 else "*"
        return [value, TREES["a"][value], "*"][level]

    def leaves(column, value, level):
        same = [v for v in TREES[column] if up(column, v, level) == up(column, value, level)]
        return len(same)

    lattice = tacit.Anonymise(models=[tacit.KAnonymity(k=1)], utility=utility).search(data)
    for la, lb in product(range(3), range(2)):
        shown = [(up("a", x, la), up("b", y, lb)) for x, y in zip(a, b, strict=True)]
        sizes = Counter(shown)
        if utility == "loss":
            cells = [
                (leaves("a", x, la) - 1) / 3 + (leaves("b", y, lb) - 1) / 1
                for x, y in zip(a, b, strict=True)
            ]
            wanted = sum(cells) / (2 * n)
        elif utility == "discernibility":
            wanted = sum(s * s for s in sizes.values())
        elif utility == "average_class_size":
            wanted = n / len(sizes)
        else:
            lost = most = 0.0
            for column, values, level in (("a", a, la), ("b", b, lb)):
                ground = Counter(values)
                above = Counter(up(column, v, level) for v in values)
                lost += sum(math.log2(above[up(column, v, level)] / ground[v]) for v in values)
                most += sum(math.log2(n / ground[v]) for v in values)
            wanted = lost / most
        assert lattice.at({"a": la, "b": lb}).value == pytest.approx(wanted)
