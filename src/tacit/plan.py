"""Plan: sources, roles, steps, measures and output, as data that can be reviewed and run again."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tacit.context import Context, Progress, fresh_seed, silent
from tacit.data.microdata import Microdata
from tacit.data.roles import SINGLE
from tacit.data.table import Table
from tacit.errors import InputError, PlanError, PlanVersion, SdcError, near_match
from tacit.registry import lookup, specs
from tacit.result import Result, plain
from tacit.spec import Measure, Method, Spec, TableMeasure, TableMethod

if TYPE_CHECKING:
    from tacit.release import Release
    from tacit.table_release import TableRelease

#: The version of the plan format; a plan of another version is refused.
VERSION = 1

ROLE_NAMES = ("identifiers", "keys", "sensitive", "weight", "household", "stratum")

SECTIONS: Mapping[str, str] = {
    "tacit": "version of the plan format (1)",
    "title": "title of the release",
    "source": "the file to protect: its path, and options for reading it",
    "register": "a population register with the same keys, for measures that need one",
    "roles": "what the columns are: identifiers, keys, sensitive, weight, household, stratum",
    "hierarchies": "how columns generalise: a rule such as {kind: dates} or the path of a file, by column",
    "table": "the table to build from the records, or how to read a ready one: dimensions, value, holding, ...",
    "steps": "the methods to apply, in order",
    "measures": "the risk and utility measures to take before and after",
    "map": "a risk-utility map: candidates to compare (after the steps), risk, utility, limits",
    "output": "the folder of the release and the format of its data",
    "access": "access class of the release: Pr, SPr, SPu or Pu",
    "seed": "seed of the random numbers; drawn and kept in the confidential ledger when absent",
    "engine": "duckdb or spark",
}


@dataclass(frozen=True)
class Plan:
    """A list of steps with everything needed to run it again.

    In Python a plan is often just ``Plan([...]).run(data, seed=7)``; from a file it also names its
    source, roles, hierarchies, measures and output.
    """

    steps: Sequence[Method | TableMethod] = ()
    measures: Sequence[Measure | TableMeasure] = ()
    source: Mapping[str, Any] = field(default_factory=dict)
    register: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, Any] = field(default_factory=dict)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    output: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    access: str = ""
    seed: int | None = None
    engine: str = "duckdb"
    #: How the table is built or read; a plan with one releases a table.
    table: Mapping[str, Any] = field(default_factory=dict)
    #: The risk-utility map of ``tacit map``, as plain data; see :meth:`tacit.RUMap.from_plan`.
    map: Mapping[str, Any] = field(default_factory=dict)
    #: The folder that relative paths start from.
    base: Path = field(default=Path(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        object.__setattr__(self, "measures", tuple(self.measures))

    # -- files -------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a YAML or TOML plan; every fault is reported at once."""
        return cls.from_dict(read_document(Path(path)), base=Path(path).resolve().parent)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], *, base: Path = Path()) -> Plan:
        """Build a plan from plain data."""
        faults = section_faults(document)
        steps = collect(document.get("steps"), (Method, TableMethod), "step", faults)
        measures = collect(document.get("measures"), (Measure, TableMeasure), "measure", faults)
        faults += table_faults(document.get("table"), steps, measures)
        faults += map_faults(document.get("map"), steps)
        if document.get("map") and (
            document.get("table") or any(isinstance(s, TableMethod) for s in steps)
        ):
            faults.append(
                "map: a risk-utility map compares protected records, and the plan makes a table"
            )
        if faults:
            raise PlanError("the plan has faults", faults)
        simple = {
            k: document[k]
            for k in ("roles", "hierarchies", "title", "access", "seed", "engine", "map", "table")
            if document.get(k) is not None
        }
        return cls(
            steps=steps,
            measures=measures,
            source=as_section(document.get("source"), "path"),
            register=as_section(document.get("register"), "path"),
            output=as_section(document.get("output"), "folder"),
            base=base,
            **simple,
        )

    def to_dict(self, *, public: bool = False) -> dict[str, Any]:
        """Return the plan as plain data; ``public`` leaves out the seed, secrets and folders."""
        document: dict[str, Any] = {"tacit": VERSION}
        if self.title:
            document["title"] = self.title
        for name in ("source", "register"):
            section = dict(getattr(self, name))
            if public and section.get("path"):
                section["path"] = Path(str(section["path"])).name
                section.pop("query", None)
            if section:
                document[name] = section
        if self.roles:
            document["roles"] = {k: plain_roles(v) for k, v in self.roles.items()}
        if self.hierarchies:
            document["hierarchies"] = {c: rule_to_plain(h) for c, h in self.hierarchies.items()}
        if self.table:
            document["table"] = plain(table_to_plain(self.table))
        document["steps"] = [step.to_dict(public=public) for step in self.steps]
        document["measures"] = [measure.to_dict(public=public) for measure in self.measures]
        if self.map and not public:
            document["map"] = plain(self.map)
        if self.output and not public:
            document["output"] = dict(self.output)
        if self.access:
            document["access"] = self.access
        if self.engine != "duckdb":
            document["engine"] = self.engine
        if self.seed is not None and not public:
            document["seed"] = self.seed
        return document

    def save(self, path: str | Path) -> None:
        """Write the plan as YAML or TOML, by the file's ending."""
        target = Path(path)
        if target.suffix.lower() == ".toml":
            import tomli_w

            target.write_text(tomli_w.dumps(self.to_dict()), encoding="utf-8")
        else:
            target.write_text(to_yaml(self.to_dict()), encoding="utf-8")

    # -- data ----------------------------------------------------------------------------------

    def read(self) -> Microdata:
        """Read the source with its roles and hierarchies."""
        if not self.source:
            raise PlanError("the plan names no source; give it one, or pass data to run()")
        return self.read_section(self.source, self.roles, self.hierarchies)

    def read_section(
        self, section: Mapping[str, Any], roles: Mapping[str, Any], hierarchies: Mapping[str, Any]
    ) -> Microdata:
        """Read one file of the plan; paths are relative to the plan's folder."""
        from tacit.io.read import read

        options = {k: v for k, v in section.items() if k != "path"}
        if "metadata" in options:
            options["metadata"] = str(self.resolve(options["metadata"]))
        ready = {
            c: str(self.resolve(h)) if isinstance(h, str) else h for c, h in hierarchies.items()
        }
        return read(
            self.resolve(section["path"]), **roles, hierarchies=ready, engine=self.engine, **options
        )

    def read_register(self, data: Microdata) -> Microdata | None:
        """Read the population register; it shares the keys and hierarchies of the data."""
        if not self.register:
            return None
        bare = self.read_section({k: v for k, v in self.register.items() if k != "roles"}, {}, {})
        shared = [k for k in data.keys if k in bare.columns]
        rules = {k: h for k, h in self.hierarchies.items() if k in bare.columns}
        return self.read_section(
            {k: v for k, v in self.register.items() if k != "roles"},
            {"keys": shared, **self.register.get("roles", {})},
            rules,
        )

    def resolve(self, path: str | Path) -> Any:
        """Return a path relative to the plan's folder; addresses of databases stay as they are."""
        return path if "://" in str(path) else self.base / path

    # -- checking --------------------------------------------------------------------------------

    @property
    def record_steps(self) -> tuple[Method, ...]:
        """Return the steps that act on records."""
        return tuple(s for s in self.steps if isinstance(s, Method))

    @property
    def makes_table(self) -> bool:
        """Return True when the plan releases a table and not records."""
        return bool(self.table) or any(isinstance(s, TableMethod) for s in self.steps)

    def faults(self, data: Microdata | None = None) -> list[str]:
        """Return everything that can be known to be wrong before any work is done."""
        if self.makes_table:
            from tacit.table_release import plan_faults

            return plan_faults(self, data)
        if data is None:
            try:
                data, found = self.read_checked()
            except SdcError as error:
                return [str(error)]
            if found:
                return found
        found = [
            f"step {i} ({s.kind}): {f}" for i, s in enumerate(self.steps, 1) for f in s.faults(data)
        ]
        found += [
            f"measure {i} ({m.kind}): {f}"
            for i, m in enumerate(self.measures, 1)
            for f in m.faults(data)
        ]
        found += [
            f"measure {i} ({m.kind}): it needs a population register; name it in the plan's register section"
            for i, m in enumerate(self.measures, 1)
            if isinstance(m, Measure) and m.needs_register and not self.register
        ]
        if self.map:
            from tacit.rumap import RUMap

            found += [f"map: {f}" for f in RUMap.from_plan(self).faults(data)]
        return found

    def read_checked(self) -> tuple[Microdata, list[str]]:
        """Read the source, with one fault a role or hierarchy that does not fit."""
        bare = replace(self, roles={}, hierarchies={}).read()
        found: list[str] = []
        for role, names in self.roles.items():
            collect_fault(found, f"role {role}", replace(self, roles={role: names}, hierarchies={}))
        for column, rule in self.hierarchies.items():
            collect_fault(
                found, f"hierarchy of {column}", replace(self, roles={}, hierarchies={column: rule})
            )
        return (bare, found) if found else (self.read(), [])

    def check(self, data: Microdata | None = None) -> None:
        """Raise one error that lists everything that is wrong."""
        faults = self.faults(data)
        if faults:
            raise PlanError("the plan cannot run", faults)

    # -- running ---------------------------------------------------------------------------------

    def run(
        self,
        data: Microdata | None = None,
        *,
        seed: int | None = None,
        progress: Progress = silent,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Release:
        """Apply the steps and measure before and after.

        A plan for a table is run with :meth:`run_table`.

        Parameters
        ----------
        data
            The data; by default the plan's own source is read.
        seed
            Overrides the plan's seed. Each step draws from its own child of it.
        progress, should_stop
            Called while working; see :class:`tacit.context.Context`.
        """
        from tacit.release import Ledger, Release, comparable

        if self.makes_table:
            # One verb for both: the release of a table has the same faces as that of records.
            return self.run_table(data, seed=seed, progress=progress, should_stop=should_stop)  # type: ignore[return-value]
        steps = self.record_steps
        if self.map and not self.steps:
            raise PlanError("the plan has no steps; choose some with tacit map and add them")
        progress("reading", None)
        original = self.read() if data is None else data
        self.check(original)
        register = self.read_register(original)
        root = next((s for s in (seed, self.seed) if s is not None), None)
        root = fresh_seed() if root is None else root
        plan = replace(
            self,
            seed=root,
            measures=self.measures or default_measures(original),
            roles=self.roles or roles_of(original),
        )
        ledger = Ledger.start(plan, original)

        def measured(now: Microdata, when: str) -> tuple[Result, ...]:
            results = []
            for i, measure in enumerate(m for m in plan.measures if isinstance(m, Measure)):
                if when == "before" and measure.compares:
                    continue
                progress(f"measuring {measure.kind} {when}", None)
                ctx = Context.start(
                    root, step=10_000 + i, progress=progress, should_stop=should_stop
                )
                results.append(
                    measure.measure(now, original=original, register=register, context=ctx)
                )
            return tuple(results)

        before = measured(original, "before")
        current = original
        for i, step in enumerate(steps, 1):
            ctx = Context.start(root, step=i, progress=progress, should_stop=should_stop)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    after = step.apply(current, context=ctx).materialise()
                except SdcError as error:
                    raise placed(error, f"step {i} ({step.kind})") from error
            ledger = ledger.with_step(step, current, after, [str(w.message) for w in caught])
            for warning in caught:
                warnings.warn_explicit(
                    warning.message, warning.category, warning.filename, warning.lineno
                )
            current = after
        # A measure that the plan names must be possible; one that it does not may fall away with a column.
        usable = [
            m
            for m in plan.measures
            if isinstance(m, Measure)
            and comparable(m, current)
            and (self.measures or not m.faults(current))
        ]
        plan = replace(plan, measures=tuple(usable))
        return Release(plan, original, current, before, measured(current, "after"), ledger)

    def run_table(
        self,
        data: Microdata | Table | None = None,
        *,
        seed: int | None = None,
        progress: Progress = silent,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> TableRelease:
        """Build or read the table, judge and protect it, and measure before and after."""
        from tacit.table_release import run

        return run(self, data, seed=seed, progress=progress, should_stop=should_stop)


def roles_of(data: Microdata) -> dict[str, Any]:
    """Return the roles of data as they stand in a plan."""
    roles = {role: list(data.with_role(role)) for role in ROLE_NAMES if data.with_role(role)}
    if len(data.quasi) > 1 or (data.quasi and "keys" not in data.quasi):
        roles["keys"] = {name: list(columns) for name, columns in data.quasi.items()}  # type: ignore[assignment]
    return {role: names[0] if role in SINGLE else names for role, names in roles.items()}


def placed(error: SdcError, where: str) -> SdcError:
    """Return the error with the place in the plan said first."""
    message = str(error)
    if message.startswith(where):
        return error
    error.args = (f"{where}: {message}",)
    return error


def collect_fault(found: list[str], where: str, plan: Plan) -> None:
    """Try to read with one role or hierarchy alone, and keep the fault."""
    try:
        plan.read()
    except SdcError as error:
        found.append(f"{where}: {error}")


def default_measures(data: Microdata) -> tuple[Measure, ...]:
    """Return what is measured when a plan names nothing."""
    chosen: list[Spec] = []
    if data.keys:
        chosen.append(lookup("k_anonymity")())
        if data.sensitive:
            chosen.append(lookup("l_diversity")())
        if data.hierarchies:
            chosen.append(lookup("precision")())
    return tuple(m for m in chosen if isinstance(m, Measure))


def read_document(path: Path) -> dict[str, Any]:
    """Read YAML or TOML as a mapping, or say why it is none."""
    if not path.exists():
        near = near_match(
            path.name, [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        )
        raise InputError(f"no plan file {str(path)!r}. {near}".strip())
    try:
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text) if path.suffix.lower() == ".toml" else yaml.safe_load(text)
    except UnicodeDecodeError:
        raise PlanError(f"{path.name} is not UTF-8 text") from None
    except (yaml.YAMLError, tomllib.TOMLDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it is not well formed"
        raise PlanError(f"{path.name}{place}: {problem}") from None
    if not isinstance(document, dict):
        raise PlanError(f"{path.name} is not a plan: it must be a mapping of {', '.join(SECTIONS)}")
    return document


def section_faults(document: Mapping[str, Any]) -> list[str]:
    """Return the faults of a plan's sections that need no data to be seen."""
    version = document.get("tacit", VERSION)
    if version != VERSION:
        raise PlanVersion(f"the plan is of format {version!r}; this tacit reads format {VERSION}")
    faults = [
        f"there is no section {name!r}. {near_match(str(name), SECTIONS)}".strip()
        for name in document
        if name not in SECTIONS
    ]
    roles = document.get("roles") or {}
    if isinstance(roles, Mapping):
        faults += [
            f"roles: there is no role {r!r}. {near_match(str(r), ROLE_NAMES)}".strip()
            for r in roles
            if r not in ROLE_NAMES
        ]
    else:
        faults.append("roles must be a mapping such as {keys: [age, sex]}")
    if not isinstance(document.get("hierarchies") or {}, Mapping):
        faults.append("hierarchies must be a mapping from column to rule or file")
    for name in ("source", "register"):
        section = document.get(name)
        if isinstance(section, Mapping) and "path" not in section:
            faults.append(f"{name}: the path is missing")
        faults += option_faults(name, section)
    faults += output_faults(document.get("output"))
    seed = document.get("seed")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        faults.append("seed must be a whole number from 0")
    engine = document.get("engine", "duckdb")
    if engine not in ("duckdb", "spark"):
        faults.append(f"engine must be duckdb or spark (got {engine!r})")
    access = document.get("access", "")
    if access not in ("", "Pr", "SPr", "SPu", "Pu"):
        faults.append(f"access must be Pr, SPr, SPu or Pu (got {access!r})")
    if not document.get("steps") and not document.get("map"):
        faults.append("there are no steps")
    return faults


def option_faults(name: str, section: Any) -> list[str]:
    """Return reading options that do not exist."""
    from tacit.io import Options

    if not isinstance(section, Mapping):
        return []
    known = ["path", *(f.name for f in fields(Options)), *(["roles"] if name == "register" else [])]
    return [
        f"{name}: there is no option {o!r}. {near_match(str(o), known)}".strip()
        for o in section
        if o not in known
    ]


def output_faults(section: Any) -> list[str]:
    """Return what is wrong with the output section."""
    from tacit.io import WRITABLE

    if not isinstance(section, Mapping):
        return []
    faults = [
        f"output: there is no option {o!r}. {near_match(str(o), ('folder', 'format'))}".strip()
        for o in section
        if o not in ("folder", "format")
    ]
    form = section.get("format", "csv")
    if form not in WRITABLE:
        faults.append(f"output: format must be one of {', '.join(WRITABLE)} (got {form!r})")
    return faults


def map_faults(section: Any, steps: Sequence[Method]) -> list[str]:
    """Return what is wrong with the map section."""
    if section is None:
        return []
    from tacit.rumap.section import section_faults as faults_of_map

    return faults_of_map(section, steps)


#: What the table section may say: how to build one from records, and how to read a ready one.
BUILD = (
    "dimensions", "value", "holding", "unit", "weight", "request", "waiver", "cost", "shadow",
    "top", "total", "lower", "upper", "missing",
)  # fmt: skip
READY = ("ready", "count", "status", "metadata", "totals", "separator")


def table_faults(section: Any, steps: Sequence[Spec], measures: Sequence[Spec]) -> list[str]:
    """Return what is wrong with the table section and with steps that do not fit it."""
    faults = []
    if section is not None and not isinstance(section, Mapping):
        return [
            "table must be a mapping such as {dimensions: {region: regions.hrc}, value: turnover}"
        ]
    known = (*BUILD, *READY)
    faults += [
        f"table: there is no option {o!r}. {near_match(str(o), known)}".strip()
        for o in section or {}
        if o not in known
    ]
    on_table = [isinstance(s, TableMethod) for s in steps]
    if on_table != sorted(on_table):
        faults.append("steps on records must come before steps on the table")
    tabular = bool(section) or any(on_table)
    faults += [
        f"measure {i} ({m.kind}): it looks at {'a table' if isinstance(m, TableMeasure) else 'records'}, "
        f"and the plan releases {'a table' if tabular else 'records'}"
        for i, m in enumerate(measures, 1)
        if isinstance(m, TableMeasure) != tabular
    ]
    return faults


def table_to_plain(section: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table section as YAML can hold it."""
    made = dict(section)
    if isinstance(made.get("dimensions"), Mapping):
        made["dimensions"] = {c: rule_to_plain(h) for c, h in made["dimensions"].items()}
    return made


def collect(entries: Any, kind: tuple[type[Spec], ...], noun: str, faults: list[str]) -> list[Any]:
    """Build the Specs of a list of entries, adding a fault for each that is wrong."""
    built: list[Any] = []
    if entries is None:
        return built
    if not isinstance(entries, list):
        faults.append(f"{noun}s must be a list")
        return built
    for i, entry in enumerate(entries, 1):
        named = {"kind": entry} if isinstance(entry, str) else entry
        if not isinstance(named, Mapping) or "kind" not in named:
            faults.append(f"{noun} {i}: it has no kind; write e.g. {{kind: datafly, k: 5}}")
            continue
        try:
            cls = lookup(str(named["kind"]))
            if not issubclass(cls, kind):
                faults.append(
                    f"{noun} {i}: {named['kind']} is not a {noun}; it belongs under {'steps' if issubclass(cls, Method | TableMethod) else 'measures'}"
                )
                continue
            built.append(cls(**{k: v for k, v in named.items() if k != "kind"}))
        except SdcError as error:
            faults.append(f"{noun} {i} ({named['kind']}): {error}")
    return built


def as_section(value: Any, name: str) -> Mapping[str, Any]:
    """Return a section that may be given as a single string."""
    if value is None:
        return {}
    return dict(value) if isinstance(value, Mapping) else {name: value}


def plain_roles(value: Any) -> Any:
    """Return roles as YAML can hold them."""
    if isinstance(value, Mapping):
        return {k: list(v) for k, v in value.items()}
    return value if isinstance(value, str) or value is None else list(value)


def rule_to_plain(rule: Any) -> Any:
    """Return a hierarchy as it stands in a plan."""
    return rule.to_dict() if hasattr(rule, "to_dict") else rule


def to_yaml(document: Mapping[str, Any]) -> str:
    """Return YAML in the order of the sections."""
    return yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=100)


def schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of a plan, from the registry."""
    from tacit.io import WRITABLE, Options
    from tacit.rumap.section import schema as map_schema

    definitions: dict[str, Any] = {}
    for kind, cls in specs().items():
        definition = cls.model_json_schema(ref_template="#/$defs/{model}")
        definitions.update(definition.pop("$defs", {}))
        definition["required"] = sorted({"kind", *definition.get("required", [])})
        definition["description"] = cls.title()
        definitions[kind] = definition

    def any_of(kinds: Iterable[str]) -> dict[str, Any]:
        names = list(kinds)
        return {"anyOf": [{"enum": names}, *({"$ref": f"#/$defs/{k}"} for k in names)]}

    reading: dict[str, Any] = {f.name: {} for f in fields(Options)}
    columns = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    named_keys = {
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "string"}},
    }
    properties: dict[str, Any] = {
        "tacit": {"const": VERSION},
        "title": {"type": "string"},
        "source": {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {"path": {"type": "string"}, **reading},
                    "required": ["path"],
                    "additionalProperties": False,
                },
            ]
        },
        "register": {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {
                        "path": {"type": "string"},
                        "roles": {"type": "object"},
                        **reading,
                    },
                    "required": ["path"],
                    "additionalProperties": False,
                },
            ]
        },
        "roles": {
            "type": "object",
            "properties": {
                "identifiers": columns,
                "keys": {"anyOf": [*columns["anyOf"], named_keys]},
                "sensitive": columns,
                "weight": {"type": "string"},
                "household": {"type": "string"},
                "stratum": {"type": "string"},
            },
            "additionalProperties": False,
        },
        "hierarchies": {
            "type": "object",
            "additionalProperties": {
                "anyOf": [{"type": "string"}, {"type": "object", "required": ["kind"]}]
            },
        },
        "steps": {
            "type": "array",
            "minItems": 1,
            "items": any_of(k for k, s in specs().items() if issubclass(s, Method | TableMethod)),
        },
        "measures": {
            "type": "array",
            "items": any_of(k for k, s in specs().items() if issubclass(s, Measure | TableMeasure)),
        },
        "table": {
            "type": "object",
            "properties": {name: {} for name in (*BUILD, *READY)},
            "additionalProperties": False,
        },
        "map": map_schema(any_of(k for k, s in specs().items() if issubclass(s, Measure))),
        "output": {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {
                        "folder": {"type": "string"},
                        "format": {"enum": list(WRITABLE)},
                    },
                    "additionalProperties": False,
                },
            ]
        },
        "access": {"enum": ["Pr", "SPr", "SPu", "Pu"]},
        "seed": {"type": "integer", "minimum": 0},
        "engine": {"enum": ["duckdb", "spark"]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A tacit plan",
        "type": "object",
        "properties": {
            name: {**properties[name], "description": text} for name, text in SECTIONS.items()
        },
        "anyOf": [{"required": ["steps"]}, {"required": ["map"]}],
        "additionalProperties": False,
        "$defs": definitions,
    }
