"""Computing on data that may not meet: retrieval, union and regression across owners.

Every protocol is written as **roles** (:mod:`tacit.private.parties.roles`): what one party sends and waits for, in order.
The same roles run together in one process, for study, and each in its own process over mutual TLS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.public import publish_parts

if TYPE_CHECKING:
    from tacit.private import regression, retrieval, union

__all__ = ["regression", "retrieval", "union"]

__getattr__, __dir__ = publish_parts("private", __name__, __all__)
