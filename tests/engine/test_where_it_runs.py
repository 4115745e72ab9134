"""Every Spec runs where it says; the page on engines says the same."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from common.cases import COLUMNS, build, measure_kinds, method_kinds, people
from tacit.data.microdata import Microdata
from tacit.engine.duckdb import DuckDbEngine
from tacit.registry import specs

PAGE = Path(__file__).parents[2] / "docs/explain/engines.md"
COPIES = 40


@pytest.fixture
def fetched(monkeypatch):
    """Note the number of records of every fetch of whole columns."""
    seen = []
    fetch, gather = DuckDbEngine.to_arrow, Microdata.to_arrow

    def spy(self, frame):
        table = fetch(self, frame)
        seen.append(table.num_rows)
        return table

    def spy_on_records(self, *args, **kwargs):
        table = gather(self, *args, **kwargs)
        seen.append(table.num_rows)
        return table

    monkeypatch.setattr(DuckDbEngine, "to_arrow", spy)
    monkeypatch.setattr(Microdata, "to_arrow", spy_on_records)
    monkeypatch.setattr("tacit.data.paired.LOOKED_AT", 40)  # a sample of that size may be fetched
    return seen


@pytest.fixture
def many_people(tmp_path):
    """Each person several times, in a file, on an engine that keeps nothing but tiny frames in memory."""
    columns = {c: v * COPIES for c, v in COLUMNS.items()}
    columns["id"] = [f"p{i}" for i in range(12 * COPIES)]
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    engine = DuckDbEngine()
    engine._scratch.in_memory = 1000
    yield people(tmp_path / "people.parquet", engine=engine)
    engine.close()


@pytest.mark.parametrize("kind", [*method_kinds(), *measure_kinds()])
def test_records_are_gathered_only_by_specs_that_say_so(kind, fetched, many_people):
    spec = build(kind)
    if spec.runs_on == "records":
        pytest.skip("gathers records, and says so")
    data = many_people
    fetched.clear()
    if kind in method_kinds():
        spec.apply(data, seed=1)
    else:
        spec.measure(data, original=data, register=data, seed=1)
    assert max(fetched, default=0) < 12 * COPIES


def table_of_page():
    """Return what the page's table must say, one row per place."""
    on_data = {k: specs()[k].runs_on for k in (*method_kinds(), *measure_kinds())}
    rows = []
    for where in ("engine", "cells", "records"):
        names = sorted(k for k, place in on_data.items() if place == where)
        rows.append(f"| {where} | {len(names)} | {', '.join(f'`{n}`' for n in names)} |")
    return rows


def test_the_page_on_engines_lists_every_spec_where_it_runs():
    rows = re.findall(r"^\| (?:engine|cells|records) \|.*$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert rows == table_of_page()


if __name__ == "__main__":
    print("\n".join(table_of_page()))
