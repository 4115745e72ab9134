"""``tacit census``: profiles, plans, vetting, licences, extracts and their log."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cyclopts import App

from tacit.cli.options import Many
from tacit.cli.render import console
from tacit.errors import DisclosureRefused, InputError
from tacit.storage.own_folders import refuse_existing, write_whole

group = App(
    name="census",
    help="Census samples for trusted users: profiles, vetting, licences, extracts.",
)


@group.command
def check(profiles: list[Path], /) -> int:
    """Check control profiles: what is wrong, what to look at, and whether censuses of a country show the same places.

    Parameters
    ----------
    profiles
        The profile files (YAML or TOML).
    """
    from tacit.census.profile import Profile, same_units
    from tacit.errors import PlanError

    loaded = [Profile.load(path) for path in profiles]
    for path, profile in zip(profiles, loaded, strict=True):
        profile.check()
        for sentence in profile.cautions():
            console.note(f"{path.name}: {sentence}")
    apart = same_units(loaded, profiles[0].resolve().parent) if len(loaded) > 1 else []
    if apart:
        raise PlanError("the profiles do not go together", apart)
    names = ", ".join(f"{p.country} {p.census} version {p.version}" for p in loaded)
    console.say(f"{names}: in order")
    return 0


@group.command
def plan(profile: Path, file: Path, /, *, out: Path, force: bool = False) -> int:
    """Make the plan of a profile for a census file.

    Parameters
    ----------
    profile
        The profile file.
    file
        The census file.
    out
        The plan to write; it holds the secret parameters, so keep it inside.
    force
        Replace a plan that is already there.
    """
    from tacit.census.profile import Profile

    if out.exists() and not force:
        raise DisclosureRefused(f"{out.name!r} exists already; use --force to replace it")
    loaded = Profile.load(profile)
    for sentence in loaded.cautions():
        console.note(sentence)
    path = os.path.relpath(file.absolute(), out.absolute().parent)
    made = loaded.plan(path)
    base = Path(os.path.relpath(profile.absolute().parent, out.absolute().parent))
    moved = [step.with_files(lambda file: str(base / file)) for step in made.steps]
    made.with_(steps=tuple(moved)).save(out)
    console.say(f"Wrote {out}; next: tacit check {out}")
    return 0


@group.command
def diff(old: Path, new: Path, /) -> int:
    """Say in words what a profile changes against another; secret values are not shown.

    Parameters
    ----------
    old
        The older profile.
    new
        The newer one.
    """
    from tacit.census.profile import Profile

    sentences = Profile.load(old).diff(Profile.load(new))
    for sentence in sentences:
        console.say(f"- {sentence}")
    if not sentences:
        console.say("The profiles say the same.")
    return 0


@group.command
def statement(plan: Path, /, *, out: Path | None = None) -> int:
    """Write what the public may know of the controls: techniques, density, threshold; no swap rate.

    Parameters
    ----------
    plan
        The plan of the release.
    out
        Write to this file instead of printing.
    """
    from tacit.census.access import describe_controls
    from tacit.plan import Plan

    put(describe_controls(Plan.load(plan)), out)
    return 0


@group.command
def vet(application: Path, /, *, grant: Path | None = None) -> int:
    """Decide on an application by the rules; the exit code is 1 when it is denied.

    Parameters
    ----------
    application
        The application (YAML or TOML).
    grant
        Write the grant, for a year, to this file.
    """
    from tacit.census.access import Application, Grant
    from tacit.census.access import vet as decide

    asked = Application.load(application)
    told = decide(asked)
    console.say(str(told))
    if not told:
        return 1
    if grant is not None:
        if grant.exists():
            raise DisclosureRefused(
                f"{grant.name!r} exists already; a renewal gets a file of its own"
            )
        made = Grant.of(asked)
        made.save(grant)
        console.say(f"Wrote {grant}; it ends on {made.expires.isoformat()}")
    return 0


@group.command
def licence(
    grant: Path | None = None,
    /,
    *,
    archive: str = "",
    purpose: str = "",
    ethics: str = "",
    out: Path | None = None,
) -> int:
    """Draft the licence: seven conditions, one year, liability of the institution.

    Parameters
    ----------
    grant
        A grant made by 'tacit census vet'; without one, lines are left to fill in.
    archive
        Who gives the data.
    purpose
        What they are for.
    ethics
        The office of the institution that investigates misconduct.
    out
        Write to this file instead of printing.
    """
    from tacit.census.access import Grant
    from tacit.census.access import licence as draft

    if grant is None:
        put(draft(archive, purpose=purpose, ethics=ethics), out)
        return 0
    held = Grant.load(grant)
    days = held.granted.isoformat(), held.expires.isoformat()
    put(draft(archive, held.name, held.institution, held.data, purpose, *days, ethics), out)
    return 0


@group.command
def extract(
    sources: list[str],
    /,
    *,
    variables: Many,
    grant: Path,
    log: Path,
    out: Path,
    where: str = "",
    at_least: int = 20,
) -> int:
    """Write an extract of released samples and log it.

    Parameters
    ----------
    sources
        Release folders, or the data files in them, by name: 'XA 2021=release'. Each must verify.
    variables
        The columns wanted; household, weight and pseudo-strata come along.
    grant
        The grant, made by 'tacit census vet'.
    log
        The access log.
    out
        The file to write.
    where
        The subpopulation, such as "age >= 65".
    at_least
        The smallest number of records of each release that the rule may select.
    """
    from tacit.census.access import Grant
    from tacit.census.extract import Request, build_extract

    named = [text.partition("=") for text in sources]
    if not all(name and path for name, _, path in named):
        raise InputError("sources are written NAME=FOLDER, e.g. 'XA 2021=release'")
    wanted = [v for text in variables or () for v in text.split(",") if v]
    request = Request({name: path for name, _, path in named}, wanted, where)
    entry = build_extract(request, Grant.load(grant), out, log, at_least=at_least)
    console.say(
        f"Wrote {out}: {entry['records']:,} records, to be destroyed or renewed by {entry['expires']}; entry {entry['number']} of {log}"
    )
    return 0


@group.command
def log(file: Path, /) -> int:
    """Check the chain of an access log, and list what has expired.

    Parameters
    ----------
    file
        The access log.
    """
    from tacit.census.extract import check_log, expired

    if not file.is_file():
        raise InputError(f"there is no log {file.name!r}")
    entries = check_log(file)
    console.say(f"{len(entries)} extract{'' if len(entries) == 1 else 's'}, none changed")
    for entry in expired(entries):
        console.say(f"- entry {entry['number']} ({entry['name']}) expired on {entry['expires']}")
    return 0


def put(text: str, out: Path | None) -> None:
    """Print a text, or write it."""
    if out is None:
        sys.stdout.write(text)
        return

    refuse_existing(out)
    write_whole(out, text)
    console.say(f"Wrote {out}")
