"""Numbers, texts and paths that nobody means end in one sentence of our own, wherever they are given."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit
from common.cases import people
from tacit.cli.app import main
from tacit.errors import DisclosureRefused, SdcError
from tacit.registry import specs
from tacit.release.signing import make_key, trust_key

HUGE, LONG = 10**30, 10**400
LONE = "x\ud800"
FRAME = {"a": [float(i) for i in range(1, 31)], "b": list("xyz") * 10}
NOISE = {"kind": "add_noise", "columns": ["a"], "sd": 1.0}


def ends_well(act):
    """Do it: it works, or says why not in a sentence that fits a terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return act()
        except SdcError as error:
            assert "Traceback" not in str(error)
            assert len(str(error)) < 600, str(error)[:200]
            return None


@pytest.mark.parametrize(
    "frame",
    [
        {"a": [HUGE, 1]}, {"a": [2**64 - 1, 1]}, {"a": [LONG, 1]}, {"a": [LONE, "y"]}, {"a": [1, 2], "b": [1]},
        {"a": [[1, 2], [1]]}, {"a": np.zeros((2, 2)), "b": [1, 2]}, {"a": [object(), 1]}, {"a": [1, "x"]},
        pd.DataFrame({"a": [HUGE, 1]}), pd.DataFrame({"a": [LONE, "y"]}, dtype=object),
        pl.DataFrame({"a": [HUGE, 1]}),
    ],
    ids=range(12),
)  # fmt: skip
def test_frames(frame):
    with pytest.raises(SdcError):
        tacit.read(frame)


@pytest.mark.parametrize(
    "cells", [[[1.0, 2], [3]], [[LONG, 2], [3, 4]], [["x", 2], [3, 4]], [[HUGE, 2], [3, 4]], [[np.inf, 1], [1, 2]], 3, []],
    ids=range(7),
)  # fmt: skip
def test_tables(cells):
    with pytest.raises(SdcError):
        tacit.Table.from_array(cells)


def test_files(tmp_path):
    for i, text in enumerate(["9" * 31, "9" * 400, "1e400", "-1e-400", "nan", "0x10"]):
        file = tmp_path / f"{i}.csv"
        file.write_text(f"a,b\n{text},1\n2,3\n4,5\n")
        ends_well(lambda f=file: tacit.AddNoise(columns=["a"], sd=1).apply(tacit.read(f), seed=1))
    (tmp_path / "lone.csv").write_bytes(b"a,b\n\xed\xa0\x80,1\n")
    with pytest.raises(SdcError, match="not utf-8"):
        tacit.read(tmp_path / "lone.csv")


@pytest.mark.parametrize("value", [np.inf, np.nan, LONG, LONE], ids=range(4))
def test_every_number_of_every_spec(value):
    """A parameter that is a number takes a finite one or says so, on its own and in a plan."""
    for kind, cls in specs().items():
        for name, field in cls.model_fields.items():
            if field.annotation not in (int, float, int | None, float | None):
                continue
            made = ends_well(lambda c=cls, n=name: c(**{n: value}))
            if made is not None and isinstance(getattr(made, name), float):
                assert np.isfinite(getattr(made, name)), (kind, name)


@pytest.mark.parametrize("sd", [1e308, 1.7e308, 1e-320])
def test_noise_that_leaves_the_numbers(sd):
    data = tacit.read(FRAME)
    made = ends_well(lambda: tacit.AddNoise(columns=["a"], sd=sd).apply(data, seed=1))
    if made is not None:
        assert np.isfinite(made.to_pandas().a).all()


@pytest.mark.parametrize("size", [1e308, 1e160, 1e-160, 1e-300, 1e-320])
def test_tiny_and_huge_amplitudes(size):
    values = [size * (i % 11) / 11 for i in range(40)]
    data = tacit.read({"a": values, "c": values[::-1], "g": list("xyzw") * 10})
    for step in (
        tacit.AddNoise(columns=["a"], relative=0.1),
        tacit.CorrelatedNoise(columns=["a", "c"], lambda_squared=0.1),
        tacit.Mdav(columns=["a", "c"], k=3),
        tacit.RankSwap(columns=["a"], percent=10),
        tacit.Shuffle(columns=["a"], given=["c"]),
        tacit.Romm(columns=["a", "c"]),
        tacit.Ipso(columns=["a"], given=["c"]),
    ):
        made = ends_well(lambda s=step: s.apply(data, seed=1))
        if made is not None:
            assert not np.isinf(made.to_pandas().a).any(), step.kind
            for measure in (tacit.InformationLoss(), tacit.KAnonymity()):
                ends_well(lambda m=measure, d=made: m.measure(d, original=data))


@pytest.mark.parametrize("seed", [LONG, 10**5000, -1, 1.5, "x", True, np.inf], ids=range(7))
def test_seeds(seed):
    data = tacit.read(FRAME)
    with pytest.raises(SdcError):
        tacit.AddNoise(columns=["a"], sd=1).apply(data, seed=seed)
    with pytest.raises(SdcError):
        tacit.Plan([NOISE]).run(data, seed=seed)
    with pytest.raises(SdcError) as told:
        tacit.Plan([NOISE], seed=seed)
    assert len(str(told.value)) < 200


def test_long_seeds_in_files_and_in_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(FRAME).to_csv("x.csv", index=False)
    plan = {"source": "x.csv", "steps": [NOISE]}
    (tmp_path / "plan.yaml").write_text(json.dumps(plan))
    for digits in (80, 400, 5000):
        (tmp_path / "seed.yaml").write_text(json.dumps(plan)[:-1] + f', "seed": {"9" * digits}}}')
        assert main(["run", "seed.yaml"]) == 2
        assert main(["run", "plan.yaml", "--seed", "9" * digits]) in (1, 2)
        assert (
            main(["apply", "add-noise", "x.csv", "--columns", "a", "--sd", "inf", "--out", "y.csv"])
            == 2
        )
    assert "went wrong inside" not in capsys.readouterr().err
    assert not (tmp_path / "release").exists()


PATHS = ["a\0b.csv", "a\ud800b.csv", "a" * 5000 + ".csv", "b/" * 3000 + "x.csv"]


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
def test_paths(path, tmp_path):
    data = people()
    place = f"{tmp_path}/{path}"
    for act in (
        tacit.read, tacit.read_texts, tacit.Plan.load, tacit.verify, tacit.Table.load, tacit.io.read_any, trust_key, make_key,
        lambda p: tacit.io.write(data, p),
        lambda p: tacit.io.write_frame({"a": [1]}, p),
        lambda p: tacit.Plan(["deidentify"]).run(data).write(p),
        lambda p: tacit.Plan(["deidentify"]).save(f"{p}.yaml"),
        lambda p: tacit.Plan(["deidentify"], source=p).run(),
        lambda p: tacit.Plan(["deidentify"], output={"folder": p}).run(data).write(),
        lambda p: tacit.Plan(["deidentify"]).run(data).write(tmp_path / "signed", sign=p),
    ):  # fmt: skip
        with pytest.raises(SdcError) as told:
            act(place)
        assert len(str(told.value)) < 6400
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


@pytest.mark.parametrize("text", [LONE, "a\0b"])
def test_texts_of_a_plan(text, tmp_path):
    data = tacit.read(FRAME)
    ends_well(lambda: tacit.Plan([NOISE], title=text).run(data).write(tmp_path / "title"))
    ends_well(lambda: tacit.Plan([NOISE], source=text))
    ends_well(lambda: tacit.AddNoise(columns=[text], sd=1).apply(data, seed=1))
    ends_well(lambda: tacit.read(FRAME, missing=[text]).to_arrow())
    assert not (tmp_path / "title" / "manifest.json").exists() or tacit.verify(
        tmp_path / "title", data
    )


@pytest.mark.parametrize("width", [HUGE, LONG, np.inf, np.nan, -1, 0, 1e-320], ids=range(7))
def test_hierarchies(width):
    ends_well(
        lambda: tacit.read(
            {"a": [1, 2]}, keys=["a"], hierarchies={"a": tacit.hierarchy.intervals(width)}
        )
    )
    ends_well(
        lambda: tacit.read(
            {"a": [1, 2]}, keys=["a"], hierarchies={"a": tacit.hierarchy.intervals(5, origin=width)}
        )
    )
    ends_well(
        lambda: tacit.read(
            {"a": [1, 2]}, keys=["a"], hierarchies={"a": tacit.hierarchy.intervals(cuts=[width])}
        )
    )


# -- live formulas ---------------------------------------------------------------------------------------


BAIT = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "plain", "-", "'=x"]


def test_formulas_in_released_csv_are_an_office_choice(tmp_path):
    data = tacit.read({"t": BAIT * 3, "n": [i - 15.5 for i in range(30)]})
    steps = [{"kind": "rank_swap", "columns": ["n"], "percent": 40}]
    kept = tacit.Plan(steps).run(data).write(tmp_path / "kept")
    assert set(tacit.read(kept / "data.csv").to_pandas().t) == set(BAIT)
    plan = tacit.Plan(steps, output={"formulas": "escape"})
    target = plan.run(data).write(tmp_path / "escaped")
    back = tacit.read(target / "data.csv").to_pandas()
    assert set(back.t) == {f"'{t}" for t in BAIT[:7]} | set(BAIT[7:])
    assert sorted(back.n) == [i - 15.5 for i in range(30)], "numbers stay numbers"
    assert tacit.verify(target, data)
    whole = plan.run(data).write(tmp_path / "whole", format="parquet")
    assert set(tacit.read(whole / "data.parquet").to_pandas().t) == set(BAIT)
    odd = tacit.read({"=cmd": [1.0, 2.0, 3.0], "n": [1.0, 2.0, 3.0]})
    with pytest.raises(DisclosureRefused, match="begins like a formula"):
        plan.run(odd).write(tmp_path / "odd")


def test_codes_of_a_table_that_begin_like_formulas(tmp_path):
    table = tacit.Table.from_array(
        [[1.0, 2.0], [3.0, 4.0]],
        totals=False,
        count=[[9, 9], [9, 9]],
        codes=[["=a", "b"], ["c", "d"]],
    )
    plan = tacit.Plan([{"kind": "minimum_frequency", "n": 1}], output={"formulas": "escape"})
    with pytest.raises(DisclosureRefused, match="begins like a formula"):
        plan.run(table).write(tmp_path / "out")
