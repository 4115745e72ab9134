"""Values as plain data for JSON, and back: what results are made of.

Numbers, texts and lists are themselves; everything else is an object with one entry, whose name says what it is. A
dataclass is known by its name among the types that its holder declares: a file names no class that is not among them.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import functools
import json
import math
import sys
import typing
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from tacit.errors import InputError, UnreadableFile

#: In the metadata of a field that lives in memory only: open files, engines. Stored is its default.
LIVE: Mapping[str, Any] = {"stored": False}

#: Finds the name of a dataclass, or refuses it.
NameOf = Callable[[type], str]


class Anything:
    """Stands for a name that type checkers alone import."""

    def __getattr__(self, name: str) -> Anything:
        return self

    def __getitem__(self, item: Any) -> Anything:
        return self

    def __or__(self, other: Any) -> Any:
        return typing.Any if isinstance(other, Anything) else typing.Union[other, Any]  # noqa: UP007

    __ror__ = __or__

    def __call__(self) -> Anything:  # noqa: D102 - typing wants types to be callable
        return self


class Names(dict[str, Any]):
    """The names of a module, in which everything has a meaning."""

    def __missing__(self, name: str) -> Any:
        return getattr(sys.modules["builtins"], name, None) or Anything()


def resolve(annotation: Any, module: str) -> Any:
    """Return the type that an annotation of a module means."""
    if not isinstance(annotation, str):
        return annotation
    return eval(annotation, {}, Names(vars(sys.modules[module])))  # noqa: S307 - our own source


@functools.cache
def types_of(cls: type) -> Mapping[str, type]:
    """Return the dataclasses that a dataclass is made of by its declared types, itself included, by name."""
    found: dict[type, None] = {}
    reach(cls, found)
    names: dict[str, type] = {}
    for part in found:
        short = part.__qualname__
        names[short if short not in names else f"{part.__module__}.{short}"] = part
    return names


def reach(hint: Any, found: dict[type, None]) -> None:
    """Add the dataclasses that a type is made of; those derived from one may stand in its place."""
    for part in typing.get_args(hint):
        reach(part, found)
    if isinstance(hint, typing.TypeVar):
        reach(hint.__bound__, found)
    cls = typing.get_origin(hint) or hint
    if not isinstance(cls, type) or cls in found or not hasattr(cls, "__module__"):
        return
    if is_record(cls):
        found[cls] = None
        for base in getattr(cls, "__orig_bases__", ()):
            for part in typing.get_args(base):
                reach(part, found)
        for holder in (c for c in cls.__mro__ if is_record(c)):
            for annotation in vars(holder).get("__annotations__", {}).values():
                reach(resolve(annotation, holder.__module__), found)
    if cls.__module__.partition(".")[0] not in sys.stdlib_module_names and cls is not object:
        below: list[type] = type.__subclasses__(cls)
        for derived in below:
            reach(derived, found)


def names_of(cls: type) -> NameOf:
    """Return the names of the types that a dataclass is made of; others are refused."""
    names = {part: name for name, part in types_of(cls).items()}

    def name_of(part: type) -> str:
        if part not in names:
            raise InputError(f"{cls.__name__} does not declare that it holds a {part.__name__}")
        return names[part]

    return name_of


def is_record(cls: type) -> bool:
    """Return True for a dataclass, or a tuple with named fields."""
    return dataclasses.is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def pack(value: Any, name_of: NameOf) -> Any:
    """Return a value as plain data for JSON."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if type(value) is list:
        return [pack(v, name_of) for v in value]
    if is_record(type(value)):
        parts = {name: pack(getattr(value, name), name_of) for name in stored_names(type(value))}
        return {"is": name_of(type(value)), "of": parts}
    for kind, (matches, packed, _) in FORMS.items():
        if matches(value):
            return {kind: packed(value, lambda v: pack(v, name_of))}
    raise InputError(f"a {type(value).__name__} lives in memory only and cannot be stored")


def unpack(stored: Any, types: Mapping[str, type]) -> Any:
    """Return the value of plain data; dataclasses are those of some types."""
    if isinstance(stored, list):
        return [unpack(v, types) for v in stored]
    if not isinstance(stored, dict):
        return stored
    if "is" in stored:
        return unpack_record(stored, types)
    (kind, packed), *more = stored.items()
    if more or kind not in FORMS:
        raise UnreadableFile("a stored value has a form that is not known")
    return FORMS[kind][2](packed, lambda v: unpack(v, types))


def unpack_record(stored: Mapping[str, Any], types: Mapping[str, type]) -> Any:
    """Return a dataclass or named tuple, which must have the very fields that are stored."""
    cls: Any = types.get(str(stored["is"]))
    if cls is None:
        raise UnreadableFile("a stored value names a type that its result does not declare")
    if not isinstance(stored.get("of"), dict) or stored["of"].keys() != set(stored_names(cls)):
        raise UnreadableFile(
            f"a stored {cls.__name__} has other fields than it has now; measure again"
        )
    parts = {k: unpack(v, types) for k, v in stored["of"].items()}
    if not dataclasses.is_dataclass(cls):
        return cls(**parts)
    maker: Any = cls
    taken = [f for f in dataclasses.fields(cls) if f.init]
    # What lives in memory only is missing, and None unless its field says otherwise.
    missing = [f.name for f in taken if f.default is f.default_factory and f.name not in parts]
    made = maker(**{f.name: parts[f.name] for f in taken if f.name in parts}, **dict.fromkeys(missing))  # fmt: skip
    for name in parts.keys() - {f.name for f in taken}:
        object.__setattr__(made, name, parts[name])
    return made


def stored_names(cls: Any) -> list[str]:
    """Return the fields of a dataclass or named tuple that can be stored."""
    if not dataclasses.is_dataclass(cls):
        return list(cls._fields)
    return [f.name for f in dataclasses.fields(cls) if f.metadata.get("stored", True)]


# -- what is neither a number, a text, a list nor a dataclass ---------------------------------------


def array_of(value: Any, down: Callable[[Any], Any]) -> dict[str, Any]:
    """Return an array or a number of NumPy as its type, shape and bytes; an array of objects as a list."""
    import numpy as np

    shape = list(value.shape)
    if value.dtype.hasobject:
        return {"type": "O", "shape": shape, "of": [down(v) for v in value.ravel().tolist()]}
    return {
        "type": value.dtype.str,
        "shape": shape,
        "of": base64.b64encode(np.ascontiguousarray(value).tobytes()).decode(),
    }


def array_from(packed: Any, up: Callable[[Any], Any]) -> Any:
    """Return an array that may be written to."""
    import numpy as np

    shape = tuple(packed["shape"])
    if packed["type"] == "O":
        made = np.empty(len(packed["of"]), dtype=object)
        made[:] = [up(v) for v in packed["of"]]
        return made.reshape(shape)
    return np.frombuffer(base64.b64decode(packed["of"]), np.dtype(packed["type"])).reshape(shape).copy()  # fmt: skip


def table_bytes(table: Any) -> str:
    """Return an Arrow table as an Arrow stream in letters."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return base64.b64encode(sink.getvalue()).decode()


def table_from(packed: str) -> Any:
    """Return the Arrow table of a stream in letters."""
    import pyarrow as pa

    return pa.ipc.open_stream(base64.b64decode(packed)).read_all()


def frame_from(packed: str) -> Any:
    """Return a table as a narwhals frame."""
    import narwhals.stable.v2 as nw

    return nw.from_native(table_from(packed), eager_only=True)


def column_of(value: Any) -> list[Any]:
    """Return an Arrow array as a table of one column, and whether it is in chunks."""
    import pyarrow as pa

    return [isinstance(value, pa.ChunkedArray), table_bytes(pa.table({"": value}))]


def column_from(packed: Any) -> Any:
    """Return an Arrow array."""
    chunked, table = packed
    column = table_from(table).column(0)
    return column if chunked else column.combine_chunks()


def sparse_of(value: Any, down: Callable[[Any], Any]) -> list[Any]:
    """Return a sparse array or matrix by its class and its places by row."""
    rows = value.tocsr()
    return [type(value).__name__, list(rows.shape), *map(down, (rows.data, rows.indices, rows.indptr))]  # fmt: skip


def sparse_from(packed: Any, up: Callable[[Any], Any]) -> Any:
    """Return a sparse array or matrix of its own class."""
    import scipy.sparse

    name, shape, *parts = packed
    known = {"csr", "csc", "coo", "bsr", "dia", "dok", "lil"}
    if name.partition("_")[0] not in known or name.partition("_")[2] not in ("array", "matrix"):
        raise UnreadableFile("a stored sparse array has a form that is not known")
    rows = scipy.sparse.csr_array(tuple(map(up, parts)), shape=tuple(shape))
    return getattr(scipy.sparse, name)(rows)


def is_from(module: str, *names: str) -> Callable[[Any], bool]:
    """Return a test of values by the module and name of their class, which imports neither."""

    def matches(value: Any) -> bool:
        cls = type(value)
        return cls.__module__.startswith(module) and (not names or cls.__name__ in names)

    return matches


def sorted_items(value: Any, down: Callable[[Any], Any]) -> list[Any]:
    """Return the members of a set in an order of their own."""
    return sorted(map(down, value), key=json.dumps)


def pairs_of(value: Mapping[Any, Any], down: Callable[[Any], Any]) -> list[Any]:
    """Return the entries of a mapping, whose keys need not be texts."""
    return [[down(k), down(v)] for k, v in value.items()]


Test = Callable[[Any], bool]
Turn = Callable[[Any, Callable[[Any], Any]], Any]

#: By the name in the stored form: which values have it, how they are packed, and how they are made again.
FORMS: Mapping[str, tuple[Test, Turn, Turn]] = {
    "float": (lambda _: False, lambda v, _: str(v), lambda v, _: float(v)),
    "scalar": (
        lambda v: type(v).__module__ == "numpy" and type(v).__name__ != "ndarray",
        array_of,
        lambda v, up: array_from(v, up)[()],
    ),
    "array": (is_from("numpy", "ndarray"), array_of, array_from),
    "tuple": (
        lambda v: isinstance(v, tuple),
        lambda v, down: [down(x) for x in v],
        lambda v, up: tuple(up(x) for x in v),
    ),
    "map": (lambda v: isinstance(v, Mapping), pairs_of, lambda v, up: {up(k): up(x) for k, x in v}),
    "set": (lambda v: isinstance(v, set), sorted_items, lambda v, up: {up(x) for x in v}),
    "frozenset": (
        lambda v: isinstance(v, frozenset),
        sorted_items,
        lambda v, up: frozenset(up(x) for x in v),
    ),
    "datetime": (
        lambda v: isinstance(v, dt.datetime),
        lambda v, _: v.isoformat(),
        lambda v, _: dt.datetime.fromisoformat(v),
    ),
    "date": (
        lambda v: isinstance(v, dt.date),
        lambda v, _: v.isoformat(),
        lambda v, _: dt.date.fromisoformat(v),
    ),
    "decimal": (lambda v: isinstance(v, Decimal), lambda v, _: str(v), lambda v, _: Decimal(v)),
    "frame": (
        is_from("narwhals", "DataFrame"),
        lambda v, _: table_bytes(v.to_arrow()),
        lambda v, _: frame_from(v),
    ),
    "table": (
        is_from("pyarrow", "Table"),
        lambda v, _: table_bytes(v),
        lambda v, _: table_from(v),
    ),
    "column": (
        lambda v: type(v).__module__ == "pyarrow.lib" and type(v).__name__.endswith("Array"),
        lambda v, _: column_of(v),
        lambda v, _: column_from(v),
    ),
    "sparse": (is_from("scipy.sparse"), sparse_of, sparse_from),
}
