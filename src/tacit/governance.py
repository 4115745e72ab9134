"""Governance: who may see a release, and on which terms.

Access classes, and a data-use agreement to be filled in and signed.
Techniques limit what data can disclose; what a recipient does with them is a matter of contract.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NoReturn

from tacit.errors import InputError, near_match
from tacit.public import checked

__all__ = [
    "AccessClass",
    "check_linking",
    "data_use_agreement",
    "named_reasons",
]


@functools.total_ordering
class AccessClass(Enum):
    """Who may have the data, from the most closed to the most open.

    ``AccessClass.Pr < AccessClass.SPr < AccessClass.SPu < AccessClass.Pu``, in openness. The value is the
    short form that stands in plans and statements.

    References
    ----------
    Sweeney (2000), Foundations of privacy protection from a computer science perspective, Figure 8.
    """

    Pr = "Pr"
    SPr = "SPr"
    SPu = "SPu"
    Pu = "Pu"

    @property
    def title(self) -> str:
        """Return the class in a word."""
        return TITLES[self.value]

    @property
    def rule(self) -> str:
        """Return the access rule in two words."""
        return RULES[self.value]

    @property
    def meaning(self) -> str:
        """Return who gets access, in a sentence."""
        return MEANINGS[self.value]

    @property
    def openness(self) -> int:
        """Return the rank in openness, 0 for private."""
        return list(AccessClass).index(self)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, AccessClass):
            return NotImplemented
        return self.openness < other.openness

    def __str__(self) -> str:
        return f"{self.value} ({self.title}: {self.rule})"

    @classmethod
    def parse(cls, text: str | AccessClass) -> AccessClass:
        """Return the class of a short form (``SPr``), a title (``semi-private``) or a rule."""
        if isinstance(text, AccessClass):
            return text
        wanted = " ".join(str(text).casefold().split())
        for member in cls:
            if wanted in (member.value.casefold(), member.title, member.rule):
                return member
        names = [m.value for m in cls] + [m.title for m in cls]
        hint = near_match(str(text), names)
        raise InputError(
            f"no access class {text!r}; there are {', '.join(names[:4])}. {hint}".strip()
        )


TITLES: Mapping[str, str] = {
    "Pr": "private",
    "SPr": "semi-private",
    "SPu": "semi-public",
    "Pu": "public",
}
RULES: Mapping[str, str] = {
    "Pr": "insiders only",
    "SPr": "limited access",
    "SPu": "deniable access",
    "Pu": "no restrictions",
}
MEANINGS: Mapping[str, str] = {
    "Pr": "Almost nobody but those who collected the data has access.",
    "SPr": "Few people, who can be named, are eligible, usually after a thorough application and review.",
    "SPu": "Most people are eligible; few, who can be named, are refused.",
    "Pu": "The data are given to all who ask, with or without an application.",
}

BLANK = "______________"

AGREEMENT = """\
# Data-use agreement

Between **{provider}** (the provider) and **{recipient}** (the recipient).

Release: {release}

Access class: {access}

1. **Purpose.** The data serve one legitimate and important purpose: {purpose}. The recipient needs the attributes listed in the schedule, for the reasons given there, and uses the data for nothing else.
2. **Accountability and security.** The recipient answers to the provider, in law, for the security of the data, and has shown that its protection is adequate: {security}.
3. **De-identification.** The release holds no explicit identifiers, nor data that are easily associated with a person. The recipient does not try to identify anyone.
4. **Linking.** The schedule says on which attributes the recipient could link the data to other data that it has or will have while this agreement lasts, whether or not it means to, and on which it will. It links on no others, and reports a change before it happens. Where linking would identify people, their consent is sought first.
5. **Review.** The provider may review any publication drawn from the data, for {review_days} days before it appears, so that nothing is published that discloses.
6. **Destruction.** At the end of the project, and no later than {end}, the recipient destroys every copy of the data and confirms it in writing.
7. **No dissemination.** The recipient does not give, sell, lend, show or otherwise pass the data to anyone else.

## Schedule: attributes

| Attribute | Needed because | Could be linked | Will be linked |
|---|---|---|---|
{rows}

## Signatures

| For the provider | For the recipient |
|---|---|
| Name: {blank} | Name: {blank} |
| Date: {blank} | Date: {blank} |
| Signature: {blank} | Signature: {blank} |
"""


@checked
def data_use_agreement(
    provider: str,
    recipient: str,
    purpose: str,
    attributes: Mapping[str, str] | Iterable[str],
    access: str | AccessClass = AccessClass.SPr,
    *,
    could_link: Iterable[str] = (),
    will_link: Iterable[str] = (),
    destroy_by: dt.date | str | None = None,
    review_days: int = 30,
    security: str = "",
    release: str = "",
) -> str:
    """Return a data-use agreement as a Markdown draft, with the seven clauses of Figure 35.

    What is not given is left as a line to fill in. The draft is a start for those who may sign; it is
    not legal advice.

    Parameters
    ----------
    provider, recipient
        The two parties.
    purpose
        The research or administration that the data serve.
    attributes
        The columns that the recipient needs; a mapping says why each is needed.
    access
        The access class of the release. Public data need no agreement and are refused.
    could_link
        Columns that the recipient could link to other data during the lifetime of the data, whether or
        not it means to. They belong in the quasi-identifier.
    will_link
        Columns on which the recipient will link.
    destroy_by
        The day by which every copy is destroyed.
    review_days
        Days that the provider has to review a publication.
    security
        How the recipient protects the data.
    release
        Name or fingerprint of the release.

    References
    ----------
    Sweeney (2000), Foundations of privacy protection from a computer science perspective, Figure 35.
    """
    level = AccessClass.parse(access)
    if level is AccessClass.Pu:
        raise InputError(
            "an agreement that forbids passing data on does not fit public data. Choose Pr, SPr or SPu, "
            "or release without agreement."
        )
    if review_days < 0:
        raise InputError("review_days must be at least 0")
    reasons = named_reasons(attributes)
    could, will = tuple(could_link), tuple(will_link)
    check_linking(reasons, could, will)
    texts = {
        "provider": provider,
        "recipient": recipient,
        "purpose": purpose,
        "security": security,
        "release": release,
        "end": "" if destroy_by is None else str(destroy_by),
    }
    rows = [
        f"| {one_line(name)} | {one_line(reason) or BLANK} | {yes(name in could)} | {yes(name in will)} |"
        for name, reason in reasons.items()
    ]
    return AGREEMENT.format(
        **{name: one_line(text) or BLANK for name, text in texts.items()},
        access=f"{level.value}, {level.title} ({level.rule}). {level.meaning}",
        review_days=review_days,
        rows="\n".join(rows),
        blank=BLANK,
    )


@checked
def named_reasons(attributes: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    """Return each attribute with the reason why it is needed, empty where none is given."""
    if isinstance(attributes, str):
        attributes = (attributes,)
    reasons = dict(attributes) if isinstance(attributes, Mapping) else dict.fromkeys(attributes, "")
    if not reasons:
        raise InputError("name the attributes that the recipient needs: clause 1 rests on them")
    return reasons


@checked
def check_linking(reasons: Mapping[str, str], could: Iterable[str], will: Iterable[str]) -> None:
    """Refuse linking on what is not released, or on what is said to be impossible to link."""
    able = set(could)
    strangers = [c for c in (*could, *will) if c not in reasons]
    if strangers:
        raise InputError(
            f"attribute {strangers[0]!r} is named for linking and is not among the attributes"
        )
    for column in will:
        if column not in able:
            raise InputError(
                f"attribute {column!r} will be linked, so it could be: name it in could_link too"
            )


def one_line(text: str) -> str:
    """Return text on one line, safe inside a Markdown table and without markup."""
    flat = " ".join(str(text).split())
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|")


def yes(flag: bool) -> str:
    """Return yes or no."""
    return "yes" if flag else "no"


def __getattr__(name: str) -> NoReturn:
    from tacit.renamed import no_attribute

    raise no_attribute("governance", name)


def __dir__() -> list[str]:
    return sorted(__all__)
