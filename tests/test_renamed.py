"""Old names say the new one, and what they say exists."""

import pytest

import tacit
from tacit.registry import specs
from tacit.renamed import GROUPINGS, OLD_KINDS, OLD_NAMES, renamed_kind


@pytest.mark.parametrize("method", GROUPINGS)
def test_every_grouping_method_has_a_spec(method):
    kind, call = GROUPINGS[method]
    assert specs()[kind].__name__ == call.split("(")[0]
    said = renamed_kind("microaggregate", {"method": method, "k": 3})
    assert said.count(".") == 1
    assert f"is now the kind {kind!r}" in said


def test_old_names_are_gone_and_said():
    for name, sentence in OLD_NAMES.items():
        assert name in sentence
        assert name not in dir(tacit)
    for kind, sentence in OLD_KINDS.items():
        assert kind not in specs()
        assert kind in sentence


def test_the_default_method_was_mdav():
    assert renamed_kind("microaggregate", {}) == (
        "The kind 'microaggregate' with method 'mdav' is now the kind 'mdav'."
    )
    assert "ward is 'ward_groups'" in renamed_kind("microaggregate")
    assert renamed_kind("datafly") is None
