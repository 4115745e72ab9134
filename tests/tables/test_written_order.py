"""A table sorted by value does not tell which of two hidden cells is larger."""

import numpy as np
from pyarrow import csv

import tacit
from tacit.data.cells.dimension import Dimension
from tacit.data.table import Table

CODES = ["m", "c", "x", "a", "k", "b"]
VALUES = np.array([600.0, 500, 90, 80, 70, 60])


def table(values=VALUES):
    rows = np.column_stack([values, values[::-1] + 5])
    rows = np.column_stack([rows, rows.sum(1)])
    cells = np.vstack([rows, rows.sum(0)])
    dims = [
        Dimension.flat("trade", CODES, last=True),
        Dimension.flat("year", ["1", "2"], last=True),
    ]
    made = Table.from_cells(dims, cells, count=np.full(cells.size, 9))
    return made.with_protection([(c, y) for c in ("k", "b") for y in ("1",)], 5, 5)


def codes_of(folder):
    return list(dict.fromkeys(csv.read_csv(folder / "table.csv").column("trade").to_pylist()))


def released(tmp_path, values=VALUES, **output):
    plan = tacit.Plan([tacit.SuppressHypercube()], output={"folder": "x", **output})
    release = plan.run(table(values))
    return release, release.write(tmp_path / "out")


def test_codes_in_the_order_of_values_are_written_by_code(tmp_path):
    release, out = released(tmp_path)
    assert codes_of(out) == ["a", "b", "c", "k", "m", "x", "Total"]
    assert not any("order" in sentence for sentence in release.attention)
    shown = csv.read_csv(out / "table.csv").to_pylist()
    truth = dict(zip(CODES, VALUES, strict=True))
    seen = {r["trade"]: r["value"] for r in shown if r["year"] == "1" and not r["mark"]}
    assert all(truth[c] == v for c, v in seen.items() if c in truth)
    assert tacit.verify(out, table())


def test_a_kept_order_is_said(tmp_path):
    release, out = released(tmp_path, order="keep")
    assert codes_of(out) == [*CODES, "Total"]
    assert any("'trade'" in sentence for sentence in release.attention)


def test_an_order_that_tells_nothing_stays(tmp_path):
    mixed = np.array([80.0, 600, 70, 500, 90, 60])
    assert codes_of(released(tmp_path, mixed)[1]) == [*CODES, "Total"]
