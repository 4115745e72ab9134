"""Strata grouped on Spark give what one machine gives."""

import numpy as np
import pytest

import tacit

pytestmark = pytest.mark.spark


def survey(engine, n=240):
    rng = np.random.default_rng(1)
    area = rng.choice(np.array(["N", "S", None], dtype=object), n)
    return tacit.read(
        {
            "area": area.tolist(),
            "x": rng.normal(size=n).tolist(),
            "y": [None if i % 40 == 3 else int(v) for i, v in enumerate(rng.integers(0, 99, n))],
            "other": list(range(n)),
        },
        engine=engine,
    )


@pytest.mark.parametrize(
    "spec",
    [
        tacit.Mdav(k=3, columns=["x", "y"], by=["area"], missing="keep"),
        tacit.Mdav(k=4, columns=["x", "y"], by=["area"], missing="keep", whole=True),
        tacit.SortByRobustComponent(k=3, columns=["x", "y"], by=["area"], missing="keep"),
    ],
    ids=lambda s: f"{s.kind}-{s.k}",
)
def test_equal_to_one_machine(spec):
    one, many = (spec.apply(survey(engine), seed=5) for engine in ("duckdb", "spark"))
    for c in ("other", "area"):
        assert many.column(c).to_pylist() == one.column(c).to_pylist()
    for c in ("x", "y"):
        found, expected = (d.column(c).to_pylist() for d in (many, one))
        assert [v is None for v in found] == [v is None for v in expected]
        # Sums over a stratum and over the whole file differ in the last digit.
        assert [v or 0 for v in found] == pytest.approx([v or 0 for v in expected], rel=1e-12)
    alone, spread = one.history[-1].details, many.history[-1].details
    assert spread["strata_on_spark"] == 3
    for name in ("groups", "smallest_group", "largest_group"):
        assert spread[name] == alone[name]
    assert spread["sse_percent"] == pytest.approx(alone["sse_percent"])


def test_refusals_are_the_same_sentences():
    spec = tacit.Mdav(k=3, columns=["x", "y"], by=["area"])
    for engine in ("duckdb", "spark"):
        with pytest.raises(tacit.SdcError, match="missing='keep'"):
            spec.apply(survey(engine))
        with pytest.raises(tacit.SdcError, match="fewer than 110 complete"):
            tacit.Mdav(k=110, columns=["x"], by=["area"]).apply(survey(engine))
