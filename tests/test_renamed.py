"""Old names say the new one, and what they say exists."""

from pathlib import Path

import pytest

import tacit
from tacit.registry import specs
from tacit.renamed import GROUPINGS, OLD_KINDS, OLD_NAMES, STUDIES, renamed_kind


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


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_that_moved_says_where_it_lies(name):
    module, _, attribute = name.rpartition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(getattr(tacit, module) if module else tacit, attribute)
    file = str(caught.value).rsplit(" ", 1)[1].removesuffix(".")
    assert (Path(__file__).parents[1] / file).is_file()


def test_comparisons_became_one():
    for name in ("compare_tables", "compare_masking"):
        with pytest.raises(AttributeError, match=r"is now tacit\.compare\("):
            getattr(tacit, name)
    with pytest.raises(AttributeError, match=r"examples/studies/pram_matrices\.py\.$"):
        _ = tacit.pram.compare_matrices
    with pytest.raises(AttributeError, match=r"module 'tacit\.series' has no attribute 'x'"):
        _ = tacit.series.x


def test_other_names_are_missing_as_ever():
    for module in ("tables", "channels", "governance"):
        with pytest.raises(AttributeError, match=f"module 'tacit.{module}' has no attribute 'x'"):
            getattr(tacit, module).x  # noqa: B018 - reading it is the test


def test_a_module_that_moved_says_where_it_is():
    with pytest.raises(
        ModuleNotFoundError, match=r"is now tacit\.records\.classes\.k_anonymity\.$"
    ):
        __import__("tacit.risk.k_anonymity")
    with pytest.raises(ModuleNotFoundError, match=r"is now tacit\.tables\.compare\.$"):
        __import__("tacit.utility.framework")
    with pytest.raises(ModuleNotFoundError, match=r"is now tacit\.alternatives\.comparison\.$"):
        __import__("tacit.utility.comparison")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'tacit\.nosuch'"):
        __import__("tacit.nosuch")
