"""Records: microdata in a plan and a release."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np

from tacit.context import Context
from tacit.data.base import RANDOMISED
from tacit.data.block import format_columns
from tacit.data.changes import changes
from tacit.data.fingerprint import fingerprint
from tacit.data.hierarchies.rules import flat
from tacit.data.microdata import Microdata
from tacit.data.roles import WITHHELD
from tacit.engine.relational import count_where
from tacit.errors import DisclosureRefused, SdcError
from tacit.io.formats import writable
from tacit.kinds.base import FORMULA, Kind, map_files
from tacit.spec import Method


class Records(Kind[Microdata]):
    """Microdata: read with roles and hierarchies, compared record by record."""

    name: ClassVar[str] = "records"
    noun: ClassVar[str] = "records"
    formats: ClassVar[tuple[str, ...]] = writable("records")
    shows_all: ClassVar[bool] = True

    def holds_source(self, plan: Any) -> bool:
        """Return True: whatever is nothing else is read as records."""
        del plan
        return True

    def read(self, plan: Any) -> Microdata:
        """Read the source with its roles and hierarchies."""
        return read_section(plan, plan.source, plan.roles.given(), plan.hierarchies)

    def step_faults(self, steps: Sequence[Method[Any]], data: Microdata) -> list[str]:
        """Return which steps would refuse the missing values of columns that no step before them touches."""
        touched: set[str] = set()
        asked: list[tuple[int, Method[Any], list[str]]] = []
        for i, step in enumerate(steps, 1):
            if step.acts_on() is not Microdata:
                continue
            mine = [c for c in step.targets(data) if c in data.columns]
            policy = getattr(step, "missing", None)
            if policy == "refuse":
                asked.append((i, step, [c for c in mine if c not in touched]))
            # Neither who refuses nor who keeps missing values fills them.
            touched |= set() if policy in ("refuse", "keep") else set(mine)
        names = sorted({c for *_, columns in asked for c in columns})
        missing = count_where(data.frame, [nw.col(c).is_null() for c in names])
        holed = {c for c, n in zip(names, missing, strict=True) if n}
        return [
            f"step {i} ({step.kind}): {format_columns(bad)} has missing values. Impute them first, or see its parameter "
            "'missing'."
            for i, step, columns in asked
            if (bad := [c for c in columns if c in holed])
        ]

    def read_partly(self, plan: Any) -> tuple[Microdata | None, list[str]]:
        """Return the source with the roles and hierarchies that fit, and a fault for each that does not."""
        try:
            bare = read_section(plan, plan.source, {}, {})
        except SdcError as error:
            return None, [str(error)]
        found, rules = [], resolve_rules(plan, plan.hierarchies)
        roles = declared_in_file(bare) | {r: n for r, n in plan.roles.given().items() if n}
        fitting: dict[str, Any] = {}

        def fits(what: str, roles: Mapping[str, Any], rules: Mapping[str, Any]) -> bool:
            try:
                with_declared(bare, roles, rules)
            except SdcError as error:
                found.append(f"{what}: {error}")
                return False
            return True

        for role, names in roles.items():
            whole = fits(f"role {role}", {role: names}, {})
            fitting[role] = names if whole else only_present(names, bare)
        hierarchies: dict[str, Any] = {}
        for column, rule in rules.items():
            if fits(f"hierarchy of {column}", {}, {column: rule}):
                hierarchies[column] = rule
            elif column in bare.columns:
                # What steps say for want of this hierarchy would only repeat the fault.
                hierarchies[column] = flat()
        try:
            return with_declared(bare, fitting, hierarchies), found
        except SdcError as error:
            return None, found or [str(error)]

    def read_register(self, plan: Any, data: Microdata) -> Microdata | None:
        """Read the population register; it shares the keys and hierarchies of the data."""
        return self.read_beside(plan, plan.population, data)

    def read_control(self, plan: Any, data: Microdata) -> Microdata | None:
        """Read the control records; they share the keys and hierarchies of the data."""
        return self.read_beside(plan, plan.control, data)

    def read_beside(self, plan: Any, section: Any, data: Microdata) -> Microdata | None:
        """Read a file that shares the keys and hierarchies of the data, if one is named."""
        if section is None:
            return None
        bare = read_section(plan, section, {}, {})
        roles = {"keys": [k for k in data.keys if k in bare.columns]}
        rules = {k: h for k, h in plan.hierarchies.items() if k in bare.columns}
        return read_section(plan, section, {**roles, **section.roles.given()}, rules)

    def fingerprint(self, data: Microdata) -> str:
        """Return the SHA-256 of names, kinds of types, values and nulls in record order."""
        return fingerprint(data)

    def compare(self, before: Microdata, after: Microdata) -> dict[str, Any]:
        """Return how many records were dropped or added and how many cells changed, by column."""
        return changes(before, after)

    def describe(self, data: Microdata) -> dict[str, Any]:
        """Return records, columns and quasi-identifiers."""
        return {
            "records": len(data),
            "columns": list(data.columns),
            "quasi_identifiers": {name: list(columns) for name, columns in data.quasi.items()},
        }

    def default_measures(self, data: Microdata) -> list[str]:
        """Return what the declared roles allow to measure."""
        if not data.keys:
            return []
        wanted = {"k_anonymity": True, "l_diversity": data.sensitive, "precision": data.hierarchies}
        return [kind for kind, possible in wanted.items() if possible]

    def check(self, data: Microdata) -> list[str]:
        """Refuse columns that name people or firms."""
        if not data.identifiers:
            return []
        listed = ", ".join(repr(c) for c in data.identifiers)
        return [
            f"the data still hold identifiers ({listed}); add a step deidentify, pseudonymise or substitute before release"
        ]

    def undeclared(self, data: Microdata, original: Any, allowed: Collection[str]) -> list[str]:
        """Refuse columns without a role that are direct identifiers by their names or values."""
        from tacit.records.identifiers.columns.undeclared import sentences, undeclared_identifiers

        source = original if isinstance(original, Microdata) else None
        return sentences(undeclared_identifiers(data, allowed, source))

    def withhold(self, data: Microdata) -> Microdata:
        """Return the data without columns that are as secret as the data, such as record keys."""
        return data.drop(data.with_role(WITHHELD))

    def open_points(self, data: Microdata) -> list[str]:
        """Warn of columns of free text that nothing has searched for names."""
        searched = {c for a in data.history for c in a.details.get("scrubbed", ())}
        texts = [c for c in text_columns(data) if c not in searched]
        return [
            f"column {c!r} holds free text that no step has searched for names; scrub it, or leave it out"
            for c in texts
        ]

    def held_back(self, data: Microdata) -> list[str]:
        """Name the transition matrices that are not published, for they would tell the original frequencies."""
        return [
            f"the transition matrix of {v.name!r} was made from the frequencies of the original, which follow from it, "
            "and stays with the data holder; one made from public frequencies would be published"
            for v in randomised(data)
            if v.own_frequencies
        ]

    def undone(
        self,
        original: Microdata,
        linked: Microdata,
        data: Microdata,
        later: Sequence[Method[Any]],
        allowed: Collection[str],
    ) -> tuple[list[str], list[str]]:
        """Look for released columns that tell the hidden values of others."""
        from tacit.kinds.dependence import hidden_dependence

        return hidden_dependence(original, linked, data, later, allowed)

    def order_warning(self, data: Microdata) -> str:
        """Say that kept order links releases."""
        home = data.household
        numbers = "" if home is None else f", and the households of column {home!r} their numbers"
        return (
            f"the records keep the order of the source{numbers}: whoever knows that order, or has another release "
            "in it, can tell whose record is whose"
        )

    def shuffle(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records in a drawn order, households numbered anew: those of the source would tell whose they are."""
        from tacit.records.swapping.scramble import released_order

        return released_order(data, Context(rng, 0))

    def escape_formulas(self, data: Microdata) -> Microdata:
        """Put an apostrophe before text, and names of columns, that a spreadsheet would run."""
        schema = data.frame.collect_schema()
        texts = [c for c in data.columns if schema[c] == nw.String]
        frame = data.frame.with_columns(
            nw.when(nw.col(c).str.contains(FORMULA))
            .then(nw.concat_str([nw.lit("'"), nw.col(c)]))
            .otherwise(nw.col(c))
            .alias(c)
            for c in texts
        )
        begun = [c for c in data.columns if re.match(FORMULA, c)]
        if begun:
            raise DisclosureRefused(
                f"the name of the column {begun[0]!r} begins like a formula, which a spreadsheet would run; rename it"
            )
        return replace(data, frame=frame)

    def write_public(self, data: Microdata, folder: Path, form: str) -> dict[str, str]:
        """Write the data and, where columns were randomised, the transition matrices."""
        from tacit.io import write

        file = folder / f"{self.stem}.{form}"
        write(data, file)
        public = [v for v in randomised(data) if not v.own_frequencies]
        if public:
            from tacit.records.pram import write_matrices

            # Without the matrices randomised columns can be read but not analysed.
            write_matrices(folder / "matrices.json", public)
        return {self.stem: file.name}

    def reload(self, plan: Any, folder: Path, names: Mapping[str, str]) -> Microdata:
        """Read the released file with the roles of the plan, as far as its columns were released."""
        from tacit.io.read import read

        bare = read(folder / names[self.stem])
        given = {role: only_present(n, bare) for role, n in plan.roles.given().items()}
        return with_declared(bare, {role: n for role, n in given.items() if n}, {})

    def read_back(
        self, data: Microdata | None, folder: Path, names: Mapping[str, str]
    ) -> nw.LazyFrame[Any]:
        """Read the released file as a recipient would; codes for missing answers become null again."""
        from tacit.io.read import read

        del data
        file = folder / names[self.stem]
        back = read(file)
        masks = [
            nw.when(~nw.col(n).is_in(list(c.missing))).then(nw.col(n)).alias(n)
            for n, c in back.columns.items()
            if c.missing and file.suffix in (".asc", ".saf")
        ]
        return back.frame.with_columns(*masks) if masks else back.frame


def randomised(data: Microdata) -> list[Any]:
    """Return the variables that steps have randomised, with their matrices."""
    if not any(action.details.get(RANDOMISED) for action in data.history):
        return []
    from tacit.records.pram import from_history

    return list(from_history(data.history))


#: A column whose values have this many characters and blanks on average holds sentences.
LONG, MANY_BLANKS = 40, 5


def text_columns(data: Microdata) -> list[str]:
    """Return the columns that hold sentences rather than codes or names."""
    schema = data.frame.collect_schema()
    columns = [c for c in data.columns if schema[c] == nw.String]
    if not columns:
        return []
    length = [nw.col(c).str.len_chars().mean().alias(f"n{i}") for i, c in enumerate(columns)]
    told = data.frame.select(*length).collect("pyarrow").row(0)
    long = [c for c, n in zip(columns, told, strict=True) if n is not None and n >= LONG]
    if not long:
        return []
    words = [
        nw.col(c).str.replace_all("[^ ]", "").str.len_chars().mean().alias(f"n{i}")
        for i, c in enumerate(long)
    ]
    blanks = data.frame.select(*words).collect("pyarrow").row(0)
    return [c for c, n in zip(long, blanks, strict=True) if n >= MANY_BLANKS]


def read_section(
    plan: Any, section: Any, roles: Mapping[str, Any], hierarchies: Mapping[str, Any]
) -> Microdata:
    """Read one file of the plan; paths are relative to the plan's folder."""
    from tacit.io.read import read

    options = section.options()
    if options.get("metadata"):
        options["metadata"] = str(plan.resolve(options["metadata"]))
    rules = resolve_rules(plan, hierarchies)
    return read(
        plan.resolve(section.path), **roles, hierarchies=rules, engine=plan.engine, **options
    )


def resolve_rules(plan: Any, hierarchies: Mapping[str, Any]) -> dict[str, Any]:
    """Return hierarchies with file names relative to the plan."""
    return dict(map_files(hierarchies, lambda file: str(plan.resolve(file))))


def with_declared(
    data: Microdata, roles: Mapping[str, Any], hierarchies: Mapping[str, Any]
) -> Microdata:
    """Return data that are read already with roles and hierarchies."""
    from tacit.io.read import read

    return read(data, **roles, hierarchies=hierarchies, engine=data.engine)


def declared_in_file(data: Microdata) -> dict[str, Any]:
    """Return the roles that the file itself declares, as a mu-ARGUS description does; those of a plan go before them."""
    told = {
        "keys": dict(data.quasi),
        "weight": data.weight,
        "household": data.household,
    }
    return {role: names for role, names in told.items() if names}


def only_present(names: Any, data: Microdata) -> Any:
    """Return the columns of a role that the data have."""
    if isinstance(names, Mapping):
        return {group: only_present(columns, data) for group, columns in names.items()}
    if isinstance(names, str):
        return names if names in data.columns else None
    return tuple(n for n in names if n in data.columns)


KIND = Records()
