"""The growth of storage per person: how much could be recorded about everyone."""

from __future__ import annotations

import datetime as dt

from tacit.errors import InputError

#: Bytes on a page of text in a fixed font: about 3,200 gives all three times of Figure 6.
PAGE_BYTES = 3200
YEAR = dt.timedelta(days=365.25)


def disk_per_person(terabytes: float, million_people: float) -> float:
    """Return global disk storage per person (GDSP), in megabytes a person.

    The disk space of new drives sold in a year over the people alive in it: with terabytes of a million
    megabytes, GDSP = terabytes / million people. It says how much could be recorded about everyone.

    >>> disk_per_person(90, 4500)
    0.02

    References
    ----------
    Sweeney (2000), Foundations of privacy protection from a computer science perspective, Figure 6.
    """
    if terabytes < 0 or million_people <= 0:
        raise InputError(
            "disk_per_person needs disk space of at least 0 and a positive number of people"
        )
    return terabytes / million_people


def time_per_page(megabytes: float, page_bytes: int = PAGE_BYTES) -> dt.timedelta:
    """Return how much of a person's year one page of text covers, for a GDSP in megabytes.

    References
    ----------
    Sweeney (2000), Foundations of privacy protection from a computer science perspective, Figure 6.
    """
    if megabytes <= 0 or page_bytes <= 0:
        raise InputError("time_per_page needs storage and a page that are larger than 0")
    return YEAR * (page_bytes / (megabytes * 1_000_000))
