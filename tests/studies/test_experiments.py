"""Published experiments under ``tacit experiment``: they run, and the four designs come out as printed."""

import csv
from pathlib import Path

import numpy as np
import pytest

from studies import blanking_and_noise
from tacit.cli import main
from tacit.cli.studies import EXPERIMENTS

PRINTED = Path(__file__).parents[1] / "fixtures/psd14-blanking-and-noise/tables2_5.csv"


@pytest.mark.parametrize("name", [n for n in EXPERIMENTS if n not in ("channels", "blanking")])
def test_small_experiments_write_tables(name, tmp_path, capsys):
    assert main(["experiment", name, "--out", str(tmp_path / name), "--seed", "1"]) == 0
    assert "rows" in capsys.readouterr().out
    for file in (tmp_path / name).glob("*.csv"):
        rows = list(csv.reader(file.read_text().splitlines()))
        assert len(rows) > 4
        assert len({len(r) for r in rows}) == 1
    assert list((tmp_path / name).glob("*.csv"))


def test_the_four_designs_come_out_as_printed(monkeypatch):
    monkeypatch.setitem(blanking_and_noise.SIZES, "small", (1000, 12))
    found = blanking_and_noise.run(seed=3)
    names = {"naive": "naive", "bsimex": "bsimex"}
    ours = {(r["design"], r["estimator"]): r for r in found["estimates"].rows(named=True)}
    compared = 0
    for row in csv.DictReader(PRINTED.read_text().splitlines()):
        estimator = names.get(row["estimator"].lower())
        if row["n"] != "1000" or estimator is None:
            continue
        own = ours[int(row["design"]), estimator]
        # The error of a mean over twelve files is at most the printed root mean square error over sqrt(12).
        slack = 4.5 * float(row["pub_rmse"]) / np.sqrt(12) + 0.005
        assert abs(own[row["parameter"]] - float(row["pub_mean"])) < slack
        compared += 1
    assert compared == 24
    dropped = [r["dropped"] for r in found["dropped"].rows(named=True)]
    assert dropped == pytest.approx([185.2, 278.0, 167.9, 261.9], rel=0.06)


def test_unknown_experiments_are_refused(tmp_path, capsys):
    assert main(["experiment", "alchemy", "--out", str(tmp_path)]) != 0
    assert "channels" in capsys.readouterr().err
