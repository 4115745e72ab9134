"""Microaggregation on plain arrays: ways to form groups of at least k records, and their loss.

A *grouping* is an array of labels 0, 1, ..., one a record. Every method is a function

    method(x, k, *, rng, tick, ...) -> labels

on the records ``x`` (n x p, standardised where the user asked for it), listed in :data:`METHODS`.
"""

from __future__ import annotations

from tacit.protect.microaggregate.grouping.loss import Loss, group_means, group_sizes, loss
from tacit.protect.microaggregate.grouping.methods import METHODS, Grouping, grouping_function

__all__ = [
    "METHODS",
    "Grouping",
    "Loss",
    "group_means",
    "group_sizes",
    "grouping_function",
    "loss",
]
