"""Studies are found beside the package, and their absence is said."""

import pytest

from tacit.cli.studies import load_study
from tacit.errors import InputError


def test_a_study_of_the_source_tree():
    assert load_study("storage").disk_per_person(90, 4500) == 0.02


def test_without_a_source_tree_the_place_is_said(tmp_path):
    with pytest.raises(
        InputError, match=r"lies in examples/studies/channels\.py of the source tree"
    ):
        load_study("channels", tmp_path)
