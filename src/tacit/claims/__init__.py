"""Claims: what a method guarantees, and the checks that recompute it on what is released.

A check is a file named after its model (``k-anonymity`` is checked by ``k_anonymity.py``, in whichever topic folder),
written from the definition alone. It shares no code with the methods that make the claim, and finding it imports none of
them. Third parties use ``@check_for`` in a module named by the entry-point group ``tacit.claims``.
"""

from tacit.claims.claim import Claim
from tacit.claims.gate import table_gate
from tacit.claims.registry import Check, check_for, find_check, models

__all__ = ["Check", "Claim", "check_for", "find_check", "models", "table_gate"]
