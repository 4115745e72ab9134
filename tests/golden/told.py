"""What a case is told by: fingerprints of data, and hashes of figures that do not depend on where or when it ran."""

import hashlib
import json
import math
import re

import numpy as np
import pyarrow as pa

import tacit
from tacit.data.fingerprint import fingerprint, table_fingerprint
from tacit.kinds import kind_of

#: Facts of a run that no other run repeats.
PASSING = frozenset({"seconds"})
#: Sums and logarithms of the same numbers agree to this many digits on all machines.
DIGITS = 12


def told(given):
    """``part=hash`` for each part of what a case gave: a release, data, or a result."""
    return " ".join(f"{part}={short(value)}" for part, value in parts(given).items())


def parts(given):
    """The parts of what a case gave, as plain data."""
    if isinstance(given, tacit.Release):
        return release_parts(given)
    if isinstance(given, tacit.Result):
        return result_parts(given)
    if hasattr(given, "history"):
        return data_parts(given)
    return {"value": plain(given)}


def release_parts(release):
    steps = release.ledger.entries
    plots = {"plots": [plain(p.to_dict()) for p in release.plots]} if release.plots else {}
    return {
        "data": data_print(release.data),
        "changes": [[e.kind, plain(e.changes)] for e in steps],
        "notes": [[e.kind, plain(e.details), plain(e.warnings)] for e in steps],
        "claims": [plain(c.to_dict()) for c in release.claims],
        "before": [plain(r.to_dict()) for r in release.before],
        "after": [plain(r.to_dict()) for r in release.after],
        "said": plain([release.omitted, [*release.noticed, *release.undone], release.unmet]),
        **plots,
    }


def data_parts(data):
    """Data as one step left them."""
    return {
        "data": data_print(data),
        "notes": [[a.kind, plain(a.details)] for a in data.history],
        "claims": [plain(c.to_dict()) for a in data.history for c in a.claims],
    }


def result_parts(result):
    """The figures of a result, its detail, and its chart."""
    frame = [] if result.frame is None else plain(result.frame.rows(named=True))
    charts = [[plain(c.spec), c.alt] for c in result.charts()]
    return {"numbers": plain(result.to_dict()), "frame": frame, "charts": charts}


def data_print(data):
    """The fingerprint of data of any kind; of a table to nine digits, of a fit to twelve."""
    if isinstance(data, tacit.Microdata):
        return fingerprint(data)
    if isinstance(data, tacit.Table):
        return table_fingerprint(data)
    if isinstance(data, tacit.Corpus):
        return short([[d.name, d.text] for d in data])
    if hasattr(data, "to_dict"):
        return short(plain(data.to_dict()))
    return kind_of(data).fingerprint(data)


def short(value):
    """A few digits of a hash: enough to tell one value from another, few enough to read."""
    text = (
        value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    )
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def plain(value):
    """Numbers to twelve digits, containers as lists and mappings, anything else by its words."""
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(k): plain(v) for k, v in value.items() if k not in PASSING}
    if isinstance(value, pa.Table):
        return plain(value.to_pydict())
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return number(value)
    # An object shows where it lies in memory, or what its class is called.
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def number(value):
    """One spelling for equal numbers, whole or not; no sign of zero."""
    if not math.isfinite(value):
        return str(float(value))
    return str(value) if isinstance(value, int) else f"{value + 0.0:.{DIGITS}g}"


def refused(error):
    """A refusal is told by its sentence."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
