"""The generalisation paths of Figures 18 and 31, as built by the rules."""

import pytest


@pytest.mark.parametrize("column", ["Ethnicity", "Birth", "Sex", "ZIP"])
def test_paths_and_heights(fig28, published, column):
    figure = published("hierarchies")
    hierarchy = fig28.hierarchies[column]
    assert hierarchy.height == figure["height"][column]
    for value, path in figure["paths_ground_to_top"][column].items():
        assert list(hierarchy.path(value)) == path
