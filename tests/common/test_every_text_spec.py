"""One battery for every Spec that acts on texts."""

import re

import pytest

import tacit
from common.cases import build_for_texts, text_measure_kinds, text_method_kinds, texts
from tacit.claims.claim import Claim
from tacit.errors import InputError, SdcError

METHODS, MEASURES = text_method_kinds(), text_measure_kinds()
ALL = [*METHODS, *MEASURES]
#: Words of the common texts that no message, note or report may quote.
PRIVATE = re.compile(r"Townsend|Kowalski|48213375|Huntington|bert\.k")

pytestmark = pytest.mark.filterwarnings("ignore::tacit.errors.SdcWarning")


def run(kind, corpus, seed=5):
    spec = build_for_texts(kind)
    if kind in METHODS:
        return spec.apply(corpus, seed=seed)
    return spec.measure(corpus, original=corpus, seed=seed)


def facts(result):
    if isinstance(result, tacit.Corpus):
        return [(d.name, d.text) for d in result]
    return result.to_dict()


def test_there_are_some():
    assert "scrub" in METHODS
    assert {"text_risk", "text_utility"} <= set(MEASURES)


@pytest.mark.parametrize("kind", METHODS)
def test_history_and_claims(kind):
    result = run(kind, texts())
    action = result.history[-1]
    assert action.kind == kind
    assert action.techniques
    assert not PRIVATE.search(str(action.details))
    for claim in action.claims:
        assert claim.holds(result)
        assert claim.sentence()
        assert not PRIVATE.search(str(claim.to_dict()))
        assert any("not anonymous" in text for text in claim.assumptions)
        assert Claim.from_dict(claim.to_dict()).holds(result)


HARD = {
    "no texts": lambda: tacit.Corpus(()),
    "an empty text": lambda: texts({"a": ""}),
    "one character": lambda: texts({"a": "."}),
    "blank space": lambda: texts({"a": "\r\n \t\u2028 \r\n"}),
    "no letters": lambda: texts({"a": "12/31 98.6 5'11\" 120/80 (3)"}),
    "marks": lambda: texts({"a": "e\u0301" * 200 + " ..." + "\U0001f469\u200d\U0001f467" * 50}),
    "other scripts": lambda: texts({"a": "患者は山田太郎です。 Пациент Иванов. المريض"}),
    "null character": lambda: texts({"a": "Dr. Lang\x00 came\x0c"}),
    "one long word": lambda: texts({"a": "A" * 20_000}),
    "hostile names": lambda: tacit.Corpus.of(
        {"../../x.txt": "Dr. Lang", "a'\"`.txt": "Mrs. Lang", "select *": ""}
    ),
}


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("case", HARD)
def test_hard_texts_work_or_are_refused_in_a_sentence(kind, case):
    try:
        result = run(kind, HARD[case]())
    except SdcError as error:
        assert 10 < len(str(error)) < 700
        return
    facts(result)
    if isinstance(result, tacit.Corpus):
        for claim in result.history[-1].claims:
            assert claim.holds(result)


@pytest.mark.parametrize("kind", ALL)
def test_other_data_are_refused_kindly(kind):
    with pytest.raises(InputError, match="works on texts"):
        run(kind, tacit.read({"a": [1, 2]}))


@pytest.mark.parametrize("kind", MEASURES)
def test_results_print_and_plot_themselves(kind):
    result = run(kind, texts())
    assert result.title in repr(result)
    assert not PRIVATE.search(repr(result))
    assert result.summary()
    assert result.plot().svg().startswith("<svg")
    assert result.plot().alt


@pytest.mark.parametrize("kind", ALL)
def test_stands_in_a_plan_that_runs_writes_and_verifies(kind, tmp_path):
    spec = build_for_texts(kind)
    steps = [spec] if kind in METHODS else [tacit.Scrub()]
    plan = tacit.Plan(steps, [] if kind in METHODS else [spec])
    corpus = texts()
    folder = plan.run(corpus).write(tmp_path / "out")
    assert tacit.verify(folder, corpus)
    public = "".join(f.read_text(encoding="utf-8") for f in folder.rglob("*") if f.is_file())
    assert not PRIVATE.search(public)
