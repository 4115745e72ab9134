"""Every method for records where it can do nothing: it refuses, guarantees something, or looked for what needs protection."""

import warnings

import numpy as np
import pyarrow as pa
import pytest

import tacit
from common.cases import COLUMNS, KEYS, build, hierarchies, method_kinds
from tacit.data.checks.effect import perturbs
from tacit.errors import DisclosureRefused, SdcError, WeakProtection
from tacit.registry import specs

#: What leaves its columns alone by design: order, further columns, or what it finds by itself.
ELSEWHERE = frozenset(("scramble", "record_keys", "add_tuples", "calibrate", "impute", "scrub"))


def alike(n=40):
    """The common columns with one value each: nothing can be swapped, grouped, rounded or recoded."""
    same = {c: [values[0]] * n for c, values in COLUMNS.items() if c != "income"}
    return tacit.read(
        {**same, "income": [100.0] * n, "id": [f"p{i}" for i in range(n)]},
        identifiers=["id"],
        keys=KEYS,
        sensitive=["disease"],
        hierarchies=hierarchies(),
    )


@pytest.mark.parametrize("kind", method_kinds())
def test_nothing_done_is_never_passed_off_as_protection(kind):
    data, step = alike(), build(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = step.apply(data, seed=1)
        except SdcError:
            return
    same = made.columns.keys() == data.columns.keys() and made.to_arrow() == data.to_arrow()
    if same and kind not in ELSEWHERE:
        assert not perturbs(step.techniques)
        assert made.history[-1].claims or not specs()[kind].random


def people(n=2_000):
    rng = np.random.default_rng(4)
    return tacit.read(
        {
            "age": rng.integers(18, 90, n),
            "pay": rng.lognormal(10, 1, n).round(),
            "sex": rng.choice(["f", "m"], n),
            "exact": np.arange(n) * 37.03 + 0.01,
        },
        keys=["age", "sex"],
    )


WEAK = [
    tacit.RankSwap(columns=["age", "pay"], percent=0.1),
    tacit.Pram(columns=["sex"], stay=0.995),
    tacit.MultiplicativeNoise(columns=["pay"], sd=1e-6),
    tacit.AddNoise(columns=["age"], sd=0.01, whole=False),
    tacit.CorrelatedNoise(columns=["age", "pay"], lambda_squared=1e-9, whole=False),
    tacit.RoundValues(columns=["exact"], base=0.5),
]
IDLE = [
    tacit.AddNoise(columns=["age"], sd=0.01),
    tacit.RoundValues(columns=["age"], base=1),
    tacit.Sample(share=1.0),
    tacit.Pram(columns=["sex"], stay=1),
]
STRONG = [
    tacit.AddNoise(columns=["age", "pay"], relative=0.1),
    tacit.RankSwap(columns=["age", "pay"], percent=5),
    tacit.Pram(columns=["sex"], stay=0.9),
    tacit.RoundValues(columns=["age"], base=5),
    tacit.RoundValues(columns=["exact"], base=20),
    tacit.Sample(share=0.5),
]


@pytest.mark.parametrize("step", WEAK, ids=lambda s: s.kind)
@pytest.mark.filterwarnings("ignore:.*the order of its own hidden values")
def test_weak_steps_say_so_in_the_release_as_well(step):
    with pytest.warns(WeakProtection, match=f"{step.kind}: .* hardly changed"):
        release = tacit.Plan([step]).run(people(), seed=2)
    assert any("hardly changed" in sentence for sentence in release.attention)


@pytest.mark.parametrize("step", IDLE, ids=lambda s: s.kind)
@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
def test_idle_steps_are_refused(step):
    with pytest.raises(DisclosureRefused, match=f"{step.kind} changed nothing"):
        step.apply(people(), seed=2)


@pytest.mark.parametrize("step", STRONG, ids=lambda s: s.kind)
def test_strong_steps_say_nothing(step):
    step.apply(people(), seed=2)


def test_what_needs_no_protection_is_fine():
    data = tacit.read({"a": ["x"] * 30, "n": [5.0] * 30}, keys=["a"])
    assert tacit.LocalSuppression(k=2).apply(data).history[-1].claims
    assert tacit.TopBottomCode(column="n", top=9).apply(data).history[-1].claims
    assert tacit.Mdav(columns=["n"], k=3).apply(data, seed=1).history[-1].claims


def area_file(n=8_000):
    rng = np.random.default_rng(3)
    homes = np.sort(rng.integers(0, n // 2, n))
    area = homes * 400 // (n // 2)
    return tacit.read(
        pa.table(
            {"home": homes, "area": area, "broad": area // 12, "sex": rng.choice(["f", "m"], n)}
        ),
        household="home",
    )


def swapped_areas(share):
    swap = tacit.SwapHouseholds(columns=["area"], within=["broad"], share=share)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        swap.apply(area_file(), seed=1)
    return [w for w in heard if "hardly changed" in str(w.message)]


def test_swapping_few_households_is_judged_by_those_that_move():
    """Records that stay are the point of swapping; next to none that move is weak."""
    assert not swapped_areas(0.05)
    assert not swapped_areas(0.02)
    assert swapped_areas(0.004)


def test_swaps_of_few_households_are_not_called_weak_by_chance():
    """One pair of sixty is what was asked for; one of a thousand protects nobody."""
    said = {}
    for homes, share in ((60, 0.034), (1_000, 0.002)):
        rng = np.random.default_rng(homes)
        home = np.repeat(np.arange(homes), 2)
        data = tacit.read({"home": home, "area": rng.integers(0, 9, homes)[home]}, household="home")
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            tacit.SwapHouseholds(columns=["area"], share=share).apply(data, seed=1)
        said[homes] = any("hardly changed" in str(w.message) for w in heard)
    assert said == {60: False, 1_000: True}
