"""Sums of any statistic across owners, how often persons are counted twice, and what two routes to one fit send.

For a model of an exponential family, log f = sum_l c_l(x) d_l(theta), the likelihood depends on the records through the sums of c_l
alone: they are added once, and everybody maximises by itself. (The paper's "independence of L rows" means its N records.)

References
----------
Fienberg, Fulp, Slavkovic, Wrobel (2006), PSD 2006, LNCS 4302, 277-290, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Role, agree, run_together
from tacit.private.parties.wire import Transcript
from tacit.private.regression.design import arrays_of
from tacit.private.regression.files import COLLUSION, THREATS, check_number, name_files
from tacit.private.regression.fixed_point import FixedPoint
from tacit.private.regression.gate import Numbers, Question, pass_gate
from tacit.private.regression.sums import Protocol, SumSettings, add_securely
from tacit.result import Result


@dataclass(frozen=True, repr=False)
class Statistics(Result):
    """Totals of a statistic over all owners."""

    values: Floats = field(default_factory=lambda: np.zeros(0))
    transcript: Transcript = field(default_factory=Transcript)
    statement: str = ""


def add_statistics(
    parties: Any,
    statistic: Callable[[dict[str, Any]], npt.ArrayLike],
    *,
    protocol: Protocol = "pairwise_masks",
    threshold: int = 3,
    drop_outs: int = 0,
    modulus_bits: int = 128,
    frac_bits: int = 48,
    allow_two_party: bool = False,
    watch: Any = None,
) -> Statistics:
    """Add a statistic of every owner's records securely.

    Parameters
    ----------
    parties
        The owners' files by name, or a list of them.
    statistic
        Takes an owner's columns (a mapping of names to arrays) and returns its numbers, as many at every owner.
    threshold
        The fewest records of others that an owner may be left with when it subtracts its own; there must also be 1.25 times as many
        as the statistic has numbers. What the numbers tell about them is for the owners to judge: a statistic may single out one
        record.
    """
    files = name_files(parties)
    warned = check_number(files, allow_two_party=allow_two_party)
    point = FixedPoint(modulus_bits, frac_bits)

    def play(party: str) -> Role[Floats]:
        columns = arrays_of(files[party])
        own = np.asarray(statistic(columns), np.float64).ravel()
        n = len(next(iter(columns.values()), ()))
        settings = SumSettings(party, list(files), Randomness(), protocol, point, drop_outs)
        terms = {**settings.terms(), "numbers of the statistic": len(own), "threshold": threshold}
        yield from agree(party, list(files), terms)
        question = Question(n, numbers=(Numbers("statistic", n, agreed=True),))
        yield from pass_gate(settings, question, threshold=threshold, numbers=len(own), rounds=1)
        return (yield from add_securely(settings, own))

    done = run_together({p: play(p) for p in files}, watch=watch)
    found: Floats = done.results[next(iter(files))]
    statement = (
        f"Every party learnt the number of records and the totals of {len(found)} statistics over all {len(files)} parties, "
        "and by subtracting its own part those of the others together. What these tell about records was not judged beyond their number. "
        + THREATS + COLLUSION[protocol] + warned
    )  # fmt: skip
    return Statistics(
        "joint_statistics",
        f"Joint statistics of {len(files)} owners",
        float(found[0]) if len(found) else 0.0,
        {"statistics": len(found), "bytes sent": done.transcript.n_bytes},
        None,
        statement,
        values=found,
        transcript=done.transcript,
        statement=statement,
    )


def count_shared(
    parties: Any, *, identifying: Sequence[str], group: str = "ristretto255"
) -> Result:
    """Count the persons whom several owners hold, before a fit in which they would count several times.

    By blinded tokens, in a ring (see :mod:`tacit.private.union.ring`); no owner learns which of its records they are.
    """
    from tacit.private import union

    files = name_files(parties)
    if len(files) < 3:
        raise InputError("for two owners use tacit.private.union.count_overlap")
    tables = list(files.values())
    found = union.simulate(
        *tables, identifying=identifying, data=[], group=group, names=list(files)
    )
    assert found.sizes is not None
    n = sum(len(next(iter(arrays_of(t).values()), ())) for t in tables)
    again = n - found.sizes.union
    numbers = {"records": n, "persons": found.sizes.union, "counted more than once": again}
    title = f"Persons held by several of {len(files)} owners"
    words = f"The first owner learnt the number of persons, {list(files)[1]!r} the sizes of all overlaps; nobody which records they are."
    return Result("joint_duplicates", title, float(again), numbers, None, words)


def compare_routes(margins: Any, newton: Any) -> Result:
    """Compare what a log-linear fit and a fit by Newton's method of the same data sent: rounds, messages and bytes.

    The first adds its margins once; the second adds a slope and an information matrix in every round.
    """
    sent: dict[str, int] = {}
    for name, fit in (("margins", margins), ("Newton's method", newton)):
        lines = fit.transcript.lines
        sums = {x.step.partition(",")[0] for x in lines if x.step.startswith("sum ")}
        sent[f"rounds of {name}"] = len(sums)
        sent[f"messages of {name}"] = len(lines)
        sent[f"bytes of {name}"] = fit.transcript.n_bytes
    ratio = sent["bytes of Newton's method"] / max(1, sent["bytes of margins"])
    words = f"Newton's method sent {ratio:.1f} times as many bytes as the margins."
    return Result("joint_routes", "Two routes to one fit", ratio, sent, None, words)
