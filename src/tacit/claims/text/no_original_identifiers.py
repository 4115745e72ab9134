"""The claim that no e-mail address, web address or phone number of the original stands in the text made from it.

Where these are replaced by made-up ones of the same form, a pattern cannot tell them apart. So the ledger keeps a salted
digest of each original one, by document, and the check looks for them in the released text.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from typing import Any

from tacit.claims import Claim, check_for

#: What is looked up: runs of characters of addresses, and phone numbers written with separators.
ADDRESS = re.compile(r"[^\s<>\"(),;]+")
PHONE = re.compile(r"\(?\b\d{3}\)?[\-. ]{1,2}\d{3}[\-. ]\d{4}\b")


@check_for("no-original-identifiers", of="corpus")
def holds_no_original(view: Any, claim: Claim) -> bool:
    """Return True when no digest of a document's original identifiers is found in its released text."""
    kept = claim.parameters["digests"]
    salt, known = bytes.fromhex(kept["salt"]), kept["documents"]
    return all(
        not set(known.get(document.name, ()))
        & {digest(salt, found) for found in identifiers_in(document.text)}
        for document in view.documents
        if known.get(document.name)
    )


def identifiers_in(text: str) -> Iterator[str]:
    """Yield the e-mail and web addresses and the phone numbers of a text, in one way of writing."""
    if "@" in text or "://" in text or "www." in text.lower():
        for match in ADDRESS.finditer(text):
            word = match.group().strip(".:!?'").lower()
            if (
                ("@" in word[1:] and "." in word.rpartition("@")[2])
                or "://" in word
                or word.startswith("www.")
            ):
                yield word
    for match in PHONE.finditer(text):
        yield "".join(c for c in match.group() if c.isdigit())


def digest(salt: bytes, identifier: str) -> str:
    """Return the digest under which an identifier is kept."""
    return hmac.new(salt, identifier.encode(), hashlib.sha256).hexdigest()[:20]
