"""Risk of small cells in microdata."""

from collections import Counter

import numpy as np
import pytest

import tacit
from tacit.errors import RoleMissing

ORIGINAL = {"a": list("xxyyzz"), "b": [1, 1, 1, 2, 2, 2]}
RELEASED = {"a": list("xxyzyz"), "b": [1, 1, 1, 2, 2, 2]}


def test_by_hand(engine):
    one, two = (tacit.read(c, keys=["a", "b"], engine=engine) for c in (ORIGINAL, RELEASED))
    register = tacit.read({"a": list("xxxyyyyz"), "b": [1, 1, 1, 1, 1, 2, 2, 2]}, engine=engine)
    found = tacit.SmallCells(small=(1,)).measure(two, original=one, register=register)
    # Original uniques: (y, 1) and (y, 2); both stay unique in the release.
    assert found.value == 1.0
    assert found.numbers["small cells in the original"] == 2
    # Released uniques: (y, 1) with 2 and (y, 2) with 2 in the register.
    assert (found.tau1, found.tau2) == (0, 1.0)
    both = tacit.SmallCells(small=(1, 2)).measure(two, original=one)
    assert both.numbers["not changed"] == 4
    assert both.tau1 is None
    # Linked: records 0, 1 (of two), 2 (alone), 5 (of two); 3 and 4 moved.
    assert both.numbers["records linked correctly, expected share"] == pytest.approx(2.5 / 6)


def test_against_loops():
    rng = np.random.default_rng(1)
    columns = {"a": rng.integers(0, 20, 200), "b": rng.integers(0, 10, 200)}
    data = tacit.read(columns, keys=["a", "b"])
    swapped = tacit.Swap(columns=("a",), share=0.4).apply(data, seed=2)
    before, after = (
        Counter(map(tuple, (r.values() for r in d.to_arrow().to_pylist()))) for d in (data, swapped)
    )
    small = [c for c in before if before[c] in (1, 2)]
    kept = sum(after[c] == before[c] for c in small)
    found = tacit.SmallCells().measure(swapped, original=data)
    assert found.value == pytest.approx(kept / len(small))
    rows = zip(data.to_arrow().to_pylist(), swapped.to_arrow().to_pylist(), strict=True)
    linked = sum(1 / before[tuple(o.values())] for o, p in rows if o == p) / 200
    assert found.numbers["records linked correctly, expected share"] == pytest.approx(linked)


def test_no_small_cells_no_risk():
    data = tacit.read({"a": [1] * 5}, keys=["a"])
    assert tacit.SmallCells().measure(data, original=data).value == 0


def test_needs_columns_or_keys():
    data = tacit.read({"a": [1]})
    with pytest.raises(RoleMissing, match="name columns"):
        tacit.SmallCells().measure(data, original=data)
