"""Keys: make one that signs releases, and say whose signatures are trusted here."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from tacit.cli.render import console

group = App(
    name="key",
    help="Make a key with which releases are signed, and keep the keys whose signatures are trusted here.",
)


@group.default
def make(file: Path, /) -> int:
    """Make a key with which releases are signed; its public half goes to FILE.pub.

    Parameters
    ----------
    file
        The private key to write. Keep it: whoever has it can sign in your name.
    """
    from tacit.release.signing import make_key

    made = make_key(file)
    console.say(f"Wrote {made} (keep it) and {made}.pub (give it to those who verify)")
    return 0


@group.command
def trust(file: Path, /, *, name: str | None = None) -> int:
    """Trust a public key: from now on 'tacit verify' takes releases that one of the trusted keys signed, and no others.

    Parameters
    ----------
    file
        The public key of an office, FILE.pub. Get it another way than the release.
    name
        What to call it; by default the name of its file.
    """
    from tacit.release.signing import fingerprint_of, trust_key

    kept = trust_key(file, name)
    console.say(f"Trusted as {kept.stem!r}: {fingerprint_of(kept.read_bytes())}")
    return 0


@group.command(name="list")
def list_keys() -> int:
    """List the trusted keys with their fingerprints."""
    from tacit.release.signing import fingerprint_of, stored_keys

    for file in stored_keys():
        console.say(f"{file.stem}: {fingerprint_of(file.read_bytes())}")
    if not stored_keys():
        console.say("no key is trusted")
    return 0


@group.command
def untrust(name: str, /) -> int:
    """Take a key out of the store of trusted keys.

    Parameters
    ----------
    name
        Its name, or the beginning of its fingerprint.
    """
    from tacit.release.signing import untrust_key

    console.say(f"No longer trusted: {untrust_key(name).stem!r}")
    return 0
