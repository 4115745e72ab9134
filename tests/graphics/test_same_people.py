"""The budget belongs to the people in the data: no other order, name, column, ledger or record starts it anew."""

import contextlib

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.cli import main
from tacit.errors import DisclosureRefused, InvalidParameter
from tacit.graphics.budget import BudgetLedger

pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.LowUtility")


def town(n=400, seed=1):
    rng = np.random.default_rng(seed)
    return {
        "ward": rng.choice(list("abcdefgh"), n, p=np.arange(1, 9) / 36).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "income": np.round(rng.lognormal(7.5, 0.5, n), 2).tolist(),
    }


def rows(columns, order):
    return {c: [v[i] for i in order] for c, v in columns.items()}


def without(columns, *names):
    return {c: v for c, v in columns.items() if c not in names}


def ask(columns, column="ward", **more):
    spec = tacit.ProtectedTable(columns=[column], categories={column: list("abcdefgh")}, **more)
    return spec.measure(tacit.read(columns))


ORDER = np.random.default_rng(5).permutation(400)
#: Other files about the same people.
RESTARTS = {
    "a column renamed": lambda t: {"quarter": t["ward"], **without(t, "ward")},
    "a column dropped": lambda t: without(t, "income"),
    "one column alone": lambda t: without(t, "income", "sex"),
    "a column added": lambda t: {**t, "x": np.random.default_rng(9).normal(size=400).tolist()},
    "one record left out": lambda t: rows(t, range(1, 400)),
    "one record doubled": lambda t: rows(t, [0, *range(400)]),
    "one left out, one column alone": lambda t: without(rows(t, range(1, 400)), "income", "sex"),
    "half of them": lambda t: rows(t, range(0, 400, 2)),
    "all at once": lambda t: {
        "q": rows(t, ORDER[3:])["ward"], "y": rows(t, ORDER[3:])["income"], "z": list(range(397)),
    },
}  # fmt: skip


@pytest.mark.parametrize("case", [c for c in RESTARTS if c != "a column renamed"])
def test_the_same_people_have_one_budget(case):
    check_refused(case, None)


@pytest.mark.parametrize("case", RESTARTS)
def test_another_name_of_the_data_gives_no_other_budget(case):
    check_refused(case, "another")


def test_other_names_of_columns_are_the_same_account():
    ask(town())
    ask(RESTARTS["a column renamed"](town()), "quarter")
    assert [a.spent for a in BudgetLedger.open().accounts().values()] == [pytest.approx(1)]


def check_refused(case, name):
    ask(town())
    other = RESTARTS[case](town())
    column = next(c for c in ("ward", "quarter", "q") if c in other)
    with pytest.raises(DisclosureRefused, match="same people would be asked about again"):
        ask(other, column, dataset=name)


def test_another_order_is_the_same_account():
    for seed in range(6):
        ask(rows(town(), np.random.default_rng(seed).permutation(400)))
    with pytest.raises(DisclosureRefused, match="does not suffice"):
        ask(rows(town(), ORDER))
    assert [a.spent for a in BudgetLedger.open().accounts().values()] == [pytest.approx(3)]


def test_a_file_that_looks_alike_is_used_under_its_account_or_set_apart(capsys):
    ask(town(), dataset="town")
    fewer = rows(town(), range(1, 400))
    ask(fewer, dataset="town")
    assert BudgetLedger.open().account("town").spent == pytest.approx(1)
    assert main(["budget", "village", "--apart-from", "town"]) == 0
    assert "village has a budget of its own" in capsys.readouterr().out
    ask(fewer, dataset="village")
    assert BudgetLedger.open().account("village").spent == pytest.approx(0.5)
    ask(fewer)
    assert BudgetLedger.open().account("town").spent == pytest.approx(1.5), "as first entered"
    with pytest.raises(InvalidParameter, match="no data set of that name"):
        BudgetLedger.open().set_apart("a", "nobody")


def noisy(values, seed, sd):
    return (np.array(values) + np.random.default_rng(seed).normal(0, sd, len(values))).tolist()


#: The same people in another dress each time, as one asks who wants a new budget each time.
DRESSES = {
    "categories named anew": lambda t, i: {"ward": [f"{w}{i}" for w in t["ward"]]},
    "and one left out": lambda t, i: rows({"ward": [f"{w}{i}" for w in t["ward"]]}, [j for j in range(400) if j != i]),
    "and all doubled": lambda t, i: {"ward": [f"{w}{i}" for w in t["ward"]] * 2},
    "categories as numbers": lambda t, i: {"ward": [ord(w) * (i + 1) for w in t["ward"]]},
    "names dealt anew": lambda t, i: {"ward": [chr(97 + (ord(w) - 96 + i) % 8) for w in t["ward"]]},
    "beside other amounts": lambda t, i: {"ward": [f"{w}{i}" for w in t["ward"]], "income": town(seed=50 + i)["income"]},
    "a little noise": lambda t, i: {"income": noisy(t["income"], i, 0.01)},
    "more noise": lambda t, i: {"income": noisy(t["income"], i, 5.0)},
    "noise, some left out": lambda t, i: {"income": noisy(t["income"], i, 0.1)[i * 3 :]},
    "in another unit": lambda t, i: {"income": [v * (2 + i) + 7 * i for v in t["income"]]},
    "turned round": lambda t, i: {"income": [-v * (1 + i) for v in t["income"]]},
    "as text": lambda t, i: {"income": [f"{v:.2f}{' ' * i}" for v in t["income"]], "x": noisy(t["income"], i, 1.0)},
    "as other numbers": lambda t, i: {"income": pa.array(noisy(t["income"], i, 0.01), pa.float32())},
    "beside noise": lambda t, i: {"ward": t["ward"], "income": noisy(t["income"], i, 0.1)},
    "with others": lambda t, i: {k: [*t[k], *town(1200, 70 + i)[k]] for k in t},
    "a third of them": lambda t, i: rows(t, np.random.default_rng(i).permutation(400)[:133]),
}  # fmt: skip


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("named", [False, True])
def test_sixty_askings_in_another_dress_spend_one_budget(dress, named):
    ask(town())
    for i in range(60 if dress == "categories named anew" else 8):
        data = tacit.read(pa.table(DRESSES[dress](town(), i)))
        name = f"file {i}" if named else None
        column = next(c for c in ("ward", "x", "income") if c in data.columns)
        if column == "ward":
            listed = sorted(set(data.to_arrow(["ward"]).column(0).to_pylist()))
            spec = tacit.ProtectedTable(columns=["ward"], categories={"ward": listed}, dataset=name)
        else:
            spec = tacit.ProtectedHistogram(column=column, range=(0, 9000), bins=8, dataset=name)
        with contextlib.suppress(DisclosureRefused):
            spec.measure(data)
    # One dress may pass for other people; not another each time.
    assert sum(a.spent for a in BudgetLedger.open().accounts().values()) <= 3.5 + 1e-9


def survey_of(sizes, seed):
    rng = np.random.default_rng(seed)
    return {"ward": np.repeat(list("abcdefgh"), sizes), "income": rng.lognormal(7.5, 0.5, 400)}


def test_groups_of_equal_size_are_a_design_and_equal_quotas_are_asked_about():
    for seed in range(4):
        ask(survey_of([50] * 8, seed))
    assert len(BudgetLedger.open().accounts()) == 4
    quotas = [20, 25, 31, 37, 42, 49, 56, 140]
    ask(survey_of(quotas, 5), dataset="spring")
    with pytest.raises(DisclosureRefused, match="have the data holder declare"):
        ask(survey_of(quotas, 6), dataset="autumn")
    BudgetLedger.open().set_apart("autumn", "spring")
    ask(survey_of(quotas, 6), dataset="autumn")


def test_ledgers_of_earlier_versions_are_read():
    ask(town())
    ledger = BudgetLedger.open()
    book = ledger.read()
    for held in book["datasets"].values():
        for digest, kept in held["sketches"].items():
            held["sketches"][digest] = [
                {k: v for k, v in c.items() if k != "form"} for c in kept if not c["form"]
            ]
    ledger.write(book)
    ask(town())
    assert [a.spent for a in ledger.accounts().values()] == [pytest.approx(1)]


def test_other_people_are_not_mistaken_for_them():
    """Surveys of one design: the same questions and distributions, other people."""
    refused = 0
    for seed in range(12):
        try:
            ask(town(seed=seed))
        except DisclosureRefused:
            refused += 1
    assert refused == 0
    assert len(BudgetLedger.open().accounts()) == 12


def test_types_and_serial_numbers_do_not_matter():
    columns = {"v": [float(i % 97) + 0.5 for i in range(500)], "id": list(range(1, 501))}
    spec = tacit.ProtectedHistogram(column="v", range=(0, 100), bins=5)
    spec.measure(tacit.read(columns))
    decimals = pa.table({"v": pa.array(columns["v"], pa.float32()), "id": columns["id"]})
    spec.measure(tacit.read(decimals))
    assert len(BudgetLedger.open().accounts()) == 1
    other = {"v": np.random.default_rng(1).normal(50, 9, 500).tolist(), "id": columns["id"]}
    spec.measure(tacit.read(other))
    assert len(BudgetLedger.open().accounts()) == 2


def test_sketches_hold_no_value():
    ask({**town(), "who": [f"person {i} Smith" for i in range(400)]})
    text = BudgetLedger.open().file.read_text()
    assert "Smith" not in text
    assert str(town()["income"][0]) not in text


@pytest.mark.slow
def test_likeness_against_counting_by_hand():
    """Random subsets of random files, columns renamed and dropped: found again from two thirds on; others never."""
    from tacit.graphics.likeness import shared_column, sketch_columns

    rng = np.random.default_rng(2)
    for case in range(150):
        n = int(rng.integers(300, 6000))
        file = {"a": rng.normal(size=n).round(int(rng.integers(3, 7))), "b": rng.integers(0, 5, n)}
        again = {"a": rng.normal(size=n).round(4), "b": rng.integers(0, 5, n)}
        keep = rng.permutation(n)[: int(n * rng.uniform(0.66, 1))]
        part = {"other": file["a"][keep]}
        old, other, same = (sketch_columns(tacit.read(f), "s") for f in (file, again, part))
        assert shared_column(same, old) == "other", case
        assert shared_column(other, old) is None, case
