"""Commands made from the registry: ``tacit apply KIND FILE`` and ``tacit measure KIND FILE``.

A Spec's fields are the options, with the same names, bounds and sentences. Only the Spec that is
asked for is turned into a command, so that starting stays quick.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import yaml
from cyclopts import App, Parameter
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tacit.cli.options import Many, shell_command, split, with_help
from tacit.cli.render import console, progress_bar
from tacit.data.corpus import Corpus
from tacit.data.table import Table
from tacit.errors import DisclosureRefused, InputError
from tacit.events import Job, Phase, Stage
from tacit.io.options import Options
from tacit.parameters import simple_kinds
from tacit.plan.sections import Roles
from tacit.registry import all_entries, lookup
from tacit.spec import Measure, Method, Spec
from tacit.storage.own_folders import refuse_existing


def simple_type(annotation: Any) -> Any:
    """Return the one type behind bounds and ``| None``; ``Any`` when there are several."""
    kinds = simple_kinds(annotation) - {type(None)}
    return kinds.pop() if len(kinds) == 1 else Any


#: Options for reading a file that every command which reads one has.
READING = ("separator", "encoding", "missing", "sheet", "metadata")


def model_options(model: type[BaseModel], names: Iterable[str]) -> dict[str, tuple[Any, str]]:
    """Return fields of a model as options: the type on the command line, and the sentence."""
    found = {}
    for name in names:
        info = model.model_fields[name]
        single = simple_type(info.annotation)
        found[name] = (single | None if single in (str, int) else Many, info.description or "")
    return found


#: Options of every generated command: what the columns are and how the file is read.
COMMON: Mapping[str, tuple[Any, str]] = {
    **model_options(Roles, Roles.model_fields),
    "hierarchy": (Many, "column=rule: a file, a kind such as flat, or {kind: digits, length: 5}"),
    **model_options(Options, READING),
    "engine": (Literal["duckdb", "spark"], "where the work is done"),
    "seed": (int | None, "seed of the random numbers"),
}


#: Options of a generated command on tables.
TABLE_COMMON: Mapping[str, tuple[Any, str]] = {
    "metadata": (Path | None, "the .rda file of a .tab table"),
    "seed": (int | None, "seed of the random numbers"),
}


def make_group(verb: str, text: str, tokens: list[str]) -> App:
    """Return ``apply`` or ``measure``; of their sub-commands only the one that is asked for."""
    group = App(name=verb, help=text)
    asked = tokens[0].replace("-", "_") if tokens and not tokens[0].startswith("-") else None
    kinds = [asked] if asked else [e.kind for e in all_entries() if e.verb == verb]
    for kind in kinds:
        cls = lookup(kind)
        if issubclass(cls, Method if verb == "apply" else Measure):
            # The shell writes dashes and plans underscores; either is understood.
            names = dict.fromkeys([kind.replace("_", "-"), *([kind] if asked else [])])
            group.command(make_command(cls), name=list(names), help=cls.title())
    return group


def make_command(cls: type[Spec]) -> Callable[..., int]:
    """Return a function whose signature is the Spec's fields and the common options."""
    is_method = issubclass(cls, Method)
    common = TABLE_COMMON if issubclass(cls.data_type(), Table) else COMMON

    def command(source: Path, **options: Any) -> int:
        return run_spec(cls, source, options)

    file, register = Path | None, "a population register, for models that need one"
    extra: dict[str, tuple[Any, str]] = dict(common)
    if is_method:
        extra["out"] = (Path, "the file to write, by ending: csv, parquet, xlsx, ...")
        extra["force"] = (bool, "replace the file if it is there")
        if getattr(cls, "takes_register", False):
            extra["register"] = (file, register)
    else:
        people = "records of people whom no step has seen, for measures that compare with them"
        extra["original"] = (file, "the data before protection, for measures that compare")
        if common is COMMON:
            extra |= {"register": (file, register), "control": (file, people)}
        extra["plot"] = (file, "save the chart: svg, png, pdf or html")
        extra["chart"] = (str | None, "which of the result's charts to save, instead of the first")
        if issubclass(cls, Measure) and cls.publishes:
            extra["release"] = (file, "write the protected plot as a release, into this folder")
            extra["force"] = (bool, "replace a release that is there already")
    defaults = {"out": inspect.Parameter.empty, "engine": "duckdb", "force": False}
    fields = cls.model_fields.items()
    made = shell_command(
        command,
        "the data",
        {
            **{option_name(n): (option_type(info), None) for n, info in fields if n != "kind"},
            **{n: (with_help(*given), defaults.get(n)) for n, given in extra.items()},
        },
        inspect.cleandoc(cls.__doc__ or ""),
    )
    made.__annotations__ = {
        p.name: p.annotation for p in inspect.signature(made).parameters.values()
    }
    return made


#: Options of commands that no field may have for its own.
TAKEN = frozenset(
    {
        *(*COMMON, *TABLE_COMMON, "out", "force", "original"),
        *("register", "control", "plot", "chart", "release", "source"),
    }
)


def option_name(field: str) -> str:
    """Return the option of a field; names that the common options use get a prefix."""
    return f"with_{field}" if field in TAKEN else field


def option_type(info: FieldInfo) -> Any:
    """Return how a field is given on the command line: simple types as they are, others as YAML."""
    simple = simple_type(info.annotation)
    text = (info.description or "") + (
        "" if info.is_required() else f" [default: {default_text(info)}]"
    )
    if simple in (int, float, bool, str, Path) or get_origin(simple) is Literal:
        return Annotated[
            simple | None,
            Parameter(help=text, show_default=False, negative=() if simple is not bool else None),
        ]
    if get_origin(simple) in (tuple, list):
        if has_structured_entries(simple):
            text += " (each as YAML, e.g. '[a, b]')"
        return Annotated[
            list[str] | None,
            Parameter(help=text, consume_multiple=True, negative=(), show_default=False),
        ]
    return Annotated[
        str | None, Parameter(help=f"{text} (as YAML, e.g. '{{a: 1}}')", show_default=False)
    ]


def default_text(info: FieldInfo) -> str:
    """Return a field's default in words."""
    value = info.get_default(call_default_factory=True)
    return "none" if value is None or value in ({}, ()) else str(value)


def run_spec(cls: type[Spec], source: Path, options: dict[str, Any]) -> int:
    """Build the Spec, read the data, and apply or measure."""
    from tacit.context import Context
    from tacit.kinds import kind_of

    values = {
        n: parse_option(options[option_name(n)], cls.model_fields[n])
        for n in cls.model_fields
        if n != "kind" and options.get(option_name(n)) is not None
    }
    spec = cls(**values)
    refuse_existing(options.get("plot"))
    if options.get("chart") and not options.get("plot"):
        raise InputError("--chart says which chart --plot saves: give --plot FILE with it")
    kind = spec.acts_on()
    files = records_files
    if issubclass(kind, Table | Corpus):
        files = table_files if issubclass(kind, Table) else texts_files
    read, beside, keep = files(spec, source, options)
    with progress_bar(console) as show:
        job = Job(show, phases=parts_of(spec))
        job.begin("read")
        data = read()
        context = Context.start(options.get("seed"), on_event=job.begin(stage_of(spec)).listener)
        if isinstance(spec, Method):
            result = spec.apply(data, context=context, **beside(data))
            # A table may be kept as it is; what is written of it for the public is checked there.
            refusals = [] if isinstance(result, Table) else kind_of(result).check(result)
            if refusals:
                raise DisclosureRefused("; ".join(refusals))
            job.begin("write")
            said = keep(result, context)
        else:
            assert isinstance(spec, Measure)
            found = spec.measure(data, context=context, **beside(data))
    if isinstance(spec, Method):
        console.action(result)
        console.say(said)
        return 0
    console.result(found)
    if options.get("plot"):
        chart = found.chart(options["chart"]) if options.get("chart") else found.plot()
        chart.save(options["plot"])
    if options.get("release"):
        from tacit.graphics.base import ProtectedPlot
        from tacit.release.plots import PlotRelease

        assert isinstance(found, ProtectedPlot)
        made = PlotRelease((found,), found.title, str(source))
        made.write(options["release"], force=bool(options.get("force")))
        console.say(f"wrote the release {options['release']}")
    return 0


#: What reads the data, what gives the data beside them, and what writes a result and says where it went.
Files = tuple[Callable[[], Any], Callable[[Any], dict[str, Any]], Callable[[Any, Any], str]]


def records_files(spec: Spec, source: Path, options: Mapping[str, Any]) -> Files:
    """Return how records are read and written."""
    import tacit

    given = (*Roles.model_fields, *READING)
    reading = {name: split(options[name]) for name in given if options.get(name)}
    if options.get("links"):
        # Each entry is a group: --links region,nuts household,size
        reading["links"] = [split([text]) for text in options["links"]]
    rules = dict(rule(text) for text in options.get("hierarchy") or [])
    engine = options.get("engine") or "duckdb"

    def read(path: Path, **given: Any) -> Any:
        return tacit.read(path, **given, hierarchies=rules, engine=engine)

    def beside(_data: Any) -> dict[str, Any]:
        # Files beside the data hold no copies, whatever the data do.
        plain = {k: v for k, v in reading.items() if k != "copy_number"}
        shared = {n: v for n, v in reading.items() if n in READING or n == "keys"}
        asked = {"original": plain, "register": shared, "control": plain}
        names = ["register"] if isinstance(spec, Method) else list(asked)
        return {n: read(options[n], **asked[n]) if options.get(n) else None for n in names}

    def keep(result: Any, _context: Any) -> str:
        from tacit.io import write

        write(result, options["out"], overwrite=bool(options.get("force")))
        return f"wrote {len(result):,} records to {options['out']}"

    return lambda: read(source, **reading), beside, keep


def table_files(spec: Spec, source: Path, options: Mapping[str, Any]) -> Files:
    """Return how tables are read and written."""
    from tacit.cli.tables import keep_table, open_table, summary_line

    def beside(_data: Any) -> dict[str, Any]:
        before = open_table(options["original"]) if options.get("original") else None
        return {} if isinstance(spec, Method) else {"original": before}

    def keep(result: Any, _context: Any) -> str:
        keep_table(result, options["out"], force=bool(options.get("force")))
        return f"{summary_line(result)}\nwrote {options['out']}"

    return lambda: open_table(source, options.get("metadata")), beside, keep


def texts_files(spec: Spec, source: Path, options: Mapping[str, Any]) -> Files:
    """Return how a folder or file of texts is read and written."""
    import tacit
    from tacit.io import refuse_target
    from tacit.kinds.corpus import KIND, with_neutral_names

    def read(path: Path) -> Any:
        return tacit.read_texts(path, encoding=options.get("encoding") or "utf-8")

    def beside(corpus: Any) -> dict[str, Any]:
        if isinstance(spec, Method):
            refuse_target(options["out"], corpus.source, overwrite=bool(options.get("force")))
            return {}
        before = options.get("original")
        return {"original": read(before) if before else None}

    def keep(result: Any, context: Any) -> str:
        tacit.write_texts(with_neutral_names(KIND.shuffle(result, context.rng)), options["out"])
        return f"wrote {len(result):,} documents to {options['out']}, numbered and in a drawn order"

    return lambda: read(source), beside, keep


def parts_of(spec: Spec) -> tuple[Phase, ...]:
    """Return what a command that runs one Spec consists of."""
    written = (Phase("write", "Writing the result", 2),) if isinstance(spec, Method) else ()
    return (Phase("read", "Reading the data", 2), Phase(stage_of(spec), spec.title(), 10), *written)


def stage_of(spec: Spec) -> Stage:
    """Return what sort of work a Spec does."""
    return "protect" if isinstance(spec, Method) else "measure"


def parse_option(value: Any, info: FieldInfo) -> Any:
    """Return an option's value; lists may be separated by commas, mappings and lists within lists are YAML."""
    if isinstance(value, list) and has_structured_entries(info.annotation):
        return [yaml.safe_load(text) if text[:1] in ("{", "[") else text for text in value]
    if isinstance(value, list):
        return split(value)
    structured = isinstance(value, str) and info.annotation is not str and value[:1] in "{["
    return (
        yaml.safe_load(value)
        if structured or (isinstance(value, str) and simple_type(info.annotation) is Any)
        else value
    )


def has_structured_entries(annotation: Any) -> bool:
    """Return True for a list whose entries are lists, mappings or models."""
    entries = [simple_type(a) for a in get_args(simple_type(annotation))]
    return any(
        get_origin(e) in (tuple, list, Mapping)
        or (isinstance(e, type) and issubclass(e, BaseModel))
        for e in entries
    )


def rule(text: str) -> tuple[str, Any]:
    """Return column and rule of ``column=rule``."""
    column, _, given = text.partition("=")
    if not given:
        raise InputError(
            f"a hierarchy is given as column=rule, e.g. sex=flat or 'zip={{kind: digits, length: 5}}' (got {text!r})"
        )
    if given.startswith("{"):
        return column, yaml.safe_load(given)
    return column, given if Path(given).suffix else {"kind": given}
