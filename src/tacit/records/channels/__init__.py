"""Channel expansion: release names safely by naming sets of channels (Garfinkel et al. 2007)."""

from tacit.public import publish
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

__getattr__, __dir__ = publish("channels", names=globals())
