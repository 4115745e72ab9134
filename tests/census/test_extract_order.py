"""Two extracts of one file cannot be joined by line or by number."""

import numpy as np
import pyarrow as pa

from tacit.census.extract import in_drawn_order


def sample(n=200):
    return pa.table(
        {
            "source": ["XA"] * n + ["XB"] * n,
            "age": list(range(n)) + list(range(1000, 1000 + n)),
            "household": list(np.arange(n) // 4) * 2,
            "pseudo_stratum": list(np.arange(n) // 20) * 2,
        }
    )


def groups(table, name):
    ages, numbers = table.column("age").to_pylist(), table.column(name).to_pylist()
    found = {}
    for source, age, number in zip(table.column("source").to_pylist(), ages, numbers, strict=True):
        found.setdefault((source, number), set()).add(age)
    return {frozenset(g) for g in found.values()}


def test_records_stand_in_a_new_order_and_households_stay_whole():
    table = sample()
    one, other = in_drawn_order(table), in_drawn_order(table)
    assert one.column("source").to_pylist() == table.column("source").to_pylist()
    for name in ("household", "pseudo_stratum"):
        assert groups(one, name) == groups(table, name) == groups(other, name)
    for name in ("age", "household", "pseudo_stratum"):
        assert one.column(name).to_pylist() != table.column(name).to_pylist()
    ages = [t.column("age").to_numpy() for t in (one, other)]
    assert np.mean(ages[0] == ages[1]) < 0.1
    numbers = [dict(zip(a, t.column("household").to_pylist(), strict=True)) for a, t in zip(ages, (one, other), strict=True)]  # fmt: skip
    assert np.mean([numbers[0][a] == numbers[1][a] for a in ages[0]]) < 0.2


def test_members_stand_together_and_numbers_follow_the_file():
    homes = in_drawn_order(sample()).column("household").to_numpy()
    assert list(homes) == sorted(homes)
    assert list(dict.fromkeys(homes)) == list(range(1, 101))


def test_records_without_a_household_stay_without():
    table = pa.table({"source": ["XA"] * 3, "age": [1, 2, 3], "household": [None, 7, None]})
    out = in_drawn_order(table)
    told = dict(
        zip(out.column("age").to_pylist(), out.column("household").to_pylist(), strict=True)
    )
    assert told[1] is None
    assert told[3] is None
    assert told[2] in (1, 2, 3)
    assert in_drawn_order(table.drop_columns(["household"])).num_rows == 3
    assert in_drawn_order(table.slice(0, 0)).num_rows == 0
