"""Computing on data that may not meet: retrieval, union and regression across owners.

Every protocol is written as **roles** (:mod:`tacit.private.parties.roles`): what one party sends and waits for, in order.
The same roles run together in one process, for study, and each in its own process over mutual TLS.
"""
