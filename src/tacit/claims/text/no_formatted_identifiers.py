"""The claim that no text holds an identifier that is known by its form: an e-mail address, a phone number, a full date."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from tacit.claims import Claim, check_for
from tacit.claims.texts import FORMS, text_blocks


@check_for("no-formatted-identifiers", of=("corpus", "records"))
def has_no_formatted_identifiers(view: Any, claim: Claim) -> bool:
    """Return True when no text matches the plain pattern of any of the claimed forms."""
    patterns = [FORMS[form] for form in claim.parameters["forms"]]
    return not any(
        pc.any(pc.match_substring_regex(block, pattern)).as_py()
        for block in text_blocks(view, claim.columns)
        for pattern in patterns
    )
