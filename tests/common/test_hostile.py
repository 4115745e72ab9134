"""Every Spec for records, with hostile names of columns and hostile values, and a step after it.

What is allowed: a right result whose claims recompute, or one sentence. Never another exception, a record
lost in silence, or a column of NaN.
"""

import functools
import math
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import tacit
from common.cases import (
    COLUMNS,
    KEYS,
    build,
    example_of,
    hierarchies,
    measure_kinds,
    method_kinds,
    people,
)
from tacit.errors import InputError, SdcError
from tacit.registry import specs

FIXTURES = Path(__file__).parents[1] / "fixtures"

pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")

ON_DATA = [*method_kinds(), *measure_kinds()]
#: On Spark: what runs on the engine alone; the rest gathers coded cells or records first.
ON_ENGINE = [k for k in ON_DATA if specs()[k].runs_on == "engine"]
#: Steps that take records out, or put others in their place, and say so.
CHANGES_LENGTH = {
    *("add_tuples", "anonymise", "blank", "channel_expansion", "datafly"),
    *("local_recode", "sample", "sample_households"),
}
#: The name of the column is part of what is drawn: pseudonyms of one column say nothing of another's.
NAMED_DRAW = {"pseudonymise"}
#: Measures that look at names of columns: a column called name is one that names people.
READS_NAMES = {"direct_identifiers", "safe_harbor"}

ORDER = list(COLUMNS)


def spread(*names):
    return dict(zip(ORDER, names, strict=True)).__getitem__


#: Each column under a name that some layer might take for something else.
MIXED = {
    "paths and spaces": spread(
        "no.id", " sex ", "main.t.age", "`zip`", 'the "job"', "in'come", "*disease"
    ),
}
#: One kind of hostility at a time, for all columns.
SINGLE = {
    "words and signs": spread(
        "select", "n", "1st age", "^zip.*$", "年возраст😀", "income[0](x){y}; --", "d\nis\tease"
    ),
    "dots": lambda n: f"{n}.x",
    "paths": lambda n: f"main.t.{n}",
    "outer spaces": lambda n: f" {n} ",
    "quotes": lambda n: f'{n}\'s "own"',
    "quoted": lambda n: f'"{n}"',
    "backticks": lambda n: f"`{n}`",
    "brackets": lambda n: f"{n}[0](x){{y}}",
    "stars": lambda n: f"*{n}",
    "patterns": lambda n: f"^{n}.*$",
    "long": lambda n: (n * 60)[:200],
    "newlines": lambda n: f"{n}\nb\tc",
    "digits": lambda n: f"1{n}",
    "scripts": lambda n: f"年{n}возраст😀",
    "formulas": lambda n: f"={n}+1; --",
    "formats": lambda n: "%s{0}" + n + "\\",
    "keywords": spread("select", "from", "order", "group", "table", "null", "all"),
    "numbers": spread("0", "1", "2", "3", "4", "5", "6"),
    "signs alone": spread("..", "'", '"', "`", ",", "[]", " "),
    "words of ours": spread("old", "new", "value", "n", "row", "count", "distinct"),
    "words of ours too": spread("kind", "weight", "name", "key", "keys", "level", "size"),
    "without dots": spread(
        "1st id", " sex ", "age, 'x'", "select", 'the "job"', "income[0](x){y}; --", "年возраст😀"
    ),
    "words in tables": spread("people", "low0", "most", "least", "head", "id", "k0"),
}


def renamed(value, name):
    """Parameters with the columns of the example under other names."""
    if isinstance(value, str):
        return name(value) if value in COLUMNS else value
    if isinstance(value, dict):
        return {renamed(k, name): renamed(v, name) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [renamed(v, name) for v in value]
    return value


def spec_with(kind, name):
    parameters = {k: renamed(v, name) for k, v in example_of(kind).items()}
    quoted = lambda n: "`" + name(n).replace("`", "``") + "`"  # noqa: E731 - as short as what it stands for
    if kind == "query_restriction":
        sex, age = quoted("sex"), quoted("age")
        parameters["queries"] = [f"{age} > 40", f"{sex} == 'f' and {age} < 40"]
    if kind == "regression_change":
        parameters["response"] = f"log({quoted('income')})"
        parameters["covariates"] = [quoted("age"), quoted("sex")]
    return specs()[kind](**parameters)


@functools.cache
def people_named(case, engine="duckdb"):
    name = (MIXED | SINGLE)[case]
    return tacit.read(
        {name(n): v for n, v in COLUMNS.items()},
        identifiers=[name("id")],
        keys=[name(k) for k in KEYS],
        sensitive=[name("disease")],
        hierarchies={name(n): h for n, h in hierarchies().items()},
        engine=engine,
    )


def run(spec, data, original=None):
    if isinstance(spec, tacit.spec.Method):
        return spec.apply(data, seed=5)
    return spec.measure(data, original=original or data, register=original or data, seed=5)


@functools.cache
def expected(kind):
    """What the Spec does with the common names."""
    return run(build(kind), people())


def check_names(kind, case, engine="duckdb"):
    name = (MIXED | SINGLE)[case]
    data = people_named(case, engine)
    result, want = run(spec_with(kind, name), data), expected(kind)
    if isinstance(result, tacit.Microdata):
        back = {name(n): n for n in COLUMNS}
        got = result.to_arrow()
        assert [back.get(n, n) for n in got.column_names] == want.to_arrow().column_names
        if kind not in NAMED_DRAW:
            assert [c.to_pylist() for c in got.columns] == [
                c.to_pylist() for c in want.to_arrow().columns
            ]
        check_step_after(result, name)
    else:
        if kind in READS_NAMES:
            assert result.value >= by_values_alone(kind)
            if engine != "duckdb":
                same = run(spec_with(kind, name), people_named(case))
                assert result.value == pytest.approx(same.value, rel=1e-9)
        else:
            assert result.value == pytest.approx(want.value, nan_ok=True, rel=1e-9)
        assert result.summary()
        assert repr(result)


@functools.cache
def by_values_alone(kind):
    """What is found where the names of columns say nothing."""
    return run(spec_with(kind, SINGLE["numbers"]), people_named("numbers")).value


def check_step_after(result, name):
    """The claims hold, and a measure and another method work on what came out."""
    for claim in (c for a in result.history for c in a.claims):
        assert claim.holds(result.frame)
        assert claim.sentence()
    try:
        tacit.KAnonymity(k=2).measure(result)
        if name("income") in result.columns:
            after = tacit.RoundValues(columns=[name("income")], base=5).apply(result, seed=3)
            assert len(after) == len(result)
    except SdcError as error:
        check_sentence(error)


def check_sentence(error):
    text = str(error)
    assert 10 < len(text) < 900
    assert not re.search(r"02138|\bp11\b|née|gout", text), "a message must not quote data"
    assert not re.search(r"Traceback|assertion failed|Binder Error|Exception", text)


@pytest.mark.parametrize("case", MIXED)
@pytest.mark.parametrize("kind", ON_DATA)
def test_hostile_names_change_nothing(kind, case):
    check_names(kind, case)


@pytest.mark.slow
@pytest.mark.parametrize("case", SINGLE)
@pytest.mark.parametrize("kind", ON_DATA)
def test_each_hostile_kind_of_name_changes_nothing(kind, case):
    check_names(kind, case)


#: Each reaches Spark in another way: expressions, groups, windows, joins, blocks of records.
FEW = ("add_noise", "k_anonymity", "pram", "recode", "sample")


@pytest.mark.spark
@pytest.mark.parametrize(
    "kind", [k if k in FEW else pytest.param(k, marks=pytest.mark.slow) for k in ON_ENGINE]
)
def test_hostile_names_change_nothing_on_spark(kind):
    check_names(kind, "without dots", "spark")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a", "A"], "differ only in capitals"),
        (["é", "É"], "differ only in capitals"),
        (["a", "*"], "a star alone"),
        (["a", ""], "without a name"),
        (["__n__", "a"], "two underscores are reserved"),
        (["__row__", "a"], "two underscores are reserved"),
        ([1, "1"], "more than once"),
    ],
)
def test_names_that_cannot_be_held_are_refused_on_reading(names, said, tmp_path):
    with pytest.raises(InputError, match=said):
        tacit.read({n: [1, 2] for n in names})
    if all(isinstance(n, str) for n in names):
        pa.parquet.write_table(pa.table({n: [1, 2] for n in names}), tmp_path / "x.parquet")
        with pytest.raises(InputError, match=said):
            tacit.read(tmp_path / "x.parquet")
    assert len(tacit.read({"a": [1], "__index_level_0__": [0]})) == 1


@pytest.mark.spark
@pytest.mark.parametrize("name", ["a.b", "a`b", "*"])
def test_names_that_spark_cannot_hold_are_refused_on_reading(name, other_engine):
    with pytest.raises(InputError, match=re.escape(repr(name))):
        tacit.read({name: [1, 2], "b": [1, 2]}, engine=other_engine)


def test_a_file_with_names_as_r_writes_them(tmp_path):
    text = (FIXTURES / "casc" / "tarragona.csv").read_text()
    head, rest = text.split("\n", 1)
    quoted = ",".join(f'"{n}"' for n in head.replace("_", ".").split(","))
    (tmp_path / "Tarragona.csv").write_text(f"{quoted}\n{rest}")
    data = tacit.read(tmp_path / "Tarragona.csv")
    assert "FIXED.ASSETS" in data.columns
    masked = tacit.Mdav(k=3).apply(data)
    again = tacit.Mdav(k=3).apply(tacit.read(FIXTURES / "casc" / "tarragona.csv"))
    assert [c.to_pylist() for c in masked.to_arrow().columns] == [
        c.to_pylist() for c in again.to_arrow().columns
    ]


# -- values ------------------------------------------------------------------------------------------


def with_values(**columns):
    return {**COLUMNS, **columns}


def some(values, bad, every=4):
    return [bad if i % every == 1 else v for i, v in enumerate(values)]


INF = math.inf
STRANGE = {
    "id": [f"=p{i}" for i in range(12)],
    "job": some(some(some(COLUMNS["job"], "", 3), " 1e5", 5), "\u202e'\"\\\n", 4),
    "disease": some(some(COLUMNS["disease"], "", 3), "NULL", 5),
}
VALUES = {
    "nulls everywhere": lambda: {
        n: [None if i % 5 == j % 5 else v for i, v in enumerate(values)]
        for j, (n, values) in enumerate(COLUMNS.items())
    },
    "infinities and strange texts": lambda: with_values(
        income=some(some(COLUMNS["income"], INF), -INF, 6), **STRANGE
    ),
}
MORE_VALUES = {
    "strange texts": lambda: with_values(**STRANGE),
    "extremes": lambda: with_values(
        income=some(some(some(COLUMNS["income"], 1e300), -0.0, 5), 5e-324, 7),
        age=some(COLUMNS["age"], 2**53 + 1, 6),
    ),
    "one row": lambda: {n: v[:1] for n, v in COLUMNS.items()},
    "two rows": lambda: {n: v[:2] for n, v in COLUMNS.items()},
    "all equal": lambda: {n: [v[0]] * 12 for n, v in COLUMNS.items()},
    "no rows": lambda: pa.table(COLUMNS).slice(0, 0),
    "no income": lambda: with_values(income=pa.nulls(12, pa.float64())),
    "no disease": lambda: with_values(disease=pa.nulls(12, pa.string())),
    "huge": lambda: with_values(income=[1e300 * (-1) ** i for i in range(12)]),
    "tiny": lambda: with_values(income=[5e-324 * i for i in range(12)]),
    "all infinite": lambda: with_values(income=[INF] * 12),
    "numbers as text": lambda: with_values(income=[str(v) for v in COLUMNS["income"]]),
    "truths": lambda: with_values(income=[i % 2 == 0 for i in range(12)]),
    "dates": lambda: with_values(
        income=pa.array([i * 1000 for i in range(12)], pa.int32()).cast(pa.date32())
    ),
    "text keys": lambda: with_values(age=["", " ", "1", "01", "1.0", "NA", "é", "é"] + ["x"] * 4),
}


def check_values(kind, case, engine="duckdb"):
    columns = (VALUES | MORE_VALUES)[case]()
    try:
        data = people(columns, engine=engine)
        result = run(build(kind), data)
    except SdcError as error:
        check_sentence(error)
        return
    if not isinstance(result, tacit.Microdata):
        result.summary()
        result.to_dict()
        return
    if kind not in CHANGES_LENGTH:
        assert len(result) == len(data)
    old, new = data.to_arrow(), result.to_arrow()
    for name in set(old.column_names) & set(new.column_names):
        check_column(old.column(name), new.column(name))
    check_step_after(result, lambda n: n)


def check_column(old, new):
    """No NaN comes out, and no column of numbers is emptied."""
    if pa.types.is_floating(new.type):
        assert not pc.any(pc.is_nan(new)).as_py()
    if pa.types.is_floating(new.type) and pa.types.is_floating(old.type) and len(new):
        had, has = (np.isfinite(c.drop_null().to_numpy()).any() for c in (old, new))
        assert has or not had, "every number is gone"


@pytest.mark.parametrize("case", VALUES)
@pytest.mark.parametrize("kind", ON_DATA)
def test_hostile_values_give_a_result_or_a_sentence(kind, case):
    check_values(kind, case)


@pytest.mark.slow
@pytest.mark.parametrize("case", MORE_VALUES)
@pytest.mark.parametrize("kind", ON_DATA)
def test_more_hostile_values_give_a_result_or_a_sentence(kind, case):
    check_values(kind, case)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("case", VALUES)
@pytest.mark.parametrize("kind", ON_ENGINE)
def test_hostile_values_on_spark(kind, case):
    check_values(kind, case, "spark")
