"""``tacit recommend``: from a file to plans, ranked and explained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.options import Many, Separator, Workers, split
from tacit.cli.render import console, progress_bar

if TYPE_CHECKING:
    from tacit.spec import Measure


def recommend(
    file: Path,
    /,
    *,
    risk: str,
    cap: float,
    utility: str,
    out: Path | None = None,
    keys: Many = None,
    identifiers: Many = None,
    sensitive: Many = None,
    weight: str | None = None,
    household: str | None = None,
    stratum: str | None = None,
    hierarchy: Many = None,
    register: Path | None = None,
    methods: Many = None,
    numbers: Many = None,
    budget: int = 100,
    replicates: int = 1,
    workers: Workers = None,
    seed: int | None = None,
    missing: Many = None,
    separator: Separator = None,
    encoding: str = "utf-8",
    force: bool = False,
) -> int:
    """Search methods, settings and combinations for the most utility under a cap on risk, and say why.

    Parameters
    ----------
    file
        The data; or a plan (YAML or TOML) that names source, roles and hierarchies, whose own steps then come
        first.
    risk
        The measure of risk: a kind of 'tacit methods', or a mapping such as '{kind: k_anonymity, k: 5}'.
    cap
        The largest risk allowed.
    utility
        The measure of utility, given like the risk.
    out
        Folder for the page, the map, the table of candidates and the plan files; by default none is written.
    keys
        Key columns.
    identifiers
        Columns that name people or firms; every plan drops them first.
    sensitive
        Columns whose value must not become known.
    weight
        Column with the sampling weight.
    household
        Column with the household; samples then take whole households.
    stratum
        Column with the stratum.
    hierarchy
        column=rule: a file, a kind such as flat, or {kind: digits, length: 5}.
    register
        A population register, for measures that need one.
    methods
        Methods to try; by default all that fit the columns.
    numbers
        Columns of numbers that may be masked; by default those with more than 20 different numbers.
    budget
        How many evaluations the search may make.
    replicates
        Runs on the whole file of what depends on chance.
    seed
        Seed of the search, for study; the plans hold none.
    missing
        Texts that stand for a missing answer.
    encoding
        Encoding of text.
    force
        Replace a recommendation that is already there.
    """
    import tacit
    from tacit.alternatives.recommendation.result import refuse_replacing
    from tacit.cli.generated import rule
    from tacit.errors import InputError
    from tacit.plan import Plan

    if out is not None:
        refuse_replacing(out, force=force)
    roles: dict[str, Any] = {
        "keys": split(keys),
        "identifiers": split(identifiers),
        "sensitive": split(sensitive),
        "weight": weight,
        "household": household,
        "stratum": stratum,
    }
    told = None if encoding == "utf-8" else encoding
    reading = dict(missing=tuple(split(missing) or ()), separator=separator, encoding=told)  # noqa: C408 - options
    roles, reading = ({k: v for k, v in d.items() if v} for d in (roles, reading))
    hierarchies = dict(rule(text) for text in hierarchy or [])
    if file.suffix.lower() not in (".yaml", ".yml", ".toml"):
        beside = {} if register is None else {"register": str(register)}
        source = {"path": str(file), **reading}
        template = Plan(source=source, roles=roles, hierarchies=hierarchies, **beside)
    elif roles or hierarchies or reading or register:
        raise InputError(
            f"{file.name!r} is a plan: say in it what the columns are, how they generalise and how the file is read"
        )
    else:
        template = Plan.load(file)
    risk_measure, utility_measure = read_measure(risk, "--risk"), read_measure(utility, "--utility")
    with progress_bar(console) as show:
        found = tacit.recommend(
            template,
            risk=risk_measure,
            cap=cap,
            utility=utility_measure,
            budget=budget,
            replicates=replicates,
            methods=split(methods),
            numbers=split(numbers),
            workers=workers,
            seed=seed,
            on_event=show,
        )
    console.result(found)
    if out is not None:
        found.write(out, force=force)
        plans = f"{len(found.choices)} plan{'' if len(found.choices) == 1 else 's'}"
        console.say(
            f"\nThe page is {out / 'recommendation.html'}, beside {plans}; all show the settings, so keep them inside."
        )
        if found.choices:
            console.say(f"Next: tacit run {out / 'plan-1.yaml'}")
    return 0 if found.choices or found.safe_already else 1


def read_measure(text: str, option: str) -> Measure[Any]:
    """Return the measure of an option: a kind, or a mapping as YAML."""
    import yaml

    from tacit.errors import InvalidParameter
    from tacit.plan.entries import spec_of
    from tacit.spec import Measure

    try:
        entry = yaml.safe_load(text) if text.lstrip().startswith("{") else text.replace("-", "_")
        made = spec_of(entry, Measure, "measure")
    except (yaml.YAMLError, TypeError):
        raise InvalidParameter(
            f"{option}: give a measure, e.g. k_anonymity or '{{kind: k_anonymity, k: 5}}'"
        ) from None
    assert isinstance(made, Measure)
    return made
