"""Probabilistic linkage by levels, rare values and several rules of blocking."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from rapidfuzz.distance import JaroWinkler

import tacit
from studies.dirty_persons import attackers, files
from tacit.errors import Approximate, InputError, InvalidParameter, SdcWarning
from tacit.numerics.kernels import run_kernels

FUZZY = {
    "first": {"by": "jaro_winkler"},
    "last": {"by": "jaro_winkler"},
    "born": {"by": "date"},
    "sex": {},
}
RULES = [
    ["born"],
    [{"column": "last", "by": "soundex"}],
    ["sex", {"column": "first", "by": "first", "letters": 3}],
]


@pytest.fixture(scope="module")
def dirty():
    return files(250, seed=5)


def test_patterns_of_three_rules_count_each_pair_once(dirty):
    data, released = dirty
    spec = tacit.ProbabilisticLinkage(comparisons=FUZZY, blocks=RULES)
    found = spec.measure(released, original=data, seed=1)
    from tacit.records.linkage.field_levels import soundex

    one, two = ({c: x.column(c).to_pylist() for c in FUZZY} for x in (data, released))

    def level(a, b):
        if a is None or b is None:
            return None
        return 3 if a == b else sum(JaroWinkler.similarity(a, b) >= t for t in (0.8, 0.92))

    def same(a, b):
        return a is not None and a == b

    pairs = [
        (i, j)
        for i, j in itertools.product(range(250), repeat=2)
        if same(one["born"][i], two["born"][j])
        or (two["last"][j] and soundex(one["last"][i]) == soundex(two["last"][j]))
        or (
            same(one["sex"][i], two["sex"][j])
            and two["first"][j]
            and one["first"][i][:3].lower() == two["first"][j][:3].lower()
        )
    ]
    assert found.numbers["pairs compared"] == len(pairs)
    for column in ("first", "last"):
        counted = {}
        for levels, n in zip(
            found.patterns[column].to_list(), found.patterns["pairs"].to_list(), strict=True
        ):
            counted[levels] = counted.get(levels, 0) + n
        expected = {}
        for i, j in pairs:
            key = level(one[column][i], two[column][j])
            expected[key] = expected.get(key, 0) + 1
        assert counted == expected


def test_links_have_the_largest_weight_of_all_candidates(dirty):
    """Weights added up by hand from the model, over all pairs, without blocks."""
    data, released = dirty
    spec = tacit.ProbabilisticLinkage(
        comparisons={c: FUZZY[c] for c in ("first", "last", "sex")}, term_frequencies=["last"]
    )
    found = spec.measure(released, original=data, seed=1)
    one, two = ({c: x.column(c).to_pylist() for c in FUZZY} for x in (data, released))
    weights = dict(zip(found.columns, found.model.weights, strict=True))
    u = dict(zip(found.columns, found.model.u, strict=True))
    known = [v for v in two["last"] if v is not None]
    best = []
    for i in range(250):
        total = np.zeros(250)
        for j in range(250):
            for c in ("first", "last", "sex"):
                a, b = one[c][i], two[c][j]
                if a is None or b is None:
                    continue
                top = len(weights[c]) - 1
                level = top if a == b else 0
                if c != "sex" and a != b:
                    level = sum(JaroWinkler.similarity(a, b) >= t for t in (0.8, 0.92))
                total[j] += weights[c][level]
                if c == "last" and level == top:
                    total[j] += np.log2(u[c][-1] / (known.count(b) / len(known)))
        best.append(total.max())
    assert found.frame["weight"].to_numpy() == pytest.approx(np.array(best))


@pytest.mark.parametrize("mode", ["plain", "compiled"])
def test_kernels_agree(mode, dirty):
    data, released = dirty
    spec = tacit.ProbabilisticLinkage(comparisons=FUZZY, blocks=RULES, term_frequencies=["first"])
    few = np.arange(80)
    with run_kernels(mode):
        found = spec.measure(released.take(few), original=data.take(few), seed=1)
    usual = spec.measure(released.take(few), original=data.take(few), seed=1)
    assert found.correct == usual.correct
    assert found.frame["weight"].to_list() == usual.frame["weight"].to_list()


def test_the_order_of_rules_and_rows_does_not_matter(dirty):
    data, released = dirty
    rng = np.random.default_rng(1)
    spec = tacit.ProbabilisticLinkage(comparisons=FUZZY, blocks=RULES, estimate="true")
    turned = tacit.ProbabilisticLinkage(comparisons=FUZZY, blocks=RULES[::-1], estimate="true")
    found = spec.measure(released, original=data, seed=1)
    again = turned.measure(
        released.take(rng.permutation(250)), original=data.take(rng.permutation(250)), seed=1
    )
    assert again.numbers["pairs compared"] == found.numbers["pairs compared"]
    assert again.share == pytest.approx(found.share, abs=0.01)


def test_the_best_known_attack_finds_nearly_everybody():
    data, released = files(1500, seed=3)
    shares = {
        name: spec.measure(released, original=data, seed=1).share
        for name, spec in attackers().items()
    }
    weakest, *_, strongest = shares.values()
    assert weakest < 0.95
    assert strongest > 0.98


def test_precision_and_recall(dirty):
    data, released = dirty
    found = tacit.ProbabilisticLinkage(comparisons=FUZZY, blocks=RULES).measure(
        released, original=data, seed=1
    )
    curve = found.curve
    assert curve["recall"].to_list() == sorted(curve["recall"].to_list())
    assert curve["recall"].to_list()[-1] == pytest.approx(found.share)
    assert curve["links"].to_list()[-1] == found.numbers["records with a candidate"]
    assert curve["precision"].to_list()[0] == pytest.approx(1, abs=0.05)


def test_zones_are_shares_of_the_pairs_looked_at(dirty):
    data, released = dirty
    found = tacit.ProbabilisticLinkage(comparisons=FUZZY, blocks=RULES).measure(
        released, original=data, seed=1
    )
    numbers = found.numbers
    assert 150 < numbers["pairs that are links"] < 400
    assert numbers["no links"] > 0.5 * numbers["pairs compared"]
    assert found.patterns["false_match"].to_numpy()[-1] == pytest.approx(1)


def test_numbers_dates_and_edits():
    n = 120
    rng = np.random.default_rng(1)
    income = rng.lognormal(10, 1, n)
    code = [f"{i:05d}" for i in rng.integers(0, 99_999, n)]
    day = pa.array(rng.integers(0, 20_000, n).astype("int32")).cast(pa.date32())
    data = tacit.read({"income": income, "code": code, "day": day, "age": rng.integers(18, 90, n)})
    noisy = data.replace(
        {"income": income * rng.uniform(0.97, 1.03, n), "code": ["9" + c[1:] for c in code]}
    )
    spec = tacit.ProbabilisticLinkage(
        comparisons={
            "income": {"by": "relative", "levels": [0.2, 0.05]},
            "code": {"by": "edit"},
            "day": {"by": "date", "levels": [40], "slips": False},
            "age": {"by": "number", "levels": [5, 1]},
        }
    )
    found = spec.measure(noisy, original=data)
    assert found.share > 0.98
    assert [len(m) for m in found.model.m] == [4, 4, 3, 4]
    paired = spec.model_copy(update={"one_to_one": True}).measure(noisy, original=data)
    assert paired.share > 0.98


def test_rare_values_count_more():
    """Two pairs agree on nothing but a name; the rarer name weighs more, by log2 of how much rarer it is."""
    names = ["common"] * 30 + ["rare"] * 2 + [f"n{i}" for i in range(28)]
    data = tacit.read(
        {"name": names, "x": [f"{i % 7}" for i in range(60)], "y": [f"{i % 5}" for i in range(60)]}
    )
    spec = tacit.ProbabilisticLinkage(
        columns=["name", "x", "y"], term_frequencies=["name"], estimate="true"
    )
    weight = spec.measure(data, original=data).frame["weight"].to_numpy()
    assert weight[30] - weight[0] == pytest.approx(np.log2(30 / 2))


def test_faults(dirty):
    data, released = dirty
    make = tacit.ProbabilisticLinkage
    for wrong, sentence in [
        ({"comparisons": {"a": {"by": "exact", "levels": [1]}}}, "equality has no levels"),
        ({"comparisons": {"a": {"by": "number"}}}, "by number needs levels"),
        (
            {"comparisons": {"a": {"by": "edit", "levels": [1, 2]}}},
            "levels must go from loose to strict",
        ),
        (
            {"comparisons": {"a": {"by": "jaro_winkler", "levels": [0.9, 0.8]}}},
            "from loose to strict",
        ),
        ({"comparisons": {"a": {"by": "relative", "levels": [1.5]}}}, "must be below 1"),
        ({"comparisons": {"a": {"by": "edit", "levels": [1.5]}}}, "whole numbers of edits"),
        ({"columns": ["a"], "comparisons": {"b": {}}}, "which is not among the columns"),
        ({"blocks": [["a"]], "block": ["b"]}, "give either blocks, or block and near"),
        ({"blocks": [[]]}, "each rule of blocks must name a column"),
        (
            {"comparisons": {"a": {"by": "date"}}, "term_frequencies": ["a"]},
            "term_frequencies are for texts",
        ),
        ({"columns": ["b"], "term_frequencies": ["a"]}, "which is not among the columns"),
    ]:
        with pytest.raises(InvalidParameter, match=sentence):
            make(**wrong)
    with pytest.raises(InputError, match="must hold numbers to be compared by number"):
        make(comparisons={"first": {"by": "number", "levels": [1]}}).measure(
            released, original=data
        )
    with pytest.raises(InputError, match="holds no date such as 1984-05-31"):
        make(comparisons={"first": {"by": "date"}}).measure(released, original=data)
    mixed = released.replace({"born": ["unknown", *released.column("born").to_pylist()[1:]]})
    with pytest.warns(SdcWarning, match="1 values of column 'born' are no dates"):
        make(comparisons=FUZZY).measure(mixed, original=data)
    nobody = released.replace({"sex": ["x"] * 250})
    with pytest.raises(InputError, match="no pair of records meets a rule of blocks"):
        make(comparisons=FUZZY, blocks=[["sex"]]).measure(nobody, original=data)


def test_a_column_in_every_rule_is_named(dirty):
    data, released = dirty
    spec = tacit.ProbabilisticLinkage(comparisons=FUZZY, blocks=[["sex", "born"], ["sex", "last"]])
    with pytest.warns(
        Approximate, match="how often 'sex' agree among pairs of the same person cannot be told"
    ):
        spec.measure(released, original=data, seed=1)


def test_too_few_patterns_are_said(dirty):
    data, released = dirty
    found = tacit.ProbabilisticLinkage(columns=["sex", "town"]).measure(released, original=data)
    assert "too few agreement patterns" in found.explanation


def test_in_the_shell(dirty, tmp_path, capsys):
    from tacit.cli import main
    from tacit.io import write

    for name, data in zip(("a.csv", "b.csv"), dirty, strict=True):
        write(data, tmp_path / name)
    asked = [
        "measure", "probabilistic-linkage", str(tmp_path / "b.csv"), "--original", str(tmp_path / "a.csv"),
        "--comparisons", "{first: {by: jaro_winkler}, last: {by: edit}, born: {by: date}, town: {}}",
        "--blocks", "[{column: born, by: year}, sex]", "[{column: last, by: soundex}]",
        "--term-frequencies", "last", "--seed", "1",
    ]  # fmt: skip
    assert main(asked) == 0
    assert "records with a candidate" in capsys.readouterr().out
