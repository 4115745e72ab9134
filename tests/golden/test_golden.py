"""Every case gives what it gave when the file was written: a tenth here, all of them in the slow tests."""

import pytest

from golden import told
from golden.cases import LEFT_OUT, cases
from golden.fingerprints import RENEW, differences, in_tenth, stored, take
from surface.inside import all_specs

NAMES = list(cases())
TENTH = [n for n in NAMES if in_tenth(n)]


def agree(names):
    found = differences(names, {name: take(name) for name in names})
    assert not found, "\n".join([*found, RENEW])


def test_a_tenth_is_as_before():
    assert len(TENTH) > 30
    agree(TENTH)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(9))
def test_all_are_as_before(part):
    names = [n for n in NAMES if n not in TENTH]
    agree(names[part::9])


def test_the_file_holds_every_case_and_no_other():
    assert list(stored()) == NAMES
    assert not set(LEFT_OUT) & set(NAMES)


def test_every_kind_has_its_example():
    """The kind of a joint fit has a case of its own."""
    shown = {n.split()[1].rstrip(":") for n in NAMES if n.startswith("example ")}
    assert set(all_specs()) - shown == {"check_fit"}


def test_most_cases_are_no_refusals():
    refused = [n for n, line in stored().items() if line.startswith("refused")]
    assert 0 < len(refused) < len(NAMES) / 10


def test_numbers_are_compared_to_twelve_digits():
    one, near, far = ({"x": [v, float("nan")]} for v in (0.1, 0.1 + 1e-16, 0.1 + 1e-10))
    assert told.told(one) == told.told(near)
    assert told.told(one) != told.told(far)
    assert told.plain({"seconds": 3.2, "n": 3.0, "zero": -0.0}) == {"n": "3", "zero": "0"}
