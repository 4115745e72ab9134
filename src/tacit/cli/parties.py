"""``tacit party``: one party of a joint computation, as a process of its own, or a trial of all on this machine."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from tacit.cli.render import console

group = App(
    name="party",
    help="Compute on data that may not meet: run one party of an agreement over mutual TLS, or try all on this machine.",
)


@group.command
def run(settings: Path, /) -> int:
    """Run one party until the computation has ended; start it again after a crash, and it goes on.

    Parameters
    ----------
    settings
        The party's own settings (YAML), which name the agreement, the data and the certificates.
    """
    from tacit.private.party import run_party

    result = run_party(settings)
    console.say(repr(result))
    return 0


@group.command
def trial(folder: Path, /) -> int:
    """Run every party of a folder as its own process on this machine, and compare with the pooled file.

    Parameters
    ----------
    folder
        A folder of 'tacit example FOLDER --of parties'.
    """
    from tacit.private.example import run_trial

    found = run_trial(folder)
    width = max(map(len, found.joint))
    console.say(f"{'term':<{width}}  {'joint':>12}  {'pooled':>12}")
    for name, value in found.joint.items():
        console.say(f"{name:<{width}}  {value:>12.8f}  {found.pooled[name]:>12.8f}")
    console.say(f"largest difference: {found.largest_difference:.1e}")
    return 0


@group.command
def certificates(folder: Path, names: list[str], /, *, days: int = 30) -> int:
    """Make an authority and a certificate per party, for a trial; a real consortium has an authority of its own.

    Parameters
    ----------
    folder
        Where to write them.
    names
        The parties' names.
    days
        How long they are valid.
    """
    from tacit.private.parties.certificates import make_certificates

    make_certificates(folder, names, days)
    console.say(f"Wrote an authority and {len(names)} certificates to {folder}")
    return 0
