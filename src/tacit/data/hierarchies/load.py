"""From a path or a plan's words to a hierarchy or rule, and back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import ValidationError, validate_call

from tacit.data.hierarchies.argus import read_grc, read_hrc
from tacit.data.hierarchies.dates import dates
from tacit.data.hierarchies.files import read_csv
from tacit.data.hierarchies.icd import icd
from tacit.data.hierarchies.intervals import intervals
from tacit.data.hierarchies.rules import digits, flat, prefix
from tacit.data.hierarchies.tree import from_levels, from_tree, read_yaml
from tacit.data.hierarchy import Hierarchy, Rule
from tacit.errors import HierarchyError, UnreadableFile, near_match

#: The kinds that a plan can name, and the function that makes each.
KINDS: Mapping[str, Callable[..., Hierarchy | Rule]] = {
    "flat": flat,
    "digits": digits,
    "prefix": prefix,
    "dates": dates,
    "intervals": intervals,
    "icd": icd,
    "csv": read_csv,
    "hrc": read_hrc,
    "grc": read_grc,
    "yaml": read_yaml,
    "tree": from_tree,
    "levels": from_levels,
    "paths": Hierarchy.from_paths,
}

EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".hrc": "hrc",
    ".grc": "grc",
    ".yaml": "yaml",
    ".yml": "yaml",
}

#: Options that are for callers in Python only.
HIDDEN = frozenset({"where", "lines"})


def load(given: Any, *, base: str | Path | None = None) -> Hierarchy | Rule:
    """Return the hierarchy or rule that a path or a plan names.

    Parameters
    ----------
    given
        A hierarchy or rule (returned as it is); the path of a ``.csv``, ``.hrc``, ``.grc`` or ``.yaml``
        file; a list of ``.grc`` files; a mapping with ``kind`` and the options of that kind, such as
        ``{"kind": "dates", "format": "%m/%d/%y"}``; or a mapping with ``path`` and options of its reader.
    base
        Folder from which relative paths are taken; by default the current one.

    Raises
    ------
    HierarchyError
        When the kind or an option does not exist (with near matches), or the hierarchy has faults.
    """
    if isinstance(given, Hierarchy | Rule):
        return given
    if isinstance(given, str | Path):
        given = {"path": given}
    elif isinstance(given, Sequence) and given and all(isinstance(p, str | Path) for p in given):
        given = {"path": list(given)}
    if not isinstance(given, Mapping):
        raise HierarchyError(
            "a hierarchy is given as a rule or hierarchy of tacit.hierarchy, the path of a file, or a mapping with 'kind'"
        )
    options = {str(k): v for k, v in given.items()}
    kind = str(options.pop("kind", "") or kind_of(options.get("path")))
    check_options(kind, options)
    if "path" in options:
        options["path"] = resolve(options["path"], base)
    return make(kind, options)


def make(kind: str, options: Mapping[str, Any]) -> Hierarchy | Rule:
    """Call the function of a kind, its options checked against their types."""
    try:
        made: Hierarchy | Rule = validate_call(KINDS[kind])(**options)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, e['loc'][:1]))}: {e['msg']}" for e in error.errors()]
        raise HierarchyError(f"hierarchy of kind {kind!r}", list(dict.fromkeys(faults))) from None
    return made


def for_column(given: Any, values: pa.Array, column: str) -> Hierarchy:
    """Return what is given for a column as a hierarchy bound to the values that occur in it."""
    try:
        found = load(given)
        hierarchy = found if isinstance(found, Hierarchy) else found.build(values.to_pylist())
    except HierarchyError as error:
        named = HierarchyError(f"column {column!r}: {error}")
        named.faults = error.faults
        raise named from None
    return hierarchy.bind(values, column)


def to_dict(given: Any) -> dict[str, Any]:
    """Return a hierarchy, rule, path or mapping in the form that stands in a plan: a mapping."""
    if isinstance(given, Hierarchy | Rule):
        return given.to_dict()
    if isinstance(given, str | Path):
        return {"kind": kind_of(given), "path": str(given)}
    if isinstance(given, Mapping):
        return dict(given)
    return {"kind": kind_of(given), "path": [str(p) for p in given]}


def kind_of(path: Any) -> str:
    """Return the kind of a hierarchy file by its ending; several files must be recodes."""
    if path is None:
        raise HierarchyError(
            f"a hierarchy in a plan needs 'kind' or 'path'. Kinds: {', '.join(KINDS)}."
        )
    if not isinstance(path, str | Path):
        kinds = {kind_of(p) for p in path}
        if kinds != {"grc"}:
            raise HierarchyError("only .grc files can be given as a list: each makes one level")
        return "grc"
    ending = Path(path).suffix.lower()
    if ending not in EXTENSIONS:
        raise UnreadableFile(
            f"cannot tell the kind of hierarchy file {Path(path).name!r} from its ending. "
            f"Known extensions: {', '.join(EXTENSIONS)}; or say kind."
        )
    return EXTENSIONS[ending]


def check_options(kind: str, options: Mapping[str, Any]) -> None:
    """Refuse an unknown kind, unknown options and missing ones, all at once."""
    if kind not in KINDS:
        raise HierarchyError(
            f"there is no kind of hierarchy {kind!r}. {near_match(kind, KINDS)} Kinds: {', '.join(KINDS)}.".replace(
                "  ", " "
            )
        )
    known = {n: p for n, p in inspect.signature(KINDS[kind]).parameters.items() if n not in HIDDEN}
    faults = [
        f"there is no option {name!r}. {near_match(name, known)}".strip()
        for name in options
        if name not in known
    ]
    faults += [
        f"the option {name!r} is missing"
        for name, parameter in known.items()
        if parameter.default is inspect.Parameter.empty and name not in options
    ]
    if faults:
        raise HierarchyError(f"hierarchy of kind {kind!r} (options: {', '.join(known)})", faults)


def resolve(path: Any, base: str | Path | None) -> Any:
    """Return a path, or each of several, taken from a folder if it is relative."""
    if not isinstance(path, str | Path):
        return [resolve(p, base) for p in path]
    return path if base is None else Path(base) / path
