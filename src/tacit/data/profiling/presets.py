"""Presets: plans to begin with for a file under contract and for a public one.

Which numbers are right is for the office to decide. Those below are a place to begin, in the manner of rules that
statistical offices use: they speak of people in the population, and with its size the numbers in a sample follow from the
share that was drawn. No publication is the authority for them.

References
----------
Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302: that files for researchers and files for the public are
made by different rules, the latter much stricter.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any, Literal

from tacit.data.profiling.profile import ProfileResult, starting_plan
from tacit.errors import InputError
from tacit.public import checked

Users = Literal["researcher", "public"]

#: People of the population behind every combination of three keys in a file for researchers, unless the office says
#: otherwise.
TRIPLE = 100
#: People behind every category of a key, and every pair of categories, in a public file, unless the office says
#: otherwise.
SINGLE, PAIR = 200_000, 1_000
#: Keys of a public file at most.
MOST_KEYS = 15
#: What is asked of the file itself where the population is not known.
UNKNOWN = {"researcher": 3, "public": 5}


@checked
def preset_plan(
    profile: ProfileResult,
    source_path: str | Path,
    users: Users,
    *,
    population: int | None = None,
    single: int = SINGLE,
    pair: int = PAIR,
    triple: int = TRIPLE,
) -> dict[str, Any]:
    """Return a plan to begin with for researchers under contract, or for the public; without any seed.

    Parameters
    ----------
    profile
        What :func:`tacit.profile` proposed: roles and hierarchies.
    source_path
        The data, as the plan is to name them.
    users
        ``researcher``: identifiers go, and every combination of up to three keys is shared by enough
        people. ``public``: identifiers and sensitive columns go, all keys together are shared by five
        records, and every category and pair of categories by enough people.
    population
        People in the population from which the records come; the thresholds below then apply to it,
        and otherwise 3 records for researchers and 5 for the public are asked for.
    single, pair, triple
        People of the population behind every category of a key and every pair of categories of a public
        file, and behind every combination of three keys in a file for researchers: the office's choice.
    """
    if min(single, pair, triple) < 1:
        raise InputError("the numbers of people of a preset must be at least 1")
    plan = starting_plan(profile, source_path)
    roles = profile.roles
    keys = [str(k) for k in roles.get("keys", ())]
    if not keys:
        raise InputError(
            "a preset needs keys, and none were proposed: declare them with tacit.read(..., keys=...)"
        )
    share = share_drawn(profile, population)
    gone = [*roles.get("identifiers", ())]
    k = UNKNOWN[users]
    if users == "researcher":
        if share is not None:
            k = max(2, math.ceil(triple * share))
        steps: list[dict[str, Any]] = [{"kind": "mu_argus", "k": k, "max_dim": 3}]
        measures: list[dict[str, Any]] = [{"kind": "k_anonymity"}, {"kind": "precision"}]
        plan["access"] = "SPr"
    else:
        gone += [c for c in roles.get("sensitive", ()) if c not in gone]
        steps = [{"kind": "datafly", "k": k, "max_drop": 0.01}]
        if share is not None:
            # The categories and pairs of categories of a public file, with the records that each needs.
            of_one, of_two = (max(2, math.ceil(people * share)) for people in (single, pair))
            sets = [{"columns": [key], "k": of_one} for key in keys]
            sets += [{"columns": list(p), "k": of_two} for p in itertools.combinations(keys, 2)]
            steps.append({"kind": "local_suppression", "combinations": sets})
        measures = [{"kind": "k_anonymity", "k": k}, {"kind": "precision"}]
        plan["access"] = "Pu"
    first = [{"kind": "deidentify", "columns": gone}] if gone else []
    return {**plan, "steps": [*first, *steps], "measures": measures}


def share_drawn(profile: ProfileResult, population: int | None) -> float | None:
    """Return the share of the population in the file."""
    if population is None:
        return None
    records = int(profile.numbers["records"])
    if population < max(records, 1):
        raise InputError("the population cannot be smaller than the number of records")
    return records / population


def preset_notes(profile: ProfileResult, users: Users) -> list[str]:
    """Return what an office should think of besides and no plan can decide, one sentence each."""
    roles = profile.roles
    keys = len(roles.get("keys", ()))
    if users == "researcher":
        notes = [
            "a region that can be told apart should have at least 10,000 inhabitants",
            "occupation, firm and education should be the coarser, the finer the region is",
            "recipients sign an agreement not to look for anybody (tacit.governance)",
        ]
    else:
        notes = [
            "the data should be at least a year old",
            "no region, nationality, country of birth or ethnic group should be left in detail",
        ]
        if keys > MOST_KEYS:
            notes.append(f"a public file has at most {MOST_KEYS} keys, and these are {keys}")
        if roles.get("weight"):
            notes.append("weights should tell nothing of strata or regions: look at weight_noise")
        if roles.get("household"):
            notes.append("members of a household should not be put together: drop its number")
    return notes
