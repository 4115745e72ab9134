"""One battery for every registered Spec: a new method is tested the moment it exists."""

import functools
import re
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

import tacit
from common.cases import COLUMNS, build, measure_kinds, method_kinds, people
from tacit.errors import Cancelled, InvalidParameter, SdcError
from tacit.plan import Plan
from tacit.registry import snake, specs

ALL = list(specs())
#: Those that act on microdata.
ON_DATA = [*method_kinds(), *measure_kinds()]
#: Those whose agreement between engines is shown: all that work on the engine or on coded cells, and five of
#: those that gather the records first, for which an engine is but the way in and out.
ON_ENGINES = [
    k
    for k in ON_DATA
    if specs()[k].runs_on != "records"
    or k in ("mdav", "rank_swap", "shuffle", "distance_linkage", "information_loss")
]
# A dozen records are fewer than some measures advise, and they say so.
pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.LowUtility")
DOCS = Path(__file__).parents[2] / "docs" / "methods"


def run(kind, data, seed=5):
    """Apply a method, or measure; refusals are SdcErrors and count as an answer."""
    spec = build(kind)
    if kind in method_kinds():
        return spec.apply(data, seed=seed)
    return spec.measure(data, original=data, register=data, seed=seed)


def table_of(result):
    return result.to_arrow() if isinstance(result, tacit.Microdata) else result.to_dict()


@pytest.mark.parametrize("kind", ALL)
def test_declares_itself(kind):
    cls = specs()[kind]
    assert kind == snake(cls.__name__)
    assert cls.title()
    assert not cls.title().endswith(".")
    assert cls.family in ("protect", "risk", "utility", "rules", "tables", "attacks")
    assert getattr(tacit, cls.__name__) is cls
    assert (DOCS / f"{kind}.md").exists(), f"docs/methods/{kind}.md is missing"


@pytest.mark.parametrize("kind", ALL)
def test_round_trips_through_yaml(kind):
    spec = build(kind)
    again = specs()[kind](
        **{k: v for k, v in yaml.safe_load(yaml.safe_dump(spec.to_dict())).items() if k != "kind"}
    )
    assert again == spec


@pytest.mark.parametrize("kind", ALL)
def test_unknown_parameter_gives_one_sentence(kind):
    with pytest.raises(InvalidParameter, match="there is no parameter 'no_such_thing'"):
        specs()[kind](**(build(kind).to_dict() | {"no_such_thing": 1}))


@pytest.mark.parametrize("kind", ON_DATA)
def test_equal_seeds_give_equal_results_and_the_input_is_untouched(kind):
    data = people()
    before = data.to_arrow()
    first, second = run(kind, data), run(kind, data)
    assert table_of(first) == table_of(second)
    assert data.to_arrow() == before
    assert data.history == ()


@pytest.mark.parametrize("kind", ON_DATA)
def test_row_order_does_not_matter(kind):
    if getattr(specs()[kind], "random", False):
        return  # each record draws its own numbers; only seeds are compared
    order = [7, 2, 11, 0, 5, 9, 1, 10, 3, 8, 6, 4]
    turned = people({name: [values[i] for i in order] for name, values in COLUMNS.items()})
    one, two = run(kind, people()), run(kind, turned)
    if isinstance(one, tacit.Microdata):
        assert claims_of(one) == claims_of(two)
        assert len(one) == len(two)
    else:
        assert one.value == pytest.approx(two.value, nan_ok=True)


def claims_of(data):
    return [c.to_dict() for a in data.history for c in a.claims]


HARD = {
    "one row": lambda: {k: v[:1] for k, v in COLUMNS.items()},
    "no rows": lambda: pa.table(COLUMNS).slice(0, 0),
    "one category": lambda: {k: [v[0]] * len(v) for k, v in COLUMNS.items()},
    "nulls": lambda: {
        k: [None if i % 5 == 2 and k != "id" else x for i, x in enumerate(v)]
        for k, v in COLUMNS.items()
    },
}


@pytest.mark.parametrize("kind", ON_DATA)
@pytest.mark.parametrize("case", HARD)
def test_hard_data_work_or_are_refused_in_a_sentence(kind, case):
    try:
        result = run(kind, people(HARD[case]()))
    except SdcError as error:
        assert 10 < len(str(error)) < 600
        assert not re.search(r"02138|p11|née|gout", str(error)), "a message must not quote data"
        return
    table_of(result)
    if isinstance(result, tacit.Microdata):
        for claim in (c for a in result.history for c in a.claims):
            assert claim.holds(result.frame)


@pytest.mark.parametrize("kind", ON_ENGINES)
def test_engines_agree(kind, other_engine):
    ours, theirs = run(kind, people()), run(kind, people(engine=other_engine))
    if isinstance(ours, tacit.Microdata):
        assert ours.to_arrow().to_pydict() == theirs.to_arrow().to_pydict()
    else:
        assert ours.value == pytest.approx(theirs.value, nan_ok=True, rel=1e-12)
        assert ours.to_dict()["numbers"].keys() == theirs.to_dict()["numbers"].keys()


@pytest.mark.parametrize("kind", method_kinds())
def test_can_be_cancelled(kind):
    from tacit.context import Context

    with pytest.raises(Cancelled):
        build(kind).apply(people(), context=Context.start(1, should_stop=lambda: True))


@pytest.mark.parametrize("kind", method_kinds())
def test_history_says_what_was_done_and_nothing_of_records(kind):
    result = run(kind, people())
    action = result.history[-1]
    assert action.kind == kind
    assert action.techniques
    assert not re.search(r"02138|p11|née|gout", str(action.details))


@pytest.mark.parametrize("kind", measure_kinds())
def test_results_print_and_plot_themselves(kind):
    result = run(kind, people())
    assert result.title in repr(result)
    assert result.summary()
    svg = result.plot().svg()
    assert svg.startswith("<svg")
    assert result.plot().alt


@pytest.mark.parametrize("kind", ON_DATA)
def test_stands_in_a_plan_and_its_schema(kind):
    spec = build(kind)
    section = "steps" if kind in method_kinds() else "measures"
    document = {"tacit": 1, "steps": [{"kind": "datafly", "k": 2}], section: [spec.to_dict()]}
    validator().validate(document)
    assert list(getattr(Plan.from_dict(document), section)) == [spec]


@functools.cache
def validator():
    """A validator over the schema of plans, which takes long to build."""
    import jsonschema

    from tacit.plan import schema

    return jsonschema.Draft202012Validator(schema())
