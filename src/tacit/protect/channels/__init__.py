"""Channel expansion: release names safely by naming sets of channels (Garfinkel et al. 2007)."""

from typing import NoReturn

from tacit.protect.channels.answer import Answer
from tacit.protect.channels.belief_audit import audit
from tacit.protect.channels.candidates import all_subsets, random_candidates
from tacit.protect.channels.problem import Problem
from tacit.protect.channels.rounding import rounded
from tacit.protect.channels.solve import evaluate, solve, solve_counts
from tacit.protect.channels.study import StudyAnswer
from tacit.protect.channels.table import ChannelTable, group

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
