"""The report: who finds how many records, knowing what."""

import numpy as np
import pytest

import tacit
from tacit.errors import Approximate, InputError, InvalidParameter
from tacit.records.linkage import reidentification
from tacit.records.linkage.reidentification import linkage_table


def people(n=250, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3))
    return tacit.read(
        {
            "place": rng.choice([f"town {i}" for i in range(8)], n),
            "age": rng.integers(18, 90, n),
            **dict(zip(("income", "tax", "rent"), x.T, strict=True)),
        },
        keys=["place", "age"],
    )


@pytest.fixture(scope="module")
def data():
    return people()


@pytest.fixture(scope="module")
def masked(data):
    noise = tacit.CorrelatedNoise(columns=["income", "tax", "rent"], lambda_squared=0.02)
    return noise.apply(data, seed=1)


@pytest.fixture(scope="module")
def report(data, masked):
    return tacit.Reidentification().measure(masked, original=data)


def test_the_grid_and_its_worst_case(report):
    rows = report.frame.rows(named=True)
    known = dict.fromkeys(r["known"] for r in rows)
    assert list(known) == ["place", "age", "income", "tax", "rent", "everything"]
    assert {r["attacker"] for r in rows if r["known"] == "place"} == {"exact", "probabilistic"}
    worst = max((r for r in rows if r["identity"]), key=lambda r: r["share"])
    assert report.value == report.share == worst["share"]
    assert report.worst.knowledge.name == "everything"
    for row in rows:
        assert row["share"] == pytest.approx(row["correct"] / 250)
        if row["identity"]:
            assert row["times_chance"] == pytest.approx(row["share"] * 250)


def test_exact_matches_count_by_their_chance(report, data):
    by = {(f.attacker, f.knowledge.name): f.correct for f in report.findings}
    assert by["exact", "place"] == pytest.approx(len(set(data.column("place").to_pylist())))
    assert by["exact", "age"] == pytest.approx(len(set(data.column("age").to_pylist())))
    assert by["exact", "income"] == by["exact", "everything"] == 0


def test_rows_are_those_of_the_measures(report, data, masked):
    by = {(f.attacker, f.knowledge.name): f for f in report.findings}
    alone = tacit.DistanceLinkage(columns=["rent"]).measure(masked, original=data)
    assert by["nearest", "rent"].share == alone.share
    four = ["age", "income", "tax", "rent"]
    strongest = tacit.DistanceLinkage(metric="mahalanobis", columns=four, block=["place"])
    assert by["mahalanobis", "everything"].share == strongest.measure(masked, original=data).share


def test_sentences_in_plain_words(report):
    assert report.sentences[0].startswith("Whoever knows all of these columns and")
    assert "times as many as by chance" in report.sentences[0]
    assert len(report.sentences) == 6
    assert report.explanation.startswith(report.sentences[0])
    assert report.plot().alt.startswith("Records found, by whom, knowing what.")


def test_named_sets_pairs_and_chosen_attackers(data, masked):
    spec = tacit.Reidentification(
        columns=["income", "tax", "rent"],
        subsets="pairs",
        known={"tax office": ["income", "tax"], "neighbour": ["place", "age"]},
        attackers=["nearest", "exact"],
    )
    found = spec.measure(masked, original=data)
    names = list(dict.fromkeys(f.knowledge.name for f in found.findings))
    assert names == [
        "tax office", "neighbour", "income", "tax", "rent",
        "income + tax", "income + rent", "tax + rent", "everything",
    ]  # fmt: skip
    told = " ".join(found.sentences)
    assert "Whoever knows what the tax office knows (income, tax) and" in told
    assert "Whoever knows tax and rent and takes" in told
    whole = tacit.Reidentification(subsets="all").measure(masked, original=data)
    assert {f.knowledge.name for f in whole.findings} == {"everything"}


def test_a_sample_of_the_records(data, masked):
    spec = tacit.Reidentification(records=60, subsets="all", attackers=["nearest", "probabilistic"])
    found = spec.measure(masked, original=data, seed=3)
    assert found.numbers["records attacked"] == 60
    assert found.value == spec.measure(masked, original=data, seed=3).value
    assert all(f.chance == pytest.approx(1 / 250) for f in found.findings)


def test_warnings_become_notes(data, masked):
    flat = masked.replace({"tax": np.zeros(250)})
    found = tacit.Reidentification(subsets="all").measure(flat, original=data)
    assert any("'tax' is constant" in note for note in found.notes)


def test_cancelled(data, masked):
    from tacit.context import Context

    calls = iter([False] * 3 + [True] * 1000)
    ctx = Context.start(1, should_stop=lambda: next(calls))
    with pytest.raises(tacit.errors.Cancelled):
        tacit.Reidentification().measure(masked, original=data, context=ctx)


def test_faults(data, masked):
    with pytest.raises(InvalidParameter, match="interval identifies nobody"):
        tacit.Reidentification(attackers=["interval"])
    with pytest.raises(InvalidParameter, match="must not name a set 'everything'"):
        tacit.Reidentification(known={"everything": ["age"]})
    with pytest.raises(InvalidParameter, match="columns must name each column once"):
        tacit.Reidentification(columns=["age", "age"])
    spec = tacit.Reidentification(columns=["place"], attackers=["nearest"])
    with pytest.raises(InputError, match="no attacker could use these columns"):
        spec.measure(masked, original=data)


def many_columns(n=60, columns=16, seed=2):
    """Categories, most of which are released as they are: only weights of agreement find people."""
    rng = np.random.default_rng(seed)
    names = [f"c{i}" for i in range(columns)]
    codes = rng.integers(0, 4, (n, columns))
    released = np.where(rng.random(codes.shape) < 0.15, rng.integers(0, 4, codes.shape), codes)
    original, masked = (
        tacit.read(
            {c: [f"v{v}" for v in x[:, j]] for j, c in enumerate(names)}
            | {"id": [str(i) for i in range(n)]},
            keys=names,
            identifiers=["id"],
        )
        for x in (codes, released)
    )
    return original, original.replace({c: masked.column(c).combine_chunks() for c in names})


def test_probabilistic_linkage_runs_with_many_columns():
    """From 14 columns on it was left out, and the rest found far fewer."""
    original, masked = many_columns()
    found = tacit.Reidentification(subsets="all").measure(masked, original=original)
    assert found.worst.attacker == "probabilistic"
    assert found.value > 0.9
    assert not found.lower_bound
    assert "lower bound" not in found.explanation
    assert {(a.attacker, a.useless) for a in found.not_run} == {
        ("nearest", True),
        ("mahalanobis", True),
        ("kernel", True),
        ("interval", True),
    }


def test_an_attack_that_could_not_be_run_makes_the_share_a_lower_bound(monkeypatch):
    original, masked = many_columns(columns=4)

    def refuse(*_):
        raise InputError("too much for this machine.")

    monkeypatch.setitem(reidentification.RUN, "probabilistic", refuse)
    with pytest.warns(Approximate, match="lower bound: probabilistic knowing"):
        found = tacit.Reidentification().measure(masked, original=original)
    assert found.lower_bound
    missed = [a for a in found.not_run if a.lowers]
    assert [a.knowledge.name for a in missed] == ["c0", "c1", "c2", "c3", "everything"]
    assert {a.reason for a in missed} == {"too much for this machine."}
    assert found.numbers["attacks that could not be run"] == 5
    assert found.explanation.startswith("5 attacks could not be run, so the share")
    assert "and 2 more" in found.explanation
    assert "at least" in str(found.plot().spec)
    monkeypatch.setitem(reidentification.RUN, "exact", refuse)
    with pytest.raises(InputError, match=r"no attacker could use.*too much for this machine"):
        tacit.Reidentification().measure(masked, original=original)


def test_a_table_over_releases(data, masked):
    groups = tacit.Mdav(k=3, columns=["income", "tax", "rent"]).apply(data, seed=1)
    found = linkage_table(
        data,
        {"noise": masked, "groups": groups},
        [["income", "tax"], ["income", "tax", "rent"]],
        {
            "nearest": tacit.DistanceLinkage(),
            "mahalanobis": tacit.DistanceLinkage(metric="mahalanobis"),
        },
    )
    table = found.table()
    assert table.columns == ["release", "known", "nearest", "mahalanobis"]
    assert len(table) == 4
    assert found.value == max(found.frame["share"].to_list())
    assert found.plot().alt.startswith("Correct links by method")
