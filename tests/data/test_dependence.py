"""Hidden dependence is found, and independent columns give no alarm: judged by a brute force of its own."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.data.checks.dependence import find_relations
from tacit.errors import DisclosureRefused, SdcWarning

N = 300


def plain(rng, n=N):
    """Columns that have nothing to do with each other, of all sorts."""
    return {
        "few": rng.choice(list("abc"), n),
        "many": rng.integers(0, 60, n),
        "real": rng.normal(size=n),
        "whole": rng.integers(0, 5000, n),
        "rare": rng.choice(["no", "yes"], n, p=[0.97, 0.03]),
        "unique": rng.permutation(n),
        "text": [f"t{v}" for v in rng.permutation(n)],
    }


def planted(rng, y):
    """Columns from which y follows, each in another way."""
    numbers = np.unique(y, return_inverse=True)[1].astype(float)
    names = rng.permutation(10 * N)
    return {
        "scaled": 3.0 * y - 7.0,
        "curve": np.exp(-y / (np.abs(y).max() + 1)),
        "names": [f"n{names[int(i)]:04}" for i in numbers],
        "finer": numbers + rng.uniform(0, 0.9, len(y)),
        "bent": (y - np.median(y) + 0.25) ** 2,
    }


def release(columns, *steps):
    data = tacit.read(pa.table(columns))
    protected = data
    for i, step in enumerate(steps):
        protected = step.apply(protected, seed=i)
    return data, protected


MASKS = {
    "noise": lambda c: tacit.AddNoise(columns=[c], sd=700.0),
    "round": lambda c: tacit.RoundValues(columns=[c], base=1000),
    "top": lambda c: tacit.TopBottomCode(column=c, top=2000.0),
    "gone": lambda c: tacit.RemoveColumns(columns=[c]),
    "groups": lambda c: tacit.Mdav(columns=[c], k=5),
    "swap": lambda c: tacit.RankSwap(columns=[c], percent=20),
}


def recoverable(hidden, shown):
    """Return whether every shown value belongs to one hidden value: by a dictionary, record by record."""
    of = {}
    return all(of.setdefault(s, h) == h for s, h in zip(shown, hidden, strict=True))


def trial(seed, how, mask):
    rng = np.random.default_rng(seed)
    columns = plain(rng)
    y = columns["whole"] = rng.integers(0, 5000 if how in ("bent", "curve") else 400, N) * (
        1 if how in ("bent", "curve") else 12
    )
    extra = None if how is None else planted(rng, y.astype(float))[how]
    if extra is not None:
        columns["planted"] = extra
    names = rng.permutation(list(columns))
    steps = [MASKS[mask]("whole"), tacit.AddNoise(columns=["real"], sd=1.0)]
    before, after = release({n: columns[n] for n in names}, *(steps if seed % 2 else steps[::-1]))
    told = {(r.columns, r.hidden) for r in find_relations(before, after)}
    if extra is None:
        assert not told, (seed, mask, told)
    else:
        assert how == "bent" or recoverable(list(y), list(extra))
        assert told == {(("planted",), "whole")}, (seed, how, mask, told)


KINDS = [None, "scaled", "curve", "names", "finer", "bent"]


@pytest.mark.parametrize(("how", "mask"), [(k, m) for i, (k, m) in enumerate(itertools.product(KINDS, MASKS)) if i % 2])  # fmt: skip
def test_planted_dependence_is_found_and_none_is_invented(how, mask):
    trial(7, how, mask)


@pytest.mark.slow
@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("mask", MASKS)
def test_many_planted_dependences(how, mask):
    for seed in range(40):
        trial(seed, how, mask)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 12, 30, 100, 3000])
def test_independent_columns_of_any_size_give_no_alarm(n):
    for seed in range(60):
        rng = np.random.default_rng([n, seed])
        mask = list(MASKS)[seed % 4]
        before, after = release(
            plain(rng, n), MASKS[mask]("whole"), tacit.AddNoise(columns=["real"], sd=5.0)
        )
        assert not find_relations(before, after), (n, seed, mask)


def test_a_total_and_its_parts():
    rng = np.random.default_rng(1)
    wage, rent = rng.lognormal(8, 1, N).round(2), rng.lognormal(6, 1, N).round(2)
    columns = {"wage": wage, "rent": rent, "income": wage + rent, "age": rng.integers(0, 90, N)}
    before, after = release(columns, tacit.AddNoise(columns=["income"], sd=900.0))
    (found,) = find_relations(before, after)
    assert set(found.columns) == {"wage", "rent"}
    assert found.hidden == "income"


def zones(n=400):
    rng = np.random.default_rng(2)
    places = rng.integers(0, 40, n)
    return tacit.read(
        pa.table(
            {
                "zip": [f"z{(p * 17) % 40:02}" for p in places],
                "region": [f"r{p // 8}" for p in places],
                "income": rng.normal(1000, 100, n).round(1),
            }
        ),
        keys=["region"],
    )


def test_a_claim_that_another_column_undoes_is_refused_without_values(tmp_path):
    removed = tacit.Plan([tacit.RemoveColumns(columns=["region"])]).run(zones())
    with pytest.raises(DisclosureRefused, match="'zip' in the release") as refused:
        removed.write(tmp_path / "out")
    assert "absent-columns" in str(refused.value)
    assert not any(f"r{i}" in str(refused.value) for i in range(5))
    both = tacit.Plan([tacit.RemoveColumns(columns=["region", "zip"])]).run(zones())
    assert both.write(tmp_path / "both").exists()


def test_what_a_plan_accepts_by_name_is_noted_by_the_data_holder(tmp_path):
    plan = tacit.Plan(
        [tacit.RemoveColumns(columns=["region"])], output={"folder": "x", "tells": ["region"]}
    )
    with pytest.warns(SdcWarning, match="'zip' in the release"):
        release = plan.run(zones())
    out = release.write(tmp_path / "out")
    (board,) = (tmp_path / "out-confidential").glob("*/board.html")
    assert "in the release has one hidden value" in board.read_text()
    # That it holds follows from hidden values.
    assert not [f.name for f in out.iterdir() if "hidden value" in f.read_text()]


def test_a_step_that_draws_the_order_does_not_hide_the_dependence(tmp_path):
    steps = [tacit.RemoveColumns(columns=["region"]), tacit.Scramble()]
    with pytest.raises(DisclosureRefused, match="'zip' in the release"):
        tacit.Plan(steps).run(zones()).write(tmp_path / "out")


def test_bins_as_fine_as_records_are_found():
    data = tacit.read(pa.table({"y": np.random.default_rng(4).lognormal(8, 1, N)}))
    blank = tacit.Blank(response="y", sd=5000.0, upper=0.9, probability_bins=N)
    with pytest.warns(SdcWarning, match="'retention' in the release"):
        tacit.Plan([blank, tacit.AddNoise(columns=["y"], sd=900.0)]).run(data)


def test_drawn_names_of_households_and_pseudonyms_tell_nothing():
    rng = np.random.default_rng(5)
    homes = np.repeat(np.arange(100), 3)
    table = pa.table(
        {"home": homes, "area": [f"a{h % 7}" for h in homes], "x": rng.normal(size=300)}
    )
    data = tacit.read(table, household="home")
    assert not tacit.Plan([tacit.RemoveColumns(columns=["area"])]).run(data).attention
    plain = tacit.Plan(
        [tacit.Pseudonymise(columns=["home"]), tacit.RemoveColumns(columns=["area"])]
    )
    assert not plain.run(tacit.read(table)).attention


def money(rng, n=N):
    return rng.lognormal(9, 1, n).round()


#: Columns made of an amount, or of an amount and a second column, that give it back or nearly.
COPIES = {
    "text": lambda y, other, rng: [f"EUR {v:,.0f}" for v in y],
    "comma": lambda y, other, rng: [f"{v:,.2f}".translate(str.maketrans(",.", ".,")) for v in y],
    "rounded": lambda y, other, rng: (y / 10).round() * 10,
    "log": lambda y, other, rng: np.log(y).round(3),
    "rank": lambda y, other, rng: y.argsort().argsort(),
    "distance": lambda y, other, rng: np.abs(y - np.quantile(y, 0.7) - 0.25),
    "sum": lambda y, other, rng: y + other,
    "ratio": lambda y, other, rng: (y / other).round(4),
    "product": lambda y, other, rng: y * other,
    "within": lambda y, other, rng: [f"{i:03}-{v:.0f}/x" for i, v in zip(rng.permutation(len(y)), y, strict=True)],
}  # fmt: skip


def copied(seed, how, mask):
    rng = np.random.default_rng(seed)
    y, other = money(rng), money(rng) + 1
    columns = {"y": y, "other": other, "made": COPIES[how](y, other, rng), **plain(rng)}
    columns["gaps"] = pa.array(rng.normal(size=N), mask=rng.random(N) < 0.9)
    names = rng.permutation(list(columns))
    before, after = release({n: columns[n] for n in names}, mask("y"))
    told = find_relations(before, after)
    assert any("made" in r.columns and r.hidden == "y" for r in told), (seed, how, told)


AMOUNT_MASKS = [
    lambda c: tacit.AddNoise(columns=[c], relative=0.3),
    lambda c: tacit.TopBottomCode(column=c, top_share=0.2),
    lambda c: tacit.RankSwap(columns=[c], percent=20),
    lambda c: tacit.RemoveColumns(columns=[c]),
]


@pytest.mark.parametrize("how", COPIES)
def test_copies_in_another_dress_are_found(how):
    copied(3, how, AMOUNT_MASKS[list(COPIES).index(how) % len(AMOUNT_MASKS)])


@pytest.mark.slow
@pytest.mark.parametrize("how", COPIES)
def test_many_copies_in_another_dress(how):
    for seed in range(20):
        copied(seed, how, AMOUNT_MASKS[seed % len(AMOUNT_MASKS)])


def test_dates_in_another_form_are_found():
    rng = np.random.default_rng(6)
    days = np.datetime64("1990-01-01") + rng.permutation(9000)[:N]
    forms = [f"{d.astype(object):%d/%m/%Y}" for d in days]
    table = {"seen": [str(d) for d in days], "entered": forms, "x": rng.normal(size=N)}
    before, after = release(table, tacit.RemoveColumns(columns=["seen"]))
    (found,) = find_relations(before, after)
    assert (found.columns, found.hidden) == (("entered",), "seen")


def test_values_suppressed_in_a_few_records_are_told_by_the_rule_of_all():
    data = zones()
    few = tacit.Suppress(level="cell", columns=["region"], where="zip in ('z00', 'z17')")
    assert [r.columns for r in find_relations(data, few.apply(data, seed=1))] == [("zip",)]


def test_a_swap_between_two_categories_does_not_tell_what_was_swapped():
    """Of two categories a changed one was the other, but nobody sees which were changed."""
    rng = np.random.default_rng(8)
    table = {"home": np.arange(N), "part": rng.integers(1, 3, N), "x": rng.normal(size=N)}
    data = tacit.read(pa.table(table), household="home")
    swapped = tacit.SwapHouseholds(columns=["part"], share=0.3).apply(data, seed=1)
    assert not find_relations(data, swapped)


def test_what_members_of_a_household_share_tells_nothing_of_other_households():
    rng = np.random.default_rng(9)
    homes = np.repeat(np.arange(150), 3)
    table = {"home": homes, "area": rng.integers(0, 9, 150)[homes], "income": rng.lognormal(9, 1, 150)[homes]}  # fmt: skip
    data = tacit.read(pa.table(table), household="home")
    removed = tacit.RemoveColumns(columns=["area"]).apply(data)
    assert not find_relations(data, removed)


def test_bands_beside_noise_are_no_copy():
    rng = np.random.default_rng(10)
    age = rng.integers(0, 95, 2000)
    before, after = release({"age": age, "band": age // 5}, tacit.AddNoise(columns=["age"], sd=5.0))
    assert not find_relations(before, after)


@pytest.mark.parametrize("form", ["P{:07}", "{}"])
def test_a_date_does_not_tell_the_number_given_on_arrival(form):
    """Where many came that day it tells about when the number was given; an amount, or a number not given in turn, is told nearly."""
    rng = np.random.default_rng(12)
    days = np.sort(rng.integers(0, 120, 400))

    def told(numbers, admitted=days):
        texts = [form.format(v) for v in numbers]
        table = {"who": texts if "P" in form else numbers, "day": admitted, "x": rng.normal(size=400)}  # fmt: skip
        before, after = release(table, tacit.RemoveColumns(columns=["who"]))
        return [r.hidden for r in find_relations(before, after)]

    assert told(np.arange(1, 401)) == []
    assert told(np.arange(1, 401) + np.cumsum(rng.random(400) < 0.5)) == [], "some were given up"
    assert told(np.sort(rng.choice(10**6, 400, replace=False))) == ["who"], "not in turn"
    assert told(np.arange(1, 401), np.arange(400) * 7) == ["who"], "to the unit"


def shuffled(rng, **columns):
    """Columns whose records stand in a drawn order, as they do in a release."""
    order = rng.permutation(len(columns["day"]))
    return {c: np.asarray(v)[order] for c, v in columns.items()}


def told_of_arrivals(rate, hidden, *, loose=0.0, n=400, seed=1, form="{:.0f}", days=str):
    """Return what tells ``hidden`` of a file of arrivals, ``rate`` a day, with numbers given as people came."""
    rng = np.random.default_rng(seed)
    day = np.sort(rng.integers(0, int(n / rate), n))
    number = np.argsort(np.argsort(day + rng.normal(0, loose, n), kind="stable")) + 1
    start = np.datetime64("2019-03-01")
    dates = [days(start + int(d)) for d in day]
    columns = shuffled(rng, who=[form.format(v) for v in number], day=dates, x=rng.normal(size=n))
    before, after = release(columns, tacit.RemoveColumns(columns=[hidden]))
    return [r.columns for r in find_relations(before, after)]


@pytest.mark.parametrize("form", ["{:.0f}", "P{:07.0f}", "No {:.0f}/b"])
@pytest.mark.parametrize("rate", [0.5, 1])
def test_a_day_with_few_arrivals_tells_the_numbers_given_on_it(rate, form):
    assert told_of_arrivals(rate, "who", form=form) == [("day",)]


@pytest.mark.parametrize("rate", [4, 40])
@pytest.mark.parametrize("seed", range(3))
def test_a_day_with_many_arrivals_tells_no_number(rate, seed):
    assert told_of_arrivals(rate, "who", seed=seed) == []


@pytest.mark.parametrize("loose", [0, 0.7, 2])
@pytest.mark.parametrize("rate", [0.5, 4])
@pytest.mark.parametrize(
    "days", [str, lambda d: int(d.astype(int)), lambda d: f"{d.astype(object):%d.%m.%Y}"]
)
def test_a_running_number_tells_the_day(rate, loose, days):
    """Numbers are given in turn, or nearly: some are entered a day or two early or late."""
    assert told_of_arrivals(rate, "day", loose=loose, n=600, days=days) == [("who",)]


def test_numbers_that_begin_anew_every_year_tell_the_day():
    rng = np.random.default_rng(3)
    day = np.sort(rng.integers(0, 1000, 500))
    year = 2000 + day // 365
    within = [int((year[:i] == y).sum()) + 1 for i, y in enumerate(year)]
    codes = [f"{y}/{i}" for y, i in zip(year, within, strict=True)]
    columns = shuffled(rng, code=codes, day=day, x=rng.normal(size=500))
    before, after = release(columns, tacit.RemoveColumns(columns=["day"]))
    assert [r.columns for r in find_relations(before, after)] == [("code",)]


@pytest.mark.parametrize("seed", range(6))
def test_numbers_given_in_another_order_tell_nothing(seed):
    """Running numbers beside dates, ages and amounts that have nothing to do with them, or little."""
    rng = np.random.default_rng(seed)
    n = 300
    columns = {
        "number": rng.permutation(n) + 1,
        "day": rng.integers(0, 365, n),
        "age": rng.integers(0, 95, n),
        "pay": rng.lognormal(9, 1, n).round(),
    }
    columns["later"] = columns["day"] + rng.integers(0, 60, n)
    columns["roughly"] = np.argsort(np.argsort(columns["day"] + rng.normal(0, 40, n)))
    for hidden in columns:
        assert not find_relations(*release(columns, tacit.RemoveColumns(columns=[hidden]))), hidden


def test_the_hospital_is_not_refused():
    for data in (tacit.examples.hospital(400), tacit.examples.hospital(2_000, seed=2)):
        for step in (tacit.Deidentify(), tacit.RemoveColumns(columns=["admission"])):
            assert not find_relations(data, step.apply(data, seed=1))


def test_weights_that_a_sample_has_raised_are_not_hidden():
    rng = np.random.default_rng(11)
    stratum = rng.integers(0, 4, N)
    table = {"stratum": stratum, "w": 10.0 + stratum, "x": rng.normal(size=N)}
    plan = tacit.Plan([tacit.Sample(share=0.5)])
    assert not plan.run(tacit.read(pa.table(table), weight="w")).attention
    noise = tacit.Plan([tacit.Sample(share=0.5), tacit.WeightNoise()])
    with pytest.warns(SdcWarning, match="hidden values of 'w'"):
        noise.run(tacit.read(pa.table(table), weight="w"))


def with_errors(rng, column, other, share):
    """A column with a share of its entries taken from another record's."""
    wrong = rng.random(len(column)) < share
    wrong[:3] = True
    return np.where(wrong, np.roll(other, 5), column)


#: Columns that tell an amount, or a place, in all records but those with a wrong entry.
NEARLY = {
    "part": lambda y, other, rng: {"whole": with_errors(rng, y + other, 3 * y, 0.004), "rest": other},
    "net": lambda y, other, rng: {"share": with_errors(rng, y / other, y, 0.004), "by": other},
    "logs": lambda y, other, rng: {"log": with_errors(rng, np.log(y), np.log(other), 0.01)},
    "text": lambda y, other, rng: {"code": [f"k/{v:.2f}" for v in with_errors(rng, y, other, 0.01)]},
}  # fmt: skip


@pytest.mark.parametrize("how", NEARLY)
@pytest.mark.parametrize("mask", ["noise", "gone"])
def test_wrong_entries_in_few_records_hide_no_relation(how, mask):
    rng = np.random.default_rng(12)
    y, other = rng.lognormal(9, 1, 2000).round(2), rng.lognormal(9, 1, 2000).round(2)
    made = NEARLY[how](y, other, rng)
    before, after = release({"y": y, "age": rng.integers(0, 90, 2000), **made}, MASKS[mask]("y"))
    told = [r for r in find_relations(before, after) if r.hidden == "y"]
    assert any(set(r.columns) <= set(made) for r in told), (how, mask, told)


def test_places_that_are_wrong_in_few_records_are_told_all_the_same():
    rng = np.random.default_rng(13)
    places = rng.integers(0, 40, 3000)
    region = with_errors(rng, places // 8, rng.permutation(places // 8), 0.005)
    columns = {"zip": (places * 17) % 40, "region": region, "x": rng.normal(size=3000)}
    before, after = release(columns, tacit.RemoveColumns(columns=["region"]))
    (found,) = find_relations(before, after)
    assert (found.columns, found.hidden) == (("zip",), "region")
    assert "in nearly all records" in found.sentence()
    unlike = {**columns, "region": with_errors(rng, places // 8, rng.permutation(places // 8), 0.2)}
    assert not find_relations(*release(unlike, tacit.RemoveColumns(columns=["region"])))


@pytest.mark.parametrize("n", [60, 2000])
def test_amounts_that_are_zero_together_do_not_tell_each_other(n):
    """That there is no rent where there is no house says nothing of the other rents."""
    rng = np.random.default_rng(14)
    rent = np.where(rng.random(n) < 0.4, 0, rng.lognormal(6, 1, n).round(1))
    columns = {"rent": rent, "heating": (rent * rng.uniform(0.1, 0.9, n)).round(3)}
    assert not find_relations(*release(columns, tacit.RemoveColumns(columns=["rent"])))


def test_rare_answers_beside_any_column_are_not_told():
    """A column that is nearly always the same is guessed well by anything, and told by nothing."""
    rng = np.random.default_rng(15)
    columns = {
        "rare": np.where(rng.random(4000) < 0.985, "no", rng.choice(list("abcdef"), 4000)),
        "town": rng.integers(0, 50, 4000),
        "age": rng.integers(0, 90, 4000),
    }
    assert not find_relations(*release(columns, tacit.RemoveColumns(columns=["rare"])))


def scrambled(*later):
    steps = [tacit.RemoveColumns(columns=["region"]), tacit.Scramble(), *later]
    return tacit.Plan(steps).run(zones())


@pytest.mark.parametrize(
    "later",
    [
        tacit.RoundValues(columns=["income"], base=10),
        tacit.AddNoise(columns=["income"], sd=30.0),
        tacit.RankSwap(columns=["income"], percent=10),
        tacit.Suppress(level="cell", columns=["zip"], where="income > 1100"),
        tacit.Suppress(level="tuple", where="income > 1100"),
    ],
    ids=lambda s: s.kind,
)
def test_steps_after_a_drawn_order_do_not_hide_the_dependence(later, tmp_path):
    with pytest.raises(DisclosureRefused, match="'zip' in the release"):
        scrambled(later).write(tmp_path / "out")


def test_what_later_steps_change_tells_nothing_more(tmp_path):
    swapped = scrambled(tacit.RankSwap(columns=["income"], percent=10))
    coarse = [
        tacit.RemoveColumns(columns=["region"]),
        tacit.Scramble(),
        tacit.RemoveColumns(columns=["zip"]),
        tacit.AddNoise(columns=["income"], sd=30.0),
    ]
    assert swapped.unmet
    assert tacit.Plan(coarse).run(zones()).write(tmp_path / "out").exists()
