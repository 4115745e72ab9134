"""The parties' files: their names, how many there must be, and their columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.errors import DisclosureRefused, InvalidParameter, WeakProtection

THREATS = "Every party follows the protocol and looks at everything that it receives (honest but curious); channels are private and authenticated. "
COLLUSION = {
    "ring": "Parties do not collude: two neighbours of a party who did would recover its statistics.",
    "pairwise_masks": "All but two parties may collude without learning the statistics of one of those two.",
    "shamir": "Parties who are too few to recover the total learn nothing by colluding.",
}
JUDGED = " The counts that were judged beforehand stay hidden from fewer than half of the parties together."


def name_files(parties: Any) -> dict[str, Any]:
    """Return the parties' files by name."""
    if isinstance(parties, Mapping):
        return {str(k): v for k, v in parties.items()}
    if isinstance(parties, Sequence) and not isinstance(parties, str | bytes):
        return {f"party_{i}": t for i, t in enumerate(parties, 1)}
    raise InvalidParameter("parties must be a mapping of names to files, or a list of files")


def check_number(files: Mapping[str, Any], *, allow_two_party: bool) -> str:
    """Refuse sums of two parties, or warn of them; return the warning for the statement."""
    if len(files) < 2:
        raise InvalidParameter("a joint computation needs at least two parties")
    if len(files) > 2:
        return ""
    if not allow_two_party:
        raise DisclosureRefused(
            "with two parties a secure sum protects nothing: each subtracts its own part. Find a third party, or pass "
            "allow_two_party=True if both agree to show each other their totals."
        )
    words = " There were two parties: each can compute the other's totals by subtracting its own."
    warnings.warn(words.strip(), WeakProtection, stacklevel=3)
    return words
