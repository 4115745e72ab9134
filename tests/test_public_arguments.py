"""Every public function answers wrong arguments in a sentence, as Specs do, and a module lists exactly its names."""

import contextlib
import importlib
import inspect
import io
import warnings

import numpy as np
import pytest

import tacit
from tacit.errors import InvalidParameter, SdcError
from tacit.public import check_function, checked
from tacit.series import Distance

HOMES = {
    **tacit._MODULES,
    **{f"private.{n}": f"tacit.private.{n}" for n in ("regression", "retrieval", "union")},
}
#: Values that no argument should be taken for without a word; each is given in place of one argument after the other.
WRONG = {
    "object": object(),
    "text": "slope",
    "ragged": [[1, 2], [3]],
    "empty": [],
    "empty array": np.zeros((0, 2)),
    "nan": np.array([np.nan, np.nan]),
    "negative": -3,
    "mapping": {"everybody": 1},
    "nothing": None,
}
#: Functions that work for long, read what others wrote, or write where they are told to.
LONG = {
    "hospital",
    "hospital_facts",
    "hospital_register",
    "census",
    "firms",
    "letters",
    "write_hospital",
}


def public_functions():
    for name, home in HOMES.items():
        module = importlib.import_module(home)
        for own in module.__all__:
            found = getattr(module, own)
            # A role of a protocol is a generator: it is driven by what runs the protocol.
            if inspect.isgeneratorfunction(found):
                continue
            if inspect.isfunction(found) and own not in LONG and name not in ("registry", "errors"):
                yield pytest.param(found, id=f"{name}.{own}")


@pytest.mark.parametrize("name", HOMES)
def test_a_module_lists_exactly_its_names(name):
    module = importlib.import_module(HOMES[name])
    assert sorted(module.__all__) == [n for n in dir(module) if not n.startswith("__")]
    for own in module.__all__:
        assert getattr(module, own) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("function", list(public_functions()))
def test_wrong_arguments_get_a_sentence(function, wrong, tmp_path, monkeypatch):
    """What is no sentence is a result: a function may take what is given to it, and never falls over it."""
    monkeypatch.chdir(tmp_path)
    asked = [
        p
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    positional = [WRONG[wrong] for p in asked if p.kind is not p.KEYWORD_ONLY]
    named = {p.name: WRONG[wrong] for p in asked if p.kind is p.KEYWORD_ONLY}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        with contextlib.suppress(SdcError):
            function(*positional, **named)


@pytest.mark.parametrize("function", list(public_functions()))
def test_unknown_and_missing_arguments_get_a_sentence(function):
    parameters = inspect.signature(function).parameters.values()
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        with pytest.raises(InvalidParameter, match=f"{function.__name__}: .*'no_such'"):
            function(no_such=1)
    if any(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters):
        with pytest.raises(SdcError):
            function()


def test_what_was_taken_for_something_else_is_refused():
    with pytest.raises(
        InvalidParameter, match=r"Distance: kind must be one of 'minkowski', .* \(got 'slope'\)"
    ):
        Distance("slope")
    table = tacit.Table.from_array(np.array([[1, 2], [3, 4]]), totals=False)
    with pytest.raises(InvalidParameter, match="data must be microdata"):
        tacit.Table.from_microdata(table, ["a"])
    with pytest.raises(InvalidParameter, match=r"tables must be .* \(got 3\)"):
        tacit.Table.link(table, 3)
    with pytest.raises(InvalidParameter, match=r"microaggregation\.loss: "):
        tacit.microaggregation.loss([[1, 2], [3]], [0, 1])


def test_a_sentence_names_the_argument_and_quotes_no_data():
    @checked
    def middle(x: list[float], *, share: float = 0.5, how: tacit.Table | None = None) -> float:
        return sorted(x)[int(len(x) * share)]

    assert middle([1.0, 2.0, 3.0]) == 2
    with pytest.raises(InvalidParameter, match=r"middle: share must be a number \(got 'half'\)$"):
        middle([1.0], share="half")
    with pytest.raises(
        InvalidParameter, match=r"middle: x must be a list of numbers \(got list\)$"
    ):
        middle([1.0, "secret"])
    with pytest.raises(InvalidParameter, match=r"middle: x is empty$"):
        middle([])
    with pytest.raises(
        InvalidParameter, match=r"there is no parameter 'shares'\. Did you mean 'share'"
    ):
        middle([1.0], shares=1)
    assert check_function(middle, "x") is middle
