"""Private retrieval: read one record, or a sum, of a server's table without telling which.

``Server(records, scheme="simple")`` and ``Client(server.parameters)`` retrieve records; ``SumServer`` and ``SumClient``
sums and means; ``KeywordServer`` and ``KeywordClient`` records by a word; ``SymmetricServer`` and ``SymmetricClient`` one record and no more. ``serve_release`` serves only a release that
verifies. ``advise`` says which scheme exchanges least, and ``model_cost`` has the formulas of the survey.
"""

from tacit.private.retrieval.costs import (
    advise,
    best_depth,
    compare_costs,
    group_records,
    model_cost,
    real_cost,
)
from tacit.private.retrieval.keywords import KeywordClient, KeywordServer
from tacit.private.retrieval.policy import INFORMATION_NEEDED, require_compatible, serve_release
from tacit.private.retrieval.scheme import Parameters
from tacit.private.retrieval.service import (
    Answer,
    Client,
    Query,
    Server,
    read_parameters,
    write_parameters,
)
from tacit.private.retrieval.sums import PrivateSum, SumClient, SumServer
from tacit.private.retrieval.symmetric import SymmetricClient, SymmetricServer
from tacit.public import publish

__all__ = [
    "INFORMATION_NEEDED",
    "Answer",
    "Client",
    "KeywordClient",
    "KeywordServer",
    "Parameters",
    "PrivateSum",
    "Query",
    "Server",
    "SumClient",
    "SumServer",
    "SymmetricClient",
    "SymmetricServer",
    "advise",
    "best_depth",
    "compare_costs",
    "group_records",
    "model_cost",
    "read_parameters",
    "real_cost",
    "require_compatible",
    "serve_release",
    "write_parameters",
]

__getattr__, __dir__ = publish("private.retrieval", names=globals())
