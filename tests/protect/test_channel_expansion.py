"""Channel expansion: what is released, what is claimed, what is refused."""

import collections
import itertools
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.errors import Approximate, DisclosureRefused, Infeasible, InputError, InvalidParameter
from tacit.kinds import kind_of
from tacit.records.channels.channel_expansion import CHANNEL, MEMBERS, deal_channels, is_unbroken
from tacit.records.channels.table import ChannelTable

COLUMNS = {
    "name": [f"n{i}" for i in range(20)],
    "bp": ["H"] * 6 + ["L"] * 6 + ["N"] * 8,
    "glucose": [1, 1, 1, 1, 1, 2] + [1] * 14,
    "weight": [1.5] * 20,
    "clinic": ["a", "b"] * 10,
    "ill": ["x", "x", "x", None, None, "x", "x"] + [None] * 12 + ["y"],
}
STUDY = tacit.ChannelExpansion(
    related=["bp", "glucose"], confidential="ill", u={"x": 0.3, "y": 0.2}, b=0.5
)


def people(engine="duckdb", **columns):
    return tacit.read(
        {**COLUMNS, **columns},
        identifiers="name",
        keys=["bp", "glucose"],
        sensitive="ill",
        weight="weight",
        hierarchies={"bp": tacit.hierarchy.flat()},
        engine=engine,
    )


def channels_of(released):
    return dict(zip(*released.to_arrow(["name", CHANNEL]).to_pydict().values(), strict=True))


def test_released_columns_and_roles(engine):
    data = people(engine)
    released = STUDY.apply(data, seed=1)
    assert list(released.columns) == ["name", "bp", "glucose", "weight", "clinic", CHANNEL, MEMBERS]
    assert released.identifiers == ()
    assert released.weight == "weight"
    assert "bp" not in released.hierarchies
    assert not kind_of(released).check(released)
    assert sorted(released.column("name").to_pylist()) == sorted(COLUMNS["name"])
    clinic = dict(zip(COLUMNS["name"], COLUMNS["clinic"], strict=True))
    for row in released.to_arrow().to_pylist():
        assert clinic[row["name"]] == row["clinic"]


def test_engines_deal_alike(engine):
    assert channels_of(STUDY.apply(people(engine), seed=4)) == channels_of(
        STUDY.apply(people(), seed=4)
    )


def test_everybody_is_told_a_set_that_holds_his_own_channel():
    released = STUDY.apply(people(), seed=2)
    own = dict(
        zip(COLUMNS["name"], zip(COLUMNS["bp"], COLUMNS["glucose"], strict=True), strict=True)
    )
    for row in released.to_arrow().to_pylist():
        bp, glucose = own[row["name"]]
        assert f"({bp}, {glucose})" in row[MEMBERS]
        assert bp in row["bp"].split(" or ")
        assert str(glucose) in row["glucose"].split(" or ")


def test_as_many_are_dealt_as_solved():
    released = STUDY.apply(people(), seed=3)
    answer = released.answer
    sizes = collections.Counter(channels_of(released).values())
    assert [sizes[w + 1] for w in range(len(answer.sets))] == answer.subjects.tolist()


def test_dealing_does_not_look_at_the_confidential_value():
    """Over many seeds, each of a channel's people is as often in each output channel."""
    table = ChannelTable.of([4, 8, 8], [[2], [0], [0]], ["x"])
    study = tacit.ChannelExpansion(related=["channel"], confidential="v", u={"x": 0.25})
    judged = study.evaluate(table, [{1: 2, 2: 6}, {1: 2, 3: 6}])
    channels = np.repeat(np.arange(3), table.m)
    dealt = np.array(
        [deal_channels(channels, judged, np.random.default_rng(s)) for s in range(1000)]
    )
    assert ((dealt[:, :4] == 0).sum(axis=1) == 2).all()
    assert np.abs((dealt[:, :4] == 0).mean(axis=0) - 0.5).max() < 0.06
    assert np.abs((dealt[:, 4:12] == 0).mean(axis=0) - 0.75).max() < 0.06


def test_records_are_put_in_random_order_unless_told_otherwise():
    data = people()
    assert STUDY.apply(data, seed=1).column("name").to_pylist() != COLUMNS["name"]
    kept = STUDY.model_copy(update={"shuffle": False}).apply(data, seed=1)
    assert kept.column("name").to_pylist() == COLUMNS["name"]
    assert "links_lost" not in kept.history[-1].details


def test_the_claim_is_recomputed(engine):
    released = STUDY.apply(people(engine), seed=1)
    safe, absent = released.history[-1].claims
    assert (safe.model, absent.model) == ("channel-safety", "absent-columns")
    assert safe.holds(released.frame)
    assert any("released on purpose (name)" in text for text in safe.assumptions)
    stricter = replace(safe, parameters={**safe.parameters, "u": {"x": 0.05, "y": 0.2}})
    assert not stricter.holds(released.frame)
    tighter = replace(safe, parameters={**safe.parameters, "b": 0.1})
    assert not tighter.holds(released.frame)


def test_the_claim_notices_moved_and_missing_people():
    released = STUDY.apply(people(), seed=1)
    claim = released.history[-1].claims[0]
    assert not claim.holds(released.take(np.arange(19)).frame)
    wrong = released.to_arrow([CHANNEL]).column(0).to_numpy() % len(released.answer.sets) + 1
    moved = released.replace({CHANNEL: wrong})
    sizes = collections.Counter(wrong.tolist())
    if [sizes[w + 1] for w in range(len(sizes))] != released.answer.subjects.tolist():
        assert not claim.holds(moved.frame)
    outputs = [dict(o) for o in claim.parameters["outputs"]]
    outputs[0]["subjects"] = outputs[0]["subjects"][::-1]
    forged = replace(claim, parameters={**claim.parameters, "outputs": outputs})
    assert forged.holds(released.frame) == (outputs[0]["subjects"] == outputs[0]["subjects"][::-1])


def test_a_release_can_be_written_and_verified(tmp_path):
    data = people()
    release = tacit.Plan(steps=[STUDY], measures=[tacit.KAnonymity()]).run(data, seed=5)
    folder = release.write(tmp_path / "out")
    assert tacit.verify(folder, data)
    assert "ill" not in (folder / "data.csv").read_text().splitlines()[0].split(",")


def test_a_later_step_that_drops_people_breaks_the_release(tmp_path):
    steps = [STUDY, tacit.Sample(share=0.5)]
    plan = tacit.Plan(steps=steps, measures=[tacit.KAnonymity()])
    with pytest.raises(DisclosureRefused, match="channel-safety"):
        plan.run(people(), seed=5).write(tmp_path / "out")


def test_many_subjects_are_rounded_and_safe():
    rng = np.random.default_rng(1)
    n = 12_000
    site = rng.integers(0, 15, n)
    ill = np.where(rng.random(n) < np.where(site < 2, 0.3, 0.05), "x", "-")
    data = tacit.read({"name": np.arange(n), "site": site, "ill": ill}, identifiers="name")
    study = tacit.ChannelExpansion(related=["site"], confidential="ill", u={"x": 0.12})
    with pytest.warns(Approximate, match="within"):
        released = study.apply(data, seed=1)
    assert released.answer.answer.integer
    assert released.answer.gap < 0.05


def test_other_sensitive_columns_leave_too():
    data = tacit.read(
        {**COLUMNS, "other": COLUMNS["ill"]}, identifiers="name", sensitive=["ill", "other"]
    )
    released = STUDY.apply(data, seed=1)
    assert "other" not in released.columns
    assert released.history[-1].details["columns_withheld"] == ["ill", "other"]


def test_an_identifier_may_be_related():
    data = tacit.read(COLUMNS, identifiers=["name", "bp"])
    released = STUDY.apply(data, seed=1)
    assert any(" or " in text for text in released.column("bp").to_pylist())


def test_nothing_risky_tells_all():
    released = STUDY.model_copy(update={"u": {"x": 1.0}, "b": None}).apply(people(), seed=1)
    assert released.answer.cost == 0
    assert set(released.column("bp").to_pylist()) == {"H", "L", "N"}


def test_missing_related_values_as_a_category():
    holes = [None if i in (0, 7) else v for i, v in enumerate(COLUMNS["bp"])]
    with pytest.raises(InputError, match="related values are missing in 'bp'"):
        STUDY.apply(people(bp=holes), seed=1)
    released = STUDY.model_copy(update={"na": "category"}).apply(people(bp=holes), seed=1)
    assert any("missing" in text for text in released.column("bp").to_pylist())


def test_ordered_columns_are_not_skipped():
    data = people()
    order = {"bp": ("L", "N", "H")}
    free = STUDY.solve(data)
    ordered = STUDY.model_copy(update={"ordered": order}).solve(data)
    assert ordered.cost >= free.cost
    bp = ordered.table.combinations.column("bp").to_pylist()
    for members in ordered.sets:
        values = {bp[r] for r in members}
        assert values != {"L", "H"}
    same = STUDY.solve(data, predicate=lambda w: {bp[r] for r in w} != {"L", "H"})
    assert same.cost == ordered.cost
    with pytest.raises(InputError, match="ordered does not list every value of column 'bp'"):
        STUDY.model_copy(update={"ordered": {"bp": ("L", "N")}}).solve(data)


def test_unbroken():
    for picked in itertools.chain.from_iterable(
        itertools.combinations(range(4), k) for k in (1, 2, 3)
    ):
        gap = any(b - a > 1 for a, b in itertools.pairwise(picked))
        assert is_unbroken(np.array(picked)) == (not gap)
    assert is_unbroken(np.array([-1, 2]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"u": {}}, "u must name at least one risky value"),
        ({"u": {"x": 0.0}}, r"u must lie in \(0, 1\]: entry 1 is 0"),
        ({"u": {"x": 1.5}}, r"u must lie in \(0, 1\]: entry 1 is 1.5"),
        ({"b": 0}, "b must be greater than 0"),
        ({"c": {"x": -1}}, "c must not be negative: entry 1 is -1"),
        ({"c": {"z": 1}}, "c entry 1 names a value that u does not"),
        ({"related": []}, "related"),
        ({"confidential": "bp"}, "cannot be related and confidential at once"),
        ({"ordered": {"clinic": ["a"]}}, "ordered names 'clinic', which is not a related column"),
        ({"candidates": "some"}, "candidates"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        tacit.ChannelExpansion(**{**STUDY.to_dict(), **parameters} | {"kind": "channel_expansion"})


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"u": {"x": 0.2}}, InvalidParameter, "u for value 1 is 0.2, below the share"),
        ({"b": 0.2}, InvalidParameter, "b is 0.2, below the weighted sum"),
        ({"candidates": ((1, 3), (2, 3))}, Infeasible, "no safe|no candidate|not covered|admit"),
        ({"u": {"xx": 0.5}}, InputError, "u entry 1 names a value that does not occur in 'ill'"),
    ],
)
def test_bad_fits_between_parameters_and_data(parameters, error, message):
    study = tacit.ChannelExpansion(**{**STUDY.to_dict(), "u": {"x": 0.3}, "b": None, **parameters})
    with pytest.raises(error, match=message) as caught:
        study.apply(people(), seed=1)
    assert "n1" not in str(caught.value)


def test_candidates_that_leave_a_risky_channel_out():
    study = STUDY.model_copy(update={"candidates": ((2, 3),)})
    with pytest.raises(Infeasible, match="risky input channel 1"):
        study.solve(people())


def test_candidates_that_do_not_exist():
    study = STUDY.model_copy(update={"candidates": ((1, 9),)})
    with pytest.raises(InvalidParameter, match="name input channel 9; they are numbered 1 to 4"):
        study.solve(people())


def test_rounding_keeps_to_ordered_and_listed_sets():
    rng = np.random.default_rng(2)
    n = 12_000
    site = rng.integers(0, 6, n)
    ill = np.where(rng.random(n) < np.where(site == 5, 0.3, 0.05), "x", "-")
    data = tacit.read({"name": np.arange(n), "site": site, "ill": ill}, identifiers="name")
    study = tacit.ChannelExpansion(
        related=["site"], confidential="ill", u={"x": 0.15}, ordered={"site": list(range(6))}
    )
    answer = study.solve(data)
    place = answer.table.combinations.column("site").to_numpy()
    assert answer.answer.integer
    assert all(is_unbroken(place[list(members)]) for members in answer.sets)


def test_no_safe_channel():
    data = tacit.read({"g": ["a", "a", "b", "b"], "v": ["x", "x", "y", "y"]})
    study = tacit.ChannelExpansion(related=["g"], confidential="v", u={"x": 0.6, "y": 0.6})
    with pytest.raises(InputError, match="no input channel is safe"):
        study.solve(data)


def test_names_that_are_taken():
    data = tacit.read({**COLUMNS, CHANNEL: [0] * 20}, identifiers="name")
    with pytest.raises(InputError, match="adds a column 'output_channel'"):
        STUDY.apply(data, seed=1)


def test_random_and_listed_candidates():
    data = people()
    best = STUDY.solve(data)
    for candidates in ("all", "random", ((1, 3, 4), (2, 3), (1, 2, 3, 4))):
        other = STUDY.model_copy(update={"candidates": candidates, "count": 64}).solve(data)
        assert other.safe
        assert other.cost >= best.cost
    assert STUDY.model_copy(update={"candidates": "all"}).solve(data).cost == best.cost


def test_numbers_as_values_of_u():
    columns = {**COLUMNS, "ill": [1, 1, 1, 0, 0, 1, 1] + [0] * 13}
    study = tacit.ChannelExpansion(related=["bp"], confidential="ill", u={1: 0.4})
    assert study.u == {"1": 0.4}
    assert study.apply(tacit.read(columns, identifiers="name"), seed=1).answer.safe


def test_single_people_of_the_cross_table_stay_inside(tmp_path):
    """The counts behind the claim are in the ledger; the public files have none of them."""
    release = tacit.Plan(steps=[STUDY], measures=[tacit.KAnonymity()]).run(people(), seed=5)
    folder = release.write(tmp_path / "out")
    public = json.loads((folder / "statement.json").read_text())
    claim = next(c for c in public["claims"] if c["model"] == "channel-safety")
    assert "inputs" not in claim["parameters"]
    assert claim["withheld"] == ["inputs"]
    for file in folder.iterdir():
        assert b'"counts"' not in file.read_bytes()
    # With the ledger the claim is recomputed, without it that is left out, and said.
    told = {name: remark for name, ok, remark in tacit.verify(folder, people()).checks if ok}
    assert any(name.startswith("claim holds: channel-safety") for name in told)
    shutil.rmtree(tmp_path / "out-confidential")
    told = {name: remark for name, ok, remark in tacit.verify(folder, recipient=True).checks if ok}
    assert any("left out" in r for name, r in told.items() if name.startswith("claim: channel"))


def test_what_is_said_of_shares_is_true_of_the_shares_as_dealt(tmp_path):
    """Limits hold for expected shares; ledger and board are told how many realised ones lie above."""
    release = tacit.Plan(steps=[STUDY], measures=[tacit.KAnonymity()]).run(people(), seed=5)
    folder = release.write(tmp_path / "out")
    original = people().to_pandas().set_index("name")["ill"]
    dealt = release.data.to_pandas()
    ill = dealt["name"].map(original)
    above = shares = 0
    for _, group in ill.groupby(dealt["output_channel"]):
        for value, limit in STUDY.u.items():
            shares += 1
            above += (group == value).mean() > limit + 1e-12
    details = release.ledger.entries[0].details
    assert (details["shares_dealt"], details["shares_above_limit"]) == (shares, above)
    assert above
    report = (folder / "report.html").read_text()
    assert "stays within its limit" not in report
    assert "let one expect" in report
    assert f"{above} of {shares} shares" not in report
    board = next((tmp_path / "out-confidential").glob("*/board.html")).read_text()
    assert f"{above} of {shares} shares" in board


def test_a_release_without_a_rule_on_the_sum_has_a_report(tmp_path):
    release = tacit.Plan(
        steps=[STUDY.model_copy(update={"b": None})], measures=[tacit.KAnonymity()]
    ).run(people())
    assert (release.write(tmp_path / "out") / "report.html").exists()
