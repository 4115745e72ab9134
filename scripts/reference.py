"""The generated reference: pages made from the registry, the docstrings, the command line and the schema.

``mkdocs.yml`` names this file as a hook, so the pages exist only in the built site and cannot be stale.
``python scripts/reference.py FOLDER`` writes them as Markdown.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FAMILIES = {
    "protect": "Methods that protect",
    "risk": "Measures of risk",
    "utility": "Measures of utility",
    "rules": "Sensitivity rules for tables",
    "tables": "Methods that protect tables",
    "attacks": "Attacks on tables",
}
RUNS_ON = {
    "engine": "entirely on the engine",
    "cells": "on the coded cells, after one group-by on the engine",
    "records": "on the records, gathered in the memory of one machine",
}
#: What an extra of pyproject.toml is for.
EXTRAS = {
    "files": "SPSS, Stata, SAS and Excel files",
    "exact": "branch and cut for exact suppression (SCIP)",
    "fast": "compiled kernels for the searches that a profile showed to be slow",
    "models": "clustering, robust covariances, trees and matchings (scikit-learn, rustworkx)",
    "postgres": "reading PostgreSQL",
    "report": "reports as PDF (typst) and Word",
    "spark": "data beyond one machine; a Java runtime is needed as well",
    "text": "the trained voter of Scrub; Word and PDF documents",
    "private": "private retrieval, private union and regression across owners",
    "all": "everything that a user may need",
    "test": "running the test suite",
    "dev": "working on tacit: lint, types, documentation",
}


@functools.cache
def pages() -> dict[str, str]:
    """Return every generated page by file name."""
    return {
        "methods.md": methods_page(),
        "command_line.md": command_line_page(),
        "plan.md": plan_page(),
        "python.md": python_page(),
        "errors.md": errors_page(),
        "extras.md": extras_page(),
    }


# -- methods -----------------------------------------------------------------------------------------


def methods_page() -> str:
    """Return every registered Spec with its parameters."""
    from tacit.registry import specs

    parts = [
        "# Methods and measures",
        (
            "One entry for each kind that may stand in a plan, made from its declaration. "
            "The page behind each name explains the idea, and when not to use it."
        ),
    ]
    for family, heading in FAMILIES.items():
        parts += [
            f"## {heading}",
            "\n\n".join(spec_entry(kind, cls) for kind, cls in specs(family).items()),
        ]
    return join(parts)


def spec_entry(kind: str, cls: Any) -> str:
    """Return one Spec: title, facts, parameters."""
    return join(
        [
            f"### {kind}",
            f"{cls.title()}.",
            f"`tacit.{cls.__name__}` · [explained](../methods/{kind}.md) · {'; '.join(spec_facts(cls))}.",
            parameter_table(cls),
            role_table(cls),
        ]
    )


def role_table(cls: Any) -> str:
    """Return what a Spec does with household, weight, stratum and linked columns; nothing for tables."""
    from tacit.treatment import statements

    rows = list(statements(cls))
    return table(("role", "what is done with it"), rows) if rows else ""


def spec_facts(cls: Any) -> Iterator[str]:
    """Yield what a Spec needs and where it works, in words."""
    yield f"needs {', '.join(sorted(cls.needs))}" if cls.needs else "needs no roles"
    yield f"works {RUNS_ON[cls.runs_on]}"
    if getattr(cls, "random", False):
        yield "uses the seed"
    if getattr(cls, "compares", False):
        yield "compares with the original"
    if getattr(cls, "needs_register", False):
        yield "needs a population register"
    if getattr(cls, "techniques", ()):
        yield f"techniques: {', '.join(cls.techniques)}"


def parameter_table(cls: Any) -> str:
    """Return a Spec's parameters as a table."""
    described = cls.model_json_schema()
    rows = []
    for name, info in cls.model_fields.items():
        if name == "kind":
            continue
        default = "required" if info.is_required() else default_text(info)
        secret = "; kept out of every public file" if name in cls.secret_fields() else ""
        kind = type_words(
            described["properties"].get(info.alias or name, {}), described.get("$defs", {})
        )
        rows.append((f"`{name}`", kind, default, f"{info.description}{secret}"))
    return table(("parameter", "type", "default", "meaning"), rows) if rows else "No parameters."


def default_text(info: Any) -> str:
    """Return a field's default as it would stand in a plan."""
    value = info.get_default(call_default_factory=True)
    if value is None or (isinstance(value, Sequence | Mapping) and not value):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def type_words(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Return a JSON schema as a few words: ``whole number, at least 1``."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return type_words(definitions.get(name, {"title": name}), {})
    if "anyOf" in schema:
        parts = [type_words(s, definitions) for s in schema["anyOf"] if s.get("type") != "null"]
        return " or ".join(dict.fromkeys(parts))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{v}`" for v in schema.get("enum", [schema.get("const")]))
    plain = {
        "integer": "whole number",
        "number": "number",
        "string": "text",
        "boolean": "true or false",
        "object": "mapping",
        "array": "list",
    }
    words = plain.get(schema.get("type", ""), "any value")
    if (
        schema.get("type") == "array"
        and isinstance(schema.get("items"), Mapping)
        and schema["items"]
    ):
        words = f"list of {type_words(schema['items'], definitions)}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        words = f"mapping to {type_words(schema['additionalProperties'], definitions)}"
    return ", ".join([words, *bounds(schema)])


def bounds(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the bounds of a number."""
    for key, words in (
        ("minimum", "at least"),
        ("exclusiveMinimum", "above"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "below"),
    ):
        if key in schema:
            yield f"{words} {schema[key]:g}"


# -- command line ------------------------------------------------------------------------------------


def command_line_page() -> str:
    """Return the commands with their options, and the exit codes."""
    from tacit.cli import app as cli
    from tacit.cli.census import group as census
    from tacit.cli.generated import COMMON

    cli.add_groups(["table"])
    del cli.app["census"]
    cli.app.command(census)
    text = cli.app.generate_docs(heading_level=1).replace("```console", "```text")
    text = re.sub(r"^# tacit$", "# Command line", text, count=1, flags=re.MULTILINE)
    text = re.sub(r"^## Table of Contents\n\n(?:- .*\n)+\n", "", text, flags=re.MULTILINE)
    return join(
        [
            text.strip(),
            "## Options of apply and measure",
            (
                "Beside the parameters of the kind, which are those of [its declaration](methods.md) "
                "(`--max-drop` for `max_drop`), both take:"
            ),
            table(
                ("option", "meaning"),
                [(f"`--{name}`", words) for name, (_, words) in COMMON.items()],
            ),
            (
                "`apply` needs `--out`, and replaces a file only with `--force`. `measure` takes `--original` and "
                "`--register` for measures that compare, and `--plot` for the chart."
            ),
            "## Exit codes",
            (inspect.getdoc(cli.main) or "").split("\n\n")[1],
            "The same work from Python: [Python](python.md).",
        ]
    )


# -- plan --------------------------------------------------------------------------------------------


def plan_page() -> str:
    """Return the format of a plan, section by section."""
    from tacit.governance import AccessClass
    from tacit.io import Options
    from tacit.io.formats import by_ending, writable
    from tacit.plan import SECTIONS, Roles
    from tacit.registry import specs

    reading = [
        (f"`{name}`", default_of(field), field.description or "")
        for name, field in Options.model_fields.items()
    ]
    kinds = {
        family: ", ".join(f"[{k}](../methods/{k}.md)" for k in specs(family)) for family in FAMILIES
    }
    return join(
        [
            "# Plan format",
            (
                "A plan is a mapping in YAML or TOML. `tacit schema` prints its JSON schema for editors; "
                "`tacit check` reports every fault at once. The guide is [Plans](../guides/plans.md)."
            ),
            "## Sections",
            table(
                ("section", "meaning"), [(f"`{name}`", words) for name, words in SECTIONS.items()]
            ),
            "## Roles",
            table(
                ("role", "meaning"),
                [
                    (f"`{name}`", field.description or "")
                    for name, field in Roles.model_fields.items()
                ],
            ),
            (
                "`keys` may be a list, or a mapping from names to lists when there are several quasi-identifiers. "
                "`links` is explained under [roles](../guides/roles.md)."
            ),
            "## Reading a file",
            "`source` and `register` are a path, or a mapping with `path` and any of:",
            table(("option", "default", "meaning"), reading),
            f"Known extensions: {', '.join(f'`{e}`' for e in by_ending('records'))}.",
            "## Steps and measures",
            f"Under `steps`: {kinds['protect']}.",
            f"Under `measures`: {kinds['risk']}; {kinds['utility']}.",
            (
                "An entry is a kind alone, or a mapping with `kind` and parameters as listed under "
                "[methods and measures](methods.md)."
            ),
            "## Output",
            "`output` is a folder, or a mapping with `folder` and `format`: "
            + ", ".join(f"`{w}`" for w in writable("records"))
            + ".",
            "## Access",
            table(
                ("class", "meaning"),
                [(f"`{c.value}`", f"{c.title}: {c.meaning}") for c in AccessClass],
            ),
        ]
    )


def default_of(field: Any) -> str:
    """Return the default of a field of a model."""
    default = field.get_default(call_default_factory=True)
    if default in (None, (), {}):
        return "none"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


# -- Python ------------------------------------------------------------------------------------------


def python_page() -> str:
    """Return the public names of the package."""
    import tacit

    parts = [
        "# Python",
        (
            "The public names of `tacit`. Beside these, every [method and measure](methods.md) is a class of the "
            "package: `tacit.Datafly`, `tacit.KAnonymity`, ... The same work from the shell: "
            "[command line](command_line.md)."
        ),
    ]
    parts += [
        entry
        for name in sorted(tacit.__all__, key=str.lower)
        for entry in public_entry(name, getattr(tacit, name, None))
    ]
    return join(parts)


def public_entry(name: str, thing: Any) -> Iterator[str]:
    """Yield heading, signature and docstring of a public name, with what is inside it."""
    yield f"## tacit.{name}"
    if name == "errors":
        yield "See [errors and warnings](errors.md)."
        return
    if inspect.isfunction(inspect.unwrap(thing)):
        yield f"```text\n{name}{short_signature(thing)}\n```"
    yield markdown(inspect.getdoc(thing) or "")
    if inspect.ismodule(thing) or inspect.isclass(thing):
        members = module_members(thing) if inspect.ismodule(thing) else own_members(thing)
        rows = [(f"`{n}`", first_line(member)) for n, member in members]
        if rows:
            yield table(("name", "meaning"), rows)


def short_signature(thing: Any) -> str:
    """Return a signature without module paths."""
    signature = inspect.signature(thing)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def module_members(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public functions and classes of a module."""
    for name in getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]):
        member = getattr(module, name)
        ours = str(getattr(member, "__module__", "")).startswith("tacit")
        if ours and (inspect.isfunction(member) or inspect.isclass(member)):
            yield name, member


def own_members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield a class's own public methods and properties that have a docstring."""
    for name, member in vars(cls).items():
        target = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        documented = inspect.isfunction(target) or isinstance(target, property)
        if not name.startswith("_") and documented and inspect.getdoc(target):
            yield name, target


# -- errors and extras -------------------------------------------------------------------------------


def errors_page() -> str:
    """Return the tree of errors and warnings."""
    errors = importlib.import_module("tacit.errors")
    before, _, rest = (inspect.getdoc(errors) or "").partition("::\n")
    tree, _, after = rest.strip("\n").partition("\n\n")
    classes = [
        c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__
    ]
    return join(
        [
            "# Errors and warnings",
            markdown(before.replace("The whole tree", "").strip()),
            f"```text\n{inspect.cleandoc(tree)}\n```",
            markdown(after),
            "All are importable from `tacit.errors`.",
            table(
                ("name", "meaning"),
                [
                    (f"`{c.__name__}`", first_line(c))
                    for c in sorted(classes, key=lambda c: c.__name__)
                ],
            ),
        ]
    )


def extras_page() -> str:
    """Return the extras of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = [
        (f"`tacit[{extra}]`", EXTRAS[extra], ", ".join(f"`{p}`" for p in packages))
        for extra, packages in project["optional-dependencies"].items()
    ]
    return join(
        [
            "# Extras",
            (
                f"tacit needs Python {project['requires-python'].lstrip('>=')} or later. `pip install tacit` brings what most "
                "releases need; the rest is asked for by name, and a method that lacks a package says which extra brings it."
            ),
            table(("extra", "for", "packages"), rows),
            "Always installed: " + ", ".join(f"`{p}`" for p in project["dependencies"]) + ".",
        ]
    )


# -- Markdown ----------------------------------------------------------------------------------------


def markdown(doc: str) -> str:
    """Return a docstring as Markdown: literals, roles, section headings, literal blocks."""
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", doc)
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    text = re.sub(r"^(\w[\w ]*)\n-{3,}$", r"**\1**\n", text, flags=re.MULTILINE)
    text = re.sub(r"::$", ":", text, flags=re.MULTILINE)
    text = re.sub(
        r"^>>> .*(?:\n(?!\n).*)*", lambda m: "```text\n" + m[0] + "\n```", text, flags=re.MULTILINE
    )
    return re.sub(
        r"^((?:\*\*)?\w[\w, ]*)\n    (\S.*(?:\n    \S.*)*)", definition, text, flags=re.MULTILINE
    )


def definition(match: re.Match[str]) -> str:
    """Return one entry of a NumPy-style list as a bullet."""
    return f"- `{match[1]}`: " + " ".join(line.strip() for line in match[2].splitlines())


def first_line(thing: Any) -> str:
    """Return the first sentence of a docstring."""
    doc = inspect.getdoc(thing) or ""
    return markdown(" ".join(doc.split("\n\n", 1)[0].split("\n")))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |"
        for line in lines
    )


def join(parts: Iterable[str]) -> str:
    """Return parts as paragraphs."""
    return "\n\n".join(p for p in parts if p) + "\n"


# -- mkdocs ------------------------------------------------------------------------------------------


def on_config(config: Any) -> Any:
    """Put every method's page into the navigation, by family."""
    from tacit.registry import specs

    for entry in config.nav:
        if "Methods" in entry:
            entry["Methods"] = [
                {heading: [f"methods/{kind}.md" for kind in specs(family)]}
                for family, heading in FAMILIES.items()
                if specs(family)
            ]
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Link the overview to the generated pages, which the repository does not hold."""
    if page.file.src_uri != "reference/index.md":
        return markdown
    for name, text in pages().items():
        title = text.splitlines()[0].removeprefix("# ")
        markdown = markdown.replace(f"| {title} |", f"| [{title}]({name}) |")
    return markdown


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    for name, text in pages().items():
        files.append(File.generated(config, f"reference/{name}", content=text))
    return files


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for file_name, content in pages().items():
        (target / file_name).write_text(content, encoding="utf-8")
