"""Blocks of records: the same result on every engine, however frames are chunked or kept."""

import gc

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import tacit
from tacit.context import Context
from tacit.data.changes import changes
from tacit.data.fingerprint import fingerprint
from tacit.engine import scratch
from tacit.engine.base import ROW
from tacit.engine.blocks import BLOCK, Done, split
from tacit.engine.class_index import ClassIndex
from tacit.engine.duckdb import DuckDbEngine
from tacit.errors import InputError
from tacit.numerics.streams import block_rng

N = 2 * BLOCK + 1234

STEPS = [
    tacit.Recode(column="age", breaks=(20, 40, 60)),
    tacit.TopBottomCode(column="income", top_share=0.01, replace="mean"),
    tacit.MultiplicativeNoise(columns=("income", "wealth"), correlated=True),
    tacit.Pram(columns=("region", "sex"), by=("job",), stay=0.7),
    tacit.AddNoise(columns=("income", "hours"), relative=0.2, distribution="laplace"),
    tacit.RoundValues(columns=("hours",), base=5, direction="random"),
    tacit.RoundTiers(columns=("wealth",), tiers=((100, 10), (50, 5))),
    tacit.WeightNoise(by=("region",)),
    tacit.RecordKeys(),
    tacit.Sample(n=30_000, within=("job",)),
]


def population(n=N, seed=3):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "region": pa.array(rng.choice(["n", "e", "s", None], n, p=[0.4, 0.3, 0.2, 0.1])),
            "sex": pa.array(rng.choice(["f", "m"], n)),
            "age": rng.integers(0, 95, n),
            "job": pa.array(rng.choice(["a", "b", None], n)),
            "income": pa.array(rng.gamma(2, 1000, n)),
            "wealth": pa.array(rng.gamma(2, 30, n) + 1),
            "hours": pa.array(rng.integers(0, 60, n), mask=rng.random(n) < 0.1),
            "w": rng.uniform(1, 5, n),
        }
    )


def protect(data, steps=STEPS):
    for step in steps:
        data = step.apply(data, seed=11).materialise()
    return data


@pytest.fixture(scope="module")
def expected():
    return fingerprint(protect(tacit.read(population(), weight="w")))


@pytest.fixture
def small_memory(monkeypatch):
    """Return an engine that keeps all but tiny frames in files."""
    monkeypatch.setattr(scratch, "IN_MEMORY", 1 << 16)
    engine = DuckDbEngine()
    engine._scratch.in_memory = 1 << 16
    yield engine
    engine.close()


def test_files_give_what_memory_gives(expected, small_memory):
    data = tacit.read(population(), weight="w", engine=small_memory)
    assert fingerprint(protect(data)) == expected


def test_chunks_and_order_of_the_frame_do_not_matter(expected):
    table = population()
    pieces = pa.concat_tables([table.slice(i, 7919) for i in range(0, N, 7919)])
    data = tacit.read(pieces, weight="w")
    mixed = data.to_arrow(with_row=True).take(np.random.default_rng(1).permutation(N))
    assert fingerprint(protect(data.with_table(mixed))) == expected


@pytest.mark.spark
def test_spark_workers_give_what_one_process_gives(expected, monkeypatch):
    monkeypatch.setattr("tacit.engine.spark.SMALL", 0)
    monkeypatch.setattr("tacit.engine.spark.FETCHED", BLOCK)
    data = tacit.read(population(), weight="w", engine="spark")
    assert fingerprint(protect(data)) == expected


def test_refusals_come_back_from_blocks(engine, monkeypatch):
    monkeypatch.setattr("tacit.engine.spark.SMALL", 0)
    data = tacit.read({"x": [1.0, float("inf"), 2.0]}, engine=engine)
    with pytest.raises(InputError, match="column 'x' holds infinite numbers"):
        tacit.AddNoise(columns=["x"], sd=1).apply(data, seed=1)


def test_rows_are_numbered_without_gaps_in_file_order(engine, tmp_path):
    import pyarrow.parquet as pq

    folder = tmp_path / "parts.parquet"
    folder.mkdir()
    for name, start, n in (("a", 0, 10), ("b", 10, 500), ("c", 510, 3)):
        pq.write_table(pa.table({"x": np.arange(start, start + n)}), folder / f"{name}.parquet")
    data = tacit.read(folder, engine=engine)
    table = data.to_arrow(with_row=True)
    assert table.column(ROW).to_pylist() == table.column("x").to_pylist() == list(range(513))
    assert fingerprint(data) == fingerprint(pa.table({"x": np.arange(513)}))


def test_blocks_are_ranges_of_row_numbers(engine):
    rows = np.array([5, BLOCK - 1, BLOCK, 7 * BLOCK + 3, 0])
    frame = engine.from_arrow(pa.table({"x": rows * 2, ROW: rows}))
    seen = {}

    def look(block, table):
        seen[block] = table.column(ROW).to_pylist()
        return Done(None, {"block": block, "n": table.num_rows})

    told = engine.map_blocks(frame, look, None).tallies
    assert [t["n"] for t in told] == [3, 1, 1]
    assert [t["block"] for t in told] == [0, 1, 7]
    assert seen[0] == [0, 5, BLOCK - 1]


def test_split_joins_batches_of_one_block():
    rows = [pa.record_batch({ROW: np.arange(a, b)}) for a, b in ((0, 3), (3, BLOCK + 2))]
    assert [(b, t.num_rows) for b, t in split(rows)] == [(0, BLOCK), (1, 2)]


def test_every_block_and_stream_draws_by_itself():
    root = np.random.SeedSequence(4, spawn_key=(1,))
    draws = {block_rng(root, b, s).integers(1 << 62) for b in range(50) for s in range(3)}
    assert len(draws) == 150
    assert block_rng(root, 3, 1).random() == block_rng(root, 3, 1).random()
    ctx = Context.start(4, step=1)
    assert ctx.block_rng(3, 1).random() == block_rng(root, 3, 1).random()


def test_scratch_files_live_as_long_as_their_frames(small_memory):
    folder = small_memory._scratch.folder
    assert folder.stat().st_mode & 0o077 == 0
    given = tacit.read(population(), engine=small_memory)
    data = given.with_frame(given.frame.with_columns(nw.col("age") + 1)).materialise()
    assert len(list(folder.glob("*.parquet"))) == 1
    ages = data.frame.select("age")
    del data
    gc.collect()
    assert len(list(folder.glob("*.parquet"))) == 1
    assert len(small_memory.to_arrow(ages)) == N
    del ages
    gc.collect()
    assert not list(folder.glob("*.parquet"))
    small_memory.close()
    assert not folder.exists()


def test_a_plan_never_gathers_the_records(small_memory, tmp_path, monkeypatch):
    """Reading, steps, measures, writing and claims of a plan go through bounded batches only."""
    gathered = DuckDbEngine.to_arrow

    def refuse(self, frame):
        table = gathered(self, frame)
        assert table.num_rows <= 1000, "records were gathered"
        return table

    monkeypatch.setattr(DuckDbEngine, "to_arrow", refuse)
    monkeypatch.setattr("tacit.data.paired.LOOKED_AT", 400)
    monkeypatch.setattr("tacit.io.read.get_engine", lambda *_: small_memory)
    source = tmp_path / "population.csv"
    import pyarrow.csv as pa_csv

    pa_csv.write_csv(population(), source)
    data = tacit.read(source, keys=["region", "age"], weight="w", engine=small_memory)
    plan = tacit.Plan(STEPS, measures=[tacit.KAnonymity(k=2)])
    release = plan.run(data, seed=1)
    for form in ("parquet", "csv"):
        folder = release.write(tmp_path / form, format=form)
        again = tacit.read(folder / f"data.{form}", engine=small_memory)
        assert len(again) == 30_000


def test_large_text_is_streamed_like_small_text(small_memory, tmp_path):
    import pyarrow.csv as pa_csv

    source = tmp_path / "population.csv"
    pa_csv.write_csv(population(), source)
    assert source.stat().st_size > small_memory._scratch.in_memory
    streamed = tacit.read(source, engine=small_memory)
    assert fingerprint(streamed) == fingerprint(tacit.read(source))
    (tmp_path / "bad.csv").write_text(source.read_text() + "1,2\n")
    with pytest.raises(tacit.errors.UnreadableFile, match="1 line has another number of fields"):
        tacit.read(tmp_path / "bad.csv", engine=small_memory)


def test_changes_are_counted_only_where_columns_differ(engine):
    data = tacit.read({"a": [1, 2, None, 4], "b": ["x", "y", "z", None]}, engine=engine)
    table = data.to_arrow(with_row=True)
    after = data.with_table(table.set_column(0, "a", pa.array([1, None, None, 5])))
    told = changes(data, after)
    assert told["cells"] == {"a": 2}
    assert (told["dropped"], told["added"]) == (0, 0)
    fewer = data.with_table(table.take([0, 2]))
    told = changes(data, fewer)
    assert (told["records_before"], told["records_after"], told["dropped"]) == (4, 2, 2)
    assert told["cells"] == {}


def test_classes_are_found_again_with_nulls():
    cells = pa.table({"a": ["x", None, "x", "y"], "b": [1, 2, None, 1]})
    index = ClassIndex.build(("a", "b"), cells)
    assert index.size == 4
    block = pa.table({"a": [None, "x", "y", "x"], "b": [2, None, 1, 1]})
    assert index.find(block).tolist() == [3, 1, 2, 0]
    assert ClassIndex.build((), pa.table({})).find(block).tolist() == [0] * 4


# -- households --------------------------------------------------------------------------------------


def homes(n=900, seed=1, **more):
    rng = np.random.default_rng(seed)
    hh = rng.integers(0, n // 3, n)
    return tacit.read(
        {
            "hh": pa.array(hh, mask=hh == 0),
            "region": rng.choice(["n", "e", "s"], n // 3)[hh],
            "rent": rng.gamma(2, 300, n // 3)[hh],
            "rooms": rng.integers(1, 9, n // 3)[hh],
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 90, n),
        },
        household="hh",
        **more,
    )


def values_in_homes(data, column):
    table = data.to_arrow(["hh", column]).filter(pc.is_valid(data.column("hh")))
    return table.group_by("hh").aggregate([(column, "count_distinct")]).column(1).to_pylist()


@pytest.mark.parametrize(
    ("step", "column", "other"),
    [
        (tacit.Pram(columns=("region", "sex"), stay=0.5), "region", "sex"),
        (tacit.AddNoise(columns=["rent", "age"], sd=20), "rent", "age"),
        (tacit.MultiplicativeNoise(columns=["rent", "age"]), "rent", "age"),
        (tacit.RoundValues(columns=["rent", "age"], base=50, direction="random"), "rent", "age"),
        (tacit.RoundTiers(columns=["rent", "age"], tiers=((1, 50),)), "rent", "age"),
        (tacit.RankSwap(columns=["rent", "age"], percent=20), "rent", "age"),
    ],
)
def test_a_household_is_one_unit_where_the_column_is_constant(engine, step, column, other):
    data = homes(engine=engine)
    released = step.apply(data, seed=5)
    assert set(values_in_homes(released, column)) == {1}
    assert set(values_in_homes(released, other)) != {1}
    assert released.history[-1].details["by_household"] == [column]
    changed = pc.not_equal(released.column(column), data.column(column))
    assert pc.sum(changed).as_py() > 100


def test_pram_by_household_keeps_expected_frequencies():
    data = homes(n=60_000)
    released = tacit.Pram(column="region", stay=0.5).apply(data, seed=5)
    old, new = (
        np.unique(d.column("region").to_pylist(), return_counts=True)[1] for d in (data, released)
    )
    assert np.abs(old - new).max() < 4 * np.sqrt(3 * 60_000 * 0.25)
    assert 0.2 < released.history[-1].details["changed_share"]["region"] < 0.5


def test_pram_warns_when_members_draw_apart():
    with pytest.warns(tacit.errors.WeakProtection, match="majority vote"):
        tacit.Pram(column="region", by=("sex",)).apply(homes(), seed=1)


def test_least_counts_households_where_the_column_is_constant():
    data = tacit.read({"hh": [1, 1, 1, 2, 3], "rent": [9, 9, 9, 1, 2]}, household="hh")
    tacit.TopBottomCode(column="rent", top=5, least=3).apply(tacit.read(data.to_arrow()))
    with pytest.raises(tacit.errors.Infeasible, match="fewer than 3"):
        tacit.TopBottomCode(column="rent", top=5, least=3).apply(data)
    rare = tacit.read({"hh": [1, 1, 1, 2, 3], "region": ["a", "a", "a", "b", "b"]}, household="hh")
    merged = tacit.Recode(column="region", least=2, into="other").apply(rare)
    assert merged.column("region").to_pylist() == ["other"] * 3 + ["b"] * 2
