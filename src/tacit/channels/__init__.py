"""Channel expansion: release names safely by naming sets of channels (Garfinkel et al. 2007)."""

from tacit.channels.answer import Answer
from tacit.channels.candidates import all_subsets, random_candidates
from tacit.channels.problem import Problem
from tacit.channels.rounding import rounded
from tacit.channels.simulate import simulate
from tacit.channels.solve import evaluate, solve, solve_counts
from tacit.channels.study import StudyAnswer
from tacit.channels.table import ChannelTable, group

__all__ = [
    "Answer",
    "ChannelTable",
    "Problem",
    "StudyAnswer",
    "all_subsets",
    "evaluate",
    "group",
    "random_candidates",
    "rounded",
    "simulate",
    "solve",
    "solve_counts",
]
