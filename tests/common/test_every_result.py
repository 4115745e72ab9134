"""A stored result that was forged is refused; that all survive being stored is a property of the battery."""

import json

import pytest

import tacit
from common.cases import build, people
from tacit.result import Result


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
