"""Every registered Spec by its declaration, its words and its engines; what it promises: test_every_property."""

import functools
from pathlib import Path

import pytest
import yaml

import tacit
from common.cases import build, measure_kinds, method_kinds, people
from tacit.errors import InvalidParameter
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


@pytest.mark.parametrize("kind", ON_ENGINES)
def test_engines_agree(kind, other_engine):
    ours, theirs = run(kind, people()), run(kind, people(engine=other_engine))
    if isinstance(ours, tacit.Microdata):
        assert ours.to_arrow().to_pydict() == theirs.to_arrow().to_pydict()
    else:
        assert ours.value == pytest.approx(theirs.value, nan_ok=True, rel=1e-12)
        assert ours.to_dict()["numbers"].keys() == theirs.to_dict()["numbers"].keys()


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
