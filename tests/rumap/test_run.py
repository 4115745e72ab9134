"""Running a map: seeds, replicates, workers, resuming, failing candidates, releases."""

import json
import math
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats
from tacit.rumap import Point, RUMap, chain, grid
from tacit.rumap.candidates import expand
from tacit.rumap.ru_map import t_interval

import tacit
from tacit.errors import Cancelled, InputError, InvalidParameter, PlanError
from tacit.plan.run import Run, protect


def people(n=120, engine="duckdb"):
    rng = np.random.default_rng(3)
    return tacit.read(
        {
            "id": [f"p{i}" for i in range(n)],
            "sex": rng.choice(["f", "m"], n).tolist(),
            "zip": rng.choice(["02138", "02139", "02141", "02142"], n).tolist(),
            "age": rng.integers(20, 60, n).tolist(),
            "income": rng.normal(100, 20, n).round(2).tolist(),
        },
        identifiers=["id"],
        keys=["sex", "zip", "age"],
        hierarchies={"zip": tacit.hierarchy.digits(5), "sex": tacit.hierarchy.flat(),
                     "age": tacit.hierarchy.flat()},
        engine=engine,
    )  # fmt: skip


def mean_error(original, released):
    """Relative error of the mean income."""
    old, new = (np.asarray(d.column("income"), dtype=float) for d in (original, released))
    return abs(new.mean() - old.mean()) / old.mean()


mean_error.better = "lower"


def closeness(original, released):
    """Share of incomes that are still within 1 per cent: an index-knowledge intruder."""
    old, new = (np.asarray(d.column("income"), dtype=float) for d in (original, released))
    return float(np.mean(np.abs(new - old) <= 0.01 * old))


NOISE = {"noise": grid("add_noise", columns=["income"], relative=[0.05, 0.1, 0.4])}


def noise_map(**options):
    return RUMap(NOISE, closeness, mean_error, **{"replicates": 4, "workers": 1, **options})


def studied(candidate, data, seed):
    return protect(candidate.plan, data, Run.for_study(candidate.plan, seed, lambda: False))[1]


def kept_in(folder):
    return len(list(folder.glob("*.json")))


def stopped_in(stage):
    """Return what stops a job once it has come to a stage."""
    stages = set()
    return {"on_event": lambda e: stages.add(e.stage), "should_stop": lambda: stage in stages}


def coordinates(result):
    return [(p.name, p.risk, p.utility, p.risk_interval, p.utility_interval) for p in result.points]


def test_points_are_means_over_replicates_with_t_intervals():
    data = people()
    ru = noise_map()
    result = ru.run(data, seed=7)
    for candidate, point in zip(ru.expanded, result.points, strict=True):
        seeds = [ru.seed_of(candidate, r, 7) for r in range(4)]
        assert len(set(seeds)) == 4
        risks = [closeness(data, studied(candidate, data, s)) for s in seeds]
        assert point.risk == pytest.approx(np.mean(risks))
        low, high = stats.t.interval(0.95, 3, np.mean(risks), stats.sem(risks))
        assert point.risk_interval == pytest.approx((low, high))
        assert point.replicates == 4
    assert not result.higher_utility_is_better
    assert result.reference.risk == 1
    assert result.reference.utility == 0
    assert result.reference.replicates == 1  # nothing random in leaving data alone


def test_risk_falls_as_noise_grows_and_no_masking_is_riskiest():
    result = noise_map().run(people(), seed=1)
    risks = [result.reference.risk, *(p.risk for p in result.points)]
    assert risks == sorted(risks, reverse=True)
    assert all(result.reference.utility <= p.utility for p in result.points)


def test_equal_seeds_equal_maps_whatever_the_number_of_workers():
    data = people()
    ru = {
        "candidates": {
            "Datafly": grid("datafly", k=[2, 4]),
            "swap": grid("swap", columns=["zip"], share=[0.1, 0.5]),
        },
        "risk": tacit.KAnonymity(k=3),
        "utility": tacit.Precision(),
        "replicates": 2,
    }
    one = RUMap(**ru, workers=1).run(data, seed=5)
    two = RUMap(**ru, workers=2).run(data, seed=5)
    assert coordinates(one) == coordinates(two)
    assert coordinates(one) != coordinates(RUMap(**ru, workers=1).run(data, seed=6))


def test_what_other_processes_cannot_import_is_done_here():
    local = RUMap(NOISE, lambda _o, _r: 0.5, mean_error, workers=2)
    assert [p.risk for p in local.run(people(), seed=1).points] == [0.5] * 3


@pytest.mark.slow
def test_what_other_processes_cannot_find_again_is_done_here():
    # This module can be pickled by name, but not found again by a process that was newly started.
    ru, data = noise_map(workers=2, replicates=1), people(40)
    assert coordinates(ru.run(data, seed=1)) == coordinates(
        noise_map(replicates=1).run(data, seed=1)
    )


def test_common_random_numbers_share_the_seed_of_a_replicate():
    together, apart = noise_map(), noise_map(common_random_numbers=False)
    seeds = [{ru.seed_of(c, 0, 7) for c in ru.expanded} for ru in (together, apart)]
    assert [len(s) for s in seeds] == [1, 3]
    # The order of the candidates does not matter.
    turned = RUMap(
        {"noise": NOISE["noise"][::-1]}, closeness, mean_error, common_random_numbers=False
    )
    assert {turned.seed_of(c, 0, 7) for c in turned.expanded} == seeds[1]


def test_a_run_that_was_stopped_goes_on_and_computes_nothing_twice(tmp_path):
    data, calls = people(), []

    def counted(original, released):
        calls.append(1)
        return closeness(original, released)

    ru = RUMap(NOISE, counted, mean_error, replicates=4, workers=1)
    whole = ru.run(data, seed=7)
    assert len(calls) == 13
    calls.clear()
    with pytest.raises(Cancelled, match="6 of 13 evaluations are kept"):
        ru.run(
            data, seed=7, resume=tmp_path / "r", should_stop=lambda: kept_in(tmp_path / "r") >= 6
        )
    assert len(calls) == 6
    told = []
    again = ru.run(data, seed=7, resume=tmp_path / "r", on_event=told.append)
    assert len(calls) == 13
    assert (told[-1].text, told[-1].share) == ("Measured noise relative 0.4", 1.0)
    assert coordinates(again) == coordinates(whole)
    assert coordinates(ru.run(data, seed=7, resume=tmp_path / "r")) == coordinates(whole)
    assert len(calls) == 13
    # A torn file is computed again; another seed or other data are another map.
    next((tmp_path / "r").glob("*.json")).write_text('{"risk": [')
    assert coordinates(ru.run(data, seed=7, resume=tmp_path / "r")) == coordinates(whole)
    assert len(calls) == 14
    ru.run(people(n=100), seed=7, resume=tmp_path / "r")
    assert len(calls) == 27
    kept = json.loads(next((tmp_path / "r").glob("*.json")).read_text())
    assert set(kept) == {"risk", "utility", "seconds", "reason", "warnings"}


def test_cancelling_several_processes(tmp_path):
    told = set()
    ru = RUMap(
        {"swap": grid("swap", columns=["zip"], share=[0.1, 0.5])},
        tacit.KAnonymity(k=3),
        tacit.Precision(),
        replicates=20,
        workers=2,
    )
    with pytest.raises(Cancelled, match="of 41 evaluations are kept"):
        ru.run(
            people(),
            seed=1,
            resume=tmp_path,
            on_event=lambda e: told.update({e.step} if e.text.startswith("Measured") else ()),
            should_stop=lambda: bool(told),
        )
    assert kept_in(tmp_path) == len(told) < 41
    with pytest.raises(Cancelled, match="0 of 13 evaluations are kept"):
        noise_map(workers=2).run(people(), seed=1, resume=tmp_path, **stopped_in("map"))
    with pytest.raises(Cancelled, match="give a resume folder"):
        noise_map().run(people(), seed=1, **stopped_in("map"))
    with pytest.raises(Cancelled, match="nothing was written"):
        noise_map().run(people(), seed=1, should_stop=lambda: True)


def test_a_candidate_without_a_result_keeps_its_row_with_the_reason():
    result = RUMap(
        {"Datafly": grid("datafly", k=[2, 500]), "sample": tacit.Sample(share=0.5)},
        tacit.KAnonymity(k=2),
        tacit.Precision(),
        max_risk=1,
    ).run(people(), seed=1)
    failed = result.points[1]
    assert "step 1 (datafly)" in failed.reason
    assert math.isnan(failed.risk)
    assert failed not in result.frontier
    row = result.rows()[2]
    assert (row["status"], row["risk"], row["reason"]) == ("no result", None, failed.reason)
    assert failed.reason in result.to_csv()
    assert "500" in repr(result)
    assert result.frame["reason"].to_list()[2] == failed.reason


def test_a_utility_that_follows_records_has_no_value_after_scrambling():
    result = RUMap({"scramble": tacit.Scramble()}, tacit.KAnonymity(), tacit.Precision()).run(
        people(), seed=1
    )
    point = result.points[0]
    assert point.reason == "" or "cut the link" in point.reason


def test_combinations_plans_and_single_methods_are_candidates():
    data = people()
    noise, swap = tacit.AddNoise(columns=["income"], sd=2), tacit.Swap(columns=["zip"], share=0.2)
    found = expand(
        {
            "one": noise,
            "both": [[noise, swap], (swap,)],
            "plans": [tacit.Plan([noise], title="light"), tacit.Plan([swap], title="swapped")],
            "crossed": chain(
                grid("generalise", columns=["zip"], level=[1, 2]),
                grid("generalise", columns=["sex"], level=[0, 1]),
            ),
            "levels": grid("generalise", level=[{"zip": 1}, {"zip": 1, "sex": 1}]),
        }
    )
    assert [c.name for c in found] == [
        "one",
        "both add noise + swap",
        "both swap",
        "plans light",
        "plans swapped",
        "crossed zip level 1, sex level 0",
        "crossed zip level 1, sex level 1",
        "crossed zip level 2, sex level 0",
        "crossed zip level 2, sex level 1",
        "levels zip 1",
        "levels zip 1, sex 1",
    ]
    assert len({c.name for c in found}) == len(found)
    result = RUMap({"x": [noise, [noise, swap]]}, tacit.KAnonymity(), tacit.Precision()).run(
        data, seed=1
    )
    assert len(result.points) == 2


def test_grids_sweep_lists_where_the_parameter_takes_one_value():
    swept = grid(tacit.AddNoise, columns=["income"], sd=[1, 2], distribution=["normal", "laplace"])
    assert [(m.sd, m.distribution) for m in swept] == [
        (1, "normal"), (1, "laplace"), (2, "normal"), (2, "laplace"),
    ]  # fmt: skip
    columns = grid("add_noise", columns=[["income"], ["age", "income"]], sd=1)
    assert [m.columns for m in columns] == [("income",), ("age", "income")]
    with pytest.raises(InvalidParameter, match="no parameter 'sdd'"):
        grid("add_noise", columns=["income"], sdd=[1, 2])
    with pytest.raises(InvalidParameter, match="not a method"):
        grid("k_anonymity", k=[2])


def test_several_measures_make_one_axis_and_keep_their_names():
    result = RUMap(
        {"Datafly": grid("datafly", k=[2, 4])},
        [tacit.KAnonymity(k=2), tacit.KAnonymity(k=50)],
        [tacit.Precision(), closeness],
    ).run(people(), seed=1)
    point = result.points[0]
    assert result.risk_label == "largest of k-anonymity, k-anonymity (k = 50)"
    assert point.risk == max(point.detail["k-anonymity"], point.detail["k-anonymity (k = 50)"])
    assert point.utility == pytest.approx((point.detail["precision"] + 1) / 2)
    assert "k-anonymity (k = 50)" in result.rows()[0]


def test_the_chosen_candidate_becomes_a_release_with_luck_of_its_own(tmp_path):
    data = people()
    ru = RUMap(
        {"noise": grid("add_noise", columns=["income"], relative=[0.1, 0.4]),
         "Datafly": grid("datafly", k=[2, 3])},
        closeness,
        tacit.Precision(),
        before=[tacit.Deidentify()],
        max_risk=0.3,
        risk_label="incomes known to 1%",
    )  # fmt: skip
    result = ru.run(data, seed=7)
    chosen = result.choose()
    assert chosen.method == "noise"
    release = result.release()
    assert not release.studied
    candidate = next(c for c in ru.expanded if c.name == chosen.name)
    measured = studied(candidate, data, ru.seed_of(candidate, 0, 7))
    assert closeness(data, measured) == chosen.risk
    assert release.data.to_arrow() != measured.to_arrow()
    assert result.plan().seed is None
    assert [s.kind for s in release.plan.steps] == ["deidentify", "add_noise"]
    assert release.utility.after
    assert release.write(tmp_path / "out").exists()
    other = result.release(result.curve("Datafly")[1], seed=3)
    assert [s.kind for s in other.plan.steps] == ["deidentify", "datafly"]
    assert other.claims
    with pytest.raises(InputError, match="no point 'x y'"):
        result.release(Point("x", "y", {}, 0, 0))


def test_faults_are_told_together_before_any_work():
    ru = RUMap(
        {"noise": grid("add_noise", columns=["wage"], sd=[1, 2]), "g": tacit.Generalise(columns=["income"], level=1)},
        tacit.KAnonymity(),
        tacit.Precision(),
    )  # fmt: skip
    with pytest.raises(PlanError) as caught:
        ru.run(people(), seed=1)
    text = str(caught.value)
    assert "wage" in text
    assert text.count("wage") == 1
    with pytest.raises(InvalidParameter, match="replicates"):
        noise_map(replicates=0)
    with pytest.raises(InputError, match="candidates by name"):
        RUMap({}, closeness, mean_error)
    with pytest.raises(InputError, match="holds int"):
        RUMap({"a": [3]}, closeness, mean_error)
    with pytest.raises(InvalidParameter, match="measure of risk"):
        RUMap(NOISE, [], mean_error)


def test_directions_are_declared_by_the_measures():
    class Safety(tacit.Measure):
        """Safety."""

        kind: str = "safety"
        better: ClassVar = "higher"

    with pytest.raises(InvalidParameter, match="grows with safety"):
        RUMap(NOISE, Safety(), mean_error)
    with pytest.raises(InvalidParameter, match="better when lower"):
        RUMap(NOISE, closeness, [mean_error, closeness])


def test_a_register_reaches_the_measures_that_need_one():
    data = people()
    register = tacit.read(data.to_arrow(["sex", "zip", "age"]), keys=["sex", "zip", "age"])
    result = RUMap(
        {"Generalise": grid("generalise", columns=["age"], level=[0, 1])},
        tacit.KMap(k=2),
        tacit.Precision(),
        register=register,
    ).run(data, seed=1)
    assert result.points[0].risk > result.points[1].risk


def test_the_t_interval_at_its_edges():
    assert t_interval([1.0], 0.95) is None
    assert t_interval([1.0, math.inf], 0.95) is None
    assert t_interval([1 / 3] * 3, 0.95) == (1 / 3, 1 / 3)


def test_engines_agree(engine):
    result = RUMap(
        {"Datafly": grid("datafly", k=[2, 4])}, tacit.KAnonymity(k=3), tacit.Precision(), workers=2
    ).run(people(engine=engine), seed=1)
    assert coordinates(result) == coordinates(
        RUMap({"Datafly": grid("datafly", k=[2, 4])}, tacit.KAnonymity(k=3), tacit.Precision()).run(
            people(), seed=1
        )
    )


def test_a_candidate_that_breaks_an_earlier_claim_has_no_place_on_the_map():
    groups, noise = tacit.Mdav(columns=["income"], k=3), tacit.AddNoise(columns=["income"], sd=5)
    ru = RUMap({"both": [[groups, noise], [noise, groups]]}, closeness, mean_error, workers=1)
    broken, kept = ru.run(people(30), seed=1).points
    assert "does not hold on the output" in broken.reason
    assert kept.has_result
