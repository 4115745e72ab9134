"""Census and survey files for trusted users: control profiles, vetting and licences, extracts with a log."""

from __future__ import annotations

from tacit.census.access import (
    Application,
    Decision,
    Grant,
    describe_controls,
    licence,
    techniques_used,
    vet,
)
from tacit.census.extract import Request, build_extract, check_log
from tacit.census.profile import Profile, same_units
from tacit.public import publish

__all__ = [
    "Application",
    "Decision",
    "Grant",
    "Profile",
    "Request",
    "build_extract",
    "check_log",
    "describe_controls",
    "licence",
    "same_units",
    "techniques_used",
    "vet",
]

__getattr__, __dir__ = publish("census", names=globals())
