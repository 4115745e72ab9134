"""Who may have an extract: applications vetted by rules, grants for a year, and the texts that go with a sample."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from tacit.errors import DisclosureRefused, InputError
from tacit.governance import BLANK, one_line
from tacit.plan import Plan
from tacit.plan.files import read_document, write_document
from tacit.plan.sections import Section, option
from tacit.report.controls import UNCERTAIN_PLACE, families_used

#: The conditions that an applicant accepts, with their words.
CONDITIONS: Mapping[str, str] = {
    "no_redistribution": "The data are not given to anybody else, in whole or in part.",
    "scholarly_use_only": "The data serve research and teaching, as the application states.",
    "no_commercial_use": "The data are not used for commercial gain.",
    "confidentiality": "Nobody tries to identify a person, household or establishment. Saying that one has been identified is prohibited as well.",
    "data_security": "The data are kept so that nobody else has access, and destroyed when the licence ends.",
    "citation": "Publications cite the data as asked, and are reported.",
    "error_notification": "Errors in the data are reported to the archive.",
}
#: Days for which a grant holds.
YEAR = 365


def as_day(value: Any) -> Any:
    """Return text as a date."""
    return dt.date.fromisoformat(value) if isinstance(value, str) and value else value


def today_here() -> dt.date:
    """Return the day of the office's own clock."""
    return dt.datetime.now().astimezone().date()


class Application(Section):
    """An application for access."""

    name: str | None = option("who applies")
    institution: str | None = option("where the applicant works")
    institution_verified: bool = option("the affiliation was checked with the institution", False)
    ethics_committee: str | None = option("the committee that oversees the research")
    research_statement: str | None = option("what is studied, with which data and why")
    data_requested: tuple[str, ...] = option("countries and censuses", ())
    purpose: str = option("scholarly, or what else", "scholarly")
    needs_microdata: bool = option("tables would not do; the statement shows why", False)
    accepts: tuple[str, ...] = option("the conditions accepted", ())
    granted: Annotated[dt.date | None, BeforeValidator(as_day)] = option("day of an earlier grant")
    days_since_grant: int | None = option(
        "days since an earlier grant, where its day is not given", ge=0
    )

    @classmethod
    def load(cls, path: str | Path) -> Application:
        """Read an application from YAML or TOML."""
        return cls(**{str(k): v for k, v in read_document(Path(path)).items()})


@dataclass(frozen=True)
class Decision:
    """What the rules say about an application: grant, deny, or deny until renewed; with reasons."""

    decision: str
    reasons: tuple[str, ...] = ()
    expires_after_days: int | None = None

    def __bool__(self) -> bool:
        return self.decision == "grant"

    def __str__(self) -> str:
        head = f"decision: {self.decision}"
        if self.expires_after_days:
            head += f" (for {self.expires_after_days} days)"
        return "\n".join([head, *(f"- {reason}" for reason in self.reasons)])


def vet(application: Application | Mapping[str, Any], today: dt.date | None = None) -> Decision:
    """Decide by the rules; a person may still refuse what the rules would grant.

    About a third of the applications to IPUMS-International were denied; each reason is a sentence that the applicant may see.
    """
    asked = (
        application if isinstance(application, Application) else Application(**dict(application))
    )
    reasons = list(refusals(asked))
    if reasons:
        return Decision("deny", tuple(reasons))
    days = asked.days_since_grant
    if asked.granted is not None:
        days = ((today or today_here()) - asked.granted).days
    if days is not None and days > YEAR:
        return Decision("deny until renewed", ("the grant was for one year, which is over",))
    return Decision("grant", (), YEAR)


def refusals(asked: Application) -> list[str]:
    """Return why an application is denied."""
    blank = [
        (asked.name, "the applicant is not named"),
        (asked.institution, "no institution is named"),
        (asked.institution_verified, "the affiliation has not been verified"),
        (asked.ethics_committee, "no ethics committee or office for human subjects is named"),
        (asked.research_statement, "there is no statement of the research"),
        (asked.data_requested, "the data asked for are not named"),
        (asked.needs_microdata, "it is not shown that microdata are needed"),
    ]
    found = [reason for value, reason in blank if not value]
    if asked.purpose != "scholarly":
        found.append("the purpose is not scholarly")
    refused = [name for name in CONDITIONS if name not in asked.accepts]
    found += [f"the condition {name} is not accepted" for name in refused]
    unknown = [name for name in asked.accepts if name not in CONDITIONS]
    found += [f"there is no condition {name}" for name in unknown]
    return found


@dataclass(frozen=True)
class Grant:
    """A licence that was granted: to whom, for which data, until when."""

    name: str
    institution: str
    data: tuple[str, ...]
    granted: dt.date
    expires: dt.date
    conditions: tuple[str, ...] = field(default=tuple(CONDITIONS))

    @classmethod
    def of(cls, application: Application, today: dt.date | None = None) -> Grant:
        """Grant what the rules allow, for a year; refuse in a sentence otherwise."""
        day = today or today_here()
        told = vet(application, day)
        if not told:
            raise DisclosureRefused(f"access is not granted: {'; '.join(told.reasons)}.")
        start = application.granted or day
        who = str(application.name), str(application.institution)
        return cls(*who, application.data_requested, start, start + dt.timedelta(days=YEAR))

    @classmethod
    def load(cls, path: str | Path) -> Grant:
        """Read a grant."""
        entry = read_document(Path(path))
        try:
            granted, expires = as_day(entry["granted"]), as_day(entry["expires"])
            data, conditions = tuple(entry["data"]), tuple(entry["conditions"])
            return cls(entry["name"], entry["institution"], data, granted, expires, conditions)
        except (KeyError, TypeError, ValueError):
            raise InputError(
                f"{Path(path).name!r} is no grant; make one with: tacit census vet"
            ) from None

    def save(self, path: str | Path) -> None:
        """Write the grant as YAML."""
        entry = asdict(self) | {"granted": self.granted.isoformat(), "expires": self.expires.isoformat()}  # fmt: skip
        write_document({k: list(v) if isinstance(v, tuple) else v for k, v in entry.items()}, Path(path))  # fmt: skip

    def require(self, wanted: str, today: dt.date | None = None) -> None:
        """Refuse when the grant is over, or is for other data."""
        day = today or today_here()
        if day > self.expires:
            raise DisclosureRefused(
                f"the grant ended on {self.expires.isoformat()}; it must be renewed first."
            )
        if wanted not in self.data:
            raise DisclosureRefused(
                f"the grant is not for {wanted}; it is for {', '.join(self.data)}."
            )


LICENCE = """\
# Licence for restricted census microdata

**{archive}** (the archive) grants **{name}** of **{institution}** (the user) access to extracts of: {data}.

Purpose: {purpose}

The licence begins on {granted} and ends on {expires}. It lasts one year ({days} days) and may be renewed on request. When it ends, every copy is
destroyed and the archive is told so.

## Conditions

{conditions}

## Extracts

Data are given as extracts: countries, censuses, subpopulations and variables that the research needs, never whole files. Each extract
is logged with the user's name, what was asked for and when it expires, and is protected by a password that is not passed on.

## Liability of the institution

The institution stands for what its member does. It has been told of this licence, keeps an office that investigates
misconduct ({ethics}), and takes part in the sanctions: on a violation the archive withdraws access from the user and may
withdraw it from everybody at the institution, tells the institution and the statistical office that owns the data, and the
laws of both countries apply. An allegation that a person can be or has been identified in the data counts as a
violation, whether it is true or not.

## Signatures

| For the archive | The user | For the institution |
|---|---|---|
| Name: {blank} | Name: {blank} | Name: {blank} |
| Date: {blank} | Date: {blank} | Date: {blank} |
| Signature: {blank} | Signature: {blank} | Signature: {blank} |

This is a draft for those who may sign, and no legal advice.
"""


def licence(
    archive: str = "",
    name: str = "",
    institution: str = "",
    data: Sequence[str] = (),
    purpose: str = "",
    granted: str = "",
    expires: str = "",
    ethics: str = "",
) -> str:
    """Return the licence as a Markdown draft: seven conditions, one year, liability of the institution.

    What is not given is left as a line to fill in.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), PSD 2006, LNCS 4302, 375-382, section 4.
    """
    texts = {
        "archive": archive,
        "name": name,
        "institution": institution,
        "data": ", ".join(data),
        "purpose": purpose,
        "granted": granted,
        "expires": expires,
        "ethics": ethics,
    }
    numbered = [f"{i}. {text}" for i, text in enumerate(CONDITIONS.values(), 1)]
    return LICENCE.format(
        **{n: one_line(text) or BLANK for n, text in texts.items()},
        conditions="\n".join(numbered),
        days=YEAR,
        blank=BLANK,
    )


def techniques_used(plan: Plan) -> dict[str, bool]:
    """Return which of sampling, recoding, swapping, microaggregation and PRAM the steps use."""
    return families_used(step.kind for step in plan.steps)


def describe_controls(plan: Plan) -> str:
    """Return what the public may know of the controls, as Markdown; how many households were swapped is not in it."""
    steps: dict[str, list[Any]] = {}
    for step in plan.steps:
        steps.setdefault(step.kind, []).append(step)
    used = techniques_used(plan)
    lines = [
        f"# {plan.title or 'Technical controls'}",
        "",
        *control_lines(steps),
        "",
        "| technique | used |",
        "|---|---|",
        *(f"| {name} | {'yes' if flag else 'no'} |" for name, flag in used.items()),
    ]
    absent = [name for name in ("microaggregation", "PRAM") if not used[name]]
    if absent:
        lines += ["", f"No values were changed by {' or '.join(absent)}."]
    return "\n".join(lines) + "\n"


def control_lines(steps: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return a sentence for each control."""
    found = []
    if "deidentify" in steps:
        found.append("Names, addresses and other direct identifiers were removed.")
    for step in steps.get("sample_households", ()):
        if step.households is not None:
            share, weight = f"{step.households:,} of them", "all households over those taken"
        else:
            size = float(step.step)
            share, weight = f"{100 / size:.3g} per cent of them", f"{size:g}"
        if step.restart:
            weight = "households of each unit over those taken"
        strata = "" if step.group is None else "; pseudo-strata serve variance estimation"
        found.append(
            f"The file is a systematic sample of whole households, {share}, spread over the country by "
            f"geographic order. Every record has the weight {weight}{strata}."
        )
    found += [
        "All administrative geography was removed."
        if step.threshold is None
        else f"Places with fewer than {step.threshold:,} inhabitants are not shown; they were pooled so that none can be told by subtraction."
        for step in steps.get("geography_threshold", ())
    ]
    if "swap_households" in steps:
        found.append(UNCERTAIN_PLACE)
    found += [
        f"Extreme values of {step.column} were coded together."
        for step in steps.get("top_bottom_code", ())
    ]
    for step in steps.get("delete_digits", ()):
        kept = ", ".join(f"{c} ({n})" for c, n in step.keep.items())
        found.append(f"Codes keep only their leading digits: {kept}.")
    for step in steps.get("remove_columns", ()):
        named = ", ".join(step.columns)
        found.append(
            f"Left out: {named}{' and ' if named and step.sensitive else ''}{'variables that the office holds sensitive' if step.sensitive else ''}."
        )
    if "shuffle_households" in steps:
        found.append("Households stand in random order under new numbers.")
    return [f"- {line}" for line in found]
