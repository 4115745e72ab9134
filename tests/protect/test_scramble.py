from collections import Counter

import tacit
from tacit.data.values import row_numbers


def column(result, name="x"):
    return result.column(name).to_pylist()


def test_same_records_in_another_order(engine):
    data = tacit.read({"x": [1, 2, None, 4, 5, 6, 7, 8], "y": list("abcdefgh")}, engine=engine)
    result = tacit.Scramble().apply(data, seed=1)
    assert Counter(map(str, result.to_arrow().to_pylist())) == Counter(
        map(str, data.to_arrow().to_pylist())
    )
    assert column(result) != column(data)
    assert result.history[-1].details["links_lost"]
    assert column(tacit.Scramble().apply(data, seed=1)) == column(result)
    assert column(data) == [1, 2, None, 4, 5, 6, 7, 8]


def test_every_order_is_as_likely():
    data = tacit.read({"x": [1, 2, 3]})
    seen = Counter(tuple(column(tacit.Scramble().apply(data, seed=s))) for s in range(240))
    assert len(seen) == 6
    assert all(20 < n < 65 for n in seen.values())


def test_row_numbers_are_nobody_elses():
    data = tacit.read({"x": list(range(20))})
    fewer = tacit.Sample(n=5).apply(data, seed=1)
    once = tacit.Scramble().apply(fewer, seed=2)
    twice = tacit.Scramble().apply(once, seed=2)
    numbers = [set(row_numbers(d).tolist()) for d in (data, once, twice)]
    assert not numbers[0] & numbers[1]
    assert not numbers[1] & numbers[2]


def test_one_record_and_none():
    data = tacit.read({"x": [1, 2]})
    assert (
        column(tacit.Scramble().apply(tacit.Suppress(level="tuple", where="x > 0").apply(data)))
        == []
    )
    assert column(
        tacit.Scramble().apply(tacit.Suppress(level="tuple", where="x > 1").apply(data))
    ) == [1]
