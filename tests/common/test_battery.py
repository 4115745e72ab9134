"""The battery catches what it promises: toys with one planted fault each, and sound ones that pass it all."""

import pytest

from common.properties import PROPERTIES
from common.toys import PLANTED, SOUND

pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")


@pytest.mark.parametrize("name", PROPERTIES)
@pytest.mark.parametrize("spec", SOUND, ids=lambda s: type(s).__name__)
def test_a_sound_spec_keeps_every_promise(spec, name):
    PROPERTIES[name](spec)


@pytest.mark.parametrize(("toy", "name"), PLANTED, ids=lambda x: getattr(x, "__name__", ""))
def test_a_planted_fault_is_caught(toy, name):
    with pytest.raises(AssertionError):
        PROPERTIES[name](toy())


def test_every_property_catches_a_fault():
    assert {name for _, name in PLANTED} >= PROPERTIES.keys() - {"can_be_cancelled_at_once"}
