"""Public functions check their arguments as Specs do: by what they declare, with one clear sentence.

The annotations of a function are its declaration. A module of public names hands out its functions checked;
within the package the same functions are called as they are, so that a check costs once for each call of a user.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
import numbers
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from math import isnan
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from tacit.errors import InvalidParameter, SdcError, has_lone_surrogate, near_match
from tacit.parameters import shown
from tacit.renamed import no_attribute

F = TypeVar("F", bound=Callable[..., Any])
#: So many entries of a list or mapping are looked at; longer ones are data, which the function looks at itself.
LOOKED_AT = 1000
#: What a computation raises when values of the right types do not fit it.
RAW = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, AssertionError)
UNIONS = (Union, types.UnionType)
WORDS: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    complex: "a number",
    str: "text",
    bytes: "bytes",
    None: "None",
    type(None): "None",
}
ENTRIES: Mapping[Any, str] = {int: "whole numbers", float: "numbers", str: "texts"}


# -- modules of public names ---------------------------------------------------------------------------


def publish(
    package: str, homes: Mapping[str, str] | None = None, names: dict[str, Any] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a module of public names, whose functions check their arguments.

    Parameters
    ----------
    package
        The module as users write it, such as ``tables``.
    homes
        Public name to the module that it lies in, imported when first used.
    names
        ``globals()`` of a module that has imported names in its ``__all__`` already.
    """
    found = homes or {}
    own = [n for n in (names or {}).get("__all__", ()) if n not in found]
    for name in own:
        cast("Any", names)[name] = check_function(cast("Any", names)[name], package)

    def get(name: str) -> Any:
        if name in found:
            return check_function(getattr(importlib.import_module(found[name]), name), package)
        raise no_attribute(package, name)

    return get, lambda: sorted({*found, *own})


def publish_parts(
    package: str, home: str, names: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a module whose public names are modules below it."""

    def get(name: str) -> Any:
        if name in names:
            return importlib.import_module(f"{home}.{name}")
        raise no_attribute(package, name)

    return get, lambda: sorted(names)


def check_function(given: Any, package: str) -> Any:
    """Return a function that checks its arguments; anything else as it is."""
    if not inspect.isfunction(given) or inspect.isgeneratorfunction(given):
        return given
    return _checked(given, f"{package}.{given.__name__}")


def checked(function: F) -> F:
    """Make a function or method check its arguments by its annotations."""
    return cast("F", _checked(function, function.__qualname__))


@functools.cache
def _checked(function: Any, name: str) -> Any:
    if getattr(function, "_checks", False):
        return function
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = bind(name, signature, args, kwargs)
        hints = hints_of(function)
        found = [
            fault_of(argument, hints[argument], value, signature.parameters[argument])
            for argument, value in bound.arguments.items()
            if argument in hints
        ]
        faults = [f for f in found if f]
        if faults:
            raise InvalidParameter(f"{name}: " + "; ".join(faults), faults)
        with_arrays(bound, hints)
        try:
            return function(*bound.args, **bound.kwargs)
        except SdcError:
            raise
        except RAW as error:
            # What a function of the user raises is the user's to see.
            if any(inspect.isroutine(v) for v in bound.arguments.values()):
                raise
            raise InvalidParameter(f"{name}: {misfit(bound.arguments)}") from error

    vars(call)["_checks"] = True
    return call


def bind(
    name: str, signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> inspect.BoundArguments:
    """Return the arguments by name; say in a sentence which are missing, unknown or too many."""
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        known = [p for p in signature.parameters if p != "self"]
        open_ = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
        unknown = [] if open_ else [k for k in kwargs if k not in known]
        if unknown:
            hint = near_match(unknown[0], known) or f"Parameters: {', '.join(known)}"
            said = f"there is no parameter {unknown[0]!r}. {hint}"
        else:
            said = str(error)
        raise InvalidParameter(f"{name}: {said}") from None


class Names(dict[str, Any]):
    """Names of a module; those that it imports for type checkers alone are public names of the package."""

    def __missing__(self, name: str) -> Any:
        """Return a name of Python or of the package."""
        found = getattr(builtins, name, None) or getattr(sys.modules["tacit"], name, None)
        if found is None:
            raise KeyError(name)
        return found


@functools.cache
def hints_of(function: Any) -> Mapping[str, Any]:
    """Return the declared types; those that only a type checker can see are left out."""
    bare = inspect.unwrap(function)
    names = Names(vars(sys.modules[bare.__module__]))
    found = {}
    for name, hint in bare.__annotations__.items():
        try:
            found[name] = (
                typing.get_type_hints(
                    types.SimpleNamespace(__annotations__={name: hint}),
                    {},
                    names,
                    include_extras=True,
                )[name]
                if isinstance(hint, str)
                else hint
            )
        except (NameError, TypeError, AttributeError):
            continue
    found.pop("return", None)
    return found


def check_fields(instance: Any) -> None:
    """Refuse a dataclass whose fields are not what they are declared to be; called from ``__post_init__``."""
    hints = typing.get_type_hints(type(instance), include_extras=True)
    found = [fault_of(f.name, hints[f.name], getattr(instance, f.name)) for f in fields(instance)]
    faults = [f for f in found if f]
    if faults:
        raise InvalidParameter(f"{type(instance).__name__}: " + "; ".join(faults), faults)


# -- one argument --------------------------------------------------------------------------------------


def fault_of(
    name: str, hint: Any, value: Any, parameter: inspect.Parameter | None = None
) -> str | None:
    """Return a clause that says what an argument must be; None where it is that."""
    if parameter is not None and parameter.kind is parameter.VAR_POSITIONAL:
        return next((f for v in value if (f := fault_of(name, hint, v))), None)
    if parameter is not None and parameter.kind is parameter.VAR_KEYWORD:
        return next((f for n, v in value.items() if (f := fault_of(n, hint, v))), None)
    if parameter is not None and value is parameter.default:
        return None
    if fits(value, hint):
        return None
    plain = value is None or isinstance(value, str | int | float | bool)
    got = shown(value) if plain else type(value).__name__
    return f"{name} must be {wanted(hint)} (got {got})"


def fits(value: Any, hint: Any) -> bool:
    """Return True for a value of a declared type."""
    hint = getattr(hint, "__value__", hint)
    if hint is Any:
        return True
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return fits(value, inner[0])
    if is_array_like(hint):
        return as_array(value) is not None
    if origin in UNIONS:
        return any(fits(value, h) for h in inner)
    if origin is Literal:
        return any(type(value) is type(a) and value == a for a in inner)
    if hint is None or hint is type(None):
        return value is None
    if hint in SCALARS:
        return SCALARS[hint](value)
    kind = origin or hint
    if not isinstance(kind, type) or kind is object:
        return True  # Any, type variables, names of a type checker
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
        return is_array_of(value, inner)
    if issubclass(kind, Mapping):
        return isinstance(value, Mapping) and entries_fit(value.items(), inner)
    if kind is type:
        return isinstance(value, type)
    if issubclass(kind, tuple | list) or (issubclass(kind, Iterable) and inner):
        return is_list_of(value, kind, inner)
    if getattr(kind, "_is_protocol", False) and not getattr(kind, "_is_runtime_protocol", False):
        return True
    return isinstance(value, kind)


def is_text(value: Any) -> bool:
    """Return True for text that can be written."""
    return isinstance(value, str) and not has_lone_surrogate(value)


#: What Python takes for a number and people do not: truths, and what is no number.
SCALARS: Mapping[Any, Callable[[Any], bool]] = {
    bool: lambda v: isinstance(v, bool) or type(v).__name__ == "bool",
    int: lambda v: isinstance(v, numbers.Integral) and not isinstance(v, bool),
    float: lambda v: isinstance(v, numbers.Real) and not isinstance(v, bool) and not isnan(v),
    str: is_text,
}


def is_array_like(hint: Any) -> bool:
    """Return True for numpy's own union of everything that becomes an array."""
    return get_origin(hint) in UNIONS and any(
        "_SupportsArray" in str(h) or "_NestedSequence" in str(h) for h in get_args(hint)
    )


def as_array(value: Any) -> Any:
    """Return a value as an array; None where its rows have different lengths, or it is nothing of the sort."""
    import numpy as np

    if value is None or isinstance(value, str | bytes | Mapping | set):
        return None
    try:
        made = np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return made if made.dtype != object or made.ndim == 1 else None


def is_array_of(value: Any, inner: Sequence[Any]) -> bool:
    """Return True for an array, or lists that make one, of the declared sort of entries."""
    made = as_array(value)
    if made is None:
        return False
    entry = str(inner[1]) if len(inner) > 1 else ""
    wants_numbers = any(word in entry for word in ("float", "int", "number"))
    return not wants_numbers or made.dtype.kind in "biuf" or not made.size


def is_list_of(value: Any, kind: type, inner: Sequence[Any]) -> bool:
    """Return True for a list of the declared entries; a text is no list of texts or numbers."""
    if isinstance(value, str | bytes):
        return kind not in (list, tuple) and not (inner and is_plain(inner[0]))
    if not isinstance(value, Iterable):
        return False
    if not issubclass(kind, tuple | Sequence):
        # What is read once cannot be looked at before; a set or a list can.
        if not isinstance(value, Sequence | set | frozenset | Mapping):
            return True
    elif not isinstance(value, Sequence) and not hasattr(value, "__array__"):
        return False
    if issubclass(kind, tuple) and inner and inner[-1] is not Ellipsis:
        return len(cast("Any", value)) == len(inner) and entries_fit([tuple(value)], inner)
    sized = cast("Any", value)
    if not inner or not is_plain(inner[0]) or len(sized) > LOOKED_AT or hasattr(value, "__array__"):
        return True
    return all(fits(v, inner[0]) for v in value)


def is_plain(hint: Any) -> bool:
    """Return True for texts, numbers, choices, and lists of these; other entries the function looks at itself."""
    hint = getattr(hint, "__value__", hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal or hint is None or hint is type(None) or hint in (bool, int, float, str):
        return True
    within = origin is Annotated or origin in UNIONS or origin in (list, tuple, Sequence)
    return bool(inner) and within and all(h is Ellipsis or is_plain(h) for h in inner)


def entries_fit(entries: Iterable[Sequence[Any]], inner: Sequence[Any]) -> bool:
    """Return True when the parts of the first entries are what is declared."""
    if not inner:
        return True
    return all(
        fits(part, hint)
        for _, entry in zip(range(LOOKED_AT), entries, strict=False)
        for part, hint in zip(entry, inner, strict=False)
        if is_plain(hint)
    )


def with_arrays(bound: inspect.BoundArguments, hints: Mapping[str, Any]) -> None:
    """Make arrays of lists where arrays are declared."""
    import numpy as np

    for name, value in bound.arguments.items():
        kind = get_origin(hints.get(name))
        if kind is np.ndarray and isinstance(value, list | tuple):
            bound.arguments[name] = np.asarray(value)


def wanted(hint: Any) -> str:
    """Return what is declared, in words."""
    hint = getattr(hint, "__value__", hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return wanted(inner[0])
    if is_array_like(hint):
        return "an array with rows of one length"
    if origin in UNIONS:
        return " or ".join(dict.fromkeys(wanted(h) for h in inner))
    if origin is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    kind = origin or hint
    if kind in WORDS:
        return WORDS[kind]
    if not isinstance(kind, type):
        return "a function" if kind is Callable else str(kind)
    if kind.__name__ == "ndarray":
        return "an array of numbers, with rows of one length"
    if issubclass(kind, Mapping):
        lists = get_origin(inner[1]) if len(inner) > 1 else None
        of_lists = isinstance(lists, type) and issubclass(lists, Sequence)
        return "a mapping to lists" if of_lists else "a mapping"
    if kind.__name__ == "Callable":
        return "a function"
    if issubclass(kind, tuple | list) or (issubclass(kind, Iterable) and inner):
        entry = inner[0] if inner else None
        if get_origin(entry) is Literal:
            return f"a list of {wanted(entry)}"
        choices = get_args(entry) if get_origin(entry) in UNIONS else (entry,)
        of = [ENTRIES[c] for c in choices if c in ENTRIES]
        return f"a list of {of[-1]}" if of and len(of) == len(choices) else "a list"
    return str(getattr(kind, "made_by", f"a {kind.__name__}"))


def misfit(arguments: Mapping[str, Any]) -> str:
    """Return why arguments of the declared types led to nothing, as far as they show it."""
    import numpy as np

    said = []
    for name, value in arguments.items():
        if not hasattr(value, "__len__") or isinstance(value, str | bytes):
            continue
        if not len(value):
            said.append(f"{name} is empty")
            continue
        made = as_array(value)
        if made is not None and made.dtype.kind == "f" and not np.isfinite(made).all():
            said.append(f"{name} holds values that are no finite numbers")
    return "; ".join(said) or "the arguments do not fit together, in their sizes or their values"
