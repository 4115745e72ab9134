"""The battery: every promise of ``common.properties``, for every registered Spec on every kind of data."""

import pytest

from common.cases import build, build_for_texts
from common.excused import EXCUSED
from common.properties import PROPERTIES
from tacit.registry import specs

pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")


def every_spec():
    """Each kind with its example parameters; those for records and texts once for each."""
    for kind, cls in specs().items():
        yield kind, build(kind)
        if len(cls.data_types()) > 1:
            yield f"{kind}-on-texts", build_for_texts(kind)


def cases():
    """Every property with every Spec; what is excused must fail, or the excuse goes."""
    for name in PROPERTIES:
        for label, spec in every_spec():
            excuse = EXCUSED.get(name, {}).get(label)
            marks = [] if excuse is None else [pytest.mark.xfail(reason=excuse, strict=True)]
            yield pytest.param(spec, name, id=f"{label}-{name}", marks=marks)


@pytest.mark.parametrize(("spec", "name"), list(cases()))
def test_keeps_its_promise(spec, name):
    PROPERTIES[name](spec)
