"""Recommending: what is proposed, how the search spends its budget, and what it says."""

import itertools

import numpy as np
import pytest
from tacit.rumap import Point

import tacit
from tacit.alternatives.recommendation.halving import (
    combine_best,
    draw_sample,
    outward,
    pick_survivors,
    sample_sizes,
    share_out,
    spread_order,
)
from tacit.alternatives.recommendation.proposals import (
    MAKERS,
    Ground,
    Proposal,
    find_numbers,
    propose,
)
from tacit.errors import (
    Cancelled,
    ColumnNotFound,
    Infeasible,
    InputError,
    InvalidParameter,
    PlanError,
)
from tacit.plan import Plan


def people(n=150, seed=3, **roles):
    rng = np.random.default_rng(seed)
    return tacit.read(
        {
            "id": [f"p{i}" for i in range(n)],
            "home": (np.arange(n) // 3).tolist(),
            "sex": rng.choice(["f", "m"], n).tolist(),
            "zip": rng.choice(["02138", "02139", "02141", "02142"], n).tolist(),
            "age": rng.integers(20, 60, n).tolist(),
            "income": rng.normal(100, 20, n).round(2).tolist(),
        },
        **{
            "identifiers": ["id"],
            "keys": ["sex", "zip", "age"],
            "household": "home",
            "hierarchies": {
                "zip": tacit.hierarchy.digits(5),
                "sex": tacit.hierarchy.flat(),
                "age": tacit.hierarchy.intervals([5, 10, 20]),
            },
            **roles,
        },
    )  # fmt: skip


def advise(data, **options):
    given = {
        "risk": tacit.KAnonymity(k=3),
        "cap": 0.05,
        "utility": tacit.Precision(),
        "seed": 1,
        "workers": 1,
        "budget": 40,
        **options,
    }
    return tacit.recommend(data, **given)


@pytest.fixture(scope="module")
def advice():
    """The recommendation for the small file, made once."""
    return advise(people())


def points(*pairs):
    return [Point("m", str(i), {}, r, u) for i, (r, u) in enumerate(pairs)]


# -- the whole --------------------------------------------------------------------------------------


def test_the_best_keeps_the_cap_and_no_candidate_on_the_file_is_better(advice):
    data, found = people(), advice
    rows = [r for r in found.frame.rows(named=True) if r["risk"] is not None and r["risk"] <= 0.05]
    assert found.best.utility == max(r["utility"] for r in rows)
    assert found.best.risk <= 0.05 < found.map.reference.risk
    assert [c.utility for c in found.choices] == sorted((c.utility for c in found.choices), reverse=True)  # fmt: skip
    assert [c.risk for c in found.choices] == sorted((c.risk for c in found.choices), reverse=True)
    assert found.map.chosen == found.best.point
    # The numbers are those of running the plan: nothing in the best depends on chance here.
    released = Plan(found.best.plan.steps).run(data).data
    assert tacit.KAnonymity(k=3).measure(released).value == found.best.risk


def test_plans_save_load_run_and_refuse_a_release_over_the_cap(tmp_path, advice):
    data, found = people(), advice
    for plan in found.plans:
        assert plan.seed is None
        plan.save(tmp_path / "plan.yaml")
        again = Plan.load(tmp_path / "plan.yaml")
        assert again == plan
    assert "seed" not in (tmp_path / "plan.yaml").read_text()
    release = found.release()
    assert not release.unmet
    assert "id" not in release.data.columns
    strict = found.plans[0].with_(steps=found.plans[0].steps[:1])  # identifiers dropped, no more
    assert strict.run(data).unmet


def test_equal_seeds_equal_recommendations_within_the_budget(advice):
    one, two = advice, advise(people())
    assert one.frame.to_arrow().equals(two.frame.to_arrow())
    assert one.reasons == two.reasons
    assert one.plans == two.plans
    assert one.numbers["evaluations"] <= 40


def test_distortions_and_comparing_measures():
    found = advise(
        people(keys=["sex", "zip"]),
        risk=tacit.DistanceLinkage(columns=["age", "income"]),
        cap=0.3,
        utility=tacit.InformationLoss(columns=["age", "income"]),
        methods=["mdav", "rank_swap", "pram"],
        numbers=["age", "income"],
        budget=30,
    )
    assert not found.map.higher_utility_is_better
    assert found.best.risk <= 0.3
    under = [p for p in found.map.points if p.has_result and p.risk <= 0.3]
    assert found.best.utility == min(p.utility for p in under)
    assert "distortion" in " ".join(found.reasons)


def test_what_depends_on_chance_says_so_and_counts_replicates():
    found = advise(
        people(),
        risk=lambda original, released: float(np.mean(np.isclose(
            np.asarray(original.column("income"), float), np.asarray(released.column("income"), float), rtol=0.01))),
        utility=tacit.InformationLoss(columns=["income"]),
        methods=["add_noise", "rank_swap"],
        cap=0.3,
        budget=48,
        replicates=3,
    )  # fmt: skip
    assert found.best.point.replicates == 3
    assert found.best.point.risk_interval is not None
    assert any("the mean of 3 draws" in reason for reason in found.reasons)
    assert not found.plans[0].require  # a function cannot stand in a plan
    assert found.numbers["evaluations"] <= 48


def test_reasons_say_why_what_it_costs_and_what_was_second(advice):
    found = advice
    text = " ".join(found.reasons)
    assert found.reasons[0].startswith(f"Recommended: {found.best.name}. Its risk")
    assert "What it costs" in text
    assert f"The runner-up, the best by other means, is {found.runner_up.name}" in text
    kinds = [set(c.point.method.split(" + ")) for c in (found.best, found.runner_up)]
    assert not kinds[0] <= kinds[1]
    assert "all on all 150 records" in text
    assert "heuristic" in text
    assert found.best.name in repr(found)
    assert found.best.name in found._repr_html_()
    assert found.best.name in found.report()
    assert found.to_dict()["reasons"] == list(found.reasons)


def test_samples_only_decide_what_is_tried():
    data = people(4100)
    found = advise(
        data,
        risk=tacit.KAnonymity(k=15),
        budget=30,
        cap=0.02,
        methods=["anonymise", "local_suppression"],
    )
    assert sample_sizes(4100) == (1025,)
    rows = found.frame.rows(named=True)
    assert {r["records"] for r in rows if r["status"] != "dropped on a sample"} == {4100}
    assert all(r["records"] < 4100 and r["reason"] for r in rows if r["status"] == "dropped on a sample")  # fmt: skip
    assert any("the risk of a sample is not the risk of the file" in r for r in found.reasons)
    released = Plan(found.best.plan.steps).run(data).data
    assert tacit.KAnonymity(k=15).measure(released).value <= 0.02


def test_nothing_keeps_the_cap():
    found = advise(people(), methods=["add_noise"], cap=0, budget=30)
    assert found.plans == []
    assert found.best is None
    assert found.runner_up is None
    assert found.reasons[0].startswith("No candidate keeps the cap of 0. The safest, add noise")
    assert found.title == "No candidate keeps the cap"
    assert "No candidate" in found.report()


def test_data_that_are_safe_already():
    found = advise(people(keys=["sex"], hierarchies={}), budget=24, methods=["pram"])
    assert found.safe_already
    assert found.plans == []
    assert found.reasons[0].startswith("The data as they are have risk 0 and keep the cap")
    assert found.title == "The data keep the cap as they are"
    # What is recommended for safe data never raises the risk, and is what the map marks.
    found = advise(people(), cap=1, methods=["add_noise", "datafly"], budget=24)
    assert found.safe_already
    assert found.reasons[1].startswith(f"To lower the risk: {found.best.name}.")
    assert found.best.risk < found.map.reference.risk
    assert found.map.chosen == found.best.point
    assert found.frame.rows(named=True)[0]["status"] == "chosen"


def test_a_utility_that_sees_nothing_is_pointed_at():
    found = advise(
        people(),
        risk=tacit.DistanceLinkage(columns=["income"]),
        utility=tacit.Precision(),
        methods=["rank_swap"],
        numbers=["income"],
        cap=0.5,
        budget=24,
    )
    assert any("does not notice what the method changes" in r for r in found.reasons)


def test_progress_and_cancellation():
    told = []
    advise(people(60), budget=24, on_event=told.append, methods=["local_suppression", "datafly"])
    shares = [event.share for event in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert [event.step for event in told] == sorted(event.step for event in told)
    calls = itertools.count()
    with pytest.raises(Cancelled):
        advise(people(60), should_stop=lambda: next(calls) > 20)


def test_a_plan_gives_source_roles_and_first_steps(tmp_path):
    people(60).to_pandas().to_csv(tmp_path / "people.csv", index=False)
    Plan(
        ["deidentify", {"kind": "generalise", "level": {"age": 1}}],
        source="people.csv",
        roles={"identifiers": ["id"], "keys": ["sex", "age"]},
        hierarchies={"age": {"kind": "intervals", "width": [2, 10]}, "sex": {"kind": "flat"}},
        title="Survey",
    ).save(tmp_path / "start.yaml")
    found = advise(Plan.load(tmp_path / "start.yaml"), budget=24, methods=["local_suppression"])
    assert all(p.steps[1].kind == "generalise" for p in found.plans)
    folder = found.write(tmp_path / "out" / "deep")
    names = {p.name for p in folder.iterdir()}
    assert {"recommendation.html", "map.svg", "map.png", "candidates.csv", "plan-1.yaml"} <= names
    loaded = Plan.load(folder / "plan-1.yaml")
    assert loaded.title == f"Survey: {found.best.name}"
    assert not loaded.run().unmet


# -- faults -----------------------------------------------------------------------------------------


def test_faults_are_one_sentence():
    data = people(40)
    with pytest.raises(InvalidParameter, match="cap must be a number from 0"):
        advise(data, cap=-1)
    with pytest.raises(InvalidParameter, match="budget must be a whole number from 24"):
        advise(data, budget=3)
    with pytest.raises(InvalidParameter, match="does not try 'add_nois'"):
        advise(data, methods=["add_nois"])
    with pytest.raises(ColumnNotFound):
        advise(data, numbers=["incom"])
    with pytest.raises(InputError, match="works on records"):
        advise({"a": [1]})
    with pytest.raises(InvalidParameter, match="grows with safety"):
        advise(data, risk=tacit.CellSpread(column="income"))
    with pytest.raises(PlanError, match="the data declare none"):
        advise(people(40, keys=[], hierarchies={}))
    with pytest.raises(InputError, match="no method fits the data"):
        advise(people(40, keys=[], hierarchies={}), numbers=[], risk=lambda _o, _r: 1.0)


# -- parts ------------------------------------------------------------------------------------------


def test_proposals_fit_the_columns_and_say_why_others_do_not():
    data = people(60)
    ground = Ground(data.drop(["id"]), 60, (tacit.KAnonymity(k=7),), 0.1, find_numbers(data))
    assert ground.numbers == ("age", "income")
    assert ground.class_sizes == (3, 5, 7, 10, 20)
    found, left_out = propose(ground)
    assert not left_out
    assert {p.method for p in found} == set(MAKERS)
    assert len({p.name for p in found}) == len(found)
    bare = people(60, hierarchies={})
    _, left_out = propose(Ground(bare, 60, (), 0.1, ()))
    assert left_out["anonymise"] == "sex, zip, age have no hierarchy"
    assert left_out["mdav"] == "no column holds more than 20 different numbers"


@pytest.mark.parametrize("samples", [0, 1, 2])
@pytest.mark.parametrize("budget", [24, 50, 100, 1000])
@pytest.mark.parametrize("replicates", [1, 3])
def test_quotas_stay_within_the_budget(samples, budget, replicates):
    q = share_out(budget, samples, replicates)
    on_samples = q.singles + q.pairs + q.middle
    spent = on_samples + q.full * replicates if samples else on_samples * replicates
    assert spent + q.climb + 5 + samples <= budget
    assert q.singles >= 1
    assert not samples or q.full >= 1


def test_samples_take_whole_households():
    data = people(300)
    drawn = draw_sample(data, 100, seed=5, number=0)
    homes = np.asarray(drawn.column("home"))
    assert len(homes) == 102  # households of three
    assert (np.unique(homes, return_counts=True)[1] == 3).all()
    again = draw_sample(data, 100, seed=5, number=0)
    assert drawn.to_arrow().equals(again.to_arrow())
    assert not drawn.to_arrow().equals(draw_sample(data, 100, seed=6, number=0).to_arrow())


def test_survivors_are_the_layers_of_the_frontier_nearest_the_cap_first():
    # Risk and utility: 0, 1 and 2 are on the frontier; 3 is beaten by 1; 4 gave no result.
    given = points((0.0, 0.2), (0.1, 0.5), (0.4, 0.9), (0.2, 0.4), (np.nan, np.nan))
    assert pick_survivors(given, 5, 0.1, higher=True) == [1, 2, 0, 3]
    assert pick_survivors(given, 2, 0.1, higher=True) == [1, 2]
    assert pick_survivors(points((0.1, 0.5), (0.1, 0.2)), 1, 0.5, higher=False) == [1]
    assert outward(np.array([0.1, 0.2, 0.3, 0.4]), 0.25) == [1, 2, 0, 3]


def test_spread_order_is_a_permutation_that_starts_with_middle_and_ends():
    for n in range(1, 12):
        assert sorted(spread_order(n)) == list(range(n))
    assert spread_order(5)[:3] == [2, 0, 4]


def test_combinations_need_two_steps_that_help_and_are_not_enough_alone():
    def proposal(method, family, columns):
        return Proposal(method, "", (tacit.Deidentify(columns=["id"]),), family, frozenset(columns))

    given = [
        proposal("a", "coarsen", "x"),
        proposal("b", "suppress", "x"),
        proposal("c", "numbers", "y"),
        proposal("d", "numbers", "x"),
        proposal("e", "perturb", "x"),
    ]
    at = points((0.5, 0.9), (0.0, 0.5), (0.4, 0.8), (0.4, 0.8), (1.0, 0.9))
    reference = Point("no masking", "", {}, 1.0, 1.0)
    made = [p.name for p in combine_best(given, at, reference, 9, 0.1, higher=True)]
    # Suppression alone is enough, so that only coarsening goes before it; e does not help; d acts on x as a does.
    assert made == ["a + b", "c + a"]


def test_what_the_best_warns_of_is_told():
    data = tacit.read(
        {"home": [0, 1, 1, 2, 2, 2, *range(3, 90)], "size": [1, 2, 2, 3, 3, 3, *[1] * 87]},
        keys=["size"],
        household="home",
    )  # fmt: skip
    found = advise(data, methods=["local_suppression"], cap=0, budget=24)
    assert any(r.startswith("To be noted: local_suppression: column 'size' counts") for r in found.reasons)  # fmt: skip


def test_a_measure_that_fails_on_the_data_says_why():
    data = tacit.read({"a": ["x", None, "y", "y"] * 10, "b": list(range(40))}, keys=["a"])
    with pytest.raises(Infeasible, match="missing values in 'a'"):
        advise(data, risk=tacit.GlobalRisk(), utility=tacit.EntropyDistortion(), budget=24)


def test_groups_without_random_ties_do_not_depend_on_chance():
    found = advise(people(60), methods=["microaggregate_mixed"], budget=24)
    assert not any("depends on chance" in reason for reason in found.reasons)
    assert tacit.MicroaggregateMixed(ties="random").uses_chance
