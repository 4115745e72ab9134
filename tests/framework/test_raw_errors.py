"""What people do by mistake ends in one sentence: frames, names, targets, disks and memory."""

import errno

import numpy as np
import openpyxl
import pandas as pd
import pytest

import tacit
from common.cases import build, people
from tacit.cli.app import main
from tacit.errors import (
    DisclosureRefused,
    EngineError,
    InputError,
    PlanError,
    SdcError,
    is_out_of_memory,
)
from tacit.io.released import write_released
from tacit.registry import specs

FRAME = pd.DataFrame({"a": [1, 1, 2, 2], "b": ["x", "x", "y", "y"], "c": [1.0, 2.0, 3.0, 4.0]})


@pytest.mark.parametrize("data", [FRAME, {"a": [1]}, "x.csv", None, 3, [1]], ids=type)
@pytest.mark.parametrize("kind", ["datafly", "mdav", "k_anonymity", "suppress_modular"])
def test_data_of_another_kind(kind, data):
    spec = build(kind)
    act = getattr(spec, "apply", None) or spec.measure
    with pytest.raises(InputError, match=rf"{kind} works on .*got {type(data).__name__}"):
        act(data)


def test_every_spec_refuses_data_of_another_kind():
    for kind in specs():
        spec = build(kind)
        with pytest.raises(InputError, match="works on"):
            (getattr(spec, "apply", None) or spec.measure)(FRAME)


def test_companions_of_another_kind():
    with pytest.raises(InputError, match="with original= works on microdata"):
        build("information_loss").measure(people(), original=FRAME)


def test_numbers_as_names():
    frame = pd.DataFrame([[1, 2.0], [1, 3.0], [3, 4.0], [3, 5.0]])
    data = tacit.read(frame, keys=[0], weight=1, hierarchies={0: tacit.hierarchy.flat()})
    assert data.keys == ("0",)
    assert data.weight == "1"
    assert len(tacit.Mdav(columns=[1], k=2).apply(tacit.read(frame), seed=1)) == 4
    plan = tacit.Plan.from_dict(
        {
            "steps": [{"kind": "mdav", "columns": [2019], "k": 2}],
            "roles": {"keys": [2020], "weight": 1},
        }
    )
    assert plan.steps[0].columns == ("2019",)
    assert plan.roles.keys == ("2020",)
    assert plan.roles.weight == "1"
    with pytest.raises(InputError, match="roles name columns"):
        tacit.read(frame, keys=[None])
    with pytest.raises(InputError, match="hierarchies must be a mapping"):
        tacit.read(frame, hierarchies=["a"])


@pytest.mark.parametrize("steps", [3, 1.5, [3], [tacit.Datafly], {"k": 2}])
def test_plans_of_nonsense(steps):
    with pytest.raises(PlanError):
        tacit.Plan(steps)


def test_intervals_and_periods_are_text():
    frame = FRAME.assign(c=pd.cut(FRAME.c, 2), d=pd.period_range("2020-01", periods=4, freq="M"))
    frame.loc[0, "c"] = np.nan
    back = tacit.read(frame, keys=["c"], hierarchies={"c": tacit.hierarchy.flat()}).to_native()
    assert back.c.isna().tolist() == [True, False, False, False]
    assert back.c[3] == str(frame.c[3])
    assert back.d.tolist() == ["2020-01", "2020-02", "2020-03", "2020-04"]


@pytest.mark.parametrize("column", [[1j, 2j, 3j, 4j], pd.arrays.SparseArray([0, 0, 0, 1])])
def test_columns_of_unknown_types(column):
    with pytest.raises(InputError, match="a type that cannot be read"):
        tacit.read(FRAME.assign(c=column))


@pytest.mark.parametrize("verb", ["release", "file", "chart", "plan", "table", "frame"])
@pytest.mark.parametrize("place", ["file/x", "x" * 300, "a\0b"])
def test_targets_that_cannot_be_written(verb, place, tmp_path):
    (tmp_path / "file").write_text("")
    data = people()
    write = {
        "release": lambda p: tacit.Plan(["deidentify"]).run(data).write(p),
        "file": lambda p: tacit.io.write(data, f"{p}.csv"),
        "chart": lambda p: tacit.KAnonymity().measure(data).plot().save(f"{p}.svg"),
        "plan": lambda p: tacit.Plan(["deidentify"]).save(f"{p}.yaml"),
        "table": lambda p: tacit.Table.from_array([[1.0, 2.0]], totals=False).save(f"{p}.table"),
        "frame": lambda p: tacit.io.write_frame(FRAME, f"{p}.xlsx"),
    }
    with pytest.raises(SdcError, match=r"cannot write|no folder") as refused:
        write[verb](tmp_path / place)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize(
    "command",
    [
        ["profile", "P", "--out", "T/x.yaml"],
        ["example", "T/x"],
        ["measure", "k-anonymity", "P", "--keys", "sex", "--plot", "T/x.svg"],
        ["apply", "add-noise", "P", "--columns", "income", "--sd", "2", "--out", "T/x.csv"],
        ["schema", "--out", "T/x.json"],
        ["key", "T/x"],
    ],
    ids=lambda c: c[0],
)
def test_targets_of_the_shell(command, tmp_path, capsys):
    people().to_pandas().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "file").write_text("")
    places = {"P": str(tmp_path / "people.csv")}
    tokens = [places.get(t, t.replace("T/", f"{tmp_path}/file/")) for t in command]
    assert main(tokens) in (1, 2)
    said = capsys.readouterr().err
    assert "cannot" in said
    assert "went wrong inside" not in said


def full(*_args, **_named):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("call", ["write_text", "mkdir", "replace"])
def test_a_full_disk_leaves_nothing(call, tmp_path, monkeypatch):
    release = tacit.Plan(["deidentify"]).run(people())
    with monkeypatch.context() as patched:
        patched.setattr(f"pathlib.Path.{call}", full)
        with pytest.raises(SdcError, match="No space left"):
            release.write(tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("shortage", [MemoryError(), OSError(errno.ENOSPC, "full")])
def test_shortages_are_named(shortage, monkeypatch, tmp_path, capsys):
    def fail(*_):
        raise shortage

    monkeypatch.setattr(tacit.AddNoise, "_apply", fail)
    what = "memory" if is_out_of_memory(shortage) else "no space on the disk"
    with pytest.raises(EngineError, match=what):
        build("add_noise").apply(people())


def test_the_memory_limit_of_the_engine_is_named():
    import duckdb

    assert is_out_of_memory(duckdb.OutOfMemoryException("x"))


def test_dropping_a_claimed_column():
    masked = (
        tacit.Mdav(columns=["age", "income"], k=3).apply(people(), seed=1).drop(["id", "income"])
    )
    release = tacit.Plan([tacit.RoundValues(columns=["age"], base=5)]).run(masked)
    claim = masked.history[0].claims[0]
    assert not claim.holds(masked.frame)
    with pytest.raises(DisclosureRefused, match="no longer there"):
        claim.require(masked.frame, where="release")
    del release


@pytest.mark.parametrize("kind", ["swap_records", "channel_expansion"])
@pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
def test_releases_after_steps_with_details_of_their_own(kind, tmp_path):
    spec = build(kind)
    if kind == "channel_expansion":
        spec = spec.model_copy(update={"b": None})
    tacit.Plan(["deidentify", spec]).run(people()).write(tmp_path / "out")


@pytest.mark.parametrize("kind", ["add_noise", "multiplicative_noise", "round_values", "rank_swap"])
def test_infinite_values_never_become_nothing(kind):
    data = tacit.read({"age": [1, 2, 3, 4], "income": [1.0, np.inf, 3.0, -np.inf]})
    spec = build(kind)
    if kind == "add_noise":
        spec = tacit.AddNoise(columns=["income"], relative=0.1)
    with pytest.raises(InputError, match="infinite"):
        spec.apply(data, seed=1)


FORMULAS = ["=1+1", "+1", "-1+1", "@SUM(1)"]


def test_no_text_is_a_formula_in_a_sheet(tmp_path):
    columns = {"=a": FORMULAS * 3, "+b": FORMULAS * 3, "@c": list(range(12))}
    data = tacit.read(columns, keys=["=a", "+b"])
    tacit.io.write(data, tmp_path / "records.xlsx")
    tacit.io.write_frame(columns, tmp_path / "frame.xlsx", more_sheets={"s": [FORMULAS]})
    table = tacit.Table.from_microdata(data, ["=a", "+b"])
    judged = tacit.SuppressModular().apply(tacit.MinimumFrequency(n=1).apply(table))
    write_released(judged, tmp_path / "table.xlsx")
    for name in ("records", "frame", "table"):
        book = openpyxl.load_workbook(tmp_path / f"{name}.xlsx")
        cells = [c for sheet in book for row in sheet.iter_rows() for c in row]
        assert sum(str(c.value) in FORMULAS for c in cells) >= 4
        assert not [c for c in cells if c.data_type == "f"]


def test_blanks_around_names_are_not_lost_in_files(tmp_path):
    data = tacit.read({" a ": [1, 2], "b": [1, 2]})
    for ending in ("csv", "xlsx"):
        with pytest.raises(InputError, match="blanks at its ends"):
            tacit.io.write(data, tmp_path / f"x.{ending}")
    tacit.io.write(data, tmp_path / "x.parquet")
    assert list(tacit.read(tmp_path / "x.parquet").columns) == [" a ", "b"]
