"""One battery for every Spec that acts on fits."""

import pytest

import tacit
from common.cases import build
from common.properties import fit
from tacit.data.fit import JointFit
from tacit.errors import SdcError
from tacit.registry import specs
from tacit.spec import Method

METHODS = [k for k, s in specs().items() if issubclass(s, Method) and s.data_type() is JointFit]
HOSTILE = ("select", 'a"b', "a.b", "`c`", "<b>ß</b>", "x\ny")


def test_there_are_some():
    assert "check_fit" in METHODS


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("names", [("(constant)",), HOSTILE], ids=["one", "hostile"])
def test_history_claims_and_a_release(kind, names, tmp_path):
    release = tacit.Plan([build(kind)], title="t").run(fit(names))
    assert release.data.history[-1].kind == kind
    for claim in release.data.history[-1].claims:
        assert claim.holds(release.data.claim_view())
    assert tacit.verify(release.write(tmp_path / "out")).holds


@pytest.mark.parametrize("kind", METHODS)
def test_too_few_records_are_refused_in_a_sentence(kind):
    with pytest.raises(SdcError) as refused:
        build(kind).apply(fit(n_records=5))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", METHODS)
def test_a_fit_without_coefficients_is_refused(kind):
    with pytest.raises(SdcError, match="nothing to protect or to release"):
        tacit.Plan([build(kind)], title="t").run(fit(()))


@pytest.mark.parametrize("kind", METHODS)
def test_other_data_are_refused(kind):
    with pytest.raises(SdcError):
        build(kind).apply(tacit.read({"a": [1, 2]}))


@pytest.mark.parametrize("kind", METHODS)
def test_a_changed_release_does_not_verify(kind, tmp_path):
    folder = tacit.Plan([build(kind)], title="t").run(fit()).write(tmp_path / "out")
    file = folder / "coefficients.csv"
    file.write_text(file.read_text().replace("0.5", "0.6", 1))
    assert not tacit.verify(folder).holds
