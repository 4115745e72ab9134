"""Control profiles: what an office has agreed for one census, stored, versioned, compared, and made into a plan."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from tacit.census.access import today_here
from tacit.errors import InputError, InvalidParameter, PlanError, SdcError
from tacit.fields import ColumnName, NaturalInt, Secret
from tacit.numbers import format_number
from tacit.plan import Plan
from tacit.plan.entries import spec_of
from tacit.plan.files import read_document, write_document
from tacit.plan.sections import Roles, Section, option
from tacit.records.census.geography_threshold import GeographyThreshold
from tacit.spec import Method

#: The version of the file format.
FORMAT = 1
#: A census is recent for so many years.
RECENT = 10
#: What a recent census must say itself.
EXPLICIT = ("sample", "geography", "swap")
#: Parameters of each control whose values would help an intruder.
SECRETS = ("swap.share", "swap.small", "sample.start")

Rule = Mapping[str, Any]


def as_day(value: Any) -> Any:
    """Return a date as text: YAML reads one where it sees one."""
    return value.isoformat() if isinstance(value, dt.date) else value


class Profile(Section):
    """What was agreed for one census of one country: sample, geography, swapping, recodes, what is left out.

    ``sample``, ``geography`` and ``swap`` hold the parameters of sample_households, geography_threshold and
    swap_households. A census of the last ten years must give all three; an older one may say ``controls: light`` and leave
    out swapping.
    """

    profile: Literal[1] = option("version of the file format (1)", 1)
    country: str = Field(min_length=1, description="code or name of the country")
    census: int = Field(ge=1700, le=2200, description="year of the census")
    version: int = option("version of the agreement, counted up", 1, ge=1)
    agreed: Annotated[str, BeforeValidator(as_day)] = option(
        "day of the agreement, as 2026-01-31", ""
    )
    agreed_with: str = option("the office that agreed", "")
    note: str = option("what was changed and why", "")
    controls: Literal["full", "light"] = option(
        "light leaves out swapping, for a census that is not recent", "full"
    )
    roles: Annotated[Roles, BeforeValidator(Roles.of)] = option("what the columns are", Roles())
    sample: Rule = Field(default_factory=dict, description="parameters of sample_households")
    geography: Rule = Field(default_factory=dict, description="parameters of geography_threshold")
    swap: Rule = Secret(default_factory=dict, description="parameters of swap_households")
    top_codes: Mapping[ColumnName, float] = Field(
        default_factory=dict, description="the largest value shown, by column"
    )
    bottom_codes: Mapping[ColumnName, float] = Field(
        default_factory=dict, description="the smallest value shown, by column"
    )
    recodes: Mapping[ColumnName, Rule] = Field(
        default_factory=dict, description="parameters of recode, by column"
    )
    digits: Mapping[ColumnName, NaturalInt] = Field(
        default_factory=dict, description="digits of hierarchical codes that are kept, by column"
    )
    remove: tuple[ColumnName, ...] = option("columns that are left out", ())
    remove_sensitive: bool = option("leave out the columns declared sensitive", False)

    #: The words in which a recode is stricter when it grows.
    NUMBERED: ClassVar[tuple[str, ...]] = ("top_codes", "bottom_codes", "digits")

    @classmethod
    def load(cls, path: str | Path) -> Profile:
        """Read a YAML or TOML file; every fault is reported at once."""
        document = read_document(Path(path))
        try:
            return cls(**{str(k): v for k, v in document.items()})
        except InvalidParameter as error:
            raise PlanError("the profile has faults", getattr(error, "faults", [str(error)])) from None  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write the profile as YAML or TOML, secrets included: keep it inside."""
        write_document(self.to_dict(), Path(path))

    def to_dict(self, *, public: bool = False) -> dict[str, Any]:
        """Return the profile as plain data, defaults left out; ``public`` leaves out what must stay secret."""
        found = json.loads(self.model_dump_json(exclude_defaults=True))
        found["roles"] = json.loads(json.dumps(self.roles.to_dict()))
        found = {"profile": FORMAT, "country": self.country, "census": self.census, "version": self.version, **found}  # fmt: skip
        if public:
            for secret in SECRETS:
                section, name = secret.split(".")
                if isinstance(found.get(section), dict):
                    found[section].pop(name, None)
            geography = found.get("geography", {})
            for name in ("population", "harmonised"):
                if isinstance(geography.get(name), str):
                    geography[name] = Path(geography[name]).name
        return {k: v for k, v in found.items() if v not in ({}, [], "")}

    def fingerprint(self) -> str:
        """Return the SHA-256 of what was agreed, secrets included."""
        text = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def revise(self, note: str, **changes: Any) -> Profile:
        """Return the next version with some settings changed, and a note why."""
        if not note.strip():
            raise InvalidParameter("a new version needs a note that says what was changed and why")
        document = self.to_dict() | changes | {"version": self.version + 1, "note": note}
        return Profile(**document)

    # -- rules -----------------------------------------------------------------------------------

    def age(self, today: dt.date | None = None) -> int:
        """Return the age of the census in years."""
        return (today or today_here()).year - self.census

    def is_recent(self, today: dt.date | None = None) -> bool:
        """Return True for a census of the last ten years."""
        return self.age(today) < RECENT

    def faults(self, today: dt.date | None = None) -> list[str]:
        """Return everything that is wrong with the profile, before any data are read."""
        found: list[str] = []
        if self.age(today) < 0:
            found.append(f"census: {self.census} lies in the future")
        spared = () if self.is_recent(today) or self.controls == "full" else ("swap",)
        lacking = [n for n in EXPLICIT if not getattr(self, n) and n not in spared]
        if self.is_recent(today):
            if self.controls == "light":
                found.append(
                    f"controls: the census is younger than {RECENT} years, so that light controls are not enough"
                )
            if self.geography.get("at_least") == 0:
                found.append(
                    "geography: a recent census does not show units of any size; give at_least"
                )
            found += [
                f"{name} is missing: a census younger than {RECENT} years must say itself how it is controlled"
                for name in lacking
            ]
        else:
            hint = "; say controls: light to do without"
            found += [f"{n} is missing{hint if n == 'swap' else ''}" for n in lacking]
        if not self.roles.household:
            found.append("roles: name the household column, which keeps persons together")
        if not self.roles.identifiers:
            found.append("roles: name the identifiers (names, addresses), which must be removed")
        for where, entry in self.entries():
            try:
                spec_of(entry, Method, "step")
            except SdcError as error:
                found.append(f"{where}: {error}")
        return found

    def cautions(self, today: dt.date | None = None) -> list[str]:
        """Return what is allowed and should be looked at."""
        found = []
        if not self.is_recent(today):
            age = self.age(today)
            found.append(
                f"the census is {age} years old and may be controlled lightly; these controls are {self.controls}, as the profile says"
            )
        if not self.agreed or not self.agreed_with:
            found.append("the profile does not say when and with whom it was agreed")
        if self.remove_sensitive and not self.roles.sensitive:
            found.append("remove_sensitive removes nothing: no column is declared sensitive")
        return found

    def check(self, today: dt.date | None = None) -> None:
        """Raise one error that lists everything that is wrong."""
        found = self.faults(today)
        if found:
            raise PlanError("the profile cannot be used", found)

    # -- plan --------------------------------------------------------------------------------------

    def entries(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each step of the plan with the part of the profile that it comes from."""
        if self.roles.identifiers:
            yield "roles", {"kind": "deidentify"}
        if self.sample:
            yield "sample", {"kind": "sample_households", **self.sample}
        sensitive = self.remove_sensitive and bool(self.roles.sensitive)
        if self.remove or sensitive:
            gone = {"columns": list(self.remove)} if self.remove else {}
            yield "remove", {"kind": "remove_columns", **gone, **({"sensitive": True} if sensitive else {})}  # fmt: skip
        for column in dict.fromkeys([*self.top_codes, *self.bottom_codes]):
            ends = {"top": self.top_codes, "bottom": self.bottom_codes}
            given = {n: whole(of[column]) for n, of in ends.items() if column in of}
            yield "top_codes", {"kind": "top_bottom_code", "column": column, **given}
        for column, rule in self.recodes.items():
            yield f"recodes of {column}", {"kind": "recode", "column": column, **rule}
        if self.digits:
            yield "digits", {"kind": "delete_digits", "keep": dict(self.digits)}
        if self.geography:
            yield "geography", {"kind": "geography_threshold", **self.geography}
        if self.swap and self.controls == "full":
            # Pseudo-strata are neighbours: left behind, they would tell who has moved.
            along = [*self.swap.get("along", ()), *self.strata_column()]
            size = {"size_band": 1000, **self.swap}
            yield "swap", {"kind": "swap_households", **size, **({"along": along} if along else {})}
        if self.roles.household:
            yield "roles", {"kind": "shuffle_households"}

    def strata_column(self) -> list[str]:
        """Return the column of pseudo-strata that the sample makes."""
        if not self.sample or self.sample.get("group", 2) is None:
            return []
        return [str(self.sample.get("pseudo_stratum", "pseudo_stratum"))]

    def plan(self, source: str, *, today: dt.date | None = None, base: Path = Path()) -> Plan:
        """Return the plan that makes the sample from the census file.

        Parameters
        ----------
        source
            The census file, as the plan is to name it.
        today
            The day by which a census counts as recent.
        base
            Folder from which relative paths are found.
        """
        self.check(today)
        shown = list(self.geography.get("columns", ()))
        gone = [*self.roles.identifiers, *self.remove, *self.geography.get("remove", ())]
        density = {n: self.sample[n] for n in ("interval", "fraction") if n in self.sample}
        unique = {"kind": "sampling_uniqueness", **density}
        identifiers: dict[str, Any] = {"kind": "direct_identifiers", "at_most": 0}
        identifiers |= {n: cs for n, cs in (("allowed", shown), ("gone", gone)) if cs}
        return Plan.from_dict(
            {
                "title": f"Census of {self.country}, {self.census}, sample for researchers",
                "source": {"path": source},
                "roles": self.roles.to_dict(),
                "steps": [entry for _, entry in self.entries()],
                "measures": [unique] if density and self.roles.keys else [],
                "require": [identifiers],
                "output": {"folder": "release", "format": "parquet"},
                "access": "SPr",
            },
            base=base,
        )

    # -- comparing -----------------------------------------------------------------------------------

    def diff(self, other: Profile) -> list[str]:
        """Return what another profile says differently, one sentence each; secrets are not quoted."""
        found = list(differences(self.to_dict(), other.to_dict(), SECRETS))
        changed = [s for s in found if not s.startswith(("version", "agreed", "note"))]
        if changed and other.version == self.version:
            found.append(
                "the version is the same although the agreement differs: count it up (Profile.revise does)"
            )
        return found


def whole(value: float) -> float | int:
    """Return a whole number as such."""
    return int(value) if float(value).is_integer() else value


def same_units(profiles: Sequence[Profile], base: Path = Path()) -> list[str]:
    """Return why censuses of one country would not show the same places, a sentence each.

    Units are decided on the latest census: columns, threshold, residual and inhabitants must be the same.
    """
    found = []
    by_country: dict[str, list[Profile]] = {}
    for profile in profiles:
        by_country.setdefault(profile.country, []).append(profile)
    for country, group in by_country.items():
        kept = [(p, shown_units(p, base)) for p in sorted(group, key=lambda p: p.census)]
        latest, units = kept[-1]
        found += [
            f"{country}: the census of {p.census} would show other units than that of {latest.census}; give both the "
            "same columns, threshold and population file, and harmonise the codes of the older one"
            for p, own in kept[:-1]
            if own != units
        ]
    return found


def shown_units(profile: Profile, base: Path) -> Any:
    """Return the units that a profile shows."""
    if not profile.geography:
        return None
    spec = spec_of({"kind": "geography_threshold", **profile.geography}, Method, "step")
    assert isinstance(spec, GeographyThreshold)
    if not spec.threshold:
        return spec.threshold, spec.columns
    if spec.population is None:
        raise InputError("a profile that estimates inhabitants from the data cannot be compared")
    geography = spec.with_files(lambda file: str(base / file)).geography_of_file()
    assert geography is not None
    labels, _ = geography.labels(spec.threshold, spec.residual)
    return sorted(set(labels.values()))


#: Which way a number protects more: up or down.
STRICTER_UP = ("sample.interval", "geography.at_least")
STRICTER_DOWN = ("sample.fraction", "top_codes.", "digits.")
#: Thresholds by name, so that names and numbers compare.
NAMED = {"standard": 20_000, "us": 100_000}


def differences(
    old: Mapping[str, Any], new: Mapping[str, Any], secrets: Collection[str] = ()
) -> Iterator[str]:
    """Yield a sentence for each setting that differs; of secret ones only that they do."""
    ours, theirs = flatten(old), flatten(new)
    for path in dict.fromkeys([*ours, *theirs]):
        before, after = ours.get(path), theirs.get(path)
        if before == after:
            continue
        if path in secrets:
            yield f"{path} was changed (it is secret and not shown)"
        elif isinstance(before, list) or isinstance(after, list):
            yield from list_difference(path, before, after)
        elif before is None:
            yield f"{path} is new: {show(after)}"
        elif after is None:
            yield f"{path} is gone (it was {show(before)})"
        else:
            yield f"{path} was {show(before)} and is {show(after)}{direction(path, before, after)}"


def flatten(document: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return nested settings by path."""
    found: dict[str, Any] = {}
    for name, value in document.items():
        here = f"{path}.{name}" if path else str(name)
        if isinstance(value, Mapping) and value:
            found |= flatten(value, here)
        else:
            found[here] = value
    return found


def list_difference(path: str, before: Any, after: Any) -> Iterator[str]:
    """Yield what was added to a list and taken from it."""
    ours, theirs = as_list(before), as_list(after)
    added = [v for v in theirs if v not in ours]
    taken = [v for v in ours if v not in theirs]
    if added:
        yield f"{path} has {', '.join(map(show, added))} in addition"
    if taken:
        yield f"{path} no longer has {', '.join(map(show, taken))}"
    if not added and not taken:
        yield f"{path} is in another order: {', '.join(map(show, theirs))}"


def as_list(value: Any) -> list[Any]:
    """Return a value as a list."""
    return [] if value is None else value if isinstance(value, list) else [value]


def show(value: Any) -> str:
    """Return a setting in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_number(value) if isinstance(value, int | float) else str(value)


def direction(path: str, before: Any, after: Any) -> str:
    """Return whether a change protects more or less, where that is known."""
    old, new = NAMED.get(before, before), NAMED.get(after, after)
    if old == "none_shown" or new == "none_shown":
        return ", which is stricter" if new == "none_shown" else ", which is less strict"
    if not all(isinstance(v, int | float) for v in (old, new)) or old == new:
        return ""
    up = path in STRICTER_UP or path.startswith("bottom_codes.")
    if not up and not path.startswith(STRICTER_DOWN):
        return ""
    return ", which is stricter" if (new > old) == up else ", which is less strict"
