"""Storage per person: Figure 6 of Sweeney (2000)."""

import datetime as dt

import pytest

from studies.storage import disk_per_person, time_per_page
from tacit.errors import InputError


def test_figure_6(published):
    figure = published("gdsp")
    for (year, inputs), printed in zip(figure["input"].items(), figure["published"], strict=True):
        megabytes = disk_per_person(*inputs)
        assert megabytes == pytest.approx(figure["expected_MB_per_person"][year])
        assert round(megabytes, 0 if megabytes > 1 else 2) == printed


def test_time_per_page_of_figure_6():
    month = dt.timedelta(days=365.25 / 12)
    assert time_per_page(disk_per_person(90, 4500)) / month == pytest.approx(2, abs=0.1)
    assert time_per_page(disk_per_person(160623, 5767)) / dt.timedelta(hours=1) == pytest.approx(
        1, abs=0.05
    )
    assert time_per_page(disk_per_person(2829288, 6000)) / dt.timedelta(minutes=1) == pytest.approx(
        3.5, abs=0.1
    )


def test_storage_refusals():
    with pytest.raises(InputError):
        disk_per_person(1, 0)
    with pytest.raises(InputError):
        time_per_page(0)
