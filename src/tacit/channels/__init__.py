"""Channel expansion: release names safely by naming sets of channels (Garfinkel et al. 2007)."""

from tacit.channels.answer import Answer
from tacit.channels.candidates import all_subsets, random_candidates
from tacit.channels.problem import Problem
from tacit.channels.simulate import simulate
from tacit.channels.solve import evaluate, solve, solve_counts

__all__ = [
    "Answer",
    "Problem",
    "all_subsets",
    "evaluate",
    "random_candidates",
    "simulate",
    "solve",
    "solve_counts",
]
