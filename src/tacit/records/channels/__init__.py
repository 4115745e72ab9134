"""Channel expansion: release names safely by naming sets of channels (Garfinkel et al. 2007)."""

from typing import NoReturn

from tacit.records.channels.answer import Answer
from tacit.records.channels.belief_audit import audit
from tacit.records.channels.candidates import all_subsets, random_candidates
from tacit.records.channels.problem import Problem
from tacit.records.channels.rounding import rounded
from tacit.records.channels.solve import evaluate, solve, solve_counts
from tacit.records.channels.study import StudyAnswer
from tacit.records.channels.table import ChannelTable, group

__all__ = [
    "Answer",
    "ChannelTable",
    "Problem",
    "StudyAnswer",
    "all_subsets",
    "audit",
    "evaluate",
    "group",
    "random_candidates",
    "rounded",
    "solve",
    "solve_counts",
]


def __getattr__(name: str) -> NoReturn:
    from tacit.renamed import no_attribute

    raise no_attribute("channels", name)
