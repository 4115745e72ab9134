"""What users can see of tacit, as text files: one fact in a line, sorted, so that a difference reads as a list.

``python -m surface.snapshot`` (with ``tests`` on the path) prints what differs from the files beside this one,
``python -m surface.snapshot --write`` renews them. Nothing here names the module that a thing lies in: modules may
move, names and words may not, unless somebody wants it. What is asked of the inside stands in :mod:`surface.inside`.
"""

import ast
import difflib
import functools
import importlib
import inspect
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from enum import Enum
from pathlib import Path

import tacit
from surface import inside
from surface.mistakes import sentences

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RENEW = "renew with: PYTHONPATH=src:tests python -m surface.snapshot --write, and list the difference in CHANGELOG.md"


def collect():
    """Every file of the snapshot: name to text."""
    made = {
        "parameters": parameters(),
        "descriptions": descriptions(),
        "facts": facts(),
        "command_line": command_line(),
        "names": names(),
        "names_in_docs": names_in_docs(),
        "results": results(),
        "plan": plan(),
        "registries": inside.registries(),
        "sentences": sentences(),
    }
    return {f"{name}.txt": text(lines) for name, lines in made.items()}


def text(lines):
    """Lines sorted, each once; what would break a line is spelled."""
    plain = {line.replace("\r", "\\r").replace("\n", "\\n") for line in lines}
    return "".join(f"{line}\n" for line in sorted(plain))


def stored():
    """The files as they lie in the repository."""
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(HERE.glob("*.txt"))}


def differences(old, new):
    """Lines that went (-) or came (+), under the name of their file."""
    found = []
    for name in sorted({*old, *new}):
        one, other = old.get(name, "").splitlines(), new.get(name, "").splitlines()
        changed = [
            line
            for line in difflib.unified_diff(one, other, n=0, lineterm="")
            if line[:1] in "+-" and line[:3] not in ("+++", "---")
        ]
        found += [f"{name}: {line}" for line in changed]
    return found


# -- schemas ---------------------------------------------------------------------------------------


def schemas():
    for kind, cls in inside.all_specs().items():
        yield kind, cls, cls.model_json_schema()


def parameters():
    """``kind.field: type, bounds; default``."""
    for kind, _, schema in schemas():
        needed, known = schema.get("required", ()), schema.get("$defs", {})
        for name, part in schema["properties"].items():
            if name != "kind":
                must = "; required" if name in needed else ""
                yield f"{kind}.{name}: {words(part, known)}{must}"


def words(part, known, above=()):
    """A JSON schema in one line, nothing left out but titles and descriptions."""
    part = dict(part)
    for idle in ("title", "description"):
        part.pop(idle, None)
    end = f"; default {plain(part.pop('default'))}" if "default" in part else ""
    if "$ref" in part:
        name = part.pop("$ref").rsplit("/", 1)[1]
        inner = (
            f"<{name}>"
            if name in above or name not in known
            else words(known[name], known, (*above, name))
        )
        return ", ".join([inner, *rest(part)]) + end
    ways = part.pop("anyOf", None) or part.pop("oneOf", None)
    if ways:
        return ", ".join([" or ".join(words(w, known, above) for w in ways), *rest(part)]) + end
    if "const" in part or "enum" in part:
        values = part.pop("enum", None) or [part.pop("const")]
        part.pop("type", None)
        return ", ".join(["|".join(map(plain, values)), *rest(part)]) + end
    said = str(part.pop("type", "any"))
    if "items" in part and isinstance(part["items"], Mapping):
        said += f" of ({words(part.pop('items'), known, above)})"
    if "prefixItems" in part:
        said += f" of [{', '.join(words(p, known, above) for p in part.pop('prefixItems'))}]"
    if isinstance(part.get("additionalProperties"), Mapping):
        said += f" to ({words(part.pop('additionalProperties'), known, above)})"
    if "properties" in part:
        needed = part.pop("required", ())
        inner = [
            f"{n}{'' if n in needed else '?'}: {words(p, known, above)}"
            for n, p in part.pop("properties").items()
        ]
        said += f" {{{'; '.join(inner)}}}"
    return ", ".join([said, *rest(part)]) + end


def rest(part):
    return [f"{key} {plain(value)}" for key, value in sorted(part.items())]


def plain(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def descriptions():
    """The sentence of every field, and the title of every kind."""
    for kind, cls, schema in schemas():
        yield f"{kind}: {cls.title()}"
        for name, part in schema["properties"].items():
            if name != "kind":
                yield f"{kind}.{name}: {part.get('description', '')}"


def plan():
    """The plan's JSON schema as ``path: value``; Specs and their parts have files of their own."""
    schema = inside.plan_schema()
    apart = set(inside.all_specs())
    for _, _, own in schemas():
        apart |= set(own.get("$defs", ()))
    definitions = {n: d for n, d in schema.pop("$defs").items() if n not in apart}
    yield from flat(schema | {"$defs": definitions}, "")


def flat(value, path):
    if isinstance(value, Mapping):
        if not value:
            yield f"{path}: {{}}"
        for key, inner in value.items():
            yield from flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        # Ways are told apart by what they say and not by their place: a new one makes new lines only.
        for inner in value:
            if isinstance(inner, Mapping) and "properties" in inner:
                yield from flat(inner, f"{path}[mapping]")
            else:
                yield f"{path}[]: {plain(inner)}"
    else:
        yield f"{path}: {plain(value)}"


def facts():
    """Facts of Specs that are not those of their base, and those of the bases."""
    for base in (tacit.Method, tacit.Measure):
        for name in inside.fact_names(base):
            yield f"({base.__name__.lower()}).{name} = {fact(getattr(base, name))}"
    for kind, cls in inside.all_specs().items():
        base = tacit.Method if issubclass(cls, tacit.Method) else tacit.Measure
        yield f"{kind}.class = {cls.__name__}, a {base.__name__.lower()}"
        yield f"{kind}.data = {', '.join(t.__name__ for t in cls.data_types())}"
        yield f"{kind}.secret_fields = {fact(cls.secret_fields())}"
        for name in inside.fact_names(base):
            if getattr(cls, name) != getattr(base, name):
                yield f"{kind}.{name} = {fact(getattr(cls, name))}"


def fact(value):
    if isinstance(value, property):
        return "by its parameters"
    if isinstance(value, set | frozenset):
        return plain(sorted(value))
    return plain(dict(value) if isinstance(value, Mapping) else value)


# -- command line ------------------------------------------------------------------------------------


def command_line():
    """The help of every command, an option in a line; of ``apply`` and ``measure`` the options by kind."""
    for group, pages in inside.command_pages().items():
        lines = [line for page in pages for line in help_lines(page)]
        yield from by_kind(lines, f"tacit {group}") if group in ("apply", "measure") else lines


def help_lines(page):
    """``command: what its help says``, from the Markdown that the command line makes of itself."""
    command, lines, listing = "tacit", [], False
    for raw in page.splitlines():
        heading = re.match(r"#+ (.*)", raw)
        if heading:
            listing = heading[1] == "Table of Contents"
            command = command if listing else heading[1]
        elif raw.startswith("  ") and lines:
            lines[-1] += f" {raw.strip()}"  # an entry goes on
        elif raw and not listing and not re.match(r"```|\*\*\w+\*\*:", raw):
            # Links of the page say nothing new.
            line = re.sub(r"\[(`[^`]+`)\]\([^)]*\)", r"\1", raw)
            lines.append(f"{command} | {line.removeprefix('* ')}")
    return lines


def by_kind(lines, group):
    """One line for each kind: the options that few other kinds have, and the usual ones that it lacks."""
    options = {}
    for line in lines:
        command, _, said = line.partition(" | ")
        named = re.match(r"`(-[^`]+|[A-Z]+)`", said)
        if command.startswith(f"{group} ") and named:
            options.setdefault(command, []).append(named[1])
    counts = Counter(o for own in options.values() for o in own)
    usual = {o for o, n in counts.items() if 2 * n > len(options)}
    yield from (f"{group} (usually) | {o}" for o in usual)
    for command, own in options.items():
        lacks = ", ".join(sorted(usual - set(own)))
        yield f"{command} | {', '.join(o for o in own if o not in usual)}" + (
            f"; without {lacks}" if lacks else ""
        )


# -- names -----------------------------------------------------------------------------------------


def names():
    """Every public name of ``tacit`` and of its namespaces, with signatures."""
    for name in tacit.__all__:
        thing = getattr(tacit, name)
        yield from (
            namespace(f"tacit.{name}", thing)
            if inspect.ismodule(thing)
            else described(f"tacit.{name}", thing)
        )
    for name in set(dir(tacit)) - set(tacit.__all__):
        yield from described(f"tacit.{name}", getattr(tacit, name))


def namespace(path, module):
    yield f"{path}: module"
    promised = getattr(module, "__all__", None)
    for name in own_names(module) if promised is None else promised:
        thing = getattr(module, name)
        inner = inspect.ismodule(thing)
        yield from (
            namespace(f"{path}.{name}", thing) if inner else described(f"{path}.{name}", thing)
        )


def own_names(module):
    """Functions and classes of its own that a module without ``__all__`` shows."""
    for name, thing in vars(module).items():
        ours = str(getattr(thing, "__module__", "")).startswith(module.__name__)
        if (
            not name.startswith("_")
            and ours
            and (inspect.isfunction(thing) or inspect.isclass(thing))
        ):
            yield name


def names_in_docs():
    """Every name that a code block of the documentation reaches by a dotted path from ``tacit``."""
    for path in {path for block in python_blocks() for path in dotted(block)}:
        thing = resolve(path)
        if thing is not None:
            yield from described(path, thing, members=False)


@functools.cache
def python_blocks():
    """Every block of Python in the documentation."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = (
        re.findall(r"^```python\n(.*?)^```", p.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        for p in pages
    )
    return [block for blocks in found for block in blocks]


@functools.cache
def attributes_in_docs():
    """Whatever follows a dot in the blocks."""
    return {name for block in python_blocks() for name in re.findall(r"\.([a-z]\w*)", block)}


def dotted(code):
    """The paths below ``tacit`` in some code, imports and their aliases followed."""
    try:
        tree = ast.parse(code)
    except SyntaxError:  # blocks of the command line's language, or with dots left in them
        return
    alias = {"tacit": "tacit"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tacit":
            for a in node.names:
                alias[a.asname or a.name] = f"{node.module}.{a.name}"
                yield f"{node.module}.{a.name}"
        if isinstance(node, ast.Import):
            for a in node.names:
                if a.name.split(".")[0] == "tacit":
                    alias[a.asname or "tacit"] = a.name if a.asname else "tacit"
                    yield a.name
    for node in ast.walk(tree):
        parts, inner = [], node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if parts and isinstance(inner, ast.Name) and inner.id in alias:
            yield ".".join([alias[inner.id], *reversed(parts)])


def resolve(path):
    """What a path leads to; None for attributes of values."""
    thing = tacit
    for done, part in enumerate(path.split(".")[1:], 2):
        try:
            thing = getattr(thing, part)
        except AttributeError:
            try:
                thing = importlib.import_module(".".join(path.split(".")[:done]))
            except ImportError:
                return None
    return thing


def described(path, thing, *, members=True):
    """Lines for a function, a class with its members, or a value."""
    if inspect.ismodule(thing):
        yield f"{path}: module"
    elif inspect.isclass(thing):
        bases = [b.__name__.partition("[")[0] for b in thing.__bases__ if b is not object]
        yield f"{path}: class" + (f" ({', '.join(bases)})" if bases else "")
        if members:
            yield from class_lines(path, thing)
    elif callable(thing):
        yield f"{path}{signature(thing)}"
    elif isinstance(thing, str | int | float | bool | None):
        yield f"{path} = {thing!r}" if path != "tacit.__version__" else f"{path}: str"
    else:
        yield f"{path}: {type(thing).__name__}"


def class_lines(path, cls):
    """Constructor, fields and public members; of a single Spec only members that the documentation uses."""
    spec = issubclass(cls, inside.SPEC)
    base = next((b for b in (tacit.Method, tacit.Measure) if issubclass(cls, b)), inside.SPEC)
    single = spec and cls is not base
    if issubclass(cls, Enum):
        yield from (f"{path}.{m.name} = {m.value!r}" for m in cls)
    elif not spec and not inside.is_model(cls):
        yield f"{path}{signature(cls)}"
    yield from () if spec else model_lines(path, cls)
    for name in dir(cls):
        owner = next((c for c in cls.__mro__ if name in vars(c)), object)
        ours = owner.__module__.startswith("tacit") and not name.startswith("_")
        # What every result has is told once.
        told = owner is tacit.Result and cls is not tacit.Result
        rare = single and (hasattr(base, name) or name not in attributes_in_docs())
        if not ours or told or rare:
            continue
        member = inspect.getattr_static(cls, name)
        if isinstance(member, property) or type(member).__name__ == "cached_property":
            get = getattr(member, "fget", None) or member.func
            yield f"{path}.{name}: {bare(get.__annotations__.get('return', ''))}"
        elif isinstance(member, staticmethod | classmethod) or inspect.isfunction(member):
            yield f"{path}.{name}{signature(getattr(cls, name))}"


def model_lines(path, cls):
    """The fields of a pydantic model, as its schema says them."""
    if inside.is_model(cls):
        schema = cls.model_json_schema()
        for name, part in schema["properties"].items():
            yield f"{path}.{name}: {words(part, schema.get('$defs', {}))}"


def signature(thing):
    """A signature whose types have no module paths."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    shown = []
    marked = False
    for p in found.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not marked:
            marked = True
            shown.append("*")
        marked |= p.kind is p.VAR_POSITIONAL
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        kind = "" if p.annotation is p.empty else f": {bare(p.annotation)}"
        default = "" if p.default is p.empty else f" = {literal(p.default)}"
        shown.append(f"{stars}{p.name}{kind}{default}")
    given = found.return_annotation
    back = "" if given is found.empty else f" -> {bare(given)}"
    return f"({', '.join(shown)}){back}"


def bare(annotation):
    """A type in words, without the paths of modules."""
    said = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    said = re.sub(r"<(?:class|enum|function) '?([\w.]+)[^>]*>", r"\1", said.replace('"', "'"))
    return re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])", "", said)


def literal(value):
    if inspect.isfunction(value) or inspect.isclass(value):
        return value.__name__
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    shown = repr(value)
    return f"<{type(value).__name__}>" if " at 0x" in shown or len(shown) > 200 else bare(shown)


def results():
    """Every class of results: where it is nameless to users, they still read its fields."""
    inside.all_specs()
    todo, seen = [tacit.Result], set()
    while todo:
        cls = todo.pop()
        if cls.__module__.startswith("tacit") and cls not in seen:
            yield from described(cls.__name__, cls)
        seen.add(cls)
        todo += [c for c in cls.__subclasses__() if c not in seen]


def main(arguments):
    made, kept = collect(), stored()
    found = differences(kept, made)
    if "--write" in arguments:
        for name in kept.keys() - made.keys():
            (HERE / name).unlink()
        for name, content in made.items():
            (HERE / name).write_text(content, encoding="utf-8")
    print(*found, sep="\n")
    lines = sum(t.count("\n") for t in made.values())
    print(
        f"{lines} facts, {len(found)} lines differ"
        + ("" if "--write" in arguments or not found else f"; {RENEW}")
    )
    return 0 if "--write" in arguments else bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
