"""Plan: a model of everything that a run needs, saved as YAML or TOML and run by :mod:`tacit.plan.run`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from tacit.context import LARGEST_SEED
from tacit.data.base import Data
from tacit.errors import (
    PlanError,
    PlanVersion,
    SdcError,
    SpecError,
    explain_target,
    near_match,
)
from tacit.events import Listener, Stop, ignore_event, never
from tacit.kinds import Kind, all_kinds, kind_named, kind_of
from tacit.kinds.base import map_files
from tacit.parameters import parameter_faults
from tacit.plan.entries import Requirement, collect, requirements
from tacit.plan.files import read_document, write_document
from tacit.plan.map_section import map_faults, unfit_candidates
from tacit.plan.sections import (
    Control,
    MapSpec,
    Output,
    Population,
    Roles,
    Rules,
    Section,
    Source,
    Tabulate,
    public_path,
    rules_to_plain,
)
from tacit.release.folders import refuse_target, require_writable
from tacit.result import as_json_number
from tacit.spec import Measure, Method

if TYPE_CHECKING:
    from tacit.data.corpus import Corpus
    from tacit.data.fit import JointFit
    from tacit.data.table import Table
    from tacit.release.release import Release

#: Data of which a release is of the same kind; a plan may make a table from records.
K = TypeVar("K", "Table", "Corpus", "JointFit")
#: The version of the plan format; a plan of another version is refused.
VERSION = 1

#: The sections of a plan file, in order, with what they say.
SECTIONS: Mapping[str, str] = {
    "tacit": "version of the plan format (1)",
    "title": "title of the release",
    "source": "the file to protect: its path, and options for reading it",
    "register": "a population register with the same keys, for measures and models that need one",
    "control": "records of people whom no step has seen, for measures that compare the risk with theirs",
    "roles": "what the columns are: identifiers, keys, sensitive, weight, household, stratum, copy_number, links",
    "hierarchies": "how columns generalise: a rule such as {kind: dates} or the path of a file, by column",
    "table": "the table to build from the records, or how to read a ready one: dimensions, value, holding, ...",
    "steps": "the methods to apply, in order",
    "measures": "the risk and utility measures to take before and after",
    "require": "measures with a bound (at_most, at_least) that the release must keep; else it is refused",
    "map": "a risk-utility map: candidates to compare (after the steps), risk, utility, limits",
    "output": "the folder of the release and the format of its data",
    "access": "access class of the release: Pr, SPr, SPu or Pu",
    "seed": "seed of the random numbers, for study only: leave it out, and one is drawn and kept in the ledger",
    "engine": "duckdb or spark",
}
#: The typed models of the sections that are mappings.
MODELS: Mapping[str, type[Section]] = {
    "source": Source,
    "register": Population,
    "control": Control,
    "roles": Roles,
    "table": Tabulate,
    "map": MapSpec,
    "output": Output,
}


class Plan(BaseModel):
    """A list of steps with everything needed to run it again.

    In Python a plan is often just ``Plan([...]).run(data)``; from a file it also names its
    source, roles, hierarchies, measures and output.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    steps: tuple[Any, ...] = Field(default=(), description=SECTIONS["steps"])
    measures: tuple[Any, ...] = Field(default=(), description=SECTIONS["measures"])
    require: tuple[Requirement, ...] = Field(default=(), description=SECTIONS["require"])
    source: Source | None = Field(default=None, description=SECTIONS["source"])
    population: Population | None = Field(default=None, description=SECTIONS["register"])
    control: Control | None = Field(default=None, description=SECTIONS["control"])
    roles: Roles = Field(default=Roles(), description=SECTIONS["roles"])
    hierarchies: Rules = Field(default_factory=dict, description=SECTIONS["hierarchies"])
    table: Tabulate | None = Field(default=None, description=SECTIONS["table"])
    map: MapSpec | None = Field(default=None, description=SECTIONS["map"])
    output: Output = Field(default=Output(), description=SECTIONS["output"])
    title: str = Field(default="", description=SECTIONS["title"])
    access: Literal["", "Pr", "SPr", "SPu", "Pu"] = Field(
        default="", description=SECTIONS["access"]
    )
    seed: int | None = Field(default=None, ge=0, strict=True, description=SECTIONS["seed"])
    engine: Literal["duckdb", "spark"] = Field(default="duckdb", description=SECTIONS["engine"])
    #: The folder that relative paths start from.
    base: Path = Field(default=Path(), exclude=True, repr=False)

    def __init__(self, steps: Any = (), measures: Any = (), **values: Any) -> None:
        given = {"steps": steps, "measures": measures, **values}
        if "register" in given:
            given["population"] = given.pop("register")
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise PlanError("the plan has faults", parameter_faults(type(self), error)) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(str(self.to_dict()))

    @field_validator("seed")
    @classmethod
    def _seed(cls, value: int | None) -> int | None:
        if value is not None and value.bit_length() > LARGEST_SEED:
            raise ValueError(f"must have at most {LARGEST_SEED} bits, some 77 digits")
        return value

    @field_validator("steps", "measures", mode="before")
    @classmethod
    def _specs(cls, value: Any, info: Any) -> Any:
        entries = [value] if isinstance(value, Method | Measure | str | Mapping) else value
        if entries is not None and not isinstance(entries, list | tuple):
            raise ValueError("it must be a list of kinds and their parameters")
        base, noun = (Method, "step") if info.field_name == "steps" else (Measure, "measure")
        faults: list[str] = []
        built = collect(list(entries or ()), base, noun, faults)
        if faults:
            raise ValueError("; ".join(faults))
        return tuple(built)

    @field_validator(
        "source", "population", "control", "roles", "table", "map", "output", mode="before"
    )
    @classmethod
    def _sections(cls, value: Any, info: Any) -> Any:
        name = "register" if info.field_name == "population" else info.field_name
        if value is None:
            return cls.model_fields[info.field_name].get_default(call_default_factory=True)
        try:
            return MODELS[name].of(value)
        except SpecError as error:
            raise ValueError(str(error)) from None

    @field_validator("require", mode="before")
    @classmethod
    def _requirements(cls, value: Any) -> Any:
        faults: list[str] = []
        built = requirements(value, faults)
        if faults:
            raise ValueError("; ".join(faults))
        return tuple(built)

    # -- files -------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a YAML or TOML plan; every fault is reported at once."""
        return cls.from_dict(read_document(Path(path)), base=Path(path).resolve().parent)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], *, base: Path = Path()) -> Plan:
        """Build a plan from plain data; every fault is reported at once."""
        version = document.get("tacit", VERSION)
        if version != VERSION or isinstance(version, bool):
            raise PlanVersion(
                f"the plan is of format {version!r}; this tacit reads format {VERSION}"
            )
        faults = [
            f"there is no section {str(name)!r}. {near_match(str(name), SECTIONS)}".strip()
            for name in document
            if name not in SECTIONS
        ]
        given = {k: v for k, v in document.items() if k in SECTIONS and v is not None}
        built: dict[str, Any] = {
            "steps": collect(given.pop("steps", None), Method, "step", faults),
            "measures": collect(given.pop("measures", None), Measure, "measure", faults),
            "require": requirements(given.pop("require", None), faults),
        }
        for name, model in MODELS.items():
            if name in given:
                try:
                    built[name] = model.of(given.pop(name))
                except SpecError as error:
                    faults += [f"{name}: {f}" for f in getattr(error, "faults", [str(error)])]
                    # What is wrong elsewhere is said as well, as if this section were empty.
                    built[name] = model.model_construct() if name == "table" else None
        given.pop("tacit", None)
        rules = given.pop("hierarchies", {})
        if isinstance(rules, Mapping):
            built["hierarchies"] = {str(c): r for c, r in rules.items()}
        else:
            faults.append("hierarchies must be a mapping from column to rule or file")
        if not built["steps"] and "map" not in document and not document.get("steps"):
            faults.append("there are no steps")
        try:
            plan = cls(base=base, **built, **given)
        except PlanError as error:
            faults += error.faults
            plan = cls(base=base, **built)
        faults += plan.section_faults()
        if faults:
            raise PlanError("the plan has faults", faults)
        return plan

    def to_dict(self, *, public: bool = False) -> dict[str, Any]:
        """Return the plan as plain data; ``public`` leaves out the seed, secrets, folders and passwords."""
        rules = rules_to_plain(self.hierarchies)
        if public:
            rules = map_files(rules, public_path)
        document: dict[str, Any] = {
            "tacit": VERSION,
            "title": self.title,
            "source": section_to_dict(self.source, public=public),
            "register": section_to_dict(self.population, public=public, name="register"),
            "control": section_to_dict(self.control, public=public, name="control"),
            "roles": self.roles.to_dict(),
            "hierarchies": rules,
            "table": self.table_to_dict(public=public),
            "steps": [step.to_dict(public=public) for step in self.steps],
            "measures": [measure.to_dict(public=public) for measure in self.measures],
            "require": [r.to_dict(public=public) for r in self.require],
            "map": None if public or self.map is None else as_json_number(self.map.to_dict()),
            "output": None if public else self.output.to_dict(),
            "access": self.access,
            "engine": self.engine if self.engine != "duckdb" else "",
        }
        kept = {k: v for k, v in document.items() if v or k in ("steps", "measures")}
        return kept if public or self.seed is None else {**kept, "seed": self.seed}

    def table_to_dict(self, *, public: bool) -> dict[str, Any]:
        """Return the table section as plain data."""
        if self.table is None:
            return {}
        section = self.table.to_dict()
        if public:
            if "dimensions" in section:
                section["dimensions"] = map_files(section["dimensions"], public_path)
            if section.get("metadata"):
                section["metadata"] = public_path(section["metadata"])
        return dict(as_json_number(section))

    def save(self, path: str | Path) -> None:
        """Write the plan as YAML or TOML, by the file's extension."""
        write_document(self.to_dict(), Path(path))

    def with_absolute_paths(self) -> Plan:
        """Return the plan with its files where they are, so that it can be run from anywhere."""
        changes: dict[str, Any] = {
            "hierarchies": map_files(self.hierarchies, self.locate_text),
            "steps": tuple(step.with_files(self.locate_text) for step in self.steps),
        }
        for name in ("source", "population", "control"):
            section = getattr(self, name)
            if section is not None:
                columns = ("record",) if section.text is not None else ()
                paths = {
                    n: self.locate_text(getattr(section, n))
                    for n in ("path", "metadata", "record", "gold")
                    if isinstance(getattr(section, n), str) and n not in columns
                }
                changes[name] = section.model_copy(update=paths)
        if self.table is not None:
            table = {"dimensions": map_files(self.table.dimensions, self.locate_text)}
            if self.table.metadata:
                table["metadata"] = self.locate_text(self.table.metadata)
            changes["table"] = self.table.model_copy(update=table)
        return self.model_copy(update=changes)

    def locate(self, path: str) -> str | Path:
        """Return the absolute path of a file of the plan; addresses of databases stay as they are."""
        found = self.resolve(path)
        return found.resolve() if isinstance(found, Path) else found

    def locate_text(self, path: str) -> str:
        """Return the absolute path of a file of the plan as text."""
        return str(self.locate(path))

    def resolve(self, path: str | Path) -> Any:
        """Return a path relative to the plan's folder; addresses of databases stay as they are."""
        return path if "://" in str(path) else self.base / path

    def with_(self, **changes: Any) -> Plan:
        """Return the plan with some fields changed."""
        return self.model_copy(update=changes)

    # -- data ----------------------------------------------------------------------------------

    def source_kind(self) -> Kind[Any]:
        """Return the kind of data that the source holds."""
        if self.source is None:
            raise PlanError("the plan names no source; give it one, or pass data to run()")
        return next(kind for kind in all_kinds().values() if kind.holds_source(self))

    def read(self) -> Any:
        """Read the source with its roles and hierarchies."""
        return self.source_kind().read(self)

    def released_kind(self, source: str) -> str:
        """Return the kind of the output data, given that of the source."""
        last = next((s.acts_on().kind for s in reversed(self.steps)), source)
        return "table" if self.table is not None else last

    # -- checking --------------------------------------------------------------------------------

    def section_faults(self) -> list[str]:
        """Return what is wrong between the sections, as far as no data are needed to see it."""
        kinds = [s.acts_on().kind for s in self.steps]
        found = []
        if "table" in kinds and "records" in kinds[kinds.index("table") :]:
            found.append("steps on records must come before steps on the table")
        if self.table is not None or kinds:
            out = self.released_kind("records")
            found += [
                f"measure {i} ({m.kind}): it looks at {words_of(m)}, and the plan releases {WORDS.get(out, out)}"
                for i, m in enumerate(self.measures, 1)
                if m.acts_on().kind != out
            ]
        if self.output.format:
            formats = kind_named(self.released_kind("records")).formats
            if self.output.format not in formats:
                found.append(
                    f"output: format must be one of {', '.join(formats)} (got {self.output.format!r})"
                )
        return [*found, *map_faults(self.map)]

    def faults(self, data: Data | None = None) -> list[str]:
        """Return everything that can be known to be wrong before any work is done."""
        plan, lost = self.find_files()
        if data is None:
            if self.source is None:
                return ["the plan names no source; give it one, or pass data to run()"]
            data, found = self.source_kind().read_partly(self)
            found += [*lost, *self.target_faults()]
            return found if data is None else [*found, *plan.data_faults(data)]
        return [*lost, *plan.data_faults(data)]

    def find_files(self) -> tuple[Plan, list[str]]:
        """Return the plan with the files of its steps found from its folder, and which of them cannot be read."""
        steps, lost = list[Method[Any]](), list[str]()
        for i, step in enumerate(self.steps, 1):
            try:
                steps.append(step.with_files(self.locate_text))
            except SdcError as error:
                steps.append(step)
                lost.append(f"step {i} ({step.kind}): {error}")
        return self.with_(steps=tuple(steps)), lost

    def target_faults(self) -> list[str]:
        """Return why the release could not be written where the plan says."""
        target = Path(self.resolve(self.output.folder)).absolute()
        source = "memory" if self.source is None else str(self.resolve(self.source.path))
        try:
            with explain_target(target):
                refuse_target(target, source, force=True)
                require_writable(target)
        except SdcError as error:
            return [f"output: {error}"]
        return []

    def data_faults(self, data: Data) -> list[str]:
        """Return what is wrong with using the data as the plan says."""
        if not len(data):
            noun = kind_of(data).noun
            return [f"the source holds no {noun}; there is nothing to protect or to release"]
        name = kind_of(data).name
        found = [
            f"step {i} ({s.kind}): {f}"
            for i, s, known in self.seen(data)
            if s.acts_on().kind == name
            for f in s.faults(known)
        ]
        found += [
            f"step {i} ({s.kind}): it needs a population register; name it in the plan's register section"
            for i, s in enumerate(self.steps, 1)
            if s.asks_register and self.population is None
        ]
        found += [] if found else kind_of(data).step_faults(self.steps, data)
        out = self.released_kind(name)
        if out != name:
            return [*found, *kind_named(out).build_faults(self, data)]
        found += [f"step {i} ({s.kind}): it works on {words_of(s)}, and the source holds {WORDS.get(name, name)}"
                  for i, s in enumerate(self.steps, 1) if s.acts_on().kind != name]  # fmt: skip
        found += [f"{name}: {f}" for name, m in number_measures(self) for f in m.faults(data)]
        found += [
            f"{name}: it needs a population register; name it in the plan's register section"
            for name, m in number_measures(self)
            if m.needs_register and self.population is None
        ]
        found += self.companion_faults(data)
        return [*found, *self.lost_links(), *unfit_candidates(self.map, data)]

    def companion_faults(self, data: Data) -> list[str]:
        """Return why the population register, or the control records, cannot be read."""
        kind, found = kind_of(data), []
        for name, read in (("register", kind.read_register), ("control", kind.read_control)):
            try:
                read(self, data)
            except SdcError as error:
                found.append(f"{name}: {error}")
        return found

    def lost_links(self) -> list[str]:
        """Return the measures that can never be taken, because they follow records whose links a step cuts."""
        cutting = [(i, s) for i, s in enumerate(self.steps, 1) if s.cuts_links]
        return [
            f"{name}: it follows single records, and step {j} ({s.kind}) cuts their links to "
            "the original; leave one of them out"
            for j, s in cutting[:1]
            for name, m in number_measures(self)
            if m.compares and m.acts_on() is s.acts_on()
        ]

    def cautions(self, data: Data | None = None) -> list[str]:
        """Return what the steps leave open on households and linked columns, before any work is done."""
        if data is None and not (self.roles.household or self.roles.links):
            return []
        known = self.read() if data is None else data
        return [
            f"step {i} ({step.kind}): {sentence}"
            for i, step, seen in self.seen(known)
            if step.acts_on() is type(known)
            for sentence in step.cautions(seen, changed_elsewhere(self, i, known))
        ]

    def seen(self, data: Data) -> Iterator[tuple[int, Method[Any], Any]]:
        """Yield each step with its number and the data as it will find them: with the columns that earlier steps add and leave."""
        known: Any = data
        for i, step in enumerate(self.steps, 1):
            yield i, step, known
            if step.acts_on() is not type(known):
                continue
            new, gone = step.adds(known), step.removes(known)
            if new:
                known = known.with_stand_ins(new)
            if gone and not step.faults(known):
                known = known.drop(gone)

    def check(self, data: Data | None = None) -> None:
        """Raise one error that lists everything that is wrong."""
        faults = self.faults(data)
        if faults:
            raise PlanError("the plan cannot run", faults)

    # -- running ---------------------------------------------------------------------------------

    @overload
    def run(
        self,
        data: K,
        *,
        seed: int | None = None,
        on_event: Listener = ignore_event,
        should_stop: Stop = never,
    ) -> Release[K]: ...

    @overload
    def run(
        self,
        data: Data | None = None,
        *,
        seed: int | None = None,
        on_event: Listener = ignore_event,
        should_stop: Stop = never,
    ) -> Release[Any]: ...

    def run(
        self,
        data: Data | None = None,
        *,
        seed: int | None = None,
        on_event: Listener = ignore_event,
        should_stop: Stop = never,
    ) -> Release[Any]:
        """Apply the steps and measure before and after.

        Parameters
        ----------
        data
            The data; by default the plan's own source is read.
        seed
            Overrides the plan's seed. Each step draws from its own child of it.
        on_event, should_stop
            Called with events, and asked whether to stop, while working; see :mod:`tacit.events`.
        """
        from tacit.plan.run import run_plan

        return run_plan(self, data, seed=seed, on_event=on_event, should_stop=should_stop)


def number_measures(plan: Plan) -> list[tuple[str, Measure[Any]]]:
    """Return every measure, required ones included, with the words for its place in the plan."""
    everything = [*plan.measures, *(r.measure for r in plan.require)]
    return [(f"measure {i} ({m.kind})", m) for i, m in enumerate(everything, 1)]


def changed_elsewhere(plan: Plan, number: int, data: Data) -> frozenset[str]:
    """Return the columns that the steps besides one change; only linked columns are asked for."""
    if not getattr(data, "links", ()):
        return frozenset()
    others = [s for i, s in enumerate(plan.steps, 1) if i != number and s.acts_on() is type(data)]
    return frozenset(c for step in others for c in step.targets(data))


WORDS = {"records": "records", "table": "a table", "corpus": "texts"}


def words_of(spec: Method[Any] | Measure[Any]) -> str:
    """Return the kind of data that a Spec acts on, with its article."""
    kind = spec.acts_on().kind
    return WORDS.get(kind, kind)


def section_to_dict(section: Source | None, *, public: bool, name: str = "") -> dict[str, Any]:
    """Return a section that names a file as plain data."""
    if section is None:
        return {}
    found = dict(as_json_number(section.to_public() if public else section.to_dict()))
    if public and name:
        # Whose register was compared may tell of its people.
        found["path"] = name + PurePath(found["path"]).suffix
    return found
