"""Every measure's result survives being stored: fields, summary, JSON of the ledger and charts."""

import json

import pytest

import tacit
from common.cases import (
    build,
    build_for_texts,
    example_of,
    fitting,
    measure_kinds,
    people,
    specs,
    table_measure_kinds,
    text_measure_kinds,
    texts,
)
from tacit.result import Result, result_type

CASES = [
    *((kind, build, lambda _: people()) for kind in measure_kinds()),
    *((kind, lambda k: specs()[k](**example_of(k)), fitting) for kind in table_measure_kinds()),
    *((kind, build_for_texts, lambda _: texts()) for kind in text_measure_kinds()),
]


@pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")
@pytest.mark.parametrize(("kind", "make", "data_of"), CASES)
def test_stored_and_loaded_it_is_the_same(kind, make, data_of):
    data = data_of(kind)
    found = make(kind).measure(data, original=data, register=data, seed=1)
    assert isinstance(found, result_type(kind))
    text = json.dumps(found.stored(), allow_nan=False)
    loaded = Result.from_dict(json.loads(text))
    assert type(loaded) is type(found)
    assert loaded.stored() == json.loads(text)
    assert json.dumps(loaded.to_dict()) == json.dumps(found.to_dict())
    assert repr(loaded) == repr(found)
    assert str(loaded.labelled()) == str(found.labelled())
    assert [c.to_dict() for c in loaded.charts()] == [c.to_dict() for c in found.charts()]


def forged(found, change):
    stored = json.loads(json.dumps(found.stored()))
    change(stored)
    return stored


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.update(kind="null_map"),
        lambda s: s.update(kind="recode"),
        lambda s: s.update(kind=7),
        lambda s: s["result"].update({"is": "Popen"}),
        lambda s: s["result"].update({"is": "subprocess.Popen"}),
        lambda s: s["result"]["of"].update(more=1),
        lambda s: s["result"]["of"].pop("parts"),
        lambda s: s["result"]["of"].update(frame={"frame": "bm8="}),
        lambda s: s["result"]["of"].update(frame={"eval": "1 + 1"}),
        lambda s: s["result"]["of"].update(value={"float": "much"}),
        lambda s: s.update(result={"is": ["KAnonymityResult"], "of": {}}),
        lambda s: s.update(result={"map": [[{"map": []}, 1]]}),
        lambda s: s.update(result={"sparse": ["__class_array", [1, 1], [], [], []]}),
    ],
)
def test_a_forged_result_is_refused_in_a_sentence(change):
    found = build("k_anonymity").measure(people())
    with pytest.raises(tacit.SdcError) as error:
        Result.from_dict(forged(found, change))
    assert "\n" not in str(error.value)


def test_a_result_of_a_known_class_needs_no_registry():
    found = build("k_anonymity").measure(people())
    loaded = type(found).from_dict(found.stored())
    assert loaded.violations == found.violations
