"""The fingerprint of every case, beside what it was when the file was written.

::

    python -m golden.fingerprints                 compare all of them (with src and tests on the path)
    python -m golden.fingerprints --tenth         a fixed tenth of them
    python -m golden.fingerprints census: table   those whose name holds one of some words
    python -m golden.fingerprints --show NAME     what the hashes of one case are made of
    python -m golden.fingerprints --write         renew the file
    python -m golden.fingerprints --times         the most expensive cases in CPU seconds

A line is ``name | data=... changes=... notes=... claims=... before=... after=...``: the fingerprint of the released data and
hashes of what the ledger says changed and notes, of the claims, and of the figures of risk and utility before and
after; or ``refused`` with the sentence. When a line differs, the part that differs says where to look; ``--show``
in the tree of before and in that of after, compared, says what.
"""

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

from golden.cases import LEFT_OUT, cases
from golden.told import parts, refused, told
from tacit.errors import SdcError

FILE = Path(__file__).with_suffix(".txt")
RENEW = "renew with: PYTHONPATH=src:tests python -m golden.fingerprints --write, and say why in the commit"


def stored():
    """Name to what is told of the case in the file."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    return dict(line.split(" | ", 1) for line in lines)


def in_tenth(name):
    """True for a tenth of the names, by themselves: further cases do not change which."""
    return hashlib.sha256(name.encode()).digest()[0] < 26


def take(name):
    """What is told of one case."""
    with quiet():
        try:
            return told(cases()[name]())
        except SdcError as error:
            return f"refused {refused(error)}"


def show(name):
    """The parts of a case, or its refusal."""
    with quiet():
        try:
            return parts(cases()[name]())
        except SdcError as error:
            return {"refused": refused(error)}


@contextlib.contextmanager
def quiet():
    """No warnings, which the ledger keeps, and a budget that nobody else spends."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = os.environ.get("TACIT_BUDGET")
        os.environ["TACIT_BUDGET"] = str(Path(folder) / "budget.json")
        try:
            yield
        finally:
            if old is None:
                del os.environ["TACIT_BUDGET"]
            else:
                os.environ["TACIT_BUDGET"] = old


def differences(names, made):
    """What differs from the file among some cases, in lines."""
    kept, found = stored(), []
    for name in names:
        if kept.get(name) != made[name]:
            found += [name, f"  was {kept.get(name, 'not there')}", f"  is  {made[name]}"]
    gone = kept.keys() - cases().keys()
    return [*found, *(f"{name}\n  was {kept[name]}\n  is  gone" for name in sorted(gone))]


def chosen(arguments):
    words = [a for a in arguments if not a.startswith("--")]
    names = [n for n in cases() if not words or any(w in n for w in words)]
    return [n for n in names if in_tenth(n)] if "--tenth" in arguments else names


def main(arguments):
    if "--show" in arguments:
        name = " ".join(a for a in arguments if a != "--show")
        print(json.dumps(show(name), indent=1, ensure_ascii=False, sort_keys=True))
        return 0
    names, made, took = chosen(arguments), {}, {}
    for name in names:
        begun = time.process_time()
        made[name] = take(name)
        took[name] = time.process_time() - begun
    found = differences(names, made)
    print(*found, sep="\n")
    if "--times" in arguments:
        for name in sorted(took, key=took.get, reverse=True)[:40]:
            print(f"{took[name]:8.2f}  {name}")
    told_ = f"{len(names)} cases, {sum(took.values()):.0f} CPU seconds, {len(LEFT_OUT)} left out"
    if "--write" in arguments:
        kept = {n: v for n, v in (stored() | made).items() if n in cases()}
        FILE.write_text("".join(f"{n} | {kept[n]}\n" for n in sorted(kept)), encoding="utf-8")
        print(told_)
        return 0
    print(f"{told_}; {'all as before' if not found else RENEW}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
